# SPDX-License-Identifier: MIT
"""Does the core agree with the reference on a sample of `fuzz.py`, small enough for every run?"""

from __future__ import annotations

import pytest

import regions
from core_judge import difference
from fuzz import SHAPES, Case, cases, drawn, finding, findings, main
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from regions.domains import Domain

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("family", [*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES])
def test_counts_and_patterns(family: str) -> None:
    for case in cases(60, 1_000_000, [family]):
        assert finding(*drawn(case)) is None, case


@pytest.mark.parametrize("family", [*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES])
@pytest.mark.parametrize("shape", SHAPES)
def test_everything_returned(family: str, shape: str) -> None:
    for seed in range(2_000_000, 2_000_003):
        assert difference(*drawn(Case(family, shape, seed))) is None, seed


@pytest.mark.parametrize("family", CLIPPED_FAMILIES)
def test_units_with_other_kinks_on_lines(family: str) -> None:
    for case in cases(60, 1_000_000, [family], ["line"]):
        assert finding(*drawn(case)) is None, case


def test_cases_take_turns() -> None:
    todo = cases(7, 5, ["generic", "strips"])
    assert [case.family for case in todo] == ["generic"] * 3 + ["strips"] * 3 + ["generic"]
    assert [case.shape for case in todo[:4]] == [*SHAPES, SHAPES[0]]
    assert [case.seed for case in todo] == [5] * 6 + [6]
    assert len(findings(todo, 2)) == 0


def test_a_wrong_count_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    network, domain = draw("generic", 2, 0)
    real = regions.count
    monkeypatch.setattr(regions, "count", lambda *arguments: real(*arguments) + 1)
    found = finding(network, domain)
    assert found is not None and found.kind == "count"


def test_an_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Domain) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(regions, "enumerate", fail)
    found = finding(*draw("generic", 2, 0))
    assert found is not None and found.kind == "RuntimeError"


def test_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz.py", "--cases", "6", "--seed", "3", "--families", "generic"])
    assert main() == 0
    assert "6 cases (2 lines, 2 polygons, 2 planes), 1 families, seeds 3 to 4: 0 mismatches" in capsys.readouterr().out
