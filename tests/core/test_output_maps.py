# SPDX-License-Identifier: MIT
"""Are the maps of outputs that the core finds right, up to their bounds, on each region?

The judge is exact arithmetic under the region's pattern. Each coefficient is compared, not only values in the region.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from generators_deep import DEEP_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from graphs import random_graph
from regions import Domain, Line, Network, Partition, Plane, Segment
from regions.core import Section
from regions.counting.count_and_enumerate import enumerate_with_maps
from regions.counting.run import _smaller, compiled, compiled_with_outputs, enumerated
from regions.ground.arithmetic.pattern_index import PatternIndex
from regions.ground.arithmetic.types import Floats
from regions.networks.graph import Graph
from regions.networks.parts import with_forms
from regions.passes.exact import ExactForms
from regions.results.cells.complex import same_arrays
from regions.results.cells.output_maps import OutputMaps, output_maps, outputs_at_vertices, with_outputs_compiled

EVERY = FAMILIES | CLIPPED_FAMILIES | DEEP_FAMILIES | GRAPH_FAMILIES | MAX_FAMILIES
SAMPLED = 5


def exact_maps(graph: Graph, partition: Partition, regions_: list[int]) -> list[list[list[Fraction]]]:
    forms, result = ExactForms(graph, partition.domain), []
    for region in regions_:
        forms.enter(graph.bits(partition.packed_patterns[region]).view(np.bool_))
        found = forms.preactivations(len(graph.hidden))
        scale = Fraction(2) ** found.exponent
        result.append([[int(number) * scale for number in column] for column in found.integers.T])
    return result


def merges_neurons(net: Network) -> bool:
    """Return whether neurons are merged where no maps are found; regions then have another order."""
    model = compiled(net)
    return _smaller(model) is not model.compiled


def require_right(net: Network, domain: Domain, graph: Graph | None = None) -> None:
    graph = graph or net.graph
    partition, maps = enumerate_with_maps(net, graph, domain)
    assert maps.values.shape == maps.errors.shape == (len(partition), graph.n_out, 1 + domain.dimension)
    chosen = sorted({*np.linspace(0, len(partition) - 1, SAMPLED).astype(int).tolist()})
    for region, wanted in zip(chosen, exact_maps(graph, partition, chosen), strict=True):
        for output, form in enumerate(wanted):
            for coefficient, exact in enumerate(form):
                value, error = (float(each[region, output, coefficient]) for each in maps)
                known = np.isfinite(value) and np.isfinite(error)
                assert not known or abs(Fraction(value) - exact) <= Fraction(error), (region, output, coefficient)
    if domain.dimension == 2 or not domain.bounded:
        without = regions.enumerate(net, domain)
        if merges_neurons(net):
            assert sorted(map(bytes, partition.packed_patterns)) == sorted(map(bytes, without.packed_patterns))
        else:
            assert same_arrays(partition, without)
    threaded, again = enumerate_with_maps(net, graph, domain, workers=3)
    assert same_arrays(partition, threaded)
    assert all(np.array_equal(one, other, equal_nan=True) for one, other in zip(maps, again, strict=True))


@pytest.mark.parametrize("family", EVERY)
def test_maps_are_exact_up_to_their_bounds(family: str) -> None:
    for dimension in (1, 2):
        net, domain = draw(family, dimension, 3)
        require_right(net, domain)
        if family not in DEEP_FAMILIES:
            ways = domain.directions
            require_right(net, Line(domain.origin, ways[0]) if dimension == 1 else Plane(domain.origin, *ways))


def test_maps_of_graphs_that_pass_outputs_on() -> None:
    for seed in range(8):
        net, _, _ = random_graph(seed, operations=9)
        rng = np.random.default_rng(seed)
        require_right(net, Segment(*rng.normal(size=(2, net.n_in))))
        require_right(net, Plane(*rng.normal(size=(3, net.n_in))))


@pytest.mark.parametrize("family", ["generic", "max_generic", "deep_generic", "graph_generic"])
def test_maps_of_forms_of_outputs(family: str) -> None:
    net, domain = draw(family, 2, 5)
    forms = np.random.default_rng(1).normal(size=(7, net.n_out))
    require_right(net, domain, with_forms(net.graph, forms, np.arange(7.0)))


def test_a_second_run_finds_the_maps_of_the_same_regions() -> None:
    net, domain = draw("generic", 2, 7)
    partition, maps = enumerate_with_maps(net, net.graph, domain)
    again = output_maps(partition, net.graph)
    assert again is not None and all(np.array_equal(one, other) for one, other in zip(maps, again, strict=True))
    blocks = list(regions.stream(net, domain, regions_per_block=max(1, len(partition) // 3)))
    assert len(blocks) > 1 and output_maps(blocks[0], net.graph) is None


def test_a_second_run_also_finds_maps_if_many_signs_are_exact() -> None:
    """However many: a forward pass for each region takes longer, in all but tiny networks."""
    rng = np.random.default_rng(0)
    ternary = [(rng.integers(-1, 2, shape), rng.integers(-1, 2, shape[:1])) for shape in ((16, 2), (16, 16), (2, 16))]
    net, square = Network(ternary), regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    partition = regions.enumerate(net, square)
    assert partition.stats["exact"] > 0.05 * partition.stats["filter"]
    maps = output_maps(partition, net.graph)
    assert maps is not None and merges_neurons(net)
    direct, wanted = enumerate_with_maps(net, net.graph, square)
    places = PatternIndex(direct.packed_patterns).find(partition.packed_patterns)
    assert all(np.array_equal(one, other[places]) for one, other in zip(maps, wanted, strict=True))
    assert not np.array_equal(places, np.arange(len(places))), "this network needs another order"


def test_sections_have_their_maps() -> None:
    net, domain = draw("generic", 2, 7)
    _, maps = enumerate_with_maps(net, net.graph, domain)
    model = compiled_with_outputs(net, net.graph)
    begin: tuple[int, ...] | None = ()
    found = []
    while begin is not None:
        run = enumerated(model, domain, section=Section(begin), block=3)
        assert run.maps is not None
        found.append(run.maps.values)
        begin = run.end.place
    assert len(found) > 1 and np.array_equal(np.concatenate(found), maps.values)


def values_in_fractions(form: list[Fraction], point: Floats) -> Fraction:
    return form[0] + sum(a * Fraction(float(x)) for a, x in zip(form[1:], point, strict=True))


@pytest.mark.parametrize("family", ["generic", "ternary_weights", "far_away", "denormal"])
def test_values_at_points_are_within_their_bounds(family: str) -> None:
    net, domain = draw(family, 2, 9)
    partition, maps = enumerate_with_maps(net, net.graph, domain)
    numbers = np.arange(len(partition))[:6]
    points = partition.interior_points[numbers]
    errors = np.full(len(numbers), 2.0**-20)
    values, bounds = maps.at(numbers, points, errors)
    for sign in (-1.0, 0.0, 1.0):
        moved = points + sign * errors[:, np.newaxis]
        for row, forms in enumerate(exact_maps(net.graph, partition, numbers.tolist())):
            for output, form in enumerate(forms):
                exact = values_in_fractions(form, moved[row])
                assert abs(Fraction(float(values[row, output])) - exact) <= Fraction(float(bounds[row, output]))


def test_of_overflow_nothing_is_known() -> None:
    maps = OutputMaps(np.array([[[1.0, np.inf]], [[1e308, 1e308]]]), np.zeros((2, 1, 2)))
    values, bounds = maps.at(np.array([0, 1]), np.array([[1.0], [1e10]]), np.zeros(2))
    assert values.ravel().tolist() == [0.0, 0.0] and np.isinf(bounds).all()


def test_the_binding_refuses_outputs_with_kinks() -> None:
    net, _ = draw("generic", 2, 1)
    with pytest.raises(ValueError, match="layers of outputs have no kinks"):
        with_outputs_compiled(net.graph, 0)


def test_outputs_at_a_vertex_are_those_of_the_calmest_region_around_it() -> None:
    """A step of 2^20 within 2^-40: the steep map multiplies the rounding error of the vertex where the step ends."""
    network = Network([([[1.1], [1.1]], [-0.7, -0.7 - 2.0**-40]), ([[2.0**60, -(2.0**60)]], [0.0])])
    part = regions.enumerate(network, Segment([0.0], [1.0]))
    before, begin, end, after = outputs_at_vertices(part)[:, 0].tolist()
    assert before == begin == 0 and end == after == pytest.approx(2.0**20, rel=1e-3)


def test_outputs_at_vertices_without_maps_of_the_core() -> None:
    """The maps of a partial result come from forward passes."""
    network = Network([([[1.1], [1.1], [3.0]], [-0.7, -0.7 - 2.0**-40, -2.8]), ([[2.0**60, -(2.0**60), 0.0]], [0.0])])
    with pytest.raises(regions.LimitReached) as reached:
        regions.enumerate(network, Segment([0.0], [1.0]), limit=3)
    part = reached.value.partial
    found = outputs_at_vertices(part)[:, 0].tolist()
    assert not part.complete and found == pytest.approx([0, 0, *[2.0**20] * (len(found) - 2)], rel=1e-3)
    assert found[2] == found[3]
