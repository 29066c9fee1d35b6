# SPDX-License-Identifier: MIT
"""Are ONNX files read that are written in an unusual way, but are legal?"""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto

import regions
from onnx_parts import agrees, file, mlp, model, node
from regions.networks.network import Network
from regions.read import load

C = {"c": np.array([1.0, -2.0, 0.5, 3.0], dtype=np.float32)}


def test_an_operator_set_that_is_declared_twice() -> None:
    given = mlp()
    given.opset_import.add(domain="", version=given.opset_import[0].version)
    assert load(file(given)) == load(file(mlp()))


def test_nodes_in_any_order() -> None:
    given = mlp()
    nodes = list(given.graph.node)
    del given.graph.node[:]
    given.graph.node.extend([nodes[2], nodes[0], nodes[3], nodes[1]])
    assert load(file(given)) == load(file(mlp()))


@pytest.mark.parametrize(
    "operators", [["Mul", "Relu", "Add"], ["Relu", "Mul"], ["Sub", "Abs"], ["Div", "Relu"], ["Relu", "Expand"]]
)
def test_values_that_a_constant_repeats(operators: list[str]) -> None:
    names = ["x", *(f"v{i}" for i in range(len(operators) - 1)), "y"]
    with_constant = ("Mul", "Add", "Sub", "Div")
    nodes = [
        node(
            operator, [before, *(["c"] if operator in with_constant else ["s"] if operator == "Expand" else [])], after
        )
        for operator, before, after in zip(operators, names, names[1:], strict=False)
    ]
    given = model(nodes, C | {"s": np.array([2, 1, 4], dtype=np.int64)}, shape=[1, 1])
    agrees(given, load(file(given)))


def plane_of(net: Network) -> regions.Plane:
    return regions.Plane(np.zeros(net.n_in), *np.eye(net.n_in)[:2])


@pytest.mark.parametrize(
    ("given", "shown", "count"),
    [
        (model([node("Relu", ["x"], "y")], shape=[1, 2]), "Network(2-2-2, relu, 2 hidden neurons)", 4),
        (model([node("Relu", ["x"], "y")], shape=[1, 3]), "Network(3-3-3, relu, 3 hidden neurons)", 4),
        (model([node("Identity", ["x"], "y")], shape=[1, 2]), "Network(2-2, affine, 0 hidden neurons)", 1),
        (model([node("Concat", ["x", "x"], "y", axis=1)], shape=[1, 2]), "Network(2-4, affine, 0 hidden neurons)", 1),
    ],
)
def test_networks_without_a_dense_layer(given: ModelProto, shown: str, count: int) -> None:
    net = load(file(given))
    assert repr(net) == shown
    partition = regions.enumerate(net, plane_of(net))
    assert len(partition) == regions.count(net, plane_of(net)) == count
    assert regions.certify(partition, net)
    agrees(given, net)
