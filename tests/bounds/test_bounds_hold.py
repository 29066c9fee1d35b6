# SPDX-License-Identifier: MIT
"""Do networks satisfy the bounds, and do the extremal ones reach them?

Exact counts of random and degenerate networks are compared with every applicable bound, after each layer; layers in
general position and the constructions with the bounds that they reach; and the bounds with each other.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions import bounds
from regions.constructions import arrangement, compose, product, sawtooth, serra_fold, square_fold
from regions.domains import Domain, Line, Plane, Rectangle
from regions.errors import BoundDoesNotApply
from regions.networks.network import Network

LINE, PLANE = Line([0], [1]), Plane([0, 0], [1, 0], [0, 1])
UNIT_SQUARE = Rectangle([0, 0], [1, 0], [0, 1])
# The four activations that theorems distinguish: (name, breakpoints, constant below?).
KINDS = [("relu", 1, True), ("leaky_relu(0.1)", 1, False), ("abs", 1, False), ("hard_tanh", 2, False)]


def gaussian_or_integer(rng: np.random.Generator, n_in: int, widths: list[int], activation: str = "relu") -> Network:
    """Return a network of Gaussian numbers; every third one of small integers, for all kinds of coincidences."""
    sizes, whole = [n_in, *widths, 1], rng.random() < 1 / 3
    layers = [(rng.standard_normal((b, a)), rng.standard_normal(b)) for a, b in zip(sizes, sizes[1:], strict=False)]
    if whole:
        layers = [(np.round(2 * weights), np.round(2 * biases)) for weights, biases in layers]
    return Network(layers, activation)


def after_layer(net: Network, depth: int) -> Network:
    """Return the first hidden layers, and some readout."""
    weights = np.ones((1, net.widths[depth - 1]))
    return Network(
        [(layer.weights, layer.biases) for layer in net.layers[:depth]] + [(weights, None)],
        [layer.activation for layer in net.layers[:depth]],
    )


@pytest.mark.parametrize(("activation", "breakpoints", "constant_below"), KINDS)
@pytest.mark.parametrize("domain", [LINE, PLANE], ids=["line", "plane"])
def test_random_networks(activation: str, breakpoints: int, constant_below: bool, domain: Domain) -> None:
    rng = np.random.default_rng(breakpoints)
    kinds = {"any", "one breakpoint" if breakpoints == 1 else "two breakpoints"} | (
        {"relu"} if constant_below else set()
    )
    upper = [
        bound
        for bound in bounds.BOUNDS
        if bound.kind == "upper" and bound.quantity == "regions" and bound.activations in kinds and not bound.condition
    ]
    assert len(upper) >= 3
    for _ in range(40):
        widths = rng.integers(1, 6, size=rng.integers(1, 4)).tolist()
        net = gaussian_or_integer(rng, domain.n_in, widths, activation)
        ranks = [int(np.linalg.matrix_rank(layer.weights)) for layer in net.layers[:-1]]
        for depth in range(1, len(widths) + 1):
            count = regions.count(after_layer(net, depth), domain)
            for bound in upper:
                try:
                    value = bound.value(domain.dimension, widths[:depth], breakpoints=breakpoints, ranks=ranks[:depth])
                except BoundDoesNotApply:
                    assert depth > 1  # bounds for one layer
                    continue
                assert count <= value, (bound.name, net)


def test_low_rank() -> None:
    """A layer that reads one direction only: parallel lines, and an image of one dimension."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        first = np.outer(
            rng.integers(1, 99, size=4), rng.integers(1, 99, size=2)
        )  # rounded products of floats would have rank 2
        net = Network(
            [
                (first, rng.standard_normal(4)),
                (rng.standard_normal((4, 4)), rng.standard_normal(4)),
                (np.ones((1, 4)), None),
            ]
        )
        assert regions.count(net, PLANE) <= bounds.serra2018_upper(2, [4, 4], ranks=[1, 4]) == 55
        assert regions.count(after_layer(net, 1), PLANE) == bounds.zaslavsky(2, 4, rank=1) == 5


@pytest.mark.parametrize("units", range(1, 9))
def test_layers_in_general_position_reach_them(units: int) -> None:
    rng = np.random.default_rng(units)
    for n_in, domain in ((1, LINE), (2, PLANE)):
        normals, offsets = rng.standard_normal((units, n_in)), rng.standard_normal(units)
        net = arrangement(normals, offsets)
        part = regions.enumerate(net, domain)
        raghu, serra = bounds.raghu(n_in, units), bounds.serra2018_upper(n_in, units)
        assert len(part) == bounds.zaslavsky(n_in, units) == raghu == serra == bounds.hinz_vandegeer(n_in, units)
        assert np.isfinite(part.volumes).sum() == bounds.zaslavsky_bounded(n_in, units)
        assert bounds.chambers(normals, offsets) == len(part)
        if n_in == 2:
            assert regions.count(arrangement(normals), domain) == bounds.cover_central(2, units)
            assert len(part.vertices) - _at_infinity(part) == bounds.generic_faces(2, units)[0]
        clipped = Network([(normals, offsets), (np.ones((1, units)), None)], "hard_tanh")
        assert regions.count(clipped, domain) == bounds.raghu(n_in, units, breakpoints=2)


def _at_infinity(part: regions.Partition) -> int:
    return int((~np.isfinite(part.vertices)).any(axis=1).sum())


def test_patterns_on_sets_without_volume_are_within_the_bounds_too() -> None:
    """x and -x: patterns 10, 01 and, at 0 only, 00; a bound for two hyperplanes in general position covers them."""
    net = Network([([[1.0], [-1.0]], None), ([[1.0, 1.0]], None)])
    patterns = {tuple(pattern) for pattern in net.pattern([[-1.0], [0.0], [1.0]])}
    assert regions.count(net, LINE) == 2
    assert len(patterns) == bounds.zaslavsky(1, 2) == bounds.serra2018_upper(1, [2]) == 3


def lines_that_cross_in_the_middle(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return lines with integer coefficients; all crossings lie in the unit square, so it is cut like the plane."""
    angles = np.pi * (np.arange(count) + 0.25) / count
    normals = np.round(1000 * np.c_[np.cos(angles), np.sin(angles)])
    shifts = np.round(20 * np.cos(2.4 * np.arange(count) ** 2))
    return normals, shifts - normals @ [0.5, 0.5]


class TestTheBestNetworks:
    @pytest.mark.parametrize(("pieces", "lines"), [(2, 4), (3, 6), (4, 8)])
    def test_montufar_in_the_plane(self, pieces: int, lines: int) -> None:
        net = square_fold(pieces, *lines_that_cross_in_the_middle(lines))
        assert net.widths == (2 * pieces, lines)
        assert regions.count(net, UNIT_SQUARE) == bounds.montufar2014_lower(2, net.widths)

    @pytest.mark.parametrize("depth", [1, 2, 3])
    def test_montufar_in_the_plane_with_more_layers(self, depth: int) -> None:
        fold = product(sawtooth(depth), sawtooth(depth))
        net = compose(fold, arrangement(*lines_that_cross_in_the_middle(5)))
        assert net.widths == (4,) * depth + (5,)
        assert regions.count(net, UNIT_SQUARE) == bounds.montufar2014_lower(2, net.widths) == 4**depth * 16

    @pytest.mark.parametrize(("widths", "lines"), [([3], 6), ([4], 8), ([3, 3], 6), ([5, 3], 7)])
    def test_serra_in_the_plane(self, widths: list[int], lines: int) -> None:
        net = compose(
            product(serra_fold(widths), serra_fold(widths)), arrangement(*lines_that_cross_in_the_middle(lines))
        )
        assert net.widths == (*(2 * width for width in widths), lines)
        count = regions.count(net, UNIT_SQUARE)
        assert count == bounds.serra2018_lower(2, net.widths)
        assert count <= regions.count(net, PLANE) <= bounds.serra2018_upper(2, net.widths)

    @pytest.mark.parametrize("widths", [[3], [3, 3], [4, 3], [3, 3, 3], [5, 5], [8, 8, 8]])
    def test_serra_on_a_line_is_exact(self, widths: list[int]) -> None:
        count = regions.count(serra_fold(widths), LINE)
        assert count == bounds.serra2018_lower(1, widths) == bounds.serra2018_upper(1, widths)

    @pytest.mark.parametrize("depth", [1, 2, 5])
    def test_telgarsky(self, depth: int) -> None:
        net = sawtooth(depth)
        assert regions.count(net, regions.Segment([0], [1])) == bounds.telgarsky_lower(1, net.widths)


@pytest.mark.slow
def test_two_layers_of_two_units_never_make_nine_pieces() -> None:
    rng = np.random.default_rng(0)
    counts = [regions.count(gaussian_or_integer(rng, 1, [2, 2]), LINE) for _ in range(1500)]
    assert max(counts) == 7 < bounds.serra2018_upper(1, [2, 2])


class TestChains:
    def shapes(self) -> list[tuple[int, list[int]]]:
        rng = np.random.default_rng(5)
        return [(int(rng.integers(1, 9)), rng.integers(1, 40, size=rng.integers(1, 5)).tolist()) for _ in range(300)]

    def test_upper_bounds_from_coarse_to_sharp(self) -> None:
        for n_in, widths in self.shapes():
            chain = [
                f(n_in, widths)
                for f in (
                    bounds.hinz_vandegeer,
                    bounds.serra2018_upper,
                    bounds.montufar2017,
                    bounds.raghu,
                    bounds.trivial,
                )
            ]
            assert chain == sorted(chain)
            ranks = [min(width, n_in) for width in widths]
            assert bounds.serra2018_upper(n_in, widths, ranks=ranks) <= chain[1]
            pairs, unrelated = (bounds.raghu_hard_tanh(n_in, widths, form=form) for form in ("pairs", "2k"))
            assert chain[3] <= pairs <= unrelated
            assert (
                bounds.montufar2017(n_in, widths, breakpoints=2) <= pairs <= bounds.trivial(n_in, widths, breakpoints=2)
            )

    def test_lower_bounds_are_below_all_of_them(self) -> None:
        lower = [bound for bound in bounds.BOUNDS if bound.kind == "best" and bound.activations == "relu"]
        applied = 0
        for n_in, widths in self.shapes():
            for bound in lower:
                try:
                    assert bound.value(n_in, widths) <= bounds.hinz_vandegeer(n_in, widths), bound.name
                    applied += 1
                except BoundDoesNotApply as reason:
                    assert str(reason)
        assert applied > 300

    def test_the_later_construction_is_never_worse(self) -> None:
        for n_in, widths in self.shapes():
            wide = [width + 3 * n_in for width in widths]
            chain = [
                f(n_in, wide) for f in (bounds.pascanu2013_lower, bounds.montufar2014_lower, bounds.serra2018_lower)
            ]
            assert chain == sorted(chain)

    def test_maxout(self) -> None:
        for n_in, widths in self.shapes():
            rank = 2 + sum(widths) % 4
            sharp = bounds.maxout_montufar_ren_zhang(n_in, widths, rank)
            assert sharp <= bounds.maxout_serra(n_in, widths, rank)
            multiples = [2 * n_in * (1 + width % 3) for width in widths]
            low = bounds.maxout_montufar_ren_zhang_lower(n_in, multiples, rank)
            assert low <= bounds.maxout_montufar_ren_zhang(n_in, multiples, rank)


class TestGraph:
    @pytest.mark.parametrize("widths", [[8], [4, 4], [6, 3], [3, 3, 3], [1, 4]])
    def test_random_networks_in_the_plane(self, widths: list[int]) -> None:
        import networkx

        rng = np.random.default_rng(len(widths))
        for _ in range(8):
            graph = regions.enumerate(random_network([2, *widths, 1], rng, bias=1.0), PLANE).to_networkx()
            degrees = [degree for _, degree in graph.degree()]
            assert np.mean(degrees) <= bounds.gaines_bi_degree(2, widths)
            assert min(degrees) >= bounds.gaines_bi_min_degree(2, widths)
            assert networkx.diameter(graph) <= bounds.gaines_bi_diameter(2, widths)


def test_products_of_networks_have_products_of_counts() -> None:
    nets = [serra_fold([3, 4]), sawtooth(2)]
    counts = [regions.count(net, regions.Segment([0], [1])) for net in nets]
    assert regions.count(reduce(product, nets), UNIT_SQUARE) == np.prod(counts)
