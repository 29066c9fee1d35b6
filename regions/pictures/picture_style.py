# SPDX-License-Identifier: MIT
"""How may a caller change the look of a picture?

All functions that draw regions take the words of `PictureStyle`, which are those of matplotlib and seaborn. They are
checked here, once, before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from regions.ground.arithmetic.arguments import flag, list_of, real, shown
from regions.ground.arithmetic.types import Floats
from regions.pictures.picture_texts import require_title
from regions.results.pages.colors import layer_colors
from regions.results.pages.page_style import (
    DataPoints,
    PageStyle,
    checked_classes,
    checked_color,
    checked_colormap,
    checked_data,
    checked_palette,
    palette_colors,
    require_matplotlib,
    require_words,
)

__all__ = ["COLOR_BY", "ColorBy", "PictureStyle", "Style", "checked_style"]

ColorBy: TypeAlias = Literal["layer", "value", "pattern", "class", "none"]
COLOR_BY: tuple[ColorBy, ...] = get_args(ColorBy)
# Inches: the smallest and the largest side of a figure.
SMALLEST_SIDE, LARGEST_SIDE = 1.0, 100.0
# The arguments of pictures that are not words of style.
OTHERS = ("color_by", "output_index", "mark", "title", "legend")


class PictureStyle(PageStyle, total=False):
    """The look of a picture: the words of `PageStyle`, for data, colours and classes, and these words of matplotlib.

    Attributes
    ----------
    linewidth : float
        Width of edges, or on a line of the curves, in points of 1/72 inch; 0 leaves edges out. By default edges are
        thinner if there are more regions.
    linestyle : str or (offset, dashes)
        Style of edges, or of curves, such as ``"--"``, as in matplotlib. By default they are solid.
    edgecolor : colour
        One colour for all edges between regions. By default they have the colours of their layers with
        ``color_by="layer"``, and are thin and dark otherwise.
    alpha : float
        Opacity of faces, from 0 to 1. By default they are opaque.
    rasterized : bool
        Whether faces and edges are an image in ``.svg`` and ``.pdf`` files, while axes and texts stay sharp. By default
        they are if there are more than 20,000 regions.
    zorder : float
        Where faces and edges lie among other artists: above all artists of lower numbers. The default is 1.
    xlabel, ylabel : str
        Names of the axes; "" for none. By default they are inputs, coordinates of the chart, or outputs.
    figsize : (float, float)
        Width and height of a new figure in inches. By default the figure is as high as the domain needs.
    """

    linewidth: float
    linestyle: Any
    edgecolor: Any
    alpha: float
    rasterized: bool
    zorder: float
    xlabel: str
    ylabel: str
    figsize: tuple[float, float]


@dataclass(frozen=True)
class Style:
    """A `PictureStyle`, checked. The picture chooses each value that is None."""

    data: DataPoints | None = None
    cmap: Any = None
    palette: Any = None
    classes: Mapping[int, str] = field(default_factory=dict)
    linewidth: float | None = None
    edgecolor: Any = None
    alpha: float | None = None
    figsize: tuple[float, float] | None = None
    # Further arguments of faces and edges, and the names of axes, in the words of matplotlib.
    artists: Mapping[str, Any] = field(default_factory=dict)
    axes: Mapping[str, str] = field(default_factory=dict)

    def apply(self, artist: Any, name: str) -> None:
        """Name a face, edge or curve, in the figure and in an SVG file, and give it the look that was asked for."""
        artist.set(gid=name, label=name, **self.artists)

    def class_colors(self, numbers: Sequence[int]) -> dict[int, Any]:
        """Return the colour of each of these classes."""
        return palette_colors(self.palette, numbers)

    def layer_colors(self, count: int) -> Floats:
        """Return red, green and blue of each layer, float64 [count, 3]."""
        if self.palette is None:
            return layer_colors(count)
        return np.array([color[:3] for color in self.class_colors(range(count)).values()]).reshape(-1, 3)


def checked_style(given: Mapping[str, Any], n_in: int) -> Style:
    """Check the words of a `PictureStyle` for pictures of networks with ``n_in`` inputs.

    Raises
    ------
    TypeError
        Words that do not exist, or values of another type.
    ValueError, ShapeMismatchError, NonFiniteError
        Values out of their range; points and labels that do not fit the network or each other.
    """
    require_words(given, PictureStyle.__optional_keys__, OTHERS)
    chosen: dict[str, Any] = {}
    names = checked_classes(given["classes"]) if "classes" in given else {}
    chosen["data"] = checked_data(given, n_in, names)
    if "cmap" in given:
        chosen["cmap"] = checked_colormap(given["cmap"], "cmap")
    if "palette" in given:
        chosen["palette"] = checked_palette(given["palette"])
    if "edgecolor" in given:
        chosen["edgecolor"] = checked_color(given["edgecolor"], "edgecolor")
    for name, most in (("linewidth", 100.0), ("alpha", 1.0)):
        if name in given:
            chosen[name] = _between(given[name], name, 0.0, most)
    chosen["artists"] = _of_artists(given)
    chosen["axes"] = {name: require_title(given[name], name) for name in ("xlabel", "ylabel") if name in given}
    if "figsize" in given:
        sides = list_of(given["figsize"], "figsize", "a width and a height in inches")
        if len(sides) != 2:
            raise ValueError(f"figsize must be a width and a height in inches, got {shown(sides)}")
        chosen["figsize"] = tuple(_between(side, "figsize", SMALLEST_SIDE, LARGEST_SIDE) for side in sides)
    return Style(**chosen, classes=names)


def _between(value: Any, name: str, least: float, most: float) -> float:
    number = real(value, name)
    if not least <= number <= most:
        raise ValueError(f"{name} must be from {least:g} to {most:g}, got {number:g}")
    return number


def _of_artists(given: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "linestyle" in given:
        try:
            require_matplotlib().lines.Line2D([], [], linestyle=given["linestyle"])
        except (ValueError, TypeError):
            raise ValueError(
                f"linestyle must be one of matplotlib, such as '--' or (0, (4, 2)), got {shown(given['linestyle'])}"
            ) from None
        found["linestyle"] = given["linestyle"]
    if "rasterized" in given:
        found["rasterized"] = flag(given["rasterized"], "rasterized")
    if "zorder" in given:
        found["zorder"] = real(given["zorder"], "zorder")
    return found
