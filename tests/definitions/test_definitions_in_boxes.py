# SPDX-License-Identifier: MIT
"""Are linear regions right in three and more dimensions, in each sense that is known there?

The judge evaluates the network in fractions at the means of up to d vertices of each region: every face of a region
has such a mean inside.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import regions
from generator_parts import network as network_of
from generator_parts import small_integers, zeros
from regions.errors import CountNotDecided, DomainError
from regions.networks.network import Network

Point = tuple[Fraction, ...]

CUBE = regions.Box([-1.0] * 3, [1.0] * 3)
AXES = ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0])


def passed(net: Network, point: Point) -> tuple[tuple[bool, ...], list[Fraction]]:
    """Return the pattern and the outputs at a point of input space, layer by layer in fractions."""
    values, bits = list(point), []
    for number, layer in enumerate(net.layers):
        sums = [
            sum((Fraction(w) * x for w, x in zip(row, values, strict=True)), Fraction(bias))
            for row, bias in zip(layer.weights.tolist(), layer.biases.tolist(), strict=True)
        ]
        if number < len(net.layers) - 1:
            bits += [each > 0 for each in sums]
            sums = [max(each, Fraction(0)) for each in sums]
        values = sums
    return tuple(bits), values


def judged(net: Network, box: regions.Box) -> tuple[int, int, int]:
    """Return the numbers of patterns, of open and of affine regions."""
    part = regions.enumerate(net, box)
    exact = part.exact_vertices()
    patterns, maps = set(), []
    for region in range(len(part)):
        corners = [exact[v] for v in part.cell_vertices[slice(*part.cell_offsets[region : region + 2])]]
        for size in range(1, part.dimension + 1):
            for chosen in combinations(corners, size):
                patterns.add(passed(net, tuple(sum(x, Fraction(0)) / size for x in zip(*chosen, strict=True)))[0])
        inside = tuple(sum(x, Fraction(0)) / len(corners) for x in zip(*corners, strict=True))
        patterns.add(passed(net, inside)[0])
        # The affine map of a region is known by its values at all corners and inside, extended affinely.
        values = [passed(net, inside)[1], *(passed(net, corner)[1] for corner in corners)]
        maps.append(affine_map([inside, *corners], values))
    names = list(range(len(part)))
    for first, second in part.facet_regions.tolist():
        if second >= 0 and maps[first] == maps[second]:
            names = [names[first] if name == names[second] else name for name in names]
    return len(patterns), len(set(names)), len(set(maps))


def affine_map(points: list[Point], values: list[list[Fraction]]) -> tuple[tuple[Fraction, ...], ...]:
    """Return the coefficients of the affine map through values at points that span the space."""
    rows = [[*point, Fraction(1), *value] for point, value in zip(points, values, strict=True)]
    size = len(points[0]) + 1
    for column in range(size):
        pivot = next(row for row in range(column, len(rows)) if rows[row][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [x / rows[column][column] for x in rows[column]]
        for row in range(len(rows)):
            if row != column and rows[row][column]:
                factor = rows[row][column]
                rows[row] = [x - factor * y for x, y in zip(rows[row], rows[column], strict=True)]
    assert not any(any(row) for row in rows[size:])  # one affine map
    return tuple(tuple(row[size:]) for row in rows[:size])


def known(net: Network, box: regions.Box) -> tuple[int, int, int]:
    return tuple(regions.count(net, box, name) for name in ("pattern", "open", "affine"))  # type: ignore[return-value]


def test_by_hand() -> None:
    # Each of x, y, z is on or off: eight octants, and no face has another pattern, because 0 counts as off.
    octants = Network([AXES, ([[1, 1, 1]], [0])])
    assert {name: regions.count(octants, CUBE, name) for name in ("pattern", "activation", "open", "closed")} == {
        "pattern": 8,
        "activation": 8,
        "open": 8,
        "closed": 8,
    }
    # |x|: both are off where x = 0.
    absolute = Network([([[1, 0, 0], [-1, 0, 0]], [0, 0]), ([[1, 1]], [0])])
    assert known(absolute, CUBE) == (3, 2, 2)
    # All of x, -x, y, -y, z, -z: three signs of each coordinate.
    signs = Network([(np.vstack([np.eye(3), -np.eye(3)]), None), (np.ones((1, 6)), None)])
    assert known(signs, CUBE) == (27, 8, 8)
    # On an edge between two vertices only, z and 1 - z are both on while x, -x, y and -y are off.
    rows = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    edge = Network([(rows, [0, 0, 0, 0, 0, 1]), (np.ones((1, 6)), None)])
    assert known(edge, regions.Box([-1.0] * 3, [1.0, 1.0, 2.0])) == (27, 12, 12)
    four = Network([(np.vstack([np.eye(4), -np.eye(4)]), None), (np.ones((1, 8)), None)])
    assert known(four, regions.Box([-1.0] * 4, [1.0] * 4)) == (81, 16, 16)
    # Neurons that cancel: one region.
    cancelled = Network([([[1, 0, 0], [1, 0, 0]], [0, 0]), ([[1, -1]], [0])])
    assert known(cancelled, CUBE) == (2, 1, 1)
    assert regions.count(cancelled, CUBE, "convex") == regions.count(cancelled, CUBE, "closed") == 1


def test_what_is_not_decided() -> None:
    # The hat of x is 0 on both sides: two open regions, one map. In between it is positive, so "closed" is 4, but is
    # not computed.
    hat = Network([([[1, 0, 0]] * 3, [0, -0.25, -0.5]), ([[1, -2, 1]], [0])])
    assert known(hat, CUBE) == (4, 4, 3)
    with pytest.raises(CountNotDecided, match="closed regions") as refused:
        regions.count(hat, CUBE, "closed")
    assert (refused.value.least, refused.value.most) == (3, 4)
    corner = Network([AXES, ([[-1, -1, -1]], [0]), ([[1]], [0])])  # zero everywhere, in nine patterns
    assert regions.count(corner, CUBE, "convex") == 1
    partly = Network([AXES, ([[1, 0, 0]], [0])])
    assert regions.count(partly, CUBE, "open") == 2
    with pytest.raises(CountNotDecided, match="between 2 .open. and 8 .activation."):
        regions.count(partly, CUBE, "convex")


def test_shapes_are_refused() -> None:
    found = regions.linear_regions(regions.enumerate(Network([AXES, ([[1, 0, 0]], [0])]), CUBE), "affine")
    assert sorted(np.bincount(found.labels)) == [4, 4]
    for name in ("polygons", "intervals"):
        with pytest.raises(DomainError, match="(polygons|intervals) of linear regions exist in .*, or their"):
            getattr(found, name)


@pytest.mark.parametrize("seed", range(6))
def test_small_integers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = [3, int(rng.integers(2, 5)), int(rng.integers(1, 4)), 1]
    net = network_of(rng, sizes, small_integers, [zeros, small_integers][seed % 2])
    assert known(net, CUBE) == judged(net, CUBE)
