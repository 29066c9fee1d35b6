# SPDX-License-Identifier: MIT
"""What do fewer digits change: the number of regions, the regions, or the function?

    python bench/formats.py

Prints the tables of docs/rounded-networks.md. A network of float32 weights is stored in eight formats. All counts of
regions are exact, the largest difference is that of `regions.compare` with a proven bound on its rounding, and patterns
of passes are those of `regions.rounded_patterns` at the given points. It takes about ten seconds.
"""

from __future__ import annotations

import numpy as np

import regions
from regions.ground.arithmetic.narrow_floats import nearest_of

WIDTHS = (2, 24, 24, 1)
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
# Points of each row of the table of passes.
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


def bundle(center: tuple[float, float], dtype: type = np.float32, seed: int = 0) -> regions.Network:
    """Return 16 lines through a point, as well as their biases can be stored, and a second layer of 16 units."""
    rng = np.random.default_rng(seed)
    first = rng.standard_normal((16, 2)).astype(np.float32)
    biases: np.ndarray = (-(first.astype(np.float64) @ center)).astype(dtype)
    second = (rng.standard_normal((16, 16)) / 4).astype(np.float32)
    return regions.Network([(first, biases), (second, rng.standard_normal(16) / 10), (np.ones((1, 16)), [0])])


def passes(points: int = POINTS) -> list[str]:
    """Return the lines of the table of passes: patterns that rounding makes, at random points."""
    lines = ["| network | pass in | points | other pattern | patterns of no region | points with them |"]
    lines.append("|---|---|---:|---:|---:|---:|")
    networks = {"2-64-64-64-1, He": network(0, (2, 64, 64, 64, 1)), "bundle in (0.3, 0.7)": bundle((0.3, 0.7))}
    for title, net in networks.items():
        part = regions.enumerate(net, SQUARE)
        at = np.random.default_rng(1).uniform(-1, 1, (points, 2))
        if title.startswith("bundle"):  # around the point where the lines nearly meet
            at = [0.3, 0.7] + at / 100
        for name in ("float32", "float16", "bfloat16"):
            found = regions.rounded_patterns(net, at, name)
            phantoms = found.without_region(part)
            numbers = points, found.differing, phantoms.patterns, phantoms.points
            lines.append("| " + " | ".join([title, name, *(f"{number:,}" for number in numbers)]) + " |")
    return lines


def bundles() -> list[str]:
    """Return the lines of the table of bundles: one layer of 16 lines that meet, or nearly meet, in a point."""
    lines = ["| 16 lines | regions in the plane | in the square | of these, with an area below 1e-12 |"]
    lines.append("|---|---:|---:|---:|")
    plane = regions.Plane([0, 0], [1, 0], [0, 1])
    rng = np.random.default_rng(5)
    for title, center, dtype in (
        ("through (0, 0)", (0.0, 0.0), np.float32),
        ("through (0.3, 0.7), biases in float32", (0.3, 0.7), np.float32),
        ("through (0.3, 0.7), biases in float64", (0.3, 0.7), np.float64),
        ("in general position", None, np.float32),
    ):
        layer = bundle(center or (0.0, 0.0), dtype).layers[0]
        biases = rng.standard_normal(16) / 4 if center is None else layer.biases
        net = regions.Network([(layer.weights, biases), (np.ones((1, 16)), [0])])
        part = regions.enumerate(net, SQUARE)
        small = int((part.volumes + part.volume_errors < 1e-12).sum())
        assert small == (part.volumes - part.volume_errors < 1e-12).sum()
        lines.append(f"| {title} | {regions.count(net, plane):,} | {len(part):,} | {small:,} |")
    return lines


def numbers() -> list[str]:
    """Return the lines of the table of regions in which no input is of a format."""
    names = ("float32", "float16", "bfloat16", "float8e4m3fn", "float8e5m2")
    lines = [f"| network | regions | {' | '.join(f'without {name}' for name in names)} |", "|---|" + 6 * "---:|"]
    for title, net in (("2-24-24-1, He", network(0)), ("bundle in (0.3, 0.7)", bundle((0.3, 0.7)))):
        part = regions.enumerate(net, SQUARE)
        without = [len(part) - int(regions.contains_numbers(part, name).sum()) for name in names]
        lines.append(f"| {title} | {' | '.join(f'{number:,}' for number in (len(part), *without))} |")
    return lines


if __name__ == "__main__":
    print("\n".join([*table(), "", *passes(), "", *bundles(), "", *numbers()]))
