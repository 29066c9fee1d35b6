# SPDX-License-Identifier: MIT
"""Does the command decide properties as the package does, and what does it say of wrong ones?"""

from __future__ import annotations

import io
import json
import math
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import regions
from cli_cases import Run, model, weights
from regions.answers import bisection, property_verdict

pytestmark = pytest.mark.usefixtures("in_folder_with_models")

MODEL = ["model.npz", "--activation", "relu"]


@pytest.fixture
def written(in_folder_with_models: object) -> regions.Property:
    """The file property.vnnlib: output 0 is at least its value at the origin, on the square from -1 to 1."""
    net = model()
    declared = [f"(declare-const X_{i} Real)" for i in range(net.n_in)]
    declared += [f"(declare-const Y_{i} Real)" for i in range(net.n_out)]
    bounds = [f"(assert (and (>= X_{i} -1) (<= X_{i} 1)))" for i in range(net.n_in)]
    height = float(net([0.0] * net.n_in)[0])
    Path("property.vnnlib").write_text("\n".join([*declared, *bounds, f"(assert (>= Y_0 {height!r}))"]))
    return regions.load_property("property.vnnlib")


def test_the_verdict_of_the_package_is_printed(run: Run, written: regions.Property) -> None:
    found = regions.verify_property(model(), written)
    code, out, err = run("verify", *MODEL, "property.vnnlib")
    assert (code, err) == (4, "") and "violated" in out and "share" not in out
    assert "unsafe in float64" in out
    code, out, _ = run("verify", *MODEL, "property.vnnlib", "--share")
    assert code == 4 and f"{found.violated_shares[0]:.6g}" in out
    code, out, _ = run("verify", *MODEL, "property.vnnlib", "--json")
    facts = json.loads(out)
    assert code == 4 and "violated_shares" not in facts and facts["violated"] == [0] and not facts["holds"]
    code, out, _ = run("verify", *MODEL, "property.vnnlib", "--json", "--share")
    facts = json.loads(out)
    assert code == 4 and facts["violated_shares"] == found.violated_shares.tolist()
    assert facts["errors"] == found.errors.tolist()


def test_a_limit_leaves_it_unknown(run: Run, written: regions.Property) -> None:
    text = Path("property.vnnlib").read_text()
    top = float(regions.extremes(model(), written.domain(0)).maximum[0])
    Path("tight.vnnlib").write_text(text[: text.rindex("(assert")] + f"(assert (>= Y_0 {top + 1e-9!r}))")
    code, out, err = run("verify", *MODEL, "tight.vnnlib", "--limit", "0")
    assert code == 5 and "unknown" in out and "Stopped at 0 regions and cells. Raise --limit." in err
    assert run("verify", *MODEL, "tight.vnnlib", "--limit", "1000000")[0] == 0


def test_a_slice_on_which_it_holds(run: Run, written: regions.Property) -> None:
    text = Path("property.vnnlib").read_text()
    Path("high.vnnlib").write_text(text[: text.rindex("(assert")] + "(assert (>= Y_0 1000))")
    code, out, err = run("verify", *MODEL, "high.vnnlib", "--free", "0", "--at", "0,0.5")
    assert (
        (code, err) == (0, "")
        and "holds on this slice, proved" in out
        and "only input 0 varies" in out
        and "1, of which bounds alone decided 1" in out
    )


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--at", "0,0"], 2, "--at needs --free"),
        (["--free", "x"], 2, "write one or two numbers of inputs"),
        (["--free", "0,7"], 2, "free[1] must be at most 1, got 7"),
        (["--free", "0", "--at", "0,y"], 2, "write a number for each input"),
        (["--free", "0", "--at", "0"], 2, "at has 1 values"),
        (["--free", "0", "--at", "0,5"], 1, "no box contains these values"),
    ],
)
def test_options_that_do_not_fit(
    run: Run, written: regions.Property, words: list[str], code: int, message: str
) -> None:
    found, _, err = run("verify", *MODEL, "property.vnnlib", *words)
    assert found == code and message in err


@pytest.mark.parametrize("words", [[], ["--free", "0", "--at", "0,0.5"]])
@pytest.mark.parametrize("height", [None, 1000], ids=["violated", "decided by bounds"])
def test_a_certificate(run: Run, written: regions.Property, words: list[str], height: float | None) -> None:
    """The standalone checker takes it, and says what was asked."""
    if height is not None:
        text = Path("property.vnnlib").read_text()
        Path("property.vnnlib").write_text(text[: text.rindex("(assert")] + f"(assert (>= Y_0 {height}))")
    words = ["verify", *MODEL, "property.vnnlib", *words]
    code, out, err = run(*words, "--write", "proof.regions-certificate")
    assert (code, err) == (run(*words)[0], "") and out.splitlines()[-1].startswith(
        "wrote proof.regions-certificate: this"
    )
    checker = [sys.executable, "-m", "regions.check_answer", "proof.regions-certificate"]
    done = subprocess.run(checker, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[1] == f"network {model().fingerprint}"
    assert ("so nowhere" if code == 0 else "so at the input") in lines[-1]
    least = -float(height or model()([0.0, 0.0])[0])
    rounded_up = math.nextafter(least, math.inf)  # the decimals of the file are rounded up
    assert {f"row 0 is 1.0 y0 + {one!r}" for one in (least, rounded_up)} & set(lines)
    code, out, err = run(*words, "--json", "--write", "proof.regions-certificate")
    assert err == "" and isinstance(json.loads(out)["holds"], bool)


def test_a_certificate_in_a_box(run: Run) -> None:
    declared = "".join(f"(declare-const X_{i} Real)(assert (and (>= X_{i} -1) (<= X_{i} 1)))" for i in range(4))
    np.savez("four.npz", **weights([4, 6, 5, 1], seed=1))
    net = regions.load("four.npz", activation="relu")
    high = float(regions.extremes(net, regions.Box([-1] * 4, [1] * 4)).maximum[0])
    Path("four.vnnlib").write_text(declared + f"(declare-const Y_0 Real)(assert (>= Y_0 {high + 1.0!r}))")
    words = ["verify", "four.npz", "four.vnnlib", "--activation", "relu", "--write", "proof.regions-certificate"]
    code, out, err = run(*words, "--limit", "40")
    reason = "proof.regions-certificate is not written: the verdict is not proved with 40 parts of the box"
    assert code == 3 and reason in err
    assert "holds, proved" in out and not Path("proof.regions-certificate").exists()
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    checker = out.splitlines()[-1].split("check it: python -m ")[1].split()
    done = subprocess.run([sys.executable, "-m", *checker], capture_output=True, text=True)
    assert done.returncode == 0 and "accepted: the verdict is right" in done.stdout and "so nowhere" in done.stdout


def test_ctrl_c_ends_the_search_for_a_proof_at_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*given: object, **options: object) -> None:
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the search went on")

    monkeypatch.setattr("regions.cli.verify_command.write_certificate", search)
    declared = "".join(f"(declare-const X_{i} Real)(assert (and (>= X_{i} -1) (<= X_{i} 1)))" for i in range(3))
    Path("wide.vnnlib").write_text(declared + "(declare-const Y_0 Real)(assert (>= Y_0 0))")
    np.savez("wide.npz", **weights([3, 4, 1], seed=1))
    words = ["verify", "wide.npz", "wide.vnnlib", "--activation", "relu", "--write", "proof.regions-certificate"]
    code, out, err = run(*words)
    assert (code, err) == (130, "Stopped. proof.regions-certificate is not written.\n") and "violated" in out
    assert not Path("proof.regions-certificate").exists()


def test_no_certificate_of_several_boxes(run: Run) -> None:
    declared = "".join(f"(declare-const X_{i} Real)(assert (and (>= X_{i} -1) (<= X_{i} 1)))" for i in range(3))
    Path("wide.vnnlib").write_text(declared + "(declare-const Y_0 Real)(assert (>= Y_0 0))")
    np.savez("wide.npz", **weights([3, 4, 1], seed=1))
    words = ["verify", "wide.npz", "wide.vnnlib", "--activation", "relu", "--write", "proof.regions-certificate"]
    code, out, err = run(*words)
    assert (code, err) == (4, "") and "a proof of this verdict, with the network" in out.splitlines()[-1]
    assert run(*words, "--free", "0,1")[0] in (0, 4)
    either = "(assert (or (and (>= X_0 0)) (and (<= X_0 -0.5))))"
    Path("wide.vnnlib").write_text(declared + "(declare-const Y_0 Real)" + either + "(assert (>= Y_0 0))")
    code, out, err = run(*words, "--free", "0,1")
    assert (code, out) == (2, "") and "--write: the property has 2 boxes, and a certificate is of one" in err


@pytest.fixture
def wide(in_folder_with_models: object, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words of a command for a property of seven free inputs that is not decided."""
    monkeypatch.setattr(bisection, "MOST_PARTS", 3)
    declared = "".join(f"(declare-const X_{i} Real)(assert (and (>= X_{i} -1) (<= X_{i} 1)))" for i in range(7))
    np.savez("wide.npz", **weights([7, 4, 1], seed=1))
    net = regions.load("wide.npz", activation="relu")
    corners = np.sign(np.random.default_rng(0).uniform(-1, 1, (5000, 7)))
    high = float(net(corners).max()) + 0.01
    Path("wide.vnnlib").write_text(declared + f"(declare-const Y_0 Real)(assert (>= Y_0 {high!r}))")
    return ["wide.npz", "wide.vnnlib", "--activation", "relu"]


def test_an_unknown_verdict_has_its_own_exit_code_and_names_the_option(run: Run, wide: list[str]) -> None:
    code, out, err = run("verify", *wide)
    assert code == 5 and "unknown" in out and "proved shares of them, at least" in out and "time" in out
    assert "take a slice, such as --free 0,1" in err
    code, out, err = run("verify", *wide, "--json")
    facts = json.loads(out)
    assert code == 5 and facts["verdict"] == "unknown" and facts["holds"] is None and facts["undecided"] == [0]
    assert len(facts["proved_shares"]) == 1 and facts["seconds"] >= 0 and "--free 0,1" in facts["reason"]


def test_a_timeout_prints_what_was_decided(run: Run, written: regions.Property) -> None:
    code, out, err = run("verify", *MODEL, "property.vnnlib", "--timeout", "0")
    assert code == 5 and "unknown" in out and err == "Stopped after 0 seconds. Raise --timeout.\n"
    code, out, _ = run("verify", *MODEL, "property.vnnlib", "--timeout", "0", "--json")
    assert code == 5 and json.loads(out)["undecided"] == [0]
    assert run("verify", *MODEL, "property.vnnlib", "--timeout", "1000")[0] == 4
    code, _, err = run("verify", *MODEL, "property.vnnlib", "--timeout", "-1")
    assert code == 2 and "timeout must be at least 0" in err


@pytest.mark.parametrize("content", [b"\0" * 10_000, b"hello" * 1000])
def test_a_model_from_a_pipe_is_judged_by_its_beginning(
    run: Run, written: regions.Property, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.BytesIO(content)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream))
    code, _, err = run("verify", "-", "property.vnnlib")
    assert code == 1 and "standard input: not a model file" in err and stream.tell() <= 8192


def test_ctrl_c_prints_what_was_decided(run: Run, written: regions.Property, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(property_verdict, "verdict_on", interrupted)
    code, out, err = run("verify", *MODEL, "property.vnnlib")
    assert code == 130 and "unknown" in out and "proved shares of them, at least" in out and err == "Stopped.\n"


def test_strict_inequalities_are_named_if_they_matter(run: Run, written: regions.Property) -> None:
    ones = {name: np.ones_like(given) for name, given in weights([2, 1, 1], seed=0).items()}
    np.savez("ones.npz", **ones)
    top = float(regions.load("ones.npz", activation="relu")([1, 1])[0])
    text = (
        Path("property.vnnlib")
        .read_text()
        .replace("(declare-const Y_1 Real)", "")
        .replace("(declare-const Y_2 Real)", "")
    )
    Path("strict.vnnlib").write_text(text[: text.rindex("(assert")] + f"(assert (> Y_0 {top!r}))")
    code, out, _ = run("verify", "ones.npz", "--activation", "relu", "strict.vnnlib")
    assert code == 0 and "outputs reach the boundary of the unsafe set" in out
