# SPDX-License-Identifier: MIT
"""Do the scripts in examples/ still give what the documents show?"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_rounding_gives_the_table_of_the_documents() -> None:
    table = runpy.run_path(str(ROOT / "examples" / "rounding.py"))["table"]()
    page = (ROOT / "docs" / "what-is-exact.md").read_text(encoding="utf-8")
    assert "\n".join(table) in page
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    shown = [line for line in table if line in readme]
    assert len(shown) == 7


@pytest.mark.parametrize("tolerance", [0.0, 1e-12])
def test_the_rounded_rival_is_right_on_a_generic_network(tolerance: float) -> None:
    rounding = runpy.run_path(str(ROOT / "examples" / "rounding.py"))
    network = rounding["NETWORKS"]["2-32-32-32-1, Gaussian"]
    assert len(rounding["rounded_regions"](network, tolerance)) == 2048
