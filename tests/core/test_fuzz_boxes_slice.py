# SPDX-License-Identifier: MIT
"""Does the fuzzing of boxes find what is wrong, and does it count what it tried?"""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

import fuzz_boxes
import regions
from fuzz_boxes import DRAWN, Case, cases, finding


def test_shards_share_the_seeds() -> None:
    round_ = 3 * len(DRAWN)
    assert {case.seed for case in islice(cases(3, 16), 2 * round_)} == {3, 19}
    assert {case.dimension for case in islice(cases(0, 1), 3)} == {3, 4, 5}


def test_a_slice() -> None:
    done = Counter(finding(Case(family, dimension, 7)) for family in DRAWN[:6] for dimension in (3, 4))
    assert {what for _, what in done} == {""} and done["in full", ""] > 3


@pytest.mark.parametrize("what", ["count", "enumerate"])
def test_what_is_wrong_is_found(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, other = getattr(regions, what), regions.Box([-1] * 3, [1] * 3)
    if what == "count":
        monkeypatch.setattr(regions, what, lambda *given, **options: real(*given, **options) + 1)
        assert "reference" in finding(Case("generic", 3, 7))[1]
    else:
        net = regions.Network([([[1.0, 0.0, 0.0]], [0.0]), ([[1.0]], [0.0])])
        monkeypatch.setattr(regions, what, lambda *_: real(net, other))
        assert "differ" in finding(Case("generic", 3, 7))[1]


def test_the_tally(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(fuzz_boxes, "DRAWN", ["generic"])
    monkeypatch.setattr("sys.argv", ["fuzz_boxes.py", "--seconds", "3", "--seed", "5", "--shards", "8"])
    assert fuzz_boxes.main() == 0
    assert "seed 5 of 8 shards: " in (out := capsys.readouterr().out) and ": 0 mismatches, " in out
