# SPDX-License-Identifier: MIT
"""Do verdicts on VNN-LIB files withstand a slice of what `fuzz_properties.py` tries, small enough for every run?"""

from __future__ import annotations

from pathlib import Path

import pytest

import fuzz_properties


@pytest.mark.slow
def test_verdicts_agree_with_formulas(tmp_path: Path) -> None:
    found = {seed: fuzz_properties.finding(seed, tmp_path) for seed in range(150)}
    slow = (" s", "MB", "3 seconds; raise timeout=, or leave it out")  # the machine may be slow
    assert not {seed: what for seed, what in found.items() if what and not what.endswith(slow)}
