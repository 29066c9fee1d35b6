# SPDX-License-Identifier: MIT
"""Where along a sweep of weights do the labels of several points flip, and in which order?

For a layer with the weights c W + s W', a point z is the point (c z, s z) of a layer with the weights [W, W']. For each
point a sweep of weights along a circle is therefore an arc in input space, and the core finds all its pieces. The label
is the sign of one output, represented by an additional unit. Only the events where it flips are stored, not the pieces.
Invariant: events of different points are in their true order. They lie on one circle, though in different charts, and
each has a bound on its error. Events that the bounds do not order are compared exactly, as roots of quadratics (with
the tangent of half the angle as coordinate, within a quarter of a turn). Two equal roots are one event.
Cost: the pieces of all points; memory for a part of them, because an arc with too many is halved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cmp_to_key
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from regions.counting.legs_counted import strands_of
from regions.counting.options import Options
from regions.counting.run import Model
from regions.domains.curves import QUARTERS, ArcLeg, Curve
from regions.domains.domain import WHOLE_PLANE, Domain
from regions.errors import LimitReached
from regions.ground.arithmetic.quadratic import Root, compare
from regions.ground.arithmetic.roundoff import U
from regions.ground.arithmetic.types import Bits, Floats, Integers, Packed
from regions.ground.threads.progress import Report, share_of
from regions.networks.network import Network
from regions.passes.exact import ExactForms
from regions.results.cells.strands import Strands

__all__ = ["Flips", "in_order", "label_flips"]

WHOLE_TURN = 4
# At most MOST_BYTES bytes of pieces are stored at a time. A piece takes BYTES_OF_A_STRAND bytes in addition to its
# pattern.
MOST_BYTES, BYTES_OF_A_STRAND = 1 << 28, 200
# The smallest part of a turn: a part this small is not halved further, because flips may be too near to each other.
MOST_PARTS = 1 << 20
# More than the rounding of a difference of coordinates, plus six.
ROUNDED = 32 * U
# Rotations of each quarter into the first.
TURNED_BACK = np.array([[[1, 0], [0, 1]], [[0, 1], [-1, 0]], [[-1, 0], [0, -1]], [[0, -1], [1, 0]]])


class Flips(NamedTuple):
    """The flips of the label of one point.

    Attributes
    ----------
    point : float64 [n]
        The point in the input space of the swept layer.
    first, closes : bool
        The label at the beginning; and whether it flips there, where a full turn ends.
    quarters : int64 [k]
        The quarter of a turn of each flip.
    ends : float64 [k, 2]
        Cosine and sine of its angle.
    errors : float64 [k]
        Bounds on the errors of these.
    rising : bool [k]
        Whether the label is true after it.
    packed_patterns : uint8 [k, bytes]
        The pattern next to it, on the side where the label is true.
    """

    point: Floats
    first: bool
    closes: bool
    quarters: Integers
    ends: Floats
    errors: Floats
    rising: Bits
    packed_patterns: Packed


def label_flips(model: Model, point: Floats, turn: int, report: Report | None) -> Flips:
    """Return the flips of one point in ``turn`` quarters of a turn, of a network made by `with_swept_layer`."""
    network = model.network
    if not point.any():  # weights do not matter at 0
        label = bool(network.pattern(np.zeros(network.n_in))[-1])
        nothing = np.zeros((1, -(-network.kinks // 8)), dtype=np.uint8)
        return Flips(point, label, False, *_flips(network, 0, nothing, np.empty((0, 2)), np.empty(0)))
    found: list[tuple[Integers, Floats, Floats, Bits, Packed]] = []
    earliest = latest = np.empty((0, 0), dtype=np.uint8)
    for quarter, strands in _parts(model, point, turn, report):
        earliest, latest = (earliest, latest) if found else (strands.packed_patterns[:1],) * 2
        patterns = np.concatenate([latest, strands.packed_patterns])
        found.append(_flips(network, quarter, patterns, strands.ends[:, 0], strands.errors[:, 0]))
        latest = patterns[-1:]
    first, last = (bool(_labels(network, pattern)[0]) for pattern in (earliest, latest))
    columns = (np.concatenate(column) for column in zip(*found, strict=True))
    return Flips(point, first, turn == WHOLE_TURN and first != last, *columns)


def in_order(network: Network, flips: Sequence[Flips]) -> tuple[Integers, Integers, Floats]:
    """Return all flips in order: point, event (flips at one position are one event), and the angle in quarters.

    int64 [k], int64 [k] ascending from 0, float64 [k].
    """
    points = np.repeat(np.arange(len(flips)), [len(each.quarters) for each in flips])
    numbers = np.concatenate([np.arange(len(each.quarters)) for each in flips])
    quarters, ends, errors = (np.concatenate(column) for column in list(zip(*flips, strict=True))[3:6])
    x, y = np.einsum("kij,kj->ik", TURNED_BACK[quarters], ends)
    # On a quarter of the circle y - x grows from -1 to 1, by 1 a radian or more.
    known = np.isfinite(x) & np.isfinite(y) & np.isfinite(errors)
    keys = 2.0 * quarters + np.where(known, y - x, 0.0)
    doubts = np.where(known, 2.0 * errors + ROUNDED, 1.0 + ROUNDED)
    order = np.argsort(keys, kind="stable")
    # A flip that is distinguishable from all earlier ones begins a cluster.
    highest = np.maximum.accumulate((keys + doubts)[order])
    lowest = np.minimum.accumulate((keys - doubts)[order][::-1])[::-1]
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = lowest[1:] > highest[:-1]
    exactly = _Exactly(network, flips)
    for start, stop in _clusters(begins):
        exact_places = [
            exactly.place(int(points[flip]), int(numbers[flip]), flip) for flip in order[start:stop].tolist()
        ]
        inside = sorted(exact_places, key=cmp_to_key(_compared))
        order[start:stop] = [place.flip for place in inside]
        begins[start + 1 : stop] = [_compared(one, other) != 0 for one, other in pairwise(inside)]
    angles = quarters + np.arctan2(y, x) * (2 / np.pi)
    return points[order], np.cumsum(begins) - 1, angles[order]


class _Place(NamedTuple):
    """Position of a flip: its quarter, and the tangent of half the angle within it."""

    quarter: int
    tangent: Root
    flip: int


class _Exactly:
    """Exact positions of flips."""

    def __init__(self, network: Network, flips: Sequence[Flips]) -> None:
        self.network, self.flips = network, flips
        self.forms = cache(self._forms)

    def _forms(self, point: int) -> ExactForms:
        origin, directions = _chart(self.flips[point].point)
        return ExactForms(self.network.graph, Domain(origin, directions, WHOLE_PLANE))

    def place(self, point: int, number: int, flip: int) -> _Place:
        flips, forms = self.flips[point], self.forms(point)
        forms.enter(self.network.graph.bits(flips.packed_patterns[number]).astype(np.bool_))
        a, b, c = forms.kink(self.network.kinks - 1)
        quarter = int(flips.quarters[number])
        for _ in range(quarter):
            b, c = c, -b
        # With x = (1 - t^2) / (1 + t^2) and y = 2 t / (1 + t^2) the form a + b x + c y, times 1 + t^2, is
        # (a - b) t^2 + 2 c t + (a + b). It is positive next to the flip, which determines the root.
        if a == b:
            return _Place(quarter, Root(-a if c > 0 else a, 1, 0, abs(c)), flip)
        side, rises = 1 if a > b else -1, 1 if flips.rising[number] else -1
        return _Place(quarter, Root(-c * side, rises * side, c * c + b * b - a * a, abs(a - b)), flip)


def _compared(one: _Place, other: _Place) -> int:
    return one.quarter - other.quarter or compare(one.tangent, other.tangent)


def _clusters(begins: Bits) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of runs of two or more."""
    starts = np.flatnonzero(begins)
    stops = np.append(starts[1:], len(begins))
    several = stops - starts > 1
    return zip(starts[several].tolist(), stops[several].tolist(), strict=True)


def _flips(
    network: Network, quarter: int, patterns: Packed, ends: Floats, errors: Floats
) -> tuple[Integers, Floats, Floats, Bits, Packed]:
    """Return the arrays of `Flips` for patterns [m + 1, bytes], and ``ends`` and ``errors`` [m] of the positions
    between them.
    """
    labels = _labels(network, patterns)
    after = np.flatnonzero(labels[1:] != labels[:-1])
    rising = labels[after + 1]
    return np.full(len(after), quarter), ends[after], errors[after], rising, patterns[after + rising]


def _chart(point: Floats) -> tuple[Floats, Floats]:
    """Return origin and directions of the plane of (c z, s z)."""
    nothing = np.zeros(len(point))
    return np.zeros(2 * len(point)), np.stack([np.append(point, nothing), np.append(nothing, point)])


def _parts(model: Model, point: Floats, turn: int, report: Report | None) -> Iterator[tuple[int, Strands]]:
    """Yield the strands of one part of the turn after the other, each with its quarter."""
    origin, directions = _chart(point)
    most = max(1, MOST_BYTES // (model.network.kinks // 8 + BYTES_OF_A_STRAND))
    waiting = [(quarter, turn, QUARTERS[quarter], QUARTERS[quarter + 1]) for quarter in reversed(range(turn))]
    fewest = turn  # number of parts: if one has too many pieces, all parts of its size are halved
    while waiting:
        place, parts, start, end = waiting.pop()
        if parts >= fewest:
            curve = Curve([ArcLeg(origin, directions, np.stack([start, end]))], False)
            limit = most if parts < MOST_PARTS else None
            try:
                yield place * turn // parts, strands_of(model, curve, Options(limit, share_of(report, place, parts)))
                continue
            except LimitReached:
                fewest = 2 * parts
        middle = start / np.hypot(*start) + end / np.hypot(*end)
        waiting += [(2 * place + 1, 2 * parts, middle, end), (2 * place, 2 * parts, start, middle)]


def _labels(network: Network, patterns: Packed) -> Bits:
    """Return the last bit of each pattern."""
    byte, bit = divmod(network.kinks - 1, 8)
    return (patterns[:, byte] >> bit & 1).astype(np.bool_)
