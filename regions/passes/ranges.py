# SPDX-License-Identifier: MIT
"""Between which values are the outputs of a network on each of many boxes?

A value is enclosed by an affine form with a remainder, ``c + g . p + [-r, r]``, for all points p of a cube
``[-1, 1]^k``. The image of its first d coordinates is the box. A node multiplies c and g by its weights, and r by their
magnitudes. A unit that stays on one piece is replaced by that piece. Any other unit is replaced by the line between its
values at the ends of the range of its row, and by a coordinate of the cube, its *symbol*, times its largest distance
from that line. If there are too many units, the smaller distances are added to r. The largest of several rows is one
of them, plus a nonnegative number whose bound comes from the differences of their forms. Intervals follow along, and
each range is the intersection of both. For networks of ReLUs these are the zonotopes of DeepZ (Singh et al., Fast and
Effective Robustness Certification, 2018).
Invariant: the enclosures contain all values of the stored network: every rounding is charged to r, with the bounds of
`bounded.py` for sums and a factor for the few operations of a unit. Where numbers overflow, r is infinite.
Cost: 2 + k forward passes for each box, in matrix products for all boxes together; k is d plus the number of units that
a kink may cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from regions.ground.arithmetic.roundoff import TINY
from regions.ground.arithmetic.types import Bits, Floats, Indices, Integers
from regions.networks.graph import Graph, Node
from regions.networks.maxima import Maxima
from regions.networks.walk import preactivations
from regions.passes.bounded import magnitudes, rounding_unit

__all__ = ["Enclosure", "most_symbols", "output_ranges", "ranges_and_kinks", "row_ranges"]

# Above the rounding of the dozen operations that a unit takes, relative to the numbers in them.
UNIT = 2.0**-48
# Numbers per temporary array: few enough to stay in the processor's cache.
CHUNK = 1 << 20
# Kinks that are nearer than this to the end of the range of a row, relative to its size, are taken to touch.
ROOM = 2.0**-30
# The most symbols: each costs a forward pass.
SYMBOLS = 512


class Enclosure(NamedTuple):
    """Forms float64 [m, 1 + k, units], with the constants first, and remainders [m, units]. Values are also within
    radii of middles, [m, units] each, which follow intervals through the network. Symbols that came later have no
    coordinate.
    """

    forms: Floats
    remainders: Floats
    middles: Floats
    radii: Floats

    @property
    def reach(self) -> Floats:
        """How far values are from the constants at most: [m, units], rounded up."""
        unit = rounding_unit(self.forms.shape[1]) + UNIT
        result: Floats = (np.abs(self.forms[:, 1:]).sum(axis=1) + self.remainders) * (1 + unit) + TINY
        return result

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds on values, [m, units]; infinite where numbers overflow."""
        reach = self.reach + UNIT * np.abs(self.forms[:, 0])
        radii = self.radii + UNIT * (self.radii + np.abs(self.middles)) + TINY
        lower = np.fmax(self.forms[:, 0] - reach, self.middles - radii)
        upper = np.fmin(self.forms[:, 0] + reach, self.middles + radii)
        return np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)

    @property
    def magnitudes(self) -> Floats:
        result: Floats = np.abs(self.forms).sum(axis=1)
        return result


def output_ranges(graph: Graph, centres: Floats, sides: Floats) -> tuple[Floats, Floats]:
    """Return lower and upper bounds on the outputs on boxes.

    Parameters
    ----------
    graph : Graph
    centres : float64 [m, n_in]
    sides : float64 [m, d, n_in]
        A box is the centre plus the sides times numbers from -1 to 1.

    Returns
    -------
    float64 [m, n_out], each
        They are infinite where numbers overflow.
    """
    lower, upper = np.empty((len(centres), graph.n_out)), np.empty((len(centres), graph.n_out))
    for part, boxes in _chunks(graph, centres, sides):
        with np.errstate(all="ignore"):
            *_, (lower[part], upper[part]) = row_ranges(graph, boxes)
    return lower, upper


def ranges_and_kinks(graph: Graph, centres: Floats, sides: Floats) -> tuple[Floats, Floats, Integers, Floats, Floats]:
    """Return the same as `output_ranges`, and facts about each box.

    Returns
    -------
    lower, upper : float64 [m, n_out]
    kinks : int64 [m]
        The number of kinks that may cut the box. Kinks that bounds do not prove to miss it, but that at most touch it
        up to rounding, do not count.
    changes : float64 [m, d, n_out]
        By how much the outputs change along half of each side, up to remainders.
    loose : float64 [m, d, n_out]
        A guess by how much the ranges of outputs would be narrower if kinks cut a side of length 0.
    """
    count, d = sides.shape[:2]
    lower, upper = np.empty((count, graph.n_out)), np.empty((count, graph.n_out))
    changes, loose, kinks = np.empty((count, d, graph.n_out)), np.empty((count, d, graph.n_out)), np.zeros(count, int)
    for part, boxes in _chunks(graph, centres, sides):
        enclosing = _Enclosing(1 + d)
        with np.errstate(all="ignore"):
            for node, rows in zip(graph.nodes, _rows(graph, boxes, enclosing), strict=True):
                low, high = rows.ends
                if node.units.kinks:
                    kinks[part] += _cutting(node, low, high).sum(axis=1)
            lower[part], upper[part], changes[part] = low, high, rows.forms[:, 1 : 1 + d]
            along = np.concatenate([np.zeros((len(low), d, 0)), *enclosing.along], axis=2)
            symbols = np.abs(rows.forms[:, 1 + d :])
            loose[part] = np.nan_to_num(along[:, :, : symbols.shape[1]]) @ symbols
    return lower, upper, kinks, changes, loose


def _chunks(graph: Graph, centres: Floats, sides: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield slices of some boxes, with their centres and sides in one array."""
    rows = sides.shape[1] + 2 + most_symbols(graph)
    step = max(1, CHUNK // (max([*graph.widths, graph.n_in, 1]) * rows))
    for start in range(0, len(centres), step):
        part = slice(start, start + step)
        yield part, np.concatenate([centres[part, np.newaxis], sides[part]], axis=1)


def most_symbols(graph: Graph) -> int:
    """Return the largest number of symbols that enclosures have."""
    return min(SYMBOLS, sum(graph.widths))


def _cutting(node: Node, low: Floats, high: Floats) -> Bits:
    """Which kinks have room on both sides, for rows between these bounds: bool [m, kinks]."""
    later, earlier = node.units.kink_rows.T
    if isinstance(node.units, Maxima):
        room = ROOM * (np.abs(low) + np.abs(high))
        largest = node.units.of_all_rows(node.units.largest(low + room))
        possible: Bits = high - room > largest
        possible |= low + room >= largest
        return possible[:, later] & possible[:, earlier]
    below, above = node.units.kink_values - low[:, later], high[:, later] - node.units.kink_values
    room = ROOM * (np.abs(low) + np.abs(high))[:, later]
    result: Bits = ~((below <= room) | (above <= room))
    return result


def row_ranges(graph: Graph, boxes: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield lower and upper bounds on the rows of each node, the last of which has the outputs: [m, rows] each.

    Boxes are centres and sides, float64 [m, 1 + d, n_in], as in `output_ranges`.
    """
    found = _rows(graph, boxes, _Enclosing(boxes.shape[1]))
    for _ in graph.nodes:
        with np.errstate(all="ignore"):
            lower, upper = next(found).ends
        unknown = ~(np.isfinite(lower) & np.isfinite(upper))
        lower[unknown], upper[unknown] = -np.inf, np.inf
        yield lower, upper


def _rows(graph: Graph, boxes: Floats, enclosing: _Enclosing) -> Iterator[Enclosure]:
    """Yield enclosures of the rows of each node."""
    sizes = np.abs(boxes[:, 1:]).sum(axis=1)
    sizes *= 1 + boxes.shape[1] * UNIT
    inputs = Enclosure(boxes, np.zeros_like(sizes), boxes[:, 0], sizes)
    return preactivations(graph, enclosing, inputs, lambda node, before: _middle_pieces(node, before))


def _middle_pieces(node: Node, before: Enclosure) -> Indices:
    """The piece of each unit in the middle of the box."""
    return node.units.pieces_at(before.forms[:, 0])


class _Enclosing:
    """Enclosures, for the walk through the network.

    Attributes
    ----------
    rows, most : int
        The number of constants, coordinates of the box and symbols so far, and the largest one.
    along : list of float64 [m, d, symbols]
        For each node the share of the range of a symbol's unit that is due to each side of the box.
    """

    def __init__(self, rows: int) -> None:
        self.magnitudes = cache(magnitudes)
        self.rows, self.most, self.sides = rows, rows + SYMBOLS, slice(1, rows)
        self.along: list[Floats] = []

    def preactivations(self, node: Node, sources: Sequence[Enclosure]) -> Enclosure:
        unit = rounding_unit(node.terms)
        charge = 2 * unit  # multiplied last, because weights would magnify its underflow
        forms, remainders, middles, radii = (np.zeros(()) for _ in range(4))
        for read, source in zip(node.reads, sources, strict=True):
            forms = _total(forms, read.operator.apply(source.forms))
            weights = self.magnitudes(read)
            remainders = remainders + charge * weights.apply(source.remainders / charge + source.magnitudes)
            middles = middles + read.operator.apply(source.middles)
            radii = radii + charge * weights.apply(source.radii / charge + np.abs(source.middles))
        forms[:, 0] += node.biases
        middles = middles + node.biases
        rounding = unit * np.abs(node.biases)
        remainders, radii = ((each + rounding) * (1 + unit) + TINY for each in (remainders, radii))
        return Enclosure(forms, remainders, middles, radii)

    def outputs(self, node: Node, before: Enclosure, pieces: Indices) -> Enclosure:
        if isinstance(node.units, Maxima):
            return self._largest(node.units, before, pieces)
        low, high = before.ends
        # Values at the ends, and at breakpoints between them.
        places = [low, high, *(np.clip(t, low, high) for t in node.units.tables().breakpoints.T)]
        values, sizes = zip(*(_values(node, place) for place in places), strict=True)
        size = np.maximum.reduce(sizes)
        interval = _between(np.minimum.reduce(values), np.maximum.reduce(values), size)
        slopes, intercepts = node.units.on_pieces(node.units.pieces_at(low))
        crossing = node.units.pieces_at(low) != node.units.pieces_at(high)
        if not crossing.any():
            return self._along(before, slopes, intercepts, np.zeros(low.shape), interval)
        chords, middles, distances = self._chords(places, values, size)
        slopes, intercepts = np.where(crossing, chords, slopes), np.where(crossing, middles, intercepts)
        distances = np.where(crossing, distances, 0.0)
        symbols = self._symbols(distances)
        forms = np.zeros((len(low), len(symbols), low.shape[1]))
        forms[:, np.arange(len(symbols)), symbols] = distances[:, symbols]
        distances[:, symbols] = 0.0
        self.along.append(np.abs(before.forms[:, self.sides, symbols]) / (high - low)[:, np.newaxis, symbols])
        found = self._along(before, slopes, intercepts, distances, interval)
        before_them = np.zeros((len(low), self.rows - found.forms.shape[1], low.shape[1]))
        self.rows += len(symbols)
        return found._replace(forms=np.concatenate([found.forms, before_them, forms], axis=1))

    def _symbols(self, distances: Floats) -> Indices:
        """Return the units that get a symbol: those with the largest distances, of those that have any."""
        with np.errstate(invalid="ignore"):
            largest = np.nan_to_num(distances, nan=np.inf).max(axis=0)
        units = np.flatnonzero(largest > 0)
        order = np.argsort(-largest[units], kind="stable")
        return units[np.sort(order[: self.most - self.rows])]

    @staticmethod
    def _chords(places: Sequence[Floats], values: Sequence[Floats], size: Floats) -> tuple[Floats, Floats, Floats]:
        """The line through the ends of units' graphs: slope, intercept, and distance at most, [m, units] each."""
        low, high = places[:2]
        slopes = (values[1] - values[0]) / (high - low)
        above = [value - slopes * place for place, value in zip(places, values, strict=True)]
        least, most = np.minimum.reduce(above), np.maximum.reduce(above)
        sizes = np.abs(slopes) * np.maximum(np.abs(low), np.abs(high)) + np.maximum(np.abs(least), np.abs(most)) + size
        middle = least / 2 + most / 2
        return slopes, middle, np.maximum(most - middle, middle - least) + UNIT * sizes + TINY

    @staticmethod
    def _along(
        rows: Enclosure, slopes: Floats, intercepts: Floats, distances: Floats, interval: tuple[Floats, Floats]
    ) -> Enclosure:
        """Enclose units that are within a distance of lines, and in an interval."""
        forms = rows.forms * slopes[:, np.newaxis]
        rounding = UNIT * (np.abs(forms).sum(axis=1) + np.abs(intercepts)) + TINY * (slopes != 0)
        forms[:, 0] += intercepts
        remainders = (np.abs(slopes) * rows.remainders + distances) * (1 + UNIT) + rounding
        return Enclosure(forms, remainders, *interval)

    @staticmethod
    def _largest(units: Maxima, rows: Enclosure, pieces: Indices) -> Enclosure:
        """Enclose the largest of rows by one of them, plus a bound on how far other rows can be above it."""
        low, high = rows.ends
        interval = _between(units.largest(low), units.largest(high), np.zeros(()))
        forms, remainders = units.followed(rows.forms, pieces[:, np.newaxis]), units.followed(rows.remainders, pieces)
        chosen = Enclosure(forms, remainders, *interval)
        forms = rows.forms - units.of_all_rows(chosen.forms)
        sizes = rows.magnitudes + units.of_all_rows(chosen.magnitudes)
        remainders = rows.remainders + units.of_all_rows(chosen.remainders)
        apart = Enclosure(forms, remainders, rows.middles, rows.radii)
        above = apart.forms[:, 0] + apart.reach + UNIT * sizes
        is_chosen = units.branches == units.of_all_rows(pieces)
        most = np.maximum(units.largest(np.where(is_chosen, 0.0, above)), 0.0)
        chosen.forms[:, 0] += most / 2
        rounding = UNIT * (np.abs(chosen.forms[:, 0]) + most) + TINY
        return Enclosure(chosen.forms, chosen.remainders + most / 2 + rounding, *interval)


def _total(one: Floats, other: Floats) -> Floats:
    """Add forms, of which one may have more symbols than the other."""
    if one.ndim == 0 or one.shape[1] == other.shape[1]:
        return one + other
    few, many = sorted((one, other), key=lambda forms: forms.shape[1])
    total = many.copy()
    total[:, : few.shape[1]] += few
    return total


def _values(node: Node, rows: Floats) -> tuple[Floats, Floats]:
    """The values of units at rows [m, units], and the sizes of the numbers that are added in them."""
    slopes, intercepts = node.units.on_pieces(node.units.pieces_at(rows))
    terms = slopes * rows
    return terms + intercepts, np.abs(terms) + np.abs(intercepts)


def _between(low: Floats, high: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Return the middles and the radii of intervals, whose ends were rounded a few times from numbers of this size."""
    middles = low / 2 + high / 2
    radii = np.maximum(high - middles, middles - low) + UNIT * (size + np.abs(low) + np.abs(high)) + TINY
    return middles, radii
