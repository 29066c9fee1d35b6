# SPDX-License-Identifier: MIT
"""Is the sum of counts over all signs of the units the sum of cells of arrangements over all gates?

The theorem is in ``docs/depth.md``. Both sides are integers and need no tolerance, so it also tests the enumeration: a
region missed or found twice in any of the networks would show. In whole spaces the cells are counted by characteristic
polynomials, which share no code with the core. Weights are small integers over a power of 2, so that all products are
exact; most of the laws are degenerate on purpose, because the identity needs no general position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import regions
from regions import bounds
from regions.domains import Box, Domain, Line, Plane, Polygon, Polytope, Segment, Space

Layers = list[tuple[np.ndarray, np.ndarray]]
WHOLE: dict[int, Domain | Polytope] = {
    1: Line([0.0], [1.0]),
    2: Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]),
    3: Space([0.0] * 3, np.eye(3)),
    4: Space([0.0] * 4, np.eye(4)),
}
PARTS: dict[str, Domain | Polytope] = {
    "segment": Segment([-1.0], [2.0]),
    "triangle": Polygon([[-1.0, -0.5], [2.0, -1.0], [0.5, 1.5]]),
    "box": Box([-1.0, -0.5, 0.0], [1.0, 1.0, 2.0]),
}
SHAPES = [(3, 3), (4, 2), (2, 3, 2), (3, 2, 2), (2, 2, 2, 2), (5,)]
SLOPES = {"relu": 0.0, "leaky_relu(0.25)": 0.25, "abs": -1.0}


def generic(rng: np.random.Generator, *size: int) -> np.ndarray:
    return (2 * rng.integers(-(2**9), 2**9, size) + 1) / 2**8  # a weight of 0 would not be generic


def ternary(rng: np.random.Generator, *size: int) -> np.ndarray:
    return rng.integers(-1, 2, size).astype(float)


def positive(rng: np.random.Generator, *size: int) -> np.ndarray:
    return abs(generic(rng, *size))


def equal_rows(rng: np.random.Generator, *size: int) -> np.ndarray:
    return np.broadcast_to(ternary(rng, *size)[:1], size) * 1.0


def zeros(rng: np.random.Generator, *size: int) -> np.ndarray:
    return np.zeros(size)


LAWS: dict[str, tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]] = {
    "generic": (generic, generic),
    "positive": (positive, positive),
    "no biases": (generic, zeros),
    "ternary": (ternary, ternary),
    "ternary, no biases": (ternary, zeros),
    "equal rows": (equal_rows, generic),
    "zeros": (zeros, zeros),
}


def drawn(rng: np.random.Generator, n_in: int, widths: Sequence[int], law: str) -> Layers:
    weight, bias = LAWS[law]
    return [(weight(rng, b, a), bias(rng, b)) for a, b in zip((n_in, *widths), widths, strict=False)]


def states(layers: Layers, one: float, other: float) -> Iterator[list[np.ndarray]]:
    """Yield one array for each hidden layer but the last, in all ways."""
    sizes = [len(b) for _, b in layers[:-1]]
    for flat in product((one, other), repeat=sum(sizes)):
        yield np.split(np.array(flat), np.cumsum(sizes))[:-1]


def over_signs(layers: Layers, activation: str, domain: Domain | Polytope) -> list[int]:
    """Count the regions of the networks with all signs of the units."""
    networks = []
    for signs in states(layers, 1.0, -1.0):
        before = [np.ones(layers[0][0].shape[1]), *signs]
        after = [*signs, np.ones(len(layers[-1][1]))]
        flipped = [(e[:, None] * w * f, e * b) for (w, b), e, f in zip(layers, after, before, strict=True)]
        networks.append(regions.Network([*flipped, (np.ones((1, len(after[-1]))), None)], activation))
    return [int(count) for count in regions.count(networks, domain)]


def arrangements(layers: Layers, slope: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the hyperplanes of the layers with all gates: normals and offsets."""
    for gates in states(layers, 1.0, slope):
        normals, offsets = layers[0]
        rows = [(normals, offsets)]
        for gate, (w, b) in zip(gates, layers[1:], strict=True):
            normals, offsets = w @ (gate[:, None] * normals), w @ (gate * offsets) + b
            rows.append((normals, offsets))
        a, c = np.vstack([one for one, _ in rows]), np.concatenate([other for _, other in rows])
        yield a[a.any(axis=1)], c[a.any(axis=1)]


def cells(normals: np.ndarray, offsets: np.ndarray) -> int:
    return bounds.chambers(normals, offsets) if len(normals) else 1


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n_in", WHOLE)
def test_whole_spaces(n_in: int, law: str) -> None:
    rng = np.random.default_rng([n_in, list(LAWS).index(law)])
    for widths, (activation, slope) in product(SHAPES, SLOPES.items()):
        layers = drawn(rng, n_in, widths, law)
        counts = over_signs(layers, activation, WHOLE[n_in])
        assert sum(counts) == sum(cells(*one) for one in arrangements(layers, slope)), (widths, activation)
        mean, law_of_all = Fraction(sum(counts), len(counts)), bounds.expected_regions(n_in, widths, slope=slope)
        assert mean == law_of_all if law == "generic" else mean <= law_of_all, (widths, activation)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("domain", PARTS.values(), ids=PARTS)
def test_parts_of_spaces(domain: Domain | Polytope, law: str) -> None:
    rng = np.random.default_rng([7, domain.dimension, list(LAWS).index(law)])
    for widths, (activation, slope) in product(SHAPES, SLOPES.items()):
        layers = drawn(rng, domain.dimension, widths, law)
        frozen = [
            regions.Network([(normals, offsets), (np.ones((1, len(normals))), None)])
            for normals, offsets in arrangements(layers, slope)
            if len(normals)
        ]
        expected = sum(map(int, regions.count(frozen, domain))) if frozen else 0
        without = 2 ** sum(widths[:-1]) - len(frozen)
        assert sum(over_signs(layers, activation, domain)) == expected + without, (widths, activation)


def test_a_few_networks() -> None:
    layers = drawn(np.random.default_rng(0), 2, (3, 3), "generic")
    counts = over_signs(layers, "relu", WHOLE[2])
    assert len(set(counts)) > 1  # single networks differ, and only their mean is known
    assert sum(counts) == sum(cells(*one) for one in arrangements(layers, 0.0))
    assert Fraction(sum(counts), 8) == bounds.expected_regions(2, [3, 3])


def test_the_formula_by_brute_force() -> None:
    """Count sets of units whose linear parts are independent modulo a prime, for random weights."""
    prime, rng = 2**31 - 1, np.random.default_rng(3)
    for n_in, widths, slope in (
        (2, (3, 2), 0),
        (3, (1, 3, 2), 0),
        (3, (2, 1, 3), 0),
        (2, (2, 3), 2),
        (3, (1, 2, 2), 2),
    ):
        layers = [
            (rng.integers(1, prime, (b, a)).astype(object), np.zeros(b, dtype=object))
            for a, b in zip((n_in, *widths), widths, strict=False)
        ]
        total = 0
        for gates in states(layers, 1, slope):
            normals = layers[0][0]
            rows = [normals]
            for gate, (w, _) in zip(gates, layers[1:], strict=True):
                normals = w.dot(gate.astype(int).astype(object)[:, None] * normals) % prime
                rows.append(normals)
            total += independent_sets(np.vstack(rows).tolist(), prime)
        assert Fraction(total, 2 ** sum(widths[:-1])) == bounds.expected_regions(n_in, widths, slope=slope)


def independent_sets(rows: list[list[int]], prime: int) -> int:
    """Count the sets of linearly independent rows modulo a prime, the empty one included."""
    if not rows:
        return 1
    first, rest = rows[0], rows[1:]
    without = independent_sets(rest, prime)
    place = next((i for i, x in enumerate(first) if x % prime), None)
    if place is None:
        return without
    inverse = pow(first[place], -1, prime)
    reduced = [
        [(x - row[place] * inverse * y) % prime for i, (x, y) in enumerate(zip(row, first, strict=True)) if i != place]
        for row in rest
    ]
    return without + independent_sets(reduced, prime)
