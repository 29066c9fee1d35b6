# SPDX-License-Identifier: MIT
"""Is every class the largest output, and do outputs tie on the boundaries between classes?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from regions import Line, Network, Polygon, Segment, reference
from regions.certification.reference.subdivision import ReferenceRegion
from regions.errors import NetworkError

SQUARE = Polygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def with_outputs(net: Network, outputs: int, rng: np.random.Generator) -> Network:
    """Return the network with a last layer of small integers, so that outputs tie in places."""
    weights = rng.integers(-1, 2, (outputs, net.widths[-1])).astype(float)
    layers = [(layer.weights, layer.biases) for layer in net.layers[:-1]]
    return Network([*layers, (weights, rng.integers(-1, 2, outputs).astype(float))], list(net.activations))


def tie_points(part: ReferenceRegion) -> int:
    """Return at how many points inside a region on a line the first largest output changes."""
    (start,), (end,) = part.vertices
    places = {start, end}
    for i, (a, b) in enumerate(part.output):
        for c, d in part.output[:i]:
            if b != d:
                place = (c - a) / (b - d)
                places |= {place} if start < place < end else set()
    ordered = sorted(places)
    middles = [(low + high) / 2 for low, high in zip(ordered, ordered[1:], strict=False)]
    classes = [largest(part, middle) for middle in middles]
    return sum(a != b for a, b in zip(classes, classes[1:], strict=False))


def largest(part: ReferenceRegion, place: Fraction) -> int:
    values = [a + b * place for a, b in part.output]
    return values.index(max(values))


@pytest.mark.parametrize("family", ["generic", "related_neurons", "concurrent", "zero_on_a_cell", "layer_off"])
def test_points_between_classes_on_segments(family: str) -> None:
    assert family in FAMILIES
    for seed in range(12):
        rng = np.random.default_rng(seed)
        net, domain = draw(family, 1, seed)
        domain = domain if isinstance(domain, Segment) else Segment([-1.0] * net.n_in, [2.0] * net.n_in)
        net = with_outputs(net, int(rng.integers(2, 5)), rng)
        parts = sorted(reference.enumerate(net, domain), key=lambda part: part.vertices[0])
        inside = sum(tie_points(part) for part in parts)
        ends = [
            largest(a, a.vertices[1][0] - (a.volume * Fraction(1, 2**80)))
            != largest(b, b.vertices[0][0] + (b.volume * Fraction(1, 2**80)))
            for a, b in zip(parts, parts[1:], strict=False)
        ]
        found = regions.decisions(net, domain)
        assert len(found.facets) == found.volume == inside + sum(ends), (family, seed)


def test_classes_match_argmax() -> None:
    rng = np.random.default_rng(5)
    net = Network([(rng.standard_normal((8, 2)), rng.standard_normal(8)), (rng.standard_normal((4, 8)), None)])
    found = regions.decisions(net, SQUARE)
    points = np.array([region.interior_point for region in found.partition])
    assert (net(SQUARE.to_input(points)).argmax(axis=1) == found.classes).all()
    total = sum(volume for volume, _ in found.between.values())
    assert abs(total - found.volume) <= 1e-12 * found.volume
    for facet, pair in zip(found.facets, found.pairs, strict=True):
        assert sorted(found.classes[found.partition.facet_regions[facet]].tolist()) == pair.tolist()


def test_outputs_that_tie_all_over_are_one_class() -> None:
    net = Network([(np.eye(2), None), ([[1.0, 1.0], [1.0, 1.0]], None)])
    found = regions.decisions(net, SQUARE)
    assert found.classes.tolist() == [0] * len(found.partition)
    assert len(found.facets) == 0 and found.volume == 0.0 and not found.areas.any()
    assert np.isinf(found.distance([[0.5, 0.5]]).distances).all()


def test_areas_of_one_class() -> None:
    # |x| against 1/2: class 0 on both sides.
    net = Network([([[1.0], [-1.0]], None), ([[1.0, 1.0], [0.0, 0.0]], [0.0, 0.5])])
    found = regions.decisions(net, Line([0.0], [1.0]))
    assert found.volume == 2.0
    assert sorted(set(found.areas.tolist())) == [0, 1, 2]
    assert found.distance([[0.25]]).distances.tolist() == [0.25]


# One output.

XOR = Network(
    [([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], None), ([[1.0, 1.0, -1.0, -1.0]], None)]
)  # |x| - |y|


@pytest.mark.parametrize("threshold", [None, 0.25, -0.5, 2.0])
@pytest.mark.parametrize("largest", [True, False])
def test_a_single_output_has_two_classes(threshold: float | None, largest: bool) -> None:
    found = regions.decisions(XOR, SQUARE, threshold=threshold, largest=largest)
    level = threshold or 0.0
    middles = found.partition.domain.to_input(found.partition.interior_points)
    values = XOR(middles)[:, 0]
    assert (found.classes == (values > level if largest else values < level)).all()
    areas = {each: volume for each, (volume, _) in found.class_volumes.items()}
    assert sum(areas.values()) == pytest.approx(4.0)
    inside = 2.0 * max(1.0 - abs(level), 0.0) ** 2  # two triangles beyond the level, on one side
    wanted = {level >= 0: inside, level < 0: 4.0 - inside}[True]
    assert areas.get(1 if largest else 0, 0.0) == pytest.approx(wanted if largest or level else 2.0)


def test_a_threshold_is_for_one_output() -> None:
    with pytest.raises(NetworkError, match=r"has 2: leave it out, or choose an output with network.outputs\(\[i\]\)"):
        regions.decisions(with_outputs(XOR, 2, np.random.default_rng(0)), SQUARE, threshold=0.5)
    with pytest.raises(ValueError, match="threshold"):
        regions.decisions(XOR, SQUARE, threshold=float("nan"))


def test_the_smallest_output_is_the_largest_of_the_negated_network() -> None:
    rng = np.random.default_rng(3)
    for family in ("generic", "ternary_weights", "zero_bias"):
        net, domain = draw(family, 2, 5)
        net = with_outputs(net, 3, rng)
        last = net.layers[-1]
        layers = [*((each.weights, each.biases) for each in net.layers[:-1]), (-last.weights, -last.biases)]
        negated = Network(layers, list(net.activations))
        found, other = regions.decisions(net, domain, largest=False), regions.decisions(negated, domain)
        assert np.array_equal(found.classes, other.classes)


def test_curves_run_along_the_boundary() -> None:
    found = regions.decisions(XOR, SQUARE)
    ends = sorted(tuple(found.partition.vertices[curve[-1]].tolist()) for curve in found.curves)
    assert len(found.curves) == 4 and sum(map(len, found.curves)) == 8  # they meet at the origin
    assert ends.count((0.0, 0.0)) == 2
    diamond = regions.decisions(
        Network([([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], None), ([[1.0] * 4], None)]),
        SQUARE,
        threshold=0.5,
    )
    (curve,) = diamond.curves
    assert curve[0] == curve[-1] and len(curve) == 5
    corners = diamond.partition.vertices[curve]
    doubled_area = np.sum(corners[:-1, 0] * corners[1:, 1] - corners[:-1, 1] * corners[1:, 0])
    assert doubled_area == pytest.approx(-1.0)  # class 1 is outside, on the left


@pytest.mark.parametrize("family", ["generic", "ternary_weights", "zero_bias", "one_bit_weights"])
def test_each_facet_of_the_boundary_is_in_one_curve(family: str) -> None:
    rng = np.random.default_rng(1)
    for seed in range(3):
        net, domain = draw(family, 2, seed)
        found = regions.decisions(with_outputs(net, 3, rng), domain)
        steps = [
            tuple(sorted(step))
            for curve in found.curves
            for step in zip(curve[:-1].tolist(), curve[1:].tolist(), strict=True)
        ]
        wanted = np.sort(found.partition.facet_vertices[found.facets], axis=1)
        assert sorted(steps) == sorted(map(tuple, wanted.tolist()))
