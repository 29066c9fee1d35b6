# SPDX-License-Identifier: MIT
"""What does a forward pass in a format of fewer digits compute?

Weights, biases and inputs are rounded to the format. Each pre-activation is the exact sum of the exact products,
rounded once to the nearest number of the format, and so is each output of a unit. This is the best pass that the format
allows. Programs that round more often, or in an order of their own, differ more often from the exact network.

Products of two numbers of 24 bits are doubles. Their sum is computed in double precision with an error bound. If both
ends of the bound round to one number of the format, that is the result. Otherwise the sum is correctly rounded to a
double (`math.fsum`). If that is the middle of two numbers of the format, the sign of what is left decides.
Cost: a forward pass, and a fraction of a millisecond for each sum that is near a middle.
"""

from __future__ import annotations

from math import fsum

import numpy as np

from regions.errors import NonFiniteError, UnsupportedLayerError
from regions.ground.arithmetic.narrow_floats import nearest_of
from regions.ground.arithmetic.roundoff import U
from regions.ground.arithmetic.types import Bits, Floats
from regions.networks.network import Network

__all__ = ["FORMATS", "Narrow"]

FORMATS = ("float32", "float16", "bfloat16")


def _nearest(values: Floats, name: str) -> Floats:
    if name == "float32":
        with np.errstate(over="ignore"):
            return values.astype(np.float32).astype(np.float64)
    return nearest_of(values, name)


class Narrow:
    """Forward passes of a chain of dense layers in one format.

    Parameters
    ----------
    network : Network
    name : str
        One of `FORMATS`.

    Raises
    ------
    NetworkError
        The network is not a chain of dense layers.
    UnsupportedLayerError
        A slope is not 0, 1 or -1, so that outputs would be rounded products.
    NonFiniteError
        A weight or bias is beyond the largest number of the format.
    """

    def __init__(self, network: Network, name: str) -> None:
        self.name, self.hidden, self.nodes = name, network.layers[:-1], network.graph.hidden
        self.weights = [self.rounded(layer.weights, f"the weights of layer {i}") for i, layer in enumerate(self.hidden)]
        self.biases = [self.rounded(layer.biases, f"the biases of layer {i}") for i, layer in enumerate(self.hidden)]
        for i, layer in enumerate(self.hidden):
            slopes, intercepts = layer.activation.slopes, layer.activation.intercepts
            if not (np.isin(slopes, (-1, 0, 1)) & ((slopes == 0) | (intercepts == 0))).all():
                raise UnsupportedLayerError(
                    f"layer {i} has {layer.activation!r}, whose outputs are products that each program rounds in its "
                    "own way; passes in other formats are computed for relu, abs and hard_tanh"
                )

    def rounded(self, values: Floats, what: str) -> Floats:
        """Return the nearest numbers of the format; refuse infinite ones."""
        found = _nearest(values, self.name)
        if not np.isfinite(found).all():
            raise NonFiniteError(f"in {self.name}, a number among {what} is beyond the largest number")
        return found

    def patterns(self, points: Floats) -> Bits:
        """Return the patterns of points of the format, [m, n_in]: bool [m, kinks]."""
        bits, values = [np.zeros((len(points), 0), dtype=bool)], points
        for i, layer in enumerate(self.hidden):
            sums = self._sums(values, i)
            bits.append(self.nodes[i].units.bits_at(sums))
            values = self.rounded(layer.activation(sums), f"the outputs of layer {i}")
        return np.concatenate(bits, axis=1)

    def _sums(self, values: Floats, i: int) -> Floats:
        """Return the pre-activations of layer i, each rounded once."""
        weights, biases = self.weights[i], self.biases[i]
        near = values @ weights.T + biases
        # An unknown order of n + 1 additions is off by less than n + 1 half units in the last place of all sizes.
        sizes = np.abs(values) @ np.abs(weights).T + np.abs(biases)
        errors = 2 * (weights.shape[1] + 4) * U * sizes
        below, above = _nearest(near - errors, self.name), _nearest(near + errors, self.name)
        for row, unit in np.argwhere(below != above):
            below[row, unit] = self._sum(values[row], weights[unit], float(biases[unit]))
        return self.rounded(below, f"the pre-activations of layer {i}")

    def _sum(self, values: Floats, weights: Floats, bias: float) -> float:
        terms = [*(values * weights).tolist(), bias]
        total = fsum(terms)
        rest = fsum([*terms, -total])
        if rest:  # only its side matters, if the total is in the middle of two numbers
            total = float(np.nextafter(total, np.copysign(np.inf, rest))) if self._in_middle(total) else total
        return float(_nearest(np.array(total), self.name))

    def _in_middle(self, total: float) -> bool:
        ends = (np.array(np.nextafter(total, end)) for end in (-np.inf, np.inf))
        low, high = (float(_nearest(end, self.name)) for end in ends)
        return low != high
