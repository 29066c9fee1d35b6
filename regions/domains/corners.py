# SPDX-License-Identifier: MIT
"""Which of the given vertices are the corners of a convex polygon, exactly?

Orientation, convexity and zero area are questions about signs of integers; see `arithmetic/dyadic.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from regions.arithmetic.dyadic import common_integers
from regions.arithmetic.types import Floats
from regions.errors import DegenerateDomainError, NotConvexError

Pair = tuple[int, int]


def chart_volume(generators: Floats) -> Fraction:
    """Return the length or area, in the chart, of a bounded domain with generators [v, d + 1]."""
    points = [[Fraction(x) for x in row] for row in generators[:, 1:].tolist()]
    if len(points[0]) == 1:
        return points[1][0] - points[0][0]
    twice = sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(points, points[1:] + points[:1], strict=True))
    return Fraction(twice) / 2


def require_distinct(vertices: Sequence[Sequence[float]]) -> None:
    """Raise DegenerateDomainError, naming the pair, when two of the vertices are equal."""
    first_at: dict[tuple[float, ...], int] = {}
    for index, vertex in enumerate(vertices):
        first = first_at.setdefault(tuple(vertex), index)
        if first != index:
            raise DegenerateDomainError(
                f"vertices {first} and {index} coincide; give each corner once (a ring closes by itself)"
            )


def convex_corners(points: Floats) -> list[int]:
    """Return the corners of the convex polygon with vertices ``points`` [v, 2], counter-clockwise from the
    first one.

    A vertex in the middle of a straight side is not a corner and is left out.

    Raises
    ------
    DegenerateDomainError
        Fewer than three vertices, two equal ones, or all on one line.
    NotConvexError
        Turns to both sides, or more than one round, as in a pentagram.
    """
    integers = common_integers(points.ravel().tolist())
    vertices = list(zip(integers[::2], integers[1::2], strict=True))
    if len(vertices) < 3:
        raise DegenerateDomainError(f"a polygon needs at least 3 vertices, got {len(vertices)}")
    require_distinct(vertices)
    base = minus(vertices[1], vertices[0])
    if all(cross(base, minus(vertex, vertices[0])) == 0 for vertex in vertices):
        raise DegenerateDomainError(f"all {len(vertices)} vertices lie on one line: the polygon has no area")

    order = list(range(len(vertices)))
    turns = [_turn(vertices, index) for index in order]
    for index in order:
        if turns[index] == 0 and dot(*_edges_at(vertices, index)) < 0:
            raise NotConvexError(f"the boundary runs back on itself at vertex {index}; give the corners in order")
    if min(turns) < 0 < max(turns):
        # Neither direction is the right one by itself: name the vertices of the rarer turn.
        odd = -1 if sum(turn > 0 for turn in turns) >= sum(turn < 0 for turn in turns) else 1
        raise NotConvexError(
            "the polygon turns both ways: it has a dent, or crosses itself, at "
            f"{_list_vertices([index for index in order if turns[index] == odd])}; give the corners of a convex "
            "polygon in the order of its boundary"
        )
    if min(turns) < 0:
        order = [0, *reversed(order[1:])]
    corners = [index for index in order if turns[index] != 0]
    edges = [minus(vertices[b], vertices[a]) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    # All turns are now to the left and below half a circle, so each round passes the positive x
    # direction once.
    lower = [y < 0 or (y == 0 and x < 0) for x, y in edges]
    times_around = sum(before and not after for before, after in zip(lower, lower[1:] + lower[:1], strict=True))
    if times_around != 1:
        raise NotConvexError(
            f"the boundary goes around {times_around} times and so crosses itself; give each corner once, in order"
        )
    return corners


def _list_vertices(indices: list[int]) -> str:
    """Name vertices in a sentence, at most the first ten."""
    if len(indices) == 1:
        return f"vertex {indices[0]}"
    last = str(indices[-1]) if len(indices) <= 10 else f"{len(indices) - 10} more"
    return f"vertices {', '.join(map(str, indices[:-1][:10]))} and {last}"


def _turn(vertices: Sequence[Pair], index: int) -> int:
    """Return the sign of the turn at a vertex: 1 left, -1 right, 0 straight on or back."""
    area = cross(*_edges_at(vertices, index))
    return (area > 0) - (area < 0)


def _edges_at(vertices: Sequence[Pair], index: int) -> tuple[Pair, Pair]:
    """Return the edge into a vertex and the edge out of it."""
    here, after = vertices[index], vertices[(index + 1) % len(vertices)]
    return minus(here, vertices[index - 1]), minus(after, here)


def minus(a: Pair, b: Pair) -> Pair:
    return a[0] - b[0], a[1] - b[1]


def cross(a: Pair, b: Pair) -> int:
    return a[0] * b[1] - a[1] * b[0]


def dot(a: Pair, b: Pair) -> int:
    return a[0] * b[0] + a[1] * b[1]
