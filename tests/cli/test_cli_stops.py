# SPDX-License-Identifier: MIT
"""Are results saved when a signal or a lack of memory ends a command, and is the end reported in one line?"""

from __future__ import annotations

import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import regions
from cli_cases import SQUARE, Run
from killed_jobs import SITE
from regions.cli import job, stops
from regions.counting import count_and_enumerate
from regions.counting import job as jobs
from regions.counting.found import End

pytestmark = pytest.mark.usefixtures("in_folder_with_models")
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
MODEL = ("model.npz", "--activation", "relu", *SQUARE)


@pytest.fixture(autouse=True)
def no_signal_is_ignored() -> Iterator[None]:
    """The tests may run under `nohup`, whose programs ignore SIGHUP."""
    handlers = [signal.default_int_handler, signal.SIG_DFL, signal.SIG_DFL]
    before = [signal.signal(number, handler) for number, handler in zip(SIGNALS, handlers, strict=True)]
    yield
    for number, handler in zip(SIGNALS, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_what_was_found_is_written(run: Run, number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    enumerated, before = count_and_enumerate.enumerated, [signal.getsignal(each) for each in SIGNALS]

    def stopped(model: Any, domain: Any, options: Any) -> Any:
        found, report = enumerated(model, domain, options), options.report
        signal.raise_signal(number)
        with pytest.raises(KeyboardInterrupt) as stop:  # at the core's first progress report
            report(0.5, 7)
        return replace(found, end=End(error=stop.value))

    monkeypatch.setattr(count_and_enumerate, "enumerated", stopped)
    code, out, err = run("enumerate", *MODEL, "-o", "out.npz")
    assert (code, err) == (128 + number, "") and "found until it was stopped" in out
    assert len(regions.load_partition("out.npz"))
    assert [signal.getsignal(each) for each in SIGNALS] == before


# Each command that writes a file, and the function that writes it.
WRITERS = {
    "out.npz": ("enumerate", "regions.cli.commands:export"),
    "out.csv": ("enumerate", "regions.cli.commands:export"),
    "out.png": ("plot", "regions.cli.commands:draw_picture"),
    "out.html": ("check", "regions.checking:CheckReport.to_html"),
}


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    "output", ["out.npz", "out.csv", *(pytest.param(slow, marks=pytest.mark.slow) for slow in ("out.png", "out.html"))]
)
def test_a_file_is_written_to_its_end(
    run: Run, output: str, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal during the writing takes effect afterwards."""
    command, name = WRITERS[output]
    write = pkgutil.resolve_name(name)
    raised: list[int] = []

    def signalled(*words: Any, **options: Any) -> Any:
        signal.raise_signal(number)
        raised.append(number)
        return write(*words, **options)

    monkeypatch.setattr(name.replace(":", "."), signalled)
    code, out, err = run(command, *MODEL, "-o", output)
    assert (code, raised) == (128 + number, [number]) and out.endswith(f"wrote {output}\n")
    assert err == f"Stopping once {output} is written. Press Ctrl-C again to stop without it.\n"
    assert Path(output).stat().st_size and "until it was stopped" not in out
    if output == "out.npz":
        assert regions.load_partition(output).complete


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("command", [["count"], ["enumerate", "-o", "out.csv"]])
def test_finished_pieces_are_kept(
    run: Run, command: list[str], number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = jobs.attempt

    def stopped(task: regions.jobs.Task, *rest: Any) -> Any:
        result = attempt(task, *rest)
        if task.index == 5:
            signal.raise_signal(number)
        return result

    monkeypatch.setattr(jobs, "attempt", stopped)
    code, _, err = run(*command[:1], *MODEL, *command[1:], "--checkpoint", "kept")
    assert code == 128 + number
    assert err.startswith(f"Stopped. kept keeps {5 + (command[0] == 'enumerate')} of ") and err.count("\n") == 1


def test_before_anything_is_found(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regions.cli.commands.load_models", lambda: signal.raise_signal(signal.SIGTERM))
    assert run("info", "model.npz") == (143, "", "Stopped.\n")
    monkeypatch.setattr("regions.cli.commands.load_models", lambda: signal.raise_signal(signal.SIGINT))
    assert run("info", "model.npz") == (130, "", "Stopped.\n")


def test_what_is_ignored_stays_ignored() -> None:
    """As under `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stops.at_once():
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


CTRL_C_DURING_IMPORT = """
import os, signal, sys
class CtrlC:
    def find_spec(self, name, *_):
        if name == os.environ["MOMENT"]:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, CtrlC())
"""
START = {"regions": ["-c", "from _regions_command import main; main()"], "python -m regions": ["-m", "regions"]}


@pytest.mark.parametrize("command", START)
@pytest.mark.parametrize("moment", ["numpy", pytest.param("regions.cli.commands", marks=pytest.mark.slow)])
def test_ctrl_c_during_import(moment: str, command: str, tmp_path: Path) -> None:
    """Python imports `sitecustomize` before anything else."""
    (tmp_path / "sitecustomize.py").write_text(CTRL_C_DURING_IMPORT)
    done = subprocess.run(
        [sys.executable, *START[command]],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(SITE)]), "MOMENT": moment},
        timeout=300,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Stopped.\n")


class TestWithoutMemory:
    """The error is one line."""

    def require_said(self, ended: tuple[int, str, str]) -> None:
        code, _, err = ended
        assert code == 1 and err.startswith("Error: out of memory; ") and err.count("\n") == 1

    def test_nothing_is_written(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def no_memory(*_: Any, **__: Any) -> None:
            raise MemoryError

        monkeypatch.setattr(job, "enumerate", no_memory)
        self.require_said(run("enumerate", *MODEL, "-o", "out.npz"))
        assert not Path("out.npz").exists()

    @pytest.mark.parametrize("command", [["count"], ["enumerate", "-o", "out.csv"]])
    def test_finished_pieces_are_kept(self, run: Run, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        words = [*command[:1], *MODEL, *command[1:], "--checkpoint", "kept"]
        attempts: list[int] = []

        def no_memory(*problem: Any, **options: Any) -> Any:
            attempts.append(1)
            if len(attempts) == 5:
                raise MemoryError
            return find(*problem, **options)

        name = "counted" if command[0] == "count" else "block_of"
        where = "regions.counting." + ("cases" if command[0] == "count" else "tasks")
        find = getattr(sys.modules[where], name)
        monkeypatch.setattr(f"{where}.{name}", no_memory)
        self.require_said(run(*words))
        assert run(*words)[0] == 0
        (task, *others) = regions.jobs.split(
            regions.load("model.npz", activation="relu"),
            regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]),
            jobs.TASKS,
            function=command[0],
        )
        assert len(attempts) == len([task, *others]) + 1  # the task that ran out of memory is run again

    @pytest.mark.parametrize("command", ["enumerate", "plot"])
    def test_while_a_file_is_written(self, run: Run, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The regions are saved as a .npz, which needs least memory."""
        output, name = {"enumerate": ("out.csv", "export"), "plot": ("out.png", "draw_picture")}[command]

        def no_memory(*_: Any, **__: Any) -> None:
            raise MemoryError

        monkeypatch.setattr(f"regions.cli.commands.{name}", no_memory)
        words = (command, *MODEL, "-o", output)
        code, _, err = run(*words)
        assert code == 1 and err == (
            f"Error: {output}: out of memory while it was being written.\n  The regions are in {output}.npz instead; "
            f"in Python, regions.load_partition('{output}.npz') reads them.\n"
        )
        saved = Path(f"{output}.npz")
        assert regions.load_partition(saved).complete and not Path(output).exists()
        before = saved.read_bytes()
        self.require_said(run(*words))  # that file is not replaced
        assert saved.read_bytes() == before

    def test_blocks_that_were_found_are_written(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        parquet = pytest.importorskip("pyarrow.parquet")

        def no_memory(*problem: Any, **options: Any) -> Iterator[Any]:
            yield next(regions.stream(*problem, regions_per_block=10, **options))
            raise MemoryError

        monkeypatch.setattr(job, "stream", no_memory)
        self.require_said(run("enumerate", *MODEL, "-o", "out.parquet"))
        assert parquet.read_table("out.parquet").num_rows >= 10
