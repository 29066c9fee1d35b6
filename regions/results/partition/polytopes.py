# SPDX-License-Identifier: MIT
"""What does an enumeration return in three to six dimensions?

A `PolytopePartition` has every region as flat read-only arrays, as a `regions.Partition` does, with the same names. A
region and a facet have any number of vertices here. The regions, their patterns, vertices, facets and neighbours are
exact: the core recognises a face from all regions around it by its sign vector, and compares no coordinates
(`csrc/collect/face_records.hpp`). Coordinates are float64, each vertex with a proven bound on its error.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

from regions.domains.abilities import MOST_DIMENSIONS, SOLID_PARTITIONS, Ability
from regions.results.cells.face_counts import face_counts
from regions.results.partition import Partition

__all__ = ["PARTITIONS", "PolytopePartition"]


class PolytopePartition(Partition):
    """Every activation region of a network in a bounded domain of three to six dimensions.

    Returned by `regions.enumerate` for a `Box` or another bounded `Polytope`. Immutable, with read-only arrays. Two
    partitions are equal if network, domain, all arrays (bit for bit, in the same order) and ``complete`` are equal.
    R regions, V vertices, F facets.

    Attributes
    ----------
    network : Network
    domain : Domain
    vertices : float64 [V, d]
        Chart coordinates, one row per geometric vertex, shared by all regions around it.
    vertex_errors : float64 [V]
        Proven bound on the distance (largest coordinate) between the stored and the true vertex.
    cell_offsets : int64 [R + 1]
        Region r has the vertices ``cell_vertices[cell_offsets[r]:cell_offsets[r + 1]]``.
    cell_vertices : int64 [..]
        In no order.
    cell_facet_offsets : int64 [R + 1]
        Region r has the facets ``cell_facets[cell_facet_offsets[r]:cell_facet_offsets[r + 1]]``.
    cell_facets : int64 [..]
    facet_offsets : int64 [F + 1]
        Facet f has the vertices ``facet_vertices[facet_offsets[f]:facet_offsets[f + 1]]``.
    facet_vertices : int64 [..]
        For d = 3 along the polygon's outline, in one of its two directions; otherwise in no order.
    facet_regions : int64 [F, 2]
        The two regions that a facet separates; the second is -1 where the domain ends.
    facet_kinks : int64 [F]
        Pattern bit (kink) whose sign changes across the facet. Where several change together, one of them.
        ``-1 - f`` on the boundary of the domain, where its inequality ``domain.forms[f]`` is zero.
    packed_patterns : uint8 [R, ceil(kinks / 8)]
        Activation patterns; bit k of a row is bit ``k % 8`` of byte ``k // 8``.
    stats : dict
        Counters of the enumeration.
    complete : bool
        False for the partial result of a `LimitReached`: regions are missing, and facets towards missing regions have
        -1.
    version, kernel : str
        The version of relu-regions, and the kernel of its core, that found the regions.

    Examples
    --------
    >>> import numpy as np, regions
    >>> net = regions.Network([(np.eye(3), [0, 0, 0]), (np.ones((1, 3)), [0])])
    >>> part = regions.enumerate(net, regions.Box([-1, -1, -1], [1, 1, 1]))
    >>> part
    PolytopePartition(8 regions, 3-D, 3-3-1 relu, exact)
    >>> part.volumes
    array([1., 1., 1., 1., 1., 1., 1., 1.])
    >>> len(part.vertices), len(part.facet_kinks), int((part.facet_regions[:, 1] >= 0).sum())
    (27, 36, 12)
    >>> part.locate([[0.5, 0.5, -0.5], [2, 0, 0]]).tolist() == [part.locate([0.1, 0.1, -0.1]), -1]
    True
    """

    holds: ClassVar[Ability] = SOLID_PARTITIONS
    face_counts = cached_property(face_counts)


# The class for each dimension of a domain.
PARTITIONS: Mapping[int, type[Partition]] = {
    dimension: Partition if dimension < 3 else PolytopePartition for dimension in range(1, MOST_DIMENSIONS + 1)
}
