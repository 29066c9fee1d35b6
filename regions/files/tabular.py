# SPDX-License-Identifier: MIT
"""How do results become tables for other programs?

A table is a dict of columns of one length, `to_columns`. CSV files and data frames are made from it, so a result needs
no more than this method. A report that becomes JSON names the entries of `as_dict` that are its columns, or its lists
of records. Without such a name it is one row of facts.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from os import PathLike
from typing import Any, ClassVar

from regions.errors import MissingDependencyError
from regions.files.replacing import replacing
from regions.ground.arithmetic.arguments import path_of
from regions.ground.text.tables import json_text, plain

__all__ = ["JsonReport", "Tabular"]


class Tabular:
    """A result that can be written as a table."""

    __slots__ = ()

    def to_columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the table: a dict of columns of one length. Entries may be None, lists or dicts."""
        raise NotImplementedError

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """Return the table as text with a row of names; numbers read back as the same doubles.

        Lists and dicts are written as JSON, and None as an empty field.

        Parameters
        ----------
        path : str or path, optional
            File to write it to as well.

        Raises
        ------
        TypeError, OSError
            Not a path, or one that cannot be written.
        """
        columns = self.to_columns()
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_field(value) for value in row] for row in zip(*columns.values(), strict=True))
        if path is not None:
            with replacing(path_of(path)) as temporary:
                temporary.write_bytes(stream.getvalue().encode())
        return stream.getvalue()

    def to_dataframe(self) -> Any:
        """Return the table as a ``pandas.DataFrame``.

        Raises
        ------
        MissingDependencyError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise MissingDependencyError("pandas", "pandas", "for data frames") from None
        return pandas.DataFrame(dict(self.to_columns()))


class JsonReport(Tabular):
    """A report that can be written as a dict, and therefore as JSON."""

    __slots__ = ()

    # The entries of `as_dict` that are columns, or lists of records; and the name of the column that numbers the rows.
    ROWS: ClassVar[tuple[str, ...]] = ()
    NUMBER: ClassVar[str] = "index"

    def as_dict(self) -> dict[str, Any]:
        """Return all facts: strings, numbers, booleans, and lists and dicts of these."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return `as_dict` as one line of JSON."""
        return json_text(self.as_dict())

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the table: a dict of columns of one length. Entries may be None, lists or dicts."""
        facts = self.as_dict()
        lists = {name: list(facts[name]) for name in self.ROWS if isinstance(facts.get(name), (list, tuple))}
        if not self.ROWS:
            return {name: [value] for name, value in facts.items()}
        if any(isinstance(entry, Mapping) for entries in lists.values() for entry in entries):
            several = len(self.ROWS) > 1
            records = [
                {**({"table": name} if several else {}), **entry}
                for name, entries in lists.items()
                for entry in entries
            ]
            names = dict.fromkeys(name for record in records for name in record)
            return {name: [record.get(name) for record in records] for name in names}
        rows = list(zip_longest(*lists.values()))
        columns = dict(zip(lists, map(list, zip(*rows, strict=True)), strict=False)) if rows else {}
        return {self.NUMBER: list(range(len(rows))), **columns}


def _field(value: Any) -> Any:
    """Return a value as a field of CSV."""
    if value is None:
        return ""
    return json.dumps(plain(value)) if isinstance(value, (list, tuple, dict)) else value
