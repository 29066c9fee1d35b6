# SPDX-License-Identifier: MIT
"""Are level sets in three dimensions watertight surfaces with the right topology, exactly?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_graphs import GRAPH_FAMILIES
from level_surface_judge import polygons_of, require_surface, require_topology, require_volume
from polytope_cases import OF_THEIR_OWN
from regions import Box, Network, level_set, reference
from regions.errors import DomainError
from regions.results.export.meshes import write_mesh

BOX = Box([-2, -2, -2], [2, 2, 2])
BOTH = np.vstack([np.eye(3), -np.eye(3)])
ABS = np.hstack([np.eye(3), np.eye(3)])  # |x|, |y|, |z| from the six units of BOTH
OCTAHEDRON = Network([(BOTH, None), (np.ones((1, 6)), None)])
RING_LAYERS: list[Any] = [
    (BOTH, None),
    (np.array([[1, -1, 0], [0, 1, 0], [0, 0, 1]]) @ ABS, None),
    ([[1, 1, 0], [-1, -1, 0], [0, 0, 1]], [-1, 1, 0]),
    ([[1, 1, -1], [0, 0, 1]], None),
]
# max(| max(|x|, |y|) - 1 |, |z|): a square torus around the z-axis.
RING = Network([*RING_LAYERS, ([[1, 1]], None)])


def cubes(one: list[float], other: list[float]) -> Network:
    """Return a network for the distance, in the maximum norm, from the nearer of two points."""
    centres = np.concatenate([one, one, other, other]) * np.repeat([-1, 1, -1, 1], 3)
    each = np.kron(np.eye(2), np.array([[1, -1, 0], [0, 1, 0], [0, 0, 1]]) @ ABS)
    return Network(
        [
            (np.vstack([BOTH, BOTH]), centres),
            (each, None),
            (np.kron(np.eye(2), [[1, 1, -1], [0, 0, 1]]), None),
            ([[1, 1, -1, -1], [1, 1, 0, 0]], None),  # min(a, b) = a - relu(a - b)
            ([[-1, 1]], None),
        ]
    )


def test_an_octahedron() -> None:
    found = level_set(OCTAHEDRON, BOX, 1.0)
    require_surface(found, BOX)
    assert (len(found.facets), len(found.edges), len(found.vertices)) == (8, 12, 6)
    assert found.closed and found.manifold and found.euler_characteristic == 2 and found.genera.tolist() == [0]
    assert abs(found.area - 4 * 3**0.5) <= found.error < 1e-11
    volume, error = found.enclosed
    assert abs(volume - 4 / 3) <= error < 1e-11


def test_a_ring_has_a_hole() -> None:
    found = level_set(RING, BOX, 0.25)
    require_surface(found, BOX)
    require_volume(found, BOX)
    assert found.closed and found.manifold and found.euler_characteristics.tolist() == [0]
    assert found.genera.tolist() == [1] and found.enclosed[0] == pytest.approx((2.5**2 - 1.5**2) * 0.5)
    assert found.area == pytest.approx(2 * 4 + (4 * 2.5 + 4 * 1.5) * 0.5)


@pytest.mark.parametrize(
    ("other", "euler", "components", "manifold", "volume"),
    [
        ([-0.75, 0.5, 0.5], [2, 2], 2, True, 2.0),  # apart
        ([-0.5, -0.5, -0.5], [3], 1, False, 2.0),  # a common vertex
        ([-0.5, -0.5, 0.5], [3], 1, False, 2.0),  # a common edge
        ([-0.5, 0.5, 0.5], [2], 1, True, 2.0),  # a common side
        ([0.25, 0.25, 0.25], [2], 1, True, 2 - 0.75**3),
    ],
)
def test_two_cubes(other: list[float], euler: list[int], components: int, manifold: bool, volume: float) -> None:
    found = level_set(cubes([0.5, 0.5, 0.5], other), BOX, 0.5)
    require_surface(found, BOX)
    require_topology(found, BOX)
    assert found.euler_characteristics.tolist() == euler and len(set(found.components.tolist())) == components
    assert found.closed and found.manifold == manifold and found.enclosed[0] == pytest.approx(volume)
    assert found.genera.tolist() == [0 if manifold else -1] * components


def test_a_cut_surface_has_a_boundary() -> None:
    half = level_set(RING, Box([0.25, -2, -2], [2, 2, 2]), 0.25)
    require_surface(half, half.partition.domain)
    assert not half.closed and half.euler_characteristics.tolist() == [0] and half.genera.tolist() == [-1]
    with pytest.raises(DomainError, match="the surface ends, at 16 edges"):
        _ = half.enclosed


def test_the_other_side_counts_as_negative() -> None:
    found = level_set(Network([*RING_LAYERS, ([[-1, -1]], None)]), BOX, -0.25)
    require_surface(found, BOX)
    require_volume(found, BOX)
    assert found.enclosed[0] == pytest.approx(-2.0) and found.genera.tolist() == [1]


@pytest.mark.parametrize(("threshold", "polygons", "euler"), [(-1.0, 0, 0), (0.0, 0, 0), (1.0, 8, 2), (2.0, 8, -4)])
def test_thresholds_at_vertices(threshold: float, polygons: int, euler: int) -> None:
    """The level set passes through vertices of the arrangement, is one point, or is empty."""
    found = level_set(OCTAHEDRON, Box([-1] * 3, [1] * 3), threshold)
    require_surface(found, found.partition.domain)
    # At 1 the corners of the octahedron touch the sides of the box; at 2 eight triangles touch each other there.
    assert len(found.facets) == polygons and found.euler_characteristic == euler
    assert found.closed == found.manifold == (threshold < 2.0)


def test_nothing_is_found_where_bounds_decide_everything() -> None:
    found = level_set(OCTAHEDRON, BOX, 100.0)
    assert len(found.partition) == 0 and len(found.facets) == 0 and found.vertices.shape == (0, 3)
    assert found.closed and found.enclosed[0] == 0.0 and found.area == 0.0 and found.components.tolist() == []
    assert found.triangles.shape == (0, 3) and found.exact_vertices() == [] and found.genera.tolist() == []


def test_flat_pieces_are_not_above() -> None:
    """The output is 0 where all coordinates are at most 0, and the surface is the border of that part."""
    net = Network([(np.eye(3), None), ([[1.0, 1.0, 1.0]], None)])
    found = level_set(net, BOX)
    require_surface(found, BOX)
    require_volume(found, BOX)
    assert len(found.facets) == 3 and found.area == pytest.approx(12) and not found.closed
    assert len(level_set(net, BOX, -1e-300).facets) == 0
    below = level_set(Network([(np.eye(3), None), ([[-1.0, -1.0, -1.0]], None)]), BOX)
    assert len(below.facets) == 0


def test_a_surface_along_kinks_and_along_the_boundary() -> None:
    net = Network([([[1.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]], None), ([[1.0, -0.5, 0.25]], None)])
    found = level_set(net, BOX)
    require_surface(found, BOX)
    assert len(found.facets) == 1 and found.area == 16.0
    assert len(level_set(net, Box([0, -1, -1], [1, 1, 1])).facets) == 0  # the plane x = 0 is a side of the box


def test_a_surface_that_crosses_itself() -> None:
    """|x| = |y| is two planes: four polygons at each edge on the z-axis."""
    net = Network([(BOTH, None), ([[1, -1, 0, 1, -1, 0]], None)])
    found = level_set(net, BOX)
    require_surface(found, BOX)
    require_volume(found, BOX)
    assert not found.manifold and found.genera.tolist() == [-1] and found.area == pytest.approx(2 * 4 * 4 * 2**0.5)


CASES = [family for family in (*FAMILIES, *GRAPH_FAMILIES) if family not in OF_THEIR_OWN]


@pytest.mark.parametrize("family", CASES)
def test_every_family_against_rational_arithmetic(family: str) -> None:
    for seed in (0, 1):
        net, domain = draw(family, 3, seed)
        if not domain.bounded or regions.count(net, domain) > 30:
            continue
        parts = reference.enumerate(net, domain)
        part = parts[len(parts) // 2]
        form, corner = part.output[-1], part.vertices[0]
        value = float(form[0] + sum(a * x for a, x in zip(form[1:], corner, strict=True)))
        for threshold in {0.0, value}:
            found = level_set(net, domain, threshold, net.n_out - 1)
            require_surface(found, domain)
            require_volume(found, domain)
            require_topology(found, domain)


def trained_like(seed: int, width: int) -> Network:
    """Return a random network that is large at the boundary of the box, like a distance from something inside."""
    rng = np.random.default_rng(seed)
    first = np.vstack([rng.normal(size=(width, 3)), BOTH])
    second = np.block(
        [[rng.normal(size=(width, width)) / 4, np.zeros((width, 6))], [np.zeros((1, width)), np.ones((1, 6))]]
    )
    biases = np.concatenate([rng.normal(size=width) / 3, np.zeros(6)])
    readout = np.append(rng.normal(size=width) / 4, 3.0)
    return Network([(first, biases), (second, np.zeros(width + 1)), (readout[np.newaxis], [-2.5])])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("workers", [1, 3])
def test_surfaces_of_many_polygons(seed: int, workers: int) -> None:
    net = trained_like(seed, 12)
    found = level_set(net, BOX, workers=workers)
    assert len(found.facets) > 300 and found.closed
    require_volume(found, BOX)
    require_topology(found, BOX)
    starts, ends = found.corners, found._mesh.following
    pairs = set(zip(starts.tolist(), ends.tolist(), strict=True))
    assert len(pairs) == len(starts) and all(pair[::-1] in pairs for pair in pairs)
    full = regions.enumerate(found.partition.network, BOX)
    assert len(found.partition) < len(full)  # cells away from the surface were left out
    # Triangles have the area and the volume of the polygons.
    a, b, c = (found.vertices[found.triangles[:, k]] for k in range(3))
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == pytest.approx(found.area)
    assert np.einsum("tk,tk->", a, np.cross(b, c)) / 6 == pytest.approx(found.enclosed[0])


def test_charts_of_other_spaces() -> None:
    """A box in five dimensions, in a chart with a scale: areas and volumes are measured in input space."""
    basis = np.zeros((3, 5))
    basis[[0, 1, 2], [4, 0, 2]] = 0.5
    box = Box.around([0, 7, 0, 7, 0], 4.0, basis)
    wide = np.zeros((6, 5))
    wide[:, [0, 2, 4]] = BOTH
    found = level_set(Network([(wide, None), (np.ones((1, 6)), None)]), box, 1.0)
    require_surface(found, box)
    assert found.area == pytest.approx(4 * 3**0.5) and found.enclosed[0] == pytest.approx(4 / 3)
    assert found.points.shape == (6, 5) and (found.points[:, [1, 3]] == 7).all()
    assert (np.abs(found.points[:, [0, 2, 4]]).sum(axis=1) == 1).all() and np.abs(found.vertices).max() == 2.0


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-100, 1e100, 1e150])
def test_charts_of_any_size(size: float) -> None:
    size = 2.0 ** round(np.log2(size))
    box = Box.around([0, 0, 0], 2 / size, np.eye(3) * size)
    found = level_set(OCTAHEDRON, box, 1.0)
    volume, error = found.enclosed
    assert abs(volume - 4 / 3) <= error < 1e-4 and abs(found.area - 4 * 3**0.5) <= found.error + 1e-14
    large = level_set(OCTAHEDRON, Box([-1e200] * 3, [1e200] * 3), 1e190)
    assert large.enclosed == (np.inf, np.inf) and large.genera.tolist() == [0]


def read_ply(path: Path) -> tuple[np.ndarray, list[list[int]]]:
    data = path.read_bytes()
    head, body = data.split(b"end_header\n", 1)
    words = head.decode().split()
    assert words[:5] == ["ply", "format", "binary_little_endian", "1.0", "element"]
    vertices, faces = (int(words[words.index(name) + 1]) for name in ("vertex", "face"))
    points = np.frombuffer(body, "<f8", 3 * vertices).reshape(-1, 3)
    place, polygons = 24 * vertices, []
    for _ in range(faces):
        count = body[place]
        polygons.append(np.frombuffer(body, "<i4", count, place + 1).tolist())
        place += 1 + 4 * count
    assert place == len(body)
    return points, polygons


def test_files(tmp_path: Path) -> None:
    found = level_set(RING, BOX, 0.25)
    for triangles, faces in ((True, found.triangles.tolist()), (False, polygons_of(found))):
        found.export(tmp_path / "ring.ply", triangles=triangles)
        points, polygons = read_ply(tmp_path / "ring.ply")
        assert (points == found.vertices).all() and polygons == faces
        found.export(tmp_path / "ring.obj", triangles=triangles)
        lines = [line.split() for line in (tmp_path / "ring.obj").read_text().splitlines()]
        assert [list(map(float, words)) for kind, *words in lines if kind == "v"] == found.vertices.tolist()
        assert [[int(word) - 1 for word in words] for kind, *words in lines if kind == "f"] == faces
    with pytest.raises(ValueError, match=r"path must end in \.ply or \.obj, got .*ring\.stl"):
        found.export(tmp_path / "ring.stl")


@pytest.mark.parametrize("triangles", [True, False])
def test_a_chart_that_mirrors_does_not_turn_files_inside_out(triangles: bool, tmp_path: Path) -> None:
    cube = np.vstack([np.eye(3), -np.eye(3)])
    swapped = regions.Polytope.in_chart([0, 0, 0], [[0, 1, 0], [1, 0, 0], [0, 0, 1]], cube, np.full(6, 2))
    for domain in (BOX, swapped):
        found = level_set(RING, domain, 0.25)
        found.export(tmp_path / "ring.ply", triangles=triangles)
        points, polygons = read_ply(tmp_path / "ring.ply")
        fans = [(a, b, c) for a, *rest in polygons for b, c in zip(rest, rest[1:], strict=False)]
        # Faces are seen from where the output is above, which is outside the ring.
        assert sum(np.linalg.det(points[list(fan)]) for fan in fans) / 6 == pytest.approx(found.enclosed[0])


def test_polygons_of_many_corners_are_written(tmp_path: Path) -> None:
    angles = np.linspace(0, 2 * np.pi, 300, endpoint=False)
    disc = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(300)])
    endless = np.full((300, 3), np.inf)
    write_mesh(tmp_path / "disc.ply", disc, np.array([0, 300]), np.arange(300))
    data = (tmp_path / "disc.ply").read_bytes()
    assert b"property list uint int vertex_indices" in data
    assert np.frombuffer(data[-4 * 301 :], "<u4").tolist() == [300, *range(300)]
    with pytest.raises(DomainError, match="a vertex is beyond the largest double"):
        write_mesh(tmp_path / "disc.ply", endless, np.array([0, 300]), np.arange(300))


def test_reports() -> None:
    found = level_set(RING, BOX, 0.25)
    assert repr(found) == f"LevelSurface({len(found.facets)} polygons, area 16, closed, Euler characteristic 0)"
    assert found.as_dict()["enclosed"] == found.enclosed[0] and '"genera": [1]' in found.to_json()
    assert "Euler characteristic" in found._repr_html_()


@pytest.mark.parametrize(
    ("net", "domain", "error", "message"),
    [
        (
            Network([(np.eye(4), None), (np.ones((1, 4)), None)]),
            Box([0] * 4, [1] * 4),
            DomainError,
            "in 1 to 3 dimensions; this domain has 4",
        ),
        (OCTAHEDRON, regions.Space([0, 0, 0], np.eye(3)), DomainError, "bounded domains of 3 and more dimensions"),
    ],
)
def test_what_is_not_a_surface_is_refused(net: Any, domain: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        level_set(net, domain)


def test_limits() -> None:
    with pytest.raises(regions.LimitReached) as caught:
        level_set(RING, BOX, 0.25, limit=3)
    assert len(caught.value.partial) >= 3
