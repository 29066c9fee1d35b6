# SPDX-License-Identifier: MIT
"""Does `certify` reject results that are wrong by construction, of all families, in one to six dimensions?

Each damage changes a right result so that it is wrong whatever the network is: a pattern that the region cannot have, a
number of regions or vertices that differs from the true one, a kink that does not flip, a coordinate beyond its bound.
Therefore nothing has to be compared to know the verdict. Results are complete or partial, on bounded and unbounded
domains, of chains, graphs and max units, whole or in blocks, and vertices are decided by values or in integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

import regions
from certificates_judge import only_the_proof
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from loose_results import Loose, apart, together
from random_networks import random_network
from regions.certification import verdict
from regions.networks.graph import Maxima

__all__ = ["DAMAGES", "Given", "drawn", "finding"]

# Most regions of a result; the slowest families are left out.
MOST = 60
DRAWN = sorted({*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES, *CLIPPED_FAMILIES} - {"graph_deep", "clipped_deep"})


class NotPossible(Exception):
    """This result cannot be damaged in this way."""


@dataclass
class Given:
    """A right result, in lists, and what else a damage may change."""

    part: Any
    loose: Loose
    rng: np.random.Generator
    others: dict[str, Any]

    def pick(self, items: Any) -> Any:
        items = list(items)
        if not items:
            raise NotPossible
        return items[int(self.rng.integers(len(items)))]

    def facets(self, inner: bool) -> list[int]:
        return [f for f, (kink, (_, other), _) in enumerate(self.loose.facets) if (kink >= 0 and other >= 0) == inner]


Damage = Callable[[Given], None]
DAMAGES: dict[str, Damage] = {}


def damage(function: Damage) -> Damage:
    DAMAGES[function.__name__] = function
    return function


@damage
def another_pattern(given: Given) -> None:
    """One unit of a region is on another piece."""
    net, cell = given.part.network, given.pick(given.loose.cells)
    bits = net.graph.bits(cell[0])
    node = given.pick(node for node in net.graph.hidden if node.units.kinks)
    pieces = node.units.pieces_of(bits[node.kinks]).astype(np.int64)
    counts = node.units.sizes if isinstance(node.units, Maxima) else np.full(node.units.count, node.units.each + 1)
    unit = given.pick(np.flatnonzero(counts > 1))
    pieces[unit] = given.pick(set(range(int(counts[unit]))) - {int(pieces[unit])})
    bits[node.kinks] = node.units.bits_of(pieces)
    cell[0] = np.packbits(bits, bitorder="little")


@damage
def pattern_of_another_region(given: Given) -> None:
    one, other = _two(given, given.loose.cells)
    one[0] = other[0].copy()


@damage
def patterns_exchanged(given: Given) -> None:
    one, other = _two(given, given.loose.cells)
    one[0], other[0] = other[0], one[0]


@damage
def patterns_rotated(given: Given) -> None:
    cells = given.loose.cells
    _two(given, cells)
    patterns = [cell[0] for cell in cells]
    for cell, pattern in zip(cells, patterns[1:] + patterns[:1], strict=True):
        cell[0] = pattern


@damage
def coordinate_beyond_its_bound(given: Given) -> None:
    vertex, axis, true = _exact_coordinate(given)
    bound, side = given.loose.errors[vertex], given.pick((-1, 1))
    moved = float(true) + side * bound * 2.0 ** float(given.pick((0, 0, 1, 4, 20)))
    while abs(Fraction(moved) - true) <= Fraction(bound):
        moved = float(np.nextafter(moved, side * np.inf))
    given.loose.places[vertex][axis] = moved


@damage
def bound_below_the_error(given: Given) -> None:
    vertex, axis, true = _exact_coordinate(given)
    error = abs(Fraction(given.loose.places[vertex][axis]) - true)
    if not error:
        raise NotPossible
    bound = float(error) * float(given.pick((1.0, 0.99, 0.5, 0.0)))
    while Fraction(bound) >= error:
        bound = float(np.nextafter(bound, -1.0))
    given.loose.errors[vertex] = bound


@damage
def bound_as_wide_as_the_domain(given: Given) -> None:
    if not given.part.domain.bounded:
        raise NotPossible
    widths = np.ptp(given.part.domain.generators[:, 1:], axis=0)
    given.loose.errors[given.pick(range(len(given.loose.errors)))] = float(widths.max())


@damage
def all_vertices_shifted(given: Given) -> None:
    if not given.part.domain.bounded:
        raise NotPossible
    shift = 4 * max(given.loose.errors) + 1e-9 * float(np.abs(given.part.vertices).max())
    for place in given.loose.places:
        place[0] += shift


@damage
def kink_that_does_not_flip(given: Given) -> None:
    facet = given.loose.facets[given.pick(given.facets(inner=True))]
    one, other = (given.part.network.graph.bits(given.loose.cells[region][0]) for region in facet[1])
    facet[0] = int(given.pick(np.flatnonzero(one == other)))


@damage
def all_facets_of_one_kink(given: Given) -> None:
    """In a region with d facets inside the domain these have several kinks, because they are bounded by a corner."""
    kinks = {facet[0] for facet in given.loose.facets if facet[0] >= 0}
    if len(kinks) < 2 or given.part.dimension == 1 or given.part.network.graph.hidden == ():
        raise NotPossible
    kink = given.pick(kinks)
    changed = [facet for facet in given.loose.facets if facet[0] >= 0 and not _flips(given, facet, kink)]
    if not changed:
        raise NotPossible
    for facet in changed:
        facet[0] = kink


@damage
def edge_of_the_domain_renamed(given: Given) -> None:
    if not given.part.domain.bounded or given.part.dimension > 2:
        raise NotPossible
    facet = given.loose.facets[given.pick(f for f, each in enumerate(given.loose.facets) if each[0] < 0)]
    facet[0] = int(given.pick(set(range(-len(given.part.domain.generators), 0)) - {facet[0]}))


@damage
def region_left_out(given: Given) -> None:
    """Its neighbours' facets get the name of an inequality of the domain, or keep that of the kink."""
    if not given.part.complete or len(given.loose.cells) < 2:
        raise NotPossible
    gone, named = given.pick(range(len(given.loose.cells))), bool(given.rng.integers(2))
    _remove(given.loose, gone, lambda kink: -1 - int(given.rng.integers(2)) if named else kink)


@damage
def region_listed_twice(given: Given) -> None:
    """The copy has vertices and facets of its own."""
    loose = given.loose
    pattern, vertices, facets = given.pick(loose.cells)
    new = {vertex: len(loose.places) + index for index, vertex in enumerate(vertices)}
    loose.places += [list(loose.places[vertex]) for vertex in vertices]
    loose.errors += [loose.errors[vertex] for vertex in vertices]
    mine, number = [], len(loose.cells)
    for facet in facets:
        kink, _, ends = loose.facets[facet]
        mine.append(len(loose.facets))
        loose.facets.append([min(kink, -1), [number, -1], [new[vertex] for vertex in ends]])
    loose.cells.append([pattern.copy(), [new[vertex] for vertex in vertices], mine])


@damage
def vertices_identified(given: Given) -> None:
    """One vertex takes the place of another one, in all lists."""
    one, other = _two(given, range(len(given.loose.places)))
    for cell in given.loose.cells:
        cell[1] = [other if vertex == one else vertex for vertex in cell[1]]
    for facet in given.loose.facets:
        facet[2] = [other if vertex == one else vertex for vertex in facet[2]]


@damage
def vertex_split(given: Given) -> None:
    """Some of the regions around a vertex have a copy of it."""
    if not given.part.complete:
        raise NotPossible
    loose, vertex = given.loose, given.pick(range(len(given.loose.places)))
    around = [region for region, cell in enumerate(loose.cells) if vertex in cell[1]]
    mine, new = set(given.rng.permutation(around)[: given.rng.integers(1, len(around) + 1)].tolist()), len(loose.places)
    loose.places.append(list(loose.places[vertex]))
    loose.errors.append(loose.errors[vertex])
    for region in mine:
        loose.cells[region][1] = [new if v == vertex else v for v in loose.cells[region][1]]
    for facet in loose.facets:
        if set(facet[1]) - {-1} <= mine:
            facet[2] = [new if v == vertex else v for v in facet[2]]


@damage
def vertex_of_no_region(given: Given) -> None:
    if not given.part.complete:
        raise NotPossible
    given.loose.places.append([0.0] * given.part.dimension)
    given.loose.errors.append(0.0)


@damage
def vertices_exchanged(given: Given) -> None:
    """Two vertices change places in all lists, but keep their coordinates."""
    one, other = _two(given, range(len(given.loose.places)))
    if given.loose.places[one] == given.loose.places[other] or not given.part.domain.bounded:
        raise NotPossible
    wide = 2 * (given.loose.errors[one] + given.loose.errors[other])
    if max(abs(a - b) for a, b in zip(given.loose.places[one], given.loose.places[other], strict=True)) <= wide:
        raise NotPossible
    swap = {one: other, other: one}
    for rows in (given.loose.cells, [[f, f[2]] for f in given.loose.facets]):
        for row in rows:
            row[1][:] = [swap.get(vertex, vertex) for vertex in row[1]]


@damage
def regions_joined(given: Given) -> None:
    """Two neighbours become one region, in a plane or on a line without the vertices of their facet."""
    loose, d = given.loose, given.part.dimension
    wall = given.pick(given.facets(inner=True))
    one, other = loose.facets[wall][1]
    if d == 1:
        left, right = (one, other) if loose.cells[one][1][1] == loose.cells[other][1][0] else (other, one)
        loose.cells[one][1:] = [
            [loose.cells[left][1][0], loose.cells[right][1][1]],
            [loose.cells[left][2][0], loose.cells[right][2][1]],
        ]
    elif d == 2:
        loose.cells[one][1:] = _ring(loose, one, other, wall)
    else:
        loose.cells[one][1] = list(dict.fromkeys(loose.cells[one][1] + loose.cells[other][1]))
        loose.cells[one][2] = [f for f in loose.cells[one][2] + loose.cells[other][2] if f != wall]
    for facet in loose.facets:
        facet[1] = [one if region == other else region for region in facet[1]]
    _close(loose, other, wall)


@damage
def region_cut_in_two(given: Given) -> None:
    """A polygon is cut along a diagonal; the new part has the pattern with another bit."""
    if given.part.dimension != 2 or not given.part.network.kinks:
        raise NotPossible
    loose = given.loose
    region = given.pick(r for r, cell in enumerate(loose.cells) if len(cell[1]) > 3)
    pattern, ring, sides = loose.cells[region]
    at, new, wall = int(given.rng.integers(2, len(ring) - 1)), len(loose.cells), len(loose.facets)
    kink = int(given.rng.integers(given.part.network.kinks))
    other = pattern.copy()
    other[kink >> 3] ^= 1 << (kink & 7)
    loose.facets.append([kink, [region, new], [ring[at], ring[0]]])
    loose.cells[region][1:] = [ring[: at + 1], [*sides[:at], wall]]
    loose.cells.append([other, [ring[0], *ring[at:]], [wall, *sides[at:]]])
    for side in sides[at:]:
        loose.facets[side][1] = [new if r == region else r for r in loose.facets[side][1]]


@damage
def facet_of_other_neighbours(given: Given) -> None:
    """Two facets exchange the regions on one of their sides."""
    one, other = _two(given, given.facets(inner=True))
    first, second = given.loose.facets[one][1], given.loose.facets[other][1]
    if first[1] == second[1]:
        raise NotPossible
    first[1], second[1] = second[1], first[1]


@damage
def part_called_complete(given: Given) -> None:
    if given.part.complete or regions.count(given.part.network, given.part.domain) == len(given.part):
        raise NotPossible
    given.others["complete"] = True


@damage
def domain_moved(given: Given) -> None:
    domain = given.part.domain
    if not domain.bounded or given.part.dimension > 2 or not any(facet[0] < 0 for facet in given.loose.facets):
        raise NotPossible
    generators = domain.generators.copy()
    generators[:, 1:] += 0.01 * np.abs(generators[:, 1:]).max() + 4 * max(given.loose.errors)
    given.others["domain"] = regions.domains.Domain(domain.origin, domain.directions, generators)


def _two(given: Given, items: Any) -> list[Any]:
    items = list(items)
    if len(items) < 2:
        raise NotPossible
    return [items[index] for index in given.rng.choice(len(items), 2, replace=False).tolist()]


def _exact_coordinate(given: Given) -> tuple[int, int, Fraction]:
    if not given.part.domain.bounded:
        raise NotPossible
    vertex, axis = given.pick(range(len(given.loose.places))), int(given.rng.integers(given.part.dimension))
    return vertex, axis, Fraction(given.part.exact_vertices([vertex])[0][axis])


def _flips(given: Given, facet: list[Any], kink: int) -> bool:
    """Whether a kink may flip across a facet; true if the facet has no other side."""
    patterns = [given.part.network.graph.bits(given.loose.cells[region][0]) for region in facet[1] if region >= 0]
    return len(patterns) < 2 or bool(patterns[0][kink] != patterns[1][kink])


def _ring(loose: Loose, one: int, other: int, wall: int) -> list[list[int]]:
    """The corners and facets around two polygons with a common edge."""
    vertices, facets = [], []
    for region in (one, other):
        _, ring, sides = loose.cells[region]
        at = sides.index(wall) + 1
        vertices += [*ring[at:], *ring[: at - 1]]
        facets += [*sides[at:], *sides[: at - 1]]
    return [vertices, facets]


def _remove(loose: Loose, gone: int, rename: Callable[[int], int]) -> None:
    loose.cells.pop(gone)
    kept, number = [], dict[int, int]()
    for index, facet in enumerate(loose.facets):
        others = [region for region in facet[1] if region not in (gone, -1)]
        if others:
            if gone in facet[1]:
                facet[0], facet[1] = rename(facet[0]), [*others, -1]
                if loose.facets[index][2] and len(facet[2]) == 2:
                    facet[2] = facet[2][::-1] if facet[1][0] != others[0] else facet[2]
            facet[1] = [region - (region > gone) for region in facet[1]]
            number[index] = len(kept)
            kept.append(facet)
    loose.facets[:] = kept
    for cell in loose.cells:
        cell[2] = [number[facet] for facet in cell[2]]


def _close(loose: Loose, gone: int, wall: int) -> None:
    """Leave out a region and a facet, and number the others anew."""
    loose.cells.pop(gone)
    loose.facets.pop(wall)
    for facet in loose.facets:
        facet[1] = [region - (region > gone) for region in facet[1]]
    for cell in loose.cells:
        cell[2] = [facet - (facet > wall) for facet in cell[2]]


def drawn(seed: int) -> Any:
    """Return a right result with few regions; about one in six is partial."""
    rng = np.random.default_rng([seed, 77])
    while True:
        d = int(rng.choice([1, 2, 3, 4, 5], p=[0.25, 0.4, 0.25, 0.07, 0.03]))
        if d > 4 or rng.random() < 0.3:
            widths = rng.integers(1, 6 if d < 4 else 4, int(rng.integers(1, 4))).tolist()
            net, domain = random_network([d, *widths, 1], int(rng.integers(1 << 30))), _cube(d)
        else:
            try:
                net, domain = draw(str(rng.choice(DRAWN)), d, int(rng.integers(1 << 30)))
            except ValueError:  # the family has no domains of so many dimensions
                continue
            if (d > 2 and not domain.bounded) or domain.n_in != net.n_in:
                continue
        limit = int(rng.integers(2, 40)) if rng.random() < 1 / 6 else None
        try:
            if regions.count(net, domain, limit=MOST) <= MOST:
                return regions.enumerate(net, domain, limit=limit)
        except regions.LimitReached as stopped:
            if limit and stopped.partial is not None and len(getattr(stopped.partial, "cell_offsets", ())) > 1:
                return stopped.partial


def _cube(d: int) -> Any:
    if d == 1:
        return regions.Segment([-1.0], [1.0])
    return regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]) if d == 2 else regions.Box([-1] * d, [1] * d)


def finding(seed: int, name: str | None = None) -> tuple[str, str]:
    """Damage a result; return the kind of damage, or "" if none was possible, and what is wrong with the verdicts.

    The undamaged result is certified as well, and must be accepted.
    """
    rng, part = np.random.default_rng([seed, 78]), drawn(seed)
    of_regions = {"arrays", "disjoint", "cells", "inequalities", "patterns", "neighbours"}  # streams claim no more
    names = [name] if name else rng.permutation(sorted(DAMAGES)).tolist()
    with only_the_proof(), mock.patch.object(verdict, "SOON", 0 if rng.integers(2) else verdict.SOON):
        right = regions.certify(part, part.network)
        if not right.ok or right.complete != part.complete:
            return "none", f"a right result of {part!r}: {right.conclusion}"
        for each in names:
            given = Given(part, apart(part), rng, {})
            try:
                DAMAGES[each](given)
                wrong = together(given.loose, part, **given.others)
            except (NotPossible, regions.errors.RegionsError):
                continue
            report = regions.certify(wrong, part.network)
            said = f"{part!r}: certify says {report.conclusion}" if report.ok else ""
            if part.domain.bounded and wrong.domain == part.domain:
                whole = regions.StreamCertification(part.network, part.domain)
                whole.add(wrong)
                if whole.report().all_proved and of_regions & {item.name for item in report.failed}:
                    said += " and the stream too"
            return each, said
    return "", ""
