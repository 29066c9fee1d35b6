# SPDX-License-Identifier: MIT
"""Are the outlines of merged regions right, where pieces touch, lie in holes of each other, or are folded by rounding?

Any labels may be merged, not only the labels of a definition: random labels give many holes, islands and touching
pieces.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import shapely

import regions
from generators import FAMILIES
from partition_cases import CASES, drawn, in_plane
from raw_from_reference import folded_partition
from regions.domains import Domain, Polygon
from regions.networks.network import Network
from regions.results.definitions import linear_regions
from regions.results.definitions.outlines import rings_around
from regions.results.definitions.shapes import merged_polygons
from regions.results.partition import Partition

TWO = Polygon([[-2, -2], [2, -2], [2, 2], [-2, 2]])
# Squares of a chessboard, whose corners are doubles: lines x = i and y = i.
SIDE = 6
BOARD = regions.enumerate(
    Network([(np.repeat(np.eye(2), SIDE - 1, axis=0), np.tile(-np.arange(1.0, SIDE), 2)), (np.zeros((1, 10)), None)]),
    Polygon([[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE]]),
)


def random_labels(rng: np.random.Generator, count: int, most: int) -> np.ndarray:
    return np.unique(rng.integers(0, rng.integers(1, most + 1), count), return_inverse=True)[1]


def ring_area(partition: Partition, vertices: np.ndarray) -> Fraction:
    """Signed area of a polygon with stored vertices, exactly."""
    points = [(Fraction(x), Fraction(y)) for x, y in partition.vertices[vertices].tolist()]
    pairs = zip(points, points[1:] + points[:1], strict=True)
    return sum((a * d - b * c for (a, b), (c, d) in pairs), Fraction(0)) / 2


@pytest.mark.slow
def test_any_squares_of_a_board() -> None:
    """The outlines are valid, because nothing is rounded, and shapely finds the same ones."""
    rng = np.random.default_rng(0)
    squares = BOARD.to_shapely()
    kinds = set()
    for _ in range(150):
        labels = random_labels(rng, len(BOARD), 3)
        for label, shape in enumerate(merged_polygons(BOARD, labels)):
            members = squares[labels == label]
            assert shapely.is_valid(shape)
            assert shape.area == len(members)
            assert shape.equals(shapely.union_all(members))
            kinds |= {(len(part.interiors) > 0, shape.geom_type) for part in getattr(shape, "geoms", [shape])}
    assert kinds >= {(True, "Polygon"), (True, "MultiPolygon"), (False, "MultiPolygon")}


def board_labels(rows: str) -> np.ndarray:
    """Labels of the squares from a drawing: rows from the top down."""
    drawing = np.array([list(map(int, row)) for row in rows.split()])[::-1]
    x, y = np.floor(BOARD.interior_points).astype(int).T
    return drawing[y, x]


def test_touching_squares_by_hand() -> None:
    """A piece with two holes that touch; an island in a hole; two pieces that touch in two vertices."""
    holes = board_labels("000000 010000 001000 000000 000000 000000")
    around, diagonal = merged_polygons(BOARD, holes)
    assert (around.geom_type, len(around.interiors)) == ("Polygon", 2)
    assert (diagonal.geom_type, len(diagonal.geoms)) == ("MultiPolygon", 2)
    island = merged_polygons(BOARD, board_labels("000000 011110 010010 011110 000000 000000"))
    assert [(shape.geom_type, shape.area) for shape in island] == [("MultiPolygon", 26.0), ("Polygon", 10.0)]
    assert sorted(len(part.interiors) for part in island[0].geoms) == [0, 1]
    pinched = merged_polygons(BOARD, board_labels("222222 200222 201022 220022 222222 222222"))
    assert [part.area for part in pinched[0].geoms] == [3.0, 3.0]
    assert shapely.is_valid(pinched).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_areas_are_the_sums_of_the_members(family: str) -> None:
    """Exactly: signed areas of the rings, with the stored coordinates, equal the areas of the regions."""
    rng = np.random.default_rng(1)
    for seed in range(2):
        network, domain = drawn(family, 2, seed)
        if not domain.bounded:
            continue
        partition = regions.enumerate(network, domain)
        cells = np.split(partition.cell_vertices, partition.cell_offsets[1:-1])
        areas = [ring_area(partition, cell) for cell in cells]
        for labels in (random_labels(rng, len(partition), 4), linear_regions(partition, "open").labels):
            rings = rings_around(partition, labels)
            parts = np.split(rings.vertices, rings.ring_offsets[1:-1])
            assert all(part[0] == part[-1] and len(set(part.tolist())) == len(part) - 1 for part in parts)
            for label, (start, stop) in enumerate(zip(rings.label_rings[:-1], rings.label_rings[1:], strict=True)):
                found = sum((ring_area(partition, part[:-1]) for part in parts[start:stop]), Fraction(0))
                assert found == sum(area for area, other in zip(areas, labels, strict=True) if other == label)


@in_plane
def test_shells_go_around_and_holes_back(network: Network, domain: Domain) -> None:
    partition = regions.enumerate(network, domain)
    rng, holes = np.random.default_rng(2), 0
    for most in (2, 2, 3):
        rings = rings_around(partition, random_labels(rng, len(partition), most))
        parts = np.split(rings.vertices, rings.ring_offsets[1:-1])
        is_shell = np.isin(np.arange(len(parts)), rings.piece_offsets)
        assert [ring_area(partition, part) > 0 for part in parts] == is_shell.tolist()
        holes += (~is_shell).sum()
    assert holes or len(partition) < 30


def all_in_one(weights: list[list[int]], point: list[float]) -> Network:
    """Lines through a point, up to rounding, of a network that is constant."""
    return Network([(weights, -(np.array(weights, dtype=float) @ point)), (np.zeros((1, len(weights))), None)])


STRIP = Network([([[1, -1], [1, 1]], [0.5, 1]), ([[0, -1]], [2.0**-50]), ([[1]], [0])])


def test_a_strip_that_shapely_refused() -> None:
    partition = regions.enumerate(STRIP, TWO)
    for definition in ("activation", "open", "closed", "affine"):
        found = linear_regions(partition, definition)
        areas = np.bincount(found.labels, weights=partition.volumes)
        np.testing.assert_allclose(shapely.area(found.polygons), areas, rtol=1e-15, atol=2.0**-51)


@pytest.mark.parametrize(
    "weights",
    [
        [[-3, 1], [2, -1], [-1, 0], [-3, 2], [0, -2], [1, -3], [3, 3]],
        [[-1, 3], [-2, -1], [1, -1], [1, -2], [3, -2], [0, 1]],
        [[0, -1], [3, 3], [3, 2], [-2, -3]],
    ],
)
def test_no_area_is_lost(weights: list[list[int]]) -> None:
    """Lines with integer coefficients through a point that is not a double."""
    partition = regions.enumerate(all_in_one(weights, [0.3, 0.4]), TWO)
    (shape,) = linear_regions(partition, "affine").polygons
    assert shape.geom_type == "Polygon" and shape.is_valid and len(shape.interiors) == 0
    assert shape.area == pytest.approx(16.0, rel=1e-15)


# Lines through the square of side 1 at (-1e12, 0), where doubles are 2^-13 apart along the first axis.
FAR = -1e12
FAR_LINES = {
    "in one point": (
        [[-0.3, 1.3], [0.2, -1.1], [0.7, 2.6], [1.9, -1.4], [-2.5, -1.2], [0.1, -4.7], [-0.4, -2.5]],
        [
            -300000000000.66,
            200000000000.58,
            699999999998.16,
            1900000000000.08,
            -2499999999998.28,
            100000000002.78,
            -399999999998.34,
        ],
    ),
    "empty": (
        [[0.2, -0.6], [-3.7, -0.3], [1, -1.3], [-2, 0.3], [0.7, 0.5], [-2.9, 1.2]],
        [200000000000.1, -3699999999998.77, 1000000000000.22, -1999999999998.7202, 699999999999.31, -2899999999998.45],
    ),
}


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("name", FAR_LINES)
def test_areas_far_from_the_origin(name: str, swapped: bool) -> None:
    """A polygon that shapely made valid had ten times its area, another none at all: cells there are folded."""
    weights, biases = (np.array(part) for part in FAR_LINES[name])
    corners = np.array([[FAR, 0], [FAR + 1, 0], [FAR + 1, 1], [FAR, 1]])
    if swapped:
        weights, corners = weights[:, ::-1], corners[::-1, ::-1]
    network = Network([(weights, biases), (np.ones((1, len(biases))), None)])
    partition = regions.enumerate(network, Polygon(corners))
    assert partition.folded_cells().size
    for definition in ("activation", "open", "closed", "affine"):
        found = linear_regions(partition, definition)
        areas, errors = (np.bincount(found.labels, size) for size in (partition.volumes, partition.volume_errors))
        assert (np.abs(shapely.area(found.polygons) - areas) <= errors).all()
    rng = np.random.default_rng(3)
    for _ in range(10):
        labels = random_labels(rng, len(partition), 5)
        areas, errors = (np.bincount(labels, size) for size in (partition.volumes, partition.volume_errors))
        assert (np.abs(shapely.area(merged_polygons(partition, labels)) - areas) <= errors).all()


def test_shapes_that_cannot_be_made_valid_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    partition = folded_partition(*CASES["square"])
    labels = np.arange(len(partition))
    cells, mended = partition.to_shapely(), merged_polygons(partition, labels)
    folded = np.flatnonzero(~shapely.is_valid(cells))
    assert folded.size and shapely.is_valid(mended).all()

    def refuse(*_: object, **__: object) -> None:
        raise shapely.errors.GEOSException("TopologyException")

    for broken in (refuse, lambda *_, **__: shapely.box(0, 0, 9, 9), lambda shape, **_: shape):
        monkeypatch.setattr(shapely, "make_valid", broken)
        as_stored = merged_polygons(partition, labels)
        assert not shapely.is_valid(as_stored[folded]).any()
        assert (shapely.area(as_stored) == shapely.area(cells)).all()
