# SPDX-License-Identifier: MIT
"""How is a partition converted for shapely, networkx and scipy?

It is converted in bulk, without computing a coordinate: every ring is built from the shared vertices, so
polygons that share an edge have bit-equal corners there and form a coverage.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from regions.domains.abilities import SHAPELY_GEOMETRIES, require
from regions.domains.shape import SHAPES
from regions.errors import MissingDependencyError
from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.types import Floats, Integers, Objects
from regions.results.cells import sizes
from regions.results.cells.complex import CellComplex, cached

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["adjacency", "outlines", "planar_vertices", "to_networkx", "to_shapely"]


def outlines(cells: CellComplex) -> tuple[Integers, list[Integers]]:
    """Return the vertices along the outline of each region, int64 [k], and offsets, as shapely takes them.

    The outline of a polygon ends with its first vertex; its region has one ring.
    """
    if not SHAPES[cells.dimension].closed:
        return cells.cell_vertices, [cells.cell_offsets]
    count = np.arange(len(cells) + 1)
    offsets = cells.cell_offsets + count
    last = np.zeros(offsets[-1], dtype=bool)
    last[offsets[1:] - 1] = True
    rings = np.empty(offsets[-1], dtype=np.int64)
    rings[~last] = cells.cell_vertices
    rings[last] = cells.cell_vertices[cells.cell_offsets[:-1]]
    return rings, [offsets, count]


def planar_vertices(cells: CellComplex) -> Floats:
    """Return the vertices in the chart, float64 [V, 2]; those of a line are on the first axis."""
    return np.column_stack([cells.vertices, np.zeros(len(cells.vertices))])[:, :2]


def to_shapely(cells: CellComplex) -> Objects:
    """Return the regions as shapely geometries; see `Partition.to_shapely`."""
    import shapely

    require(SHAPELY_GEOMETRIES, cells.domain)
    vertices, offsets = outlines(cells)
    kind = shapely.GeometryType[SHAPES[cells.dimension].geometry.upper()]
    return shapely.from_ragged_array(kind, planar_vertices(cells)[vertices], tuple(offsets))


@cached
def adjacency(cells: CellComplex) -> csr_array:
    """Return which regions share a facet: a symmetric scipy.sparse csr_array of bool [R, R], read-only.

    Its indices are int32 if they fit, because some of scipy's graph functions do not accept int64.
    """
    from scipy.sparse import csr_array

    inside = cells.neighbors >= 0
    counts = np.add.accumulate(inside)
    starts = np.concatenate([[0], counts])[cells.cell_facet_offsets]
    columns = cells.neighbors[inside]
    kind = np.int32 if max(len(columns), len(cells)) <= np.iinfo(np.int32).max else np.int64
    parts = (np.ones(len(columns), dtype=bool), columns.astype(kind), starts.astype(kind))
    result = csr_array(parts, shape=(len(cells), len(cells)))
    read_only(result.data), read_only(result.indices), read_only(result.indptr)
    return result


def to_networkx(cells: CellComplex) -> Any:
    """Return the regions as a graph; see `Partition.to_networkx`."""
    try:
        import networkx
    except ImportError:
        raise MissingDependencyError("networkx", "networkx", "for to_networkx()") from None
    graph = networkx.Graph()
    # Each number of a region or a kink is one object, shared by all its uses.
    numbers, every_kink = list(range(len(cells))), list(range(cells.network.kinks))
    points = map(tuple, sizes.interior_points(cells).tolist())
    inner = np.flatnonzero(cells.facet_regions[:, 1] >= 0)
    one, other = (map(numbers.__getitem__, column) for column in cells.facet_regions[inner].T.tolist())
    kinks = map(every_kink.__getitem__, cells.facet_kinks[inner].tolist())
    layers, lengths = (column[inner].tolist() for column in (cells.facet_layers, sizes.facet_volumes(cells)))
    with _no_collection():
        graph.add_nodes_from(
            (number, {"volume": volume, "interior_point": point})
            for number, volume, point in zip(numbers, sizes.volumes(cells).tolist(), points, strict=True)
        )
        graph.add_edges_from(
            (first, second, {"facet": facet, "kink": kink, "layer": layer, "volume": length})
            for first, second, facet, kink, layer, length in zip(
                one, other, inner.tolist(), kinks, layers, lengths, strict=True
            )
        )
    return graph


@contextmanager
def _no_collection() -> Iterator[None]:
    """Suspend garbage collection: while millions of permanent dicts are made, it takes most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
