# SPDX-License-Identifier: MIT
"""Which numbers of a partition of three dimensions are in its page?

The page cuts the regions by a plane that the reader moves: each facet is a polygon, which the plane cuts in a segment.
So the page has the vertices, the facets of each region, and the outline of each facet, with the kinks, outputs and
patterns as for a plane (`page_data.py`). Planes are along two directions of the chart, and the map from the chart to
the page is given for each pair.
Cost: as for a plane.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regions.domains import Domain
from regions.domains.abilities import PAGES, require
from regions.domains.plane_sections import plane_section
from regions.errors import NonFiniteError
from regions.ground.arithmetic.types import Floats
from regions.results.cells.complex import CellComplex
from regions.results.cells.equal_maps import equal_maps
from regions.results.cells.output_maps import outputs_at_vertices
from regions.results.cells.polytope_sizes import volumes
from regions.results.pages.further_bits import further_bits, further_kinks
from regions.results.pages.page_data import (
    MOST_NUMBERED,
    PageData,
    chosen_outputs,
    lowest_of_connected_parts,
    page_frame,
)
from regions.results.pages.sections import Sections, narrowest

__all__ = ["solid_data"]


def solid_data(cells: CellComplex) -> PageData:
    """Collect what a page needs.

    Raises
    ------
    DomainError
        The partition has more than three dimensions; numbers beyond those of a page.
    NonFiniteError
        An output beyond the largest double.
    ValueError
        A partial result without regions.
    """
    domain = cells.domain
    require(PAGES, domain)
    if not len(cells):
        raise ValueError("this partial result has no regions, so nothing can be shown; enumerate with a higher limit")
    values = outputs_at_vertices(cells)
    if not np.isfinite(values).all():
        raise NonFiniteError("an output at a vertex is beyond the largest double, so the outputs cannot be shown")
    outputs, factor = chosen_outputs([values])
    sections = _packed(cells, values[:, outputs] / factor)  # a division by a power of two
    planes = [_plane(domain, cells.vertices, axis) for axis in range(3)]
    counts = {
        "regions": len(cells),
        "found": len(cells),
        "vertices": len(cells.vertices),
        "facets": len(cells.facet_kinks),
        "complete": cells.complete,
        "panels": [],
        "index": sections.index,
    }
    header = {
        "dimension": 3,
        **planes[-1],
        "planes": planes,
        "ends": [],
        "view": [],
        "outputs": outputs.tolist(),
        "factor": factor,
        "steps": [counts],
    }
    return PageData(header, sections.text())


def _packed(cells: CellComplex, values: Floats) -> Sections:
    places, bits = further_bits(cells.packed_patterns, cells.facet_regions, cells.facet_kinks)
    also = further_kinks(cells.network.graph, cells.facet_kinks, places, bits)
    roots = lowest_of_connected_parts(cells)
    sections = Sections()
    counts, around = np.diff(cells.cell_facet_offsets), np.diff(cells.facet_offsets)
    sections.add("counts", counts, narrowest(counts))
    sections.add("facets", cells.cell_facets, "i4", new=True)
    sections.add("around", around, narrowest(around))
    sections.add("outlines", cells.facet_vertices, "i4", new=True)
    sections.add("kinks", cells.facet_kinks, narrowest(cells.facet_kinks))
    sections.add("vertices", cells.vertices.T, "f8")
    sections.add("values", values.T, "f4")
    sections.add("volumes", volumes(cells), "f4")
    sections.add("extra", np.stack([places, bits], axis=1), "i4")
    sections.add("also", np.stack(also, axis=1), "i4")
    sections.add("roots", roots, "i4")
    sections.add("patterns", cells.packed_patterns[roots], "u1")
    if cells.complete and len(cells) <= MOST_NUMBERED:
        sections.add("maps", equal_maps(cells), "i4", new=True)
    return sections


def _plane(domain: Domain, vertices: Floats, axis: int) -> dict[str, Any]:
    """Return the map from the chart to the page, for planes in which this coordinate is constant."""
    axes = [k for k in range(3) if k != axis]
    frame, centre, unit = page_frame(plane_section(domain, axes=(axes[0], axes[1])), vertices[:, axes])
    inputs = np.flatnonzero(domain.directions[axis])
    alone = len(inputs) == 1 and not np.delete(domain.directions, axis, axis=0)[:, inputs[0]].any()
    return {
        "name": f"x{inputs[0]}" if alone else f"p{axis}",
        "frame": frame.ravel().tolist(),
        "centre": centre.tolist(),
        "unit": unit,
    }
