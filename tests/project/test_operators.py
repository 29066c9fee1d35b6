# SPDX-License-Identifier: MIT
"""Does each operator that is read stand on a page, and does a test name it?

The page is `docs/operators.md`, with one section for each format. A test is a file of `tests/read/`, or of the helpers
that draw cases.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from regions.read.exported import network as exported
from regions.read.exported.operators import OPERATORS as EXPORTED
from regions.read.onnx import network as onnx_network
from regions.read.onnx.operators import OPERATORS as ONNX

TESTS = Path(__file__).resolve().parent.parent
SECTIONS = dict(
    re.findall(
        r"^## (\S+)$(.*?)(?=^## |\Z)",
        (TESTS.parent / "docs" / "operators.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
)
READ = {
    ".pt2": {*EXPORTED, *exported._CUT, *exported._INCREASING, *exported._KEPT},
    "ONNX": {
        *(*ONNX, *onnx_network._SHAPES, *onnx_network._INCREASING),
        *onnx_network._AFTER_CUT,
    },
}


@pytest.mark.parametrize("section", list(READ))
def test_each_operator_stands_on_the_page(section: str) -> None:
    rows = "".join(line for line in SECTIONS[section].splitlines() if line.startswith("|"))
    shown = re.findall(r"`([^`]+)`", rows)
    assert READ[section] - set(shown) == set(), "read, and not on the page"
    assert set(shown) - READ[section] == set(), "on the page, and not read"
    assert len(shown) == len(set(shown)), "twice on the page"


@pytest.mark.parametrize("section", list(READ))
def test_each_operator_stands_in_a_test(section: str) -> None:
    files = [*(TESTS / "read").glob("*.py"), *(TESTS / "helpers").glob("*.py")]
    words = {word for file in files for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))}
    assert {name for name in READ[section] if name.rpartition(".")[2] not in words} == set()
