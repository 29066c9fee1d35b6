# SPDX-License-Identifier: MIT
"""Does `regions certify` print the result, with the right exit code, for any file?"""

from __future__ import annotations

import json
import signal
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import regions
from cli_cases import SQUARE, Run, runner, without_time, write_files
from regions.cli import job
from regions.ground.threads.progress import Report


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    run = runner(capsys)
    assert run("enumerate", "model.npz", "--activation", "relu", *SQUARE, "-o", "out.npz")[0] == 0
    return run


def rewritten(**arrays: object) -> None:
    """Change some arrays of the saved file."""
    with np.load("out.npz") as saved:
        members = dict(saved)
    np.savez("out.npz", **{**members, **arrays})


def test_a_right_result(run: Run) -> None:
    code, out, err = run("certify", "out.npz", "model.npz", "--activation", "relu")
    assert (code, err) == (0, "")
    assert out.startswith("Network(2-12-10-3, relu, 22 hidden neurons)\nPolygon(in R^2, 4 corners, area 4)\n\nproved: ")
    part = regions.load_partition("out.npz")
    network, domain = out.splitlines()[4:6]
    assert network == f"network {part.network.fingerprint}"
    assert domain == f"domain {part.domain.fingerprint}: 4 corners in R^2: {part.domain.generators[:, 1:].tolist()}"
    code, out, err = run("certify", "out.npz", "model.npz", "--activation", "relu", "--json")
    facts = json.loads(out)
    assert (code, err, facts["ok"], facts["complete"]) == (0, "", True, True)
    assert (f"network {facts['network']}", f"domain {facts['domain']}") == (network, domain)


def test_a_partial_result(run: Run) -> None:
    """It is never taken for the whole: neither by the first line, nor by the exit code."""
    assert run("enumerate", "model.npz", "--activation", "relu", *SQUARE, "-o", "part.npz", "--limit", "9")[0] == 3
    code, out, err = run("certify", "part.npz", "model.npz", "--activation", "relu")
    found = len(regions.load_partition("part.npz"))
    assert (code, err) == (3, "")
    assert f"\n\npartial: {found} regions, each of them real; there may be more, because" in out
    code, out, err = run("certify", "part.npz", "model.npz", "--activation", "relu", "--json")
    facts = json.loads(out)
    assert (code, facts["ok"], facts["complete"]) == (3, True, False)
    code, out, err = run("certify", "part.npz", "model.npz", "--activation", "relu", "--write", "a.regions-certificate")
    assert code == 3 and err.startswith("a.regions-certificate is not written: ")


def test_a_result_in_a_box(run: Run) -> None:
    net = regions.Network([(np.eye(3), [0, 0.5, 0]), (np.ones((1, 3)), [0])])
    regions.enumerate(net, regions.Box([-1] * 3, [1] * 3)).save("box.npz")
    np.savez(
        "three.npz", **{"0.weight": np.eye(3), "0.bias": [0, 0.5, 0], "1.weight": np.ones((1, 3)), "1.bias": [0.0]}
    )
    code, out, err = run("certify", "box.npz", "three.npz", "--activation", "relu")
    assert (code, err) == (0, "") and "proved: there are exactly 8 regions" in out
    code, _, err = run("certify", "box.npz", "three.npz", "--activation", "relu", "--write", "a.regions-certificate")
    assert code == 2 and "certificates exist in 1 or 2 dimensions" in err


def test_another_network(run: Run) -> None:
    code, out, _ = run("certify", "out.npz", "model.npz", "--activation", "leaky_relu", "--json")
    facts = json.loads(out)
    assert code == 1 and not facts["ok"] and facts["items"][0]["status"] == "failed"
    code, out, _ = run("certify", "out.npz", "line.npz", "--activation", "relu")
    assert code == 1 and "failed: network" in out and ": give that one, or enumerate again" in " ".join(out.split())


def test_a_result_that_is_wrong(run: Run) -> None:
    with np.load("out.npz") as saved:
        vertices = saved["vertices"] + 1e-12
    rewritten(vertices=vertices)
    code, out, err = run("certify", "out.npz", "model.npz", "--activation", "relu")
    assert (code, err) == (1, "") and "failed: coordinates" in out


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_result_that_cannot_be_loaded(run: Run, words: tuple[str, ...]) -> None:
    with np.load("out.npz") as saved:
        kinks = saved["facet_kinks"] * 100
    rewritten(facet_kinks=kinks)
    code, out, err = run("certify", "out.npz", "model.npz", "--activation", "relu", *words)
    assert (code, err) == (1, "") and "failed: arrays" in out and "out.npz: facet_kinks[" in out


def test_anything_but_a_result_is_refused(run: Run) -> None:
    with zipfile.ZipFile("model.pt", "w") as archive:
        archive.writestr("model/data.pkl", b"")
    Path("text.npz").write_text("not an archive")
    Path("short.npz").write_bytes(Path("out.npz").read_bytes()[:-100])
    for file, words in (
        ("model.pt", "model.pt: a file that torch saved, and not a .npz file"),
        ("model.npz", "model.npz: not a file that Partition.save wrote"),
        ("missing.npz", "missing.npz: No such file or directory"),
        ("text.npz", "text.npz: not a file that numpy.savez wrote"),
        ("short.npz", "short.npz: "),
        (".", ".: a directory"),
    ):
        for options in ((), ("--json",)):
            code, out, err = run("certify", file, "model.npz", "--activation", "relu", *options)
            assert (code, out) == (2, "") and err.startswith(f"Error: {words}"), file
            assert len(err.splitlines()) == 1
    code, out, err = run("certify", "out.npz", "missing.npz", "--activation", "relu")
    assert (code, out) == (2, "") and err == "Error: missing.npz: No such file or directory\n"


def test_some_of_the_regions_or_all(run: Run) -> None:
    words = ("certify", "out.npz", "model.npz", "--activation", "relu")
    code, out, _ = run(*words, "--regions", "3")
    assert code == 3 and "no fault found: 3 of " in out
    (code, out, err), whole = run(*words, "--regions", "all"), run(*words)
    assert (code, without_time(out), err) == (whole[0], without_time(whole[1]), whole[2])
    for number in ("0", "-2", "some", "1.5"):
        code, out, err = run(*words, "--regions", number)
        assert (code, out) == (2, "") and "--regions" in err


def test_ctrl_c(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report on what had been checked is printed all the same."""

    @contextmanager
    def bar() -> Iterator[Report]:
        def report(share: float, found: int) -> None:
            if found == 4:
                signal.raise_signal(signal.SIGINT)

        yield report

    monkeypatch.setattr(job, "progress_bar", bar)
    code, out, err = run("certify", "out.npz", "model.npz", "--activation", "relu", "--json")
    facts = json.loads(out)
    assert (code, err, facts["ok"]) == (130, "", False) and facts["conclusion"].startswith("no fault found: 4 of ")


def test_a_wrong_command_line(run: Run) -> None:
    assert run("certify", "out.npz")[0] == 2
    assert run("certify", "out.npz", "model.npz", "--activation", "relu", "--limit", "3")[0] == 2


def test_a_certificate(run: Run) -> None:
    words = ("certify", "out.npz", "model.npz", "--activation", "relu", "--write")
    code, out, err = run(*words, "proof.regions-certificate")
    assert (code, err) == (0, "") and out.splitlines()[-1].startswith("wrote proof.regions-certificate: all ")
    assert Path("proof.regions-certificate").read_bytes() == Path("out.npz").read_bytes()
    code, out, err = run(*words, "proof.npz")
    assert (code, out) == (2, "") and "the name must end in .regions-certificate: proof.npz" in err
    assert run(*words, "none/proof.regions-certificate")[0] == 2


def test_no_certificate_of_what_is_not_proved(run: Run) -> None:
    words = ("certify", "out.npz", "model.npz", "--activation", "relu", "--write", "proof.regions-certificate")
    not_written = "proof.regions-certificate is not written: the regions are not proved to be all regions\n"
    code, out, err = run(*words, "--regions", "3")
    assert (code, err) == (3, not_written) and "no fault found" in out
    with np.load("out.npz") as saved:
        kinks = saved["facet_kinks"] * 100
    rewritten(facet_kinks=kinks)
    code, out, err = run(*words)
    assert (code, err) == (1, not_written) and "failed: arrays" in out
    code, out, err = run(
        "enumerate", "model.npz", "--activation", "relu", "--plane", "0,0", "1,0", "0,1", "-o", "plane.npz"
    )
    code, out, err = run("certify", "plane.npz", *words[2:])
    assert (code, out) == (2, "") and "certificates exist in bounded domains" in err
    assert not Path("proof.regions-certificate").exists()
