# SPDX-License-Identifier: MIT
"""Which regions have an input whose coordinates are numbers of a format?

A region that is smaller than the gaps between the numbers of float16, say, may have none: no input of that format gets
its pattern. First the number nearest to the middle of each region is tried. What is left are small regions, in which
each row of numbers is cut with the exact polygon; of the numbers in a row, the two ends and one between them decide.
Cost: an exact pattern for each region, and some fractions for each row in the regions that are left.
Invariant: numbers of a format are counted in ascending order, so rows of them are ranges, also of the many of float32.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from regions.answers.rounded_patterns import exact_patterns
from regions.domains import Domain
from regions.domains.abilities import NUMBERS, require
from regions.domains.membership import contains
from regions.errors import CountNotDecided, DomainError
from regions.ground.arithmetic.arguments import one_of
from regions.ground.arithmetic.narrow_floats import NARROW, all_numbers, nearest_of
from regions.ground.arithmetic.types import Bits, Floats
from regions.passes.exact import ExactSigns
from regions.results.partition import Partition, require_partition

__all__ = ["contains_numbers"]

# Rows of numbers that are searched in a region at most; formats of 16 bits have fewer.
MOST_ROWS = 1 << 17
# Corners of a region in input space, counter-clockwise or clockwise.
_Corners = list[tuple[Fraction, ...]]


def contains_numbers(partition: Partition, dtype: str) -> Bits:
    """Find which regions have an input whose coordinates are numbers of a format.

    Such an input has the pattern of the region in exact arithmetic; numbers on the boundary belong to the region that
    has their pattern. A forward pass may round to another pattern: see `regions.rounded_patterns`.

    Parameters
    ----------
    partition : Partition
        The domain is bounded, with as many dimensions as the network has inputs: one or two.
    dtype : str
        "float32", "float16", "bfloat16", "float8e4m3fn", "float8e5m2", or another format that ONNX has with at most 16
        bits.

    Returns
    -------
    bool [R]

    Raises
    ------
    DomainError
        The domain is unbounded, or is a slice of a space of more dimensions: there, numbers of a format are exceptions.
    CountNotDecided
        A region is so long and thin that too many rows of float32 numbers would have to be searched.
    TypeError, ValueError
        Not a partition; another format.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [1.0]], [-0.25, -0.25 - 2.0**-14]), ([[1.0, 1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Segment([0.0], [1.0]))
    >>> regions.contains_numbers(part, "bfloat16").tolist()
    [True, False, True]
    """
    require_partition(partition)
    domain = partition.domain
    require(NUMBERS, domain)
    if domain.dimension != partition.network.n_in:
        raise DomainError(
            "partition: numbers of a format are looked for in domains of as many dimensions as the network has inputs, "
            f"{partition.network.n_in}; {domain!r} has {domain.dimension}"
        )
    numbers = _Numbers(one_of(dtype, ("float32", *NARROW), "dtype"))
    network, patterns = partition.network, partition.patterns
    middles = numbers.nearest(domain.to_input(partition.interior_points))
    found = np.array([_is_in(domain, middle) for middle in middles], dtype=bool)
    found[found] = (exact_patterns(network, [middles[found]])[0] == patterns[found]).all(axis=1)
    signs = ExactSigns(network.graph, None)
    pattern = cache(lambda point: signs.pattern(np.array(point)).tobytes())
    for region in np.flatnonzero(~found).tolist():
        own, corners = patterns[region].tobytes(), _corners(partition, region)
        for row, points in enumerate(_rows(corners, numbers)):
            if row == MOST_ROWS:
                raise CountNotDecided(
                    f"region {region} is so long and thin that more than {MOST_ROWS:,} rows of {dtype} numbers cross "
                    "it; take a smaller domain",
                    least=int(found.sum()),
                    most=len(found),
                )
            if any(pattern(point) == own for point in points):
                found[region] = True
                break
    return found


class _Numbers:
    """The finite numbers of a format; each has a place in ascending order."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.table = None if dtype == "float32" else all_numbers(dtype)
        self.last = int(np.finfo(np.float32).max.view(np.int32)) if self.table is None else len(self.table) - 1
        self.first = -self.last if self.table is None else 0

    def nearest(self, values: Floats) -> Floats:
        """Return the numbers nearest to doubles; beyond the largest number, something that is not finite or it."""
        if self.table is not None:
            return nearest_of(values, self.dtype)
        with np.errstate(over="ignore"):
            return values.astype(np.float32).astype(np.float64)

    def at(self, place: int) -> float:
        """Return the number at a place."""
        if self.table is not None:
            return float(self.table[place])
        size = float(np.int32(abs(place)).view(np.float32))  # the bits of positive numbers ascend with the numbers
        return size if place >= 0 else -size

    def between(self, low: Fraction, high: Fraction) -> range:
        """Return the places of the numbers from one fraction to another one."""
        start, last = max(self._near(low) - 1, self.first), min(self._near(high) + 1, self.last)
        while start <= last and self.at(start) < low:
            start += 1
        while start <= last and self.at(last) > high:
            last -= 1
        return range(start, last + 1)

    def _near(self, value: Fraction) -> int:
        """Return a place such that one of the three numbers around it is nearest."""
        if self.table is not None:
            return int(np.searchsorted(self.table, float(value)))
        with np.errstate(over="ignore"):
            size = int(np.float32(abs(value)).view(np.int32))
        return size if value >= 0 else -size


def _is_in(domain: Domain, point: Floats) -> bool:
    """Return whether a point of input space is in a domain of as many dimensions, its boundary included."""
    if not np.isfinite(point).all():
        return False
    rows = [[Fraction(x) for x in row.tolist()] for row in domain.directions]
    apart = [Fraction(x) - Fraction(o) for x, o in zip(point.tolist(), domain.origin.tolist(), strict=True)]
    if len(rows) == 1:
        return contains(domain, [apart[0] / rows[0][0]])
    (a, b), (c, d) = rows
    whole = a * d - b * c
    return contains(domain, [(apart[0] * d - apart[1] * c) / whole, (a * apart[1] - b * apart[0]) / whole])


def _corners(partition: Partition, region: int) -> _Corners:
    """Return the exact corners of a region in input space."""
    cells, domain = slice(*partition.cell_offsets[region : region + 2]), partition.domain
    origin, directions = (np.vectorize(Fraction, otypes=[object])(each) for each in (domain.origin, domain.directions))
    exact = partition.exact_vertices(partition.cell_vertices[cells])
    return [tuple(origin + np.array(vertex, dtype=object) @ directions) for vertex in exact]


def _rows(corners: _Corners, numbers: _Numbers) -> Iterator[list[tuple[float, ...]]]:
    """Yield points of each row of a grid in a polygon or interval.

    If any point there has the pattern of the interior, one of these has.
    """
    if len(corners[0]) == 1:
        yield [(x,) for x in _between(corners, numbers)]
        return
    heights = [numbers.between(min(ends), max(ends)) for ends in zip(*corners, strict=True)]
    axis = int(len(heights[1]) <= len(heights[0]))  # with fewer rows
    turned = [(corner[1 - axis], corner[axis]) for corner in corners]
    for height in map(numbers.at, heights[axis]):
        inside = _between(_crossings(turned, Fraction(height)), numbers)
        yield [(x, height) if axis else (height, x) for x in inside]


def _crossings(corners: Sequence[tuple[Fraction, ...]], height: Fraction) -> list[tuple[Fraction, ...]]:
    """Return where a row meets the edges of a polygon."""
    found: list[tuple[Fraction, ...]] = []
    for (x, y), (u, v) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if y == height:
            found.append((x,))
        if (y - height) * (v - height) < 0:
            found.append((x + (u - x) * (height - y) / (v - y),))
    return found


def _between(places: Sequence[tuple[Fraction, ...]], numbers: _Numbers) -> list[float]:
    """Return the ends and the middle of the numbers between the outermost of some places."""
    inside = numbers.between(min(places)[0], max(places)[0])
    return [numbers.at(place) for place in sorted({inside[0], inside[len(inside) // 2], inside[-1]})] if inside else []
