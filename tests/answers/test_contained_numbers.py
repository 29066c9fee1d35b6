# SPDX-License-Identifier: MIT
"""Does `contains_numbers` find the regions that all numbers of a format, tried one by one in fractions, are in?"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions import Network, Polygon, Rectangle, Segment, contains_numbers
from regions.answers.contained_numbers import _Numbers
from regions.domains import Domain, Plane
from regions.errors import CountNotDecided, DomainError
from regions.ground.arithmetic.narrow_floats import NARROW, all_numbers

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
FRACTION = np.vectorize(Fraction, otypes=[object])


def pattern(net: Network, point: tuple[float, ...]) -> bytes:
    """The pattern of a ReLU network at a point, in fractions."""
    x, bits = FRACTION(np.array(point)), []
    for layer in net.layers[:-1]:
        x = FRACTION(layer.weights) @ x + FRACTION(layer.biases)
        bits += [value > 0 for value in x]
        x = np.maximum(x, Fraction(0))
    return np.array(bits, dtype=bool).tobytes()


def is_inside(corners: list[tuple[Fraction, ...]], point: tuple[float, ...]) -> bool:
    """Whether a point is in a polygon with corners counter-clockwise, or in an interval."""
    if len(corners[0]) == 1:
        return min(corners)[0] <= point[0] <= max(corners)[0]
    x, y = map(Fraction, point)
    pairs = zip(corners, [*corners[1:], corners[0]], strict=True)
    return all((c - a) * (y - b) >= (d - b) * (x - a) for (a, b), (c, d) in pairs)


def expected(net: Network, domain: Domain, corners: list[list[float]], dtype: str) -> list[bool]:
    exact = [tuple(map(Fraction, corner)) for corner in corners]
    within = [(min(ends), max(ends)) for ends in zip(*exact, strict=True)]
    axes = [[x for x in all_numbers(dtype).tolist() if low <= x <= high] for low, high in within]
    points = (point for point in product(*axes) if is_inside(exact, point))
    seen = {pattern(net, point) for point in points}
    return [bits.tobytes() in seen for bits in regions.enumerate(net, domain).patterns]


def ternary(seed: int, widths: list[int], biased: bool) -> Network:
    rng, layers = np.random.default_rng(seed), []
    for before, after in zip(widths, widths[1:], strict=False):
        biases = rng.integers(-1, 2, after) if biased else np.zeros(after)
        layers.append((rng.integers(-1, 2, (after, before)), biases))
    return Network(layers)


NETWORKS = [
    *(random_network([2, 6, 6, 1], seed=seed) for seed in range(4)),
    *(ternary(seed, [2, 5, 5, 1], seed % 2 == 0) for seed in range(6)),
]


@pytest.mark.parametrize("dtype", ["float4e2m1", "float8e4m3fn"])
@pytest.mark.parametrize("number", range(len(NETWORKS)))
def test_planes(number: int, dtype: str) -> None:
    net = NETWORKS[number]
    # Squares with and without numbers in them; a triangle whose slanted edge has numbers only at its ends.
    shapes: list[list[list[float]]] = [
        [[-1, -1], [1, -1], [1, 1], [-1, 1]],
        [[0.01, 0.3], [0.03, 0.3], [0.03, 0.32]],
        [[0, 0], [1, 0.3], [0, 1]],
    ]
    for corners in shapes if dtype == "float4e2m1" else shapes[1:2]:
        domain = Polygon(corners)
        found = contains_numbers(regions.enumerate(net, domain), dtype)
        assert found.tolist() == expected(net, domain, corners, dtype)


@pytest.mark.parametrize("dtype", ["float4e2m1", "float8e5m2", "float8e4m3fnuz", "float16", "bfloat16"])
def test_lines(dtype: str) -> None:
    places = [1.0, 1.02, 1.05] if "16" in dtype else [-3.0, -0.1, 0.0, 0.3, 1.0]
    for seed in range(6):
        net = [random_network([1, 12, 12, 1], seed=seed), ternary(seed, [1, 5, 5, 1], biased=True)][seed % 2]
        ends = np.random.default_rng(seed).choice(places, 2, replace=False)
        domain = Segment(ends[:1], ends[1:])
        found = contains_numbers(regions.enumerate(net, domain), dtype)
        assert found.tolist() == expected(net, domain, [[ends[0]], [ends[1]]], dtype)


def test_rows_along_either_axis() -> None:
    """Thin strips between numbers, and strips with one row of numbers, upright and lying."""
    gap = 2.0**-10  # of float16 between 1 and 2
    for weights in ([1.0, 0.0], [0.0, 1.0]):
        kinks = [1 + gap / 4, 1 + gap / 2, 1 + 3 * gap / 4, 1 + 5 * gap / 4]
        net = Network([([weights] * 4, [-kink for kink in kinks]), (np.ones((1, 4)), [0])])
        part = regions.enumerate(net, Rectangle.from_bounds([1, 1], [1.5, 1.5]))
        found = contains_numbers(part, "float16")
        assert found[np.argsort(part.patterns.sum(axis=1))].tolist() == [True, False, False, True, True]


def test_numbers_on_the_boundary_belong_to_one_side() -> None:
    """A region between two kinks: the lower kink, a number, is not in it, and the upper one is."""
    net = Network([([[1.0], [1.0]], [-1.0, -1.0 - 2.0**-10]), ([[1.0, 1.0]], [0.0])])
    part = regions.enumerate(net, Segment([0.5], [2.0]))
    assert contains_numbers(part, "float16").tolist() == [True, True, True]
    assert contains_numbers(part, "bfloat16").tolist() == [True, False, True]


def test_ends_that_are_rounded_to_a_number() -> None:
    little = Fraction(1, 2**80)

    def inside(low: Fraction, high: Fraction) -> list[float]:
        return [numbers.at(place) for place in numbers.between(low, high)]

    numbers = _Numbers("float4e2m1")
    assert inside(1 + little, 2 - little) == [1.5]
    assert inside(1 - little, 2 + little) == [1.0, 1.5, 2.0]
    assert not inside(1 + little, 1 + 2 * little) and not inside(1 - 2 * little, 1 - little)
    assert inside(Fraction(5), Fraction(100)) == [6.0] and not inside(Fraction(7), Fraction(100))
    numbers, tiny = _Numbers("float32"), Fraction(1, 2**149)
    assert inside(-tiny - tiny / 3, tiny) == [-(2.0**-149), 0.0, 2.0**-149]
    for start in (1.0, 2.0**-126, -3.0, 0.3):
        here = np.float32(start)
        following = [float(here), float(np.nextafter(here, np.float32(np.inf)))]
        assert inside(*map(Fraction, following)) == following
        assert inside(Fraction(following[0]) + tiny / 2, Fraction(following[1])) == following[1:]
        assert not inside(Fraction(following[0]) + tiny / 2, Fraction(following[1]) - tiny / 2)
    largest = float(np.finfo(np.float32).max)
    assert inside(Fraction(largest), Fraction(10) ** 60) == [largest]
    assert not inside(-(Fraction(10) ** 60), -Fraction(largest) - 1)


def test_float32() -> None:
    """Between two neighbouring numbers, and in a square that four of them are the corners of."""
    gap = 2.0**-23
    kinks = [1 + gap / 4, 1 + gap / 2, 1 + 5 * gap / 4]
    net = Network([([[1.0, 0.0]] * 3, [-kink for kink in kinks]), (np.ones((1, 3)), [0])])
    part = regions.enumerate(net, Rectangle.from_bounds([1, 1], [1.5, 1.5]))
    found = contains_numbers(part, "float32")
    assert found[np.argsort(part.patterns.sum(axis=1))].tolist() == [True, False, True, True]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        weights, corner = rng.standard_normal((5, 2)), np.float32([0.3, 0.7]).astype(float)
        steps = [float(np.spacing(np.float32(x))) for x in corner]
        net = Network([(weights, -weights @ (corner + rng.uniform(0, 1, 2) * steps)), (np.ones((1, 5)), [0])])
        square = [[corner[0] + i * steps[0], corner[1] + j * steps[1]] for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
        seen = {pattern(net, tuple(point)) for point in square}
        part = regions.enumerate(net, Polygon(square))
        assert contains_numbers(part, "float32").tolist() == [bits.tobytes() in seen for bits in part.patterns]
        assert len(part) > len(seen)


def test_regions_that_cross_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    net = Network([([[1.0, -1.37], [1.0, -1.37]], [0.0, 1e-13]), ([[1.0, 1.0]], [0.0])])
    part = regions.enumerate(net, Polygon([[0.1, 0.1], [1, 0.1], [1, 1], [0.1, 1]]))
    monkeypatch.setattr("regions.answers.contained_numbers.MOST_ROWS", 20)
    with pytest.raises(CountNotDecided, match="so long and thin that more than 20 rows of float32") as raised:
        contains_numbers(part, "float32")
    assert (raised.value.least, raised.value.most) == (2, 3)


def test_all_numbers() -> None:
    for name, kind in NARROW.items():
        numbers = all_numbers(name)
        assert (np.diff(numbers) > 0).all() and numbers[-1] == kind.largest == -numbers[0]
    assert len(all_numbers("float16")) == 2 * 31 * 2**10 - 1
    assert len(all_numbers("bfloat16")) == 2 * 255 * 2**7 - 1


@pytest.mark.parametrize(
    ("domain", "dtype", "error", "message"),
    [
        (Plane([0, 0], [1, 0], [0, 1]), "float16", DomainError, "numbers of a format exist in bounded domains"),
        (Segment([0, 0], [1, 0]), "float16", DomainError, "as many dimensions as the network has inputs, 2; Segment"),
        (SQUARE, "float64", ValueError, "dtype"),
    ],
)
def test_what_is_refused(domain: Domain, dtype: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        contains_numbers(regions.enumerate(NETWORKS[0], domain), dtype)
