# SPDX-License-Identifier: MIT
"""How do facts become text, HTML and JSON?

Nothing else aligns columns, writes rows of HTML or decides what becomes null. HTML is plain, everything escaped: no
style sheet, no script. JSON has no infinity and no fractions: see `plain`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["JsonReport", "aligned", "facts_table", "html_table", "json_text", "plain", "spread", "table_row"]

LEFT = " style='text-align:left'"
# Of integers in JSON: Python reads no more than 4,300 digits.
MOST_BITS = 14_000


class JsonReport:
    """What says its facts as a dict, and so as JSON."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """All facts: strings, numbers, booleans, and lists and dicts of these."""
        raise NotImplementedError

    def to_json(self) -> str:
        """`as_dict` as one line of JSON."""
        return json_text(self.as_dict())


def json_text(facts: Mapping[str, Any]) -> str:
    """Facts as one line of JSON, as `plain` makes them."""
    return json.dumps(plain(facts))


def plain(value: Any) -> Any:
    """What JSON holds of a value: fractions rounded; None for what is not finite, and for integers too long to read."""
    if isinstance(value, Mapping):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(entry) for entry in value]
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return None
    return None if isinstance(value, float) and not isfinite(value) else value


def aligned(
    rows: Sequence[Sequence[str]], between: str = "   ", put: Callable[[str, int], str] = str.ljust
) -> list[str]:
    """Rows of a table as lines whose columns stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [between.join(map(put, row, widths)).rstrip() for row in rows]


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a row of titles."""
    return _table(caption, table_row(head, "th", LEFT) + "".join(table_row(row, "td", LEFT) for row in rows))


def facts_table(caption: str, facts: Iterable[tuple[str, object]]) -> str:
    """A table with a title at the start of each row."""
    rows = (f"<tr>{_cells([name], 'th', LEFT)}{_cells([value], 'td', LEFT)}</tr>" for name, value in facts)
    return _table(caption, "".join(rows))


def spread(numbers: NDArray[np.float64], name: str) -> list[tuple[str, str]]:
    """Return the smallest, median and largest of some numbers, as rows of a table."""
    if not numbers.size:
        return [(name, "none")]
    rows = (("smallest", numbers.min()), ("median", np.median(numbers)), ("largest", numbers.max()))
    return [(f"{which} {name}", f"{value:.6g}") for which, value in rows]


def table_row(values: Sequence[object], tag: str, of_cells: str = "", of_row: str = "") -> str:
    """A row of cells, ``"td"`` or ``"th"``; attributes begin with a blank."""
    return f"<tr{of_row}>{_cells(values, tag, of_cells)}</tr>"


def _table(caption: str, rows: str) -> str:
    return f"<table><caption style='text-align:left'>{escape(caption)}</caption>{rows}</table>"


def _cells(values: Sequence[object], tag: str, attributes: str) -> str:
    return "".join(f"<{tag}{attributes}>{escape(str(value))}</{tag}>" for value in values)
