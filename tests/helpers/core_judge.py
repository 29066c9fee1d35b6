# SPDX-License-Identifier: MIT
"""Does the core agree with the reference?

`difference` compares everything that the core returns with `regions.reference`: the count, the patterns, and for each
region its corners, each within the core's bound, and its edges with the neighbours. Corners are matched by the lines
between them, which are known exactly on both sides, so no rounded number decides the matching, however close corners
are. Stored and true vertices must match one to one: that makes a partition a complex without T-junctions. Nothing is
compared with a tolerance: floats are taken as the fractions they are.
Cost: milliseconds for some dozen regions, nearly all of it in the reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import isinf

import numpy as np

import regions
from regions.certification.reference import subdivision as reference
from regions.certification.reference.cutting import _cross
from regions.certification.reference.integers import Form, IntegerTask, Point, to_integers
from regions.domains import Domain
from regions.networks.network import Network
from regions.results.cells.consistency import first_problem
from regions.results.partition import Partition, raw_arrays

Bits = tuple[bool, ...]
# The true corners of a region, each with the line of the edge that leaves it.
Outline = list[tuple[Point, Form]]


def difference(network: Network, domain: Domain) -> str | None:
    """Return how the core differs from the reference on this input, or None; an error is a difference, too."""
    task = to_integers(network, domain)
    expected = {cell.pattern: cell.corners for cell in reference._subdivide(task)}
    try:
        return next(_differences(network, domain, task, expected), None)
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"


def _differences(network: Network, domain: Domain, task: IntegerTask, expected: dict[Bits, Outline]) -> Iterator[str]:
    count = regions.count(network, domain)
    if count != len(expected):
        yield f"count {count}, reference {len(expected)}"
    partition = regions.enumerate(network, domain)
    if len(partition) != len(expected):
        yield f"{len(partition)} regions enumerated, reference {len(expected)}"
    patterns = [tuple(row) for row in partition.patterns.tolist()]
    if set(patterns) != set(expected):
        yield f"patterns differ, e.g. {sorted(set(patterns) ^ set(expected))[0]}"
    problem = first_problem(network, domain, raw_arrays(partition), complete=True)
    if problem:
        yield f"inconsistent: {problem}"
    yield from _facets(partition, patterns)
    true_points: dict[int, Point] = {}
    indices: dict[tuple[Fraction, ...], int] = {}
    for region, pattern in enumerate(patterns):
        matched = _match(partition, task, region, pattern, expected[pattern])
        if matched is None:
            yield f"region {region} does not have the edges of the reference's"
            return
        for index, point in matched:
            if not _stands_for(partition, index, point, task.infinity):
                true = [str(Fraction(x, point[0])) for x in point[1:]]
                yield f"vertex {index} is {partition.vertices[index]}, not within its bound of {true}"
            ratios = tuple(Fraction(x, point[0]) for x in point)
            if true_points.setdefault(index, ratios) != ratios:
                yield f"vertex {index} stands for two points"
            if indices.setdefault(ratios, index) != index:
                yield f"vertices {indices[ratios]} and {index} are the same point"


def _facets(partition: Partition, patterns: list[Bits]) -> Iterator[str]:
    """Check that a facet's kink is inactive on one side and active on the other."""
    inner = partition.facet_regions[:, 1] >= 0
    for facet in np.flatnonzero(inner).tolist():
        one, other = (patterns[region] for region in partition.facet_regions[facet])
        kink = partition.facet_kinks[facet]
        if one[kink] == other[kink]:
            yield f"facet {facet} is said to be of kink {kink}, which is the same on both sides"


def _match(
    partition: Partition, task: IntegerTask, region: int, pattern: Bits, outline: Outline
) -> list[tuple[int, Point]] | None:
    """Return the vertices of a region with the true points they stand for, or None if its edges are not the true
    ones.
    """
    start, end = partition.cell_offsets[region : region + 2]
    indices = partition.cell_vertices[start:end].tolist()
    if len(indices) != len(outline):
        return None
    points = [point for point, _ in outline]
    if partition.dimension == 1:
        return list(zip(indices, points, strict=True))
    forms = _kink_forms(task, pattern)
    mine = []
    for kink in partition.facet_kinks[partition.cell_facets[start:end]].tolist():
        if kink >= 0:
            mine.append(forms[kink])
        else:
            after = -kink % len(task.corners)  # edge e, stored as -1 - e, goes from corner e to corner e + 1
            mine.append(_cross(task.corners[-1 - kink], task.corners[after]))
    for shift in range(len(outline)):
        theirs = [line for _, line in outline[shift:] + outline[:shift]]
        if all(not any(_cross(a, b)) for a, b in zip(mine, theirs, strict=True)):
            return list(zip(indices, points[shift:] + points[:shift], strict=True))
    return None


def _kink_forms(task: IntegerTask, pattern: Bits) -> list[Form]:
    """Return the forms that are zero on each kink, in the region of a pattern."""
    forms: list[Form] = []
    values = task.inputs
    for layer in task.layers[:-1]:
        before = reference.preactivations(layer, values)
        bits = pattern[len(forms) : len(forms) + sum(layer.kinks)]
        units = zip(before, layer.breakpoints, strict=True) if layer.starts is None else ()
        forms += [(form[0] - t, *form[1:]) for form, breakpoints in units for t in breakpoints]
        for start, end in pairwise(layer.starts or ()):
            pairs = [(later, earlier) for later in range(start, end) for earlier in range(start, later)]
            forms += [tuple(b - a for a, b in zip(before[one], before[other], strict=True)) for other, one in pairs]
        values = reference.activations(layer, before, bits)
    return forms


def _stands_for(partition: Partition, index: int, point: Point, infinity: int | None) -> bool:
    position, bound = partition.vertices[index].tolist(), partition.vertex_errors[index].item()
    if infinity is not None and max(map(abs, point[1:])) == infinity * point[0]:
        return any(map(isinf, position))
    if isinf(bound):  # beyond the range of doubles
        return any(map(isinf, position))
    pairs = zip(position, point[1:], strict=True)
    return all(abs(Fraction(stored) - Fraction(true, point[0])) <= Fraction(bound) for stored, true in pairs)
