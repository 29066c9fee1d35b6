# SPDX-License-Identifier: MIT
"""How are data drawn as dots?

Points are projected to the line or plane that is shown, along the directions at right angles to it. Those whose
projections lie in the picture are drawn, up to the distance that the caller admits. On a line they are on the curve.
Cost: a product of matrices, and one collection for matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from regions.ground.arithmetic.types import Floats, Integers
from regions.pictures.picture_view import View
from regions.results.cells.locate import distances_off
from regions.results.pages.page_style import DataPoints

__all__ = ["DOT", "EDGE", "Dots", "dot_color", "dots_in", "draw_dots"]

DOT, EDGE = "#555555", "white"
# Faces have this much of the colour of their class, and white (`regions/results/pages/colors.py`). Dots have all of it,
# and are darker.
OF_FACES, DARKER = 0.68, 0.7


class Dots(NamedTuple):
    """The points that a picture shows: their numbers [k], places on the axes [k, 2], classes [k] or None, and distances
    to the slice [k].
    """

    numbers: Integers
    places: Floats
    classes: Integers | None
    distances: Floats


def dots_in(view: View, data: DataPoints, output: int | None) -> Dots:
    """Return the dots of one panel; on a line they are on the curve of this output, or of the largest one."""
    domain = view.partition.domain
    chart = domain.project(data.points)
    distances = distances_off(domain, data.points, chart)
    shown = np.flatnonzero((distances <= data.within) & view.shows(chart))
    classes = None if data.classes is None else data.classes[shown]
    return Dots(shown, view.place(chart[shown], output), classes, distances[shown])


def draw_dots(ax: Any, dots: Dots, colors: Mapping[int, Any]) -> None:
    """Draw dots over regions and edges, in strong, dark colours of their classes."""
    if len(dots.places):
        size = float(np.clip(300 / np.sqrt(len(dots.places)), 4.0, 24.0))
        faces: Any = DOT if dots.classes is None else [dot_color(colors[number]) for number in dots.classes.tolist()]
        drawn = ax.scatter(*dots.places.T, s=size, c=faces, edgecolors=EDGE, linewidths=0.5, zorder=4)
        drawn.set(gid="points", label="points")


def dot_color(face: Any) -> tuple[float, float, float]:
    """Return the colour of dots on faces of this colour."""
    red, green, blue = (DARKER * max(1 - (1 - float(part)) / OF_FACES, 0.0) for part in face[:3])
    return red, green, blue
