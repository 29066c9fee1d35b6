# SPDX-License-Identifier: MIT
"""How are marked points drawn?

`regions/results/pages/marks.py` says which points are marked, and with which names. Names have a light halo, so that
they can be read over any colour, and are placed where there is room, see `picture_texts.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regions.pictures.picture_texts import LINE, place_names
from regions.pictures.picture_view import View
from regions.results.pages.marks import Marks

__all__ = ["draw_marks"]


def draw_marks(ax: Any, view: View, marks: Marks, output: int | None) -> list[str]:
    """Mark the points that lie in the picture; return their names.

    On a line they are on the curve of the given output, or by default of the largest one, or of the largest score.
    """
    from matplotlib.patheffects import withStroke

    if not marks:
        return []
    places = view.partition.domain.project(np.array(list(marks.values())))
    inside = view.shows(places)
    names = [name for name, is_inside in zip(marks, inside, strict=True) if is_inside]
    shown = view.place(places[inside], output)
    if len(names):
        style = {"s": 36, "color": "black", "edgecolors": "white", "linewidths": 1.0, "zorder": 5, "clip_on": False}
        ax.scatter(*shown.T, gid="marks", label="marks", **style)
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
