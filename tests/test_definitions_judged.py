# SPDX-License-Identifier: MIT
"""Are linear regions what the definitions say, on networks of every kind?

Against `definitions_judge.py`, in rational arithmetic, on small draws of all families; and on networks of few small
integers, where maps and level sets coincide all the time, in whole planes too.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from definitions_judge import beyond_everything, counts
from generator_parts import lattice_domain
from generators import FAMILIES, draw
from known_counts import PLANE
from partition_cases import families
from raw_from_reference import partition_from_reference, sorted_regions
from regions.definitions import DEFINITIONS, linear_regions
from regions.domains import Domain
from regions.network import Network
from regions.partition import Partition

# More cells take the judge seconds.
MOST_CELLS = 16


def found(partition: Partition) -> dict[str, int]:
    return {definition: linear_regions(partition, definition).count for definition in DEFINITIONS}


@families
def test_every_family(family: str, dimension: int) -> None:
    for seed in range(2):
        network, domain = draw(family, dimension, seed)
        partition = regions.enumerate(network, domain)
        numbers = found(partition)
        assert sorted(numbers.values(), reverse=True) == list(numbers.values())
        # Without end, only where nothing happens beyond the ends that the judge puts there.
        if len(partition) <= MOST_CELLS and (domain.bounded or np.abs(partition.vertices[1:-1]).max(initial=0) < 2**30):
            assert numbers == counts(network, beyond_everything(domain))


def few_integers(seed: int) -> tuple[Network, Domain]:
    """A network whose maps often are equal, in a plane; every third one has two outputs."""
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


# Draws in which paths join pieces with one map: within bounds and without, along edges without end, with two outputs.
@pytest.mark.parametrize("seed", [361, 449, 851, 1059, 1160, 1341, 2929, 3931, 6242, 6544, 6909, 8141])
def test_paths_join_pieces(seed: int) -> None:
    network, domain = few_integers(seed)
    partition = regions.enumerate(network, domain)
    numbers = found(partition)
    assert numbers["open"] > numbers["closed"]
    assert numbers == counts(network, beyond_everything(domain))


@pytest.mark.parametrize("seed", [1839, 2289, 5181])
def test_paths_of_one_output_do_not_join(seed: int) -> None:
    """The first output equals its map on a path between pieces, the second one does not."""
    network, domain = few_integers(seed)
    partition = regions.enumerate(network, domain)
    assert network.n_out == 2
    assert found(partition) == counts(network, beyond_everything(domain))


@pytest.mark.parametrize("family", FAMILIES)
def test_labels(family: str) -> None:
    """Equal labels are equal maps, all of them in the sense "affine"; coarser labels merge finer ones."""
    network, domain = draw(family, 2, seed=8)
    partition = partition_from_reference(network, domain)
    maps = [tuple(region.output) for region in sorted_regions(network, domain)]
    labels = {definition: linear_regions(partition, definition).labels for definition in DEFINITIONS}
    for definition, of_regions in labels.items():
        first = np.unique(of_regions, return_index=True)[1]
        assert np.array_equal(first, np.sort(first)) and np.array_equal(of_regions[first], np.arange(len(first)))
        assert all(maps[i] == maps[first[label]] for i, label in enumerate(of_regions.tolist()))
        assert definition == "pattern" or linear_regions(partition, definition).count == len(first)
    assert len(set(maps)) == labels["affine"].max() + 1
    for finer, coarser in zip(DEFINITIONS[1:], DEFINITIONS[2:], strict=False):
        pairs = set(zip(labels[finer].tolist(), labels[coarser].tolist(), strict=True))
        assert len(pairs) == labels[finer].max() + 1
