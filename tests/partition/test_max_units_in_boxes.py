# SPDX-License-Identifier: MIT
"""Are the regions of networks with max units right in boxes, down to facets and vertices?

Across a facet one branch replaces another, and more branches may be equal there: copies of each other, branches that
are equal on some cells only, and branches that are the largest only in a plane, a line or a point. The judge is
rational arithmetic (`exact_polytopes.py`).
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import regions
from exact_polytopes import require_exact
from generators import draw
from generators_maxima import MAX_FAMILIES, network_of_maxima
from regions import reference

MOST = 20  # regions that are compared


def cube(d: int) -> regions.Box:
    return regions.Box([-1] * d, [1] * d)


def corners(d: int) -> list[list[int]]:
    return [[0, *signs] for signs in product((-1, 1), repeat=d)]


def axes(d: int) -> list[list[int]]:
    return [[0, *row] for row in np.eye(d, dtype=int).tolist()]


def degenerate(d: int) -> dict[str, tuple[regions.Network, int | None]]:
    """Networks, and how many regions they have in the cube."""
    zero, one = [0] * (d + 1), [1] + [0] * d
    x, y, z = axes(d)[:3]
    minus_x = [-a for a in x]
    pair = network_of_maxima(d, [([x, zero, y, zero, z, zero], [2, 2, 2])])  # ReLUs
    return {
        "copies": (network_of_maxima(d, [([x, x, minus_x, minus_x, x], [5])]), 2),
        "all copies": (network_of_maxima(d, [([x] * 4, [4])]), 1),
        "constants": (network_of_maxima(d, [([one, zero, one], [3])]), 1),
        "one branch": (network_of_maxima(d, [([x, y], [1, 1])]), 1),
        # The largest in one plane only, in a line, and in a point.
        "in a plane": (network_of_maxima(d, [([x, zero, minus_x], [3])]), 2),
        "in a line": (network_of_maxima(d, [([x, y, [0, -1, -1] + [0] * (d - 2), zero], [4])]), 3),
        "in a point": (network_of_maxima(d, [([*corners(d), zero], [2**d + 1])]), 2**d),
        "through corners": (network_of_maxima(d, [([*axes(d), *(-np.array(axes(d))).tolist()], [2 * d])]), 2 * d),
        # Branches that a first layer makes equal on some cells, where some of its units are off.
        "pools": (network_of_maxima(d, [([x, zero, y, zero, z, zero], [2, 2, 2]), (np.eye(4)[1:], [3])]), None),
        "padded pools": (
            network_of_maxima(
                d,
                [
                    ([x, zero, y, zero, z, zero], [2, 2, 2]),
                    ([[0] * 4, *np.eye(4)[[1, 2]], [0] * 4, *np.eye(4)[[2, 3]]], [3, 3]),
                ],
            ),
            None,
        ),
        "pool of differences": (
            network_of_maxima(
                d,
                [
                    ([x, zero, minus_x, zero, y, zero], [2, 2, 2]),
                    ([[0, 1, -1, 0], [0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]], [4]),
                ],
            ),
            None,
        ),
        "relus": (pair, 8),
    }


@pytest.mark.parametrize("d", [3, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", degenerate(3))
def test_branches_that_are_equal_somewhere(name: str, d: int) -> None:
    net, number = degenerate(d)[name]
    part = regions.enumerate(net, cube(d))
    assert len(part) == regions.count(net, cube(d)) and number in (None, len(part))
    require_exact(part, reference.enumerate(net, cube(d)))
    counts = part.face_counts
    assert sum((-1) ** k * int(faces) for k, faces in enumerate(counts)) == 1
    assert part == regions.enumerate(net, cube(d), workers=3)
    assert regions.certify(part, net).all_proved


@pytest.mark.parametrize("family", MAX_FAMILIES)
@pytest.mark.parametrize("d", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_drawn_networks_against_rational_arithmetic(family: str, d: int) -> None:
    for net, domain in (draw(family, d, seed) for seed in range(4)):
        if not domain.bounded or regions.count(net, domain) > MOST:
            continue
        part = regions.enumerate(net, domain)
        require_exact(part, reference.enumerate(net, domain))
        assert part == regions.enumerate(net, domain, workers=2)
        assert regions.certify(part, net).ok


def maxouts(d: int, arms: int, seed: int = 0) -> regions.Network:
    rng = np.random.default_rng(seed)
    first, second = rng.standard_normal((4 * arms, d + 1)), rng.standard_normal((3 * arms, 5))
    return network_of_maxima(d, [(first, [arms] * 4), (second, [arms] * 3)])


@pytest.mark.parametrize(("d", "arms"), [(3, 2), (3, 3), (3, 4), (4, 2), pytest.param(4, 3, marks=pytest.mark.slow)])
def test_maxouts_in_general_position(d: int, arms: int) -> None:
    net = maxouts(d, arms)
    part = regions.enumerate(net, cube(d), maps=True)
    assert len(part) == regions.count(net, cube(d)) > 10
    assert abs(part.volumes.sum() - 2**d) <= part.volume_errors.sum() + 1e-12
    assert part.locate(part.interior_points, space="chart").tolist() == list(range(len(part)))
    inner = part.facet_regions[:, 1] >= 0
    assert (np.bincount(part.cell_facets) == np.where(inner, 2, 1)).all()
    # The map of each region is continuous across its facets.
    linear, constants = part.affine_maps()
    for facet in np.flatnonzero(inner).tolist():
        points = part.vertices[part.facet_vertices[slice(*part.facet_offsets[facet : facet + 2])]]
        here, there = (points @ linear[region].T + constants[region] for region in part.facet_regions[facet])
        assert np.allclose(here, there, atol=1e-9)


def test_planes_through_a_box_have_the_same_regions() -> None:
    net = maxouts(3, 3)
    part = regions.enumerate(net, cube(3))
    for height in (-0.5, 0.125, 0.75):
        cut = regions.enumerate(net, cube(3).section([0, 0, height], axes=(0, 1)))
        assert set(map(bytes, cut.packed_patterns)) <= set(map(bytes, part.packed_patterns))
        points = cut.domain.to_input(cut.interior_points)
        assert (part.packed_patterns[part.locate(points)] == cut.packed_patterns).all()


def test_files_streams_and_answers(tmp_path: Path) -> None:
    net = maxouts(3, 3)
    part = regions.enumerate(net, cube(3))
    part.save(tmp_path / "part.npz")
    assert regions.load_partition(tmp_path / "part.npz") == part
    blocks = list(regions.stream(net, cube(3), regions_per_block=7))
    assert len(blocks) > 2 and sum(map(len, blocks)) == len(part)
    assert (np.concatenate([block.packed_patterns for block in blocks]) == part.packed_patterns).all()
    found = regions.extremes(net, cube(3))
    linear, constants = part.affine_maps()
    owners = np.repeat(np.arange(len(part)), np.diff(part.cell_offsets))
    at = np.einsum("kij,kj->ki", linear[owners], part.vertices[part.cell_vertices]) + constants[owners]
    assert np.allclose([*found.minimum, *found.maximum], [at.min(), at.max()])
