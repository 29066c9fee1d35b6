# SPDX-License-Identifier: MIT
"""Does every arithmetic walk through a network in the same way, also if nodes read several others?

The tests compare a graph with a skip connection, whose last node reads several nodes, with a chain that computes the
same function by passing outputs on. All arithmetics have to agree on both; exact ones have to agree exactly.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from regions.domains import Plane
from regions.networks.activation import Activation
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Read, Units
from regions.networks.named_activations import identity, relu
from regions.networks.network import Network
from regions.networks.rounded import affine_maps
from regions.networks.walk import preactivations, under
from regions.passes import bounded_together
from regions.passes.bounded import Bounded
from regions.passes.bounded_gradients import BoundedGradients, Coordinates
from regions.passes.bounded_together import BoundedTogether
from regions.passes.exact import ExactForms, ExactSigns
from regions.passes.modular import ResidueMaps, difference_bits, primes
from regions.passes.open_paths import kinks_read, leading_to_outputs

RNG = np.random.default_rng(2)
PLANE = Plane(RNG.standard_normal(3), RNG.standard_normal(3), RNG.standard_normal(3))
A, B, C = (RNG.standard_normal(shape) for shape in ((4, 3), (5, 4), (2, 4)))
D = RNG.standard_normal((2, 5))
BIASES = [RNG.standard_normal(size) for size in (4, 5, 2)]


def node(biases: np.ndarray, reads: list[tuple[np.ndarray, int]], activation: Activation, first: int) -> Node:
    units = Units(len(biases), activation)
    made = tuple(Read(Dense(weights), source) for weights, source in reads)
    return Node(biases, made, units, slice(first, first + units.kinks))


def with_skip() -> Graph:
    """Return the graph of ``C relu(A x) + D relu(B relu(A x))``, with biases."""
    first = node(BIASES[0], [(A, -1)], relu(), 0)
    second = node(BIASES[1], [(B, 0)], relu(), 4)
    last = node(BIASES[2], [(C, 0), (D, 1)], identity(), 9)
    return Graph(3, [first, second, last])


def chain() -> Network:
    """Return a chain for the same function: ReLUs pass on nonnegative values, and their bits come last in the second
    layer.
    """
    weights = np.vstack([B, np.eye(4)])
    biases = np.concatenate([BIASES[1], np.zeros(4)])
    return Network([(A, BIASES[0]), (weights, biases), (np.hstack([D, C]), BIASES[2])])


SKIP, CHAIN = with_skip(), chain()
POINTS = RNG.standard_normal((40, 2)) * 3.0
BITS = np.array([CHAIN.pattern(PLANE.to_input(point)) for point in POINTS])
PACKED, CHAIN_PACKED = (np.packbits(bits, axis=1, bitorder="little") for bits in (BITS[:, :9], BITS))


def forms(graph: Graph, bits: np.ndarray) -> list[list[Fraction]]:
    exact = ExactForms(graph, PLANE)
    exact.enter(bits)
    integers, exponent = exact.preactivations(len(graph.hidden))
    return [[Fraction(x) * Fraction(2) ** exponent for x in column] for column in integers.T.tolist()]


def test_exact_forms() -> None:
    for bits in BITS:
        assert forms(SKIP, bits[:9]) == forms(CHAIN.graph, bits)


def test_exact_signs() -> None:
    for domain, points in ((PLANE, POINTS), (None, PLANE.to_input(POINTS))):
        of_skip, of_chain = (ExactSigns(graph, domain) for graph in (SKIP, CHAIN.graph))
        for point in points:
            assert (of_skip.at(point) == of_chain.at(point)[:9]).all()


@pytest.mark.parametrize("chart", [PLANE, None], ids=["chart", "input"])
@pytest.mark.parametrize("copies", [1, 3], ids=["from outputs", "from inputs"])
def test_rounded_maps(chart: Plane | None, copies: int) -> None:
    """If there are more outputs than columns, the maps are multiplied from the inputs on."""
    nodes = list(SKIP.nodes)
    reads = [(np.tile(read.operator.weights, (copies, 1)), read.node) for read in nodes[-1].reads]
    nodes[-1] = node(np.tile(BIASES[2], copies), reads, identity(), 9)
    first, second, last = CHAIN.layers
    outputs = np.tile(last.weights, (copies, 1)), np.tile(last.biases, copies)
    wide = Network([(first.weights, first.biases), (second.weights, second.biases), outputs])
    seen = None if chart is None else (chart.origin, chart.directions)
    found = affine_maps(Graph(3, nodes), seen, PACKED)
    expected = affine_maps(wide.graph, seen, CHAIN_PACKED)
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12)


def test_residues() -> None:
    assert difference_bits(SKIP, PLANE) > 0
    prime = min(next(primes(SKIP)), next(primes(CHAIN.graph)))
    order = np.lexsort(BITS[:, 8::-1].T)
    both = (SKIP, PACKED), (CHAIN.graph, CHAIN_PACKED)
    found, expected = (ResidueMaps(graph, PLANE, prime).values(packed[order]) for graph, packed in both)
    assert (found == expected).all()


@pytest.mark.parametrize("deep", [0, 5, None], ids=["lengths", "together", "alone"])
def test_bounds_hold_and_are_small(deep: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if deep is None:
        alone = Bounded(SKIP, PLANE)
        *_, (values, errors) = preactivations(SKIP, alone, alone.inputs(POINTS), under(BITS[:, :9]))
    else:
        monkeypatch.setattr(bounded_together, "DEEP", deep)
        together = BoundedTogether(SKIP, PLANE)
        *_, last = preactivations(SKIP, together, together.inputs(POINTS, np.zeros(len(POINTS))), under(BITS[:, :9]))
        values, errors = last.values, np.broadcast_to(last.errors, last.values.shape)
    for bits, point, value, error in zip(BITS, POINTS, values, errors, strict=True):
        x = (Fraction(1), *map(Fraction, point.tolist()))
        for form, near, bound in zip(forms(SKIP, bits[:9]), value.tolist(), error.tolist(), strict=True):
            assert abs(sum(a * b for a, b in zip(form, x, strict=True)) - Fraction(near)) <= Fraction(bound) < 1e-11


def test_bounded_gradients() -> None:
    coordinates = Coordinates(SKIP)
    arithmetic, points = BoundedGradients(coordinates), PLANE.to_input(POINTS)
    *_, units = preactivations(SKIP, arithmetic, arithmetic.inputs(points), under(BITS[:, :9]))
    assert units.values == pytest.approx(CHAIN(points), rel=1e-12)
    lengths = np.linalg.norm(CHAIN.gradient(points), axis=2)
    assert units.lengths == pytest.approx(lengths, rel=1e-12)
    assert (units.shortest <= lengths * (1 + 1e-15)).all() and (lengths * (1 - 1e-15) <= units.longest).all()
    assert (units.longest - units.shortest < 1e-11).all() and units.live.any()


def test_open_paths() -> None:
    """All units of the first node lead to the outputs, on any pieces of the second one."""
    found = leading_to_outputs(SKIP, PACKED)
    assert found.all() and leading_to_outputs(CHAIN.graph, CHAIN_PACKED)[:, 4:9].all()
    assert kinks_read(SKIP, 6).tolist() == [True] * 4 + [False] * 5


def test_outputs_are_let_go_when_no_node_reads_them_any_more() -> None:
    assert SKIP.last_reads == [[-1], [], [0, 1]] and CHAIN.graph.last_reads == [[-1], [0], [1]]
