# SPDX-License-Identifier: MIT
"""How does untrusted text from a file get into a message?

It is shortened, and every character that is not printable is written as an escape: a terminal obeys escape sequences,
and a name may be megabytes long. `printable` is the only place that does this. Items are shortened where they are
put into a message, so that the end of the message, which says what to do, survives. Functions that open files pass
every message through it once more (`regions/files/opened.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["LONGEST_ITEM", "LONGEST_MESSAGE", "file_name", "listed", "printable"]

Item = TypeVar("Item")

LONGEST_ITEM = 80
# Twice the longest path of Linux, and some room for words.
LONGEST_MESSAGE = 10_000


def printable(text: object, longest: int = LONGEST_ITEM) -> str:
    r"""Return ``str(text)`` in at most about ``longest`` characters, without any that a terminal obeys.

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
    """Return the first of some items, separated by commas.

    Examples
    --------
    >>> listed("abcd"), listed("abcd", str.upper, most=3)
    ('a, b, c, d', 'A, B, C, ..')
    """
    return ", ".join([*map(show, items[:most]), *[".."] * (len(items) > most)])


def file_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file for messages, in full, because a shortened path is useless."""
    return printable(os.fsdecode(path), LONGEST_MESSAGE // 2)
