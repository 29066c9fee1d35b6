# SPDX-License-Identifier: MIT
"""Is the boundary in boxes measured correctly: facets, kinks, jumps, sizes by layer and neuron?

The reference gives regions with exact vertices and maps. From these follow the facets, and squares of their sizes. The
numbers that are known without it are sections of cubes by planes.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import isqrt, sqrt

import numpy as np
import pytest

import regions
from exact_polytopes import Complex
from generators import FAMILIES, draw
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES, network_of_maxima
from polytope_cases import OF_THEIR_OWN, he_normal, network_of
from regions import measures, reference

MOST = 30  # regions in drawn cases
DIGITS = 1 << 1200
EVERY = [family for family in (*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES) if family not in OF_THEIR_OWN]
CASES = [(family, 3) for family in EVERY]
CASES += [pytest.param(family, d, marks=pytest.mark.slow) for family in EVERY for d in (4, 5)]
CASES += [("ternary_weights", 4), ("generic", 4), ("related_neurons", 5), ("layer_off", 5)]


def cube(d: int) -> regions.Box:
    return regions.Box([-1] * d, [1] * d)


def root(square: Fraction) -> Fraction:
    """Return the root, rounded down."""
    return Fraction(isqrt(square.numerator * DIGITS**2 // square.denominator), DIGITS)


def require_near(intervals: list[tuple[Fraction, Fraction]], value: float, error: float) -> None:
    """Require that the sum of numbers in these intervals is within the bound of a value."""
    low, high = (sum((each[k] for each in intervals), Fraction(0)) for k in (0, 1))
    assert abs(Fraction(value) - low) <= Fraction(error) and abs(Fraction(value) - high) <= Fraction(error)


@pytest.mark.parametrize(("family", "dimension"), CASES)
def test_sizes_are_those_of_rational_arithmetic(family: str, dimension: int) -> None:
    for net, domain in (draw(family, dimension, seed) for seed in range(2)):
        if not domain.bounded or regions.count(net, domain) > MOST:
            continue
        part = regions.enumerate(net, domain)
        of = {region.pattern: region for region in reference.enumerate(net, domain)}
        exact = [of[tuple(pattern)] for pattern in part.patterns.tolist()]
        found = Complex(exact, domain)
        sizes, kinks, jumping = {}, defaultdict(list), {}
        for pair in found.inner:
            low, high = found.squared_area(pair)
            sizes[pair] = root(low), root(high) + Fraction(1, DIGITS)
            one, other = (exact[region] for region in pair)
            kinks[pair] = [
                k for k, bits in enumerate(zip(one.pattern, other.pattern, strict=True)) if bits[0] != bits[1]
            ]
            jumping[pair] = one.output != other.output
        pairs = [tuple(pair) for pair in part.facet_regions.tolist()]
        assert measures.gradient_jumps(part).tolist() == [jumping.get(pair, False) for pair in pairs]
        assert measures.boundary_facets(part).tolist() == [pair in sizes for pair in pairs]
        boundary, jumps = measures.boundary_volume(part), measures.boundary_volume(part, "gradient")
        require_near(list(sizes.values()), boundary.total, boundary.total_error)
        assert boundary.strata[0] == boundary.total and len(boundary.strata) == part.dimension
        require_near([size for pair, size in sizes.items() if jumping[pair]], jumps.total, jumps.total_error)
        if family in MAX_FAMILIES:  # the kinks of a maximum are pairs of branches, and not the bits that change
            continue
        neurons = net.kink_neurons
        for numbers, values, errors in (
            (np.arange(net.kinks), boundary.kinks, boundary.kink_errors),
            (neurons, boundary.neurons, boundary.neuron_errors),
            (net.kink_layers, boundary.layers, boundary.layer_errors),
        ):
            for number, (value, error) in enumerate(zip(values.tolist(), errors.tolist(), strict=True)):
                each = [size for pair, size in sizes.items() for k in kinks[pair] if numbers[k] == number]
                if numbers is net.kink_layers:
                    each = [size for pair, size in sizes.items() if any(numbers[k] == number for k in kinks[pair])]
                require_near(each, value, error)
        together = [size for pair, size in sizes.items() if len(kinks[pair]) > 1]
        require_near(together, boundary.coincident, boundary.coincident_error)
        facets, named = measures.switching_kinks(part)
        expected = [(facet, k) for facet, pair in enumerate(pairs) for k in kinks.get(pair, [])]
        assert list(zip(facets.tolist(), named.tolist(), strict=True)) == expected


@pytest.mark.parametrize("sizes", [(3, 16, 16, 1), (4, 10, 10, 1), pytest.param((5, 8, 8, 1), marks=pytest.mark.slow)])
def test_the_boundary_of_all_regions_is_twice_the_boundary_and_the_cube(sizes: tuple[int, ...]) -> None:
    d = sizes[0]
    part = regions.enumerate(he_normal([*sizes]), cube(d))
    boundary = measures.boundary_volume(part)
    around, error = measures.perimeters(part).sum(), measures.perimeter_errors(part).sum()
    outside = 2 * d * 2.0 ** (d - 1)
    assert abs(around - outside - 2 * boundary.total) <= error + 2 * boundary.total_error + 1e-12 * around
    for values, errors in (
        (boundary.layers, boundary.layer_errors),
        (boundary.neurons, boundary.neuron_errors),
        (boundary.kinks, boundary.kink_errors),
    ):
        assert abs(values.sum() - boundary.total) <= errors.sum() + boundary.total_error + 1e-12 * boundary.total
    assert boundary.coincident == 0
    assert d > 3 or boundary.densities[0] == boundary.total / 2.0**d
    # In general position, all facets but those of units that no output reads are jumps.
    assert 0.5 * boundary.total < measures.boundary_volume(part, "gradient").total <= boundary.total


@pytest.mark.parametrize("d", [3, 4, 5, 6])
def test_planes_of_a_grid(d: int) -> None:
    boundary = measures.boundary_volume(regions.enumerate(network_of(np.eye(d), np.zeros(d)), cube(d)))
    assert (abs(boundary.neurons - 2.0 ** (d - 1)) <= boundary.neuron_errors).all()
    assert abs(boundary.total - d * 2.0 ** (d - 1)) <= boundary.total_error < 1e-9
    assert repr(boundary) == f"BoundaryVolume(activation, {boundary.total:.6g})"


def test_the_hexagon_in_a_cube() -> None:
    part = regions.enumerate(network_of(np.ones((1, 3)), np.zeros(1)), cube(3))
    boundary = measures.boundary_volume(part)
    assert abs(boundary.total - 3 * sqrt(3)) <= boundary.total_error + 1e-15 and boundary.total_error < 1e-12
    assert "5.19615" in boundary._repr_html_()


def test_kinks_that_coincide_cancel_or_are_not_read() -> None:
    """On x = 0 two neurons, one of which the output does not read; at y = 0 two that cancel; the last unit stays."""
    first = np.array([[1, 0, 0], [3, 0, 0], [0, 1, 0], [0, 2, 0], [0, 0, 1]], float)
    net = regions.Network([(first, np.zeros(5)), ([[0.0, 1, 2, -1, 1]], [0.0])])
    part = regions.enumerate(net, cube(3))
    boundary, jumps = measures.boundary_volume(part), measures.boundary_volume(part, "gradient")
    assert (boundary.total, boundary.coincident, boundary.layers.tolist()) == (12.0, 8.0, [12.0])
    assert boundary.neurons.tolist() == [4.0] * 5
    assert (jumps.total, jumps.neurons.tolist()) == (8.0, [0.0, 4.0, 0.0, 0.0, 4.0])
    assert len(set(part.map_numbers.tolist())) == 4


def test_a_maximum_of_three_planes() -> None:
    """The largest of x, y and z in a cube: each pair of them is a kink, with a third of the boundary."""
    part = regions.enumerate(network_of_maxima(3, [([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [3])]), cube(3))
    boundary = measures.boundary_volume(part)
    # x = y >= z: of the square with sides 2 sqrt 2 and 2 the half where z is less than x.
    each = 2 * sqrt(2)
    assert (abs(boundary.kinks - each) <= boundary.kink_errors + 1e-15).all()
    assert boundary.neurons.tolist() == [boundary.total] == boundary.layers.tolist()


def test_partial_results_and_unbounded_domains_are_refused() -> None:
    net = he_normal([3, 8, 8, 1])
    with pytest.raises(regions.LimitReached) as stopped:
        regions.enumerate(net, cube(3), limit=10)
    for measure in (measures.boundary_volume, measures.gradient_jumps, measures.switching_kinks):
        with pytest.raises(ValueError, match="partial result"):
            measure(stopped.value.partial)
