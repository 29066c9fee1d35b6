# SPDX-License-Identifier: MIT
"""Are partitions in three to six dimensions right, down to vertices, facets, neighbours and volumes?

All families of the generators against rational arithmetic (`exact_polytopes.py`); known arrangements; invariants of
large partitions; and what partitions offer: look-ups, maps, sizes.
"""

from __future__ import annotations

import pickle
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import regions
from exact_polytopes import box_volume, require_exact
from generators import FAMILIES, draw
from generators_graphs import GRAPH_FAMILIES
from polytope_cases import OF_THEIR_OWN, braid, he_normal, network_of, signed
from regions import reference
from regions.core import is_private
from regions.errors import DomainError

CASES = [(family, 3, seed) for family in (*FAMILIES, *GRAPH_FAMILIES) if family not in OF_THEIR_OWN for seed in (0, 1)]
CASES += [(family, 4, 0) for family in (*FAMILIES, *GRAPH_FAMILIES) if family not in OF_THEIR_OWN]
MOST = 40  # regions that are compared


@pytest.mark.parametrize(("family", "dimension", "seed"), CASES)
def test_every_family_against_rational_arithmetic(family: str, dimension: int, seed: int) -> None:
    for net, domain in (draw(family, dimension, 100 * seed + k) for k in range(2)):
        if not domain.bounded:
            continue
        number = regions.count(net, domain)
        part = regions.enumerate(net, domain)
        assert len(part) == number and part.complete
        if number <= MOST:
            require_exact(part, reference.enumerate(net, domain))


@pytest.mark.parametrize(
    "normals",
    [braid(4), braid(5), signed(3, single=True), np.eye(4), np.array(list(product([0, 1], repeat=3)), float)[1:]],
)
def test_arrangements_against_rational_arithmetic(normals: np.ndarray) -> None:
    dimension = normals.shape[1]
    box = regions.Box([-1] * dimension, [1] * dimension)
    net = network_of(normals, np.zeros(len(normals)))
    require_exact(regions.enumerate(net, box), reference.enumerate(net, box))


def test_kinks_that_touch_or_vanish() -> None:
    """Coincident kinks, kinks through vertices, units that are zero on whole regions, hard tanh at its ends."""
    box = regions.Box([-1, -1, -1], [1, 1, 1])
    first = np.array([[1, 0, 0], [2, 0, 0], [-1, 0, 0], [1, 1, 1], [1, 1, 0]], float)
    second = np.array([[1, 0, -1, 0, 0], [0, 0, 0, 1, 0], [0, 1, 0, 0, -1], [1, 1, 1, 1, 1]], float)
    for activation in ("relu", "abs", "hardtanh"):
        layers = [(first, np.zeros(5)), (second, [0, -3, 0, 0]), (np.ones((1, 4)), [0])]
        net = regions.Network(layers, activation=activation)
        part = regions.enumerate(net, box)
        assert len(part) == len(reference.patterns(net, box))
        require_exact(part, reference.enumerate(net, box))


def euler(part: regions.PolytopePartition) -> int:
    """Return V - E + F - R of a partition in three dimensions: 1."""
    edges = set()
    for start, end in zip(part.facet_offsets, part.facet_offsets[1:], strict=False):
        around = part.facet_vertices[start:end].tolist()
        edges |= {frozenset(pair) for pair in zip(around, around[1:] + around[:1], strict=True)}
    return len(part.vertices) - len(edges) + len(part.facet_kinks) - len(part)


@pytest.mark.parametrize(
    "sizes",
    [
        (3, 16, 16, 1),
        (3, 12, 12, 12, 1),
        (4, 10, 10, 1),
        pytest.param((5, 8, 8, 1), marks=pytest.mark.slow),
        pytest.param((6, 7, 7, 1), marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("workers", [1, 3])
def test_invariants_of_networks_of_many_regions(sizes: tuple[int, ...], workers: int) -> None:
    net, d = he_normal([*sizes]), sizes[0]
    box = regions.Box([-1] * d, [1] * d)
    part = regions.enumerate(net, box, workers=workers)
    assert len(part) == regions.count(net, box)
    assert len(np.unique(part.packed_patterns, axis=0)) == len(part)
    total, bound = float(part.volumes.sum()), float(part.volume_errors.sum())
    assert abs(total - 2**d) <= bound + 1e-12 * total and bound < 1e-6
    # The facets on the cube's boundary tile it.
    outer = part.facet_regions[:, 1] < 0
    assert abs(part.facet_volumes[outer].sum() - 2 * d * 2 ** (d - 1)) < 1e-9
    assert (np.bincount(part.cell_facets) == np.where(outer, 1, 2)).all()
    assert (part.adjacency != part.adjacency.T).nnz == 0
    if d == 3:
        assert euler(part) == 1
    if workers > 1:
        assert part == regions.enumerate(net, box)


def test_large_arrays_of_one_thread_are_not_copied() -> None:
    """The core allocated them. They are the same with maps, with two threads, and after a limit."""
    net, box = he_normal([3, 32, 32, 2]), regions.Box([-1] * 3, [1] * 3)
    part = regions.enumerate(net, box, maps=True, workers=1)
    lent = ("vertices", "vertex_errors", "cell_vertices", "cell_facets", "facet_vertices", "packed_patterns")
    assert part.cell_vertices.nbytes + part.cell_facets.nbytes + part.facet_vertices.nbytes > 1 << 22
    assert all(is_private(getattr(part, name)) for name in lent)
    assert part == regions.enumerate(net, box, maps=True, workers=2)
    assert part.facet_vertices.max() == len(part.vertices) - 1 and part.cell_facets.max() == len(part.facet_kinks) - 1
    with pytest.raises(regions.LimitReached) as stopped:
        regions.enumerate(net, box, workers=1, limit=len(part) - 1)
    some = stopped.value.partial
    assert (some.cell_vertices == part.cell_vertices[: len(some.cell_vertices)]).all() and is_private(some.vertices)


def forward(net: regions.Network, points: np.ndarray) -> np.ndarray:
    *hidden, last = net.layers
    for layer in hidden:
        points = np.maximum(points @ layer.weights.T + layer.biases, 0)
    return points @ last.weights.T + last.biases


def test_points_are_found_in_their_regions() -> None:
    net = he_normal([4, 12, 12, 2])
    box = regions.Box([-1, -1, 0.25, -1], [1, 1, 0.75, 1])
    part = regions.enumerate(net, box)
    assert part.locate(part.interior_points, space="chart").tolist() == list(range(len(part)))
    rng = np.random.default_rng(0)
    points = rng.uniform([-1.5, -1.5, 0, -1.5], [1.5, 1.5, 1, 1.5], (500, 4))
    found = part.locate(points)
    inside = ((points >= box.generators[:, 1:].min(axis=0)) & (points <= box.generators[:, 1:].max(axis=0))).all(axis=1)
    assert ((found >= 0) == inside).all()
    linear, constants = part.affine_maps(found[inside])
    values = np.einsum("mij,mj->mi", linear, points[inside] @ box.directions.T) + constants
    assert np.allclose(values, forward(net, points[inside]), atol=1e-12)
    corner = box.generators[0, 1:]
    assert part.locate(corner) == min(
        r
        for r in range(len(part))
        if (part.vertices[part.cell_vertices[slice(*part.cell_offsets[r : r + 2])]] == corner).all(axis=1).any()
    )


def test_charts_scale_volumes() -> None:
    rng = np.random.default_rng(5)
    directions = rng.standard_normal((3, 20))
    net = regions.Network([(rng.standard_normal((8, 20)), rng.standard_normal(8)), (np.ones((1, 8)), [0])])
    box = regions.Box.around(rng.standard_normal(20), 0.5, directions)
    part = regions.enumerate(net, box)
    size = np.sqrt(np.linalg.det(directions @ directions.T))
    assert np.isclose(part.volumes.sum(), size) and np.isclose(box.volume, size)
    sides = [np.delete(directions, k, axis=0) for k in range(3)]
    boundary = 2 * sum(np.sqrt(np.linalg.det(side @ side.T)) for side in sides)
    assert np.isclose(part.facet_volumes[part.facet_regions[:, 1] < 0].sum(), boundary)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-82, 1e-60, 1e60, 1e103, 1e110, 1e160, 1e290])
def test_charts_of_any_size_have_true_bounds(size: float) -> None:
    """One plane through the middle of a unit cube, whose chart has very long or very short directions."""
    net = regions.Network([([[1.0, 1, 1]], [0.0]), ([[1.0]], [0.0])])
    size = 2.0 ** round(np.log2(size))
    part = regions.enumerate(net, regions.Box.around([0, 0, 0], 1 / size, np.eye(3) * size))
    small = 1e-12 if size > 1e-200 else 1e-4  # vertices are less accurate where the network's forms nearly underflow
    assert (abs(part.volumes - 4) <= part.volume_errors).all() and part.volume_errors.max() < small
    areas, errors = part.facet_volumes, part.facet_volume_errors
    inner = part.facet_regions[:, 1] >= 0
    assert (abs(areas[inner] - 3 * np.sqrt(3)) <= errors[inner] + 1e-15).all() and errors.max() < small
    assert abs(areas[~inner].sum() - 24) <= errors[~inner].sum()


def test_volumes_too_large_or_too_small_for_doubles() -> None:
    net = regions.Network([([[1.0, 1, 1]], [0.0]), ([[1.0]], [0.0])])
    part = regions.enumerate(net, regions.Box([-1.7e308] * 3, [1.7e308] * 3))
    assert np.isinf(part.volumes).all() and np.isinf(part.volume_errors).all() and np.isinf(part.facet_volumes).all()
    assert np.isfinite(part.interior_points).all()
    for heights in ([1e155, 1e155, 1e-155], [1e160, 1, 1e-160]):
        part = regions.enumerate(net, regions.Box([-h for h in heights], heights))
        true = 8 * float(np.prod(sorted(heights)[::2]) * sorted(heights)[1]) / 2
        assert not np.isnan(part.volumes).any()
        assert (abs(part.volumes - true) <= part.volume_errors).all()


def test_boxes_know_their_volume() -> None:
    assert regions.Box([-1, 0, 0.5, 2], [1, 3, 0.75, 2]).volume == float(box_volume([-1, 0, 0.5], [1, 3, 0.75]))


def test_stopped_work_keeps_its_regions() -> None:
    net, box = he_normal([3, 16, 16, 1]), regions.Box([-1] * 3, [1] * 3)
    with pytest.raises(regions.LimitReached) as stopped:
        regions.enumerate(net, box, limit=100)
    partial = stopped.value.partial
    assert 100 < len(partial) < 200 and not partial.complete
    whole = regions.enumerate(net, box)
    assert (partial.packed_patterns == whole.packed_patterns[: len(partial)]).all()
    assert Counter((partial.facet_regions[:, 1] < 0).tolist())[True] > 0


def test_a_network_without_kinks_has_one_region() -> None:
    net = regions.Network([(np.ones((1, 3)), [0.0])])
    part = regions.enumerate(net, regions.Polytope([[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 1, 1]], [0, 0, 0, 1]))
    assert len(part) == 1 and np.isclose(part.volumes[0], 1 / 6) and len(part.facet_kinks) == 4
    assert sorted(part.facet_kinks.tolist()) == [-4, -3, -2, -1]
    assert np.isclose(sorted(part.facet_volumes)[-1], np.sqrt(3) / 2)


@pytest.mark.parametrize(("family", "dimension", "seed"), CASES[::3])
def test_faces_of_all_dimensions(family: str, dimension: int, seed: int) -> None:
    """Euler's relation, also where kinks touch, coincide or vanish."""
    net, domain = draw(family, dimension, 100 * seed)
    if not domain.bounded or regions.count(net, domain) > 400:
        return
    part = regions.enumerate(net, domain)
    counts = part.face_counts
    assert counts[[0, -2, -1]].tolist() == [len(part.vertices), len(part.facet_kinks), len(part)]
    assert sum((-1) ** k * int(number) for k, number in enumerate(counts)) == 1
    if dimension == 3:
        assert euler(part) == 1 and counts[1] == len(part.vertices) + len(part.facet_kinks) - len(part) - 1


def test_faces_of_grids() -> None:
    for d in (3, 4, 5):
        part = regions.enumerate(network_of(np.eye(d), np.zeros(d)), regions.Box([-1] * d, [1] * d))
        grid = np.poly1d([2, 3]) ** d  # each side has 3 points and 2 intervals
        assert part.face_counts.tolist() == grid.coeffs[::-1].astype(int).tolist()


def test_exact_vertices_are_fractions() -> None:
    net = regions.Network([([[3, 0, 0], [0, 7, 0], [1, 1, 1]], [-1, -2, 0]), (np.ones((1, 3)), [0])])
    part = regions.enumerate(net, regions.Box([0] * 3, [1] * 3))
    exact = part.exact_vertices()
    assert len(exact) == len(part.vertices) and exact.dimension == 3
    assert {x for x, _, _ in exact} == {0, Fraction(1, 3), 1} and {y for _, y, _ in exact} == {0, Fraction(2, 7), 1}
    assert (abs(exact.to_float() - part.vertices).max(axis=1) <= part.vertex_errors + 2.0**-53).all()
    assert part.exact_vertices([3, 0, 3])[0] == exact[3] and len(part.exact_vertices([])) == 0
    with pytest.raises(IndexError):
        part.exact_vertices([len(part.vertices)])


def test_the_graph_of_neighbours() -> None:
    part = regions.enumerate(he_normal([3, 8, 8, 1]), regions.Box([-1] * 3, [1] * 3))
    graph = part.to_networkx()
    inner = np.flatnonzero(part.facet_regions[:, 1] >= 0)
    assert len(graph) == len(part) and graph.number_of_edges() == len(inner)
    for facet in inner[::7].tolist():
        edge = graph.edges[tuple(part.facet_regions[facet].tolist())]
        assert edge["facet"] == facet and edge["kink"] == part.facet_kinks[facet]
        assert edge["volume"] == part.facet_volumes[facet]
    assert [graph.nodes[number]["volume"] for number in range(len(part))] == part.volumes.tolist()


def test_views_of_single_regions() -> None:
    part = regions.enumerate(he_normal([4, 8, 2]), regions.Box([-1] * 4, [1] * 4))
    assert [region.index for region in part] == list(range(len(part)))
    for region in part[::5]:
        corners = part.cell_vertices[slice(*part.cell_offsets[region.index : region.index + 2])]
        facets = part.cell_facets[slice(*part.cell_facet_offsets[region.index : region.index + 2])]
        assert (region.vertices == part.vertices[corners]).all() and region.facets.tolist() == facets.tolist()
        assert (region.kinks == part.facet_kinks[facets]).all() and len(region.neighbors) == len(facets)
        assert {region.index} | set(region.neighbors.tolist()) >= set(part.facet_regions[facets].ravel().tolist())
        assert repr(region).startswith(f"Region({region.index} of {len(part)}, {len(corners)} corners")
    with pytest.raises(IndexError, match="numbered from 0"):
        part[len(part)]


def test_what_cannot_be_enumerated_is_refused() -> None:
    net = he_normal([3, 4, 1])
    with pytest.raises(DomainError, match="bounded domains of 3 and more dimensions"):
        regions.enumerate(net, regions.Space([0, 0, 0], np.eye(3)))


def test_what_works_in_planes_only_says_so() -> None:
    part = regions.enumerate(network_of(np.eye(3), np.zeros(3)), regions.Box([-1] * 3, [1] * 3))
    for call in (part.to_shapely, part.folded_cells):
        with pytest.raises(DomainError, match="^shapely geometries exist in 1 or 2 dimensions; this domain has 3"):
            call()
    with pytest.raises(AttributeError, match="no attribute 'to_htm'$"):
        part.to_htm()
    assert part._repr_html_() is None


def test_partitions_are_values(tmp_path: Path) -> None:
    net, box = he_normal([3, 5, 1]), regions.Box([-1] * 3, [1] * 3)
    part = regions.enumerate(net, box)
    same = regions.enumerate(net, box)
    assert part == same and hash(part) == hash(same) and part == pickle.loads(pickle.dumps(part))
    part.save(tmp_path / "part.npz")
    assert regions.PolytopePartition.load(tmp_path / "part.npz") == part
    assert part != regions.enumerate(net, regions.Box([-1] * 3, [1, 1, 2]))
    with pytest.raises(AttributeError, match="immutable"):
        part.volumes = None
    assert part.certificate.regions == len(part) and part.certificate.complete
