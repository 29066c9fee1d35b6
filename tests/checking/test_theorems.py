# SPDX-License-Identifier: MIT
"""Is every bound and law of `regions.bounds` compared with networks, and would `theorems.py` notice a violation?

Bounds for every network are compared by `theorems.py`. Bounds on means, and laws, are compared by scripts of
`docs/reproduce/`, whose tables are kept: a bound on a mean with a thousand networks, and a law with eighteen shapes of
networks and their intervals. The page of the laws says how many intervals do not contain the law.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import regions.theory.bounds
import theorems
from regions import bounds

TABLES = Path(__file__).resolve().parent.parent.parent / "docs" / "reproduce"
PAGE = (TABLES / "laws.md").read_text(encoding="utf-8")


class Law(NamedTuple):
    """The script that compares a law with means, and the columns of its stored table."""

    script: str
    begins: str  # the first word of its rows, if others are in the table
    shape: slice  # the columns that tell shapes apart
    law: int | None  # the column of the law; none if the mean is given as a ratio, whose law is 1
    mean: int
    half: int


BALL = Law("shallow_laws", "expected_regions_shallow_ball", slice(1, 2), 2, 3, 4)
AREA = Law("random_laws", "area", slice(1, 2), 2, 3, 4)
RELU = Law("relu_law", "", slice(0, 1), 3, 4, 5)
KOGAN = Law("kogan_2025", "", slice(0, 1), None, 3, 4)
LAWS = {
    "expected_decision_pieces": Law("decision_pieces_law", "", slice(0, 1), 2, 3, 4),
    "expected_closed_share": Law("closed_layers", "", slice(0, 1), 1, 2, 3),
    "expected_distance_shallow": BALL._replace(begins="expected_distance_shallow"),
    "expected_length_relu_exact": RELU,
    "expected_regions": Law("whole_space_law", "", slice(0, 1), 2, 3, 4),
    "expected_regions_maxout_line": AREA._replace(begins="maxout"),
    "expected_regions_shallow_ball": BALL,
    "expected_regions_wide_box": Law("wide_boxes_law", "", slice(0, 1), None, 3, 4),
    "expected_regions_wide_line": KOGAN._replace(mean=7, half=8),
    "expected_regions_wide_polygon": Law("wide_polygons_law", "", slice(0, 1), None, 3, 4),
    "expected_strata_shallow": BALL._replace(begins="expected_strata_shallow"),
    "expected_volume_relu_exact": AREA,
    "hard_tanh_length_growth": Law("hard_tanh_law", "", slice(0, 2), None, 6, 7),
    "kogan_expected_regions": KOGAN,
    "relu_length_factor": RELU,
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


@pytest.mark.parametrize("name", LAWS)
def test_each_law_has_eighteen_shapes_with_intervals(name: str) -> None:
    law = LAWS[name]
    _, (head, *rows) = rows_of(law.script)
    chosen = [row for row in rows if row[0].startswith(law.begins)]
    # A shape is the same at every radius, codimension and rank.
    shapes = {re.sub(", (radius|codimension).*| of rank.*", "", " ".join(row[law.shape])) for row in chosen}
    assert len(shapes) == len(chosen) >= 18 and head[law.half].endswith("+- 95%")
    if "errors off" in head:
        assert max(abs(float(row[head.index("errors off")])) for row in chosen) < 4
    excluding = sum(
        abs(float(row[law.mean]) - (1.0 if law.law is None else float(row[law.law]))) > float(row[law.half])
        for row in chosen
    )
    line = next(line for line in PAGE.splitlines() if line.startswith("|") and f"`{name}`" in line)
    assert line.split(" | ")[3] == f"{excluding} of {len(chosen)}"


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
    for module in (bounds, regions.theory.bounds):
        monkeypatch.setattr(module, "BOUNDS", tuple(wrong))
    monkeypatch.setattr(theorems, "KINDS", {"generic deep": theorems.KINDS["generic deep"]})
    assert theorems.main(["--cases", "1"]) == 1
    assert "generic deep, seed 0" in capsys.readouterr().out
