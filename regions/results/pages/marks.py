# SPDX-License-Identifier: MIT
"""Which points are marked in a picture, and with which names?

The points are those that a domain was made from (`Domain.points`), or given ones. A point must lie on the line or in
the plane that is shown: nothing is projected silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from regions.domains import Domain
from regions.domains.points import many_points
from regions.domains.shape import SHAPES
from regions.errors import DomainError, ShapeMismatchError
from regions.ground.arithmetic.arguments import drawable
from regions.ground.arithmetic.types import Floats
from regions.results.cells.locate import distances_off

__all__ = ["Marks", "named_points"]

# Points of input space by name; default points may lie outside of the picture.
Marks = dict[str, Floats]


def named_points(mark: Any, domain: Domain) -> Marks:
    """Return points of input space by name, from the caller's argument."""
    if mark is True:
        return dict(zip("abc", domain.points, strict=False))
    if mark is False:
        return {}
    if isinstance(mark, Mapping):
        if not all(isinstance(name, str) for name in mark):
            raise TypeError("mark: the names of points must be strings")
        given = {
            drawable(name, "mark: the name of a point"): many_points([point], f"mark: point {name!r}")[0]
            for name, point in mark.items()
        }
    elif mark is None or isinstance(mark, (str, bytes)):
        raise TypeError(f"mark must be points [k, n_in], points by name, True or False, got {mark!r}")
    else:
        given = {str(number): point for number, point in enumerate(many_points(mark, "mark"))}
    for name, point in given.items():
        if len(point) != domain.n_in:
            raise ShapeMismatchError(
                f"mark: point {name!r} has {len(point)} coordinates, the domain lies in a space of {domain.n_in} "
                "dimensions"
            )
        away = float(distances_off(domain, point[np.newaxis], domain.project(point[np.newaxis]))[0])
        if away:
            raise DomainError(
                f"mark: point {name!r} is {away:.3g} away from the {SHAPES[domain.dimension].name} that is drawn; "
                "domain.to_input(domain.to_chart(x)) is the nearest point on it"
            )
    return given
