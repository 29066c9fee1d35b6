# SPDX-License-Identifier: MIT
"""Do all methods of a partition work if the network is not a chain of layers?"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import regions
from generators import draw
from regions import measures, reference
from regions.domains import Domain
from regions.networks.network import Network

pytestmark = pytest.mark.slow


@cache
def graphs() -> list[tuple[Network, Domain]]:
    """Return two graphs of each family, with enough regions in a bounded domain."""
    found = []
    for family in ("graph_ternary", "graph_integers", "graph_generic", "graph_deep"):
        drawn = (draw(family, 2, seed) for seed in range(40))
        wanted = ((net, domain) for net, domain in drawn if domain.bounded and not net.is_chain)
        found += [each for each in wanted if 4 < regions.count(*each) < 80][:2]
    return found


@pytest.mark.parametrize("number", range(8))
def test_everything(number: int, tmp_path: Path) -> None:
    net, domain = graphs()[number]
    partition = regions.enumerate(net, domain)
    assert {tuple(row) for row in partition.patterns.tolist()} == set(reference.patterns(net, domain))
    assert regions.certify(partition, net).ok
    assert regions.check(net, domain).ok
    partition.save(tmp_path / "graph.npz")
    again = regions.load_partition(tmp_path / "graph.npz")
    assert again == partition and again.network == net
    points = np.array([region.interior_point for region in partition])
    assert (partition.locate(points, space="chart") == np.arange(len(partition))).all()
    linear, constants = partition.affine_maps(space="input")
    inputs = domain.to_input(points)
    assert np.allclose(np.einsum("roi,ri->ro", linear, inputs) + constants, net(inputs), rtol=1e-9, atol=1e-9)
    distances = measures.distance_to_boundary(net, inputs)
    inside = measures.distance_in_domain(partition, points, space="chart")
    assert (distances.distances <= inside.distances + distances.errors + inside.errors + 1e-12).all()
    assert len(regions.linear_regions(partition, "open")) <= len(partition)
    ends = domain.to_input(points[[0, -1]])
    walked = regions.trajectory(net, regions.Segment(*ends))
    assert walked.pieces[-1] == regions.count(net, regions.Segment(*ends))
