# SPDX-License-Identifier: MIT
"""How does text from a stranger's file get into a message?

Shortened, and with every character that is not printable written as an escape: a terminal obeys escape sequences,
and a name may be megabytes long. `printable` is the only place that does this. Items are shortened where they are
put into a message, so that its end, which says what to do, survives; the doors through which files come in
(`load`, `read_tensors`, `load_partition`, `load_points`) hold every message against it once more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from regions.errors import RegionsError

__all__ = ["LONGEST_ITEM", "LONGEST_MESSAGE", "file_name", "listed", "printable", "printable_errors"]

Item = TypeVar("Item")

LONGEST_ITEM = 80
# The longest path of Linux twice, and some room for words.
LONGEST_MESSAGE = 10_000


def printable(text: object, longest: int = LONGEST_ITEM) -> str:
    r"""Return ``str(text)`` in at most about ``longest`` characters, none of which a terminal obeys.

    Examples
    --------
    >>> printable("net.0.weight")
    'net.0.weight'
    >>> printable("\x1b[2Jgone")
    '\\x1b[2Jgone'
    >>> printable("a" * 100, 5)
    'aaaaa.. (100 characters)'
    """
    whole = str(text)
    shown = whole[:longest]
    if not shown.isprintable():
        shown = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in shown)
    return shown if len(whole) <= longest else f"{shown}.. ({len(whole)} characters)"


def listed(items: Sequence[Item], show: Callable[[Item], str] = printable, *, most: int = 12) -> str:
    """The first of some items, with commas between them.

    Examples
    --------
    >>> listed("abcd"), listed("abcd", str.upper, most=3)
    ('a, b, c, d', 'A, B, C, ..')
    """
    return ", ".join([*map(show, items[:most]), *[".."] * (len(items) > most)])


def file_name(path: str | os.PathLike[str]) -> str:
    """What to call a file in messages: whole, for a shortened path helps nobody."""
    return printable(os.fsdecode(path), LONGEST_MESSAGE // 2)


@contextmanager
def printable_errors() -> Iterator[None]:
    """Make what leaves this block as a `RegionsError` harmless to print."""
    try:
        yield
    except RegionsError as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (printable(error.args[0], LONGEST_MESSAGE), *error.args[1:])
        raise
