# SPDX-License-Identifier: MIT
"""Has each network of docs/records/ as many regions as the page says, and does the search find some?"""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

import regions
from regions import bounds

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "docs" / "records"
ROWS = re.findall(
    r"^\| ([\d-]+) \| (\d+) \| (\d+) \| (yes|no) \|", (ROOT / "docs" / "records.md").read_text("utf-8"), re.M
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_record_is_counted(row: tuple[str, str, str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    prove = importlib.import_module("prove")
    shape, most, bound, settled = row
    inputs, *widths = map(int, shape.split("-"))
    claimed, layers = prove.read_record(FOLDER / f"{shape}.json")
    assert [len(biases) for _, biases in layers] == widths and layers[0][0].shape[1] == inputs
    assert regions.count(prove.network(layers), prove.space(inputs)) == claimed == int(most)
    sharpest = min(
        function(inputs, widths) for function in (bounds.raghu, bounds.serra2018_upper, bounds.hinz_vandegeer)
    )
    assert sharpest == int(bound) and settled == ("yes" if claimed == sharpest else "no")


def test_each_file_has_a_row() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == sorted(row[0] for row in ROWS)


def test_a_proof_and_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    assert importlib.import_module("prove").main(["2-2-2"]) == 0
    assert "11 regions claimed, counted 11 and 11" in capsys.readouterr().out
    found = importlib.import_module("search").main(["2-2-2", "--seconds", "0.2", "--folder", str(tmp_path)])
    assert json.loads((tmp_path / "2-2-2.json").read_text("utf-8"))["regions"] == found >= 8
