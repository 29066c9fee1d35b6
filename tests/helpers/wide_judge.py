# SPDX-License-Identifier: MIT
"""Networks with many inputs whose extremes are known exactly, and a judge of what is found of them.

The sum of networks of different inputs is extreme where each of them is, so its extremes are sums of fractions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import regions

__all__ = ["fault_of", "sum_of_networks", "values_at"]

Layers = list[tuple[Any, Any]]


def sum_of_networks(
    inputs: list[int], seed: int
) -> tuple[regions.Network, tuple[Any, Any], tuple[list[Fraction], list[Fraction]]]:
    """Return a network of two outputs on a box, low and high corners of the box, and the exact extremes.

    It is the sum of networks with these numbers of inputs. Odd seeds are degenerate: integer weights, no biases, zero
    rows, and twins.
    """
    rng = np.random.default_rng(seed)
    depth, degenerate = 1 + seed // 2 % 2, seed % 2 == 1
    blocks = [_block(rng, d, depth, degenerate) for d in inputs]
    low = rng.integers(-2, 1, sum(inputs)) / 2
    widths = rng.choice([0.25, 1.0, 2.0**-40], sum(inputs), p=[0.45, 0.45, 0.1])
    high = low + widths
    layers: Layers = []
    for number in range(depth + 1):
        matrices = [block[number][0] for block in blocks]
        last = number == depth
        weights = np.hstack(matrices) if last else _diagonal(matrices)
        layers.append((weights, np.zeros(2) if last else np.concatenate([block[number][1] for block in blocks])))
    least, greatest = [Fraction(0)] * 2, [Fraction(0)] * 2
    start = 0
    for block, d in zip(blocks, inputs, strict=True):
        ends = low[start : start + d], high[start : start + d]
        found = regions.extremes(regions.Network(block), _domain(*ends))
        least = [a + b for a, b in zip(least, found.exact_minimum, strict=True)]  # type: ignore[operator]
        greatest = [a + b for a, b in zip(greatest, found.exact_maximum, strict=True)]  # type: ignore[operator]
        start += d
    return regions.Network(layers), (low, high), (least, greatest)


def fault_of(net: regions.Network, found: regions.Extremes, exact: tuple[list[Fraction], list[Fraction]]) -> str:
    """Return what is wrong with extremes that were found, or ""."""
    for name, sign, wanted in (("minimum", -1, exact[0]), ("maximum", 1, exact[1])):
        values, points = getattr(found, f"exact_{name}"), getattr(found, f"arg{name[:3]}")
        reached, intervals = getattr(found, f"reached_{name}"), getattr(found, f"{name}_intervals")
        rounded, errors = getattr(found, name), getattr(found, f"{name}_errors")
        for output, (decided, truth) in enumerate(zip(values, wanted, strict=True)):
            low, high = intervals[output].tolist()
            if decided is not None and decided != truth:
                return f"{name} {output} is {decided}, not {truth}"
            if decided is not None and (decided != reached[output] or not high - low <= 1e-9 * (1 + abs(high))):
                return f"{name} {output} is decided, but not its interval {low}, {high}"
            if not low <= truth <= high:
                return f"{name} {output} is {truth}, outside of {low}, {high}"
            if sign * (reached[output] - truth) > 0:
                return f"{name} {output} cannot be reached: {reached[output]} is beyond {truth}"
            if values_at(net, points[output])[output] != reached[output]:
                return f"{name} {output}: the network has another value at its point"
            if errors[output] < np.inf and abs(Fraction(float(rounded[output])) - truth) > Fraction(
                float(errors[output])
            ):
                return f"{name} {output}: error {errors[output]} is too small"
    return ""


def values_at(net: regions.Network, point: Any) -> list[Fraction]:
    """Return the outputs of a chain of ReLUs at a point, in fractions."""
    values = [Fraction(x) for x in np.asarray(point).tolist()]
    for number, layer in enumerate(net.layers):
        rows = zip(layer.weights.tolist(), layer.biases.tolist(), strict=True)
        values = [sum((Fraction(w) * x for w, x in zip(row, values, strict=True)), Fraction(b)) for row, b in rows]
        if number < len(net.layers) - 1:
            values = [max(value, Fraction(0)) for value in values]
    return values


def _block(rng: np.random.Generator, inputs: int, depth: int, degenerate: bool) -> Layers:
    sizes = [inputs, *rng.integers(2, 5, depth).tolist(), 2]
    layers: Layers = []
    for number, (n, m) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        weights, biases = rng.normal(size=(m, n)), rng.normal(size=m) / 2
        if degenerate:
            weights, biases = rng.integers(-2, 3, (m, n)).astype(float), np.zeros(m)
            if number < depth and rng.random() < 0.5:
                weights[-1] = weights[0] * rng.choice([1.0, -1.0, 0.0])
        layers.append((weights, biases if number < depth else np.zeros(m)))
    return layers


def _diagonal(matrices: list[Any]) -> Any:
    result = np.zeros((sum(len(m) for m in matrices), sum(m.shape[1] for m in matrices)))
    row = column = 0
    for matrix in matrices:
        result[row : row + len(matrix), column : column + matrix.shape[1]] = matrix
        row, column = row + len(matrix), column + matrix.shape[1]
    return result


def _domain(low: Any, high: Any) -> regions.Domain:
    if len(low) == 1:
        return regions.Segment(low, high)
    return (regions.Rectangle.from_bounds if len(low) == 2 else regions.Box)(low, high)
