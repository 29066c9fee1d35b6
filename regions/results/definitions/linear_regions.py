# SPDX-License-Identifier: MIT
"""What are the linear regions of a partition, in each published sense?

Stargalla, Hertrich and Reichman (2025) sort the definitions in use from R1, the finest, to R6; the enumerated
activation regions are their R2. The others are derived from R2. Finer: patterns on edges and vertices
(`lower_patterns.py`). Coarser: regions with one affine map (`equal_maps.py`) are merged if they share facets, if they
are connected in the closed set where the network equals that map (`level_sets.py`), or wherever they are. R3, the
smallest number of convex pieces, lies between R2 and R4. Beyond lines it is hard to compute unless these agree, and
refused; on a line the regions of R4 are intervals, and therefore convex. In three and more dimensions R5 is known where
R4 and R6 agree, between which it lies.
Invariant: all decisions are exact. Counts are about the network on the domain, with all outputs together.
Cost: affine maps, at most a few forward passes per region; for "closed" also `level_sets.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Literal, get_args

import numpy as np

from regions.domains.abilities import MERGED_INTERVALS, MERGED_POLYGONS, require
from regions.errors import CountNotDecided
from regions.files.tabular import Tabular
from regions.ground.arithmetic.arguments import one_of, seconds
from regions.ground.arithmetic.types import Floats, Integers, Objects
from regions.ground.text.tables import facts_table
from regions.ground.threads.deadline import call_with_time_limit, check_time
from regions.results.cells.complex import cached
from regions.results.cells.equal_maps import numbered
from regions.results.partition import Partition, require_complete

__all__ = ["DEFINITIONS", "Definition", "LinearRegions", "linear_regions"]

Definition = Literal["pattern", "activation", "convex", "open", "closed", "affine"]
DEFINITIONS: tuple[Definition, ...] = get_args(Definition)

# Most links in total of level sets that are followed together.
MOST_LINKS = 1 << 23


@dataclass(frozen=True, eq=False, repr=False)
class LinearRegions(Tabular):
    """The linear regions of a partition in one of the published senses. Returned by `linear_regions`.

    Attributes
    ----------
    partition : Partition
    definition : str
    count : int
        Number of linear regions.
    labels : int64 [R]
        Linear region of each activation region, numbered from 0 in the order of occurrence. In the sense "pattern"
        there are additional linear regions, on edges and vertices.
    """

    partition: Partition
    definition: Definition
    count: int
    labels: Integers

    def __len__(self) -> int:
        return self.count

    @property
    def polygons(self) -> Objects:
        """Merge the polygons of each linear region that has a label: shapely geometries, object [labels].

        They are in chart coordinates, and their corners are all of the partition's stored vertices on the outline. A
        linear region is a MultiPolygon if its pieces meet in vertices only, or are apart. Parts without area (which
        connect pieces in the sense "closed", or have patterns of their own) are not shown.
        Coordinates are rounded. The signed areas of the outlines still add up to the areas of the regions. But if
        rounding has folded or flattened a cell (`Partition.folded_cells`), an outline can cross or touch itself. Then
        shapely makes it valid: it can get corners that are not vertices, and slivers of the size of rounding as
        additional parts; a flat outline becomes an empty polygon. If that changed the area, or shapely failed, the
        polygon is left as it is, and ``shapely.is_valid`` returns False. Labels and counts do not depend on this.

        Raises
        ------
        DomainError
            A line, which has `intervals`; a whole plane, because shapely has no unbounded geometries; more than two
            dimensions.
        """
        from regions.results.definitions.shapes import merged_polygons

        require(MERGED_POLYGONS, self.partition.domain)
        return merged_polygons(self.partition, self.labels)

    @property
    def intervals(self) -> list[Floats]:
        """Return the intervals of each linear region that has a label, float64 [intervals, 2] in chart coordinates.

        The intervals of each linear region are ascending.

        Raises
        ------
        DomainError
            Not a line. A plane has `polygons`.
        """
        from regions.results.definitions.shapes import merged_intervals

        require(MERGED_INTERVALS, self.partition.domain)
        return merged_intervals(self.partition, self.labels)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a row for each linear region that has a label: its number of activation regions, and its volume,
        rounded.
        """
        regions, volumes = np.bincount(self.labels), np.bincount(self.labels, self.partition.volumes)
        return {"index": list(range(len(regions))), "regions": regions.tolist(), "volume": volumes.tolist()}

    def _repr_html_(self) -> str:
        facts = [
            ("definition", self.definition),
            ("linear regions", f"{self.count:,}"),
            ("activation regions", f"{len(self.partition):,}"),
            ("network", self.partition.network),
            ("domain", self.partition.domain),
        ]
        return facts_table(repr(self), facts)

    def __repr__(self) -> str:
        return f"LinearRegions({self.count} {self.definition}, from {len(self.partition)} activation regions)"


def linear_regions(partition: Partition, definition: Definition, *, timeout: float | None = None) -> LinearRegions:
    """Derive the linear regions of a partition in one of the published senses, exactly.

    Parameters
    ----------
    partition : Partition
        Bounded or not.
    definition : str
        "pattern" (R1): patterns attained anywhere in the domain or on its boundary, even on an edge or in a point only.
        "activation" (R2): those with interior, the regions of the partition.
        "convex" (R3): the fewest convex pieces that form a polyhedral complex and on each of which the network is
        affine. Known on lines, and if the numbers of "open" and "activation" regions agree.
        "open" (R4): the largest connected open sets on which the network is affine.
        "closed" (R5): connected components, if they have interior, of the sets where the network equals one of its
        affine maps. In three and more dimensions known if the numbers of "open" and "affine" regions agree.
        "affine" (R6): affine maps that the network has on sets with interior.
    timeout : float, optional
        Stop with `TimeoutReached` after this many seconds.

    Returns
    -------
    LinearRegions

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one; an unknown definition.
    TimeoutReached
        The regions of the partition could not be merged in time.
    CountNotDecided
        The number of "convex" regions, or of "closed" ones in three and more dimensions, if it is only known to be
        between ``least`` and ``most``.

    Notes
    -----
    Each sense has at most as many regions as the one before it. Affine maps are functions of the chart point, with all
    outputs.

    References
    ----------
    Stargalla, Hertrich, Reichman, The computational complexity of counting linear regions in ReLU neural networks,
    2025, definitions 1 to 6.

    Examples
    --------
    A hat, which is 0 on both sides:

    >>> import regions
    >>> hat = regions.Network([([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])])
    >>> part = regions.enumerate(hat, regions.Line([0.0], [1.0]))
    >>> linear_regions(part, "open")
    LinearRegions(4 open, from 4 activation regions)
    >>> flat = linear_regions(part, "affine")
    >>> flat.count, flat.labels, flat.intervals[0].tolist()
    (3, array([0, 1, 2, 0]), [[-inf, 0.0], [2.0, inf]])
    """
    if timeout is None:
        return _derived(partition, definition)
    with call_with_time_limit(seconds(timeout, "timeout")):
        return _derived(partition, definition)


def _derived(partition: Partition, definition: Definition) -> LinearRegions:
    name = one_of(definition, DEFINITIONS, "definition")
    require_complete(partition)
    check_time()
    if name in ("pattern", "activation"):
        labels = np.arange(len(partition))
    else:
        maps = partition.map_numbers
        labels = maps if name == "affine" else _open(partition)
        if name == "closed" and isinstance(partition, Partition) and partition.dimension == 2:
            labels = _closed(partition, maps, labels)
        elif name == "closed":
            _require_closed(partition, maps, labels)
        if name == "convex":
            _require_convex(partition, labels)
    count = int(labels.max(initial=-1)) + 1
    if name == "pattern":
        from regions.results.definitions.lower_patterns import lower_patterns

        count += len(lower_patterns(partition))
    labels.setflags(write=False)
    return LinearRegions(partition, name, count, labels)


@cached
def _open(partition: Partition) -> Integers:
    """Merge regions that share a facet and their map."""
    from regions.results.definitions.level_sets import components

    maps, pairs = partition.map_numbers, partition.facet_regions[partition.facet_regions[:, 1] >= 0].T
    same = maps[pairs[0]] == maps[pairs[1]]
    return numbered(components(len(partition), pairs[:, same]))


def _require_convex(partition: Partition, pieces: Integers) -> None:
    """Refuse open pieces that need not be a smallest set of convex pieces.

    They are such a set if each is an activation region, or all of the domain, and always on a line.
    """
    least, most = int(pieces.max(initial=-1)) + 1, len(partition)
    if 1 < least < most and partition.dimension > 1:
        raise CountNotDecided(
            f"the number of convex regions (R3) on {partition.domain!r} is between {least} (open) and {most} "
            "(activation); it is hard to compute, and only known here where these two agree or the first is 1",
            least=least,
            most=most,
        )


def _require_closed(partition: Partition, maps: Integers, pieces: Integers) -> None:
    """Refuse open pieces that may be connected where they do not share facets: in three and more dimensions, if two of
    them have one map.
    """
    least, most = int(maps.max(initial=-1)) + 1, int(pieces.max(initial=-1)) + 1
    if least < most and partition.dimension > 2:
        raise CountNotDecided(
            f"the number of closed regions (R5) on {partition.domain!r} is between {least} (affine) and {most} (open); "
            "from three dimensions on it is only known here where these two agree",
            least=least,
            most=most,
        )


def _closed(partition: Partition, maps: Integers, pieces: Integers) -> Integers:
    """Merge the open pieces with one map that are connected in the closed set where the network equals it."""
    from regions.results.cells.mesh import ranges
    from regions.results.definitions.level_sets import LevelSets

    _, first = np.unique(pieces, return_index=True)
    several = np.flatnonzero(np.bincount(maps[first]) > 1)
    if several.size == 0:
        return pieces
    result, sets = pieces.copy(), LevelSets(partition, maps)
    order, ends = np.argsort(maps, kind="stable"), np.append(0, np.cumsum(np.bincount(maps)))
    count = several.size
    while several.size:
        chosen = several[:count]
        members = order[ranges(ends[chosen], ends[chosen + 1] - ends[chosen])]
        components = sets.components(members, MOST_LINKS if count > 1 else inf)
        if components is None:
            count = -(-count // 4)
            continue
        _, one, component = np.unique(components, return_index=True, return_inverse=True)
        result[members] = pieces[members[one]][component]
        several = several[count:]
    return numbered(result)
