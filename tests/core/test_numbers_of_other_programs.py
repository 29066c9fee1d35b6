# SPDX-License-Identifier: MIT
"""Are results exact where other programs, samples or rounding give other numbers?

docs/other-tools.md lists what they give, with their versions. Expected values come from fractions.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import regions
from regions import reference
from regions.errors import DomainError

SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])


def random_network(*widths: int, seed: int = 0) -> regions.Network:
    rng = np.random.default_rng(seed)
    layers = [
        (rng.standard_normal((b, a)), rng.standard_normal(b) / 2) for a, b in zip(widths, widths[1:], strict=False)
    ]
    return regions.Network(layers)


def bundle(center: tuple[float, float], lines: int = 16) -> regions.Network:
    """Return a layer of float32 lines through a point, as well as the biases can be stored."""
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((lines, 2)).astype(np.float32)
    biases = np.float32(-(weights.astype(float) @ center))
    return regions.Network([(weights, biases), (np.ones((1, lines)), [0])])


def test_a_bundle_of_lines_in_fractions() -> None:
    """regioncam 0.5.2 finds 59 to 136 faces instead of 137, and 32 of 32 if all biases are 0."""
    net = bundle((0.3, 0.7))
    rows = [[*map(Fraction, row.tolist())] for row in np.column_stack([net.layers[0].weights, net.layers[0].biases])]
    for first, second, third in combinations(rows, 3):  # no three meet, and no two are parallel
        minors = [first[i] * second[j] - first[j] * second[i] for i, j in ((1, 2), (2, 0), (0, 1))]
        assert minors[2] != 0 and sum(x * y for x, y in zip(minors, third, strict=True)) != 0
    assert regions.count(net, regions.Plane([0, 0], [1, 0], [0, 1])) == 1 + 16 + 16 * 15 // 2 == 137
    assert regions.count(bundle((0.0, 0.0)), SQUARE) == 32


def test_lines_through_one_point_have_sectors() -> None:
    """affinitree 0.23.0 keeps all 2^12 sign patterns, because each of their closed cones holds the point."""
    weights = np.random.default_rng(0).standard_normal((12, 2))
    net = regions.Network([(weights, None), (np.ones((1, 12)), [0])])
    assert regions.count(net, regions.Plane([0, 0], [1, 0], [0, 1])) == reference.count(net, SQUARE) == 24


def test_corners_of_thin_regions() -> None:
    """cddlib in floating point finds the right corners of 13 of 137 such regions; fractions find all."""
    net = bundle((0.3, 0.7), 9)
    part = regions.enumerate(net, SQUARE)
    expected = reference.enumerate(net, SQUARE)
    assert len(part) == len(expected)
    corners = {region.pattern: len(region.vertices) for region in expected}
    assert {tuple(region.pattern.tolist()): len(region.vertices) for region in part} == corners


def test_repeated_inequalities_leave_their_facet() -> None:
    """Two functions of cddlib name different copies of a repeated inequality; together they drop the facet."""
    normals = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1], [1, 0, 0]], dtype=float)
    repeated = regions.Polytope(normals, np.ones(7))
    net = random_network(3, 5, 1)
    assert regions.count(net, repeated) == regions.count(net, regions.Box([-1] * 3, [1] * 3))
    part = regions.enumerate(net, repeated)
    assert part.volumes.sum() == pytest.approx(8) and regions.certify(part, net).ok


def test_intervals_that_are_empty_by_little_are_refused() -> None:
    """HiGHS accepts empty intervals of up to 1e-7."""
    normals = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    with pytest.raises(DomainError, match="no point|empty|interior"):
        regions.Polytope(normals, [0, -1e-12, 1, 1, 1, 1])


def test_a_bound_just_above_the_maximum_is_safe() -> None:
    """Marabou 2.0.0 answers "sat" for bounds up to 1e-7 above the maximum."""
    net = random_network(2, 6, 1)
    (greatest,) = regions.extremes(net, SQUARE).exact_maximum
    above = np.nextafter(float(greatest), np.inf)
    above = above if Fraction(above) > greatest else np.nextafter(above, np.inf)
    below = np.nextafter(above, -np.inf)
    below = below if Fraction(below) <= greatest else np.nextafter(below, -np.inf)
    assert regions.verify(net, SQUARE, [([[-1.0]], [-above])]).holds
    assert not regions.verify(net, SQUARE, [([[-1.0]], [-below])]).holds


def test_signs_of_sums_that_cancel() -> None:
    """As a batch, a row, or a transposed product, numpy gives -1.7e-18, 0 and 1.7e-18 for 0.3 * 0.1 - 0.3 * 0.1."""
    weights = np.array([[0.3, -0.3], [1.0, 0.0]])
    net = regions.Network([(weights, [0, 0]), ([[1, 1]], [0])])
    diagonal = regions.Segment([0.1, 0.1], [1.0, 1.0])
    part = regions.enumerate(net, diagonal)
    assert part.patterns.tolist() == [[False, True]]  # the first unit is exactly 0 on the whole segment
    assert reference.enumerate(net, diagonal)[0].pattern == (False, True)


def test_samples_see_fewer_regions_than_exist() -> None:
    """So does Chao's estimate of the number of unseen ones."""
    net = random_network(2, 24, 24, 1, seed=3)
    points = np.random.default_rng(0).uniform(-1, 1, (20_000, 2))
    seen, counts = np.unique(net.pattern(points), axis=0, return_counts=True)
    once, twice = (counts == 1).sum(), (counts == 2).sum()
    total = regions.count(net, SQUARE)
    assert len(seen) < len(seen) + once**2 / (2 * twice) < total == len(regions.enumerate(net, SQUARE))


def test_lipschitz_constants_are_attained_and_not_products_of_norms() -> None:
    net = random_network(2, 16, 16, 1, seed=2)
    exact = regions.statistics(net, SQUARE).lipschitz()[0][0]
    points = np.random.default_rng(0).uniform(-1, 1, (5000, 2))
    sampled = np.linalg.norm(net.gradient(points).reshape(-1, 2), axis=1).max()
    product = np.prod([np.linalg.norm(layer.weights, 2) for layer in net.layers])
    assert sampled <= exact * (1 + 1e-12) < product / 1.5


def test_rounded_vertices_are_not_on_their_kinks() -> None:
    """No stored vertex inside the square is, in fractions, on the two kinks that meet there; exact vertices are."""
    net = random_network(2, 8, 1, seed=4)
    part = regions.enumerate(net, SQUARE)
    rows = [[*map(Fraction, row)] for row in np.column_stack([net.layers[0].weights, net.layers[0].biases]).tolist()]

    def on_kinks(point: tuple[Fraction, Fraction]) -> int:
        return sum(a * point[0] + b * point[1] + c == 0 for a, b, c in rows)

    inside = np.flatnonzero(np.abs(part.vertices).max(axis=1) < 1)
    stored = [tuple(map(Fraction, vertex)) for vertex in part.vertices[inside].tolist()]
    assert len(inside) > 5 and max(map(on_kinks, stored)) < 2
    assert all(on_kinks(vertex) == 2 for vertex in part.exact_vertices(inside))


def test_arrangements_that_are_not_simple() -> None:
    """relucent 1.0.0 refuses them, and nnenum makes more sets than there are regions."""
    net = regions.Network([([[1, 0], [0, 1], [1, 1], [1, 0]], [0, 0, 0, 0]), (np.ones((1, 4)), [0])])
    assert regions.count(net, SQUARE) == reference.count(net, SQUARE) == 6


def test_quantised_weights_keep_the_number_of_regions_and_not_the_regions() -> None:
    net = random_network(2, 24, 24, 1, seed=1)
    layers = [(np.rint(layer.weights * 4) / 4, np.rint(layer.biases * 4) / 4) for layer in net.layers]
    first, second = (regions.enumerate(each, SQUARE) for each in (net, regions.Network(layers)))
    kept = set(map(bytes, first.packed_patterns)) & set(map(bytes, second.packed_patterns))
    assert abs(len(second) - len(first)) < 0.25 * len(first)
    assert len(kept) < 0.6 * len(first)
