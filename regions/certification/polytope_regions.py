# SPDX-License-Identifier: MIT
"""Is each region of a box the set that its inequalities describe, given the signs of all kinks at its vertices?

If the signs at all vertices of a region are known (`vertex_signs.py`), the conditions are:

- its pattern differs from the signs at each vertex only in kinks that are zero there; at a maximum, its argmax is one
  of the ties. So all its inequalities hold at its vertices;
- each of its facets names a kink that its pattern decides, which is zero exactly at the vertices of the facet;
- no kink that is 1 in the pattern, and no inequality of the domain, is zero at all its vertices;
- its boundary is closed (`closed_cells.py`).

No two vertices of a complete result have the same signs.
Invariant: only bits are compared.
Cost: a few operations for each corner and byte of signs.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Bits, Indices, Packed
from regions.certification.certification_report import Findings
from regions.certification.closed_cells import closed_regions
from regions.certification.vertex_signs import VertexSigns, packed
from regions.networks.maxima import Maxima

__all__ = ["check_regions"]

# Bytes that are compared at a time.
CHUNK = 1 << 24
ONES = np.array([int(byte).bit_count() for byte in range(256)], dtype=np.int64)


def check_regions(signs: VertexSigns, findings: Findings) -> Bits:
    """Check the regions all of whose vertices are known, and return which these are, bool [R]."""
    part = signs.part
    seen = np.logical_and.reduceat(signs.known[part.cell_vertices], part.cell_offsets[:-1])
    closed = closed_regions(part)
    for region in np.flatnonzero(seen & ~closed).tolist():
        findings.wrong("cells", f"the facets of region {region} do not close it")
    if part.complete:
        _check_different(signs, findings)
    patterns, start = signs.patterns(), 0
    while start < len(part):
        end = part.cell_offsets[start] + CHUNK // signs.above.shape[1]
        stop = max(start + 1, int(np.searchsorted(part.cell_offsets, end, side="right")) - 1)
        _check_some(signs, patterns, start, stop, seen, findings)
        start = stop
    return np.asarray(seen)


def _check_different(signs: VertexSigns, findings: Findings) -> None:
    rows = np.ascontiguousarray(np.hstack([signs.above, signs.zero])[signs.known])
    numbers = np.flatnonzero(signs.known)
    _, first, index = np.unique(rows.view(f"V{rows.shape[1]}").ravel(), return_index=True, return_inverse=True)
    for place in np.flatnonzero(first[index] != np.arange(len(rows))).tolist():
        one, other = sorted((numbers[first[index[place]]], numbers[place]))
        findings.wrong("vertices", f"vertices {one} and {other} are the same point")


def _check_some(signs: VertexSigns, patterns: Packed, start: int, stop: int, seen: Bits, findings: Findings) -> None:
    """Check the regions from start to stop."""
    part, kinks = signs.part, signs.network.kinks
    offsets = part.cell_offsets[start : stop + 1] - part.cell_offsets[start]
    corners = part.cell_vertices[part.cell_offsets[start] : part.cell_offsets[stop]]
    owners = np.repeat(np.arange(start, stop), np.diff(offsets))
    zero = signs.zero[corners]
    of_maxima = np.zeros(signs.every, dtype=bool)
    for node in signs.network.graph.hidden:
        of_maxima[node.kinks] = isinstance(node.units, Maxima)
    wrong = (patterns[owners] ^ signs.above[corners]) & ~zero & ~packed(of_maxima[np.newaxis])
    fits = ~wrong.any(axis=1)
    for node in signs.network.graph.hidden:
        if isinstance(node.units, Maxima):
            fits &= _among_ties(signs, node.units, node.kinks, owners, corners)
    for corner in np.flatnonzero(~fits & seen[owners]).tolist():
        region, vertex = owners[corner], corners[corner]
        if wrong[corner].any():
            kink = int(np.unpackbits(wrong[corner], bitorder="little").argmax())
            state = "on" if patterns[region, kink >> 3] >> (kink & 7) & 1 else "off"
            what = f"kink {kink}, {state} in region {region}, is not so at vertex {vertex}"
            if kink >= kinks:
                what = f"vertex {vertex} of region {region} is outside of the domain"
        else:
            what = f"at vertex {vertex} of region {region} another branch of a maximum is larger"
        findings.wrong("inequalities", what)
    everywhere = np.bitwise_and.reduceat(zero, offsets[:-1]) & patterns[start:stop]
    for number in np.flatnonzero(everywhere.any(axis=1) & seen[start:stop]).tolist():
        kink = int(np.unpackbits(everywhere[number], bitorder="little").argmax())
        what = f"region {start + number} is flat"
        if kink < kinks:
            what = f"kink {kink}, on in region {start + number}, is zero there"
        findings.wrong("patterns", what)
    _check_facets(signs, start, stop, seen, findings)


def _among_ties(signs: VertexSigns, units: Maxima, here: slice, owners: Indices, corners: Indices) -> Bits:
    """Return whether the argmaxes of regions are among the ties at their corners, bool [corners]."""
    mine = units.pieces_of(_bits(signs.part.packed_patterns[owners], here))
    zero, above = (_bits(rows[corners], here).view(np.bool_) for rows in (signs.zero, signs.above))
    # The argmax is among the ties if a pair with it is zero, or if it is the only tie, which has the same bits.
    tied = zero & units.binding(mine)
    differs = above != units.bits_of(mine)
    result = np.ones(len(owners), dtype=bool)
    for unit in np.unique(units.kink_units).tolist():
        kinks = units.kink_units == unit
        alone = ~zero[:, kinks].any(axis=1) & ~differs[:, kinks].any(axis=1)
        result &= tied[:, kinks].any(axis=1) | alone
    return result


def _check_facets(signs: VertexSigns, start: int, stop: int, seen: Bits, findings: Findings) -> None:
    """Check that the kink of each facet is decided by the pattern, and zero at the facet's vertices and no others."""
    part = signs.part
    facets = part.cell_facets[part.cell_facet_offsets[start] : part.cell_facet_offsets[stop]]
    owners = np.repeat(np.arange(start, stop), np.diff(part.cell_facet_offsets[start : stop + 1]))
    columns = signs.columns(facets)
    for node in signs.network.graph.hidden:
        if isinstance(node.units, Maxima):
            (inside,) = np.nonzero((node.kinks.start <= columns) & (columns < node.kinks.stop))
            pieces = node.units.pieces_of(_bits(part.packed_patterns[owners[inside]], node.kinks))
            decided = node.units.binding(pieces)[np.arange(len(inside)), columns[inside] - node.kinks.start]
            for side in inside[~decided & seen[owners[inside]]].tolist():
                what = f"facet {facets[side]} of region {owners[side]} names a kink that its pattern does not decide"
                findings.wrong("vertices", what)
    sizes = np.diff(part.facet_offsets)[facets]
    sides = np.repeat(np.arange(len(facets)), sizes)
    ends = part.facet_vertices[
        np.arange(len(sides)) + np.repeat(part.facet_offsets[facets] - np.cumsum(sizes) + sizes, sizes)
    ]
    on = _is_zero(signs, ends, columns[sides])
    for place in np.flatnonzero(~on & seen[owners[sides]]).tolist():
        what = f"vertex {ends[place]} is not on facet {facets[sides[place]]} of region {owners[sides[place]]}"
        findings.wrong("vertices", what)
    # If regions have as many zero kinks as vertices of facets, with different names, no kink of a facet is zero
    # elsewhere.
    offsets = part.cell_offsets[start : stop + 1] - part.cell_offsets[start]
    corners = part.cell_vertices[part.cell_offsets[start] : part.cell_offsets[stop]]
    zeros = np.add.reduceat(ONES[signs.zero[corners]].sum(axis=1), offsets[:-1])
    unsure = zeros != np.bincount(owners[sides] - start, minlength=stop - start)
    names, times = np.unique(owners * signs.every + columns, return_counts=True)
    unsure[names[times > 1] // signs.every - start] = True
    for number in np.flatnonzero(unsure & seen[start:stop]).tolist():
        here = corners[offsets[number] : offsets[number + 1]]
        first, last = np.searchsorted(owners, [start + number, start + number + 1])
        for side in range(int(first), int(last)):
            touching = here[_is_zero(signs, here, np.full(len(here), columns[side]))]
            if len(touching) > sizes[side]:
                other = np.setdiff1d(touching, ends[sides == side])[0]
                what = (
                    f"facet {facets[side]} of region {start + number} goes on to vertex {other}, which it does not list"
                )
                findings.wrong("cells", what)


def _is_zero(signs: VertexSigns, vertices: Indices, columns: Indices) -> Bits:
    """Return whether kinks, with the domain's inequalities after them, are zero at vertices: bool [n] from two [n]."""
    return np.asarray(signs.zero[vertices, columns >> 3] >> (columns & 7).astype(np.uint8) & 1 > 0)


def _bits(rows: Packed, here: slice) -> Packed:
    """The bits of some kinks, [n, kinks], from packed rows."""
    start = here.start >> 3
    bits = np.unpackbits(rows[:, start : (here.stop + 7) >> 3], axis=1, bitorder="little")
    return bits[:, here.start - 8 * start : here.stop - 8 * start]
