# SPDX-License-Identifier: MIT
"""Between which values are the outputs of a network on each of many boxes?

A value is enclosed by an affine form with a remainder, ``c + g . p + [-r, r]``, for all points p of the cube
``[-1, 1]^d``, whose image is the box. A node multiplies c and g by its weights, and r by their magnitudes. A unit that
stays on one piece is replaced by that piece. Any other unit is replaced by the line between its values at the ends of
the range of its row, and its largest distance from that line is added to r. The largest of several rows is one of them,
plus a nonnegative number whose bound comes from the differences of their forms. For networks of ReLUs these are the
zonotopes of DeepZ (Singh et al., Fast and Effective Robustness Certification, 2018) with all remainders added up.
Invariant: the enclosures contain all values of the stored network: every rounding is charged to r, with the bounds of
`bounded.py` for sums and a factor for the few operations of a unit. Where numbers overflow, r is infinite.
Cost: 2 + d forward passes for each box, in matrix products for all boxes together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from regions.ground.arithmetic.roundoff import TINY
from regions.ground.arithmetic.types import Floats, Indices
from regions.networks.graph import Graph, Node
from regions.networks.maxima import Maxima
from regions.networks.walk import preactivations
from regions.passes.bounded import magnitudes, rounding_unit

__all__ = ["Enclosure", "output_ranges", "row_ranges"]

# Above the rounding of the dozen operations that a unit takes, relative to the numbers in them.
UNIT = 2.0**-48
# Numbers per temporary array: few enough to stay in the processor's cache.
CHUNK = 1 << 20


class Enclosure(NamedTuple):
    """Forms float64 [m, 1 + d, units], with the constants first, and remainders [m, units]."""

    forms: Floats
    remainders: Floats

    @property
    def reach(self) -> Floats:
        """How far values are from the constants at most: [m, units], rounded up."""
        result: Floats = (np.abs(self.forms[:, 1:]).sum(axis=1) + self.remainders) * (1 + UNIT) + TINY
        return result

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
    step = max(1, CHUNK // (max([*graph.widths, graph.n_in, 1]) * (sides.shape[1] + 2)))
    for start in range(0, len(centres), step):
        part = slice(start, start + step)
        forms = np.concatenate([centres[part, np.newaxis], sides[part]], axis=1)
        with np.errstate(all="ignore"):
            *_, (lower[part], upper[part]) = row_ranges(graph, forms)
    return lower, upper


def row_ranges(graph: Graph, boxes: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield lower and upper bounds on the rows of each node, the last of which has the outputs: [m, rows] each.

    Boxes are centres and sides, float64 [m, 1 + d, n_in], as in `output_ranges`.
    """
    inputs = Enclosure(boxes, np.zeros(boxes[:, 0].shape))
    found = preactivations(graph, _Enclosing(), inputs, lambda node, before: _middle_pieces(node, before))
    for _ in graph.nodes:
        with np.errstate(all="ignore"):
            rows = next(found)
            reach = rows.reach + UNIT * np.abs(rows.forms[:, 0])
            lower, upper = rows.forms[:, 0] - reach, rows.forms[:, 0] + reach
        unknown = ~(np.isfinite(lower) & np.isfinite(upper))
        lower[unknown], upper[unknown] = -np.inf, np.inf
        yield lower, upper


def _middle_pieces(node: Node, before: Enclosure) -> Indices:
    """The piece of each unit in the middle of the box."""
    return node.units.pieces_at(before.forms[:, 0])


class _Enclosing:
    """Enclosures, for the walk through the network."""

    def __init__(self) -> None:
        self.magnitudes = cache(magnitudes)

    def preactivations(self, node: Node, sources: Sequence[Enclosure]) -> Enclosure:
        unit = rounding_unit(node.terms)
        forms, remainders = np.zeros(()), np.zeros(())
        for read, source in zip(node.reads, sources, strict=True):
            forms = forms + read.operator.apply(source.forms)
            remainders = remainders + self.magnitudes(read).apply(source.remainders + 2 * unit * source.magnitudes)
        forms[:, 0] += node.biases
        remainders = (remainders + unit * np.abs(node.biases)) * (1 + unit) + TINY
        return Enclosure(forms, remainders)

    def outputs(self, node: Node, before: Enclosure, pieces: Indices) -> Enclosure:
        if isinstance(node.units, Maxima):
            return self._largest(node.units, before, pieces)
        centres, reach = before.forms[:, 0], before.reach
        slack = UNIT * np.abs(centres)
        low, high = centres - reach - slack, centres + reach + slack
        slopes, intercepts = node.units.on_pieces(node.units.pieces_at(low))
        crossing = node.units.pieces_at(low) != node.units.pieces_at(high)
        if not crossing.any():
            return self._along(before, slopes, intercepts, np.zeros(low.shape))
        chords, middles, distances = self._between(node, low, high)
        slopes, intercepts = np.where(crossing, chords, slopes), np.where(crossing, middles, intercepts)
        return self._along(before, slopes, intercepts, np.where(crossing, distances, 0.0))

    @staticmethod
    def _between(node: Node, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """The line through the ends of units' graphs: slope, intercept, and distance at most, [m, units] each."""
        ends = _values(node, low), _values(node, high)
        slopes = (ends[1] - ends[0]) / (high - low)
        breakpoints = node.units.tables().breakpoints.T
        places = [low, high, *(np.clip(t, low, high) for t in breakpoints)]
        above = [_values(node, place) - slopes * place for place in places]
        least, most = np.minimum.reduce(above), np.maximum.reduce(above)
        sizes = np.abs(slopes) * np.maximum(np.abs(low), np.abs(high)) + np.maximum(np.abs(least), np.abs(most))
        middle = least / 2 + most / 2
        return slopes, middle, np.maximum(most - middle, middle - least) + UNIT * sizes + TINY

    @staticmethod
    def _along(rows: Enclosure, slopes: Floats, intercepts: Floats, distances: Floats) -> Enclosure:
        """Enclose units that are within a distance of lines."""
        forms = rows.forms * slopes[:, np.newaxis]
        rounding = UNIT * (np.abs(forms).sum(axis=1) + np.abs(intercepts)) + TINY * (slopes != 0)
        forms[:, 0] += intercepts
        remainders = (np.abs(slopes) * rows.remainders + distances) * (1 + UNIT) + rounding
        return Enclosure(forms, remainders)

    @staticmethod
    def _largest(units: Maxima, rows: Enclosure, pieces: Indices) -> Enclosure:
        """Enclose the largest of rows by one of them, plus a bound on how far other rows can be above it."""
        chosen = Enclosure(units.followed(rows.forms, pieces[:, np.newaxis]), units.followed(rows.remainders, pieces))
        forms = rows.forms - units.of_all_rows(chosen.forms)
        sizes = rows.magnitudes + units.of_all_rows(chosen.magnitudes)
        remainders = rows.remainders + units.of_all_rows(chosen.remainders)
        apart = Enclosure(forms, remainders)
        above = apart.forms[:, 0] + apart.reach + UNIT * sizes
        is_chosen = units.branches == units.of_all_rows(pieces)
        most = np.maximum(units.largest(np.where(is_chosen, 0.0, above)), 0.0)
        chosen.forms[:, 0] += most / 2
        rounding = UNIT * (np.abs(chosen.forms[:, 0]) + most) + TINY
        return Enclosure(chosen.forms, chosen.remainders + most / 2 + rounding)


def _values(node: Node, rows: Floats) -> Floats:
    """The values of units at rows [m, units]."""
    slopes, intercepts = node.units.on_pieces(node.units.pieces_at(rows))
    result: Floats = slopes * rows + intercepts
    return result
