# SPDX-License-Identifier: MIT
"""Does the command of `theorems.py` compare every bound, and would it notice a violation?"""

from __future__ import annotations

import dataclasses

import pytest

import theorems
from regions import bounds


@pytest.mark.slow
def test_a_few_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert theorems.main(["--cases", "8"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[len(theorems.COMPARED)] == "0 violations"
    assert [line.split()[0] for line in lines[: len(theorems.COMPARED)]] == [bound.name for bound in theorems.COMPARED]


def test_a_smaller_bound_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [
        dataclasses.replace(bound, function=lambda n_in, widths: 0) if bound.name == "gaines_bi_degree" else bound
        for bound in bounds.BOUNDS
    ]
    monkeypatch.setattr(bounds, "BOUNDS", tuple(wrong))
    monkeypatch.setattr(theorems, "KINDS", {"generic deep": theorems.KINDS["generic deep"]})
    assert theorems.main(["--cases", "1"]) == 1
    assert "generic deep, seed 0" in capsys.readouterr().out
