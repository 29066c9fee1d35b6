# SPDX-License-Identifier: MIT
"""Are counts in boxes and polytopes of three to ten dimensions right?

Known numbers of arrangements (Stanley, An introduction to hyperplane arrangements, 2007), also behind a first layer;
networks of two layers, with the counts that another program found in rational arithmetic; and all families of
`generators.py` against the reference.
"""

from __future__ import annotations

from itertools import product
from math import comb, factorial

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from polytope_cases import OF_THEIR_OWN, braid, he_normal, network_of, signed
from regions import reference
from regions.errors import DomainError
from regions.ground.arithmetic.types import Floats

EVERY = [*FAMILIES, *CLIPPED_FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES]


def behind_a_layer(normals: Floats, offsets: Floats) -> regions.Network:
    """Return the same behind a first layer that is active on all of a box."""
    dimension = normals.shape[1]
    first = np.eye(dimension), np.full(dimension, 128.0)
    return regions.Network([first, (normals, offsets - 128 * normals.sum(axis=1)), (np.ones((1, len(normals))), [0.0])])


CENTRAL = {
    "braid 4": (braid(4), factorial(4)),
    "braid 5": (braid(5), factorial(5)),
    "braid 6": (braid(6), factorial(6)),
    "B3": (signed(3, single=True), 2**3 * factorial(3)),
    "B4": (signed(4, single=True), 2**4 * factorial(4)),
    "D4": (signed(4, single=False), 2**3 * factorial(4)),
    "threshold 3": (np.array(list(product([0, 1], repeat=3)), float)[1:], 32),
    "coordinates in R^6": (np.eye(6), 2**6),
}


@pytest.mark.parametrize("name", CENTRAL)
def test_central_arrangements_have_their_numbers_of_regions(name: str) -> None:
    normals, known = CENTRAL[name]
    dimension = normals.shape[1]
    offsets = np.zeros(len(normals))
    box = regions.Box([-64] * dimension, [64] * dimension)
    space = regions.Space(np.zeros(dimension), np.eye(dimension))
    assert regions.count(network_of(normals, offsets), box) == known
    assert regions.count(network_of(normals, offsets), space) == known
    assert regions.count(behind_a_layer(normals, offsets), box) == known


@pytest.mark.parametrize(("n", "known"), [(4, 5**3), (5, 6**4)])
def test_shi_arrangements_have_their_numbers_of_regions(n: int, known: int) -> None:
    normals = np.concatenate([braid(n), braid(n)])
    offsets = np.repeat([0.0, -1.0], len(braid(n)))
    assert regions.count(network_of(normals, offsets), regions.Box([-64] * (n - 1), [64] * (n - 1))) == known


@pytest.mark.parametrize("dimension", [3, 4, 5, 6])
def test_hyperplanes_in_general_position_make_the_most_regions(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    net = network_of(rng.standard_normal((9, dimension)), rng.standard_normal(9))
    space = regions.Space(np.zeros(dimension), np.eye(dimension))
    assert regions.count(net, space) == sum(comb(9, k) for k in range(dimension + 1))


@pytest.mark.parametrize("dimension", [7, 8, 9, 10])
def test_many_dimensions_have_their_numbers_of_regions(dimension: int) -> None:
    """Up to D hyperplanes in general position that meet near the centre of a box make 2^k regions in it."""
    box = regions.Box([-1] * dimension, [1] * dimension)
    rng = np.random.default_rng(dimension)
    normals, offsets = rng.standard_normal((4, dimension)), rng.standard_normal(4) / 64
    # Four of them, each once more in another scale, and three more that are parallel to the first one.
    parallel = np.array([-1, 1, 2]) / 8
    every = np.concatenate([normals, -2 * normals, np.repeat(normals[:1], 3, axis=0)])
    net = network_of(every, np.concatenate([offsets, -2 * offsets, offsets[0] + parallel]))
    assert regions.count(net, box) == (1 + 4) * 2**3


@pytest.mark.slow
def test_seven_dimensions_have_the_counts_of_the_reference() -> None:
    """Kinks with small integers, many of them coincident, in contact with vertices, or zero on whole regions."""
    box = regions.Box([-1] * 7, [1] * 7)
    counts = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        sizes = list(zip([7, 3, 2], [3, 2, 1], strict=True))
        layers = [(rng.integers(-1, 2, (out, wide)) * 1.0, rng.integers(-1, 2, out) * 1.0) for wide, out in sizes]
        net = regions.Network(layers)
        counts.append(regions.count(net, box))
        assert counts[-1] == reference.count(net, box)
    assert len(set(counts)) > 2


def test_more_than_six_dimensions_are_counted_only() -> None:
    net, box = he_normal([7, 4, 4, 1]), regions.Box([-1] * 7, [1] * 7)
    number = regions.count(net, box)
    assert number == regions.count(net, box, workers=2)
    assert number == sum(sum(regions.jobs.run(task).numbers) for task in regions.jobs.split(net, box, n=8))
    for answer in (regions.enumerate, regions.statistics):
        with pytest.raises(DomainError, match="in 1 to 6 dimensions; .* regions.count, which takes this domain"):
            answer(net, box)


KNOWN = {
    (3, 16, 16, 1): 4896,
    (3, 32, 32, 1): 31862,
    (4, 16, 16, 1): 40828,
    (5, 12, 12, 1): 43768,
    (6, 12, 12, 1): 76674,
}


@pytest.mark.parametrize("sizes", KNOWN)
def test_networks_of_two_layers_have_their_known_counts(sizes: tuple[int, ...]) -> None:
    box = regions.Box([-1] * sizes[0], [1] * sizes[0])
    number, certificate = regions.certified_count(he_normal([*sizes]), box)
    assert number == KNOWN[sizes] == certificate.regions
    assert certificate.complete and certificate.domain_fingerprint == box.fingerprint


def test_whole_space_has_its_known_count_with_one_thread_or_two() -> None:
    net, space = he_normal([3, 16, 16, 1]), regions.Space(np.zeros(3), np.eye(3))
    assert [regions.count(net, space, workers=workers) for workers in (1, 2)] == [5548, 5548]


def test_tasks_together_count_what_one_run_counts() -> None:
    net, box = he_normal([3, 16, 16, 1]), regions.Box([-1] * 3, [1] * 3)
    tasks = regions.jobs.split(net, box, n=8)
    assert len(tasks) >= 8
    assert sum(sum(regions.jobs.run(task).numbers) for task in tasks) == 4896


def test_a_limit_stops_the_work() -> None:
    with pytest.raises(regions.LimitReached) as stopped:
        regions.count(he_normal([3, 16, 16, 1]), regions.Box([-1] * 3, [1] * 3), limit=100)
    assert stopped.value.partial > 100


@pytest.mark.filterwarnings("ignore::regions.errors.PrecisionWarning")
@pytest.mark.parametrize("dimension", [3, 4])
@pytest.mark.parametrize("family", [family for family in EVERY if family not in OF_THEIR_OWN])
def test_every_family_has_the_counts_of_the_reference(family: str, dimension: int) -> None:
    for seed in range(3):
        net, domain = draw(family, dimension, seed)
        count = regions.count(net, domain)
        if count <= 60:
            assert count == reference.count(net, domain), f"{family} {dimension} {seed}"


def test_a_large_cell_stops_at_the_limit_and_by_a_signal() -> None:
    """The regions of the last layer's hyperplanes are counted together, for seconds, and nothing else is asked."""
    rng = np.random.default_rng(1)
    net, box = network_of(rng.standard_normal((200, 4)), rng.standard_normal(200) / 4), regions.Box([-1] * 4, [1] * 4)
    with pytest.raises(regions.LimitReached) as stopped:
        regions.count(net, box, limit=1000)
    assert 1000 < stopped.value.partial < 100_000

    def stop(share: float, found: int) -> None:
        raise RuntimeError(f"stopped at {share}")

    with pytest.raises(RuntimeError, match=r"stopped at 0\.0"):
        regions.count(net, box, progress=stop)
