# SPDX-License-Identifier: MIT
"""Is everything true that values at vertices prove, and do they prove what is generic?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from generators_deep import DEEP_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from partition_cases import SQUARE
from random_networks import random_network
from regions.cells.complex import raw_arrays
from regions.certification.certification_report import Findings
from regions.certification.forms import Forms
from regions.certification.proven_regions import _apart, provable, proven_regions
from regions.certification.region_inequalities import Cells
from regions.certification.vertex_values import VertexValues, _by_powers
from regions.networks.network import Network
from regions.partition import Partition
from regions.passes.exact import ExactForms

ALL = sorted({*FAMILIES, *CLIPPED_FAMILIES, *DEEP_FAMILIES, *GRAPH_FAMILIES})


def require_sound(part: Partition, net: Network) -> int:
    """Check proven regions, and positions of their vertices, in integers; return how many there are."""
    with np.errstate(all="ignore"):
        proven = proven_regions(part, net)
    chosen, findings = np.flatnonzero(proven.regions)[:30], Findings()
    cells = Cells(part, net, Forms(net, part.domain), findings)
    cells.see(chosen.tolist())
    assert not findings._wrong
    for vertex, (weight, *position) in cells.positions.items():
        apart = [abs(Fraction(x, weight) - Fraction(y)) for x, y in zip(position, part.vertices[vertex], strict=True)]
        assert max(apart) <= Fraction(proven.near[vertex])
    return int(proven.regions.sum())


def damage(part: Partition, rng: np.random.Generator) -> Partition:
    """The partition with a wrong bit, coordinate or name."""
    raw = {**raw_arrays(part)}
    what = str(rng.choice(["packed_patterns", "vertices", "facet_kinks"]))
    array = raw[what] = raw[what].copy()
    row = int(rng.integers(len(array)))
    if what == "packed_patterns":
        kink = int(rng.integers(part.network.kinks))
        array[row, kink >> 3] ^= np.uint8(1 << (kink & 7))
    elif what == "vertices":
        array[row] += 10.0 ** rng.integers(-14, -2) * rng.choice([-1, 1], part.dimension)
    else:
        array[row] = rng.integers(part.network.kinks)
    return Partition(part.network, part.domain, raw)


@pytest.mark.parametrize("family", ALL)
def test_proven_regions_are_right_in_integers(family: str) -> None:
    rng = np.random.default_rng([3, *family.encode()])
    for dimension in (1, 2):
        net, domain = draw(family, dimension, 5)
        part = regions.enumerate(net, domain)
        if provable(part, net) and len(part) and net.kinks:
            require_sound(part, net)
            for _ in range(2):
                require_sound(damage(part, rng), net)


@pytest.mark.parametrize("sizes", [[2, 12, 12, 1], [2, 6, 6, 6, 6, 6, 1], [3, 20, 1]])
@pytest.mark.parametrize("activation", ["relu", "leaky_relu(0.1)", "hard_tanh", "soft_shrink(0.5)"])
def test_generic_regions_are_proven(sizes: list[int], activation: str) -> None:
    net = random_network(sizes, 2, activation)
    domain = SQUARE if sizes[0] == 2 else regions.Polygon([[-1, -1, 0], [1, -1, 0.5], [0, 1, 1]])
    part = regions.enumerate(net, domain)
    assert require_sound(part, net) == len(part) > 5


def test_a_vertex_of_three_lines_is_left_to_integers() -> None:
    net = Network([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    part = regions.enumerate(net, SQUARE)
    with np.errstate(all="ignore"):
        assert not proven_regions(part, net).regions.any()
    assert regions.certify(part, net).conclusion == "proved: there are exactly 6 regions"


def test_a_network_with_other_weights_is_not_proven() -> None:
    net = random_network([2, 12, 12, 1], 2)
    part = regions.enumerate(net, SQUARE)
    moved = Network([(layer.weights * 1.001, layer.biases) for layer in net.layers])
    other = Network(
        [
            *[(layer.weights, layer.biases) for layer in net.layers[:1]],
            *[(layer.weights + 1e-3, layer.biases) for layer in net.layers[1:]],
        ]
    )
    for wrong in (moved, other):
        with np.errstate(all="ignore"):
            assert not proven_regions(part, wrong).regions.all()


@pytest.mark.parametrize("precision", [np.float64, np.longdouble])
@pytest.mark.parametrize("family", ["generic", "deep_generic", "clipped", "graph_generic", "wild_magnitudes"])
def test_values_are_within_their_bounds(family: str, precision: type) -> None:
    for seed in range(4):
        net, domain = draw(family, 2, seed)
        part = regions.enumerate(net, domain)
        packed = part.packed_patterns[:1]
        bits = np.unpackbits(packed, axis=1, count=net.kinks, bitorder="little").astype(bool)
        points = part.interior_points[:1]
        if not net.kinks or not np.isfinite(points).all():
            continue
        with np.errstate(all="ignore"):
            block = VertexValues(net.graph, domain, precision).block(points, 0.0, bits, np.full((1, 2), -1))
        forms = ExactForms(net.graph, domain)
        forms.enter(bits[0])
        for number, node in enumerate(net.graph.hidden):
            rows = forms.preactivations(number)
            place = [Fraction(1), *map(Fraction, points[0].tolist())]
            exact = [
                sum((int(a) * x for a, x in zip(column, place, strict=True)), Fraction(0))
                * Fraction(2) ** rows.exponent
                for column in rows.integers.T
            ]
            compared = [exact[unit] for unit in node.units.kink_units.tolist()]
            for kink, value, breakpoint_ in zip(
                range(node.kinks.start, node.kinks.stop), compared, node.units.kink_values.tolist(), strict=True
            ):
                found, bound = block.values[0, kink], block.bounds[kink]
                if np.isfinite(found) and np.isfinite(bound):
                    allowed = Fraction(bound) + abs(Fraction(found)) / 2**52
                    assert abs(value - Fraction(breakpoint_) - Fraction(found)) <= allowed


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 5), (64, 64)])
def test_spectral_norms_are_not_underestimated(shape: tuple[int, int]) -> None:
    for seed in range(5):
        matrix = np.random.default_rng(seed).standard_normal(shape) * 10.0 ** (40 * (seed - 2))
        largest = np.linalg.svd(matrix, compute_uv=False)[0]
        assert largest <= _by_powers(matrix) * (1 + 1e-12) and _by_powers(matrix) < 1.3 * largest


def exact_values(net: Network, domain: regions.Domain, bits: np.ndarray, point: np.ndarray) -> list[Fraction]:
    """What each kink compares with 0 at a chart point, under a pattern, exactly; for units without several kinks."""
    forms, values = ExactForms(net.graph, domain), list[Fraction]()
    forms.enter(bits)
    place = [Fraction(1), *map(Fraction, point.tolist())]
    for number in range(len(net.graph.hidden)):
        rows = forms.preactivations(number)
        scale = Fraction(2) ** rows.exponent
        values += [
            sum((int(a) * x for a, x in zip(column, place, strict=True)), Fraction(0)) * scale
            for column in rows.integers.T
        ]
    return values


def test_within_its_room_a_vertex_has_its_pattern() -> None:
    net = random_network([2, 8, 8, 8, 1], 4)
    part = regions.enumerate(net, SQUARE)
    points, bits = part.interior_points, part.patterns
    block = VertexValues(net.graph, part.domain).block(points, 0.0, bits, np.full((len(part), 2), -1))
    assert (block.room > 0).all()
    for point, room, pattern in zip(points[:40], block.room, bits, strict=False):
        for corner in ([-1, -1], [-1, 1], [1, -1], [1, 1]):
            values = exact_values(net, part.domain, pattern, point + room * np.array(corner))
            assert [value > 0 for value in values] == pattern.tolist()


def test_values_hold_on_all_sides_of_the_named_kinks() -> None:
    """Vertices are moved, so that their units are far from their kinks, and the other sides differ."""
    net = random_network([2, 8, 8, 8, 1], 4)
    part = regions.enumerate(net, SQUARE)
    moved = part.vertices + np.random.default_rng(0).uniform(-1e-4, 1e-4, part.vertices.shape)
    compared = 0
    for vertex in range(len(part.vertices)):
        around = np.flatnonzero(
            np.bincount(
                np.repeat(np.arange(len(part)), part.corner_counts)[part.cell_vertices == vertex], minlength=len(part)
            )
        )
        kinks = np.unique(part.facet_kinks[(part.facet_vertices == vertex).any(axis=1)])
        if len(kinks) != 2 or len(around) != 4:
            continue
        bits = part.patterns[around[:1]]
        block = VertexValues(net.graph, part.domain).block(moved[vertex : vertex + 1], 1.0, bits, kinks[np.newaxis])
        if block.room[0] < 0:
            continue
        for region in around:
            exact = exact_values(net, part.domain, part.patterns[region], moved[vertex])
            apart = [abs(Fraction(a) - b) for a, b in zip(block.values[0], exact, strict=True)]
            bounds = [
                Fraction(b) + abs(Fraction(a)) / 2**52 for a, b in zip(block.values[0], block.bounds, strict=True)
            ]
            assert all(a <= b for a, b in zip(apart, bounds, strict=True))
            compared += 1
    assert compared > 100


def test_regions_with_corners_in_the_other_order_are_not_proven() -> None:
    net = random_network([2, 8, 8, 1], 4)
    part = regions.enumerate(net, SQUARE)
    raw = {**raw_arrays(part)}
    raw["cell_vertices"], raw["cell_facets"] = part.cell_vertices.copy(), part.cell_facets.copy()
    for start, stop in zip(part.cell_offsets[:-1], part.cell_offsets[1:], strict=True):
        raw["cell_vertices"][start:stop] = part.cell_vertices[start:stop][::-1]
        # The facet after a corner now is the one that was before it.
        raw["cell_facets"][start:stop] = np.roll(part.cell_facets[start:stop][::-1], -1)
    assert proven_regions(part, net).regions.all()
    assert not proven_regions(Partition(net, SQUARE, raw), net).regions.any()


def test_regions_outside_of_the_domain_are_not_proven() -> None:
    net = random_network([2, 8, 8, 1], 4)
    part = regions.enumerate(net, SQUARE)
    elsewhere = regions.Polygon([[5, 5], [6, 5], [6, 6], [5, 6]])
    raw = {**raw_arrays(part)}
    assert not proven_regions(Partition(net, elsewhere, raw), net).regions.any()


def test_vertices_that_may_coincide_are_left_to_integers() -> None:
    part = regions.enumerate(random_network([2, 8, 8, 1], 4), SQUARE)
    near = np.full(len(part.vertices), 1e-12)
    assert _apart(part, near).all()
    raw = {**raw_arrays(part)}
    raw["vertices"] = part.vertices.copy()
    raw["vertices"][3] = raw["vertices"][7] + 1e-12
    found = _apart(Partition(part.network, SQUARE, raw), near)
    assert np.flatnonzero(~found).tolist() == [3, 7]
