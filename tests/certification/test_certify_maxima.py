# SPDX-License-Identifier: MIT
"""Are results on networks with maxima certified, and wrong ones refused?

A region's inequalities compare the argmax with other branches; across a facet one argmax replaces another.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from fuzz import Case, drawn
from generators_maxima import MAX_FAMILIES
from regions.networks.graph import Maxima
from regions.results.cells.complex import raw_arrays
from regions.results.partition import Partition

CASES = [Case(family, shape, seed) for family in MAX_FAMILIES for shape in ("line", "polygon") for seed in (3, 8)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_the_core_finds(case: Case) -> None:
    network, domain = drawn(case)
    partition = regions.enumerate(network, domain)
    report = regions.certify(partition, network)
    assert report.ok and report.conclusion.startswith("proved: there ")


def _first_difference(partition: Partition) -> tuple[int, int, np.ndarray]:
    """Return a facet that names a pair of branches, its first region, and the bits of that region."""
    graph = partition.network.graph
    pairs = np.flatnonzero(graph.kink_rows[:, 1] >= 0)
    facet = int(np.flatnonzero(np.isin(partition.facet_kinks, pairs))[0])
    region = int(partition.facet_regions[facet, 0])
    return facet, region, graph.bits(partition.packed_patterns[region])


@pytest.mark.parametrize("damage", ["winner", "no winner", "facet"])
def test_damage_is_found(damage: str) -> None:
    network, domain = drawn(Case("max_integers", "polygon", 15))
    partition = regions.enumerate(network, domain)
    raw = {name: np.array(array) for name, array in raw_arrays(partition).items() if isinstance(array, np.ndarray)}
    facet, region, bits = _first_difference(partition)
    kink = int(partition.facet_kinks[facet])
    node = network.graph.nodes[int(network.graph.kink_nodes[kink])]
    assert isinstance(node.units, Maxima)
    own, unit = bits[node.kinks], int(network.graph.kink_units[kink])
    pieces = node.units.pieces_of(own)
    if damage == "facet":
        other = [k for k in np.flatnonzero(network.graph.kink_units == unit) if k != kink and node.kinks.start <= k]
        raw["facet_kinks"][facet] = next(k for k in [*other, (kink + 1) % network.kinks] if k != kink)
    elif damage == "winner":
        pieces[unit] = (pieces[unit] + 1) % node.units.sizes[unit]
        bits[node.kinks] = node.units.bits_of(pieces)
    else:
        bits[node.kinks] = node.units.kink_units == unit
    raw["packed_patterns"][region] = np.packbits(bits, bitorder="little")
    raw |= {"stats": partition.stats, "complete": True, "kernel": partition.kernel}
    report = regions.certify(Partition(network, domain, raw), network)
    assert not report.ok
