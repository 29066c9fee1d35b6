# SPDX-License-Identifier: MIT
"""Which linear forms of a network's outputs are asked for?

Forms become outputs of a graph with one more node, which reads the outputs of the network. Weights are not multiplied,
so nothing is rounded, and exact arithmetic sees the coefficients as they were given.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from regions.ground.arithmetic.arguments import integer, tuple_of
from regions.ground.arithmetic.arrays import exact_float64
from regions.networks.graph import Graph
from regions.networks.network import Network
from regions.networks.parts import with_forms, with_outputs

__all__ = ["asked_forms"]


def asked_forms(network: Network, outputs: Sequence[int] | None, forms: ArrayLike | None) -> Graph:
    """Return the graph whose outputs are the outputs, or the linear forms of outputs, that are asked for.

    Parameters
    ----------
    network : Network
    outputs : sequence of int or None
        Numbers of outputs; None for all of them.
    forms : array-like [m, n_out] or None
        Coefficients of the outputs, one form in each row.

    Raises
    ------
    TypeError, ValueError
        Both are given, or the numbers do not fit the network.
    """
    if outputs is not None and forms is not None:
        raise ValueError("pass outputs= or forms=, not both: a form can have one coefficient other than 0")
    if outputs is not None:
        given = enumerate(tuple_of(outputs, "outputs"))
        numbers = [integer(i, f"outputs[{k}]", least=0, most=network.n_out - 1) for k, i in given]
        if not numbers:
            raise ValueError("outputs is empty: name at least one output, from 0")
        return with_outputs(network.graph, np.array(numbers))
    if forms is None:
        return network.graph
    rows = exact_float64(forms, "forms")
    if rows.ndim != 2 or rows.shape[1] != network.n_out or not len(rows):
        raise ValueError(
            f"forms must have one row for each form and {network.n_out} columns, one for each output; "
            f"got shape {list(rows.shape)}"
        )
    return with_forms(network.graph, rows)
