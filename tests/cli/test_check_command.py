# SPDX-License-Identifier: MIT
"""Does `regions check` print the result, with the right exit code?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import regions
from cli_cases import SQUARE, Run, model, weights
from regions import bounds
from regions.measures import StreamSummary

pytestmark = pytest.mark.usefixtures("in_folder_with_models")

MODEL = ["model.npz", "--activation", "relu", *SQUARE]


def test_the_table(run: Run) -> None:
    code, out, err = run("check", *MODEL)
    assert (code, err) == (0, "")
    count = regions.count(model(), regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    assert f"\n\n{count} regions: " in out and "serra2018_upper" in out and "euler" in out


def test_json(run: Run) -> None:
    code, out, err = run("check", *MODEL, "--json")
    facts = json.loads(out)
    assert (code, err, facts["ok"], facts["violations"]) == (0, "", True, [])
    assert facts["end"] == "complete" and facts["layers"][0]["counts"][0]["definition"] == "pattern"


def test_without_distances(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regions.checking.orders.distance_to_boundary", lambda *_: pytest.fail("asked for"))
    code, out, err = run("check", *MODEL, "--json", "--no-distances")
    distance = json.loads(out)["orders"][-1]
    assert (code, err, distance["value"], distance["note"]) == (0, "", None, "left out, as asked")


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_in_the_midst_of_a_check(run: Run, monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("regions.checking.check_all.order_items", stop)
    code, out, err = run("check", *MODEL, "-o", "report.html", *["--json"] * as_json)
    count = regions.count(model(), regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    assert (code, err) == (130, "Not checked: the regions had been found, but not more. No report is written.\n")
    if as_json:
        facts = json.loads(out)
        assert (facts["ok"], facts["end"], facts["regions"]) == (None, "interrupted", count)
    else:
        assert f"regions           {count}" in out
    assert not Path("report.html").exists()
    with pytest.raises(KeyboardInterrupt) as stopped:
        regions.check(model(), regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    assert len(stopped.value.partial) == count


def test_boxes_and_spaces(run: Run) -> None:
    np.savez("three.npz", **weights([3, 3, 1], seed=1))
    words = ["check", "three.npz", "--activation", "relu", "--json", "--no-distances"]
    code, out, err = run(*words, "--box", "-1,-1,-1", "1,1,1")
    facts = json.loads(out)
    assert (code, err, facts["ok"], facts["layers"][0]["regions"]) == (0, "", True, facts["counts"][1]["regions"])
    assert {item["name"]: item["status"] for item in facts["invariants"]}["euler"] == "holds"
    for space in (["3"], ["0,0,0", "1,0,0", "0,1,0", "0,0,1"]):
        code, out, err = run(*words, "--space", *space)
        facts = json.loads(out)
        assert (code, err, facts["ok"]) == (0, "", True) and facts["domain"] == "Space(in R^3, unbounded)"
        zaslavsky = next(item for item in facts["bounds"] if item["name"] == "zaslavsky")
        assert zaslavsky["found"] == zaslavsky["value"] == 8
    code, out, err = run(*words, "--space", "3", "--limit", "4")
    assert code == 3 and json.loads(out)["ok"] is None and "some of the regions" in err
    code, _, err = run(*words, "--space", "1.5")
    assert code == 1 and "one word is the number of inputs, 1 to 10" in err
    code, out, _ = run("count", *words[1:4], "--json", "--space", "3")
    assert code == 0 and json.loads(out)["regions"] == 8


def test_the_whole_line_and_plane_are_spaces(run: Run) -> None:
    code, out, err = run("check", "model.npz", "--activation", "relu", "--space", "2", "--json", "--no-distances")
    assert (code, err) == (0, "") and json.loads(out)["domain"] == "Plane(in R^2, unbounded)"


def test_ctrl_c_after_a_count(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    np.savez("three.npz", **weights([3, 3, 1], seed=1))
    monkeypatch.setattr("regions.checking.check_all.bound_items", stop)
    code, out, err = run("check", "three.npz", "--activation", "relu", "--space", "3", "--json")
    assert (code, json.loads(out)["regions"]) == (130, 8) and "had been counted, but not more" in err


@pytest.mark.slow
def test_a_page(run: Run) -> None:
    code, out, _ = run("check", *MODEL, "-o", "report.html")
    assert code == 0 and out.endswith("wrote report.html\n")
    assert Path("report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    code, out, _ = run("check", *MODEL, "-o", "report.html", "--json")
    assert code == 0 and json.loads(out)["ok"]
    assert run("check", *MODEL, "-o", "report.txt")[0] == 2
    assert run("check", *MODEL, "-o", "missing/report.html")[0] == 2


@pytest.mark.parametrize("words", [(), ("--json",), ("-o", "report.html")])
def test_a_violation(run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    raghu = next(row for row in bounds.BOUNDS if row.name == "raghu")
    broken = replace(raghu, function=lambda n_in, widths, breakpoints: 3)
    monkeypatch.setattr("regions.theory.bounds.BOUNDS", (*bounds.BOUNDS, broken))
    code, out, _ = run("check", *MODEL, *words)
    assert code == 1
    assert f"violated: {broken.name}" in out and "has a bug, or the claim is broken" in out


def test_what_was_found_in_part_is_printed_and_not_checked(run: Run) -> None:
    words = (*MODEL, "--limit", "3", "-o", "report.html")
    code, out, err = run("check", *words)
    assert code == 3 and "regions           31 found before the limit stopped it" in out and "bounds" not in out
    assert err == "Not checked: only some of the regions had been found. No report is written.\n"
    code, out, err = run("check", *words, "--json")
    facts = json.loads(out)
    assert (code, facts["end"], facts["regions"], facts["ok"]) == (3, "limit", 31, None) and "Not checked" in err
    assert not Path("report.html").exists()


@pytest.mark.slow
@pytest.mark.parametrize("words", [["info"], ["count", *SQUARE], ["check", *SQUARE]])
def test_a_closed_standard_output_is_not_a_violation(words: list[str]) -> None:
    command, *domain = words
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "regions", command, "model.npz", "--activation", "relu", *domain],
        stdout=writer,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(regions.__file__).parent.parent)},
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_a_wrong_command_line(run: Run) -> None:
    assert run("check", "model.npz", "--activation", "relu")[0] == 2
    code, out, err = run("check", "missing.npz", "--activation", "relu", *SQUARE)
    assert (code, out) == (1, "") and "missing.npz" in err


@pytest.mark.parametrize("moment", ["sums", "check"])
def test_a_signal_after_the_regions_are_found(moment: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    add = StreamSummary.add

    def ctrl_c_and_add(summary: StreamSummary, block: regions.Partition) -> None:
        signal.raise_signal(signal.SIGINT)
        add(summary, block)

    def stopped(*args: object, **how: object) -> None:
        raise AssertionError if moment == "sums" else KeyboardInterrupt

    if moment == "sums":
        monkeypatch.setattr(StreamSummary, "add", ctrl_c_and_add)
    monkeypatch.setattr("regions.cli.check_command.check", stopped)
    code, out, err = run("check", *MODEL)
    assert code == 130 and "found until it was stopped" in out and "Not checked: the regions had been found" in err


def test_a_timeout_during_the_check(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*args: object, **how: object) -> None:
        raise regions.TimeoutReached("late", timeout=1.0)

    monkeypatch.setattr("regions.cli.check_command.check", late)
    code, out, err = run("check", *MODEL)
    assert code == 3 and "found before the timeout stopped it" in out and "Not checked" in err
