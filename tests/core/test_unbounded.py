# SPDX-License-Identifier: MIT
"""Do all methods of a partition work if regions are unbounded?

Domains here are whole planes; lines and rays are among the cases of other tests.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import pickle
from math import inf
from pathlib import Path

import numpy as np
import pytest

import regions
from cli_cases import Run
from generators import FAMILIES, draw
from known_counts import PLANE
from random_networks import random_network
from regions import reference
from regions.domains import Plane
from regions.errors import DomainError
from regions.export import to_columns, write_csv, write_geojson
from regions.passes.exact import ExactSigns
from regions.results.cells.exact_outline import ExactOutlines
from regions.results.partition import Partition


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_points_inside(family: str) -> None:
    """The exact points are inside; the rounded ones too, unless a region is thinner than the spacing of doubles."""
    network, domain = draw(family, 2, seed=12)
    partition = regions.enumerate(network, Plane(domain.origin, *domain.directions))
    outlines = ExactOutlines(partition)
    assert np.isfinite(partition.interior_points).all()
    for region in range(len(partition)):
        x, y = outlines.point_inside(region)
        kinks = partition[region].kinks
        outlines._enter(region)
        for kink in kinks[kinks >= 0].tolist():
            a, b, c = outlines.forms.kink(kink)
            value = a + b * x + c * y
            assert value > 0 if outlines.forms.bits[kink] else value < 0
    if family not in ("denormal", "wild_magnitudes", "one_ulp", "far_away", "touching"):
        assert partition.locate(partition.interior_points, space="chart").tolist() == list(range(len(partition)))


@pytest.mark.parametrize(
    ("first", "second", "end"),
    [(1 / 3, [3, -1, 1], inf), (1 / 3, [-3, 1, 1], -inf), (0.5, [2, -1, 1], 0.0), (2.0**-1040, [-1, 0, 1], inf)],
)
def test_directions_almost_parallel_to_an_axis(first: float, second: list[float], end: float) -> None:
    """The line y = 1 + slope x has a slope that rounded arithmetic cannot tell from 0: 3 (1/3) - 1 is -2^-54."""
    layers = [([[first, 0], [1, 0], [0, 1]], [0, 0, 0]), ([second], [-1]), ([[1]], [0])]
    net = regions.Network(layers, "leaky_relu(0.5)")
    partition = regions.enumerate(net, Plane([0, 0], [1, 0], [0, 1]))
    ends = partition.vertices[partition.facet_vertices[partition.facet_kinks == 3]].reshape(-1, 2)
    (right,) = ends[ends[:, 0] == inf]
    assert right[1] == end
    assert regions.certify(partition, net).ok


FAR = 2.0**40
KINDS = ["relu", "leaky_relu(0.2)", "abs", "hard_tanh", "without biases", "far from the origin", "of several scales"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_plane_has_the_regions_of_a_very_large_square(kind: str) -> None:
    """All vertices are in the square, so all regions meet it."""
    rng = np.random.default_rng(len(kind))
    for sizes in [(2, 9, 9, 9, 1), (2, 24, 24, 24, 1), (2, 7, 7, 7, 7, 7, 1)]:
        layers = [
            (rng.standard_normal((out, wide)) * np.sqrt(2 / wide), rng.standard_normal(out) / 4)
            for wide, out in itertools.pairwise(sizes)
        ]
        if kind == "without biases":
            layers = [(weights, 0 * biases) for weights, biases in layers]
        if kind == "of several scales":
            layers = [
                (weights * factors[:, None], biases * factors)
                for weights, biases in layers
                for factors in [2.0 ** rng.integers(-20, 20, len(biases))]
            ]
        if kind == "far from the origin":
            weights, biases = layers[0]
            layers[0] = weights, biases - weights @ np.array([1e6, -3e5])
        net = regions.Network(layers, activation=kind if kind in KINDS[:4] else "relu")
        expected = regions.count(net, regions.Polygon([(-FAR, -FAR), (FAR, -FAR), (FAR, FAR), (-FAR, FAR)]))
        plane = regions.enumerate(net, PLANE)
        assert expected == regions.count(net, PLANE) == len(plane) > 30


@pytest.fixture(scope="module")
def partition() -> Partition:
    return regions.enumerate(random_network([3, 6, 5, 2], 1, bias=1.0), Plane([0, 1, 0], [1, 0, 2], [0, 0.5, -1]))


class TestPartition:
    def test_sizes(self, partition: Partition) -> None:
        judge = {region.pattern: region.volume for region in reference.enumerate(partition.network, partition.domain)}
        for region in partition:
            exact = judge[tuple(region.pattern.tolist())]
            if exact is None:
                assert region.volume == inf and (region.kinks < 0).any() | np.isinf(region.vertices).any()
            else:
                assert region.volume == pytest.approx(float(exact) * partition.domain.scale, rel=1e-9)
        assert np.isinf(partition.volumes).any() and np.isfinite(partition.volumes).any()

    def test_views_and_maps(self, partition: Partition) -> None:
        points = partition.interior_points
        found = partition.domain.to_input(points)
        assert (partition.patterns == partition.network.pattern(found)).all()
        for region, point, x in zip(partition, points, found, strict=True):
            slope, offset = region.affine_map()
            assert slope @ point + offset == pytest.approx(partition.network(x))
        assert "inf" in repr(partition[int(np.argmax(partition.volumes))])

    def test_locate_everywhere(self, partition: Partition) -> None:
        rng = np.random.default_rng(2)
        points = rng.standard_normal((300, 2)) * 10.0 ** rng.integers(-3, 12, (300, 1))
        found = partition.locate(points, space="chart")
        signs = ExactSigns(partition.network.graph, partition.domain)
        assert (partition.patterns[found] == [signs.at(point) > 0 for point in points]).all()

    def test_saved_and_pickled(self, partition: Partition, tmp_path: Path) -> None:
        partition.save(tmp_path / "plane.npz")
        for again in (regions.load_partition(tmp_path / "plane.npz"), pickle.loads(pickle.dumps(partition))):
            assert type(again.domain) is Plane and again.domain == partition.domain
            assert again.vertices.tobytes() == partition.vertices.tobytes()
            assert again.interior_points.tobytes() == partition.interior_points.tobytes()

    def test_tables_and_graphs(self, partition: Partition) -> None:
        stream = io.StringIO()
        write_csv(partition, stream)
        rows = list(csv.DictReader(stream.getvalue().splitlines()))
        assert [float(row["volume"]) for row in rows] == partition.volumes.tolist()
        assert [[float(row["p0"]), float(row["p1"])] for row in rows] == partition.interior_points.tolist()
        assert np.isfinite(to_columns(partition)["p1"]).all()
        graph_of_regions = partition.to_networkx()
        assert graph_of_regions.number_of_nodes() == len(partition)
        assert graph_of_regions.number_of_edges() == (partition.facet_kinks >= 0).sum()
        assert (partition.adjacency.toarray() == partition.adjacency.toarray().T).all()

    def test_what_has_no_picture_says_what_to_do(self, partition: Partition) -> None:
        with pytest.raises(DomainError, match="exist in bounded domains.*Take a (Polygon in|Segment on) it"):
            partition.to_shapely()
        with pytest.raises(DomainError, match="exist in bounded domains.*or write .npz or .csv"):
            write_geojson(partition, io.StringIO())
        with pytest.raises(regions.LimitReached) as stopped:
            regions.enumerate(partition.network, partition.domain, limit=50)
        with pytest.raises(DomainError, match="enumerate a polygon in it"):
            regions.plot(stopped.value.partial)
        assert "<svg" not in partition._repr_html_() and "unbounded" in partition._repr_html_()

    def test_stopped(self, partition: Partition) -> None:
        with pytest.raises(regions.LimitReached) as stopped:
            regions.enumerate(partition.network, partition.domain, limit=50)
        part = stopped.value.partial
        assert np.isfinite(part.interior_points).all() and np.isinf(part.volumes).any()


@pytest.mark.usefixtures("in_folder_with_models")
class TestCommandLine:
    WORDS = ("model.npz", "--activation", "relu", "--plane", "0,0", "1,0", "0,1")

    def test_count_and_enumerate(self, run: Run) -> None:
        expected = regions.count(regions.load("model.npz", activation="relu"), PLANE)
        code, out, _ = run("count", *self.WORDS, "--json")
        facts = json.loads(out)
        assert (code, facts["regions"], facts["domain"]["kind"], facts["domain"]["area"]) == (
            0,
            expected,
            "plane",
            None,
        )
        code, out, _ = run("enumerate", *self.WORDS, "-o", "out.npz", "--json")
        assert code == 0 and "Infinity" not in out
        assert json.loads(out)["area"]["total"] is None
        assert len(regions.load_partition("out.npz")) == expected
        code, out, _ = run("enumerate", *self.WORDS, "-o", "out.csv")
        assert code == 0 and "Plane(in R^2, unbounded)" in out and " inf" not in out
        assert len(Path("out.csv").read_text().splitlines()) == expected + 1

    def test_no_shapes(self, run: Run) -> None:
        code, out, err = run("enumerate", *self.WORDS, "-o", "out.geojson")
        assert (code, out) == (1, "") and "bounded domains" in err and not Path("out.geojson").exists()

    def test_a_picture_shows_a_window(self, run: Run) -> None:
        code, out, _ = run("plot", *self.WORDS, "-o", "out.png")
        assert (code, out.splitlines()[-1]) == (0, "wrote out.png")

    def test_three_points(self, run: Run) -> None:
        code, _, err = run("count", *self.WORDS[:-1])
        assert code == 2 and "--plane takes 3 points (O E1 E2), got 2" in err
