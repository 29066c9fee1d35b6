# SPDX-License-Identifier: MIT
"""Does the reference find the same patterns in a box?

A small partition is compared with `regions.reference` as a whole. In a large one, the domain is cut down to a small box
around a random vertex. All patterns that the reference finds there must be listed, and it must find the regions of
which a vertex is inside the box.
Cost: the reference on a few dozen regions, each in three and more dimensions.
"""

from __future__ import annotations

import numpy as np

from regions import reference
from regions.arithmetic.types import Bits, Floats
from regions.certification.certification_report import Findings
from regions.certification.forms import Forms
from regions.domains import Polytope
from regions.networks.network import Network
from regions.partition.polytopes import PolytopePartition

__all__ = ["check_against_reference"]

# Number of boxes, and the most regions with a vertex in a box. A box has about half the size at which it would contain
# NEAREST other vertices. If a box takes more than PRODUCTS products of integers, there is one box, with fewer regions.
BOXES, MET, NEAREST, FEWEST, PRODUCTS = 3, 64, 2, 16, 2_000_000


def check_against_reference(
    part: PolytopePartition, network: Network, forms: Forms, rng: np.random.Generator, findings: Findings
) -> None:
    """Compare the patterns in all of the domain if it has few regions, else in random boxes."""
    most = max(FEWEST, min(MET, PRODUCTS // forms.products_per_pattern), 2 << part.dimension)
    patterns = [row.tobytes() for row in network.graph.bits(part.packed_patterns)]
    if len(part) <= most:
        _compare(network, part.domain, patterns, set(range(len(part))), part.complete, findings)
        findings.checked("reference", len(part), len(part), "regions")
        return
    met: set[int] = set()
    inner = np.setdiff1d(np.arange(len(part.vertices)), part.facet_vertices[_on_border(part)])
    centres = rng.permutation(inner if inner.size else np.arange(len(part.vertices)))
    for vertex in centres[: BOXES if most == MET else 1].tolist():
        found = _box(part, part.vertices[vertex], most)
        if found is not None:
            _compare(network, found[0], patterns, found[1], part.complete, findings)
            met |= found[1]
    findings.checked("reference", len(met), len(part), "regions", proof=False)


def _compare(
    network: Network, domain: Polytope, patterns: list[bytes], met: set[int], complete: bool, findings: Findings
) -> None:
    """Compare the patterns in a part of the domain, which some regions surely meet."""
    theirs = {bytes(pattern) for pattern in reference.patterns(network, domain)}
    where = (
        f"within {domain.generators[:, 1:].min(axis=0).tolist()} and {domain.generators[:, 1:].max(axis=0).tolist()}"
    )
    for region in met:
        if patterns[region] not in theirs:
            findings.wrong("reference", f"region {region} is not found {where}")
    missing = theirs - set(patterns)
    if complete and missing:
        findings.wrong("reference", f"{len(missing)} regions are missing {where}")


def _box(part: PolytopePartition, centre: Floats, most: int) -> tuple[Polytope, set[int]] | None:
    """Return the part of the domain in a box around a vertex that few regions can meet, and the regions that surely
    meet it; None if there are many, or if the spacing of doubles does not allow a box.
    """
    distances = np.abs(part.vertices - centre).max(axis=1)
    half = float(np.sort(distances)[min(NEAREST, len(distances) - 1)]) / 2
    low, high = centre - half, centre + half
    if not (low < high).all():
        return None
    errors = part.vertex_errors[:, np.newaxis]
    inside: Bits = np.all((part.vertices - 2 * errors > low) & (part.vertices + 2 * errors < high), axis=1)
    owners = np.repeat(np.arange(len(part)), np.diff(part.cell_offsets))
    met = set(owners[inside[part.cell_vertices]].tolist())
    if len(met) > most:
        return None
    axes = np.eye(part.dimension)
    sides = np.vstack([np.column_stack([-low, axes]), np.column_stack([high, -axes])])
    forms = np.vstack([part.domain.forms, sides])
    return Polytope.in_chart(part.domain.origin, part.domain.directions, -forms[:, 1:], forms[:, 0]), met


def _on_border(part: PolytopePartition) -> Bits:
    """Which entries of facet_vertices belong to facets of the border."""
    return np.asarray(np.repeat(part.facet_kinks < 0, np.diff(part.facet_offsets)))
