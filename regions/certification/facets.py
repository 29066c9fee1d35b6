# SPDX-License-Identifier: MIT
"""What changes across a facet, and do the boundary facets cover the domain boundary?

The patterns on both sides of a facet may differ only in kinks that are zero along it, as seen from either side, and
they must differ in the kink that it names. In the first layer in which they differ both sides have the same forms, so
every kink of this layer that is zero along the facet, but not on all of the region, changes sign and must flip. When
the argmax of a maximum changes, the kink of the two branches flips; it must flip if another branch equals the argmax
along the facet.
Cost: a few operations on sets of kinks per facet.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from regions.arithmetic.types import Bits, Indices
from regions.certification.certification_report import Findings
from regions.certification.corners import bits_of
from regions.certification.proven_regions import Proven
from regions.certification.region_inequalities import Cells
from regions.networks.maxima import Maxima
from regions.networks.network import Network
from regions.partition import Partition
from regions.partition.polytopes import PolytopePartition

__all__ = ["check_border", "check_names", "check_neighbours", "named_flip"]

# Numbers in a block of patterns of maxima.
CHUNK = 1 << 20


class Use(NamedTuple):
    """A facet as seen from one of its regions."""

    region: int
    corner: int  # of this region, counted from its first corner


def check_neighbours(cells: Cells, proven: Proven | None, findings: Findings) -> None:
    """Check the patterns across the facets between two checked regions, and the names of facets of regions that values
    prove.
    """
    partition, layers = cells.partition, cells.network.kink_layers
    of_layer = [_as_set((layers == layer).tobytes()) for layer in range(len(cells.network.widths))]
    same_layer = [of_layer[layer] for layer in layers.tolist()]
    kinks = partition.facet_kinks.tolist()
    seen = [(facet, uses) for facet, uses in _uses(cells).items() if len(uses) == 2]
    for facet, uses in seen:
        (side, here), (other_side, there) = ((cells.cells[use.region], use) for use in uses)
        patterns = cells.pattern(here.region), cells.pattern(there.region)
        flip, explained = map(_of_numbers, cells.forms.switched(*patterns))
        zero, binding = side.zero_on[here.corner], _as_set(cells.forms.binding(patterns[0]))
        not_zero = flip & ~(zero & other_side.zero_on[there.corner])
        if not flip >> kinks[facet] & 1:
            fault = f"kink {kinks[facet]}, which it names, does not flip"
        elif not_zero:
            fault = f"kink {_lowest(not_zero)} flips, but is not zero on it"
        elif missing := zero & binding & ~side.zero & ~explained & same_layer[_lowest(flip)]:
            fault = f"kink {_lowest(missing)} changes sign, but does not flip"
        else:
            continue
        findings.wrong("neighbours", f"across facet {facet} of regions {here.region} and {there.region}, {fault}")
    compared = np.zeros(len(partition.facet_kinks), dtype=bool)
    compared[[facet for facet, _ in seen]] = True
    check_names(partition, cells.network, proven, compared, findings)


def check_names(
    partition: Partition, network: Network, proven: Proven | None, compared: Bits, findings: Findings
) -> None:
    """Check that the named kink flips across the facets of proven regions that have not been ``compared``.

    `proven_regions.py` has checked everything else about these facets.
    """
    inner = np.flatnonzero(partition.facet_regions[:, 1] >= 0)
    known = compared[inner]
    if proven is not None:
        left = inner[~known & proven.regions[partition.facet_regions[inner]].any(axis=1)]
        for facet in left[~named_flip(partition, network, left)].tolist():
            here, there = partition.facet_regions[facet].tolist()
            fault = f"kink {partition.facet_kinks[facet]}, which it names, does not flip"
            findings.wrong("neighbours", f"across facet {facet} of regions {here} and {there}, {fault}")
        known |= proven.regions[partition.facet_regions[inner]].any(axis=1)
    findings.checked("neighbours", int(known.sum()), len(inner), "facets")


def named_flip(partition: Partition | PolytopePartition, network: Network, facets: Indices) -> Bits:
    """Whether the kink that each of some inner facets names flips there; for a maximum, whether the two branches that
    the kink compares are the argmaxes.
    """
    kinks = partition.facet_kinks[facets]
    here, there = partition.packed_patterns[partition.facet_regions[facets].T]
    places = np.arange(len(facets)), kinks >> 3
    result = ((here[places] ^ there[places]) >> (kinks & 7).astype(np.uint8)) & 1 > 0
    for node in network.graph.hidden:
        if isinstance(node.units, Maxima):
            (inside,) = np.nonzero((node.kinks.start <= kinks) & (kinks < node.kinks.stop))
            step = max(1, CHUNK // node.units.rows)
            for some in (inside[start : start + step] for start in range(0, len(inside), step)):
                units = node.units.kink_units[kinks[some] - node.kinks.start]
                pairs = node.units.kink_rows[kinks[some] - node.kinks.start] - node.units.starts[units][:, np.newaxis]
                argmaxes = [
                    node.units.pieces_of(bits_of(side[some], node.kinks))[np.arange(len(some)), units]
                    for side in (here, there)
                ]
                result[some] = (np.sort(np.stack(argmaxes, axis=1)) == np.sort(pairs)).all(axis=1)
    return np.asarray(result)


def check_border(partition: Partition, findings: Findings) -> None:
    """Check that the facets on each edge of the domain are a path from one end of it to the other; on a line, that each
    end has one facet.

    The end of an edge is the vertex that it shares with the next edge; other checks prove its position.
    """
    count = len(partition.domain.generators)
    ends = [partition.facet_vertices[partition.facet_kinks == -1 - edge].tolist() for edge in range(count)]
    for edge, links in enumerate(ends):
        if partition.dimension == 1:
            covered = len(links) == 1
        else:
            start, end = _common(ends[edge - 1], links), _common(links, ends[(edge + 1) % count])
            covered = start is not None and end is not None and _is_chain(links, start, end)
        if not covered:
            findings.wrong("border", f"edge {edge} of the domain is not covered by its {len(links)} facets, each once")
    findings.checked("border", count, count, "edges")


def _common(links: list[list[int]], others: list[list[int]]) -> int | None:
    """Return the only vertex that links of two edges share."""
    shared = {vertex for link in links for vertex in link} & {vertex for link in others for vertex in link}
    return shared.pop() if len(shared) == 1 else None


def _is_chain(links: list[list[int]], start: int, end: int) -> bool:
    """Return whether the links, each from one vertex to another, form a path from start to end that uses each once."""
    following = {link[0]: link[1] for link in links}
    here, used = start, 0
    while here in following and used <= len(links):
        here, used = following[here], used + 1
    return here == end and used == len(links)


def _uses(cells: Cells) -> dict[int, list[Use]]:
    """Return for each facet the checked regions that use it."""
    partition = cells.partition
    uses: dict[int, list[Use]] = defaultdict(list)
    for region in cells.cells:
        facets = partition.cell_facets[partition.cell_offsets[region] : partition.cell_offsets[region + 1]]
        for corner, facet in enumerate(facets.tolist()):
            uses[facet].append(Use(region, corner))
    return uses


def _as_set(pattern: bytes) -> int:
    """Return a pattern as an integer with bit k for kink k."""
    return int.from_bytes(np.packbits(np.frombuffer(pattern, dtype=np.uint8), bitorder="little").tobytes(), "little")


def _of_numbers(kinks: set[int]) -> int:
    """Return kinks as an integer with bit k for kink k."""
    return sum(1 << kink for kink in kinks)


def _lowest(kinks: int) -> int:
    """Return the first kink of a non-empty set."""
    return (kinks & -kinks).bit_length() - 1
