# SPDX-License-Identifier: MIT
"""On which networks does rounded arithmetic miscount?

    python examples/rounding.py [PICTURE]

The obvious way to enumerate regions in a plane is this: store polygons with float64 corners; send each through the next
layer as an affine map, and cut it by every neuron that is above a tolerance at one corner and below at another. Any
tolerance is too small for one network (lines that meet in one point leave slivers between them) and too large for the
next (narrow regions vanish). This program counts a few networks in this way and with `regions.count`, prints the table
of the README, and draws its picture if a file is named.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import regions

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
TOLERANCES = (0.0, 1e-15, 1e-12, 1e-9)


def split(polygon: Floats, values: Floats, tolerance: float) -> list[Floats]:
    """Return the parts of a polygon where a function, affine with these values at the corners, is positive and
    negative.
    """
    if values.max() <= tolerance or values.min() >= -tolerance:
        return [polygon]
    parts: list[list[Floats]] = [[], []]
    for i, (here, there) in enumerate(zip(polygon, np.roll(polygon, -1, axis=0), strict=True)):
        value, following = values[i], values[(i + 1) % len(values)]
        if value >= 0:
            parts[0].append(here)
        if value <= 0:
            parts[1].append(here)
        if value * following < 0:
            cut = here + value / (value - following) * (there - here)
            parts[0].append(cut)
            parts[1].append(cut)
    return [np.array(part) for part in parts if len(part) >= 3]


def rounded_regions(network: regions.Network, tolerance: float) -> list[Floats]:
    """Return the square's regions by the obvious method."""
    found = [(SQUARE, np.eye(2), np.zeros(2))]  # a polygon, and the affine map of the layer below on it
    for layer in network.layers[:-1]:
        after = []
        for polygon, slopes, offsets in found:
            gradient = layer.weights @ slopes
            constant = layer.weights @ offsets + layer.biases
            parts = [polygon]
            for row, offset in zip(gradient, constant, strict=True):
                parts = [half for part in parts for half in split(part, part @ row + offset, tolerance)]
            for part in parts:
                active = gradient @ part.mean(axis=0) + constant > 0
                after.append((part, gradient * active[:, np.newaxis], constant * active))
        found = after
    return [polygon for polygon, _, _ in found]


def lines(rows: list[list[float]]) -> regions.Network:
    """Return the arrangement of the lines a x + b y + c = 0, as one hidden layer."""
    forms = np.array(rows, dtype=float)
    return regions.Network([(forms[:, :2], forms[:, 2]), (np.ones((1, len(forms))), [0.0])])


def network(seed: int, weights: Draw, biases: Draw) -> regions.Network:
    """Return a network 2-32-32-32-1 with random weights and biases."""
    rng = np.random.default_rng(seed)
    layers = [(weights(rng, (32, below)), biases(rng, (32,))) for below in (2, 32, 32)]
    return regions.Network([*layers, (np.ones((1, 32)), [0.0])])


def gaussian(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.standard_normal(shape)


def ternary(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.integers(-1, 2, shape).astype(float)


def nudged(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return ternary numbers, every fourth of them moved by a few times 2^-50."""
    return ternary(rng, shape) + (rng.random(shape) < 0.25) * rng.integers(-8, 9, shape) * 2.0**-50


def nothing(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return np.zeros(shape)


CONCURRENT = [[2, 0, -1], [0, 5, -1], [2, 5, -2]]  # in (1/2, 1/5)
STRIP = [[1, 0, 0], [1, 0, -(2.0**-45)]]

NETWORKS = {
    "three lines through (1/2, 1/5)": lines(CONCURRENT),
    "a strip 2^-45 wide": lines(STRIP),
    "both": lines(CONCURRENT + STRIP),
    "2-32-32-32-1, ternary": network(5, ternary, ternary),
    "2-32-32-32-1, ternary, some biases moved by 2^-50": network(5, ternary, nudged),
    "2-32-32-32-1, Gaussian, no biases": network(2, gaussian, nothing),
    "2-32-32-32-1, Gaussian": network(2, gaussian, gaussian),
}


def table() -> list[str]:
    """Return lines of Markdown: a network, its true number of regions, and the count with each tolerance."""
    square = regions.Polygon(SQUARE)
    result = [
        "| network | `regions.count` | " + " | ".join(f"tolerance {t:g}" for t in TOLERANCES) + " |",
        "|---|" + "---:|" * (1 + len(TOLERANCES)),
    ]
    for name, network in NETWORKS.items():
        true = regions.count(network, square)
        cells = [f"{true:,}"]
        for tolerance in TOLERANCES:
            found = len(rounded_regions(network, tolerance))
            cells.append(f"{found:,}" if found == true else f"**{found:,}**")
        result.append(f"| {name} | " + " | ".join(cells) + " |")
    return result


def picture(path: str) -> None:
    """Draw the regions of a ternary network, some of its biases moved, and the count with each tolerance."""
    import matplotlib.pyplot as plt

    network = NETWORKS["2-32-32-32-1, ternary, some biases moved by 2^-50"]
    partition = regions.enumerate(network, regions.Polygon(SQUARE))
    tolerances = 10.0 ** np.arange(-18, -2.9, 0.5)
    counts = [len(rounded_regions(network, tolerance)) for tolerance in tolerances]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    regions.plot(partition, ax=left)
    left.set_title(f"{len(partition):,} regions, many too narrow to see", fontsize=10)
    right.semilogx(tolerances, counts, "o-", color="#c0392b", ms=4, label="rounded, with a tolerance")
    right.axhline(len(partition), color="#1f4e79", label=f"relu-regions: {len(partition):,}, proven")
    right.set_xlabel("tolerance")
    right.set_ylabel("regions")
    right.set_title("the count with each tolerance", fontsize=10)
    right.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    print("\n".join(table()))
    if len(sys.argv) > 1:
        picture(sys.argv[1])
