# SPDX-License-Identifier: MIT
"""Does the command print the extremes that the package finds, and nothing if it was stopped?"""

from __future__ import annotations

import json

import pytest

import regions
from cli_cases import SQUARE, Run, model, without_time

pytestmark = pytest.mark.usefixtures("in_folder_with_models")

MODEL = ["model.npz", "--activation", "relu"]


def test_the_table_has_a_row_for_each_output(run: Run) -> None:
    code, out, err = run("extremes", *MODEL, *SQUARE)
    header, *rows = [line.split() for line in out.splitlines() if line.startswith("  ")]
    found = regions.extremes(model(), regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    assert (code, err, header) == (0, "", ["output", "minimum", "at", "maximum", "at"])
    assert [row[1] for row in rows] == [f"{value:.6g}" for value in found.minimum]
    assert [row[4] for row in rows] == [f"{value:.6g}" for value in found.maximum]


def test_json_has_the_numbers_of_the_package(run: Run) -> None:
    code, out, _ = run("extremes", *MODEL, "--segment", "0,0", "1,2", "--json")
    found, facts = regions.extremes(model(), regions.Segment([0, 0], [1, 2])), json.loads(out)
    assert code == 0 and facts["regions"] == len(found.partition)
    # Vertices of a segment may be rounded differently.
    assert facts["maximum"] == pytest.approx(found.maximum, abs=max(*found.maximum_errors, *facts["maximum_errors"]))
    assert facts["argmin"] == found.argmin.tolist()


@pytest.mark.parametrize("as_json", [False, True])
def test_a_part_has_no_extremes(run: Run, as_json: bool) -> None:
    code, out, err = run("extremes", *MODEL, *SQUARE, "--limit", "10", *["--json"] * as_json)
    assert code == 3 and "No answer: there are more than 10 regions. Raise --limit." in err and "maximum" not in out


def test_without_end(run: Run) -> None:
    code, out, _ = run("extremes", *MODEL, "--plane", "0,0", "1,0", "0,1")
    assert code == 0 and "towards" in out and "inf" in out


def test_polylines(run: Run) -> None:
    path = ["--polyline", "0,0", "1,2", "-1,0"]
    curve = regions.Polyline([[0, 0], [1, 2], [-1, 0]])
    code, out, _ = run("extremes", *MODEL, *path, "--json")
    assert code == 0 and json.loads(out)["argmax"] == regions.extremes(model(), curve).argmax.tolist()
    for command in ("statistics", "function"):
        code, out, _ = run(command, *MODEL, *path, "--json")
        expected = {"notes": [], **getattr(regions, command)(model(), curve).as_dict()}
        assert code == 0 and json.loads(without_time(out)) == expected
        assert run(command, *MODEL, *path)[0] == 0
    assert run("extremes", *MODEL, *path)[0] == run("compare", "model.npz", *MODEL, *path)[0] == 0
