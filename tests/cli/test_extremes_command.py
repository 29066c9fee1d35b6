# SPDX-License-Identifier: MIT
"""Does the command print the extremes that the package finds, and nothing if it was stopped?"""

from __future__ import annotations

import json

import numpy as np
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


def test_boxes_with_many_inputs(run: Run) -> None:
    weights = np.random.default_rng(0).standard_normal((26, 24))
    layers = {"0.weight": weights[:24, :8], "0.bias": np.ones(24), "2.weight": weights[24:], "2.bias": np.zeros(2)}
    np.savez("wide.npz", **layers)
    words = ["wide.npz", "--activation", "relu", "--box", ",".join(["-1"] * 8), ",".join(["1"] * 8), "--limit", "20"]
    code, out, err = run("extremes", *words)
    assert (code, err) == (0, "") and " to " in out and "not decided by bounds on 20 parts; raise --timeout" in out
    facts = json.loads(run("extremes", *words, "--json")[1])
    assert facts["decided"] is False and facts["parts"] == 20
    pairs = zip(facts["maximum"], facts["maximum_intervals"], strict=True)
    assert all(low <= value <= high for value, (low, high) in pairs)
    code, out, _ = run("compare", "wide.npz", *words)
    assert code == 0 and "bounds on" in out


def test_margins(run: Run) -> None:
    code, out, err = run("margin", *MODEL, *SQUARE, "--label", "1")
    found = regions.margin(model(), regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]), 1)
    rows = [line.split() for line in out.splitlines() if line.startswith("  ")]
    assert (code, err) == (0, "") and rows[0] == ["class", "1", "everywhere", "no"]
    assert rows[1] == ["least", "margin", f"{found.value:.6g}"] and rows[2] == ["over", "class", str(found.rival)]
    facts = json.loads(run("margin", *MODEL, *SQUARE, "--label", "1", "--json")[1])
    assert facts["holds"] == found.holds and facts["where"] == found.where.tolist()


def test_a_label_of_no_class(run: Run) -> None:
    code, _, err = run("margin", *MODEL, *SQUARE, "--label", "99")
    assert code == 2 and "--label" in err and "99 is none of the" in err
