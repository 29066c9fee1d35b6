# SPDX-License-Identifier: MIT
"""Which parts of a line are domains?

Segments, rays and whole lines: one direction, and two ends, either of which may be at infinity. The chart
coordinate of a segment runs from 0 at `a` to 1 at `b`; on a ray and a line it counts multiples of the given
direction, which is not normalised.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from regions.domains.domain import Domain, keep_shape
from regions.domains.points import difference, one_point, pairs_of_points, same_length, shape_of_points
from regions.errors import DegenerateDomainError
from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.types import Floats

# The ends of a segment in its chart.
FROM_0_TO_1 = read_only(np.array([[1.0, 0.0], [1.0, 1.0]]))


class Segment(Domain):
    """The straight piece between two points of input space.

    The chart is ``x = a + p * (b - a)``, p from 0 to 1, with the difference rounded to float64: the far end
    is ``a + (b - a)``, which may differ from ``b`` in the last bit.

    Parameters
    ----------
    a, b : array_like [n_in] or [C, H, W]

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Points that are not [n_in] or [C, H, W], or differ in length; NaN or infinity.
    DegenerateDomainError
        ``a`` equals ``b``.

    Examples
    --------
    >>> Segment([0, 0], [3, 4])
    Segment(in R^2, length 5)
    """

    def __init__(self, a: ArrayLike, b: ArrayLike) -> None:
        start, end = one_point(a, "Segment: a"), one_point(b, "Segment: b")
        same_length("Segment", a=start, b=end)
        direction = difference(end, start, "Segment: b - a")
        if not direction.any():
            raise DegenerateDomainError("Segment: a and b are the same point; a segment needs two different ends")
        self._store_chart(start, read_only(direction)[np.newaxis], shape_of_points("Segment", a=a, b=b))
        self._store_generators(FROM_0_TO_1)
        self.__dict__["points"] = read_only(np.stack([start, end]))


def segments_between(corners: Floats, name: str) -> list[Segment]:
    """Return the segments from each of two or more points [n, n_in] to the next, checked all at once.

    Raises
    ------
    DegenerateDomainError, NonFiniteError
        As for `Segment`; messages have the numbers of the points.
    """
    return _segments(
        sliding_window_view(read_only(corners), 2, axis=0).swapaxes(1, 2),
        lambda index: f"{name}: points {index} and {index + 1} are the same; leave one out",
        lambda index: f"{name}: point {index + 1} minus point {index}",
    )


def segments_of(ends: ArrayLike, name: str) -> list[Segment]:
    """Return the segments with the given ends [n, 2, n_in] or [n, 2, C, H, W], checked all at once.

    Raises
    ------
    ShapeMismatchError, DegenerateDomainError, NonFiniteError
        As for `Segment`; messages have the number of the segment.
    """
    if np.shape(ends)[:2] == (0, 2):
        return []
    return _segments(
        read_only(pairs_of_points(ends, name)),
        lambda index: f"{name}[{index}]: the two ends are the same point; a segment needs two different ends",
        lambda index: f"{name}[{index}]: the second end minus the first",
        np.shape(ends)[2:],
    )


def _segments(
    ends: Floats,
    same: Callable[[int], str],
    difference_of: Callable[[int], str],
    input_shape: tuple[int, ...] | None = None,
) -> list[Segment]:
    """Make segments from read-only ends [n, 2, n_in]; ``same`` and ``difference_of`` are texts about one of them."""
    with np.errstate(over="ignore"):
        directions = ends[:, 1] - ends[:, 0]
    for index in np.flatnonzero(~np.isfinite(directions).all(axis=1) | ~directions.any(axis=1)).tolist():
        if not directions[index].any():
            raise DegenerateDomainError(same(index))
        difference(ends[index, 1], ends[index, 0], difference_of(index))
    shared = {
        "n_in": ends.shape[2],
        "dimension": 1,
        "generators": FROM_0_TO_1,
        "input_shape": input_shape or ends.shape[2:],
    }
    segments = []
    for origin, direction, pair in zip(ends[:, 0], read_only(directions)[:, np.newaxis], ends, strict=True):
        segment = object.__new__(Segment)
        segment.__dict__.update(shared, origin=origin, directions=direction, points=pair)
        segments.append(segment)
    return segments


class Ray(Domain):
    """The half-line ``x = point + p * direction``, p >= 0.

    Parameters
    ----------
    point : array_like [n_in] or [C, H, W]
    direction : array_like [n_in] or [C, H, W]
        Not zero; not normalised.

    Raises
    ------
    ShapeMismatchError, NonFiniteError, DegenerateDomainError

    Examples
    --------
    >>> Ray([0, 0], [1, 1])
    Ray(in R^2, unbounded)
    """

    def __init__(self, point: ArrayLike, direction: ArrayLike) -> None:
        start, along = one_point(point, "Ray: point"), one_point(direction, "Ray: direction")
        same_length("Ray", point=start, direction=along)
        super().__init__(start, [along], [[1.0, 0.0], [0.0, 1.0]])
        keep_shape(self, point=point, direction=direction)


class Line(Domain):
    """The whole line ``x = point + p * direction``, all real p.

    Parameters
    ----------
    point : array_like [n_in] or [C, H, W]
    direction : array_like [n_in] or [C, H, W]
        Not zero; not normalised.

    Raises
    ------
    ShapeMismatchError, NonFiniteError, DegenerateDomainError

    Examples
    --------
    >>> Line([0, 0], [1, 1])
    Line(in R^2, unbounded)
    """

    def __init__(self, point: ArrayLike, direction: ArrayLike) -> None:
        start, along = one_point(point, "Line: point"), one_point(direction, "Line: direction")
        same_length("Line", point=start, direction=along)
        super().__init__(start, [along], [[0.0, -1.0], [0.0, 1.0]])
        keep_shape(self, point=point, direction=direction)
