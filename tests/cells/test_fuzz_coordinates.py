# SPDX-License-Identifier: MIT
"""Are numbers computed from coordinates right on a sample of `fuzz_coordinates.py`, and would it notice errors?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coordinates_judge
import fuzz_coordinates
import hard_cases
import regions
import shapes_judge
from fuzz_coordinates import Case, cases, drawn, finding, main
from generators_coordinates import NEAR
from hard_cases import FOLDER, read
from regions.measures import InscribedDiscs, inscribed_discs
from shapes_judge import findings


@pytest.mark.parametrize("family", NEAR)
def test_shapes(family: str) -> None:
    for seed in range(1_000_000, 1_000_004):
        assert finding(Case(family, seed)) is None, seed


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_shapes_of_what_was_once_hard(path: Path) -> None:
    network, domain = read(path)
    if domain.bounded:
        assert list(findings(regions.enumerate(network, domain))) == []


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_numbers_of_what_was_once_hard(path: Path) -> None:
    assert list(coordinates_judge.findings(regions.enumerate(*read(path)))) == []


@pytest.mark.parametrize(
    ("ring", "simple"),
    [
        ([[0, 0], [4, 0], [4, 4], [0, 4]], True),
        ([[0, 0], [4, 0], [1, 1], [0, 4]], True),
        ([[0, 0], [4, 4], [4, 0], [0, 4]], False),
        ([[0, 0], [4, 0], [2, 0], [0, 4]], False),
        ([[0, 0], [4, 0], [4, 4], [2, 0]], False),
        ([[0, 0], [4, 0], [4, 4], [0, 0]], False),
        ([[0, 0], [6, 0], [6, 1], [4, 1], [4, 0], [2, 0], [2, 2]], False),
        ([[0, 0], [2, 0], [0, 0]], False),
    ],
)
def test_which_rings_are_simple(ring: list[list[int]], simple: bool) -> None:
    for shift in range(len(ring)):
        turned = ring[shift:] + ring[:shift]
        assert shapes_judge.is_simple(turned) is simple
        assert shapes_judge.is_simple(turned[::-1]) is simple


def test_cases_take_turns() -> None:
    todo = cases(2 * len(NEAR) + 2, 5)
    assert [case.family for case in todo[: len(NEAR)]] == list(NEAR)
    assert todo[len(NEAR)].family not in NEAR
    assert {case.seed for case in todo} == {5, 6}


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("the radius of region", lambda d: d._replace(radii=d.radii * (1 + 2.0**-10))),
        ("the radius of region", lambda d: d._replace(radii=d.radii * (1 - 2.0**-10))),
        ("the error of the radius", lambda d: d._replace(errors=d.radii / 2**11)),
        ("the centre of region", lambda d: d._replace(centers=d.centers + 1e-3)),
    ],
)
def test_wrong_discs_are_found(monkeypatch: pytest.MonkeyPatch, what: str, change: Any) -> None:
    def wrong(partition: regions.Partition) -> InscribedDiscs:
        return change(inscribed_discs(partition))

    monkeypatch.setattr(shapes_judge, "inscribed_discs", wrong)
    found = finding(Case("decimal_point", 3))
    assert found is not None and found.startswith(what)


def test_wrong_polygons_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes_judge, "merged_polygons", lambda partition, labels: partition.to_shapely()[:3])
    assert "its members" in str(finding(Case("integer_lines", 1)))
    monkeypatch.undo()
    partition = next(
        part
        for seed in range(50)
        if (part := regions.enumerate(*drawn(Case("decimal_point", seed)))).folded_cells().size
    )
    monkeypatch.setattr(regions.Partition, "folded_cells", lambda self: np.zeros(0, dtype=np.int64))
    assert any("folded" in found for found in findings(partition))


def test_an_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "enumerate", lambda *_: 1 / 0)
    assert finding(Case("thin_strip", 0)) == "raised ZeroDivisionError: division by zero"


def test_a_warning_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "enumerate", lambda *_: np.subtract(np.inf, np.inf))
    assert str(finding(Case("thin_strip", 0))).startswith("raised RuntimeWarning: invalid value encountered")


def test_facets_of_all_sizes_make_no_warning() -> None:
    assert finding(Case("ternary_moved", 200_222)) is None


def test_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    class Pool:
        """Without processes, so that the patched functions run."""

        def __init__(self, *_: object) -> None:
            self.map = lambda function, todo, chunksize: map(function, todo)

        def __enter__(self) -> Pool:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(fuzz_coordinates, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr("sys.argv", ["fuzz_coordinates.py", "--cases", "3", "--seed", "3"])
    assert main() == 0
    assert "3 cases, seeds 3 to 3: 0 findings" in capsys.readouterr().out
    monkeypatch.setattr(fuzz_coordinates, "finding", lambda case: f"{case.family} is wrong")
    monkeypatch.setattr(fuzz_coordinates, "FOLDER", tmp_path)
    assert main() == 1
    assert "integer_lines is wrong" in capsys.readouterr().out
    assert hard_cases.read(tmp_path / "integer_lines_coordinates_3.json") == drawn(Case("integer_lines", 3))
