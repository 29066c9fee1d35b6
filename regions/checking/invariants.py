# SPDX-License-Identifier: MIT
"""Which identities must the numbers of a result satisfy, and do they?

Identities about counts, the graph, patterns and Euler's relation are compared as integers. Lengths and areas are
rounded: two sides agree if their difference is within a bound on rounding, computed from the bounds of the single sizes
(`regions/results/cells/cell_errors.py`). Errors of vertices as large as the domain would allow anything; they violate
an identity of their own, or leave others undecided. `regions.certify` compares volumes exactly, and takes longer.
Cost: linear in facets, except for patterns (`patterns.py`) and faces (`cells/face_counts.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf, isfinite

import numpy as np

from regions.checking.items import Invariant
from regions.checking.layers import FACES_TOO_MANY, faces_affordable
from regions.checking.patterns import facet_item, pattern_item
from regions.checking.whole_domain import domain_volume, one_region
from regions.domains.shape import SHAPES
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.roundoff import U
from regions.ground.arithmetic.sums import correct_sum
from regions.measures.boundary import BoundaryVolume, perimeters, switching_kinks
from regions.results.cells.cell_errors import loosest_bound
from regions.results.cells.face_counts import face_counts
from regions.results.partition import Partition

__all__ = ["definitions_item", "invariant_items", "invariants_of_counts"]


def invariant_items(
    partition: Partition,
    boundary: BoundaryVolume,
    prefix_counts: Sequence[int],
    counted: Sequence[int | None],
) -> tuple[Invariant, ...]:
    """Check all identities of a partition.

    Parameters
    ----------
    partition : Partition
    boundary : BoundaryVolume
        Boundary of the activation regions.
    prefix_counts : sequence of int
        Number of different prefixes of its patterns, up to each hidden layer.
    counted : sequence of int or None
        Independent counts of activation regions of the network cut off after each hidden layer, where available.
    """
    whole = one_region(partition.domain) if partition.domain.bounded or partition.dimension == 1 else None
    return (
        _count(partition, counted),
        _layers(prefix_counts, counted),
        _growth([number for number in counted if number is not None]),
        facet_item(partition),
        pattern_item(partition),
        _errors(partition),
        _volume(partition, whole),
        _euler(partition),
        _connected(partition),
        _perimeters(partition, boundary, whole),
        _neurons(partition, boundary),
    )


def invariants_of_counts(counted: Sequence[int | None], reason: str) -> tuple[Invariant, ...]:
    """Check what counts alone can violate; the others need the regions, which are only counted for a reason."""
    claim = "facets, patterns, volumes, faces, boundaries, and regions by other definitions"
    return (
        _growth([number for number in counted if number is not None]),
        Invariant("partition", claim, "not decided", note=reason),
    )


def definitions_item(counts: Mapping[str, int], note: str = "") -> Invariant:
    """Compare the numbers of regions by each definition, finest first, or say why they are missing."""
    claim = "coarser definitions have no more regions"
    if note:
        return Invariant("definitions", claim, "not decided", note=note)
    numbers = list(counts.values())
    ordered = all(a >= b for a, b in pairwise(numbers))
    return _decided("definitions", f"{claim}: {', '.join(counts)}", ordered, _shown(numbers), "descending")


def _count(partition: Partition, counted: Sequence[int | None]) -> Invariant:
    number = counted[-1] if counted else 1
    assert number is not None  # the whole network is always counted
    return _equal("count", "counting finds as many regions as enumerating", len(partition), number)


def _layers(prefix_counts: Sequence[int], counted: Sequence[int | None]) -> Invariant:
    """Compare prefixes with counts: cells with a common prefix are one region of the layers up to there."""
    claim = "the network cut off after a layer has as many regions as patterns have different beginnings"
    found = [number for number, other in zip(prefix_counts, counted, strict=True) if other is not None]
    left_out = [str(index) for index, other in enumerate(counted, start=1) if other is None]
    note = f"not counted after layers {', '.join(left_out)}: that would take too long" if left_out else ""
    return replace(_equal("layers", claim, found, [number for number in counted if number is not None]), note=note)


def _growth(counted: Sequence[int]) -> Invariant:
    ordered = all(a <= b for a, b in pairwise(counted))
    return _decided("growth", "another layer never makes fewer regions", ordered, _shown(counted), "ascending")


def _errors(partition: Partition) -> Invariant:
    claim = "errors of vertices are far smaller than the domain: the largest bound on an error"
    loosest = loosest_bound(partition)
    if loosest is None:
        return Invariant("errors", claim, "not decided", note="the domain is unbounded")
    largest = float(partition.vertex_errors.max())
    return _decided("errors", claim, largest <= loosest, f"{largest:.2g}", f"at most {nearest_float(loosest):.2g}")


def _volume(partition: Partition, whole: Partition | None) -> Invariant:
    size = SHAPES[partition.dimension].size
    claim = f"the {size}s of the regions add up to the {size} of the domain"
    if whole is None or not partition.domain.bounded:
        return Invariant("volume", claim, "not decided", note="the domain is unbounded")
    found = correct_sum(partition.volumes)
    expected, off = domain_volume(partition.domain, whole)
    error = correct_sum(partition.volume_errors) + off + 16 * U * expected
    return _close("volume", claim, found, expected, error, expected)


def _euler(partition: Partition) -> Invariant:
    vertices, facets, regions = len(partition.vertices), len(partition.facet_kinks), len(partition)
    if partition.dimension > 2:
        claim = "vertices - edges + .. faces of each dimension, with alternating signs, = 1"
        if not faces_affordable(partition):
            return Invariant("euler", claim, "not decided", note=FACES_TOO_MANY)
        counts = face_counts(partition).tolist()
        found = sum(-count if k % 2 else count for k, count in enumerate(counts))
        return replace(_equal("euler", claim, found, 1), note=f"{_shown(counts)} faces")
    if partition.dimension == 1:
        return _equal("euler", "points - intervals = 1", vertices - regions, 1)
    return _equal("euler", "vertices - edges + regions = 1", vertices - facets + regions, 1)


def _connected(partition: Partition) -> Invariant:
    from scipy.sparse.csgraph import connected_components

    parts, _ = connected_components(partition.adjacency, directed=False)
    return _equal("connected", "regions are connected across facets: number of connected parts", int(parts), 1)


def _perimeters(partition: Partition, boundary: BoundaryVolume, whole: Partition | None) -> Invariant:
    claim = "the boundary is half of all perimeters, minus half the perimeter of the domain"
    if whole is None:
        return Invariant("perimeters", claim, "not decided", note="the domain is unbounded")
    with np.errstate(over="ignore"):
        around, outline = correct_sum(perimeters(partition)), correct_sum(perimeters(whole))
    error = 0.0
    if partition.dimension > 1:
        ends = correct_sum(partition.facet_volume_errors[partition.facet_kinks < 0]) + correct_sum(
            whole.facet_volume_errors
        )
        most = np.diff(partition.cell_facet_offsets).max() + len(whole.facet_kinks)
        error = ends + 4 * most * U * around
    return _close("perimeters", claim, boundary.total, (around - outline) / 2, error, around)


def _neurons(partition: Partition, boundary: BoundaryVolume) -> Invariant:
    """Add up the boundaries of neurons; if several switch across one facet, each has it in full."""
    claim = "the boundaries of the neurons add up to the whole, with shared facets counted for each neuron"
    volumes = partition.facet_volumes
    facets, kinks = switching_kinks(partition)
    if not np.isfinite(volumes).all():
        return Invariant("neurons", claim, "not decided", note="the boundary is unbounded")
    neurons = partition.network.kink_neurons[kinks]
    # Facets are ascending, and the kinks of each: kinks of one neuron are consecutive.
    again = (np.diff(facets, prepend=-1) == 0) & (np.diff(neurons, prepend=-1) == 0)
    times = np.bincount(facets[~again], minlength=len(volumes))
    with np.errstate(over="ignore"):
        several = times > 1
        more = correct_sum(volumes[several] * (times[several] - 1))
    found = correct_sum(boundary.neurons)
    return _close("neurons", claim, found, boundary.total + more, 4 * (2 + times.max()) * U * found)


def _close(name: str, claim: str, found: float, expected: float, error: float, size: float = inf) -> Invariant:
    """Compare up to an error; an error of the size of the compared number would allow anything."""
    if not (isfinite(found) and isfinite(expected) and isfinite(error)):
        return Invariant(name, claim, "not decided", note="beyond the largest double")
    if error >= size > 0.0:
        return Invariant(name, claim, "not decided", note=f"known too roughly: rounding can do {error:.2g}")
    difference = abs(found - expected)
    note = f"off by {difference:.2g}, rounding can do {error:.2g}"
    return _decided(name, claim, difference <= error, f"{found:.15g}", f"{expected:.15g}", note)


def _equal(name: str, claim: str, found: int | list[int], expected: int | list[int]) -> Invariant:
    return _decided(name, claim, found == expected, _shown(found), _shown(expected))


def _decided(name: str, claim: str, kept: bool, found: str, expected: str, note: str = "") -> Invariant:
    return Invariant(name, claim, "holds" if kept else "violated", found, expected, note)


def _shown(value: int | Sequence[int]) -> str:
    return f"{value:,}" if isinstance(value, int) else ", ".join(f"{entry:,}" for entry in value)
