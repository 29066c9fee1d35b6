# SPDX-License-Identifier: MIT
"""Families of networks with few coincidences, with few different weights, or with each activation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from generator_parts import (
    Rng,
    any_domain,
    editable,
    family,
    gaussian,
    general_domain,
    lattice_domain,
    network,
    one_bit,
    sizes,
    small_integers,
    ternary,
    zeros,
)
from regions.constructions import montufar_fold, sawtooth, serra_fold, square_fold
from regions.domains import Domain, Rectangle, Segment
from regions.networks.named_activations import Activation, absolute, hard_tanh, identity, leaky_relu, prelu, relu, relu6
from regions.networks.network import Network

# In general position.


@family
def generic(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    net = network(rng, sizes(rng, dimension))
    return net, general_domain(rng, dimension, net.n_in)


@family
def half_precision(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    kind = [np.float16, np.float32][rng.integers(2)]
    layers = [[w.astype(kind), b.astype(kind)] for w, b in editable(network(rng, sizes(rng, dimension)))]
    net = Network([(w, b) for w, b in layers])
    return net, any_domain(rng, dimension, net.n_in)


@family
def deep(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    layer_sizes = sizes(rng, dimension, depth=(8, 50), width=(1, 3))
    net = network(rng, layer_sizes, [gaussian, small_integers, one_bit][rng.integers(3)])
    return net, any_domain(rng, dimension, net.n_in)


@family
def wide(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    net = network(rng, sizes(rng, dimension, depth=(1, 2), width=(8, 14)), [gaussian, ternary][rng.integers(2)])
    return net, any_domain(rng, dimension, net.n_in)


@family
def wild_magnitudes(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Units scaled by 1e-30 to 1e30, which the next layer sometimes reverses; or each weight scaled separately."""
    layers = editable(network(rng, sizes(rng, dimension)))
    if rng.random() < 0.3:
        for array in (array for layer in layers for array in layer):
            array *= 10.0 ** rng.uniform(-30, 30, array.shape)
    take_back = rng.random() < 0.5
    for before, after in zip(layers, layers[1:], strict=False):
        factors = np.exp2(rng.integers(-100, 101, len(before[1])).astype(float))
        if not take_back:
            factors = factors * rng.uniform(0.5, 1, len(factors))
        before[0] *= factors[:, np.newaxis]
        before[1] *= factors
        if take_back:
            after[0] /= factors
    net = Network([(w, b) for w, b in layers])
    return net, any_domain(rng, dimension, net.n_in)


@family
def denormal(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Weights, biases, or some entries of both are among the smallest doubles."""
    layers = editable(network(rng, sizes(rng, dimension), small_integers, small_integers))
    for array in (array for layer in layers for array in layer):
        tiny = rng.random(array.shape) < rng.choice([0.0, 0.3, 1.0])
        array[tiny] *= rng.choice([5e-324, 2.0**-1040, 1e-310, 1e-308])
    net = Network([(w, b) for w, b in layers])
    return net, any_domain(rng, dimension, net.n_in)


@family
def overflowing(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Values are doubles, but some intermediate sums and differences overflow; the next layer scales back."""
    layers = editable(network(rng, sizes(rng, dimension), small_integers, small_integers))
    for array in layers[0]:
        array *= 2.0 ** rng.integers(1016, 1021)
    layers[1][0] *= 2.0**-1020
    net = Network([(w, b) for w, b in layers])
    return net, lattice_domain(rng, dimension, net.n_in)


# Few different numbers.


@family
def zero_bias(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    net = network(rng, sizes(rng, dimension), [gaussian, small_integers][rng.integers(2)], zeros)
    return net, any_domain(rng, dimension, net.n_in)


@family
def small_integer(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    net = network(rng, sizes(rng, dimension), small_integers, small_integers)
    return net, lattice_domain(rng, dimension, net.n_in)


@family
def ternary_weights(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    net = network(rng, sizes(rng, dimension), ternary, [ternary, zeros, gaussian][rng.integers(3)])
    return net, any_domain(rng, dimension, net.n_in)


@family
def one_bit_weights(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    net = network(rng, sizes(rng, dimension), one_bit, [one_bit, zeros, gaussian][rng.integers(3)])
    return net, any_domain(rng, dimension, net.n_in)


@family
def sparse(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Pruned: most weights, and sometimes biases, are zero."""
    layers = editable(network(rng, sizes(rng, dimension, width=(3, 8))))
    for w, b in layers:
        w[rng.random(w.shape) < 0.7] = 0
        b[rng.random(b.shape) < 0.3] = 0
    net = Network([(w, b) for w, b in layers])
    return net, any_domain(rng, dimension, net.n_in)


@family
def sparse_discrete(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Price & Tanner 2020, Definition 4: mostly zeros, the others from a symmetric finite set."""
    alpha, values = rng.choice([0.1, 0.3, 0.6]), rng.choice([0.25, 1.0]) * np.array([-2.0, -1.0, 1.0, 2.0])

    def entries(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
        return np.where(rng.random(shape) < alpha, rng.choice(values, shape), 0.0)

    net = network(rng, sizes(rng, dimension, width=(3, 8)), entries, lambda rng, shape: rng.choice(values, shape))
    return net, any_domain(rng, dimension, net.n_in)


# Other activations, and known foldings.


def _with_activation(rng: Rng, dimension: int, make: Callable[[int], Activation]) -> tuple[Network, Domain]:
    layer_sizes = sizes(rng, dimension, width=(1, 5))
    law = [gaussian, small_integers][rng.integers(2)]
    net = network(rng, layer_sizes, law, law, [make(n) for n in layer_sizes[1:-1]])
    return net, any_domain(rng, dimension, net.n_in)


@family
def leaky(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    return _with_activation(rng, dimension, lambda _: leaky_relu(float(rng.choice([0.01, 0.5, -0.25, 1.0, 0.0]))))


@family
def learnt_slopes(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    return _with_activation(rng, dimension, lambda n: prelu(rng.choice([0.25, 0.0, 1.0, -1.0, 0.1], n)))


@family
def clipped(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Hard tanh, which has two parallel kinks for each unit, and is constant outside of them."""
    return _with_activation(rng, dimension, lambda _: hard_tanh(*[(-1, 1), (0, 1), (-2, 0.5)][rng.integers(3)]))


@family
def mixed_activations(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    choices = [relu, relu6, absolute, identity, hard_tanh, leaky_relu]
    return _with_activation(rng, dimension, lambda _: choices[rng.integers(len(choices))]())


@family
def foldings(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    if dimension == 2:
        lines = int(rng.integers(1, 4))
        net = square_fold(int(rng.integers(2, 4)), small_integers(rng, (lines, 2)), ternary(rng, (lines,)))
        return net, Rectangle([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]) if rng.random() < 0.5 else any_domain(rng, 2, 2)
    makers = [
        lambda: sawtooth(int(rng.integers(1, 6))),
        lambda: montufar_fold(int(rng.integers(2, 4)), int(rng.integers(1, 4))),
        lambda: serra_fold(rng.integers(3, 5, rng.integers(1, 3)).tolist()),
    ]
    net = makers[rng.integers(3)]()
    return net, Segment([0.0], [1.0]) if rng.random() < 0.5 else any_domain(rng, 1, 1)
