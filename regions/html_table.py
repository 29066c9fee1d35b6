# SPDX-License-Identifier: MIT
"""How does a table look in a notebook?

Plain HTML, everything escaped: no style sheet, no script. What a notebook shows of reports is made of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["facts_table", "html_table", "table_row"]

LEFT = " style='text-align:left'"


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a row of titles."""
    return _table(caption, table_row(head, "th", LEFT) + "".join(table_row(row, "td", LEFT) for row in rows))


def facts_table(caption: str, facts: Iterable[tuple[str, object]]) -> str:
    """A table with a title at the start of each row."""
    rows = (f"<tr>{_cells([name], 'th', LEFT)}{_cells([value], 'td', LEFT)}</tr>" for name, value in facts)
    return _table(caption, "".join(rows))


def table_row(values: Sequence[object], tag: str, of_cells: str = "", of_row: str = "") -> str:
    """A row of cells, ``"td"`` or ``"th"``; attributes begin with a blank."""
    return f"<tr{of_row}>{_cells(values, tag, of_cells)}</tr>"


def _table(caption: str, rows: str) -> str:
    return f"<table><caption style='text-align:left'>{escape(caption)}</caption>{rows}</table>"


def _cells(values: Sequence[object], tag: str, attributes: str) -> str:
    return "".join(f"<{tag}{attributes}>{escape(str(value))}</{tag}>" for value in values)
