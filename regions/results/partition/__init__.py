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

from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from regions.domains.abilities import FLAT_PARTITIONS, require
from regions.ground.arithmetic.types import Integers, Objects
from regions.results.cells import sizes
from regions.results.cells.complex import ARRAYS, PolytopeComplex, raw_arrays
from regions.results.cells.exact_vertices import ExactVertices, exact_vertices
from regions.results.cells.folding import folded_cells
from regions.results.partition import convert
from regions.results.partition.any_dimension import PartitionOfAnyDimension
from regions.results.partition.html import partition_html
from regions.results.partition.region import Region
from regions.results.partition.saved import read_partition

if TYPE_CHECKING:
    from regions.results.partition.polytopes import PolytopePartition

__all__ = ["ARRAYS", "Partition", "Region", "load_partition", "raw_arrays", "require_complete", "require_partition"]

# Advice in messages about a partition in a box, from functions that work in one and two dimensions only.
ONLY_TO_PLANES = "this works on lines and in planes; enumerate in a regions.Polygon through the box"


class Partition(PartitionOfAnyDimension):
    """Every activation region of a network on a domain of dimension d (1 or 2).

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

    # Derived from the arrays, and cached: the functions document each of them.
    volumes = cached_property(sizes.volumes)
    volume_errors = cached_property(sizes.volume_errors)
    facet_volumes = cached_property(sizes.facet_volumes)
    facet_volume_errors = cached_property(sizes.facet_volume_errors)
    interior_points = cached_property(sizes.interior_points)

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
        return exact_vertices(self, indices)

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

    @staticmethod
    def load(path: str | PathLike[str]) -> Partition | PolytopePartition:
        """Read a file that `save` wrote; the same as `regions.load_partition`."""
        return load_partition(path)

    def _repr_html_(self) -> str:
        return partition_html(self)


def load_partition(path: str | PathLike[str]) -> Partition | PolytopePartition:
    """Read a partition that its method `save` wrote.

    The file is not trusted: all of it is checked, and nothing in it is executed.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Partition or PolytopePartition
        The second in three to six dimensions.

    Raises
    ------
    NotACheckpointError
        Another kind of file, another version, or inconsistent contents.
    TruncatedFileError, UnsafePickleError, FileTooLargeError
        A file that is truncated, holds Python objects, or unpacks to too much.
    OSError
        The file cannot be opened.
    """
    from regions.results.partition.polytopes import PolytopePartition

    return read_partition(path, Partition, PolytopePartition)


def require_partition(given: object) -> None:
    """Refuse anything but a partition, before it fails somewhere inside."""
    if not isinstance(given, Partition):
        if isinstance(given, PolytopeComplex):
            require(FLAT_PARTITIONS, given.domain)
        advice = "make one with regions.enumerate(network, domain) or regions.load_partition(path)"
        if "partition" in getattr(type(given), "__dataclass_fields__", ()):  # an answer
            advice = "take its attribute partition"
        raise TypeError(f"expected a regions.Partition, got {type(given).__name__}: {advice}")


def require_complete(given: Any, boxes: bool = False) -> None:
    """Refuse anything but a complete partition, because measures of a part would look like measures of the whole.

    With ``boxes``, a partition of three and more dimensions is accepted too.
    """
    if not (boxes and isinstance(given, PolytopeComplex)):
        require_partition(given)
    if not given.complete:
        raise ValueError(
            "this partition is a partial result (of a stopped enumeration, or one block of a stream), so its "
            "measures would be wrong; enumerate again with a higher limit, or with none"
        )
