# SPDX-License-Identifier: MIT
"""Are branches of maxima that are zero together recognised, and only these?

A network of max-pools has regions on which all branches of a unit are zero. Bounds cannot show that they are equal.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from certificates_judge import by_values, finding, require_sound
from generators import draw
from partition_cases import SQUARE
from random_networks import random_network
from regions.cells.complex import raw_arrays
from regions.certification.ties import Ties, ZeroUnits
from regions.networks.graph import Graph, Node, Read, Units
from regions.networks.maxima import Maxima
from regions.networks.named_activations import identity, relu
from regions.networks.network import Network
from regions.networks.patches import Patches
from regions.partition import Partition


def pooled(widths: list[int], seed: int) -> Network:
    """Return generic ReLUs, each two of them in a max-pool, after each layer."""
    nodes: list[Node] = []
    kinks = 0
    dense = random_network([2, *widths, 1], seed).graph.nodes
    last = 0
    for node in dense[:-1]:
        inputs = 2 if not nodes else nodes[-1].units.count
        weights = node.reads[0].operator.weights[:, :inputs]
        read = Read(type(node.reads[0].operator)(weights), len(nodes) - 1)
        nodes.append(
            Node(node.biases, (read,), Units(len(node.biases), relu()), slice(kinks, kinks + len(node.biases)))
        )
        kinks += len(node.biases)
        units = Maxima.of_sizes([2] * (len(node.biases) // 2))
        selection = Patches.selection(len(node.biases), np.arange(units.rows))
        nodes.append(
            Node(np.zeros(units.rows), (Read(selection, len(nodes) - 1),), units, slice(kinks, kinks + units.kinks))
        )
        kinks += units.kinks
        last = units.count
    ones = type(dense[-1].reads[0].operator)(np.ones((1, last)))
    nodes.append(Node(np.zeros(1), (Read(ones, len(nodes) - 1),), Units(1, identity()), slice(kinks, kinks)))
    return Network.from_graph(Graph(2, nodes))


@pytest.mark.parametrize("widths", [[16], [12, 8], [8, 6, 6]])
@pytest.mark.parametrize("seed", range(3))
def test_values_prove_all_regions_of_max_pools(widths: list[int], seed: int) -> None:
    net = pooled(widths, seed)
    part = regions.enumerate(net, SQUARE)
    assert require_sound(part, net) == len(part) > 10


def test_blocks_of_patterns_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    net = pooled([8, 6], 0)
    part = regions.enumerate(net, SQUARE)
    report = by_values(part, net)
    for name in ("regions.cells.consistency", "regions.certification.facets", "regions.certification.corners"):
        monkeypatch.setattr(f"{name}.CHUNK", 20)
    assert by_values(part, net) == report and report.conclusion.startswith("proved")


@pytest.mark.parametrize("seed", range(12))
def test_values_and_integers_agree_about_damaged_pools(seed: int) -> None:
    for dimension in (1, 2):
        assert finding(*draw("max_pools", dimension, seed), seed, damages=3) is None


def test_a_facet_that_names_two_branches_that_are_zero_is_found() -> None:
    """Across it one of them becomes the argmax, but the unit below is the first to change."""
    net = pooled([8], 1)
    part = regions.enumerate(net, SQUARE)
    graph, bits = net.graph, net.graph.bits(part.packed_patterns)
    units, changed = graph.hidden[1].units, 0
    raw = {name: np.array(array) for name, array in raw_arrays(part).items() if isinstance(array, np.ndarray)}
    names = raw["facet_kinks"]
    for facet, (here, there) in enumerate(part.facet_regions.tolist()):
        (flipped,) = np.nonzero(bits[here] != bits[there]) if there >= 0 else ([],)
        later = [kink for kink in flipped if kink >= graph.hidden[1].kinks.start]
        if names[facet] < graph.hidden[1].kinks.start and names[facet] >= 0 and later:
            names[facet], changed = later[0], changed + 1
            break
    assert changed and units.kinks
    raw |= {"stats": part.stats, "complete": True, "kernel": part.kernel}
    report = by_values(Partition(net, part.domain, raw), net)
    assert not report.ok


def test_which_branches_are_flat_and_null() -> None:
    """Units 0 and 1 are off, unit 2 is off and open, unit 3 is on."""
    net = pooled([4], 0)
    ties = Ties(net.graph)
    packed = np.packbits([[0, 0, 0, 1, 0, 1]], axis=1, bitorder="little")
    zeros = ZeroUnits(ties, packed)
    zeros.add(0, np.array([0]), np.array([2]))
    flat, null = zeros.of_branches(1)
    assert flat.tolist() == [[True, True, False, False]] and null.tolist() == [[True, True, True, False]]
    binding = np.ones((1, 2), dtype=bool)
    found = zeros.apply(1, np.array([[False, True]]), binding)
    assert found is not None and binding.tolist() == [[False, True]]
    assert found[0].tolist() == [[True, False]] and found[1].tolist() == [[True, False]]
