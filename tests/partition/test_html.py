# SPDX-License-Identifier: MIT
"""What do notebooks show, and what does `dir` list?"""

from __future__ import annotations

import sys
import types
from html.parser import HTMLParser
from typing import Any

import pytest

import regions
from regions import measures
from regions.ground.text.tables import facts_table, html_table
from regions.ground.threads.progress import reporting
from regions.measures import Estimate

NETWORK = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.5]), ([[1.0, 1.0]], [0.0])])
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
PARTITION = regions.enumerate(NETWORK, SQUARE)


def record() -> regions.TrainingRecord:
    made = regions.TrainingRecord(SQUARE)
    made.record(0, NETWORK)
    return made


class Tables(HTMLParser):
    """Rows of cells; fails on tags that do not nest."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.mark.parametrize(
    ("shown", "row"),
    [
        (PARTITION, ["regions", "4"]),
        (PARTITION.certificate, ["regions", "4"]),
        (PARTITION[int(PARTITION.patterns.all(axis=1).argmax())], ["active", "2 of 2"]),
        (SQUARE, ["corner 0", "-1, -1"]),
        (regions.Segment([0, 0], [0, 2]), ["length", "2"]),
        (regions.Plane([0, 0], [1, 0], [0, 1]), ["area", "unbounded"]),
        (regions.Circle([0, 0], [1, 0], [0, 1]), ["closed", "yes"]),
        (measures.inscribed_discs(PARTITION), ["largest radius", "0.5"]),
        (measures.distance_in_domain(PARTITION, [[0.5, 0.5], [-0.25, 0.75]]), ["smallest distance", "0.25"]),
        (NETWORK, ["0", "2", "2", "relu"]),
        (regions.linear_regions(PARTITION, "open"), ["linear regions", "4"]),
        (measures.boundary_volume(PARTITION), None),
        (Estimate([1.0, 2.0, 3.0, 2.0]), ["value", "2"]),
        (regions.certify(PARTITION, NETWORK), None),
        (regions.check(NETWORK, SQUARE, distances=False), ["definition", "regions", ""]),
        (record(), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_reports_are_tables(shown: Any, row: list[str] | None) -> None:
    tables = Tables(shown._repr_html_())
    assert len(tables.rows) > 1
    if row is not None:
        assert row in tables.rows


def test_boundary_by_layer() -> None:
    rows = Tables(measures.boundary_volume(PARTITION)._repr_html_()).rows
    assert [row[:2] for row in rows] == [["layer", "boundary"], ["1", "4"], ["all", "4"]]


def test_everything_is_escaped() -> None:
    assert Tables(html_table("<script>", ["<b>"], [["<td>", 1]])).rows == [["<b>"], ["<td>", "1"]]
    assert "<b>" not in facts_table("", [("<b>", "<b>")])
    noted = regions.Network.from_layers(NETWORK.layers, notes=["<script>alert(1)</script>"])
    assert "<script>" not in noted._repr_html_()


def test_dir_lists_what_is_public() -> None:
    names = set(dir(regions))
    assert set(regions.__all__) <= names
    assert all(hasattr(regions, name) for name in names)
    assert not {name for name in names if name.startswith("_")} - {"__doc__", "__version__"}
    assert not names & {"Any", "TYPE_CHECKING", "explain_missing_core", "enumeration", "annotations"}


def test_a_certificate_says_things_once() -> None:
    cells = [cell for row in Tables(PARTITION.certificate._repr_html_()).rows for cell in row]
    assert len(set(cells)) == len(cells) and PARTITION.certificate.statement not in cells


def test_progress_in_a_notebook_is_a_line_of_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ipywidgets, rich would warn and show nothing."""
    lines: list[str] = []

    class Shown:
        def update(self, data: dict[str, str], *, raw: bool) -> None:
            lines.append(data["text/plain"])

    fake = types.ModuleType("IPython.display")
    fake.display = lambda data, **options: Shown()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    with reporting(True) as report:
        assert report is not None
        report(0.5, 1234)
    assert lines == ["50%, 1,234 regions", ""]
