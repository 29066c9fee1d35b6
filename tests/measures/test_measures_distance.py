# SPDX-License-Identifier: MIT
"""Are the distance to the boundary, its kink and its position right: on boundaries, in ties, and far from all kinks?

They are compared with the distances to all kinks in fractions, by simple loops, with the polygons of a partition, and
with closed forms.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

import regions
from generators import FAMILIES
from partition_cases import drawn
from random_networks import random_network
from raw_from_reference import partition_from_reference
from regions.constructions import sawtooth
from regions.domains import Domain, Line
from regions.errors import NonFiniteError, ShapeMismatchError
from regions.measures import (
    distance_in_domain,
    distance_to_boundary,
)
from regions.measures.exact_distance import ExactDistances
from regions.networks.network import Network

Fractions = list[Fraction]


def nearest_kink(network: Network, point: np.ndarray) -> tuple[Fraction, int, Fractions] | None:
    """Return the square of the least distance to a kink, the first kink at this distance, and the step there, by plain
    loops.
    """
    values = [Fraction(float(x)) for x in point]
    gradients = [[Fraction(int(i == j)) for j in range(len(values))] for i in range(len(values))]
    best: tuple[Fraction, int, Fractions] | None = None
    kink = 0
    for layer in network.layers[:-1]:
        act, outputs, slopes_of_outputs = layer.activation, [], []
        slopes, intercepts = (
            np.broadcast_to(t, (len(layer.biases), t.shape[-1])) for t in (act.slopes, act.intercepts)
        )
        for unit, (row, bias) in enumerate(zip(layer.weights.tolist(), layer.biases.tolist(), strict=True)):
            weights = [Fraction(w) for w in row]
            h = sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(bias))
            g = [sum(w * one[k] for w, one in zip(weights, gradients, strict=True)) for k in range(len(point))]
            squared, piece = sum(x * x for x in g), 0
            for t in act.breakpoints.tolist():
                piece += h > t
                if squared and (best is None or (h - Fraction(t)) ** 2 / squared < best[0]):
                    step = (Fraction(t) - h) / squared
                    best = (h - Fraction(t)) ** 2 / squared, kink, [step * x for x in g]
                kink += 1
            slope = Fraction(float(slopes[unit, piece]))
            outputs.append(slope * h + Fraction(float(intercepts[unit, piece])))
            slopes_of_outputs.append([slope * x for x in g])
        values, gradients = outputs, slopes_of_outputs
    return best


def points_for(network: Network, domain: Domain) -> np.ndarray:
    """Points anywhere, 0, points with short coordinates, and rounded vertices and middles of facets.

    The last two are on boundaries, or one rounding away, where networks have short weights, and elsewhere.
    """
    anywhere = np.random.default_rng(0).standard_normal((3, network.n_in))
    partition = partition_from_reference(network, domain)
    ends = partition.vertices[partition.facet_vertices]
    ends = ends[np.isfinite(ends).all(axis=(1, 2))]
    on = domain.to_input(np.concatenate([ends[-4:, 0], ends[:4].mean(axis=1)]))
    return np.concatenate([anywhere, 0 * anywhere[:1], np.round(anywhere[:2]), np.round(4 * anywhere) / 4, on])


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_against_fractions(family: str) -> None:
    network, domain = drawn(family, 2, seed=1)
    points = points_for(network, domain)
    found = distance_to_boundary(network, points)
    for index, point in enumerate(points):
        expected = nearest_kink(network, point)
        distance, error = float(found.distances[index]), float(found.errors[index])
        if expected is None:
            assert (found.kinks[index], distance, error) == (-1, inf, 0.0)
            assert np.isnan(found.nearest[index]).all()
            continue
        assert found.kinks[index] == expected[1]
        if distance < inf:
            low, high = max(Fraction(distance) - Fraction(error), Fraction(0)), Fraction(distance) + Fraction(error)
            assert low**2 <= expected[0] <= high**2
            scale = distance + np.abs(point).max()
            reached = [float(Fraction(float(x)) + step) for x, step in zip(point, expected[2], strict=True)]
            assert found.nearest[index] == pytest.approx(reached, rel=1e-9, abs=1e-9 * scale)
        else:
            assert expected[0] > Fraction(np.finfo(np.float64).max) ** 2


@pytest.mark.parametrize("sizes", [[2, 16, 16, 1], [64, 16, 12, 10], [300, 12, 12, 3]], ids=str)
def test_where_the_boundary_is(sizes: list[int]) -> None:
    network, rng = random_network(sizes, seed=2), np.random.default_rng(1)
    points = rng.standard_normal((40, sizes[0]))
    found = distance_to_boundary(network, points)
    assert (found.errors < 1e-9 * found.distances).all()
    assert np.linalg.norm(found.nearest - points, axis=1) == pytest.approx(found.distances, rel=1e-9)
    for index in range(len(points)):
        h = network.preactivations(found.nearest[index])[found.layers[index]][found.units[index]]
        assert abs(h) < 1e-9
    # No kink switches on the way, and one switches beyond it.
    before, behind = (points + share * (found.nearest - points) for share in (0.999, 1.001))
    assert (network.pattern(before) == network.pattern(points)).all()
    assert (network.pattern(behind) != network.pattern(points)).sum(axis=1).min() >= 1


def test_on_the_boundary_and_beside_it() -> None:
    network = Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, -1.0]), ([[1.0, 1.0]], [0.0])])
    found = distance_to_boundary(network, [[0.0, 3.0], [5e-324, 3.0], [1e-300, 1e300], [0.0, 1.0]])
    assert found.distances.tolist() == [0.0, 5e-324, 1e-300, 0.0]
    assert found.kinks.tolist() == [0, 0, 0, 0]
    assert found.nearest.tolist() == [[0.0, 3.0], [0.0, 3.0], [0.0, 1e300], [0.0, 1.0]]


def test_ties_go_to_the_first_kink() -> None:
    weights = [[3.0, 4.0], [-3.0, -4.0], [0.3, 0.4], [6.0, 8.0]]
    network = Network([(weights, [0.0] * 4), ([[1.0] * 4], [0.0])])
    found = distance_to_boundary(network, [[3.0, 4.0]])
    # 0.3 and 0.4 are rounded, so that the third line is another one.
    first, third = (nearest_kink(Network([([row], [0.0]), ([[1.0]], [0.0])]), [3.0, 4.0]) for row in weights[::2])
    assert first is not None and third is not None and third[0] < first[0]
    assert found.kinks.tolist() == [2]
    assert distance_to_boundary(Network([(weights[:2], [0.0] * 2), ([[1.0] * 2], [0.0])]), [[3.0, 4.0]]).kinks == 0


def test_rounding_decides_nothing() -> None:
    """0.1 + 0.2 - 0.3 is 2^-55, and twice that in floating point: so the second kink is nearer, not the first."""
    layers = [([[1.0]] * 3, None), ([[0.1, 0.2, -0.3], [1.0, 0.0, 0.0]], [-1.0, 2.5e16]), ([[1.0, 1.0]], None)]
    found = distance_to_boundary(Network(layers, ["identity", "relu"]), [[0.0]])
    assert (found.kinks.tolist(), found.distances.tolist(), found.nearest.tolist()) == ([1], [2.5e16], [[-2.5e16]])
    # The same in the values: at 1 the first kink is 2^-55 - 2^-56 away, times 2^55.
    layers = [([[1.0]] * 3, None), ([[0.1, 0.2, -0.3], [1.0, 0.0, 0.0]], [-(2.0**-56), -2.0]), ([[1.0, 1.0]], None)]
    found = distance_to_boundary(Network(layers, ["identity", "relu"]), [[1.0]])
    assert (found.kinks.tolist(), found.distances.tolist(), found.nearest.tolist()) == ([0], [0.5], [[0.5]])


def test_a_sign_that_rounding_gets_wrong() -> None:
    """At (1e16, 1, -0.5) the first unit is 0.5, which vanishes in a sum of doubles; and the second one reads it."""
    network = Network([([[1.0, 1.0, 1.0]], [-1e16]), ([[4.0]], [-1.0]), ([[1.0]], [0.0])])
    found = distance_to_boundary(network, [[1e16, 1.0, -0.5]])
    assert (found.kinks.tolist(), found.distances.tolist()) == ([1], [pytest.approx(1 / 4 / np.sqrt(3), rel=1e-15)])
    # Here the value is 1.5 and is rounded to 2, farther than the other unit, which is 1.2 away.
    network = Network([([[1.0, 1.0], [0.0, 1.0]], [-1e16, -0.3]), ([[1.0, 1.0]], [0.0])])
    found = distance_to_boundary(network, [[1e16, 1.5]])
    assert (found.kinks.tolist(), found.distances.tolist()) == ([0], [pytest.approx(1.5 / np.sqrt(2), rel=1e-15)])


def test_without_a_boundary() -> None:
    for network in (
        Network([([[1.0, 2.0]], [0.0])]),
        Network([([[0.0, 0.0]], [1.0]), ([[1.0]], [0.0])]),
        Network([([[1.0, 1.0], [-1.0, -1.0]], [-9.0, -9.0]), ([[0.0, 0.0]], [0.0]), ([[1.0]], [0.0])], "identity"),
    ):
        found = distance_to_boundary(network, np.zeros((2, 2)))
        assert (found.distances.tolist(), found.kinks.tolist()) == ([inf, inf], [-1, -1])
        assert (found.layers.tolist(), found.units.tolist(), found.errors.tolist()) == ([-1, -1], [-1, -1], [0.0, 0.0])


def test_a_closed_layer_is_not_a_boundary() -> None:
    network = Network([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0]), ([[1.0]], [-1.0]), ([[1.0]], [0.0])])
    found = distance_to_boundary(network, [[-2.0, 7.0], [0.25, 0.0]])
    assert (found.distances.tolist(), found.kinks.tolist()) == ([2.0, 0.25], [0, 0])


def forbid_exact_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("this point was not settled in floating point")

    monkeypatch.setattr(ExactDistances, "signs", never)
    monkeypatch.setattr(ExactDistances, "nearest", never)


def test_exact_arithmetic_is_for_the_few(monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_exact_distances(monkeypatch)
    rng = np.random.default_rng(3)
    for sizes in ([2, 32, 32, 32, 1], [100, 16, 16, 16, 16, 10]):
        distance_to_boundary(random_network(sizes, seed=4), rng.standard_normal((300, sizes[0])))
    # Units that are constant around a point are known to be, exactly at their breakpoints too.
    closed = Network([([[1.0, 1.0]], None), ([[1.0], [2.0]], None), ([[1.0, 1.0]], None), ([[1.0]], None)])
    assert distance_to_boundary(closed, [[-3.0, -1.0]]).distances == pytest.approx([np.sqrt(8.0)], rel=1e-15)


def test_copied_units_need_no_exact_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies, negatives and multiples of units are on the hyperplanes of the first ones, in every layer."""
    rng = np.random.default_rng(6)
    (w0, b0), (w1, b1), last = ((layer.weights, layer.biases) for layer in random_network([20, 6, 5, 3], seed=6).layers)
    w0, b0 = np.round(64 * w0), np.round(64 * b0)  # so that multiples of them are doubles
    wide = Network(
        [
            (
                np.concatenate([w0, w0[::-1], -w0, 3 * w0, 0.25 * w0]),
                np.concatenate([b0, b0[::-1], -b0, 3 * b0, 0.25 * b0]),
            ),
            (np.concatenate([np.hstack([w1, np.zeros((5, 24))])] * 2), np.concatenate([b1, b1])),
            (np.hstack([last[0], last[0]]), last[1]),
        ]
    )
    points = 4 * rng.standard_normal((100, 20))
    expected = distance_to_boundary(Network([(w0, b0), (w1, b1), last]), points)
    assert len(set(expected.kinks.tolist())) >= 10
    forbid_exact_distances(monkeypatch)
    found = distance_to_boundary(wide, points)
    assert found.kinks.tolist() == np.where(expected.layers == 0, expected.units, 30 + expected.units).tolist()
    assert found.distances == pytest.approx(expected.distances, rel=1e-13)
    assert found.nearest == pytest.approx(expected.nearest, abs=1e-12)


def test_rows_are_compared_within_a_layer_only() -> None:
    """Equal rows of two layers: the kink at 2 is nearer to the point than the kink at 1 by 2^-52."""
    network = Network([([[1.0]], [-1.0]), ([[1.0]], [-1.0]), ([[1.0]], None)])
    found = distance_to_boundary(network, [[1.5 + 2.0**-52]])
    assert (found.kinks.tolist(), found.distances.tolist()) == ([1], [0.5 - 2.0**-52])


@pytest.mark.slow
def test_forms_are_kept_no_longer_than_they_hold() -> None:
    """Kinks of two layers that coincide at every point, under many patterns: only exact arithmetic sees the tie."""
    network = random_network([3, 5, 4, 1], seed=7, activation="hard_tanh")
    through = Network(
        [*((layer.weights, layer.biases) for layer in network.layers[:2]), (np.eye(4), None), (np.ones((1, 4)), None)],
        [layer.activation for layer in network.layers[:2]] + [network.layers[0].activation],
    )
    points = np.random.default_rng(7).standard_normal((60, 3))
    points = np.concatenate([points, points[::-1]])
    found = distance_to_boundary(through, points)
    assert len({pattern.tobytes() for pattern in through.pattern(points)}) > 10
    for index, point in enumerate(points):
        expected = nearest_kink(through, point)
        assert expected is not None
        assert found.kinks[index] == expected[1]
        assert found.distances[index] ** 2 == pytest.approx(float(expected[0]), rel=1e-12)


def test_distribution() -> None:
    network = random_network([10, 8, 8, 1], seed=9)
    found = distance_to_boundary(network, np.random.default_rng(9).standard_normal((4, 50, 10)))
    assert found.distances.shape == (4, 50) and found.nearest.shape == (4, 50, 10)
    densities, edges = found.log_histogram(20)
    assert (densities * np.diff(edges)).sum() == pytest.approx(1.0)
    assert 10 ** edges[[0, -1]] == pytest.approx([found.distances.min(), found.distances.max()])
    scaled = found.times_neurons()
    assert scaled.value == pytest.approx(16 * found.distances.mean()) and len(scaled.samples) == 200
    one = distance_to_boundary(network, np.ones(10))
    assert one.distances.shape == () and one.nearest.shape == (10,)


def test_saw_teeth() -> None:
    """Distances to the nearest multiple of 1/8, and of the two ends, which are kinks of the first layer."""
    network = sawtooth(3)
    x = np.linspace(0.01, 0.99, 33)[:, np.newaxis]
    expected = np.abs(x - np.round(8 * x) / 8)[:, 0]
    assert distance_to_boundary(network, x).distances == pytest.approx(expected, abs=1e-15)


@pytest.mark.filterwarnings("error")
def test_distances_near_the_end_of_the_doubles() -> None:
    """Their bounds are doubles too, and numpy does not warn."""
    largest = float(np.finfo(np.float64).max)
    network = Network([([[1.0, 0.0], [1.0, 0.0]], None), ([[1.0, 1.0]], None)])
    found = distance_to_boundary(network, [[largest, 1.0], [-largest, -largest]])
    assert found.distances.tolist() == [largest, largest]
    assert np.isfinite(found.errors).all()
    # With fewer units than inputs, where products of the first guess are NaN.
    thin = Network([([[-(2.0**1023), 0.75 * 2.0**1023]], [2.0**1022]), ([[1.0]], None)])
    assert np.isfinite(distance_to_boundary(thin, [[-largest, -largest], [0.0, 0.0]]).distances).all()


def test_refusals() -> None:
    network = random_network([3, 4, 1])
    with pytest.raises(ShapeMismatchError, match=r"points must have shape \[.., 3\]"):
        distance_to_boundary(network, [[1.0, 2.0]])
    with pytest.raises(NonFiniteError, match="inf"):
        distance_to_boundary(network, [[1.0, 2.0, inf]])
    with pytest.raises(TypeError, match="expected a regions.Network, got list"):
        distance_to_boundary([1], [[1.0]])  # type: ignore[arg-type]
    closed = Network([([[1.0], [0.0]], [0.0, 1.0]), ([[1.0, 0.0]], [0.0]), ([[0.0]], None)], "hard_tanh")
    everywhere = distance_to_boundary(closed, [[[0.5], [7.0]], [[-2.0], [3.0]]])
    assert everywhere.times_neurons().value == pytest.approx(3 * (0.5 + 6.0 + 1.0 + 2.0) / 4)
    nowhere = distance_to_boundary(Network([([[0.0]], [1.0]), ([[1.0]], None)]), [[0.0], [1.0]])
    with pytest.raises(
        NonFiniteError, match=r"^no boundary, .* at 2 of 2 points, first at points\[0\]: .*leave such points out"
    ):
        nowhere.times_neurons()
    beyond = distance_to_boundary(Network([([[1e-308]], [1.7]), ([[1.0]], None)]), [[-1e308], [1e308]])
    with pytest.raises(
        NonFiniteError, match=r"^no boundary, .* at 1 of 2 points, first at points\[1\]: .*leave such points out"
    ):
        beyond.times_neurons()
    with pytest.raises(ShapeMismatchError, match="at least 2 points, got 1"):
        distance_to_boundary(network, [1.0, 2.0, 3.0]).times_neurons()
    flat = distance_to_boundary(Network([([[1.0]], [0.0]), ([[1.0]], [0.0])]), [[0.0], [0.0]])
    with pytest.raises(ValueError, match="no distance is above 0 and finite"):
        flat.log_histogram()
    partition = regions.enumerate(random_network([1, 3, 1]), Line([0], [1]))
    with pytest.raises(ValueError, match="space must be one of 'chart', 'input'"):
        distance_in_domain(partition, [[0.0]], space="plane")
    with pytest.raises(NonFiniteError):
        distance_in_domain(partition, [[inf]])
