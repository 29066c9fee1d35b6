# SPDX-License-Identifier: MIT
"""Which affine functions do the kinks of a network compare with 0, if the gates are given and not decided by the input?

All units are followed at once: a value is an affine function of the inputs, its constant and its coefficients. Products
and sums are rounded.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.types import Floats
from regions.networks.graph import Graph

__all__ = ["frozen_forms"]


def frozen_forms(graph: Graph, coins: np.random.Generator) -> Floats:
    """Return the forms of all kinks, constants first, float64 [1 + n_in, kinks].

    A unit with a kink follows one of its two pieces, at random; slopes are those of activations without intercepts.
    Numbers beyond the largest double are infinite, or NaN.
    """
    values = {-1: np.eye(graph.n_in + 1)[:, 1:]}
    forms = [np.zeros((graph.n_in + 1, 0))]
    with np.errstate(over="ignore", invalid="ignore"):
        for number, node in enumerate(graph.hidden):
            rows = np.zeros((graph.n_in + 1, node.units.rows))
            rows[0] = node.biases
            for read in node.reads:
                rows += read.operator.apply(values[read.node])
            forms.append(node.units.compared(rows))
            has_kinks = np.isin(np.arange(node.units.count), node.units.kink_units)
            gates = coins.integers(0, 2, node.units.count) * has_kinks
            slopes, _ = node.units.on_pieces(gates)
            values[number] = node.units.followed(rows, np.broadcast_to(gates, (len(rows), len(gates)))) * slopes
    return np.concatenate(forms, axis=1)
