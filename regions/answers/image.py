# SPDX-License-Identifier: MIT
"""What is the image of a domain under a network?

On each region the outputs are affine. Therefore the image of a region is a convex polygon, whose corners are the
images of the region's corners, or it collapses to a segment or a point. Images of different regions may overlap, so
areas count with multiplicity. Corners come with proven bounds (`corner_values.py`). Which regions collapse is decided
exactly (`distortion.py`), and so is whether the image lies in a polygon: it does if all corners do.
Cost: an enumeration with maps; a millisecond, or more in deep networks, for each region or corner that rounding leaves
open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from regions.answers.corner_values import CornerValues
from regions.answers.distortion import Distortions, distortions
from regions.answers.extremes import Extremes, extremes_of
from regions.answers.forms import asked_forms
from regions.answers.inclusion import Inclusion, inclusion
from regions.answers.shares import proven_sum
from regions.answers.sides import sides_of
from regions.answers.simplices import Simplices
from regions.answers.statistics import Statistics
from regions.counting.count_and_enumerate import enumerate_with_maps
from regions.counting.options import takes_timeout
from regions.domains import Domain
from regions.domains.abilities import IMAGES
from regions.domains.domain import require_domain_of
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.text.tables import facts_table
from regions.ground.threads.progress import Progress
from regions.networks.network import Network, require_network
from regions.pictures.image_picture import draw_images
from regions.results.partition import Partition

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Image", "image"]

# What images of each dimension are called.
KINDS = ("points", "segments", "polygons")


@dataclass(frozen=True, eq=False, repr=False)
class Image(JsonReport):
    """The image of a segment or polygon under a network, region by region.

    Attributes
    ----------
    partition : Partition
        The regions whose images these are.
    vertices, errors : float64 [V, m]
        The outputs at each vertex of the partition, and proven bounds on the errors. ``partition.cell_vertices`` has
        the corners of each region in order, and so of its image.
    polygons : list of float64 [corners, m]
        The corners of the image of each region, in the same order.
    ranks : int64 [R]
        The dimension of the image of each region, decided exactly: less than ``partition.dimension`` if the region
        collapses to a segment or a point.
    kinds : dict of str to int
        How many images are polygons, segments and points.
    distortions, distortion_errors : float64 [R]
        The length or area of each image divided by the size of its region, and proven bounds; exactly 0 if it
        collapses.
    volumes, volume_errors : float64 [R]
        The length or area of the image of each region, and proven bounds.
    volume, volume_error : float
        Their sum, which counts parts of the image as often as they are covered: on a segment, the length of the image.
    extremes : Extremes
        The range of each output on the image.
    statistics : Statistics
        Moments of the image of a uniform distribution on the domain: its mean is the centroid, weighted by the domain.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], None), ([[2.0, 0.0], [0.0, 1.0]], None)])
    >>> found = regions.image(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> found
    Image(4 regions, 3 collapse, area 2 with multiplicity)
    >>> sorted(found.ranks.tolist()), sorted(found.distortions.tolist())
    ([0, 1, 1, 2], [0.0, 0.0, 0.0, 2.0])
    >>> found.statistics.mean
    array([0.5 , 0.25])
    """

    ROWS = ("ranks", "distortions", "distortion_errors", "volumes", "volume_errors")
    NUMBER = "region"

    partition: Partition = field(repr=False)
    _at: CornerValues

    @property
    def vertices(self) -> Floats:
        return self._simplices.values.value

    @property
    def errors(self) -> Floats:
        return self._simplices.values.error

    @property
    def polygons(self) -> list[Floats]:
        part = self.partition
        return np.split(self.vertices[part.cell_vertices], part.cell_offsets[1:-1])

    @property
    def ranks(self) -> Integers:
        return self._distortions.ranks

    @property
    def kinds(self) -> dict[str, int]:
        d = self.partition.dimension
        counts = np.bincount(self.ranks, minlength=d + 1).tolist()
        return {KINDS[rank]: counts[rank] for rank in range(d, -1, -1)}

    @property
    def distortions(self) -> Floats:
        return self._distortions.values

    @property
    def distortion_errors(self) -> Floats:
        return self._distortions.errors

    @property
    def volumes(self) -> Floats:
        return self._volumes[0]

    @property
    def volume_errors(self) -> Floats:
        return self._volumes[1]

    @property
    def volume(self) -> float:
        return self._volume[0]

    @property
    def volume_error(self) -> float:
        return self._volume[1]

    @cached_property
    def extremes(self) -> Extremes:
        return extremes_of(self.partition.domain, [self._at], np.eye(self._at.graph.n_out))

    @cached_property
    def statistics(self) -> Statistics:
        return Statistics(self.partition.domain, (self.partition,), (self._at,))

    def inside(self, polygon: Domain) -> Inclusion:
        """Decide whether the image lies in a polygon, its boundary included.

        If the network maps states to next states and the polygon is the domain, it decides whether it is invariant.

        Parameters
        ----------
        polygon : Domain
            A polygon in the plane, for two outputs; a segment, for one output.

        Returns
        -------
        Inclusion

        Raises
        ------
        DomainError
            The polygon is unbounded, or does not fill the space of the outputs.
        """
        sides = sides_of(polygon, self._at.graph.n_out, "polygon")
        return inclusion(self._at, self._simplices.values, polygon, sides)

    def plot(self, figure: Any = None) -> Axes:
        """Draw the images of all regions, with matplotlib; where several overlap, the colour is darker.

        Parameters
        ----------
        figure : matplotlib.figure.Figure, optional
            Figure to draw in; by default a new one.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingDependencyError
            matplotlib is not installed.
        ValueError
            The network does not have two outputs; `regions.image` can take two of them, or two forms of them.
        """
        return draw_images([self.polygons], [""], figure)

    def as_dict(self) -> dict[str, Any]:
        """Vertices, ranks, distortions and sizes with their errors."""
        names = ("vertices", "errors", "ranks", "distortions", "distortion_errors", "volumes", "volume_errors")
        arrays = {name: getattr(self, name).tolist() for name in names}
        return {
            "regions": len(self.partition),
            **self.kinds,
            "volume": self.volume,
            "volume_error": self.volume_error,
            **arrays,
        }

    @cached_property
    def _simplices(self) -> Simplices:
        return Simplices(self._at)

    @cached_property
    def _distortions(self) -> Distortions:
        return distortions(self._at)

    @cached_property
    def _volumes(self) -> tuple[Floats, Floats]:
        part, (factors, off, _) = self.partition, self._distortions
        with np.errstate(all="ignore"):
            sizes, errors = Proven(factors, off) * Proven(part.volumes, part.volume_errors)
            values, bounds = Proven(sizes, np.where(off > 0.0, errors, 0.0)).checked
        return values, bounds

    @cached_property
    def _volume(self) -> tuple[float, float]:
        return proven_sum(*self._volumes)

    def _repr_html_(self) -> str:
        size = ("length", "area")[self.partition.dimension - 1]
        kinds = [(f"images that are {kind}", f"{count:,}") for kind, count in self.kinds.items()]
        return facts_table(repr(self), [(size, f"{self.volume:.6g}, to within {self.volume_error:.2g}"), *kinds])

    def __repr__(self) -> str:
        count, d = len(self.partition), self.partition.dimension
        flat = int((self.ranks < d).sum())
        collapsed = f"{flat} collapse{'s' * (flat == 1)}, " if flat else ""
        size = ("length", "area")[d - 1]
        return f"Image({count} region{'s' * (count != 1)}, {collapsed}{size} {self.volume:.6g} with multiplicity)"


@takes_timeout
def image(
    network: Network,
    domain: Domain,
    outputs: Sequence[int] | None = None,
    forms: ArrayLike | None = None,
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Image:
    """Find the image of a domain under a network.

    For the image after a hidden layer pass ``network.until(layer)``.

    Parameters
    ----------
    network : Network
    domain : Domain
        A segment or polygon.
    outputs : sequence of int, optional
        Numbers of outputs; all of them by default.
    forms : array-like [m, n_out], optional
        Instead of outputs, linear forms of outputs: two forms project the image to a plane.
    limit, timeout, progress, workers
        As for `regions.enumerate`.

    Returns
    -------
    Image

    Raises
    ------
    DomainError
        The domain is unbounded, or has more than two dimensions.
    TypeError, ValueError
        Forms or outputs do not fit the network, or both are given.
    NonFiniteError
        A vertex of the image is beyond the largest double.
    LimitReached, TimeoutReached, ShapeMismatchError
        As for `regions.enumerate`.

    Examples
    --------
    >>> import regions
    >>> fold = regions.Network([([[1.0], [-1.0]], None), ([[1.0, 1.0], [1.0, 0.0]], None)])
    >>> found = regions.image(fold, regions.Segment([-1.0], [1.0]))
    >>> [each.tolist() for each in found.polygons]
    [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]]]
    >>> round(found.volume, 9)
    2.414213562
    """
    graph = asked_forms(require_network(network), outputs, forms)
    require_domain_of(domain, network, IMAGES)
    partition, maps = enumerate_with_maps(network, graph, domain, limit=limit, progress=progress, workers=workers)
    return Image(partition, CornerValues(partition, graph, maps))
