# SPDX-License-Identifier: MIT
"""How long does it take merely to evaluate the network once per region?

The yardstick: one numpy forward pass over as many points as there are regions, in float64. Every method that
pushes a point of each region through the network pays at least this, so a ratio below one cannot be reached
that way, and a ratio of two times of the same run says more than seconds of somebody's machine.

It is meant to be hard to beat: the points are made beforehand and go through in blocks that stay in the cache
(which also bounds memory), each layer writes into a buffer that is there already.
"""

from __future__ import annotations

import numpy as np

from workloads import Floats, Layers

BLOCK = 256


class ForwardPass:
    """Evaluate a ReLU network on `n_points` points, [BLOCK, n_in] at a time."""

    def __init__(self, layers: Layers, n_points: int) -> None:
        self.layers = [(np.ascontiguousarray(weights.T), biases) for weights, biases in layers]
        self.points = np.random.default_rng(0).standard_normal((BLOCK, layers[0][0].shape[1]))
        self.buffers = [np.empty((BLOCK, biases.size)) for _, biases in layers]
        self.n_points = n_points

    def run(self) -> None:
        full_blocks, rest = divmod(self.n_points, BLOCK)
        for _ in range(full_blocks):
            self.evaluate(self.points)
        self.evaluate(self.points[:rest])

    def evaluate(self, values: Floats) -> Floats:
        """Outputs [point, n_out] at up to BLOCK points [point, n_in]; the next call overwrites them."""
        last = len(self.layers) - 1
        for index, (weights, biases) in enumerate(self.layers):
            values = np.matmul(values, weights, out=self.buffers[index][: len(values)])
            values += biases
            if index < last:
                np.maximum(values, 0, out=values)
        return values
