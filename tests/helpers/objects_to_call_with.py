# SPDX-License-Identifier: MIT
"""Which objects are public callables called with?

There is one valid object of each kind, made once, or anew for each call if calls change it.
"""

from __future__ import annotations

import io
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import regions
from regions import ensembles


@cache
def network() -> regions.Network:
    return regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])


@cache
def square() -> regions.Polygon:
    return regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])


@cache
def segment() -> regions.Segment:
    return regions.Segment([-1.0, 0.5], [1.0, 0.0])


@cache
def arc() -> regions.Arc:
    return regions.Arc([1.0, 0.0], [0.0, 1.0])


@cache
def sweep() -> regions.Dichotomies:
    return regions.dichotomies(network(), [[1.0, 2.0], [-1.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])


@cache
def two_outputs() -> regions.Network:
    return regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.5]), ([[1.0, 1.0], [1.0, -1.0]], [0.0, 0.25])])


@cache
def moments() -> regions.Statistics:
    return regions.statistics(two_outputs(), square())


@cache
def included() -> regions.Inclusion:
    return regions.image(two_outputs(), square()).inside(square())


@cache
def decided() -> regions.Decisions:
    return regions.decisions(two_outputs(), square())


@cache
def decided_in_box() -> regions.Decisions:
    return regions.decisions(regions.Network([(np.eye(3), None), (np.eye(3), None)]), regions.Box([0] * 3, [1] * 3))


@cache
def curves() -> regions.LevelSet:
    return regions.level_set(network(), square(), 0.5)


@cache
def surface() -> regions.LevelSurface:
    net = regions.Network([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), [0.0])])
    return regions.level_set(net, regions.Box([-1, -1, -1], [1, 1, 1]), 0.5)


@cache
def partition() -> regions.Partition:
    return regions.enumerate(network(), square())


@cache
def folder() -> Path:
    return Path(tempfile.mkdtemp())


@cache
def saved() -> Path:
    partition().save(folder() / "partition.npz")
    return folder() / "partition.npz"


@cache
def points_file() -> Path:
    np.save(folder() / "points.npy", np.eye(2))
    return folder() / "points.npy"


@cache
def model_file() -> Path:
    np.savez(folder() / "model.npz", **{"0.weight": np.eye(2), "0.bias": np.zeros(2)})
    return folder() / "model.npz"


@cache
def property_file() -> Path:
    file = folder() / "property.vnnlib"
    declared = "".join(f"(declare-const {name} Real)" for name in ("X_0", "X_1", "Y_0", "Y_1"))
    bounds = "".join(f"(assert (and (<= X_{i} 1) (>= X_{i} 0)))" for i in (0, 1))
    file.write_text(f"{declared}{bounds}(assert (>= Y_0 0))")
    return file


@cache
def read_property() -> regions.Property:
    return regions.load_property(property_file())


@cache
def figure() -> Any:
    from matplotlib.figure import Figure

    return Figure()


def axes() -> Any:
    from matplotlib.figure import Figure

    return Figure().add_subplot()


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@cache
def partition_of_box() -> regions.PolytopePartition:
    net = regions.Network([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), [0.0])])
    return regions.enumerate(net, regions.Box([-1, -1, -1], [1, 1, 1]))


def record() -> regions.TrainingRecord:
    result = regions.TrainingRecord(square(), points=[[0.5, 0.5], [0.25, 0.5]], keep=True)
    result.record(0, network())
    return result


def random_networks() -> ensembles.Ensemble:
    return ensembles.Ensemble([2, 2, 1], biases=ensembles.Uniform(1.0))


@cache
def grown() -> regions.Growth:
    return regions.growth(random_networks(), arc(), networks=3, rng=0)


# Good arguments, by the names of parameters.
GOOD: dict[str, Any] = {
    "partition": partition,
    "part": partition,
    "network": network,
    "net": network,
    "domain": square,
    "curve": arc,
    "points": [[0.5, 0.25], [0.25, 0.5]],
    "x": [[0.5, 0.5]],
    "input_points": [[0.25, 0.25]],
    "indices": [0, 1],
    "key": 0,
    "space": "input",
    "boundary": "activation",
    "definition": "activation",
    "output_index": 0,
    "limit": 100,
    "timeout": None,
    "progress": False,
    "maps": False,
    "workers": 1,
    "executor": None,
    "checkpoint": None,
    "rng": rng,
    "figure": figure,
    "n": 3,
    "stream": io.StringIO,
}
