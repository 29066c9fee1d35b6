# SPDX-License-Identifier: MIT
"""How many regions does a segment cross, layer by layer in numpy?

This is the yardstick on lines. It stores the sorted breakpoints on the segment and the values of the layer at each, and
sends them all through the next layer. Between two neighbours every neuron is affine, so a change of sign is one new
breakpoint, found and filled in by interpolation. One matrix product per layer does nearly all the work.

As in the package, a neuron is active where its value is above zero, and a region is an interval
of constant pattern. It uses floating point throughout, so it may be wrong where breakpoints nearly meet; on the
random segments of bench/ the counts must be equal.
"""

from __future__ import annotations

import numpy as np

from workloads import Floats, Layers


def count_regions(layers: Layers, segment_ends: Floats) -> list[int]:
    """Count the regions on each of the segments [segment, 2, n_in]."""
    return [count_on_segment(layers, ends) for ends in segment_ends]


def count_on_segment(layers: Layers, ends: Floats) -> int:
    positions = np.array([0.0, 1.0])
    values = ends
    for depth, (weights, biases) in enumerate(layers[:-1]):
        values = values @ weights.T
        values += biases
        active = values > 0
        left, neuron = np.nonzero(active[1:] != active[:-1])
        if depth == len(layers) - 2:  # the values of the last hidden layer are not needed
            return len(positions) - 1 + left.size
        before, after = values[left, neuron], values[left + 1, neuron]
        share = before / (before - after)
        crossings = positions[left] + share * (positions[left + 1] - positions[left])
        at_crossings = values[left] + share[:, None] * (values[left + 1] - values[left])
        at_crossings[np.arange(left.size), neuron] = 0
        positions = np.concatenate([positions, crossings])
        order = np.argsort(positions, kind="stable")
        positions = positions[order]
        values = np.concatenate([values, at_crossings])[order]
        np.maximum(values, 0, out=values)
    return 1
