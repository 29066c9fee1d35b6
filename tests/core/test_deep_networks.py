# SPDX-License-Identifier: MIT
"""Are counts of deep networks right, and proved without long integers although error bounds grow?"""

from __future__ import annotations

import numpy as np
import pytest

import fuzz_arcs
import regions
from core_judge import difference
from fuzz import Case, drawn, finding
from generators_deep import DEEP_FAMILIES, he_normal, orthogonal
from regions.domains.curves import ArcLeg
from regions.ground.arithmetic.spectral_norm import spectral_norm_bound

SQUARE = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])


@pytest.mark.slow
@pytest.mark.parametrize("family", DEEP_FAMILIES)
@pytest.mark.parametrize("shape", ["line", "polygon"])
def test_everything_returned(family: str, shape: str) -> None:
    for seed in range(3):
        assert difference(*drawn(Case(family, shape, seed))) is None, seed


@pytest.mark.parametrize("family", DEEP_FAMILIES)
def test_counts_and_patterns(family: str) -> None:
    for shape in ("line", "polygon"):
        for seed in range(100, 104):
            assert finding(*drawn(Case(family, shape, seed))) is None, (shape, seed)


# Earlier error bounds left thousands of signs to long integers.
@pytest.mark.parametrize(
    ("width", "depth", "half_side", "count"),
    [(32, 20, 0.1, 11_156), (64, 20, 0.05, 16_586), (32, 40, 0.02, 908), (64, 60, 0.005, 400)],
)
def test_no_sign_needs_long_integers(width: int, depth: int, half_side: float, count: int) -> None:
    rng = np.random.default_rng(1)
    layers = []
    for n_in, n_out in zip([2, *[width] * depth], [*[width] * depth, 1], strict=True):
        weights = he_normal(rng, (n_out, n_in)).astype(np.float32).astype(float)
        layers.append((weights, (0.1 * rng.standard_normal(n_out)).astype(np.float32).astype(float)))
    found, certificate = regions.certified_count(regions.Network(layers), regions.Polygon(half_side * SQUARE))
    assert (found, certificate.exact) == (count, 0)
    assert 0 < certificate.doubled + certificate.tripled + certificate.quadrupled <= certificate.filter
    assert (certificate.tripled > 0) == (width == 64 and depth == 60)


# Rounding is compared with differences of points, not with their sizes; before, two signs were undecided.
def test_no_sign_needs_long_integers_in_a_small_domain() -> None:
    rng = np.random.default_rng(0)
    layers = []
    for n_in, n_out in zip([2, *[32] * 8], [*[32] * 8, 1], strict=True):
        layers.append((rng.standard_normal((n_out, n_in)) * np.sqrt(2 / n_in), 0.1 * rng.standard_normal(n_out)))
    middle = np.array([1e4, -1e4])
    layers[0] = (layers[0][0], layers[0][1] - layers[0][0] @ middle)
    domain = regions.Polygon(middle + 0.3 * SQUARE)
    found, certificate = regions.certified_count(regions.Network(layers), domain)
    assert (found, certificate.exact) == (14_188, 0)


def test_two_hundred_layers_of_three_neurons() -> None:
    rng = np.random.default_rng(0)
    sizes = [2, *[3] * 200, 1]
    layers = [
        (orthogonal(rng, shape), 0.1 * rng.standard_normal(shape[0]))
        for shape in zip(sizes[1:], sizes[:-1], strict=True)
    ]
    net = regions.Network(layers, "leaky_relu(0.5)")
    domain = regions.Polygon([0.3, 0.2] + 0.2 * SQUARE)
    found, certificate = regions.certified_count(net, domain)
    assert found == 74  # the reference agrees, in ten seconds
    assert (certificate.exact, certificate.zero) == (0, 0)
    assert min(certificate.doubled, certificate.tripled, certificate.quadrupled) > 0


@pytest.mark.parametrize("seed", range(3))
def test_a_hundred_layers_on_polygons_segments_and_arcs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = [(3, 2), *[(3, 3)] * 99, (1, 3)]  # eighths, so that the reference is fast
    layers = [(np.round(5.6 * orthogonal(rng, shape)) / 8, rng.integers(-15, 16, shape[0]) / 64) for shape in shapes]
    net = regions.Network(layers, "leaky_relu(0.5)")
    for domain in (regions.Polygon(0.5 * SQUARE), regions.Segment([-1, -0.5], [1, 0.5])):
        assert finding(net, domain) is None
        assert regions.count(net, domain) > 4
    leg = ArcLeg(np.zeros(2), np.eye(2), np.array([[0.6, 0.8], [-0.8, 0.6]]))
    assert fuzz_arcs.finding(net, leg) is None
    assert regions.count(net, regions.Curve([leg], False)) > 4


# A layer's errors were compared with the sizes of its inputs, and these had no constant terms.
def test_a_first_layer_without_biases() -> None:
    rng = np.random.default_rng(0)
    layers = [(he_normal(rng, (b, a)), 0.1 * rng.standard_normal(b)) for a, b in ((2, 12), (12, 12), (12, 12), (12, 1))]
    layers[0] = (layers[0][0], np.zeros(12))
    certificate = regions.certified_count(regions.Network(layers), regions.Polygon(SQUARE))[1]
    assert certificate.regions > 100 and certificate.exact == 0


class TestSpectralNorm:
    @pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (5, 5), (40, 60), (60, 40), (300, 300)])
    def test_it_is_a_bound_and_a_tight_one(self, shape: tuple[int, int]) -> None:
        rng = np.random.default_rng(sum(shape))
        for matrix in (rng.standard_normal(shape), rng.integers(-1, 2, shape).astype(float), np.ones(shape)):
            norm = float(np.linalg.norm(matrix, 2))
            assert norm * (1 - 1e-12) <= spectral_norm_bound(matrix) <= 1.2 * norm

    @pytest.mark.parametrize("scale", [2.0**-1070, 2.0**-500, 1.0, 2.0**500, 2.0**1020])
    def test_at_any_scale(self, scale: float) -> None:
        matrix = np.array([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
        assert 4 * scale <= spectral_norm_bound(matrix * scale) <= 4.4 * scale

    def test_is_not_rounded_down_below_the_normal_range(self) -> None:
        for entries in (2, 5):
            assert spectral_norm_bound(np.full((1, entries), 5e-324)) >= 2 * 5e-324 * (1 if entries == 2 else 1.5)

    def test_one_entry_beside_many_small_ones(self) -> None:
        matrix = np.full((50, 50), 1e-30)
        matrix[3, 4] = 1.0
        assert 1.0 <= spectral_norm_bound(matrix) < 1.001

    def test_of_nothing(self) -> None:
        assert spectral_norm_bound(np.zeros((3, 2))) == 0.0
