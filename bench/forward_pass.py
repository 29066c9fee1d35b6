# SPDX-License-Identifier: MIT
"""How long does it take merely to evaluate the network once per region?

This is the yardstick: one numpy forward pass over as many points as there are regions, in float64. Every method that
evaluates the network at a point of each region takes at least this long, so such a method cannot reach a ratio below
one. A ratio of two times of the same run is more meaningful than seconds on some machine.

It is meant to be hard to beat: the points are made beforehand and evaluated in blocks that stay in the cache
(which also bounds memory), and each layer writes into an existing buffer.
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
        """Return outputs [point, n_out] at up to BLOCK points [point, n_in]; the next call overwrites them."""
        last = len(self.layers) - 1
        for index, (weights, biases) in enumerate(self.layers):
            values = np.matmul(values, weights, out=self.buffers[index][: len(values)])
            values += biases
            if index < last:
                np.maximum(values, 0, out=values)
        return values
