# SPDX-License-Identifier: MIT
"""Where does an output cross a threshold, as curves with exact ends?

A kink of the output at the threshold cuts the regions, so that on each of them the output is above the threshold
everywhere or nowhere (`decisions.py`). Facets between the two kinds of regions are linked to curves, and connected
regions of one kind form an area. All of this is exact; coordinates and lengths are rounded, with proven bounds.
Invariant: if the output equals the threshold on a whole region, that region is not above it.
Cost: an enumeration with one unit more; with lengths and areas, 2.5 to 3 enumerations of the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict, overload

import numpy as np

from regions.answers.decisions import Decisions, decisions
from regions.answers.level_surface import LevelSurface, level_surface
from regions.counting.options import takes_timeout
from regions.domains import Domain, Polytope
from regions.domains.abilities import LEVEL_SETS
from regions.domains.domain import require_domain_of
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers, integer, real
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.ground.text.tables import facts_table
from regions.ground.threads.progress import Progress
from regions.networks.network import Network, require_network
from regions.results.definitions.classed_regions import ClassedRegions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["LevelSet", "level_set"]


@dataclass(frozen=True, eq=False, repr=False)
class LevelSet(ClassedRegions, JsonReport):
    """The curves on which an output crosses a threshold, and the areas between them.

    Attributes
    ----------
    partition, classes, facets, names, scores
        The regions, on each of which the output is above the threshold (class 1) or not (class 0), as in `Decisions`;
        `regions.plot` draws them.
    decisions : Decisions
        The same, with more attributes.
    threshold : float
    network : Network
    output : int
        The network that was asked about, and the number of its output.
    length, error : float
        Length of the curves in input space, or number of points on a line, and a proven bound on the error.
    curves : list of int64 [k]
        Each curve as a run of vertices of ``decisions.partition``, with the output above the threshold on the left. A
        closed curve ends with the vertex that it begins with; others end at the domain boundary, or where curves
        cross. On a line each curve is one vertex.
    polylines : list of float64 [k, n_in]
        The same as points of input space, rounded.
    above : bool [areas]
        Whether the output is above the threshold in each area, a connected set of regions; ``decisions.areas`` has the
        area of each region.
    area_above, area_error : float
        Length or area in input space of all areas above, and a proven bound on the error.
    parents : int64 [areas]
        The area around each area: its first neighbour with fewer curves between it and the domain boundary; -1 for
        areas at the domain boundary.
    holes : int64 [areas]
        Number of holes in each area, from its numbers of vertices, edges and regions: 1 - (V - E + F).

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], None), ([[1.0] * 4], None)])
    >>> found = regions.level_set(net, regions.Polygon([[-2, -2], [2, -2], [2, 2], [-2, 2]]), 1.0)
    >>> found
    LevelSet(1 curve, length 5.65685, 2 areas)
    >>> found.above, found.parents, found.holes
    (array([False,  True]), array([ 1, -1]), array([0, 1]))
    """

    ROWS = ("above", "parents", "holes")
    NUMBER = "area"

    decisions: Decisions
    threshold: float
    network: Network
    output: int

    @property
    def length(self) -> float:
        return self.decisions.volume

    @property
    def error(self) -> float:
        return self.decisions.error

    @property
    def curves(self) -> list[Integers]:
        return self.decisions.curves

    @cached_property
    def polylines(self) -> list[Floats]:
        part = self.decisions.partition
        return [part.domain.to_input(part.vertices[curve]) for curve in self.curves]

    def exact_polylines(self) -> list[list[tuple[Fraction, ...] | tuple[int, ...]]]:
        """Return the curves in chart coordinates as fractions; a point at infinity is ``(0, direction..)``."""
        return [list(self.decisions.partition.exact_vertices(curve)) for curve in self.curves]

    @cached_property
    def above(self) -> Bits:
        return np.asarray(self.decisions.classes[self._firsts] == 1)

    @property
    def area_above(self) -> float:
        return self._volume[0]

    @property
    def area_error(self) -> float:
        return self._volume[1]

    @cached_property
    def parents(self) -> Integers:
        part, areas = self.decisions.partition, self.decisions.areas
        sides = part.facet_regions
        parents = np.full(len(self._firsts), -2)
        parents[np.unique(areas[sides[sides[:, 1] < 0, 0]])] = -1
        pairs = np.unique(np.sort(areas[sides[self.decisions.facets]], axis=1), axis=0)
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
        reached = parents == -1
        while not reached.all():
            outer, inner = pairs[reached[pairs[:, 0]] & ~reached[pairs[:, 1]]].T
            for area, parent in sorted(zip(inner.tolist(), outer.tolist(), strict=True), reverse=True):
                parents[area] = parent  # the first one stays
            reached = parents > -2
        return parents

    @cached_property
    def holes(self) -> Integers:
        part, areas, count = self.decisions.partition, self.decisions.areas, len(self._firsts)
        if part.dimension == 1:
            return np.zeros(count, dtype=np.int64)
        # Each vertex, and each edge, counts once in each area that it belongs to.
        keys = np.sort(np.repeat(areas, part.corner_counts) * len(part.vertices) + part.cell_vertices)
        vertices = keys[np.diff(keys, prepend=-1) > 0] // len(part.vertices)
        first, second = part.facet_regions.T
        beyond = second[(second >= 0) & (areas[first] != areas[second])]
        edges = np.append(areas[first], areas[beyond])
        of_vertices, of_edges, of_regions = (np.bincount(each, minlength=count) for each in (vertices, edges, areas))
        return 1 - (of_vertices - of_edges + of_regions)

    def as_dict(self) -> dict[str, Any]:
        """Length, areas and curves, as points of input space."""
        part = self.decisions.partition
        volume = {"area_above": self.area_above, "area_error": self.area_error} if part.domain.bounded else {}
        return {
            "regions": len(part),
            "threshold": self.threshold,
            "length": self.length,
            "error": self.error,
            **volume,
            "above": self.above.tolist(),
            "parents": self.parents.tolist(),
            "holes": self.holes.tolist(),
            "polylines": [each.tolist() for each in self.polylines] if part.domain.bounded else [],
        }

    @cached_property
    def _firsts(self) -> Integers:
        """The first region of each area."""
        return np.unique(self.decisions.areas, return_index=True)[1]

    @property
    def _volume(self) -> tuple[float, float]:
        return self.decisions.class_volumes.get(1, (0.0, 0.0))

    def _repr_html_(self) -> str:
        facts = [
            ("threshold", f"{self.threshold:.6g}"),
            ("length", f"{self.length:.6g}, to within {self.error:.2g}"),
            ("curves", f"{len(self.curves):,}"),
            ("areas above", f"{int(self.above.sum()):,}"),
            ("areas not above", f"{int((~self.above).sum()):,}"),
            ("above", f"{self.area_above:.6g}, to within {self.area_error:.2g}"),
        ]
        return facts_table(repr(self), facts)

    def __repr__(self) -> str:
        curves, areas = len(self.curves), len(self.above)
        count = f"{curves} curve{'s' * (curves != 1)}"
        return f"LevelSet({count}, length {self.length:.6g}, {areas} area{'s' * (areas != 1)})"


class _Options(TypedDict, total=False):
    limit: int | None
    progress: Progress
    workers: Workers


@overload
def level_set(  # type: ignore[overload-overlap]
    network: Network, domain: Polytope, threshold: float = ..., output: int | None = ..., **options: Unpack[_Options]
) -> LevelSurface: ...
@overload
def level_set(
    network: Network, domain: Domain, threshold: float = ..., output: int | None = ..., **options: Unpack[_Options]
) -> LevelSet: ...
@takes_timeout
def level_set(
    network: Network,
    domain: Domain,
    threshold: float = 0.0,
    output: int | None = None,
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> LevelSet | LevelSurface:
    """Find the curves on which an output crosses a threshold, or the surface in a box of three dimensions.

    Parameters
    ----------
    network : Network
    domain : Domain
        It has one to three dimensions.
    threshold : float
    output : int, optional
        Number of the output; it may be left out if there is only one.
    limit, timeout, progress, workers
        As for `regions.enumerate`.

    Returns
    -------
    LevelSet or LevelSurface
        In a plane or on a line, curves or points; in a box, a surface of polygons.

    Raises
    ------
    TypeError, ValueError
        The threshold is not a finite number, or there is no such output.
    LimitReached, TimeoutReached, ShapeMismatchError
        As for `regions.enumerate`.
    DomainError
        More than three dimensions; in three, an unbounded domain.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0]], [0.0])])
    >>> found = regions.level_set(net, regions.Segment([-1.0], [3.0]), 0.5)
    >>> [point.tolist() for point in found.polylines], found.area_above
    ([[[0.5]], [[1.5]]], 1.0)
    """
    last = require_network(network).n_out - 1
    if output is None and last:
        raise ValueError(f"output is missing: the network has {last + 1} outputs; pass the number of one, from 0")
    chosen = network if not last else network.outputs([integer(output, "output", least=0, most=last)])
    if not last and output is not None:
        integer(output, "output", least=0, most=0)
    level = real(threshold, "threshold")
    require_domain_of(domain, chosen, LEVEL_SETS)
    if domain.dimension > 2:
        return level_surface(chosen, domain, level, limit, progress, workers)
    found = decisions(chosen, domain, threshold=level, limit=limit, progress=progress, workers=workers)
    return LevelSet(
        found.partition, found.classes, found.facets, found.names, found.scores, found, level, network, output or 0
    )
