# SPDX-License-Identifier: MIT
"""Are the thresholds that choose between two ways right for networks of other families?

    python bench/thresholds.py [NAME ...]

For each threshold, a call is timed with the threshold as it is, and with values that force one way and the other. The
networks are a convolutional, a ternary, a deep and a tiny one. Printed are the times of both ways relative to the time
with the threshold: a number far below 1 says that the threshold chooses the slower way there. Both ways give the same
results. Takes some minutes. Thresholds of the compiled core cannot be changed here; README.md has a list of them.
"""

from __future__ import annotations

import argparse
import importlib
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import regions

Made = Callable[[], tuple[regions.Network, regions.Domain]]
SAMPLES = 3
# Certifying a convolutional network takes a minute.
WITHOUT_IMAGES = ("ternary", "deep", "tiny")


@dataclass(frozen=True)
class Threshold:
    """A constant of a module, two values that force the two ways, and what is timed."""

    module: str
    name: str
    ways: tuple[Any, Any]
    call: Callable[[regions.Network, regions.Domain], object]
    families: tuple[str, ...] = ("convolutional", "ternary", "deep", "tiny")


def _gradients(network: regions.Network, domain: regions.Domain) -> object:
    ends = domain.to_input(np.random.default_rng(0).uniform(-0.05, 0.05, (2, 50, 2)))
    return regions.integrated_gradients(network, ends[0], ends[1], output=0)


def _extremes(network: regions.Network, domain: regions.Domain) -> object:
    return regions.extremes(network, domain).maximum


THRESHOLDS = {
    "merging": Threshold("regions.counting.run", "REPEATED", (0, 10**9), regions.count),
    "norms": Threshold("regions.networks.lowering", "DEEP", (0, 10**9), regions.count),
    "short rows": Threshold("regions.networks.lowering", "LARGE", (0, 10**12), regions.count),
    "runs of legs": Threshold("regions.passes.path_gradients", "LONG", (0, 10**9), _gradients),
    "forward passes": Threshold("regions.answers.corner_values", "NARROW", (2.0**-1000, 2.0**1000), _extremes),
}


def _square(n_in: int, half: float) -> regions.Polygon:
    corners = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
    if n_in == 2:
        return regions.Polygon(corners)
    points = np.random.default_rng(7).standard_normal((3, n_in))
    return regions.circumsquare(*points, side=2 * half)


def _dense(sizes: list[int], half: float, ternary: bool = False) -> tuple[regions.Network, regions.Domain]:
    rng, layers = np.random.default_rng(1), []
    for below, above in zip(sizes[:-1], sizes[1:], strict=True):
        weights, biases = rng.standard_normal((above, below)) * (2 / below) ** 0.5, rng.standard_normal(above) * 0.1
        if ternary:
            weights, biases = (rng.integers(-1, 2, each.shape).astype(float) for each in (weights, biases))
        layers.append((weights, biases))
    return regions.Network(layers), _square(sizes[0], half)


def _convolutional() -> tuple[regions.Network, regions.Domain]:
    """Two convolutions of 3 x 3 with padding, and an affine layer, on images of 12 x 12; written as matrices."""
    rng, side, channels, layers = np.random.default_rng(1), 12, (1, 4, 4), []
    for below, above in zip(channels[:-1], channels[1:], strict=True):
        kernel = rng.standard_normal((above, below, 3, 3)) * (2 / (9 * below)) ** 0.5
        matrix = np.zeros((above, side, side, below, side + 2, side + 2))
        for row in range(side):
            for column in range(side):
                matrix[:, row, column, :, row : row + 3, column : column + 3] = kernel
        inner = matrix[..., 1:-1, 1:-1].reshape(above * side * side, below * side * side)
        layers.append((inner, np.repeat(rng.standard_normal(above) * 0.1, side * side)))
    inputs = layers[-1][0].shape[0]
    layers.append((rng.standard_normal((2, inputs)) * (2 / inputs) ** 0.5, np.zeros(2)))
    return regions.Network(layers), _square(side * side, 0.3)


FAMILIES: dict[str, Made] = {
    "convolutional": _convolutional,
    "ternary": lambda: _dense([2, 24, 24, 24, 2], 1.0, ternary=True),
    "deep": lambda: _dense([2, *[16] * 24, 2], 0.2),
    "tiny": lambda: _dense([2, 8, 8, 2], 1.0),
}


def seconds(threshold: Threshold, value: Any, made: Made) -> float:
    """Return the least processor time of the call with a new network, because compiled networks are kept."""
    module = importlib.import_module(threshold.module)
    before, times = getattr(module, threshold.name), []
    setattr(module, threshold.name, before if value is None else value)
    try:
        for _ in range(SAMPLES):
            network, domain = made()
            start = time.process_time()
            threshold.call(network, domain)
            times.append(time.process_time() - start)
    finally:
        setattr(module, threshold.name, before)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"these; else {', '.join(THRESHOLDS)}")
    options = parser.parse_args()
    warnings.simplefilter("ignore", regions.errors.PrecisionWarning)  # of ways that are forced
    for name in options.names or THRESHOLDS:
        threshold = THRESHOLDS[name]
        for family in threshold.families:
            chosen, one, other = (seconds(threshold, value, FAMILIES[family]) for value in (None, *threshold.ways))
            print(
                f"{name:15} {family:14} {1e3 * chosen:8.1f} ms   {threshold.ways[0]!s:>8}: {one / chosen:5.2f}   "
                f"{threshold.ways[1]!s:>8}: {other / chosen:5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
