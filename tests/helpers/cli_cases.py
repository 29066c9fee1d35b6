# SPDX-License-Identifier: MIT
"""What do the tests of the command line share? A small model, points, and a way to run a command."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import regions
from regions.cli.commands import regions_group
from regions.networks.network import Network

POINTS = np.array([[0.25, -0.5], [-1.5, 0.75], [1.0, 1.25]])
A, B, C = POINTS
SQUARE = ["--polygon", "-1,-1", "1,-1", "1,1", "-1,1"]

Run = Callable[..., tuple[int, str, str]]


def weights(sizes: list[int], seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    arrays = {}
    for index, (inputs, units) in enumerate(zip(sizes, sizes[1:], strict=False)):
        arrays[f"W{index}"] = rng.standard_normal((units, inputs))
        arrays[f"b{index}"] = 0.3 * rng.standard_normal(units)
    return arrays


def write_files(folder: Path) -> None:
    """Write the models and points that the commands name."""
    np.savez(folder / "model.npz", **weights([2, 12, 10, 3], seed=5))
    np.savez(folder / "line.npz", **weights([1, 6, 1], seed=6))
    np.savetxt(folder / "points.csv", POINTS, delimiter=",", fmt="%.17g")
    np.save(folder / "points.npy", POINTS)
    np.save(folder / "ends.npy", POINTS[:2])


def model(activation: str | list[str] = "relu") -> Network:
    return regions.load("model.npz", activation=activation)


def without_time(out: str) -> str:
    """Return what a command printed without the paragraph that has the time, or JSON without its key."""
    return re.sub(r',? *"seconds": [^,}]*|\n\ntime [^\n]*', "", out)


def runner(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command in this process: exit code, standard output, standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            regions_group.main(list(words), prog_name="regions")
        out, err = capsys.readouterr()
        assert isinstance(end.value.code, int)
        return end.value.code, out, err

    return run
