# SPDX-License-Identifier: MIT
"""How are the regions on a line drawn?

The picture shows the output of the network over the chart coordinate, with a dot at each kink, in the colour of the
layer that makes it. Bands behind it show the regions, or the largest output; then all outputs that are the largest
somewhere are drawn, in their colours. The network is evaluated at the ends of the intervals only, and is linear
between them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from regions.ground.arithmetic.types import Floats, Integers
from regions.pictures.decision_pieces import IntervalPieces, largest_on_intervals, outputs_at, scores_at
from regions.pictures.picture_view import Panel, require_drawable
from regions.pictures.plane_picture import OUTLINE, Palette
from regions.results.pages.colors import color_numbers, light_colors

__all__ = ["LinePicture"]

CURVE = "#777777"
# Number of pieces of constant colour, if the curve is coloured by its values.
STEPS = 256


class LinePicture(Panel):
    """One panel on a line; its content is computed before its colours are chosen."""

    @cached_property
    def layers(self) -> list[int]:
        """Layers whose kinks have different colours."""
        return np.unique(self.partition.facet_layers[self._kinks]).tolist() if self.color_by == "layer" else []

    @cached_property
    def values(self) -> Floats:
        """The output at the ends of each interval, float64 [2 R], or the number of each; empty if neither is drawn."""
        return self._outputs[:, :, self.output_index].ravel() if self.color_by == "value" else self.numbers

    @cached_property
    def _ends(self) -> Floats:
        """The visible part of each region, float64 [R, 2]."""
        ends = self.partition.vertices[self.partition.cell_vertices, 0].reshape(-1, 2)
        return np.clip(ends, self.view.low[0], self.view.high[0])

    @cached_property
    def _outputs(self) -> Floats:
        values = self._values_at(self._ends[:, :, np.newaxis])
        shown = values if self.color_by == "class" else values[:, :, self.output_index]
        require_drawable("an output" if self.color_by == "class" else f"output {self.output_index}", shown)
        return values

    def _values_at(self, points: Floats) -> Floats:
        """Return the values of the curves at chart points [.., 1]."""
        if self.view.classed is not None:
            return self.view.classed.scores(self.partition.domain.to_input(points))
        return (scores_at if self.color_by == "class" else outputs_at)(self.partition, points)

    @cached_property
    def _pieces(self) -> IntervalPieces:
        require_drawable("an output", self._outputs)
        if self.view.classed is None:
            return largest_on_intervals(self.partition, self._ends)
        return IntervalPieces(self._ends, self.view.classed.classes)  # all regions have one class

    @cached_property
    def _kinks(self) -> Integers:
        """The visible facets; on a line, a kink may lie beyond the largest double."""
        places = self.partition.vertices[self.partition.facet_vertices[:, 0], 0]
        shown = (self.view.low[0] <= places) & (places <= self.view.high[0])
        return np.flatnonzero(shown & (self.partition.facet_kinks >= 0) & self.view.shown_facets)

    def draw(self, ax: Any, palette: Palette) -> None:
        """Draw the panel on matplotlib axes."""
        from matplotlib.collections import LineCollection

        if self.color_by == "pattern":
            numbers = color_numbers(self.partition, self.view.labels)
            self._draw_bands(
                ax, self._placed(self._ends), light_colors(int(numbers.max(initial=0)) + 1)[numbers], palette
            )
        if self.color_by == "number":
            self._draw_bands(ax, self._placed(self._ends), palette.colormap(palette.norm(self.numbers)), palette)
        if self.color_by == "class":
            each = [palette.classes[number][:3] for number in self._pieces.classes.tolist()]
            colors = np.array(each).reshape(-1, 3)
            self._draw_bands(ax, self._placed(self._pieces.ends), 1 - (1 - colors) / 4, palette)
        drawn = self._drawn
        width = 1.5 if palette.style.linewidth is None else palette.style.linewidth
        for output in drawn:
            pieces = np.stack([self._placed(self._ends), self._outputs[:, :, output]], axis=2)
            color = palette.classes.get(output, CURVE)
            if self.color_by == "value":
                pieces = _in_steps(pieces)
            curve = LineCollection(list(pieces), colors=None if self.color_by == "value" else [color], linewidths=width)
            palette.style.apply(curve, f"output {output}")
            curve.set_capstyle("round")
            if self.color_by == "value":
                curve.set(array=pieces[:, :, 1].mean(axis=1), cmap=palette.colormap, norm=palette.norm)
            ax.add_collection(curve)
        self._draw_kinks(ax, palette, drawn)
        ax.set_xlim(*self.view.limits[:, 0])
        ax.autoscale_view(scalex=False)
        ax.set(**{"xlabel": self.view.axes.names[0], "ylabel": self._label, **palette.style.axes})

    @property
    def _drawn(self) -> list[int]:
        """The drawn outputs: with classes, the outputs that are the largest somewhere, or both scores."""
        if self.view.classed is not None and self.view.classed.scores.n_out == 2:
            return [0, 1]
        return self.classes or [self.output_index]

    @property
    def _label(self) -> str:
        if self.color_by != "class":
            return f"output {self.output_index}"
        return "outputs" if self.view.classed is None else "scores"

    def _placed(self, numbers: Floats) -> Floats:
        """Map chart coordinates [..] to the axis."""
        return self.view.axes.place(numbers[..., np.newaxis])[..., 0]

    def _draw_bands(self, ax: Any, ends: Floats, colors: Floats, palette: Palette) -> None:
        """Draw a band from bottom to top for each interval float64 [m, 2], in its colour."""
        from matplotlib.collections import PolyCollection

        (left, right), (bottom, top) = ends.T, (np.zeros(len(ends)), np.ones(len(ends)))
        corners = np.stack([left, bottom, right, bottom, right, top, left, top], axis=1).reshape(-1, 4, 2)
        bands = PolyCollection(
            list(corners), facecolors=colors, edgecolors="face", linewidths=0.2, transform=ax.get_xaxis_transform()
        )
        bands.set(gid="bands", label="bands", alpha=palette.style.alpha)
        ax.add_collection(bands, autolim=False)

    def _draw_kinks(self, ax: Any, palette: Palette, outputs: list[int]) -> None:
        """Draw a dot where the pattern changes, in the colour of its layer; a small one if there are many."""
        largest = 4.5 if self.color_by == "layer" else 2.5
        size = float(np.clip(40 / np.sqrt(len(self._kinks) + 1), 1.5, largest))
        layers = self.partition.facet_layers[self._kinks]
        for layer in np.unique(layers).tolist():
            places = self.partition.vertices[self.partition.facet_vertices[self._kinks[layers == layer], 0]]
            values = self._values_at(places)
            color = palette.layers[layer] if self.color_by == "layer" else OUTLINE
            for output in outputs:
                name = f"kinks of layer {layer + 1}"
                style = {"markersize": size, "color": color, "zorder": 3, "gid": name, "label": name}
                ax.plot(self._placed(places[:, 0]), values[:, output], "o", **style)


def _in_steps(pieces: Floats) -> Floats:
    """Cut line segments float64 [m, 2, 2] into equal parts, about `STEPS` in total."""
    count = max(1, STEPS // max(len(pieces), 1))
    shares = np.linspace(0, 1, count + 1)[:, np.newaxis]
    points = pieces[:, :1] * (1 - shares) + pieces[:, 1:] * shares
    return np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 2, 2)
