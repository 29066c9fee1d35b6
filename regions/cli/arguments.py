# SPDX-License-Identifier: MIT
"""How are points and domains written on a command line?

A point is its coordinates, separated by commas (``0.5,-1``), or a row of a file (``points.csv:0``); a file
(``points.csv``) stands for all its rows. Domain options take as many of these words as there are, so that
``--square points.csv`` and ``--square 0,0 1,0 0,1`` both work. Any other word, such as the model, ends them.
No word is both a point and the name of a model or an option, and ``-1,2`` is a point.
The parser of click only knows options with a fixed number of words, so ``--square A B C`` is rewritten to
``--square=A --square=B --square=C`` before click sees it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from regions.domains import Domain, Line, Plane, Polygon, Ray, Rectangle, Segment, circumsquare, load_points
from regions.domains.points import coordinate
from regions.errors import ShapeMismatchError

__all__ = ["DomainCommand", "domain_options", "make_domain"]

Floats = NDArray[np.float64]

POINT_SYNTAX = "write 0.5,-1 or points.csv:0 (row 0 of a file) or points.csv (all rows); .npy files work too"
_FILE = re.compile(r"(?P<path>.*\.(?:csv|npy))(?::(?P<row>[0-9]+))?", re.IGNORECASE)


@dataclass(frozen=True)
class _Kind:
    """A domain option: how many points it takes (None: three or more) and what is made of them."""

    points: int | None
    metavar: str
    help: str
    make: Callable[..., Domain]


_KINDS = {
    "segment": _Kind(2, "A B", "From one point to another.", Segment),
    "line": _Kind(2, "P D", "The whole line through point P in direction D.", Line),
    "ray": _Kind(2, "P D", "From point P in direction D without end.", Ray),
    "plane": _Kind(3, "O E1 E2", "The whole plane through point O in two directions.", Plane),
    "square": _Kind(
        3, "A B C", "The square around the circumcircle of three points, in their plane.", circumsquare
    ),
    "rectangle": _Kind(3, "O E1 E2", "Corner O and two sides, as vectors.", Rectangle),
    "polygon": _Kind(
        None, "V1 V2 V3 ..", "Corners of a convex polygon, in order.", lambda *corners: Polygon(corners)
    ),
}


class DomainCommand(click.Command):
    """A command with domain options, each of which takes as many points as follow it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, _one_option_per_point(args))
        except click.UsageError as error:
            if "unexpected extra argument" not in error.message:
                raise
            # Most often a point that is none.
            raise click.UsageError(f"{error.message}. Points: {POINT_SYNTAX}", ctx) from None


def domain_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the domain options to a command, in the order of the table above."""
    for name, kind in reversed(_KINDS.items()):
        option = click.option(
            f"--{name}",
            multiple=True,
            metavar=kind.metavar,
            help=kind.help,
            expose_value=False,
            callback=_keep,
        )
        function = option(function)
    return function


def make_domain(ctx: click.Context) -> Domain:
    """Make the one domain that the command line asks for.

    Raises
    ------
    click.UsageError
        None or several domains, or a wrong number of points.
    RegionsError, OSError
        Points that do not make a domain, or files of them that can not be read.
    """
    given = {name: words for name, words in ctx.meta.get(__name__, {}).items() if words}
    if len(given) != 1:
        found = f"; found {', '.join(f'--{name}' for name in given)}" if given else ""
        raise click.UsageError(f"give one domain: {', '.join(f'--{name}' for name in _KINDS)}{found}", ctx)
    ((name, words),) = given.items()
    kind = _KINDS[name]
    points: list[Floats] = []
    for word in words:
        for point in _points(word):
            if points and len(point) != len(points[0]):
                raise ShapeMismatchError(
                    f"--{name}: {word} has {len(point)} coordinates, the points before it have "
                    f"{len(points[0])}"
                )
            points.append(point)
    if len(points) != kind.points and (kind.points is not None or len(points) < 3):
        raise click.UsageError(
            f"--{name} takes {kind.points or '3 or more'} points ({kind.metavar}), got {len(points)}", ctx
        )
    return kind.make(*points)


def _keep(ctx: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> None:
    ctx.meta.setdefault(__name__, {})[parameter.name] = words


def _one_option_per_point(args: Sequence[str]) -> list[str]:
    rewritten: list[str] = []
    waiting = list(args)
    while waiting:
        word = waiting.pop(0)
        option, equals, first = word.partition("=")
        if option == "--":
            return [*rewritten, word, *waiting]
        if not (option.startswith("--") and option[2:] in _KINDS):
            rewritten.append(word)
            continue
        points = [first] if equals else []
        points += takewhile(_is_points, waiting)
        del waiting[: len(points) - bool(equals)]
        if not points or not _is_points(points[0]):
            # click would take the next word, whatever it is
            found = f", got {(points or waiting)[0]!r}" if points or waiting else ""
            raise click.UsageError(f"{option} takes points{found}: {POINT_SYNTAX}")
        rewritten += [f"{option}={point}" for point in points]
    return rewritten


def _is_points(word: str) -> bool:
    return _FILE.fullmatch(word) is not None or _coordinates(word) is not None


def _coordinates(word: str) -> Floats | None:
    try:
        return np.array([coordinate(number) for number in word.split(",")])
    except ValueError:
        return None


def _points(word: str) -> list[Floats]:
    """The points that one word stands for, each float64 [n_in]."""
    match = _FILE.fullmatch(word)
    if match is None:
        point = _coordinates(word)
        assert point is not None
        return [point]
    rows = load_points(match["path"])
    if match["row"] is None:
        return list(rows)
    row = int(match["row"])
    if row >= len(rows):
        raise ShapeMismatchError(
            f"{word}: {match['path']} has {len(rows)} row{'s' * (len(rows) > 1)}, counted from 0"
        )
    return [rows[row]]
