# SPDX-License-Identifier: MIT
"""Do all results write the same table, as columns, CSV and data frame?"""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions import ensembles, measures
from regions.files.tabular import Tabular

NET = random_network([2, 6, 6, 3], 1, bias=0.1)
SQUARE = regions.Rectangle.from_bounds([-1, -1], [1, 1])
SEGMENT = regions.Segment([-1, -1], [1, 0.5])
PART = regions.enumerate(NET, SQUARE)


def results() -> list[tuple[Any, int | None]]:
    """Return results with the numbers of their rows, if these are known."""
    count = len(PART)
    record = regions.watch([NET, NET], SEGMENT)
    return [
        (PART, count),
        (PART.certificate, 1),
        (regions.extremes(NET, SQUARE), 3),
        (regions.statistics(NET, SQUARE), 3),
        (regions.decisions(NET, SQUARE), None),
        (regions.function(NET, SEGMENT), None),
        (regions.image(NET, SQUARE), count),
        (regions.compare(NET, NET, SQUARE), 3),
        (regions.level_set(NET, SQUARE, output=0), None),
        (regions.verify(NET, SQUARE, [([[1.0, 0.0, 0.0]], [-9.0])]), 1),
        (regions.check(NET, SEGMENT), None),
        (regions.certify(PART, NET), None),
        (regions.sign_twins(NET, SEGMENT, twins=4), 4),
        (regions.growth(ensembles.he([2, 8, 1]), regions.Arc([1, 0], [0, 1]), networks=5, rng=0), None),
        (regions.trajectory(NET, SEGMENT), 4),
        (measures.unit_states(PART), 2),
        (measures.summarize(NET, SQUARE), 1),
        (measures.side_counts(PART), None),
        (measures.boundary_volume(PART), NET.kinks),
        (measures.distance_to_boundary(NET, PART.interior_points), count),
        (measures.distance_in_domain(PART, PART.interior_points), count),
        (measures.local_complexity(NET, PART.interior_points, 0.5), count),
        (regions.linear_regions(PART, "open"), regions.count(NET, SQUARE, "open")),
        (record, 2),
    ]


def test_all_results(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    for found, count in results():
        assert isinstance(found, Tabular)
        columns = found.to_columns()
        lengths = {len(column) for column in columns.values()}
        assert len(lengths) == 1 and min(lengths) > 0, found
        assert count is None or lengths == {count}, found
        frame = found.to_dataframe()
        assert isinstance(frame, pandas.DataFrame) and list(frame) == list(columns) and len(frame) in lengths
        text = found.to_csv(tmp_path / "table.csv")
        assert (tmp_path / "table.csv").read_text("utf-8") == text
        names, *rows = csv.reader(io.StringIO(text))
        assert names == list(columns) and len(rows) in lengths


def test_numbers_read_back() -> None:
    rows = list(csv.DictReader(io.StringIO(PART.to_csv())))
    assert [float(row["volume"]) for row in rows] == PART.volumes.tolist()
    assert [bytes.fromhex(row["pattern"]) for row in rows] == [bytes(each) for each in PART.packed_patterns]
    assert np.array_equal(regions.export.to_columns(PART)["p1"], PART.interior_points[:, 1])
    found = regions.extremes(NET, SQUARE)
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [float(row["maximum"]) for row in rows] == found.maximum.tolist()
    assert [json.loads(row["argmax"]) for row in rows] == found.argmax.tolist()


def test_lists_of_records_and_missing_numbers() -> None:
    report = regions.check(NET, SEGMENT)
    rows = list(csv.DictReader(io.StringIO(report.to_csv())))
    tables = [row["table"] for row in rows]
    assert list(dict.fromkeys(tables)) == ["counts", "layers", "bounds", "invariants", "orders"]
    assert tables.count("bounds") == len(report.bounds)
    assert {row["source"] for row in rows if row["table"] == "invariants"} == {""}


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(regions.errors.MissingDependencyError, match=r"relu-regions\[pandas\]"):
        PART.to_dataframe()


def test_pages_of_checks(tmp_path: Path) -> None:
    report = regions.check(NET, SEGMENT)
    assert report.to_html(tmp_path / "check.html") == (tmp_path / "check.html").read_text("utf-8") == report.to_html()
    with pytest.raises(ValueError, match="path must end in .html"):
        report.to_html(tmp_path / "check.txt")


def test_long_reports_are_shown_in_thirty_lines() -> None:
    report = regions.check(NET, SEGMENT)
    shown = repr(report)
    assert shown.startswith(report.conclusion) and shown.count("\n") == 29
    assert shown.endswith("further lines: print(report) shows them")
    assert str(report).splitlines()[:29] == shown.splitlines()[:29]
    certified = regions.certify(PART, NET)
    assert repr(certified) == str(certified) and str(certified).count("\n") < 30
