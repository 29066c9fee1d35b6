# SPDX-License-Identifier: MIT
"""How far is a point of input space from each kink of its region, exactly?

Weights and points are doubles, so a forward pass can be taken in integers with one exponent per array, as in
`regions/exact_pattern.py`, here in the full input space. The distance to a kink is |h - t| over the length of its
gradient: the square of it is a fraction, and fractions are compared. Only its root is rounded.
Cost: of an order of 100 ns per weight for the pass, and as much again for each kink: milliseconds. It is meant for the
few points that floating point can not settle (`distance.py`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.domains.exact import nearest_float, square_root
from regions.exact_pattern import Dyadic, exactly
from regions.network import Network

__all__ = ["ExactDistances", "NearestKink"]

Floats = NDArray[np.float64]


class NearestKink(NamedTuple):
    """The nearest of some kinks: which one, how far, and where it comes nearest, float64 [n_in]."""

    kink: int
    distance: float
    nearest: Floats


class ExactDistances:
    """The kinks of a network as exact affine forms around one point after the other.

    Parameters
    ----------
    network : Network
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.layers = network.layers[:-1]
        self.weights = [exactly(layer.weights) for layer in self.layers]
        self.point = np.zeros(0)
        self.preactivations: list[Dyadic] = []
        self.slopes: list[Floats] = []

    def enter(self, point: Floats) -> NDArray[np.int8]:
        """Go to a point [n_in]; return the sign of pre-activation minus breakpoint of every kink, int8 [kinks]."""
        self.point, self.preactivations, self.slopes = point, [], []
        values, signs = exactly(point), [np.zeros(0, dtype=np.int8)]
        for layer, weights in zip(self.layers, self.weights, strict=True):
            reads = np.flatnonzero(values.integers != 0)
            h = weights.at((slice(None), reads)).matrix_times(values.at(reads)) + exactly(layer.biases)
            above = [(h + exactly(np.array([-t]))).signs() for t in layer.activation.breakpoints]
            layer_signs = np.stack(above, axis=1) if above else np.zeros((len(layer.biases), 0), dtype=np.int8)
            # On a breakpoint both pieces have the same value, and 0 counts as below: the pattern is that of the point.
            pieces = (layer_signs > 0).sum(axis=1)
            slopes = layer.activation.slopes_of(pieces)
            values = exactly(slopes).times(h) + exactly(layer.activation.intercepts_of(pieces))
            signs.append(layer_signs.ravel())
            self.preactivations.append(h)
            self.slopes.append(slopes)
        return np.concatenate(signs)

    def nearest(self, kinks: NDArray[np.integer]) -> NearestKink | None:
        """The nearest of some kinks, the first of several; None if all their gradients are 0 here."""
        best: tuple[Fraction, int, Dyadic] | None = None
        for kink in kinks.tolist():
            gradient = self._gradient(kink)
            length = _squared_length(gradient)
            if length:
                squared = self._offset(kink) ** 2 / length
                if best is None or squared < best[0]:
                    best = squared, kink, gradient
        if best is None:
            return None
        squared, kink, gradient = best
        step = self._offset(kink) / _squared_length(gradient) * Fraction(2) ** gradient.exponent
        moved = [Fraction(x) - step * g for x, g in zip(self.point.tolist(), gradient.integers.tolist(), strict=True)]
        return NearestKink(kink, square_root(squared) if squared else 0.0, np.array([nearest_float(x) for x in moved]))

    def _offset(self, kink: int) -> Fraction:
        """Pre-activation minus breakpoint."""
        h = self.preactivations[self.network.kink_layers[kink]].at(self.network.kink_units[kink])
        value: Fraction = int(h.integers) * Fraction(2) ** h.exponent
        return value - Fraction(float(self.network.kink_values[kink]))

    def _gradient(self, kink: int) -> Dyadic:
        """Gradient of a kink's pre-activation where the pattern is that of the point, [n_in]."""
        layer = int(self.network.kink_layers[kink])
        row = self.weights[layer].at(self.network.kink_units[kink])
        for below in range(layer - 1, -1, -1):
            reads = np.flatnonzero((row.integers != 0) & (self.slopes[below] != 0.0))
            row = row.at(reads).times(exactly(self.slopes[below][reads])).matrix_times(self.weights[below].at(reads))
        return row


def _squared_length(vector: Dyadic) -> Fraction:
    result: Fraction = int((vector.integers**2).sum()) * Fraction(4) ** vector.exponent
    return result
