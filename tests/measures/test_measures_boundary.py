# SPDX-License-Identifier: MIT
"""Is the boundary measured correctly: its facets, lengths, layers, neurons and crossings?

It is compared with the affine maps of the reference, as fractions, with the identities that every partition of a
polygon satisfies, and with small networks whose boundaries can be drawn by hand.
"""

from __future__ import annotations

from math import fsum, inf, sqrt

import numpy as np
import pytest

import regions
from generators import FAMILIES
from partition_cases import IN_PLANE, SQUARE, drawn, families, in_plane
from random_networks import random_network
from raw_from_reference import partition_from_reference, sorted_regions
from regions.domains import Domain, Line, Plane, Polygon, Rectangle, Segment
from regions.errors import DomainError, LimitReached, NonFiniteError
from regions.measures import (
    boundary_facets,
    boundary_volume,
    gradient_jumps,
    perimeter_errors,
    perimeters,
    switching_kinks,
)
from regions.networks.named_activations import Activation
from regions.networks.network import Network
from regions.results.partition import Partition


def net_of(*layers: tuple[list, list], activation: str = "relu") -> Network:
    return Network(layers, activation)


CROSS = net_of(([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0]))
# Two neurons switch on x = 0, and the output reads only the second. The third is cancelled by the fourth.
HIDDEN = net_of(([[1, 0], [3, 0], [0, 1], [0, 2]], [0, 0, 0, 0]), ([[0, 1, 2, -1]], [0]))
BIG = Polygon([[-8, -8], [8, -8], [8, 8], [-8, 8]])
# The examples of docs/what-is-counted.md.
E1 = net_of(([[1, 0], [0, 1], [0, -1]], [0, 0, 0]), ([[1, -1, 1], [1, 0, 0]], [0, 0]), ([[1, -1]], [0]))
E4 = net_of(([[1, 0], [1, 0]], [0, 0]), ([[1, -1]], [0]))
E5 = net_of(([[1, 0], [-1, 0]], [0, 0]), ([[1, -1]], [0]))
E6 = net_of(([[1, 0], [-1, 0]], [0, 0]), ([[1, 1]], [0]))
E8 = net_of(([[1, 0], [1, 0], [1, 0]], [0, -1, -2]), ([[1, -2, 1]], [0]))


@families
def test_jumps_are_where_the_exact_maps_differ(family: str, dimension: int) -> None:
    for seed in range(2):
        net, domain = drawn(family, dimension, seed)
        partition = partition_from_reference(net, domain)
        maps = [region.output for region in sorted_regions(net, domain)]
        expected = [second >= 0 and maps[first] != maps[second] for first, second in partition.facet_regions.tolist()]
        assert gradient_jumps(partition).tolist() == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_crossings_are_where_the_boundary_is_not_a_line(family: str) -> None:
    """A vertex inside the domain is one, unless the facets there are the halves of one line (B_{N,2} in the paper)."""
    net, domain = drawn(family, 2, seed=3)
    partition = partition_from_reference(net, domain)
    exact = list(partition.exact_vertices())
    border = set(partition.facet_vertices[partition.facet_kinks < 0].ravel().tolist())
    for boundary in ("activation", "gradient"):
        ends: dict[int, list[int]] = {}
        for a, b in partition.facet_vertices[boundary_facets(partition, boundary)].tolist():
            ends.setdefault(a, []).append(b)
            ends.setdefault(b, []).append(a)
        crossings = 0
        for vertex, others in ends.items():
            if vertex not in border:
                arms = [[x - o for x, o in zip(exact[other], exact[vertex], strict=True)] for other in others]
                straight = len(arms) == 2 and arms[0][0] * arms[1][1] == arms[0][1] * arms[1][0]
                crossings += not straight
        assert boundary_volume(partition, boundary).strata[1] == crossings


@in_plane
def test_length_is_half_of_all_perimeters(network: Network, domain: Domain) -> None:
    partition = regions.enumerate(network, domain)
    corners = domain.to_input(domain.generators[:, 1:])
    around = fsum(np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1))
    found = boundary_volume(partition)
    assert found.total == pytest.approx((fsum(perimeters(partition)) - around) / 2, rel=1e-12, abs=1e-12)
    for parts in (found.layers, found.neurons, found.kinks):
        assert fsum(parts) == pytest.approx(found.total, rel=1e-12, abs=1e-12)
    assert found.coincident == 0.0
    assert found.densities[0] == found.total / domain.volume


def test_length_of_many_regions() -> None:
    partition = regions.enumerate(random_network([2, 32, 32, 32, 1], seed=1), SQUARE)
    found = boundary_volume(partition)
    cells = partition.to_shapely()
    assert found.total == pytest.approx((fsum(cell.length for cell in cells) - 8.0) / 2.0, rel=1e-12)
    assert fsum(found.neurons) == pytest.approx(found.total, rel=1e-12)
    assert len(partition) > 1000 and len(found.neurons) == 96 and len(found.layers) == 3
    # Euler's relation on a disc: with vertices on the border counted apart.
    border = len(np.unique(partition.facet_vertices[partition.facet_kinks < 0]))
    assert found.strata[1] + border == len(partition.facet_kinks) - len(partition) + 1


def test_by_hand() -> None:
    found = boundary_volume(regions.enumerate(CROSS, Polygon([[-1, -1], [3, -1], [3, 1], [-1, 1]])))
    assert (found.total, found.strata.tolist(), found.densities.tolist()) == (6.0, [6.0, 1.0], [0.75, 0.125])
    assert (found.layers.tolist(), found.neurons.tolist(), found.kinks.tolist()) == ([6.0], [2.0, 4.0], [2.0, 4.0])
    assert repr(found) == "BoundaryVolume(activation, 6, strata [6.0, 1.0])"


def test_coincident_kinks_count_once_in_all_and_each_in_full() -> None:
    partition = regions.enumerate(HIDDEN, SQUARE)
    found = boundary_volume(partition)
    assert (found.total, found.coincident, found.layers.tolist()) == (4.0, 4.0, [4.0])
    assert found.neurons.tolist() == [2.0, 2.0, 2.0, 2.0]
    # 2 relu(y) - relu(2 y) is 0: only x = 0 is left, and nothing crosses it.
    jumps = boundary_volume(partition, "gradient")
    assert (jumps.total, jumps.strata.tolist(), jumps.neurons.tolist()) == (2.0, [2.0, 0.0], [0.0, 2.0, 0.0, 0.0])
    facets, kinks = switching_kinks(partition)
    assert sorted(zip(partition.facet_volumes[facets].tolist(), kinks.tolist(), strict=True)) == [
        (1.0, kink) for kink in (0, 0, 1, 1, 2, 2, 3, 3)
    ]


def test_only_good_neurons_have_a_part_in_the_jump() -> None:
    """Four units have their kink at x = 0: the first is read, the second is not, and the third is not read by an
    active unit.

    The last one is read, and its activation has the slope 1 on both sides.
    """
    straight = Activation("straight", [0.0], [[0, 1], [0, 1], [0, 1], [1, 1]], np.zeros((4, 2)))
    first = [[1, 0], [2, 0], [3, 0], [4, 0]], [0, 0, 0, 0]
    second = [[1, 0, 0, 1], [0, 0, -1, 0]], [0, -1]
    net = Network([first, second, ([[1, 1]], [0])], [straight, "relu"])
    partition = regions.enumerate(net, SQUARE)
    found = boundary_volume(partition, "gradient")
    assert (found.total, found.neurons.tolist()) == (2.0, [2.0, 0.0, 0.0, 0.0, 2.0, 0.0])
    assert (found.layers.tolist(), found.coincident) == ([2.0, 2.0], 2.0)
    assert boundary_volume(partition).neurons.tolist() == [2.0, 2.0, 2.0, 2.0, 2.0, 0.0]


def test_a_path_that_opens_on_the_facet_itself_counts() -> None:
    """The first unit is read by a unit that is active exactly where the first one is."""
    net = net_of(([[1, 0]], [0]), ([[2]], [0]), ([[1]], [0]))
    assert boundary_volume(regions.enumerate(net, SQUARE), "gradient").neurons.tolist() == [2.0, 2.0]


@pytest.mark.filterwarnings("error")
def test_lengths_whose_sum_is_not_a_double() -> None:
    side = 8e307
    partition = regions.enumerate(CROSS, Rectangle([-side, -side], [2 * side, 0], [0, 2 * side]))
    found = boundary_volume(partition)
    assert (found.total, found.neurons.tolist(), found.layers.tolist()) == (inf, [2 * side, 2 * side], [inf])
    assert perimeters(partition).tolist() == [inf] * 4


def test_a_density_that_is_not_a_double() -> None:
    for side in (1e200, 1e-200):
        partition = regions.enumerate(CROSS, Rectangle([-side, -side], [2 * side, 0], [0, 2 * side]))
        found = boundary_volume(partition)
        assert found.total == pytest.approx(4 * side, rel=1e-15)
        with pytest.raises(NonFiniteError, match="beyond what doubles can hold; scale the domain"):
            _ = found.densities


def test_coincidence_of_layers() -> None:
    """The second layer is 0 up to x = 0, where the first one switches: one facet, of both layers."""
    net = net_of(([[1, 0]], [0]), ([[2]], [0]), ([[1]], [0]))
    found = boundary_volume(regions.enumerate(net, SQUARE))
    assert (found.total, found.coincident, found.layers.tolist()) == (2.0, 2.0, [2.0, 2.0])


def test_examples_of_definitions() -> None:
    lengths = {
        name: [boundary_volume(regions.enumerate(net, BIG), boundary).total for boundary in ("activation", "gradient")]
        for name, net in (("E4", E4), ("E5", E5), ("E6", E6), ("E8", E8))
    }
    assert lengths == {"E4": [16.0, 0.0], "E5": [16.0, 0.0], "E6": [16.0, 16.0], "E8": [48.0, 48.0]}
    # E1 is max(-y, min(0, -x)): its three pieces meet in 0, along y = 0, x = 0 and x = y.
    pieces = boundary_volume(regions.enumerate(E1, BIG), "gradient")
    assert pieces.strata.tolist() == pytest.approx([16 + 8 * sqrt(2), 1.0], rel=1e-15)


def test_a_closed_layer_hides_what_is_before_it() -> None:
    # relu(relu(x) + relu(y) - 1): near 0 the first layer's kinks reach no output.
    net = net_of(([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0]))
    partition = regions.enumerate(net, Polygon([[-2, -2], [2, -2], [2, 2], [-2, 2]]))
    found = boundary_volume(partition, "gradient")
    # x = 0 and y = 0 from 1 to 2; the bent line x = 1, y < 0; x + y = 1; y = 1, x < 0.
    assert found.neurons.tolist() == pytest.approx([1.0, 1.0, 4.0 + sqrt(2)], rel=1e-15)
    assert found.strata[1] == 2.0
    assert boundary_volume(partition).neurons.tolist() == pytest.approx([4.0, 4.0, 4.0 + sqrt(2)], rel=1e-15)
    assert boundary_volume(partition).strata[1] == 3.0


def test_kinks_of_one_neuron() -> None:
    net = net_of(([[1, 0], [0, 0.25]], [0, 0]), ([[1, 1]], [0]), activation="hard_tanh")
    found = boundary_volume(regions.enumerate(net, Rectangle([-2, -2], [4, 0], [0, 4])))
    assert (found.kinks.tolist(), found.neurons.tolist()) == ([4.0, 4.0, 0.0, 0.0], [8.0, 0.0])


def test_on_a_line() -> None:
    net = net_of(([[3], [4], [3]], [-1, -1, -1]), ([[1, 1, -1]], [0]))
    partition = regions.enumerate(net, Segment([0], [2]))
    found = boundary_volume(partition)
    assert (found.total, found.kinks.tolist(), found.strata.tolist()) == (2.0, [1.0, 1.0, 1.0], [2.0])
    assert (found.densities.tolist(), found.coincident) == ([1.0], 1.0)
    assert boundary_volume(partition, "gradient").kinks.tolist() == [0.0, 1.0, 0.0]
    assert perimeters(partition).tolist() == [2.0, 2.0, 2.0]


def test_chart_that_is_not_orthonormal() -> None:
    partition = regions.enumerate(CROSS, Rectangle([-1, -1], [2, 0], [2, 2]))
    # x = 0 is cut at one point of a slanted side, y = 0 has a length of 2.
    assert boundary_volume(partition).neurons.tolist() == pytest.approx([1.0, 2.0], rel=1e-15)


def test_whole_space() -> None:
    plane = regions.enumerate(CROSS, Plane([0, 0], [1, 0], [0, 1]))
    found = boundary_volume(plane, "gradient")
    assert (found.total, found.strata.tolist()) == (inf, [inf, 1.0])
    with pytest.raises(DomainError, match="densities exist in bounded domains"):
        _ = found.densities
    assert boundary_volume(regions.enumerate(CROSS, Line([1, 2], [1, 3]))).total == 2.0


def test_without_kinks() -> None:
    partition = regions.enumerate(Network([([[1.0, 2.0]], [0.0])]), SQUARE)
    found = boundary_volume(partition, "gradient")
    assert (found.total, found.layers.size, found.neurons.size, found.strata.tolist()) == (0.0, 0, 0, [0.0, 0.0])
    assert [array.tolist() for array in switching_kinks(partition)] == [[], []]


def test_refusals() -> None:
    partition = regions.enumerate(CROSS, SQUARE)
    with pytest.raises(ValueError, match="boundary must be one of 'activation', 'gradient', got 'both'"):
        boundary_volume(partition, "both")  # type: ignore[arg-type]
    for measure in (boundary_volume, gradient_jumps, perimeters, switching_kinks):
        with pytest.raises(TypeError, match="expected a regions.Partition"):
            measure(CROSS)  # type: ignore[arg-type]
    with pytest.raises(LimitReached) as stopped:
        regions.enumerate(IN_PLANE["square"][0], SQUARE, limit=5)
    partial: Partition = stopped.value.partial
    for measure in (boundary_volume, gradient_jumps, perimeters, switching_kinks):
        with pytest.raises(ValueError, match="partial result"):
            measure(partial)


def test_the_surface_of_regions_in_boxes() -> None:
    """The domain's facets count once, the others twice; a region may have more facets than corners."""
    octahedron = np.array([[x, y, z] for x in (-1.0, 1) for y in (-1.0, 1) for z in (-1.0, 1)])
    net = regions.Network([(octahedron, np.full(8, -0.5)), (np.ones((1, 8)), [0.0])])
    part = regions.enumerate(net, regions.Box([-1] * 3, [1] * 3))
    sizes, bounds = perimeters(part), perimeter_errors(part)
    inner = part.facet_regions[:, 1] >= 0
    total = 24 + 2 * part.facet_volumes[inner].sum()
    assert abs(sizes.sum() - total) <= bounds.sum() + 1e-12 and (0 < bounds).all() and bounds.max() < 1e-12
    middle = int(part.locate([[0.0, 0, 0]])[0])
    assert abs(sizes[middle] - sqrt(3)) <= bounds[middle] + 1e-15  # eight triangles with sides of sqrt(1/2)
