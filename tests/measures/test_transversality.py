# SPDX-License-Identifier: MIT
"""Is `measures.transversality` right about where pre-activations vanish, by fractions at exact points?"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest

import regions
from generator_parts import network as network_of
from generator_parts import small_integers
from regions.domains import Domain, Line, Plane, Rectangle, Segment
from regions.errors import UnsupportedLayerError
from regions.measures import transversality
from regions.networks.network import Network
from regions.results.partition import Partition

SQUARE = Rectangle([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0])
CUBE, OFFSET_CUBE = regions.Box([-1.0] * 3, [1.0] * 3), regions.Box([-2.0, -1.0, 0.25], [1.0, 3.0, 2.0])
OFFSET_SQUARE = Rectangle([-3.0, -2.0], [7.0, 0.5], [0.25, 5.0])

Point = tuple[Fraction, ...]


def failures(network: Network, domain: Domain = SQUARE) -> tuple[int, int, int]:
    found = transversality(regions.enumerate(network, domain))
    assert found.holds == (not (len(found.vertices) or len(found.facets) or len(found.flat)))
    return len(found.vertices), len(found.facets), len(found.flat)


def test_lines_through_a_point() -> None:
    lines = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    readout = ([[1.0, 1.0, 1.0]], [0.0])
    assert failures(Network([(lines, [0.0, 0.0, 0.0]), readout])) == (1, 0, 0)
    assert failures(Network([(lines, [0.0, 0.0, 2.0**-60]), readout])) == (0, 0, 0)


def test_the_domain_boundary_does_not_matter() -> None:
    meeting_at_a_corner = Network([([[1.0, 2.0], [2.0, 1.0], [1.0, 0.0]], [3.0, 3.0, -1.0]), ([[1.0] * 3], [0.0])])
    assert failures(meeting_at_a_corner) == (0, 0, 0)


def test_planes_in_space() -> None:
    planes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]

    def in_cube(offset: float) -> tuple[int, int, int, int]:
        net = Network([(planes, [0.0, 0.0, offset, 0.0][: len(planes)]), ([[1.0] * len(planes)], [0.0])])
        found = transversality(regions.enumerate(net, CUBE))
        assert found.holds == (repr(found) == "Transversality(holds)")
        return len(found.vertices), found.faces, len(found.facets), len(found.flat)

    # They meet in a line that ends on the cube: it has no vertex inside.
    assert in_cube(0.0) == (0, 1, 0, 0) and in_cube(0.5) == (0, 0, 0, 0)
    planes += [[0.0, 0.0, 1.0]]
    assert in_cube(0.0) == (1, 2, 0, 0) and in_cube(0.5) == (0, 0, 0, 0)


def test_twins_share_facets() -> None:
    twins = Network([([[1.0, 0.5], [-2.0, -1.0]], [0.25, -0.5]), ([[1.0, 1.0]], [0.0])])
    assert failures(twins) == (0, 1, 0)
    assert failures(twins, Plane([0, 0], [1, 0], [0, 1])) == (0, 1, 0)


def test_a_unit_that_only_touches() -> None:
    """- |x| is 0 on the first layer's line, and negative on both sides: no pattern shows it."""
    touching = Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.5]), ([[-1.0, 0.0]], [0.0]), ([[1.0]], [0.0])])
    assert len(regions.enumerate(touching, SQUARE)) == 4
    # -relu(x) is 0 on the closed left half, so it is flat in two regions, and zero on the line between them.
    assert failures(touching) == (1, 3, 2)
    absolute = Network([([[1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0]), ([[-1.0, -1.0]], [0.0]), ([[1.0]], [0.0])])
    assert failures(absolute) == (0, 1, 0)
    one_input = Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[-1.0, -1.0]], [0.0]), ([[1.0]], [0.0])])
    assert failures(one_input, Segment([-1.0], [1.0])) == (1, 1, 0)


def test_flat_regions_of_a_network_without_biases() -> None:
    net = Network([([[1.0, 0.0], [0.0, 1.0]], None), ([[1.0, 1.0]], None), ([[1.0]], None)])
    part = regions.enumerate(net, Plane([0, 0], [1, 0], [0, 1]))
    found = transversality(part)
    assert [part.patterns[region].tolist() for region, _ in found.flat] == [[False, False, False]]
    assert found.flat[:, 1].tolist() == [2] and "1 flat" in repr(found) and "flat regions" in found._repr_html_()


def test_maxima_are_refused() -> None:
    from generators_maxima import network_of_maxima

    net = network_of_maxima(2, [(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), [2])])
    with pytest.raises(UnsupportedLayerError, match="max units, and transversality"):
        transversality(regions.enumerate(net, SQUARE))


@pytest.mark.parametrize("seed", range(40))
def test_fractions_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dimension = 1 + seed % 3
    activation = ["relu", "hard_tanh", "abs", "leaky_relu(0.5)"][seed // 3 % 4]
    widths = rng.integers(1, 5, rng.integers(1, 4)).tolist() if dimension < 3 else rng.integers(1, 4, 2).tolist()
    net = network_of(rng, [dimension, *widths, 1], small_integers, small_integers, activation)
    domains = [[Segment([-3.0], [4.0]), Line([0.0], [1.0])], [OFFSET_SQUARE, SQUARE], [CUBE, OFFSET_CUBE]]
    part = regions.enumerate(net, domains[dimension - 1][int(rng.integers(2))])
    found = transversality(part)
    vertices, facets, flat = by_fractions(part)
    assert found.facets.tolist() == facets and sorted(map(tuple, found.flat.tolist())) == flat
    assert found.vertices.tolist() == vertices


def by_fractions(part: Partition) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """Evaluate pre-activations in fractions at vertices, at midpoints of facets, and in the middle of regions."""
    points = part.exact_vertices()
    finite = [len(point) == part.dimension for point in points]
    around = [each.tolist() for each in np.split(part.facet_vertices.ravel(), part.facet_offsets[1:-1])]
    outer = {vertex for facet in np.flatnonzero(part.facet_kinks < 0).tolist() for vertex in around[facet]}
    vertices = [
        index
        for index, point in enumerate(points)
        if finite[index] and index not in outer and len(vanishing(part, point)) > part.dimension
    ]
    facets = [
        facet
        for facet in np.flatnonzero(part.facet_kinks >= 0).tolist()
        if len(vanishing(part, middle([points[v] for v in around[facet]]))) > 1
    ]
    flat = []
    for index, region in enumerate(part):
        corners = part.cell_vertices[part.cell_offsets[index] : part.cell_offsets[index + 1]].tolist()
        inner = [points[v] for v in corners if finite[v]]
        if len(inner) < len(corners):  # a half-line or the whole line
            at = (Fraction(float(region.interior_point[0])),)
        else:
            at = middle(inner)
        flat += [(index, kink) for kink in vanishing(part, at)]
    return vertices, facets, sorted(flat)


def middle(points: list[Point]) -> Point:
    return tuple(reduce(add, coordinates) / len(points) for coordinates in zip(*points, strict=True))


def vanishing(part: Partition, point: Point) -> list[int]:
    """Return the kinks that vanish at a chart point, by a forward pass in fractions."""
    chart = [[Fraction(number) for number in row] for row in part.domain.directions.tolist()]
    values = [
        Fraction(start) + sum(t * row[axis] for t, row in zip(point, chart, strict=True))
        for axis, start in enumerate(part.domain.origin.tolist())
    ]
    found, kinks = [], 0
    for layer in part.network.layers[:-1]:
        assert layer.activation is not None
        breakpoints = [Fraction(t) for t in layer.activation.breakpoints.ravel().tolist()]
        before = [
            Fraction(bias) + sum(Fraction(w) * value for w, value in zip(row, values, strict=True))
            for row, bias in zip(layer.weights.tolist(), layer.biases.tolist(), strict=True)
        ]
        for value in before:
            for breakpoint in breakpoints:
                found += [kinks] if value == breakpoint else []
                kinks += 1
        values = [after(layer.activation, breakpoints, value) for value in before]
    return found


def after(activation: regions.Activation, breakpoints: list[Fraction], value: Fraction) -> Fraction:
    piece = sum(value > breakpoint for breakpoint in breakpoints)
    slopes, intercepts = activation.slopes.ravel().tolist(), activation.intercepts.ravel().tolist()
    return Fraction(slopes[piece]) * value + Fraction(intercepts[piece])
