# SPDX-License-Identifier: MIT
"""How are points and domains written on a command line?

A point is its coordinates, separated by commas (``0.5,-1``), or a row of a file (``points.csv:0``). A file
(``points.csv``) means all its rows, and ``points.csv:2:5`` means rows 2, 3 and 4. A domain option takes all such words
that follow it, so that ``--square points.csv`` and ``--square 0,0 1,0 0,1`` both work. Any other word, such as the
model, ends them.
A point never looks like the name of a model or an option, and ``-1,2`` is a point. ``--mark`` takes points as well,
each with an optional name: ``zero=points.csv:0``.
The parser of click only supports options with a fixed number of words, so ``--square A B C`` is rewritten to
``--square=A --square=B --square=C`` before click sees it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from string import ascii_lowercase
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np

from regions.cli.options import standard_input, together
from regions.domains import (
    Box,
    Domain,
    Line,
    Plane,
    Polygon,
    Ray,
    Rectangle,
    Segment,
    Space,
    circumsquare,
)
from regions.domains.abilities import MOST_BOUNDED, MOST_DIMENSIONS
from regions.domains.curves import Arc, Circle, Curve, GreatCircle, Polyline
from regions.domains.points import bounds
from regions.errors import RegionsError, ShapeMismatchError
from regions.files.text_table import coordinate
from regions.ground.arithmetic.arguments import drawable
from regions.ground.arithmetic.types import Floats
from regions.read.points import load_points

__all__ = [
    "DomainCommand",
    "curve_options",
    "domain_box_or_space_options",
    "domain_or_box_options",
    "every_domain_option",
    "flat_domain_options",
    "line_options",
    "make_any_domain",
    "make_domain",
    "make_domain_or_curve",
    "mark_option",
    "marked_points",
    "straight_domain_options",
]

# A point, and the file and row that it came from, or None for coordinates on the command line.
_Point = tuple[tuple[str, int] | None, Floats]

POINT_SYNTAX = (
    "write 0.5,-1 or points.csv:0 (row 0 of a file) or points.csv:0:3 (rows 0, 1, 2) or points.csv (all rows); .npy, "
    ".tsv, points.npz:x (array x) and - (standard input, as .csv) work too"
)
# Key in the context of a command: the points from standard input, which several models may need.
_TYPED = "regions.cli.points_from_standard_input"
# A bare .npz would be mistaken for a model.
_FILE = re.compile(
    r"(?P<path>-|.*\.(?:csv|tsv|npy|npz(?=:)))(?:(?<=npz):(?P<array>[^\W\d][\w.]*))?"
    r"(?::(?P<row>[0-9]+)(?::(?P<stop>[0-9]+))?)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Kind:
    """A domain option: its number of points, the function that makes the domain, and the number of points that are
    positions, not directions. ``or_more`` points may follow."""

    points: int
    metavar: str
    help: str
    make: Callable[..., Domain | Curve]
    places: int | None = None
    or_more: bool = False


_KINDS = {
    "segment": _Kind(2, "A B", "From one point to another.", Segment),
    "line": _Kind(2, "P D", "The whole line through point P in direction D.", Line, 1),
    "ray": _Kind(2, "P D", "From point P in direction D without end.", Ray, 1),
    "plane": _Kind(3, "O E1 E2", "The whole plane through point O in two directions.", Plane, 1),
    "square": _Kind(3, "A B C", "The square around the circumcircle of three points, in their plane.", circumsquare),
    "rectangle": _Kind(3, "O E1 E2", "Corner O and two sides, as vectors.", Rectangle, 1),
    "polygon": _Kind(
        3, "V1 V2 V3 ..", "Corners of a convex polygon, in order.", lambda *corners: Polygon(corners), or_more=True
    ),
}
_CURVES = {
    "polyline": _Kind(
        2, "V1 V2 ..", "A curve: straight from point to point.", lambda *corners: Polyline(corners), or_more=True
    ),
    "arc": _Kind(2, "A B", "A curve: cos(pi t/2) A + sin(pi t/2) B, t from 0 to 1.", Arc),
    "circle": _Kind(3, "C U V", "A curve: C + cos(2 pi t) U + sin(2 pi t) V, t from 0 to 1.", Circle, 1),
    "great-circle": _Kind(2, "A B", "A curve: from A to B on a sphere round the origin.", GreatCircle),
}


def _box(low: Floats, high: Floats) -> Domain:
    """Return all points between two corners: a segment or a rectangle if one or two coordinates differ."""
    _, _, free = bounds("Box", low, high)
    if not len(free):
        raise ShapeMismatchError(f"--box: both corners are one point; 1 to {MOST_BOUNDED} coordinates must differ")
    makers: dict[int, Callable[..., Domain]] = {1: Segment, 2: Rectangle.from_bounds}
    return makers.get(len(free), Box)(low, high)


_BOX = {
    "box": _Kind(
        2,
        "LOW HIGH",
        "All points between two corners that differ in 1 to 6 coordinates, in up to 10 if regions are only counted, "
        "or in up to 1024 for extremes, margin and compare.",
        _box,
    )
}


_FLAT_BOX = {"box": _Kind(2, "LOW HIGH", "All points between two corners that differ in one or two coordinates.", _box)}


def _space(*points: Floats) -> Domain:
    """Return the whole input space, given its dimension, or the space through a point in some directions."""
    origin, *directions = points
    if directions:
        return Space(origin, directions)
    if len(origin) != 1 or origin[0] not in range(1, MOST_DIMENSIONS + 1):
        raise ShapeMismatchError(
            f"--space: one word is the number of inputs, 1 to {MOST_DIMENSIONS}; otherwise give a point and directions"
        )
    size = int(origin[0])
    start, axes = np.zeros(size), np.eye(size)
    return Space(start, axes) if size > 2 else [Line, Plane][size - 1](start, *axes)


_SPACE = {
    "space": _Kind(
        1,
        "N | O E1 E2 E3 ..",
        "The whole space of N inputs, up to 10; or the whole space through point O in 3 to 10 directions.",
        _space,
        1,
        or_more=True,
    )
}
_ALL_KINDS = _KINDS | _BOX | _SPACE | _CURVES


class DomainCommand(click.Command):
    """A command with domain options, each of which takes all points that follow it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, _one_option_per_point(args))
        except click.NoSuchOption as error:
            if error.option_name[2:] not in _ALL_KINDS:
                raise
            taken = ", ".join(
                f"--{name}" for name in _ALL_KINDS if any(f"--{name}" in each.opts for each in self.params)
            )
            raise click.UsageError(f"{self.name} does not take {error.option_name}; it takes {taken}", ctx) from None
        except click.UsageError as error:
            if "unexpected extra argument" not in error.message:
                raise
            # Most often a malformed point.
            raise click.UsageError(f"{error.message}. Points: {POINT_SYNTAX}", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        _one_domain(ctx)  # before the model is read
        return super().invoke(ctx)


def _keep(ctx: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> None:
    ctx.meta.setdefault(__name__, {})[parameter.name] = words


def _options(kinds: dict[str, _Kind]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds an option for each kind, in their order in `--help`."""
    return together(
        *(
            click.option(
                f"--{name}", multiple=True, metavar=kind.metavar, help=kind.help, expose_value=False, callback=_keep
            )
            for name, kind in reversed(kinds.items())
        )
    )


_skip_column = click.option(
    "--skip-column",
    multiple=True,
    metavar="NAME",
    help="A column of the files of points that is not a coordinate, such as a label: its name in the header, or its "
    "number from 0.",
    expose_value=False,
    callback=_keep,
)
flat_domain_options = together(_options(_KINDS | _FLAT_BOX), _skip_column)
every_domain_option = together(_options(_ALL_KINDS), _skip_column)
curve_options = together(_options({"segment": _KINDS["segment"], **_CURVES}), _skip_column)
_POLYLINE = {"polyline": _CURVES["polyline"]}
domain_box_or_space_options = together(_options(_KINDS | _BOX | _SPACE), _skip_column)
domain_or_box_options = together(_options(_KINDS | _BOX), _skip_column)
straight_domain_options = together(_options(_KINDS | _BOX | _POLYLINE), _skip_column)
line_options = together(_options({name: _KINDS[name] for name in ("segment", "line", "ray")} | _POLYLINE), _skip_column)


def make_domain(ctx: click.Context, inputs: tuple[int, ...]) -> Domain:
    """Make the one domain that the command line names, in a space of inputs of that shape.

    Raises
    ------
    click.UsageError
        No domain, or several, or a wrong number of points; a box of more than two dimensions.
    RegionsError, OSError
        Points that do not make a domain, or files of points that cannot be read.
    """
    domain = make_domain_or_curve(ctx, inputs)
    assert isinstance(domain, Domain)
    return domain


def make_domain_or_curve(ctx: click.Context, inputs: tuple[int, ...]) -> Domain | Curve:
    """Make the one domain or curve, for commands with curves."""
    domain = make_any_domain(ctx, inputs)
    if domain.dimension > 2:
        advice = "; in Python, regions.plot draws boxes of three dimensions" * (ctx.command.name == "plot")
        raise click.UsageError(
            f"--box: {domain.dimension} coordinates differ, and {ctx.command.name} takes one or two. Fix the others"
            f"{advice}",
            ctx,
        )
    return domain


def make_any_domain(ctx: click.Context, inputs: tuple[int, ...]) -> Domain | Curve:
    """Make the one domain, box or curve, for commands with all of them."""
    name, words = _one_domain(ctx)
    ctx.meta[__name__]["inputs"] = inputs
    kind = _ALL_KINDS[name]
    points: list[Floats] = []
    for word in words:
        for _, point in _points(word):
            if points and len(point) != len(points[0]):
                raise ShapeMismatchError(
                    f"--{name}: {word} has {len(point)} coordinates, the points before it have {len(points[0])}"
                )
            points.append(point)
    if len(points) < kind.points or (len(points) > kind.points and not kind.or_more):
        more = " or more" if kind.or_more else ""
        found = f"--{name} takes {kind.points}{more} points ({kind.metavar}), got {len(points)}"
        raise click.UsageError(f"{found}. Points: {POINT_SYNTAX}", ctx)
    return kind.make(*points)


# For commands with domain options.
mark_option = together(
    click.option("--no-mark", is_flag=True, help="Mark no points."),
    click.option(
        "--mark",
        multiple=True,
        metavar="[NAME=]POINT ..",
        help="Mark these points; by default the points that define the domain, if they are rows of a file, or "
        "ends of --segment, or the three of --square. Rows of a file are named by their number, others a, b, c.",
    ),
)


def marked_points(ctx: click.Context, domain: Domain, words: Sequence[str], no_mark: bool) -> dict[str, Floats]:
    """Return the points to be marked, by name: the points of --mark, or the points that define the domain.

    Raises
    ------
    click.UsageError
        --mark without points, or two points of one name.
    RegionsError, OSError
        As `make_domain`.
    """
    if words and no_mark:
        raise click.UsageError("give --mark or --no-mark", ctx)
    points: list[_Point] = []
    given_names: list[str | None] = []
    if words:
        for word in words:
            name, point_word = _named(word)
            if name is not None:
                _require_drawable(ctx, name)
            found = _points(point_word)
            if name is not None and len(found) > 1:
                raise click.UsageError(f"--mark: {point_word} has {len(found)} points, and {name!r} is one name", ctx)
            points += found
            given_names += [name] * len(found)
    elif not no_mark:
        kind, domain_words = _one_domain(ctx)
        places = [point for word in domain_words for point in _points(word)][: _ALL_KINDS[kind].places]
        default = [point for point in places if point[0] is not None or kind in ("segment", "square")]
        try:  # a corner may have been moved into the plane of the others
            points = [(source, domain.to_input(domain.to_chart(point))) for source, point in default]
        except RegionsError:  # floating point cannot map points to this chart, so the default marks are omitted
            points = []
        given_names = [None] * len(points)
    result: dict[str, Floats] = {}
    for given, other, (_, point) in zip(given_names, _default_names(points), points, strict=True):
        name = other if given is None else given
        if not np.array_equal(result.setdefault(name, point), point):
            raise click.UsageError(f"two points to be marked are called {name!r}; name them: --mark NAME=POINT", ctx)
    return result


def _require_drawable(ctx: click.Context, name: str) -> None:
    try:
        drawable(name, "--mark: a name")
    except ValueError as error:
        raise click.UsageError(str(error), ctx) from None


def _default_names(points: Sequence[_Point]) -> list[str]:
    """Name points by their row, with the file if there are several files; points without a file a, b, c, .."""
    paths = {source[0] for source, _ in points if source is not None}
    stems = {path: Path(path).stem for path in paths}
    files = {path: f"{stem if len(set(stems.values())) == len(paths) else path}:" for path, stem in stems.items()}
    letters = iter([*ascii_lowercase, *map(str, range(len(points)))])
    return [
        next(letters) if source is None else f"{files[source[0]] if len(paths) > 1 else ''}{source[1]}"
        for source, _ in points
    ]


def _one_domain(ctx: click.Context) -> tuple[str, tuple[str, ...]]:
    """Return the name of the given domain, and the words that are its points."""
    asked = {name: ctx.meta[__name__].get(name.replace("-", "_")) for name in _ALL_KINDS}
    given = {name: words for name, words in asked.items() if words}
    if len(given) != 1:
        found = f"; found {', '.join(f'--{name}' for name in given)}" if given else ""
        known = ", ".join(f"--{name}" for name, words in asked.items() if words is not None)
        raise click.UsageError(f"give one domain: {known}{found}", ctx)
    return next(iter(given.items()))


def _one_option_per_point(args: Sequence[str]) -> list[str]:
    rewritten: list[str] = []
    waiting = list(args)
    while waiting:
        word = waiting.pop(0)
        option, equals, first = word.partition("=")
        if option == "--":
            return [*rewritten, word, *waiting]
        if not (option.startswith("--") and (option[2:] in _ALL_KINDS or option == "--mark")):
            rewritten.append(word)
            continue
        expected = _is_marked if option == "--mark" else _is_points
        points = [first] if equals else []
        points += takewhile(expected, waiting)
        del waiting[: len(points) - bool(equals)]
        if not points or not expected(points[0]):
            # click would take the next word as the value, even an option
            found = f", got {(points or waiting)[0]!r}" if points or waiting else ""
            raise click.UsageError(f"{option} takes points{found}: {POINT_SYNTAX}")
        rewritten += [f"{option}={point}" for point in points]
    return rewritten


def _is_points(word: str) -> bool:
    # --output=regions.csv is an option.
    return not word.startswith("--") and (_FILE.fullmatch(word) is not None or _coordinates(word) is not None)


def _is_marked(word: str) -> bool:
    return _is_points(_named(word)[1])


def _named(word: str) -> tuple[str | None, str]:
    """Split NAME=POINT."""
    name, equals, point = word.partition("=")
    return (name, point) if equals and _is_points(point) else (None, word)


def _coordinates(word: str) -> Floats | None:
    try:
        return np.array([coordinate(number) for number in word.split(",")])
    except ValueError:
        return None


@contextmanager
def _named_file(path: str) -> Iterator[str]:
    """Yield the file to read points from; for standard input, a copy of it."""
    if path != "-":
        yield path
        return
    meta = click.get_current_context().meta
    if _TYPED not in meta:
        meta[_TYPED] = standard_input("points").read()
    with TemporaryDirectory() as folder:
        file = Path(folder, "standard-input.csv")
        file.write_bytes(meta[_TYPED])
        yield str(file)


def _points(word: str) -> list[_Point]:
    """Return the points that one word means, each with its file and row."""
    match = _FILE.fullmatch(word)
    if match is None:
        point = _coordinates(word)
        assert point is not None
        return [(None, point)]
    meta, path = click.get_current_context().meta[__name__], match["path"]
    is_text = path.lower().endswith(("-", ".csv", ".tsv"))  # other formats have no column names
    skipped = [column for column in meta["skip_column"] if is_text or column.lstrip("-").isdecimal()]
    with _named_file(path) as file:
        rows = load_points(file, inputs=meta["inputs"], skip_columns=skipped, array=match["array"])
    first = int(match["row"] or 0)
    end = len(rows) if match["row"] is None else first + 1 if match["stop"] is None else int(match["stop"])
    if end > len(rows):
        raise ShapeMismatchError(f"{word}: {path} has {len(rows)} row{'s' * (len(rows) > 1)}, counted from 0")
    if first >= end:
        raise ShapeMismatchError(f"{word}: no rows; 0:3 stands for rows 0, 1 and 2")
    return [((path, row), rows[row]) for row in range(first, end)]
