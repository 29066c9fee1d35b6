# SPDX-License-Identifier: MIT
"""What about a domain must not depend on rounding, and how is it decided?

Linear independence, convexity, orientation and zero area. Every double is an integer times a power of two, so
they are questions about signs of integers, and Python has those in any size. Lengths and areas are exact
under a square root.
Cost: a few microseconds per coordinate; nothing here is on the path of the enumeration.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

import numpy as np

from regions.arithmetic.types import Floats, Objects
from regions.errors import DegenerateDomainError, NotConvexError

__all__ = [
    "chart_volume",
    "convex_corners",
    "determinant",
    "gram_matrix",
    "independent",
    "nearest_float",
    "refuse_coincident",
    "split_square_root",
    "square_root",
    "triangular_factor",
]


def dyadic(values: Floats) -> tuple[Objects, int]:
    """Return Python integers m, as small as can be, and one exponent e with ``values == m * 2**e``, exactly."""
    mantissas, exponents = np.frexp(values)  # |mantissa| < 1 with 53 bits, so times 2^53 it is an integer
    integers = np.ldexp(mantissas, 53).astype(np.int64).astype(object)
    lowest = int(exponents.min(initial=0))  # there may be no values at all
    integers = integers * 2 ** (exponents - lowest).astype(object)
    # Slopes of 0 and 1, or weights that are integers, would make every product 53 bits longer.
    together = int(np.bitwise_or.reduce(integers, axis=None))
    spare = max(0, (together & -together).bit_length() - 1)
    return integers >> spare, lowest - 53 + spare


def gram_matrix(directions: Floats) -> list[list[Fraction]]:
    """Return ``directions @ directions.T`` for directions [d, n_in] as d x d fractions, exactly."""
    integers, exponent = dyadic(directions)
    power = Fraction(2) ** (2 * exponent)
    return [[int(product) * power for product in row] for row in integers @ integers.T]


def determinant(matrix: list[list[Fraction]]) -> Fraction:
    """Return the determinant of a 1 x 1 or 2 x 2 matrix."""
    if len(matrix) == 1:
        return matrix[0][0]
    return matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0]


def triangular_factor(gram: list[list[Fraction]]) -> list[list[float]]:
    """Return the upper triangular factor r of a 1 x 1 or 2 x 2 Gram matrix, ``r.T @ r``, every entry rounded once."""
    if len(gram) == 1:
        return [[square_root(gram[0][0])]]
    (a, b), c = gram[0], gram[1][1]
    across = square_root(b * b / a)
    return [[square_root(a), across if b > 0 else -across], [0.0, square_root(c - b * b / a)]]


def independent(directions: Floats) -> bool:
    """Say whether the one or two directions [d, n_in] are linearly independent, exactly."""
    if len(directions) == 1:
        return bool(directions.any())
    return determinant(gram_matrix(directions)) != 0


def nearest_float(value: Fraction) -> float:
    """Return the double nearest to a fraction; infinite beyond the largest double."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def square_root(value: Fraction) -> float:
    """Return the square root of a non-negative fraction, within a hair of half a unit in the last place."""
    # Shifted so that the integer root has at least 64 bits: its truncation is then 2^-11 units in the last
    # place.
    shift = max(0, 128 - value.numerator.bit_length() + value.denominator.bit_length())
    shift += shift % 2
    return nearest_float(Fraction(isqrt((value.numerator << shift) // value.denominator), 2 ** (shift // 2)))


def split_square_root(value: Fraction) -> tuple[float, int]:
    """Return m and e with ``m * 2**e`` the square root of a positive fraction, and m of about size one."""
    exponent = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    return square_root(value / Fraction(4) ** exponent), exponent


def chart_volume(generators: Floats) -> Fraction:
    """Return the length or area, in the chart, of a bounded domain with generators [v, d + 1]."""
    points = [[Fraction(x) for x in row] for row in generators[:, 1:].tolist()]
    if len(points[0]) == 1:
        return points[1][0] - points[0][0]
    twice = sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(points, points[1:] + points[:1], strict=True))
    return Fraction(twice) / 2


def refuse_coincident(vertices: Sequence[Sequence[float]]) -> None:
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

    A vertex in the middle of a straight side is no corner and is left out.

    Raises
    ------
    DegenerateDomainError
        Fewer than three vertices, two equal ones, or all on one line.
    NotConvexError
        Turns to both sides, or more than one turn around, as in a pentagram.
    """
    integers, _ = dyadic(points)
    vertices = [(int(x), int(y)) for x, y in integers]
    if len(vertices) < 3:
        raise DegenerateDomainError(f"a polygon needs at least 3 vertices, got {len(vertices)}")
    refuse_coincident(vertices)
    base = _subtract(vertices[1], vertices[0])
    if all(_cross(base, _subtract(vertex, vertices[0])) == 0 for vertex in vertices):
        raise DegenerateDomainError(f"all {len(vertices)} vertices lie on one line: the polygon has no area")

    order = list(range(len(vertices)))
    turns = [_turn(vertices, index) for index in order]
    for index in order:
        if turns[index] == 0 and _dot(*_edges_at(vertices, index)) < 0:
            raise NotConvexError(f"the boundary runs back on itself at vertex {index}; give the corners in order")
    if min(turns) < 0 < max(turns):
        # Neither direction is "the" right one: name the vertices of the rarer turn, they are what to look at.
        odd = -1 if sum(turn > 0 for turn in turns) >= sum(turn < 0 for turn in turns) else 1
        raise NotConvexError(
            "the polygon turns both ways: it has a dent, or crosses itself, at "
            f"{_list_vertices([index for index in order if turns[index] == odd])}; give the corners of a convex "
            "polygon in the order of its boundary"
        )
    if min(turns) < 0:
        order = [0, *reversed(order[1:])]
    corners = [index for index in order if turns[index] != 0]
    edges = [_subtract(vertices[b], vertices[a]) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    # All turns are now to the left and below half a circle, so each time around passes the positive x
    # direction once.
    lower = [y < 0 or (y == 0 and x < 0) for x, y in edges]
    times_around = sum(before and not after for before, after in zip(lower, lower[1:] + lower[:1], strict=True))
    if times_around != 1:
        raise NotConvexError(
            f"the boundary goes around {times_around} times and so crosses itself; give each corner once, in order"
        )
    return corners


def _list_vertices(indices: list[int]) -> str:
    """Name vertices in a sentence; only the first ten of very many."""
    if len(indices) == 1:
        return f"vertex {indices[0]}"
    last = str(indices[-1]) if len(indices) <= 10 else f"{len(indices) - 10} more"
    return f"vertices {', '.join(map(str, indices[:-1][:10]))} and {last}"


def _turn(vertices: Sequence[tuple[int, int]], index: int) -> int:
    """Sign of the turn at a vertex: 1 left, -1 right, 0 straight on or back."""
    area = _cross(*_edges_at(vertices, index))
    return (area > 0) - (area < 0)


def _edges_at(vertices: Sequence[tuple[int, int]], index: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The edge into a vertex and the edge out of it."""
    here, after = vertices[index], vertices[(index + 1) % len(vertices)]
    return _subtract(here, vertices[index - 1]), _subtract(after, here)


def _subtract(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return a[0] - b[0], a[1] - b[1]


def _cross(a: tuple[int, int], b: tuple[int, int]) -> int:
    return a[0] * b[1] - a[1] * b[0]


def _dot(a: tuple[int, int], b: tuple[int, int]) -> int:
    return a[0] * b[0] + a[1] * b[1]
