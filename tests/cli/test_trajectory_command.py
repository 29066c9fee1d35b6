# SPDX-License-Identifier: MIT
"""Are curves on the command line parsed correctly, and do the results agree with the package?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import click
import pytest

import regions
from cli_cases import Run, model, without_time
from regions import Arc, Circle, Curve, GreatCircle, Polyline, Segment, ensembles, trajectory
from regions.cli.ensemble_words import EnsembleWord

pytestmark = pytest.mark.usefixtures("in_folder_with_models")

MODEL = ["model.npz", "--activation", "relu"]
A, B, C = [1.0, 0.25], [-0.5, 1.0], [-1.0, -2.0]
WORDS = ["1,.25", "-.5,1", "-1,-2"]
CURVES: list[tuple[list[str], Callable[[], Curve]]] = [
    (["--polyline", *WORDS], lambda: Polyline([A, B, C])),
    (["--arc", *WORDS[:2]], lambda: Arc(A, B)),
    (["--circle", *WORDS], lambda: Circle(A, B, C)),
    (["--great-circle", "3,4", "0,5"], lambda: GreatCircle([3, 4], [0, 5])),
]


@pytest.mark.parametrize(("words", "curve"), CURVES, ids=lambda value: value[0] if isinstance(value, list) else "")
def test_curves(run: Run, words: list[str], curve: Callable[[], Curve]) -> None:
    code, out, err = run("count", *MODEL, *words, "--json")
    facts = json.loads(out)
    assert (code, err, facts["domain"]["fingerprint"]) == (0, "", curve().fingerprint)
    assert facts["regions"] == regions.count(model(), curve()) > 1
    code, out, err = run("trajectory", *MODEL, *words, "--json")
    facts, expected = json.loads(out), trajectory(model(), curve()).as_dict()
    assert (code, err, facts["domain"]["fingerprint"]) == (0, "", curve().fingerprint)
    assert {name: facts[name] for name in expected if name != "network"} == {
        name: value for name, value in expected.items() if name != "network"
    }


def test_the_table(run: Run) -> None:
    code, out, err = run("trajectory", *MODEL, "--segment", *WORDS[:2])
    assert (code, err) == (0, "") and without_time(out).endswith(f"\n\n{trajectory(model(), Segment(A, B))}\n")


def test_pieces_of_a_curve_are_called_so(run: Run) -> None:
    code, out, _ = run("count", *MODEL, "--arc", *WORDS[:2])
    assert code == 0 and "\npieces   " in out and " pieces/s" in out and "regions" not in out


def test_the_picture(run: Run) -> None:
    code, out, err = run("trajectory", *MODEL, "--arc", *WORDS[:2], "-o", "path.svg")
    assert (code, err) == (0, "") and out.endswith("wrote path.svg\n")
    assert Path("path.svg").read_text().startswith("<?xml")


def test_the_page(run: Run) -> None:
    code, out, err = run("trajectory", *MODEL, "--arc", *WORDS[:2], "-o", "path.html")
    assert (code, err) == (0, "") and out.endswith("wrote path.html\n")
    path = trajectory(model(), Arc(A, B))
    path.to_html("same.html")
    assert Path("path.html").read_bytes() == Path("same.html").read_bytes()


def test_the_table_stays_without_a_picture(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def plot(path: object) -> None:
        raise regions.errors.BeyondDoublesError("nothing to be drawn")

    monkeypatch.setattr(regions.Trajectory, "plot", plot)
    code, out, err = run("trajectory", *MODEL, "--segment", *WORDS[:2], "-o", "path.png")
    assert (
        code == 1
        and "nothing to be drawn" in err
        and without_time(out).endswith(f"\n\n{trajectory(model(), Segment(A, B))}\n")
    )


@pytest.mark.parametrize("command", ["count", "trajectory"])
@pytest.mark.parametrize("as_json", [False, True])
def test_the_limit(run: Run, command: str, as_json: bool) -> None:
    code, out, err = run(command, *MODEL, "--polyline", *WORDS, "--limit", "1", *["--json"] * as_json)
    assert code == 3 and (err == "" if command == "count" else err.startswith("Not measured: "))
    if as_json:
        facts = json.loads(out)
        assert facts["end"] == "limit" and facts["regions" if command == "count" else "pieces"] > 1
    else:
        assert "found before the limit stopped it" in out


@pytest.mark.parametrize("partial", [7, None])
def test_ctrl_c(run: Run, monkeypatch: pytest.MonkeyPatch, partial: int | None) -> None:
    def stop(*_: object, **__: object) -> None:
        stopped = KeyboardInterrupt()
        stopped.partial = partial  # type: ignore[attr-defined]
        raise stopped

    monkeypatch.setattr("regions.cli.trajectory_command.trajectory", stop)
    code, out, err = run("trajectory", *MODEL, "--arc", *WORDS[:2], "-o", "path.png")
    assert (code, err) == (130, "Not measured: only a part of the curve had been followed.\n")
    assert ("pieces   7 found until it was stopped" in out) == (partial == 7) and not Path("path.png").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["trajectory", "--line", *WORDS[:2]], 2, "does not take --line; it takes"),
        (["trajectory"], 2, "give one domain: --segment, --polyline, --arc, --circle, --great-circle\n"),
        (["trajectory", "--arc", *WORDS], 2, "--arc takes 2 points (A B), got 3"),
        (["count", "--polyline", WORDS[0]], 2, "--polyline takes 2 or more points"),
        (["count", "--arc", *WORDS[:2], "--definition", "open"], 1, "on a curve, pieces are counted"),
        (["count", "--great-circle", "3,4", "0,6"], 1, "have equal norms"),
        (["plot", "--arc", *WORDS[:2], "-o", "a.png"], 2, "does not take --arc; it takes"),
    ],
)
def test_what_is_wrong(run: Run, words: list[str], code: int, message: str) -> None:
    command, *others = words
    found, _, err = run(command, *MODEL, *others)
    # click 8.1 writes `option: --line`, newer versions `option '--line'`.
    assert found == code and message in re.sub(r"option '(\S+)'", r"option: \1", err)


HE = ["trajectory", "--ensemble", "he([2, 8, 8, 1])", "--circle", "0,0", "1,0", "0,1"]


def test_ensembles(run: Run) -> None:
    code, out, err = run(*HE, "--networks", "5", "--seed", "3", "-o", "growth.svg")
    expected = regions.growth(ensembles.he([2, 8, 8, 1]), Circle([0, 0], [1, 0], [0, 1]), networks=5, rng=3)
    assert (code, err) == (0, "") and without_time(out).endswith(f"\n\n{expected}\nwrote growth.svg\n")
    assert Path("growth.svg").read_text().startswith("<?xml")
    code, out, err = run(*HE, "--networks", "5", "--seed", "3", "--json")
    facts = json.loads(out)
    assert (code, err, facts["end"], facts["lengths"]) == (0, "", "complete", expected.lengths.tolist())


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("torch_default([2, 3, 1], ['abs'])", ensembles.torch_default([2, 3, 1], ["abs"])),
        ("glorot(sizes=(2, 3, 1), law='gaussian')", ensembles.glorot([2, 3, 1], law="gaussian")),
        (
            "Ensemble([2, 3, 1], weights=Discrete(range(-2, 3)), biases=[None, Uniform(0.5)], alpha=0.5)",
            ensembles.Ensemble(
                [2, 3, 1],
                weights=ensembles.Discrete(range(-2, 3)),
                biases=[None, ensembles.Uniform(0.5)],
                alpha=0.5,
            ),
        ),
        ("raghu2017(2, 2**3, 2, sigma_w=8**0.5)", ensembles.raghu2017(2, 8, 2, sigma_w=8**0.5)),
        ("he([2, 3, -(-1)])", ensembles.he([2, 3, 1])),
    ],
)
def test_words_for_ensembles(word: str, expected: object) -> None:
    assert EnsembleWord().convert(word, None, None) == expected


@pytest.mark.parametrize(
    "word",
    [
        *("", "he([2, 3", "he(2)", "Gaussian(1)", "-3", "he.__class__", "he([2, 3, 1], 'tanh')", "he(**{})", "he"),
        *("__import__('os').getcwd()", "he([2] * 10**9)", "range(10**12)", "Discrete(range(100_000_000))", "-'a'"),
        *("he([2, 3, 1], True)", "(lambda: 0)()", "he(" * 200, "[" * 3000, "x" * 5000, "he([2, 3, 1]).draw(rng=0)"),
        *("he([2, 10**99, 1])", "he([2, 9**9**9, 1])", "he([2, 0**-1])", "he([(-8)**0.5, 1])", "he([2, 'a'**2])"),
    ],
)
def test_words_for_no_ensembles(word: str) -> None:
    with pytest.raises(click.BadParameter):
        EnsembleWord().convert(word, None, None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*HE, "model.npz"], "give MODEL or --ensemble"),
        ([*HE, "--activation", "relu"], "give --activation or --ensemble"),
        ([*HE, "--limit", "9"], "--limit is for a MODEL"),
        ([*HE, "--networks", "1"], "1 is not in the range"),
        (["trajectory", "--arc", *WORDS[:2]], "give a MODEL or --ensemble"),
        (
            ["trajectory", *MODEL, "--arc", *WORDS[:2], "--networks", "100"],
            "--networks is for --ensemble, not for a MODEL",
        ),
        (["trajectory", *MODEL, "--arc", *WORDS[:2], "--seed", "0"], "--seed is for --ensemble, not for a MODEL"),
    ],
)
def test_a_model_or_an_ensemble(run: Run, words: list[str], message: str) -> None:
    code, _, err = run(*words)
    assert code == 2 and message in err


@pytest.mark.parametrize("finished", [0, 2])
def test_ctrl_c_with_an_ensemble(run: Run, monkeypatch: pytest.MonkeyPatch, finished: int) -> None:
    drawn = []

    def draw(ensemble: ensembles.Ensemble, rng: object) -> regions.Network:
        drawn.append(ensemble)
        if len(drawn) > finished:
            raise KeyboardInterrupt
        return net

    net = ensembles.he([2, 8, 8, 1]).draw(rng=0)
    monkeypatch.setattr(ensembles.Ensemble, "draw", draw)
    code, out, err = run(*HE)
    assert code == 130 and ("2 networks, 1 curve" in out) == (finished == 2) and ("Stopped." in err) == (finished == 0)
