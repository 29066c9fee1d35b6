# SPDX-License-Identifier: MIT
"""How are a title and the names of marks placed so that all can be read?

Once the layout of a figure is known, a title is broken into lines that fit above its panel. A formula is not broken,
and a line that is still too wide, or a title too high, is made smaller. A name takes the first position around its
point that overlaps neither an earlier name nor a point; further away, a thin line leads to the point. If all positions
are taken, the name goes to the position where it hides least. Names stay inside the axes, so they do not overlap the
numbers at the axes.
Cost: O(k^2) for k names, in arrays.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from regions.ground.arithmetic.arguments import drawable
from regions.ground.arithmetic.types import Floats
from regions.pictures.picture_files import trim_height

__all__ = ["LINE", "arrange", "place_names", "require_title"]

# In points of 1/72 inch: distances of a name from its point that are tried, half of a mark with its edge, the halo of a
# name, and the least distance at which a line connects the name with its point.
DISTANCES, MARK, HALO, LED = (5.0, 10.0, 16.0, 24.0, 34.0, 46.0, 60.0), 4.0, 1.5, 16.0
SMALLEST_FONT = 4.0
# The largest part of a figure's height that a title may take, if the height is given.
HIGHEST_TITLE = 0.3
SIDES = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 0], [-1, 0], [0, 1], [0, -1]], dtype=np.float64)
# Directions from a name to its point.
LINE: dict[str, Any] = {"arrowstyle": "-", "linewidth": 0.6, "shrinkA": 0.0, "shrinkB": 0.0}
LONGEST_TITLE = 500
# Unbreakable parts: formulas between dollar signs, and text without a blank.
WORD = re.compile(r"(?:\\\$|\$[^$]*\$|\S)+")


def require_title(text: Any, name: str) -> str:
    """Return a title, which may have formulas between dollar signs.

    Raises
    ------
    TypeError, ValueError
        Not a str; characters that no font draws; longer than a picture has room for; an invalid formula.
    """
    title = drawable(text, name)
    if len(title) > LONGEST_TITLE:
        raise ValueError(f"{name} has {len(title):,} characters; a picture has room for {LONGEST_TITLE}")
    if title.count("$") >= 2:
        try:
            from matplotlib.mathtext import MathTextParser
        except ImportError:  # drawing reports this
            return title
        try:
            MathTextParser("path").parse(title)
        except ValueError as error:
            raise ValueError(f"{name} has an invalid formula: {' '.join(str(error).split())}") from None
    return title


def arrange(axes: list[Any], trim: bool) -> None:
    """Fit titles and names into a new figure; trim its height if it is not given."""
    figure = axes[0].figure
    figure.draw_without_rendering()
    for ax in axes:
        _fit_title(ax, None if trim else HIGHEST_TITLE * figure.bbox.height)
    if trim:
        trim_height(figure)
    else:
        figure.draw_without_rendering()
    for ax in axes:
        place_names(ax, list(ax.texts))


def _fit_title(ax: Any, most: float | None) -> None:
    """Break the title of axes, whose layout is known, into lines that fit above them, within a given height."""
    title, box = ax.title, ax.get_window_extent()
    words = [WORD.findall(line) for line in title.get_text().split("\n")]
    middle, pad = (box.x0 + box.x1) / 2, ax.figure.dpi * 0.06
    left, right = 0.0, ax.figure.bbox.width
    for other in ax.figure.axes:
        near = other.get_window_extent()
        if near.x1 <= box.x0:
            left = max(left, (near.x1 + box.x0) / 2)
        elif near.x0 >= box.x1:
            right = min(right, (near.x0 + box.x1) / 2)
    room = max(2 * (min(middle - left, right - middle) - pad), 1.0)
    while True:
        title.set_text("\n".join(line for given in words for line in _lines(title, given, room)))
        extent, size = title.get_window_extent(), title.get_fontsize()
        if (extent.width <= room and (most is None or extent.height <= most)) or size <= SMALLEST_FONT:
            return
        title.set_fontsize(max(0.9 * size, SMALLEST_FONT))


def _lines(title: Any, words: list[str], room: float) -> list[str]:
    """Break words into lines of at most the available width, if no formula is wider; divide words that are too long."""

    def width(text: str) -> float:
        title.set_text(text)
        return float(title.get_window_extent().width)

    lines: list[str] = []
    line = ""
    for word in words:
        longer = f"{line} {word}" if line else word
        if line and width(longer) > room:
            lines.append(line)
            longer = word
        while "$" not in longer and len(longer) > 1 and width(longer) > room:
            fits = next(n for n in range(len(longer) - 1, 0, -1) if n == 1 or width(longer[:n]) <= room)
            lines.append(longer[:fits])
            longer = longer[fits:]
        line = longer
    return [*lines, line]


def place_names(ax: Any, names: list[Any]) -> None:
    """Move annotations, the names of marked points, to readable positions."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.text import Text

    if not names:
        return
    scale = ax.figure.dpi / 72
    box = ax.get_window_extent()
    low, high = np.array(box.min) + HALO * scale, np.array(box.max) - HALO * scale
    points = ax.transData.transform(np.array([name.xy for name in names], dtype=np.float64))
    # Away from the middle of the marked points.
    outwards = np.where(points >= points.mean(axis=0), 1.0, -1.0)
    # Lower and upper corners of boxes that must not be hidden, float64 [m, 2, 2].
    taken = np.stack([points - MARK * scale, points + MARK * scale], axis=1)
    for name, point, outward in zip(names, points, outwards, strict=True):
        extent = Text.get_window_extent(name)
        if extent.width > high[0] - low[0]:
            smaller = name.get_fontsize() * (high[0] - low[0]) / extent.width
            name.set_fontsize(max(smaller, SMALLEST_FONT))
            extent = Text.get_window_extent(name)
        size = np.array([extent.width, extent.height])
        sides = SIDES[np.argsort(-(SIDES @ outward), kind="stable")]
        away = np.repeat(DISTANCES, len(SIDES))
        sides = np.tile(sides, (len(DISTANCES), 1))
        corners = point + sides * (away[:, np.newaxis] * scale + size / 2) - size / 2
        corners = np.maximum(np.minimum(corners, high - size), low)
        hidden = _common_area(corners, corners + size, taken).sum(axis=1)
        best = int(np.argmin(hidden))
        corner = corners[best]
        name.set(ha="left", va="bottom", position=tuple((corner - point) / scale))
        # A hidden line would still count as a part of the name.
        line = name.arrow_patch or FancyArrowPatch((0.0, 0.0), (1.0, 1.0), **LINE)
        name.arrowprops, name.arrow_patch = (LINE, line) if away[best] >= LED else (None, None)
        taken = np.concatenate([taken, np.stack([corner, corner + size])[np.newaxis]])


def _common_area(lower: Floats, upper: Floats, boxes: Floats) -> Floats:
    """Return the area that boxes, by corners float64 [n, 2], share with others float64 [m, 2, 2]: float64 [n, m]."""
    sides = np.minimum(upper[:, np.newaxis], boxes[:, 1]) - np.maximum(lower[:, np.newaxis], boxes[:, 0])
    return np.maximum(sides, 0.0).prod(axis=2)
