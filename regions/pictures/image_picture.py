# SPDX-License-Identifier: MIT
"""How are images of regions drawn?

Each region has a translucent image, so that places which several images cover are darker. Images that collapse to a
segment are drawn as lines. Several sets, such as the steps of a loop, have colours from dark to light, and a legend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from regions.ground.arithmetic.types import Floats
from regions.pictures.picture_files import WIDTH, figure_or_new
from regions.pictures.picture_view import require_drawable
from regions.results.pages.colors import layer_colors
from regions.results.pages.page_style import require_matplotlib

__all__ = ["draw_images"]

FACE, EDGE = 0.25, 0.4
# With more sets than this, the legend has only the first and the last one.
MOST_ENTRIES = 12


def draw_images(sets: Sequence[Sequence[Floats]], names: Sequence[str], figure: Any) -> Any:
    """Draw sets of polygons, float64 [corners, 2] each, with a name for each set; return the axes."""
    require_matplotlib()
    from matplotlib.collections import PolyCollection

    columns = sets[0][0].shape[1]
    if columns != 2:
        raise ValueError(
            f"a picture shows images in a plane, and this one has {columns} coordinate{'s' * (columns > 1)}; of "
            "several outputs two can be drawn, with regions.image(network, domain, outputs=[0, 1])"
        )
    for polygons in sets:
        require_drawable("an image", np.concatenate(list(polygons)))
    figure = figure_or_new(figure, WIDTH, WIDTH)
    axes = figure.add_subplot()
    shown: list[Any] = []
    for polygons, name, color in zip(sets, names, layer_colors(len(sets)), strict=True):
        faces = PolyCollection(list(polygons), facecolors=[(*color, FACE)], edgecolors=[(*color, EDGE)], linewidths=0.6)
        faces.set_label(name)
        axes.add_collection(faces)
        shown.append(faces)
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel="first coordinate", ylabel="second coordinate")
    if len(sets) > 1:
        axes.legend(handles=shown if len(shown) <= MOST_ENTRIES else [shown[0], shown[-1]], loc="best")
    return axes
