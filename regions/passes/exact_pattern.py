# SPDX-License-Identifier: MIT
"""On which side of every kink does a point lie, exactly?

Weights, charts and points are doubles, hence integers times powers of two, and a forward pass only adds and
multiplies: it is done in Python integers (numpy object arrays) with one exponent per array. The first layer
is restricted to the chart once, so wide inputs cost nothing per point.
Cost: about 40 ns per weight and point at first, more as numbers grow with depth: milliseconds. It is meant
for the few points that floating point can not place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Floats, Objects
from regions.domains import Domain
from regions.domains.exact import dyadic
from regions.networks.network import Network

__all__ = ["ExactNetwork"]

# Entries of the first layer's weights taken at a time, to bound the memory of their integers (about 100 bytes
# each).
BLOCK = 1 << 20


class Dyadic(NamedTuple):
    """The numbers ``integers * 2**exponent``."""

    integers: Objects
    exponent: int

    def __add__(self, other: Dyadic) -> Dyadic:  # type: ignore[override]
        lowest = min(self.exponent, other.exponent)
        return Dyadic(self.over(lowest) + other.over(lowest), lowest)

    def times(self, other: Dyadic) -> Dyadic:
        return Dyadic(self.integers * other.integers, self.exponent + other.exponent)

    def matrix_times(self, other: Dyadic) -> Dyadic:
        return Dyadic(self.integers @ other.integers, self.exponent + other.exponent)

    def over(self, exponent: int) -> Objects:
        """The integers when the exponent is lowered to the given one."""
        result: Objects = self.integers * (1 << (self.exponent - exponent))
        return result

    def at(self, index: Any) -> Dyadic:
        return Dyadic(self.integers[index], self.exponent)

    def signs(self) -> NDArray[np.int8]:
        return (self.integers > 0).astype(np.int8) - (self.integers < 0).astype(np.int8)


def exactly(values: Floats) -> Dyadic:
    return Dyadic(*dyadic(values))


class ExactNetwork:
    """The hidden layers of a network on a domain, in exact arithmetic.

    Parameters
    ----------
    network : Network
    domain : Domain
        Only its chart is used.
    """

    def __init__(self, network: Network, domain: Domain) -> None:
        self.layers = network.layers[:-1]
        if not self.layers:
            return
        first = self.layers[0]
        chart = exactly(np.vstack([domain.origin, domain.directions]).T)  # [n_in, 1 + d]
        step = max(1, BLOCK // network.n_in)
        rows = [
            exactly(first.weights[start : start + step]).matrix_times(chart)
            for start in range(0, len(first.weights), step)
        ]
        lowest = min(block.exponent for block in rows)
        self.rows = Dyadic(np.concatenate([block.over(lowest) for block in rows]), lowest)
        self.weights = [exactly(layer.weights) for layer in self.layers[1:]]
        self.biases = [exactly(layer.biases) for layer in self.layers]

    def signs(self, point: Floats) -> NDArray[np.int8]:
        """Sign of pre-activation minus breakpoint at a chart point [d], for every kink: int8 [kinks] of -1,
        0, 1."""
        if not self.layers:
            return np.zeros(0, dtype=np.int8)
        homogeneous = exactly(np.concatenate([[1.0], point]))
        h = self.rows.matrix_times(homogeneous) + self.biases[0]
        result = []
        for index, layer in enumerate(self.layers):
            activation = layer.activation
            signs = [(h + exactly(np.array([-t]))).signs() for t in activation.breakpoints]
            above = np.stack(signs, axis=1) if signs else np.zeros((len(layer.biases), 0), dtype=np.int8)
            result.append(above.ravel())
            if index + 1 == len(self.layers):
                break
            # At a breakpoint both pieces have the same value, exactly, so it does not matter that 0 counts as
            # below.
            pieces = (above > 0).sum(axis=1)
            slopes, intercepts = activation.slopes_of(pieces), activation.intercepts_of(pieces)
            values = exactly(slopes).times(h) + exactly(intercepts)
            reads = np.flatnonzero(values.integers != 0)
            h = self.weights[index].at((slice(None), reads)).matrix_times(values.at(reads)) + self.biases[index + 1]
        return np.concatenate(result)
