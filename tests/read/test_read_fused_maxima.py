# SPDX-License-Identifier: MIT
"""Do maxima absorb the ReLUs before them on request, and only those that nothing else reads?"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from regions.networks.dense import Dense
from regions.networks.graph import Maxima
from regions.networks.named_activations import leaky_relu, relu
from regions.networks.network import Network
from regions.networks.patches import Patches
from regions.read.graphs.builder import GraphBuilder
from regions.read.graphs.operations import Tensor

RNG = np.random.default_rng(5)
IMAGES = RNG.standard_normal((50, 36))
# Windows of 3 by 3 with a step of 2 over 5 by 5.
CORNERS, WINDOW = np.array([0, 2, 10, 12]), np.array([0, 1, 2, 5, 6, 7, 10, 11, 12])
OVERLAPPING = CORNERS[:, np.newaxis] + WINDOW


class Model:
    """A convolution of images of 6 by 6, and optional layers after it."""

    def __init__(self) -> None:
        self.builder = GraphBuilder()
        self.x = self.builder.input((1, 6, 6))
        kernel = np.arange(-4.0, 4.0).reshape(2, 1, 2, 2)
        operator = Patches.convolution(kernel, (1, 6, 6), [1, 1], [(0, 0)] * 2, [1, 1])
        self.h = self.builder.linear(self.x, operator, np.repeat([0.5, -0.5], 25), (2, 5, 5), "convolution")

    def relu(self, x: Tensor) -> Tensor:
        return self.builder.activated(x, relu(), "relu")

    def pooled(self, x: Tensor) -> Tensor:
        sources = np.concatenate([OVERLAPPING, OVERLAPPING + 25])
        arms = self.builder.rearranged(x, sources.ravel())
        return self.builder.largest(arms, np.full(8, 9), (2, 2, 2), "pool")

    def networks(self, y: Tensor) -> tuple[Network, Network, list[str]]:
        written, notes = self.builder.finished(y)
        fused, more = self.builder.finished(y, fuse_max=True)
        assert notes == []
        return Network.from_graph(written), Network.from_graph(fused), more


def pooled(m: Model) -> Tensor:
    return m.pooled(m.relu(m.h))


def dense_maxout(m: Model) -> Tensor:
    """Return a network whose branches are the rows of a dense node, in another order, some of them behind a ReLU."""
    rows = m.builder.linear(m.x, Dense(RNG.standard_normal((6, 36))), RNG.standard_normal(6), (6,), "dense")
    others = m.relu(m.builder.linear(m.x, Dense(RNG.standard_normal((2, 36))), np.zeros(2), (2,), "others"))
    arms = m.builder.joined([m.builder.rearranged(rows, np.array([5, 0, 3, 1])), others], 0)
    return m.builder.largest(m.builder.rearranged(arms, np.array([0, 4, 1, 5, 2, 3])), np.array([2, 2, 2]), (3,), "max")


FUSED: dict[str, Callable[[Model], Tensor]] = {"pooled": pooled, "dense maxout": dense_maxout}
AS_WRITTEN: dict[str, Callable[[Model], Tensor]] = {
    "read elsewhere": lambda m: m.builder.joined([replace(m.pooled(r := m.relu(m.h)), shape=(8,)),
                                                  replace(r, shape=(50,))], 0),
    "two readers": lambda m: m.builder.sum([(m.pooled(r := m.relu(m.h)), 1.0), (m.pooled(r), 1.0)], "sum"),
    "another activation": lambda m: m.pooled(m.builder.activated(m.h, leaky_relu(0.5), "leaky")),
    "no activation": lambda m: m.pooled(m.h),
}  # fmt: skip


@pytest.mark.parametrize("name", [*FUSED, *AS_WRITTEN])
def test_the_function_is_the_same(name: str) -> None:
    model = Model()
    written, fused, notes = model.networks((FUSED | AS_WRITTEN)[name](model))
    assert np.abs(written(IMAGES) - fused(IMAGES)).max() < 1e-12
    assert np.abs(written.gradient(IMAGES) - fused.gradient(IMAGES)).max() < 1e-12
    names = [node.units.name for node in fused.graph.hidden if isinstance(node.units, Maxima)]
    if name in FUSED:
        assert len(notes) == 1 and notes[0].startswith("max(0, ..): ReLU ")
        assert names == ["max(0, ..)"] and "relu" not in {node.units.name for node in fused.graph.hidden}
    else:
        assert notes == [] and fused == written and set(names) == {"max"}
    assert pickle.loads(pickle.dumps(fused)) == fused != Network.from_graph(written.graph, notes=["other"]).until(0)


def test_a_constant_branch_is_the_maximum_if_all_others_are_below() -> None:
    model = Model()
    _, fused, _ = model.networks(pooled(model))
    (pool,) = (node for node in fused.graph.hidden if isinstance(node.units, Maxima))
    assert pool.units.sizes.tolist() == [10] * 8 and (pool.biases[::10] == 0.0).all()
    below = fused.preactivations(np.zeros(36))[-1].reshape(8, 10)
    assert (below[:, 0] == 0.0).all() and (below[4:, 1:] == -0.5).all()
    (bits,) = (fused.pattern(np.zeros(36))[pool.kinks],)
    assert pool.units.pieces_of(bits).tolist() == [1] * 4 + [0] * 4


def test_a_value_that_is_read_once_becomes_one_node() -> None:
    """Windows that do not overlap have the rows of the convolution itself as branches."""
    model = Model()
    four = model.builder.rearranged(model.h, np.arange(50).reshape(10, 5).T.ravel())
    y = model.builder.largest(four, np.full(10, 5), (10,), "max")
    written, fused, _ = model.networks(y)
    assert len(written.graph.nodes) == 2 and fused == written
    values = model.builder.finished(model.h)[0]
    columns = Network.from_graph(values)(IMAGES).reshape(50, 10, 5)
    assert np.abs(written(IMAGES) - columns.transpose(0, 2, 1).reshape(50, 10, 5).max(axis=2)).max() < 1e-12
