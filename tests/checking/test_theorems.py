# SPDX-License-Identifier: MIT
"""Is every bound and law of `regions.bounds` compared with networks, and would `theorems.py` notice a violation?

Bounds for every network are compared by `theorems.py`. Bounds on means, and laws, are compared by scripts of
`docs/reproduce/`, whose tables are kept: a bound on a mean with a thousand networks, and a law with eighteen cases
(shapes with variances, radii or codimensions) and their intervals.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

import theorems
from regions import bounds

TABLES = Path(__file__).resolve().parent.parent.parent / "docs" / "reproduce"
# The script that compares each law with means, and the word with which its rows begin, if others are in the table.
LAWS = {
    "expected_distance_shallow": ("shallow_laws", "expected_distance_shallow"),
    "expected_length_relu_exact": ("relu_law", ""),
    "expected_regions_maxout_line": ("random_laws", "maxout"),
    "expected_regions_shallow_ball": ("shallow_laws", "expected_regions_shallow_ball"),
    "expected_regions_wide_line": ("kogan_2025", ""),
    "expected_strata_shallow": ("shallow_laws", "expected_strata_shallow"),
    "expected_volume_relu_exact": ("random_laws", "area"),
    "hard_tanh_length_growth": ("hard_tanh_law", ""),
    "kogan_expected_regions": ("kogan_2025", ""),
    "relu_length_factor": ("relu_law", ""),
}


def rows_of(script: str) -> tuple[str, list[list[str]]]:
    """Return the first line of a kept table, and its rows, the head first."""
    first, _, *rows = (TABLES / f"{script}.txt").read_text(encoding="utf-8").splitlines()
    return first, [re.split(r" {3,}", row.strip()) for row in rows]


def test_every_public_function_is_compared() -> None:
    functions = {name for name in bounds.__all__ if inspect.isfunction(getattr(bounds, name))}
    every_network = {bound.function.__name__ for bound in theorems.COMPARED} | set(theorems.UNREGISTERED)
    means = {row[0] for row in rows_of("mean_bounds")[1][1:]}
    assert not every_network & means and not (every_network | means) & set(LAWS)
    assert every_network | means | set(LAWS) == functions


@pytest.mark.parametrize("law", LAWS)
def test_each_law_has_eighteen_cases_with_intervals(law: str) -> None:
    script, begins = LAWS[law]
    _, (head, *rows) = rows_of(script)
    assert any(name.endswith("+- 95%") for name in head)
    chosen = [row for row in rows if row[0].startswith(begins)]
    assert len({tuple(row[:3]) for row in chosen}) >= 18
    if "errors off" in head:
        assert max(abs(float(row[head.index("errors off")])) for row in chosen) < 4


def test_each_bound_on_a_mean_holds_for_a_thousand_networks() -> None:
    first, (head, *rows) = rows_of("mean_bounds")
    assert "networks 1000" in first
    assert all(float(row[head.index("errors inside")]) > -4 for row in rows)
    assert min(sum(row[0] == name for row in rows) for name in {row[0] for row in rows}) >= 3


@pytest.mark.slow
def test_a_few_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert theorems.main(["--cases", "8"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[len(theorems.NAMES)].endswith("seeds, 0 violations")
    assert [line.split()[0] for line in lines[: len(theorems.NAMES)]] == theorems.NAMES


def test_a_smaller_bound_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [
        dataclasses.replace(bound, function=lambda n_in, widths: 0) if bound.name == "gaines_bi_degree" else bound
        for bound in bounds.BOUNDS
    ]
    monkeypatch.setattr(bounds, "BOUNDS", tuple(wrong))
    monkeypatch.setattr(theorems, "KINDS", {"generic deep": theorems.KINDS["generic deep"]})
    assert theorems.main(["--cases", "1"]) == 1
    assert "generic deep, seed 0" in capsys.readouterr().out
