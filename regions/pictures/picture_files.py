# SPDX-License-Identifier: MIT
"""How large is a picture, and how is it written to a file?

The width of a picture is given. Unless the height is given too, it is the height of the panels, without empty margins.
Files depend on the content and on the version of matplotlib only: they have no date, and names inside SVG use a fixed
salt. Fonts are embedded in PDF as TrueType, as journals require; letters in SVG are shapes, which look the same
everywhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regions.files.replacing import replacing
from regions.ground.arithmetic.arguments import shown
from regions.results.pages.page_style import require_matplotlib

__all__ = [
    "PICTURE_SUFFIXES",
    "VECTOR_DPI",
    "WIDTH",
    "figure_or_new",
    "figure_size",
    "save_figure",
    "trim_height",
]

PICTURE_SUFFIXES = (".png", ".svg", ".pdf")
# Width of a picture in inches, dots per inch, and dots per inch of images inside a vector file.
WIDTH, DPI, VECTOR_DPI = 6.4, 150, 300
# In inches: the largest height of axes by default, and the width of the labels next to axes.
HIGHEST, BESIDE = 5.2, 1.4
# Margins in inches, as constrained layout leaves them.
PAD = 0.04

SETTINGS: Any = {"svg.hashsalt": "relu-regions", "svg.fonttype": "path", "pdf.fonttype": 42}
# Metadata that would differ from run to run.
NO_DATE: dict[str, Any] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def figure_size(proportions: list[float | None], width: float | None = None) -> tuple[float, float]:
    """Return width and height in inches for panels side by side, given height over width in a plane, None on a line.

    In a plane the height is more than enough, see `trim_height`. The default width is smaller for high panels.
    """
    if width is None:
        widest = max(BESIDE + HIGHEST / max(proportion or 1.0, 1.0) for proportion in proportions)
        width = min(widest, WIDTH) if len(proportions) == 1 else min(widest, WIDTH * 0.6) * len(proportions)
    each = width / len(proportions)
    return width, max(0.6 * each if proportion is None else each * proportion + 1.0 for proportion in proportions)


def figure_or_new(figure: Any, width: float, height: float) -> Any:
    """Return the given figure, or a new one of this size in inches, which is not registered with pyplot.

    Raises
    ------
    MissingDependencyError
        matplotlib is not installed.
    TypeError
        Not a figure.
    """
    kinds = require_matplotlib().figure
    if figure is None:
        return kinds.Figure(figsize=(width, height), layout="constrained")
    if not isinstance(figure, kinds.FigureBase):
        raise TypeError(f"figure must be a matplotlib figure, got {shown(figure)}")
    return figure


def trim_height(figure: Any) -> None:
    """Reduce the height of a figure to its content; its width is unchanged."""
    for _ in range(2):  # tick labels may change with the height
        figure.draw_without_rendering()
        figure.set_figheight(figure.get_tightbbox().height + 2 * PAD)
    figure.draw_without_rendering()  # a layout makes room for the ticks of the layout before it


def save_figure(figure: Any, path: Path, dpi: float | None = None) -> None:
    """Write a figure to a file, completely or not at all."""
    import matplotlib

    suffix = path.suffix.lower()
    with matplotlib.rc_context(SETTINGS), replacing(path) as file:
        figure.savefig(
            file, dpi=dpi or (DPI if suffix == ".png" else VECTOR_DPI), format=suffix[1:], metadata=NO_DATE[suffix]
        )
