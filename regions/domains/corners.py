# SPDX-License-Identifier: MIT
"""Which of the given vertices are the corners of a convex polygon, exactly?

Orientation, convexity and zero area are questions about signs of integers; see `arithmetic/dyadic.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import gt, mul

from regions.errors import DegenerateDomainError, NotConvexError
from regions.ground.arithmetic.dyadic import common_integers
from regions.ground.arithmetic.types import Floats


def chart_volume(generators: Floats) -> Fraction:
    """Return the length or area, in the chart, of a bounded domain with generators [v, d + 1]."""
    points = [[Fraction(x) for x in row] for row in generators[:, 1:].tolist()]
    if len(points[0]) == 1:
        return points[1][0] - points[0][0]
    twice = sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(points, points[1:] + points[:1], strict=True))
    return Fraction(twice) / 2


def require_distinct(vertices: Sequence[tuple[float, ...]]) -> None:
    """Raise DegenerateDomainError, naming the pair, when two of the vertices are equal."""
    if len(set(vertices)) == len(vertices):
        return
    first_at: dict[tuple[float, ...], int] = {}
    for index, vertex in enumerate(vertices):
        first = first_at.setdefault(vertex, index)
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
    # Edge i begins at vertex i. No edge has length 0, so if the outline turns at no vertex, all edges are parallel.
    edges = [(x - a, y - b) for (a, b), (x, y) in zip(vertices, vertices[1:] + vertices[:1], strict=True)]
    turns = [a * y - b * x for (a, b), (x, y) in zip(edges[-1:] + edges[:-1], edges, strict=True)]
    left = [index for index, turn in enumerate(turns) if turn > 0]
    right = [index for index, turn in enumerate(turns) if turn < 0]
    if not left and not right:
        raise DegenerateDomainError(f"all {len(vertices)} vertices lie on one line: the polygon has no area")
    for index, turn in enumerate(turns):
        if turn == 0 and sum(map(mul, edges[index - 1], edges[index])) < 0:
            raise NotConvexError(f"the boundary runs back on itself at vertex {index}; give the corners in order")
    if left and right:
        # Vertices may be given in either direction, so the message names the vertices with the rarer turn.
        raise NotConvexError(
            "the polygon turns both ways: it has a dent, or crosses itself, at "
            f"{_list_vertices(right if len(left) >= len(right) else left)}; give the corners of a convex "
            "polygon in the order of its boundary"
        )
    # All turns are to one side and below half a circle. Each time around, the edges therefore begin to point downwards
    # once.
    lower = [y < 0 or (y == 0 and x < 0) for x, y in edges]
    times_around = sum(map(gt, lower, lower[-1:] + lower[:-1]))
    if times_around != 1:
        raise NotConvexError(
            f"the boundary goes around {times_around} times and so crosses itself; give each corner once, in order"
        )
    # Both lists begin with vertex 0, if it is a corner.
    return left or [index for index in (0, *reversed(range(1, len(turns)))) if turns[index]]


def _list_vertices(indices: list[int]) -> str:
    """Return the names of vertices for a sentence; after the first ten, the number of further vertices."""
    if len(indices) == 1:
        return f"vertex {indices[0]}"
    last = str(indices[-1]) if len(indices) <= 10 else f"{len(indices) - 10} more"
    return f"vertices {', '.join(map(str, indices[:-1][:10]))} and {last}"
