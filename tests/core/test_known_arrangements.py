# SPDX-License-Identifier: MIT
"""Do arrangements in three to seven dimensions have the numbers of regions that combinatorics knows?

Central ones are counted in a box around 0; reflection arrangements have as many regions as their group has elements.
Deformations of the braid arrangement are counted in the hyperplane where the last coordinate is 0, in a box that meets
all of their regions. Sources: Stanley, An introduction to hyperplane arrangements, 2007 (braid, Shi, Catalan, Linial,
semiorder); Humphreys, Reflection groups and Coxeter groups, 1990 (orders); OEIS A034997 (resonance) and A000609
(threshold functions).
"""

from __future__ import annotations

from itertools import combinations, product
from math import factorial

import numpy as np
import pytest

import regions
from polytope_cases import braid, network_of, signed
from regions import Box
from regions.ground.arithmetic.types import Floats


def deformed(n: int, offsets: list[float], both: bool = False) -> tuple[Floats, Floats]:
    """Return x_i - x_j = c for i < j, or for all i and j, and these numbers c; the last coordinate is 0."""
    rows = np.concatenate([braid(n), -braid(n)]) if both else braid(n)
    return np.repeat(rows, len(offsets), axis=0), np.tile([-each for each in offsets], len(rows))


def roots_of_f4() -> Floats:
    halves = np.array([[1.0, *signs] for signs in product((1.0, -1.0), repeat=3)])
    return np.vstack([signed(4, single=True), halves])


def roots_of_e8() -> Floats:
    """Return the 120 pairs of roots, times 2."""
    halves = [[1.0, *signs] for signs in product((1.0, -1.0), repeat=7) if np.prod(signs) > 0]
    return np.vstack([2 * signed(8, single=False), np.array(halves)])


def roots_of_e(n: int) -> Floats:
    """Return the pairs of roots of E6 or E7, in coordinates of their space.

    These are the roots of E8 that are orthogonal to the root e7 + e8, and for E6 also to e6 + e8. The coordinates that
    depend on the others are left out.
    """
    roots = roots_of_e8()
    orthogonal = roots[:, 6] + roots[:, 7] == 0
    if n == 6:
        orthogonal &= roots[:, 5] + roots[:, 7] == 0
    kept = roots[orthogonal]
    # x_7 = -x_8, and for E6 also x_6 = -x_8.
    last = kept[:, 7] - kept[:, 6] - (kept[:, 5] if n == 6 else 0)
    return np.column_stack([kept[:, : n - 1], last])


def all_sums(n: int) -> Floats:
    return np.array(list(product([0.0, 1.0], repeat=n)))[1:]


def of_signs(n: int) -> Floats:
    """Return 1 w + sum of x_i, with all signs: threshold functions of n variables."""
    return np.array([[1.0, *each] for each in product((-1.0, 1.0), repeat=n)])


CENTRAL = {
    "braid 3 to 6": [(braid(n), factorial(n)) for n in (4, 5, 6)],
    "type B": [(signed(n, single=True), 2**n * factorial(n)) for n in (3, 4)],
    "type D": [(signed(n, single=False), 2 ** (n - 1) * factorial(n)) for n in (4, 5)],
    "F4": [(roots_of_f4(), 1152)],
    "resonance": [(all_sums(n), known) for n, known in ((3, 32), (4, 370))],
    "threshold functions": [(of_signs(n), known) for n, known in ((2, 14), (3, 104))],
}
DEFORMED = {
    "Shi": ([0.0, 1.0], False, {4: 125, 5: 1296}),
    "Catalan": ([0.0, 1.0, -1.0], False, {4: 336, 5: 5040}),
    "semiorder": ([1.0, -1.0], False, {4: 183, 5: 2371}),
    "Linial": ([1.0], False, {4: 36, 5: 246}),
}


@pytest.mark.parametrize("name", CENTRAL)
def test_central_arrangements(name: str) -> None:
    for normals, known in CENTRAL[name]:
        d = normals.shape[1]
        assert regions.count(network_of(normals, np.zeros(len(normals))), Box([-64] * d, [64] * d)) == known


@pytest.mark.parametrize("name", DEFORMED)
def test_deformations_of_the_braid_arrangement(name: str) -> None:
    offsets, both, numbers = DEFORMED[name]
    for n, known in numbers.items():
        net = network_of(*deformed(n, offsets, both))
        assert regions.count(net, Box([-64] * (n - 1), [64] * (n - 1))) == known


def test_planes_in_a_grid() -> None:
    normals, offsets = np.repeat(np.eye(3), 7, axis=0), np.tile(np.arange(-3.0, 4.0), 3)
    part = regions.enumerate(network_of(normals, offsets), Box([-64] * 3, [64] * 3))
    assert len(part) == 512 and len(part.vertices) == 729


@pytest.mark.slow
@pytest.mark.parametrize(
    ("normals", "known"),
    [
        (signed(5, single=True), 2**5 * factorial(5)),
        (roots_of_e(6), 51_840),
        (all_sums(5), 11_292),
        (of_signs(4), 1_882),
    ],
    ids=["B5", "E6", "resonance", "threshold functions"],
)
def test_large_central_arrangements(normals: Floats, known: int) -> None:
    d = normals.shape[1]
    assert regions.count(network_of(normals, np.zeros(len(normals))), Box([-64] * d, [64] * d)) == known


def test_roots_are_as_many_as_they_should_be() -> None:
    assert [len(roots) for roots in (roots_of_f4(), roots_of_e(6), roots_of_e(7), roots_of_e8())] == [24, 36, 63, 120]
    pairs = combinations(map(tuple, roots_of_e(7).tolist()), 2)
    assert all(one != other and one != tuple(-x for x in other) for one, other in pairs)
