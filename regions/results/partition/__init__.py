# SPDX-License-Identifier: MIT
"""What does an enumeration return?

A `Partition` holds every region of a network on a domain, as flat read-only arrays that index each other. Everything
else (volumes, neighbours, light views of single regions, lookups, conversions) is derived from these arrays on request
and cached. The regions, their patterns, corners and neighbours are exact. Coordinates are float64, one row per
geometric vertex, shared by all regions around it, each with a proven bound on its error. They are coordinates in the
domain's chart, ``x = domain.origin + p @ domain.directions``; volumes are in input space. docs/arrays-and-files.md
describes the format in full, with the files it is saved to.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from os import PathLike
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from regions.domains.abilities import FLAT_PARTITIONS, Ability
from regions.errors import NonFiniteError
from regions.files.tabular import Tabular
from regions.ground.arithmetic.arguments import SPACES, one_of, shown
from regions.ground.arithmetic.arrays import indices_of
from regions.ground.arithmetic.types import Floats, Integers, Objects
from regions.networks.rounded import affine_maps
from regions.results.cells import sizes
from regions.results.cells.complex import ARRAYS, CellComplex, raw_arrays
from regions.results.cells.equal_maps import equal_maps
from regions.results.cells.exact_polytopes import exact_vertices_of
from regions.results.cells.exact_vertices import ExactVertices
from regions.results.cells.folding import folded_cells
from regions.results.cells.locate import Locator
from regions.results.cells.output_maps import output_maps
from regions.results.cells.region_table import region_columns
from regions.results.pages import page
from regions.results.partition import convert
from regions.results.partition.certificate import Certificate, make_certificate
from regions.results.partition.html import partition_html
from regions.results.partition.region import Region
from regions.results.partition.saved import read_partition, write_partition

__all__ = ["ARRAYS", "Partition", "Region", "load_partition", "raw_arrays", "require_complete", "require_partition"]


class Partition(Tabular, CellComplex):
    """Every activation region of a network on a domain of dimension d, 1 or 2.

    This is the class of all partitions. From three dimensions on, the arrays are as `PolytopePartition` describes them.
    Returned by `regions.enumerate` and `regions.load_partition`. Immutable: attributes cannot be set, all arrays are
    read-only, and no array shares memory with its source. Two partitions are equal if network, domain, all arrays (bit
    for bit, in the same order) and ``complete`` are equal; version, kernel and counters do not matter. Equal
    partitions have equal hashes, made from network, domain and number of regions.
    R regions, V vertices, F facets (edges for d = 2, points for d = 1), K corners in all.

    Attributes
    ----------
    network : Network
    domain : Domain
    vertices : float64 [V, d]
        Chart coordinates, one row per geometric vertex, shared. The ends of a line or ray, and
        corners of a whole plane at infinity, are infinite.
    vertex_errors : float64 [V]
        Proven bound on the distance (largest coordinate) between the stored and the true vertex.
    cell_offsets : int64 [R + 1]
        Region r owns the corners ``cell_offsets[r]:cell_offsets[r + 1]`` of the next two arrays.
    cell_vertices : int64 [K]
        Vertex at each corner: counter-clockwise for d = 2, left then right for d = 1.
    cell_facets : int64 [K]
        Facet from each corner to the next one (d = 2), or at each corner (d = 1).
    cell_facet_offsets : int64 [R + 1]
        Region r has the facets ``cell_facets[cell_facet_offsets[r]:cell_facet_offsets[r + 1]]``, in any dimension. For
        d = 1 and 2 the same as ``cell_offsets``.
    facet_vertices : int64 [F, 2] or [F, 1]
        Ends of each facet, counter-clockwise as seen from its first region.
    facet_offsets : int64 [F + 1]
        Facet f has the vertices ``facet_vertices.ravel()[facet_offsets[f]:facet_offsets[f + 1]]``, in any dimension.
    facet_regions : int64 [F, 2]
        The two regions a facet separates, for d = 1 left and right; the second is -1 where the domain ends.
    facet_kinks : int64 [F]
        Pattern bit (kink) whose sign changes across the facet. Where several change together, one of them.
        ``-1 - e`` on edge e of the domain (from generator e to generator e + 1; for d = 1, at generator e).
    packed_patterns : uint8 [R, ceil(kinks / 8)]
        Activation patterns; bit k of a row is bit ``k % 8`` of byte ``k // 8``.
    stats : dict
        Counters of the enumeration, such as the number of signs settled in exact arithmetic; a new dict each time.
    complete : bool
        False for the partial result of a `LimitReached` and for the blocks of `regions.stream`: regions are missing,
        and facets towards missing regions have -1.
    section : (tuple of int, tuple of int or None), or None
        For a block of `regions.stream`: the ``place`` where it begins and the ``place`` where the next block begins.
        The latter is None after the last block and where the work was stopped. None if unknown, as in a block that was
        loaded from a file.
    version, kernel : str
        The version of relu-regions, and the kernel of its core, that found the regions.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> partition = regions.enumerate(net, regions.Segment([-1.0], [3.0]))
    >>> partition
    Partition(2 regions, 1-D, 1-2-1 relu, exact)
    >>> partition.volumes
    array([1., 3.])
    >>> partition.locate([[-0.5], [2.0], [5.0]])
    array([ 0,  1, -1])
    """

    holds: ClassVar[Ability] = FLAT_PARTITIONS

    # Derived from the arrays, and cached: the functions document each of them.
    volumes = cached_property(sizes.volumes)
    volume_errors = cached_property(sizes.volume_errors)
    facet_volumes = cached_property(sizes.facet_volumes)
    facet_volume_errors = cached_property(sizes.facet_volume_errors)
    interior_points = cached_property(sizes.interior_points)

    @cached_property
    def certificate(self) -> Certificate:
        """The proof statement of this result, and how its signs were decided: see `Certificate`. Files store it.

        Raises
        ------
        ValueError
            The arrays did not come from `regions.enumerate`.
        """
        found = len(self), self.complete, self.stats, self.version, self.kernel
        return make_certificate(self.network, self.domain, *found)

    adjacency = cached_property(convert.adjacency)
    map_numbers = cached_property(equal_maps)
    _locator = cached_property(Locator)

    to_html = page.to_html

    def __iter__(self) -> Iterator[Region]:
        return (Region(self, index) for index in range(len(self)))

    @overload
    def __getitem__(self, key: int) -> Region: ...
    @overload
    def __getitem__(self, key: slice) -> list[Region]: ...
    def __getitem__(self, key: int | slice) -> Region | list[Region]:
        if isinstance(key, slice):
            return [Region(self, index) for index in range(len(self))[key]]
        try:
            return Region(self, range(len(self))[key])
        except IndexError:
            message = f"there is no region {shown(key)}: the partition has {len(self)}, numbered from 0"
            raise IndexError(message) from None
        except Exception:
            raise TypeError(
                f"a partition takes the number of a region, or a slice of numbers, got {type(key).__name__}; "
                "for several regions use its arrays, such as partition.volumes[indices]"
            ) from None

    def affine_maps(
        self, indices: ArrayLike | None = None, *, space: Literal["chart", "input"] = "chart"
    ) -> tuple[Floats, Floats]:
        """Return the affine map of the network on each region: ``A[i] @ p + c[i]`` for points of region ``indices[i]``.

        The maps of all regions in chart coordinates take about as long as enumerating again. The maps of some regions,
        or in input space, take forward passes for each region.

        Parameters
        ----------
        indices : int array_like [m], optional
            Numbers of regions; all regions by default.
        space : "chart" or "input"
            Whether ``p`` are chart coordinates (cheap at any input dimension) or points of input space.

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
        maps = output_maps(self, self.network.graph) if indices is None and chart is not None else None
        if maps is not None and np.isfinite(maps.values).all():
            return maps.values[:, :, 1:], maps.values[:, :, 0]
        linear, constants = affine_maps(self.network.graph, chart, self.packed_patterns[chosen])
        beyond = np.flatnonzero(~(np.isfinite(linear).all(axis=(1, 2)) & np.isfinite(constants).all(axis=1)))
        if beyond.size:
            region = chosen[beyond[0]]
            raise NonFiniteError(
                f"the affine map of region {region} is beyond the largest double; leave it out of `indices`"
            )
        return linear, constants

    def locate(self, points: ArrayLike, *, space: Literal["chart", "input"] = "input") -> Integers:
        """Find the region each point lies in, exactly.

        Parameters
        ----------
        points : array_like [.., n_in], or [.., d] with ``space="chart"``
            Points of input space are first projected on the domain's line, plane or space in floating point, and must
            lie in it up to rounding. The resulting chart coordinates are then located exactly; to avoid all rounding,
            pass chart coordinates.
        space : "input" or "chart"
            The space of the points.

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
            A point away from the domain's line, plane or space; input points where floating point cannot tell the two
            directions of the chart from parallel ones (`DegenerateDomainError`).
        """
        return self._locator.locate(points, space)

    def exact_vertices(self, indices: ArrayLike | None = None) -> ExactVertices:
        """Return the exact vertices, in chart coordinates, as fractions.

        Parameters
        ----------
        indices : int array_like [m], optional
            Indices of vertices; all vertices by default.

        Returns
        -------
        ExactVertices
            A sequence of m tuples of `fractions.Fraction`; ``to_float`` rounds them correctly. A vertex at infinity,
            of a line, ray or plane, is ``(0, direction..)`` instead, in integers.

        Examples
        --------
        >>> import regions
        >>> net = regions.Network([([[3.0]], [-1.0]), ([[1.0]], [0.0])])
        >>> part = regions.enumerate(net, regions.Segment([0.0], [1.0]))
        >>> sorted(str(x) for (x,) in part.exact_vertices())
        ['0', '1', '1/3']
        """
        return exact_vertices_of(self, indices)

    def to_columns(self) -> dict[str, Any]:
        """Return a table of the regions: a dict of arrays of length R.

        Returns
        -------
        dict
            ``index`` int64, ``volume`` float64, ``active`` int64 (number of pattern bits that are 1), ``corners``
            int64 (their number), ``neighbors`` int64 (number of regions across a facet), ``pattern`` str (the
            packed pattern in hexadecimal, first byte first), ``p0`` to ``p{d - 1}`` float64 (the interior point in the
            chart).
        """
        return region_columns(self)

    def to_shapely(self) -> Objects:
        """Return the regions as shapely geometries in chart coordinates, object [R].

        Polygons for d = 2, with bit-equal coordinates along common edges; for d = 1 line strings on the first axis.
        They are a valid coverage unless rounding has folded a region that is thinner than the spacing of doubles:
        `folded_cells` returns such regions. (shapely computes products of coordinates with 32 digits. It can misjudge
        its own shapes if some are as small as 1e-130, as large as 1e130, or very small compared with others.)

        Raises
        ------
        DomainError
            A line, ray or plane: shapely has no unbounded geometries.
        """
        return convert.to_shapely(self)

    def folded_cells(self) -> Integers:
        """Return the regions that are not polygons once their corners are rounded, int64 [m], ascending.

        Such a region has corners that coincide or edges that cross or touch, or it runs clockwise, or backwards along
        the domain boundary. This is decided exactly. The result is empty in all but extreme cases, and always for d =
        1. The true regions always tile the domain; the polygons from `to_shapely` do if no region is folded.

        Raises
        ------
        DomainError
            A whole plane: shapely has no unbounded geometries.
        """
        return folded_cells(self)

    def to_networkx(self) -> Any:
        """Return the adjacency of the regions as a `networkx.Graph`.

        The nodes are the numbers of the regions, with ``volume`` and ``interior_point`` (tuple, chart
        coordinates). Edges have ``facet``, ``kink``, ``layer`` and ``volume`` (the facet's length in a plane) of the
        common facet.

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

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.network, self.domain, raw_arrays(self))

    @staticmethod
    def load(path: str | PathLike[str]) -> Partition:
        """Read a file that `save` wrote; the same as `regions.load_partition`."""
        return load_partition(path)

    def _repr_html_(self) -> str | None:
        return partition_html(self) if self.dimension < 3 else None


def load_partition(path: str | PathLike[str]) -> Partition:
    """Read a partition that its method `save` wrote.

    The file is not trusted: all of it is checked, and nothing in it is executed.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Partition
        In three to six dimensions a `PolytopePartition`.

    Raises
    ------
    NotACheckpointError
        Another kind of file, another version, or inconsistent contents.
    TruncatedFileError, UnsafePickleError, FileTooLargeError
        A file that is truncated, holds Python objects, or unpacks to too much.
    OSError
        The file cannot be opened.
    """
    from regions.results.partition.polytopes import PARTITIONS

    return read_partition(path, PARTITIONS)


def require_partition(given: object) -> None:
    """Refuse anything but a partition, before it fails somewhere inside."""
    if not isinstance(given, Partition):
        advice = "make one with regions.enumerate(network, domain) or regions.load_partition(path)"
        if "partition" in getattr(type(given), "__dataclass_fields__", ()):  # an answer
            advice = "take its attribute partition"
        raise TypeError(f"expected a regions.Partition, got {type(given).__name__}: {advice}")


def require_complete(given: Any) -> None:
    """Refuse anything but a complete partition, because measures of a part would look like measures of the whole."""
    require_partition(given)
    if not given.complete:
        raise ValueError(
            "this partition is a partial result (of a stopped enumeration, or one block of a stream), so its "
            "measures would be wrong; enumerate again with a higher limit, or with none"
        )
