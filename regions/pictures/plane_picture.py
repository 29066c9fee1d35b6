# SPDX-License-Identifier: MIT
"""How are the regions in a plane drawn?

Faces are drawn first, then edges, then the domain boundary. Faces have one light colour, or the colour of their region
or class, or are shaded by an output of the network. Edges have the colour of the layer that makes them, with the first
layer on top, because the later ones bend at it.
An output is affine inside a region, but colours that are interpolated between corners are not on the colour map.
Therefore triangles are halved until the output hardly changes in them.
Many polygons of one colour form one path, and so do many edges: this makes hundreds of times fewer objects for
matplotlib, and leaves no gaps between neighbours of one colour.
Cost: less than a second for 100,000 regions, and as much again for rendering.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from regions.ground.arithmetic.types import Floats, Integers
from regions.pictures.decision_pieces import PlanePieces, largest_on_polygons
from regions.pictures.picture_style import Style
from regions.pictures.picture_view import Panel, axis_labels, proportion, require_drawable
from regions.results.cells.output_maps import outputs_at_vertices
from regions.results.pages.colors import color_numbers, light_colors
from regions.results.partition import Partition

__all__ = ["OUTLINE", "LIGHT", "Palette", "PlanePicture"]

# Above this many regions a vector file would be tens of megabytes: the regions become an image in it, axes stay sharp.
MOST_VECTOR_REGIONS = 20_000
LIGHT, OUTLINE, THIN = "#f6f6f4", "#333333", "#00000055"
# Polygons or edges in one path: more gain little, and the renderer refuses paths that cross too many pixels.
PATH_LENGTH = 500
# Triangles are halved until an output changes by at most this fraction of its range, within limits.
SMALLEST_STEP, MOST_TRIANGLES = 1 / 32, 1_000_000


@dataclass(frozen=True)
class Palette:
    """The meaning of colours in all panels of a figure.

    Attributes
    ----------
    layers : float64 [layers, 3]
    classes : dict
        Colour of each class in the figure.
    colormap, norm : matplotlib's, or None
        For values of an output, and numbers of regions.
    style : Style
        The look that the caller asked for.
    """

    layers: Floats
    classes: dict[int, Any]
    colormap: Any
    norm: Any
    style: Style


class PlanePicture(Panel):
    """One panel in a plane; its content is computed before its colours."""

    @cached_property
    def layers(self) -> list[int]:
        """Layers whose edges have different colours."""
        layers = self.partition.facet_layers[self.view.shown_facets]
        return np.unique(layers[layers >= 0]).tolist() if self.color_by == "layer" else []

    @cached_property
    def values(self) -> Floats:
        """The output at each vertex, float64 [V], or the number of each region; empty if neither is drawn."""
        if self.color_by != "value":
            return self.numbers
        values: Floats = outputs_at_vertices(self.partition)[:, self.output_index]
        require_drawable(f"output {self.output_index}", values)
        return values

    @cached_property
    def _places(self) -> Floats:
        """Position of each vertex in the picture, float64 [V, 2]."""
        return self.view.axes.place(self.partition.vertices)

    @cached_property
    def _pieces(self) -> PlanePieces:
        if self.view.classed is None:
            return largest_on_polygons(self.partition)
        # All regions have one class, and the borders are facets: nothing is computed.
        part, classed = self.partition, self.view.classed
        borders = part.vertices[part.facet_vertices[classed.facets]]
        return PlanePieces(part.vertices[part.cell_vertices], part.cell_offsets, classed.classes, borders)

    def draw(self, ax: Any, palette: Palette) -> None:
        """Draw the panel on matplotlib axes."""
        from matplotlib.ticker import MaxNLocator

        view, partition = self.view, self.partition
        shape = proportion(view)
        assert shape is not None
        low, high = view.limits
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            width, height = high - low
            aspect = float(shape * width / height)
        if 0 < aspect < np.inf:
            ax.set_aspect(aspect)
        else:
            ax.set_box_aspect(shape)
        ax.set(**{**dict(zip(("xlabel", "ylabel"), axis_labels(view), strict=True)), **palette.style.axes})
        as_image = len(partition) > MOST_VECTOR_REGIONS
        self._draw_faces(ax, palette, as_image)
        # Thinner lines for more regions, so that the edges of small ones do not fill them.
        inches = ax.get_position().width * ax.figure.get_figwidth()
        thickness = float(np.clip(3 * inches / np.sqrt(len(partition) + 1), 0.1, 1.0))
        thickness = thickness if palette.style.linewidth is None else palette.style.linewidth
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(int(np.clip(1.4 * inches, 2, 8)), steps=[1, 2, 5, 10]))
        for layer in self._drawn_layers()[::-1]:
            edges = self._places[self._edges(layer)]
            if layer < 0:
                style: dict[str, Any] = {"edgecolors": OUTLINE, "linewidths": 0.8, "clip_on": False}
            elif self.color_by == "layer":
                style = {"edgecolors": [palette.layers[layer]], "linewidths": thickness}
            else:
                style = {"edgecolors": OUTLINE if self.color_by == "none" else THIN, "linewidths": thickness}
            if layer >= 0 and palette.style.edgecolor is not None:
                style["edgecolors"] = [palette.style.edgecolor]
            name = "domain boundary" if layer < 0 else f"layer {layer + 1}" if self.color_by == "layer" else "edges"
            style |= {"facecolors": "none", "capstyle": "round", "rasterized": as_image and layer >= 0}
            if thickness or layer < 0:
                _add(ax, name, _lines(edges), palette.style if layer >= 0 else Style(), **style)
        if self.color_by == "class":
            style = {"edgecolors": OUTLINE, "linewidths": 1.2, "capstyle": "round", "facecolors": "none"}
            _add(ax, "class borders", _lines(view.axes.place(self._pieces.borders)), palette.style, **style)

    def _drawn_layers(self) -> list[int]:
        """Return the domain boundary first, as -1; layers of one colour are drawn as one."""
        layers = self.partition.facet_layers[self.view.shown_facets]
        return np.unique(layers if self.color_by == "layer" else np.minimum(layers, 0)).tolist()

    def _edges(self, layer: int) -> Integers:
        layers = self.partition.facet_layers
        if self.color_by != "layer":
            layers = np.minimum(layers, 0)
        chosen = np.flatnonzero((layers == layer) & self.view.shown_facets)
        return self.partition.facet_vertices[chosen[np.argsort(self.partition.facet_kinks[chosen], kind="stable")]]

    def _draw_faces(self, ax: Any, palette: Palette, as_image: bool) -> None:
        partition = self.partition
        if self.color_by == "value":
            points, triangles, values = _refined(self._places, _triangles(partition), self.values, palette.norm)
            style = {"shading": "gouraud", "cmap": palette.colormap, "norm": palette.norm, "rasterized": True}
            faces = ax.tripcolor(*points.T, triangles, values, alpha=palette.style.alpha, **style)
            palette.style.apply(faces, "values")
            return
        corners, offsets = self._places[partition.cell_vertices], partition.cell_offsets
        if self.color_by == "class":
            corners, offsets = self.view.axes.place(self._pieces.corners), self._pieces.offsets
            numbers, colors = self._pieces.classes, palette.classes
        elif self.color_by == "pattern":
            numbers = color_numbers(partition, self.view.labels)
            colors = dict(enumerate(light_colors(int(numbers.max(initial=0)) + 1)))
        else:
            numbers, colors = np.zeros(len(partition), dtype=np.int64), {0: LIGHT}
        # Edges in the faces' own colours close the hairlines that renderers leave between polygons of two colours.
        style = {"edgecolors": "face", "linewidths": 0.3 * (len(colors) > 1), "rasterized": as_image}
        if palette.style.alpha is not None:  # edges over faces would be seen twice
            style |= {"alpha": palette.style.alpha, "linewidths": 0.0}
        if self.color_by == "number":
            shades = palette.colormap(palette.norm(self.numbers))
            style["linewidths"] = 0.3 * (palette.style.alpha is None)
            paths = _polygons(corners, offsets, np.arange(len(partition)), 1)
            _add(ax, "faces", paths, palette.style, facecolors=shades, **style)
            return
        for number in np.unique(numbers).tolist():
            paths = _polygons(corners, offsets, np.flatnonzero(numbers == number))
            name = f"class {number}" if self.color_by == "class" else "faces"
            _add(ax, name, paths, palette.style, facecolors=[colors[number]], **style)


def _add(ax: Any, name: str, paths: list[Any], look: Style, **style: Any) -> None:
    """Draw paths without updating the limits of the axes, which are known.

    Legends show the colours of a `PolyCollection`; they would show the paths of a `PathCollection`.
    """
    from matplotlib.collections import PolyCollection

    if paths:
        drawn = PolyCollection([], **style)
        drawn.set_verts_and_codes([path.vertices for path in paths], [path.codes for path in paths])
        for path in drawn.get_paths():
            path.should_simplify = False
        look.apply(drawn, name)
        ax.add_collection(drawn, autolim=False)


def _polygons(corners: Floats, offsets: Integers, chosen: Integers, length: int = PATH_LENGTH) -> list[Any]:
    """Return some of the polygons with corners ``offsets[i]:offsets[i + 1]`` as compound paths of this many."""
    from matplotlib.path import Path

    paths = []
    for start in range(0, len(chosen), length):
        part = chosen[start : start + length]
        counts = offsets[part + 1] - offsets[part]
        # Each ring ends with its first corner again, as the closing point.
        ends = np.cumsum(counts + 1)
        places = np.arange(ends[-1]) - np.repeat(ends - counts - 1, counts + 1)
        places[ends - 1] = 0
        codes = np.full(len(places), Path.LINETO, dtype=np.uint8)
        codes[ends - counts - 1], codes[ends - 1] = Path.MOVETO, Path.CLOSEPOLY
        paths.append(Path(corners[np.repeat(offsets[part], counts + 1) + places], codes))
    return paths


def _lines(edges: Floats) -> list[Any]:
    """Return edges float64 [m, 2, 2] as compound paths."""
    from matplotlib.path import Path

    paths = []
    for start in range(0, len(edges), PATH_LENGTH):
        points = edges[start : start + PATH_LENGTH].reshape(-1, 2)
        codes = np.tile(np.array([Path.MOVETO, Path.LINETO], dtype=np.uint8), len(points) // 2)
        paths.append(Path(points, codes))
    return paths


def _triangles(partition: Partition) -> Integers:
    """Return each region as a fan of triangles around its first corner: int64 [t, 3]. Regions are convex."""
    first = np.repeat(partition.cell_vertices[partition.cell_offsets[:-1]], partition.corner_counts)
    following = partition.cell_vertices[1:]
    fans = np.stack([first[:-1], partition.cell_vertices[:-1], following], axis=1)
    middle = np.ones(len(fans), dtype=bool)
    middle[partition.cell_offsets[:-1]] = False  # from the first corner to the second: not a triangle
    middle[partition.cell_offsets[1:-1] - 1] = False  # from the last corner of one region to the first of the next
    return fans[middle]


def _refined(points: Floats, triangles: Integers, values: Floats, norm: Any) -> tuple[Floats, Integers, Floats]:
    """Halve triangles, across the edge along which the value changes most, until it changes little in each.

    New points and values, in the middle of edges, come after the given ones.
    """
    step = (norm.vmax - norm.vmin) * SMALLEST_STEP
    finished: list[Integers] = []
    while len(triangles):
        heights = values[triangles]
        steep = heights.max(axis=1) / 2 - heights.min(axis=1) / 2 > step / 2
        if not steep.any() or sum(len(part) for part in finished) + 2 * len(triangles) > MOST_TRIANGLES:
            break
        finished.append(triangles[~steep])
        triangles, heights = triangles[steep], heights[steep]
        rows = np.arange(len(triangles))
        low, high = heights.argmin(axis=1), heights.argmax(axis=1)
        ends = triangles[rows, low], triangles[rows, high]
        new = len(points) + rows
        points = np.concatenate([points, points[ends[0]] / 2 + points[ends[1]] / 2])
        values = np.concatenate([values, values[ends[0]] / 2 + values[ends[1]] / 2])
        upper, lower = triangles.copy(), triangles.copy()
        upper[rows, low], lower[rows, high] = new, new
        triangles = np.concatenate([upper, lower])
    return points, np.concatenate([*finished, triangles]), values
