# SPDX-License-Identifier: MIT
"""Which reachable sets, inclusions and decreases of loops are wrong, according to rational arithmetic?

Controllers come from the generators, matrices are small integers and halves, so that images touch polygons and changes
are 0. States are iterated in fractions, step by step. The greatest change of a Lyapunov candidate is searched among all
points where it can be attained: corners, crossings, stationary points of edges and of the plane, with forms from
`regions.reference`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

import regions
from exact_passes import exact_outputs
from regions import Domain, Network, Polygon, Segment, closed_loop, reference
from regions.errors import NonFiniteError

__all__ = ["loop_findings"]

Point = tuple[Fraction, ...]
# More inputs or regions take too long in fractions.
MOST_INPUTS, MOST_REGIONS = 4, 80


def loop_findings(network: Network, domain: Domain) -> Iterator[str]:
    """Yield errors in answers about a loop with a network as its controller."""
    if not domain.bounded or network.n_in > MOST_INPUTS:
        return
    rng = np.random.default_rng([network.n_in, network.n_out, network.kinks])
    n = network.n_in
    a, b = rng.integers(-2, 3, (n, n)) / 2, rng.integers(-1, 2, (n, network.n_out)) / 4
    c = rng.integers(-1, 2, n) / 2
    loop = closed_loop(network, a, b, c)
    if regions.count(loop, domain) > MOST_REGIONS:
        return
    try:
        yield from reachable_findings(network, loop, domain, (a, b, c))
        if n == domain.dimension:
            yield from inclusion_findings(loop, domain, rng)
        yield from decrease_findings(loop, domain, rng)
    except NonFiniteError:
        return


def step_of(network: Network, matrices: Any, state: Point) -> Point:
    """One step of the loop in fractions."""
    ones = np.eye(network.n_in)[:1]
    at_state = Domain(np.zeros(network.n_in), ones, [[1, 0], [1, 1]])
    control = outputs_of(network, at_state, state)
    a, b, c = (np.vectorize(Fraction, otypes=[object])(each) for each in matrices)
    return tuple(a @ np.array(state, dtype=object) + b @ np.array(control, dtype=object) + c)


def outputs_of(network: Network, domain: Domain, state: Point) -> list[Fraction]:
    """Return the outputs at a state: it is added to the origin of a chart without directions."""
    return exact_outputs(network.graph, _At(state, domain), (Fraction(0),))


class _At:
    """A chart whose origin has fractions as coordinates."""

    def __init__(self, state: Point, domain: Domain) -> None:
        self.origin, self.directions = np.array(state, dtype=object), domain.directions


def state_at(domain: Domain, place: Point) -> Point:
    """The point of input space, in fractions."""
    rows = np.vectorize(Fraction, otypes=[object])(np.vstack([domain.origin, domain.directions]))
    return tuple(np.array([Fraction(1), *place], dtype=object) @ rows)


def reachable_findings(network: Network, loop: Network, domain: Domain, matrices: Any) -> Iterator[str]:
    found = regions.iterate(loop, domain, 2)
    for steps, image in enumerate(found.images):
        if len(image.partition) > MOST_REGIONS:
            return
        whole = closed_loop(loop, steps=steps) if steps else Network([(np.eye(network.n_in), None)])
        if len(image.partition) != len(reference.enumerate(whole, domain)):
            yield f"{len(image.partition)} regions after {steps} steps"
        for vertex, place in enumerate(image.partition.exact_vertices()):
            state = state_at(domain, place)
            for _ in range(steps):
                state = step_of(network, matrices, state)
            for value, error, exact in zip(image.vertices[vertex], image.errors[vertex], state, strict=True):
                if error != np.inf and abs(Fraction(value) - exact) > Fraction(error):
                    yield f"a state after {steps} steps is {value}, {float(exact)} in fractions, and its error {error}"


def inclusion_findings(loop: Network, domain: Domain, rng: np.random.Generator) -> Iterator[str]:
    image = regions.image(loop, domain)
    exact = [exact_outputs(loop.graph, domain, place) for place in image.partition.exact_vertices()]
    box = (image.vertices.min(axis=0), image.vertices.max(axis=0))
    for polygon in (domain, _box(*box), _box(box[0] - rng.integers(0, 2), box[1] + rng.integers(-1, 1))):
        if polygon is None:
            continue
        found = image.inside(polygon)
        distances = [distance for state in exact for distance in distances_of(polygon, tuple(state))]
        if found.holds != (min(distances)[0] >= 0):
            yield f"inside is {found.holds}, not so in fractions"
        if found.errors != np.inf:
            # The least distance, as a sign and a square.
            least = min(sign * square for sign, square in distances)
            low, high = (Fraction(found.margin) + sign * Fraction(found.errors) for sign in (-1, 1))
            if not _signed_square(low) <= least <= _signed_square(high):
                yield f"the margin is {found.margin} +- {found.errors}"
        if found.witness is not None:
            state = exact_outputs(loop.graph, domain, found.witness.point)
            if tuple(state) != found.witness.outputs or min(distances_of(polygon, tuple(state)))[0] >= 0:
                yield "the witness is inside in fractions"


def _signed_square(value: Fraction) -> Fraction:
    return value * abs(value)


def _box(low: Any, high: Any) -> Domain | None:
    if not (np.isfinite(low) & np.isfinite(high) & (low < high) & (np.abs(low) + np.abs(high) < 1e100)).all():
        return None
    if len(low) == 1:
        return Segment(low, high)
    return Polygon([low, [high[0], low[1]], high, [low[0], high[1]]])


def distances_of(polygon: Domain, state: Point) -> list[tuple[int, Fraction]]:
    """The sign and the square of the distance to each side, positive inside."""
    corners = [state_at(polygon, tuple(map(Fraction, row))) for row in polygon.generators[:, 1:].tolist()]
    if len(state) == 1:
        values = [state[0] - min(corners)[0], max(corners)[0] - state[0]]
        return [(_sign(value), value * value) for value in values]
    found = []
    turn = _sign(_cross(corners[0], corners[1], corners[2]))
    for start, end in zip(corners, [*corners[1:], corners[0]], strict=True):
        area = turn * _cross(start, end, state)
        found.append((_sign(area), area * area / sum((x - y) ** 2 for x, y in zip(start, end, strict=True))))
    return found


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _cross(a: Point, b: Point, c: Point) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def decrease_findings(loop: Network, domain: Domain, rng: np.random.Generator) -> Iterator[str]:
    n = loop.n_in
    p = rng.integers(-2, 3, (n, n)).astype(float)
    p = p + p.T if rng.random() < 0.5 else p @ p.T + np.eye(n)
    forms = rng.integers(-1, 2, (int(rng.integers(1, 4)), n)).astype(float)
    hidden = Network([(rng.integers(-1, 2, (3, n)), None), ([[1.0, 1.0, -0.5]], [0.25])])
    without = _inner(domain, rng) if n == domain.dimension else None
    one = np.eye(1)
    for arguments in ({"quadratic": p}, {"forms": forms}, {"candidate": hidden}):
        found = regions.decrease(loop, domain, without=without, **arguments)

        def value(state: Any, arguments: Any = arguments) -> Fraction:
            if "quadratic" in arguments:
                return sum(
                    (Fraction(p[i, j]) * state[i] * state[j] for i, j in product(range(n), repeat=2)), Fraction(0)
                )
            if "forms" in arguments:
                return max(sum(Fraction(a) * x for a, x in zip(row, state, strict=True)) for row in forms.tolist())
            return outputs_of(hidden, Domain(np.zeros(n), one.repeat(n, axis=1), [[1, 0], [1, 1]]), tuple(state))[0]

        def change(place: Point, value: Any = value) -> Fraction:
            return value(exact_outputs(loop.graph, domain, place)) - value(state_at(domain, place))

        greatest = max(_changes(found.partition.network, domain, without, arguments.get("quadratic")))
        if found.holds != (greatest < 0):
            yield f"{[*arguments]}: the decrease is {found.holds}, the greatest change {float(greatest)} in fractions"
        if found.bound is not None and not greatest <= Fraction(found.bound):
            yield f"{[*arguments]}: the bound is {found.bound}, the greatest change {float(greatest)} in fractions"
        if found.witness is not None:
            place = found.witness.point
            if change(place) != found.change or found.change < 0:
                yield f"{[*arguments]}: the change at the witness is {float(change(place))}"
            if tuple(exact_outputs(loop.graph, domain, place)) != found.witness.outputs:
                yield f"{[*arguments]}: the next state at the witness is another one"
            if without is not None and min(distances_of(without, state_at(domain, place)))[0] > 0:
                yield f"{[*arguments]}: the witness is in the part that is left out"
            corners = domain.generators[:, 1:]
            chart = Segment(*corners) if domain.dimension == 1 else Polygon(corners)
            if min(distances_of(chart, place))[0] < 0:
                yield f"{[*arguments]}: the witness is outside of the domain"


def _inner(domain: Domain, rng: np.random.Generator) -> Domain | None:
    """A part of the domain, around its middle: smaller copies, or a box."""
    corners = domain.to_input(domain.generators[:, 1:])
    middle, share = corners.mean(axis=0), rng.choice([0.25, 0.5, 0.75])
    half = share * np.abs(corners - middle).max(axis=0) / 2
    return _box(middle - half, middle + half) if rng.random() < 0.8 else None


def _changes(network: Network, domain: Domain, without: Domain | None, p: Any) -> Iterator[Fraction]:
    """Yield the changes at all points where they can be greatest, outside of the excluded part."""
    cut: list[tuple[Point, Point]] = []
    if without is not None:
        corners = [
            place_of(domain, state_at(without, tuple(map(Fraction, row)))) for row in without.generators[:, 1:].tolist()
        ]
        cut = list(zip(corners, [*corners[1:], corners[0]], strict=True))
    for region in reference.enumerate(network, domain):

        def change(place: Point, forms: Any = region.output) -> Fraction:
            values = [form[0] + sum(a * x for a, x in zip(form[1:], place, strict=True)) for form in forms]
            if p is None:
                return values[0]
            n = len(p)
            signed = ((sign, values[start : start + n]) for sign, start in ((1, 0), (-1, n)))
            return sum(
                (sign * Fraction(p[i, j]) * x[i] * x[j] for sign, x in signed for i, j in product(range(n), repeat=2)),
                Fraction(0),
            )

        vertices = [vertex for vertex in region.vertices if vertex is not None]
        edges = [*zip(vertices, [*vertices[1:], vertices[0]], strict=True)]
        points = {*vertices, *(corner for corner, _ in cut)}
        if domain.dimension == 2:
            points |= {cross for one, other in product(edges, cut) for cross in _crossing(one, other)}
        if p is not None:
            for start, end in [*edges, *cut]:
                points |= _on_line(start, end, change)
            if domain.dimension == 2:
                points |= _in_plane(change)
        for point in points:
            left_out = without is not None and min(distances_of(without, state_at(domain, point)))[0] > 0
            if not left_out and _in_region(vertices, point):
                yield change(point)


def place_of(domain: Domain, state: Point) -> Point:
    """The chart coordinates of a state, for a chart that fills the space."""
    origin, *rows = (tuple(map(Fraction, row)) for row in [domain.origin.tolist(), *domain.directions.tolist()])
    moved = [x - o for x, o in zip(state, origin, strict=True)]
    if len(rows) == 1:
        return (moved[0] / rows[0][0],)
    (a, b), (c, d) = rows
    whole = a * d - b * c
    return (moved[0] * d - moved[1] * c) / whole, (moved[1] * a - moved[0] * b) / whole


def _crossing(one: tuple[Point, Point], other: tuple[Point, Point]) -> list[Point]:
    before, after = _cross(*one, other[0]), _cross(*one, other[1])
    if before == after:
        return []
    share = before / (before - after)
    return [tuple(x + share * (y - x) for x, y in zip(*other, strict=True))]


def _in_region(vertices: list[Point], point: Point) -> bool:
    if len(point) == 1:
        return min(vertices) <= point <= max(vertices)
    turns = [_cross(a, b, point) for a, b in zip(vertices, [*vertices[1:], vertices[0]], strict=True)]
    return min(turns) >= 0 or max(turns) <= 0


def _on_line(start: Point, end: Point, q: Any) -> set[Point]:
    """The stationary point on a line of a quadratic function."""
    values = [q(tuple(x + t * (y - x) for x, y in zip(start, end, strict=True))) for t in (0, 1, 2)]
    curvature = values[0] - 2 * values[1] + values[2]
    if not curvature:
        return set()
    t = -(values[1] - values[0] - curvature / 2) / curvature
    return {tuple(x + t * (y - x) for x, y in zip(start, end, strict=True))}


def _in_plane(q: Any) -> set[Point]:
    """The stationary point in the plane of a quadratic function."""
    zero, one, two = Fraction(0), Fraction(1), Fraction(2)
    base = q((zero, zero))
    xx = (q((two, zero)) - 2 * q((one, zero)) + base) / 2
    yy = (q((zero, two)) - 2 * q((zero, one)) + base) / 2
    x, y = q((one, zero)) - base - xx, q((zero, one)) - base - yy
    xy = q((one, one)) - base - xx - yy - x - y
    whole = 4 * xx * yy - xy * xy
    return {((xy * y - 2 * yy * x) / whole, (xy * x - 2 * xx * y) / whole)} if whole else set()
