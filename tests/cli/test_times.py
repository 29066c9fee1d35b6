# SPDX-License-Identifier: MIT
"""Does every command that works print its time?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import regions
from cli_cases import SQUARE, Run, model, weights

pytestmark = pytest.mark.usefixtures("in_folder_with_models")

NET = ["model.npz", "--activation", "relu"]
ENDS = ["--segment", "-1,-1", "1,0.5"]
PROPERTY = """
(declare-const X_0 Real)
(declare-const X_1 Real)
(declare-const Y_0 Real)
(declare-const Y_1 Real)
(declare-const Y_2 Real)
(assert (>= X_0 -1))
(assert (<= X_0 1))
(assert (>= X_1 -1))
(assert (<= X_1 1))
(assert (>= Y_0 1000))
"""
COMMANDS = {
    "certify": ["certify", "part.npz", *NET],
    "check": ["check", *NET, *SQUARE, "--no-distances"],
    "compare": ["compare", "model.npz", *NET, *SQUARE],
    "count": ["count", *NET, *SQUARE],
    "decisions": ["decisions", *NET, *SQUARE],
    "enumerate": ["enumerate", *NET, *SQUARE, "-o", "part.csv"],
    "extremes": ["extremes", *NET, *SQUARE],
    "function": ["function", *NET, *ENDS],
    "image": ["image", *NET, *SQUARE],
    "integrated-gradients": ["integrated-gradients", *NET, *ENDS, "--output-index", "0"],
    "iterate": ["iterate", "loop.npz", "--activation", "relu", "--steps", "2", *SQUARE],
    "level-set": ["level-set", *NET, *SQUARE, "--output-index", "0"],
    "margin": ["margin", *NET, *SQUARE],
    "plot": ["plot", *NET, *SQUARE, "-o", "part.html"],
    "statistics": ["statistics", *NET, *SQUARE],
    "trajectory": ["trajectory", *NET, *ENDS],
    "trajectory of an ensemble": "trajectory --ensemble he([2,4,1]) --networks 3 --circle 0,0 1,0 0,1".split(),
    "verify": ["verify", "model.npz", "property.vnnlib", "--activation", "relu"],
    "watch": ["watch", *NET, *SQUARE],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_time(name: str, run: Run) -> None:
    np.savez("loop.npz", **weights([2, 4, 2], 7))
    Path("property.vnnlib").write_text(PROPERTY)
    regions.enumerate(model(), regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])).save("part.npz")
    code, out, err = run(*COMMANDS[name])
    assert code == 0, err
    assert len(re.findall(r"^ *time +[\d.e-]+ m?s", out, re.MULTILINE)) == 1
    code, out, err = run(*COMMANDS[name], "--json")
    assert code == 0 and json.loads(out)["seconds"] >= 0


def test_every_command_is_here() -> None:
    from regions.cli.commands import regions_group

    assert {words[0] for words in COMMANDS.values()} == set(regions_group.commands) - {"info"}
