# SPDX-License-Identifier: MIT
"""Are exactly those regions left out on which each group has a unit below its kink?

Results are compared with the full enumeration with maps: on each missing region one unit of each group is proven to be
below zero at all corners. The other regions and their maps are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_deep import DEEP_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from polytope_cases import OF_THEIR_OWN
from regions import Domain, Network, Polygon
from regions.counting.count_and_enumerate import enumerate_with_maps
from regions.counting.run import Model, counted
from regions.networks.graph import Graph
from regions.networks.network import with_graph
from regions.networks.parts import signing, with_forms
from regions.results.cells.output_maps import output_maps, with_outputs_compiled

SQUARE = Polygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
EVERY = FAMILIES | DEEP_FAMILIES | GRAPH_FAMILIES | MAX_FAMILIES


def with_rows(net: Network, domain: Domain, seed: int) -> tuple[Network, Graph, list[int]]:
    """Return a network with units for some forms of its outputs, mostly below zero, in groups."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, (4, net.n_out)).astype(float)
    values = net(domain.to_input(regions.enumerate(net, domain).interior_points).reshape(-1, *net.input_shape))
    scores = values.reshape(-1, net.n_out) @ rows.T
    graph = with_forms(net.graph, rows, -np.quantile(scores, [0.5, 0.8, 0.95, 1.0], axis=0).diagonal())
    cut = signing(graph)
    return with_graph(net, cut), cut, [[0, 0, 1, 1], [0, 1, 2, 3], [0, 1, 1, 1]][seed % 3]


def require_the_rest(net: Network, graph: Graph, domain: Domain, groups: Sequence[int]) -> int:
    """Compare with the full enumeration, and return how many regions are left out."""
    full, maps = enumerate_with_maps(net, graph, domain)
    kept, kept_maps = enumerate_with_maps(net, graph, domain, groups)
    assert not kept.complete and "closed" in kept.stats and "closed" not in full.stats
    place = {pattern.tobytes(): number for number, pattern in enumerate(full.packed_patterns)}
    found = np.array([place[pattern.tobytes()] for pattern in kept.packed_patterns], dtype=np.int64)
    assert len(set(found.tolist())) == len(found)
    near = np.abs(maps.values[found] - kept_maps.values) <= maps.errors[found] + kept_maps.errors
    assert (near | ~np.isfinite(maps.errors[found] + kept_maps.errors)).all()
    numbers = np.repeat(np.arange(len(full)), full.corner_counts)
    values, errors = maps.at(numbers, full.vertices[full.cell_vertices], full.vertex_errors[full.cell_vertices])
    # If a bound is infinite, nothing can be concluded here either.
    at_most = np.where(np.isfinite(errors), values - errors, -np.inf)
    above = np.maximum.reduceat(at_most, full.cell_offsets[:-1], axis=0) >= 0
    for region in np.setdiff1d(np.arange(len(full)), found).tolist():
        for group in range(max(groups) + 1):
            assert not above[region, np.array(groups) == group].all(), (region, group)
    return len(full) - len(found)


@pytest.mark.parametrize("family", EVERY)
def test_regions_that_are_left_out_are_excluded(family: str) -> None:
    for dimension in (1, 2, 3):
        if dimension == 3 and family in {*OF_THEIR_OWN, *MAX_FAMILIES}:
            continue
        net, domain = draw(family, dimension, 4)
        if domain.bounded:
            with np.errstate(all="ignore"):
                try:
                    cut, graph, groups = with_rows(net, domain, dimension)
                except regions.errors.NonFiniteError:
                    continue
            require_the_rest(cut, graph, domain, groups)


def test_most_of_a_wide_network_is_left_out() -> None:
    rng = np.random.default_rng(3)
    net = Network(
        [(rng.normal(size=(24, 2)), rng.normal(size=24)), (rng.normal(size=(24, 24)), None), (np.ones((1, 24)), None)]
    )
    top = float(regions.extremes(net, SQUARE).maximum[0])
    for threshold, everything in ((top + 1.0, True), (top - 0.1, False)):
        graph = signing(with_forms(net.graph, np.eye(1), np.array([-threshold])))
        cut = with_graph(net, graph)
        left_out = require_the_rest(cut, graph, SQUARE, [0])
        total = regions.count(cut, SQUARE)
        assert left_out == total if everything else 0.9 * total < left_out < total


@pytest.mark.parametrize("family", EVERY)
def test_units_that_must_be_at_their_kinks(family: str) -> None:
    """Regions that are left out have one sign at all corners, and both signs are left out."""
    for dimension in (1, 2, 3):
        if dimension == 3 and family in {*OF_THEIR_OWN, *MAX_FAMILIES}:
            continue
        net, domain = draw(family, dimension, 5)
        if not domain.bounded:
            continue
        graph = signing(with_forms(net.graph, np.eye(1, net.n_out)))
        cut = with_graph(net, graph)
        full, maps = enumerate_with_maps(cut, graph, domain)
        kept, _ = enumerate_with_maps(cut, graph, domain, [~0])
        found = {pattern.tobytes() for pattern in kept.packed_patterns}
        numbers = np.repeat(np.arange(len(full)), full.corner_counts)
        values, errors = maps.at(numbers, full.vertices[full.cell_vertices], full.vertex_errors[full.cell_vertices])
        errors = np.where(np.isfinite(errors), errors, np.inf)
        starts = full.cell_offsets[:-1]
        reaches_up = np.maximum.reduceat((values - errors)[:, 0], starts) >= 0
        reaches_down = np.minimum.reduceat((values + errors)[:, 0], starts) <= 0
        needed = {pattern.tobytes() for pattern in full.packed_patterns[reaches_up & reaches_down]}
        assert needed <= found <= {pattern.tobytes() for pattern in full.packed_patterns}
        assert len(found) == len(kept)


def test_a_level_leaves_out_both_sides() -> None:
    net = Network([(np.vstack([np.eye(2), -np.eye(2)]), None), (np.ones((1, 4)), [-1.0])])  # |x| + |y| - 1
    graph = signing(net.graph)
    cut = with_graph(net, graph)
    kept, _ = enumerate_with_maps(cut, graph, Polygon([[-8, -8], [8, -8], [8, 8], [-8, 8]]), [~0])
    assert len(kept) == 8
    away, _ = enumerate_with_maps(cut, graph, Polygon([[2, 2], [3, 2], [3, 3], [2, 3]]), [~0])
    inside, _ = enumerate_with_maps(cut, graph, Polygon([[0.1, 0.1], [0.2, 0.1], [0.2, 0.2], [0.1, 0.2]]), [~0])
    assert len(away) == len(inside) == 0


def test_threads_leave_the_same_regions() -> None:
    net, domain = draw("generic", 2, 11)
    cut, graph, groups = with_rows(net, domain, 2)
    alone, _ = enumerate_with_maps(cut, graph, domain, groups)
    together, _ = enumerate_with_maps(cut, graph, domain, groups, workers=3)
    assert np.array_equal(alone.packed_patterns, together.packed_patterns)
    assert alone.stats["closed"] == together.stats["closed"]
    # If regions are left out, threads do not share all vertices: one point can have several vertices, each placed
    # separately.
    assert (np.abs(alone.volumes - together.volumes) <= alone.volume_errors + together.volume_errors).all()


def test_an_unbounded_domain_has_no_bounds() -> None:
    net, domain = draw("generic", 2, 5)
    plane = regions.Plane(domain.origin, *domain.directions)
    graph = signing(with_forms(net.graph, np.eye(1, net.n_out), np.array([-1e9])))
    cut = with_graph(net, graph)
    require_the_rest(cut, graph, plane, [0])


def test_partial_results_have_no_second_run_and_counts_leave_nothing_out() -> None:
    net, domain = draw("generic", 2, 5)
    cut, graph, groups = with_rows(net, domain, 1)
    kept, _ = enumerate_with_maps(cut, graph, domain, groups)
    assert output_maps(kept, graph) is None
    model = Model(cut, with_outputs_compiled(graph, len(cut.graph.hidden), groups))
    with pytest.raises(ValueError, match="only enumerations leave out regions"):
        counted(model, domain)
    with pytest.raises(ValueError, match="groups do not fit the last hidden layer"):
        with_outputs_compiled(graph, len(cut.graph.hidden), [0])
