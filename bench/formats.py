# SPDX-License-Identifier: MIT
"""What do fewer digits change: the number of regions, the regions, or the function?

    python bench/formats.py

Prints the table of docs/rounded-networks.md. A network of float32 weights is stored in eight formats. All counts are
exact counts of `regions.enumerate`, the largest difference is that of `regions.compare` with a proven bound on its
rounding, and patterns of passes are those of `regions.rounded_patterns` at random points. It takes about a minute.
"""

from __future__ import annotations

import numpy as np

import regions
from regions.ground.arithmetic.narrow_floats import nearest_of

WIDTHS = (2, 24, 24, 1)
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
# Points of the table of passes.
POINTS = 100_000
# Integers have one scale for each array: the largest size is the largest integer.
INTEGERS = {"int8": 127, "int6": 31, "int4": 7, "int3": 3}
FORMATS = ("float16", "bfloat16", "float8e4m3fn", "float8e5m2", *INTEGERS)


def network(seed: int, widths: tuple[int, ...] = WIDTHS) -> regions.Network:
    """Return a network with He-normal float32 weights, and biases of a tenth."""
    rng = np.random.default_rng(seed)
    layers = []
    for before, after in zip(widths, widths[1:], strict=False):
        weights = rng.standard_normal((after, before)) * np.sqrt(2 / before)
        layers.append((weights.astype(np.float32), (rng.standard_normal(after) / 10).astype(np.float32)))
    return regions.Network(layers)


def stored(net: regions.Network, name: str) -> regions.Network:
    """Return a network with its weights and biases stored in a format."""

    def rounded(values: np.ndarray) -> np.ndarray:
        if name not in INTEGERS:
            return nearest_of(values, name)
        scale = np.float64(np.float32(np.abs(values).max() / INTEGERS[name]))
        return np.rint(values / scale) * scale

    return regions.Network([(rounded(layer.weights), rounded(layer.biases)) for layer in net.layers])


def row(net: regions.Network, part: regions.Partition, name: str) -> list[str]:
    """Return a row: the format, regions, patterns kept, and the largest difference with a bound on its error."""
    other = stored(net, name)
    own, others = (set(map(bytes, each.packed_patterns)) for each in (part, regions.enumerate(other, SQUARE)))
    found = regions.compare(net, other, SQUARE)
    difference, error = float(found.max_difference[0]), float(found.errors[0])
    assert error < 1e-9
    kept = len(own & others)
    return [name, f"{len(others):,}", f"{kept:,}", f"{100 * kept / len(own):.1f}%", f"{difference:.3g}"]


def table(seed: int = 0) -> list[str]:
    """Return the lines of the table of formats, for one network."""
    net = network(seed)
    part = regions.enumerate(net, SQUARE)
    lines = ["| weights | regions | patterns kept | share kept | largest difference |", "|---|---:|---:|---:|---:|"]
    lines.append(f"| float32 | {len(part):,} | {len(part):,} | 100.0% | 0 |")
    lines += ["| " + " | ".join(row(net, part, name)) + " |" for name in FORMATS]
    return lines


def passes(seed: int = 0, points: int = POINTS) -> list[str]:
    """Return the lines of the table of passes: patterns that rounding makes, at random points."""
    net = network(seed)
    part = regions.enumerate(net, SQUARE)
    at = np.random.default_rng(1).uniform(-1, 1, (points, 2))
    lines = ["| pass in | points | other pattern | patterns of no region | points with them |", "|---|---:|---:|---:|---:|"]
    for name in ("float32", "float16", "bfloat16"):
        found = regions.rounded_patterns(net, at, name)
        phantoms = found.without_region(part)
        numbers = points, found.differing, phantoms.patterns, phantoms.points
        lines.append("| " + " | ".join([name, *(f"{number:,}" for number in numbers)]) + " |")
    return lines


if __name__ == "__main__":
    print("\n".join([*table(), "", *passes()]))
