# SPDX-License-Identifier: MIT
"""How is the path of a curve through a network drawn?

On the left is its length after each layer, on a logarithmic scale, as in Raghu et al. 2017 (Fig. 12). On the right are
its images after some of the layers, each projected on the plane in which it is widest (two principal components), as in
their Fig. 3: dark where the curve begins, light where it ends, with a dot at each bend.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from regions.arithmetic.types import Bits, Floats, Integers
from regions.pictures.picture_files import WIDTH

__all__ = ["Image", "draw_trajectory", "layers_shown", "size_for"]

MOST_IMAGES = 6
# Most images in a row; and most dots that can be distinguished.
COLUMNS, MOST_DOTS = 3, 400
# Cells along an axis of a grid that is finer than visible details; most points used to find the principal components.
GRID, MEASURED = 1000, 1000
PANEL = 1.9


class Image(NamedTuple):
    """One image of the curve: its title, its points [k, n] in order, and which of them are corners."""

    name: str
    points: Floats
    corners: Bits


def layers_shown(layers: int) -> list[int]:
    """Return the layers from 0 to ``layers`` whose images are drawn: first, last, and some between, evenly."""
    return sorted({round(layer) for layer in np.linspace(0, layers, min(layers + 1, MOST_IMAGES)).tolist()})


def draw_trajectory(figure: Any, lengths: Floats, images: list[Image]) -> None:
    """Draw lengths [layers + 1] and images on an empty figure."""
    rows = -(-len(images) // COLUMNS)
    grid = figure.add_gridspec(rows, COLUMNS + 2)
    _draw_lengths(figure.add_subplot(grid[:, :2]), lengths)
    for index, image in enumerate(images):
        _draw_image(figure.add_subplot(grid[index // COLUMNS, 2 + index % COLUMNS]), image)


def size_for(images: int) -> tuple[float, float]:
    """Return width and height in inches of a figure with that many images."""
    return 1.4 * WIDTH, max(1.5, -(-images // COLUMNS)) * PANEL


def _draw_lengths(ax: Any, lengths: Floats) -> None:
    from matplotlib.ticker import MaxNLocator

    shown = np.where(lengths > 0, lengths, np.nan)  # a logarithmic scale has no zero
    ax.plot(np.arange(len(lengths)), shown, marker="o", markersize=3)
    if np.isfinite(shown).any():
        ax.set_yscale("log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="layer", title="length")


def _draw_image(ax: Any, image: Image) -> None:
    from matplotlib.collections import LineCollection

    flat = _projected(image.points)
    seen = _seen(flat)
    ends = flat[seen]
    lines = LineCollection(np.stack([ends[:-1], ends[1:]], axis=1).tolist(), cmap="viridis", linewidths=0.8)
    lines.set_array(seen[:-1] / len(flat))
    ax.add_collection(lines)
    if image.corners.sum() <= MOST_DOTS:
        ax.plot(*flat[image.corners].T, linestyle="", marker="o", markersize=1.5, color="black")
    ax.autoscale_view()
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(title=image.name, xticks=[], yticks=[])


def _seen(flat: Floats) -> Integers:
    """Return the indices of points [k, 2] to draw: the first, the last, and each that enters another cell of a grid."""
    cells = np.floor(flat * (GRID / max(np.ptp(flat, axis=0).max(), 1e-300)))
    moved = (np.diff(cells, axis=0) != 0).any(axis=1)
    moved[-1] = True
    return np.append(0, 1 + np.flatnonzero(moved))


def _projected(points: Floats) -> Floats:
    """Return points in the plane of their two principal components, float64 [k, 2], of a size that can be drawn."""
    exponent = int(np.frexp(np.abs(points).max(initial=0.0))[1])
    centred = np.ldexp(points, -exponent)
    centred = centred - centred.mean(axis=0)
    if centred.shape[1] < 2:
        centred = np.column_stack([centred, np.zeros(len(centred))])
    some = centred[:: -(-len(centred) // MEASURED)]
    axes = np.linalg.svd(some, full_matrices=False)[2][:2] if centred.shape[1] > 2 else np.eye(2)
    flat: Floats = centred @ axes.T
    return flat if flat.shape[1] == 2 else np.column_stack([flat, np.zeros(len(flat))])
