# SPDX-License-Identifier: MIT
"""How is the path of a curve through a network drawn?

On the left is its length after each layer, on a logarithmic scale, as in Raghu et al. 2017 (Fig. 12). On the right are
its images after some of the layers, each projected on its two principal directions, as in their Fig. 3: dark where the
curve begins, light where it ends, with a dot at each bend. Below a projected image is the share of the variance that it
shows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.pictures.picture_files import WIDTH
from regions.results.pages.curve_images import in_plane

__all__ = ["MOST_IMAGES", "Image", "draw_trajectory", "size_for"]

MOST_IMAGES = 6
# At most COLUMNS images are in a row. Bends of an image are marked by dots if there are at most MOST_DOTS of them.
COLUMNS, MOST_DOTS = 3, 400
# Cells along an axis of a grid that is finer than visible details.
GRID = 1000
PANEL = 1.9


class Image(NamedTuple):
    """One image of the curve: its title, its points [k, n] and their parameters [k] in order, which are corners [k]."""

    name: str
    points: Floats
    times: Floats
    corners: Bits


def draw_trajectory(figure: Any, lengths: Floats, images: list[Image]) -> list[Any]:
    """Draw lengths [layers + 1] and images on an empty figure; return the axes."""
    rows = -(-len(images) // COLUMNS)
    grid = figure.add_gridspec(rows, COLUMNS + 2)
    axes = [figure.add_subplot(grid[:, :2])]
    _draw_lengths(axes[0], lengths)
    for index, image in enumerate(images):
        axes.append(figure.add_subplot(grid[index // COLUMNS, 2 + index % COLUMNS]))
        _draw_image(axes[-1], image)
    return axes


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

    flat, units, share = in_plane(image.points, image.times)
    seen = _seen(flat)
    ends = flat[seen]
    lines = LineCollection(np.stack([ends[:-1], ends[1:]], axis=1).tolist(), cmap="viridis", linewidths=0.8)
    lines.set_array(seen[:-1] / len(flat))
    ax.add_collection(lines)
    if image.corners.sum() <= MOST_DOTS:
        ax.plot(*flat[image.corners].T, linestyle="", marker="o", markersize=1.5, color="black")
    ax.autoscale_view()
    if units > 1:
        ax.set_aspect("equal", adjustable="datalim")
    ax.set(title=image.name, xticks=[], yticks=[])
    below = "t" if units == 1 else "" if share is None else f"2 of {units} directions: {_percent(share)}"
    ax.set_xlabel(below, fontsize="small")


def _percent(share: float) -> str:
    """Return a share in per cent, rounded down, because 100% would say that nothing is lost."""
    return f"{min(int(100 * share), 99) if share < 1 - 1e-12 else 100}%"


def _seen(flat: Floats) -> Integers:
    """Return the indices of points [k, 2] to draw: the first, the last, and each that enters another cell of a grid."""
    cells = np.floor(flat * (GRID / np.maximum(np.ptp(flat, axis=0), 1e-300)))
    moved = (np.diff(cells, axis=0) != 0).any(axis=1)
    moved[-1] = True
    return np.append(0, 1 + np.flatnonzero(moved))
