# SPDX-License-Identifier: MIT
"""Which networks have vertices that are hard to place, and regions about as thin as the spacing of doubles?

Lines that meet in one point up to rounding, nearly parallel lines, strips, weights that cancel, and squares that are
far from the origin, very large or very small. `NEAR` maps a name to a function ``rng -> (Network, Domain)``;
`draw_near` makes one. They have two inputs, and are smaller than in `generators.py`, because everything about their
coordinates is checked.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from generator_parts import Floats, Rng
from regions.domains import Domain, Polygon, Rectangle, Segment
from regions.networks.network import Network

__all__ = ["NEAR", "draw_near"]

Near = Callable[[Rng], tuple[Network, Domain]]

NEAR: dict[str, Near] = {}

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def draw_near(name: str, seed: int) -> tuple[Network, Domain]:
    """Return a network and domain of a family; the same for the same arguments."""
    return NEAR[name](np.random.default_rng([seed, *name.encode()]))


def near(function: Near) -> Near:
    """Register a family under its own name."""
    NEAR[function.__name__] = function
    return function


def square(half: float = 2.0, center: Floats | None = None) -> Domain:
    return Polygon(half * SQUARE + (0.0 if center is None else center))


def integers(rng: Rng, shape: tuple[int, ...], most: int = 3) -> Floats:
    return rng.integers(-most, most + 1, shape).astype(float)


def nonzero(weights: Floats) -> Floats:
    """Return rows with zero rows replaced."""
    weights[(weights == 0).all(axis=1), 0] = 1.0
    return weights


def deepened(rng: Rng, weights: Floats, biases: Floats, scale: float = 1.0) -> Network:
    """Return a network with this first layer, and sometimes a second one, with biases in tenths of a scale."""
    layers = [(weights, biases)]
    if rng.random() < 0.5:
        width = int(rng.integers(1, 4))
        second = integers(rng, (width, len(weights)), 2)
        layers.append((second, scale * rng.integers(-2, 3, width) / 10 * rng.integers(0, 2)))
    layers.append((rng.integers(-1, 2, (1, len(layers[-1][1]))).astype(float), np.zeros(1)))
    return Network(layers)


@near
def decimal_point(rng: Rng) -> tuple[Network, Domain]:
    """Lines with coefficients in tenths through a point such as (0.7, 0.7)."""
    weights = nonzero(integers(rng, (int(rng.integers(2, 6)), 2), 30) / 10)
    point = rng.integers(-9, 10, 2) / 10
    return deepened(rng, weights, -(weights @ point)), square()


@near
def integer_lines(rng: Rng) -> tuple[Network, Domain]:
    """Lines with integers for coefficients through (0.3, 0.4)."""
    weights = nonzero(integers(rng, (int(rng.integers(2, 7)), 2)))
    return deepened(rng, weights, -(weights @ np.array([0.3, 0.4]))), square()


@near
def nearly_parallel(rng: Rng) -> tuple[Network, Domain]:
    """Lines whose slopes differ by some 2^-50, close to each other, and one across."""
    count = int(rng.integers(2, 5))
    weights = np.repeat(integers(rng, (1, 2)) / rng.choice([1, 3, 10]), count, axis=0)
    weights[:, 0] += weights[:, 0] == 0
    weights *= 1 + integers(rng, (count, 2)) * 2.0 ** -rng.integers(40, 53)
    biases = rng.integers(-1, 2) / 3 + integers(rng, (count,)) * 2.0 ** -rng.integers(40, 56)
    weights[0] = rng.integers(1, 4, 2)
    return deepened(rng, weights, biases), square()


@near
def thin_strip(rng: Rng) -> tuple[Network, Domain]:
    """Strips 2^-45 to 2^-55 wide."""
    width = 2.0 ** -rng.integers(45, 56)
    if rng.random() < 0.5:
        first = nonzero(integers(rng, (2, 2)))
        network = Network([(first, rng.integers(-2, 3, 2) / 2), (integers(rng, (1, 2), 1), [width]), ([[1.0]], None)])
        return network, square()
    row = nonzero(integers(rng, (1, 2)))
    across = nonzero(integers(rng, (int(rng.integers(1, 3)), 2)))
    weights = np.vstack([row, row, across])
    biases = np.concatenate([[0.5, 0.5 + width], rng.integers(-2, 3, len(across)) / 10])
    return deepened(rng, weights, biases), square()


@near
def cancelling(rng: Rng) -> tuple[Network, Domain]:
    """Second layers of 1e12 (a - a'), with lines a and a' that differ by 1e-12."""
    count = int(rng.integers(1, 4))
    one = rng.standard_normal((count, 2))
    other = one + 1e-12 * rng.standard_normal((count, 2))
    biases = np.concatenate([np.zeros(count), 1e-12 * rng.standard_normal(count)])
    second = 1e12 * np.hstack([np.eye(count), -np.eye(count)])
    layers = [
        (np.vstack([one, other]), biases),
        (second, 0.3 * rng.standard_normal(count)),
        (np.ones((1, count)), None),
    ]
    return Network(layers), square()


@near
def ternary_moved(rng: Rng) -> tuple[Network, Domain]:
    """Weights -1, 0 and 1, some moved to the next double."""
    weights, biases = integers(rng, (int(rng.integers(2, 6)), 2), 1), integers(rng, (1,), 1)
    weights = nonzero(np.nextafter(weights, weights + integers(rng, weights.shape, 1)))
    biases = np.repeat(biases, len(weights))
    return deepened(rng, weights, np.nextafter(biases, biases + integers(rng, biases.shape, 1))), square()


@near
def far_off(rng: Rng) -> tuple[Network, Domain]:
    """Squares up to 1e13 from the origin, with lines through them."""
    center = 10.0 ** rng.integers(3, 14) * rng.choice([-1.0, 1.0, 0.3], 2)
    weights = nonzero(integers(rng, (int(rng.integers(2, 6)), 2)))
    return deepened(rng, weights, -(weights @ center) + rng.integers(-9, 10, len(weights)) / 7), square(2.0, center)


@near
def far_along_one_axis(rng: Rng) -> tuple[Network, Domain]:
    """Squares of side 1, up to 1e12 from the origin along one axis, where doubles are far apart along that one only."""
    center = np.zeros(2)
    center[rng.integers(2)] = rng.choice([-1.0, 1.0]) * 10.0 ** rng.integers(6, 13)
    weights = nonzero(integers(rng, (int(rng.integers(3, 8)), 2), 30) / 10)
    return deepened(rng, weights, -(weights @ center) + rng.integers(-9, 10, len(weights)) / 9), square(0.5, center)


@near
def any_size(rng: Rng) -> tuple[Network, Domain]:
    """Squares of 2^-120 to 2^120, with lines in tenths that nearly meet."""
    scale = 2.0 ** rng.integers(-120, 121)
    weights = nonzero(integers(rng, (int(rng.integers(2, 6)), 2), 30) / 10)
    return deepened(rng, weights, -(weights @ (rng.integers(-9, 10, 2) / 10)) * scale, scale), square(2 * scale)


@near
def slanted_chart(rng: Rng) -> tuple[Network, Domain]:
    """Lines that nearly meet, in charts of planes in three dimensions with directions that are hardly perpendicular."""
    first = nonzero(integers(rng, (1, 3)))[0]
    second = first + 2.0 ** -rng.integers(0, 30) * np.array([[0.0, 1.0, 1.0], [1.0, -1.0, 0.0]])[rng.integers(2)]
    if not np.linalg.norm(np.cross(first, second)):
        second = second + np.array([0.0, 1.0, 0.0]) + np.array([0.0, 0.0, 0.5])
    weights = nonzero(integers(rng, (int(rng.integers(2, 5)), 3), 30) / 10)
    middle = (first + second) * 0.3
    return deepened(rng, weights, -(weights @ middle)), Rectangle(np.zeros(3), first, second)


@near
def close_on_a_line(rng: Rng) -> tuple[Network, Domain]:
    """Kinks on a segment as little as 2^-55 apart, in decimals."""
    count = int(rng.integers(2, 6))
    weights = nonzero(integers(rng, (count, 2), 30) / 10)
    place = rng.integers(-9, 10, 2) / 10
    biases = -(weights @ place) + integers(rng, (count,), 1) * 2.0 ** -rng.integers(45, 56)
    way = nonzero(integers(rng, (1, 2)))[0]
    return deepened(rng, weights, biases), Segment(place - way, place + 2 * way)
