#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does a file of regions list all activation regions of the network in it, each exactly once?

``python check_certificate.py result.npz`` reads what `Partition.save` of relu-regions wrote: a network, a bounded
domain in one or two dimensions, and a complex of vertices, facets and regions, each with its activation pattern. It
needs numpy, and none of relu-regions. It accepts a file only if the argument below proves the list, and exits with 0;
otherwise it says what is wrong or not proven, and exits with 1. Networks are chains of dense layers with
piecewise-linear activations of one variable. docs/checking-certificates.md explains every step.

1. Structure. Each facet inside the domain is used by two corners, in opposite directions; a facet on the domain
   boundary by one. On each edge of the domain the facets lead from one end to the other. All patterns differ.
2. Corners. Under the pattern of a region, each pre-activation minus a breakpoint is affine in the chart point: the form
   of that kink. A facet lies on the line where the form of its kink is zero, or on an edge of the domain, and a corner
   is the point where the lines of its two facets meet. At each corner, every form must have the sign that the pattern
   says, or be zero. The forms of the two facets there are zero, the forms of the region's other facets are not, and the
   corners turn left. Then the polygon is the closure of the set of points with that pattern.
3. By step 1, the polygons leave no gap. By step 2 they do not overlap, because all patterns differ. So they are all
   regions.

Step 2 is first tried in floating point, with error bounds at each stored vertex (`Floats`). Regions that this does not
prove are checked in fractions (`Exact`). Stored coordinates are not used otherwise.
"""

import json
import sys
from fractions import Fraction

import numpy as np

U, TINY, LOOSE = 2.0**-53, 1e-290, 1 + 2.0**-30


class Rejected(Exception):
    """The file does not prove its list of regions; the message says why."""


def require(holds, message):
    if not holds:
        raise Rejected(message)


class Certificate:
    """The arrays of a file, after the checks of step 1."""

    def __init__(self, path):
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(bytes(arrays["header"]).decode())
        require(header["format"] == "relu-regions partition" and header["version"] == 3, "not a file of version 3")
        require(header["complete"], "a partial result: it does not claim to have all regions")
        self.layers = []
        while f"layer_{len(self.layers)}_weights" in arrays:
            prefix = f"layer_{len(self.layers)}_"
            parts = ("weights", "biases", "breakpoints", "slopes", "intercepts")
            self.layers.append([arrays[prefix + part].astype(np.float64) for part in parts])
        require(len(self.layers) > 1, "the network is not a chain of dense layers")
        for number, (weights, biases, breakpoints, slopes, intercepts) in enumerate(self.layers):
            count = len(biases)
            inputs = len(arrays["domain_origin"]) if number == 0 else len(self.layers[number - 1][1])
            require(weights.shape == (count, inputs), f"layer {number}: the weights do not fit")
            shape = (count, len(breakpoints) + 1)
            require(all(each.ndim and each.shape in (shape, shape[1:]) for each in (slopes, intercepts)), "activation")
            self.layers[number][3:] = np.broadcast_to(slopes, shape), np.broadcast_to(intercepts, shape)
            finite = all(np.isfinite(each).all() for each in self.layers[number])
            require(finite and (np.diff(breakpoints) > 0).all(), f"layer {number}: not numbers, or not in order")
            for k, t in enumerate(map(Fraction, breakpoints.tolist())):  # the pieces meet
                for unit in range(count):
                    (a, b), (c, d) = (
                        (Fraction(slopes_[unit, k + i]) for slopes_ in self.layers[number][3:]) for i in (0, 1)
                    )
                    require(a * t + b == c * t + d, f"layer {number}: the activation has a jump")
        self.hidden, self.kinks = self.layers[:-1], sum(len(b) * len(t) for _, b, t, _, _ in self.layers[:-1])
        self.origin, self.directions = arrays["domain_origin"], arrays["domain_directions"]
        self.corners = arrays["domain_generators"]
        self.dimension, self.edges = len(self.directions), len(self.corners)
        self.vertices, self.errors = arrays["vertices"], arrays["vertex_errors"]
        self.offsets, self.at, self.uses = (arrays[f"cell_{name}"] for name in ("offsets", "vertices", "facets"))
        self.names, self.packed = arrays["facet_kinks"], arrays["packed_patterns"]
        self.facets, self.sides = arrays["facet_vertices"].reshape(len(self.names), -1), arrays["facet_regions"]
        self.check_domain()
        self.check_structure()

    def check_domain(self):
        finite = all(np.isfinite(each).all() for each in (self.origin, self.directions, self.corners))
        require(finite and self.dimension in (1, 2), "the domain is not in one or two dimensions")
        require(self.directions.shape == (self.dimension, len(self.origin)), "the domain: directions do not fit")
        require((self.corners[:, 0] == 1).all() and self.corners.shape[1] == self.dimension + 1, "an unbounded domain")
        points = [[Fraction(x) for x in corner] for corner in self.corners[:, 1:].tolist()]
        if self.dimension == 1:
            require(len(points) == 2 and points[0] < points[1], "the domain: its ends are not in order")
            return
        require(len(points) >= 3, "the domain is not a polygon")
        for a, b in zip(points, points[1:] + points[:1], strict=True):
            for c in points:
                require(c in (a, b) or turn(a, b, c) > 0, "the domain is not a convex polygon")

    def check_structure(self):
        corners, regions = len(self.at), len(self.packed)
        integers = (self.offsets, self.at, self.uses, self.names, self.facets)
        require(all(each.dtype == np.int64 for each in integers) and regions > 0, "arrays: not integers, or empty")
        require(self.vertices.dtype == self.errors.dtype == np.float64, "arrays: vertices")
        finite = np.isfinite(self.vertices).all() and np.isfinite(self.errors).all()
        require(finite and (self.errors >= 0).all(), "arrays: a vertex is not a point, or its error not a number")
        require(self.vertices.shape == (len(self.errors), self.dimension), "arrays: vertices")
        require(self.offsets.shape == (regions + 1,) and self.offsets[0] == 0 and self.offsets[-1] == corners, "cells")
        sizes = np.diff(self.offsets)
        require((sizes == 2).all() if self.dimension == 1 else (sizes >= 3).all(), "cells: numbers of corners")
        require(self.at.shape == self.uses.shape == (corners,), "cells: corners and facets differ in number")
        require(self.facets.shape == (len(self.names), self.dimension), "facets: numbers of vertices")
        for numbers, count in (
            (self.at, len(self.vertices)),
            (self.facets, len(self.vertices)),
            (self.uses, len(self.names)),
        ):
            require((numbers >= 0).all() and (numbers < count).all(), "arrays: an index is out of range")
        require((self.names >= -self.edges).all() and (self.names < self.kinks).all(), "facets: there is no such kink")
        self.after = np.arange(1, corners + 1)
        self.after[self.offsets[1:] - 1] = self.offsets[:-1]
        self.before = np.empty_like(self.after)
        self.before[self.after] = np.arange(corners)
        self.kinks_of_uses = self.names[self.uses]
        ends = self.facets[self.uses]
        if self.dimension == 1:
            forward, fits = np.arange(corners) % 2 == 0, ends[:, 0] == self.at
            left = self.vertices[self.at, 0] <= self.vertices[self.at[self.after], 0]
            require(left[forward].all(), "cells: ends on a line are not in order")
        else:
            here, there = self.at, self.at[self.after]
            forward = (ends[:, 0] == here) & (ends[:, 1] == there)
            fits = forward | (ends[:, 0] == there) & (ends[:, 1] == here)
        require(fits.all(), "cells: a facet does not join the corners of its region")
        self.regions = np.repeat(np.arange(regions), sizes)
        sides = np.full((len(self.names), 2), -1)
        for use, way in ((forward, 0), (~forward, 1)):
            sides[self.uses[use], way if self.dimension == 2 else 1 - way] = self.regions[use]
        sides[sides[:, 0] < 0] = sides[sides[:, 0] < 0, ::-1]
        require(np.array_equal(sides, self.sides), "facets: the regions on their sides are others")
        inner = self.names >= 0
        one, other = (np.bincount(self.uses[side], minlength=len(inner)) for side in (forward, ~forward))
        require((one[inner] == 1).all() and (other[inner] == 1).all(), "facets: one is not used once from each side")
        require((one[~inner] + other[~inner] == 1).all(), "facets: one on the border is not used once")
        for edge in range(self.edges):
            own, following = (self.facets[self.names == -1 - e % self.edges] for e in (edge, edge + 1))
            if self.dimension == 1:
                require(len(own) == 1, "the border: an end is not there once")
                continue
            # Facets run counter-clockwise as seen from their region, so along the edge.
            chain, count = dict(own.tolist()), 0
            end = only({*own.ravel().tolist()} & {*following.ravel().tolist()})
            place = only({*own[:, 0].tolist()} - {*own[:, 1].tolist()})
            while place in chain and count <= len(own):
                place, count = chain[place], count + 1
            require(place == end is not None and count == len(own), "the border: facets do not cover an edge once")
        require(self.packed.dtype == np.uint8 and self.packed.shape[1] == -(-self.kinks // 8), "patterns: bytes")
        require(len(np.unique(self.packed, axis=0)) == regions, "patterns: two regions have the same one")
        bits = np.unpackbits(self.packed, axis=1, bitorder="little")
        require(not bits[:, self.kinks :].any(), "patterns: a bit stands for no kink")
        start = 0
        for _, biases, breakpoints, _, _ in self.hidden:
            stop = start + len(biases) * len(breakpoints)
            each = bits[:, start:stop].reshape(regions, len(biases), len(breakpoints)).astype(int)
            require((np.diff(each, axis=2) <= 0).all(), "patterns: a unit is above a higher breakpoint only")
            start = stop

    def bits(self, regions):
        return np.unpackbits(self.packed[regions], axis=-1, count=self.kinks, bitorder="little").astype(bool)


def only(items):
    return items.pop() if len(items) == 1 else None


def turn(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def gamma(terms):
    """Return an upper bound on the relative rounding error of a sum of products."""
    return 2 * (terms + 4) * U


class Floats:
    """Step 2 with floating point: which regions does it prove?

    At a vertex with exactly two named kinks (one on a line), all forms are computed at the stored point, under the
    pattern of one region there. Their error bounds have two parts: one at the stored point, and one that grows with
    the distance from it. They cover both sides of the two named kinks. Within the *room*, a distance, the signs of all
    other forms are proven. Cramer's rule, with the values of the two named forms at the neighbouring corners, bounds
    the distance between the true corner and the stored point. If it is less than the room, the vertex is good.
    """

    def __init__(self, c):
        self.c = c
        chart = np.vstack([c.origin, c.directions])
        weights = c.layers[0][0]
        self.forms = chart @ weights.T
        self.form_errors = gamma(len(c.origin)) * (np.abs(chart) @ np.abs(weights).T) + TINY

    def proven(self):
        c, d = self.c, self.c.dimension
        pairs = np.unique(c.facets.ravel() * (c.kinks + c.edges) + np.repeat(c.names, d) + c.edges)
        owners, named = np.divmod(pairs, c.kinks + c.edges)
        counts = np.bincount(owners, minlength=len(c.vertices))
        few = (counts == d) & np.isfinite(c.vertices).all(axis=1)
        names = np.full((len(c.vertices), d), -1)
        names[few] = (named[(np.cumsum(counts) - counts)[few][:, None] + np.arange(d)]) - c.edges
        first = np.zeros(len(c.vertices), dtype=np.int64)
        first[c.at[::-1]] = c.regions[::-1]
        # Needed values: the form of the facet that starts at a corner, at this corner and the one before; the form of
        # the facet that ends there, at this corner and the next one. On a line: the form at both ends.
        here, last = c.kinks_of_uses, c.kinks_of_uses[c.before]
        asked = [(c.at, here), (c.at[c.before], here)] + [(c.at, last), (c.at[c.after], last)] * (d - 1)
        values, bounds = (np.full((len(asked), len(c.at)), fill) for fill in (0.0, np.inf))
        room = np.full(len(c.vertices), -np.inf)
        for edge in range(c.edges):
            level, error, slope = self.at_edge(edge)
            for row, (vertices, kinks) in enumerate(asked):
                chosen = kinks == -1 - edge
                values[row, chosen], bounds[row, chosen] = level[vertices[chosen]], error[vertices[chosen]]
        for block in np.array_split(np.flatnonzero(few), max(1, int(few.sum()) * c.kinks >> 20)):
            level, error, room[block] = self.block(c.vertices[block], c.bits(first[block]), names[block])
            place = np.full(len(c.vertices), -1)
            place[block] = np.arange(len(block))
            for row, (vertices, kinks) in enumerate(asked):
                chosen = np.flatnonzero((place[vertices] >= 0) & (kinks >= 0))
                values[row, chosen] = level[place[vertices[chosen]], kinks[chosen]]
                bounds[row, chosen] = error[kinks[chosen]]
        for edge in range(c.edges):
            level, error, slope = self.at_edge(edge)
            inside = np.where((names == -1 - edge).any(axis=1), np.inf, (level - error) / slope * (1 - 2.0**-40))
            room = np.minimum(room, inside)
        fits = (room >= 0)[c.at] & ((here != last) | (d == 1))
        for start in range(0, len(c.at), 1 << 16):
            part = slice(start, start + (1 << 16))
            apart = c.packed[c.regions[part]] ^ c.packed[first[c.at[part]]]
            for kinks in names[c.at[part]].T:
                rows = np.flatnonzero(kinks >= 0)
                apart[rows, kinks[rows] >> 3] &= ~(1 << (kinks[rows] & 7)).astype(np.uint8)
            fits[part] &= ~apart.any(axis=1)
        most, least = np.abs(values) * (1 + 2.0**-50) + bounds, np.abs(values) * (1 - 2.0**-50) - bounds
        places = c.vertices[c.at]
        ahead = np.abs(places[c.after] - places).max(axis=1)
        small, large = most[0], least[1] - most[0]
        share = small / large
        if d == 1:
            reach, far, valid = ahead, share * ahead, (large > 0) & fits & fits[c.after]
        else:
            other, other_large = most[2], least[3] - most[2]
            # Quotients first: products of small forms are below the smallest double.
            other_share = other / other_large
            tilt, other_tilt = (small + other[c.after]) / large, (other + small[c.before]) / other_large
            left = 1 - tilt * other_tilt * (1 + 2.0**-40)
            behind = np.abs(places[c.before] - places).max(axis=1)
            far = ((share + tilt * other_share) * behind + (other_share + other_tilt * share) * ahead) / left
            valid = (large > 0) & (other_large > 0) & (left > 0) & fits & fits[c.after] & fits[c.before]
            reach = ahead + behind
        # 2^-200 is more than quotients lose that are below the smallest double.
        far = np.where(valid & np.isfinite(far), far * (1 + 2.0**-40) + 2.0**-200 * reach + TINY, np.inf)
        near = np.full(len(c.vertices), np.inf)
        np.minimum.at(near, c.at, far)
        good = (near <= room) & (np.bincount(c.at[~fits], minlength=len(room)) == 0)
        keys = np.sort(c.regions * (c.kinks + c.edges) + here + c.edges)
        whole = np.logical_and.reduceat(good[c.at], c.offsets[:-1])
        whole[keys[1:][keys[1:] == keys[:-1]] // (c.kinks + c.edges)] = False  # two facets name the same kink
        ahead, errors = places[c.after] - places, near[c.at]
        if d == 1:
            return whole & (ahead[:, 0] * (1 - 4 * U) > 2 * (errors + errors[c.after]))[::2]
        behind = places[c.before] - places
        worst = np.maximum(errors, np.maximum(errors[c.after], errors[c.before]))
        size = np.abs(ahead[:, 0] * behind[:, 1]) + np.abs(ahead[:, 1] * behind[:, 0])
        length = np.abs(ahead).sum(axis=1) + np.abs(behind).sum(axis=1)
        area = ahead[:, 0] * behind[:, 1] - ahead[:, 1] * behind[:, 0]
        left = area > 8 * U * size + 4 * worst * (length + 2 * worst) + TINY
        return whole & np.logical_or.reduceat(left, c.offsets[:-1])

    def at_edge(self, edge):
        """A form that is 0 on an edge of the domain and positive inside, at all vertices; its error; its slope."""
        c, here = self.c, self.c.corners[edge, 1:]
        if c.dimension == 1:
            level = (c.vertices[:, 0] - here[0]) * (1 - 2 * edge)
            return level, 2 * U * np.abs(level) + TINY, 1.0
        along = c.corners[(edge + 1) % c.edges, 1:] - here
        x, y = (c.vertices - here).T
        size = np.abs(along[0] * y) + np.abs(along[1] * x)
        return along[0] * y - along[1] * x, 8 * U * size + TINY, np.abs(along).sum() * (1 + 4 * U)

    def block(self, points, bits, names):
        """Values of all kinks at vertices, bounds on their errors, and the room of each vertex."""
        values, bounds, room = np.empty(bits.shape), np.empty(bits.shape[1]), np.full(len(points), np.inf)
        who, kinks = np.nonzero(names >= 0)[0], names[names >= 0]
        x = sizes = errors = charged = None
        start = 0
        for number, (weights, biases, breakpoints, slopes, intercepts) in enumerate(self.c.hidden):
            if number == 0:
                rows, steep = points @ self.forms[1:] + self.forms[0] + biases, np.abs(self.forms) + self.form_errors
                most = np.abs(points).max(axis=0, initial=0.0)
                rounding = gamma(len(self.forms) + 2) * (steep[0] + np.abs(biases) + most @ steep[1:])
                bound = np.stack([rounding + self.form_errors[0] + most @ self.form_errors[1:], steep[1:].sum(axis=0)])
            else:
                rows, steep = x @ weights.T + biases, np.abs(weights)
                bound = errors @ steep.T + charged[:, None] * steep.max(axis=1, initial=0.0)
                bound[0] += gamma(len(weights[0]) + 1) * (steep @ sizes * 2 + np.abs(biases))
            bound = bound * LOOSE + TINY
            count, each = len(biases), len(breakpoints)
            here = slice(start, start := start + count * each)
            values[:, here] = np.repeat(rows, each, axis=1) - np.tile(breakpoints, count)
            allowed, growth = np.repeat(bound, each, axis=1) * LOOSE
            bounds[here] = allowed
            away = np.abs(values[:, here])
            left = (away * (1 - 2.0**-50) - allowed) / growth
            left[(values[:, here] > 0) != bits[:, here]] = -np.inf
            inside = (here.start <= kinks) & (kinks < here.stop)
            rows_named, which = who[inside], kinks[inside] - here.start
            left[rows_named, which] = np.inf
            room = np.minimum(room, left.min(axis=1, initial=np.inf))
            off = away[rows_named, which]
            close = off <= 1e6 * allowed[which]
            room[rows_named[~close]] = -np.inf
            distance = np.zeros(count * each)
            np.maximum.at(distance, which[close], off[close])
            changes = np.abs(np.diff(slopes, axis=1)).ravel()
            charged = 2 * np.stack([changes * (distance + allowed), changes * growth]).max(axis=1, initial=0.0) * LOOSE
            piece = bits[:, here].reshape(len(points), count, each).sum(axis=2)
            slope, intercept = slopes[np.arange(count), piece], intercepts[np.arange(count), piece]
            sizes = (np.abs(slope * rows) + np.abs(intercept)).max(axis=0, initial=0.0)
            x = slope * rows + intercept
            errors = np.abs(slopes).max(axis=1) * bound * LOOSE
            errors[0] += 4 * U * sizes + TINY
        known = np.isfinite(values.sum(axis=1)) & np.isfinite(bounds.sum())
        return values, bounds, np.where(known, room * (1 - 2.0**-30), -np.inf)


class Exact:
    """Step 2 in fractions, for one region at a time."""

    def __init__(self, c):
        self.c, self.positions = c, {}
        self.layers = [[self.fractions(part) for part in layer] for layer in c.hidden]
        self.chart = self.fractions(np.vstack([c.origin, c.directions]))
        corners = [tuple(map(Fraction, corner)) for corner in c.corners[:, 1:].tolist()]
        if c.dimension == 1:
            self.borders = [(-corners[0][0], Fraction(1)), (corners[1][0], Fraction(-1))]
        else:
            following = corners[1:] + corners[:1]
            self.borders = [
                (a[0] * b[1] - a[1] * b[0], a[1] - b[1], b[0] - a[0]) for a, b in zip(corners, following, strict=True)
            ]

    @staticmethod
    def fractions(array):
        return np.vectorize(Fraction, otypes=[object])(array)

    def forms(self, bits):
        """For each kink its form, (constant, slope, ..), under a pattern."""
        columns, result, start = self.chart, [], 0
        for weights, biases, breakpoints, slopes, intercepts in self.layers:
            columns = columns @ weights.T
            columns[0] = columns[0] + biases
            each = len(breakpoints)
            for unit in range(len(biases)):
                result += [(columns[0, unit] - t, *columns[1:, unit]) for t in breakpoints]
            piece = bits[start : start + len(biases) * each].reshape(len(biases), each).sum(axis=1)
            start += len(biases) * each
            columns = columns * slopes[np.arange(len(biases)), piece]
            columns[0] = columns[0] + intercepts[np.arange(len(biases)), piece]
        return result

    def check(self, region):
        c, span = self.c, slice(self.c.offsets[region], self.c.offsets[region + 1])
        bits, vertices = c.bits(region), c.at[span].tolist()
        names, forms = c.kinks_of_uses[span].tolist(), self.forms(bits)
        lines = [forms[name] if name >= 0 else self.borders[-1 - name] for name in names]
        corners = []
        for number, vertex in enumerate(vertices):
            a, b = lines[number], lines[number - 1]
            if c.dimension == 1:
                require(a[1] != 0, f"region {region}: its end {number} is no point")
                point = (-a[0] / a[1],)
            else:
                determinant = a[1] * b[2] - a[2] * b[1]
                require(determinant != 0, f"region {region}: facets at corner {number} do not meet in a point")
                point = ((a[2] * b[0] - a[0] * b[2]) / determinant, (a[0] * b[1] - a[1] * b[0]) / determinant)
            require(self.positions.setdefault(vertex, point) == point, f"vertex {vertex} is two points")
            corners.append(point)
        if c.dimension == 1:
            require(corners[0] < corners[1], f"region {region}: its ends are not in order")
        else:
            require(turn(*corners[:3]) > 0, f"region {region}: its corners are not counter-clockwise")
        for kink, form in [*enumerate(forms), *((-1 - edge, form) for edge, form in enumerate(self.borders))]:
            sign = 1 if kink < 0 or bits[kink] else -1
            level = [sign * (form[0] + sum(a * x for a, x in zip(form[1:], point, strict=True))) for point in corners]
            require(min(level) >= 0, f"region {region}: kink {kink} is on the other side at a corner")
            require(sign < 0 or max(level) > 0, f"region {region}: kink {kink} is not above its breakpoint")
            for facet in [number for number, name in enumerate(names) if name == kink]:
                ends = {facet, (facet + 1) % len(corners)} if c.dimension == 2 else {facet}
                zero = {number for number, value in enumerate(level) if value == 0}
                require(zero == ends, f"region {region}: facet {facet} is not an edge of it")


def check(path):
    """Return how many regions were proven in which way; raise `Rejected` if not all are."""
    certificate = Certificate(path)
    with np.errstate(all="ignore"):
        proven = Floats(certificate).proven()
    exact = Exact(certificate)
    for region in np.flatnonzero(~proven).tolist():
        exact.check(region)
    return int(proven.sum()), int((~proven).sum())


def main():
    if len(sys.argv) != 2:
        print("usage: check_certificate.py result.npz", file=sys.stderr)
        return 2
    try:
        rounded, exact = check(sys.argv[1])
    except Rejected as reason:
        print(f"rejected: {reason}")
        return 1
    except Exception as error:
        print(f"rejected: not a file that can be read: {error!r}")
        return 1
    print(f"accepted: the network in this file has exactly {rounded + exact} regions on its domain")
    print(f"{rounded} of them proven with error bounds, {exact} in fractions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
