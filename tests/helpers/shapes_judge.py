# SPDX-License-Identifier: MIT
"""Are the shapes that are computed from a partition's coordinates right?

`findings` compares inscribed discs, merged polygons and the coverage with exact corners. The largest disc is found by
another method than in `regions.measures`: any three edges whose normals positively span the plane bound it, and so do
two parallel ones; the least of these bounds is its radius. On a line it is half of the length. Corners are integers
over one denominator for each region, and so are derived numbers, up to square roots; from there on numbers are
positive.
Cost: a cube of the number of corners, so some 100 microseconds for a region.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from math import lcm

import numpy as np
import shapely

from regions.domains import Domain
from regions.ground.arithmetic.dyadic import dyadic
from regions.measures import inscribed_discs
from regions.results.definitions.shapes import merged_polygons
from regions.results.partition import Partition

DIGITS = 40
# The remaining accuracy after some sums and square roots.
CLOSE = Decimal(10) ** -30
Pair = tuple[int, ...]


def findings(partition: Partition) -> Iterator[str]:
    """Yield the errors in the shapes of a bounded partition."""
    yield from wrong_discs(partition)
    if partition.dimension == 2:
        yield from wrong_polygons(partition)


def wrong_discs(partition: Partition) -> Iterator[str]:
    """Yield radii that are not within their errors, too large errors, and centres where no such disc can be."""
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = DIGITS, -(10**6), 10**6
        yield from list(_wrong_discs(partition))


def _wrong_discs(partition: Partition) -> Iterator[str]:
    discs, exact = inscribed_discs(partition), partition.exact_vertices()
    metric = Metric(partition.domain)
    for region, cell in enumerate(np.split(partition.cell_vertices, partition.cell_offsets[1:-1])):
        radius, error = Decimal(discs.radii[region]), Decimal(discs.errors[region])
        if error > (radius / 2**12 + Decimal(5e-324)) * (1 + CLOSE):
            yield f"the error of the radius of region {region} is {error:.3g}, the radius {radius:.3g}"
        center = [x.as_integer_ratio() for x in discs.centers[region].tolist()]
        points = [exact.points[vertex] for vertex in cell.tolist()]
        unit = lcm(*(weight for weight, *_ in points), *(weight for _, weight in center))
        # From the centre, over the common denominator.
        corners = [
            tuple(x * (unit // weight) - c * (unit // w) for x, (c, w) in zip(rest, center, strict=True))
            for weight, *rest in points
        ]
        true, room = (x / unit for x in (metric.interval if partition.dimension == 1 else metric.polygon)(corners))
        if not (true * (1 - CLOSE) - error <= radius <= true * (1 + CLOSE) + error):
            yield f"the radius of region {region} is {radius:.17g}, not {true:.17g} up to {error:.3g}"
        # A step between doubles to each side of the centre.
        steps = [Decimal(float(np.spacing(abs(x)))) for x in discs.centers[region]]
        if room < radius - error - sum(step * axis for step, axis in zip(steps, metric.axes, strict=True)):
            yield f"the centre of region {region} is {room:.3g} from its edges, the radius {radius:.17g}"


class Metric:
    """Lengths in a domain's input space, for vectors in its chart."""

    def __init__(self, domain: Domain) -> None:
        integers, exponent = dyadic(domain.directions)
        self.gram = [[int(x) for x in row] for row in integers @ integers.T]
        self.unit = Decimal(2) ** exponent
        self.axes = [Decimal(self.gram[axis][axis]).sqrt() * self.unit for axis in range(domain.dimension)]

    def interval(self, ends: list[Pair]) -> tuple[Decimal, Decimal]:
        """Half of the length of an interval, and how far the origin is inside."""
        (left,), (right,) = ends
        return Decimal(right - left) / 2 * self.axes[0], min(-left, right) * self.axes[0]

    def polygon(self, corners: list[Pair]) -> tuple[Decimal, Decimal]:
        """Radius of the largest disc in a polygon, and how far the origin is inside; negative outside."""
        (g, h), (_, k) = self.gram
        count = len(corners)
        ways = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
        lengths = [Decimal(g * x * x + 2 * h * x * y + k * y * y).sqrt() for x, y in ways]
        # Distances of the mean of the corners from the edges, up to factors: positive, because the mean is inside.
        mean = sum(x for x, _ in corners), sum(y for _, y in corners)
        above = [
            Decimal(cross(way, (mean[0] - count * x, mean[1] - count * y)))
            for way, (x, y) in zip(ways, corners, strict=True)
        ]
        turns = {pair: cross(ways[pair[0]], ways[pair[1]]) for pair in combinations(range(count), 2)}
        bounds = []
        for i, j, k in combinations(range(count), 3):
            weights = turns[j, k], -turns[i, k], turns[i, j]
            if min(weights) >= 0:
                three = [(Decimal(weight), edge) for weight, edge in zip(weights, (i, j, k), strict=True)]
                bounds.append(sum(w * above[e] for w, e in three) / sum(w * lengths[e] for w, e in three))
        scale = Decimal(self.gram[0][0] * self.gram[1][1] - self.gram[0][1] ** 2).sqrt() * self.unit
        room = min(-cross(way, start) / length for way, start, length in zip(ways, corners, lengths, strict=True))
        return min(bounds) / count * scale, room * scale


def cross(a: Pair, b: Pair) -> int:
    return a[0] * b[1] - a[1] * b[0]


def wrong_polygons(partition: Partition) -> Iterator[str]:
    """Yield merged polygons with a wrong area, and invalid ones although nothing is folded."""
    polygons, folded = partition.to_shapely(), set(partition.folded_cells().tolist())
    areas = signed_areas(partition)
    for region, area in enumerate(areas):
        if area <= 0 and region not in folded:
            yield f"region {region} has the area {float(area)} as stored, and is not folded"
    in_order = not folded and can_be_judged(partition)
    # shapely has 32 digits, and takes a corner that comes within 1e-32 of an edge for one on it.
    doubted = [
        ring for ring, valid in zip(stored_rings(partition), shapely.is_valid(polygons), strict=True) if not valid
    ]
    if in_order and not (all(map(is_simple, doubted)) and shapely.coverage_is_valid(polygons)):
        yield "the coverage is invalid, but nothing is folded"
    in_order = in_order and not doubted
    # shapely rounds, and a polygon that it repairs can lose as much area as the errors of vertices allow.
    width, height = (Fraction(high) - Fraction(low) for low, high in partition_box(partition))
    accounted = area_errors(partition)
    labels = np.arange(len(partition)) % 3 % len(partition)
    shapes = merged_polygons(partition, labels)
    for label, (shape, valid) in enumerate(zip(shapes, shapely.is_valid(shapes), strict=True)):
        area = abs(sum(areas[label::3], Fraction(0)))
        if abs(Fraction(shape.area) - area) > width * height / 2**44 + sum(accounted[label::3], Fraction(0)):
            yield f"merged region {label} has the area {shape.area}, its members {float(area)}"
        if in_order and not valid:
            yield f"merged region {label} is invalid, but nothing is folded"


def can_be_judged(partition: Partition) -> bool:
    """Return whether the 32 digits of shapely are enough: no coordinates that are tiny, huge, or of very different
    sizes.
    """
    sizes = np.abs(partition.vertices[partition.vertices != 0.0])
    return bool(sizes.max() < 1e130 and sizes.min() > 1e-130 and sizes.min() > 1e-30 * sizes.max())


def signed_areas(partition: Partition) -> list[Fraction]:
    """Return the areas of the regions with their stored corners, in the chart."""
    unit = Fraction(2) ** (2 * dyadic(partition.vertices)[1] - 1)
    rings = stored_rings(partition)
    return [sum(a * d - b * c for (a, b), (c, d) in zip(r, r[1:] + r[:1], strict=True)) * unit for r in rings]


def stored_rings(partition: Partition) -> list[list[list[int]]]:
    """Return the stored corners of each region, as integers times one power of two."""
    points = dyadic(partition.vertices)[0].tolist()
    cells = np.split(partition.cell_vertices, partition.cell_offsets[1:-1])
    return [[points[vertex] for vertex in cell.tolist()] for cell in cells]


def is_simple(ring: list[list[int]]) -> bool:
    """Return whether edges meet in common corners only, decided in integers."""
    edges = list(zip(ring, ring[1:] + ring[:1], strict=True))
    for (first, (a, b)), (second, (c, d)) in combinations(enumerate(edges), 2):
        if first + 1 == second or (first, second) == (0, len(edges) - 1):
            if b != c:
                a, b, c, d = c, d, a, b
            if turn(a, b, d) == 0 and (a[0] - b[0]) * (d[0] - b[0]) + (a[1] - b[1]) * (d[1] - b[1]) >= 0:
                return False
        elif sign(turn(a, b, c)) * sign(turn(a, b, d)) <= 0 and sign(turn(c, d, a)) * sign(turn(c, d, b)) <= 0:
            # For two segments on one line the boxes decide.
            if all(max(a[k], b[k]) >= min(c[k], d[k]) and max(c[k], d[k]) >= min(a[k], b[k]) for k in (0, 1)):
                return False
    return True


def turn(a: list[int], b: list[int], c: list[int]) -> int:
    """Positive if three points turn to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def sign(value: int) -> int:
    return (value > 0) - (value < 0)


def area_errors(partition: Partition) -> list[Fraction]:
    """Return how far the regions' areas in the chart can be off, if each corner is off by its error along each axis."""
    points = [(Fraction(x), Fraction(y)) for x, y in partition.vertices.tolist()]
    errors = [Fraction(error) for error in partition.vertex_errors.tolist()]
    result = []
    for cell in np.split(partition.cell_vertices, partition.cell_offsets[1:-1]):
        ring, total = cell.tolist(), Fraction(0)
        for before, here, after in zip(ring[-1:] + ring[:-1], ring, ring[1:] + ring[:1], strict=True):
            around = sum(abs(a - b) for a, b in zip(points[after], points[before], strict=True))
            total += errors[here] * (around + 2 * errors[after])
        result.append(total / 2)
    return result


def partition_box(partition: Partition) -> list[tuple[float, float]]:
    """Least and largest coordinate on each axis."""
    return list(zip(partition.vertices.min(axis=0).tolist(), partition.vertices.max(axis=0).tolist(), strict=True))
