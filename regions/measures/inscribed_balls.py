# SPDX-License-Identifier: MIT
"""What is the largest ball in each region in three and more dimensions?

It is a linear program: the largest r for which a point p has at least the distance r from each facet. Facets are exact
forms, a . p + c >= 0, and the length l of a gradient in input space is between two fractions that differ by a relative
2^-80. The program is solved in floating point, and its result is then checked in fractions:
- At the point p that was found, the least of (a . p + c) / l over the facets is the radius of a ball that fits.
- For numbers w >= 0 and a ball of radius r around q, the sum of w (a . q + c) is at least r times the sum of w l. It is
  also the sum of w (a . p + c), plus (sum of w a) . (q - p), which is small because the program's solution has sum of
  w a = 0 up to rounding, and q is in the region, as p is. This bounds r from above.
If both bounds are not close, the program is solved again for what is left, around p and in smaller units.
Invariant: radii are right up to their errors, whatever the solver returns.
Cost: some milliseconds for each region, and the forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

import numpy as np

from regions.domains.gram import adjugate, determinant, gram_matrix
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.roundoff import U
from regions.ground.arithmetic.types import Floats
from regions.ground.threads.deadline import check_time
from regions.results.cells.exact_polytopes import ExactPolytopes
from regions.results.partition import Partition

__all__ = ["inscribed_balls"]

# Bits of the lengths of gradients, and the number of times that a program is solved.
BITS, ROUNDS = 80, 5
# The solver is asked for this much, in units in which the radius is about one.
ENOUGH = Fraction(1, 2**40)
# A facet that is so many units away does not matter in one round.
FAR = Fraction(10**9)


class _Facet(NamedTuple):
    """The form c + a . p, and bounds on the length of its gradient in input space."""

    constant: Fraction
    normal: tuple[Fraction, ...]
    least: Fraction
    most: Fraction

    def at(self, point: Sequence[Fraction]) -> Fraction:
        return self.constant + sum((a * x for a, x in zip(self.normal, point, strict=True)), Fraction(0))


def inscribed_balls(partition: Partition) -> tuple[Floats, Floats, Floats]:
    """Return radii [R] in input space, centres [R, d] in the chart, and proven bounds [R] on the errors of the radii.

    Parameters
    ----------
    partition : Partition
    """
    exact, gram = ExactPolytopes(partition), gram_matrix(partition.domain.directions)
    metric, scale = adjugate(gram), determinant(gram)  # of gradients, times the determinant
    radii, centers, errors = np.zeros(len(partition)), partition.interior_points.copy(), np.zeros(len(partition))
    for region in range(len(partition)):
        check_time()
        forms = _inner_forms(partition, exact, region)
        facets = [_facet(form, metric, scale) for form in forms]
        corners = partition.cell_vertices[slice(*partition.cell_offsets[region : region + 2])]
        around, off = partition.vertices[corners], Fraction(float(partition.vertex_errors[corners].max()))
        ends = zip(around.min(axis=0).tolist(), around.max(axis=0).tolist(), strict=True)
        box = [(Fraction(low) - off, Fraction(high) + off) for low, high in ends]
        radii[region], centers[region], errors[region] = _largest(facets, centers[region], box)
    return radii, centers, errors


def _inner_forms(partition: Partition, exact: ExactPolytopes, region: int) -> list[list[int]]:
    """Return the forms of the facets of a region, positive inside: at an exact vertex that is not on the facet."""
    corners = partition.cell_vertices[slice(*partition.cell_offsets[region : region + 2])].tolist()
    forms = []
    for facet in partition.cell_facets[slice(*partition.cell_facet_offsets[region : region + 2])].tolist():
        form = exact.form(region, int(partition.facet_kinks[facet]))
        around = set(partition.facet_vertices[slice(*partition.facet_offsets[facet : facet + 2])].tolist())
        vertex = next(corner for corner in corners if corner not in around)
        value = sum(a * x for a, x in zip(form, exact.in_region(region, vertex), strict=True))
        forms.append([a if value > 0 else -a for a in form])
    return forms


def _facet(form: Sequence[int], metric: list[list[Fraction]], scale: Fraction) -> _Facet:
    """Return a facet, with its form divided by its largest coefficient."""
    size = max(map(abs, form[1:]))
    normal = tuple(Fraction(a, size) for a in form[1:])
    squared = (
        sum(
            (
                a * b * entry
                for a, row in zip(normal, metric, strict=True)
                for b, entry in zip(normal, row, strict=True)
            ),
            Fraction(0),
        )
        / scale
    )
    shift = 2 * max(0, squared.denominator.bit_length() - squared.numerator.bit_length()) + 2 * BITS
    root = isqrt((squared.numerator << shift) // squared.denominator)
    unit = 1 << shift // 2
    return _Facet(Fraction(form[0], size), normal, Fraction(root, unit), Fraction(root + 1, unit))


def _largest(facets: list[_Facet], start: Floats, box: list[tuple[Fraction, Fraction]]) -> tuple[float, Floats, float]:
    """Return the radius and centre of the largest ball between facets, and a bound on the error of the radius.

    The region is in the box, between two numbers on each axis.
    """
    center, most = start, None
    least = _radius_at(facets, center)
    for _ in range(ROUNDS):
        point = [Fraction(x) for x in center.tolist()]
        # No point of the region is farther away on any axis.
        extents = [max(high - x, x - low) for x, (low, high) in zip(point, box, strict=True)]
        unit = max(facet.at(point) / facet.least for facet in facets) if most is None else most - least
        found = _solved(facets, point, max(least, Fraction(0)), unit, extents)
        if found is None:
            break
        step, weights = found
        bound = _bound(facets, point, weights, extents)
        most = bound if most is None else min(most, bound)
        moved = np.array([nearest_float(x + s) for x, s in zip(point, step, strict=True)])
        radius = _radius_at(facets, moved)
        if radius > least:
            center, least = moved, radius
        if most - least <= ENOUGH * least:
            break
    radius_found = max(0.0, nearest_float(least))
    error = np.inf if most is None else nearest_float(most - least)
    return radius_found, center, float(np.nextafter(error + 2 * U * radius_found, np.inf))


def _radius_at(facets: list[_Facet], point: Floats) -> Fraction:
    """Return the radius of a ball around a point that fits; negative if the point is outside."""
    place = [Fraction(x) for x in point.tolist()]
    values = [(facet.at(place), facet) for facet in facets]
    return min(value / (facet.most if value > 0 else facet.least) for value, facet in values)


def _bound(facets: list[_Facet], point: list[Fraction], weights: list[Fraction], extents: list[Fraction]) -> Fraction:
    """Return an upper bound on the largest radius, from weights of the facets that are not negative."""
    total = sum((w * facet.least for w, facet in zip(weights, facets, strict=True)), Fraction(0))
    value = sum((w * facet.at(point) for w, facet in zip(weights, facets, strict=True)), Fraction(0))
    for axis, extent in enumerate(extents):
        rest = sum((w * facet.normal[axis] for w, facet in zip(weights, facets, strict=True)), Fraction(0))
        value += abs(rest) * extent
    return value / total


def _solved(
    facets: list[_Facet], point: list[Fraction], radius: Fraction, unit: Fraction, extents: list[Fraction]
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Solve the program around a point, for the radius beyond a known one, in a unit; return the step, and a weight for
    each facet. None if the solver fails.
    """
    from scipy.optimize import linprog

    if unit <= 0:
        return None
    # With such steps the distance from a facet changes by about one unit at most.
    slopes = [max(abs(facet.normal[axis]) / facet.most for facet in facets) for axis in range(len(extents))]
    sizes = [min(extent, unit / slope) for extent, slope in zip(extents, slopes, strict=True)]
    rows = np.array(
        [
            [float(-a * size / (facet.most * unit)) for a, size in zip(facet.normal, sizes, strict=True)] + [1.0]
            for facet in facets
        ]
    )
    rests = ((facet.at(point) / facet.most - radius) / unit for facet in facets)
    ends = np.array([float(max(-FAR, min(rest, FAR))) for rest in rests])
    target = np.zeros(rows.shape[1])
    target[-1] = -1.0
    found = linprog(target, A_ub=rows, b_ub=ends, bounds=(None, None), method="highs")
    if found.status != 0 or not np.isfinite(found.x).all():
        return None
    step = [Fraction(x) * size for x, size in zip(found.x[:-1].tolist(), sizes, strict=True)]
    duals = found.ineqlin.marginals.tolist()
    weights = [Fraction(max(0.0, -dual)) / facet.most for dual, facet in zip(duals, facets, strict=True)]
    return (step, weights) if any(weights) else None
