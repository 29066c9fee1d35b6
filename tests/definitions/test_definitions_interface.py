# SPDX-License-Identifier: MIT
"""Do all interfaces to linear regions work?

They are `regions.count` with a definition, `regions.linear_regions` with its labels, polygons and intervals, and the
command.
"""

from __future__ import annotations

import json
import re
from math import inf

import numpy as np
import pytest
import shapely

import regions
from cli_cases import SQUARE as SQUARE_WORDS
from cli_cases import Run, model
from known_counts import DEFINITIONS as EXAMPLES
from known_counts import PLANE, SQUARE
from partition_cases import CASES, in_plane
from raw_from_reference import folded_partition
from regions.domains import Domain, Line, Polygon, Segment
from regions.errors import CountNotDecided, DomainError, LimitReached
from regions.networks.network import Network
from regions.results.definitions import DEFINITIONS, linear_regions

HAT = Network([([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])])
# 1 where |x| + |y| is at most 2, and -1 where it is at least 4.
TABLE = Network([(np.eye(2), None), (-np.ones((1, 2)), [3]), ([[1]], None)], ["abs", "hard_tanh"])
BIG = Polygon([[-4, -4], [4, -4], [4, 4], [-4, 4]])
# Definitions that are always decided.
MERGING = tuple(name for name in DEFINITIONS if name != "convex")


# Counting.


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_count_says_what_linear_regions_says(definition: str) -> None:
    for name, (network, *_) in EXAMPLES.items():
        for domain in (PLANE, SQUARE, Line([0, 0.5], [1, 1])):
            if definition == "convex" and name == "E1" and domain.dimension == 2:
                with pytest.raises(CountNotDecided, match="hard to compute"):
                    regions.count(network, domain, definition)
                continue
            expected = linear_regions(regions.enumerate(network, domain), definition)
            assert regions.count(network, domain, definition) == expected.count == len(expected)
            assert regions.count(network, domain, definition=definition) == expected.count


def test_count_on_several_domains() -> None:
    domains = [Line([0.0], [1.0]), Segment([-1.0], [1.5]), Segment([3.0], [4.0])]
    found = regions.count(HAT, domains, "affine")
    assert found.dtype == np.int64 and found.tolist() == [3, 3, 1]
    assert regions.count(HAT, domains, "open").tolist() == [4, 3, 1]


def test_certificate_is_of_the_activation_regions() -> None:
    number, certificate = regions.certified_count(HAT, Line([0.0], [1.0]), "affine")
    assert (number, certificate.regions, certificate.complete) == (3, 4, True)
    assert certificate.network == HAT.fingerprint
    numbers, certificates = regions.certified_count(HAT, [Line([0.0], [1.0])] * 2, "affine")
    assert numbers.tolist() == [3, 3] and [each.regions for each in certificates] == [4, 4]


def test_limit_is_one_on_activation_regions() -> None:
    assert regions.count(HAT, Line([0.0], [1.0]), "affine", limit=4) == 3
    with pytest.raises(LimitReached, match="more than 3 regions") as stopped:
        regions.count(HAT, Line([0.0], [1.0]), "affine", limit=3)
    assert type(stopped.value.partial) is int and stopped.value.partial > 3
    with pytest.raises(LimitReached) as stopped:
        regions.count(HAT, [Segment([3.0], [4.0]), Line([0.0], [1.0])], "affine", limit=3)
    assert stopped.value.partial.tolist() == [1]


def test_what_is_not_decided_says_on_which_domain() -> None:
    apart, network = Polygon([[1, 1], [2, 1], [1, 2]]), EXAMPLES["E1"][0]
    assert regions.count(network, [apart], "convex").tolist() == [2]
    with pytest.raises(CountNotDecided, match=re.escape(f"on {SQUARE!r} is between 3 (open) and 5 (activation)")):
        regions.count(network, [apart, SQUARE], "convex")


@pytest.mark.parametrize("wrong", ["R3", "R4", "Open", None, 4, ["open"]])
def test_other_definitions_are_refused(wrong: object) -> None:
    message = "definition must be one of 'pattern', 'activation', 'convex', 'open', 'closed', 'affine', got"
    with pytest.raises(ValueError, match=message):
        regions.count(HAT, Line([0.0], [1.0]), wrong)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=message):
        linear_regions(regions.enumerate(HAT, Line([0.0], [1.0])), wrong)  # type: ignore[arg-type]


def test_partial_results_are_refused() -> None:
    with pytest.raises(LimitReached) as stopped:
        regions.enumerate(HAT, Line([0.0], [1.0]), limit=2)
    for definition in DEFINITIONS:
        with pytest.raises(ValueError, match="partial"):
            linear_regions(stopped.value.partial, definition)
    with pytest.raises(TypeError, match=r"regions\.Partition, got Network"):
        linear_regions(HAT, "open")  # type: ignore[arg-type]


# The results.


def test_result() -> None:
    partition = regions.enumerate(HAT, Line([0.0], [1.0]))
    found = regions.linear_regions(partition, "affine")
    assert isinstance(found, regions.LinearRegions)
    assert (found.partition is partition, found.definition, found.count) == (True, "affine", 3)
    assert found.labels.dtype == np.int64 and not found.labels.flags.writeable
    assert repr(found) == "LinearRegions(3 affine, from 4 activation regions)"
    assert repr(linear_regions(partition, "pattern")) == "LinearRegions(4 pattern, from 4 activation regions)"


def test_intervals() -> None:
    partition = regions.enumerate(HAT, Segment([-1.0], [3.0]))
    by_definition = {name: [a.tolist() for a in linear_regions(partition, name).intervals] for name in DEFINITIONS}
    pieces = [[[0.0, 0.25]], [[0.25, 0.5]], [[0.5, 0.75]], [[0.75, 1.0]]]
    assert all(by_definition[name] == pieces for name in DEFINITIONS[:-1])
    assert by_definition["affine"] == [[[0.0, 0.25], [0.75, 1.0]], *pieces[1:3]]
    ends = linear_regions(regions.enumerate(HAT, Line([0.0], [1.0])), "affine").intervals[0]
    assert ends.dtype == np.float64 and ends.tolist() == [[-inf, 0.0], [2.0, inf]]


def test_neighbours_make_one_interval() -> None:
    cancelled = Network([([[1.0], [1.0], [1.0]], [0.0, 0.0, -1.0]), ([[1.0, -1.0, 1.0]], [0.0])])
    partition = regions.enumerate(cancelled, Segment([-2.0], [2.0]))
    assert [a.tolist() for a in linear_regions(partition, "open").intervals] == [[[0.0, 0.75]], [[0.75, 1.0]]]


@in_plane
@pytest.mark.parametrize("definition", MERGING)
def test_polygons_cover_the_domain(network: Network, domain: Domain, definition: str) -> None:
    partition = regions.enumerate(network, domain)
    found = linear_regions(partition, definition)
    polygons = found.polygons
    assert shapely.is_valid(polygons).all() and shapely.coverage_is_valid(polygons)
    areas = np.bincount(found.labels, weights=partition.volumes)
    np.testing.assert_allclose(shapely.area(polygons) * domain.scale, areas, rtol=1e-9, atol=1e-15)
    labels_at_corners = np.repeat(found.labels, partition.corner_counts)
    for label, polygon in enumerate(polygons):
        corners = partition.vertices[partition.cell_vertices[labels_at_corners == label]]
        assert {*map(tuple, shapely.get_coordinates(polygon).tolist())} <= {*map(tuple, corners.tolist())}


def test_polygons_with_holes_and_in_pieces() -> None:
    """The outer region has a hole; where the domain cuts it in four, its pieces touch in vertices."""
    around = regions.enumerate(TABLE, Polygon([[-6, -6], [6, -6], [6, 6], [-6, 6]]))
    for name in ("open", "closed", "affine"):
        polygons = linear_regions(around, name).polygons
        found = sorted((p.area, p.geom_type, len(p.interiors)) for p in polygons)
        assert found == [(6.0, "Polygon", 0)] * 4 + [(8.0, "Polygon", 0), (112.0, "Polygon", 1)]
    cut = regions.enumerate(TABLE, BIG)
    areas = {name: sorted(shapely.area(linear_regions(cut, name).polygons).tolist()) for name in MERGING}
    assert areas["activation"] == areas["pattern"] == [2.0] * 4 + [6.0] * 4 + [8.0] * 4
    assert areas["open"] == [6.0] * 4 + [8.0] * 5
    assert areas["closed"] == areas["affine"] == [6.0] * 4 + [8.0, 32.0]
    assert {p.geom_type for p in linear_regions(cut, "closed").polygons if p.area == 32.0} == {"MultiPolygon"}
    assert {p.geom_type for p in linear_regions(cut, "open").polygons} == {"Polygon"}


def test_folded_cells_are_merged_all_the_same() -> None:
    partition = folded_partition(*CASES["square"])
    assert partition.folded_cells().size
    assert shapely.is_valid(linear_regions(partition, "affine").polygons).all()


def test_slivers_are_in_folded_regions_only() -> None:
    """Lines with coefficients in tenths nearly meet in points: rounding folds cells and leaves slivers."""
    several = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        layers = [(rng.integers(-2, 3, (b, a)), rng.integers(-2, 3, b) / 10) for a, b in ((2, 5), (5, 5), (5, 1))]
        partition = regions.enumerate(Network(layers, "hard_tanh"), BIG)
        found = linear_regions(partition, "open")
        folded = {*found.labels[partition.folded_cells()].tolist()}
        for label, shape in enumerate(found.polygons):
            parts = sorted(part.area for part in getattr(shape, "geoms", [shape]))
            assert label in folded or (shape.geom_type, len(parts)) == ("Polygon", 1)
            assert max(parts[:-1], default=0.0) < 1e-30
        several += len(folded)
    assert several > 1


def test_shapes_of_the_wrong_dimension() -> None:
    with pytest.raises(DomainError, match="intervals of linear regions exist in 1 dimension; this domain has 2"):
        _ = linear_regions(regions.enumerate(TABLE, BIG), "open").intervals
    with pytest.raises(DomainError, match="polygons of linear regions exist in 2 dimensions; this domain has 1"):
        _ = linear_regions(regions.enumerate(HAT, Segment([0.0], [1.0])), "open").polygons
    with pytest.raises(DomainError, match="unbounded"):
        _ = linear_regions(regions.enumerate(TABLE, PLANE), "open").polygons


# On the command line.


@pytest.mark.usefixtures("in_folder_with_models")
class TestCommand:
    @pytest.mark.parametrize("definition", ["pattern", "convex", "open", "closed", "affine"])
    def test_table_and_json(self, run: Run, definition: str) -> None:
        words = ["count", "model.npz", "--activation", "abs", *SQUARE_WORDS, "--definition", definition]
        expected = regions.count(model("abs"), SQUARE, definition)
        code, out, err = run(*words)
        assert (code, err) == (0, "")
        assert re.search(rf"^regions +{expected:,} \({definition}\), proved$", out, re.MULTILINE)
        code, out, _ = run(*words, "--json")
        facts = json.loads(out)
        assert (code, facts["regions"], facts["definition"], facts["end"]) == (0, expected, definition, "complete")
        assert facts["certificate"]["regions"] == regions.count(model("abs"), SQUARE)

    def test_activation_is_the_default(self, run: Run) -> None:
        words = ["count", "model.npz", "--activation", "relu", *SQUARE_WORDS]
        assert "(" not in re.search("^regions .*$", run(*words)[1], re.MULTILINE)[0]
        assert json.loads(run(*words, "--json")[1])["definition"] == "activation"

    def test_limit_leaves_activation_regions(self, run: Run) -> None:
        words = ["count", "model.npz", "--activation", "relu", *SQUARE_WORDS, "--definition", "open", "--limit", "5"]
        code, out, _ = run(*words, "--json")
        facts = json.loads(out)
        assert (code, facts["end"], facts["definition"]) == (3, "limit", "activation") and facts["regions"] > 5

    def test_other_words_are_refused(self, run: Run) -> None:
        code, _, err = run("count", "model.npz", "--activation", "relu", *SQUARE_WORDS, "--definition", "R3")
        assert code == 2 and "'pattern', 'activation', 'convex', 'open', 'closed', 'affine'" in err

    @pytest.mark.parametrize("more", [[], ["--json"]])
    def test_what_is_not_decided_is_an_error_in_one_line(self, run: Run, more: list[str]) -> None:
        layers = EXAMPLES["E1"][0].layers
        np.savez("E1.npz", **{f"W{i}": layer.weights for i, layer in enumerate(layers)})
        words = ["count", "E1.npz", "--activation", "relu", "--polygon", "-1,-1", "1,-1", "0,1"]
        code, out, err = run(*words, "--definition", "convex", *more)
        assert code == 1 and "regions" not in out
        assert err.startswith("Error: the number of convex regions (R3) on Polygon") and err.count("\n") == 1
        assert "between 3 (open) and 5 (activation); it is hard to compute" in err
