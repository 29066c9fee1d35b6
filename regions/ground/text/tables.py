# SPDX-License-Identifier: MIT
"""How do facts become text, HTML and JSON?

This is the only place that aligns columns, writes rows of HTML or decides what becomes null. The HTML is plain and
fully escaped, without style sheet or script. JSON has neither infinity nor fractions: see `plain`.
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

__all__ = ["aligned", "facts_table", "html_table", "json_text", "plain", "shortened", "spread", "table_row"]

LEFT = " style='text-align:left'"
# Digits of an integer in JSON: Python reads at most 4,300.
MOST_BITS = 14_000
MOST_LINES = 30


def json_text(facts: Mapping[str, Any]) -> str:
    """Return facts as one line of JSON, converted by `plain`."""
    return json.dumps(plain(facts))


def plain(value: Any) -> Any:
    """Convert a value for JSON: fractions are rounded; non-finite numbers and integers too long to read become None."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, int):
        return value if value.bit_length() <= MOST_BITS else None
    if isinstance(value, (tuple, list)):
        return [plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {name: plain(entry) for name, entry in value.items()}
    return float(value) if isinstance(value, Fraction) else value


def aligned(
    rows: Sequence[Sequence[str]], between: str = "   ", put: Callable[[str, int], str] = str.ljust
) -> list[str]:
    """Align the rows of a table into lines."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [between.join(map(put, row, widths)).rstrip() for row in rows]


def shortened(text: str) -> str:
    """Return a report as it is shown at the prompt: at most 30 lines, the last of which says how many are left."""
    lines = text.splitlines()
    left = len(lines) - (MOST_LINES - 1)
    if left <= 1:
        return text
    return "\n".join([*lines[: MOST_LINES - 1], f".. {left} further lines: print(report) shows them"])


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with a header row."""
    return _table(caption, table_row(head, "th", LEFT) + "".join(table_row(row, "td", LEFT) for row in rows))


def facts_table(caption: str, facts: Iterable[tuple[str, object]]) -> str:
    """Return a table with a header in front of each row."""
    rows = (f"<tr>{_cells([name], 'th', LEFT)}{_cells([value], 'td', LEFT)}</tr>" for name, value in facts)
    return _table(caption, "".join(rows))


def spread(numbers: NDArray[np.float64], name: str) -> list[tuple[str, str]]:
    """Return the smallest, median and largest of some numbers, as rows of a table."""
    if not numbers.size:
        return [(name, "none")]
    rows = (("smallest", numbers.min()), ("median", np.median(numbers)), ("largest", numbers.max()))
    return [(f"{which} {name}", f"{value:.6g}") for which, value in rows]


def table_row(values: Sequence[object], tag: str, of_cells: str = "", of_row: str = "") -> str:
    """Return a row of cells, ``"td"`` or ``"th"``; non-empty attributes begin with a blank."""
    return f"<tr{of_row}>{_cells(values, tag, of_cells)}</tr>"


def _table(caption: str, rows: str) -> str:
    return f"<table><caption style='text-align:left'>{escape(caption)}</caption>{rows}</table>"


def _cells(values: Sequence[object], tag: str, attributes: str) -> str:
    return "".join(f"<{tag}{attributes}>{escape(str(value))}</{tag}>" for value in values)
