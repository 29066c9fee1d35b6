# SPDX-License-Identifier: MIT
"""On which side of each column is each vertex, and how far is the true vertex from the stored one?

The signs of all columns at a point are its *sign vector*; of a maximum, the set of branches that are the largest. The
forms of the owner give the sign vector of a vertex. Values at the stored vertex, with bounds, prove most signs: first
in doubles, then in pairs of doubles. Columns that bounds leave open are zero if a determinant, an integer, is too small
to be anything else, or is zero modulo enough primes. The other vertices are decided in integers.
A sign counts if it holds as far from the stored vertex as the stated bound of the vertex. Therefore each vertex must
also be proven to be that near; otherwise it is decided in integers, or stays unknown. docs/error-bounds.md has the
bounds.
Invariant: the signs of `known` vertices are proven. Only bits say so that are set after everything else, so that Ctrl-C
leaves true statements.
Cost: a walk through the patterns of owners, and d + 1 products for each vertex and column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd, lcm, log2
from typing import NamedTuple

import numpy as np

from regions.certification.bounded_forms import LOOSE, Bounded, U, at_points, walk
from regions.certification.certification_report import Findings
from regions.certification.doubled_rows import ROUNDING
from regions.certification.forms import Forms, value
from regions.certification.layout import Edge, Layout, packed
from regions.certification.reference.integers import Form, Point
from regions.certification.residue_forms import Residues, lowest_exponents, primes, vanishing
from regions.ground.arithmetic.types import Bits, Floats, Indices, Integers, Packed
from regions.ground.threads.progress import Report, share_of
from regions.ground.threads.workers import each_by_workers
from regions.networks.graph import Maxima

__all__ = ["VertexSigns", "reduced"]

# A block has at most BLOCK vertices, and arrays of at most CHUNK numbers. Larger ones share more, and need more memory.
# Primes may have MOST_BITS together: more take longer than integers.
BLOCK, CHUNK, MOST_BITS = 1344, 1 << 21, 1760.0


class _Open(NamedTuple):
    """Columns that bounds leave open: vertices [n], columns [n], and logarithms of bounds on the column's value and on
    the determinant of the slopes of the vertex's facets.
    """

    vertices: Integers
    columns: Integers
    values: Floats
    slopes: Floats


_NONE = _Open(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


class VertexSigns:
    """The signs at the vertices of a partition, as far as they are known.

    Attributes
    ----------
    above, zero : uint8 [V, bytes]
        Packed bits of columns. The kinks of a maximum are zero between two of its largest branches, and its other bits
        are those of the lowest of these.
    ties : dict of Node to uint8 [V, bytes]
        For each node of maxima, which branches are the largest, packed.
    known : bool [V]
    near : float64 [V]
        A bound on the distance of the stored vertex from the true one, in each coordinate; infinite if there is none.
    positions : dict of int to Point
        Exact positions, in lowest terms, of the vertices that were decided in integers.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout, self.graph = layout, layout.graph
        count = len(layout.vertices)
        self.above, self.zero = np.zeros((2, count, layout.patterns.shape[1]), dtype=np.uint8)
        self.maxima = [node for node in self.graph.hidden if isinstance(node.units, Maxima) and node.units.kinks]
        self.ties = {node: np.zeros((count, -(-node.units.rows // 8)), dtype=np.uint8) for node in self.maxima}
        self.known, self.near = np.zeros(count, dtype=bool), np.full(count, np.inf)
        self.positions: dict[int, Point] = {}

    def decide_by_values(self, report: Report | None = None, threads: int = 1) -> None:
        """Decide the vertices of a bounded domain that values can decide. The result does not depend on threads."""
        layout, self._edges = self.layout, _EdgeForms(self.layout.edges, self.layout.vertices)
        try:
            usable = np.flatnonzero((layout.owners >= 0) & (layout.meet[:, 0] >= 0))
            usable = usable[np.isfinite(layout.vertices[usable]).all(axis=1)]
            self._corners(usable)
            left = self._zeros(
                self._values(usable, Bounded(self.graph, layout.domain, False), threads, share_of(report, 0, 2))
            )
            far = np.flatnonzero(self.known & ~(self.near <= layout.errors))
            if far.size or left.size:
                pairs = Bounded(self.graph, layout.domain, True)
                nodes = np.append(self.graph.kink_nodes, np.full(len(layout.edges), -1))
                last = nodes[layout.meet[far]].max(axis=1)
                for node in np.unique(last).tolist():
                    self._values(far[last == node], pairs, threads, None, node)
                self._zeros(self._values(left, pairs, threads, share_of(report, 1, 2)))
        finally:
            self.known &= self.near <= layout.errors
        if report is not None:
            report(1.0, 0)

    def _corners(self, vertices: Indices) -> None:
        """Find the corners of a domain in a plane or on a line: where two edges meet that follow each other."""
        layout, count, d = self.layout, len(self.layout.edges), self.layout.dimension
        if d < 3:
            edges = layout.meet[vertices] - layout.kinks
            one, other = edges[:, 0], edges[:, -1]
            first = np.where((one + d - 1) % count == other, other, one)
            last = one + other - first
            known = (edges >= 0).all(axis=1) & ((last + d - 1) % count == first)
            places = layout.domain.generators[np.where(known, first, 0), 1:]
            self.near[vertices[known & (places == layout.vertices[vertices]).all(axis=1)]] = 0.0

    def _values(
        self, vertices: Indices, arithmetic: Bounded, threads: int, report: Report | None, last: int | None = None
    ) -> _Open:
        """Decide signs at vertices by values, and return what bounds leave open. If ``last`` is a node, only bound the
        distances of vertices whose facets are in nodes up to this one.
        """
        layout, found = self.layout, list[_Open]()
        vertices = vertices[np.argsort(layout.rank[layout.owners[vertices]], kind="stable")]
        nodes = self.graph.hidden if last is None else self.graph.hidden[: last + 1]
        width = max([node.units.rows for node in nodes] + [layout.every if last is None else 1])
        step = max(1, min(BLOCK, CHUNK // width) // (4 if arithmetic.double else 1))

        def decide(number: int, report: Report | None) -> _Open:
            with np.errstate(all="ignore"):  # threads do not inherit this
                left = self._block(vertices[number * step : (number + 1) * step], arithmetic, last)
            if report is not None:
                report(1.0, 0)
            return left

        each_by_workers(decide, -(-len(vertices) // step), threads, report, found)
        return _Open(*(np.concatenate(each) for each in zip(_NONE, *found, strict=True)))

    def _block(self, vertices: Indices, arithmetic: Bounded, last: int | None) -> _Open:
        layout, d, count = self.layout, self.layout.dimension, len(vertices)
        patterns, own = self._owners_of(vertices)
        points, stated, meet = layout.vertices[vertices], layout.errors[vertices], layout.meet[vertices]
        arithmetic, moved = arithmetic.near(points)
        slip = 0.0 if arithmetic.double else U * arithmetic.least  # the rounding of moved points
        facets = _Facets(count, d)
        on_edges = np.nonzero(meet >= layout.kinks)
        facets.put(on_edges, *self._edges.as_facets(meet[on_edges] - layout.kinks, points[on_edges[0]]))
        left = []
        above, open_ = np.zeros((2, count, layout.every if last is None else 0), dtype=bool)
        if last is None:
            values, bounds = self._edges.at(points, stated)
            above[:, layout.kinks :], open_[:, layout.kinks :] = values > bounds, ~(np.abs(values) > bounds)
            left.append(_entries(bounds, ~(np.abs(values) > bounds), layout.kinks))
        for node, rows, index in walk(self.graph, arithmetic, patterns, last):
            here, of = node.kinks, index[own]
            where = np.nonzero((here.start <= meet) & (meet < here.stop))
            if here.start == here.stop or (last is not None and not len(where[0])):
                continue
            forms, mistakes, growth = arithmetic.kinks(node, rows)
            if slip:
                mistakes = np.where(mistakes != 0, mistakes + growth * slip, 0.0)
            at, kinks = of[where[0]], meet[where] - here.start
            slopes = forms[0][at, 1:, kinks], mistakes[at, kinks] / arithmetic.least, growth[at, kinks]
            if last is not None:
                some, more = at_points([each[at, :, kinks][..., np.newaxis] for each in forms], moved[where[0]])
                facets.put(where, some[:, 0], mistakes[at, kinks] + np.ravel(more), *slopes)
                continue
            # Vertices must be as near as they are stated to be; in a class, as the worst of them.
            begins = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
            worst = np.zeros(len(mistakes))
            worst[of[begins]] = np.maximum.reduceat(stated, begins)
            bounds = (mistakes + growth * worst[:, np.newaxis]) * LOOSE
            every = slice(None) if len(mistakes) == 1 else of
            bounds = bounds[every]
            values, more = at_points(forms, moved, every)
            wrong = mistakes[at, kinks]
            if arithmetic.double:
                bounds, wrong = bounds + more, wrong + np.asarray(more)[where[0], kinks]
            facets.put(where, values[where[0], kinks], wrong, *slopes)
            np.greater(values, 0.0, out=above[:, here])
            np.abs(values, out=values)
            unsure = ~(values > bounds)
            open_[:, here] = unsure
            left.append(_entries(bounds, unsure, here.start))
        self.near[vertices] = np.fmin(self.near[vertices], facets.distances())
        if last is not None:
            return _NONE
        sizes = np.log2(facets.steep).sum(axis=1)
        return self._judge(vertices, patterns[own], above, open_, left, sizes)

    def _owners_of(self, vertices: Indices) -> tuple[Packed, Integers]:
        """Return the patterns of the owners of some vertices, in order, and which one each vertex has."""
        layout = self.layout
        ranks = layout.rank[layout.owners[vertices]]
        _, first, own = np.unique(ranks, return_index=True, return_inverse=True)
        return layout.part.packed_patterns[layout.owners[vertices[first]]], own

    def _judge(
        self,
        vertices: Indices,
        patterns: Packed,
        above: Bits,
        open_: Bits,
        left: list[tuple[Integers, Integers, Floats]],
        sizes: Floats,
    ) -> _Open:
        """Record the signs of columns that are not open, and return the open ones that are not known to be zero."""
        meet = self.layout.meet[vertices]
        fine = np.isfinite(self.near[vertices]) & np.take_along_axis(open_, meet, 1).all(axis=1)
        where, columns, bounds = (np.concatenate(each) for each in zip(*left, strict=True))
        if self.maxima:
            open_[:, : self.layout.kinks] &= self.graph.binding(self.graph.bits(patterns))
            kept = open_[where, columns]
            where, columns, bounds = where[kept], columns[kept], bounds[kept]
        self._record(vertices, patterns, above, open_)
        # A form whose bound is 0 is zero wherever the owner has its pattern.
        some = (columns[:, np.newaxis] != meet[where]).all(axis=1) & (bounds != 0) & fine[where]
        decided = fine.copy()
        decided[where[some]] = False
        self.known[vertices] = decided
        lost = np.flatnonzero(~fine)
        sought = np.append(where[some], lost)
        return _Open(
            vertices[sought],
            np.append(columns[some], np.zeros(len(lost), dtype=np.int64)),
            np.append(np.log2(2 * bounds[some]), np.full(len(lost), np.inf)),
            sizes[sought],
        )

    def _record(self, vertices: Indices, patterns: Packed, above: Bits, zero: Bits) -> None:
        """Store signs, given the signs of columns [m, every] that the owners' patterns [m, bytes] decide."""
        for node in self.maxima:
            here, units = node.kinks, node.units
            assert isinstance(units, Maxima)
            bits = self.graph.bits(patterns)[:, here].view(bool)
            pieces, (later, earlier) = units.pieces_of(bits), units.kink_rows.T
            argmaxes = units.branches == pieces[:, units.row_units]
            largest = argmaxes.copy()
            which, kinks = np.nonzero(zero[:, here])
            for one, other in ((later, earlier), (earlier, later)):
                on = argmaxes[which, one[kinks]]
                largest[which[on], other[kinks[on]]] = True
            # If the owner's argmax is not the largest branch, no region fits.
            which, kinks = np.nonzero((above[:, here] != bits) & ~zero[:, here] & units.binding(pieces))
            for row in (later, earlier):
                largest[which, row[kinks]] = False
            self.ties[node][vertices] = packed(largest)
            zero[:, here] = largest[:, later] & largest[:, earlier]
            lowest = np.minimum.reduceat(np.where(largest, units.branches, units.rows), units.starts[:-1], axis=1)
            above[:, here] = units.bits_of(lowest) & ~zero[:, here]
        self.above[vertices], self.zero[vertices] = packed(above & ~zero), packed(zero)

    def _zeros(self, left: _Open) -> Integers:
        """Prove that open columns are zero; vertices of which all are proven become known. Return the others."""
        layout, (vertices, columns, values, slopes) = self.layout, left
        if not len(vertices):
            return vertices
        lows = [min(-(x.denominator.bit_length() - 1) for x in row) for row in layout.edges]
        lows_of = np.append(lowest_exponents(self.graph, layout.domain), lows)
        need = values + slopes - lows_of[columns] - lows_of[layout.meet[vertices]].sum(axis=1) + 1
        decided, nonzero = need < 0, ~(need < MOST_BITS)
        for prime in primes(self.graph):
            bad = np.zeros(len(layout.vertices), dtype=bool)
            bad[vertices[nonzero]] = True
            open_ = np.flatnonzero(~decided & ~bad[vertices])
            if not len(open_):
                break
            zero, sound = self._modulo(prime, vertices[open_], columns[open_])
            nonzero[open_[sound & ~zero]] = True
            need[open_[sound & zero]] -= log2(prime)
            decided = need < 0
        others = np.unique(vertices[~decided])
        self.known[np.setdiff1d(vertices, others)] = True
        return others

    def _modulo(self, prime: int, vertices: Indices, columns: Indices) -> tuple[Bits, Bits]:
        """Return which columns are zero at vertices modulo a prime, and where the facets meet in one point."""
        layout, arithmetic = self.layout, Residues(self.graph, self.layout.domain, prime)
        edges = [[x.numerator * pow(x.denominator, -1, prime) % prime for x in row] for row in layout.edges]
        order = np.argsort(layout.rank[layout.owners[vertices]], kind="stable")
        zero, sound = np.zeros((2, len(vertices)), dtype=bool)
        step = max(1, min(BLOCK, CHUNK // max(node.units.rows for node in self.graph.nodes)))
        for start in range(0, len(order), step):
            some = order[start : start + step]
            patterns, own = self._owners_of(vertices[some])
            asked = np.concatenate([layout.meet[vertices[some]], columns[some][:, np.newaxis]], axis=1)
            rows = np.zeros((*asked.shape, layout.dimension + 1), dtype=np.int64)
            where = np.nonzero(asked >= layout.kinks)
            rows[where] = np.array(edges)[asked[where] - layout.kinks]
            for node, before, index in walk(self.graph, arithmetic, patterns):
                where = np.nonzero((node.kinks.start <= asked) & (asked < node.kinks.stop))
                if len(where[0]):
                    forms = arithmetic.kinks(node, before)
                    found = forms[index[own[where[0]]], :, asked[where] - node.kinks.start]
                    rows[where] = found.astype(np.int64) % prime
            zero[some], sound[some] = vanishing(rows, prime)
        return zero, sound

    def decide_in_integers(
        self, vertices: Indices, forms: Forms, findings: Findings, report: Report | None = None
    ) -> None:
        """Decide signs and positions of some vertices that have owners. A vertex whose facets do not meet in one point
        is a fault, and stays unknown.
        """
        layout, around = self.layout, defaultdict[int, list[int]](list)
        for vertex in vertices.tolist():
            around[int(layout.owners[vertex])].append(vertex)
        owners = np.array(sorted(around, key=layout.rank.__getitem__), dtype=np.int64)
        bits, tell, share = self.graph.bits(layout.part.packed_patterns[owners]), self._counted(owners, vertices), 0
        for index, kinks in forms.walk([row.tobytes() for row in bits]):
            every, owner = [*kinks, *forms.edges], int(owners[index])
            for vertex in around[owner]:
                point = meeting_point([every[c] for c in layout.meeting_columns(vertex)], layout.dimension)
                if point is None:
                    what = f"the facets of region {owner} at vertex {vertex} do not meet in one point"
                    findings.wrong("vertices", what)
                    self.known[vertex] = False
                    continue
                found = [value(form, point) for form in every]
                above = np.array([number > 0 for number in found])[np.newaxis]
                zero = np.array([number == 0 for number in found])[np.newaxis]
                if self.maxima:
                    zero[0, : layout.kinks] &= self.graph.binding(bits[index])
                self._record(np.array([vertex]), layout.part.packed_patterns[[owner]], above, zero)
                self.positions[vertex] = point
                self.known[vertex] = True
            share += len(around[owner])
            if report is not None:
                report(share / len(vertices), tell(index))
        if report is not None and not len(vertices):
            report(1.0, tell(0))

    def _counted(self, owners: Indices, vertices: Indices) -> Callable[[int], int]:
        """Return a function: the number of regions of which all vertices are decided, after so many owners."""
        layout = self.layout
        when = np.where(self.known, -1, len(owners))
        place = np.full(layout.regions + 1, len(owners))
        place[owners] = np.arange(len(owners))
        when[vertices] = place[layout.owners[vertices]]
        ends = (
            np.sort(np.maximum.reduceat(when[layout.cell_vertices], layout.cell_offsets[:-1]))
            if layout.regions
            else when
        )
        return lambda index: int(np.searchsorted(ends, index, side="right"))


class _EdgeForms:
    """The inequalities of the domain as pairs of doubles, with what bounds on their values need."""

    def __init__(self, edges: Sequence[Edge], vertices: Floats) -> None:
        exact = np.array(edges, dtype=object).T  # [1 + d, E]
        self.high = exact.astype(np.float64)
        self.low = (exact - np.vectorize(Fraction, otypes=[object])(self.high)).astype(np.float64)
        finite = vertices[np.isfinite(vertices).all(axis=1)]
        reach = np.append(1.0, np.abs(finite).max(axis=0, initial=0.0) * LOOSE)
        self.steep = np.abs(self.high[1:]).sum(axis=0) * LOOSE
        self.sizes, self.lost = np.abs(self.high).T @ reach * LOOSE, 2.0**-1060 * reach.sum()

    def at(self, points: Floats, stated: Floats) -> tuple[Floats, Floats]:
        """Return values at points [m, d], and the values [m, E] that prove a sign as far away as is stated."""
        values = self.high[0] + points @ self.high[1:]
        bounds = 4 * (len(self.high) + 4) * U * self.sizes + self.lost + self.steep * stated[:, np.newaxis]
        return values, bounds * LOOSE

    def as_facets(self, edges: Indices, points: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Return the values of some inequalities [m] at some points [m, d], as `_Facets.put` takes them."""
        forms = [each.T[edges][..., np.newaxis] for each in (self.high, self.low)]
        values, more = at_points(forms, points)
        wrong = np.ravel(more) + 64 * len(self.high) * ROUNDING * self.sizes[edges] + self.lost
        doubt = 4 * U * self.steep[edges] + 2.0**-1060
        return values[:, 0], wrong, self.high[1:, edges].T, doubt, self.steep[edges] * LOOSE + 2.0**-1060


class _Facets:
    """The facets of the owner at each vertex of a block: values there, and slopes, with bounds."""

    def __init__(self, count: int, d: int) -> None:
        self.slopes = np.full((count, d, d), np.nan)
        self.values, self.wrong, self.doubt, self.steep = np.full((4, count, d), np.nan)

    def put(
        self,
        where: tuple[Indices, ...],
        values: Floats,
        wrong: Floats,
        slopes: Floats,
        doubt: Floats,
        steep: Floats,
    ) -> None:
        """Store values and bounds on their errors; slopes, and bounds on their errors, and on their true magnitudes."""
        self.values[where], self.wrong[where], self.slopes[where] = values, wrong, slopes
        self.doubt[where], self.steep[where] = doubt, steep

    def distances(self) -> Floats:
        """Bound the distances of the points where all facets are zero."""
        d = self.slopes.shape[1]
        inverse = _inverses(self.slopes)
        size, share = np.abs(inverse), 4 * (d + 4) * U
        loss = np.abs(np.eye(d) - inverse @ self.slopes) + share * (size @ np.abs(self.slopes))
        alpha = (loss.sum(axis=2) + _applied(size, self.doubt)).max(axis=1) * LOOSE
        moves = np.abs(_applied(inverse, self.values)) + _applied(size, self.wrong + share * np.abs(self.values))
        far = moves.max(axis=1) * LOOSE / (1 - alpha) * LOOSE + 2.0**-1000
        return np.where(alpha < 0.5, far, np.inf)


def _applied(matrices: Floats, vectors: Floats) -> Floats:
    return np.asarray((matrices @ vectors[:, :, np.newaxis])[:, :, 0])


def _inverses(matrices: Floats) -> Floats:
    """Approximate inverses [m, d, d]; not finite where a matrix has none."""
    if matrices.shape[1] == 1:
        return np.asarray(1.0 / matrices)
    if matrices.shape[1] == 2:
        (a, b), (c, d) = matrices[:, 0].T, matrices[:, 1].T
        return np.stack([d, -b, -c, a], axis=1).reshape(-1, 2, 2) / (a * d - b * c)[:, np.newaxis, np.newaxis]
    inverse = np.full_like(matrices, np.nan)
    usable = np.flatnonzero(np.isfinite(matrices).all(axis=(1, 2)) & (np.linalg.det(matrices) != 0))
    try:
        inverse[usable] = np.linalg.inv(matrices[usable])
    except np.linalg.LinAlgError:
        for number in usable.tolist():
            try:
                inverse[number] = np.linalg.inv(matrices[number])
            except np.linalg.LinAlgError:
                continue
    return inverse


def _entries(bounds: Floats, unsure: Bits, start: int) -> tuple[Integers, Integers, Floats]:
    """Return where columns from ``start`` on are open at some vertices: vertex, column and bound of each."""
    places, width = np.flatnonzero(unsure), max(unsure.shape[1], 1)
    where, columns = np.divmod(places, width)
    return where, columns + start, bounds.reshape(-1)[places if len(bounds) > 1 else columns]


def meeting_point(rows: Sequence[Form], dimension: int) -> Point | None:
    """Return the point where forms are zero, by the first d independent ones; None if there are fewer."""
    reduced_rows: list[tuple[int, list[int]]] = []  # in each, the columns of all other pivots are zero
    for form in rows:
        row = list(form)
        for pivot, other in reduced_rows:
            row = _without(row, other, pivot)
        chosen = next((k for k in range(1, dimension + 1) if row[k]), 0)
        if chosen:
            reduced_rows = [(pivot, _without(other, row, chosen)) for pivot, other in reduced_rows]
            reduced_rows.append((chosen, row))
        if len(reduced_rows) == dimension:
            break
    else:
        return None
    weight = lcm(*(other[pivot] for pivot, other in reduced_rows))
    point = [weight] + [0] * dimension
    for pivot, other in reduced_rows:
        point[pivot] = -other[0] * (weight // other[pivot])
    return reduced(point)


def _without(row: list[int], other: list[int], column: int) -> list[int]:
    """Eliminate a column of a row by another row; the result has no common divisor."""
    a, b = row[column], other[column]
    if a == 0:
        return row
    result = [b * x - a * y for x, y in zip(row, other, strict=True)]
    divisor = gcd(*result) or 1
    return [x // divisor for x in result]


def reduced(point: Sequence[int]) -> Point:
    """Return a point in lowest terms, with a positive weight: equal points get equal tuples."""
    divisor = gcd(*point) if point[0] > 0 else -gcd(*point)
    return tuple(x // divisor for x in point)
