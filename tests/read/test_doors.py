# SPDX-License-Identifier: MIT
"""Do modules of `doors.py` load through each door, or are they refused for a true reason?"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
import doors  # noqa: E402

# A sample, because all modules take minutes.
QUICK = ("SaturatedFeedback", "BangBang", "ConvexClamped", "Maxout")
SAMPLE = (
    *("ActorWithRunningNorm", "Td3Actor", "VectorizedCritics", "DuelingHead", "Deadzone", "AbsoluteLyapunov"),
    *("GroupSortNet", "BoundaryFactor", "UnitInputs", "UNet", "SqueezeExcite", "AllPads", "FixedGraph"),
)


@pytest.mark.parametrize("name", QUICK)
def test_modules_and_archives(name: str) -> None:
    for door in ("module", ".pt2"):
        good, words = doors.tried(doors.all_cases()[name], door)
        assert good and not words.startswith(doors.CLOSED), f"{door}: {words}"


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_each_door(name: str) -> None:
    pytest.importorskip("onnxscript")
    for door in doors.DOORS:
        good, words = doors.tried(doors.all_cases()[name], door)
        assert good and not words.startswith(doors.CLOSED), f"{door}: {words}"


@pytest.mark.slow
def test_findings_are_told_apart() -> None:
    """A wrong value, a refusal without a cause and a false reason are findings."""
    from dataclasses import replace

    cases = doors.all_cases()
    assert doors.tried(replace(cases["BangBang"], refused=None), "module")[1].startswith("REFUSED")
    assert doors.tried(replace(cases["BangBang"], refused="attention"), "module")[1].startswith("FALSE REASON")
    assert doors.tried(replace(cases["Maxout"], refused="jumps"), "module")[1].startswith("LOADED")
    other = cases["Maxout"].module(torch.float64)
    network = doors.load(other, input_shape=cases["Maxout"].shape)
    assert doors.difference(replace(cases["Maxout"], name="another seed"), network, "float64") > 1e-3
