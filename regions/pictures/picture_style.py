# SPDX-License-Identifier: MIT
"""How may a caller change the look of a picture?

All functions that draw regions take the words of `PictureStyle`, which are those of matplotlib and seaborn. They are
checked here, once, before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias, TypedDict, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from regions.domains.points import many_points
from regions.errors import ShapeMismatchError
from regions.ground.arithmetic.arguments import drawable, flag, list_of, real, shown
from regions.ground.arithmetic.arrays import as_numpy, real_numbers
from regions.ground.arithmetic.types import Floats, Integers
from regions.pictures.picture_files import require_matplotlib
from regions.pictures.picture_texts import require_title
from regions.results.pages.colors import class_colors, layer_colors

__all__ = ["COLOR_BY", "ColorBy", "DataPoints", "PictureStyle", "Style", "checked_style"]

ColorBy: TypeAlias = Literal["layer", "value", "pattern", "class", "none"]
COLOR_BY: tuple[ColorBy, ...] = get_args(ColorBy)
# Inches: the smallest and the largest side of a figure.
SMALLEST_SIDE, LARGEST_SIDE = 1.0, 100.0
LARGEST_CLASS = 10_000
# Names of these words elsewhere in matplotlib and seaborn, and the arguments of pictures that are not words of style.
SHORT = {"lw": "linewidth", "ls": "linestyle", "ec": "edgecolor", "c": "color_by", "hue": "color_by", "size": "figsize"}
OTHERS = ("color_by", "output_index", "mark", "title", "legend")
# Maps with fewer colours than this are lists of colours, and not steps of a continuous one.
FEW = 64


class PictureStyle(TypedDict, total=False):
    """The look of a picture: words that all functions which draw regions share.

    Attributes
    ----------
    points : array_like [k, n_in], or images [k, C, H, W]
        Data, such as training points, drawn as dots. They are projected to the line or plane that is shown, and the
        legend says how far the farthest dot in the picture is away from it.
    labels : array_like of int or str [k]
        The class of each point: the number of an output, or a name. Dots have the colours of the classes.
    within : float
        Draw only points that are at most this far away, in the Euclidean norm of the input space. By default all points
        are drawn whose projections lie in the picture.
    cmap : str or matplotlib.colors.Colormap
        The colours of values of an output, and of numbers. By default viridis, or RdBu_r for an output of both signs.
    palette : str, sequence of colours, or dict of colours by number
        The colours of classes, or of layers from 0 with ``color_by="layer"`` and without labels: the name of a
        matplotlib colour map, a list, which is repeated if it is too short, or a dict. The default can be told apart by
        people with colour-vision deficiencies.
    classes : sequence of str, or dict of str by number
        Names of the classes in the legend, in the order of the outputs.
    linewidth : float
        Width of edges, or on a line of the curves, in points of 1/72 inch; 0 leaves edges out. By default edges are
        thinner if there are more regions.
    linestyle : str or (offset, dashes)
        Style of edges, or of curves, such as ``"--"``, as in matplotlib. By default they are solid.
    edgecolor : colour
        One colour for all edges between regions.
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

    points: ArrayLike
    labels: ArrayLike
    within: float
    cmap: Any
    palette: Any
    classes: Sequence[str] | Mapping[int, str]
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
class DataPoints:
    """Points of input space float64 [k, n_in], their classes int64 [k] or None, and the greatest distance to draw."""

    points: Floats
    classes: Integers | None
    within: float


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
        count = max(numbers, default=-1) + 1
        if self.palette is None:
            return dict(zip(range(count), class_colors(count), strict=True))
        if isinstance(self.palette, dict):
            missing = [number for number in numbers if number not in self.palette]
            if missing:
                raise ValueError(f"palette has no colour for {missing[0]}; it has {shown(sorted(self.palette))}")
            return {number: self.palette[number] for number in numbers}
        if isinstance(self.palette, list):
            return {number: self.palette[number % len(self.palette)] for number in numbers}
        listed = len(getattr(self.palette, "colors", ()))
        if 0 < listed < FEW:  # colours to choose from, such as tab10
            return {number: self.palette(number % listed) for number in numbers}
        return {number: self.palette(number / max(count - 1, 1)) for number in numbers}

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
    words = list(PictureStyle.__annotations__)
    for name in given:
        if name not in words:
            near = [SHORT[name]] if name in SHORT else get_close_matches(name, [*words, *OTHERS], 1)
            raise TypeError(
                f"there is no argument {name!r}"
                + (f"; did you mean {near[0]!r}?" if near else f". The look is set by {', '.join(sorted(words))}")
            )
    chosen: dict[str, Any] = {}
    names = _class_names(given["classes"]) if "classes" in given else {}
    if "points" in given:
        chosen["data"], names = _data(given, n_in, names)
    elif "labels" in given or "within" in given:
        raise ValueError(f"{'labels' if 'labels' in given else 'within'} is about points; pass points= too")
    if "cmap" in given:
        chosen["cmap"] = _colormap(given["cmap"], "cmap")
    if "palette" in given:
        chosen["palette"] = _palette(given["palette"])
    if "edgecolor" in given:
        chosen["edgecolor"] = _color(given["edgecolor"], "edgecolor")
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


def _class_names(given: Any) -> dict[int, str]:
    if isinstance(given, Mapping):
        named = dict(given)
        if not all(isinstance(number, (int, np.integer)) for number in named):
            raise TypeError("classes: the names must be given by number, such as {0: 'zero'}")
    else:
        named = dict(enumerate(list_of(given, "classes", "a name for each class")))
    return {int(number): drawable(name, f"classes: the name of class {number}") for number, name in named.items()}


def _data(given: Mapping[str, Any], n_in: int, names: dict[int, str]) -> tuple[DataPoints, dict[int, str]]:
    points = many_points(given["points"], "points")
    if points.shape[1] != n_in:
        raise ShapeMismatchError(f"points have {points.shape[1]} coordinates, and the network has {n_in} inputs")
    within = real_numbers(given.get("within", np.inf), "within", infinite=True)
    if within.ndim or within < 0:
        raise ValueError(f"within must be a distance, a number from 0, got {shown(given['within'])}")
    classes: Integers | None = None
    if "labels" in given:
        labels = as_numpy(given["labels"], "labels")
        if labels.shape != (len(points),):
            raise ShapeMismatchError(
                f"labels must have one item for each of the {len(points)} points, got shape {list(labels.shape)}"
            )
        classes, names = _numbered(labels, names)
    return DataPoints(points, classes, float(within)), names


def _numbered(labels: Any, names: dict[int, str]) -> tuple[Integers, dict[int, str]]:
    """Return labels as numbers of classes, and the names of these; names without numbers get them in order."""
    if labels.dtype.kind in "biu":
        if len(labels) and (labels.min() < 0 or labels.max() > LARGEST_CLASS):
            raise ValueError(f"labels must be from 0 to {LARGEST_CLASS}, got {labels.min()} to {labels.max()}")
        return labels.astype(np.int64), names
    words = [word if isinstance(word, str) else None for word in labels.tolist()]
    if None in words:
        raise TypeError(f"labels must be whole numbers or names, got {shown(labels[words.index(None)])}")
    named = names or dict(enumerate(sorted({drawable(cast("str", word), "labels: a name") for word in words})))
    numbers = {name: number for number, name in named.items()}
    unknown = next((word for word in words if word not in numbers), None)
    if unknown is not None:
        raise ValueError(f"labels: {shown(unknown)} is not among the classes {shown(list(numbers))}")
    return np.array([numbers[cast("str", word)] for word in words], dtype=np.int64), named


def _colormap(given: Any, name: str) -> Any:
    matplotlib = require_matplotlib()
    if isinstance(given, matplotlib.colors.Colormap):
        return given
    if not isinstance(given, str):
        raise TypeError(f"{name} must be the name of a matplotlib colour map, or a Colormap, got {shown(given)}")
    if given not in matplotlib.colormaps:
        near = get_close_matches(given, list(matplotlib.colormaps), 1)
        raise ValueError(
            f"{name}: matplotlib has no colour map {shown(given)}" + (f"; did you mean {near[0]!r}?" if near else "")
        )
    return matplotlib.colormaps[given]


def _palette(given: Any) -> Any:
    if isinstance(given, Mapping):
        if not all(isinstance(number, (int, np.integer)) for number in given):
            raise TypeError("palette: colours must be given by number, such as {0: 'tab:blue'}")
        return {int(number): _color(color, f"palette: the colour of {number}") for number, color in given.items()}
    if isinstance(given, str) or not isinstance(given, (Sequence, np.ndarray)):
        return _colormap(given, "palette")
    colors = [_color(each, f"palette: colour {index}") for index, each in enumerate(given)]
    if not colors:
        raise ValueError("palette has no colour; give at least one, or leave it out")
    return colors


def _color(given: Any, name: str) -> Any:
    colors = require_matplotlib().colors
    if not colors.is_color_like(given):
        raise ValueError(f"{name} must be a colour of matplotlib, such as 'tab:blue' or '#77aadd', got {shown(given)}")
    return colors.to_rgba(given)
