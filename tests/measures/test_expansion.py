# SPDX-License-Identifier: MIT
"""Are the spectral gap and the conductance of the graph of regions right, by known graphs and by all subsets?"""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import combinations
from math import cos, pi, sqrt

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions.constructions import arrangement
from regions.domains import Box, Line, Plane, Rectangle
from regions.measures import expansion
from regions.networks.network import Network

PLANE = Plane([0, 0], [1, 0], [0, 1])
SQUARE = Rectangle([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0])


@pytest.mark.parametrize("count", [2, 3, 4, 9, 600])
def test_paths(count: int) -> None:
    kinks = count - 1
    net = Network([(np.ones((kinks, 1)), np.arange(float(kinks))), (np.ones((1, kinks)), [0.0])])
    found = expansion(regions.enumerate(net, Line([0.0], [1.0])))
    assert found.spectral_gap == pytest.approx(1 - cos(pi / kinks), rel=1e-9)
    # The best cut is in the middle; both ends have one neighbour only.
    assert found.conductance == Fraction(1, max(1, 2 * (count // 2) - 1))
    assert found.part.sum() in (count // 2, count - count // 2)


@pytest.mark.parametrize("dimension", [2, 3, 4])
def test_hypercubes(dimension: int) -> None:
    box = SQUARE if dimension == 2 else Box([-1.0] * dimension, [1.0] * dimension)
    found = expansion(regions.enumerate(arrangement(np.eye(dimension)), box))
    assert found.spectral_gap == pytest.approx(2 / dimension)
    assert Fraction(1, dimension) <= found.conductance < sqrt(2 * found.spectral_gap) + 1e-12
    assert "spectral gap" in repr(found) and "at least" in found._repr_html_()


@pytest.mark.parametrize("seed", range(6))
def test_all_subsets(seed: int) -> None:
    part = regions.enumerate(random_network([2, 3, 2, 1], bias=1.0, seed=seed), [PLANE, SQUARE][seed % 2])
    pairs = [pair for pair in part.facet_regions.tolist() if pair[1] >= 0]
    degree = [sum(region in pair for pair in pairs) for region in range(len(part))]

    def conductance(chosen: set[int]) -> Fraction:
        cut, volume = sum((a in chosen) != (b in chosen) for a, b in pairs), sum(degree[region] for region in chosen)
        return Fraction(cut, min(volume, sum(degree) - volume))

    subsets = (set(each) for size in range(1, len(part)) for each in combinations(range(len(part)), size))
    least = min(map(conductance, subsets))
    found = expansion(part)
    assert conductance(set(np.flatnonzero(found.part).tolist())) == found.conductance
    assert 2 * sum(degree[region] for region in np.flatnonzero(found.part)) <= sum(degree)
    assert found.spectral_gap / 2 - 1e-12 <= least <= found.conductance <= sqrt(2 * found.spectral_gap) + 1e-12


def test_both_solvers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    part = regions.enumerate(random_network([2, 16, 1], bias=1.0), PLANE)
    dense = expansion(part)
    monkeypatch.setattr(sys.modules[expansion.__module__], "DENSE", 0)
    sparse = expansion(part)
    assert sparse.spectral_gap == pytest.approx(dense.spectral_gap, rel=1e-9)
    assert sparse.conductance == dense.conductance


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="has a single region, whose graph has no spectral gap"):
        expansion(regions.enumerate(arrangement([[0, 0]]), SQUARE))
    with pytest.raises(TypeError, match="expected a regions.Partition"):
        expansion(SQUARE)  # type: ignore[arg-type]
