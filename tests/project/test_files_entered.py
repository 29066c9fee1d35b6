# SPDX-License-Identifier: MIT
"""Through how many files does a reader follow a call?

A profiler lists the files of this package whose functions are called, in order. Each call is made twice, and the second
one is measured, so importing a file does not count. The number of changes is how often the next function is in another
file than the one before. The ceilings are the numbers of today, with some room for changes. A ceiling that is in the
way may be raised only for a capability, not for a split.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import regions

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def files_entered(call: Callable[[], object]) -> list[str]:
    """Return the file of each function that is called, without repetitions in a row."""
    root, entered = str(Path(regions.__file__).parent), [""]

    def note(frame: FrameType, event: str, arg: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(root) and name != entered[-1]:
            entered.append(name)

    call()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered[1:]


def load() -> regions.Network:
    return regions.load(EXAMPLES / "digits.pt", activation="relu")


@pytest.mark.parametrize(
    ("name", "files", "changes"), [("load", 40, 390), ("count", 12, 30), ("enumerate", 13, 36), ("check", 79, 1080)]
)
def test_a_call_enters_few_files(name: str, files: int, changes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    network, square = load(), regions.circumsquare(*regions.load_points(EXAMPLES / "points.csv"))
    if name == "check":  # as many files as with the digits and with all twins, in less time
        monkeypatch.setattr("regions.checking.random_signs.TWINS_OF_REPORTS", 2)
        network = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
        square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    call = load if name == "load" else lambda: getattr(regions, name)(network, square)
    entered = files_entered(call)
    assert len(set(entered)) <= files, sorted(set(entered))
    assert len(entered) <= changes
