# SPDX-License-Identifier: MIT
"""Does the fuzzing of boxes find what is wrong, and does it count what it tried?"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import pytest

import fuzz_boxes
import regions
from exact_polytopes import require_exact
from fuzz_boxes import DRAWN, Case, cases, finding
from polytope_cases import network_of
from regions import reference


def test_shards_share_the_seeds() -> None:
    every = list(islice(cases(3, 16), 5 * len(DRAWN) + 1))
    assert {case.seed for case in every[:-1]} == {3, 19} and every[-1].seed == 35
    assert {case.dimension for case in every[:3]} == {3, 4, 5}


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


class Changed:
    """A partition with one array replaced."""

    def __init__(self, part: Any, name: str, array: Any) -> None:
        self.part, self.name, self.array = part, name, array

    def __getattr__(self, name: str) -> Any:
        return self.array if name == self.name else getattr(self.part, name)


@pytest.mark.parametrize("dimension", [3, 4])
def test_what_is_wrong_in_a_partition_is_found(dimension: int) -> None:
    box = regions.Box([-1] * dimension, [1] * dimension)
    net = network_of(
        np.array([[1, 1, *[0] * (dimension - 2)], [1] * dimension, [1, -2, *[1] * (dimension - 2)]]), [0, 0.5, 1]
    )
    part, expected = regions.enumerate(net, box), reference.enumerate(net, box)
    require_exact(part, expected)
    for name in ("volumes", "facet_volumes", "vertices"):
        for factor in (1 + 1e-9, 1 - 1e-9):
            with pytest.raises(AssertionError):
                require_exact(Changed(part, name, getattr(part, name) * factor), expected)
    for name in ("cell_vertices", "facet_regions", "facet_kinks", "facet_offsets"):
        with pytest.raises((AssertionError, KeyError)):
            require_exact(Changed(part, name, getattr(part, name)[::-1]), expected)
    with pytest.raises(AssertionError):
        require_exact(part, expected[1:])


def test_the_tally(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(fuzz_boxes, "DRAWN", ["generic"])
    monkeypatch.setattr("sys.argv", ["fuzz_boxes.py", "--seconds", "3", "--seed", "5", "--shards", "8"])
    assert fuzz_boxes.main() == 0
    assert "seed 5 of 8 shards: " in (out := capsys.readouterr().out) and ": 0 mismatches, " in out
