# SPDX-License-Identifier: MIT
"""Does the command of `theorem1.py` compare networks with Theorem 1, and would it notice a violation?"""

from __future__ import annotations

import pytest

import theorem1
from regions import bounds


@pytest.mark.slow
def test_a_slice_of_the_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert theorem1.main(["--cases", "300", "--seed", "20000"]) == 0
    out = capsys.readouterr().out
    assert "300 networks, seeds 20000 to 20049: 0 violations" in out
    for kind in ("relu", "hard tanh"):
        assert any(f"generic layer {kind} " in line and "50 reach the bound" in line for line in out.splitlines())


def test_a_smaller_bound_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    raghu = bounds.raghu
    monkeypatch.setattr(bounds, "raghu", lambda n_in, widths: raghu(n_in, widths) - 1)
    assert theorem1.main(["--cases", "12"]) == 1
    assert "generic layer relu, seed 0: " in capsys.readouterr().out


def test_a_larger_bound_is_noticed_where_it_has_to_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    raghu = bounds.raghu
    monkeypatch.setattr(bounds, "raghu", lambda n_in, widths: raghu(n_in, widths) + 1)
    assert "not all of it" in theorem1.tried("generic layer relu", 0).fault
