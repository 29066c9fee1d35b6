# SPDX-License-Identifier: MIT
"""Does the core give the numbers of regions that are known from elsewhere?

The sources are theory, the constructions, the networks on which published definitions differ, and, for the standard
workloads, rational arithmetic or unrelated programs. The areas of all regions must sum to the area of the domain.
"""

from __future__ import annotations

from math import comb, prod

import numpy as np
import pytest

import layered_breakpoints
import regions
from known_counts import (
    PLANE,
    SQUARE,
    around_zero,
    arrangements,
    definitions,
    general_lines,
    grid,
    lines_through_zero,
)
from regions.constructions import arrangement, montufar_fold, sawtooth, serra_fold, square_fold
from regions.domains import Domain, Line, Rectangle, Segment
from regions.networks.network import Network
from workloads import WORKLOADS, build_layers, build_polygon, build_segment_ends

UNIT = Segment([0.0], [1.0])
LINE = Line([0.0], [1.0])


def check(network: Network, domain: Domain, expected: int) -> None:
    """Check the count, the enumeration, that patterns differ, and, for bounded domains, the sum of the volumes."""
    assert regions.count(network, domain) == expected
    partition = regions.enumerate(network, domain)
    assert len(partition) == len(np.unique(partition.packed_patterns, axis=0)) == expected
    if domain.bounded:
        assert (partition.volumes > 0).all()
        assert partition.volumes.sum() == pytest.approx(domain.volume, rel=1e-12)


class TestStandardWorkloads:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("name", "expected"),
        [("p2_16x2", 468), ("p2_32x3", 4029), ("p2_64x3", 16623), ("p2_128x3", 66795), ("p784_64x3", 9549)],
    )
    def test_polygons(self, name: str, expected: int) -> None:
        workload = WORKLOADS[name]
        check(Network(build_layers(workload)), build_polygon(workload), expected)

    @pytest.mark.slow
    @pytest.mark.parametrize(("name", "expected"), [("p784_256x3", 154529), ("p2_256x4", 455915)])
    def test_count_of_large_ones(self, name: str, expected: int) -> None:
        workload = WORKLOADS[name]
        assert regions.count(Network(build_layers(workload)), build_polygon(workload)) == expected

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["l2_64x8", "l784_256x4"])
    def test_segments(self, name: str) -> None:
        workload = WORKLOADS[name]
        layers, ends = build_layers(workload), build_segment_ends(workload)[:20]
        network, segments = Network(layers), [Segment(*pair) for pair in ends]
        counts = layered_breakpoints.count_regions(layers, ends)
        assert regions.count(network, segments).tolist() == list(counts)
        for segment, expected in zip(segments[:5], counts, strict=False):
            check(network, segment, expected)


class TestConstructions:
    @pytest.mark.parametrize(("depth", "on_the_line"), [(1, 3), (2, 6), (3, 10), (7, 130), (14, 2**14 + 2)])
    def test_sawtooth(self, depth: int, on_the_line: int) -> None:
        check(sawtooth(depth), UNIT, 2**depth)
        check(sawtooth(depth), LINE, on_the_line)

    @pytest.mark.parametrize(("pieces", "depth"), [(2, 2), (2, 3), (3, 2), (3, 3), (4, 2), (4, 4), (5, 6)])
    def test_montufar_fold(self, pieces: int, depth: int) -> None:
        check(montufar_fold(pieces, depth), UNIT, pieces ** (depth - 1) * (pieces + 1))

    @pytest.mark.parametrize("widths", [(3,), (3, 3), (4, 3), (5, 5), (8, 8, 8), (9, 3, 6, 7, 4)])
    def test_serra_fold(self, widths: tuple[int, ...]) -> None:
        expected = prod(width + 1 for width in widths)
        check(serra_fold(widths), UNIT, expected)
        check(serra_fold(widths), LINE, expected)

    @pytest.mark.parametrize(("pieces", "lines"), [(2, 1), (3, 5), (8, 5), (16, 12)])
    def test_square_fold_multiplies(self, pieces: int, lines: int) -> None:
        rng = np.random.default_rng(lines)
        normals = rng.standard_normal((lines, 2))
        offsets = -normals @ [0.4, 0.6] + 0.1 * rng.standard_normal(lines)
        unit_square = Rectangle([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])
        in_one = regions.count(arrangement(normals, offsets), unit_square)
        assert in_one > lines
        check(square_fold(pieces, normals, offsets), unit_square, pieces**2 * in_one)


class TestArrangements:
    @arrangements
    def test_textbook_counts(self, network: Network, domain: Domain, expected: int) -> None:
        check(network, domain, expected)

    @pytest.mark.parametrize("lines", [8, 20, 100, 200])
    def test_lines_in_general_position(self, lines: int) -> None:
        network = general_lines(lines)
        check(network, PLANE, 1 + lines + comb(lines, 2))
        volumes = regions.enumerate(network, PLANE).volumes
        assert np.isfinite(volumes).sum() == comb(lines - 1, 2)

    def test_large_degenerate_ones(self) -> None:
        check(lines_through_zero(60), PLANE, 120)
        check(lines_through_zero(60), SQUARE, 120)
        check(grid(40, 25), PLANE, 41 * 26)

    def test_the_grid_with_diagonals(self) -> None:
        # Every crossing is one of three or four lines, and all lines pass through corners of the square.
        steps = np.arange(-7, 8) / 8
        normals = np.repeat([[1.0, 0.0], [0.0, 1.0]], 15, axis=0)
        offsets = np.r_[steps, steps]
        diagonals = np.arange(-15, 16) / 8
        normals = np.r_[normals, np.repeat([[1.0, -1.0], [1.0, 1.0]], 31, axis=0)]
        check(arrangement(normals, np.r_[offsets, diagonals, diagonals]), SQUARE, 16 * 16 * 4)

    def test_far_crossings(self) -> None:
        check(arrangement([[2.0**-1000, 1], [0, 1]], [1, 0]), PLANE, 4)
        check(arrangement([[999, 1000], [1000, 1001]], [1000, -1000]), PLANE, 4)
        check(arrangement([[1, 0.1], [1, np.nextafter(0.1, 1)]], [0, 1]), PLANE, 4)
        check(arrangement([[1, 0.1], [1, 0.1]], [0, 1]), PLANE, 3)


class TestRules:
    """The rules at zero: h > t is active, strictly; regions are full-dimensional."""

    @pytest.mark.parametrize(("normal", "offset"), [([1, 1], -2), ([1, 1], 2), ([1, 0], -1), ([0, -1], -1)])
    def test_touching_cuts_nothing(self, normal: list[float], offset: float) -> None:
        check(arrangement([normal], [offset]), SQUARE, 1)

    def test_one_ulp_further_it_cuts(self) -> None:
        check(arrangement([[1, 1]], [-np.nextafter(2, 0)]), SQUARE, 2)
        check(arrangement([[1, 1]], [-np.nextafter(2, 3)]), SQUARE, 1)

    def test_what_is_zero_is_inactive(self) -> None:
        assert not regions.enumerate(arrangement([[0, 0]], [0]), SQUARE).patterns.any()
        net = Network([([[1, 0]], [0]), ([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
        found = sorted(map(tuple, regions.enumerate(net, SQUARE).patterns.tolist()))
        assert found == [(False, False, False), (True, True, False)]

    def test_coincident_neurons_cut_once(self) -> None:
        check(arrangement([[1, 2], [2, 4], [-3, -6]], [1, 2, -3]), SQUARE, 2)

    def test_no_hidden_layer_is_one_region(self) -> None:
        for domain in (SQUARE, PLANE, Segment([0, 0], [1, 2]), Line([0, 0], [1, 2])):
            check(Network([([[2, 0], [1, 1]], [1, 0])]), domain, 1)


@definitions
@around_zero
def test_networks_on_which_published_definitions_differ(
    network: Network, expected: int, maps: int, domain: Domain
) -> None:
    check(network, domain, expected)
    slopes, intercepts = regions.enumerate(network, domain).affine_maps(space="input")
    flat = np.concatenate([slopes.reshape(expected, -1), intercepts.reshape(expected, -1)], axis=1)
    assert len(np.unique(flat + 0.0, axis=0)) == maps
