# SPDX-License-Identifier: MIT
"""Does the notebook run from top to bottom, and does the gallery write its pages?

A notebook is JSON. Its cells are run one after the other, with the last expression of each cell shown as notebooks do,
so no kernel is needed. It is stored without outputs, which would be out of date.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))


def run_cell(source: str, shared: dict[str, Any]) -> Any:
    """Run a cell, and return what a notebook would show for its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), shared)
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), shared)
    show = getattr(value, "_repr_html_", None)
    return value if show is None else show()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text("utf-8"))
    assert notebook["nbformat"] == 4
    shared: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for cell in notebook["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None
        if cell["cell_type"] == "code":
            shown.append(run_cell("".join(cell["source"]), shared))
    assert any(isinstance(each, str) and each.startswith("<iframe sandbox=") for each in shown)


def test_the_gallery_has_thirteen_pages_and_their_pictures(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "docs" / "gallery.py")
    assert spec and spec.loader
    gallery = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gallery)
    pages = gallery.write_pages(tmp_path)
    assert len(pages) == 13 and all(page.stat().st_size < 2_000_000 for page in pages)
    text = (ROOT / "docs" / "gallery.md").read_text("utf-8")
    for page in pages:
        assert f"](gallery/{page.stem}.png)" in text and (ROOT / "docs" / "gallery" / f"{page.stem}.png").exists()
    figures = sorted((ROOT / "docs" / "gallery").glob("figure-*"))
    assert len(figures) == 5
    for figure in figures:
        assert f"](gallery/{figure.name})" in text and figure.stat().st_size <= gallery.LARGEST_FIGURE
