# SPDX-License-Identifier: MIT
"""How does a table look in a notebook?

Plain HTML, everything escaped: no style sheet, no script. What a notebook shows of reports is made of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["facts_table", "html_table"]


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a row of titles."""
    titles = "".join(f"<th style='text-align:left'>{escape(title)}</th>" for title in head)
    return _table(caption, f"<tr>{titles}</tr>" + "".join(f"<tr>{_cells(row)}</tr>" for row in rows))


def facts_table(caption: str, facts: Iterable[tuple[str, object]]) -> str:
    """A table with a title at the start of each row."""
    rows = (
        f"<tr><th style='text-align:left'>{escape(name)}</th>{_cells([value])}</tr>" for name, value in facts
    )
    return _table(caption, "".join(rows))


def _table(caption: str, rows: str) -> str:
    return f"<table><caption style='text-align:left'>{escape(caption)}</caption>{rows}</table>"


def _cells(values: Sequence[object]) -> str:
    return "".join(f"<td style='text-align:left'>{escape(str(value))}</td>" for value in values)
