# SPDX-License-Identifier: MIT
"""How is a page written that shows a partition in a browser?

It is one file, which loads nothing: a header in JSON, the packed arrays, a style, and the joined scripts of `browser/`.
It is ASCII, and the same partition gives the same bytes.
Text may come from strangers, so it never becomes markup. The header escapes ``<``, ``>`` and ``&``, the scripts set
text content only, and the template is filled in one pass, so that text that looks like a placeholder stays text. A
content security policy, which stands before all else, admits only this style and these scripts, by their hashes, and no
request.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regions.errors import ShapeMismatchError
from regions.files.replacing import replacing
from regions.ground.arithmetic.arguments import drawable, path_of, shown
from regions.ground.arithmetic.types import Floats
from regions.ground.text.printable import file_name, printable
from regions.networks.network import Network
from regions.results.cells.complex import CellComplex
from regions.results.cells.strands import Strands
from regions.results.pages.colors import LAYERS, LIGHT
from regions.results.pages.curve_data import curve_data
from regions.results.pages.marks import Marks, named_points
from regions.results.pages.page_data import PageData, page_data
from regions.results.pages.page_style import (
    PageStyle,
    checked_classes,
    checked_data,
    dots_on_page,
    page_colors,
    require_words,
)
from regions.results.pages.solid_data import solid_data
from regions.results.pages.thumbnails import thumbnail

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["PAGE_SUFFIX", "curve_page_pieces", "page_file", "page_pieces", "to_html", "write_pieces"]

PAGE_SUFFIX = ".html"
LONGEST_TITLE, LONGEST_NAME, MOST_POINTS = 300, 80, 1000
SCRIPTS = (
    "read",
    "answer",
    "colours",
    "faces",
    "card",
    "picture",
    "line",
    "cut",
    "dots",
    "images",
    "words",
    "hands",
    "steps",
    "files",
    "start",
)
# The classes of a network with one output.
SIGNS = ("output <= 0", "output > 0")
PLACE = re.compile("@(policy|style|script|header|arrays|title)@")


def to_html(
    cells: CellComplex,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    mark: Any = True,
    images: Mapping[str, Any] | None = None,
    **style: Unpack[PageStyle],
) -> None:
    """Write a page that shows the regions in a browser: one ``.html`` file, which loads nothing.

    People zoom into the page, and ask it for the class of a point and for the neuron of an edge; `docs/how-to/look.md`
    says more. A whole plane is shown in a window, as by `regions.plot`. If regions have three dimensions, the page
    shows a plane through them, along two directions of the chart. People can move this plane.

    Parameters
    ----------
    path : str or path
    title : str, optional
        By default the number of regions.
    mark : bool, array_like [k, n_in], or dict of str to array_like [n_in]
        Points to mark, as for `regions.plot`: those that the domain was made from, given points, points by name, or
        none. In three dimensions the plane goes through the first one at first.
    images : dict of str to array_like [H, W] or [H, W, 3], optional
        Small images of marked points, with pixels from 0 to 1, by the names of the points.
    **style
        Data points as dots, names and colours of classes: the words ``points``, ``labels``, ``within``, ``cmap``,
        ``palette`` and ``classes`` of `regions.results.pages.page_style.PageStyle`, which `regions.plot` takes too.

    Raises
    ------
    TypeError, ValueError
        A file name that does not end in ``.html``; a title or name that is not text; an image without a point; a word
        of style that does not exist, or a wrong value of one.
    ShapeMismatchError
        Another number of names than of classes; an image of another shape; points that do not fit the network.
    DomainError
        A marked point off the line, plane or space; data points in three dimensions; a part of a whole plane with
        regions missing; more than three dimensions; lengths below 1e-140 or above 1e140.
    NonFiniteError
        Outputs beyond the largest double.
    MissingDependencyError
        matplotlib, which knows names of colours and colour maps, is not installed.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile, regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "page.html")
    ...     part.to_html(path, title="Two neurons", mark={"origin": [0.0, 0.0]}, points=[[0.5, -0.5]], labels=[1])
    ...     path.read_text().startswith("<!doctype html>")
    True
    """
    file = page_file(path)
    write_pieces(file, page_pieces([cells], [""], title, mark, images, style))


def write_pieces(file: Path, pieces: list[str]) -> None:
    """Write the text of a page to a file, completely or not at all."""
    with replacing(file) as temporary, temporary.open("w", encoding="ascii", newline="\n") as stream:
        stream.writelines(pieces)


def page_file(path: str | PathLike[str]) -> Path:
    """Return the path of a page, whose name ends in ``.html``."""
    file = path_of(path)
    if file.suffix.lower() != PAGE_SUFFIX:
        raise ValueError(f"path must end in {PAGE_SUFFIX}, got {file_name(file)}")
    return file


def page_pieces(
    steps: Sequence[CellComplex],
    names: Sequence[str],
    title: str | None,
    mark: Any,
    images: Mapping[str, Any] | None,
    style: PageStyle,
) -> list[str]:
    """Return the text of a page, in pieces, with a slider over several steps; see `to_html` and `page_data`."""
    cells = steps[-1]
    network, domain = cells.network, cells.domain
    heading = _heading(title, len(cells), "region", cells.complete)
    require_words(style, PageStyle.__optional_keys__, ("title", "mark", "images"))
    named = _names_given(network, style.get("classes"))
    data_points = checked_data(style, domain.n_in, named)
    class_names = _class_names(network, named)
    colors, dots = page_colors(style, len(class_names)), dots_on_page(data_points, domain, len(class_names))
    marks = named_points(mark, domain)
    pictures = _pictures(marks, images)
    places = domain.project(np.array(list(marks.values()))) if marks else np.zeros((0, cells.dimension))
    data = solid_data(cells) if cells.dimension > 2 else page_data(steps, places)
    for step, name in zip(data.header["steps"], names, strict=True):
        step["name"] = printable(name, LONGEST_NAME)
    marked = [
        {"name": printable(name, LONGEST_NAME), "at": place, "image": pictures.get(name)}
        for name, place in zip(marks, places.tolist(), strict=True)
    ]
    # If there are as many inputs as dimensions, this map leads from the chart to the coordinates of the inputs.
    inputs = [domain.origin.tolist(), domain.directions.tolist()] if domain.n_in == domain.dimension < 3 else None
    further = {"classes": class_names, "points": marked, "inputs": inputs, "dots": dots}
    return _filled(data, heading, network, {"domain": repr(domain), **further}, colors)


def curve_page_pieces(strands: Strands, starts: Floats, title: str | None, classes: Sequence[str] | None) -> list[str]:
    """Return the text of the page of a curve, in pieces; see `curve_data`."""
    heading = _heading(title, strands.count, "piece", True)
    class_names = _class_names(strands.network, _names_given(strands.network, classes))
    data = curve_data(strands, starts)
    further = {"classes": class_names, "points": [], "inputs": None, "dots": None}
    colors = page_colors({}, len(class_names))
    return _filled(data, heading, strands.network, {"domain": repr(strands.curve), **further}, colors)


def _filled(
    data: PageData, heading: str, network: Network, further: Mapping[str, Any], colors: Mapping[str, Any]
) -> list[str]:
    """Return the template with all placeholders filled."""
    header = {
        **data.header,
        **further,
        "domain": printable(further["domain"], LONGEST_TITLE),
        "title": heading,
        "network": printable(repr(network), LONGEST_TITLE),
        **_kinks(network),
        "n_out": network.n_out,
        "colours": {"light": LIGHT, "layers": LAYERS, **colors},
    }
    style, script = _style(), _script()
    words = {
        "policy": f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "header": _json(header),
        "arrays": data.sections,
        "title": html.escape(heading).encode("ascii", "xmlcharrefreplace").decode(),
    }
    # Every second piece is the name of a placeholder.
    template = PLACE.split(_browser_file("page.html"))
    return [words[piece] if number % 2 else piece for number, piece in enumerate(template)]


def _heading(title: str | None, count: int, noun: str, complete: bool) -> str:
    if title is None:
        return f"{count:,} {noun}{'s' * (count != 1)}" + ", not all" * (not complete)
    heading = drawable(title, "title")
    if len(heading) > LONGEST_TITLE:
        raise ValueError(f"title has {len(heading):,} characters; a page has room for {LONGEST_TITLE}")
    return heading


def _names_given(network: Network, classes: Any) -> dict[int, str]:
    """Return the names of classes by their numbers; a list has all of them."""
    if classes is None:
        return {}
    named, count = checked_classes(classes), max(network.n_out, 2)
    if len(named) != count if not isinstance(classes, Mapping) else not named.keys() <= set(range(count)):
        what = f"{count} outputs" if network.n_out > 1 else "one output, whose signs are two classes"
        names = f"{len(named)} name{'s' * (len(named) != 1)}"
        raise ShapeMismatchError(f"classes has {names}, and the network of the partition has {what}, numbered from 0")
    return named


def _class_names(network: Network, named: Mapping[int, str]) -> list[str]:
    """Return a name for each output, or for the two signs of a single output."""
    default = [f"class {number}" for number in range(network.n_out)] if network.n_out > 1 else list(SIGNS)
    return [printable(named.get(number, name), LONGEST_NAME) for number, name in enumerate(default)]


def _pictures(marks: Marks, images: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the images of marked points as data URIs, by the names of the points."""
    if len(marks) > MOST_POINTS:
        raise ValueError(f"mark has {len(marks):,} points; a page shows at most {MOST_POINTS:,}")
    if images is None:
        return {}
    if not isinstance(images, Mapping):
        raise TypeError(f"images must be a mapping from names of marked points to arrays, got {shown(images)}")
    unknown = [name for name in images if name not in marks]
    if unknown:
        raise ValueError(f"images has {shown(unknown[0])}, which is not the name of a marked point; give it in mark=")
    return {name: thumbnail(image, f"images[{shown(name)}]") for name, image in images.items()}


def _kinks(network: Network) -> dict[str, Any]:
    """Return how many kinks each layer has, the unit of each kink, and for maxima the two branches that it compares."""
    layers = network.kink_layers
    branches = network.graph.kink_rows
    return {
        "layers": np.bincount(layers, minlength=len(network.widths)).tolist(),
        "units": network.kink_units.tolist(),
        "branches": branches.tolist() if (branches[:, 1] >= 0).any() else None,
    }


def _json(header: Mapping[str, Any]) -> str:
    text = json.dumps(header, allow_nan=False, separators=(",", ":"))
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _browser_file(name: str) -> str:
    return files("regions.results.pages").joinpath("browser", name).read_text("ascii")


@cache
def _style() -> str:
    return _browser_file("page.css")


@cache
def _script() -> str:
    """Return all scripts as one, with names of their own."""
    return '(() => {\n"use strict";\n' + "".join(_scripts()) + "})();\n"


def _scripts() -> Iterator[str]:
    return (_browser_file(f"{name}.js") for name in SCRIPTS)
