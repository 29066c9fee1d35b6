# SPDX-License-Identifier: MIT
"""Which points are marked in a picture, and with which names?

Those that a domain was made from (`Domain.points`), or others that are given. A point must lie on the line or in the
plane that is shown: nothing is projected silently. Names have a light halo, so that they can be read over any colour,
and stand on the side of their point where there is room.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.domains import Domain
from regions.domains.points import many_points
from regions.errors import DomainError, ShapeMismatchError
from regions.locate import distances_off
from regions.output.picture_view import View

__all__ = ["Marks", "draw_marks", "named_points"]

Floats = NDArray[np.float64]
# Points of input space by name; those that nobody asked for may lie outside of the picture.
Marks = dict[str, Floats]

# The distance from a point to its name, in points of 1/72 inch; and how near to an edge of the picture is near.
DISTANCE, NEAR = 5.0, 0.15


def named_points(mark: Any, domain: Domain) -> Marks:
    """Points of input space by name, from what a caller gave."""
    if mark is True:
        return dict(zip("abc", domain.points, strict=False))
    if mark is False:
        return {}
    if isinstance(mark, Mapping):
        if not all(isinstance(name, str) for name in mark):
            raise TypeError("mark: the names of points must be strings")
        given = {name: many_points([point], f"mark: point {name!r}")[0] for name, point in mark.items()}
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
            what = ("line", "plane")[domain.dimension - 1]
            raise DomainError(
                f"mark: point {name!r} is {away:.3g} away from the {what} that is drawn; "
                "domain.to_input(domain.to_chart(x)) is the nearest point on it"
            )
    return given


def draw_marks(ax: Any, view: View, marks: Marks, output: int | None) -> list[str]:
    """Mark the points that lie in the picture; returns their names.

    On a line they are on the curve of an output, or where none is said, of the largest one.
    """
    from matplotlib.patheffects import withStroke

    if not marks:
        return []
    domain = view.partition.domain
    places = domain.project(np.array(list(marks.values())))
    size = view.high - view.low
    # Corners of a domain are rounded, and may lie outside of it by as much.
    inside = np.all((places >= view.low - 1e-9 * size) & (places <= view.high + 1e-9 * size), axis=1)
    names = [name for name, shown in zip(marks, inside, strict=True) if shown]
    places = np.clip(places[inside], view.low, view.high)
    if domain.dimension == 1:
        outputs = view.partition.network(domain.to_input(places))
        on_curve = outputs.max(axis=1) if output is None else outputs[:, output]
        places = np.column_stack([places[:, 0], on_curve])
    if len(names):
        ax.scatter(*places.T, s=36, color="black", edgecolors="white", linewidths=1.0, zorder=5, clip_on=False)
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    shares = (places - low) / (high - low)
    for name, place, share in zip(names, places, shares, strict=True):
        # Away from the middle of the marked points, but not over the edge of the picture.
        side = np.where(share >= shares.mean(axis=0), 1.0, -1.0)
        side = np.where(share > 1 - NEAR, -1.0, np.where(share < NEAR, 1.0, side))
        ax.annotate(
            name,
            place,
            xytext=DISTANCE * side,
            textcoords="offset points",
            ha="left" if side[0] > 0 else "right",
            va="bottom" if side[1] > 0 else "top",
            fontweight="bold",
            color="black",
            zorder=6,
            annotation_clip=False,
            parse_math=False,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
    return names
