# SPDX-License-Identifier: MIT
"""Random damage to a result in a plane at the seams of its blocks, and to single numbers, bit by bit.

A block is a set of consecutive regions, as in a stream; a seam is where two blocks meet. Each function takes a `Case`
and a generator, like those of `certificates_judge.DAMAGES`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from damage_parts import Case, Cell, assembled, cells_of
from regions.results.partition import ARRAYS

__all__ = ["BLOCK_DAMAGES"]


def _blocks(case: Case, rng: np.random.Generator) -> tuple[list[Cell], list[Cell]]:
    cells = cells_of(case)
    cut = int(rng.integers(1, len(cells)))
    return cells[:cut], cells[cut:]


def _copied(case: Case, cells: list[Cell], vertices: set[int]) -> tuple[Case, list[Cell]]:
    """The cells with copies of some vertices in place of these."""
    chosen, count = sorted(vertices), len(case.raw["vertices"])
    raw = {n: np.concatenate([case.raw[n], case.raw[n][chosen]]) for n in ("vertices", "vertex_errors")}
    other = {vertex: count + index for index, vertex in enumerate(chosen)}
    moved = [replace(cell, vertices=[other.get(v, v) for v in cell.vertices]) for cell in cells]
    return replace(case, raw={**case.raw, **raw}), moved


def _seam(one: list[Cell], two: list[Cell]) -> set[int]:
    first, second = ({v for cell in cells for v in cell.vertices} for cells in (one, two))
    return first & second


def seam_open(case: Case, rng: np.random.Generator) -> Case:
    """The second block has its own vertices on the seam, so that the facets there have one region."""
    one, two = _blocks(case, rng)
    case, two = _copied(case, two, _seam(one, two))
    return assembled(case, one + two)


def seam_vertex_doubled(case: Case, rng: np.random.Generator) -> Case:
    """The second block has its own copy of one vertex on the seam."""
    one, two = _blocks(case, rng)
    case, two = _copied(case, two, {int(rng.choice(sorted(_seam(one, two))))})
    return assembled(case, one + two)


def seam_vertices_shifted(case: Case, rng: np.random.Generator) -> Case:
    """The second block takes the next vertex for each vertex on the seam."""
    one, two = _blocks(case, rng)
    seam = sorted(_seam(one, two))
    following = dict(zip(seam, seam[1:] + seam[:1], strict=True))
    moved = [replace(cell, vertices=[following.get(v, v) for v in cell.vertices]) for cell in two]
    return assembled(case, one + moved)


def seam_facets_shifted(case: Case, rng: np.random.Generator) -> Case:
    """Facets on the seam name the second region of the next facet there."""
    sides, cut = case.raw["facet_regions"], int(rng.integers(1, len(case.raw["packed_patterns"])))
    seam = np.flatnonzero((sides.min(axis=1) >= 0) & ((sides < cut).sum(axis=1) == 1))
    return case.put("facet_regions", (seam, 1), np.roll(sides[seam, 1], 1))


def block_missing(case: Case, rng: np.random.Generator) -> Case:
    """The facets on the seam are said to be on the domain boundary, or have no second region."""
    left = assembled(case, _blocks(case, rng)[int(rng.integers(2))])
    hole = (left.raw["facet_regions"][:, 1] < 0) & (left.raw["facet_kinks"] >= 0)
    if rng.random() < 0.5:
        left.put("facet_kinks", hole, -1 - rng.integers(len(case.domain.generators)))
    return left


def block_doubled(case: Case, rng: np.random.Generator) -> Case:
    one, two = _blocks(case, rng)
    case, again = _copied(case, one, {v for cell in one for v in cell.vertices})
    return assembled(case, one + two + again)


def blocks_exchanged(case: Case, rng: np.random.Generator) -> Case:
    """The regions come in another order: the result stays right."""
    one, two = _blocks(case, rng)
    return assembled(case, two + one)


def bit_of_a_number(case: Case, rng: np.random.Generator) -> Case:
    """Any bit of any array."""
    array = case.raw[str(rng.choice(ARRAYS))]
    flat = array.reshape(-1).view(np.uint8)
    flat[rng.integers(flat.size)] ^= np.uint8(1 << rng.integers(8))
    return case


def numbers_exchanged(case: Case, rng: np.random.Generator) -> Case:
    """Two entries of one array."""
    flat = case.raw[str(rng.choice(ARRAYS))].reshape(-1)
    pair = rng.choice(flat.size, 2, replace=False)
    flat[pair] = flat[pair[::-1]]
    return case


def vertex_one_ulp_beyond_its_bound(case: Case, rng: np.random.Generator) -> Case:
    """A coordinate is the first double outside of the bound around the true one."""
    vertex, axis = int(rng.integers(len(case.raw["vertices"]))), int(rng.integers(case.domain.dimension))
    true, bound = case.partition().exact_vertices([vertex])[0][axis], case.raw["vertex_errors"][vertex]
    side = 1 if rng.random() < 0.5 else -1
    moved = float(true) + side * bound
    while abs(type(true)(moved) - true) <= type(true)(bound):
        moved = np.nextafter(moved, side * np.inf)
    return case.put("vertices", (vertex, axis), moved)


def bound_one_ulp_too_small(case: Case, rng: np.random.Generator) -> Case:
    """The bound of a vertex is the largest double below its error; it stays right if the vertex is exact."""
    vertex = int(rng.integers(len(case.raw["vertices"])))
    true, stored = case.partition().exact_vertices([vertex])[0], case.raw["vertices"][vertex].tolist()
    error = max(abs(type(x)(y) - x) for x, y in zip(true, stored, strict=True))
    bound = float(error)
    while error > 0 and type(error)(bound) >= error:
        bound = np.nextafter(bound, -np.inf)
    return case.put("vertex_errors", vertex, bound)


BLOCK_DAMAGES = {
    damage.__name__: damage
    for damage in (
        seam_open,
        seam_vertex_doubled,
        seam_vertices_shifted,
        seam_facets_shifted,
        block_missing,
        block_doubled,
        blocks_exchanged,
        bit_of_a_number,
        numbers_exchanged,
        vertex_one_ulp_beyond_its_bound,
        bound_one_ulp_too_small,
    )
}
