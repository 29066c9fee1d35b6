# SPDX-License-Identifier: MIT
"""What can every partition do, whatever its dimension?

This is the base class of `Partition` and `PolytopePartition`. Its methods do not depend on the shape of a region.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from os import PathLike
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from regions.errors import NonFiniteError
from regions.ground.arithmetic.arguments import SPACES, one_of, shown
from regions.ground.arithmetic.arrays import indices_of
from regions.ground.arithmetic.types import Floats, Integers
from regions.networks.rounded import affine_maps
from regions.results.cells.complex import CellComplex, raw_arrays
from regions.results.cells.equal_maps import equal_maps
from regions.results.cells.locate import Locator
from regions.results.cells.output_maps import output_maps
from regions.results.pages import page
from regions.results.partition import convert
from regions.results.partition.certificate import Certificate, make_certificate
from regions.results.partition.region import Region
from regions.results.partition.saved import write_partition

__all__ = ["PartitionOfAnyDimension"]


class PartitionOfAnyDimension(CellComplex):
    """The methods that do not depend on the dimension."""

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
