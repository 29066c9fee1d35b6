# SPDX-License-Identifier: MIT
"""Are counts in seven to ten dimensions right?

There cells of a box are known by their inequalities, and get vertices only where something is not proven
(csrc/cells/dictionary.hpp). A polytope with one more inequality than its box needs is counted by vertices from the
start, and the reference by linear programs with fractions.
"""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

import regions
from polytope_cases import he_normal, network_of
from regions import reference
from regions.ground.arithmetic.types import Floats

KNOWN = {7: 66_868, 8: 61_231, 9: 102_748, 10: 155_278}


def by_vertices(box: regions.Box) -> regions.Polytope:
    """Return the same set, with an inequality that says nothing new."""
    normals, offsets = -box.forms[:, 1:], box.forms[:, 0]
    return regions.Polytope(np.concatenate([normals, normals[:1]]), np.append(offsets, offsets[0] + 1))


def draw(kind: str, sizes: tuple[int, ...], seed: int) -> regions.Network:
    """Return a network in general position, or of lines that meet in points, coincide, or almost do."""
    rng = np.random.default_rng(seed)
    layers: list[tuple[Floats, Floats]] = []
    for wide, out in zip(sizes, sizes[1:], strict=False):
        weights: Floats = rng.standard_normal((out, wide))
        biases: Floats = rng.standard_normal(out) / 8
        if kind == "through the origin":
            biases = np.zeros(out)
        elif kind != "generic":
            weights, biases = (
                rng.integers(-1, 2, (out, wide)).astype(np.float64),
                rng.integers(-1, 2, out) / np.float64(2),
            )
        if kind == "nearly":
            weights += (rng.random(weights.shape) < 0.3) * 2.0 ** -rng.integers(30, 50, weights.shape)
        layers.append((weights, biases))
    return regions.Network(layers)


@pytest.mark.parametrize("dimension", KNOWN)
def test_networks_of_two_layers_have_their_known_counts(dimension: int) -> None:
    box = regions.Box([-1] * dimension, [1] * dimension)
    assert regions.count(he_normal([dimension, 10, 10, 1]), box) == KNOWN[dimension]


@pytest.mark.parametrize("kind", ["generic", "through the origin", "integers", "nearly"])
@pytest.mark.parametrize("sizes", [(7, 5, 4, 1), (8, 3, 3, 2, 1), (7, 9, 1)])
def test_cells_with_and_without_vertices_have_the_same_counts(kind: str, sizes: tuple[int, ...]) -> None:
    counts = []
    for seed in range(3):
        net, box = draw(kind, sizes, seed), regions.Box([-1] * sizes[0], [1] * sizes[0])
        counts.append(regions.count(net, box))
        assert counts[-1] == regions.count(net, by_vertices(box)) == regions.count(net, box, workers=2)
    assert max(counts) > 8


@pytest.mark.parametrize("kind", ["hard_tanh", "abs"])
def test_units_with_several_kinks_have_the_same_counts(kind: str) -> None:
    layers = draw("generic", (7, 4, 3, 1), 0).layers
    net = regions.Network([(layer.weights, layer.biases) for layer in layers], activation=kind)
    box = regions.Box([-1] * 7, [1] * 7)
    assert regions.count(net, box) == regions.count(net, by_vertices(box)) > 8


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["generic", "integers", "nearly"])
def test_counts_are_those_of_the_reference(kind: str) -> None:
    box = regions.Box([-1] * 7, [1] * 7)
    for seed in range(3):
        net = draw(kind, (7, 3, 2, 1), seed)
        assert regions.count(net, box) == reference.count(net, box)


@pytest.mark.parametrize("meeting", [6, 7, 8, 9])
def test_lines_that_meet_in_one_point(meeting: int) -> None:
    """Every seven are independent, so only a further line through their point shows that there are fewer regions."""
    rng = np.random.default_rng(meeting)
    normals = rng.integers(-9, 10, (meeting, 7)).astype(np.float64)
    net = network_of(normals, -normals @ np.full(7, 0.125))
    box = regions.Box([-1] * 7, [1] * 7)
    number = 2 * sum(comb(meeting - 1, k) for k in range(7))
    assert regions.count(net, box) == number


@pytest.mark.parametrize("beside", [0.0, 2.0**-50, -(2.0**-50)])
def test_a_line_that_touches_a_corner_makes_no_region(beside: float) -> None:
    """A line touches a corner, or cuts it off by the last bits of doubles."""
    normals = np.concatenate([np.ones((1, 7)), np.eye(7)[:2]])
    net = network_of(normals, np.array([-7 + beside, 0, 0]))
    assert regions.count(net, regions.Box([-1] * 7, [1] * 7)) == 4 + (beside > 0)


@pytest.mark.parametrize("twin", [-2.0, 1 + 2.0**-52])
def test_two_lines_that_coincide_or_almost_do(twin: float) -> None:
    """Almost the same line crosses the first one inside of the box."""
    rng = np.random.default_rng(0)
    normals, offsets = rng.standard_normal((3, 7)), np.zeros(3)
    other = twin * normals[:1] if twin < 0 else normals[:1] * np.where(np.arange(7) < 3, twin, 1)
    net = network_of(np.concatenate([normals, other]), np.append(offsets, 0))
    box = regions.Box([-1] * 7, [1] * 7)
    assert regions.count(net, box) == regions.count(net, by_vertices(box)) == (8 if twin < 0 else 16)


@pytest.mark.parametrize(("middle", "radius"), [(0.0, 2.0**-300), (0.0, 2.0**150), (1000.0, 0.5), (-3.0, 2.0**-40)])
def test_boxes_of_every_size_and_place(middle: float, radius: float) -> None:
    net = draw("generic", (7, 4, 4, 1), 1)
    first = net.layers[0]
    # The same network on the box of radius 1 around the origin, as far as rounding goes.
    weights = first.weights / radius
    moved = regions.Network(
        [
            (weights, first.biases - weights.sum(axis=1) * middle),
            *((each.weights, each.biases) for each in net.layers[1:]),
        ]
    )
    box = regions.Box([middle - radius] * 7, [middle + radius] * 7)
    assert regions.count(moved, box) == regions.count(moved, by_vertices(box))


def test_a_limit_and_tasks_keep_their_meaning() -> None:
    net, box = he_normal([8, 8, 8, 1]), regions.Box([-1] * 8, [1] * 8)
    number = regions.count(net, box)
    tasks = regions.jobs.split(net, box, n=8)
    assert len(tasks) >= 8
    assert sum(sum(regions.jobs.run(task).numbers) for task in tasks) == number
    for limit in (0, 1, number // 2, number - 1):
        with pytest.raises(regions.LimitReached) as stopped:
            regions.count(net, box, limit=limit)
        assert limit < stopped.value.partial <= number
    assert regions.count(net, box, limit=number) == number
