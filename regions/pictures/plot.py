# SPDX-License-Identifier: MIT
"""How are partitions drawn side by side?

In a plane: the regions, with edges coloured by the layer of the neuron that makes them (Raghu et al. 2017, Fig. 1),
or faces by region, by class, or shaded by an output of the network. On a line: the output as a function, with its
kinks. Drawing is in chart coordinates; matplotlib is imported on use. The picture shows exactly what was enumerated:
the network is evaluated at vertices only, and is affine between them. This file checks the arguments and has the parts
common to all panels, colours and their legend; the other files of this folder draw one panel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from regions.domains.abilities import FLAT_PICTURES, require
from regions.errors import ShapeMismatchError
from regions.ground.arithmetic.arguments import flag, one_of
from regions.ground.arithmetic.arguments import shown as printed
from regions.ground.arithmetic.arrays import real_numbers
from regions.ground.arithmetic.types import Floats
from regions.pictures.line_picture import LinePicture
from regions.pictures.picture_files import figure_size
from regions.pictures.picture_marks import draw_marks
from regions.pictures.picture_points import DOT, EDGE, Dots, dot_color, dots_in, draw_dots
from regions.pictures.picture_style import COLOR_BY, ColorBy, PictureStyle, Style, checked_style
from regions.pictures.picture_texts import arrange, require_title
from regions.pictures.picture_view import View, make_view, proportion
from regions.pictures.plane_picture import LIGHT, OUTLINE, Palette, PlanePicture
from regions.pictures.section_pictures import sections_of
from regions.results.definitions import LinearRegions
from regions.results.definitions.classed_regions import ClassedRegions
from regions.results.pages.colors import CLASSES, layer_colors
from regions.results.pages.marks import named_points
from regions.results.pages.page_style import about_points, require_labels, require_matplotlib
from regions.results.partition import Partition, require_partition
from regions.results.partition.polytopes import PolytopePartition
from regions.results.partition.region import Region

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Unpack

__all__ = ["COLOR_BY", "draw_panels", "plot"]

Shown: TypeAlias = Partition | LinearRegions | ClassedRegions
# One for each region; not ArrayLike, which every string is.
Numbers: TypeAlias = NDArray[Any] | Sequence[float]
Picture: TypeAlias = PlanePicture | LinePicture
PICTURES: dict[int, type[Picture]] = {1: LinePicture, 2: PlanePicture}

# The classes of a network with one output.
SIGNS = {0: "output ≤ 0", 1: "output > 0"}
# More layers than this have a colour bar.
MOST_ENTRIES = 8


@overload
def plot(  # type: ignore[overload-overlap]
    partition: PolytopePartition | Sequence[Shown],
    ax: Any = ...,
    color_by: ColorBy | Numbers | Callable[[Region], float] = ...,
    output_index: int = ...,
    *,
    mark: Any = ...,
    title: str | Sequence[str] | None = ...,
    legend: bool = ...,
    at: Any = ...,
    **style: Unpack[PictureStyle],
) -> list[Axes]: ...
@overload
def plot(
    partition: Shown,
    ax: Any = ...,
    color_by: ColorBy | Numbers | Callable[[Region], float] = ...,
    output_index: int = ...,
    *,
    mark: Any = ...,
    title: str | None = ...,
    legend: bool = ...,
    at: Any = ...,
    **style: Unpack[PictureStyle],
) -> Axes: ...
def plot(
    partition: Shown | Sequence[Shown],
    ax: Any = None,
    color_by: ColorBy | Numbers | Callable[[Region], float] = "layer",
    output_index: int = 0,
    *,
    mark: Any = True,
    title: str | Sequence[str] | None = None,
    legend: bool = True,
    at: Any = None,
    **style: Unpack[PictureStyle],
) -> Any:
    """Draw a partition, or linear regions, or several of these side by side, with matplotlib.

    Parameters
    ----------
    partition : Partition, LinearRegions, Decisions or LevelSet, or a sequence of these
        The regions to draw, with a panel for each item of a sequence. Linear regions are drawn without the edges inside
        them. `Decisions` and a `LevelSet` are drawn by class, with their exact borders. For an unbounded domain, a
        window around its middle is shown. Regions of three dimensions are drawn in three panels: as they are in three
        planes through a point, enumerated there.
    ax : matplotlib.axes.Axes, or a sequence of as many as there are panels, optional
        Axes to draw on; by default a new figure, as high as the domain needs.
    color_by : "layer", "value", "pattern", "class", "none", array_like [R], or a function
        In a plane: edges by the layer of their neuron, counted from 1 as in the papers; faces by an output of the
        network; faces so that neighbours differ; faces by the output that is the largest, or by the sign of a single
        output, with the line between them; or nothing. On a line the outputs are drawn in any case, and the choice is
        for the kinks ("layer"), for the curve ("value"), or for bands behind it ("pattern", "class"). An array has one
        number for each region, such as ``partition.volumes``; a function gives the number of a `Region`. The numbers
        are shades of faces, or of bands.
    output_index : int
        Index of the output of the network, from 0.
    mark : bool, points [k, n_in], or dict of points [n_in] by name
        Points of the input space to mark, named 0, 1, .. unless they have names. By default the points that a `Segment`
        or `circumsquare` was made from, as a, b, c; False for none. Points outside of a panel are not shown in it.
    title : str, or a sequence of one for each panel, optional
        Replaces the number of regions; "" for none.
    legend : bool
        Whether to explain the colours, next to the panel at the upper right.
    at : array_like [n_in], optional
        In three dimensions: the point through which the planes go, by default the middle of the domain.
    **style
        Data points as dots, colours, names of classes, widths: the words of
        `regions.pictures.picture_style.PictureStyle`, which `animate` takes too.

    Returns
    -------
    matplotlib.axes.Axes
        A list of axes for a sequence, and for the three panels of three dimensions.

    Raises
    ------
    MissingDependencyError
        matplotlib is not installed.
    TypeError, ValueError
        Objects that cannot be drawn, or drawn on; an unknown ``color_by``, or word of style; an output that the network
        does not have.
    ShapeMismatchError, NonFiniteError, DomainError
        Marked points that lie elsewhere; numbers too large for a picture; a whole plane with regions missing; a
        partition of more than three dimensions, or a plane that does not meet it.

    Notes
    -----
    All panels have the same colours for the same layers, classes and values. The largest output is found in floating
    point; docs/pictures.md describes how the picture is made, and what it guarantees.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, -1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.circumsquare([-1, 0], [1, 0], [0, 1]))
    >>> ax = plot(part, color_by="pattern", mark={"here": [0.5, 0.5]})
    >>> ax.get_title(), [text.get_text() for text in ax.texts]
    ('4 regions', ['here'])
    >>> ax = plot(part, color_by="class", points=[[0.5, 0.1], [-0.2, 0.5]], labels=[1, 0], classes=["low", "high"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['low', 'high', '2 points']
    """
    heights: list[str] | None = None
    if isinstance(partition, Partition) and partition.dimension > 2:
        partition, heights = sections_of(partition, at)
    elif at is not None:
        raise ValueError("at= is for partitions of three dimensions; leave it out")
    several = isinstance(partition, (list, tuple))
    shown = _shown(partition)
    with_legend = flag(legend, "legend")
    for each in shown:
        _require_output(_partition_of(each), output_index)
    titles = _titles(heights if title is None else title, len(shown), several)
    look = checked_style(style, _partition_of(shown[0]).domain.n_in)
    if ax is not None and look.figsize is not None:
        raise ValueError("figsize is for a new figure, and ax= is given: set the size of the figure of these axes")
    axes = draw_panels(
        shown,
        lambda views: _new_axes(views, look.figsize) if ax is None else _given_axes(ax, len(shown)),
        color_by,
        output_index,
        mark=mark,
        titles=titles,
        legend=with_legend,
        style=look,
    )
    if ax is None:
        arrange(axes, look.figsize is None and any(_partition_of(each).dimension == 2 for each in shown))
    return axes if several else axes[0]


def draw_panels(
    shown: list[Shown],
    axes_for: Callable[[list[View]], list[Any]],
    color_by: ColorBy | Numbers | Callable[[Region], float],
    output_index: int,
    *,
    mark: Any,
    titles: list[str | None],
    legend: bool,
    style: Style,
) -> list[Any]:
    """Draw several panels on axes that are made, or taken, once their content is known; see `plot`."""
    require_matplotlib()
    word, numbers = _coloured(color_by, shown)
    marks = [named_points(mark, _partition_of(each).domain) for each in shown]
    views = [
        make_view(each, np.array(list(points.values())).reshape(len(points), _partition_of(each).domain.n_in))
        for each, points in zip(shown, marks, strict=True)
    ]
    axes = axes_for(views)
    pictures: list[Picture] = [
        PICTURES[view.partition.dimension](view, word, output_index, each)
        for view, each in zip(views, numbers, strict=True)
    ]
    for picture in pictures:
        if picture.color_by == "class" and style.data is not None:
            require_labels(style.data, max(picture.view.scores.n_out, 2))
    curves = [None if picture.color_by == "class" else output_index for picture in pictures]
    dots = [
        None if style.data is None else dots_in(view, style.data, curve)
        for view, curve in zip(views, curves, strict=True)
    ]
    palette = _palette(pictures, dots, style)
    for ax, picture, points, some, curve, title in zip(axes, pictures, marks, dots, curves, titles, strict=True):
        picture.draw(ax, palette)
        ax.set_title(picture.view.title if title is None else title)
        if some is not None:
            draw_dots(ax, some, palette.classes)
        draw_marks(ax, picture.view, points, curve)
    if legend:
        for group in _by_figure(axes):
            here = [some for ax, some in zip(axes, dots, strict=True) if ax in group and some is not None]
            _explain(group, pictures, palette, here, getattr(color_by, "__name__", ""))
    return axes


def _coloured(color_by: Any, shown: list[Shown]) -> tuple[str, list[Floats | None]]:
    """Return what colours mean, and the number of each region of each panel, if numbers are drawn."""
    if isinstance(color_by, str):
        return one_of(color_by, COLOR_BY, "color_by"), [None] * len(shown)
    if any(isinstance(each, ClassedRegions) for each in shown):
        raise TypeError(f"{type(shown[0]).__name__} are drawn by class; leave color_by out, or draw the partition")
    if not callable(color_by) and len(shown) > 1:
        raise ValueError("color_by: an array has one number for each region of one partition; pass a function instead")
    found: list[Floats | None] = []
    for each in shown:
        part = _partition_of(each)
        labels = np.arange(len(part)) if isinstance(each, Partition) else each.labels
        firsts = np.unique(labels, return_index=True)[1]
        given = [color_by(part[int(region)]) for region in firsts] if callable(color_by) else color_by
        numbers = real_numbers(given, "color_by")
        if numbers.shape != (len(firsts),):
            raise ShapeMismatchError(
                f"color_by must have one number for each of the {len(firsts)} regions, got shape {list(numbers.shape)}"
            )
        found.append(numbers[labels])
    return "number", found


def _by_figure(axes: list[Any]) -> list[list[Any]]:
    """Return the axes of each figure."""
    figures = list(dict.fromkeys(id(ax.figure) for ax in axes))
    return [[ax for ax in axes if id(ax.figure) == figure] for figure in figures]


def _shown(partition: Any) -> list[Shown]:
    items = list(partition) if isinstance(partition, (list, tuple)) else [partition]
    if not items:
        raise ValueError("nothing to draw: the sequence of partitions is empty")
    for item in items:
        if not isinstance(item, (LinearRegions, ClassedRegions)):
            require_partition(item)
        require(FLAT_PICTURES, _partition_of(item).domain)
    return items


def _partition_of(shown: Shown) -> Partition:
    partition = shown if isinstance(shown, Partition) else shown.partition
    assert isinstance(partition, Partition)  # `_shown` refuses others
    return partition


def _require_output(partition: Partition, output_index: Any) -> None:
    outputs = partition.network.n_out
    whole = isinstance(output_index, (int, np.integer)) and not isinstance(output_index, bool)
    if not whole or not 0 <= output_index < outputs:
        raise ValueError(f"output_index must be a number from 0 to {outputs - 1}, got {printed(output_index)}")
    if not len(partition):
        raise ValueError("a partial result without a single region cannot be drawn")


def _titles(title: Any, count: int, several: bool) -> list[str | None]:
    if title is None:
        return [None] * count
    titles = list(title) if several and isinstance(title, (list, tuple)) else [title]
    if not all(isinstance(each, str) for each in titles):
        raise TypeError(f"title must be a string, or a sequence of one for each panel or step, got {title!r}")
    if len(titles) != count:
        raise ValueError(f"there are {count} panels or steps and {len(titles)} titles; give one for each")
    return [require_title(each, "title") for each in titles]


def _new_axes(views: list[View], size: tuple[float, float] | None) -> list[Any]:
    """Return axes side by side in a new figure; in a plane it is too high at first, unless its size is given."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=size or figure_size([proportion(view) for view in views]), layout="constrained")
    return list(figure.subplots(1, len(views), squeeze=False)[0])


def _given_axes(ax: Any, count: int) -> list[Any]:
    from matplotlib.axes import Axes

    axes = list(ax.flat) if isinstance(ax, np.ndarray) else list(ax) if isinstance(ax, (list, tuple)) else [ax]
    for each in axes:
        if not isinstance(each, Axes) or each.name != "rectilinear":
            what = f"{each.name} axes" if isinstance(each, Axes) else type(each).__name__
            raise TypeError(f"ax must be matplotlib axes, such as pyplot.subplots() makes, or several; got {what}")
    if len(axes) != count:
        raise ValueError(f"there are {count} panels to draw and {len(axes)} axes; give as many axes as partitions")
    return axes


def _palette(pictures: list[Picture], dots: list[Dots | None], style: Style) -> Palette:
    """Return the meaning of colours, the same in all panels."""
    matplotlib = require_matplotlib()
    networks = [picture.partition.network for picture in pictures]
    depth = max(len(network.widths) for network in networks)
    by_layer = pictures[0].color_by == "layer" and (style.data is None or style.data.classes is None)
    layers = style.layer_colors(depth) if by_layer else layer_colors(depth)
    labels = [some.classes.tolist() for some in dots if some is not None and some.classes is not None]
    classes = sorted({number for each in labels + [picture.classes for picture in pictures] for number in each})
    # While there are enough colours, a class has the same one in every picture.
    every = max(classes, default=0) < len(CLASSES) or style.palette is not None
    found = {} if by_layer else style.class_colors(classes if every else range(len(classes)))
    colors = {number: found[number if every else place] for place, number in enumerate(classes)}
    values = np.concatenate([picture.values for picture in pictures])
    if not len(values):
        return Palette(layers, colors, None, None, style)
    low, high = float(values.min()), float(values.max())
    name = "viridis"
    outputs = all(picture.color_by == "value" for picture in pictures)
    if outputs and all(network.n_out == 1 for network in networks) and low < 0 < high:
        # The sign of a single output is often the answer: white is 0.
        name, high = "RdBu_r", max(high, -low)
        low = -high
    if low == high:
        low, high = low - max(abs(low), 1.0), high + max(abs(high), 1.0)
    return Palette(
        layers, colors, style.cmap or matplotlib.colormaps[name], matplotlib.colors.Normalize(low, high), style
    )


def _explain(axes: list[Any], pictures: list[Picture], palette: Palette, dots: list[Dots], word: str) -> None:
    """Draw a legend, or a colour bar, next to the axes at the upper right."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def place(ax: Any) -> tuple[float, float]:
        box = ax.get_position()
        return round(box.y1, 6), box.x1

    ax = max(axes, key=place)
    handles: list[Any] = []
    layers = sorted({layer for picture in pictures for layer in picture.layers})
    count = len(palette.layers)
    by_class = any(picture.color_by == "class" for picture in pictures)
    if palette.norm is not None:
        by_value = pictures[0].color_by == "value"
        label = f"output {pictures[0].output_index}" if by_value else word if word.isidentifier() else ""
        _bar(ax, ScalarMappable(palette.norm, palette.colormap), label, None)
    elif by_class:
        signs = all(picture.partition.network.n_out == 1 for picture in pictures)
        names: Mapping[int, str] = SIGNS if signs else {number: f"class {number}" for number in palette.classes}
        names = next((picture.view.classed.names for picture in pictures if picture.view.classed is not None), names)
        names = {**{number: f"class {number}" for number in palette.classes}, **names, **palette.style.classes}
        handles = [Patch(facecolor=color, label=names[number]) for number, color in palette.classes.items()]
    elif layers and count > MOST_ENTRIES:
        norm = BoundaryNorm(np.arange(count + 1) + 0.5, count)
        sizes = (each * 10**power for power in range(count) for each in (1, 2, 5))
        step = next(size for size in sizes if count <= 6 * size)
        ticks = np.arange(step, count + 1, step)
        _bar(ax, ScalarMappable(norm, ListedColormap(palette.layers)), "layer", ticks)
    else:
        style = (
            {"linestyle": "", "marker": "o", "markersize": 4}
            if all(isinstance(picture, LinePicture) for picture in pictures)
            else {"linewidth": 2}
        )
        handles = [Line2D([], [], color=palette.layers[layer], label=f"layer {layer + 1}", **style) for layer in layers]
    handles += _explained(dots, palette, by_class)
    if handles:
        columns = -(-len(handles) // 24)
        corner = (1.0, 1.0) if palette.norm is None else (1.22, 1.0)  # beyond the colour bar and its numbers
        ax.legend(handles=handles, loc="upper left", bbox_to_anchor=corner, ncols=columns, **_frame(ax, layers))


def _frame(ax: Any, layers: list[int]) -> dict[str, Any]:
    """Return the look of the legend. On a dark figure, dark colours of layers have a light ground, as regions do."""
    from matplotlib.colors import to_rgb

    dark = layers and sum(to_rgb(ax.figure.get_facecolor())) < 1.5
    return {"facecolor": LIGHT, "labelcolor": OUTLINE, "framealpha": 1.0} if dark else {"frameon": False}


def _explained(dots: list[Dots], palette: Palette, by_class: bool) -> list[Any]:
    """Return what the legend says of points: their classes, if faces do not show them, and how far they are away."""
    from matplotlib.lines import Line2D

    if not dots:
        return []
    style: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 5, "markeredgewidth": 0.5}
    names, handles = palette.style.classes, []
    if not by_class:
        for number, color in palette.classes.items():
            label = names.get(number, f"class {number}")
            handles.append(Line2D([], [], color=dot_color(color), markeredgecolor=EDGE, label=label, **style))
    count = len(np.unique(np.concatenate([some.numbers for some in dots])))
    farthest = max(float(some.distances.max(initial=0.0)) for some in dots)
    handles.append(Line2D([], [], color=DOT, markeredgecolor=EDGE, label=about_points(count, farthest), **style))
    return handles


def _bar(ax: Any, colors: Any, label: str, ticks: Any) -> None:
    """Draw a colour bar as high as the axes."""
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    bar = ax.figure.colorbar(colors, cax=ax.inset_axes([1.03, 0.0, 0.04, 1.0]), label=label)
    bar.set_ticks(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]) if ticks is None else ticks)
    bar.minorticks_off()
    # The common offset of the numbers is part of the label; above the bar it would overlap the title.
    formatter = ScalarFormatter(useMathText=True)
    bar.ax.yaxis.set_major_formatter(formatter)
    formatter.set_locs(bar.get_ticks())
    if formatter.get_offset():
        bar.set_label(f"{label}  ({formatter.get_offset()})")
    bar.ax.yaxis.get_offset_text().set_visible(False)
