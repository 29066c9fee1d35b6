# SPDX-License-Identifier: MIT
"""In which ways can a result in a box be wrong, and is a damaged one right all the same?

A result is taken apart (`loose_results.py`), damaged by one of `DAMAGES`, and joined again. `is_right` compares it
with the undamaged result without `certify`: a vertex is known by the patterns of the regions around it and the facets
of the domain through it, and a region by its pattern, vertices, facets and neighbours. The names of facets are unique
only in generic networks.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import regions
from loose_results import Loose, apart, together
from random_networks import random_network
from regions.certification import verdict

__all__ = ["DAMAGES", "finding", "is_right"]

Damage = Callable[[Loose, np.random.Generator], None]
DAMAGES: dict[str, Damage] = {}


def damage(function: Damage) -> Damage:
    """Register a damage, which changes lists in place; it raises IndexError or ValueError if it is not possible."""
    DAMAGES[function.__name__] = function
    return function


def pick(rng: np.random.Generator, of: list[Any]) -> int:
    """Return the index of a random item."""
    return int(rng.integers(len(of)))


def inner(loose: Loose, rng: np.random.Generator) -> int:
    """Return a random facet between two regions."""
    return int(rng.choice([f for f, facet in enumerate(loose.facets) if facet[1][1] >= 0]))


def flip(pattern: np.ndarray, kink: int) -> None:
    pattern[kink >> 3] ^= 1 << (kink & 7)


@damage
def vertex_moved(loose: Loose, rng: np.random.Generator) -> None:
    place = loose.places[pick(rng, loose.places)]
    place[pick(rng, place)] += 10.0 ** -rng.integers(2, 15)


@damage
def vertices_exchanged(loose: Loose, rng: np.random.Generator) -> None:
    one, other = rng.choice(len(loose.places), 2, replace=False)
    loose.places[one], loose.places[other] = loose.places[other], loose.places[one]


@damage
def error_understated(loose: Loose, rng: np.random.Generator) -> None:
    loose.errors[pick(rng, loose.errors)] = 0.0


@damage
def error_overstated(loose: Loose, rng: np.random.Generator) -> None:
    loose.errors[pick(rng, loose.errors)] = 1.0


@damage
def bit_flipped(loose: Loose, rng: np.random.Generator) -> None:
    kinks = [facet[0] for facet in loose.facets if facet[0] >= 0]
    flip(loose.cells[pick(rng, loose.cells)][0], int(rng.choice(kinks)))


@damage
def patterns_exchanged(loose: Loose, rng: np.random.Generator) -> None:
    one, other = rng.choice(len(loose.cells), 2, replace=False)
    loose.cells[one][0], loose.cells[other][0] = loose.cells[other][0], loose.cells[one][0]


@damage
def pattern_of_the_neighbour(loose: Loose, rng: np.random.Generator) -> None:
    one, other = loose.facets[inner(loose, rng)][1]
    loose.cells[one][0] = loose.cells[other][0].copy()


@damage
def wrong_kink(loose: Loose, rng: np.random.Generator) -> None:
    facet = loose.facets[inner(loose, rng)]
    facet[0] = int(rng.choice([f[0] for f in loose.facets if f[0] >= 0]))


@damage
def wrong_side_of_the_domain(loose: Loose, rng: np.random.Generator) -> None:
    border = [f for f in loose.facets if f[0] < 0]
    border[pick(rng, border)][0] = int(rng.choice([f[0] for f in border]))


@damage
def kinks_exchanged(loose: Loose, rng: np.random.Generator) -> None:
    one, other = loose.facets[inner(loose, rng)], loose.facets[inner(loose, rng)]
    one[0], other[0] = other[0], one[0]


@damage
def vertex_dropped_from_a_facet(loose: Loose, rng: np.random.Generator) -> None:
    facet = loose.facets[pick(rng, loose.facets)]
    facet[2].pop(pick(rng, facet[2]))


@damage
def vertex_dropped_from_a_region(loose: Loose, rng: np.random.Generator) -> None:
    cell = loose.cells[pick(rng, loose.cells)]
    vertex = cell[1].pop(pick(rng, cell[1]))
    for facet in cell[2]:
        if vertex in loose.facets[facet][2]:
            loose.facets[facet][2].remove(vertex)


@damage
def vertex_dropped_everywhere(loose: Loose, rng: np.random.Generator) -> None:
    vertex = pick(rng, loose.places)
    for rows in ([cell[1] for cell in loose.cells], [facet[2] for facet in loose.facets]):
        for row in rows:
            if vertex in row:
                row.remove(vertex)
            row[:] = [each - (each > vertex) for each in row]
    loose.places.pop(vertex)
    loose.errors.pop(vertex)


@damage
def vertex_added_to_a_facet(loose: Loose, rng: np.random.Generator) -> None:
    facet = loose.facets[pick(rng, loose.facets)]
    common = set.intersection(*(set(loose.cells[r][1]) for r in facet[1] if r >= 0)) - set(facet[2])
    facet[2].append(int(rng.choice(sorted(common))))


@damage
def vertex_added_to_a_region(loose: Loose, rng: np.random.Generator) -> None:
    cell = loose.cells[pick(rng, loose.cells)]
    cell[1].append(int(rng.choice(sorted(set(range(len(loose.places))) - set(cell[1])))))


@damage
def vertex_of_no_region(loose: Loose, rng: np.random.Generator) -> None:
    loose.places.append([0.125] * len(loose.places[0]))
    loose.errors.append(0.0)


@damage
def vertex_doubled(loose: Loose, rng: np.random.Generator) -> None:
    """Some regions around a vertex get a copy of the vertex, and so do the facets between these regions."""
    vertex, new = pick(rng, loose.places), len(loose.places)
    around = [r for r, cell in enumerate(loose.cells) if vertex in cell[1]]
    mine = set(rng.permutation(around)[: rng.integers(1, len(around) + 1)].tolist())
    loose.places.append(list(loose.places[vertex]))
    loose.errors.append(loose.errors[vertex])
    for region in mine:
        loose.cells[region][1] = [new if v == vertex else v for v in loose.cells[region][1]]
    for facet in loose.facets:
        if set(facet[1]) - {-1} <= mine:
            facet[2] = [new if v == vertex else v for v in facet[2]]


@damage
def facet_dropped(loose: Loose, rng: np.random.Generator) -> None:
    gone = pick(rng, loose.facets)
    loose.facets.pop(gone)
    for cell in loose.cells:
        cell[2] = [facet - (facet > gone) for facet in cell[2] if facet != gone]


@damage
def facet_doubled(loose: Loose, rng: np.random.Generator) -> None:
    facet = pick(rng, loose.facets)
    loose.facets.append(copy.deepcopy(loose.facets[facet]))
    for region in loose.facets[facet][1]:
        if region >= 0:
            loose.cells[region][2].append(len(loose.facets) - 1)


@damage
def facets_exchanged(loose: Loose, rng: np.random.Generator) -> None:
    one, other = loose.cells[pick(rng, loose.cells)], loose.cells[pick(rng, loose.cells)]
    i, j = pick(rng, one[2]), pick(rng, other[2])
    one[2][i], other[2][j] = other[2][j], one[2][i]


@damage
def neighbours_exchanged(loose: Loose, rng: np.random.Generator) -> None:
    """Two regions exchange everything but their patterns, and so do the facets around them."""
    one, other = rng.choice(len(loose.cells), 2, replace=False).tolist()
    new = {one: other, other: one}
    for facet in loose.facets:
        facet[1] = [new.get(region, region) for region in facet[1]]
    loose.cells[one][1:], loose.cells[other][1:] = loose.cells[other][1:], loose.cells[one][1:]


@damage
def region_missing(loose: Loose, rng: np.random.Generator) -> None:
    _remove(loose, pick(rng, loose.cells), lambda facet: facet[0])


@damage
def region_missing_at_the_border(loose: Loose, rng: np.random.Generator) -> None:
    """The neighbours' facets claim to be on the boundary of the domain."""
    borders = [f[0] for f in loose.facets if f[0] < 0]
    _remove(loose, pick(rng, loose.cells), lambda facet: int(rng.choice(borders)))


def _remove(loose: Loose, gone: int, kink: Callable[[list[Any]], int]) -> None:
    """Remove a region, and all its facets that have no other side."""
    loose.cells.pop(gone)
    kept = []
    for facet in loose.facets:
        if gone in facet[1]:
            (other,) = set(facet[1]) - {gone}
            if other < 0:
                continue
            facet[0], facet[1] = kink(facet), [other, -1]
        facet[1] = [region - (region > gone) for region in facet[1]]
        kept.append(facet)
    number = {id(facet): index for index, facet in enumerate(kept)}
    for cell in loose.cells:
        cell[2] = [number[id(loose.facets[facet])] for facet in cell[2]]
    loose.facets[:] = kept


@damage
def region_doubled(loose: Loose, rng: np.random.Generator) -> None:
    """A region is listed twice; the copy has another pattern, and no neighbours."""
    region = pick(rng, loose.cells)
    _copy(loose, region, int(rng.choice([facet[0] for facet in loose.facets if facet[0] >= 0])))


@damage
def region_doubled_with_its_facets(loose: Loose, rng: np.random.Generator) -> None:
    _copy(loose, pick(rng, loose.cells), -1)


def _copy(loose: Loose, region: int, flipped: int) -> None:
    pattern, vertices, facets = copy.deepcopy(loose.cells[region])
    if flipped >= 0:
        flip(pattern, flipped)
    new, mine = len(loose.cells), []
    for facet in facets:
        kink, _, ends = loose.facets[facet]
        mine.append(len(loose.facets))
        loose.facets.append([min(kink, -1) if flipped < 0 else -1, [new, -1], list(ends)])
    loose.cells.append([pattern, vertices, mine])


@damage
def regions_merged(loose: Loose, rng: np.random.Generator) -> None:
    """Two regions with a common facet become one, with the pattern of the first."""
    wall = inner(loose, rng)
    one, other = loose.facets[wall][1]
    loose.cells[one][1] = list(dict.fromkeys(loose.cells[one][1] + loose.cells[other][1]))
    moved = [f for f in loose.cells[other][2] if f != wall]
    loose.cells[one][2] = [f for f in loose.cells[one][2] if f != wall] + moved
    for facet in moved:
        loose.facets[facet][1] = [one if region == other else region for region in loose.facets[facet][1]]
    loose.cells[other][2] = []
    _close_gap(loose, other, wall)


@damage
def regions_merged_to_one_facet(loose: Loose, rng: np.random.Generator) -> None:
    """As above; then facets on one kink with one neighbour become one facet, without the vertices between them."""
    regions_merged(loose, rng)
    groups = defaultdict(list)
    for number, facet in enumerate(loose.facets):
        groups[(facet[0], *sorted(facet[1]))].append(number)
    for numbers in groups.values():
        if len(numbers) > 1 and loose.facets[numbers[0]][1][1] >= 0:
            first, *others = numbers
            for number in others:
                loose.facets[first][2] = list(dict.fromkeys(loose.facets[first][2] + loose.facets[number][2]))
                for region in loose.facets[number][1]:
                    loose.cells[region][2].remove(number)


def _close_gap(loose: Loose, gone: int, wall: int) -> None:
    loose.cells.pop(gone)
    loose.facets.pop(wall)
    for facet in loose.facets:
        facet[1] = [region - (region > gone) for region in facet[1]]
    for cell in loose.cells:
        cell[2] = [facet - (facet > wall) for facet in cell[2]]


def _corner_cut(loose: Loose, rng: np.random.Generator, flipped: int) -> None:
    """Cut a region at the neighbours of one of its vertices, along no kink; facets there are cut too."""
    region = pick(rng, loose.cells)
    pattern, vertices, facets = loose.cells[region]
    d = len(loose.places[0])
    on = {v: frozenset(f for f in facets if v in loose.facets[f][2]) for v in vertices}
    corner = int(rng.choice([v for v in vertices if len(on[v]) == d]))
    around = [v for v in vertices if v != corner and len(on[v] & on[corner]) == d - 1]
    if len(around) != d or len(vertices) == d + 1:
        raise ValueError("no such corner")
    new, wall = len(loose.cells), len(loose.facets)
    loose.cells.append([pattern.copy(), [corner, *around], [wall]])
    if flipped >= 0:
        flip(loose.cells[new][0], flipped)
    loose.facets.append([max(flipped, 0), [region, new], list(around)])
    vertices.remove(corner)
    facets.append(wall)
    for number in on[corner]:
        kink, sides, ends = loose.facets[number]
        cut = [v for v in ends if v == corner or v in around]
        left = [v for v in ends if v != corner]
        if len(left) < d:  # all of it
            loose.facets[number][1] = [new if side == region else side for side in sides]
            facets.remove(number)
            loose.cells[new][2].append(number)
            continue
        extra = len(loose.facets)
        loose.facets.append([kink, [new if side == region else side for side in sides], cut])
        loose.cells[new][2].append(extra)
        for side in sides:
            if side not in (region, -1):
                loose.cells[side][2].append(extra)
        loose.facets[number][2] = left


@damage
def region_cut_in_two(loose: Loose, rng: np.random.Generator) -> None:
    _corner_cut(loose, rng, -1)


@damage
def region_cut_in_two_with_another_pattern(loose: Loose, rng: np.random.Generator) -> None:
    _corner_cut(loose, rng, int(rng.choice([facet[0] for facet in loose.facets if facet[0] >= 0])))


def finding(name: str, seed: int) -> tuple[str, str]:
    """Return what became of a damage: "skipped", "right" or "wrong", and what is to be said about the verdict.

    Every second result is decided by values at vertices.
    """
    rng = np.random.default_rng([seed, *name.encode()])
    dimension = 3 + int(rng.integers(4) == 0)
    net = random_network([dimension, 4 + seed % 3, 3, 1], seed)
    truth = regions.enumerate(net, regions.Box([-1] * dimension, [1] * dimension))
    loose = apart(truth)
    try:
        DAMAGES[name](loose, rng)
    except (IndexError, ValueError):
        return "skipped", ""
    damaged = together(loose, truth)
    right, soon = is_right(damaged, truth), verdict.SOON
    try:
        verdict.SOON = 0 if rng.integers(2) else soon
        report = regions.certify(damaged, net)
    finally:
        verdict.SOON = soon
    said = "" if report.ok == right else f"certify says {report.conclusion}"
    return "right" if right else "wrong", said


def is_right(part: regions.PolytopePartition, truth: regions.PolytopePartition) -> bool:
    """Return whether a damaged result of a generic network is equal to the truth, up to numbers and their bounds."""
    try:
        mine, known = _named(apart(part)), _named(apart(truth))
    except (IndexError, ValueError):
        return False
    if mine is None or known is None or mine[0] != known[0] or mine[1].keys() != known[1].keys():
        return False
    exact = truth.exact_vertices()
    widest = float(np.ptp(part.domain.generators[:, 1:], axis=0).max())
    for name, vertex in mine[1].items():
        error = float(part.vertex_errors[vertex])
        true = exact[known[1][name]]
        if not 0 <= error <= widest / 32 or any(
            abs(Fraction(a) - b) > Fraction(error) for a, b in zip(part.vertices[vertex].tolist(), true, strict=True)
        ):
            return False
    return True


def _named(loose: Loose) -> tuple[Any, dict[Any, int]] | None:
    """Regions by pattern, with names of vertices in place of numbers; and numbers by names. None if it is damaged."""
    around: list[set[Any]] = [set() for _ in loose.places]
    used: dict[int, list[int]] = defaultdict(list)
    patterns = [cell[0].tobytes() for cell in loose.cells]
    for pattern, (_, vertices, facets) in zip(patterns, loose.cells, strict=True):
        for vertex in vertices:
            around[vertex].add(pattern)
        for facet in facets:
            used[facet].append(patterns.index(pattern))
            if loose.facets[facet][0] < 0:
                for vertex in loose.facets[facet][2]:
                    around[vertex].add(loose.facets[facet][0])
    names = [frozenset(each) for each in around]
    if len(set(names)) != len(names) or len(set(patterns)) != len(patterns) or frozenset() in names:
        return None
    if any(sorted(used[f]) != sorted(set(facet[1]) - {-1}) for f, facet in enumerate(loose.facets)):
        return None
    cells = {}
    for number, (_, vertices, facets) in enumerate(loose.cells):
        sides = []
        for facet in facets:
            kink, (one, other), ends = loose.facets[facet]
            if len(set(ends)) != len(ends) or not set(ends) <= set(vertices):
                return None
            across = other if one == number else one
            sides.append((kink, patterns[across] if across >= 0 else b"", frozenset(names[v] for v in ends)))
        if len(set(vertices)) != len(vertices) or len(set(sides)) != len(sides):
            return None
        cells[patterns[number]] = frozenset(names[v] for v in vertices), frozenset(sides)
    return cells, {name: vertex for vertex, name in enumerate(names)}
