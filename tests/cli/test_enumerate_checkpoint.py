# SPDX-License-Identifier: MIT
"""Does `regions enumerate --checkpoint` resume after any end, and write the same as without a checkpoint?"""

from __future__ import annotations

import json
import pkgutil
import random
import signal
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from cli_cases import SQUARE, Run, model, weights
from killed_jobs import ended_after, files_of
from regions.counting import job as jobs
from regions.counting.checkpoints import Folder

pytestmark = pytest.mark.usefixtures("in_folder_with_models")
ENUMERATE = ("enumerate", "model.npz", "--activation", "relu")
KEPT = ("--checkpoint", "kept")


@pytest.fixture(autouse=True)
def a_file_for_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "EVERY", 0.0)
    monkeypatch.setattr(jobs, "TASKS", 40)


def written(run: Run, *words: str, output: str = "out.csv") -> bytes:
    """Return the file that a successful command writes."""
    code, out, err = run(*ENUMERATE, *words, "-o", output)
    assert (code, err) == (0, "") and f"wrote {output}" in out
    return Path(output).read_bytes()


def without_counters(path: str) -> dict[str, Any]:
    """Return the contents of a saved partition; the path to each piece and its signs are computed again."""
    with np.load(path) as archive:
        arrays = {name: archive[name].tobytes() for name in archive.files}
    header = json.loads(arrays["header"])
    assert header.pop("stats")["cells"] > 0
    return {**arrays, "header": header}


@pytest.mark.parametrize("where", [SQUARE, ["--plane", "0,0", "1,0", "0,1"], ["--segment", "0,0", "1,1"]])
@pytest.mark.parametrize("output", ["out.csv", "out.geojson", "out.npz"])
def test_it_goes_on(run: Run, where: list[str], output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if where[0] == "--plane" and output.endswith(".geojson"):
        return  # it has no end
    expected = written(run, *where, output=output)
    whole = without_counters(output) if output == "out.npz" else None
    first = written(run, *where, *KEPT, "--workers", "2", output=output)
    if whole is None:
        assert first == expected
    else:
        assert without_counters(output) == whole
    files_of(Path("kept"))[-1].unlink()
    assert written(run, *where, *KEPT, output=output) == first
    monkeypatch.setattr(jobs, "attempt", None)  # nothing is left to be done
    assert written(run, *where, *KEPT, output=output) == first


def test_what_is_printed(run: Run) -> None:
    whole = json.loads(run(*ENUMERATE, *SQUARE, "--json", "-o", "out.csv")[1])
    found = json.loads(run(*ENUMERATE, *SQUARE, "--json", *KEPT, "-o", "out.csv")[1])
    for facts in (whole, found):
        del facts["seconds"], facts["certificate"]["statement"], facts["certificate"]["filter"]
    assert found == whole


def test_limit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    number = len(regions.enumerate(model(), regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])))
    words = [*SQUARE, *KEPT, "--limit", str(number - 1), "--json", "-o", "part.npz"]
    code, out, err = run(*ENUMERATE, *words)
    facts, part = json.loads(out), regions.load_partition("part.npz")
    assert (code, facts["end"], err, part.complete) == (3, "limit", "", False)
    assert number - 20 < len(part) == facts["regions"] <= number
    assert written(run, *SQUARE, *KEPT, "--limit", str(number)) == written(run, *SQUARE)
    Path("part.npz").unlink()
    monkeypatch.setattr(jobs, "attempt", None)  # the saved result has it, too
    assert run(*ENUMERATE, *words)[0] == 3
    assert not regions.load_partition("part.npz").complete


@pytest.mark.parametrize("where", [SQUARE, ["--segment", "-1,-1", "1,1"]])
@pytest.mark.parametrize("limit", [0, 3])
def test_a_small_limit(run: Run, where: list[str], limit: int) -> None:
    for _ in range(2):
        code, out, _ = run(*ENUMERATE, *where, *KEPT, "--limit", str(limit), "--json", "-o", "part.npz")
        facts = json.loads(out)
        assert (code, facts["end"], Path("part.npz").exists()) == (3, "limit", facts["regions"] > 0)


class TestCtrlC:
    """At each moment: finished work is saved, no file is written, and the message says how to resume."""

    def require_stopped(self, run: Run, kept: int | None = None, workers: str = "1") -> int:
        """Check that the command was stopped; return the number of regions found."""
        code, out, err = run(*ENUMERATE, *SQUARE, *KEPT, "--workers", workers, "--json", "-o", "out.csv")
        facts, there = json.loads(out), len(files_of(Path("kept")))
        assert (code, facts["end"]) == (130, "interrupted") and "area" not in facts
        assert f"Stopped. kept keeps {there} of " in err or err.startswith("Stopped. kept keeps all pieces of the work")
        assert err.endswith(" pieces of the work: the same command resumes from there.\n") and err.count("\n") == 1
        assert not list(Path().glob("*out*")) and kept in (None, there)
        return int(facts["regions"])

    def test_in_a_piece(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        attempt = jobs.attempt

        def interrupted(task: regions.jobs.Task, *rest: Any) -> Any:
            if task.index == 5:
                raise KeyboardInterrupt
            return attempt(task, *rest)

        monkeypatch.setattr(jobs, "attempt", interrupted)
        assert self.require_stopped(run, 5) > 0
        monkeypatch.setattr(jobs, "attempt", attempt)
        assert written(run, *SQUARE, *KEPT) == written(run, *SQUARE)

    def test_while_a_piece_is_written(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        keep = Folder.save

        def ctrl_c_and_keep(folder: Folder, results: Any) -> None:
            if results[0].index == 5:
                signal.raise_signal(signal.SIGINT)
            keep(folder, results)

        monkeypatch.setattr(Folder, "save", ctrl_c_and_keep)
        assert self.require_stopped(run, 6) > 0

    def test_while_the_last_piece_is_written(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        """Ctrl-C comes from another thread, when the work is finished and no more reports come."""
        written(run, *SQUARE, *KEPT)
        Path("out.csv").unlink()
        total, keep, calls = len(files_of(Path("kept"))), Folder.save, []
        for path in files_of(Path("kept"))[:2]:
            path.unlink()

        def ctrl_c_and_keep(folder: Folder, results: Any) -> None:
            calls.extend(results)
            if len(calls) == 2:
                signal.raise_signal(signal.SIGINT)
            keep(folder, results)

        monkeypatch.setattr(Folder, "save", ctrl_c_and_keep)
        assert self.require_stopped(run, total, "2") == len(regions.enumerate(*problem()))

    def test_while_pieces_are_read(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = written(run, *SQUARE, *KEPT)
        Path("out.csv").unlink()
        kept, before = Folder.saved, signal.getsignal(signal.SIGINT)

        def ctrl_c_and_read(folder: Folder, task: regions.jobs.Task) -> Any:
            if task.index == 3:
                signal.raise_signal(signal.SIGINT)
            return kept(folder, task)

        monkeypatch.setattr(Folder, "saved", ctrl_c_and_read)
        monkeypatch.setattr(jobs, "PATIENCE", 0.0)
        self.require_stopped(run)
        monkeypatch.setattr(Folder, "saved", kept)
        assert written(run, *SQUARE, *KEPT) == whole and signal.getsignal(signal.SIGINT) is before

    @pytest.mark.parametrize("moment", ["regions.counting.job.joined", "regions.cli.job.StreamSummary.add"])
    def test_after_the_last_piece(self, run: Run, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
        work = pkgutil.resolve_name(moment)

        def ctrl_c(*rest: Any, **options: Any) -> Any:
            signal.raise_signal(signal.SIGINT)
            return work(*rest, **options)

        monkeypatch.setattr(jobs, "PATIENCE", 0.0)
        monkeypatch.setattr(moment, ctrl_c)
        assert self.require_stopped(run) == len(regions.enumerate(*problem()))

    def test_while_the_file_is_written(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first one waits until the file is complete."""
        times = 1

        def ctrl_c(*words: Any) -> None:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
            regions.export.export(*words)

        whole = written(run, *SQUARE)
        monkeypatch.setattr("regions.cli.commands.export", ctrl_c)
        code, out, err = run(*ENUMERATE, *SQUARE, *KEPT, "-o", "out.csv")
        assert code == 130 and out.endswith("wrote out.csv\n") and err.startswith("Stopping once out.csv is written. ")
        assert Path("out.csv").read_bytes() == whole
        times = 2
        code, out, err = run(*ENUMERATE, *SQUARE, *KEPT, "-o", "out.csv")
        assert code == 130 and "wrote" not in out and "the same command resumes from there" in err

    @pytest.mark.parametrize("moment", ["regions.cli.commands.load_model", "regions.counting.job.split_cases"])
    def test_before_the_folder_is_read(self, run: Run, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def ctrl_c(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(moment, ctrl_c)
        code, _, err = run(*ENUMERATE, *SQUARE, *KEPT, "-o", "out.csv")
        assert code == 130
        assert err == "Stopped. kept keeps the work that was finished before: the same command resumes from there.\n"

    def test_of_counts(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def ctrl_c(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(jobs, "attempt", ctrl_c)
        code, _, err = run("count", *ENUMERATE[1:], "--segment", "0,0", "1,1", *KEPT)
        assert (code, err) == (
            130,
            "Stopped. kept keeps 0 of 1 piece of the work: the same command resumes from there.\n",
        )


def problem() -> tuple[regions.Network, regions.Domain]:
    """Return the network and domain of the command."""
    return model(), regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])


def test_other_jobs_share_the_folder(run: Run) -> None:
    others = (["--segment", "0,0", "1,1"], ["--square", "points.csv"])
    expected = written(run, *SQUARE)
    assert run("count", *ENUMERATE[1:], *SQUARE, *KEPT)[0] == 0
    for where in others:
        assert written(run, *where, *KEPT) == written(run, *where)
    np.savez("model.npz", **weights([2, 12, 10, 3], seed=8))
    assert written(run, *SQUARE, *KEPT) == written(run, *SQUARE) != expected


def test_damaged_files(run: Run) -> None:
    whole = written(run, *SQUARE, *KEPT)
    files = files_of(Path("kept"))
    contents, there = [path.read_bytes() for path in files], set(files)
    files[0].write_bytes(b"")
    files[1].write_bytes(contents[1][:-1])
    files[2].write_bytes(bytes([*contents[2][:500], contents[2][500] ^ 1, *contents[2][501:]]))
    files[3].write_bytes(contents[4])
    files[5].write_text("not a result")
    assert written(run, *SQUARE, *KEPT) == whole
    # New files hold the missing pieces.
    new = {path.read_bytes() for path in set(Path("kept").iterdir()) - there}
    assert new == {contents[place] for place in (0, 1, 2, 3, 5)}


def test_files_that_contradict_each_other(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    written(run, *SQUARE, *KEPT)
    Path("out.csv").unlink()

    def contradicted(*_: Any) -> None:
        raise ValueError("two of them overlap")

    monkeypatch.setattr("regions.counting.blocks.join_facets", contradicted)
    code, _, err = run(*ENUMERATE, *SQUARE, *KEPT, "-o", "out.csv")
    assert code == 1 and not Path("out.csv").exists()
    assert err == (
        "Error: checkpoint: the results in 'kept' cannot be joined: blocks do not fit together: two of "
        "them overlap.\n  Choose another folder.\n"
    )


@pytest.mark.parametrize("command", ["count", "enumerate"])
def test_a_link_in_the_folder(run: Run, command: str) -> None:
    words = [command, *ENUMERATE[1:], *SQUARE, *KEPT, *(["-o", "out.csv"] if command == "enumerate" else [])]
    code, first, _ = run(*words)
    path = files_of(Path("kept"))[1]
    path.unlink()
    path.symlink_to("/dev/null")
    again, second, err = run(*words)
    assert (code, again, err) == (0, 0, "") and first.splitlines()[:2] == second.splitlines()[:2]
    assert path.is_symlink()


@pytest.mark.parametrize("command", ["count", "enumerate"])
def test_a_folder_that_cannot_be_written_to(run: Run, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [command, *ENUMERATE[1:], *SQUARE, *KEPT, *(["-o", "out.csv"] if command == "enumerate" else [])]

    def refused(*_: Any, **__: Any) -> None:  # root may write to any folder
        raise PermissionError(13, "Permission denied", "a name that nobody knows")

    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryFile", refused)
        patch.setattr(jobs, "attempt", None)  # the error comes before the work
        code, _, err = run(*words)
        assert (code, err) == (1, "Error: kept: Permission denied\n") and not Path("out.csv").exists()
    assert run(*words)[0] == 0
    monkeypatch.setattr(tempfile, "TemporaryFile", refused)  # if nothing is missing, nothing is written
    assert run(*words)[0] == 0


def test_anything_but_a_folder_is_refused(run: Run) -> None:
    words = [*ENUMERATE, *SQUARE, "-o", "out.csv", "--checkpoint"]
    assert run(*words, "model.npz")[0] == 2
    code, _, err = run(*words, "no/such")
    assert code == 1 and err == "Error: checkpoint: the folder no does not exist; make it first\n"


@pytest.mark.parametrize(
    "where", [["--arc", "1,0", "0,1"], ["--segment", "0,0", "1,1", *SQUARE], ["--segment", "points.csv"]]
)
def test_anything_but_one_domain(run: Run, where: list[str]) -> None:
    code, _, _ = run(*ENUMERATE, *where, *KEPT, "-o", "out.csv")
    assert code == 2 and not Path("kept").exists()


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_tables_that_are_written_as_regions_are_found(run: Run, suffix: str) -> None:
    code, out, err = run("enumerate", "none.pt", *SQUARE, *KEPT, "-o", f"out{suffix}")  # before anything is read
    assert (code, out) == (2, "") and not Path("kept").exists()
    assert f"--checkpoint cannot be combined with {suffix}" in err
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    assert f"regions.export.export(regions.load_partition('FILE.npz'), 'FILE{suffix}')" in " ".join(err.split())
    written(run, *SQUARE, *KEPT, output="FILE.npz")
    regions.export.export(regions.load_partition("FILE.npz"), f"FILE{suffix}")
    written(run, *SQUARE, output=f"out{suffix}")
    read = parquet.read_table if suffix == ".parquet" else lambda name: pyarrow.ipc.open_file(name).read_all()
    assert read(f"FILE{suffix}").equals(read(f"out{suffix}"))


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_killed_at_random_moments_until_it_is_done(run: Run, workers: str) -> None:
    np.savez("model.npz", **weights([2, 64, 64, 1], seed=3))
    expected = written(run, *SQUARE, output="whole.csv")
    program = "from regions.cli import main\nmain()"
    words = [*ENUMERATE, *SQUARE, *KEPT, "--workers", workers, "-o", "out.csv"]
    rng, kept, ends = random.Random(int(workers)), 0, []
    while 0 not in ends:
        how = [signal.SIGKILL, signal.SIGINT][len(ends) % 2]  # before each task is finished
        code, err = ended_after(rng.randrange(1, 16), how, rng.random() < 0.5, Path(), program, *words)
        ends.append(code)
        now = len(list(Path("kept").glob("*.results")))
        assert now >= kept
        kept = now
        assert code in (-signal.SIGKILL, 130, 0) and ("Stopped." in err) == (code == 130)
        # A signal may come after everything is written, but never leaves a half-written file.
        assert not Path("out.csv").exists() or Path("out.csv").read_bytes() == expected
    assert Path("out.csv").read_bytes() == expected and {-signal.SIGKILL, 130} < set(ends)
    # The half-written file of a killed process is gone.
    assert {path.suffix for path in Path("kept").iterdir()} == {".results"}
