# SPDX-License-Identifier: MIT
"""How does a partition look to shapely and networkx?

Conversions in bulk, without recomputing a coordinate: every ring is built from the shared vertices, so
polygons that share an edge have bit-equal corners there and form a coverage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regions.arithmetic.types import Floats, Integers, Objects
from regions.errors import DomainError, MissingDependencyError

if TYPE_CHECKING:
    from regions.partition import Partition

__all__ = ["closed_rings", "require_bounded", "to_networkx", "to_shapely"]


def closed_rings(partition: Partition) -> tuple[Integers, Integers]:
    """Vertices of each region, the first one again at the end: int64 [K + R]; and offsets int64 [R + 1]."""
    offsets = partition.cell_offsets + np.arange(len(partition) + 1)
    last = np.zeros(offsets[-1], dtype=bool)
    last[offsets[1:] - 1] = True
    rings = np.empty(offsets[-1], dtype=np.int64)
    rings[~last] = partition.cell_vertices
    rings[last] = partition.cell_vertices[partition.cell_offsets[:-1]]
    return rings, offsets


def to_shapely(partition: Partition) -> Objects:
    """Regions as shapely geometries; see `Partition.to_shapely`."""
    import shapely

    require_bounded(partition)
    if partition.dimension == 2:
        return _polygons(partition, partition.vertices)
    flat = partition.vertices[partition.cell_vertices, 0]
    coordinates = np.stack([flat, np.zeros_like(flat)], axis=1)
    result: Objects = shapely.from_ragged_array(shapely.GeometryType.LINESTRING, coordinates, (partition.cell_offsets,))
    return result


def _polygons(partition: Partition, vertices: Floats) -> Objects:
    """One polygon for each region, with these vertices."""
    import shapely

    rings, offsets = closed_rings(partition)
    result: Objects = shapely.from_ragged_array(
        shapely.GeometryType.POLYGON, vertices[rings], (offsets, np.arange(len(partition) + 1))
    )
    return result


def require_bounded(partition: Partition) -> None:
    if not partition.domain.bounded:
        raise DomainError("an unbounded domain has no shapely geometries; enumerate a segment or polygon of it instead")


def to_networkx(partition: Partition) -> Any:
    """Regions as a graph; see `Partition.to_networkx`."""
    try:
        import networkx
    except ImportError:
        raise MissingDependencyError("networkx", "networkx", "for to_networkx()") from None
    graph = networkx.Graph()
    points = map(tuple, partition.interior_points.tolist())
    graph.add_nodes_from(
        (index, {"volume": volume, "interior_point": point})
        for index, (volume, point) in enumerate(zip(partition.volumes.tolist(), points, strict=True))
    )
    inner = np.flatnonzero(partition.facet_regions[:, 1] >= 0)
    columns = (partition.facet_kinks, partition.facet_layers, partition.facet_volumes)
    kinks, layers, volumes = (column[inner].tolist() for column in columns)
    graph.add_edges_from(
        (first, second, {"facet": facet, "kink": kink, "layer": layer, "volume": volume})
        for (first, second), facet, kink, layer, volume in zip(
            partition.facet_regions[inner].tolist(), inner.tolist(), kinks, layers, volumes, strict=True
        )
    )
    return graph
