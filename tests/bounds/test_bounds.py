# SPDX-License-Identifier: MIT
"""Do the bounds on the number of regions have the values of the theorems?

Tests use worked values, and for every recursion the theorem's own sum, term by term.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest

import regions
from regions import bounds
from regions.errors import BoundDoesNotApply, RegionsError

ALL = ["raghu", "montufar2017", "serra2018_upper", "pascanu2013_lower", "montufar2014_lower", "serra2018_lower"]
TABLE = [  # n_in, widths, then in the order of ALL; a short row has upper bounds only
    (1, [3, 3], 16, 16, 16, 12, 12, 16),
    (1, [4, 4, 4], 125, 125, 125, 80, 80, 125),
    (1, [8] * 4, 6561, 6561, 6561, 4608, 4608, 6561),
    (2, [4, 4], 121, 121, 121, 22, 44, None),
    (2, [6, 6], 484, 484, 484, 66, 198, 352),
    (2, [8, 8], 1369, 1369, 1369, 148, 592, 925),
    (2, [6, 6, 6], 10648, 10648, 10648, 198, 1782, 5632),
    (2, [16, 16], 18769, 18769, 18769, 1096, 8768, 11097),
    (2, [16] * 3, 2571353, 2571353, 2571353, 8768, 561152, 898857),
    (2, [32] * 3, 148035889, 148035889, 148035889, 135424, 34668544, 44182609),
    (2, [64] * 3, 9011897441, 9011897441, 9011897441, 2130944, 2182086656, 2467901601),
    (3, [9, 9], 16900, 16900, 16900, 390, 3510, 8320),
    (4, [12, 12], 630436, 630436, 630436, 2382, 64314, 203264),
    (2, [2, 2], 16, 16, 11),
    (2, [3, 2, 3], 196, 196, 100),
    (5, [4, 4], 256, 256, 163),
    (10, [10, 10], 1048576, 1048576, 616666),
    (784, [10] * 3, 2**30, 2**30, 365139905),
    (784, [10] * 4, 2**40, 2**40, 216643797580),
    (784, [11, 11], 2**22, 2**22, 2449868),
    (784, [20, 2], 2**22, 2**22, 4194281),
    (784, [2, 20], 2**22, 844, 254),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]};{row[1]}")
def test_deep_networks(row: tuple) -> None:
    n_in, widths, *expected = row
    for name, value in zip(ALL, expected, strict=False):
        bound = getattr(bounds, name)
        if value is None:
            with pytest.raises(BoundDoesNotApply, match=r"widths of at least 6.*widths\[0\] is 4"):
                bound(n_in, widths)
        else:
            assert bound(n_in, widths) == value
            assert type(bound(n_in, widths)) is int


@pytest.mark.parametrize(
    ("n_in", "widths", "unrelated", "pairs"),
    [
        (2, [4], 37, 33),
        (2, [4, 4], 1369, 1089),
        (2, [8, 8], 18769, 16641),
        (3, [8, 8], 485809, 332929),
        (1, [4, 4], 81, 81),
        (2, [2], 11, 9),
        (2, [3], 22, 19),
        (3, [3], 42, 27),
        (3, [4], 93, 65),
        (3, [5], 176, 131),
    ],
)
def test_hard_tanh(n_in: int, widths: list[int], unrelated: int, pairs: int) -> None:
    assert bounds.raghu_hard_tanh(n_in, widths) == bounds.raghu_hard_tanh(n_in, widths, form="2k") == unrelated
    assert bounds.raghu_hard_tanh(n_in, widths, form="pairs") == pairs
    assert bounds.raghu(n_in, widths, breakpoints=2) == bounds.montufar2017(n_in, widths, breakpoints=2) == pairs


def test_breakpoints_may_differ_from_layer_to_layer() -> None:
    assert bounds.raghu(2, [4, 4], breakpoints=[1, 2]) == 11 * 33
    assert bounds.trivial(2, [4, 3], breakpoints=[2, 1]) == 81 * 8
    assert bounds.raghu(5, [4], breakpoints=3) == bounds.trivial(5, [4], breakpoints=3) == 4**4
    assert bounds.montufar2017(5, [2, 7], breakpoints=2) == 9 * (1 + 14 + 84)
    assert bounds.raghu(2, [5, 4], breakpoints=[0, 1]) == 11  # a layer without a kink


def test_one_layer() -> None:
    assert [bounds.zaslavsky(2, k) for k in range(1, 13)] == [2, 4, 7, 11, 16, 22, 29, 37, 46, 56, 67, 79]
    assert [bounds.zaslavsky(3, k) for k in range(1, 13)] == [2, 4, 8, 15, 26, 42, 64, 93, 130, 176, 232, 299]
    assert [bounds.zaslavsky(4, k) for k in range(1, 13)] == [2, 4, 8, 16, 31, 57, 99, 163, 256, 386, 562, 794]
    assert [bounds.zaslavsky_bounded(2, k) for k in range(1, 13)] == [0, 0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55]
    assert [bounds.cover_central(3, k) for k in range(1, 11)] == [2, 4, 8, 14, 22, 32, 44, 58, 74, 92]
    assert [bounds.cover_central(4, k) for k in range(1, 11)] == [2, 4, 8, 16, 30, 52, 84, 128, 186, 260]
    assert [bounds.zaslavsky(3, 6, rank=rank) for rank in (0, 1, 2, 3, 9)] == [1, 7, 22, 42, 42]


@pytest.mark.parametrize(
    ("n", "d", "faces", "degree"),
    [
        (4, 2, (6, 16, 11), 2.9091),
        (8, 2, (28, 64, 37), 3.4595),
        (5, 3, (10, 40, 55, 26), 4.2308),
        (8, 3, (56, 196, 232, 93), 4.9892),
        (8, 4, (70, 336, 616, 512, 163), 6.2822),
    ],
)
def test_faces_in_general_position(n: int, d: int, faces: tuple[int, ...], degree: float) -> None:
    assert bounds.generic_faces(d, n) == faces
    assert round(2 * faces[-2] / faces[-1], 4) == degree < bounds.gaines_bi_degree(d, n)


def test_faces_by_their_formula() -> None:
    for n, d in product(range(1, 9), range(1, 9)):
        terms = [
            comb(n, d - k) * sum(comb(n - d + k, i) for i in range(k + 1)) if n >= d - k else 0 for k in range(d + 1)
        ]
        faces = bounds.generic_faces(d, n)
        assert list(faces) == terms
        assert faces[-1] == bounds.zaslavsky(d, n)
        assert sum((-1) ** k * f for k, f in enumerate(faces)) == (-1) ** d


def test_depth_at_a_fixed_number_of_neurons() -> None:
    counts = [bounds.raghu(2, [24 // x] * x) for x in (1, 2, 3, 4, 6, 8, 12)]
    assert counts == [301, 6241, 50653, 234256, 1771561, 5764801, 16777216]


def test_zonotopes() -> None:
    shapes = [(2, [8, 3, 3]), (3, [8, 3, 3])]
    assert [bounds.arora2018_lower(*shape) for shape in [(2, [6, 2]), *shapes]] == [12, 72, 126]
    assert [bounds.serra2018_zonotope_lower(*shape) for shape in shapes] == [128, 224]
    assert bounds.arora2018_lower(3, [8]) == bounds.serra2018_zonotope_lower(3, [8]) == bounds.cover_central(3, 4)
    for widths in ([7, 3], [6, 3, 4], [6, 1]):
        with pytest.raises(BoundDoesNotApply, match="widths 2 m, w"):
            bounds.arora2018_lower(2, widths)
    with pytest.raises(BoundDoesNotApply, match="w at least 3"):
        bounds.serra2018_zonotope_lower(2, [6, 2, 2])


def test_a_zonotope_that_is_cut_by_two_units() -> None:
    """Six cones on which |x| + |y| + |x + y| grows from 0 without end, and two of its level lines."""
    normals = np.array([[1, 0], [0, 1], [1, 1]])
    layers = [(np.vstack([normals, -normals]), None), (np.ones((2, 6)), [-1, -2]), ([[1, 1]], None)]
    found = regions.count(regions.Network(layers), regions.Plane([0, 0], [1, 0], [0, 1]))
    assert found == bounds.serra2018_zonotope_lower(2, [6, 2]) == 18


def test_telgarsky() -> None:
    assert bounds.telgarsky_lower(1, [2, 3, 2]) == 8
    for shape, reason in (((2, [2, 2]), "one input"), ((1, [2, 1]), "two units")):
        with pytest.raises(BoundDoesNotApply, match=reason):
            bounds.telgarsky_lower(*shape)


def test_two_by_two_on_a_line_is_not_reached() -> None:
    assert bounds.serra2018_upper(1, [2, 2]) == 9  # 7 is the maximum
    with pytest.raises(BoundDoesNotApply):
        bounds.serra2018_lower(1, [2, 2])


def serra_sum(n_in: int, widths: Sequence[int], caps: Sequence[int]) -> int:
    """Return the bound of Theorem 1 of Serra et al., written out."""
    total = 0
    for j in product(*(range(width + 1) for width in widths)):
        limits = [min([n_in, *(widths[i] - j[i] for i in range(l)), caps[l]]) for l in range(len(widths))]  # noqa: E741
        if all(inactive <= limit for inactive, limit in zip(j, limits, strict=True)):
            total += prod(map(comb, widths, j))
    return total


def hinz_sum(dimension: int, widths: Sequence[int]) -> int:
    """Return the recursion over histograms, entry by entry."""
    if not widths:
        return 1
    n, rest = widths[0], widths[1:]
    most = [1 + 2 * k if dimension == 1 else 1 + k * n for k in range(n + 1)]  # regions with at most k inactive
    binomials = [sum(comb(n, i) for i in range(min(k, dimension) + 1)) for k in range(n + 1)]
    if dimension not in (1, 2):
        most = binomials
    tail = [min(a, binomials[-1]) for a in most]
    exactly = [tail[0], *(b - a for a, b in zip(tail, tail[1:], strict=False))]
    return sum(count * hinz_sum(min(dimension, n - k), rest) for k, count in enumerate(exactly))


def test_the_quick_sums() -> None:
    rng = np.random.default_rng(0)
    for _ in range(150):
        n_in, widths = int(rng.integers(1, 7)), rng.integers(1, 7, size=rng.integers(1, 4)).tolist()
        ranks = [int(rng.integers(0, width + 1)) for width in widths]
        assert bounds.serra2018_upper(n_in, widths) == serra_sum(n_in, widths, widths)
        assert bounds.serra2018_upper(n_in, widths, ranks=ranks) == serra_sum(n_in, widths, ranks)
        assert bounds.hinz_vandegeer(n_in, widths) == hinz_sum(n_in, widths)
        assert bounds.raghu(n_in, widths) == prod(sum(comb(w, i) for i in range(n_in + 1)) for w in widths)


def test_the_widest_layers_in_a_plane_are_quick() -> None:
    for width in (10**5, 10**6):
        assert bounds.serra2018_upper(2, [width]) == bounds.hinz_vandegeer(2, [width]) == bounds.zaslavsky(2, width)
    assert bounds.serra2018_upper(2, [10**6, 1], ranks=[2, 1]) == 2 * bounds.zaslavsky(2, 10**6)
    with pytest.raises(ValueError, match="coefficients of 1000000 up to the order 1000000 .* or fewer dimensions"):
        bounds.serra2018_upper(10**6, [10**6])


def test_hinz_is_sharper_than_serra_for_four_units_in_a_plane() -> None:
    assert bounds.hinz_vandegeer(2, [4, 4]) == 109
    assert bounds.hinz_vandegeer(2, [4, 3, 2]) < bounds.serra2018_upper(2, [4, 3, 2])
    for widths in ([3, 3], [5, 5], [6, 2, 6], [2, 2]):
        assert bounds.hinz_vandegeer(2, widths) == bounds.serra2018_upper(2, widths)
        assert bounds.hinz_vandegeer(1, widths) == bounds.serra2018_upper(1, widths)


def test_activation_histograms_of_half_planes() -> None:
    """At most 1 + k n regions lie outside of at most k of n half-planes, and some half-planes attain this, as in Hinz
    2021.
    """
    rng = np.random.default_rng(3)
    for n in (3, 4, 5):
        best = np.zeros(n + 1, dtype=int)
        for _ in range(300):
            angles = 2 * np.pi * (np.arange(n) + 0.3 * rng.random(n)) / n
            outside = _inactive_counts(np.c_[np.cos(angles), np.sin(angles), rng.standard_normal(n)])
            best = np.maximum(best, np.cumsum(np.bincount(outside, minlength=n + 1)))
        assert best.tolist() == [min(1 + k * n, bounds.zaslavsky(2, n)) for k in range(n + 1)]


def _inactive_counts(lines: np.ndarray) -> list[int]:
    """Number of inactive half-planes a x + b y + c > 0 in each region: all four around each crossing."""
    patterns = set()
    for i, j in product(range(len(lines)), repeat=2):
        if i < j:
            x, y = np.linalg.solve(lines[[i, j], :2], -lines[[i, j], 2])
            active = lines @ [x, y, 1.0] > 0
            for active[i], active[j] in product((False, True), repeat=2):
                patterns.add(tuple(active))
    return [pattern.count(False) for pattern in patterns]


@pytest.mark.parametrize(
    ("n_in", "units", "rank", "expected"),
    [(1, 4, 3, 9), (2, 2, 3, 9), (2, 3, 3, 19), (2, 4, 3, 33), (2, 5, 4, 106), (3, 4, 3, 65), (3, 5, 3, 131)],
)
def test_one_layer_of_maxout(n_in: int, units: int, rank: int, expected: int) -> None:
    assert bounds.maxout_montufar_ren_zhang(n_in, units, rank) == expected
    assert bounds.maxout_montufar_ren_zhang(n_in, units, [[rank] * units]) == expected
    low, high = (f(n_in, units, rank) for f in (bounds.maxout_montufar2014_lower, bounds.maxout_montufar2014_upper))
    assert low == rank ** min(n_in, units)
    assert low <= expected <= high == min(bounds.zaslavsky(n_in, rank**2 * units), rank**units)
    assert expected <= bounds.maxout_serra(n_in, units, rank)


def test_maxout() -> None:
    assert bounds.maxout_montufar_ren_zhang(2, [3, 3], 3) == 361
    assert bounds.maxout_serra(2, [3, 3], 3) == 2116
    assert bounds.maxout_montufar_ren_zhang(2, [4, 3], [3, 2]) == 33 * 7
    assert bounds.maxout_montufar_ren_zhang(2, [3], [[2, 3, 4]]) == 1 + (1 + 2 + 3) + (2 + 3 + 6)
    assert bounds.maxout_montufar_ren_zhang(9, [2, 5], 2) == bounds.montufar2017(9, [2, 5])  # rank 2: one hyperplane
    assert bounds.maxout_montufar_ren_zhang(2, [3, 3], 1) == 1
    assert bounds.maxout_montufar_ren_zhang_lower(2, [4, 3], 3) == 5**2 * 19
    assert bounds.maxout_montufar2014_lower(2, [2, 2, 2], 3) == 3**2 * 3**2
    assert bounds.maxout_montufar2014_lower(2, [2, 2, 2], 2) == 2**6
    with pytest.raises(BoundDoesNotApply, match=r"even multiples of 2 inputs; widths\[0\] is 6"):
        bounds.maxout_montufar_ren_zhang_lower(2, [6, 3], 3)
    with pytest.raises(BoundDoesNotApply, match="2 units, one per input"):
        bounds.maxout_montufar2014_lower(2, [3, 3], 3)
    with pytest.raises(BoundDoesNotApply, match="one hidden layer"):
        bounds.maxout_montufar2014_upper(2, [3, 3], 3)
    with pytest.raises(ValueError, match="rank must have one entry for each of 2 hidden layers"):
        bounds.maxout_montufar_ren_zhang(2, [3, 3], [3])
    with pytest.raises(ValueError, match=r"rank\[1\] must have one entry for each of 3 units, got 2"):
        bounds.maxout_montufar_ren_zhang(2, [3, 3], [3, [2, 2]])


def test_graph() -> None:
    assert bounds.gaines_bi_degree(3, [5]) == bounds.gaines_bi_facets(3) == 6
    assert bounds.gaines_bi_facets(0) == 0
    assert bounds.gaines_bi_min_degree(3, [2, 9]) == 2
    assert bounds.gaines_bi_diameter(3, [2, 9]) == 100


def test_large_networks_are_quick() -> None:
    upper = [bounds.raghu, bounds.montufar2017, bounds.hinz_vandegeer, bounds.serra2018_upper, bounds.raghu_hard_tanh]
    lower = [bounds.pascanu2013_lower, bounds.montufar2014_lower]
    for bound in upper + lower:
        start = time.process_time()
        value = bound(784, [1000] * 4)
        assert value > 2**999
        assert time.process_time() - start < 10  # measured: 30 ms; the sums of the theorems would take hours


SHAPED: list[Callable[..., object]] = [
    bounds.raghu,
    bounds.raghu_hard_tanh,
    bounds.montufar2017,
    bounds.trivial,
    bounds.serra2018_upper,
    bounds.hinz_vandegeer,
    bounds.zaslavsky,
    bounds.zaslavsky_bounded,
    bounds.cover_central,
    bounds.generic_faces,
    bounds.pascanu2013_lower,
    bounds.gaines_bi_degree,
    bounds.gaines_bi_diameter,
]


@pytest.mark.parametrize("bound", SHAPED)
@pytest.mark.parametrize(
    ("n_in", "widths", "error", "message"),
    [
        (0, [4], ValueError, "n_in must be at least 1, got 0"),
        (2.0, [4], TypeError, "n_in must be an integer, got 2.0"),
        (True, [4], TypeError, "n_in must be an integer, got True"),
        (np.True_, [4], TypeError, "n_in must be an integer"),
        (None, [4], TypeError, "n_in must be an integer, got None"),
        (2, [], ValueError, "widths is empty"),
        (2, [0], ValueError, r"widths\[0\] must be at least 1, got 0"),
        (2, [-3], ValueError, r"widths\[0\] must be at least 1"),
        (2, [1.5], TypeError, r"widths\[0\] must be an integer, got 1.5"),
        (2, [False], TypeError, r"widths\[0\] must be an integer, got False"),
        (2, 0, ValueError, "widths must be at least 1"),
        (2, "4", TypeError, "widths must be a sequence of numbers, got '4'"),
        (2, None, TypeError, "widths must be an integer, got None"),
        (2, np.array([[4]]), TypeError, r"widths\[0\] must be an integer"),
    ],
)
def test_bad_shapes(bound: Callable[..., object], n_in: object, widths: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        bound(n_in, widths)


def test_shapes_may_be_numpy_or_iterators() -> None:
    assert bounds.raghu(np.int64(2), np.array([4, 4])) == bounds.raghu(2, iter([4, 4])) == 121
    assert type(bounds.raghu(np.int64(2), np.array([4, 4]))) is int
    assert bounds.raghu(784, np.array([1000] * 4)).bit_length() > 64


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bounds.raghu(2, [4, 4], breakpoints=[1]), ValueError, "one entry for each of 2 hidden layers, got 1"),
        (lambda: bounds.raghu(2, [4, 4], breakpoints=-1), ValueError, "breakpoints must be at least 0"),
        (lambda: bounds.raghu_hard_tanh(2, [4], form="k"), ValueError, "form must be one of '2k', 'pairs', got 'k'"),
        (lambda: bounds.serra2018_upper(2, [4], ranks=[-1]), ValueError, r"ranks\[0\] must be at least 0"),
        (lambda: bounds.serra2018_upper(2, [4], ranks=[1, 1]), ValueError, "one entry for each of 1 hidden layers"),
        (lambda: bounds.zaslavsky(2, [4, 4]), BoundDoesNotApply, "one hidden layer, there are 2"),
        (lambda: bounds.cover_central(2, [4, 4]), BoundDoesNotApply, "one hidden layer"),
        (lambda: bounds.generic_faces(2, [4, 4]), BoundDoesNotApply, "one hidden layer"),
        (lambda: bounds.pascanu2013_lower(3, [4, 2]), BoundDoesNotApply, r"at least 3.*widths\[1\] is 2"),
        (lambda: bounds.montufar2014_lower(3, [4, 2]), BoundDoesNotApply, "Theorem 5"),
        (lambda: bounds.maxout_serra(2, [4], 0), ValueError, "rank must be at least 1"),
        (lambda: bounds.gaines_bi_facets(-1), ValueError, "dimension must be at least 0"),
    ],
)
def test_bad_arguments(call: Callable[[], object], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_the_refusal_is_an_error_of_the_package_and_a_value_error() -> None:
    assert issubclass(BoundDoesNotApply, RegionsError)
    assert issubclass(BoundDoesNotApply, ValueError)
    assert bounds.BoundDoesNotApply is BoundDoesNotApply


@pytest.mark.parametrize(("hidden", "n_in"), [(24, 1), (24, 2), (24, 3), (60, 4), (36, 6)])
def test_the_chain_of_raghu(hidden: int, n_in: int) -> None:
    """Finer divisions of all units into equal layers have larger bounds, up to the number of all patterns."""
    depths = [depth for depth in range(1, hidden + 1) if hidden % depth == 0]
    chain = [bounds.raghu(n_in, [hidden // depth] * depth) for depth in depths]
    # Independently: the bound of a layer is a sum of binomial coefficients, or all subsets.
    for depth, found in zip(depths, chain, strict=True):
        width = hidden // depth
        assert found == sum(comb(width, k) for k in range(n_in + 1)) ** depth
        assert (found == 2**hidden) is (width <= n_in)
    before_the_end = [found for found in chain if found < 2**hidden]
    assert before_the_end == sorted(set(before_the_end)) and max(chain) == chain[-1] == 2**hidden


def test_the_share_of_closed_layers() -> None:
    """By all patterns: each gate of each layer is open in half of them."""
    for widths in ([1], [2, 3], [3, 1, 2]):
        ends = np.cumsum([0, *widths])
        patterns = np.array(list(product([0, 1], repeat=sum(widths))))
        closed = [(patterns[:, a:b] == 0).all(axis=1) for a, b in zip(ends, ends[1:], strict=False)]
        assert bounds.expected_closed_share(2, widths) == Fraction(int(np.any(closed, axis=0).sum()), len(patterns))
    with pytest.raises(ValueError, match="at most 1,000,000 units"):
        bounds.expected_closed_share(1, [10**6, 1])


def test_means_with_long_denominators_are_refused_at_once() -> None:
    """A fraction over 2^9,000,000 takes Python two minutes."""
    with pytest.raises(ValueError, match=r"the denominator 2\*\*9000000 has too many digits"):
        bounds.expected_regions(1, [10**6] * 10)
