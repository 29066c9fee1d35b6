# SPDX-License-Identifier: MIT
"""Are extremes, verdicts and comparisons in three to six dimensions as in rational arithmetic?"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES, network_of_maxima
from polytope_cases import OF_THEIR_OWN, he_normal
from regions import Box, Network, reference
from regions.errors import DomainError

CASES = [(family, 3) for family in (*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES) if family not in OF_THEIR_OWN]
CASES += [(family, 4) for family in FAMILIES if family not in OF_THEIR_OWN]
CUBE = Box([-1] * 3, [1] * 3)


def exact_values(net: Network, domain: Any) -> list[list[tuple[Fraction, Any]]]:
    """Return for each output its values at the corners of all regions."""
    parts = reference.enumerate(net, domain)
    return [
        [
            (form[0] + sum(a * x for a, x in zip(form[1:], corner, strict=True)), corner)
            for part in parts
            for form in part.output[output : output + 1]
            for corner in part.vertices
        ]
        for output in range(net.n_out)
    ]


@pytest.mark.parametrize(("family", "dimension"), CASES)
def test_extremes_and_verdicts_are_those_of_rational_arithmetic(family: str, dimension: int) -> None:
    for seed in (0, 1):
        net, domain = draw(family, dimension, seed)
        if not domain.bounded or regions.count(net, domain) > 40:
            continue
        values = exact_values(net, domain)
        found = regions.extremes(net, domain)
        assert list(found.exact_minimum) == [min(each)[0] for each in values]
        assert list(found.exact_maximum) == [max(each)[0] for each in values]
        for output, each in enumerate(values):
            error = Fraction(float(found.maximum_errors[output]))
            assert abs(Fraction(float(found.maximum[output])) - max(each)[0]) <= error
            # At the value itself the unsafe set is touched; beyond it, it is not.
            row = np.zeros((1, net.n_out))
            row[0, output] = -1.0
            top, bottom = max(each)[0], min(each)[0]
            if top != Fraction(float(top)):
                continue
            touched = regions.verify(net, domain, [(row, [-float(top)])])
            assert not touched.holds and touched.witness is not None and touched.witness.outputs[output] == top
            constant = top == bottom
            assert constant or touched.violated_share < 1 - touched.errors
            above = float(np.nextafter(float(top), np.inf))
            assert regions.verify(net, domain, [(row, [-above])]).holds


@pytest.mark.parametrize("dimension", [3, 4, 5, 6])
def test_unsafe_shares_are_those_of_all_regions(dimension: int) -> None:
    net, box = he_normal([dimension, 6, 5, 2]), Box([-1] * dimension, [1] * dimension)
    points = np.random.default_rng(0).uniform(-1, 1, (40_000, dimension))
    first, second = net(points).T
    middle, least = float(np.quantile(first - second, 0.6)), float(np.quantile(first, 0.3))
    found = regions.verify(net, box, [([[1.0, -1.0], [-1.0, 0.0]], [middle, -least])])
    assert not found.holds and found.witness is not None and 0 < found.violated_share < 1
    one, other = found.witness.outputs
    assert one - other <= Fraction(middle) and one >= Fraction(least) and found.witness.replayed
    assert np.allclose(net(found.witness.input[np.newaxis])[0], [float(one), float(other)])
    share = ((first - second <= middle) & (first >= least)).mean()
    assert abs(share - found.violated_share) < 5 * np.sqrt(share * (1 - share) / len(points)) + found.errors
    assert found.errors < 1e-8


def test_other_polytopes_and_workers() -> None:
    net = he_normal([3, 8, 6, 1])
    simplex = regions.Polytope([[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 1, 1]], [0, 0, 0, 1])
    middle = float(np.mean(regions.extremes(net, simplex).maximum + regions.extremes(net, simplex).minimum) / 2)
    found = regions.verify(net, simplex, [([[1.0]], [middle])], workers=3)
    alone = regions.verify(net, simplex, [([[1.0]], [middle])])
    assert found.violated_share == pytest.approx(alone.violated_share, abs=found.errors + alone.errors)
    whole = regions.verify(net, simplex, [([[0.0]], [1.0])])  # always unsafe
    assert abs(whole.violated_share - 1) <= whole.errors < 1e-9 and whole.partition.stats["closed"] == 0


def test_bounds_close_most_cells() -> None:
    net = he_normal([5, 12, 12, 1])
    box = Box([-1] * 5, [1] * 5)
    top = float(regions.extremes(net, box).maximum[0])
    for bound, holds in ((top - 0.01, False), (top + 0.01, True)):
        found = regions.verify(net, box, [([[-1.0]], [-bound])])
        assert found.holds == holds and found.regions_met < regions.count(net, box) / 50


def test_comparisons_in_boxes() -> None:
    net = he_normal([3, 6, 6, 2])
    other = Network([(np.round(layer.weights * 64) / 64, layer.biases) for layer in net.layers])
    found = regions.compare(net, other, CUBE)
    points = np.random.default_rng(0).uniform(-1, 1, (20_000, 3))
    seen = np.abs(net(points) - other(points)).max(axis=0)
    assert (seen <= found.max_difference + 1e-12).all() and (seen > found.max_difference / 2).all()
    differ = (net(points).argmax(axis=1) != other(points).argmax(axis=1)).mean()
    assert abs(differ - found.disagreement) < 0.01 and found.disagreement_error < 1e-6
    assert regions.compare(net, net, CUBE).equal


def test_properties_with_more_free_inputs(tmp_path: Path) -> None:
    net = Network([(np.vstack([np.eye(3, 4), -np.eye(3, 4)]), None), (np.ones((1, 6)), None)])  # |x| + |y| + |z|
    text = "".join(f"(declare-const X_{i} Real)" for i in range(4)) + "(declare-const Y_0 Real)"
    text += "".join(f"(assert (and (<= X_{i} 1) (>= X_{i} -1)))" for i in range(3))
    for number, bound, holds in ((0, 2.5, False), (1, 3.0, False), (2, 3.5, True)):
        file = tmp_path / f"{number}.vnnlib"
        file.write_text(f"{text}(assert (and (<= X_3 5) (>= X_3 5)))(assert (>= Y_0 {bound}))")
        prop = regions.load_property(file)
        assert type(prop.domain(0)) is Box and prop.domain(0).dimension == 3
        found = regions.verify_property(net, prop)
        assert found.holds == holds
        # The unsafe part is a simplex with edges of length 1/2 at each of eight corners; the cube's volume is 8.
        assert found.violated_shares[0] == pytest.approx(8 * 0.5**3 / 6 / 8 if number == 0 else 0.0, abs=1e-12)
        if not holds:
            assert found.witness is not None and abs(found.witness.outputs[0]) >= bound


def test_what_cannot_be_answered_is_refused() -> None:
    net = he_normal([3, 4, 1])
    space = regions.Space([0, 0, 0], np.eye(3))
    with pytest.raises(DomainError, match="bounded domains of 3 and more dimensions"):
        regions.extremes(net, space)
    with pytest.raises(DomainError, match="bounded domains of 3 and more dimensions"):
        regions.verify(net, space, [([[1.0]], [0.0])])
    with pytest.raises(regions.LimitReached):
        regions.extremes(net, CUBE, limit=2)


def test_networks_with_max_units_have_surfaces() -> None:
    rows = [[0, *row] for row in np.vstack([np.eye(3), -np.eye(3)]).tolist()]  # max(|x|, |y|, |z|)
    net = network_of_maxima(3, [(rows, [6])])
    surface = regions.level_set(net, CUBE, threshold=0.5)
    assert len(surface.facets) == 6 and surface.genera.tolist() == [0] and surface.enclosed[0] == pytest.approx(1)


def test_margins_in_boxes() -> None:
    net = Network([(np.vstack([np.eye(3), -np.eye(3)]), None), (np.ones((1, 6)), None)])  # |x| + |y| + |z|
    for bound in (4.0, 3.0, 2.0):
        found = regions.verify(net, CUBE, [([[-1.0]], [-bound])])
        assert found.margin == bound - 3 and found.holds == (bound > 3)
    either = regions.verify(net, CUBE, [([[-1.0]], [-4.0]), ([[1.0]], [-0.25])])  # at least 4, or at most -1/4
    assert either.holds and either.margin == 0.25
