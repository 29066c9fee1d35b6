# SPDX-License-Identifier: MIT
"""Do the core's results satisfy the laws that need no reference?

Networks too large for the reference are tested in this way: by identities for the cells, edges and corners of any
subdivision of a polygon, and by changes of the network, the chart or the domain with known effects.
"""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray

import regions
from regions.domains import Domain, Line, Polygon, Segment
from regions.networks.named_activations import hard_tanh
from regions.networks.network import Network
from regions.results.partition import Partition

Layers = list[tuple[NDArray[np.float64], NDArray[np.float64]]]

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])


def random_layers(sizes: list[int], seed: int, *, lattice: bool = False) -> Layers:
    """Return weights whose sums of a few are exact: with 12 bits, or -1, 0 and 1 if coincidences are wanted."""
    rng = np.random.default_rng(seed)
    layers = []
    for n_in, n_out in zip(sizes, sizes[1:], strict=False):
        if lattice:
            weights, biases = (rng.integers(-1, 2, shape).astype(float) for shape in ((n_out, n_in), n_out))
        else:
            weights = np.round(rng.standard_normal((n_out, n_in)) * np.sqrt(2 / n_in) * 2**10) / 2**10
            biases = np.round(rng.standard_normal(n_out) * 2**9) / 2**11
        layers.append((weights, biases))
    return layers


def pattern_set(partition: Partition) -> set[bytes]:
    return {row.tobytes() for row in partition.patterns}


def plane_in(n_in: int, seed: int) -> Domain:
    """Return a hexagon in a plane through random points with few bits, whose corners are integers in the chart."""
    rng = np.random.default_rng(seed)
    origin, *directions = np.round(rng.standard_normal((3, n_in)) * 2**6) / 2**7
    corners = [[-2, -2], [0, -2], [2, 0], [2, 2], [0, 2], [-2, 0]]
    return Polygon.in_chart(origin, directions, corners)


# Generic ones, in which no three lines meet, and others.
GENERIC = {
    "two_inputs": (Network(random_layers([2, 20, 20, 20, 1], 0)), SQUARE),
    "two_layers": (Network(random_layers([2, 60, 40, 1], 5)), SQUARE),
    "many_inputs": (Network(random_layers([30, 40, 30, 20, 3], 1)), plane_in(30, 1)),
    "deep": (Network(random_layers([2, *[12] * 10, 1], 2)), SQUARE),
    "hard_tanh": (Network(random_layers([5, 16, 16, 1], 3), hard_tanh(-0.5, 1)), plane_in(5, 3)),
    "mixed": (
        Network(random_layers([3, 16, 16, 16, 1], 4), ["abs", "leaky_relu(0.125)", "relu6"]),
        plane_in(3, 4),
    ),
}
DEGENERATE = {
    "lattice": (Network(random_layers([2, 16, 16, 16, 1], 6, lattice=True)), SQUARE),
    "lattice_of_four": (Network(random_layers([4, 24, 24, 1], 7, lattice=True)), plane_in(4, 7)),
    "lattice_hard_tanh": (Network(random_layers([2, 10, 10, 1], 8, lattice=True), "hard_tanh"), SQUARE),
}
ALL = GENERIC | DEGENERATE
RELU = {name: case for name, case in ALL.items() if name not in ("hard_tanh", "mixed", "lattice_hard_tanh")}


def layers_of(network: Network) -> Layers:
    return [(layer.weights, layer.biases) for layer in network.layers]


@pytest.mark.parametrize("name", ALL)
class TestSubdivision:
    """Check the properties of any face-to-face subdivision of a convex polygon."""

    def test_euler(self, name: str) -> None:
        partition = regions.enumerate(*ALL[name])
        assert len(partition) > 100 or name in DEGENERATE
        assert len(partition.vertices) - len(partition.facet_vertices) + len(partition) == 1

    def test_every_edge_is_of_two_cells_or_the_border(self, name: str) -> None:
        partition = regions.enumerate(*ALL[name])
        uses = np.bincount(partition.cell_facets, minlength=len(partition.facet_vertices))
        inner = partition.facet_regions[:, 1] >= 0
        assert (uses == np.where(inner, 2, 1)).all()
        assert ((partition.facet_kinks >= 0) == inner).all()

    def test_perimeters(self, name: str) -> None:
        network, domain = ALL[name]
        partition = regions.enumerate(network, domain)
        corners = domain.to_input(domain.generators[:, 1:])
        perimeter = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).sum()
        lengths, border = partition.facet_volumes, partition.facet_regions[:, 1] < 0
        assert lengths[border].sum() == pytest.approx(perimeter, rel=1e-12)
        of_cells = sum(
            np.linalg.norm(np.diff(domain.to_input(region.vertices[[*range(n), 0]]), axis=0), axis=1).sum()
            for region, n in zip(partition, partition.corner_counts.tolist(), strict=True)
        )
        assert of_cells == pytest.approx(perimeter + 2 * lengths[~border].sum(), rel=1e-11)

    def test_areas(self, name: str) -> None:
        network, domain = ALL[name]
        assert regions.enumerate(network, domain).volumes.sum() == pytest.approx(domain.volume, rel=1e-12)

    def test_valid_coverage(self, name: str) -> None:
        polygons = regions.enumerate(*ALL[name]).to_shapely()
        assert shapely.is_valid(polygons).all()
        assert shapely.coverage_is_valid(polygons)

    def test_patterns_match_points_inside(self, name: str) -> None:
        network, domain = ALL[name]
        partition = regions.enumerate(network, domain)
        values = np.concatenate(network.preactivations(domain.to_input(partition.interior_points)), axis=1)
        units = np.concatenate([np.arange(n).repeat(_kinks(network, i)) for i, n in enumerate(network.widths)])
        starts = np.cumsum([0, *network.widths])[network.kink_layers]
        above = values[:, units + starts] - network.kink_values
        clear = np.abs(above) > 1e-9
        assert clear.any(axis=1).all()
        assert ((above > 0) == partition.patterns)[clear].all()


def _kinks(network: Network, layer: int) -> int:
    return len(network.layers[layer].activation.breakpoints)


@pytest.mark.parametrize("name", GENERIC)
def test_neighbours_differ_in_the_kink_between_them_only(name: str) -> None:
    partition = regions.enumerate(*GENERIC[name])
    inner = np.flatnonzero(partition.facet_regions[:, 1] >= 0)
    one, other = partition.patterns[partition.facet_regions[inner]].swapaxes(0, 1)
    different = one != other
    assert (different.sum(axis=1) == 1).all()
    assert (different.argmax(axis=1) == partition.facet_kinks[inner]).all()


@pytest.mark.parametrize("name", DEGENERATE)
def test_neighbours_differ_in_the_kink_between_them(name: str) -> None:
    partition = regions.enumerate(*DEGENERATE[name])
    inner = np.flatnonzero(partition.facet_regions[:, 1] >= 0)
    one, other = partition.patterns[partition.facet_regions[inner]].swapaxes(0, 1)
    assert (one != other)[np.arange(len(inner)), partition.facet_kinks[inner]].all()


@pytest.mark.parametrize("name", RELU)
class TestChangesOfTheNetwork:
    """Units are reordered, scaled or copied: the regions are the same, and the bits follow."""

    def test_permutation(self, name: str) -> None:
        network, domain = RELU[name]
        rng = np.random.default_rng(0)
        layers, orders, start = layers_of(network), [], 0
        for index, width in enumerate(network.widths):
            order = rng.permutation(width)
            (weights, biases), (after, after_biases) = layers[index : index + 2]
            layers[index] = (weights[order], biases[order])
            layers[index + 1] = (after[:, order], after_biases)
            orders.append(start + order)
            start += width
        expected = {row.tobytes() for row in regions.enumerate(network, domain).patterns[:, np.concatenate(orders)]}
        changed = Network(layers)
        assert pattern_set(regions.enumerate(changed, domain)) == expected
        assert regions.count(changed, domain) == len(expected)

    def test_scaling_by_powers_of_two(self, name: str) -> None:
        network, domain = RELU[name]
        rng = np.random.default_rng(0)
        layers = layers_of(network)
        for index, width in enumerate(network.widths):
            scale = 2.0 ** rng.integers(-40, 41, width)
            (weights, biases), (after, after_biases) = layers[index : index + 2]
            layers[index] = (scale[:, np.newaxis] * weights, scale * biases)
            layers[index + 1] = (after / scale, after_biases)
        changed = Network(layers)
        expected = pattern_set(regions.enumerate(network, domain))
        assert pattern_set(regions.enumerate(changed, domain)) == expected
        assert regions.count(changed, domain) == len(expected)

    def test_duplication(self, name: str) -> None:
        network, domain = RELU[name]
        layers = layers_of(network)
        for index, width in enumerate(network.widths):
            twice = np.arange(width).repeat(2)
            (weights, biases), (after, after_biases) = layers[index : index + 2]
            layers[index] = (weights[twice], biases[twice])
            layers[index + 1] = (after[:, twice] / 2, after_biases)
        partition = regions.enumerate(Network(layers), domain)
        assert (partition.patterns[:, ::2] == partition.patterns[:, 1::2]).all()
        expected = pattern_set(regions.enumerate(network, domain))
        assert {row.tobytes() for row in partition.patterns[:, ::2]} == expected
        assert regions.count(Network(layers), domain) == len(expected)


class TestChangesOfTheDomain:
    @pytest.mark.parametrize("name", ["two_inputs", "two_layers", "deep", "lattice"])
    @pytest.mark.parametrize("at", [0.0, 0.3, -1 + 2.0**-30])
    def test_splitting(self, name: str, at: float) -> None:
        network, _ = ALL[name]
        left = regions.enumerate(network, Polygon([[-1, -1], [at, -1], [at, 1], [-1, 1]]))
        right = regions.enumerate(network, Polygon([[at, -1], [1, -1], [1, 1], [at, 1]]))
        whole = regions.enumerate(network, SQUARE)
        assert pattern_set(left) | pattern_set(right) == pattern_set(whole)
        assert left.volumes.sum() + right.volumes.sum() == pytest.approx(4, rel=1e-12)
        if name in GENERIC:
            on_the_cut = regions.enumerate(network, Segment([at, -1], [at, 1]))
            assert pattern_set(left) & pattern_set(right) == pattern_set(on_the_cut)
            assert len(left) + len(right) - len(on_the_cut) == len(whole)

    @pytest.mark.parametrize("name", ALL)
    @pytest.mark.parametrize("matrix", [[[2, 1], [1, 1]], [[1, 5], [0, 1]], [[0, -1], [1, 0]]])
    def test_another_chart_of_the_same_polygon(self, name: str, matrix: list[list[float]]) -> None:
        # All numbers have so few bits that the other chart is exactly the same polygon.
        network, domain = ALL[name]
        change = np.array(matrix, dtype=float)
        (a, b), (c, d) = matrix
        corners = domain.generators[:, 1:] @ [[d, -b], [-c, a]]  # the inverse, for the determinant is 1
        other = Domain(domain.origin, change @ domain.directions, np.column_stack([np.ones(len(corners)), corners]))
        expected = pattern_set(regions.enumerate(network, domain))
        assert pattern_set(regions.enumerate(network, other)) == expected
        assert regions.count(network, other) == len(expected)

    @pytest.mark.parametrize("name", ALL)
    def test_the_polygon_the_other_way_round(self, name: str) -> None:
        network, domain = ALL[name]
        mirrored = domain.generators[::-1] * [1, -1, 1]
        other = Domain(domain.origin, domain.directions * [[-1], [1]], mirrored)
        expected = pattern_set(regions.enumerate(network, domain))
        assert pattern_set(regions.enumerate(network, other)) == expected


class TestLines:
    @pytest.mark.parametrize("name", GENERIC)
    def test_a_segment_meets_the_regions_of_its_plane(self, name: str) -> None:
        network, domain = GENERIC[name]
        partition = regions.enumerate(network, domain)
        index = {row.tobytes(): region for region, row in enumerate(partition.patterns)}
        polygons = partition.to_shapely()
        rng = np.random.default_rng(0)
        for _ in range(5):
            # Chart coordinates of 4 bits, so that the segment lies in the plane exactly.
            ends = rng.integers(-15, 16, (2, 2)) / 16
            chart_segment = Domain(
                domain.to_input(ends[0]), [(ends[1] - ends[0]) @ domain.directions], [[1, 0], [1, 1]]
            )
            on_it = regions.enumerate(network, chart_segment)
            assert regions.count(network, chart_segment) == len(on_it)
            met = [index[row.tobytes()] for row in on_it.patterns]
            assert len(set(met)) == len(met)
            adjacent = partition.adjacency
            assert all(adjacent[a, b] for a, b in zip(met, met[1:], strict=False))
            length = shapely.length(shapely.intersection(polygons, shapely.LineString(ends)))
            assert set(np.flatnonzero(length > 1e-9)) <= set(met) <= set(np.flatnonzero(length > 0))

    @pytest.mark.parametrize("name", ["two_inputs", "deep", "lattice", "hard_tanh", "lattice_hard_tanh"])
    def test_both_ways_and_in_parts(self, name: str) -> None:
        network, domain = ALL[name]
        step = domain.directions[0]
        start, end = domain.origin - 2 * step, domain.origin + 2 * step
        forth, back = (regions.enumerate(network, Segment(*ends)) for ends in ((start, end), (end, start)))
        assert pattern_set(forth) == pattern_set(back)
        assert forth.volumes == pytest.approx(back.volumes[::-1], rel=1e-9, abs=1e-12)
        line = regions.enumerate(network, Line(domain.origin, step))
        assert pattern_set(forth) <= pattern_set(line)
        assert (np.diff(forth.vertices[forth.cell_vertices, 0].reshape(-1, 2).ravel()[::2]) > 0).all()
        assert forth.volumes.sum() == pytest.approx(4 * np.linalg.norm(step), rel=1e-12)
