# SPDX-License-Identifier: MIT
"""Does a property of a network hold in a box, as the proof in a file says?

``python -m regions.check_property proof.regions-certificate`` reads a verdict that `regions.write_certificate` wrote:
a chain of dense layers, a box, rows, and a tree. Copies of this file, `check_answer.py` and
`check_certificate.py`, in one folder, need only numpy: ``python check_property.py ..``. The exit code is 0 if the
argument below proves the verdict, 1 if not, and 2 for other files. docs/checking-answers.md explains every step.

1. Rows are linear forms of outputs and inputs. Outputs are unsafe where all rows of a group are zero or positive.
2. Tree. The root is the box, in its chart. A node halves a side of its box, or cuts along a kink: the pre-activation is
   at most the breakpoint in one child, and at least the breakpoint in the other. Therefore the leaves cover the box.
3. Leaves. For each group, its rows and the cuts above a leaf have multipliers of at least zero. At an unsafe point in
   the leaf, no term of the weighted sum is negative. So there is none if the sum is negative all over the box of the
   leaf. An upper bound of the sum goes backward through the layers: each unit is replaced by a line above or below it,
   between bounds of its pre-activation, which are upper bounds of the same kind. All roundings are charged. If they
   leave a leaf open, the bound of the sum is computed again in fractions.
4. Witness. If the property is violated, the rows are computed at one point of the box, in fractions.
"""

import contextlib
import itertools
from fractions import Fraction

import numpy as np

if __package__:
    from regions.check_answer import Rows, U, right_claims, run, unsafe_outputs
    from regions.check_certificate import MORE, NONE, Certificate, fractions, require
else:  # copies of the three files, alone
    from check_answer import Rows, U, right_claims, run, unsafe_outputs
    from check_certificate import MORE, NONE, Certificate, fractions, require

# More than all that underflow changes, relative to what it multiplies; numbers in an array; nodes or cuts above a leaf.
FLOOR, BLOCK, DEEPEST = 1e-270, 1 << 20, 1 << 12


class Proof(Certificate):
    """The arrays of a file, checked; a ValueError says that it cannot be checked."""

    FORMAT, OTHER, ADVICE = "relu-regions proof", "vertices", "not a verdict in a box: ask check_answer.py"
    DOMAIN = "origin", "directions", "forms"

    def check_arrays(self, arrays):
        names = (*(f"domain_{name}" for name in self.DOMAIN), "tree", "multipliers")
        n, d, sides, nodes, multipliers = (len(arrays.get(name, NONE)) for name in names)
        require(d > 0 and sides == 2 * d and len(self.layers) > 1, "the domain is no box, or there is no hidden layer")
        expected = {"domain_origin": (n,), "domain_directions": (d, n), "domain_forms": (sides, 1 + d)}
        self.check_shapes(arrays, n, {**expected, "tree": (nodes,), "multipliers": (multipliers,)})
        require((arrays["multipliers"] >= 0).all(), "multipliers: one is negative")
        self.last = np.cumsum([layer[1].size * layer[2].size for layer in self.layers[:-1]])

    def check_domain(self, forms):
        self.numbers, self.lower, self.upper = {object: [None]}, -forms[::2, 0], forms[1::2, 0]
        axes = np.eye(len(self.lower))
        right = np.array_equal(forms[::2, 1:], axes) and np.array_equal(forms[1::2, 1:], -axes)
        require(right and (self.lower < self.upper).all(), "the domain is no box")

    def check_structure(self, arrays):
        """Do nothing here: the tree is checked with the rows."""

    def distances(self, point):
        """Return numbers that are not negative if a point [d] is in the box."""
        return np.concatenate([point - fractions(self.lower), fractions(self.upper) - point])

    def kink(self, number):
        """Return the layer of a kink, its unit, and its breakpoint."""
        layer = int(np.searchsorted(self.last, number, side="right"))
        _, biases, breakpoints, *_ = self.layers[layer]
        unit, place = divmod(number - int(self.last[layer]), len(breakpoints))
        return layer, unit + len(biases), breakpoints[place]

    def named(self):
        """Return the network and the domain in words."""
        origin, directions, _ = (self.arrays[f"domain_{name}"] for name in self.DOMAIN)
        box = [*map(list, zip(self.lower[:8].tolist(), self.upper[:8].tolist(), strict=True))]
        chart = f"x = {origin[:8].tolist()} + p @ {directions[:8, :8].tolist()}"
        return [f"network {self.network}", f"domain {self.domain}: {chart} in R^{len(origin)} with p in {box}"]


class Parts:
    """Parts of a box: corners [m, d], and bounds [m, units] that cuts set to the pre-activations of each hidden layer.

    ``lines`` has for each layer the slopes and constants of lines above and below each unit, and sizes: of constants,
    of the terms of pre-activations, and of what may underflow. ``forms`` has upper bounds of pre-activations, and of
    minus these, as forms of the chart point. ``size`` bounds the outputs of the last layer.
    """

    def __init__(self, layers, share, lower, upper, least, most):
        self.layers, self.share, self.ends, self.lines, self.forms = layers, share, (lower, upper), [], []
        self.ranges, self.farthest = [], np.maximum(np.abs(lower), np.abs(upper))
        low, high = lower, upper  # of what a layer reads
        for (weights, biases, *pieces), floor, ceiling in zip(layers, least, most, strict=True):
            size = np.maximum(np.abs(low), np.abs(high))
            room = FLOOR * (1 + size.sum(axis=1, keepdims=True))
            reach = size @ np.abs(weights).T + np.abs(biases) + room
            rows, constants = np.concatenate([weights, -weights]), np.concatenate([biases, -biases])
            sizes = np.concatenate([reach, reach], axis=1)
            ends = high @ np.maximum(rows, 0).T + low @ np.minimum(rows, 0).T + constants + share * sizes
            rows, constants = (np.broadcast_to(part, (len(lower), *part.shape)) for part in (rows, constants))
            high, low = np.split(np.fmin(ends, self.bounds(rows, constants, sizes)), 2, axis=1)
            low, high = np.fmax(-low, floor), np.fmin(high, ceiling)
            low = np.fmin(low, high)  # it is above where no point is left
            self.ranges.append((low, high))
            lines, low, high = lines_of(low, high, *pieces)
            self.lines.append((*lines, reach, room + FLOOR * reach.sum(axis=1, keepdims=True)))
        self.size = np.maximum(np.abs(low), np.abs(high))
        self.room = FLOOR * (1 + self.size.sum(axis=1, keepdims=True) + self.farthest.sum(axis=1, keepdims=True))

    def bounds(self, p, constants, sizes, cuts=None, direct=0):
        """Return upper bounds, [m, k], of sums: p [m, k, units] times the outputs of the layer before, and constants
        [m, k], and cuts of all layers, and direct [m, k, d] times the chart point. Sizes [m, k] are those of all terms.
        """
        for number in reversed(range(len(self.lines))):
            (weights, biases, *_), (slope, above, other, below, size, reach, room) = (
                self.layers[number],
                self.lines[number],
            )
            up, down = np.maximum(p, 0), np.minimum(p, 0)
            q = up * slope[:, None] + down * other[:, None]
            constants = constants + times(up, above) + times(down, below)
            sizes = sizes + times(up - down, size) + times(np.abs(q), reach) + room
            if cuts is not None:
                signed, total, shift, shifts = cuts[number]
                q, constants, sizes = q + signed, constants + shift, sizes + times(total, reach) + shifts
            p, constants, sizes = q @ weights, constants + q @ biases, sizes + times(np.abs(q), reach)
        p, (lower, upper) = p + direct, (end[:, None] for end in self.ends)
        constants = constants + self.share * (sizes + times(np.abs(p), self.farthest))
        self.forms.append((p, constants))
        return constants + np.maximum(p * lower, p * upper).sum(axis=2)

    def exact(self, leaf, layers):
        """Return one of the parts, with the same lines, for bounds in fractions."""
        part = object.__new__(Parts)
        part.layers, part.share, part.room, part.forms, part.lines = layers, 0, 0, [], []
        part.ends = [fractions(end[leaf : leaf + 1]) for end in self.ends]
        part.size, part.farthest = (np.zeros((1, each.shape[1]), dtype=object) for each in (self.size, self.farthest))
        for *lines, _, reach, _ in self.lines:
            none = np.zeros((1, reach.shape[1]), dtype=object)
            part.lines.append((*(fractions(line[leaf : leaf + 1]) for line in lines), none, none, 0))
        return part


def times(forms, numbers):
    """Return forms [m, k, n] times numbers [m, n]: [m, k]."""
    return (forms @ numbers[..., None])[..., 0]


def lines_of(low, high, breakpoints, slopes, intercepts):
    """Return slopes and constants of lines above and below units, sizes of the constants, and bounds of the outputs."""
    unit = np.arange(low.shape[1])
    places = np.stack([low, high, *(np.clip(place, low, high) for place in breakpoints)])
    piece = (places[..., None] > breakpoints).sum(axis=3)
    linear, constant = slopes[unit, piece] * places, intercepts[unit, piece]
    values, off = linear + constant, 4 * U * (np.abs(linear) + np.abs(constant)) + FLOOR
    first, last = (low[..., None] >= breakpoints).sum(axis=2), (high[..., None] > breakpoints).sum(axis=2)
    found = []
    for slope in ((values[1] - values[0]) / (high - low), slopes[unit, first], slopes[unit, last]):
        apart, charge = values - slope * places, off + 4 * U * (np.abs(values) + np.abs(slope * places))
        found.append((slope, (apart + charge).max(axis=0), (apart - charge).min(axis=0)))
    slope, above, below = (np.stack(parts) for parts in zip(*found, strict=True))
    middle = slope * (low / 2 + high / 2)
    up, down = (middle + above).argmin(axis=0)[None], (middle + below).argmax(axis=0)[None]
    lines = [np.take_along_axis(*pair, axis=0)[0] for pair in ((slope, up), (above, up), (slope, down), (below, down))]
    # A unit has one line if no breakpoint is inside.
    one, piece = first >= last, np.minimum(first, last)
    for number, pieces in enumerate((slopes, intercepts) * 2):
        lines[number] = np.where(one, pieces[unit, piece], lines[number])
    size = np.maximum(np.abs(lines[1]), np.abs(lines[3]))
    return (*lines, size), (values - off).min(axis=0), (values + off).max(axis=0)


def leaves_of(proof):
    """Yield the ends of the part of each leaf, and its cuts: pairs of a kink, and whether the leaf is above it."""
    d, waiting = len(proof.lower), [(proof.lower, proof.upper, ())]
    for entry in proof.arrays["tree"].tolist():
        require(waiting, "tree: entries after the last leaf")
        lower, upper, cuts = waiting.pop()
        if entry < 0:
            yield lower, upper, cuts
        elif entry < d:
            ends = lower.copy(), upper.copy()
            ends[0][entry] = ends[1][entry] = middle = lower[entry] / 2 + upper[entry] / 2
            require(lower[entry] < middle < upper[entry], "tree: a side is too short to be halved")
            waiting += [(ends[0], upper, cuts), (lower, ends[1], cuts)]
        else:
            fitting = entry < d + proof.kinks and entry - d not in dict(cuts) and len(cuts) < DEEPEST
            require(fitting, "tree: a kink is out of range, or cuts twice, or there are too many")
            waiting += [(lower, upper, (*cuts, (entry - d, above))) for above in (True, False)]
        require(len(waiting) <= DEEPEST, "tree: too deep")
    require(not waiting, "tree: leaves are missing")


class Sums:
    """The weighted sums of rows and cuts, whose bounds close leaves."""

    def __init__(self, proof, rows):
        self.proof, self.exact = proof, (proof.numbers[object][1:], (rows.last, rows.direct, rows.constants))
        layers, last = self.exact[0], rows.last
        self.rounded = [[np.array(part, dtype=float) for part in layer] for layer in (*layers, self.exact[1])]
        self.rounded = self.rounded[:-1], self.rounded[-1]
        # A sum of n terms other than 0 is off by n u / (1 - n u) of their sizes, and constants are added three times.
        most = max(len(last), len(proof.lower), *(len(layer[1]) * max(len(layer[2]), 1) for layer in layers))
        self.share, self.width = (most + 4 * len(layers) + 20) * U * MORE, max(2 * len(layer[1]) for layer in layers)

    def parts(self, leaves):
        """Return the parts of the box of some leaves."""
        least, most = ([np.full((len(leaves), len(x[1])), end) for x in self.rounded[0]] for end in (-np.inf, np.inf))
        for leaf, (_, _, cuts) in enumerate(leaves):
            for kink, above in cuts:
                (layer, unit, place), bounds, better = self.proof.kink(kink), *((least, max) if above else (most, min))
                bounds[layer][leaf, unit] = better(bounds[layer][leaf, unit], place)
        lower, upper = (np.stack([leaf[side] for leaf in leaves]) for side in (0, 1))
        with np.errstate(all="ignore"):
            return Parts(self.rounded[0], self.share, lower, upper, least, most)

    def bounds(self, parts, leaves, of_rows, of_cuts):
        """Return upper bounds [m, k] of sums, with multipliers of rows [m, k, rows] and of cuts [k, cuts] of each leaf;
        in fractions, if the multipliers are.
        """
        exact = of_rows.dtype == object
        layers, (last, direct, constants) = self.exact if exact else self.rounded
        none, cuts = of_rows[..., 0] * 0, []
        for _, biases, *_ in layers:
            cuts.append([np.stack([none] * len(biases), axis=2) for _ in range(2)] + [none.copy() for _ in range(2)])
        for leaf, ((_, _, path), weights) in enumerate(zip(leaves, of_cuts, strict=True)):
            for (kink, above), weight in zip(path, weights.T, strict=True):
                layer, unit, place = self.proof.kink(kink)
                place, (signed, total, shift, shifts) = Fraction(place) if exact else place, cuts[layer]
                with np.errstate(all="ignore"):
                    signed[leaf, :, unit] += weight if above else -weight
                    shift[leaf] += -place * weight if above else place * weight
                    total[leaf, :, unit] += weight
                    shifts[leaf] += abs(place) * weight
        with np.errstate(all="ignore"):
            sizes = parts.size @ np.abs(last).T + parts.farthest @ np.abs(direct).T + np.abs(constants) + parts.room
            start = of_rows @ constants, times(of_rows, sizes) + parts.room
            return parts.bounds(of_rows @ last, *start, cuts, of_rows @ direct)

    def closed_exactly(self, parts, number, leaf, of_rows, of_cuts):
        """Return whether bounds in fractions are negative, on one of some parts."""
        with contextlib.suppress(ValueError, OverflowError):  # a line is not finite
            part = parts.exact(number, self.exact[0])
            return bool((self.bounds(part, [leaf], fractions(of_rows[None]), [fractions(of_cuts)]) < 0).all())
        return False


def check_tree(proof, rows, groups):
    """Check that all leaves are closed; return their number, and how many of them are closed in fractions."""
    sums, leaves, start, multipliers = Sums(proof, rows), leaves_of(proof), 0, proof.arrays["multipliers"]
    pairs = np.array([(k, row) for k, group in enumerate(groups) for row in group]).T
    most = max(sums.width**2, sums.width * len(groups), len(groups) * len(sums.exact[1][0]))
    size, count, exact = max(1, BLOCK // most), 0, 0
    while block := list(itertools.islice(leaves, size)):
        of_rows, of_cuts = np.zeros((len(block), len(groups), len(sums.exact[1][0]))), []
        for leaf, (_, _, cuts) in enumerate(block):
            middle = start + pairs.shape[1]
            end = middle + len(groups) * len(cuts)
            require(end <= len(multipliers), "multipliers: too few")
            np.add.at(of_rows[leaf], tuple(pairs), multipliers[start:middle])
            of_cuts.append(multipliers[middle:end].reshape(len(groups), len(cuts)))
            start = end
        parts = sums.parts(block)
        closed = (sums.bounds(parts, block, of_rows, of_cuts) < 0).all(axis=1)
        for leaf in np.flatnonzero(~closed).tolist():
            proven = sums.closed_exactly(parts, leaf, block[leaf], of_rows[leaf], of_cuts[leaf])
            require(proven, f"leaf {count + leaf}: its sum may be zero or positive")
        count, exact = count + len(block), exact + int((~closed).sum())
    require(start == len(multipliers), "multipliers: too many")
    return count, exact


def check_property(rows, answer):
    """Check that all rows of a group are zero or positive together nowhere, or at the witness."""
    groups, words = unsafe_outputs(rows, answer)
    if not groups:
        require(not any(len(rows.c.arrays[name]) for name in ("tree", "multipliers")), "a tree beside a witness")
        return [words]
    leaves, exact = check_tree(rows.c, rows, groups)
    return [words, f"{leaves} leaves, {exact} of them closed in fractions"]


def check(path):
    """Return the proof, and what is right, line by line; or raise `Rejected`, or a ValueError."""
    proof = Proof(path)
    return proof, right_claims(proof, {"property": (check_property, "kind rows groups holds witness")}, Rows)


def described(path):
    """Return what is right about a file, line by line."""
    found, lines = check(path)
    return ["accepted: the verdict is right", *found.named(), *lines]


if __name__ == "__main__":
    run(described, "check_property.py proof.regions-certificate")
