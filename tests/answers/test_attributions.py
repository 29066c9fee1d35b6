# SPDX-License-Identifier: MIT
"""Do integrated gradients agree with rational arithmetic and with fine quadrature, within bounds that are narrow?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import regions
from answers_judge import attribution_findings
from generators import FAMILIES, draw
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from regions import Network, Plane, Segment, integrated_gradients
from regions.errors import LimitReached, NonFiniteError, ShapeMismatchError
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Read, Units
from regions.networks.named_activations import identity, relu
from regions.networks.patches import Patches
from regions.passes import path_gradients

HAT = Network([([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, -1.0, 0.5]), ([[1.0, 2.0, -1.0], [0.0, 1.0, 0.0]], None)])


def small(seed: int, *widths: int) -> Network:
    rng = np.random.default_rng(seed)
    sizes = zip(widths[:-1], widths[1:], strict=True)
    return Network([(rng.normal(size=(b, a)) * (2 / a) ** 0.5, rng.normal(size=b) / 10) for a, b in sizes])


def convolutional(seed: int) -> Network:
    rng = np.random.default_rng(seed)
    first = Patches.convolution(rng.normal(size=(3, 1, 3, 3)), (1, 8, 8), (1, 1), ((1, 1),) * 2, (1, 1))
    second = Patches.convolution(rng.normal(size=(4, 3, 3, 3)) / 4, (3, 8, 8), (2, 2), ((0, 0),) * 2, (1, 1))
    last = Patches.selection(4 * 9, np.arange(0, 36, 4))
    nodes, end = [], 0
    for number, operator in enumerate((first, second)):
        units = Units(operator.outputs, relu())
        kinks = slice(end, end := end + units.kinks)
        biases = rng.normal(size=operator.outputs) / 10
        nodes.append(Node(biases, (Read(operator, number - 1),), units, kinks, f"node {number}"))
    nodes.append(Node(np.zeros(9), (Read(last, 1),), Units(9, identity()), slice(end, end), "last"))
    return Network.from_graph(Graph(64, nodes), (1, 8, 8))


def residual(seed: int) -> Network:
    """The outputs read the second and the third node, with different numbers of pieces."""
    rng = np.random.default_rng(seed)
    nodes = []
    for number, sources in enumerate([(-1,), (0,), (1,), (1, 2)]):
        operators = [Dense(rng.normal(size=(5, 3 if source < 0 else 5))) for source in sources]
        units = Units(5, identity() if number == 3 else relu())
        reads = tuple(Read(*each) for each in zip(operators, sources, strict=True))
        nodes.append(Node(rng.normal(size=5) / 4, reads, units, slice(5 * number, 5 * number + units.kinks)))
    return Network.from_graph(Graph(3, nodes))


def quadrature(net: Network, points: Any, nodes: int, output: int) -> Any:
    """Integrated gradients of points [m, n_in] from 0 by the midpoint rule, as frameworks compute them."""
    shares = (np.arange(nodes) + 0.5) / nodes
    flat = points.reshape(len(points), -1)
    gradients = [net.gradient(share * flat)[:, output] for share in shares]
    return flat * np.mean(gradients, axis=0)


@pytest.mark.parametrize("family", [*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES])
def test_attributions_are_those_of_rational_arithmetic(family: str) -> None:
    for dimension in (1, 2):
        net, domain = draw(family, dimension, 5)
        assert list(attribution_findings(net, domain)) == []


@pytest.mark.parametrize("net", [small(1, 6, 12, 12, 3), small(2, 6, 9, 9, 9, 9, 9, 9, 9, 3), convolutional(3)])
def test_attributions_are_the_limit_of_quadrature(net: Network) -> None:
    points = np.random.default_rng(4).normal(size=(3, *net.input_shape))
    found = integrated_gradients(net, points, output=1)
    assert found.values.shape == points.shape
    flat = found.values.reshape(3, -1)
    coarse, fine = (np.abs(quadrature(net, points, nodes, 1) - flat).max() for nodes in (20, 600))
    assert fine < coarse / 4 and fine < 1e-2
    assert (np.abs(found.gap) <= found.gap_errors).all() and found.gap_errors.max() < 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_skip_connections(seed: int) -> None:
    net, rng = residual(seed), np.random.default_rng(seed)
    assert list(attribution_findings(net, Segment(*rng.normal(size=(2, 3))))) == []
    assert list(attribution_findings(net, Plane(*rng.normal(size=(3, 3))))) == []


def test_a_batch_is_the_same_as_its_points(monkeypatch: pytest.MonkeyPatch) -> None:
    net = small(5, 4, 10, 10, 2)
    points = np.random.default_rng(6).normal(size=(2, 3, 4))
    outputs = np.array([[0, 1, 0], [1, 1, 0]])
    together = integrated_gradients(net, points, points[::-1, ::-1], output=outputs)
    assert together.pieces.shape == (2, 3) and together.pieces.min() > 1
    monkeypatch.setattr(path_gradients, "CHUNK", 40)  # blocks of four strands
    for index in np.ndindex(2, 3):
        alone = integrated_gradients(net, points[index], points[::-1, ::-1][index], output=int(outputs[index]))
        assert alone.values == pytest.approx(together.values[index], abs=float(together.errors[index].max()))
        assert alone.changes == pytest.approx(together.changes[index]) and alone.pieces == together.pieces[index]
        assert abs(alone.gap) <= alone.gap_errors


@pytest.mark.parametrize(
    "curve",
    [
        regions.Polyline([[0, 0, 0], [1, -1, 2], [2, 2, -1], [0, 0, 0]]),
        regions.Arc([1.0, 2.0, 0.0], [0.0, -1.0, 3.0]),
        regions.Circle([0.1, 0.2, 0.3], [2.0, 0.0, 1.0], [0.0, 1.0, 1.0]),
    ],
)
def test_along_curves(curve: regions.Curve) -> None:
    net = small(7, 3, 9, 9, 2)
    found = integrated_gradients(net, path=curve, output=0)
    assert abs(found.gap) <= found.gap_errors < 1e-8 and found.pieces > 3
    t = np.linspace(0.0, 1.0, 30_001)
    steps, middles = np.diff(curve.to_input(t), axis=0), curve.to_input((t[1:] + t[:-1]) / 2)
    near = (net.gradient(middles)[:, 0] * steps).sum(axis=0)
    assert found.values == pytest.approx(near, abs=1e-3)


def test_where_a_unit_is_at_its_kink_it_is_off() -> None:
    # Along the first axis the second unit is 0.
    net = Network([([[1.0, 0.0], [0.0, 1.0]], None), ([[1.0, 1.0]], None)])
    assert integrated_gradients(net, [2.0, 0.0]).values.tolist() == [2.0, 0.0]


def test_a_point_that_is_its_baseline_has_attributions_of_zero() -> None:
    found = integrated_gradients(HAT, [[1.0, 2.0], [0.0, 0.0]], [1.0, 2.0], output=[0, 1])
    assert found.values[0].tolist() == found.errors[0].tolist() == [0.0, 0.0]
    assert found.pieces.tolist()[0] == 0 and found.gap_errors[0] == found.gap[0] == 0.0
    assert integrated_gradients(HAT, np.zeros((0, 2)), output=0).values.shape == (0, 2)


def test_without_hidden_units() -> None:
    found = integrated_gradients(Network([([[2.0, -3.0]], [1.0])]), [1.0, 1.0], [0.0, 0.5])
    assert found.values.tolist() == [2.0, -1.5] and found.changes == 0.5 and found.pieces == 1


def test_reports() -> None:
    found = integrated_gradients(HAT, [[2.0, 2.0]], output=0)
    assert repr(found) == "Attributions(1 path, 2 pieces)" and "largest gap" in found._repr_html_()
    assert found.as_dict()["pieces"] == [2] and '"gap_errors"' in found.to_json()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, "points are missing"),
        ({"points": [1.0, 1.0]}, ValueError, "output is missing: the network has 2 outputs"),
        ({"points": [1.0, 1.0], "output": 2}, ValueError, "output must be at most 1"),
        ({"points": [[1.0, 1.0]], "output": [2]}, ValueError, "output 2 does not exist"),
        ({"points": [[1.0, 1.0]], "output": [0, 1]}, ShapeMismatchError, r"one for each of the points, \[1\]"),
        ({"points": [[1.0, 1.0]], "output": [0.5]}, TypeError, "output must be an integer, or one for each"),
        ({"points": [1.0], "output": 0}, ShapeMismatchError, "points must have shape"),
        ({"points": [1.0, 1.0], "baseline": [[0, 0]], "output": 0}, ShapeMismatchError, "baseline must be one point"),
        ({"points": [1.0, 1.0], "path": "curved", "output": 0}, ValueError, 'path must be "straight" or a curve'),
        ({"points": [1e308, 1.0], "baseline": [-1e308, 0], "output": 0}, NonFiniteError, "minus the baseline"),
        ({"points": [1.0, 1.0], "path": regions.Arc([1, 0], [0, 1])}, ValueError, "leave them out if path is a curve"),
        ({"path": regions.Arc([1, 0, 0], [0, 1, 0]), "output": 0}, ShapeMismatchError, "curve"),
        ({"points": [9.0, 9.0], "output": 0, "limit": 1}, LimitReached, "more than 1 regions"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        integrated_gradients(HAT, **options)


def test_attributions_beyond_the_largest_double_are_refused() -> None:
    steep = Network([([[1e200, 0.0], [0.0, 1.0]], None), ([[1.0, 1.0]], None)])
    with pytest.raises(NonFiniteError, match=r"an attribution at points\[1\] is beyond the largest double"):
        integrated_gradients(steep, [[1.0, 1.0], [1e200, 1.0]])
