# SPDX-License-Identifier: MIT
"""Are results exact where other programs, samples or rounding give other numbers?

docs/other-tools.md lists what they give, with their versions. Expected values come from fractions.
"""

from __future__ import annotations

import warnings
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


def bundle(center: tuple[float, float], lines: int = 16, kind: type = np.float32) -> regions.Network:
    """Return a layer of lines through a point, as well as the biases can be stored."""
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((lines, 2)).astype(kind)
    biases = kind(-(weights.astype(float) @ center))
    return regions.Network([(weights, biases), (np.ones((1, lines)), [0])])


def rows_of(net: regions.Network) -> list[list[Fraction]]:
    """Return the forms (a, b, c) of the lines of the first layer."""
    layer = net.layers[0]
    return [[*map(Fraction, row)] for row in np.column_stack([layer.weights, layer.biases]).tolist()]


PLANE = regions.Plane([0, 0], [1, 0], [0, 1])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_bundle_of_lines_in_fractions(kind: type) -> None:
    """regioncam 0.5.2 finds 59 to 136 faces instead of 137 in float32, and 32 of 32 if all biases are 0."""
    net = bundle((0.3, 0.7), kind=kind)
    meetings = set()
    for (a, b, c), (d, e, f) in combinations(rows_of(net), 2):
        assert a * e != b * d  # no two lines are parallel
        meetings.add(((b * f - c * e) / (a * e - b * d), (c * d - a * f) / (a * e - b * d)))
    through = [sum(a * x + b * y + c == 0 for a, b, c in rows_of(net)) for x, y in meetings]
    expected = 1 + 16 + sum(lines - 1 for lines in through)
    assert expected == 137 if kind is np.float32 else expected > 100
    assert regions.count(net, PLANE) == expected
    assert regions.count(bundle((0.0, 0.0)), SQUARE) == 32


def through_a_third(weights: list[list[int]]) -> regions.Network:
    """Return a layer of lines that meet exactly in (1/3, 1/3), which doubles do not hold."""
    return regions.Network(
        [(np.multiply(weights, 3), np.negative(weights).sum(axis=1)), (np.ones((1, len(weights))), [0])]
    )


def test_lines_through_one_point_have_sectors() -> None:
    """affinitree 0.23.0 keeps all 2^12 sign patterns, because each of their closed cones holds the point."""
    weights = np.random.default_rng(0).standard_normal((12, 2))
    origin = regions.Network([(weights, None), (np.ones((1, 12)), [0])])
    third = through_a_third([[7, i] for i in range(-5, 7)])
    for net in (origin, third):
        assert regions.count(net, PLANE) == reference.count(net, SQUARE) == 24


def test_corners_of_thin_regions() -> None:
    """cddlib in floating point finds the right corners of 13 of 137 such regions; fractions find all."""
    net = bundle((0.3, 0.7), 9, np.float64)
    part = regions.enumerate(net, SQUARE)
    expected = reference.enumerate(net, SQUARE)
    assert len(part) == len(expected)
    corners = {region.pattern: len(region.vertices) for region in expected}
    assert {tuple(region.pattern.tolist()): len(region.vertices) for region in part} == corners


def test_cddlib_is_asked_in_fractions() -> None:
    pytest.importorskip("cdd.gmp")
    net = bundle((0.3, 0.7), 9, np.float64)
    report = regions.certify(regions.enumerate(net, SQUARE), net)
    assert report.ok and "cddlib agrees on" in str(report)


def test_repeated_inequalities_leave_their_facet() -> None:
    """Two functions of cddlib name different copies of a repeated inequality; together they drop the facet."""
    normals = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float) * 3
    once = regions.Polytope(normals, np.ones(6))  # from -1/3 to 1/3, which no Box has
    repeated = regions.Polytope([*normals, [21, 0, 0], normals[0]], [*np.ones(6), 7, 1])
    net = random_network(3, 5, 1)
    assert regions.count(net, repeated) == regions.count(net, once)
    part = regions.enumerate(net, repeated)
    assert part.volumes.sum() == pytest.approx(8 / 27) and regions.certify(part, net).ok


@pytest.mark.parametrize("least", [1e-12, 5e-324])
def test_intervals_that_are_empty_by_little_are_refused(least: float) -> None:
    """HiGHS accepts empty intervals of up to 1e-7."""
    normals = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
    with pytest.raises(DomainError, match="no point|empty|interior"):
        regions.Polytope(normals, [0, -least, 1, 1, 1, 1])


def test_slabs_of_less_than_a_rounding_error_are_decided_in_fractions() -> None:
    """Between n . x = 1/3, as a double, and 3 n . x = 1 nothing lies; the double before 1 leaves a slab."""
    sides = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    normals, offsets = [[3, 5, 7], [-9, -15, -21], *sides], [1 / 3, -1.0, *[1] * 6]
    assert Fraction(1 / 3) < Fraction(1, 3) and 3 * Fraction(1 / 3) > Fraction(np.nextafter(1.0, 0.0))
    with pytest.raises(DomainError, match="no point|empty|interior"):
        regions.Polytope(normals, offsets)
    offsets[1] = -np.nextafter(1.0, 0.0)
    assert regions.count(random_network(3, 4, 1), regions.Polytope(normals, offsets)) >= 1


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
    """As a batch, a row, or a transposed product, numpy gives -1.7e-18, 0 and 1.7e-18 for 0.3 * 0.1 - 0.3 * 0.1.

    The other sum is 0, too, and 1 if it is added from the left.
    """
    for row in ([0.3, -0.3, 0.0, 0.0], [1e16, -1.0, -1e16, 1.0]):
        net = regions.Network([([row, [1.0, 0.0, 0.0, 0.0]], [0, 0]), ([[1, 1]], [0])])
        diagonal = regions.Segment([0.1] * 4, [1.0] * 4)
        part = regions.enumerate(net, diagonal)
        assert part.patterns.tolist() == [[False, True]]  # the first unit is exactly 0 on the whole segment
        assert reference.enumerate(net, diagonal)[0].pattern == (False, True)
        assert net.pattern([0.1] * 4).tolist() == [False, True]


def test_samples_see_fewer_regions_than_exist() -> None:
    """So does Chao's estimate of the number of unseen ones."""
    net = random_network(2, 24, 24, 1, seed=3)
    points = np.random.default_rng(0).uniform(-1, 1, (20_000, 2))
    seen, counts = np.unique(net.pattern(points), axis=0, return_counts=True)
    once, twice = (counts == 1).sum(), (counts == 2).sum()
    part = regions.enumerate(net, SQUARE)
    assert len(seen) < len(seen) + once**2 / (2 * twice) < regions.count(net, SQUARE) == len(part)
    assert regions.certify(part, net).ok


def test_lipschitz_constants_are_attained_and_not_products_of_norms() -> None:
    net = random_network(2, 16, 16, 1, seed=2)
    exact = regions.statistics(net, SQUARE).lipschitz()[0][0]
    points = np.random.default_rng(0).uniform(-1, 1, (5000, 2))
    sampled = np.linalg.norm(net.gradient(points).reshape(-1, 2), axis=1).max()
    inside = regions.enumerate(net, SQUARE).interior_points
    of_regions = np.linalg.norm(net.gradient(inside).reshape(-1, 2), axis=1).max()
    product = np.prod([np.linalg.norm(layer.weights, 2) for layer in net.layers])
    assert exact == pytest.approx(of_regions, rel=1e-12)
    assert sampled <= exact * (1 + 1e-12) < product / 1.5


def test_rounded_vertices_are_not_on_their_kinks() -> None:
    """No stored vertex inside the square is, in fractions, on the two kinks that meet there; exact vertices are."""
    net = random_network(2, 8, 1, seed=4)
    part = regions.enumerate(net, SQUARE)
    rows = rows_of(net)

    def on_kinks(point: tuple[Fraction, Fraction]) -> int:
        return sum(a * point[0] + b * point[1] + c == 0 for a, b, c in rows)

    inside = np.flatnonzero(np.abs(part.vertices).max(axis=1) < 1)
    stored = [tuple(map(Fraction, vertex)) for vertex in part.vertices[inside].tolist()]
    assert len(inside) > 5 and max(map(on_kinks, stored)) < 2
    assert all(on_kinks(vertex) == 2 for vertex in part.exact_vertices(inside))


def test_arrangements_that_are_not_simple() -> None:
    """relucent 1.0.0 refuses them, and nnenum makes more sets than there are regions."""
    rows = [[1, 0], [0, 1], [1, 1], [1, 0]]
    for net in (regions.Network([(rows, [0] * 4), (np.ones((1, 4)), [0])]), through_a_third(rows)):
        assert regions.count(net, SQUARE) == reference.count(net, SQUARE) == 6


def test_quantised_weights_keep_the_number_of_regions_and_not_the_regions() -> None:
    net = random_network(2, 24, 24, 1, seed=1)
    layers = [(np.rint(layer.weights * 4) / 4, np.rint(layer.biases * 4) / 4) for layer in net.layers]
    first, second = (regions.enumerate(each, SQUARE) for each in (net, regions.Network(layers)))
    kept = set(map(bytes, first.packed_patterns)) & set(map(bytes, second.packed_patterns))
    assert abs(len(second) - len(first)) < 0.25 * len(first)
    assert len(kept) < 0.6 * len(first)


@pytest.mark.parametrize(("activation", "kept"), [("relu", 1 - 4 / 8), ("leaky_relu(0.25)", 1.0)])
def test_random_networks_without_biases_have_few_sectors(activation: str, kept: float) -> None:
    """Gaussian weights give 2 (n + q n + q^2 n) sectors on average, with q = 1 - (n + 1) / 2^n for ReLUs."""
    nets = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        layers = [(rng.standard_normal((b, a)), None) for a, b in ((2, 3), (3, 3), (3, 3), (3, 1))]
        nets.append(regions.Network(layers, activation=activation))
    counts = np.array(regions.count(nets, PLANE), dtype=float)
    mean = 2 * 3 * (1 + kept + kept**2)
    assert abs(counts.mean() - mean) < 3 * counts.std() / np.sqrt(len(counts)) < 0.5
    assert [reference.count(net, SQUARE) for net in nets[:5]] == counts[:5].tolist()


def test_training_makes_fewer_pieces_between_images() -> None:
    """One would guess that fitting data adds kinks where the data are. Signs at many points see no more pieces."""
    datasets = pytest.importorskip("sklearn.datasets")
    from sklearn.neural_network import MLPClassifier

    images, classes = datasets.load_digits(return_X_y=True)
    images = images / 16
    pairs = images[np.random.default_rng(0).choice(len(images), (60, 2), replace=False)]
    medians = []
    for steps, rate in ((1, 1e-30), (40, 1e-3)):
        model = MLPClassifier((32, 32), random_state=0, max_iter=steps, learning_rate_init=rate)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            net = regions.load(model.fit(images, classes))
        pieces = regions.count(net, pairs)
        medians.append(np.median(pieces))
        for (start, end), exact in zip(pairs[:8], pieces[:8], strict=True):
            points = start + np.linspace(0, 1, 20_001)[:, np.newaxis] * (end - start)
            changes = (np.diff(net.pattern(points), axis=0) != 0).any(axis=1).sum() + 1
            assert exact - 2 <= changes <= exact <= 65
    assert medians[1] < 0.9 * medians[0] < 0.5 * 65
