# SPDX-License-Identifier: MIT
"""Do linear regions satisfy the definitions, on networks of every kind?

They are compared with `definitions_judge.py`, in rational arithmetic, on small draws of all families, and on networks
of few small integers, where maps and level sets often coincide, in whole planes too.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import regions
from definitions_judge import beyond_everything, counts
from generator_parts import lattice_domain
from generators import FAMILIES, draw
from known_counts import PLANE
from partition_cases import families
from raw_from_reference import partition_from_reference, sorted_regions
from regions.domains import Domain, Rectangle
from regions.errors import CountNotDecided
from regions.networks.named_activations import hard_tanh
from regions.networks.network import Network
from regions.results.definitions import DEFINITIONS, Definition, linear_regions
from regions.results.definitions.level_sets import LevelSets
from regions.results.partition import Partition

pytestmark = pytest.mark.slow

# With more cells the judge takes seconds.
MOST_CELLS = 16


def found(partition: Partition) -> dict[str, int | None]:
    return {definition: count(partition, definition) for definition in DEFINITIONS}


def count(partition: Partition, definition: Definition) -> int | None:
    try:
        return linear_regions(partition, definition).count
    except CountNotDecided:
        return None


@families
def test_every_family(family: str, dimension: int) -> None:
    for seed in range(2):
        network, domain = draw(family, dimension, seed)
        partition = regions.enumerate(network, domain)
        numbers = found(partition)
        known = [number for number in numbers.values() if number is not None]
        assert sorted(known, reverse=True) == known
        # Unbounded domains are used only if nothing happens beyond the large bounded domain of the judge.
        if len(partition) <= MOST_CELLS and (domain.bounded or np.abs(partition.vertices[1:-1]).max(initial=0) < 2**30):
            assert numbers == counts(network, beyond_everything(domain))


def few_integers(seed: int) -> tuple[Network, Domain]:
    """Return a network whose maps often are equal, in a plane; every third one has two outputs."""
    rng = np.random.default_rng(seed)
    sizes = [2, *rng.integers(2, 5, rng.integers(1, 4)).tolist(), 2 if seed % 3 == 0 else 1]
    reach = int(rng.integers(1, 4))
    layers = [
        tuple(rng.integers(-reach, reach + 1, shape).astype(float) for shape in ((b, a), b))
        for a, b in zip(sizes, sizes[1:], strict=False)
    ]
    activation = ["relu", "relu", "abs", "hard_tanh"][rng.integers(4)]
    return Network(layers, activation), PLANE if seed % 2 else lattice_domain(rng, 2, 2)


@pytest.mark.parametrize("block", range(8))
def test_few_integers(block: int) -> None:
    for seed in range(6 * block, 6 * block + 6):
        network, domain = few_integers(seed)
        partition = regions.enumerate(network, domain)
        if len(partition) <= MOST_CELLS:
            assert found(partition) == counts(network, beyond_everything(domain)), seed


# Seeds in which paths join pieces with one map: on bounded and unbounded domains, along unbounded edges, and with two
# outputs.
@pytest.mark.parametrize("seed", [361, 449, 851, 1059, 1160, 1341, 2929, 3931, 6242, 6544, 6909, 8141])
def test_paths_join_pieces(seed: int) -> None:
    network, domain = few_integers(seed)
    partition = regions.enumerate(network, domain)
    numbers = found(partition)
    assert numbers["open"] > numbers["closed"]
    assert numbers == counts(network, beyond_everything(domain))


@pytest.mark.parametrize("seed", [1839, 2289, 5181])
def test_paths_of_one_output_do_not_join(seed: int) -> None:
    """The first output equals its map on a path between pieces; the second output does not."""
    network, domain = few_integers(seed)
    partition = regions.enumerate(network, domain)
    assert network.n_out == 2
    assert found(partition) == counts(network, beyond_everything(domain))


def clipped_hats(count: int, off: float, *rows: list[float]) -> Network:
    """Return hats on [0, 1] of height 1, clipped to their middle half, in x and y, with one kink in y moved a little;
    rows are outputs.
    """
    breakpoints, slopes = np.arange(2 * count) / (2 * count), 4 * count * (-1.0) ** np.arange(2 * count)
    slopes[0] /= 2
    one_of_both = np.repeat(np.eye(2), 2 * count, axis=0)
    first = one_of_both, -np.append(breakpoints, breakpoints)
    first[1][2 * count + 1] -= off
    second = one_of_both.T * np.append(slopes, slopes), None
    return Network([first, second, (rows, None)], ["relu", hard_tanh(0.25, 0.75)])


# A kink that is a little off puts vertices next to the level sets on which they would be.
@pytest.mark.parametrize(
    ("count", "off", "rows", "merged"),
    [
        (2, 0, [[2, 3]], 27),
        (2, 0, [[1, -2]], 28),
        (2, 2**-54, [[1, -2]], 26),
        (2, 2**-54, [[1, 2], [-2, -4]], 28),
        (1, 0, [[2, -3]], 2),
        (1, 0, [[1, 0], [0, 1]], 0),
    ],
)
def test_plateaus(count: int, off: float, rows: list[list[float]], merged: int) -> None:
    network, domain = clipped_hats(count, off, *rows), Rectangle([0, 0], [1, 0], [0, 1])
    numbers = found(regions.enumerate(network, domain))
    assert numbers == counts(network, domain)
    assert numbers["open"] - numbers["closed"] == merged


def test_level_sets_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sets of all maps together would take too much memory, so they are computed one after the other."""
    partition = regions.enumerate(clipped_hats(2, 0, [2, 3]), Rectangle([0, 0], [1, 0], [0, 1]))
    together = linear_regions(partition, "closed")
    followed = []
    components = LevelSets.components
    monkeypatch.setattr(LevelSets, "components", lambda *a: followed.append(components(*a)) or followed[-1])
    monkeypatch.setattr(sys.modules["regions.results.definitions.linear_regions"], "MOST_LINKS", 100)
    assert linear_regions(partition, "closed").labels.tolist() == together.labels.tolist()
    assert sum(labels is None for labels in followed) > 1 and len(followed) > 10


@pytest.mark.parametrize("family", FAMILIES)
def test_labels(family: str) -> None:
    """Equal labels are equal maps, all of them in the sense "affine"; coarser labels merge finer ones."""
    network, domain = draw(family, 2, seed=8)
    partition = partition_from_reference(network, domain)
    maps = [tuple(region.output) for region in sorted_regions(network, domain)]
    labels = {
        name: linear_regions(partition, name).labels for name in DEFINITIONS if count(partition, name) is not None
    }
    for definition, of_regions in labels.items():
        first = np.unique(of_regions, return_index=True)[1]
        assert np.array_equal(first, np.sort(first)) and np.array_equal(of_regions[first], np.arange(len(first)))
        assert all(maps[i] == maps[first[label]] for i, label in enumerate(of_regions.tolist()))
        assert definition == "pattern" or linear_regions(partition, definition).count == len(first)
    assert len(set(maps)) == labels["affine"].max() + 1
    merged = [of_regions for definition, of_regions in labels.items() if definition != "pattern"]
    for finer, coarser in zip(merged, merged[1:], strict=False):
        assert len(set(zip(finer.tolist(), coarser.tolist(), strict=True))) == finer.max() + 1
