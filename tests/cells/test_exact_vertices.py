# SPDX-License-Identifier: MIT
"""Are exact vertices exact, and are they independent of rounded numbers?

They are compared with `regions.reference`, which finds the corners of every region in rational arithmetic by another
method.
"""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from core_judge import _kink_forms
from generators import FAMILIES, draw
from partition_cases import CASES, IN_PLANE
from random_networks import random_network
from raw_from_reference import raw_from_reference, without_last_region
from regions import reference
from regions.certification.reference.integers import to_integers
from regions.constructions import arrangement
from regions.domains import Domain, Line, Plane, Polygon, Ray, Rectangle, Segment
from regions.domains.corners import chart_volume
from regions.ground.arithmetic.dyadic import nearest_float
from regions.networks.network import Network
from regions.results.cells.exact_outline import ExactOutlines
from regions.results.partition import Partition

PLANE = Plane([0, 0], [1, 0], [0, 1])
TRIANGLE = Polygon([[0, 0], [3, 0], [0, 3]])


def corners(partition: Partition, vertices: Any, region: int) -> list[tuple[Any, ...]]:
    """Return the exact vertices of a region, in order."""
    start, stop = partition.cell_offsets[region : region + 2]
    return [vertices[vertex] for vertex in partition.cell_vertices[start:stop].tolist()]


def area(ring: list[tuple[Any, ...]]) -> Fraction:
    """Return the area of a polygon in the chart, exactly."""
    return sum((a * d - b * c for (a, b), (c, d) in pairwise([*ring, ring[0]])), Fraction(0)) / 2


def check(network: Network, domain: Domain) -> None:
    """Every region has the reference's corners, in its order, and every stored vertex is within its bound."""
    partition = regions.enumerate(network, domain)
    vertices = partition.exact_vertices()
    assert len(vertices) == len(partition.vertices)
    expected = {region.pattern: region.vertices for region in reference.enumerate(network, domain)}
    for index, pattern in enumerate(map(tuple, partition.patterns.tolist())):
        found = [vertex if len(vertex) == domain.dimension else None for vertex in corners(partition, vertices, index)]
        wanted = expected[pattern]
        turns = range(len(wanted)) if domain.dimension == 2 else [0]
        assert found in [wanted[turn:] + wanted[:turn] for turn in turns]
    rounded = vertices.to_float()
    for index, (vertex, stored, bound) in enumerate(
        zip(vertices, partition.vertices.tolist(), partition.vertex_errors.tolist(), strict=True)
    ):
        if len(vertex) == domain.dimension:
            assert rounded[index].tolist() == [nearest_float(x) for x in vertex]
            assert bound == np.inf or all(
                abs(x - Fraction(s)) <= Fraction(bound) for x, s in zip(vertex, stored, strict=True)
            )
        else:
            assert vertex[0] == 0 and all(type(x) is int for x in vertex)
            # The core rounds directions, and numbers below the smallest double to 0, before it moves them to infinity.
            assert all(s in (x, 0.0) for x, s in zip(rounded[index].tolist(), stored, strict=True))
            assert np.isinf(stored).any()


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["line", "polygon", "plane"])
@pytest.mark.parametrize("family", FAMILIES)
def test_vertices_match_the_reference(family: str, shape: str) -> None:
    network, domain = draw(family, 1 if shape == "line" else 2, seed=3)
    check(network, Plane(domain.origin, *domain.directions) if shape == "plane" else domain)


@pytest.mark.parametrize("family", ["generic", "small_integer", "through_vertices", "deep"])
def test_any_corner_of_a_vertex_gives_it(family: str) -> None:
    """Vertices are shared exactly, too."""
    network, domain = draw(family, 2, seed=5)
    partition = regions.enumerate(network, domain)
    vertices, outlines = partition.exact_vertices(), ExactOutlines(partition)
    for corner, vertex in enumerate(partition.cell_vertices.tolist()):
        assert outlines.vertex(corner) == vertices.points[vertex]
    assert len(set(vertices.points)) == len(vertices)


@pytest.mark.parametrize(
    ("sizes", "activation"),
    [
        ([2, 16, 16, 1], "relu"),
        ([2, 6, 6, 6, 1], "hard_tanh"),
        ([2, 5, 4, 5, 1], ["leaky_relu(0.1)", "identity", "abs"]),
    ],
)
def test_areas_add_up_exactly(sizes: list[int], activation: Any) -> None:
    network = Network([(w.weights, w.biases) for w in random_network(sizes, 1).layers], activation)
    for domain in (TRIANGLE, Rectangle([-0.1, 0.3], [1, 0.2], [-0.7, 1 / 3])):
        partition = regions.enumerate(network, domain)
        vertices = partition.exact_vertices()
        areas = [area(corners(partition, vertices, index)) for index in range(len(partition))]
        assert min(areas) > 0 and sum(areas) == chart_volume(domain.generators)
    partition = regions.enumerate(network, Segment([-1, 0.3], [2, 0.1]))
    ends = [corners(partition, partition.exact_vertices(), index) for index in range(len(partition))]
    assert ends[0][0] == (0,) and ends[-1][1] == (1,)
    assert all(one[1] == other[0] for one, other in pairwise(ends)) and all(a < b for a, b in ends)


def test_ends_at_infinity() -> None:
    network = arrangement([[3.0]], [-1.0])
    assert set(regions.enumerate(network, Line([0], [1])).exact_vertices()) == {(0, -1), (Fraction(1, 3),), (0, 1)}
    assert set(regions.enumerate(network, Ray([2], [-1])).exact_vertices()) == {(0,), (Fraction(5, 3),), (0, 1)}


def test_directions_at_infinity_match_the_lines() -> None:
    network = arrangement([[1, 2], [1, 2], [0, 3]], [0, -1, 1])
    partition = regions.enumerate(network, PLANE)
    found = {vertex for vertex in partition.exact_vertices() if len(vertex) == 3}
    assert found == {(0, -2, 1), (0, 2, -1), (0, 1, 0), (0, -1, 0), *((0, x, y) for x in (-1, 1) for y in (-1, 1))}


@pytest.mark.parametrize("family", ["generic", "small_integer", "concurrent", "deep", "clipped"])
def test_directions_at_infinity_never_leave_their_region(family: str) -> None:
    network, domain = draw(family, 2, seed=7)
    plane = Plane(domain.origin, *domain.directions)
    partition = regions.enumerate(network, plane)
    vertices, task = partition.exact_vertices(), to_integers(network, plane)
    for region, pattern in zip(partition, map(tuple, partition.patterns.tolist()), strict=True):
        forms = _kink_forms(task, pattern)
        for vertex in corners(partition, vertices, region.index):
            for kink in region.kinks[region.kinks >= 0].tolist():
                if len(vertex) == 3:
                    slope = sum(a * x for a, x in zip(forms[kink][1:], vertex[1:], strict=True))
                    assert slope >= 0 if pattern[kink] else slope <= 0


def test_beyond_the_doubles() -> None:
    """Rounded coordinates would be infinite or zero."""
    far = regions.enumerate(arrangement([[2.0**-1000, 1], [0, 1]], [1, 2.0**200]), PLANE).exact_vertices()
    assert [vertex for vertex in far if len(vertex) == 2] == [(2**1000 * (2**200 - 1), -(2**200))]
    assert np.isinf(far.to_float()[[len(vertex) == 2 for vertex in far]]).tolist() == [[True, False]]
    near = regions.enumerate(arrangement([[2.0**1000]], [-(2.0**-1000)]), Segment([-1], [1])).exact_vertices()
    assert sorted(near)[1] == (Fraction(1, 2) + Fraction(1, 2**2001),)


def test_what_double_precision_cannot_tell_apart() -> None:
    network = arrangement([[1, 0], [0, 1], [1, 1]], [-0.1, -0.2, -(0.1 + 0.2)])
    partition = regions.enumerate(network, Polygon([[0, 0], [1, 0], [1, 1], [0, 1]]))
    vertices = partition.exact_vertices()
    areas = [area(corners(partition, vertices, index)) for index in range(7)]
    gap = Fraction(0.1 + 0.2) - Fraction(0.1) - Fraction(0.2)
    assert min(areas) == gap**2 / 2 and sum(areas) == 1


class TestTheSequence:
    @pytest.fixture
    def partition(self) -> Partition:
        return regions.enumerate(*IN_PLANE["square"])

    def test_some_or_all(self, partition: Partition) -> None:
        vertices = partition.exact_vertices()
        assert list(vertices) == [vertices[index] for index in range(len(vertices))]
        some = partition.exact_vertices([5, 2, 5])
        assert list(some) == [vertices[5], vertices[2], vertices[5]]
        assert vertices[2:6:3] == some[1::-1] and vertices[-1] == vertices[len(vertices) - 1]
        assert len(partition.exact_vertices([])) == 0 and partition.exact_vertices([]).to_float().shape == (0, 2)
        assert repr(some) == "ExactVertices(3 vertices, 2-D)" and repr(some[:1]) == "ExactVertices(1 vertex, 2-D)"

    def test_what_is_not_there(self, partition: Partition) -> None:
        with pytest.raises(IndexError, match=rf"indices\[1\] is {len(partition.vertices)}; vertex numbers"):
            partition.exact_vertices([0, len(partition.vertices)])
        with pytest.raises(TypeError, match="list of vertex numbers"):
            partition.exact_vertices([0.5])
        with pytest.raises(IndexError):
            partition.exact_vertices()[len(partition.vertices)]
        network, domain = CASES["segment"]
        partial = Partition(network, domain, without_last_region(raw_from_reference(network, domain)))
        unused = np.setdiff1d(np.arange(len(partial.vertices)), partial.cell_vertices)
        with pytest.raises(ValueError, match=f"vertex {unused[0]} is not a corner of any region"):
            partial.exact_vertices(unused)
        used = np.unique(partial.cell_vertices)
        assert len(partial.exact_vertices(used)) == len(used)

    def test_equality_is_exact(self, partition: Partition) -> None:
        vertices = partition.exact_vertices()
        assert vertices == partition.exact_vertices() and hash(vertices) == hash(partition.exact_vertices())
        network, domain = IN_PLANE["square"]
        layers = [(layer.weights.copy(), layer.biases.copy()) for layer in network.layers]
        layers[0][1][:] = np.nextafter(layers[0][1], 9)
        assert vertices != regions.enumerate(Network(layers), domain).exact_vertices()
        assert vertices != list(vertices)

    def test_nothing_rounds_it_unasked(self, partition: Partition) -> None:
        vertices, stored = partition.exact_vertices(), partition.vertices
        for mixed in (
            lambda: vertices + stored,
            lambda: stored - vertices,
            lambda: vertices - vertices,
            lambda: 0.5 * vertices,
            lambda: vertices < stored,
            lambda: vertices == stored,
            lambda: stored != vertices,
            lambda: np.subtract(stored, vertices),
            lambda: np.asarray(vertices),
            lambda: np.array(vertices, dtype=float),
            lambda: np.stack([vertices, vertices]),
            lambda: np.allclose(stored, vertices),
            lambda: float(vertices),
        ):
            with pytest.raises(TypeError):
                mixed()
        for mixed in (lambda: np.asarray(vertices), lambda: stored - vertices):
            with pytest.raises(TypeError, match="do not mix with rounded numbers: use to_float"):
                mixed()
        with pytest.raises(AttributeError):
            vertices.points = ()  # type: ignore[misc]

    def test_pickled_and_loaded(self, partition: Partition, tmp_path: Path) -> None:
        vertices = partition.exact_vertices()
        assert pickle.loads(pickle.dumps(vertices)) == vertices
        partition.save(tmp_path / "partition.npz")
        assert regions.load_partition(tmp_path / "partition.npz").exact_vertices() == vertices


@pytest.mark.parametrize(("network", "domain"), CASES.values(), ids=CASES)
def test_every_kind_of_network_and_domain(network: Network, domain: Domain) -> None:
    check(network, domain)
