# SPDX-License-Identifier: MIT
"""How is a whole plane through input space asked for?

By a point of it and two directions, which are its chart exactly as given, neither normalised nor turned; so the
chart coordinates count multiples of the directions. The core takes a plane for a square of a symbolic size, larger
than all numbers (csrc/README.md), and so do the generators.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from regions.domains.domain import WHOLE_PLANE, Domain
from regions.domains.points import two_directions

__all__ = ["Plane"]


class Plane(Domain):
    """The whole plane ``x = origin + p[0] * e1 + p[1] * e2``, all real p.

    On all of R^2, ``Plane([0, 0], [1, 0], [0, 1])``, arrangements of lines have the numbers of regions that
    textbooks give.

    Parameters
    ----------
    origin : array_like [n_in]
    e1, e2 : array_like [n_in]
        Linearly independent; taken as they are.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
    DegenerateDomainError
        ``e1`` and ``e2`` are parallel, or one is zero.

    Examples
    --------
    >>> Plane([0, 0, 1], [1, 0, 0], [0, 2, 0])
    Plane(in R^3, unbounded)
    """

    def __init__(self, origin: ArrayLike, e1: ArrayLike, e2: ArrayLike) -> None:
        super().__init__(origin, two_directions("Plane", e1, e2), WHOLE_PLANE)
