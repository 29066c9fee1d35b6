# SPDX-License-Identifier: MIT
"""Does each row of docs/other-tools.md name a test that exists?"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "other-tools.md"
ROWS = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ") and "](" in line]


def test_there_are_many_rows_and_each_is_about_something_else() -> None:
    assert len(ROWS) >= 35
    assert len({row.split("|")[2] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("[")[-1].split("]")[0])
def test_the_test_of_a_row_exists(row: str) -> None:
    _, tool, seen, ours, test, _ = re.split(r"(?<!\\)\|", row)
    assert all(map(str.strip, (tool, seen, ours)))
    ((name, path),) = re.findall(r"\[(test_\w+)\]\(([^)]+)\)", test)
    tree = ast.parse((PAGE.parent / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
