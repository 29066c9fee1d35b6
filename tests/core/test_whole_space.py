# SPDX-License-Identifier: MIT
"""Do whole lines and planes have the regions that textbooks count, in each of their charts?

`test_core_known_answers.py` has the best known counts on R^2; this file has counts on other planes, and of objects
other than regions.
"""

from __future__ import annotations

import pickle
from math import comb, inf

import numpy as np
import pytest

import regions
from core_judge import difference
from generators import FAMILIES, draw
from known_counts import DEFINITIONS, PLANE, SQUARE, general_lines, graph
from regions.constructions import arrangement, montufar_fold
from regions.domains import Domain, Line, Plane, Polygon, Rectangle
from regions.errors import DegenerateDomainError, DomainError, NonFiniteError, ShapeMismatchError
from regions.networks.network import Network

# All points of R^2, and all integer points at integer coordinates.
SHEARED = Plane([5, -3], [2, 1], [1, 1])
MIRRORED = Plane([-1, 4], [0, 1], [1, 0])


class TestPlane:
    def test_its_chart_is_what_is_given(self) -> None:
        plane = Plane([0.1, 0.2, 0.3], [3, 0, 1e-300], [0, 7, 0])
        assert plane.origin.tolist() == [0.1, 0.2, 0.3]
        assert plane.directions.tolist() == [[3, 0, 1e-300], [0, 7, 0]]
        assert (plane.dimension, plane.n_in, plane.bounded, plane.volume) == (2, 3, False, inf)
        assert plane.scale == 21 and repr(plane) == "Plane(in R^3, unbounded)"
        again = pickle.loads(pickle.dumps(plane))
        assert type(again) is Plane and again == plane == Domain(plane.origin, plane.directions, plane.generators)
        assert plane != Rectangle([0.1, 0.2, 0.3], [3, 0, 1e-300], [0, 7, 0])

    def test_independence_is_decided_exactly(self) -> None:
        Plane([0, 0], [1, 1], [1, np.nextafter(1, 2)])
        Plane([0, 0], [0.1, 0.3], [0.2, np.nextafter(0.6, 1)])
        with pytest.raises(DegenerateDomainError, match="Plane: the two directions are parallel, or one is zero"):
            Plane([0, 0], [0.1, 0.3], [0.2, 2 * 0.3])

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            (([0, 0], [1, 0], [0, 0]), DegenerateDomainError, "do not span a plane"),
            (([0], [1], [2]), DegenerateDomainError, "do not span a plane"),
            (([0, 0], [1, 0], [0, 1, 0]), ShapeMismatchError, "e1 has 2, e2 has 3"),
            (([0, 0, 0], [1, 0], [0, 1]), ShapeMismatchError, "origin has 3"),
            (([0, 0], [[1, 0]], [0, 1]), ShapeMismatchError, "Plane: e1"),
            (([0, 0], [1, 0], [0, np.nan]), NonFiniteError, r"Plane: e2\[1\]"),
            (([0, 0], ["a", "b"], [0, 1]), DomainError, "Plane: e1"),
        ],
    )
    def test_wrong_arguments(self, arguments: tuple[list[float], ...], error: type, message: str) -> None:
        with pytest.raises(error, match=message):
            Plane(*arguments)


class TestCounts:
    @pytest.mark.parametrize("lines", [2, 4, 8, 13])
    def test_faces_of_lines_in_general_position(self, lines: int) -> None:
        """Zaslavsky: as many vertices, edges and regions as there can be; 2 n of them have no end."""
        partition = regions.enumerate(general_lines(lines), SHEARED)
        finite = np.isfinite(partition.vertices).all(axis=1)
        edges = partition.facet_kinks >= 0
        faces = finite.sum(), edges.sum(), len(partition)
        assert faces == (comb(lines, 2), lines**2, 1 + lines + comb(lines, 2))
        assert np.isinf(partition.volumes).sum() == np.isinf(partition.facet_volumes[edges]).sum() == 2 * lines

    @pytest.mark.parametrize("plane", [PLANE, SHEARED, MIRRORED])
    @pytest.mark.parametrize(
        ("sizes", "expected"), [((7,), 8), ((3, 2), 12), ((3, 4, 5), 60), ((1, 1, 1, 1), 11)], ids=str
    )
    def test_families_of_parallel_lines(self, plane: Plane, sizes: tuple[int, ...], expected: int) -> None:
        """1 + the number of lines + the number of crossings, no three in a point."""
        normals = [(1, 0), (0, 1), (1, 1), (1, -2)]
        rows = [(normals[i], 97**i + 10 * k) for i, size in enumerate(sizes) for k in range(size)]
        assert regions.count(arrangement(*zip(*rows, strict=True)), plane) == expected

    @pytest.mark.parametrize("lines", [1, 2, 3, 17])
    def test_lines_through_a_point_with_and_without_another(self, lines: int) -> None:
        normals = [(k, 1) for k in range(lines)]
        through = [-(2 * a + 3 * b) for a, b in normals]
        assert regions.count(arrangement(normals, through), PLANE) == 2 * lines
        assert regions.count(arrangement([*normals, (-1, 0)], [*through, 1]), PLANE) == 3 * lines + 1
        partition = regions.enumerate(arrangement(normals, through), SHEARED)
        assert np.isinf(partition.volumes).all()
        assert np.isfinite(partition.vertices).all(axis=1).sum() == (lines > 1)

    @pytest.mark.parametrize(
        ("normals", "chambers"),
        [
            (np.eye(3), 8),
            ([[1, 1, 0], [1, 0, 1], [0, 1, 1]], 8),
            ([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1) if i or j or k], 32),
            (np.vstack([np.eye(3), *(np.eye(3)[[0, 0, 1]] + sign * np.eye(3)[[1, 2, 2]] for sign in (1, -1))]), 48),
        ],
        ids=["Boolean", "x_i + x_j = 0", "resonance", "type B"],
    )
    def test_planes_through_zero_in_space(self, normals: list[list[int]], chambers: int) -> None:
        """Half the chambers of a central arrangement meet any plane parallel to one of its own."""
        for normal in np.asarray(normals):
            first = np.flatnonzero(normal)[0]
            e1, e2 = np.delete(np.cross(normal, np.eye(3)), first, axis=0)
            assert regions.count(arrangement(normals), Plane(np.eye(3)[first], e1, e2)) == chambers // 2

    def test_braid_on_four_strings(self) -> None:
        """24 orders of x_1 .. x_4; half of them have x_3 > x_4."""
        rows = [np.eye(4)[i] - np.eye(4)[j] for i in range(4) for j in range(i)]
        assert regions.count(arrangement(rows), Plane([0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0])) == 12
        assert regions.count(arrangement(rows), Line([0, 7, 1, -3], [1, 0, 2, -1])) == 7

    def test_a_plane_inside_a_hyperplane(self) -> None:
        """x_2 - x_3 is zero on the whole plane, and the other two are the same line."""
        triangle = graph((0, 1), (1, 2), (0, 2))
        partition = regions.enumerate(triangle, Plane([0, 0, 0], [1, 1, 1], [1, 0, 0]))
        assert sorted(partition.patterns.tolist()) == [[False, False, False], [True, False, True]]

    @pytest.mark.parametrize(("pieces", "depth", "expected"), [(3, 2, 13), (4, 3, 82)])
    def test_montufar_fold_on_the_line(self, pieces: int, depth: int, expected: int) -> None:
        for line in (Line([0.0], [1.0]), Line([0.25], [-8.0])):
            assert regions.count(montufar_fold(pieces, depth), line) == expected

    @pytest.mark.parametrize("name", DEFINITIONS)
    @pytest.mark.parametrize("plane", [SHEARED, MIRRORED, Plane([0, 0], [2.0**80, 1], [0, 2.0**-80])])
    def test_networks_of_definitions_in_other_charts(self, plane: Plane, name: str) -> None:
        network, expected, _ = DEFINITIONS[name]
        assert regions.count(network, plane) == expected

    @pytest.mark.parametrize("family", ["small_integer", "concurrent", "zero_on_a_cell", "ternary_weights", "deep"])
    def test_all_charts_of_a_plane_have_its_patterns(self, family: str) -> None:
        for seed in range(6):
            network, domain = draw(family, 2, seed)
            origin, e1, e2 = np.round(domain.origin), *np.round(8 * domain.directions)
            charts = [
                (origin, e1, e2),
                (origin, e2, -e1),
                (origin - 3 * e1 + e2, e1 + 2 * e2, e2),
                (origin, 8 * e1, e2 / 4),
            ]
            partitions = [regions.enumerate(network, Plane(*chart)) for chart in charts]
            patterns = [{row.tobytes() for row in partition.packed_patterns} for partition in partitions]
            assert patterns[1:] == patterns[:-1]

    def test_zero_biases_make_cones(self) -> None:
        rng = np.random.default_rng(4)
        network = Network([(rng.integers(-9, 10, shape), None) for shape in ((9, 2), (7, 9), (5, 7), (1, 5))])
        partition = regions.enumerate(network, PLANE)
        assert len(partition) == regions.count(network, SQUARE) > 18
        assert np.isinf(partition.volumes).all()
        assert partition.vertices[np.isfinite(partition.vertices).all(axis=1)].tolist() == [[0, 0]]

    def test_what_a_polygon_does_not_reach(self) -> None:
        """Lines that are nearly parallel cross far away."""
        network = arrangement([[0, 1], [2.0**-80, 1]], [0, -2])
        assert [regions.count(network, domain) for domain in (SQUARE, PLANE)] == [2, 4]
        network = arrangement([[1, 1], [1, 1 + 2.0**-52]], [0, 0.5])
        assert [regions.count(network, domain) for domain in (SQUARE, PLANE)] == [3, 4]
        far = 2.0**60
        assert regions.count(network, Polygon([[-far, -far], [far, -far], [far, far], [-far, far]])) == 4


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_as_the_reference_says(family: str) -> None:
    network, domain = draw(family, 2, seed=11)
    assert difference(network, Plane(domain.origin, *domain.directions)) is None
