# SPDX-License-Identifier: MIT
"""What does an enumeration return in three to six dimensions?

A `PolytopePartition` has every region as flat read-only arrays, as a `regions.Partition` does, with the same names. A
region and a facet have any number of vertices here. The regions, their patterns, vertices, facets and neighbours are
exact: the core recognises a face from all regions around it by its sign vector, and compares no coordinates
(`csrc/collect/face_records.hpp`). Coordinates are float64, each vertex with a proven bound on its error.
"""

from __future__ import annotations

from functools import cached_property
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from regions.arithmetic.arguments import SPACES, one_of
from regions.arithmetic.arrays import indices_of
from regions.arithmetic.types import Floats, Integers
from regions.cells import polytope_sizes
from regions.cells.complex import PolytopeComplex, raw_arrays
from regions.cells.exact_polytopes import exact_polytope_vertices
from regions.cells.exact_vertices import ExactVertices
from regions.cells.face_counts import face_counts
from regions.cells.locate import Locator
from regions.cells.output_maps import OutputMaps, keep_maps
from regions.certificate import Certificate, make_certificate
from regions.errors import NonFiniteError
from regions.look import page
from regions.networks.rounded import affine_maps
from regions.partition import ONLY_TO_PLANES, Partition, convert
from regions.partition.saved import write_partition

__all__ = ["PolytopePartition"]


class PolytopePartition(PolytopeComplex):
    """Every activation region of a network in a bounded domain of three to six dimensions.

    Returned by `regions.enumerate` for a `Box` or another bounded `Polytope`. Immutable, with read-only arrays. Two
    partitions are equal if network, domain, all arrays (bit for bit, in the same order) and ``complete`` are equal.
    R regions, V vertices, F facets.

    Attributes
    ----------
    network : Network
    domain : Polytope
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

    @cached_property
    def certificate(self) -> Certificate:
        """The proof statement of this result, and how its signs were decided: see `Certificate`."""
        found = len(self), self.complete, self.stats, self.version, self.kernel
        return make_certificate(self.network, self.domain, *found)

    # Derived from the arrays, and cached: the functions document each of them.
    volumes = cached_property(polytope_sizes.volumes)
    volume_errors = cached_property(polytope_sizes.volume_errors)
    facet_volumes = cached_property(polytope_sizes.facet_volumes)
    facet_volume_errors = cached_property(polytope_sizes.facet_volume_errors)
    interior_points = cached_property(polytope_sizes.interior_points)
    face_counts = cached_property(face_counts)
    adjacency = cached_property(convert.adjacency)
    _locator = cached_property(Locator)

    to_html = page.to_html

    def exact_vertices(self, indices: ArrayLike | None = None) -> ExactVertices:
        """Return the exact vertices, in chart coordinates, as fractions.

        Parameters
        ----------
        indices : int array_like [m], optional
            Numbers of vertices; all vertices by default.

        Returns
        -------
        ExactVertices
            A sequence of m tuples of `fractions.Fraction`; ``to_float`` rounds them correctly.

        Raises
        ------
        TypeError, IndexError
            Indices that are not a list of vertex numbers.
        """
        return exact_polytope_vertices(self, indices)

    def affine_maps(
        self, indices: ArrayLike | None = None, *, space: Literal["chart", "input"] = "chart"
    ) -> tuple[Floats, Floats]:
        """Return the affine map of the network on each region: ``A[i] @ p + c[i]`` for points of region ``indices[i]``.

        Parameters
        ----------
        indices : int array_like [m], optional
            Numbers of regions; all regions by default.
        space : "chart" or "input"
            Whether ``p`` are chart coordinates or points of input space.

        Returns
        -------
        A : float64 [m, n_out, d] or [m, n_out, n_in]
        c : float64 [m, n_out]

        Raises
        ------
        TypeError, IndexError
            Indices that are not a list of region numbers.
        NonFiniteError
            A map with entries beyond the largest double.
        """
        chosen = indices_of(indices, len(self), "region")
        chart = (self.domain.origin, self.domain.directions) if one_of(space, SPACES, "space") == "chart" else None
        maps: OutputMaps | None = self._facts.get(keep_maps)
        if maps is not None and indices is None and chart is not None and np.isfinite(maps.values).all():
            return maps.values[:, :, 1:], maps.values[:, :, 0]
        linear, constants = affine_maps(self.network.graph, chart, self.packed_patterns[chosen])
        beyond = np.flatnonzero(~(np.isfinite(linear).all(axis=(1, 2)) & np.isfinite(constants).all(axis=1)))
        if beyond.size:
            raise NonFiniteError(
                f"the affine map of region {chosen[beyond[0]]} is beyond the largest double; leave it out of `indices`"
            )
        return linear, constants

    def locate(self, points: ArrayLike, *, space: Literal["chart", "input"] = "input") -> Integers:
        """Find the region each point lies in, exactly.

        Parameters
        ----------
        points : array_like [.., n_in], or [.., d] with ``space="chart"``
            Points of input space are first projected on the domain's space in floating point, and must lie in it up to
            rounding. The resulting chart coordinates are then located exactly.

        Returns
        -------
        int64 [..]
            Region of each point. On a boundary, the lowest of the regions whose closure contains the point.
            -1 outside the domain; in a partial result also where nothing was enumerated.

        Raises
        ------
        TypeError, ShapeMismatchError, NonFiniteError
            Not real numbers, another shape, NaN or infinity, chart coordinates beyond the largest double.
        DomainError
            A point away from the domain's space.
        """
        return self._locator.locate(points, space)

    def to_networkx(self) -> Any:
        """Return the adjacency of the regions as a `networkx.Graph`, as `Partition.to_networkx` does.

        Raises
        ------
        MissingDependencyError
            networkx is not installed.
        """
        return convert.to_networkx(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the partition, with network and domain, to a compressed ``.npz`` file without pickles.

        `regions.load_partition` reads it.
        """
        write_partition(self, path)

    def __getattr__(self, name: str) -> Any:
        """Say why an attribute of a `regions.Partition` is missing here."""
        why = f": {ONLY_TO_PLANES}" if not name.startswith("_") and hasattr(Partition, name) else ""
        raise AttributeError(f"a {type(self).__name__} has no attribute {name!r}{why}", name=name, obj=self)

    def __reduce__(self) -> tuple[Any, ...]:
        return PolytopePartition, (self.network, self.domain, raw_arrays(self))
