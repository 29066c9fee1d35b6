# SPDX-License-Identifier: MIT
"""Does a file of regions list all activation regions of the network in it, each exactly once?

``python -m regions.check_certificate result.npz`` reads what relu-regions saved: a chain of dense layers, a bounded
domain in one or two dimensions, and its regions. A copy of this file needs only numpy. The exit code is 0 if the
argument below proves regions and bounds of vertices, 1 if not, 2 for other files. See docs/checking-certificates.md.

1. Structure. Each facet has two regions, or one on the boundary. The facets of a region differ, and so do all patterns.
2. Regions. Under the pattern of a region, each pre-activation minus a breakpoint is affine in the chart point: the form
   of that kink. A facet lies where the form of its kink is zero, or on an edge of the domain, and a corner is where the
   lines of its two facets meet. At each corner every form has the sign that the pattern says, or is zero; forms of
   other facets are not zero. Then the polygon is the closure of the set of points with that pattern.
3. Vertices. The corners of all regions at a vertex are one point, within the stored bound of the stored point. Steps 2
   and 3 are tried in floating point, with bounds on all errors, and then in fractions, where bounds are zero.
4. By 2 the polygons do not overlap, because all patterns differ. By 1 and 3 they leave no gap. So they are all regions.
"""

import contextlib
import hashlib
import json
import os
import sys
from fractions import Fraction

import numpy as np

# More than all underflow in a bound, a factor for the rounding of bounds, and the number of forms in a block.
TINY, MORE, CHUNK = 1e-290, 1 + 2.0**-30, 1 << 18
LAYER = ("weights", "biases", "breakpoints", "slopes", "intercepts")
NONE, COUNTED = np.empty(0), ("vertices", "cell_vertices", "facet_kinks", "packed_patterns")
# Lines y = 0 and -y = 0, (constant, slopes): the ends of an interval are where they meet the lines of its facets.
AXIS = np.array([[0, 0], [0, 0], [-1, 1]])[:, None]
KINDS = [np.float64] + [np.longdouble] * (np.finfo(np.longdouble).nmant in (63, 112))  # longer numbers, if there are
fractions = np.vectorize(Fraction, otypes=[object])


class Rejected(Exception):
    """The file does not prove its list of regions; the message says why."""


def require(holds, message, error=Rejected):
    if not holds:
        raise error(message)


def rounded(array, kind):
    """Return fractions in floating point, as the sum of two doubles; an OverflowError says that they are too large."""
    high = np.array(array, dtype=np.float64)
    return high.astype(kind) + np.array(array - fractions(high), dtype=np.float64).astype(kind)


def fingerprint(arrays):
    return hashlib.sha256(b"".join(repr(a.shape).encode() + (a + 0.0).tobytes() for a in arrays)).hexdigest()


def meet(p, q, minus=-1):
    """Return the point (w, x, y) on two lines, or the line through two points: a cross product; a bound if minus=1."""
    return np.roll(p, -1, axis=0) * np.roll(q, -2, axis=0) + minus * np.roll(p, -2, axis=0) * np.roll(q, -1, axis=0)


class Certificate:
    """The arrays of a file after step 1, and steps 2 and 3; a ValueError says that it cannot be checked."""

    FORMAT, OTHER, ADVICE = "relu-regions partition", "domain_forms", "a verdict in a box: ask check_property.py"
    DOMAIN = "origin", "directions", "generators"

    def __init__(self, path):
        self.arrays, name = (arrays := {}), ""
        try:
            require(os.path.isfile(path) or not os.stat(path), "a folder, pipe or device")
            with np.lib.npyio.NpzFile(path) as file:
                require(sum(x.file_size for x in file.zip.filelist) <= max(1 << 25, 20 * os.path.getsize(path)), "bomb")
                for name in file.files:
                    arrays[name] = file[name]
            self.header = header = json.loads(arrays[name := "header"].tobytes())
            usual = "".join(header["network"]["notes"]).isprintable() and all(array.ndim for array in arrays.values())
            kinds = [header["format"][:12], type(header["version"]), type(header["complete"]), len(arrays), usual]
            require(kinds == ["relu-regions", int, bool, len(file.files), True], "something else")
            names = [header[part]["fingerprint"] for part in ("network", "domain")]
        except Exception as error:
            why = getattr(error, "strerror", 0) or "damaged, cut short or not of relu-regions: save or copy it again"
            raise ValueError(f"the file{name and f', array {ascii(name)[:60]}'}: {why}") from None
        require(header["version"] == 3, "a file of another version: save the result again", ValueError)
        require(header["format"] == self.FORMAT, self.ADVICE, ValueError)
        other = {self.OTHER, "node_0_biases"} & arrays.keys()
        require(not other, "a box, or not a chain of dense layers: ask regions.certify of relu-regions", ValueError)
        require(header["complete"], "a partial result, which may not have all regions: ask regions.certify", ValueError)
        count = -(-sum(name.startswith("layer_") for name in arrays) // len(LAYER))
        self.layers = [[arrays.get(f"layer_{number}_{part}", NONE) for part in LAYER] for number in range(count)]
        self.kinks = sum(layer[1].size * layer[2].size for layer in self.layers[:-1])
        self.check_arrays(arrays)
        domain = [arrays[f"domain_{name}"] for name in self.DOMAIN]
        self.network, self.domain = fingerprint(part for layer in self.layers for part in layer), fingerprint(domain)
        require([self.network, self.domain] == names, "another network or domain than in the header")
        self.check_domain(domain[2])
        self.check_network(*domain[:2])
        self.check_structure(arrays)

    def named(self):
        """Return the network and the domain in words; the corners are in the input space, rounded once."""
        origin, directions, generators = (fractions(self.arrays[f"domain_{name}"]) for name in self.DOMAIN)
        corners = (generators[:, 1:] @ directions + origin)[:8, :4].astype(float).tolist()
        return [f"network {self.network}", f"domain {self.domain}: {self.edges} corners in R^{len(origin)}: {corners}"]

    def check_arrays(self, arrays):
        """Check names, types, shapes and ranges."""
        lengths = [len(arrays.get(name, NONE)) for name in (*(f"domain_{name}" for name in self.DOMAIN), *COUNTED)]
        n, d, edges, vertices, corners, facets, regions = _, self.dimension, self.edges, *_ = lengths
        require(d in (1, 2) and all([*lengths, self.layers]), "the domain is no line or plane, or an array is missing")
        require(edges <= 1000, "a domain of more than 1,000 corners: ask regions.certify of relu-regions", ValueError)
        expected = {"domain_origin": (n,), "domain_directions": (d, n), "domain_generators": (edges, 1 + d)}
        expected |= {"vertices": (vertices, d), "vertex_errors": (vertices,), "cell_offsets": (regions + 1,)}
        expected |= {"cell_facet_offsets": (regions + 1,), "cell_vertices": (corners,), "cell_facets": (corners,)}
        expected |= {"facet_offsets": (facets + 1,), "facet_vertices": (facets * d,), "facet_regions": (facets, 2)}
        expected |= {"facet_kinks": (facets,), "packed_patterns": (regions, -(-self.kinks // 8))}
        self.check_shapes(arrays, n, expected)
        places = arrays["domain_generators"][:, 1:]
        loosest = (np.ptp(places, axis=0).max() / 32 + 2.0**-50 * np.abs(places).max()) * MORE + TINY
        ranges = {"vertex_errors": (0, loosest), "cell_offsets": (0, corners), "cell_facets": (0, facets - 1)}
        ranges |= {"cell_vertices": (0, vertices - 1), "facet_kinks": (-edges, self.kinks - 1)}
        for name, (least, most) in ranges.items():
            require(((least <= arrays[name]) & (arrays[name] <= most)).all(), f"{name}: out of range")

    def check_shapes(self, arrays, n, expected):
        """Check that the arrays are the expected ones and the layers of a network with n inputs, and no others."""
        for number, (_, biases, breakpoints, slopes, _) in enumerate(self.layers):
            pieces = (biases.size,) * (slopes.ndim > 1) + (breakpoints.size + 1,)
            shapes = ((biases.size, n), (n := biases.size,), (breakpoints.size,), pieces, pieces)
            expected |= {f"layer_{number}_{part}": shape for part, shape in zip(LAYER, shapes, strict=True)}
        for name in sorted(arrays.keys() ^ expected.keys() ^ {"header"}):
            raise Rejected(f"array {ascii(name)[:60]}: missing, or unexpected")
        for name, shape in expected.items():
            kind = "u1" if name == "packed_patterns" else "i8" if name.startswith(("cell_", "facet_", "tree")) else "f8"
            require(arrays[name].dtype == kind and arrays[name].shape == shape, f"{name}: another type or shape")
            require(np.isfinite(arrays[name]).all(), f"{name}: not all are finite", ValueError)

    def check_network(self, origin, directions):
        layers, last = self.numbers[object], [part.tolist() for part in self.layers[-1][2:]]
        require(last == [[], [1], [0]], "the last layer has an activation, and must have none")
        for number, layer in enumerate(self.layers[:-1]):
            weights, biases, breakpoints, slopes, intercepts = map(fractions, layer)
            gaps = np.diff(slopes) * breakpoints + np.diff(intercepts)
            require((gaps == 0).all() and (np.diff(breakpoints) > 0).all(), f"layer {number}: pieces do not meet")
            if number == 0:  # restricted to the chart
                weights, biases = weights @ fractions(directions).T, weights @ fractions(origin) + biases
            pieces = (np.broadcast_to(part, (len(biases), len(breakpoints) + 1)) for part in (slopes, intercepts))
            layers.append((weights, biases, breakpoints, *pieces))

    def check_domain(self, generators):
        corners = fractions(np.pad(generators, ((0, 0), (0, 2 - self.dimension)))).T[:, None]
        # Forms that are zero on the edges of the domain, and positive inside.
        borders = meet(corners, self.beside(corners, -1))[:, 0]
        self.numbers, self.corners = {object: [[borders[:, ::-1]]]}, generators[:, 1:]
        convex = ((corners[:, 0].T @ borders > 0) | self.ends(self.edges)).all() and self.edges > self.dimension
        require(convex and (generators[:, 0] == 1).all(), "the domain is not bounded, convex and counter-clockwise")

    def distances(self, point):
        """Return forms of a point [d] that are not negative if it is in the domain."""
        return self.numbers[object][0][0].T @ np.array([Fraction(1), *point, *[Fraction(0)] * (2 - len(point))])

    def beside(self, items, step):
        """Return for each point or line [3, m, n] of a polygon the next or the last one; for intervals, the axis."""
        return np.roll(items, step, axis=2) if self.dimension == 2 else AXIS

    def ends(self, n):
        """Return which of n corners are ends of which of n facets, bool [corner, facet]."""
        return np.eye(n, dtype=bool) | np.roll(np.eye(n, dtype=bool), self.dimension - 1, axis=0)

    def check_structure(self, arrays):
        """Check that regions and facets fit together, and that patterns differ."""
        self.offsets, self.at, uses = (arrays[f"cell_{name}"] for name in ("offsets", "vertices", "facets"))
        self.vertices, self.errors, self.packed = (arrays[n] for n in ("vertices", "vertex_errors", "packed_patterns"))
        facets, corners, self.sizes = len(arrays["facet_kinks"]), np.arange(len(uses)), np.diff(self.offsets)
        enough = (self.sizes == 2) if self.dimension == 1 else (self.sizes > 2)
        require(enough.all() and self.offsets[0] == 0 and self.offsets[-1] == len(uses), "cells: numbers of corners")
        offsets = np.concatenate([self.offsets, self.dimension * np.arange(facets + 1)])
        require((np.concatenate([arrays["cell_facet_offsets"], arrays["facet_offsets"]]) == offsets).all(), "offsets")
        self.regions, vertices = np.repeat(np.arange(len(self.packed)), self.sizes), len(np.unique(self.at))
        euler = len(self.packed) - facets if self.dimension == 2 else -len(self.packed)
        require(len(self.vertices) == vertices == 1 - euler, "vertices: one is not used, or is several points")
        # Names of facets, with the edges of the domain before the kinks.
        self.every, named = self.kinks + self.edges, arrays["facet_kinks"] + self.edges
        self.names, inside = named[uses], named >= self.edges
        require(len(np.unique(self.regions * self.every + self.names)) == len(uses), "cells: two facets of one name")
        # The second region of a facet sees its ends in the other order. On a line, it is on the right.
        after, before = corners + 1, corners - 1
        after[self.offsets[1:] - 1], before[self.offsets[:-1]] = self.offsets[:-1], self.offsets[1:] - 1
        ends, expected = np.stack([self.at, self.at[after]], axis=1), arrays["facet_vertices"].reshape(facets, -1)[uses]
        second = inside[uses] & (corners % 2 == 0)
        if self.dimension == 2:
            second = (expected != ends).any(axis=1)
            ends[second] = ends[second, ::-1]
        require((expected == ends[:, : self.dimension]).all(), "cells: a facet does not join the corners of its region")
        sides = np.full(2 * facets, -1)
        sides[2 * uses + second] = corners
        used, wanted = sides >= 0, np.stack([np.ones_like(inside), inside], axis=1).ravel()
        require((used == wanted).all() and used.sum() == len(uses), "facets: one is not used once from each side")
        found = np.where(used, self.regions[sides], -1)
        require((arrays["facet_regions"].ravel() == found).all(), "facets: other regions on their sides")
        spare = np.unpackbits(self.packed, axis=1, bitorder="little")[:, self.kinks :]
        different = len(np.unique(self.packed, axis=0)) == len(self.packed)
        require(different and not spare.any(), "patterns: two are the same, or bits stand for no kink")
        # A facet is plain if only its kink flips, and if the facets after it have the same name on both sides.
        one, other = sides.reshape(-1, 2)[inside].T
        apart = self.packed[self.regions[one]] ^ self.packed[self.regions[other]]
        byte, bit = np.divmod(arrays["facet_kinks"][inside], 8)
        require((apart[np.arange(len(bit)), byte] >> bit & 1).all(), "facets: the kink of one does not flip")
        plain = np.unpackbits(apart, axis=1).sum(axis=1) == 1
        if self.dimension == 2:
            plain &= self.names[after[one]] == self.names[before[other]]
            plain &= self.names[before[one]] == self.names[after[other]]
        self.plain = np.logical_and.reduceat(~np.isin(uses, np.flatnonzero(inside)[~plain]), self.offsets[:-1])

    def forms(self, bits, kind, u):
        """Return the forms under patterns, [m, 3, all], with signs that make them positive inside, and error bounds."""
        (borders,), *layers = self.numbers[kind]
        forms, x, error = np.empty((len(bits), 3, self.every), kind), np.eye(3, self.dimension, -1, kind)[None], 0
        errors, start = np.zeros_like(forms), self.edges
        forms[..., :start], errors[..., :start] = borders, u * np.abs(borders) + (TINY if u else 0)
        for weights, biases, breakpoints, slopes, intercepts in layers:
            count, each = len(biases), len(breakpoints)
            here = slice(start, start := start + count * each)
            rows = (x.reshape(-1, x.shape[2]) @ weights.T).reshape(len(x), 3, -1)  # one large product is faster
            rows[:, 0] += biases
            form, bound = (part[..., here].reshape(len(bits), 3, count, each) for part in (forms, errors))
            form[:] = rows[..., None]
            form[:, 0] -= breakpoints
            piece = bits[:, here].reshape(len(bits), count, each).sum(axis=2)
            slope, intercept = slopes[np.arange(count), piece][:, None], intercepts[np.arange(count), piece]
            if u:
                # A sum of n products other than 0 is off by n u / (1 - n u) of the magnitudes; 3 more are for rounding
                share = (np.count_nonzero(x.any(axis=1), axis=1)[:, None, None] + 3) * u
                error = (error + share * np.abs(x)).astype(np.float64).reshape(-1, x.shape[2])
                error = (error @ np.abs(weights).astype(np.float64).T).reshape(rows.shape)
                error[:, 0] += share[:, 0] * (np.abs(biases) + np.abs(breakpoints).max(initial=0))
                bound[:] = (error := error * MORE + TINY)[..., None]
                error = error * np.abs(slope) + 2 * u * np.abs(rows * slope) + TINY
                error[:, 0] += 4 * u * np.abs(intercept)
            x = rows * slope
            x[:, 0] += intercept
        signs = np.where(bits, 1, -1)[:, None]
        if u:  # powers of two, so that nothing is rounded, and products are not below the smallest double
            signs = signs * np.ldexp(kind(1), -np.frexp(np.abs(forms).max(axis=1, keepdims=True))[1])
        return forms * signs, errors * np.abs(signs) + (TINY if u else 0)

    def hold(self, chosen, kind):
        """Return corners (w, x, y) of regions with equal numbers of corners, and which conditions each satisfies."""
        u, more, tiny = (0, 1, 0) if kind is object else (np.finfo(kind).eps / 2, MORE, TINY)
        corners = self.offsets[chosen][:, None] + np.arange(self.sizes[chosen[0]])
        bits = np.unpackbits(self.packed[chosen], axis=1, count=self.kinks, bitorder="little").astype(bool)
        bits, own = np.pad(bits, ((0, 0), (self.edges, 0)), constant_values=True), self.names[corners]
        forms, errors = self.forms(bits, kind, u)
        lines, off = (np.moveaxis(np.take_along_axis(part, own[:, None], axis=2), 1, 0) for part in (forms, errors))
        last, last_off = self.beside(lines, 1), self.beside(off, 1) * (self.dimension == 2)
        points = np.moveaxis(meet(last, lines), 0, 2)
        doubt = meet(last_off + 2 * u * np.abs(last), np.abs(lines) + off, 1) + meet(np.abs(last), off, 1)
        doubt, sizes = np.moveaxis(doubt * more + tiny, 0, 2), np.abs(points)
        # Values at the corners, less bounds on their errors, from points, from forms and from rounding.
        unsure = (doubt + 4 * u * sizes) @ (np.abs(forms) + errors) + sizes @ errors
        levels = points @ forms - (unsure * more + tiny)
        above, right = levels > 0, levels >= 0
        # The form of a facet is zero at its ends, which were chosen so, and must not be zero elsewhere.
        apart = np.take_along_axis(above, own[:, None], axis=2) | self.ends(own.shape[1])
        np.put_along_axis(right, np.broadcast_to(own[:, None], apart.shape), apart, axis=2)
        exact, at = fractions if kind is object else np.asarray, self.at[corners]
        stored, bounds = exact(self.vertices[at]), exact(self.errors[at][..., None])
        (w, xy), (dw, dxy) = ((each[..., :1], each[..., 1 : self.dimension + 1]) for each in (points, doubt))
        away = np.abs(stored * w - xy) + dxy + (np.abs(stored) + bounds) * dw + 2 * u * np.abs(stored * w)
        away = (away + 2 * u * np.abs(xy)) * more + tiny
        # A corner of the domain is known exactly: the edge that ends there comes before the one that starts there.
        edge, last = (self.edges - 1 - names for names in (own, np.roll(own, self.dimension - 1, axis=1)))
        first = (edge >= 0) & (last == (edge + 1 - self.dimension) % self.edges)
        known = first & (stored == self.corners[edge % self.edges]).all(axis=2)
        return points, {
            "facets do not meet in a point, or do not turn left there": (w - dw > 0).all(axis=(1, 2)),
            "a form has the wrong sign at a corner, or a facet is not an edge": right.all(axis=(1, 2)),
            "a kink is above its breakpoint nowhere, but in the pattern": (above.any(axis=1) | ~bits).all(axis=1),
            "a vertex is not within its bound": known | (away <= bounds * w).all(axis=2),
        }


def check(path):
    """Return the certificate, and numbers of regions proven with bounds and in fractions; or raise `Rejected`."""
    c = Certificate(path)
    proven, near, positions = np.zeros(len(c.sizes), dtype=bool), np.zeros(len(c.vertices), dtype=bool), {}
    some = c.regions[np.unique(c.at, return_index=True)[1]]
    for kind in KINDS:
        with contextlib.suppress(OverflowError), np.errstate(all="ignore"):
            c.numbers[kind] = [[rounded(part, kind) for part in parts] for parts in c.numbers[object]]
            for size in np.unique(c.sizes).tolist():
                left = np.union1d(np.flatnonzero(~proven), some[~near])
                left = left[c.plain[left] & (c.sizes[left] == size)]
                for block in np.array_split(left, 1 + len(left) * size * c.every // CHUNK)[: len(left)]:
                    *conditions, close = c.hold(block, kind)[1].values()
                    proven[block] |= np.all(conditions, axis=0)
                    near[c.at[c.offsets[block][:, None] + np.arange(size)][proven[block][:, None] & close]] = True
    for region in np.union1d(np.flatnonzero(~proven), some[~near]).tolist():
        points, conditions = c.hold(np.array([region]), object)
        for text, holds in conditions.items():
            require(holds.all(), f"region {region}: {text}")
        for vertex, (w, *position) in zip(c.at[c.regions == region].tolist(), points[0].tolist(), strict=True):
            point = [x / w for x in position]
            require(positions.setdefault(vertex, point) == point, f"vertex {vertex} is two points")
    return c, int(proven.sum()), int((~proven).sum())


if __name__ == "__main__":
    try:
        require(len(sys.argv) == 2, "usage: check_certificate.py result.npz", ValueError)
        found, rounded, exact = check(sys.argv[1])
        print(f"accepted: the network has exactly {rounded + exact} regions on the domain", *found.named(), sep="\n")
        print(f"{rounded} regions proven with error bounds, {exact} in fractions")
    except (Rejected, ValueError, ArithmeticError, MemoryError) as error:
        print("rejected:" if isinstance(error, Rejected) else "not checked:", error)
        sys.exit(1 if isinstance(error, Rejected) else 2)
