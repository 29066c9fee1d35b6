# SPDX-License-Identifier: MIT
"""How many linear regions are there in each sense, computed as simply as possible?

The arithmetic is rational, from the cells and maps of `regions.reference`: every pair of cells is intersected, every
level set is intersected with every cell, every pattern is evaluated at a point. It shares nothing with
`regions.results.definitions`. A convex set is the list of its corners in order: a polygon, a segment, a point, or
nothing. A half-plane is a form (a0, a1, a2), the points where it is not negative. Unbounded domains must be replaced by
bounded ones that are large enough (`beyond_everything`).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from operator import mul

from regions import reference
from regions.domains import Domain
from regions.networks.network import Network

Point = tuple[Fraction, ...]
Set = list[Point]
Form = tuple[Fraction, ...]

FAR = 2.0**40


def beyond_everything(domain: Domain) -> Domain:
    """Return the domain, cut at -2^40 and 2^40 where it is unbounded; with small integers nothing happens beyond."""
    if domain.bounded:
        return domain
    if domain.dimension == 1:
        ends = [x if w else x * FAR for w, x in domain.generators.tolist()]
        return Domain(domain.origin, domain.directions, [[1, end] for end in ends])
    corners = [[1, FAR * x, FAR * y] for _, x, y in domain.generators.tolist()]
    return Domain(domain.origin, domain.directions, corners)


def counts(network: Network, domain: Domain) -> dict[str, int | None]:
    """Return the number of linear regions for each definition; None if the number of convex ones is not known."""
    cells = reference.enumerate(network, domain)
    maps = [tuple(cell.output) for cell in cells]
    sets = [_points(cell) for cell in cells]
    sides = [_half_spaces(cell) for cell in sets]
    meetings = {(i, j): common for i, j in combinations(range(len(cells)), 2) if (common := _cut(sets[i], sides[j]))}
    open_ = _open(maps, meetings, domain.dimension)
    return {
        "pattern": len(_patterns(network, domain, sets, list(meetings.values()))),
        "activation": len(cells),
        "convex": open_ if open_ in (1, len(cells)) or domain.dimension == 1 else None,
        "open": open_,
        "closed": sum(_closed(level, maps, sets, sides, list(meetings)) for level in set(maps)),
        "affine": len(set(maps)),
    }


def _points(cell: reference.ReferenceRegion) -> Set:
    points = [vertex for vertex in cell.vertices if vertex is not None]
    assert len(points) == len(cell.vertices)
    return points


def _half_spaces(cell: Set) -> list[Form]:
    if len(cell[0]) == 1:
        (left,), (right,) = cell
        return [(-left, Fraction(1)), (right, Fraction(-1))]
    return [
        (a[0] * b[1] - a[1] * b[0], a[1] - b[1], b[0] - a[0]) for a, b in zip(cell, cell[1:] + cell[:1], strict=True)
    ]


def _value(form: Form, point: Point) -> Fraction:
    return form[0] + sum(map(mul, form[1:], point))


def _cut(points: Set, forms: list[Form]) -> Set:
    """Return the part of a convex set where no form is negative, without repeated corners."""
    for form in forms:
        kept: Set = []
        for here, there in zip(points, points[1:] + points[:1], strict=True):
            a, b = _value(form, here), _value(form, there)
            if a >= 0:
                kept.append(here)
            if a * b < 0:
                share = a / (a - b)
                kept.append(tuple(x + share * (y - x) for x, y in zip(here, there, strict=True)))
        points = list(dict.fromkeys(kept))
    return points


def _open(maps: list[tuple[Form, ...]], meetings: dict[tuple[int, int], Set], dimension: int) -> int:
    """Cells with one map are joined where they have as many common points as a facet has corners."""
    joined = [(i, j) for (i, j), common in meetings.items() if maps[i] == maps[j] and len(set(common)) >= dimension]
    return len(set(_components(len(maps), joined)))


def _closed(
    level: tuple[Form, ...],
    maps: list[tuple[Form, ...]],
    sets: list[Set],
    sides: list[list[Form]],
    pairs: list[tuple[int, int]],
) -> int:
    """Components of the set where the network equals one of its maps, if a cell of that map is in them."""
    parts = []
    for own, points in zip(maps, sets, strict=True):
        differences = [tuple(a - b for a, b in zip(f, g, strict=True)) for f, g in zip(own, level, strict=True)]
        opposite = [tuple(-a for a in form) for form in differences]
        parts.append(_cut(points, differences + opposite))
    joined = [(i, j) for i, j in pairs if parts[i] and _cut(parts[i], sides[j])]
    labels = _components(len(maps), joined)
    return len({label for label, own in zip(labels, maps, strict=True) if own == level})


def _components(count: int, joined: list[tuple[int, int]]) -> list[int]:
    labels = list(range(count))
    for i, j in joined:
        old, new = labels[j], labels[i]
        labels = [new if label == old else label for label in labels]
    return labels


def _patterns(network: Network, domain: Domain, sets: list[Set], meetings: list[Set]) -> set[tuple[bool, ...]]:
    """Patterns at the mean of each cell, at its corners, in the middle of its sides, and where cells meet."""
    points = set()
    for cell in [*sets, *meetings]:
        points.update(cell)
        points.add(_mean(cell))
        points.update(_mean([a, b]) for a, b in zip(cell, cell[1:] + cell[:1], strict=True))
    return {_pattern(network, domain, point) for point in points}


def _mean(points: Set) -> Point:
    return tuple(sum(axis, Fraction(0)) / len(points) for axis in zip(*points, strict=True))


def _pattern(network: Network, domain: Domain, point: Point) -> tuple[bool, ...]:
    origin, *directions = [[Fraction(x) for x in row] for row in [domain.origin.tolist(), *domain.directions.tolist()]]
    values = [_value((o, *steps), point) for o, *steps in zip(origin, *directions, strict=True)]
    bits: list[bool] = []
    for layer in network.layers[:-1]:
        act = layer.activation
        breakpoints = [Fraction(t) for t in act.breakpoints.tolist()]
        after = []
        for unit, (row, bias) in enumerate(zip(layer.weights.tolist(), layer.biases.tolist(), strict=True)):
            h = Fraction(bias) + sum(Fraction(w) * x for w, x in zip(row, values, strict=True))
            above = [h > t for t in breakpoints]
            bits += above
            slopes, intercepts = (table if table.ndim == 1 else table[unit] for table in (act.slopes, act.intercepts))
            after.append(Fraction(float(slopes[sum(above)])) * h + Fraction(float(intercepts[sum(above)])))
        values = after
    return tuple(bits)
