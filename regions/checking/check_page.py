# SPDX-License-Identifier: MIT
"""How does a report on the theory become an HTML page?

It is one file: tables, a style of a few lines, and the picture of the regions, embedded as PNG. It has no script and
loads nothing. If there cannot be a picture, the page says why.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO

from regions.errors import DomainError, MissingDependencyError
from regions.ground.text.tables import table_row
from regions.pictures.plot import plot
from regions.results.partition import Partition

__all__ = ["NOT_LISTED", "picture_of", "report_page"]

STYLE = """
body { font: 15px/1.4 sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; font-size: 13px }
th, td { text-align: left; padding: 2px 12px 2px 0; vertical-align: top; border-bottom: 1px solid #ddd }
.violated { background: #f6c7c3; font-weight: bold }
img { max-width: 100% }
"""


NOT_LISTED = "<p>No picture: the regions are counted, and not enumerated.</p>"


def report_page(
    title: str,
    subjects: tuple[str, str],
    picture: str,
    ok: bool,
    conclusion: str,
    tables: Mapping[str, Sequence[Sequence[str]]],
) -> str:
    """Return the whole page, about a network and a domain. The picture is HTML; the keys of ``tables`` are titles, and
    the first rows are column titles.
    """
    network, domain = subjects
    parts = [
        f"<h1>{escape(network)}</h1>",
        f"<p>{escape(domain)}</p>",
        f"<p class='{'' if ok else 'violated'}'>{escape(conclusion)}</p>",
        picture,
    ]
    for heading, (head, *rows) in tables.items():
        if rows:
            parts += [
                f"<h2>{escape(heading)}</h2>",
                "<table>",
                table_row(head, "th"),
                *(table_row(row, "td", of_row=" class='violated'" * ("violated" in row)) for row in rows),
                "</table>",
            ]
    body = "\n".join(parts)
    return (
        f"<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title>"
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def picture_of(partition: Partition) -> str:
    """Return the regions, or the reason why they are not drawn."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return f"<p>{escape(str(MissingDependencyError('matplotlib', 'plot', 'for the picture')))}</p>"
    panels = 3 if partition.dimension == 3 else 1  # sections of a box
    figure = Figure(figsize=(7.0 if panels == 1 else 15.0, 6.0), layout="constrained")
    axes = list(figure.subplots(1, panels, squeeze=False).flat)
    try:
        plot(partition, axes if panels > 1 else axes[0])
    except DomainError as error:
        return f"<p>No picture: {escape(str(error))}</p>"
    png = BytesIO()
    figure.savefig(png, format="png", dpi=110)
    return f"<img alt='the regions' src='data:image/png;base64,{b64encode(png.getvalue()).decode()}'>"
