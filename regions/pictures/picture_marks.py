# SPDX-License-Identifier: MIT
"""Which points are marked in a picture, and with which names?

The points are those that a domain was made from (`Domain.points`), or given ones. A point must lie on the line or in
the plane that is drawn: nothing is projected silently. Names have a light halo, so that they can be read over any
colour, and are placed where there is room, see `picture_texts.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from regions.arithmetic.arguments import drawable
from regions.arithmetic.types import Floats
from regions.cells.locate import distances_off
from regions.domains import Domain
from regions.domains.points import many_points
from regions.domains.shape import SHAPES
from regions.errors import DomainError, ShapeMismatchError
from regions.pictures.picture_texts import LINE, place_names
from regions.pictures.picture_view import View

__all__ = ["Marks", "draw_marks", "named_points"]

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


def draw_marks(ax: Any, view: View, marks: Marks, output: int | None) -> list[str]:
    """Mark the points that lie in the picture; return their names.

    On a line they are on the curve of the given output, or by default of the largest one.
    """
    from matplotlib.patheffects import withStroke

    if not marks:
        return []
    domain = view.partition.domain
    places = domain.project(np.array(list(marks.values())))
    size = view.high - view.low
    # Corners of a domain are rounded, and may lie slightly outside of it.
    inside = np.all((places >= view.low - 1e-9 * size) & (places <= view.high + 1e-9 * size), axis=1)
    names = [name for name, is_inside in zip(marks, inside, strict=True) if is_inside]
    places = np.clip(places[inside], view.low, view.high)
    if domain.dimension == 1:
        outputs = view.partition.network(domain.to_input(places))
        on_curve = outputs.max(axis=1) if output is None else outputs[:, output]
        shown = np.column_stack([view.axes.place(places)[:, 0], on_curve])
    else:
        shown = view.axes.place(places)
    if len(names):
        ax.scatter(*shown.T, s=36, color="black", edgecolors="white", linewidths=1.0, zorder=5, clip_on=False)
    annotations = [
        ax.annotate(
            name,
            place,
            xytext=(0.0, 0.0),
            textcoords="offset points",
            fontweight="bold",
            color="black",
            zorder=6,
            annotation_clip=False,
            parse_math=False,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            arrowprops=LINE,
        )
        for name, place in zip(names, shown, strict=True)
    ]
    for annotation in annotations:
        annotation.set_in_layout(False)  # names stay inside the axes
    place_names(ax, annotations)
    return names
