# SPDX-License-Identifier: MIT
"""Which facts about images of regions are wrong, according to rational arithmetic?

Regions and their maps come from `regions.reference`, outputs at vertices from a forward pass in fractions. Areas are
square roots, computed to some 200 bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import regions
from coordinates_judge import root
from exact_passes import exact_outputs
from regions import Domain, Network, reference
from regions.domains.gram import determinant, gram_matrix
from regions.errors import NonFiniteError

__all__ = ["image_findings"]

Row = list[Fraction]


def rank_of(columns: list[Row]) -> int:
    """The dimension of the space that one or two columns span."""
    if not any(map(any, columns)):
        return 0
    first, *others = columns
    pairs = [(a, b) for other in others for a, b in zip(first, other, strict=True)]
    minors = (a * d - b * c for i, (a, b) in enumerate(pairs) for c, d in pairs[:i])
    return 2 if any(minors) else 1


def off(value: float, error: float, exact: Fraction) -> bool:
    """Return whether a value is off by more than its bound, up to the last bits of a square root."""
    if np.isnan(value) or np.isnan(error) or error < 0:
        return True
    return error != np.inf and abs(Fraction(value) - exact) > Fraction(error) + abs(exact) / 2**150


def image_findings(network: Network, domain: Domain) -> Iterator[str]:
    """Yield the errors in the image of a bounded domain."""
    if not domain.bounded:
        return
    found = regions.image(network, domain)
    try:
        vertices, errors = found.vertices, found.errors
    except NonFiniteError:
        return
    part = found.partition
    for vertex, exact in enumerate(part.exact_vertices()):
        for output, value in enumerate(exact_outputs(network.graph, domain, exact)):
            if off(vertices[vertex, output], errors[vertex, output], value):
                yield f"output {output} at vertex {vertex} is {vertices[vertex, output]}, {float(value)} in fractions"
    known = {tuple(region.pattern): region for region in reference.enumerate(network, domain)}
    scale, total = determinant(gram_matrix(domain.directions)), Fraction(0)
    for number, bits in enumerate(part.patterns.tolist()):
        region = known[tuple(bits)]
        columns = [list(column) for column in zip(*(form[1:] for form in region.output), strict=True)]
        if found.ranks[number] != rank_of(columns):
            yield f"the image of region {number} has dimension {found.ranks[number]}, {rank_of(columns)} in fractions"
        gram = [[sum(x * y for x, y in zip(a, b, strict=True)) for b in columns] for a in columns]
        factor = root(determinant(gram) / scale)
        size = factor * root(scale) * abs(region.volume)
        total += size
        if off(found.distortions[number], found.distortion_errors[number], factor):
            yield f"the distortion of region {number} is {found.distortions[number]}, {float(factor)} in fractions"
        if off(found.volumes[number], found.volume_errors[number], size):
            yield f"the image of region {number} has size {found.volumes[number]}, {float(size)} in fractions"
    if off(found.volume, found.volume_error, total):
        yield f"the image has size {found.volume}, {float(total)} in fractions"
    collapsed = found.ranks < part.dimension
    if (found.distortions[collapsed] != 0).any() or (found.volume_errors[collapsed] != 0).any():
        yield "an image that collapses has an area"
