# SPDX-License-Identifier: MIT
"""Is every class the largest output, and are the boundaries between classes where outputs tie?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from regions import Line, Network, Polygon, Segment, reference
from regions.errors import NetworkError
from regions.reference.subdivision import ReferenceRegion

SQUARE = Polygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def with_outputs(net: Network, outputs: int, rng: np.random.Generator) -> Network:
    """Return the network with a last layer of small integers, so that outputs tie in places."""
    weights = rng.integers(-1, 2, (outputs, net.widths[-1])).astype(float)
    layers = [(layer.weights, layer.biases) for layer in net.layers[:-1]]
    return Network([*layers, (weights, rng.integers(-1, 2, outputs).astype(float))], list(net.activations))


def tie_points(part: ReferenceRegion) -> int:
    """At how many inner points of a region on a line the first of the largest outputs changes."""
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


def test_one_output_is_refused() -> None:
    with pytest.raises(NetworkError, match="one output"):
        regions.decisions(Network([([[1.0]], None)]), Segment([0.0], [1.0]))
