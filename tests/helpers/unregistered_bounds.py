# SPDX-License-Identifier: MIT
"""How does `theorems.py` compare bounds that take no widths with networks?

These functions of `regions.bounds` are not in the table `BOUNDS`, because they take other shapes: arrangements, faces,
convolutions and strata. Each function here draws one network from a seed and yields the name of each bound, "holds",
"violated" or "does not apply", and a note. Exact formulas must be equal to the count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

import numpy as np

import regions
from generator_parts import Rng
from generator_parts import network as network_of
from regions import bounds
from regions.constructions import arrangement
from regions.domains import Domain, Plane, Polytope
from regions.errors import BoundDoesNotApply
from regions.measures import boundary_volume, perimeters
from regions.measures.boundary import inner_degrees
from regions.networks.network import Network

__all__ = ["UNREGISTERED", "compared_with_arrangements", "compared_with_convolutions", "compared_with_strata"]

UNREGISTERED = (
    *("chambers", "bounded_chambers", "characteristic_polynomial", "generic_faces", "gaines_bi_facets"),
    *("xiong_cnn", "xiong_cnn_upper", "xiong_cnn_lower", "tube_volume"),
)
PLANE, SQUARE = Plane([0, 0], [1, 0], [0, 1]), regions.Rectangle([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0])

Judged = Iterator[tuple[str, str, str]]


def compared_with_arrangements(seed: int) -> Judged:
    """Compare lines with small integers, which often coincide or are parallel, and lines in general position."""
    rng = np.random.default_rng([seed, 300])
    units = int(rng.integers(2, 9))
    normals, offsets = rng.integers(-2, 3, (units, 2)), rng.integers(-2, 3, units)
    part = regions.enumerate(arrangement(normals, offsets), PLANE)
    found, note = len(part), f"{normals.tolist()}, {offsets.tolist()}"
    yield "chambers", _said(bounds.chambers(normals, offsets) == found), note
    polynomial = bounds.characteristic_polynomial(normals, offsets)
    yield "characteristic_polynomial", _said(abs(int(np.polyval(polynomial, -1))) == found), note
    # In an arrangement that has no vertex, no region is bounded, and the formula counts bounded cross-sections.
    if np.linalg.matrix_rank(normals) == 2:
        bounded = int(np.isfinite(part.volumes).sum())
        yield "bounded_chambers", _said(bounds.bounded_chambers(normals, offsets) == bounded), note
    generic = regions.enumerate(arrangement(rng.standard_normal((units, 2)), rng.standard_normal(units)), PLANE)
    kinks = generic.facet_kinks >= 0
    faces = int((inner_degrees(generic, kinks) > 0).sum()), int(kinks.sum()), len(generic)
    yield "generic_faces", _said(bounds.generic_faces(2, units) == faces), f"{units} lines"


def compared_with_strata(seed: int) -> Judged:
    """Compare faces of a generic deep network, and the area near the edges in a square."""
    rng = np.random.default_rng([seed, 400])
    widths = rng.integers(1, 6, rng.integers(1, 4)).tolist()
    net = network_of(rng, [2, *widths, 1])
    part = regions.enumerate(net, SQUARE)
    kinks = part.facet_kinks >= 0
    # Facets of regions, and ends of facets that are not on the domain boundary.
    of_regions = 2 * int(kinks.sum()) / len(part)
    yield "gaines_bi_facets", _said(of_regions <= bounds.gaines_bi_facets(2)), f"{net!r}"
    ends = np.isin(part.facet_vertices[kinks], np.flatnonzero(inner_degrees(part, kinks))).sum()
    yield "gaines_bi_facets", _said(ends <= bounds.gaines_bi_facets(1) * kinks.sum()), f"{net!r}"
    radius = float(rng.uniform(0.01, 0.3))
    length = boundary_volume(part).total + 8.0
    # The points of a convex region that are further than the radius from all of its edges are its inner offset.
    near = sum(cell.area - cell.buffer(-radius, join_style="mitre").area for cell in part.to_shapely())
    bound = bounds.tube_volume([len(part.vertices), length, 0.0], radius)
    yield "tube_volume", _said(near <= bound * (1 + 1e-9)), f"{net!r}, radius {radius}"
    assert abs(perimeters(part).sum() - 2 * length + 8.0) < 1e-6 * length


def compared_with_convolutions(seed: int) -> Judged:
    """Compare convolutional layers along one axis with exact counts in all of their input space."""
    rng = np.random.default_rng([seed, 500])
    channels = int(rng.integers(1, 3))
    shape = channels, int(rng.integers(2, 5)) // channels
    layers = [
        (int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 3))) for _ in range(rng.integers(1, 3))
    ]
    note = f"{shape}, {layers}"
    domain = _whole_space(prod(shape))
    counted: dict[int, int] = {}

    def found(depth: int) -> int:
        if depth not in counted:
            counted[depth] = regions.count(_convolutional(rng, shape, layers[:depth]), domain)
        return counted[depth]

    checks: dict[str, Callable[[], bool]] = {
        "xiong_cnn": lambda: bounds.xiong_cnn(shape, *layers[0]) == found(1),
        "xiong_cnn_upper": lambda: bounds.xiong_cnn_upper(shape, layers) >= found(len(layers)),
        "xiong_cnn_lower": lambda: bounds.xiong_cnn_lower(shape, layers) <= bounds.xiong_cnn_upper(shape, layers),
    }
    for name, check in checks.items():
        try:
            yield name, _said(check()), note
        except BoundDoesNotApply as reason:
            yield name, "does not apply", str(reason)


def _whole_space(dimension: int) -> Domain | Polytope:
    axes = np.eye(dimension)
    if dimension == 1:
        return regions.Line([0.0], [1.0])
    return PLANE if dimension == 2 else regions.Space(np.zeros(dimension), axes)


def _convolutional(rng: Rng, shape: tuple[int, int], layers: list[tuple[int, int, int]]) -> Network:
    """Draw convolutions along one axis, without padding, as dense layers."""
    (channels, size), dense = shape, []
    for filters, kernel, stride in layers:
        weights, positions = rng.standard_normal((filters, channels, kernel)), (size - kernel) // stride + 1
        rows = np.zeros((filters, positions, channels, size))
        for place in range(positions):
            rows[:, place, :, place * stride : place * stride + kernel] = weights
        biases = np.repeat(rng.standard_normal(filters), positions)
        dense.append((rows.reshape(filters * positions, channels * size), biases))
        channels, size = filters, positions
    return Network([*dense, (np.ones((1, channels * size)), None)])


def _said(holds: bool) -> str:
    return "holds" if holds else "violated"
