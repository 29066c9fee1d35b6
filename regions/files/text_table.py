# SPDX-License-Identifier: MIT
"""Which numbers are in a text file of columns?

Each line is a row; ``#`` starts a comment. The first row decides the separator for the whole file: tabs, semicolons,
commas or blanks, whichever it has first in this list. The row is a header if it holds words and no numbers except
numbers that count the columns (``label,0,1,2``). Columns may be left out, by name or by number.
Invariant: every word that is kept is a finite number as people write it, or the file is refused, with line and column.
Numbers that only look like data are refused too: a header of counting numbers or a column without a name, as pandas
writes them, and decimal commas. If all numbers of a file are whole, a first row 0,1 or 0,1,2 is a point, not a header:
programs write other coordinates with a decimal point. Separators at the end of every line are ignored.
Cost: linear in the size of the file.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from math import isfinite
from pathlib import Path

import numpy as np

from regions.errors import CheckpointError, DomainError, NonFiniteError, ShapeMismatchError
from regions.files import limits
from regions.files.opened import read_whole
from regions.ground.arithmetic.types import Floats
from regions.ground.text.printable import listed, printable

__all__ = ["coordinate", "load_table"]

_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas"}
# A first row that counts to this many columns is a header, whatever is below it.
_COUNTING = 8
# Lines are found one by one, because a list of all lines would take about fifty bytes for each.
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
# A line of nothing but whole numbers, whatever separates them.
_WHOLE = re.compile(r"""[-+0-9\s,;"]*""")
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?")


def coordinate(word: str) -> float:
    """Read a number as people and programs write it; Python's ``1_0`` is refused.

    Raises
    ------
    ValueError
        The word is not a number. The message is not meant for users.
    """
    if "_" in word:
        raise ValueError(word)
    return float(word)


def load_table(file: Path, skip_columns: Sequence[str | int]) -> Floats:
    """Return the numbers, float64 [row, column], without the skipped columns.

    Parameters
    ----------
    file : Path
    skip_columns : sequence of str or int
        Names in the header, or numbers from 0; negative numbers count from the end, as for lists.

    Raises
    ------
    DomainError, ShapeMismatchError, NonFiniteError
        The file is not such a table or has no rows; a column does not exist; rows have different lengths; a number is
        NaN or infinite.
    OSError
        The file cannot be opened.
    """
    try:
        text = read_whole(file).decode("utf-8-sig")
    except CheckpointError as error:
        raise DomainError(str(error)) from None
    except UnicodeDecodeError:
        raise DomainError(f"{file}: not a text file, so not .csv") from None
    try:
        return _numbers(file, text, skip_columns)
    except csv.Error as error:
        raise DomainError(f"{file}: not a text file of columns: {printable(error)}") from None


def _contents(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and content of each line that holds more than a comment."""
    for number, line in enumerate(_LINE.finditer(text), 1):
        content = line[0].partition("#")[0].strip(" \r\n")
        if content.strip():
            yield number, content


def _numbers(file: Path, text: str, skip_columns: Sequence[str | int]) -> Floats:
    first_lines = list(islice(_contents(text), 2))
    if not first_lines:
        what = "nothing but comments in it" if text.strip("\r\n") else "the file is empty"
        raise ShapeMismatchError(f"{file}: {what}; write a row of numbers, separated by commas, for each point")
    table = _Table(file, text, first_lines)
    kept = table.kept_columns(skip_columns)
    body = islice(_contents(text), 1 if table.header else 0, None)
    values = np.fromiter(chain.from_iterable(table.numbers(*line, kept) for line in body), dtype=np.float64)
    if not values.size:
        raise ShapeMismatchError(f"{file}: nothing but a header in it; write a row of numbers for each point")
    return values.reshape(-1, len(kept))


def _trailing(content: str, separator: str | None) -> int:
    """Return how many separators end a line."""
    return content[len(content.rstrip(f"{separator} ")) :].count(separator) if separator else 0


class _Table:
    def __init__(self, file: Path, text: str, first_lines: list[tuple[int, str]]) -> None:
        self.file = file
        self.header_line, line = first_lines[0]
        self.separator = next((one for one in _SEPARATORS if one in line), None)
        rows = [self.words(*line) for line in first_lines]
        first, below = rows[0], rows[-1]
        self.width, self.header = len(first), list[str]()
        # The number of empty columns at the end, if every line ends with separators.
        self.empty = _trailing(line, self.separator)
        if self.empty:
            self.empty = min(_trailing(content, self.separator) for _, content in _contents(text))
        named, under = first[: self.width - self.empty], below[: self.width - self.empty]
        are_words, under_words = [_is_word(word) for word in named], [_is_word(word) for word in under]
        words = [word for word, is_word in zip(named, are_words, strict=True) if is_word]
        numbers = [word for word, is_word in zip(named, are_words, strict=True) if not is_word]
        counting = len(numbers) > 1 and numbers in ([str(i + start) for i in range(len(numbers))] for start in (0, 1))
        # A typing error in the first row, such as O.5, must not turn the row into a header.
        names = words and all(re.fullmatch(r"[^\W\d]+|", word) for word in words)
        over_numbers = any(a and not b for a, b in zip(are_words, under_words, strict=False))
        if not numbers or counting and names and over_numbers:
            self.header = first
            comma = next((word for word in words if _DECIMAL_COMMA.fullmatch(word)), None)
            if comma is not None:  # a point, which must not be skipped as a header
                raise DomainError(f"{file}, line {self.header_line}: {_shown(comma)} is not a number{_advice(comma)}")
        elif counting and not words and (len(named) >= _COUNTING or numbers[0] == "0" and not _all_whole_below(text)):
            raise DomainError(
                f"{file}, line {self.header_line}: its numbers only count the columns; if it is a header, as pandas "
                f"writes it, put # before it, and if it is a point, write {numbers[0]}.0"
            )

    def words(self, number: int, content: str) -> list[str]:
        """Return the words of a line."""
        if content.count(self.separator or " ") >= limits.MAX_INPUTS:
            raise ShapeMismatchError(
                f"{self.file}, line {number}: more than {limits.MAX_INPUTS:,} columns, and no network has so many "
                "inputs; write a row for each point"
            )
        if self.separator and '"' in content:
            # `csv` refuses words of more than 131,072 characters, which cannot be numbers.
            return [word.strip() for word in next(csv.reader([content], delimiter=self.separator))]
        return [word.strip() for word in content.split(self.separator)]

    def kept_columns(self, skip_columns: Sequence[str | int]) -> list[int]:
        skipped = {self.column(one) for one in skip_columns}
        kept = [i for i in range(self.width - self.empty) if i not in skipped]
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
        """Return the number of a column that will be skipped."""
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

    def numbers(self, number: int, content: str, kept: list[int]) -> list[float]:
        """Return the numbers of a line in the columns that are kept."""
        words = self.words(number, content)
        if len(words) > self.width and not any(words[self.width :]):
            words = words[: self.width]  # trailing separators
        if len(words) != self.width:
            kept = list(range(len(words)))
        try:
            values = [coordinate(words[i]) for i in kept]
        except ValueError:
            wrong = next(i for i in kept if _is_word(words[i]))
            apart = _SEPARATORS.get(self.separator or "", "blanks")
            raise DomainError(
                f"{self.file}, line {number}: not numbers separated by {apart}: {_shown(content)}; "
                f"{self._name(wrong)} is {_shown(words[wrong])}{_advice(words[wrong])}"
            ) from None
        if len(words) != self.width:
            raise ShapeMismatchError(
                f"{self.file}, line {number}: {len(words)} coordinates, where the rows before have {self.width}"
            )
        if not all(map(isfinite, values)):
            wrong = next(i for i in kept if not isfinite(coordinate(words[i])))
            raise NonFiniteError(
                f"{self.file}, line {number}: all coordinates must be finite doubles, got {_shown(content)}; "
                f"{self._name(wrong)} is {printable(words[wrong])}"
            )
        return values

    def _name(self, column: int) -> str:
        called = f", called {_shown(self.header[column])}," if column < len(self.header) else ""
        return f"column {column}{called}"


def _all_whole_below(text: str) -> bool:
    return all(_WHOLE.fullmatch(content) for _, content in islice(_contents(text), 1, None))


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
