# SPDX-License-Identifier: MIT
"""Are the answers in a certificate right: extremes, differences, verdicts and level sets of a network?

``python -m regions.check_answer proof.regions-certificate`` reads what `regions.write_certificate` wrote: all regions
of a network on a bounded domain, and claims about its outputs. Copies of this file and of `check_certificate.py`, in
one folder, need only numpy: ``python check_answer.py ..``. The other file first proves the list of regions and the
bounds of the vertices. The outputs are affine on each region, so their values at corners decide all claims. The exit
code is 0 if the claim is right, 1 if it or the list of regions is not, and 2 for other files. docs/checking-answers.md
explains every step.

1. Rows. A claim is about rows: linear forms of outputs and inputs, plus a constant.
2. Values. A forward pass from each stored vertex, in doubles, bounds the rows at the true vertex. Where this leaves a
   claim open, the vertex is computed in fractions, and so are the outputs there.
3. Claims. "extremes": no value at a vertex is beyond the least and the greatest value, and these are attained in the
   named regions. "property": the rows of a group are nowhere zero or positive together, in any region; or they are at
   the witness. "level set": a row is zero inside the listed regions, between the listed ends, and changes its sign
   along the listed facets, and nowhere else. "difference": the network is two networks side by side, and its extremes
   are those of their difference.
"""

import contextlib
import sys
from fractions import Fraction

import numpy as np

if __package__:
    from regions.check_certificate import MORE, TINY, Rejected, check, fingerprint, fractions, require
else:  # copies of both files, alone
    from check_certificate import MORE, TINY, Rejected, check, fingerprint, fractions, require

# The unit roundoff, the number of vertices in a block, and the most rows, and digits of a fraction, that are checked.
U, BLOCK, MOST_ROWS, MOST_DIGITS = 2.0**-53, 1 << 14, 4096, 1 << 14


def number(pair):
    """Return the fraction that is stored as two hexadecimal integers."""
    require(max(map(len, pair)) <= MOST_DIGITS, f"a fraction with more than {MOST_DIGITS} digits")
    top, bottom = (int(part, 16) for part in pair)
    require(bottom > 0, "a fraction without a positive denominator")
    return Fraction(top, bottom)


class Rows:
    """Rows [m, outputs + inputs + 1] in the chart of a certificate."""

    def __init__(self, certificate, rows):
        self.c, arrays, self.layers = certificate, certificate.arrays, certificate.numbers[object][1:]
        weights, biases, breakpoints, slopes, intercepts = certificate.layers[-1]
        require(not breakpoints.size and (slopes == 1).all() and not intercepts.any(), "outputs have an activation")
        origin, directions = self.chart = [fractions(arrays[f"domain_{name}"]) for name in ("origin", "directions")]
        shape = len(biases), origin.size
        require(rows.shape[1:] == (sum(shape) + 1,), "rows: another shape")
        require(np.isfinite(rows).all(), "rows: not all are numbers")
        of_outputs, of_inputs, constants = np.split(fractions(rows), [shape[0], sum(shape)], axis=1)
        # Rows as forms of the last hidden layer, and of the chart point.
        self.last, self.direct = of_outputs @ fractions(weights), of_inputs @ directions.T
        self.constants = of_outputs @ fractions(biases) + of_inputs @ origin + constants[:, 0]

    def at_point(self, point):
        """Return all rows at a point of the chart, in fractions."""
        x = point = np.array(point, dtype=object)
        for weights, biases, breakpoints, slopes, intercepts in self.layers:
            x = weights @ x + biases
            piece, unit = (x[:, None] > breakpoints).astype(int).sum(axis=1), np.arange(len(biases))
            x = x * slopes[unit, piece] + intercepts[unit, piece]
        return self.last @ x + self.direct @ point + self.constants


class Values(Rows):
    """Rows at the vertices of a certificate."""

    def __init__(self, certificate, rows):
        super().__init__(certificate, rows)
        self.known, everywhere = {}, np.full((len(certificate.vertices), len(rows)), np.inf)
        self.low, self.high = -everywhere, everywhere
        with contextlib.suppress(OverflowError), np.errstate(all="ignore"):
            layers = [[np.array(part, dtype=float) for part in layer] for layer in self.layers]
            last = [np.array(part, dtype=float) for part in (self.last, self.direct, self.constants)]
            for start in range(0, len(everywhere), BLOCK):
                here = slice(start, start + BLOCK)
                self.low[here], self.high[here] = self.bounds(here, layers, *last)

    def bounds(self, here, layers, last, direct, constants):
        """Return bounds on all rows at some vertices, [vertex, row]."""
        x = point = self.c.vertices[here]
        error = at = np.repeat(self.c.errors[here, None], point.shape[1], axis=1)
        for weights, biases, breakpoints, slopes, intercepts in layers:
            x, error = affine(x, error, weights, biases)
            piece, unit = (x[..., None] > breakpoints).sum(axis=2), np.arange(len(biases))
            x, intercept = x * slopes[unit, piece], intercepts[unit, piece]
            # Units are continuous: an error grows by the steepest slope at most.
            error = error * np.abs(slopes).max(axis=1) * MORE + 4 * U * (np.abs(x) + np.abs(intercept)) + TINY
            x = x + intercept
        (one, off), (other, more) = affine(x, error, last, constants), affine(point, at, direct, 0 * constants)
        off = (off + more + 4 * U * (np.abs(one) + np.abs(other))) * MORE + TINY
        return one + other - off, one + other + off

    def at(self, vertex):
        """Return all rows at a vertex, in fractions."""
        if vertex not in self.known:
            region = int(self.c.regions[np.argmax(self.c.at == vertex)])
            points = self.c.hold(np.array([region]), object)[0][0].tolist()
            place = self.corners(region).index(vertex)
            w, *point = points[place]
            self.known[vertex] = self.at_point([each / w for each in point[: self.c.dimension]])
        return self.known[vertex]

    def sides(self, row):
        """Return the sign of a row at each vertex."""
        above, below = self.low[:, row] > 0, self.high[:, row] < 0
        result = above.astype(int) - below
        for vertex in np.flatnonzero(~(above | below)).tolist():
            value = self.at(vertex)[row]
            result[vertex] = (value > 0) - (value < 0)
        return result

    def corners(self, region):
        return self.c.at[self.c.offsets[region] : self.c.offsets[region + 1]].tolist()


def affine(x, error, weights, biases):
    """Return weights times x plus biases, and a bound on its error; the numbers of both are rounded once."""
    share = (weights.shape[1] + 4) * U
    off = (error + share * np.abs(x)) @ np.abs(weights).T + share * np.abs(biases)
    return x @ weights.T + biases, off * MORE + TINY * (1 + np.abs(x).sum(axis=1, keepdims=True))


def row_words(rows, outputs):
    """Return rows in words: y0, y1, .. are the outputs, and x0, x1, .. the inputs."""
    names = [f" y{k}" for k in range(outputs)] + [f" x{k}" for k in range(len(rows[0]) - outputs - 1)] + [""]
    terms = ([f"{factor!r}{name}" for factor, name in zip(row, names, strict=False) if factor] for row in rows)
    return [f"row {k} is {' + '.join(each) or '0.0'}" for k, each in enumerate(terms)]


def check_extremes(values, answer):
    same = len(answer["values"]) == len(answer["regions"]) == values.low.shape[1]
    require(same, "values: another number of rows")
    lines = []
    for row, (pairs, regions) in enumerate(zip(answer["values"], answer["regions"], strict=True)):
        ends = [number(pair) for pair in pairs]
        for sign, value, region in zip((-1, 1), ends, regions, strict=True):
            most = values.high[:, row] if sign > 0 else -values.low[:, row]
            # A vertex whose bound is below the next smaller double needs no fractions.
            surely = most < np.nextafter(nearest(sign * value), -np.inf)
            for vertex in np.flatnonzero(~surely).tolist():
                require(sign * (values.at(vertex)[row] - value) <= 0, f"row {row}: vertex {vertex} is beyond")
            require(type(region) is int and 0 <= region < len(values.c.sizes), "regions: out of range")
            attained = any(values.at(vertex)[row] == value for vertex in values.corners(region))
            require(attained, f"row {row}: an extreme value is not attained in region {region}")
        lines.append(f"row {row}: from {nearest(ends[0])!r} to {nearest(ends[1])!r}, as rounded")
    return lines


def nearest(value):
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def check_difference(values, answer):
    """Check that the network is two networks side by side, and the extremes of their difference."""
    before, parts = None, ([], [])
    for layer, split in zip(values.c.layers, answer["widths"], strict=True):
        weights, biases, breakpoints, *pieces = layer
        require(0 < split < len(biases), "widths: out of range")
        halves = slice(split), slice(split, None)
        columns = (slice(None),) * 2 if before is None else (slice(before), slice(before, None))
        mixed = before is not None and any(weights[halves[k], columns[1 - k]].any() for k in (0, 1))
        require(not mixed, "the two networks are not apart")
        for part, half, column in zip(parts, halves, columns, strict=True):
            own = [each[half] if each.ndim > 1 else each for each in pieces]
            part += [np.ascontiguousarray(weights[half, column]), biases[half], breakpoints, *own]
        before = split
    found, outputs = [fingerprint(part) for part in parts], np.eye(before)
    require(found == answer["networks"] and 2 * before == len(values.c.layers[-1][1]), "two other networks")
    rows = np.array(answer["rows"])
    expected = np.hstack([outputs, -outputs, np.zeros((before, rows.shape[1] - 2 * before))])
    require(np.array_equal(rows, expected), "rows: not the differences of the outputs")
    lines = check_extremes(values, answer)
    return [f"outputs of the network {found[0]} minus those of {found[1]}:", *lines]


def unsafe_outputs(rows, answer):
    """Return the groups of a property, in words as well; and what is right of its witness, if there is one."""
    groups, numbers = answer["groups"], range(len(rows.last))
    require(
        groups and all(group and all(type(row) is int and row in numbers for row in group) for group in groups),
        "groups: not lists of numbers of rows",
    )
    require({*numbers} == {row for group in groups for row in group}, "groups: a row is in none")
    require(sum(map(len, groups)) <= MOST_ROWS, f"groups: more than {MOST_ROWS} rows in all")
    require(type(answer["holds"]) is bool, "holds: neither true nor false")
    require(answer["holds"] == (answer["witness"] is None), "witness: there is one only if the property is violated")
    words = ", or ".join(" and ".join(f"row {row}" for row in group) for group in groups)
    unsafe = f"outputs are unsafe where these rows are zero or positive: {words}"
    if answer["holds"]:
        return groups, f"{unsafe}, and they are so nowhere"
    point = [number(pair) for pair in answer["witness"]]
    require(len(point) == len(rows.direct.T), "witness: another number of coordinates")
    slack = rows.at_point(point)
    require((rows.c.distances(point) >= 0).all(), "witness: outside of the domain")
    require(any(all(slack[row] >= 0 for row in group) for group in groups), "witness: it is safe")
    origin, directions = rows.chart
    place = [nearest(x) for x in (origin + np.array(point, dtype=object) @ directions)[:8]]
    begins = "" if len(origin) == len(place) else "that begins with "
    return [], f"{unsafe}, and they are so at the input {begins}{place}, as rounded"


def check_property(values, answer):
    """Check that all rows of a group are zero or positive together nowhere, or at the witness."""
    groups, words = unsafe_outputs(values, answer)
    for group in groups:
        safe = np.logical_and.reduceat((values.high[:, group] < 0)[values.c.at], values.c.offsets[:-1], axis=0)
        for region in np.flatnonzero(~safe.any(axis=1)).tolist():
            left = [[values.at(vertex)[row] for row in group] for vertex in values.corners(region)]
            for row in range(len(group)):
                left = clipped(left, row)
            require(not left, f"region {region} has an unsafe point")
    return [words]


def clipped(points, row):
    """Return the part of a polygon, or segment, where a row is zero or positive; points are the values of all rows."""
    result = []
    for here, after in zip(points, points[1:] + points[:1], strict=True):
        result += [here] * (here[row] >= 0)
        if here[row] * after[row] < 0:
            share = here[row] / (here[row] - after[row])
            result.append([a + share * (b - a) for a, b in zip(here, after, strict=True)])
    return result


def check_level_set(values, answer):
    """Check in which regions row 0 changes its sign, and along which facets."""
    c, sides, arrays = values.c, values.sides(0), values.c.arrays
    at = sides[c.at]
    above, below = (np.logical_or.reduceat(part, c.offsets[:-1]) for part in (at > 0, at < 0))
    crossed = []
    for region in np.flatnonzero(above & below).tolist():
        corners, facets = range(c.offsets[region], c.offsets[region + 1]), arrays["cell_facets"]
        after = [*corners[1:], corners[0]]
        ends = [-1 - int(c.at[corner]) for corner in corners if at[corner] == 0]
        if c.dimension == 2:
            ends += [int(facets[k]) for k, other in zip(corners, after, strict=True) if at[k] * at[other] < 0]
        crossed.append([region, *sorted(ends)])
    zero = (sides[arrays["facet_vertices"].reshape(-1, c.dimension)] == 0).all(axis=1)
    beside = arrays["facet_regions"]
    along = np.flatnonzero(zero & (beside[:, 1] >= 0) & (above[beside[:, 0]] != above[beside[:, 1]])).tolist()
    require(crossed == answer["crossed"], "level set: it crosses other regions, or elsewhere")
    require(along == answer["along"], "level set: it runs along other facets")
    return [f"row 0 is zero and changes its sign inside {len(crossed)} regions, and along {len(along)} facets"]


# For each kind of answer its check, and the names of its entries.
CHECKS = {
    "extremes": (check_extremes, "kind rows values regions"),
    "difference": (check_difference, "kind rows values regions networks widths"),
    "property": (check_property, "kind rows groups holds witness"),
    "level set": (check_level_set, "kind rows crossed along"),
}


def check_answer(path):
    """Return the certificate, the number of regions, and what is right; or raise `Rejected`, or a ValueError."""
    certificate, *proven = check(path)
    return certificate, sum(proven), right_claims(certificate, CHECKS, Values)


def right_claims(certificate, checks, kind):
    """Check the claims of a file whose other parts have been checked; return the right ones, line by line."""
    answer = certificate.header.get("answer")
    require(type(answer) is dict, "no answer in this file: ask check_certificate.py about its regions", ValueError)
    rows = answer.get("rows")
    require(type(rows) is not list or len(rows) <= MOST_ROWS, f"more than {MOST_ROWS} rows", ValueError)
    try:
        right, names = checks[answer["kind"]]
        require(answer.keys() == {*names.split()}, f"the answer: entries other than {names}")
        require(all(type(x) in (int, float) for row in answer["rows"] for x in row), "rows: not all are numbers")
        rows = np.array(answer["rows"], dtype=float, ndmin=2)
        words, values = row_words(rows.tolist(), len(certificate.layers[-1][1])), kind(certificate, rows)
        return words + right(values, answer)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError):
        raise Rejected("the answer: an entry has another form") from None


def described(path):
    """Return what is right about a file, line by line."""
    found, regions, lines = check_answer(path)
    what = f"accepted: the network has exactly {regions} regions on the domain, and the answer is right"
    return [what, *found.named(), *lines]


def run(right, usage):
    """Print what is right about the file that a command names, and exit with the code that its first word has."""
    try:
        require(len(sys.argv) == 2, f"usage: {usage}", ValueError)
        print(*right(sys.argv[1]), sep="\n")
    except (Rejected, ValueError, ArithmeticError, MemoryError) as error:
        print("rejected:" if isinstance(error, Rejected) else "not checked:", error)
        sys.exit(1 if isinstance(error, Rejected) else 2)


if __name__ == "__main__":
    run(described, "check_answer.py proof.regions-certificate")
