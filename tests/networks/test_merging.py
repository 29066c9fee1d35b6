# SPDX-License-Identifier: MIT
"""Do networks keep their regions when neurons are merged, and are neurons merged only if all numbers are exact?

All numbers of the random networks are small integers and halves, and many rows are multiples of others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import regions
from regions import Network, reference
from regions.counting import run
from regions.counting.run import compiled, counted
from regions.domains import Domain, Plane, Polytope
from regions.measures.transversality import transversality
from regions.networks import merging
from regions.networks.graph import Graph
from regions.networks.merging import merged
from regions.results.definitions import linear_regions

SQUARE = regions.Polygon([[-2, -2], [2, -2], [2, 2], [-2, 2]])
PAIR = np.array([[1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]])


def with_repeated_rows(rng: np.random.Generator, activations: list[Any], n_in: int) -> Network:
    """Draw a network with these activations, whose rows are multiples of a few, zero or constant."""
    layers, width = [], n_in
    for _ in activations:
        few = np.column_stack([rng.integers(-2, 3, (3, width)), rng.integers(-2, 3, 3)])
        factors = rng.choice([1.0, 1.0, -1.0, 2.0, -0.5, 3.0, 0.0], 7)
        rows = factors[:, np.newaxis] * few[rng.integers(3, size=7)]
        rows[-1, -1] = rng.integers(-1, 2)
        layers.append((rows[:, :-1], rows[:, -1]))
        width = len(rows)
    return Network([*layers, (np.ones((1, width)), None)], activation=activations)


def lattice(rng: np.random.Generator, n_in: int, forms: int, smallest: list[int]) -> Network:
    """Return minima or maxima (-1, 1) of pairs, then of pairs of these, and so on, of forms that repeat."""
    left = 2 ** len(smallest)
    layers: list[Any] = [(rng.integers(-3, 4, (forms, n_in)), rng.integers(-3, 4, forms))]
    layers.append((np.eye(forms)[rng.integers(forms, size=left)], np.zeros(left)))
    for sign in smallest:
        left //= 2
        layers.append((np.kron(np.eye(left), PAIR), np.zeros(4 * left)))
        layers.append((np.kron(np.eye(left), [[0.5, -0.5, sign / 2, sign / 2]]), np.zeros(left)))
    return Network(layers, activation=["identity", *["identity", "relu"] * len(smallest)])


def draw(seed: int, n_in: int) -> Network:
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        return lattice(rng, n_in, 4, [int(sign) for sign in rng.choice([-1, 1], 3)])
    return with_repeated_rows(rng, ["identity" if rng.random() < 0.2 else "relu", "relu"], n_in)


def smaller(network: Network) -> Graph:
    found = merged(network.graph)
    assert found is not None
    return found.graph


def labels(network: Network, points: Any) -> list[int]:
    """Number the patterns of points in the order in which they appear."""
    numbers: dict[bytes, int] = {}
    return [numbers.setdefault(bits.tobytes(), len(numbers)) for bits in network.pattern(points)]


def domains_of(seed: int, n_in: int) -> list[Domain | Polytope]:
    rng = np.random.default_rng(seed)
    centre, one, two = rng.integers(-1, 2, n_in), 2 * np.eye(n_in)[0], 2 * np.eye(n_in)[1]
    domains: list[Domain | Polytope] = [regions.Segment(centre - 2 * one - two, centre + one + 2 * two)]
    domains += [Plane(centre, one, two), regions.Polygon([centre - one, centre + two, centre + one])]
    return domains if n_in < 3 else [*domains, regions.Box([-2.0] * n_in, [2.0] * n_in)]


@pytest.mark.parametrize("seed", range(30))
def test_points_have_the_same_pattern_if_they_had_it_before(seed: int) -> None:
    network = draw(seed, 2)
    graph = smaller(network)
    assert graph.kinks < network.kinks
    points = np.random.default_rng(seed).integers(-(2**22), 2**22, (300, 2)) / 2.0**21  # on no boundary
    assert labels(Network.from_graph(graph), points) == labels(network, points)


@pytest.mark.parametrize("seed", range(40))
def test_counts_are_those_of_the_reference(seed: int) -> None:
    n_in = 2 + seed % 2
    network = draw(seed, n_in)
    assert run._smaller(compiled(network)) is not compiled(network).compiled
    for domain in domains_of(seed, n_in):
        assert regions.count(network, domain) == reference.count(network, domain)


def neighbours(part: regions.Partition) -> list[list[bytes]]:
    """Return the patterns on both sides of each facet, sorted."""
    rows = [*map(bytes, part.packed_patterns), b""]
    return sorted(sorted([rows[one], rows[other]]) for one, other in part.facet_regions)


@pytest.mark.parametrize("seed", range(18))
def test_enumerations_are_those_of_the_whole_network(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    network = draw(seed, 2 + seed % 2)
    model = compiled(network)
    assert run._smaller(model).whole is model.compiled
    for domain in domains_of(seed, 2 + seed % 2):
        part = regions.enumerate(network, domain)
        assert sorted(map(tuple, part.patterns.tolist())) == sorted(reference.patterns(network, domain))
        assert regions.check(network, part, distances=False).ok
        assert regions.enumerate(network, domain, workers=2) == part
        tasks = regions.jobs.split(network, domain, 3, function="enumerate")
        assert regions.jobs.join([regions.jobs.run(task) for task in tasks]) == part
        with monkeypatch.context() as never:
            never.setattr(run, "REPEATED", 0)
            whole = regions.enumerate(network, domain)
        assert whole.stats != part.stats and neighbours(whole) == neighbours(part)
        assert (whole.stats["zero"] > 0) is (part.stats["zero"] > 0)
        if domain.bounded:
            assert regions.count(network, domain, "pattern") == linear_regions(whole, "pattern").count


def test_a_form_that_is_zero_on_a_region_and_its_negative_both_have_the_bit_0() -> None:
    # The rows relu(x) and -relu(x) are both 0 for x < 0.
    network = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 0], [-1, 0], [2, 0]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    assert run._smaller(compiled(network)) is not compiled(network).compiled
    for domain in (SQUARE, regions.Segment([-1, -1], [1, 0.5])):
        part = regions.enumerate(network, domain)
        assert {tuple(bits[[0, 2, 3, 4]]) for bits in part.patterns.astype(int)} == {(0, 0, 0, 0), (1, 1, 0, 1)}
        assert set(part.facet_kinks[part.facet_kinks >= 0]) == {0, 1}


def test_zeros_of_other_cells_are_forgotten_in_cells_that_are_swept() -> None:
    rng = np.random.default_rng(1038)
    network = lattice(rng, 2, int(rng.integers(3, 9)), rng.choice([-1, 1], int(rng.integers(3, 6))).tolist())
    part = regions.enumerate(network, SQUARE)
    assert sorted(map(tuple, part.patterns.tolist())) == sorted(reference.patterns(network, SQUARE))


def test_zeros_by_name_are_counted() -> None:
    for rows in ([[1, 0], [-1, 0]], [[1, 0], [1, 0]], [[1, 0], [0, 0]], [[1, 0], [2, 0], [0, 1]]):
        network = Network([(rows, None), (np.ones((1, len(rows))), None)])
        assert len(rows) == 3 or not transversality(regions.enumerate(network, SQUARE)).holds
        assert regions.enumerate(network, SQUARE).stats["zero"] > 0
    absolute = Network([([[1.0], [-1.0]], None), ([[1.0, 1.0]], None)])
    assert regions.count(absolute, regions.Segment([-1.0], [1.0]), "pattern") == 3


def test_constant_neurons_keep_their_bits() -> None:
    network = Network([([[1, 0], [-2, 0], [0, 0], [0, 0], [0, 0]], [1, -2, 1, 0, -1]), (np.ones((1, 5)), None)])
    assert run._smaller(compiled(network)) is not compiled(network).compiled
    part = regions.enumerate(network, SQUARE)
    assert sorted(map(tuple, part.patterns.astype(int))) == [(0, 1, 1, 0, 0), (1, 0, 1, 0, 0)]


def test_minima_and_maxima_become_one_neuron_and_a_sum() -> None:
    network = lattice(np.random.default_rng(4), 2, 2, [-1])
    graph = smaller(network)
    assert [node.units.count for node in graph.hidden] == [2, 2]
    assert graph.kinks == 2


def test_neurons_that_are_a_power_of_two_apart_are_read_as_one() -> None:
    network = Network([([[1, 2], [4, 8], [3, 6]], [1, 4, 3]), ([[3, 5, 7], [1, 0, 0]], [0, -1]), ([[1, 1]], [0])])
    graph = smaller(network)
    assert [node.units.count for node in graph.hidden] == [2, 2]
    operator = graph.nodes[1].reads[0].operator
    assert np.array_equal([operator.row(0), operator.row(1)], [[23, 7], [1, 0]])


@pytest.mark.parametrize(
    "weights, is_merged", [([0.5, 0.25], True), ([0.1, 0.2], False), ([1.0, 2.0**-60], False), ([1e308, 1e308], False)]
)
def test_nothing_is_merged_if_a_sum_would_be_rounded(weights: list[float], is_merged: bool) -> None:
    layers: list[Any] = [([[1, 2], [1, 2]], [1, 1]), ([weights, [1, 0]], [0, -1]), ([[1, 1]], [0])]
    network = Network(layers)
    assert (merged(network.graph) is not None) is is_merged
    assert regions.count(network, SQUARE) == reference.count(network, SQUARE)


@pytest.mark.parametrize("weight, is_merged", [(0.5, True), (0.7, False), (2.0**-1022, False)])
def test_nothing_is_merged_if_a_product_would_be_rounded(weight: float, is_merged: bool) -> None:
    network = Network([([[0.1, 0.3], [-0.1, -0.3]], None), ([[1, weight]], [-0.25]), ([[1]], [0])])
    assert (merged(network.graph) is not None) is is_merged
    assert regions.count(network, SQUARE) == reference.count(network, SQUARE)


def test_other_activations_and_convolutions_are_left_as_they_are() -> None:
    twice = ([[1, 2], [1, 2]], [1, 1])
    assert merged(Network([twice, ([[1, 1]], [0])], activation="hard_tanh").graph) is None
    assert merged(Network([twice, ([[1, 1]], [0])]).graph) is not None


def test_very_large_networks_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    network = lattice(np.random.default_rng(4), 2, 2, [-1])
    weights = sum(int(np.count_nonzero(layer.weights)) for layer in network.layers[:-1])
    monkeypatch.setattr(merging, "MOST_TERMS", weights)
    assert merged(network.graph) is not None
    monkeypatch.setattr(merging, "MOST_TERMS", weights - 1)
    assert merged(network.graph) is None


def test_networks_without_repeated_neurons_are_counted_as_they_are() -> None:
    rng = np.random.default_rng(0)
    layers = [(rng.standard_normal((9, 2)), None), (rng.standard_normal((9, 9)), None)]
    for twins in (0, 1, 4):
        for weights, _ in layers:
            weights[9 - twins :] = weights[:twins]
        model = compiled(Network([*layers, (np.ones((1, 9)), None)]))
        assert model.compiled.repeated_kinks == 2 * twins
        assert counted(model, SQUARE).regions == reference.count(model.network, SQUARE)
    assert run._smaller(model) is model.compiled, "sums of two random weights are rounded"


def test_sections_of_a_job_have_the_regions_of_one_count() -> None:
    network = lattice(np.random.default_rng(4), 2, 8, [-1, 1, -1, 1])
    tasks = regions.jobs.split(network, SQUARE, 5)
    assert len(tasks) >= 5
    results = [regions.jobs.run(task) for task in tasks]
    assert regions.jobs.join(results)[0] == regions.count(network, SQUARE) == reference.count(network, SQUARE)
    assert regions.count(network, SQUARE, workers=2) == reference.count(network, SQUARE)
    assert len(regions.enumerate(network, SQUARE)) == reference.count(network, SQUARE)
