# SPDX-License-Identifier: MIT
"""Which random domains and layers do the families of `generators.py` consist of?

Everything is drawn from the `numpy.random.Generator` given first, so a seed determines everything. "Lattice" parts have
small integer coordinates, where coincidences (three lines in a point, a line through a corner, along an edge) happen
often and are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.domains import Box, Domain, Line, Polygon, Polytope, Ray, Rectangle, Segment, Space, circumsquare
from regions.errors import DegenerateDomainError
from regions.networks.named_activations import Activation
from regions.networks.network import Network

Floats = NDArray[np.float64]
Rng = np.random.Generator
Draw = Callable[[Rng, tuple[int, ...]], Floats]
Family = Callable[[Rng, int], tuple[Network, Domain]]

FAMILIES: dict[str, Family] = {}


def family(function: Family) -> Family:
    """Register a family under its own name."""
    FAMILIES[function.__name__] = function
    return function


# Numbers, by shape.


def gaussian(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return rng.standard_normal(shape)


def small_integers(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return rng.integers(-3, 4, shape).astype(float)


def ternary(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return rng.integers(-1, 2, shape).astype(float)


def one_bit(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return rng.choice([-1.0, 1.0], shape)


def zeros(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return np.zeros(shape)


# Networks.


def sizes(rng: Rng, dimension: int, *, depth: tuple[int, int] = (1, 3), width: tuple[int, int] = (2, 6)) -> list[int]:
    """Return input, hidden and output sizes: 1 to 4 inputs, at least the domain's dimension, and 1 or 2 outputs."""
    hidden = rng.integers(width[0], width[1] + 1, rng.integers(depth[0], depth[1] + 1))
    return [int(rng.integers(dimension, max(dimension + 1, 5))), *map(int, hidden), int(rng.integers(1, 3))]


def network(
    rng: Rng,
    layer_sizes: list[int],
    weights: Draw = gaussian,
    biases: Draw = gaussian,
    activation: str | Activation | list[str | Activation] = "relu",
) -> Network:
    """Return a network with all weights from one law and all biases from another."""
    layers = []
    for n_in, n_out in zip(layer_sizes, layer_sizes[1:], strict=False):
        layers.append((weights(rng, (n_out, n_in)), biases(rng, (n_out,))))
    return Network(layers, activation)


def editable(net: Network) -> list[list[Floats]]:
    """Return the weights and biases of a network as arrays that may be changed."""
    return [[layer.weights.copy(), layer.biases.copy()] for layer in net.layers]


def rebuilt(layers: list[list[Floats]], net: Network) -> Network:
    """Return a network of changed layers, with the original activations."""
    return Network([(w, b) for w, b in layers], [layer.activation for layer in net.layers[:-1]])


# Domains.


def any_domain(rng: Rng, dimension: int, n_in: int) -> Domain:
    """Return a domain in general position or on the lattice."""
    return (general_domain if rng.random() < 0.5 else lattice_domain)(rng, dimension, n_in)


def general_domain(rng: Rng, dimension: int, n_in: int) -> Domain:
    """Return a domain without coincidences, with a size of a few units."""
    if dimension == 1:
        kind = [Segment, Segment, Ray, Line][rng.integers(4)]
        return kind(2 * rng.standard_normal(n_in), 2 * rng.standard_normal(n_in))
    if dimension > 2:
        return polytope(rng, dimension, n_in, gaussian)
    shape = rng.integers(4)
    if shape == 0:
        return circumsquare(*rng.standard_normal((3, n_in)), side=float(rng.uniform(1, 4)))
    if shape == 1:
        return Rectangle(rng.standard_normal(n_in) - 1, *(2 * rng.standard_normal((2, n_in))))
    if shape == 2 or n_in > 2:
        return Polygon(2 * rng.standard_normal((3, n_in)))
    corners = int(rng.integers(3, 9))
    angles = 2 * np.pi * (np.arange(corners) + rng.uniform(0.1, 0.9, corners)) / corners
    return Polygon(rng.uniform(1, 3) * np.stack([np.cos(angles), np.sin(angles)], axis=1))


def polytope(rng: Rng, dimension: int, n_in: int, numbers: Draw) -> Any:
    """Return a box, a part of a box, an unbounded polytope, or the whole space; not a `Domain`."""
    if n_in < dimension:
        raise ValueError(f"a family of {n_in} inputs has no domains of {dimension} dimensions")
    origin, directions = numbers(rng, (n_in,)), np.eye(dimension, n_in)
    if rng.random() < 0.5:
        directions = numbers(rng, (dimension, n_in))
    kind = rng.integers(5)
    if kind == 0:
        return Space(origin, directions)
    half = float(rng.integers(1, 3))
    if kind < 3:
        return Box.around(origin, half, directions)
    normals, sides = numbers(rng, (int(rng.integers(1, 6)), dimension)), np.full(2 * dimension, half)
    if kind == 3:
        normals = np.concatenate([normals, np.eye(dimension), -np.eye(dimension)])
    ends = np.concatenate(
        [
            rng.integers(0, 3, len(normals) - (0 if kind == 4 else len(sides))).astype(float),
            sides[: 0 if kind == 4 else None],
        ]
    )
    return Polytope.in_chart(origin, directions, normals, ends)


def lattice_domain(rng: Rng, dimension: int, n_in: int) -> Domain:
    """Return a domain with small integer coordinates, often centred or with a corner at the origin."""
    while True:
        try:
            return _lattice_domain(rng, dimension, n_in)
        except DegenerateDomainError:  # the draw coincided: draw again
            continue


def _lattice_domain(rng: Rng, dimension: int, n_in: int) -> Domain:
    def corner() -> Floats:
        return rng.integers(-2, 3, n_in).astype(float)

    if dimension == 1:
        kind = [Segment, Segment, Ray, Line][rng.integers(4)]
        return kind(corner(), corner())
    if dimension > 2:
        return polytope(rng, dimension, n_in, small_integers)
    shape = rng.integers(3)
    if shape == 0 and n_in == 2:
        half = float(rng.integers(1, 4))
        return Polygon(half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    if shape == 1 and n_in == 2:
        return Polygon([corner(), corner(), corner()])
    e1, e2 = corner(), corner()
    origin = -e1 - e2 if rng.random() < 0.5 else corner()
    corners = [
        [[0, 0], [1, 0], [1, 1], [0, 1]],
        [[0, 0], [2, 0], [0, 2]],
        [[0, 0], [2, 0], [2, 1], [1, 2], [0, 2]],
    ]
    return Polygon.in_chart(origin, [e1, e2], corners[rng.integers(3)])


def corners_in_input_space(domain: Domain) -> Floats:
    """Return the corners of the domain and, where it has none, a point in it; exact for a lattice domain."""
    finite = domain.generators[domain.generators[:, 0] == 1.0, 1:]
    return domain.to_input(finite if len(finite) else np.zeros((1, domain.dimension)))
