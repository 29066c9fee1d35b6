# SPDX-License-Identifier: MIT
"""Is a partition what its docstring says: arrays, derived quantities, views, affine maps, conversions?

Partitions are made from the rational reference, so almost nothing here depends on the compiled core.
"""

from __future__ import annotations

import gc
import pickle
import re
import sys
import warnings

import numpy as np
import pytest
import shapely

from partition_cases import CASES, IN_PLANE, ON_LINE, SQUARE, everywhere, in_plane
from random_networks import random_network
from raw_from_reference import (
    folded_partition,
    partition_from_reference,
    raw_from_reference,
    sorted_regions,
    without_last_region,
)
from regions.core import is_private
from regions.counting.count_and_enumerate import enumerate as enumerate_regions
from regions.domains import Domain, Line, Plane, Polygon, Segment
from regions.errors import DomainError, LimitReached, MissingDependencyError, NonFiniteError
from regions.export import export, to_columns
from regions.networks import rounded
from regions.networks.network import Network
from regions.pictures.plot import plot
from regions.results.cells.consistency import first_problem
from regions.results.partition import ARRAYS, Partition, Region, html, raw_arrays

# The arrays.


def test_arrays_are_read_only_but_the_callers_stay_writeable() -> None:
    raw = raw_from_reference(*CASES["square"])
    partition = Partition(*CASES["square"], raw)
    derived = ("patterns", "volumes", "facet_volumes", "facet_layers", "neighbors", "interior_points")
    for name in {*ARRAYS, "facet_offsets", "cell_facet_offsets", "corner_counts", *derived}:
        assert not getattr(partition, name).flags.writeable, name
    assert raw["vertices"].flags.writeable


def test_large_results_lie_in_memory_of_the_core_that_nothing_else_can_write_to() -> None:
    # One thread writes over what it collected; two threads' parts are copied.
    network = random_network([2, 160, 160, 1], 1, bias=0.1, he=True)
    partition, copied = enumerate_regions(network, SQUARE), enumerate_regions(network, SQUARE, workers=2)
    again = Partition(network, SQUARE, raw_arrays(partition) | {"stats": partition.stats})
    for name in ARRAYS:
        array = getattr(partition, name)
        assert is_private(array) and np.shares_memory(array, getattr(again, name))
        assert np.array_equal(array, getattr(copied, name)), name
        with pytest.raises(ValueError):
            array.setflags(write=True)
    assert not is_private(np.zeros(3)) and not is_private(memoryview(b"of another owner")) and not is_private(None)
    patterns, expected = partition.packed_patterns, copied.packed_patterns
    del partition, again, array
    gc.collect()
    assert np.array_equal(patterns, expected)


# Derived quantities.


@everywhere
def test_volumes_match_the_reference(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    exact = [np.inf if r.volume is None else float(r.volume) * domain.scale for r in sorted_regions(network, domain)]
    np.testing.assert_allclose(partition.volumes, exact, rtol=1e-9, atol=1e-15)
    assert partition.volumes.sum() == pytest.approx(domain.volume, rel=1e-14)


def test_volumes_of_small_regions_far_from_the_origin() -> None:
    """Products of absolute coordinates would lose all digits here."""
    corner = 2.0**30
    network = Network([([[1.0, 0.0]], [-corner - 0.25]), ([[1.0]], [0.0])])
    domain = Polygon([[corner, corner], [corner + 1, corner], [corner + 1, corner + 1], [corner, corner + 1]])
    assert sorted(partition_from_reference(network, domain).volumes) == [0.25, 0.75]


@in_plane
def test_facet_volumes_are_lengths_in_input_space(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    ends = domain.to_input(partition.vertices[partition.facet_vertices])
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    np.testing.assert_allclose(partition.facet_volumes, lengths, rtol=1e-12, atol=1e-14)
    border = partition.facet_kinks < 0
    corners = domain.to_input(domain.generators[:, 1:])
    perimeter = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).sum()
    assert partition.facet_volumes[border].sum() == pytest.approx(perimeter)
    for edge in range(len(domain.generators)):  # each edge of the domain is covered by its own facets
        start, end = domain.to_input(np.roll(domain.generators, -edge, axis=0)[:2, 1:])
        covered = partition.facet_volumes[partition.facet_kinks == -1 - edge].sum()
        assert covered == pytest.approx(np.linalg.norm(end - start))


def test_facets_of_a_line_are_points_but_for_its_ends() -> None:
    partition = partition_from_reference(*ON_LINE["line"])
    assert partition.facet_volumes[[0, -1]].tolist() == [0.0, 0.0]
    assert (partition.facet_volumes[1:-1] == 1.0).all()


@everywhere
def test_crossing_a_facet_flips_its_kink(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    inner = partition.facet_kinks >= 0
    first, second = partition.facet_regions[inner].T
    differing = partition.patterns[first] != partition.patterns[second]
    assert differing[np.arange(inner.sum()), partition.facet_kinks[inner]].all()
    layers = np.where(inner, np.append(network.kink_layers, -1)[partition.facet_kinks.clip(-1)], -1)
    assert (partition.facet_layers == layers).all()


@everywhere
def test_neighbors_and_adjacency_agree(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    expected = np.zeros((len(partition), len(partition)), dtype=bool)
    inner = partition.facet_regions[partition.facet_regions[:, 1] >= 0]
    expected[inner[:, 0], inner[:, 1]] = expected[inner[:, 1], inner[:, 0]] = True
    adjacency = partition.adjacency
    assert (adjacency.toarray() == expected).all()
    assert adjacency.dtype == bool and adjacency.nnz == 2 * len(inner)
    for region in partition:
        assert sorted(region.neighbors[region.neighbors >= 0]) == np.flatnonzero(expected[region.index]).tolist()
        assert ((region.neighbors < 0) == (region.kinks < 0)).all()


@everywhere
def test_interior_points_have_the_pattern_of_their_region(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    assert (partition.locate(partition.interior_points, space="chart") == np.arange(len(partition))).all()
    assert (network.pattern(domain.to_input(partition.interior_points)) == partition.patterns).all()


def test_interior_points_beyond_the_last_kink_of_a_line() -> None:
    far = Network([([[1.0]], [-(2.0**60)]), ([[1.0]], [0.0])])
    points = partition_from_reference(far, Line([0], [1])).interior_points
    assert points.ravel().tolist() == [2.0**59, 1.5 * 2.0**60]
    none = Network([([[1.0]], [0.0])])
    assert partition_from_reference(none, Line([0], [1])).interior_points.tolist() == [[0.0]]


def test_ends_beyond_the_largest_double() -> None:
    steep = Network([([[1e-200], [2e-200]], [-1e200, -1e200]), ([[1.0, 1.0]], [0.0])])
    partition = partition_from_reference(steep, Line([0], [1]))
    assert len(partition) == 3 and np.isinf(partition.volumes).all()
    assert np.isfinite(partition.interior_points).all()


# Affine maps.


@everywhere
def test_affine_maps_match_the_reference(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    exact = np.array([[[float(x) for x in row] for row in r.output] for r in sorted_regions(network, domain)])
    matrices, constants = partition.affine_maps()
    assert matrices.shape == (len(partition), network.n_out, domain.dimension)
    np.testing.assert_allclose(matrices, exact[:, :, 1:], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(constants, exact[:, :, 0], rtol=1e-12, atol=1e-12)


@everywhere
def test_affine_maps_in_input_space(network: Network, domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounded, "CHUNK", 20)  # several chunks, of one region or a few
    partition = partition_from_reference(network, domain)
    indices = np.arange(len(partition))[::-1]
    matrices, constants = partition.affine_maps(indices, space="input")
    for index, a, c in zip(indices, matrices, constants, strict=True):
        exact_a, exact_c = network.affine_map(partition.packed_patterns[index])
        np.testing.assert_allclose(a, exact_a, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(c, exact_c, rtol=1e-12, atol=1e-12)
    region = partition[0]
    np.testing.assert_array_equal(region.affine_map(space="input")[0], partition.affine_maps([0], space="input")[0][0])


def test_affine_maps_refuse_other_regions_and_spaces() -> None:
    partition = partition_from_reference(*CASES["square"])
    with pytest.raises(IndexError, match=rf"indices\[1\] is {len(partition)}"):
        partition.affine_maps([0, len(partition)])
    with pytest.raises(IndexError, match=r"indices\[0\] is -1"):
        partition.affine_maps([-1])
    with pytest.raises(TypeError, match="list of region numbers"):
        partition.affine_maps([0.5])
    with pytest.raises(ValueError, match="'chart', 'input'"):
        partition.affine_maps(space="plane")  # type: ignore[arg-type]
    assert partition.affine_maps([])[0].shape == (0, 3, 2)


# Views, repr, pickle.


@everywhere
def test_regions_are_slices_of_the_arrays(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    assert len(list(partition)) == len(partition)
    for index, region in enumerate(partition):
        assert isinstance(region, Region) and region.index == index
        assert (region.pattern == partition.patterns[index]).all() and region.pattern.dtype == bool
        corners = slice(*partition.cell_offsets[index : index + 2])
        assert (region.vertices == partition.vertices[partition.cell_vertices[corners]]).all()
        assert (region.facets == partition.cell_facets[corners]).all()
        assert region.volume == partition.volumes[index]
        assert (region.interior_point == partition.interior_points[index]).all()


def test_anything_but_a_partition_is_refused() -> None:
    for function in (plot, export, to_columns):
        with pytest.raises(TypeError, match=r"expected a regions.Partition, got Network: make one with"):
            function(CASES["square"][0], "out.csv") if function is export else function(CASES["square"][0])


def test_affine_maps_beyond_the_largest_double() -> None:
    steep = Network([([[1e200, 0.0], [1.0, 0.0]], [0.0, -0.5]), ([[1e200, 0.0]], [0.0])])
    partition = partition_from_reference(steep, SQUARE)
    off = int(partition.locate([-0.5, 0.0]))
    assert partition.affine_maps([off])[0].tolist() == [[[0.0, 0.0]]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for space in ("chart", "input"):
            with pytest.raises(NonFiniteError, match=r"affine map of region \d is beyond .* leave it out of `indices`"):
                partition.affine_maps(space=space)


def test_indexing() -> None:
    partition = partition_from_reference(*CASES["square"])
    assert partition[-1].index == len(partition) - 1
    assert [region.index for region in partition[2:7:2]] == [2, 4, 6]
    count = len(partition)
    for index in (count, -count - 1):
        with pytest.raises(IndexError, match=rf"no region {index}: the partition has {count}, numbered from 0"):
            partition[index]
    for index in (1.0, "1", None, [1, 2], np.array([1, 2])):
        with pytest.raises(TypeError, match=f"number of a region.*got {type(index).__name__}; .*volumes"):
            partition[index]  # type: ignore[call-overload]
    with pytest.raises(AttributeError):
        partition[0].index = 3  # type: ignore[misc]


def test_repr_in_one_line() -> None:
    partition = partition_from_reference(*CASES["square"])
    assert repr(partition) == f"Partition({len(partition)} regions, 2-D, 2-6-5-3 relu, exact)"
    assert repr(partition[3]).startswith(f"Region(3 of {len(partition)}, ")
    deep = random_network([1, *[3] * 6, 2, 1], 0, "hard_tanh")
    assert ", 1-D, 1-3x6-2-1 hard_tanh, exact)" in repr(partition_from_reference(deep, Segment([0], [1])))
    assert repr(partition_from_reference(*CASES["affine"])) == "Partition(1 region, 2-D, 2-3 affine, exact)"


def test_partial_results_say_so_and_travel_with_the_exception() -> None:
    network, domain = CASES["square"]
    partial = Partition(network, domain, without_last_region(raw_from_reference(network, domain)))
    assert repr(partial).endswith(", partial)")
    error = pickle.loads(pickle.dumps(LimitReached("enough", limit=7, partial=partial)))
    assert not error.partial.complete and len(error.partial) == len(partial)
    assert not error.partial.vertices.flags.writeable
    assert error.partial.stats == partial.stats


@everywhere
def test_html_has_a_table_and_a_drawing(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    text = partition._repr_html_()
    shape = "rect" if domain.dimension == 1 else "polygon"
    assert text.count(f"<{shape} ") == len(partition)
    assert "nan" not in text and "inf" not in text.split("<svg")[1]
    assert "<table" in text and "<script" not in text


def test_the_second_axis_of_the_drawing_points_up() -> None:
    upper = Network([([[0.0, 1.0]], [0.0]), ([[1.0]], [0.0])])
    partition = partition_from_reference(upper, SQUARE)
    drawn_points = re.findall(r"points='([^']*)'", partition._repr_html_())
    above = drawn_points[int(partition.locate([0.0, 0.5]))]
    assert sorted({float(pair.split(",")[1]) for pair in above.split(" ")}) == [0.0, 120.0]


def test_html_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MOST_POLYGONS", 3)
    text = partition_from_reference(*CASES["square"])._repr_html_()
    assert "<svg" not in text and "regions.plot" in text
    nothing = partition_from_reference(Network([([[1.0]], [0.0])]), Line([0], [1]))
    assert "<svg" not in nothing._repr_html_()


# Conversions.


@in_plane
def test_polygons_are_a_coverage(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    polygons = partition.to_shapely()
    assert shapely.coverage_is_valid(polygons) and shapely.is_valid(polygons).all()
    assert shapely.is_ccw(shapely.get_exterior_ring(polygons)).all()
    np.testing.assert_allclose(shapely.area(polygons) * domain.scale, partition.volumes, rtol=1e-9, atol=1e-15)
    assert partition.folded_cells().tolist() == []
    for region, polygon in zip(partition, polygons, strict=True):
        assert (shapely.get_coordinates(polygon)[:-1] == region.vertices).all()


def test_folded_cells_are_reported() -> None:
    network, domain = CASES["square"]
    partition = folded_partition(network, domain)
    smallest = int(np.argmin(partition_from_reference(network, domain).volumes))
    assert smallest in partition.folded_cells()
    assert not shapely.coverage_is_valid(partition.to_shapely())


def test_line_strings_of_a_segment() -> None:
    partition = partition_from_reference(*CASES["segment"])
    lines = partition.to_shapely()
    assert (shapely.get_type_id(lines) == shapely.GeometryType.LINESTRING).all()
    np.testing.assert_allclose(shapely.length(lines), partition.volumes / partition.domain.scale)
    assert partition.folded_cells().tolist() == []
    with pytest.raises(DomainError, match="unbounded"):
        partition_from_reference(*CASES["line"]).to_shapely()


@everywhere
def test_networkx_has_the_same_neighbors(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    graph = partition.to_networkx()
    assert gc.isenabled()
    assert list(graph) == list(range(len(partition)))
    assert graph.number_of_edges() == (partition.facet_kinks >= 0).sum()
    for first, second, data in graph.edges(data=True):
        facet = data["facet"]
        assert {first, second} == set(partition.facet_regions[facet])
        assert data["kink"] == partition.facet_kinks[facet] and data["volume"] == partition.facet_volumes[facet]
        assert data["layer"] == partition.facet_layers[facet]
    assert graph.nodes[0]["volume"] == partition.volumes[0]
    assert graph.nodes[0]["interior_point"] == tuple(partition.interior_points[0])


def test_without_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingDependencyError, match=r"relu-regions\[networkx\]"):
        partition_from_reference(*CASES["segment"]).to_networkx()


def test_no_hidden_layer_is_one_region() -> None:
    partition = partition_from_reference(*IN_PLANE["affine"])
    assert partition.patterns.shape == (1, 0) and partition.packed_patterns.shape == (1, 0)
    assert partition.volumes.tolist() == [4.0] and partition.neighbors.tolist() == [-1] * 4
    assert partition.domain == SQUARE and raw_arrays(partition)["complete"]


def test_the_whole_plane() -> None:
    """Cells with corners at infinity have all their corners; sizes are infinite, and a window is drawn."""
    network = Network([([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, -1.0]), ([[1.0, 1.0, 1.0]], [0.0])])
    domain = Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])
    partition = enumerate_regions(network, domain)
    assert len(partition) == 7
    assert first_problem(network, domain, raw_arrays(partition), True) is None
    bounded = np.isfinite(partition.volumes)
    assert partition.volumes[bounded].tolist() == [0.5]
    assert partition.locate(partition.interior_points, space="chart").tolist() == list(range(7))
    assert np.isfinite(partition.facet_volumes).sum() == 3 and not np.isnan(partition.facet_volumes).any()
    points = np.array([[0.2, 0.2], [5.0, 5.0], [-5.0, -1e300], [-3.0, 7.0]])
    assert (partition.patterns[partition.locate(points)] == network.pattern(points)).all()
    assert "<svg" not in partition._repr_html_()
    with pytest.raises(DomainError, match="unbounded"):
        partition.to_shapely()
    assert plot(partition).get_title() == "7 regions"  # in a window
