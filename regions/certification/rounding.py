# SPDX-License-Identifier: MIT
"""Are the rounded numbers of a partition as close to the true ones as they should be?

Coordinates and volumes have stored bounds. Bounds for affine maps are computed here, from the guarantees of floating
point. With u = 2^-53, a sum of products of n numbers each, taken in any order with or without fused operations, is
within 2 N u times the sum of the magnitudes, plus underflow. Here N is the largest number of roundings that affect any
of its terms (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). The comparison itself is in
fractions, without rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite, isinf

import numpy as np

from regions.certification.certification_report import Findings
from regions.certification.exact_regions import ExactRegions
from regions.certification.layout import Layout
from regions.certification.reference.integers import Point
from regions.certification.signs import VertexSigns
from regions.certification.totals import ROUNDED, region_volume, scale_of
from regions.errors import NonFiniteError
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.types import Bits, Floats
from regions.results.cells.cell_errors import loosest_bound
from regions.results.cells.cell_geometry import next_corners
from regions.results.partition import Partition

__all__ = ["check_affine_maps", "check_coordinates", "check_volumes", "volumes_hold"]

U = Fraction(1, 2**53)
TINY = Fraction(1, 2**1074)
LARGEST = Fraction(float(np.finfo(np.float64).max))


def check_coordinates(layout: Layout, signs: VertexSigns, infinity: int | None, findings: Findings) -> None:
    """Check that stored coordinates are within their bounds of the true ones, where these are known, and that no bound
    is too large for a domain of this size.
    """
    stored, bounds = layout.vertices, layout.errors
    for vertex, point in sorted(signs.positions.items()):
        fault = _fault(stored[vertex].tolist(), bounds[vertex].item(), point, infinity)
        if fault:
            findings.wrong("coordinates", f"vertex {vertex} is stored as {stored[vertex].tolist()}, {fault}")
    checked = signs.known & (signs.near <= bounds)
    checked[list(signs.positions)] = True
    findings.checked("coordinates", int(checked.sum()), len(stored), "vertices")
    loosest = loosest_bound(layout.part)
    if loosest is None:
        return
    candidates = np.flatnonzero(np.isfinite(bounds) & (bounds > nearest_float(loosest) * (1 - 2.0**-40)))
    for vertex, bound in zip(candidates.tolist(), bounds[candidates].tolist(), strict=True):
        if bound > loosest:
            where = f"vertex {vertex} is stored as {stored[vertex].tolist()}"
            findings.wrong(
                "coordinates", f"{where}, with a bound of {bound}, which says nothing in a domain of this size"
            )


def volumes_hold(layout: Layout, near: Floats) -> Bits:
    """Return which lengths and areas are surely within their rounding errors of the exact ones, bool [R]; ``near`` [V]
    bounds the distances of stored vertices from the true ones. In higher dimensions, return False everywhere.

    The volume between the stored corners is computed again. If each of n corners is off by e, and x and y are the
    widths of the region, it differs from the true one by at most n (2 (x + y) e + 4 e^2), and rounding adds at most
    n (n + 9) u x y to the comparison. Allowed are n (2 (x + y) E + 4 E^2 + 4 (n + 8) u x y), with the stored bound E.
    On a line these are 2 e + 5 u x and 2 E + 2 u x, plus 8 u times the true length.
    """
    if layout.dimension > 2 or not layout.regions:
        return np.zeros(layout.regions, dtype=bool)
    at, starts, sizes = layout.cell_vertices, layout.cell_offsets[:-1], np.diff(layout.cell_offsets)
    places = layout.vertices[at] - np.repeat(layout.vertices[at[starts]], sizes, axis=0)
    widths = np.maximum.reduceat(places, starts) - np.minimum.reduceat(places, starts)
    true, allowed = (np.maximum.reduceat(each[at], starts) for each in (near, layout.errors))
    spare, unit = 2 * (allowed - true) * (1 - 2.0**-30), nearest_float(U)
    if layout.dimension == 1:
        found, width = places[1::2, 0], widths[:, 0]
        long = true <= width / 64
        slack = np.where(long, spare + 3 * unit * width, np.where(spare > 2.0**-20 * width, spare, -1.0))
    else:
        after = next_corners(layout.cell_offsets)
        found = np.add.reduceat(places[:, 0] * places[after, 1] - places[:, 1] * places[after, 0], starts) / 2
        slack = sizes * (spare * widths.sum(axis=1) + 2 * (sizes + 8) * unit * widths.prod(axis=1))
    scale = scale_of(layout)
    # Smaller numbers lose digits.
    large = widths.prod(axis=1) * min(scale, 1.0) > 1e-270
    return np.asarray(large & (spare >= 0) & (np.abs(layout.part.volumes - found * scale) <= slack * scale))


def check_volumes(exact: ExactRegions, regions: Sequence[int], measured: Bits, findings: Findings) -> Fraction:
    """Check that the volumes of some regions are within their bounds of the exact ones; those of ``measured`` [R] ones
    have been checked before. Return the exact sum of these volumes, in the chart.
    """
    layout, total = exact.layout, Fraction(0)
    if layout.regions > ROUNDED.get(layout.dimension, 1 << 60):
        return total
    scale, infinity = Fraction(scale_of(layout)), exact.forms.infinity
    volumes, errors = layout.part.volumes.tolist(), layout.part.volume_errors.tolist()
    for region in regions:
        volume = region_volume(exact, region)
        if volume is None:
            continue
        total += volume
        at_infinity = infinity is not None and not layout.domain.bounded and _reaches(exact.corners(region), infinity)
        rounded = float("inf") if at_infinity else nearest_float(volume * scale)
        near = not at_infinity and abs(volumes[region] - rounded) <= errors[region] + 8 * float(U) * rounded
        if volumes[region] != rounded and not near:
            what = f"{volumes[region]}, but it is unbounded" if at_infinity else f"{volumes[region]}, not {rounded!r}"
            findings.wrong("volumes", f"the volume of region {region} is {what}")
    checked = measured.copy()
    checked[list(regions)] = True
    findings.checked("volumes", int(checked.sum()), layout.regions, "regions")
    return total


def _reaches(corners: Sequence[Point], infinity: int) -> bool:
    """Return whether a corner is on the square that replaces a plane, or at an end of the interval of a line."""
    return any(abs(x) == infinity * weight for weight, *place in corners for x in place)


def check_affine_maps(exact: ExactRegions, regions: Sequence[int], findings: Findings) -> None:
    """Check that the affine maps of some checked regions are within their rounding errors of the exact ones."""
    partition, forms = exact.partition, exact.forms
    try:
        linear, constant = partition.affine_maps(regions)
    except NonFiniteError as beyond:
        findings.unchecked("affine maps", str(beyond).partition(";")[0])
        return
    for index, region in enumerate(regions):
        outputs = forms.output(exact.pattern(region))
        rounded = np.column_stack([constant[index], linear[index]])
        for output, (form, values, bounds) in enumerate(
            zip(outputs, rounded.tolist(), _map_bounds(partition, region).tolist(), strict=True)
        ):
            for a, value, bound in zip(form, values, bounds, strict=True):
                true = Fraction(a, 1 << forms.output_exponent)
                if isfinite(bound) and not _close(value, true, Fraction(bound)):
                    findings.wrong(
                        "affine maps",
                        f"output {output} of region {region} has a coefficient {value}, not {nearest_float(true)!r}",
                    )
    findings.checked("affine maps", len(regions), len(partition), "regions")


def _fault(stored: list[float], bound: float, point: Point, infinity: int | None) -> str:
    """Describe what is wrong with the stored coordinates of a vertex; empty if nothing is."""
    weight, *position = point
    true = [Fraction(x, weight) for x in position]
    if infinity is not None and max(map(abs, true)) == infinity:
        right = all(_far(s, x, infinity) for s, x in zip(stored, true, strict=True))
        return "" if right else "but lies at infinity elsewhere"
    if isinf(bound):
        right = all(
            isfinite(s) or (abs(x) >= LARGEST and (s > 0) == (x > 0)) for s, x in zip(stored, true, strict=True)
        )
        return "" if right else "but a double can hold it"
    if all(_close(s, x, Fraction(bound)) for s, x in zip(stored, true, strict=True)):
        return ""
    return f"not within {bound} of {[nearest_float(x) for x in true]}"


def _far(stored: float, exact: Fraction, infinity: int) -> bool:
    """Return whether a coordinate of a vertex at infinity is infinite if and only if it should be.

    The vertex is on the boundary of the square that replaces a plane. The square is more than 2 B^2 wide to each side,
    where B bounds all coefficients: coordinates there that grow with it are beyond its square root, the others at most
    B. A direction that is almost parallel to an axis has a component that no double can hold; it may be stored as 0.
    """
    if isinf(stored):
        return exact * exact > infinity and (stored > 0) == (exact > 0)
    return exact * exact <= infinity or abs(exact) < infinity * TINY * 2


def _close(rounded: float, exact: Fraction, bound: Fraction) -> bool:
    """Return whether a double is within a bound of a fraction; for an infinite double, whether the fraction may be
    beyond the largest double.
    """
    if isfinite(rounded):
        return abs(Fraction(rounded) - exact) <= bound
    return (
        rounded == float("inf") and exact + bound >= LARGEST or rounded == -float("inf") and exact - bound <= -LARGEST
    )


def _map_bounds(partition: Partition, region: int) -> Floats:
    """Return bounds on the errors of the coefficients of a rounded affine map, [n_out, 1 + d]; may be infinite.

    They are the same products as in the map, of magnitudes. The factor of two covers their own rounding.
    """
    network, domain = partition.network, partition.domain
    bits = np.unpackbits(partition.packed_patterns[region], count=network.kinks, bitorder="little")
    sizes = np.abs(np.vstack([domain.origin, domain.directions]))
    roundings, amplification = 8, 1.0
    given = {-1: sizes}
    for number, node in enumerate(network.graph.nodes):
        operators = [read.operator.entrywise(np.abs) for read in node.reads]
        sizes = sum(
            (operator.apply(given[read.node]) for operator, read in zip(operators, node.reads, strict=True)),
            start=np.zeros((len(sizes), node.units.rows)),
        )
        sizes[0] += np.abs(node.biases)
        pieces = node.units.pieces_of(bits[node.kinks])
        slopes, intercepts = map(np.abs, node.units.on_pieces(pieces))
        sizes = slopes * sizes[:, node.units.followed(np.arange(node.units.rows), pieces)]
        sizes[0] += intercepts
        given[number] = sizes
        roundings += node.terms + 4
        # An upper bound on the growth of a number through all layers; times the operations, it covers all underflow.
        total = sum(float(operator.apply(np.ones((1, operator.inputs))).sum()) for operator in operators)
        products = sum(operator.inputs * operator.outputs for operator in operators)
        amplification *= max(1.0, total) * max(1.0, slopes.max()) * products
    chart = max(1.0, np.abs(domain.origin).sum() + np.abs(domain.directions).sum())
    bounds = 2 * roundings * float(U) * sizes.T + float(TINY) * amplification * chart * domain.n_in
    return np.where(np.isnan(bounds), np.inf, bounds)
