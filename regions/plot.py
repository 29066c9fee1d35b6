# SPDX-License-Identifier: MIT
"""How is a partition drawn?

In a plane: the regions, with edges coloured by the layer of the neuron that makes them (Raghu et al. 2017,
Fig. 1), or faces shaded by an output of the network or coloured by pattern. On a line: the output as a
function, with its kinks. Drawing is in chart coordinates; matplotlib is imported here only, on use. What is
drawn is what was enumerated: the network is evaluated at vertices only, and is linear between them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.colors import pattern_colors
from regions.errors import DomainError, MissingDependencyError
from regions.partition import Partition, require_partition

__all__ = ["plot"]

Floats = NDArray[np.float64]

COLOR_BY = ("layer", "value", "pattern")
# Above this many regions a vector file would be tens of megabytes: the regions become an image in it, axes
# stay sharp.
MOST_VECTOR_REGIONS = 20_000
# Beyond it, the differences and margins that matplotlib computes overflow.
LARGEST_DRAWN = 1e300
LIGHT, BORDER = "#f6f6f4", "#333333"


def plot(partition: Partition, ax: Any = None, color_by: str = "layer", output_index: int = 0) -> Any:
    """Draw a partition with matplotlib.

    Parameters
    ----------
    partition : Partition
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default new axes in a new figure.
    color_by : "layer", "value" or "pattern"
        In a plane: edges by the layer of their neuron, counted from 1 as in the papers; faces by an output of
        the network; faces by activation pattern. On a line the output is drawn in any case, and the choice is
        for its kinks ("layer"), for the curve ("value"), or for bands behind it ("pattern").
    output_index : int
        Which output of the network, counted from 0.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingDependencyError
        matplotlib is not installed.
    ValueError
        Another ``color_by``, or an output that the network does not have.
    DomainError
        A whole plane; numbers too large for a picture.
    """
    require_partition(partition)
    if color_by not in COLOR_BY:
        raise ValueError(f"color_by must be one of {', '.join(COLOR_BY)}, got {color_by!r}")
    if not isinstance(output_index, (int, np.integer)) or not 0 <= output_index < partition.network.n_out:
        raise ValueError(
            f"output_index must be a number from 0 to {partition.network.n_out - 1}, got {output_index!r}"
        )
    if partition.dimension == 2 and not partition.domain.bounded:
        raise DomainError("a whole plane can not be drawn; enumerate a polygon in it instead")
    _check_size("the chart", partition.vertices[np.isfinite(partition.vertices)])
    if ax is None:
        _matplotlib()
        from matplotlib import pyplot

        ax = pyplot.figure(layout="constrained").add_subplot()
    draw = _draw_line if partition.dimension == 1 else _draw_plane
    draw(partition, ax, color_by, output_index)
    return ax


def _check_size(what: str, numbers: Floats) -> None:
    largest = np.abs(numbers).max(initial=0.0)
    if largest > LARGEST_DRAWN:
        raise DomainError(f"{what} reaches {largest:.3g}; what is above {LARGEST_DRAWN:g} can not be drawn")


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise MissingDependencyError("matplotlib", "plot", "for plotting") from None
    return matplotlib


def _layer_colors(partition: Partition) -> list[Any]:
    """One colour per hidden layer: the ten of the standard cycle, or equal steps of a colour map for deeper
    networks."""
    matplotlib = _matplotlib()
    count = len(partition.network.widths)
    if count <= 10:
        return [matplotlib.colormaps["tab10"](index) for index in range(count)]
    return list(matplotlib.colormaps["turbo"](np.linspace(0, 1, count)))


def _legend(ax: Any, colors: list[Any], layers: Any, **style: Any) -> None:
    """One entry per layer that has been drawn, up to twenty."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=colors[layer], label=f"layer {layer + 1}", **style) for layer in layers]
    if 0 < len(handles) <= 20:
        ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _draw_plane(partition: Partition, ax: Any, color_by: str, output_index: int) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    as_image = len(partition) > MOST_VECTOR_REGIONS
    # Thinner lines for more regions, so that the edges of small ones do not fill them.
    width = float(np.clip(12 / np.sqrt(len(partition) + 1), 0.1, 1.0))
    x, y = partition.vertices.T
    if color_by == "value":
        values = partition.network(partition.domain.to_input(partition.vertices))[:, output_index]
        _check_size(f"output {output_index}", values)
        shades = ax.tripcolor(x, y, _triangles(partition), values, shading="gouraud", rasterized=True)
        ax.figure.colorbar(shades, ax=ax, label=f"output {output_index}")
    else:
        corners = partition.vertices[partition.cell_vertices]
        polygons = np.split(corners, partition.cell_offsets[1:-1])
        faces: Any = LIGHT if color_by == "layer" else pattern_colors(partition.packed_patterns)
        # Edges of the faces' own colour close the hairlines that renderers leave between polygons.
        ax.add_collection(
            PolyCollection(polygons, facecolors=faces, edgecolors="face", linewidths=0.3, rasterized=as_image)
        )
    colors = _layer_colors(partition)
    drawn = np.unique(partition.facet_layers)
    for layer in drawn[::-1].tolist():  # first layers last, on top: they are what the later ones bend at
        edges = partition.vertices[partition.facet_vertices[partition.facet_layers == layer]]
        color = BORDER if layer < 0 else colors[layer] if color_by == "layer" else "#00000055"
        ax.add_collection(
            LineCollection(edges, colors=[color], linewidths=width, capstyle="round", rasterized=as_image)
        )
    if color_by == "layer":
        _legend(ax, colors, drawn[drawn >= 0].tolist())
    directions, exponents = partition.domain.split_directions
    lengths = np.linalg.norm(directions, axis=1)
    with np.errstate(over="ignore", under="ignore"):
        aspect = np.ldexp(lengths[1] / lengths[0], exponents[1] - exponents[0])
    ax.set_aspect(float(aspect) if 0 < aspect < np.inf else "auto")
    ax.autoscale_view()
    ax.set(xlabel="$p_1$", ylabel="$p_2$", title=f"{len(partition):,} regions")


def _triangles(partition: Partition) -> NDArray[np.int64]:
    """Each region as a fan of triangles around its first corner: int64 [t, 3]. Regions are convex."""
    first = np.repeat(partition.cell_vertices[partition.cell_offsets[:-1]], partition.corner_counts)
    following = partition.cell_vertices[1:]
    fans = np.stack([first[:-1], partition.cell_vertices[:-1], following], axis=1)
    middle = np.ones(len(fans), dtype=bool)
    middle[partition.cell_offsets[:-1]] = False  # from the first corner to the second: no triangle
    middle[partition.cell_offsets[1:-1] - 1] = (
        False  # from the last corner of one region to the first of the next
    )
    return fans[middle]


def _draw_line(partition: Partition, ax: Any, color_by: str, output_index: int) -> None:
    from matplotlib.collections import LineCollection

    kinks = np.sort(partition.vertices[np.isfinite(partition.vertices[:, 0]), 0])
    low, high = (float(kinks[0]), float(kinks[-1])) if kinks.size else (-1.0, 1.0)
    if not partition.domain.bounded:  # show a piece of what has no end
        margin = (high - low) / 5 or max(1.0, abs(high))
        unbounded = partition.domain.generators[:, 0] == 0
        low, high = low - margin * unbounded[0], high + margin * unbounded[1]
    ends = np.clip(partition.vertices[partition.cell_vertices, 0], low, high).reshape(-1, 2)
    values = partition.network(partition.domain.to_input(ends[:, :, np.newaxis]))[:, :, output_index]
    _check_size(f"output {output_index}", values)
    pieces = np.stack([ends, values], axis=2)
    if color_by == "pattern":
        colors = pattern_colors(partition.packed_patterns)
        for (left, right), color in zip(ends.tolist(), colors, strict=True):
            ax.axvspan(left, right, color=color, linewidth=0)
    curve = LineCollection(
        list(pieces), colors=None if color_by == "value" else [BORDER], linewidths=1.5, capstyle="round"
    )
    if color_by == "value":
        curve.set_array(values.mean(axis=1))
        ax.figure.colorbar(curve, ax=ax, label=f"output {output_index}")
    ax.add_collection(curve)
    _draw_kinks(partition, ax, color_by, output_index)
    ax.set_xlim(low, high)
    ax.autoscale_view(scalex=False)
    ax.set(xlabel="$p$", ylabel=f"output {output_index}", title=f"{len(partition):,} regions")


def _draw_kinks(partition: Partition, ax: Any, color_by: str, output_index: int) -> None:
    """A dot where the pattern changes, in the colour of the layer that changes it."""
    colors = _layer_colors(partition)
    drawn = np.unique(partition.facet_layers[partition.facet_kinks >= 0]).tolist()
    for layer in drawn:
        places = partition.vertices[partition.facet_vertices[partition.facet_layers == layer, 0]]
        places = places[np.isfinite(places[:, 0])]  # on a line, a kink may lie beyond the largest double
        values = partition.network(partition.domain.to_input(places))[:, output_index]
        color = colors[layer] if color_by == "layer" else BORDER
        ax.plot(places[:, 0], values, linestyle="", marker="o", markersize=3, color=color, zorder=3)
    if color_by == "layer":
        _legend(ax, colors, drawn, linestyle="", marker="o", markersize=3)
