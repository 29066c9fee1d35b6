# SPDX-License-Identifier: MIT
"""What is the largest disc in a region, exactly?

It is a linear program: the largest r for which a point has at least the distance r from each edge of the region. Edges
are exact forms with integer coefficients (`exact_outline.py`), positive inside. They are divided by the lengths of
their gradients, which are square roots of integers. A length is rounded down, with a relative error of at most 2^-80.
This is the only rounding: a disc of radius r (1 - 2^-80) fits. The program is solved from outside. Three edges whose
normals positively span the plane bound the disc that touches them. If it crosses another edge, that edge replaces one
of the three, such that the normals still span. The radius gets smaller; or, between parallel edges, it stays, and the
centre moves along them, to one side. So the method terminates.
Cost: a few dozen products of long integers for each exchange, of which a handful suffices; and the forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.dyadic import dyadic, nearest_float, square_root
from regions.ground.arithmetic.types import Floats
from regions.results.cells.exact_outline import ExactOutlines
from regions.results.partition import Partition

# A constraint c w + a x + b y - l r >= 0 on a point (w, x, y, r), as (c, a, b, l).
Row = tuple[int, int, int, int]

BITS = 80


def exact_discs(partition: Partition, regions: NDArray[np.integer]) -> tuple[Floats, Floats]:
    """Return radii [m] in input space and centres [m, d] in the chart of the largest discs in some regions.

    Each is rounded once.

    Parameters
    ----------
    partition : Partition
        A partition of a bounded domain.
    regions : int [m]
        Fastest in ascending order.
    """
    discs = (_interval if partition.dimension == 1 else _disc)(partition, regions)
    radii, centers = np.zeros(len(regions)), np.zeros((len(regions), partition.dimension))
    for index, (squared_radius, center) in enumerate(discs):
        radii[index] = square_root(squared_radius)
        centers[index] = [nearest_float(x) for x in center]
    return radii, centers


def _interval(partition: Partition, regions: NDArray[np.integer]) -> Iterator[tuple[Fraction, list[Fraction]]]:
    """Yield the squares of half the lengths of regions on a line, and their middles."""
    outlines, (factor, exponent) = ExactOutlines(partition), _metric(partition)
    for region in regions.tolist():
        ends = (outlines.vertex(corner) for corner in (2 * region, 2 * region + 1))
        left, right = (Fraction(x, weight) for weight, x in ends)
        yield ((right - left) / 2) ** 2 * factor[0][0] * Fraction(2) ** exponent, [(left + right) / 2]


def _disc(partition: Partition, regions: NDArray[np.integer]) -> Iterator[tuple[Fraction, list[Fraction]]]:
    """Yield the squares of radii of regions in a plane, and centres."""
    outlines, (((g, h), (_, k)), exponent) = ExactOutlines(partition), _metric(partition)
    determinant = (g * k - h * h) * Fraction(2) ** exponent
    for region in regions.tolist():
        rows = []
        for c, a, b in outlines.lines(region):
            # The square of the form's slope in input space, times the metric's determinant.
            squared = a * a * k - 2 * a * b * h + b * b * g
            rows.append((c << BITS, a << BITS, b << BITS, isqrt(squared << 2 * BITS)))
        weight, x, y, radius = _largest(rows)
        yield Fraction(radius, weight) ** 2 * determinant, [Fraction(x, weight), Fraction(y, weight)]


def _metric(partition: Partition) -> tuple[list[list[int]], int]:
    """Return the products of a chart's directions, as integers times two to an exponent."""
    integers, exponent = dyadic(partition.domain.directions)
    return [[int(product) for product in row] for row in integers @ integers.T], 2 * exponent


def _largest(rows: list[Row]) -> Row:
    """Return the point (w, x, y, r), w > 0, with the largest r / w; rows are edges of a convex polygon,
    counter-clockwise.
    """
    edges = _spanning(rows)
    while True:
        point = _touching(*(rows[edge] for edge in edges))
        crossed = next((edge for edge, row in enumerate(rows) if _value(row, point) < 0), None)
        if crossed is None:
            return point
        # Two of the three normals have the opposite of the crossed edge's normal between them.
        sides = [_turn(rows[edge], rows[crossed]) for edge in edges]
        keep = next(i for i in range(3) if sides[i] <= 0 <= sides[i - 2] and (sides[i] or sides[i - 2]))
        edges = [edges[keep], edges[keep - 2], crossed]


def _spanning(rows: list[Row]) -> list[int]:
    """Return three edges, counter-clockwise, whose normals positively span the plane."""
    last = 1
    while _turn(rows[0], rows[last + 1]) > 0:
        last += 1
    return [0, last, last + 1]


def _turn(one: Row, other: Row) -> int:
    """Return a positive number if the normal of the other edge is to the left of the normal of the one."""
    return one[1] * other[2] - one[2] * other[1]


def _value(row: Row, point: Row) -> int:
    """Return the distance of the disc at a point from an edge, times a positive number."""
    c, a, b, length = row
    w, x, y, r = point
    return c * w + a * x + b * y - length * r


def _touching(one: Row, two: Row, three: Row) -> Row:
    """Return the point at which three rows are zero."""
    (c1, a1, b1, l1), (c2, a2, b2, l2), (c3, a3, b3, l3) = one, two, three
    ab, bl, la = a2 * b3 - b2 * a3, b2 * l3 - l2 * b3, l2 * a3 - a2 * l3
    ca, cb, cl = c2 * a3 - a2 * c3, c2 * b3 - b2 * c3, c2 * l3 - l2 * c3
    w = a1 * bl + b1 * la + l1 * ab
    x = -(c1 * bl - b1 * cl + l1 * cb)
    y = -(c1 * la + a1 * cl - l1 * ca)
    r = c1 * ab - a1 * cb + b1 * ca
    return (w, x, y, r) if w > 0 else (-w, -x, -y, -r)
