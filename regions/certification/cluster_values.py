# SPDX-License-Identifier: MIT
"""On which side of every kink are the vertices of a small part of the domain, without a forward pass for each of them?

A *cluster* is a block of vertices that are near each other. On it most units stay on one piece, so that rows are affine
in the chart point, up to the few units that bend there. Rows are therefore written in a *basis*: 1, the coordinates
relative to the centre of the cluster, and for each unit that bends its *deviation*, the output minus the output on one
fixed piece. The coefficients of 1 come from `centre_rows.py`. The others are computed once for the cluster. If
coefficients and the largest magnitudes of the basis functions show that a kink is nowhere zero on the cluster, and on
the side that all patterns say, nothing is computed at the vertices. Otherwise the row is evaluated there, as an inner
product with the basis functions.
docs/why-certify-proves.md ("Values and their bounds") proves the bounds. Networks of many layers have coefficients of
two doubles, because errors grow with each layer. Bounds are themselves computed in floating point, and factors of
1 + 2^-30 and more cover that.
Cost: one forward pass for each cluster and each of its basis functions, and at each vertex the products of the basis
functions with the coefficients of those kinks that may be zero on the cluster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.arithmetic.types import Bits, Floats, Indices, Integers, Packed
from regions.certification.centre_rows import CentreRows, Centres, Forms
from regions.certification.corners import bits_of
from regions.certification.doubled_rows import ROUNDING, Pair, plus, scaled
from regions.certification.open_kinks import OpenKinks
from regions.certification.ties import Found, Ties, ZeroUnits, closed
from regions.networks.graph import Graph, Node, Units
from regions.networks.maxima import Maxima

__all__ = ["Cluster", "ClusterValues"]

U, TINY, HUGE = 2.0**-53, 1e-290, 1e270
LOOSE = 1 + 2.0**-30
# Networks with more hidden nodes have coefficients of two doubles.
DEEP = 4


class Cluster(NamedTuple):
    """Values, bounds and open kinks at the vertices of a cluster.

    Attributes
    ----------
    columns : int64 [n]
        The kinks whose values were computed, ascending.
    values : float64 [m, n]
        Their forms, which are 0 at the kink, divided by ``scales``.
    bounds : float64 [n]
        Bounds on the errors of the forms at the stored points, up to a factor of 1 + 2^-50 on the forms.
    scales : float64 [n]
        Bounds on the growth of the forms, for each unit of distance.
    room : float64 [m]
        Within this distance of the point all kinks but the open ones are on the side that the pattern says; negative if
        one is on the other side, or if that is not proven.
    open : OpenKinks
        The kinks that may be zero at a vertex, by index of the vertex in the cluster.
    """

    columns: Integers
    values: Floats
    bounds: Floats
    scales: Floats
    room: Floats
    open: OpenKinks


class _Vertices(NamedTuple):
    """The vertices of a cluster: see `ClusterValues.cluster`; and the bits of all patterns, and those that differ."""

    stated: Floats
    packed: Packed
    every: Bits
    apart: Bits
    wanted: Bits
    centre: int


class _Rows(NamedTuple):
    """Coefficients of the rows of a node, except those of 1: [basis, rows]; and bounds on the errors of the rows."""

    high: Floats
    low: Floats | None
    errors: Floats


class _Outputs(NamedTuple):
    """The coefficients and bounds of the units of a node; coefficients of later basis functions are 0, and left out."""

    high: Floats
    low: Floats | None
    errors: Floats


class _Basis:
    """The basis functions except 1: values at the vertices [m, n], and three bounds for each, [3, n]: on the magnitudes
    within ``reach`` of the vertices, on the errors of the values, and on the growth of the errors for each unit of
    distance.
    """

    def __init__(self, offsets: Floats, reach: float) -> None:
        self.values, self.reach = offsets, reach
        most = np.abs(offsets).max(axis=0, initial=0.0) * LOOSE + reach
        self.bounds = np.stack([most, 0 * most, np.ones_like(most)])

    def add(self, values: Floats, errors: Floats, growth: Floats) -> None:
        largest = np.maximum(values.max(axis=0, initial=0.0), -values.min(axis=0, initial=0.0))
        most = (largest + errors + growth * self.reach) * LOOSE
        self.values = np.hstack([self.values, values])
        self.bounds = np.hstack([self.bounds, np.stack([most, errors, growth])])


class ClusterValues:
    """Values of the kinks that may be zero on a cluster of vertices.

    Parameters
    ----------
    graph : Graph
        Nodes that read the inputs read nothing else.
    forms : Forms
        From `restricted_forms`.
    """

    def __init__(self, graph: Graph, forms: Forms) -> None:
        self.graph, self.forms, self.centre_rows = graph, forms, CentreRows(graph, forms)
        self.doubled = len(graph.hidden) > DEEP
        self.ties = Ties(graph)
        self.changes = [_changes(node.units) for node in graph.hidden]
        self.tables = [node.units.tables() for node in graph.hidden]

    def cluster(
        self, offsets: Floats, stated: Floats, packed: Packed, asked: Integers, centres: Centres, index: int
    ) -> Cluster:
        """Return values, bounds and open kinks at some vertices.

        Parameters
        ----------
        offsets : float64 [m, d]
            Stored coordinates in the chart minus the centre, rounded once.
        stated : float64 [m]
            Expected distances from the true positions, as guesses: kinks that may be zero within a few of these
            distances are open.
        packed : uint8 [m, bytes]
            A pattern for each vertex; the centre has the first one.
        asked : int64 [n]
            Kinks whose values are wanted in any case.
        centres, index : Centres, int
            Rows at several centres, and the position of this one among them.
        """
        reach = float(np.abs(offsets).max(initial=0.0)) / 16 + 16 * float(stated.max(initial=0.0)) + TINY
        basis, room = _Basis(offsets, reach), np.full(len(offsets), reach)
        every, some = np.bitwise_and.reduce(packed, axis=0), np.bitwise_or.reduce(packed, axis=0)
        bits = np.unpackbits(np.stack([every, every ^ some]), axis=1, count=self.graph.kinks, bitorder="little")
        wanted = np.zeros(self.graph.kinks, dtype=bool)
        wanted[asked] = True
        same, apart = bits.view(np.bool_)
        at = _Vertices(stated, packed, same, apart, wanted, index)
        live: dict[int, _Outputs] = {}
        zeros = ZeroUnits(self.ties, packed)
        found = [_nothing(len(offsets))]
        for number, node in enumerate(self.graph.hidden):
            rows = self._rows(node, live, basis)
            part, pieces, ties = self._compared(number, rows, basis, at, centres, zeros)
            if part is None:
                return _nothing(len(offsets))
            zeros.add(number, part.open.vertices, part.open.kinks)
            np.minimum(room, part.room, out=room)
            live[number] = self._outputs(number, rows, basis, at, pieces, centres, part.open)
            if isinstance(node.units, Maxima):
                assert pieces is not None
                part = part._replace(open=closed(node.units, pieces, part.open, ties))
            start = node.kinks.start
            shifted = part.open._replace(kinks=part.open.kinks + start)
            found.append(part._replace(columns=part.columns + start, open=shifted))
            for old in self.graph.last_reads[number]:
                live.pop(old, None)
        columns, values, bounds, scales, _, open_ = zip(*found, strict=True)
        together = OpenKinks(*(np.concatenate(each) for each in zip(*open_, strict=True)))
        room = np.where(np.isnan(room), -np.inf, room * (1 - 2.0**-30))
        each = (np.concatenate(columns), np.hstack(values), np.concatenate(bounds), np.concatenate(scales))
        return Cluster(*each, room, together)

    def _rows(self, node: Node, live: dict[int, _Outputs], basis: _Basis) -> _Rows:
        """Coefficients of the rows of a node."""
        n, width = basis.bounds.shape[1], len(node.biases)
        if node in self.forms:
            (high, low), errors = self.forms[node]
            left = errors[1:] + (0.0 if self.doubled else np.abs(low[1:]))
            charged = basis.bounds[0, : len(left)] @ left * LOOSE + TINY
            # The output does not depend on deviations that were added after it.
            others = np.zeros((n - len(left), width))
            high, low = np.vstack([high[1:], others]), np.vstack([low[1:], others])
            return _Rows(high, low if self.doubled else None, charged)
        high, low = np.zeros((n, width)), np.zeros((n, width))
        charged, sizes = np.zeros(width), np.zeros(width)
        for read in node.reads:
            source, norms = live[read.node], self.centre_rows.magnitudes[read.operator]
            before = len(source.high)
            most = basis.bounds[0, :before]
            carried = norms.apply(np.stack([most @ np.abs(source.high), source.errors]))
            sizes += carried[0]
            charged += carried[1]
            if not self.doubled:
                high[:before] += read.operator.apply(source.high)
            else:
                assert source.low is not None
                product, error = self.centre_rows.sliced[read.operator].apply(Pair(source.high, source.low))
                high[:before], low[:before] = plus(Pair(high[:before], low[:before]), product)
                charged += error * most.sum()
        unit = 2 * (len(node.reads) + 4) * ROUNDING if self.doubled else _unit(node.terms)
        return _Rows(high, low if self.doubled else None, (charged + unit * sizes) * LOOSE + TINY)

    def _compared(
        self, number: int, rows: _Rows, basis: _Basis, at: _Vertices, centres: Centres, zeros: ZeroUnits
    ) -> tuple[Cluster | None, Indices | None, Found]:
        """Values, bounds and open kinks of one node, the pieces of maxima [m, units] and their equal branches; None if
        bounds are beyond the largest double.
        """
        node = self.graph.hidden[number]
        units, here = node.units, node.kinks
        high, low = (part[at.centre] for part in centres.rows[number])
        form, small = units.compared(rows.high), np.abs(low)
        # Small differences of doubles are exact, so that low parts count.
        level = (units.compared(high) - units.kink_values) + units.compared(low)
        most, charged, growth = basis.bounds @ np.abs(form)
        away = np.abs(level)
        allowed = charged + units.either(rows.errors + centres.errors[number] + 6 * U * small)
        growth = growth * LOOSE + TINY
        # Eight more roundings: of offsets, differences, quotients, sums, and four for the low parts of coefficients.
        allowed = (allowed + _unit(len(form) + 8) * (most + away) + TINY * (1 + growth)) * LOOSE
        if not ((allowed < HUGE) & (growth < HUGE)).all():
            return None, None, None
        clear = (away > (most + allowed) * LOOSE) & (at.every[here] == (level > 0)) & ~at.apart[here]
        pieces: Indices | None = None
        binding: Bits | None = None
        ties: Found = None
        if isinstance(units, Maxima):  # only comparisons with the argmax say something
            bits = bits_of(at.packed, here)
            pieces = units.pieces_of(bits)
            binding = units.binding(pieces)
            ties = zeros.apply(number, bits.view(np.bool_), binding)
            clear |= ~binding.any(axis=0)
        (loose,) = np.nonzero(~clear | at.wanted[here])
        allowed, growth = allowed[loose], growth[loose]
        # Forms divided by their growth are distances.
        values = basis.values @ (form[:, loose] / growth)
        values += level[loose] / growth
        distances = np.abs(values)
        distances -= allowed / growth * (2 * LOOSE)
        usual = 8 * at.stated[:, np.newaxis]
        unsure = distances <= usual
        unsure |= (values > 0) != _bits(at.packed, here.start + loose)
        if binding is not None:
            unsure &= binding[:, loose]
            distances[~binding[:, loose]] = np.inf
        who, which = np.nonzero(unsure)
        off, near = np.abs(values[who, which]), distances[who, which] <= usual[who, 0]
        distances[who, which] = np.inf
        room = distances.min(axis=1, initial=np.inf)
        room[who[~near]] = -np.inf
        who, which = who[near], which[near]
        sizes = off[near] * growth[which] * (1 + 2.0**-48) + allowed[which]
        open_ = OpenKinks(who, loose[which], sizes, growth[which])
        return Cluster(loose, values, allowed, growth, room, open_), pieces, ties

    def _outputs(
        self,
        number: int,
        rows: _Rows,
        basis: _Basis,
        at: _Vertices,
        pieces: Indices | None,
        centres: Centres,
        open_: OpenKinks,
    ) -> _Outputs:
        """Coefficients of the units of a node; adds the deviations of those that bend to the basis."""
        units, here = self.graph.hidden[number].units, self.graph.hidden[number].kinks
        first, constant = centres.pieces[number][at.centre], centres.rows[number].high[at.centre]
        bends = np.zeros(units.count, dtype=bool)
        bends[units.kink_units[at.apart[here]]] = True
        bends[units.kink_units[open_.kinks]] = True
        (bent,) = np.nonzero(bends)
        # The rows of bent units at the vertices.
        chosen = bent if isinstance(units, Units) else np.flatnonzero(bends[units.row_units])
        coefficients = rows.high[:, chosen]
        most, charged, growth = basis.bounds @ np.abs(coefficients)
        most += np.abs(constant[chosen])
        charged += rows.errors[chosen] + centres.errors[number][chosen] + _unit(len(coefficients) + 8) * most
        values = basis.values @ coefficients
        values += constant[chosen]
        if isinstance(units, Maxima):
            assert pieces is not None
            place = np.zeros(units.rows, dtype=np.int64)
            place[chosen] = np.arange(len(chosen))
            one, other = (place[units.starts[:-1][bent] + each[..., bent]] for each in (pieces, first))
            values = np.take_along_axis(values, one, axis=1) - values[:, other]
            if len(bent):
                starts = place[units.starts[:-1][bent]]
                charged, growth = (2 * np.maximum.reduceat(each, starts) for each in (charged, growth))
            followed = units.starts[:-1] + first
            low = None if rows.low is None else rows.low[:, followed]
            outputs = _Outputs(rows.high[:, followed], low, rows.errors[followed])
        else:
            _, slopes, intercepts = self.tables[number]
            mine = _pieces_of_some(units, at.packed, here.start, bent) + np.arange(len(bent)) * slopes.shape[1]
            change, shift = (each[bent] - each[bent, first[bent], np.newaxis] for each in (slopes, intercepts))
            steepest = np.abs(change).max(axis=1, initial=0.0) * LOOSE
            values *= change.ravel()[mine]
            charged, growth = steepest * (charged + 8 * U * most), steepest * growth
            if units.shifting:
                values += shift.ravel()[mine]
                charged += 8 * U * np.abs(shift).max(axis=1, initial=0.0)
            outputs = self._on_pieces(units, rows, basis, first)
        changed = self._changed(number, open_)[:, bent]
        n = basis.bounds.shape[1]
        basis.add(values, (charged + changed[0]) * LOOSE + TINY, (growth + changed[1]) * LOOSE)
        high = np.zeros((n + len(bent), units.count))
        high[:n] = outputs.high
        high[n + np.arange(len(bent)), bent] = 1.0
        low = None if outputs.low is None else np.vstack([outputs.low, np.zeros((len(bent), units.count))])
        return _Outputs(high, low, outputs.errors)

    def _on_pieces(self, units: Units, rows: _Rows, basis: _Basis, pieces: Indices) -> _Outputs:
        """Coefficients of units on fixed pieces [units]."""
        slopes, _ = units.on_pieces(pieces)
        errors = rows.errors * np.abs(slopes) * LOOSE
        if not units.scaling:
            return _Outputs(rows.high * slopes, None if rows.low is None else rows.low * slopes, errors)
        if rows.low is None:
            high, low, unit = rows.high * slopes, None, U
        else:
            (high, low), unit = scaled(Pair(rows.high, rows.low), slopes), ROUNDING
        return _Outputs(high, low, errors + 4 * unit * (basis.bounds[0] @ np.abs(high)) + TINY)

    def _changed(self, number: int, open_: OpenKinks) -> Floats:
        """Return by how much outputs change on the other side of open kinks, and how this grows: [2, units]."""
        units, charged = self.graph.hidden[number].units, np.zeros((2, self.graph.hidden[number].units.kinks))
        np.maximum.at(charged[0], open_.kinks, open_.most)
        charged[1, open_.kinks] = open_.growth
        charged *= self.changes[number]
        sums = [np.bincount(units.kink_units, each, minlength=units.count) for each in charged]
        return np.asarray(np.stack(sums) * LOOSE)


def _pieces_of_some(units: Units, packed: Packed, start: int, chosen: Indices) -> Integers:
    """The pieces of some units, [m, n]: numbers of bits that are 1."""
    kinks = start + (chosen[:, np.newaxis] * units.each + np.arange(units.each)).ravel()
    bits = _bits(packed, kinks).reshape(len(packed), len(chosen), units.each)
    return bits.sum(axis=2, dtype=np.int64) if units.each != 1 else bits[:, :, 0].astype(np.int64)


def _changes(units: Units | Maxima) -> Floats:
    """By how much the slope changes at each kink, in magnitude; 1 where branches are compared."""
    if isinstance(units, Maxima):
        return np.ones(units.kinks)
    return np.asarray(np.abs(np.diff(units.tables().slopes)).ravel() * LOOSE)


def _bits(packed: Packed, kinks: Integers) -> Bits:
    """Some bits of patterns, bool [m, n]."""
    found = packed[:, kinks >> 3]
    found >>= (kinks & 7).astype(np.uint8)
    found &= 1
    return found.view(np.bool_)


def _nothing(count: int) -> Cluster:
    """A cluster about which nothing is proven."""
    none, no = np.zeros(0, dtype=np.int64), np.zeros(0)
    room = np.full(count, -np.inf)
    return Cluster(none, np.zeros((count, 0)), no, no, room, OpenKinks(none, none, no, no))


def _unit(terms: int) -> float:
    """A number above the relative error of an inner product of this many terms."""
    return (terms + 2) * U * LOOSE
