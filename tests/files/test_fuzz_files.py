# SPDX-License-Identifier: MIT
"""Do the readers withstand a slice of what `fuzz_files.py` tries, small enough for every run?"""

from __future__ import annotations

import os
import signal
import time
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import fuzz_files
import regions
from fuzz_file_kinds import Kind, kinds
from regions.errors import NotACheckpointError


def test_a_slice() -> None:
    count = 40 * len(kinds())
    counts, found = fuzz_files.run([("", number) for number in range(count)], 1_000_000, 1)
    assert found == []
    assert sum(counts.values()) == count
    assert {word.partition(":")[0] for word in counts} == set(kinds())
    assert sum(number for word, number in counts.items() if word.endswith("read")) > count / 50


@pytest.mark.parametrize("way", sorted(fuzz_files.DRAWN))
def test_drawn_graphs(way: str) -> None:
    import_module("onnx.reference")
    counts, found = fuzz_files.run([(way, number) for number in range(150)], 1_000_000, 1)
    assert found == []
    assert sum(counts.values()) == 150
    assert counts[f"{way}: read"] + counts[f"{way}: read and judged"] > 30
    assert counts[f"{way}: NotACheckpointError"] > 20
    assert way != "onnx" or counts["onnx: read and judged"] > 8


@pytest.mark.slow
def test_drawn_programs_compute_what_torch_does() -> None:
    pytest.importorskip("torch")
    judged = 0
    for number in range(0, 240, 3):
        word, wrong = fuzz_files.outcome_of_drawn("pt2", number, 2_000_000)
        assert wrong is None, number
        judged += word == "read and judged"
    assert judged > 15


def test_a_wrong_network_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import_module("onnx.reference")
    real = regions.load

    def load(file: Any) -> Any:  # with a missing output, or other numbers
        network = real(file)
        (weights, biases) = np.ones((max(network.n_out - 1, 1), network.n_in)), np.zeros(max(network.n_out - 1, 1))
        return regions.Network([(weights, biases)])

    monkeypatch.setattr(regions, "load", load)
    found = [fuzz_files.outcome_of_drawn("onnx", number, 0)[1] or "" for number in range(0, 150, 3)]
    assert any(wrong.startswith("another number of outputs") for wrong in found)
    assert any(wrong.startswith("other numbers") for wrong in found)


@pytest.mark.slow
def test_some_bits_of_each_file() -> None:
    cases = [case for number, case in enumerate(fuzz_files.every_bit()) if number % 211 == 0]
    _, found = fuzz_files.run(cases, 0, 1)
    assert found == []


def _crash(content: bytes) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def _allocate(content: bytes) -> Any:
    return None, np.ones(2**30)


def _hang(content: bytes) -> Any:
    while True:
        time.perf_counter()


def _say(content: bytes) -> Any:
    raise NotACheckpointError("\x1b[2J")


def _change(content: bytes) -> Any:
    return (1 if content == b"sound" else 2), np.zeros(1)


def _forget(content: bytes) -> Any:
    return None, np.zeros(1) if content == b"sound" else np.ones(1)


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (_crash, "the process died with -"),
        (_allocate, "MemoryError"),
        (_hang, "more than 0.2 seconds"),
        (_say, "message of 4 characters"),
        (lambda content: 1 // 0, "ZeroDivisionError"),
        (_change, "another structure without a word: 2"),
        (_forget, "1 numbers changed without a word"),
    ],
)
def test_what_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch, read: Any, words: str) -> None:
    def careful(content: bytes) -> Any:  # the sound file is read first, to warm up
        return read(content) if content != b"sound" or read in (_change, _forget) else (None, np.zeros(1))

    monkeypatch.setattr(fuzz_files, "SECONDS", 0.2)
    monkeypatch.setattr(fuzz_files, "kinds", lambda: {"bad": Kind(b"sound", careful, protected=True)})
    _, found = fuzz_files.run([("bad", 0), ("bad", 1)], 0, 1)
    assert len(found) == 2
    assert all(words in one for one in found), found


def test_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz_files.py", "--cases", "11", "--seed", "3"])
    assert fuzz_files.main() == 0
    assert f"11 cases, seed 3, {len(kinds())} kinds of files: 0 findings" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["fuzz_files.py", "--case", "3"])
    assert fuzz_files.main() == 0
    assert capsys.readouterr().out.startswith(f"{list(kinds())[3]}\n")
