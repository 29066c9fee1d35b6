# SPDX-License-Identifier: MIT
"""Are max units right, one by one and in networks?"""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from regions.domains import Plane
from regions.errors import NetworkError, ShapeMismatchError
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Maxima, Node, Read, Units
from regions.networks.named_activations import identity, relu
from regions.networks.network import Network
from regions.networks.walk import preactivations, under
from regions.passes.bounded import Bounded, BoundedForms, BoundedPatterns
from regions.passes.bounded_gradients import BoundedGradients, Coordinates
from regions.passes.bounded_together import BoundedTogether
from regions.passes.exact import ExactForms, ExactSigns
from regions.passes.modular import ResidueMaps, primes
from regions.passes.open_paths import kinks_read, leading_to_outputs

RNG = np.random.default_rng(11)
UNITS = Maxima(np.array([0, 1, 4, 6]))
PLANE = Plane(RNG.standard_normal(3), RNG.standard_normal(3), RNG.standard_normal(3))


def network() -> Network:
    """Return a network with maxima of the inputs, ReLUs of these, and maxima of both, which the output adds up."""
    draw = iter(RNG.standard_normal(200))

    def some(*shape: int) -> np.ndarray:
        return np.array([next(draw) for _ in range(int(np.prod(shape)))]).reshape(shape)

    def read(rows: int, inputs: int, node: int) -> Read:
        return Read(Dense(some(rows, inputs)), node)

    last = Maxima(np.array([0, 3, 5]))
    nodes = [Node(some(6), (read(6, 3, -1),), UNITS, slice(0, 4))]
    nodes.append(Node(some(2), (read(2, 3, 0),), Units(2, relu()), slice(4, 6)))
    nodes.append(Node(some(5), (read(5, 2, 1), read(5, 3, 0)), last, slice(6, 10)))
    nodes.append(Node(some(2), (read(2, 2, 2), read(2, 3, 0)), Units(2, identity()), slice(10, 10)))
    return Network.from_graph(Graph(3, nodes))


NETWORK = network()
POINTS = 2.0 * RNG.standard_normal((30, 2))


def test_kinks_are_pairs() -> None:
    assert (UNITS.count, UNITS.rows, UNITS.kinks) == (3, 6, 4)
    assert UNITS.kink_rows.tolist() == [[2, 1], [3, 1], [3, 2], [5, 4]] and UNITS.kink_units.tolist() == [1, 1, 1, 2]
    five = Maxima([0, 5])
    pairs = [(b, a) for b in range(5) for a in range(b)]
    assert five.kink_rows.tolist() == [list(pair) for pair in pairs]
    assert all(pairs[b * (b - 1) // 2 + a] == (b, a) for a, b in combinations(range(5), 2))
    for winner in range(5):
        bits = five.bits_of(np.array([winner]))
        assert [pair for pair, bit in zip(pairs, bits, strict=True) if bit] == [(winner, a) for a in range(winner)]
        assert five.pieces_of(bits).tolist() == [winner]
        assert five.binding(np.array([winner])).tolist() == [winner in pair for pair in pairs]


def test_winners() -> None:
    rows = np.array([[9.0, 1.0, 3.0, 3.0, -2.0, -2.0], [0.0, -1.0, -3.0, 0.0, 4.0, 5.0]])
    assert UNITS.pieces_at(rows).tolist() == [[0, 1, 0], [0, 2, 1]]
    pieces = UNITS.pieces_at(rows)
    assert UNITS.followed(rows, pieces).tolist() == [[9.0, 3.0, -2.0], [0.0, 0.0, 5.0]]
    asked = UNITS.asked_of_rows(np.array([[1.0, 2.0, 3.0]] * 2), pieces)
    assert asked.tolist() == [[1.0, 0.0, 2.0, 0.0, 3.0, 0.0], [1.0, 0.0, 0.0, 2.0, 0.0, 3.0]]
    # With all proofs, and with a part of them: then branches 1 and 2 of the second unit are undecided.
    compared = UNITS.compared(rows)
    on, off = UNITS.settled(compared > 0, compared < 0)
    assert on.tolist() == [[False] * 4, [False, True, True, True]]
    assert off.tolist() == [[False] * 4, [True, False, False, False]]
    assert UNITS.first_pieces(compared > 0, compared < 0).tolist() == pieces.tolist()


@pytest.mark.parametrize("starts", [[0], [1, 3], [0, 2, 2], [0, 300], [[0, 1]]])
def test_impossible_arms_are_refused(starts: list[int]) -> None:
    with pytest.raises(NetworkError, match="max: each unit must have 1 to 255 branches"):
        Maxima(np.array(starts))


def test_a_graph_must_have_as_many_rows() -> None:
    last = Node(np.zeros(1), (Read(Dense(np.ones((1, 3))), 0),), Units(1, identity()), slice(4, 4))
    with pytest.raises(ShapeMismatchError, match="gives 5; node -1 gives 3, and there are 6 rows"):
        Network.from_graph(Graph(3, [Node(np.zeros(6), (Read(Dense(np.ones((5, 3))), -1),), UNITS, slice(0, 4)), last]))
    with pytest.raises(ShapeMismatchError, match="there are 6 rows, and biases of shape .5."):
        Network.from_graph(Graph(3, [Node(np.zeros(5), (Read(Dense(np.ones((6, 3))), -1),), UNITS, slice(0, 4)), last]))
    last = Node(np.zeros(1), (Read(Dense(np.ones((1, 3))), -1),), Maxima([0, 1]), slice(0, 0))
    with pytest.raises(NetworkError, match="the last node must be linear"):
        Network.from_graph(Graph(3, [last]))


def test_values_and_maps() -> None:
    points = RNG.standard_normal((40, 3))
    first, _, last = NETWORK.preactivations(points)
    winners = np.stack([first[:, 0], first[:, 1:4].max(axis=1), first[:, 4:].max(axis=1)], axis=1)
    above = np.maximum(winners @ NETWORK.graph.nodes[1].reads[0].operator.weights.T + NETWORK.graph.nodes[1].biases, 0)
    np.testing.assert_allclose(NETWORK.until(1)(points), above, atol=1e-12)
    largest = np.stack([last[:, :3].max(axis=1), last[:, 3:].max(axis=1)], axis=1)
    np.testing.assert_allclose(NETWORK.until(2)(points), largest, atol=1e-12)
    step = 1e-6 * RNG.standard_normal(3)
    for point in points:
        linear, constant = NETWORK.affine_map(NETWORK.pattern(point))
        np.testing.assert_allclose(linear @ point + constant, NETWORK(point), atol=1e-12)
        np.testing.assert_allclose(NETWORK.gradient(point), linear, atol=1e-12)
        np.testing.assert_allclose(linear @ step, NETWORK(point + step) - NETWORK(point), atol=1e-9)
    assert repr(NETWORK) == "Network(3-3-2-2-2, max + relu, 7 hidden neurons, 10 kinks)"
    bits = np.zeros(10, dtype=bool)
    bits[3:4], bits[1] = True, True  # branch 2 of the second unit is above branch 0, but not above branch 1
    with pytest.raises(ValueError, match="a maximum has no argmax"):
        NETWORK.affine_map(bits)


def test_pickled_networks_are_equal() -> None:
    again = pickle.loads(pickle.dumps(NETWORK))
    assert again == NETWORK and (again(POINTS @ PLANE.directions) == NETWORK(POINTS @ PLANE.directions)).all()
    other = NETWORK.outputs([1])
    assert other != NETWORK and other.kinks == NETWORK.kinks and other.n_out == 1


def test_all_arithmetics_agree() -> None:
    graph, bits = NETWORK.graph, NETWORK.pattern(PLANE.to_input(POINTS))
    packed = np.packbits(bits, axis=1, bitorder="little")
    wanted = NETWORK(PLANE.to_input(POINTS))
    forms, signs = ExactForms(graph, PLANE), ExactSigns(graph, PLANE)
    exact = []
    for point, row in zip(POINTS, bits, strict=True):
        forms.enter(row)
        found = forms.preactivations(len(graph.hidden))
        columns = [
            [Fraction(x) * Fraction(2) ** found.exponent for x in column] for column in found.integers.T.tolist()
        ]
        exact.append(columns)
        values = [a + b * Fraction(point[0]) + c * Fraction(point[1]) for a, b, c in columns]
        np.testing.assert_allclose([float(value) for value in values], NETWORK(PLANE.to_input(point)), atol=1e-12)
        assert (signs.at(point) == np.where(row, 1, -1)).all()
    nothing = np.zeros(graph.kinks, dtype=bool)
    patterns, decided = BoundedPatterns(graph, PLANE, nothing, nothing).at(POINTS)
    assert decided.all() and (patterns == bits).all()
    for arithmetic, inputs in (
        (Bounded(graph, PLANE), Bounded.inputs(POINTS)),
        (BoundedTogether(graph, PLANE), BoundedTogether.inputs(POINTS, np.zeros(len(POINTS)))),
    ):
        *_, last = preactivations(graph, arithmetic, inputs, under(bits))  # type: ignore[arg-type]
        assert (np.abs(last[0] - wanted) <= (last[1] if len(last) == 2 else last[2]) + 1e-12).all()
    bounded = BoundedForms(graph, PLANE)
    *_, (rows, errors) = preactivations(graph, bounded, bounded.inputs(np.zeros((1, 2))), under(bits))
    exact_rows = np.array(exact, dtype=float).transpose(0, 2, 1)
    assert (np.abs(rows - exact_rows) <= errors + 1e-13).all()
    points = PLANE.to_input(POINTS)
    gradients = BoundedGradients(Coordinates(graph))
    *_, around = preactivations(graph, gradients, gradients.inputs(points), under(bits))
    np.testing.assert_allclose(around.gradients.transpose(0, 2, 1), NETWORK.gradient(points), atol=1e-12)
    prime = next(primes(graph))
    residues = ResidueMaps(graph, PLANE, prime).values(packed)
    for found, columns in zip(residues.reshape(len(bits), 3, 2), exact, strict=True):
        at = [[a, a + b, a + c] for a, b, c in columns]
        powers = [[x.numerator * pow(x.denominator, -1, prime) % prime for x in row] for row in at]
        assert found.T.tolist() == powers


def test_paths() -> None:
    bits = NETWORK.pattern(PLANE.to_input(POINTS))
    good = leading_to_outputs(NETWORK.graph, np.packbits(bits, axis=1, bitorder="little"))
    assert good[:, :4].all() and good[:, 6:].all()  # what the output reads
    on = np.array([NETWORK.graph.nodes[2].units.pieces_of(row[6:]) for row in bits])
    reading = np.abs(NETWORK.graph.nodes[2].reads[0].operator.weights)
    won = np.stack([reading[on[:, 0]], reading[3 + on[:, 1]]], axis=1)
    assert (good[:, 4:6] == (won > 0).any(axis=1)).all()
    assert kinks_read(NETWORK.graph, 7).tolist() == [True] * 6 + [False] * 4
    assert not kinks_read(NETWORK.graph, 1).any()


def test_ties_at_a_point_leave_bits_open() -> None:
    """At 0 without biases all branches are equal; at a point where two of three are the largest, the third one is
    excluded.
    """
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    nodes = [Node(np.zeros(3), (Read(Dense(rows), -1),), Maxima([0, 3]), slice(0, 3))]
    nodes.append(Node(np.zeros(1), (Read(Dense(np.ones((1, 1))), 0),), Units(1, identity()), slice(3, 3)))
    signs = ExactSigns(Graph(2, nodes), None)
    assert signs.at(np.zeros(2)).tolist() == [0, 0, 0]
    assert signs.at(np.array([1.0, 0.0])).tolist() == [0, 0, 0]  # branches 1 and 2, either of which may be the argmax
    assert signs.at(np.array([-1.0, 0.5])).tolist() == [-1, -1, -1]
    assert signs.at(np.array([-1.0, 1.0])).tolist() == [-1, 0, 0]
