# SPDX-License-Identifier: MIT
"""Which class does a network give on each of its regions?

The class of a point is the number of the largest output; if several are equal, the first of them, as in `numpy.argmax`.
For each pair of outputs a unit is added. Its pre-activation is the difference of the outputs, and its kink lies where
they are equal. Where a single output is compared with a threshold, it has its kink there itself. Therefore each region
of the network with these units has one class, which follows from their bits.
"""

from __future__ import annotations

import numpy as np

from regions.errors import NetworkError
from regions.ground.arithmetic.arguments import real
from regions.ground.arithmetic.types import Bits, Integers
from regions.networks.graph import Graph
from regions.networks.network import Network
from regions.networks.parts import ending, signing, with_forms

__all__ = ["classes_of", "crossing", "scored", "threshold_of"]


def classes_of(bits: Bits, pairs: Integers, outputs: int) -> Integers:
    """Return the largest output of each region: above all earlier ones, and no later one is above it.

    Parameters
    ----------
    bits : bool [m, pairs]
        Bits of the units that `regions.networks.parts.comparing` adds.
    pairs : int64 [pairs, 2]
        The later and the earlier output that each unit compares.
    outputs : int

    Returns
    -------
    int64 [m]
    """
    is_largest = np.ones((len(bits), outputs), dtype=np.bool_)
    for (later, earlier), above in zip(pairs, bits.T, strict=True):
        is_largest[:, later] &= above
        is_largest[:, earlier] &= ~above
    return is_largest.argmax(axis=1)


def scored(graph: Graph, threshold: float | None, largest: bool) -> Graph:
    """Return the graph whose largest output gives the class.

    With a threshold the graph has one output, and class 1 is where it is above the threshold (below it, if not
    ``largest``). Otherwise the class is the number of the largest (or smallest) output.
    """
    sign = 1.0 if largest else -1.0
    if threshold is not None:
        return with_forms(graph, np.array([[0.0], [sign]]), np.array([sign * threshold, 0.0]))
    return graph if largest else with_forms(graph, -np.eye(graph.n_out))


def crossing(graph: Graph, threshold: float, largest: bool) -> Graph:
    """Return the graph whose last hidden node is the single output, or minus it if not ``largest``, with a kink where
    it crosses the threshold. The only output is 0.
    """
    cut = signing(graph, threshold) if largest else signing(with_forms(graph, -np.eye(1)), -threshold)
    return ending(cut, len(cut.hidden), [-1])


def threshold_of(network: Network, given: float | None) -> float | None:
    """Return the threshold of a network with one output, 0 by default; None for several outputs.

    Raises
    ------
    NetworkError
        A threshold is given, and the network has several outputs.
    """
    if network.n_out == 1:
        return 0.0 if given is None else real(given, "threshold")
    if given is not None:
        raise NetworkError(
            f"threshold= is for networks with one output, and this one has {network.n_out}: leave it out, or choose an "
            "output with network.outputs([i])"
        )
    return None
