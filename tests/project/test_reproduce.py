# SPDX-License-Identifier: MIT
"""Do the scripts of docs/reproduce/ run, and do the pages there name every script and every figure of the papers?

Each runs with its small setting. The results that must hold are checked: laws within their errors, and bounds.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "docs" / "reproduce"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("common"))

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Runs a script with its small setting, and gives the columns of its table."""
    monkeypatch.syspath_prepend(FOLDER)

    def columns(script: str, *words: str) -> dict[str, list[str]]:
        lines = importlib.import_module(script).main(["--small", "--folder", str(tmp_path), *words])
        assert (tmp_path / f"{script}.txt").read_text(encoding="utf-8").splitlines() == lines
        assert 5_000 < (tmp_path / f"{script}.png").stat().st_size < 400_000
        head, *rows = (re.split(r" {3,}", line.strip()) for line in lines[2:])
        return dict(zip(head, zip(*rows, strict=True), strict=True))

    return columns


def numbers(column: list[str]) -> np.ndarray:
    return np.array(column, dtype=float)


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts(script: str, run) -> None:  # type: ignore[no-untyped-def]
    if re.search("common_(torch|convolutional)", (FOLDER / f"{script}.py").read_text(encoding="utf-8")):
        pytest.importorskip("torch")
    table = run(script)
    for name in ("errors off", "most errors off"):
        if name in table:
            assert abs(numbers(table[name])).max() < 4
    if "errors inside" in table:
        assert numbers(table["errors inside"]).min() > -4
    for lower in ("bound", "lower bound", "Theorem 3"):
        if lower in table:
            found = next(each for name, each in table.items() if "growth" in name or name == "found")
            assert (numbers(table[lower]) < numbers(found)).all()
    if "dichotomies" in table:
        assert (numbers(table["dichotomies"]) <= numbers(table["transitions"]) + 1).all()
    if script == "price_tanner_4":
        off = (numbers(table["found"]) - numbers(table["equal entries"]))[-9:] / numbers(table["+-"])[-9:]
        assert abs(off).max() < 8  # entries of 784 that are nearly equal
    if "violations" in table:
        assert set(table["violations"]) == {"0"}
    if "Theorem 1" in table:
        assert (numbers(table["regions"]) <= numbers(table["Theorem 1"])).all() and set(table["convex"]) == {"yes"}


def test_images_of_ones_own(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    np.savez(
        tmp_path / "own.npz",
        images=np.random.default_rng(0).integers(0, 256, size=(1001, 5, 5)),
        labels=np.arange(1001),
    )
    run("raghu_12", "--data", str(tmp_path / "own.npz"), "--depth", "2")
    assert "images of --data" in (tmp_path / "raghu_12.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arrays", "script", "words", "message"),
    [
        ({"images": np.ones((9, 2, 2))}, "raghu_12", [], "1001st image is asked for, and there are 9"),
        ({"images": np.zeros((1001, 4))}, "raghu_12", [], "numbers, not all 0"),
        ({"images": np.ones((9, 4)), "labels": np.ones(8, int)}, "raghu_12", [], "9 images, and labels of shape [8]"),
        ({"images": np.zeros((0, 4))}, "raghu_12", [], "numbers, not all 0"),
        ({"pictures": np.ones((9, 4))}, "raghu_12", [], "images"),
        (None, "raghu_12", [], "No such file"),
        ({}, "raghu_12", ["--pairs", "0:0"], "--pairs: 0:0 is no width:variance"),
        ({}, "raghu_1", ["--depth", "0"], "--depth: 0 is no number from 1 on"),
        ({}, "raghu_14", ["--points", "0"], "--points: 0 is no number from 1 on"),
    ],
)
def test_what_is_wrong(arrays, script, words, message, tmp_path, monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.syspath_prepend(FOLDER)
    if arrays != {}:
        words = ["--data", str(tmp_path / "own.npz")]
    if arrays:
        np.savez(tmp_path / "own.npz", **arrays)
    with pytest.raises(SystemExit) as stopped:
        importlib.import_module(script).main(["--small", "--folder", str(tmp_path), *words])
    assert message in f"{stopped.value} {capsys.readouterr().err}"


def test_the_pages_name_every_script() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md"))
    for script in SCRIPTS:
        assert f"({script}.py)" in pages and f"({script}.png)" in pages and f"({script}.txt)" in pages
        assert (FOLDER / f"{script}.png").stat().st_size < 400_000 and (FOLDER / f"{script}.txt").is_file()


@pytest.mark.parametrize(
    ("paper", "figures"), [("Raghu et al. 2017", 18), ("Hanin and Rolnick 2019", 8), ("Price and Tanner 2020", 6)]
)
def test_every_figure_is_in_the_table(paper: str, figures: int) -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.split(f"## {paper}\n")[1].split("\n## ")[0].splitlines() if "|" in line]
    rows = rows[2:]
    assert all(len(row) == 5 and all(len(cell.strip("| ")) for cell in row) for row in rows)
    named = {int(number) for row in rows for number in re.findall(r"\d+", row[0])}
    assert named == set(range(1, figures + 1))
    assert all(row[4].strip(" |") == "-" for row in rows if row[1] == "left out")
