# SPDX-License-Identifier: MIT
"""Which neurons have signs, and are networks refused whose fixed weights connect neurons?

That the flips keep the mean number of regions is tested in ``tests/bounds/test_sign_identity.py``.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from regions.errors import NetworkError
from regions.networks.graph import Graph, Maxima, Node, Read, Units
from regions.networks.named_activations import identity, parse_activation, relu
from regions.networks.patches import Patches
from regions.networks.sign_flips import free_signs
from sign_identity import Building, generic


def building(n_in: int = 2, seed: int = 0) -> Building:
    rng = np.random.default_rng(seed)
    return Building(n_in, lambda *s: generic(rng, *s), lambda *s: generic(rng, *s))


def relus(width: int) -> Units:
    return Units(width, relu())


def blocks(count: int, *, start_bends: bool, end_bends: bool) -> regions.Network:
    """Return x + relu(W x), several times, after a layer that bends or does not; or relu(x + V relu(W x))."""
    graph = building()
    stream = graph.add(relus(3) if start_bends else Units(3, identity()), [graph.matrix(3, -1)])
    for _ in range(count):
        branch = graph.add(relus(3), [graph.matrix(3, stream)])
        read = graph.matrix(3, branch) if end_bends else graph.copy(branch)
        stream = graph.add(relus(3) if end_bends else Units(3, identity()), [graph.copy(stream), read])
    return graph.network()


def test_signs_of_a_chain() -> None:
    graph = building()
    below = graph.add(relus(3), [graph.matrix(3, -1)])
    below = graph.add(Units(2, identity()), [graph.matrix(2, below)])
    graph.add(relus(4), [graph.matrix(4, below)])
    signs = free_signs(graph.network().graph)
    # The inputs, the sums, the last layer and the output have the sign 1.
    assert signs.count == 3
    assert signs.numbers.tolist() == [-1, -1, 0, 1, 2, -1, -1, -1, -1, -1, -1, -1]


def test_a_maximum_of_two_branches_becomes_a_minimum() -> None:
    graph = building()
    graph.add(Maxima.of_sizes([2]), [graph.matrix(2, -1)])
    graph.add(relus(1), [graph.matrix(1, 0)])
    network = graph.network()
    flipped = regions.Network.from_graph(free_signs(network.graph).flipped(np.array([-1.0])))
    points = np.random.default_rng(0).standard_normal((50, 2))
    first, second = network.graph.nodes[:2]
    branches = points @ first.reads[0].operator.weights.T + first.biases
    expected = branches.min(axis=1, keepdims=True) @ second.reads[0].operator.weights.T + second.biases
    assert np.allclose(flipped.until(1)(points), np.maximum(expected, 0.0))


@pytest.mark.parametrize(("count", "start_bends"), [(1, False), (2, False), (1, True), (3, False), (2, True)])
def test_blocks_without_a_second_matrix(count: int, start_bends: bool) -> None:
    """Each coordinate of the stream has one sign, so one neuron beside the last layer may share it."""
    network = blocks(count, start_bends=start_bends, end_bends=False)
    if count + start_bends > 2:
        with pytest.raises(NetworkError, match=r"node \d \(.*\): its neurons have no signs of their own"):
            free_signs(network.graph)
    else:
        assert free_signs(network.graph).count == 3 * (count + start_bends > 1)


def test_blocks_that_end_with_relu() -> None:
    assert free_signs(blocks(1, start_bends=True, end_bends=True).graph).count == 6  # the last relu needs no sign
    with pytest.raises(NetworkError, match=r"node 2 \(node 2\): its neurons have no signs of their own") as error:
        free_signs(blocks(2, start_bends=True, end_bends=True).graph)
    assert "connect them with node 0 (node 0), as in convolutions, pools, and skip" in str(error.value)


def test_convolutions_are_refused() -> None:
    window = Patches.convolution(np.ones((1, 1, 2)), (1, 3), [1], [(0, 0)], [1])
    graph = building(3)
    graph.add(relus(2), [Read(window, -1)])
    graph.add(relus(1), [graph.matrix(1, 0)])
    with pytest.raises(NetworkError, match="connect them with the inputs, as in convolutions"):
        free_signs(graph.network().graph)


@pytest.mark.parametrize("activation", ["hard_tanh", "relu6", "soft_shrink(0.5)"])
def test_other_activations_are_refused(activation: str) -> None:
    network = regions.Network([(np.eye(2), None), (np.eye(2), None), (np.eye(2), None)], activation)
    with pytest.raises(
        NetworkError, match=r"node 0 \(layer 0\): .* has no sign; activations are handled that have two"
    ):
        free_signs(network.graph)


def test_a_maximum_of_three_is_refused() -> None:
    graph = building()
    graph.add(Maxima.of_sizes([1, 3]), [graph.matrix(4, -1)])
    with pytest.raises(NetworkError, match=r"node 0 \(node 0\): a maximum of 3 branches has no sign"):
        free_signs(graph.network().graph)


@pytest.mark.parametrize("activation", ["relu", "leaky_relu(0.25)", "abs"])
def test_a_flip_of_all_signs_mirrors_the_activation(activation: str) -> None:
    """With all signs -1, units have phi(-t) in the place of phi(t), and the others read -1 times that."""
    graph = building(seed=3)
    bends = parse_activation(activation)
    graph.add(Units(2, bends), [graph.matrix(2, -1)])
    graph.add(Units(2, bends), [graph.matrix(2, 0)])
    network = graph.network()
    twin = regions.Network.from_graph(free_signs(network.graph).flipped(np.array([-1.0, -1.0])))
    points = np.random.default_rng(1).uniform(-4, 4, (200, 2))
    (first, _), (second, _) = ((node.reads[0].operator.weights, node) for node in network.graph.nodes[:2])
    below = points @ first.T + network.graph.nodes[0].biases
    expected = bends(-bends(-below) @ second.T + network.graph.nodes[1].biases)
    assert np.allclose(twin.until(1)(points), expected)


def test_names_are_printable() -> None:
    node = Node(np.zeros(1), (Read(Patches.selection(1, np.array([0])), -1),), relus(1), slice(0, 1), "\x1b[31m")
    last = Node(np.zeros(1), (Read(Patches.selection(1, np.array([0])), 0),), relus(1), slice(1, 2), "top")
    end = Node(np.zeros(1), (Read(Patches.selection(1, np.array([0])), 1),), Units(1, identity()), slice(2, 2), "end")
    with pytest.raises(NetworkError) as error:
        free_signs(Graph(1, [node, last, end]))
    assert str(error.value).isprintable()
