# SPDX-License-Identifier: MIT
"""How does a notebook show a partition?

As a small table and, if the picture is small enough, a drawing of the regions as SVG: light colours by pattern,
no script, no external resources. Above `MOST_POLYGONS` regions a sentence points to `regions.plot`.
"""

from __future__ import annotations

import numpy as np

from regions.domains.shape import SHAPES
from regions.ground.arithmetic.types import Floats
from regions.ground.text.tables import facts_table
from regions.results.cells.complex import CellComplex
from regions.results.cells.sizes import volumes
from regions.results.pages.colors import region_colors

__all__ = ["partition_html"]

MOST_POLYGONS = 2000
# Size of the drawing, in pixels.
SIZE, STRIP = 240, 24


def partition_html(cells: CellComplex) -> str:
    """Return the table and thumbnail of a partition, as HTML."""
    shape = SHAPES[cells.dimension]
    exact = sum(value for name, value in cells.stats.items() if "exact" in name)
    facets = int((cells.facet_kinks >= 0).sum())
    rows = [
        ("regions", f"{len(cells):,}" + ("" if cells.complete else " (partial)")),
        (f"{shape.facets} between them", f"{facets:,}"),
        ("network", repr(cells.network)),
        ("domain", repr(cells.domain)),
        (f"smallest {shape.size}", f"{volumes(cells).min(initial=np.inf):.6g}"),
        (f"largest {shape.size}", f"{volumes(cells).max(initial=0):.6g}"),
        ("signs settled exactly", f"{exact:,}"),
    ]
    table = facts_table(repr(cells), rows)
    return f"<div style='display:flex;gap:1em;align-items:center'>{table}{_drawing(cells)}</div>"


def _drawing(cells: CellComplex) -> str:
    if len(cells) > MOST_POLYGONS:
        return f"<p>More than {MOST_POLYGONS:,} regions: draw them with regions.plot(partition)</p>"
    finite = cells.vertices[np.isfinite(cells.vertices).all(axis=1)]
    if len(finite) == 0 or (cells.dimension == 2 and not cells.domain.bounded):
        return "<p>Unbounded regions: nothing to draw</p>"
    colors = [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in np.rint(255 * region_colors(cells)).astype(int)]
    if cells.dimension == 1:
        return _strip(cells, finite[:, 0], colors)
    places = _in_proportion(cells)
    low, high = places.min(axis=0), places.max(axis=0)
    factor = SIZE / (high - low).max()
    width, height = ((high - low) * factor).tolist()
    points = [f"{x:.1f},{height - y:.1f}" for x, y in ((places - low) * factor).tolist()]
    corners = cells.cell_vertices.tolist()
    offsets = cells.cell_offsets.tolist()
    polygons = "".join(
        f"<polygon fill='{color}' points='{' '.join(points[v] for v in corners[start:stop])}'/>"
        for color, start, stop in zip(colors, offsets, offsets[1:], strict=False)
    )
    return _svg(width, height, polygons)


def _in_proportion(cells: CellComplex) -> Floats:
    """Return the vertices float64 [V, 2], scaled to about size one, with axes in their true proportion.

    The two directions of a chart can differ in length. The scale is a power of two, so that nothing overflows.
    """
    directions, exponents = cells.domain.split_directions
    _, sizes = np.frexp(np.abs(cells.vertices).max(axis=0))
    exponents = exponents + sizes
    places = np.ldexp(cells.vertices, -sizes) * np.linalg.norm(directions, axis=1)
    return np.ldexp(places, exponents - exponents.max())


def _strip(cells: CellComplex, finite: Floats, colors: list[str]) -> str:
    """Return intervals side by side; an unbounded one gets a tenth of the width."""
    _, exponent = np.frexp(np.abs(finite).max())
    finite, vertices = np.ldexp(finite, -exponent), np.ldexp(cells.vertices[:, 0], -exponent)
    low, high = float(finite.min()), float(finite.max())
    margin = 0.0 if cells.domain.bounded else (high - low or 1.0) / 10
    low, high = low - margin, high + margin
    ends = np.clip(vertices[cells.cell_vertices].reshape(-1, 2), low, high)
    places = (ends - low) * (SIZE / (high - low))
    bars = "".join(
        f"<rect fill='{color}' x='{left:.1f}' y='0' width='{right - left:.1f}' height='{STRIP}'/>"
        for color, (left, right) in zip(colors, places.tolist(), strict=True)
    )
    return _svg(SIZE, STRIP, bars)


def _svg(width: float, height: float, shapes: str) -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
        f"viewBox='-1 -1 {width + 2:.1f} {height + 2:.1f}' stroke='#666' stroke-width='0.4' role='img'>"
        f"{shapes}</svg>"
    )
