# SPDX-License-Identifier: MIT
"""How does a command end after an error or an interruption?

The causes are wrong input, a wrong command line, the limit, Ctrl-C, and another package called `regions`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import warnings
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np
import pytest

import onnx_parts
import regions
from cli_cases import SQUARE, A, B, C, Run, model, weights
from regions import installation
from regions.cli import job
from regions.cli.facts import outcome_facts, print_outcome
from regions.cli.job import Outcome
from regions.domains import Polygon
from regions.errors import PrecisionWarning
from regions.installation import explain_missing_core
from regions.measures import StreamSummary
from regions.results.partition import ARRAYS, Partition

pytestmark = pytest.mark.usefixtures("in_folder_with_models")


def test_plot_without_matplotlib(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run("plot", "model.npz", "--activation", "relu", *SQUARE, "-o", "out.png")
    assert (code, out) == (1, "")  # before the work
    assert "pip install 'relu-regions[plot]'" in err


def test_limit(run: Run) -> None:
    found = regions.count(model(), Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    words = ["model.npz", "--activation", "relu", *SQUARE]
    assert run("count", *words, "--limit", str(found))[0] == 0
    code, out, err = run("count", *words, "--limit", "20")
    assert (code, err) == (3, "")
    said = re.search(r"^regions +(\d+) found before the limit stopped it$", out, re.MULTILINE)
    assert said and 20 < int(said[1]) < found  # cells with few lines are counted as a whole
    code, out, _ = run("count", *words, "--limit", "20", "--json")
    assert (code, json.loads(out)["end"]) == (3, "limit")
    code, out, _ = run("enumerate", *words, "--limit", "20", "--json", "-o", "part.npz")
    facts, part = json.loads(out), regions.load_partition("part.npz")
    assert (code, facts["end"], facts["regions"]) == (3, "limit", len(part))
    assert 20 < len(part) < found
    assert not part.complete
    assert run("plot", *words, "--limit", "20", "-o", "part.png")[0] == 3
    assert Path("part.png").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["count", "none.pt", "--activation", "relu", *SQUARE], "none.pt: No such file or directory"),
        (["count", "model.txt", "--activation", "relu", *SQUARE], "model.txt: the file is empty"),
        (["info", "model"], "model: not a model file.\n  Give one of torch files"),
        (["info", "empty.pt"], "empty.pt: the file is empty"),
        (["info", "folder.pt"], "folder.pt: a directory; give the file in it that holds the model; read are"),
        (["info", "."], ".: a directory; give the file in it that holds the model"),
        (["count", "broken.pt", "--activation", "relu", *SQUARE], "broken.pt"),
        (["count", "model.npz", *SQUARE], "--activation relu"),
        (["info", "model.npz"], "--activation relu"),
        (["info", "model.npz", "--activation", "tanh"], "not piecewise linear"),
        (["info", "model.npz", *["--activation", "relu"] * 3], "3 activations for 2 hidden layers"),
        (
            ["count", "model.npz", "--activation", "relu", "--segment", "0,0,0", "1,1,1", "--json"],
            "takes 2 inputs",
        ),
        (
            ["count", "model.npz", "--activation", "relu", "--segment", "0,0", "1,1,1"],
            "1,1,1 has 3 coordinates",
        ),
        (["count", "model.npz", "--activation", "relu", "--segment", "0,0", "nan,1"], "nan"),
        (["count", "model.npz", "--activation", "relu", "--segment", "folder.csv"], "folder.csv: a directory; give"),
        (["count", "model.npz", "--activation", "relu", "--segment", "empty.csv"], "empty.csv: the file is empty"),
        (["count", "model.npz", "--activation", "relu", "--segment", "1,1", "1,1"], "same point"),
        (["count", "model.npz", "--activation", "relu", "--segment", "none.csv"], "none.csv: No such file"),
        (
            ["count", "model.npz", "--activation", "relu", "--segment", "points.csv:0", "points.csv:3"],
            "3 rows",
        ),
        (
            ["count", "model.npz", "--activation", "relu", "--polygon", "0,0", "2,0", "1,1", "2,2", "0,2"],
            "dent",
        ),
        (
            ["enumerate", "model.npz", "--activation", "relu", "--line", "0,0", "1,1", "-o", "out.geojson"],
            "files of .geojson exist in bounded domains",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_one_error(run: Run, words: list[str], message: str) -> None:
    Path("broken.pt").write_bytes(b"PK\x03\x04 and no more")
    Path("model").write_bytes(b"these are not weights")
    for name in ("model.txt", "empty.pt", "empty.csv"):
        Path(name).touch()
    for name in ("folder.pt", "folder.csv"):
        Path(name).mkdir()
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert err.startswith("Error: ")
    assert all(line.startswith("  ") for line in err.splitlines()[1:])
    assert message in err


def test_images_with_other_axes(run: Run) -> None:
    nodes = [onnx_parts.node("Flatten", ["x"], "f"), onnx_parts.node("Gemm", ["f", "w"], "y")]
    given = onnx_parts.model(nodes, {"w": np.ones((12, 2), np.float32)}, shape=("batch", 3, 2, 2))
    Path("image.onnx").write_bytes(given.SerializeToString())
    images = np.arange(24.0).reshape(2, 3, 2, 2)
    for name, array in (("good.npy", images), ("bad.npy", np.moveaxis(images, 1, 3))):
        np.save(name, array)
    assert run("count", "image.onnx", "--segment", "good.npy")[0] == 0
    code, out, err = run("count", "image.onnx", "--segment", "bad.npy")
    assert (code, out) == (1, "")
    assert err.startswith("Error: bad.npy: holds images [2, 2, 3], the network takes [3, 2, 2]: put their axes")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["count", "model.npz", "--activation", "relu"], "give one domain"),
        (
            ["count", "model.npz", "--activation", "relu", "--ray", "0,0", "1,1", *SQUARE],
            "found --ray, --polygon",
        ),
        (["count", "model.npz", "--activation", "relu", "--segment", "0,0"], "takes 2 points (A B), got 1"),
        (
            ["count", "model.npz", "--activation", "relu", "--segment", "points.csv"],
            "takes 2 points (A B), got 3",
        ),
        (["count", "model.npz", "--activation", "relu", "--polygon", "ends.npy"], "takes 3 or more points"),
        (["count", "model.npz", "--segment", "--activation", "relu"], "--segment takes points"),
        (["count", "model.npz", "--activation", "relu", "--segment", "0;0", "1,1"], "got '0;0'"),
        (["count", "model.npz", "--activation", "relu", "--segment=0;0", "1,1"], "got '0;0'"),
        (
            ["count", "model.npz", "--activation", "relu", "--segment", "0,0", "points.csv:-1"],
            "--segment takes 2 points (A B), got 1. Points: write 0.5,-1",
        ),
        (["count", "model.npz", "--activation", "relu", *SQUARE, "--limit", "-1"], "--limit"),
        (["count", *SQUARE], "MODEL"),
        (["enumerate", "model.npz", "--activation", "relu", *SQUARE], "--output"),
        (
            ["enumerate", "model.npz", "--activation", "relu", *SQUARE, "-o", "out.png"],
            ".npz, .geojson, .csv",
        ),
        (["plot", "model.npz", "--activation", "relu", *SQUARE, "-o", "out.npz"], ".png, .svg"),
        (["plot", "model.npz", "--activation", "relu", *SQUARE, "-o", "none/out.png"], "folder none does not exist"),
        (
            ["plot", "model.npz", "--activation", "relu", *SQUARE, "-o", "o.png", "--output-index", "3"],
            "3 outputs",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_command_lines(run: Run, words: list[str], message: str) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err


def test_a_folder_that_cannot_be_written_to(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write to any folder
    code, out, err = run("enumerate", "model.npz", "--activation", "relu", *SQUARE, "-o", "out.npz")
    assert (code, out) == (2, "")
    assert "the folder . cannot be written to" in err
    Path("out.npz").touch()  # it is replaced by a file beside it
    assert run("enumerate", "model.npz", "--activation", "relu", *SQUARE, "-o", "out.npz")[0] == 2


@pytest.mark.parametrize("command", ["enumerate", "plot"])
def test_links_are_replaced_and_not_followed(run: Run, command: str) -> None:
    suffix = {"enumerate": "npz", "plot": "png"}[command]
    precious = Path("precious")
    precious.write_text("precious")
    for number, aim in enumerate(("no/such", f"link2.{suffix}", "precious"), start=1):
        link = Path(f"link{number}.{suffix}")
        link.symlink_to(aim)
        assert run(command, "model.npz", "--activation", "relu", *SQUARE, "-o", str(link))[0] == 0
        assert link.stat().st_size and not link.is_symlink()
    assert precious.read_text() == "precious"
    code, out, err = run(
        command, "none.npz", *SQUARE, "-o", f"no/such.{suffix}"
    )  # the error comes before the model is read
    assert (code, out) == (2, "") and "folder no does not exist" in " ".join(err.split())


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk(run: Run, monkeypatch: pytest.MonkeyPatch, unbuffered: str) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    os.symlink("/dev/full", "full.csv")
    code, _, err = run("enumerate", "model.npz", "--activation", "relu", *SQUARE, "-o", "full.csv")
    assert (code, err) == (1, "Error: full.csv: No space left on device\n")
    with open("/dev/full", "w") as full:
        for words in (["--help"], ["info", "model.npz", "--activation", "relu"]):
            done = subprocess.run(
                [sys.executable, "-m", "regions", *words],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                env=environment(),
            )
            assert done.returncode == 1
            assert done.stderr.startswith("Error: ") and done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    ("more", "unbuffered"), [([], ""), (["--json"], ""), ([], "1")], ids=["text", "json", "at once"]
)
def test_files_are_written_though_nothing_can_be_printed(
    monkeypatch: pytest.MonkeyPatch, more: list[str], unbuffered: str
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    words = ["model.npz", "--activation", "relu", *SQUARE, *more]
    commands = [["enumerate", "-o", "out.npz"], ["plot", "-o", "out.png"], ["check", "-o", "out.html"], ["count"]]
    for command in commands if not more else commands[::3]:
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "regions", command[0], *words, *command[1:]],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                env=environment(),
            )
        assert (done.returncode, done.stderr) == (1, "Error: standard output: No space left on device\n")
        assert all(Path(name).stat().st_size for name in command[2:])
    assert len(regions.load_partition("out.npz")) > 20


def test_a_closed_standard_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with job.progress_bar() as report:
        assert report is None


def test_words_after_two_dashes_are_not_options(run: Run) -> None:
    code, _, err = run("count", "--activation", "relu", "--segment", "0,0", "1,1", "--", "--segment")
    assert code == 1
    assert "--segment: No such file" in err


def test_no_result_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C can come before the first region."""
    arrays = {name: np.zeros((0, 2), dtype) for name, dtype in ARRAYS.items()}
    arrays |= {
        "cell_offsets": np.zeros(1, np.int64),
        "vertex_errors": np.zeros(0),
        "packed_patterns": np.zeros((0, 3), np.uint8),
    }
    arrays |= {name: np.zeros(0, np.int64) for name in ("cell_vertices", "cell_facets", "facet_kinks")}
    domain = Polygon([A, B, C])
    stats = {"filter": 0, "exact": 0, "zero": 0}
    nothing = Partition(model(), domain, {**arrays, "stats": stats, "complete": False})
    summary = StreamSummary(nothing.network, domain)
    summary.add(nothing)
    found = nothing.network, domain, 0, nothing.certificate, 0.0, "interrupted"
    outcome = Outcome(*found, partition=nothing, summary=summary)
    print_outcome(outcome)
    assert re.search("^regions +0 found until it was stopped$", capsys.readouterr().out, re.MULTILINE)
    assert outcome.exit_code == 130
    facts = outcome_facts(outcome)
    assert facts["area"] == {"total": 0.0, "smallest": None, "largest": 0.0}
    assert "no region was found" in facts["note"]


def test_progress_goes_to_standard_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    code, out, _ = run("count", "model.npz", "--activation", "relu", *SQUARE, "--json")
    assert code == 0
    json.loads(out)
    with job.progress_bar() as report:
        assert report is not None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with job.progress_bar() as report:
        assert report is None


@pytest.mark.slow
@pytest.mark.parametrize("command", ["count", "enumerate"])
def test_ctrl_c(command: str) -> None:
    """Minutes of work, stopped at the first sign of progress."""
    np.savez("large.npz", **weights([2, *[700] * 8, 1], seed=1))
    words = [command, "large.npz", "--activation", "relu", "--square", "points.csv", "--json"]
    words += ["-o", "part.npz"] if command == "enumerate" else []
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)  # in case it hangs
    facts = json.loads(out)
    assert (process.returncode, facts["end"], err) == (130, "interrupted", "")
    assert facts["regions"] > 0
    if command == "enumerate":
        part = regions.load_partition("part.npz")
        assert (len(part), part.complete) == (facts["regions"], False)


@pytest.mark.parametrize(
    ("command", "output", "writes"),
    [
        ("enumerate", "part.npz", "regions.cli.commands.export"),
        ("plot", "part.png", "regions.cli.pictures.draw_panels"),
    ],
)
def test_ctrl_c_while_a_file_is_written(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: str, output: str, writes: str
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(writes, stop)
    code, out, err = run(command, "model.npz", "--activation", "relu", "--square", "points.csv", "-o", output)
    assert (code, err) == (130, "") and "regions  " in out and "wrote" not in out
    assert not list(Path().glob("*part*"))


# Prints a line when the first regions are found, so that the signal comes in the middle of the work.
STARTED = """
import contextlib, sys
from regions.cli import job, main
@contextlib.contextmanager
def bar():
    said = []
    def report(share, found):
        if found and not said:
            said.append(print("started", file=sys.stderr, flush=True))
    yield report
job.progress_bar = bar
main()
"""


def environment() -> dict[str, str]:
    """Return the environment of this process, with the tested package."""
    return {**os.environ, "PYTHONPATH": str(Path(regions.__file__).parent.parent)}


def test_another_package_called_regions(tmp_path: Path) -> None:
    """Installed over ours: its `__init__.py`, and those files of ours that it does not have."""
    ours, both = Path(regions.__file__).parent, tmp_path / "site" / "regions"
    shutil.copytree(ours / "cli", both / "cli")
    shutil.copy(ours / "installation.py", both)
    (both / "__init__.py").write_text("class PixelRegion: pass\n")
    record = both.parent / "regions-0.12.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: regions\nVersion: 0.12\n")
    (record / "top_level.txt").write_text("regions\n")
    done = subprocess.run(
        [sys.executable, "-c", "from regions.cli import main; main()", "count"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(both.parent)},
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    assert "relu-regions and regions are both imported as 'regions'" in done.stderr
    assert "pip uninstall relu-regions regions" in done.stderr


def test_another_package_called_regions_was_uninstalled(tmp_path: Path) -> None:
    """It removed `__init__.py`, which both packages have; the other files of this package remain."""
    ours, left = Path(regions.__file__).parent, tmp_path / "site" / "regions"
    shutil.copytree(ours / "cli", left / "cli")
    shutil.copy(ours / "installation.py", left)
    record = left.parent / "relu_regions-0.1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: relu-regions\nVersion: 0.1.0\n")
    (record / "RECORD").write_text("regions/__init__.py,,\nregions/installation.py,,\nregions/network.py,,\n")
    done = subprocess.run(
        # Without installed packages, because a package with `__init__.py` anywhere on the path is preferred to a folder
        # without it.
        [sys.executable, "-S", "-c", "from regions.cli import main; main()", "count"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(left.parent)},
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    assert "2 of the installed files of relu-regions are gone, such as regions/__init__.py" in done.stderr
    assert "Reinstall: pip uninstall relu-regions, then pip install it again" in done.stderr


@pytest.mark.parametrize("built", [False, True])
def test_a_source_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: bool) -> None:
    """With the C++ file that Cython wrote, which an installation leaves behind."""
    (tmp_path / "_core.cpp").touch()
    if built:
        (tmp_path / f"_core{EXTENSION_SUFFIXES[0]}").touch()
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "installation.py"))
    error = str(explain_missing_core(ImportError("cannot import name '_core' from 'regions'")))
    missing = f"is missing in {tmp_path}: this is a source folder that has not been built. Run 'pip install -e .'"
    assert (missing in error) != built


def test_a_warning_is_one_line_on_standard_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(*_: object, **__: object) -> None:
        warnings.warn("this will take long", PrecisionWarning, stacklevel=2)
        raise KeyboardInterrupt

    monkeypatch.setattr(job, "certified_count", counted)
    code, _, err = run("count", "model.npz", "--activation", "relu", *SQUARE)
    assert (code, err) == (130, "Warning: this will take long\nStopped.\n")
