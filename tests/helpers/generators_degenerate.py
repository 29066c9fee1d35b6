# SPDX-License-Identifier: MIT
"""Families of networks whose kinks coincide, meet, touch, or nearly do; see `generators.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from generator_parts import (
    FAMILIES,
    Floats,
    Rng,
    any_domain,
    corners_in_input_space,
    editable,
    family,
    gaussian,
    lattice_domain,
    network,
    one_bit,
    rebuilt,
    sizes,
    small_integers,
    ternary,
    zeros,
)
from regions.domains import Box, Domain, Polygon, Polytope, Rectangle, Segment, Space
from regions.networks.network import Network

# Related and idle neurons.


@family
def related_neurons(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Neurons that are copies of others: unchanged, negated, or scaled."""
    layers = editable(network(rng, sizes(rng, dimension, width=(2, 6)), [gaussian, small_integers][rng.integers(2)]))
    for w, b in layers[:-1]:
        for _ in range(len(b)):
            a, c = rng.integers(len(b), size=2)
            factor = rng.choice([1.0, -1.0, 2.0**-30, -(2.0**20), 0.5])
            w[a], b[a] = factor * w[c], factor * b[c]
    net = Network([(w, b) for w, b in layers])
    return net, any_domain(rng, dimension, net.n_in)


@family
def doubled_neurons(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Every neuron more than once, some of them negated or scaled."""
    layers = editable(network(rng, sizes(rng, dimension, width=(4, 10)), [gaussian, small_integers][rng.integers(2)]))
    factors = [[1.0], [1.0, -1.0], [-(2.0**-20), 3.0, 0.5]][rng.integers(3)]
    for w, b in layers[:-1]:
        half = len(b) // 2
        scales = rng.choice(factors, half)
        # Few digits, so that three times a weight is exact.
        w[:half], b[:half] = w[:half].astype(np.float32), b[:half].astype(np.float32)
        w[half : 2 * half], b[half : 2 * half] = scales[:, np.newaxis] * w[:half], scales * b[:half]
    net = Network([(w, b) for w, b in layers])
    return net, any_domain(rng, dimension, net.n_in)


@family
def minima_and_maxima(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """The largest of minima of a few affine forms, written with ReLUs: one line occurs in many layers."""
    n_in, pieces = int(rng.integers(dimension, dimension + 2)), int(rng.integers(2, 5))
    numbers = [gaussian, small_integers][rng.integers(2)]
    layers = [(numbers(rng, (pieces, n_in)), numbers(rng, (pieces,)))]
    chosen = np.eye(pieces)[rng.integers(pieces, size=8)]
    layers.append((chosen, np.zeros(8)))
    for size, sign in ((4, -0.5), (2, [-0.5, 0.5][rng.integers(2)]), (1, 0.5)):
        both = np.kron(np.eye(size), [[1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]])
        layers.append((both, np.zeros(4 * size)))
        layers.append((np.kron(np.eye(size), [[0.5, -0.5, sign, sign]]), np.zeros(size)))
    net = Network(layers, activation=["identity", *["identity", "relu"] * 3])
    return net, any_domain(rng, dimension, net.n_in)


@family
def idle_neurons(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Dead neurons, always active ones, and constants above, below and at the kink."""
    layers = editable(network(rng, sizes(rng, dimension), [gaussian, small_integers][rng.integers(2)], small_integers))
    for w, b in layers[:-1]:
        for unit in range(len(b)):
            fate = rng.integers(9)
            if fate < 2:
                b[unit] = (-1e4, 1e4)[fate]
            elif fate == 2:
                w[unit], b[unit] = 0, rng.integers(-1, 2)
    net = Network([(w, b) for w, b in layers])
    return net, any_domain(rng, dimension, net.n_in)


@family
def layer_off(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """A whole layer is inactive everywhere, or on a part of the domain; biases of later layers may be zero."""
    net = network(rng, sizes(rng, dimension, depth=(2, 4)), small_integers, [zeros, ternary][rng.integers(2)])
    layers = editable(net)
    w, b = layers[rng.integers(len(layers) - 1)]
    if rng.random() < 0.5:
        b -= 1e4
    else:  # negative combinations of things that are never negative: zero where those units are zero
        w[:], b[:] = -np.abs(w), 0
    return rebuilt(layers, net), lattice_domain(rng, dimension, net.n_in)


@family
def zero_on_a_cell(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Later units that are identically zero on cells, or vanish exactly on lines of the first layer."""
    n_in, width = int(rng.integers(dimension, max(4, dimension + 1))), int(rng.integers(1, 4))
    w = small_integers(rng, (width, n_in))
    b = [zeros, ternary][rng.integers(2)](rng, (width,))
    # The first layer has h and -h, so the second can have relu(h), -relu(-h), h, |h|, and sums of these.
    layers = [[np.vstack([w, -w]), np.hstack([b, -b])]]
    for _ in range(rng.integers(1, 3)):
        n = int(rng.integers(1, 5))
        layers.append([ternary(rng, (n, len(layers[-1][1]))), np.zeros(n)])
    layers.append([one_bit(rng, (1, len(layers[-1][1]))), np.zeros(1)])
    return Network([(w, b) for w, b in layers]), lattice_domain(rng, dimension, n_in)


# Lines through existing points and edges.


@family
def concurrent(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Many hyperplanes of the first layer through few points, among them corners of the domain."""
    net = network(rng, sizes(rng, dimension, width=(2, 7)), small_integers, small_integers)
    domain = lattice_domain(rng, dimension, net.n_in)
    layers = editable(net)
    corners = corners_in_input_space(domain)
    points = np.vstack([corners, corners.mean(axis=0, keepdims=True), rng.integers(-2, 3, (1, net.n_in))])
    w, b = layers[0]
    b[:] = -(w * points[rng.integers(min(len(points), 3), size=len(b))]).sum(axis=1)
    return rebuilt(layers, net), domain


@family
def along_edges(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Kinks along the edges of the domain (in a line: at its ends), and beside and across them."""
    domain = lattice_domain(rng, dimension, dimension)
    corners = corners_in_input_space(domain)
    width = int(rng.integers(2, 7))
    w, b = small_integers(rng, (width, dimension)), small_integers(rng, (width,))
    for unit in range(width):
        e = int(rng.integers(len(corners)))
        if dimension == 2:
            edge = corners[(e + 1) % len(corners)] - corners[e]
            w[unit] = rng.choice([-1.0, 1.0]) * np.array([-edge[1], edge[0]])
        b[unit] = -w[unit] @ corners[e] + rng.choice([0.0, 0.0, 0.5, -0.5])
    layers = [[w, b]]
    for _ in range(rng.integers(0, 3)):
        n = int(rng.integers(1, 5))
        layers.append([small_integers(rng, (n, len(layers[-1][1]))), ternary(rng, (n,))])
    layers.append([np.ones((1, len(layers[-1][1]))), np.zeros(1)])
    return Network([(w, b) for w, b in layers]), domain


@family
def through_vertices(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Later kinks through crossings of earlier ones: differences of units that vanish together."""
    n_in = int(rng.integers(dimension, max(4, dimension + 1)))
    w = small_integers(rng, (int(rng.integers(2, 6)), n_in))
    b = -w @ rng.integers(-1, 2, n_in).astype(float)  # all first hyperplanes through one point
    layers = [[w, b]]
    for _ in range(rng.integers(1, 3)):
        pairs = np.zeros((int(rng.integers(1, 5)), len(layers[-1][1])))
        for row in pairs:
            row[rng.integers(len(row), size=2)] = rng.choice([-2.0, -1.0, 1.0, 2.0], 2)
        layers.append([pairs, np.zeros(len(pairs))])
    layers.append([np.ones((1, len(layers[-1][1]))), np.zeros(1)])
    return Network([(w, b) for w, b in layers]), lattice_domain(rng, dimension, n_in)


@family
def data_on_boundaries(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Domains made of data points that lie exactly on kinks of several layers."""
    net = network(rng, sizes(rng, dimension, depth=(2, 3)), small_integers, small_integers)
    data = rng.permutation(27)[:3, np.newaxis] // 3 ** np.arange(3) % 3 - 1.0  # three different points
    points = np.hstack([data, np.ones((3, 1))])[:, : net.n_in]
    if net.n_in < 3:
        points = np.array([[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]])[:, : net.n_in]
    layers = editable(net)
    values = points
    for w, b in layers[:-1]:
        h = values @ w.T
        b[:] = -h[rng.integers(3, size=len(b)), np.arange(len(b))]
        values = np.maximum(h + b, 0)
    net = rebuilt(layers, net)
    if dimension == 1:
        reach = float(rng.integers(2))  # from one point to another, or beyond both
        side = points[1] - points[0]
        return net, Segment(points[0] - reach * side, points[1] + reach * side)
    sides = points[1] - points[0], points[2] - points[0]
    if np.linalg.matrix_rank(sides) < 2:
        sides = (
            sides[0],
            np.roll(sides[0], 1) * np.array([1.0, -1.0, 0.5, 3.0])[: net.n_in] + np.eye(net.n_in)[0],
        )
    if np.linalg.matrix_rank(sides) < 2:
        sides = tuple(np.eye(net.n_in)[:2])
    return net, Rectangle(points[0], *sides)


@family
def alike_on_the_chart(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Different neurons that are the same function, or a constant, on the domain."""
    net = network(rng, [dimension + 2, *sizes(rng, dimension, width=(2, 5))[1:]], small_integers, small_integers)
    layers = editable(net)
    w, b = layers[0]
    for _ in range(len(b)):
        a, c = rng.integers(len(b), size=2)
        w[a, :dimension], b[a] = w[c, :dimension], b[c]
    if rng.random() < 0.3:
        w[0, :dimension] = 0
    flat = np.eye(dimension + 2)[:dimension]  # the last two coordinates are zero on the domain
    if dimension == 1:
        return rebuilt(layers, net), Segment(-2 * flat[0], 3 * flat[0])
    return rebuilt(layers, net), Rectangle(-2 * flat[0] - flat[1], 4 * flat[0], 3 * flat[1])


# Nearly degenerate, and far away.


def _moved(
    rng: Rng, dimension: int, families: Sequence[str], shares: Sequence[float], move: Callable[[Floats], Floats]
) -> tuple[Network, Domain]:
    """Return a network of one of these families, with a share of its weights moved."""
    net, domain = FAMILIES[families[rng.integers(len(families))]](rng, dimension)
    layers = editable(net)
    share = rng.choice(shares)
    for array in (array for layer in layers for array in layer):
        chosen = (rng.random(array.shape) < share) & ((array != 0) | (rng.random() < 0.3))
        array[chosen] = move(array)[chosen]
    return rebuilt(layers, net), domain


@family
def one_ulp(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """A degenerate network with some weights moved to the next double."""
    names = ["concurrent", "along_edges", "through_vertices", "zero_on_a_cell", "related_neurons", "zero_bias"]

    def move(array: Floats) -> Floats:
        moved: Floats = np.nextafter(array, np.where(rng.random(array.shape) < 0.5, -np.inf, np.inf))
        return moved

    return _moved(rng, dimension, names, [0.1, 0.5], move)


@family
def nudged(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """A degenerate network, of any activation, with some weights moved by 2^-50 to 2^-30."""
    names = [
        "small_integer",
        "ternary_weights",
        "leaky",
        "clipped",
        "mixed_activations",
        "concurrent",
        "zero_on_a_cell",
    ]

    def move(array: Floats) -> Floats:
        moved: Floats = array + rng.choice([-1.0, 1.0], array.shape) * 2.0 ** -rng.integers(30, 51)
        return moved

    return _moved(rng, dimension, names, [0.05, 0.3], move)


@family
def strips(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Parallel kinks as little as 2^-45 apart, and a second layer that reads them."""
    n_in, width = int(rng.integers(dimension, max(4, dimension + 1))), int(rng.integers(2, 6))
    w = np.repeat(small_integers(rng, (1, n_in)), width, axis=0)
    w[:, 0] += w[:, 0] == 0
    b = rng.choice([-1.0, 0.0, 1.0]) + rng.integers(-3, 4, width) * 2.0 ** -rng.integers(1, 46)
    w[0] = small_integers(rng, (n_in,))
    n = int(rng.integers(1, 4))
    second = [small_integers(rng, (n, width)), rng.integers(-2, 3, n) * 2.0 ** -rng.integers(0, 46)]
    return Network([(w, b), (second[0], second[1]), (np.ones((1, n)), None)]), any_domain(rng, dimension, n_in)


@family
def far_away(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Domains far away, with kinks there; they and the weights scaled by powers of two up to 2^80."""
    net = network(rng, sizes(rng, dimension, depth=(1, 2)), small_integers, small_integers)
    domain = any_domain(rng, dimension, net.n_in)
    layers = editable(net)
    shift = rng.integers(-3, 4, net.n_in) * 2.0 ** rng.integers(0, 41)
    scale, weight_scale = 2.0 ** rng.integers(-80, 81), 2.0 ** rng.integers(-80, 81)
    # With x = scale (y + shift), a kink w y + b = 0 becomes w x / scale + b - w shift = 0.
    layers[0] = [layers[0][0] * (weight_scale / scale), (layers[0][1] - layers[0][0] @ shift) * weight_scale]
    origin, directions = scale * (domain.origin + shift), scale * domain.directions
    net = rebuilt(layers, net)
    if dimension < 3:
        return net, Domain(origin, directions, domain.generators)
    if not len(domain.forms):
        return net, Space(origin, directions)
    return net, Polytope.in_chart(origin, directions, -domain.forms[:, 1:], domain.forms[:, 0])


@family
def touching(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Kinks that touch the domain in a corner without entering it, or miss it, or enter it, by one ulp."""
    width = int(rng.integers(2, 6))
    # Each through (0, ..) or (1, ..), with the domain on one side.
    w = rng.integers(1, 4, (width, dimension)) * rng.choice([-1.0, 1.0], (width, 1))
    b = -w.sum(axis=1) * rng.integers(0, 2, width)
    moved = rng.random(width) < 0.5
    b[moved] = np.nextafter(b, rng.choice([-np.inf, np.inf], width))[moved]
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    domain = Segment([0.0], [1.0]) if dimension == 1 else Polygon(square)
    if dimension > 2:
        domain = Box([0.0] * dimension, [1.0] * dimension)
    n = int(rng.integers(1, 4))
    layers = [(w, b), (small_integers(rng, (n, width)), ternary(rng, (n,))), (np.ones((1, n)), None)]
    return Network(layers), domain


@family
def cancelling_outputs(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """A unit reads the difference of two units that are multiples of each other, except for the last bits of decimals.
    Where both are decided, its rounded form is 0 and the true form is not. It is decided early, and read by a later
    layer.
    """
    factor = [0.1, 0.3, 0.7, round(float(rng.uniform(0.05, 1)), 3)][rng.integers(4)]
    steep = round(float(rng.uniform(1.1, 9)), 1)
    kink = round(float(rng.uniform(0.2, 0.9)) * steep, 2)
    if rng.random() < 0.5:
        activation, clear = ["relu", "identity", "relu"], 8.0
    else:
        activation, clear = ["hard_tanh", "hard_tanh", "relu"], 0.0
        steep, kink = steep / 9, kink / steep / 4 + 1
    first = np.zeros((4, dimension))
    first[:2, 0] = steep, factor * steep
    last = rng.choice([-1.0, 1.0], (1, 1))
    net = Network(
        [
            (first, [-kink, clear, factor * kink, 0.5]),
            ([[factor, -1.0, 1.0, 0.0]], [clear]),
            (last, [0.0]),
            ([[1.0]], [0.0]),
        ],
        activation,
    )
    corners = np.array([[-1, -1], [3, -1], [3, 1], [-1, 1]])
    return net, Segment([0.0], [3.0]) if dimension == 1 else Polygon(corners)
