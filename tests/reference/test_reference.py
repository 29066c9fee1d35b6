# SPDX-License-Identifier: MIT
"""Is the reference right, compared with textbook counts and by checking each of its regions?

The check by regions is complete: cells with different patterns are disjoint; each has its own pattern and
affine map at a point inside (evaluated here neuron by neuron, in fractions); and together they have the
volume of the domain.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from generators import FAMILIES, draw
from known_counts import PLANE, SQUARE, around_zero, arrangements, definitions, general_lines
from regions import reference
from regions.certification.reference.subdivision import ReferenceRegion
from regions.constructions import arrangement
from regions.domains import Domain, Line, Plane, Polygon, Segment
from regions.domains.corners import chart_volume
from regions.errors import InternalError, ShapeMismatchError
from regions.networks.network import Network
from workloads import WORKLOADS, build_layers, build_polygon

Point = tuple[Fraction, ...]


def evaluate(net: Network, domain: Domain, p: Point) -> tuple[tuple[bool, ...], list[Fraction]]:
    """Return pattern and output at a chart point, in fractions."""
    values = [
        Fraction(o) + sum(Fraction(e) * x for e, x in zip(column, p, strict=True))
        for o, column in zip(domain.origin.tolist(), domain.directions.T.tolist(), strict=True)
    ]
    bits: list[bool] = []
    for layer in net.layers:
        act = layer.activation
        shape = (len(layer.biases), len(act.breakpoints) + 1)
        slopes, intercepts = (np.broadcast_to(table, shape).tolist() for table in (act.slopes, act.intercepts))
        after = []
        for unit, (row, bias) in enumerate(zip(layer.weights.tolist(), layer.biases.tolist(), strict=True)):
            h = Fraction(bias) + sum(Fraction(w) * x for w, x in zip(row, values, strict=True))
            above = [h > Fraction(t) for t in act.breakpoints.tolist()]
            after.append(Fraction(slopes[unit][sum(above)]) * h + Fraction(intercepts[unit][sum(above)]))
            bits += above
        values = after
    return tuple(bits), values


def inner_point(region: ReferenceRegion) -> Point:
    """Return a point inside a bounded region, or inside an interval without end."""
    if None in region.vertices:
        left, right = region.vertices
        if left is None:
            return (Fraction(0) if right is None else right[0] - 1,)
        return (left[0] + 1,)
    # Uneven weights, so that no symmetry of the region puts the point on a line by chance.
    weights = [Fraction(1, 2 + i) for i in range(len(region.vertices))]
    total = sum(weights)
    return tuple(
        sum(w * x for w, x in zip(weights, axis, strict=True)) / total for axis in zip(*region.vertices, strict=True)
    )


def check(net: Network, domain: Domain, found: list[ReferenceRegion]) -> None:
    """Raise unless these are all regions of the network in the domain."""
    assert len({region.pattern for region in found}) == len(found)
    if domain.bounded:
        assert sum(region.volume for region in found) == chart_volume(domain.generators)
    for region in found:
        p = inner_point(region)
        pattern, output = evaluate(net, domain, p)
        assert pattern == region.pattern
        assert output == [row[0] + sum(a * x for a, x in zip(row[1:], p, strict=True)) for row in region.output]
        if domain.dimension == 2:
            corners = region.vertices
            for a, b, c in zip(corners[-2:] + corners[:-2], corners[-1:] + corners[:-1], corners, strict=True):
                assert (b[0] - a[0]) * (c[1] - b[1]) > (b[1] - a[1]) * (c[0] - b[0])  # strictly to the left
    if domain.dimension == 1:
        ordered = sorted(found, key=lambda region: inner_point(region))
        for left, right in zip(ordered, ordered[1:], strict=False):
            assert left.vertices[1] == right.vertices[0] is not None
        ends = [None if w == 0 else (Fraction(p),) for w, p in domain.generators.tolist()]
        assert [ordered[0].vertices[0], ordered[-1].vertices[1]] == ends


class TestEveryRegion:
    @pytest.mark.slow
    @pytest.mark.parametrize("family", FAMILIES)
    @pytest.mark.parametrize("dimension", [1, 2])
    def test_of_every_family(self, family: str, dimension: int) -> None:
        for seed in range(6):
            net, domain = draw(family, dimension, seed)
            found = reference.enumerate(net, domain)
            check(net, domain, found)
            assert reference.count(net, domain) == len(found)
            assert sorted(reference.patterns(net, domain)) == sorted(region.pattern for region in found)

    def test_the_check_notices_what_is_missing_or_wrong(self) -> None:
        net, domain = draw("generic", 2, 3)
        found = reference.enumerate(net, domain)
        assert len(found) > 3
        flipped = ReferenceRegion(
            (not found[0].pattern[0], *found[0].pattern[1:]),
            found[0].vertices,
            found[0].volume,
            found[0].output,
        )
        for damaged in (found[1:], [*found, found[0]], [flipped, *found[1:]]):
            with pytest.raises(AssertionError):
                check(net, domain, damaged)

    @pytest.mark.slow
    def test_standard_workload_p2_16x2(self) -> None:
        net, domain = Network(build_layers(WORKLOADS["p2_16x2"])), build_polygon(WORKLOADS["p2_16x2"])
        found = reference.enumerate(net, domain)
        assert len(found) == 468
        assert sum(region.volume for region in found) == 4
        check(net, domain, found)

    @pytest.mark.slow
    def test_standard_workload_p2_32x3(self) -> None:
        net, domain = Network(build_layers(WORKLOADS["p2_32x3"])), build_polygon(WORKLOADS["p2_32x3"])
        found = reference.enumerate(net, domain)
        assert len({region.pattern for region in found}) == len(found) == 4029
        assert len({tuple(region.output) for region in found}) == 4029
        assert sum(region.volume for region in found) == 4


class TestRules:
    """The rules at zero: h > t is active, strictly; regions are full-dimensional."""

    def test_a_line_through_a_corner_or_along_an_edge_cuts_nothing(self) -> None:
        for normal, offset in (([1, 1], -2), ([1, 1], 2), ([1, 0], -1), ([0, -1], -1)):
            assert reference.count(arrangement([normal], [offset]), SQUARE) == 1
        assert reference.patterns(arrangement([[1, 1]], [2]), SQUARE) == [(True,)]
        assert reference.patterns(arrangement([[1, 1]], [-2]), SQUARE) == [(False,)]

    def test_one_ulp_further_it_cuts(self) -> None:
        inside = np.nextafter(2, 0)
        assert reference.count(arrangement([[1, 1]], [-inside]), SQUARE) == 2
        smallest = min(region.volume for region in reference.enumerate(arrangement([[1, 1]], [-inside]), SQUARE))
        assert smallest == Fraction(2**-52) ** 2 / 2

    def test_a_neuron_that_is_zero_is_inactive(self) -> None:
        assert reference.patterns(arrangement([[0, 0]], [0]), SQUARE) == [(False,)]
        assert reference.patterns(arrangement([[0, 0]], [1]), SQUARE) == [(True,)]

    def test_a_later_neuron_that_is_zero_on_a_cell_is_inactive_there(self) -> None:
        net = Network([([[1, 0]], [0]), ([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
        assert sorted(reference.patterns(net, SQUARE)) == [(False, False, False), (True, True, False)]

    def test_coincident_neurons_cut_once(self) -> None:
        assert reference.count(arrangement([[1, 2], [2, 4], [-3, -6]], [1, 2, -3]), SQUARE) == 2

    def test_at_a_breakpoint_of_hard_tanh_the_lower_piece_counts(self) -> None:
        for value, bits in ((-1, (False, False)), (0, (True, False)), (1, (True, False)), (2, (True, True))):
            net = Network([([[0, 0]], [value]), ([[1]], [0])], activation="hard_tanh")
            assert reference.patterns(net, SQUARE) == [bits]
            assert reference.enumerate(net, SQUARE)[0].output == [(max(-1, min(1, value)), 0, 0)]

    def test_no_hidden_layer_is_one_region(self) -> None:
        (region,) = reference.enumerate(Network([([[2, 0], [1, 1]], [1, 0])]), SQUARE)
        assert region.pattern == () and region.output == [(1, 2, 0), (0, 1, 1)]

    def test_another_input_space_is_refused(self) -> None:
        with pytest.raises(ShapeMismatchError, match="takes 2 inputs"):
            reference.count(arrangement([[1, 1]]), Segment([0], [1]))

    def test_anything_but_a_network_or_domain_is_refused(self) -> None:
        with pytest.raises(TypeError, match="expected a domain such as .*, got int"):
            reference.count(arrangement([[1, 1]]), 3)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="expected a regions.Network, got int"):
            reference.count(3, Line([0.0], [1.0]))  # type: ignore[arg-type]

    def test_nothing_is_ever_rounded(self) -> None:
        from regions.certification.reference.integers import _scaled

        with pytest.raises(InternalError, match="not an integer"):
            _scaled(np.array([0.1]), 3)


class TestTextbookCounts:
    @arrangements
    def test_arrangements(self, network: Network, domain: Domain, expected: int) -> None:
        assert reference.count(network, domain) == expected

    @pytest.mark.parametrize("lines", range(1, 9))
    def test_unbounded_cells_of_lines_in_general_position(self, lines: int) -> None:
        found = reference.enumerate(general_lines(lines), PLANE)
        assert sum(region.volume is not None for region in found) == comb(lines - 1, 2)
        assert all((region.volume is None) == (None in region.vertices) for region in found)

    @pytest.mark.parametrize(("lines", "faces"), [(4, (6, 16, 11)), (8, (28, 64, 37))])
    def test_vertices_edges_and_cells_of_lines_in_general_position(self, lines: int, faces: tuple[int, ...]) -> None:
        rng = np.random.default_rng(0)
        found = reference.enumerate(arrangement(rng.standard_normal((lines, 2)), rng.standard_normal(lines)), PLANE)
        edges = Counter(
            frozenset((a, b)) if None not in (a, b) else "unbounded"
            for region in found
            for a, b in zip(region.vertices, region.vertices[1:] + region.vertices[:1], strict=True)
            if (a, b) != (None, None)
        )
        unbounded = edges.pop("unbounded")
        assert set(edges.values()) == {2}  # each edge belongs to two cells
        vertices = {vertex for region in found for vertex in region.vertices} - {None}
        assert (len(vertices), len(edges) + unbounded // 2, len(found)) == faces

    @definitions
    @around_zero
    def test_networks_on_which_published_definitions_differ(
        self, network: Network, expected: int, maps: int, domain: Domain
    ) -> None:
        found = reference.enumerate(network, domain)
        assert len(found) == expected
        assert len({tuple(region.output) for region in found}) == maps


class TestWholeSpace:
    @pytest.mark.slow
    @pytest.mark.parametrize("family", ["generic", "small_integer", "concurrent", "clipped", "deep"])
    def test_is_a_large_enough_box(self, family: str) -> None:
        for seed in range(15):
            net, domain = draw(family, 2, seed)
            plane = Plane(domain.origin, *domain.directions)
            size = 2.0**900
            corners = size * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
            box = Polygon.in_chart(domain.origin, domain.directions, corners)
            assert sorted(reference.patterns(net, plane)) == sorted(reference.patterns(net, box))

    def test_a_crossing_may_lie_anywhere(self) -> None:
        # Nearly parallel lines that meet at x = -2^1000, outside of every frame that is not made for these lines.
        net = arrangement([[2.0**-1000, 1], [0, 1]], [1, 0])
        assert reference.count(net, PLANE) == 4
        # Determinant -1: no two lines with such integer coefficients can cross farther out.
        net = arrangement([[999, 1000], [1000, 1001]], [1000, -1000])
        corners = {corner for region in reference.enumerate(net, PLANE) for corner in region.vertices}
        assert corners == {None, (2001000, -1999000)}
        (net_1d, far) = arrangement([[2.0**-1000]], [1]), (Fraction(-(2**1000)),)
        assert {region.vertices[1] for region in reference.enumerate(net_1d, Line([0], [1]))} == {far, None}


class TestInvariance:
    """Changes of the network that change no region."""

    @pytest.mark.parametrize("family", ["generic", "small_integer", "zero_on_a_cell", "strips"])
    @pytest.mark.parametrize("dimension", [1, 2])
    def test_order_scale_and_copies_of_neurons(self, family: str, dimension: int) -> None:
        for seed in range(10):
            net, domain = draw(family, dimension, seed)
            if len(net.layers) == 1:
                continue
            rng = np.random.default_rng(seed)
            layers = [(layer.weights, layer.biases) for layer in net.layers]
            (w, b), (after, after_b) = layers[0], layers[1]
            order, scale = rng.permutation(len(b)), 2.0 ** rng.integers(-9, 10, len(b))
            doubled = np.arange(len(b)).repeat(2)
            changed = [
                [(w[order], b[order]), (after[:, order], after_b)],
                [(scale[:, None] * w, scale * b), (after / scale, after_b)],
                [(w[doubled], b[doubled]), (after[:, doubled] / 2, after_b)],
            ]
            for first_two in changed:
                assert reference.count(Network(first_two + layers[2:]), domain) == reference.count(net, domain)

    def test_a_line_through_a_plane_gives_the_regions_it_meets(self) -> None:
        for seed in range(10):
            net, domain = draw("generic", 2, seed)
            a, b = (domain.to_input(domain.generators[i, 1:]) for i in (0, 2))
            segment = Segment(a, b)
            inside = reference.patterns(net, segment)
            everywhere = set(reference.patterns(net, Plane(a, b - a, domain.directions[0])))
            assert set(inside) <= everywhere
