# SPDX-License-Identifier: MIT
"""Has a network of this shape as many regions as its record says? Counts it twice, exactly.

    python docs/records/prove.py 2-4-4

The first count is by the core, and the second, for one and two inputs, by the reference in rational arithmetic, which
shares no code with it. Weights are integers, so there is no rounding in the file.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

import regions

FOLDER = Path(__file__).resolve().parent
Layers = list[tuple[np.ndarray, np.ndarray]]


def network(layers: Layers) -> regions.Network:
    """Return the network with a constant output, which plays no role."""
    return regions.Network([*layers, (np.zeros((1, len(layers[-1][1]))), None)])


def space(inputs: int) -> regions.domains.Domain | regions.domains.Polytope:
    """Return the whole space."""
    if inputs == 1:
        return regions.Line([0.0], [1.0])
    if inputs == 2:
        return regions.Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])
    return regions.Space([0.0] * inputs, np.eye(inputs))


def read_record(path: Path) -> tuple[int, Layers]:
    """Return the number of regions that a file claims, and its weights and biases."""
    record = json.loads(path.read_text(encoding="utf-8"))
    layers = [(np.array(weights, float), np.array(biases, float)) for weights, biases in record["layers"]]
    return record["regions"], layers


def main(words: list[str] | None = None) -> int:
    shapes = sorted(path.stem for path in FOLDER.glob("*.json"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shape", choices=shapes, help="inputs and widths, as in the names of the files")
    shape = parser.parse_args(words).shape
    claimed, layers = read_record(FOLDER / f"{shape}.json")
    inputs = layers[0][0].shape[1]
    counts = [regions.count(network(layers), space(inputs))]
    if inputs <= 2:
        counts.append(regions.reference.count(network(layers), space(inputs)))
    print(f"{shape}: {claimed} regions claimed, counted {' and '.join(map(str, counts))}")
    return 0 if set(counts) == {claimed} else 1


if __name__ == "__main__":
    sys.exit(main())
