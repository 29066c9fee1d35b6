# SPDX-License-Identifier: MIT
"""Does a graph compute the operations that it was made of?"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from graphs import random_graph
from regions.errors import NetworkError
from regions.networks.dense import Dense
from regions.networks.named_activations import relu
from regions.networks.network import Network
from regions.networks.patches import Patches
from regions.read.graphs.builder import GraphBuilder
from regions.read.scaling import Scaling


@pytest.mark.parametrize("seeds", [range(start, start + 100) for start in range(0, 400, 100)], ids=str)
def test_values(seeds: range) -> None:
    for seed in seeds:
        network, points, wanted = random_graph(seed)
        assert (network(points) == wanted).all(), seed
        for number, node in enumerate(network.graph.nodes):
            assert all(read.node < number for read in node.reads)
            assert all(read.operator.outputs == node.units.count for read in node.reads)


def test_pickled_networks_are_equal() -> None:
    network, _, _ = random_graph(3)
    again = pickle.loads(pickle.dumps(network))
    assert again == network and again.fingerprint == network.fingerprint


def test_a_chain_of_dense_layers_is_one() -> None:
    builder = GraphBuilder()
    x = builder.input((2,))
    h = builder.activated(builder.linear(x, Dense(np.eye(3, 2)), np.ones(3), (3,), "first"), relu(), "relu")
    graph, notes = builder.finished(builder.linear(h, Dense(np.ones((1, 3))), None, (1,), "second"))
    network = Network.from_graph(graph)
    assert network == Network([(np.eye(3, 2), np.ones(3)), (np.ones((1, 3)), None)])
    assert not notes and [layer.name for layer in network.layers] == ["first", "second"]


def residual(builder: GraphBuilder) -> Network:
    x = builder.input((2,))
    h = builder.activated(builder.linear(x, Dense(np.eye(2)), None, (2,), "below"), relu(), "relu")
    branch = builder.linear(h, Dense(np.ones((2, 2))), None, (2,), "branch")
    y = builder.activated(builder.sum([(branch, 1.0), (h, 1.0)], "sum"), relu(), "relu")
    graph, _ = builder.finished(y)
    return Network.from_graph(graph)


def test_a_residual_block_is_one_node() -> None:
    network = residual(GraphBuilder())
    assert network.widths == (2, 2)
    assert [read.node for read in network.graph.nodes[1].reads] == [0, 0]
    with pytest.raises(NetworkError, match="not a chain of dense layers"):
        _ = network.layers


def test_a_batch_norm_is_folded_into_its_convolution() -> None:
    builder = GraphBuilder()
    x = builder.input((1, 4))
    operator = Patches.convolution(np.array([[[1.0, 3.0]], [[5.0, 7.0]]]), (1, 4), [1], [(0, 0)], [1])
    y = builder.linear(x, operator, np.ones(6), (2, 3), "conv")
    y = builder.scaled(y, Scaling("batch norm", "bn", np.repeat([3.0, 1 / 3], 3), np.repeat([1.0, 2.0], 3), True))
    graph, notes = builder.finished(builder.activated(y, relu(), "relu"))
    (hidden, _) = graph.nodes
    (read,) = hidden.reads
    assert (read.operator.kernels[0] == np.array([[3.0, 9.0], [5.0 * (1 / 3), 7.0 * (1 / 3)]])).all()
    assert hidden.biases.tolist() == [4.0] * 3 + [2.0 + 1.0 / 3] * 3
    assert notes == [
        "batch norm bn folded into conv, which precedes it, in float64; results are for the rounded weights"
    ]
