# SPDX-License-Identifier: MIT
"""Do the commands print the answers of the package, and no answer if a limit stopped them?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import regions
from cli_cases import SQUARE, Run, model, weights, without_time

pytestmark = pytest.mark.usefixtures("in_folder_with_models")

MODEL = ["model.npz", "--activation", "relu"]
BOX = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
SEGMENT = ["--segment", "0,0", "1,2"]


def test_decisions(run: Run) -> None:
    found = regions.decisions(model(), BOX)
    code, out, err = run("decisions", *MODEL, *SQUARE)
    assert (code, err) == (0, "") and f"{found.volume:.6g}" in out and "between class" in out
    code, out, _ = run("decisions", *MODEL, *SQUARE, "--json")
    facts = json.loads(out)
    assert code == 0 and facts["boundary"] == found.volume and len(facts["between"]) == len(found.between)
    code, out, _ = run(
        "decisions", "line.npz", "--activation", "relu", "--line", "0", "1", "--threshold", "0.25", "--json"
    )
    assert code == 0 and json.loads(out)["classes"] == [0, 1]
    code, _, err = run("decisions", *MODEL, *SQUARE, "--threshold", "1")
    assert code == 1 and "threshold" in err
    code, out, _ = run("decisions", *MODEL, *SQUARE, "--smallest", "--json")
    assert json.loads(out)["boundary"] == regions.decisions(model(), BOX, largest=False).volume


def test_compare(run: Run) -> None:
    np.savez("other.npz", **{name: np.round(each, 2) for name, each in weights([2, 12, 10, 3], seed=5).items()})
    other = regions.load("other.npz", activation="relu")
    found = regions.compare(model(), other, BOX)
    words = ["model.npz", "other.npz", "--activation", "relu", *SQUARE]
    code, out, err = run("compare", *words)
    assert (code, err) == (0, "") and f"{found.max_difference[0]:.6g}" in out and f"{found.regions[2]:,}" in out
    facts = json.loads(run("compare", *words, "--json")[1])
    assert facts["max_difference"] == found.max_difference.tolist() and not facts["equal"]
    assert "yes, proved on" in run("compare", "model.npz", "model.npz", "--activation", "relu", *SQUARE)[1]
    code, _, err = run("compare", *MODEL, *SQUARE)
    assert code == 2 and "give two models to compare, got 1" in err


@pytest.mark.parametrize(
    ("command", "kind"), [("extremes", "extremes"), ("compare", "difference"), ("level-set", "level set")]
)
def test_certificates(command: str, kind: str, run: Run) -> None:
    second = ["model.npz"] if command == "compare" else []
    third = ["--output-index", "1"] if command == "level-set" else []
    words = (command, *second, *MODEL, *SQUARE, *third, "--write", "proof.regions-certificate")
    code, out, err = run(*words)
    assert (code, err) == (0, "") and out.splitlines()[-1].startswith("wrote proof.regions-certificate: this answer")
    with np.load("proof.regions-certificate") as file:
        assert json.loads(bytes(file["header"]))["answer"]["kind"] == kind
    assert "wrote" not in run(*words, "--json")[1]
    code, out, err = run(command, *second, *MODEL, "--line", "0,0", "1,1", *words[-2:], *third)
    assert (code, out) == (1, "") and "certificates exist in bounded domains" in err


def test_function(run: Run) -> None:
    found = regions.function(model(), regions.Segment([0, 0], [1, 2]))
    code, out, err = run("function", *MODEL, *SEGMENT, "-o", "knots.csv")
    assert (code, err) == (0, "") and f"{found.slopes[0, 0]:.6g}" in out and f"{found.values[-1, 0]:.6g}" in out
    code, out, _ = run("function", *MODEL, "--line", "0,0", "1,2")
    assert code == 0 and without_time(out).splitlines()[-1].split() == ["inf"]
    assert len(Path("knots.csv").read_text().splitlines()) == len(found) + 2
    assert json.loads(run("function", *MODEL, *SEGMENT, "--json")[1])["knots"] == found.knots.tolist()
    code, _, err = run("function", *MODEL, *SQUARE)
    assert code == 2 and "function does not take --polygon; it takes --segment" in err


def test_level_set(run: Run) -> None:
    found = regions.level_set(model(), BOX, 0.25, 1)
    words = ["level-set", *MODEL, *SQUARE, "--threshold", "0.25"]
    code, out, err = run(*words, "--output-index", "1")
    assert (code, err) == (0, "") and f"{found.length:.6g}" in out and f"{found.area_above:.6g}" in out
    code, out, _ = run(*words, "--output-index", "1", "--json")
    assert code == 0 and json.loads(without_time(out)) == {"notes": [], **found.as_dict()}
    code, _, err = run(*words)
    assert code == 2 and "the network has 3 outputs: choose one with --output-index" in err
    code, _, err = run(*words, "--output-index", "3")
    assert code == 2 and "the network has 3 outputs, numbered from 0" in err


def test_a_level_set_in_a_box(run: Run) -> None:
    both = np.vstack([np.eye(3), -np.eye(3)])
    np.savez(
        "octahedron.npz", **{"0.weight": both, "0.bias": np.zeros(6), "1.weight": np.ones((1, 6)), "1.bias": [0.0]}
    )
    words = ["level-set", "octahedron.npz", "--activation", "relu", "--threshold", "1", "--box", "-2,-2,-2", "2,2,2"]
    code, out, err = run(*words)
    assert (code, err) == (0, "") and "6.9282" in out and "1.33333" in out and "Euler characteristic" in out
    code, out, _ = run(*words, "--json")
    assert code == 0 and json.loads(out)["genera"] == [0]


def test_decisions_in_a_box(run: Run) -> None:
    weights = {"0.weight": np.eye(3), "0.bias": np.zeros(3), "2.weight": np.eye(3), "2.bias": np.zeros(3)}
    np.savez("largest.npz", **weights)
    words = ["decisions", "largest.npz", "--activation", "relu", "--box", "0,0,0", "1,1,1"]
    code, out, err = run(*words)
    assert (code, err) == (0, "") and "volume" in out and "area" in out
    assert out.count("0.333333") == 3 and out.count("between class") == 3
    code, out, _ = run(*words, "--json")
    assert code == 0 and len(json.loads(out)["between"]) == 3


@pytest.mark.parametrize("command", ["level-set", "decisions"])
def test_a_threshold_is_finite(command: str, run: Run) -> None:
    for word in ("nan", "1e999"):
        code, _, err = run(command, "line.npz", "--activation", "relu", "--segment", "0", "1", "--threshold", word)
        assert code == 2 and "is not a finite number" in err


def test_integrated_gradients(run: Run) -> None:
    found = regions.integrated_gradients(model(), path=regions.Segment([0, 0], [1, 2]), output=2)
    code, out, err = run("integrated-gradients", *MODEL, *SEGMENT, "--output-index", "2")
    largest = found.values[np.abs(found.values).argmax()]
    assert (
        (code, err) == (0, "")
        and f"{largest:.6g}" in without_time(out).splitlines()[-3]
        and f"{found.changes:.6g}" in out
    )
    code, out, _ = run("integrated-gradients", *MODEL, *SEGMENT, "--output-index", "2", "--json")
    assert code == 0 and json.loads(out)["values"] == found.values.tolist()
    assert run("integrated-gradients", *MODEL, "--arc", "1,0", "0,1", "--output-index", "0")[0] == 0


def test_statistics(run: Run) -> None:
    found = regions.statistics(model(), BOX)
    code, out, err = run("statistics", *MODEL, *SQUARE)
    header, *rows = [line.split() for line in out.splitlines() if line.startswith("  ")]
    assert (
        (code, err) == (0, "") and header[1] == "mean" and [row[1] for row in rows] == [f"{x:.6g}" for x in found.mean]
    )
    assert json.loads(run("statistics", *MODEL, *SQUARE, "--json")[1])["variance"] == found.variance.tolist()
    code, out, _ = run("statistics", *MODEL, "--plane", "0,0", "1,0", "0,1")
    assert code == 0 and "mean" not in out and "Lipschitz constant" in out


def test_statistics_in_a_box(run: Run) -> None:
    np.savez("box.npz", **weights([3, 4, 2], seed=1))
    words = ["statistics", "box.npz", "--activation", "relu", "--box", "-1,-1,-1", "1,1,0.5"]
    net = regions.load("box.npz", activation="relu")
    found = regions.statistics(net, regions.Box([-1, -1, -1], [1, 1, 0.5]))
    facts = json.loads(run(*words, "--json")[1])
    assert facts["mean"] == found.mean.tolist() and facts["total_variation"] == found.total_variation.tolist()
    assert run(*words)[0] == 0


def test_image(run: Run) -> None:
    found = regions.image(model(), BOX)
    code, out, err = run("image", *MODEL, *SQUARE)
    assert (code, err) == (0, "") and f"{found.volume:.6g}" in out and f"polygons   {found.kinds['polygons']}" in out
    facts = json.loads(run("image", *MODEL, *SEGMENT, "--json")[1])
    assert facts["volume"] == regions.image(model(), regions.Segment([0, 0], [1, 2])).volume
    code, _, err = run("image", *MODEL, "--plane", "0,0", "1,0", "0,1")
    assert code == 1 and "images exist in bounded domains" in err


def test_iterate(run: Run) -> None:
    np.savez("loop.npz", **weights([2, 6, 2], seed=1))
    words = ["loop.npz", "--activation", "relu", *SQUARE, "--steps", "2"]
    found = regions.iterate(regions.load("loop.npz", activation="relu"), BOX, 2)
    code, out, err = run("iterate", *words)
    assert (code, err) == (0, "") and f"{found.volumes[2]:.6g}" in out and f"{found.maximum[1, 0]:.6g}" in out
    assert json.loads(run("iterate", *words, "--json")[1])["volumes"] == found.volumes.tolist()
    code, _, err = run("iterate", *MODEL, *SQUARE, "--steps", "2")
    assert code == 1 and "regions.closed_loop(network, A, B) makes a loop of a controller" in err


@pytest.mark.parametrize("words", [["decisions", *MODEL], ["statistics", *MODEL], ["compare", "model.npz", *MODEL]])
def test_a_part_has_no_answer(run: Run, words: list[str]) -> None:
    code, out, err = run(*words, *SQUARE, "--limit", "10")
    assert code == 3 and "No answer: there are more than 10 regions." in err and "error at most" not in out


def test_a_curve_that_a_command_does_not_take(run: Run) -> None:
    code, _, err = run("extremes", *MODEL, "--arc", "1,0", "0,1")
    assert code == 2 and "extremes does not take --arc; it takes --segment, --line" in err and "--polyline" in err
