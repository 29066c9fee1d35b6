# SPDX-License-Identifier: MIT
"""Are the cases that were once hard for the core right, and do they stay right?

Each file of tests/hard/ is replayed in full: count, patterns, corners within their bounds, edges and neighbours.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core_judge import difference
from fuzz_shrink import shrink
from generators import draw
from hard_cases import FOLDER, read, write
from random_networks import random_network
from regions import reference
from regions.domains import Domain, Segment
from regions.networks.named_activations import hard_tanh
from regions.networks.network import Network

FILES = sorted(FOLDER.glob("*.json"))


def test_there_are_some() -> None:
    assert len(FILES) >= 6


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_replays(path: Path) -> None:
    assert difference(*read(path)) is None


@pytest.mark.parametrize("family", ["denormal", "clipped", "learnt_slopes", "one_ulp"])
def test_a_file_keeps_every_bit(family: str, tmp_path: Path) -> None:
    for seed in range(5):
        network, domain = draw(family, 1 + seed % 2, seed)
        write(tmp_path / "case.json", "", network, domain)
        assert read(tmp_path / "case.json") == (network, domain)


def test_shrinking_leaves_what_fails() -> None:
    rng = np.random.default_rng(0)
    network = random_network([3, 4, 3, 1], rng, ["relu", hard_tanh()], bias=1.0)
    domain = Segment(rng.standard_normal(3), 5 * rng.standard_normal(3))

    def three_regions(network: Network, domain: Domain) -> bool:
        return reference.count(network, domain) >= 3

    assert three_regions(network, domain)
    smaller, domain = shrink(network, domain, three_regions)
    assert three_regions(smaller, domain)
    assert smaller.n_in == 1 and smaller.kinks == 2
