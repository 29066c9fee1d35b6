# SPDX-License-Identifier: MIT
"""Does `regions count --checkpoint` resume, and print the same as without a checkpoint?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import regions
from cli_cases import SQUARE, Run, model
from regions.counting import job as jobs

pytestmark = pytest.mark.usefixtures("in_folder_with_models")
COUNT = ("count", "model.npz", "--activation", "relu", "--json")


def facts(run: Run, *words: str, code: int = 0) -> dict[str, object]:
    ended, out, _ = run(*COUNT, *words)
    assert ended == code
    found: dict[str, object] = json.loads(out)
    del found["seconds"], found["certificate"]
    return found


@pytest.mark.parametrize("definition", ["activation", "affine"])
@pytest.mark.parametrize("where", [SQUARE, ["--segment", "0,0", "1,1"]])
def test_it_goes_on(run: Run, where: list[str], definition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = facts(run, *where, "--definition", definition)
    first = facts(run, *where, "--definition", definition, "--checkpoint", "kept", "--workers", "2")
    monkeypatch.setattr(jobs, "attempt", None)  # no work remains
    assert facts(run, *where, "--definition", definition, "--checkpoint", "kept") == first == expected


def test_arcs(run: Run) -> None:
    where = ("--arc", "1,0", "0,1")
    assert facts(run, *where, "--checkpoint", "kept") == facts(run, *where)


def test_limit(run: Run) -> None:
    number = regions.count(model(), regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    found = facts(run, *SQUARE, "--limit", str(number - 1), "--checkpoint", "kept", code=3)
    assert found["end"] == "limit" and found["regions"] == number
    assert facts(run, *SQUARE, "--limit", str(number), "--checkpoint", "kept")["regions"] == number


@pytest.mark.parametrize("command", [["count"], ["enumerate", "-o", "out.npz"]])
def test_ctrl_c_while_the_work_is_divided(run: Run, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(jobs, "split_cases", interrupted)
    words = [*command, "model.npz", "--activation", "relu", *SQUARE, "--checkpoint", "kept"]
    code, out, err = run(*words)
    assert code == 130 and "Traceback" not in err
    assert err == "Stopped. kept keeps the work that was finished before: the same command resumes from there.\n"


def test_ctrl_c(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    number, attempt = facts(run, *SQUARE)["regions"], jobs.attempt

    def interrupted(task: regions.jobs.Task, *rest: object) -> object:
        if task.index == 20:
            raise KeyboardInterrupt
        return attempt(task, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(jobs, "attempt", interrupted)
    monkeypatch.setattr(jobs, "EVERY", 0.0)  # each piece has its own file
    found = facts(run, *SQUARE, "--checkpoint", "kept", code=130)
    assert found["end"] == "interrupted" and isinstance(found["regions"], int) and isinstance(number, int)
    assert 0 < found["regions"] < number and len(list(Path("kept").iterdir())) == 20
    monkeypatch.undo()


def test_anything_but_a_folder_is_refused(run: Run) -> None:
    assert run(*COUNT, *SQUARE, "--checkpoint", "model.npz")[0] == 2
    there = sorted(Path().iterdir())
    code, _, err = run(*COUNT, *SQUARE, "--checkpoint", "")  # as with an empty shell variable
    assert code == 2 and "'' is not a valid folder name" in err and sorted(Path().iterdir()) == there
    code, _, err = run(*COUNT, *SQUARE, "--checkpoint", "no/such")
    assert code == 1 and err == "Error: checkpoint: the folder no does not exist; make it first\n"
    code, _, err = run(*COUNT, *SQUARE, "--checkpoint", "-")
    assert code == 2 and "a folder with that name is ./-" in err and sorted(Path().iterdir()) == there
    assert run(*COUNT, *SQUARE, "--checkpoint", "./-")[0] == 0 and list(Path("-").iterdir())
