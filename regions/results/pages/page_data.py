# SPDX-License-Identifier: MIT
"""Which numbers of a partition are in its page?

The vertices as doubles, so that the page can tell in which region a point lies; the corners and facets of each region,
the kink of each facet, and the outputs at the vertices, as single-precision numbers for colours. Outputs are affine in
each region, so these suffice. Patterns would be four times as large as all of this. Neighbours differ in the kink of
their facet (and in few further bits, which are listed), so the page derives each pattern from the pattern of one root
in each connected part.
A whole plane is cut at a window, which is enumerated as a polygon, so the page is exact there too. A line or ray is cut
beyond its last kinks. Pages have one unit of length, a power of two near the size of the domain.
The steps of a training have one domain and the same layers, so they share all that is the same at all steps: the map to
the page, and which outputs are shown, in which unit.
Cost: the maps of the outputs, which take as long as enumerating again, and compression.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from regions import core
from regions.domains import Domain, Polygon
from regions.errors import DomainError, NonFiniteError
from regions.ground.arithmetic.pattern_index import PatternIndex
from regions.ground.arithmetic.types import Floats, Integers
from regions.results.cells.complex import CellComplex
from regions.results.cells.equal_maps import equal_maps
from regions.results.cells.output_maps import outputs_at_vertices, with_outputs_compiled
from regions.results.pages.curve_images import images_of
from regions.results.pages.further_bits import further_bits, further_kinks
from regions.results.pages.sections import Sections, narrowest
from regions.results.pages.window import window

__all__ = [
    "MOST_NUMBERED",
    "MOST_OUTPUTS",
    "PageData",
    "chosen_outputs",
    "lowest_of_connected_parts",
    "page_data",
    "page_frame",
]

MOST_OUTPUTS = 16
# Limits of the lengths on a page: it computes products of two coordinates, which must be doubles.
LEAST, LARGEST = 1e-140, 1e140
# With more regions, numbering their linear regions would take longer than everything else: comparing maps exactly takes
# 20 to 40 microseconds each. The images of more pieces of a line take longer, too.
MOST_NUMBERED = 50_000


class PageData(NamedTuple):
    """What a page knows about partitions.

    Attributes
    ----------
    header : dict
        For JSON; ``steps`` has an item for each partition.
    sections : str
        The packed arrays of each partition, with spaces between partitions.
    """

    header: dict[str, Any]
    sections: str


class _Shown(NamedTuple):
    """The complex that is shown, perhaps in a window, its vertices [V, d], and the outputs there [V, n_out]."""

    cells: CellComplex
    whole: CellComplex
    numbers: Integers | None
    vertices: Floats
    values: Floats


def page_data(steps: Sequence[CellComplex], marks: Floats) -> PageData:
    """Collect what a page needs; ``marks`` are chart points, float64 [m, d], which a window contains.

    Several partitions, of the steps of a training, have one bounded domain and networks with the same layers.

    Raises
    ------
    DomainError
        Numbers beyond those of a page; a part of a whole plane with regions missing.
    ValueError
        A partial result without regions.
    """
    every = [_shown(cells, marks) for cells in steps]
    first = every[0].cells
    frame, centre, unit = page_frame(first.domain, np.concatenate([shown.vertices for shown in every]))
    outputs, factor = chosen_outputs([shown.values for shown in every])
    packed = [_packed(shown, outputs, factor, len(every) == 1) for shown in every]
    header = {
        "dimension": first.dimension,
        "frame": frame.ravel().tolist(),
        "centre": centre.tolist(),
        "unit": unit,
        "ends": first.domain.generators[:, 0].tolist() if first.dimension == 1 else [],
        "view": _first_view(first, marks),
        "outputs": outputs.tolist(),
        "factor": factor,
        "steps": [counts for counts, _ in packed],
    }
    return PageData(header, " ".join(text for _, text in packed))


def _shown(cells: CellComplex, marks: Floats) -> _Shown:
    if not len(cells):
        raise ValueError("this partial result has no regions, so nothing can be shown; enumerate with a higher limit")
    shown, numbers = _bounded(cells, marks)
    vertices = _finite_vertices(shown, marks)
    return _Shown(shown, cells, numbers, vertices, _values(shown, vertices))


def _packed(step: _Shown, outputs: Integers, factor: float, alone: bool) -> tuple[dict[str, Any], str]:
    """Return the counts and the index of a partition, and its packed arrays; images of a line only if it is
    ``alone``.
    """
    shown, cells, numbers, vertices, values = step
    places, bits = further_bits(shown.packed_patterns, shown.facet_regions, shown.facet_kinks)
    also = further_kinks(shown.network.graph, shown.facet_kinks, places, bits)
    roots = lowest_of_connected_parts(shown)
    sections = Sections()
    if shown.dimension == 2:
        sections.add("counts", shown.corner_counts, "i4")
    sections.add("corners", shown.cell_vertices, "i4", new=True)
    sections.add("facets", shown.cell_facets, "i4", new=True)
    sections.add("kinks", shown.facet_kinks, narrowest(shown.facet_kinks))
    sections.add("vertices", vertices.T, "f8")
    sections.add("values", (values[:, outputs] / factor).T, "f4")  # a division by a power of two
    sections.add("extra", np.stack([places, bits], axis=1), "i4")
    sections.add("also", np.stack(also, axis=1), "i4")
    sections.add("roots", roots, "i4")
    sections.add("patterns", shown.packed_patterns[roots], "u1")
    if numbers is not None:
        sections.add("numbers", numbers, "i4")
    if shown.complete and len(shown) <= MOST_NUMBERED:
        sections.add("maps", equal_maps(cells)[np.arange(len(cells)) if numbers is None else numbers], "i4", new=True)
    panels: list[dict[str, Any]] = []
    if shown.dimension == 1 and alone and len(shown) <= MOST_NUMBERED:
        panels, images = images_of(shown.network, shown.domain.to_input(vertices), vertices[:, 0])
        sections.add("images", images, "f4")
    counts = {
        "regions": len(shown),
        "found": len(cells),
        "vertices": len(vertices),
        "facets": len(shown.facet_kinks),
        "complete": cells.complete,
        "panels": panels,
        "index": sections.index,
    }
    return counts, sections.text()


def _bounded(cells: CellComplex, marks: Floats) -> tuple[CellComplex, Integers | None]:
    """Return the complex that is shown, and the index in the partition of each of its regions, or None if these are
    equal.
    """
    domain = cells.domain
    if cells.dimension == 1 or domain.bounded:
        return cells, None
    if not cells.complete:
        raise DomainError("a whole plane with regions missing cannot be shown; enumerate a polygon in it instead")
    low, high = window(cells, marks)
    corners = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
    polygon = Polygon.in_chart(domain.origin, domain.directions, corners)
    graph = cells.network.graph
    model = with_outputs_compiled(graph, len(graph.hidden))
    status: Any
    raw: dict[str, Any]
    status, raw, stats = core.enumerate(model, polygon.compiled, core.Limits(len(cells)), core.WHOLE)
    if isinstance(status, BaseException):
        raise status
    shown = CellComplex(cells.network, polygon, raw | {"stats": stats, "kernel": core.kernel()})
    return shown, PatternIndex(cells.packed_patterns).find(shown.packed_patterns)


def _finite_vertices(cells: CellComplex, marks: Floats) -> Floats:
    """Return the vertices; those at the ends of a line or ray are placed beyond all kinks and marks."""
    finite = np.asarray(np.isfinite(cells.vertices).all(axis=1))
    if cells.dimension == 2 or finite.all():
        if not finite.all():
            raise DomainError("a vertex lies beyond the largest double, so this partition cannot be shown")
        return cells.vertices
    inside = np.concatenate([cells.vertices[finite], marks, *_window_ends(cells, marks)])
    margin = max(float(np.ptp(inside)), 1.0) / 4
    ends = np.where(cells.vertices > 0, inside.max() + margin, inside.min() - margin)
    return np.where(finite[:, np.newaxis], cells.vertices, ends)


def _window_ends(cells: CellComplex, marks: Floats) -> list[Floats]:
    """Return the two ends of the window of a line or ray, each float64 [1, 1]; nothing for a segment."""
    return [] if cells.domain.bounded else [end[np.newaxis] for end in window(cells, marks)]


def _first_view(cells: CellComplex, marks: Floats) -> list[float]:
    """Return the chart coordinates between which a line is shown at first; nothing for other domains."""
    return [float(end[0, 0]) for end in _window_ends(cells, marks)] if cells.dimension == 1 else []


def page_frame(domain: Domain, vertices: Floats) -> tuple[Floats, Floats, float]:
    """Return the map from the chart to the page: ``(p - centre) @ frame``, in units of length of the page.

    With as many inputs as dimensions the page has the directions of the inputs.
    """
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    size = high - low
    if max(np.abs(low).max(), np.abs(high).max()) > LARGEST or size.min() < LEAST:
        raise DomainError(
            f"chart coordinates from {low.tolist()} to {high.tolist()} cannot be shown: a page takes numbers below "
            f"{LARGEST:g} and widths above {LEAST:g}; scale the network's inputs"
        )
    if domain.n_in == domain.dimension:
        frame = domain.directions
    else:
        factor, exponents = domain.length_factor
        with np.errstate(over="ignore", under="ignore"):
            frame = np.ldexp(np.asarray(factor).T, exponents[:, np.newaxis])
    lengths = np.hypot.reduce(frame, axis=1) * size  # the squares of a norm could underflow
    if not LEAST < lengths.min() <= lengths.max() < LARGEST:
        sizes = " by ".join(f"{length:.6g}" for length in lengths)
        raise DomainError(
            f"a domain of the size {sizes} in input space cannot be shown: a page takes lengths from {LEAST:g} to "
            f"{LARGEST:g}; scale the network's inputs"
        )
    unit = 2.0 ** float(np.ceil(np.log2(lengths.max())))
    return frame / unit, low / 2 + high / 2, unit


def _values(cells: CellComplex, vertices: Floats) -> Floats:
    """Return the outputs at the vertices, float64 [V, n_out]."""
    if vertices is cells.vertices:
        values = outputs_at_vertices(cells)
    else:
        values = np.asarray(cells.network(cells.domain.to_input(vertices)), dtype=np.float64)
    if not np.isfinite(values).all():
        raise NonFiniteError("an output at a vertex is beyond the largest double, so the outputs cannot be shown")
    return values


def chosen_outputs(every: Sequence[Floats]) -> tuple[Integers, float]:
    """Return which outputs are shown, and a power of two by which they are divided.

    If there are more than `MOST_OUTPUTS`, those that are the largest at most vertices are shown.
    """
    count = every[0].shape[1]
    wins = sum(np.bincount(values.argmax(axis=1), minlength=count) for values in every)
    outputs = np.sort(np.argsort(-np.asarray(wins), kind="stable")[:MOST_OUTPUTS])
    _, exponent = np.frexp(max(float(np.abs(values[:, outputs]).max(initial=0.0)) for values in every))
    return outputs, float(np.ldexp(1.0, min(int(exponent), 1023)))  # 2 ** 1024 overflows


def lowest_of_connected_parts(cells: CellComplex) -> Integers:
    """Return the lowest region of each connected part, int64 [parts]; a partial result may have several."""
    if cells.complete:  # a convex domain is connected
        return np.zeros(1, dtype=np.int64)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second = cells.facet_regions[cells.facet_regions[:, 1] >= 0].T
    graph = coo_array((np.ones(len(first), dtype=bool), (first, second)), shape=(len(cells), len(cells)))
    _, labels = connected_components(graph, directed=False)
    return np.unique(labels, return_index=True)[1].astype(np.int64)
