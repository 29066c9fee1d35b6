# SPDX-License-Identifier: MIT
"""How is a picture requested on the command line?

This file has the options of `regions plot` for the look of the picture, and calls the package to draw it. Sizes that
no memory holds are refused before the work.
"""

from __future__ import annotations

import re
from math import inf
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from regions.cli.options import together
from regions.pictures.picture_files import VECTOR_DPI, figure_size, save_figure
from regions.pictures.picture_style import COLOR_BY, ColorBy, Style
from regions.pictures.picture_texts import arrange, require_title
from regions.pictures.picture_view import View, proportion
from regions.pictures.plot import draw_panels
from regions.results.pages.page import PAGE_SUFFIX
from regions.results.pages.page_style import require_matplotlib
from regions.results.partition import Partition

__all__ = ["Size", "draw_picture", "picture_options", "require_means", "require_pixels"]

# Width, and height or None, in inches.
Size = tuple[float, float | None]
_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:x(\d+(?:\.\d*)?|\.\d+))?")
SMALLEST_SIDE, LARGEST_SIDE, MOST_PIXELS = 2.0, 100.0, 100_000_000
# Letters have LETTERS points, or in narrow pictures LETTERS_PER_INCH points for each inch of width.
LETTERS, LETTERS_PER_INCH = 10.0, 3.0


def _size(ctx: click.Context, parameter: click.Parameter, text: str | None) -> Size | None:
    if text is None:
        return None
    match = _SIZE.fullmatch(text)
    if match is None:
        what = "neither a width in inches, such as 3.5, nor width and height, such as 7x4"
        raise click.BadParameter(f"{text!r} is {what}", ctx, parameter)
    sides = [float(side) for side in match.groups() if side is not None]
    if not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in sides):
        raise click.BadParameter(f"{text!r}: from {SMALLEST_SIDE:g} to {LARGEST_SIDE:g} inches", ctx, parameter)
    return sides[0], sides[1] if len(sides) == 2 else None


def _title(ctx: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    try:
        return None if text is None else require_title(text, "the title")
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, parameter) from None


# The look of a picture.
picture_options = together(
    click.option(
        "--dpi",
        type=click.IntRange(10, 2400),
        metavar="N",
        help="Dots per inch: 150, or 300 for images inside a .svg or .pdf file.",
    ),
    click.option(
        "--size",
        callback=_size,
        metavar="W[xH]",
        help="Width in inches, or width and height, 2 or more. By default at most 6.4 wide, and as high as the "
        "domain needs.",
    ),
    click.option("--title", callback=_title, metavar="TEXT", help="In place of the number of regions; '' for none."),
    click.option(
        "--output-index",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        metavar="I",
        help="Which output of the network to draw, if only one is drawn: on lines, and with --color-by value.",
    ),
    click.option(
        "--color-by",
        type=click.Choice(COLOR_BY),
        default="layer",
        show_default=True,
        help="Edges by the layer that makes them; faces by an output of the network, so that neighbours differ, "
        "or by the largest output; or nothing.",
    ),
)


def require_pixels(ctx: click.Context, size: Size | None, dpi: int | None) -> None:
    """Refuse a picture with more pixels than any machine has memory for."""
    width, height = size or (1.0, 1.0)
    pixels = width * (4 * width if height is None else height) * (dpi or VECTOR_DPI) ** 2
    if pixels > MOST_PIXELS:
        raise click.UsageError(f"that may be {pixels:,.0f} pixels; at most {MOST_PIXELS:,} are drawn", ctx)


def is_page(output: Path) -> bool:
    return output.suffix.lower() == PAGE_SUFFIX


def require_means(ctx: click.Context, output: Path) -> None:
    """Refuse a picture without matplotlib, and a page with options that are for pictures only."""
    if not is_page(output):
        require_matplotlib()
        return
    for name in ("dpi", "size", "color_by", "output_index"):
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} is for pictures; of a .html file, choose it in the browser", ctx)


def draw_picture(
    partition: Partition,
    path: Path,
    size: Size | None,
    dpi: int | None,
    *,
    color_by: ColorBy,
    output_index: int,
    mark: dict[str, Any],
    title: str | None,
) -> None:
    """Draw a partition to a file, or write its page."""
    if is_page(path):
        partition.to_html(path, title=title, mark=mark)
        return
    import matplotlib
    from matplotlib.figure import Figure

    width, height = size or (None, None)

    def axes_for(views: list[View]) -> list[Any]:
        # In a separate figure, not one of pyplot's, so that no window system is needed.
        whole = figure_size([proportion(view) for view in views], width)
        return [Figure(figsize=(whole[0], height or whole[1]), layout="constrained").add_subplot()]

    # Narrow pictures have smaller letters, or legends and numbers would leave no room for the regions.
    with matplotlib.rc_context({"font.size": min(LETTERS, LETTERS_PER_INCH * (width or inf))}):
        (ax,) = draw_panels(
            [partition], axes_for, color_by, output_index, mark=mark, titles=[title], legend=True, style=Style()
        )
        arrange([ax], height is None and partition.dimension == 2)
        save_figure(ax.figure, path, dpi)
