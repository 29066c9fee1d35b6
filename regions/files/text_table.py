# SPDX-License-Identifier: MIT
"""Which numbers are in a text file of columns?

A row per line; ``#`` starts a comment. The first row decides what separates columns, for the whole file: tabs,
semicolons, commas, or blanks, the first of these that it has. It is a header if it holds words and no numbers, but for
numbers that count the columns (``label,0,1,2``). Columns may be left out, by name or by number.
Invariant: every word that is kept is a finite number as people write it, or the file is refused, with line and column.
What only looks like data is refused too: a header of nothing but such numbers and a column without a name, as pandas
writes them for arrays and row numbers, and commas for decimals. A first row 0,1 or 0,1,2 over whole numbers is a point:
programs write coordinates that are not whole with a decimal point, and those of floating type always.
Cost: about a microsecond per number.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from itertools import count
from math import isfinite
from pathlib import Path

import numpy as np

from regions.arithmetic.types import Floats
from regions.errors import CheckpointError, DomainError, NonFiniteError, ShapeMismatchError
from regions.files.opened import read_whole
from regions.printable import listed, printable

__all__ = ["coordinate", "load_table"]

_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas"}
# So many columns called 0, 1, 2, .. in a row are no point that anybody has, whatever is below them.
_COUNTING = 8
# A line of nothing but whole numbers, whatever separates them.
_WHOLE = re.compile(r"""[-+0-9\s,;"]*""")
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?")

Row = tuple[int, str, list[str]]  # number and content of the line, and its words


def coordinate(word: str) -> float:
    """Read a number as people and programs write it; Python's ``1_0`` is no such thing.

    Raises
    ------
    ValueError
        Something else, with no message of use.
    """
    if "_" in word:
        raise ValueError(word)
    return float(word)


def load_table(file: Path, skip_columns: Sequence[str | int]) -> Floats:
    """Read the numbers, float64 [row, column], without the columns that are left out.

    Parameters
    ----------
    file : Path
    skip_columns : sequence of str or int
        Names of the header, or numbers from 0; negative ones count from the end, as for lists.

    Raises
    ------
    DomainError, ShapeMismatchError, NonFiniteError
        Not such a file, or no such column; rows of different lengths, or none; NaN or infinity.
    OSError
        The file cannot be opened.
    """
    try:
        lines = read_whole(file).decode("utf-8-sig").splitlines()
    except CheckpointError as error:
        raise DomainError(str(error)) from None
    except UnicodeDecodeError:
        raise DomainError(f"{file}: not a text file, so not .csv") from None
    contents = [(number, line.split("#")[0].strip(" ")) for number, line in zip(count(1), lines, strict=False)]
    contents = [(number, content) for number, content in contents if content.strip()]
    if not contents:
        what = "nothing but comments in it" if any(lines) else "the file is empty"
        raise ShapeMismatchError(f"{file}: {what}; write a row of numbers, separated by commas, for each point")
    separator = next((one for one in _SEPARATORS if one in contents[0][1]), None)
    try:
        return _numbers(file, contents, separator, skip_columns)
    except csv.Error as error:
        raise DomainError(f"{file}: not a text file of columns: {printable(error)}") from None


def _numbers(
    file: Path, contents: list[tuple[int, str]], separator: str | None, skip_columns: Sequence[str | int]
) -> Floats:
    table = _Table(
        file,
        separator,
        [_row(number, content, separator) for number, content in contents[:2]],
        lambda: all(_WHOLE.fullmatch(content) for _, content in contents[1:]),
    )
    kept = table.kept_columns(skip_columns)
    body = contents[1:] if table.header else contents
    if not body:
        raise ShapeMismatchError(f"{file}: nothing but a header in it; write a row of numbers for each point")
    return np.array([table.numbers(_row(number, content, separator), kept) for number, content in body])


def _row(number: int, content: str, separator: str | None) -> Row:
    # `csv` knows of quotes, and refuses words of more than 131,072 characters, which are no numbers.
    words = next(csv.reader([content], delimiter=separator)) if separator else content.split()
    return number, content, [word.strip() for word in words]


class _Table:
    def __init__(
        self, file: Path, separator: str | None, first_rows: list[Row], all_whole_below: Callable[[], bool]
    ) -> None:
        self.file = file
        self.separator = _SEPARATORS.get(separator or "", "blanks")
        self.width = len(first_rows[0][2])
        self.header: list[str] = []
        self.header_line = first_rows[0][0]
        first, below = (row[2] for row in (first_rows[0], first_rows[-1]))
        words = [word for word in first if _is_word(word)]
        numbers = [word for word in first if not _is_word(word)]
        counting = len(numbers) > 1 and numbers in ([str(i + start) for i in range(len(numbers))] for start in (0, 1))
        # A slip in the first row, such as O.5, must not turn it into a header.
        names = words and all(re.fullmatch(r"[^\W\d]+|", word) for word in words)
        over_numbers = any(_is_word(a) and not _is_word(b) for a, b in zip(first, below, strict=False))
        if not numbers or counting and names and over_numbers:
            self.header = first_rows[0][2]
            comma = next((word for word in words if _DECIMAL_COMMA.fullmatch(word)), None)
            if comma is not None:  # a point, which must not be passed over as a header
                raise DomainError(f"{file}, line {first_rows[0][0]}: {_shown(comma)} is not a number{_advice(comma)}")
        elif counting and not words and (self.width >= _COUNTING or numbers[0] == "0" and not all_whole_below()):
            raise DomainError(
                f"{file}, line {first_rows[0][0]}: its numbers only count the columns; if it is a header, as pandas "
                f"writes it, put # before it, and if it is a point, write {numbers[0]}.0"
            )

    def kept_columns(self, skip_columns: Sequence[str | int]) -> list[int]:
        skipped = {self.column(one) for one in skip_columns}
        kept = [i for i in range(self.width) if i not in skipped]
        if not kept:
            raise ShapeMismatchError(f"{self.file}: no column is left")
        for i in kept:
            if self.header and not self.header[i]:
                raise DomainError(
                    f"{self.file}, line {self.header_line}: column {i} has no name, like the row numbers that pandas "
                    f"writes; leave it out, skip_columns={i} (on the command line --skip-column {i}), or name it"
                )
        return kept

    def column(self, name: str | int) -> int:
        """The number of a column that is to be left out."""
        found = [i for i, one in enumerate(self.header) if one == name]
        if len(found) > 1:
            raise DomainError(f"{self.file}: {len(found)} columns are called {printable(repr(name))}; give a number")
        if found:
            return found[0]
        if isinstance(name, int) or re.fullmatch("-?[0-9]{1,9}", name):
            if -self.width <= int(name) < self.width:
                return int(name) % self.width
            raise DomainError(f"{self.file}: there is no column {name}; it has {self.width}, counted from 0")
        names = listed(self.header, lambda one: printable(one, 30))
        raise DomainError(
            f"{self.file}: no column is called {printable(repr(name))}; "
            + (f"they are called {names}" if self.header else "it has no header, so give its number, from 0")
        )

    def numbers(self, row: Row, kept: list[int]) -> Floats:
        number, content, words = row
        if len(words) != self.width:
            kept = list(range(len(words)))
        try:
            values = np.array([coordinate(words[i]) for i in kept])
        except ValueError:
            wrong = next(i for i in kept if _is_word(words[i]))
            raise DomainError(
                f"{self.file}, line {number}: not numbers separated by {self.separator}: {_shown(content)}; "
                f"{self._name(wrong)} is {_shown(words[wrong])}{_advice(words[wrong])}"
            ) from None
        if len(words) != self.width:
            raise ShapeMismatchError(
                f"{self.file}, line {number}: {len(words)} coordinates, where the rows before have {self.width}"
            )
        if not np.isfinite(values).all():
            wrong = next(i for i in kept if not isfinite(coordinate(words[i])))
            raise NonFiniteError(
                f"{self.file}, line {number}: all coordinates must be finite doubles, got {_shown(content)}; "
                f"{self._name(wrong)} is {printable(words[wrong])}"
            )
        return values

    def _name(self, column: int) -> str:
        called = f", called {_shown(self.header[column])}," if column < len(self.header) else ""
        return f"column {column}{called}"


def _shown(text: str) -> str:
    return printable(repr(text[:60]))


def _is_word(word: str) -> bool:
    try:
        coordinate(word)
    except ValueError:
        return True
    return False


def _advice(word: str) -> str:
    if _DECIMAL_COMMA.fullmatch(word):
        return "; write a point before decimals, not a comma"
    if not word:
        return "; a value is missing"
    return ". If it is a label, leave its column out: skip_columns=.. (on the command line --skip-column ..)"
