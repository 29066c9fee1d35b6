# SPDX-License-Identifier: MIT
"""How large is a picture, and how is it written to a file?

Its width is given, and unless its height is too, that is what the panels need: there is no empty margin. Files depend
on what is drawn and on the version of matplotlib only: no date is in them, names inside SVG are made with a fixed
salt. Fonts are embedded in PDF as TrueType, as journals want it; letters in SVG are shapes, which look the same
everywhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regions.arithmetic.arguments import shown
from regions.errors import MissingDependencyError
from regions.files.replacing import replacing

__all__ = [
    "PICTURE_SUFFIXES",
    "VECTOR_DPI",
    "WIDTH",
    "figure_or_new",
    "figure_size",
    "require_matplotlib",
    "save_figure",
    "trim_height",
]

PICTURE_SUFFIXES = (".png", ".svg", ".pdf")
# In inches, and dots per inch; what is an image inside a vector file is finer.
WIDTH, DPI, VECTOR_DPI = 6.4, 150, 300
# Height of the highest axes that nobody asked for, and what stands beside axes.
HIGHEST, BESIDE = 5.2, 1.4
# Around everything, in inches, as constrained layout leaves it.
PAD = 0.04

SETTINGS: Any = {"svg.hashsalt": "relu-regions", "svg.fonttype": "path", "pdf.fonttype": 42}
# What would differ from run to run.
NO_DATE: dict[str, Any] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def figure_size(proportions: list[float | None], width: float | None = None) -> tuple[float, float]:
    """Width and height in inches for panels side by side, by height over width in a plane; on a line None.

    In a plane the height is more than enough, see `trim_height`. A width that is not given is less for high panels.
    """
    if width is None:
        widest = max(BESIDE + HIGHEST / max(proportion or 1.0, 1.0) for proportion in proportions)
        width = min(widest, WIDTH) if len(proportions) == 1 else min(widest, WIDTH * 0.6) * len(proportions)
    each = width / len(proportions)
    return width, max(0.6 * each if proportion is None else each * proportion + 1.0 for proportion in proportions)


def require_matplotlib() -> Any:
    """Return matplotlib, or say which extra brings it."""
    try:
        import matplotlib.figure
    except ImportError:
        raise MissingDependencyError("matplotlib", "plot", "for plotting") from None
    return matplotlib


def figure_or_new(figure: Any, width: float, height: float) -> Any:
    """Return a figure that is given, or a new one of this size in inches, which is not one of pyplot's.

    Raises
    ------
    MissingDependencyError
        matplotlib is not installed.
    TypeError
        What is no figure.
    """
    kinds = require_matplotlib().figure
    if figure is None:
        return kinds.Figure(figsize=(width, height), layout="constrained")
    if not isinstance(figure, kinds.FigureBase):
        raise TypeError(f"figure must be a matplotlib figure, got {shown(figure)}")
    return figure


def trim_height(figure: Any) -> None:
    """Make a figure, which is too high, as high as what is in it; its width stays."""
    for _ in range(2):  # labels of ticks may change with the height
        figure.draw_without_rendering()
        figure.set_figheight(figure.get_tightbbox().height + 2 * PAD)
    figure.draw_without_rendering()  # a layout makes room for the ticks that there were before it


def save_figure(figure: Any, path: Path, dpi: float | None = None) -> None:
    """Write a figure to a file, whole or not at all."""
    import matplotlib

    suffix = path.suffix.lower()
    with matplotlib.rc_context(SETTINGS), replacing(path) as file:
        figure.savefig(
            file, dpi=dpi or (DPI if suffix == ".png" else VECTOR_DPI), format=suffix[1:], metadata=NO_DATE[suffix]
        )
