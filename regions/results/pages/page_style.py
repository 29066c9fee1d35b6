# SPDX-License-Identifier: MIT
"""How may a caller change the look of a page, in words that pictures share?

`PageStyle` has the words of pages. The words of pictures (`regions/pictures/picture_style.py`) are these and more. All
are checked before anything is drawn or written. Only names of colours and of colour maps need matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import ArrayLike

from regions.domains import Domain
from regions.domains.points import many_points
from regions.errors import DomainError, MissingDependencyError, ShapeMismatchError
from regions.ground.arithmetic.arguments import drawable, list_of, shown
from regions.ground.arithmetic.arrays import as_numpy, real_numbers
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.results.cells.locate import distances_off
from regions.results.pages.colors import CLASSES, class_colors

__all__ = [
    "DataPoints",
    "PageStyle",
    "about_points",
    "checked_classes",
    "checked_color",
    "checked_colormap",
    "checked_data",
    "checked_palette",
    "dots_on_page",
    "page_colors",
    "palette_colors",
    "require_labels",
    "require_matplotlib",
    "require_words",
]

LARGEST_CLASS = 10_000
# Maps with fewer colours than this are lists of colours, and not steps of a continuous one.
FEW = 64
# Steps of a colour map on a page, and the most dots there.
RAMP, MOST_DOTS = 33, 10_000
# Other names of words in matplotlib and seaborn.
SHORT = {"lw": "linewidth", "ls": "linestyle", "ec": "edgecolor", "c": "color_by", "hue": "color_by", "size": "figsize"}


class PageStyle(TypedDict, total=False):
    """The look of a page, in words that pictures take too.

    Attributes
    ----------
    points : array_like [k, n_in], or images [k, C, H, W]
        Data, such as training points, drawn as dots. They are projected to the line or plane that is shown, and the
        legend says how far the farthest dot in the picture is away from it.
    labels : array_like of int or str [k]
        The class of each point: the number of an output, or one of the names in ``classes``. Dots have the colours of
        the classes.
    within : float
        Draw only points that are at most this far away, in the Euclidean norm of the input space. By default all points
        are drawn whose projections lie in the picture.
    cmap : str or matplotlib.colors.Colormap
        The colours of values of an output, and of numbers. In pictures the default is viridis, or RdBu_r for an output
        of both signs; pages have a light and a dark one of their own.
    palette : str, sequence of colours, or dict of colours by number
        The colours of classes, or in pictures of layers from 0 with ``color_by="layer"`` and without labels: the name
        of a matplotlib colour map, a list, or a dict. A map of few colours, such as tab10, is repeated; a list is not.
        The default can be told apart by people with colour-vision deficiencies.
    classes : sequence of str, or dict of str by number
        Names of the classes in the legend, in the order of the outputs; of a single output, of its two signs. By
        default they have their numbers.
    """

    points: ArrayLike
    labels: ArrayLike
    within: float
    cmap: Any
    palette: Any
    classes: Sequence[str] | Mapping[int, str]


@dataclass(frozen=True)
class DataPoints:
    """Points of input space float64 [k, n_in], their classes int64 [k] or None, and the greatest distance to draw."""

    points: Floats
    classes: Integers | None
    within: float


def require_matplotlib() -> Any:
    """Return matplotlib, or raise an error that names the extra which installs it."""
    try:
        import matplotlib.figure
    except ImportError:
        raise MissingDependencyError("matplotlib", "plot", "for plotting") from None
    return matplotlib


def require_words(given: Iterable[str], words: Iterable[str], others: Sequence[str]) -> None:
    """Refuse arguments that are not words of style; ``others`` are the further arguments of the call.

    Raises
    ------
    TypeError
        The message has the word that was probably meant.
    """
    words = sorted(words)
    for name in given:
        if name not in words:
            known = [*words, *others]
            near = [SHORT[name]] if SHORT.get(name) in known else get_close_matches(name, known, 1)
            raise TypeError(
                f"there is no argument {name!r}"
                + (f"; did you mean {near[0]!r}?" if near else f". The look is set by {', '.join(words)}")
            )


def checked_classes(given: Any) -> dict[int, str]:
    """Return the names of classes by their numbers."""
    if isinstance(given, Mapping):
        named = dict(given)
        if not all(isinstance(number, (int, np.integer)) for number in named):
            raise TypeError("classes: the names must be given by number, such as {0: 'zero'}")
    else:
        named = dict(enumerate(list_of(given, "classes", "a name for each class")))
    return {int(number): drawable(name, f"classes: the name of class {number}") for number, name in named.items()}


def checked_data(given: Mapping[str, Any], n_in: int, names: Mapping[int, str]) -> DataPoints | None:
    """Return the data to draw, if there are any; ``names`` has the names of classes.

    Raises
    ------
    ValueError
        Labels or a distance without points; labels that are not classes.
    TypeError, ShapeMismatchError, NonFiniteError
        Points and labels that do not fit the network or each other.
    """
    if "points" not in given:
        if "labels" in given or "within" in given:
            raise ValueError(f"{'labels' if 'labels' in given else 'within'} is about points; pass points= too")
        return None
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
        classes = _numbered(labels, names)
    return DataPoints(points, classes, float(within))


def _numbered(labels: Any, names: Mapping[int, str]) -> Integers:
    """Return labels as numbers of classes, with the names of these."""
    if labels.dtype.kind in "biu":
        if len(labels) and (labels.min() < 0 or labels.max() > LARGEST_CLASS):
            raise ValueError(f"labels must be from 0 to {LARGEST_CLASS}, got {labels.min()} to {labels.max()}")
        return labels.astype(np.int64)
    words = [word if isinstance(word, str) else None for word in labels.tolist()]
    if None in words:
        raise TypeError(f"labels must be whole numbers or names, got {shown(labels[words.index(None)])}")
    if words and not names:
        raise ValueError("labels are names: give classes= too, the names of all classes in the order of the outputs")
    numbers = {name: number for number, name in names.items()}
    if len(numbers) < len(names):
        raise ValueError("labels are names, and two classes have the same name: give numbers of outputs as labels")
    unknown = next((word for word in words if word not in numbers), None)
    if unknown is not None:
        raise ValueError(f"labels: {shown(unknown)} is not among the classes {shown(list(numbers))}")
    return np.array([numbers[cast("str", word)] for word in words], dtype=np.int64)


def require_labels(data: DataPoints, count: int) -> None:
    """Refuse labels beyond so many classes, which are outputs or signs of one output."""
    if data.classes is not None and (data.classes >= count).any():
        raise ValueError(f"labels: the network has the classes 0 to {count - 1}, got {data.classes.max()}")


def about_points(count: int, farthest: float) -> str:
    """Return what a legend says of dots: their number, and the distance of the farthest one."""
    return f"{count:,} point{'s' * (count != 1)}" + f",\nup to {farthest:.3g} away" * (farthest > 0)


def checked_colormap(given: Any, name: str) -> Any:
    """Return a colour map of matplotlib, by its name or as it is."""
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


def checked_palette(given: Any) -> Any:
    """Return a colour map, or a list or dict of colours, each red, green, blue and opacity."""
    if isinstance(given, Mapping):
        if not all(isinstance(number, (int, np.integer)) for number in given):
            raise TypeError("palette: colours must be given by number, such as {0: 'tab:blue'}")
        return {
            int(number): checked_color(color, f"palette: the colour of {number}") for number, color in given.items()
        }
    if isinstance(given, str) or not isinstance(given, (Sequence, np.ndarray)):
        return checked_colormap(given, "palette")
    colors = [checked_color(each, f"palette: colour {index}") for index, each in enumerate(given)]
    if not colors:
        raise ValueError("palette has no colour; give at least one, or leave it out")
    return colors


def checked_color(given: Any, name: str) -> Any:
    """Return red, green, blue and opacity of a colour of matplotlib."""
    colors = require_matplotlib().colors
    if not colors.is_color_like(given):
        raise ValueError(f"{name} must be a colour of matplotlib, such as 'tab:blue' or '#77aadd', got {shown(given)}")
    return colors.to_rgba(given)


def palette_colors(palette: Any, numbers: Sequence[int]) -> dict[int, Any]:
    """Return the colour of each of these classes, from a checked palette; None is the default."""
    count = max(numbers, default=-1) + 1
    if palette is None:
        return dict(zip(range(count), class_colors(count), strict=True))
    if isinstance(palette, dict):
        missing = [number for number in numbers if number not in palette]
        if missing:
            raise ValueError(f"palette has no colour for {missing[0]}; it has {shown(sorted(palette))}")
        return {number: palette[number] for number in numbers}
    if isinstance(palette, list):
        if len(palette) < count:
            raise ValueError(f"palette has {len(palette)} of the {count} colours that are needed, numbered from 0")
        return {number: palette[number] for number in numbers}
    listed = len(getattr(palette, "colors", ()))
    if 0 < listed < FEW:  # colours to choose from, such as tab10
        return {number: palette(number % listed) for number in numbers}
    return {number: palette(number / max(count - 1, 1)) for number in numbers}


def page_colors(given: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return the colours of a page with so many classes, and of values if they are asked for, in hexadecimal."""
    found: dict[str, Any] = {"classes": CLASSES}
    if "palette" in given:
        colors = palette_colors(checked_palette(given["palette"]), range(count))
        # Faces have these colours as they are, and not lightened.
        found |= {"classes": [_hexadecimal(color) for color in colors.values()], "plain": True}
    if "cmap" in given:
        colormap = checked_colormap(given["cmap"], "cmap")
        found["ramp"] = [_hexadecimal(colormap(share)) for share in np.linspace(0.0, 1.0, RAMP)]
    return found


def _hexadecimal(color: Any) -> str:
    return "#" + "".join(f"{round(255 * float(part)):02x}" for part in color[:3])


def _in_picture(domain: Domain, chart: Floats) -> Bits:
    """Return which chart points [k, d] lie in the smallest box around a domain; corners do, though they are rounded."""
    if not domain.bounded:
        return np.ones(len(chart), dtype=bool)
    corners = domain.generators[:, 1:]
    low, high = corners.min(axis=0), corners.max(axis=0)
    slack = 1e-9 * (high - low)
    return np.asarray(((chart >= low - slack) & (chart <= high + slack)).all(axis=1))


def dots_on_page(data: DataPoints | None, domain: Domain, count: int) -> dict[str, Any] | None:
    """Return the dots of a page with so many classes: places on the chart, classes, and what the legend says.

    Raises
    ------
    DomainError
        A domain of three dimensions.
    ValueError
        More than 10,000 dots; a class that the network does not have.
    """
    if data is None:
        return None
    if domain.dimension > 2:
        raise DomainError("points are drawn on pages of lines and planes; take a section of this domain")
    require_labels(data, count)
    chart = domain.project(data.points)
    distances = distances_off(domain, data.points, chart)
    shown_ones = np.flatnonzero((distances <= data.within) & _in_picture(domain, chart))
    if len(shown_ones) > MOST_DOTS:
        raise ValueError(f"points: {len(shown_ones):,} dots are too many for a page, which draws {MOST_DOTS:,}")
    farthest = float(distances[shown_ones].max(initial=0.0))
    return {
        "places": [[float(f"{part:.9g}") for part in place] for place in chart[shown_ones].tolist()],
        "classes": None if data.classes is None else data.classes[shown_ones].tolist(),
        "text": about_points(len(shown_ones), farthest).replace("\n", " "),
    }
