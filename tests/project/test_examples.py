# SPDX-License-Identifier: MIT
"""Do the scripts whose output the documents show still work?"""

from __future__ import annotations

import importlib
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.slow
def test_rounding_gives_the_table_of_the_readme() -> None:
    table = runpy.run_path(str(ROOT / "examples" / "rounding.py"))["table"]()
    assert "\n".join(table) in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [0.0, 1e-12])
def test_the_rounded_rival_is_right_on_a_generic_network(tolerance: float) -> None:
    rounding = runpy.run_path(str(ROOT / "examples" / "rounding.py"))
    network = rounding["NETWORKS"]["2-32-32-32-1, Gaussian"]
    assert len(rounding["rounded_regions"](network, tolerance)) == 2048


@pytest.mark.slow
def test_training_measures_each_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A short run. A freshly drawn network has about one region per neuron on a line, and distances of order 1/N."""
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(ROOT / "docs")
    training = importlib.import_module("training")
    for name, value in {"EPOCHS": (0, 2), "SHAPES": ((16, 8),), "RUNS": 1, "LINES": 20, "POINTS": 50}.items():
        monkeypatch.setattr(training, name, value)
    monkeypatch.setattr(sys, "argv", ["training.py", str(tmp_path / "training.png")])
    training.main()
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[:2] + row[3:4] for row in rows] == [
        ["16-8", "24", name] for name in ("lines", "distance", "plane", "regions")
    ]
    for row in rows[:2]:
        assert all(0.3 < float(number) < 3 for number in row[4:])
    assert (tmp_path / "training.png").stat().st_size > 10_000


@pytest.mark.slow
def test_pictures_are_drawn_and_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    importlib.import_module("pictures").main(tmp_path)
    drawn = sorted(path.name for path in tmp_path.iterdir())
    pages = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("pictures.md", "how-to/boxes.md"))
    assert all(f"{name})" in pages for name in drawn if name != "digits.png") and "digits.png" in drawn
    assert drawn == sorted(path.name for path in (ROOT / "docs").glob("*.png") if path.name[:4] in ("digi", "pict"))
    for name in drawn:
        for path in (tmp_path / name, ROOT / "docs" / name):
            assert 5_000 < path.stat().st_size < (200_000 if name == "digits.png" else 100_000)
