# SPDX-License-Identifier: MIT
"""Are all proofs by values at vertices correct, and do they succeed for generic, degenerate and deep networks?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from certificates_judge import DAMAGES, by_values, finding, require_sound
from damage_parts import damaged, undamaged
from exact_passes import exact_values
from fuzz_certificates import ALL, drawn
from partition_cases import SQUARE
from random_networks import random_network
from regions.cells.complex import raw_arrays
from regions.certification.centre_rows import restricted_forms
from regions.certification.corners import Corners, Open
from regions.certification.doubled_rows import Pair, SlicedOperator
from regions.certification.proven_regions import _places, proven_regions
from regions.certification.vertex_values import Block, VertexValues, _by_powers, _norms
from regions.networks.dense import Dense
from regions.networks.network import Network
from regions.partition import Partition

THREE_LINES = Network([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])


def proven(part: Partition, net: Network) -> np.ndarray:
    with np.errstate(all="ignore"):
        return proven_regions(part, net).regions


@pytest.mark.parametrize(
    "family", [pytest.param(family, marks=pytest.mark.slow) if "deep" in family else family for family in ALL]
)
def test_values_and_integers_come_to_the_same_verdict(family: str) -> None:
    for dimension in (1, 2):
        assert finding(*drawn(family, dimension, 5), seed=5, damages=2) is None


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_damage_at_random_is_not_proven(name: str) -> None:
    net = random_network([2, 6, 6, 1], 4)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        wrong, claimed = damaged(lambda case, rng=rng: DAMAGES[name](case, rng), undamaged(net, SQUARE))
        values, integers = by_values(wrong, claimed), regions.certify(wrong, claimed, regions="all")
        assert values.conclusion.startswith("proved") <= integers.conclusion.startswith(("proved", "failed: coord"))


class TestWhatIsProven:
    @pytest.mark.parametrize("sizes", [[2, 12, 12, 1], [2, 6, 6, 6, 6, 6, 1], [3, 20, 1]])
    @pytest.mark.parametrize("activation", ["relu", "leaky_relu(0.1)", "hard_tanh", "soft_shrink(0.5)"])
    def test_generic(self, sizes: list[int], activation: str) -> None:
        net = random_network(sizes, 2, activation)
        domain = SQUARE if sizes[0] == 2 else regions.Polygon([[-1, -1, 0], [1, -1, 0.5], [0, 1, 1]])
        part = regions.enumerate(net, domain)
        assert require_sound(part, net) == len(part) > 5

    def test_three_lines_through_a_vertex(self) -> None:
        part = regions.enumerate(THREE_LINES, SQUARE)
        assert require_sound(part, THREE_LINES) == 6

    def test_integer_weights(self) -> None:
        rng = np.random.default_rng(3)
        layers = [(rng.integers(-1, 2, (b, a)), rng.integers(-2, 3, b)) for a, b in ((2, 12), (12, 12), (12, 1))]
        net = Network(layers)
        part = regions.enumerate(net, regions.Polygon([[-3, -3], [3, -3], [3, 3], [-3, 3]]))
        assert require_sound(part, net) == len(part) > 20

    def test_deep(self) -> None:
        rng = np.random.default_rng(1)
        sizes = [2, *[16] * 10, 1]
        layers = [
            (rng.standard_normal((b, a)) * (2 / a) ** 0.5, rng.standard_normal(b) * 0.1)
            for a, b in zip(sizes[:-1], sizes[1:], strict=True)
        ]
        net = Network(layers)
        part = regions.enumerate(net, regions.Polygon([[0, 0], [0.5, 0], [0.5, 0.5]]))
        assert require_sound(part, net, 5) == len(part) > 50

    @pytest.mark.slow
    def test_twenty_layers(self) -> None:
        """Bounds that also count the errors of units that are flat leave some of these regions open."""
        net = random_network([2, *[64] * 20, 1], 1, bias=0.1, he=True)
        part = regions.enumerate(net, regions.Polygon(0.01 * SQUARE.generators[:, 1:]))
        assert require_sound(part, net, 5) == len(part) > 200

    @pytest.mark.parametrize("family", ["max_integers", "max_generic"])
    def test_max_units(self, family: str) -> None:
        found, every = 0, 0
        for seed in range(8):
            net, domain = drawn(family, 2, seed)
            if domain.bounded:
                part = regions.enumerate(net, domain)
                found, every = found + require_sound(part, net), every + len(part)
        assert found > 0.7 * every > 20

    def test_a_line_of_which_nothing_is_named(self) -> None:
        """Copies of a neuron are zero on the same line, and only one of them is named."""
        net = Network([([[1, 0], [2, 0], [0, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
        part = regions.enumerate(net, SQUARE)
        assert require_sound(part, net) == 4


class TestWhatIsNotProven:
    def test_a_network_with_other_weights(self) -> None:
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
            assert not proven(part, wrong).all()

    @pytest.mark.parametrize("places", [30, 40, 50, 52, 54, 60, 100])
    def test_lines_that_almost_meet(self, places: int) -> None:
        """The third line passes near the vertex of the other two, and the result is the one where it passes through."""
        net = Network([([[1, 0], [0, 1], [1, 1]], [0, 0, 2.0**-places]), ([[1, 1, 1]], [0])])
        part = regions.enumerate(net, SQUARE)
        assert len(part) == 7 and (proven(part, net).sum() >= 6 or places == 100)
        raw = {**raw_arrays(regions.enumerate(THREE_LINES, SQUARE))}
        assert not proven(Partition(net, SQUARE, raw), net).any()

    def test_corners_in_the_other_order(self) -> None:
        net = random_network([2, 8, 8, 1], 4)
        part = regions.enumerate(net, SQUARE)
        raw = {**raw_arrays(part)}
        raw["cell_vertices"], raw["cell_facets"] = part.cell_vertices.copy(), part.cell_facets.copy()
        for start, stop in zip(part.cell_offsets[:-1], part.cell_offsets[1:], strict=True):
            raw["cell_vertices"][start:stop] = part.cell_vertices[start:stop][::-1]
            # The facet after a corner now is the one that was before it.
            raw["cell_facets"][start:stop] = np.roll(part.cell_facets[start:stop][::-1], -1)
        assert proven(part, net).all()
        assert not proven(Partition(net, SQUARE, raw), net).any()

    def test_regions_outside_of_the_domain(self) -> None:
        net = random_network([2, 8, 8, 1], 4)
        part = regions.enumerate(net, SQUARE)
        elsewhere = regions.Polygon([[5, 5], [6, 5], [6, 6], [5, 6]])
        assert not proven(Partition(net, elsewhere, {**raw_arrays(part)}), net).any()

    def test_a_vertex_of_other_kinks_in_a_region_that_is_not_proven(self) -> None:
        """A region with a wrong name at a vertex may be somewhere else, so that its neighbours are not proven."""
        net = random_network([2, 8, 8, 1], 4)
        part = regions.enumerate(net, SQUARE)
        raw = {**raw_arrays(part)}
        facet = int(np.flatnonzero(part.facet_regions[:, 1] >= 0)[0])
        raw["facet_kinks"] = part.facet_kinks.copy()
        raw["facet_kinks"][facet] = (part.facet_kinks[facet] + 1) % net.kinks
        ends = part.facet_vertices[facet]
        around = [
            r
            for r in range(len(part))
            if np.isin(part.cell_vertices[part.cell_offsets[r] : part.cell_offsets[r + 1]], ends).any()
        ]
        assert not proven(Partition(net, SQUARE, raw), net)[around].any()

    def test_a_name_that_does_not_flip(self) -> None:
        """|x| is zero on the line, and above zero on both sides."""
        net = Network([([[1, 0], [-1, 0]], [0, 0]), ([[1, 1]], [0]), ([[1]], [0])])
        part = regions.enumerate(net, SQUARE)
        raw = {**raw_arrays(part)}
        raw["facet_kinks"] = np.where(part.facet_kinks >= 0, 2, part.facet_kinks)
        report = by_values(Partition(net, SQUARE, raw), net)
        assert [item.name for item in report.failed] == ["neighbours"]
        assert report.failed[0].finding.endswith("kink 2, which it names, does not flip")

    def test_unbounded_domains(self) -> None:
        part = regions.enumerate(THREE_LINES, regions.Plane([0, 0], [1, 0], [0, 1]))
        assert not proven(part, THREE_LINES).any()


@pytest.mark.parametrize("family", ["generic", "deep_generic", "clipped", "graph_generic", "wild_magnitudes"])
def test_values_are_within_their_bounds(family: str) -> None:
    for seed in range(4):
        net, domain = drawn(family, 2, seed)
        part = regions.enumerate(net, domain)
        bits = np.unpackbits(part.packed_patterns[:1], axis=1, count=net.kinks, bitorder="little").astype(bool)
        points = part.interior_points[:1]
        if not net.kinks or not np.isfinite(points).all():
            continue
        with np.errstate(all="ignore"):
            block = block_of(net, domain, points, 0.0, bits)
        exact = exact_values(net, domain, bits[0], points[0])
        for value, found, bound in zip(exact, block.values[0].tolist(), block.bounds.tolist(), strict=True):
            if np.isfinite(found) and np.isfinite(bound):
                assert abs(value - Fraction(found)) <= Fraction(bound) + abs(Fraction(found)) / 2**50


def block_of(net: Network, domain: regions.Domain, points: np.ndarray, stated: float, bits: np.ndarray) -> Block:
    values = VertexValues(net.graph, restricted_forms(net.graph, domain))
    return values.block(points, stated, bits, np.zeros_like(points))


def test_within_its_room_a_vertex_has_its_pattern() -> None:
    net = random_network([2, 8, 8, 8, 1], 4)
    part = regions.enumerate(net, SQUARE)
    points, bits = part.interior_points, part.patterns
    block = block_of(net, part.domain, points, 0.0, bits)
    assert (block.room > 0).all()
    for point, room, pattern in zip(points[:40], block.room, bits, strict=False):
        for corner in ([-1, -1], [-1, 1], [1, -1], [1, 1]):
            values = exact_values(net, part.domain, pattern, point + room * np.array(corner))
            assert [value > 0 for value in values] == pattern.tolist()


def test_values_hold_on_all_sides_of_the_open_kinks() -> None:
    """Vertices are moved, so that their units are far from their kinks, and the other sides differ."""
    net = random_network([2, 8, 8, 8, 1], 4)
    part = regions.enumerate(net, SQUARE)
    moved = part.vertices + np.random.default_rng(0).uniform(-1e-4, 1e-4, part.vertices.shape)
    owners, compared = np.repeat(np.arange(len(part)), part.corner_counts), 0
    for vertex in range(0, len(part.vertices), 4):
        around = owners[part.cell_vertices == vertex]
        kinks = np.unique(part.facet_kinks[(part.facet_vertices == vertex).any(axis=1)])
        block = block_of(net, part.domain, moved[vertex : vertex + 1], 1e-3, part.patterns[around[:1]])
        if len(around) != 4 or block.room[0] < 0 or not np.isin(kinks, block.open.kinks).all():
            continue
        for region in around:
            exact = exact_values(net, part.domain, part.patterns[region], moved[vertex])
            for value, found, bound in zip(exact, block.values[0], block.bounds, strict=True):
                assert abs(value - Fraction(found)) <= Fraction(bound) + abs(Fraction(found)) / 2**50
            compared += 1
    assert compared > 50


def test_bounds_beyond_the_largest_double_prove_nothing() -> None:
    net = Network([([[1e200, 0], [0, 1e200]], [0, 0]), ([[1e200, 1e200]], [1]), ([[1]], [0])])
    bits = np.array([[True, True, True]])
    with np.errstate(all="ignore"):
        block = block_of(net, SQUARE, np.array([[0.5, 0.5]]), 0.0, bits)
    assert (block.room < 0).all() and not np.isfinite(block.bounds).any()


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 5), (64, 64)])
def test_norms_are_not_underestimated(shape: tuple[int, int]) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        matrix = rng.standard_normal(shape) * 10.0 ** (40 * (seed - 2))
        matrix *= 10.0 ** rng.integers(-160, 1, (shape[0], 1)) if seed == 2 else 1.0
        largest = np.linalg.svd(matrix, compute_uv=False)[0]
        assert largest <= _by_powers(matrix) * (1 + 1e-12) and _by_powers(matrix) < 1.3 * largest
        norms = _norms(Dense(matrix))
        for row, bound in zip(matrix.tolist(), norms.rows.tolist(), strict=True):
            assert sum(Fraction(x) ** 2 for x in row) <= Fraction(bound) ** 2


@pytest.mark.parametrize(("outputs", "inputs"), [(3, 1), (5, 8), (4, 100)])
@pytest.mark.parametrize("kind", ["floats", "doubles", "far apart", "tiny"])
def test_sliced_products_are_within_their_bounds(outputs: int, inputs: int, kind: str) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        weights, high = rng.standard_normal((outputs, inputs)), rng.standard_normal((3, inputs))
        if kind == "floats":
            weights = weights.astype(np.float32).astype(np.float64)
        elif kind == "far apart":
            weights, high = (x * 10.0 ** rng.integers(-30, 30, x.shape) for x in (weights, high))
        elif kind == "tiny":
            weights, high = weights * 1e-160, high * 1e-140
        low = high * rng.uniform(-1, 1, high.shape) * 2.0**-53
        found, bounds = SlicedOperator(Dense(weights)).apply(Pair(high, low))
        for row in range(3):
            for output in range(outputs):
                exact = sum(
                    Fraction(w) * (Fraction(a) + Fraction(b))
                    for w, a, b in zip(weights[output], high[row], low[row], strict=True)
                )
                off = abs(exact - Fraction(found.high[row, output]) - Fraction(found.low[row, output]))
                assert off <= Fraction(bounds[output])
                sizes = (np.abs(weights[output]) * np.abs(high).max(axis=0)).sum()
                assert kind in ("far apart", "tiny") or bounds[output] <= 2.0**-80 * sizes


def test_numbers_are_multiples_of_their_last_binary_place() -> None:
    assert _places(np.array([3.0, -0.0, 1024.0])) == 0
    assert _places(np.array([0.5, 0.75]), np.array([1.5])) == 2
    for number in (0.1, 1e-300, 5e-324, -(2.0**-1022), 1 / 3, 1e300):
        places = _places(np.array([number]))
        assert (Fraction(number) * 2**places).denominator == 1
        assert places == 0 or (Fraction(number) * 2 ** (places - 1)).denominator == 2


def test_open_kinks_are_found() -> None:
    keys = np.array([3, 5, 17, 21, 22, 23, 24])
    open_ = Open(keys, 4, 10)
    vertices, kinks = np.divmod(np.arange(40), 10)
    assert np.flatnonzero(open_.has(vertices, kinks)).tolist() == keys.tolist()
    assert open_.counts.tolist() == [2, 1, 4, 0]
    assert not Open(keys[:0], 4, 10).has(vertices, kinks).any()


@pytest.fixture(scope="module")
def named() -> tuple[Corners, np.ndarray]:
    """The corners of a generic result, and the keys of the kinks that facets name at each vertex."""
    net = random_network([2, 6, 6, 1], 4)
    part = regions.enumerate(net, SQUARE)
    corners = Corners(part, net)
    at = part.cell_vertices
    kinks = np.concatenate([corners.kinks, corners.kinks[corners.before]])
    return corners, np.unique(np.concatenate([at, at]) * corners.every + kinks)


def test_corners_fit_only_if_their_kinks_are_open(named: tuple[Corners, np.ndarray]) -> None:
    corners, keys = named
    part, every, count = corners.part, np.arange(corners.count), len(corners.part.vertices)
    assert corners.agree(Open(keys, count, corners.every), every).all()
    vertices = part.cell_vertices
    for index, key in enumerate(keys[:20].tolist()):
        vertex, kink = divmod(key, corners.every)
        fits = corners.agree(Open(np.delete(keys, index), count, corners.every), every)
        mine = (vertices == vertex) & ((corners.kinks == kink) | (corners.kinks[corners.before] == kink))
        assert mine.any() and not fits[mine].any() and fits[vertices != vertex].all()


def test_facets_bound_only_if_their_kinks_are_open_at_their_ends(named: tuple[Corners, np.ndarray]) -> None:
    corners, keys = named
    part, count, every = corners.part, len(corners.part.vertices), np.ones(len(corners.part), dtype=bool)
    assert corners.bounded_by_facets(Open(keys, count, corners.every), every).all()
    for corner in range(0, corners.count, corners.count // 20):
        ends = part.cell_vertices[[corner, corners.after[corner]]]
        region, kink = corners.regions[corner], corners.kinks[corner]
        for end in ends:  # not zero at an end
            fewer = np.setdiff1d(keys, [end * corners.every + kink])
            assert not corners.bounded_by_facets(Open(fewer, count, corners.every), every)[region]
        # May be zero at the corner before.
        other = part.cell_vertices[corners.before[corner]]
        more = np.union1d(keys, [other * corners.every + kink])
        assert not corners.bounded_by_facets(Open(more, count, corners.every), every)[region]


@pytest.mark.parametrize("condition", ["bounded_by_facets", "not_zero_above", "turn_left"])
def test_each_condition_on_regions_counts(condition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    part = regions.enumerate(THREE_LINES, SQUARE)
    assert proven(part, THREE_LINES).all()
    monkeypatch.setattr(Corners, condition, lambda corners, *_: np.arange(len(corners.part)) != 2)
    assert np.flatnonzero(~proven(part, THREE_LINES)).tolist() == [2]


def test_a_facet_that_is_run_along_three_times() -> None:
    """Of three copies of a neuron each names a facet between the same two vertices, there and back again.

    All signs are right, regions turn left, and each facet is used once from each side.
    """
    net = Network([([[1, 0], [2, 0], [4, 0], [0, 1]], np.zeros(4)), ([[1, 1, 1, 1]], [0])])
    part = regions.enumerate(net, SQUARE)
    raw = {**raw_arrays(part)}
    facet = int(np.flatnonzero((part.facet_kinks >= 0) & (part.facet_kinks < 3))[0])
    named, new = int(part.facet_kinks[facet]), [len(part.facet_kinks), len(part.facet_kinks) + 1]
    vertices, facets = [], []
    for start, stop in zip(part.cell_offsets[:-1], part.cell_offsets[1:], strict=True):
        ring, uses = part.cell_vertices[start:stop].tolist(), part.cell_facets[start:stop].tolist()
        if facet in uses:
            at = uses.index(facet)
            ends = ring[at], ring[(at + 1) % len(ring)]
            along = [facet, *new] if len(facets) == part.facet_regions[facet, 0] else [*new[::-1], facet]
            ring, uses = ring[:at] + [*ends, ends[0]] + ring[at + 1 :], uses[:at] + along + uses[at + 1 :]
        vertices.append(ring)
        facets.append(uses)
    ends = part.facet_vertices[facet]
    raw["cell_offsets"] = np.cumsum([0, *map(len, vertices)])
    raw["cell_vertices"], raw["cell_facets"] = np.concatenate(vertices), np.concatenate(facets)
    raw["facet_vertices"] = np.vstack([part.facet_vertices, ends[::-1], ends])
    raw["facet_regions"] = np.vstack([part.facet_regions, part.facet_regions[[facet, facet]]])
    raw["facet_kinks"] = np.append(part.facet_kinks, [kink for kink in range(3) if kink != named])
    wrong = Partition(net, SQUARE, raw)
    assert np.flatnonzero(~proven(wrong, net)).tolist() == sorted(part.facet_regions[facet].tolist())
    assert {"vertices", "cells", "euler"} <= {item.name for item in by_values(wrong, net).failed}
