# SPDX-License-Identifier: MIT
"""Which facts about level sets are wrong, according to rational arithmetic?

Regions come from `regions.reference`. The part where the output is above the threshold has an exact area, and inside a
region the output crosses the threshold on a segment whose ends are fractions.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import regions
from regions import Domain, Network, reference
from regions.domains.gram import determinant, gram_matrix
from regions.ground.arithmetic.dyadic import square_root
from statistics_judge import off, share_above_zero, simplices_of

__all__ = ["level_set_findings"]


def level_set_findings(network: Network, domain: Domain) -> Iterator[str]:
    """Yield the errors in the level sets of the last output, at 0 and through a vertex."""
    if not domain.bounded:
        return
    output = network.n_out - 1
    parts = reference.enumerate(network, domain)
    corner = parts[len(parts) // 2]
    value = _value(corner.output[output], corner.vertices[0])
    for threshold in {0.0, float(value) if abs(value) < 2**1000 else 0.0}:
        found = regions.level_set(network, domain, threshold, output if output else None)
        yield from _findings(found, parts, simplices_of(network, domain), Fraction(threshold), output)


def _findings(
    found: regions.LevelSet, parts: list[Any], simplices: list[Any], threshold: Fraction, output: int
) -> Iterator[str]:
    domain = found.decisions.partition.domain
    gram = gram_matrix(domain.directions)
    scale = Fraction(square_root(determinant(gram)))
    area = Fraction(0)
    for size, corners, forms in simplices:
        area += size * share_above_zero([_value(forms[output], corner) - threshold for corner in corners])
    # The scale is rounded once.
    if off(found.area_above, found.area_error + 1e-15 * float(area * scale), area * scale):
        yield f"the area above {float(threshold)} is {found.area_above}, {float(area * scale)} in fractions"
    inside, along = Fraction(0), False
    for part in parts:
        ends = [_value(part.output[output], vertex) - threshold for vertex in part.vertices]
        crossing = _crossing(part.vertices, ends)
        along |= ends.count(0) > len(crossing) * (min(ends) < 0 < max(ends))
        if domain.dimension == 1:
            inside += len(crossing)
        elif len(crossing) == 2:
            x, y = (b - a for a, b in zip(*crossing, strict=True))
            inside += Fraction(square_root(x * x * gram[0][0] + 2 * x * y * gram[0][1] + y * y * gram[1][1]))
    slack = found.error + 1e-15 * float(inside) * (1 + len(parts))
    if found.length < inside - slack or (not along and off(found.length, slack, inside)):
        yield f"the length at {float(threshold)} is {found.length}, {float(inside)} inside regions"
    yield from _structure_findings(found)


def _value(form: tuple[Fraction, ...], point: Any) -> Fraction:
    return form[0] + sum((a * x for a, x in zip(form[1:], point, strict=True)), Fraction(0))


def _crossing(vertices: Any, values: list[Fraction]) -> list[tuple[Fraction, ...]]:
    """The points of a region's boundary where a form with these values at its corners is 0, if it has both signs."""
    if not min(values) < 0 < max(values):
        return []
    found = [vertex for vertex, value in zip(vertices, values, strict=True) if value == 0]
    around = list(zip(vertices, values, strict=True))
    pairs = zip(around, around[1:] + around[:1], strict=True) if len(around) > 2 else [tuple(around)]
    for (here, a), (there, b) in pairs:
        if a * b < 0:
            found.append(tuple(x + a / (a - b) * (y - x) for x, y in zip(here, there, strict=True)))
    return found


def _structure_findings(found: regions.LevelSet) -> Iterator[str]:
    """Check that curves have each facet once, that areas differ from their parents, and that holes can be as many."""
    part, areas = found.decisions.partition, found.decisions.areas
    if part.dimension == 2:
        edges = sum(len(curve) - 1 for curve in found.curves)
        if edges != len(found.decisions.facets):
            yield f"the curves have {edges} edges, and there are {len(found.decisions.facets)} facets between kinds"
    inner = np.flatnonzero(found.parents >= 0)
    if (found.above[inner] == found.above[found.parents[inner]]).any():
        yield "an area has a parent of its own kind"
    if (found.holes < 0).any() or (part.dimension == 2 and not inner.size and areas.max() == 0 and found.holes.any()):
        yield f"the numbers of holes are {found.holes.tolist()}"
    if found.holes.sum() > inner.size:
        yield f"there are {found.holes.sum()} holes, and {inner.size} areas inside others"
