# SPDX-License-Identifier: MIT
"""Do densities from random lines agree with exact ones, and are estimates within their errors?

Everything random is seeded, so that a passing test keeps passing. It shows that an estimate is within a few of its
standard errors of the truth, with errors small enough to reveal a wrong constant.
"""

from __future__ import annotations

from math import inf, pi

import numpy as np
import pytest
from scipy import stats

import regions
from measures_parts import PLANE_BOX, close
from partition_cases import SQUARE
from random_networks import random_network
from regions.errors import BeyondDoublesError, DegenerateDomainError, NonFiniteError, ShapeMismatchError
from regions.measures import Ball, Estimate, Hyperrectangle, boundary_volume, crofton_density
from regions.networks.network import Network


def test_crofton_in_a_plane() -> None:
    network, rng = random_network([2, 8, 8, 1], seed=1), np.random.default_rng(0)
    exact = boundary_volume(regions.enumerate(network, SQUARE)).densities[0]
    assert close(crofton_density(network, PLANE_BOX, lines=2000, rng=rng), exact, 0.02)
    corners = [[np.cos(t), np.sin(t)] for t in np.arange(400) * pi / 200]
    disc = boundary_volume(regions.enumerate(network, regions.Polygon(corners))).densities[0]
    assert close(crofton_density(network, Ball([0, 0], 1.0), lines=2000, rng=rng), disc, 0.02)


@pytest.mark.slow
def test_crofton_where_not_all_of_the_boundary_jumps() -> None:
    network, rng = regions.Network([([[1, 0], [1, 0], [0, 1]], None), ([[1, -1, 1]], None)]), np.random.default_rng(1)
    assert close(crofton_density(network, PLANE_BOX, lines=400, rng=rng), 1.0, 0.05)
    assert close(crofton_density(network, PLANE_BOX, lines=400, rng=rng, boundary="gradient"), 0.5, 0.08)


@pytest.mark.slow
def test_crofton_in_many_dimensions() -> None:
    """Hyperplanes through the middle of a long box, and diameters of a ball."""
    rng, n = np.random.default_rng(2), 7
    network = regions.Network([(np.eye(n), None), (np.ones((1, n)), None)])
    sides = np.arange(1.0, n + 1)
    assert close(
        crofton_density(network, Hyperrectangle(-sides / 2, sides / 2), lines=4000, rng=rng), (1 / sides).sum(), 0.02
    )
    # In R^7 omega_6 / omega_7 is (pi^3 / 6) / (16 pi^3 / 105).
    one = regions.Network([(np.eye(n)[:1], None), ([[1.0]], None)])
    assert close(crofton_density(one, Ball(np.zeros(n), 3.0), lines=4000, rng=rng), 105 / 96 / 3.0, 0.03)


def test_on_an_interval_every_line_counts_the_same() -> None:
    network, rng = random_network([1, 6, 6, 1], seed=3), np.random.default_rng(3)
    exact = boundary_volume(regions.enumerate(network, regions.Segment([-2], [1]))).densities[0]
    for body in (Hyperrectangle([-2], [1]), Ball([-0.5], 1.5)):
        found = crofton_density(network, body, lines=10, rng=rng)
        assert found.samples.tolist() == pytest.approx([exact] * 10, rel=1e-15)


@pytest.mark.parametrize(
    "body", [Ball([1.0, 2.0, 3.0], 2.0), Hyperrectangle([0.0, 1.0, 2.0], [1.0, 3.0, 6.0])], ids=["ball", "box"]
)
def test_points_and_chords(body: Ball | Hyperrectangle) -> None:
    rng = np.random.default_rng(4)
    center = body.center if isinstance(body, Ball) else (body.lower + body.upper) / 2
    half = np.full(3, body.radius) if isinstance(body, Ball) else body.sides / 2
    points = body.points(4000, rng)
    # Second moments of the uniform law on a ball and on an interval.
    expected = half**2 / (5 if isinstance(body, Ball) else 3)
    assert ((points - center) ** 2).mean(axis=0) == pytest.approx(expected, rel=0.08)
    chords = body.chords(4000, rng)
    for ends in (chords.starts, chords.ends):
        scaled = (ends - center) / half
        size = np.linalg.norm(scaled, axis=1) if isinstance(body, Ball) else np.abs(scaled).max(axis=1)
        assert size == pytest.approx(np.ones(4000), rel=1e-12)
    # A line of weight shadow over volume: chord length times weight has mean 1 (Cauchy).
    lengths = np.linalg.norm(chords.ends - chords.starts, axis=1)
    assert close(Estimate(lengths * chords.weights), 1.0, 0.02)


def test_estimate() -> None:
    estimate = Estimate([1.0, 2.0, 4.0, 5.0])
    assert (estimate.value, estimate.standard_error) == (3.0, pytest.approx(np.sqrt(10 / 3) / 2))
    expected = stats.t.interval(0.9, 3, loc=3.0, scale=estimate.standard_error)
    assert estimate.interval(0.9) == pytest.approx(expected, rel=1e-12)
    same = Estimate([2.0, 2.0])
    assert (same.deviation(2.0), same.deviation(1.0), same.deviation(3.0)) == (0.0, inf, -inf)
    assert estimate.deviation(Estimate([4.0, 5.0, 6.0])) == pytest.approx(-2.0 / np.sqrt(10 / 12 + 1 / 3))
    assert not estimate.samples.flags.writeable


@pytest.mark.filterwarnings("error")
def test_an_estimate_of_huge_or_tiny_numbers() -> None:
    """Their squares are beyond the doubles, and so is the sum of the huge ones."""
    plain = Estimate([1.0, 1.5, 1.75])
    for exponent in (-1000, 1023):
        scaled = Estimate(np.ldexp(plain.samples, exponent))
        assert np.ldexp(scaled.value, -exponent) == plain.value
        assert np.ldexp(scaled.standard_error, -exponent) == plain.standard_error
    assert (Estimate([0.0, 0.0]).value, Estimate([0.0, 0.0]).standard_error) == (0.0, 0.0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-308, 2.0**-500, 1e307])
def test_huge_and_tiny_bodies(size: float) -> None:
    """Densities scale with bodies; those beyond the doubles are refused, without a warning of numpy."""
    network = Network([([[1.0, 0.5], [-0.25, 1.0]], None), ([[1.0, 1.0]], None)])
    for make in (lambda r: Ball([0, 0], r), lambda r: Hyperrectangle([-r, -r], [r, r])):
        if size == 1e-308:
            with pytest.raises(BeyondDoublesError, match="density along a line is beyond the largest double"):
                crofton_density(network, make(size), lines=200, rng=np.random.default_rng(0))
            continue
        one, scaled = (crofton_density(network, make(r), lines=200, rng=np.random.default_rng(0)) for r in (1.0, size))
        assert scaled.value * size == pytest.approx(one.value, rel=1e-12)


def test_refusals() -> None:
    network, rng = random_network([2, 4, 1]), np.random.default_rng(11)
    with pytest.raises(ShapeMismatchError, match="at least 2 numbers"):
        Estimate([1.0])
    with pytest.raises(NonFiniteError, match=r"samples\[1\] is inf"):
        Estimate([1.0, inf])
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        Estimate([1.0, 2.0]).interval(95)
    with pytest.raises(DegenerateDomainError, match=r"lower\[1\] is 2.0, and must be below"):
        Hyperrectangle([0, 2], [1, 1])
    with pytest.raises(ValueError, match="Ball: radius must be above 0"):
        Ball([0, 0], 0.0)
    with pytest.raises(ValueError, match=r"Ball: radius must be above 0, got -1.0"):
        Ball([0, 0], -1)
    for make in (
        lambda: Ball([1e300, 0], 1e-10),
        lambda: Hyperrectangle([1, 0], [1 + 2**-40, 1]),
        lambda: Hyperrectangle([-1e308, 0], [1.5e308, 1]),
        lambda: Ball([0, 1], 1e-300),
    ):
        with pytest.raises(DegenerateDomainError, match="too small or too large there"):
            make()
    assert Ball([0, 0], 1e-300).radius == 1e-300
    with pytest.raises(ShapeMismatchError, match="a space of 3 dimensions, the network takes 2"):
        crofton_density(network, Ball([0, 0, 0], 1.0), lines=5, rng=rng)
    with pytest.raises(
        TypeError, match=r"expected a regions.measures.Ball or Hyperrectangle, or a regions.Box, got Polygon"
    ):
        crofton_density(network, SQUARE, lines=5, rng=rng)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a regions.Network, got list"):
        crofton_density([network], PLANE_BOX, lines=5, rng=rng)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="lines must be at least 2, got 1"):
        crofton_density(network, PLANE_BOX, lines=1, rng=rng)
    with pytest.raises(TypeError, match=r"rng must be a seed or a numpy.random.Generator"):
        crofton_density(network, PLANE_BOX, lines=5, rng=None)  # type: ignore[arg-type]


def test_a_box_is_a_body() -> None:
    network = random_network([3, 6, 1], 1, bias=0.1)
    box, body = regions.Box([0, 1, 2], [1, 3, 6]), Hyperrectangle([0, 1, 2], [1, 3, 6])
    densities = [crofton_density(network, each, lines=50, rng=1) for each in (box, body)]  # type: ignore[arg-type]
    assert densities[0].value == densities[1].value
    for wrong in (regions.Box.around([0, 0, 0], 1.0, np.eye(3)[::-1] * 2), regions.Box([0, 1, 2, 3], [1, 3, 6, 3])):
        with pytest.raises(ShapeMismatchError, match="not a body of the whole input space.*low < high for every input"):
            crofton_density(random_network([wrong.n_in, 6, 1], 1), wrong, lines=5, rng=1)  # type: ignore[arg-type]
