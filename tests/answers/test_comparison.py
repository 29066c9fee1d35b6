# SPDX-License-Identifier: MIT
"""Does the largest difference of two networks agree with the reference, and is equality decided exactly?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from generators import draw
from regions import Line, Network, Polygon, Segment, reference
from regions.errors import DomainError, ShapeMismatchError
from regions.networks.network import with_graph
from regions.networks.parts import side_by_side

SQUARE = Polygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def largest_in_reference(first: Network, second: Network, domain: regions.Domain) -> list[Fraction]:
    """The largest absolute difference of each output at the corners that the reference finds."""
    ones = np.eye(first.n_out)
    both = with_graph(first, side_by_side(first.graph, second.graph, ones, -ones))
    largest = [Fraction(0)] * first.n_out
    for part in reference.enumerate(both, domain):
        for vertex in part.vertices:
            for output, form in enumerate(part.output):
                value = form[0] + sum(a * x for a, x in zip(form[1:], vertex, strict=True))
                largest[output] = max(largest[output], abs(value))
    return largest


@pytest.mark.parametrize(
    "family", ["generic", "ternary_weights", "zero_bias", "clipped", "one_ulp", "mixed_activations"]
)
def test_differences_are_those_of_the_reference(family: str) -> None:
    for dimension in (1, 2):
        for seed in range(3):
            first, domain = draw(family, dimension, seed)
            second, _ = draw(family, dimension, seed + 100)
            if not domain.bounded or (first.n_in, first.n_out) != (second.n_in, second.n_out):
                continue
            found = regions.compare(first, second, domain)
            exact = largest_in_reference(first, second, domain)
            for value, error, wanted in zip(found.max_difference, found.errors, exact, strict=True):
                assert abs(Fraction(value) - wanted) <= Fraction(error)
            assert found.equal == (not any(exact))


@pytest.mark.parametrize("family", ["generic", "ternary_weights", "zero_bias", "sparse"])
def test_neurons_in_another_order_are_the_same_network(family: str) -> None:
    net, domain = draw(family, 2, 1)
    order = np.random.default_rng(0).permutation(net.widths[0])
    first, second, *others = net.layers
    layers = [(first.weights[order], first.biases[order]), (second.weights[:, order], second.biases)]
    layers += [(each.weights, each.biases) for each in others]
    assert regions.compare(net, Network(layers, list(net.activations)), domain).equal


def test_one_part_in_two_to_the_sixty_is_a_difference() -> None:
    net = Network([([[1.0], [-1.0]], None), ([[1.0, 1.0]], None)])
    other = Network([([[1.0], [-1.0]], None), ([[1.0, 1.0]], [2.0**-60])])
    found = regions.compare(net, other, Segment([-1.0], [1.0]))
    assert not found.equal and found.max_difference == 2.0**-60
    assert regions.compare(net, other, Line([0.0], [1.0])).max_difference == 2.0**-60


def test_the_share_of_different_classes() -> None:
    rng = np.random.default_rng(5)
    layers = [(rng.normal(size=(8, a)), rng.normal(size=8)) for a in (2, 8)]
    ends = [rng.normal(size=(3, 8)) for _ in range(2)]
    first, second = (Network([*layers, (end, None)]) for end in ends)
    found = regions.compare(first, second, SQUARE)
    points = rng.uniform(-1, 1, size=(200_000, 2))
    sampled = (first(points).argmax(axis=1) != second(points).argmax(axis=1)).mean()
    assert abs(found.disagreement - sampled) < 0.01 and found.disagreement_error < 1e-9
    one = regions.compare(first.outputs([0]), second.outputs([0]), SQUARE)
    sampled = ((first(points)[:, 0] > 0) != (second(points)[:, 0] > 0)).mean()
    assert abs(one.disagreement - sampled) < 0.01
    assert found.regions == (regions.count(first, SQUARE), regions.count(second, SQUARE), len(found.extremes.partition))
    with pytest.raises(DomainError, match="shares of different classes"):
        _ = regions.compare(first, second, regions.Plane([0, 0], [1, 0], [0, 1])).disagreement


def test_networks_of_other_sizes_are_refused() -> None:
    net, other = Network([([[1.0]], None)]), Network([([[1.0, 1.0]], None)])
    with pytest.raises(ShapeMismatchError, match="1 and 1 for the first network, 2 and 1 for the second"):
        regions.compare(net, other, Segment([0.0], [1.0]))


def test_reports() -> None:
    net = Network([([[1.0], [-1.0]], None), ([[1.0, 1.0]], None)])
    found = regions.compare(net, net, Segment([-1.0], [1.0]))
    assert repr(found) == "Comparison(equal on 2 regions)" and "yes, proved" in found._repr_html_()
    assert found.as_dict()["equal"] is True
