# SPDX-License-Identifier: MIT
"""From which units does an open path lead to the outputs?

A unit is open under a pattern if the piece that it is on has a slope other than 0, and a path is open if all units on
it are, and all weights between them are other than 0. Hanin and Rolnick (2019) call the units at whose end of an open
path the outputs are *good*: the others do not matter there, whatever their values.
Products of zeros and ones, so nothing is rounded.
Cost: one pass backwards through the network for each pattern.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Bits, Packed
from regions.networks.network import Network
from regions.passes.affine import slopes_and_intercepts

__all__ = ["bending_kinks", "leading_to_outputs"]


def leading_to_outputs(network: Network, packed: Packed) -> Bits:
    """Tell for each pattern and kink whether an open path leads from its unit to an output, be it open itself or not.

    Parameters
    ----------
    network : Network
    packed : uint8 [m, bytes]
        Patterns.

    Returns
    -------
    bool [m, kinks]

    Examples
    --------
    Two units side by side, and one after them that reads them, which is off, and then on:

    >>> chain = Network([([[1.0], [1.0]], [0.0, 0.0]), ([[1.0, 0.0]], [-1.0]), ([[1.0]], None)])
    >>> leading_to_outputs(chain, np.array([[0b011], [0b111]], dtype=np.uint8))
    array([[False, False,  True],
           [ True, False,  True]])
    """
    result = np.zeros((len(packed), network.kinks), dtype=bool)
    slopes = [slopes for slopes, _ in slopes_and_intercepts(network, packed)]
    leads: Bits = np.ones((len(packed), network.n_out), dtype=bool)
    stop = network.kinks
    for layer, reader, own in zip(network.layers[-2::-1], network.layers[:0:-1], reversed(slopes), strict=True):
        leads = leads.astype(np.float32) @ (reader.weights != 0).astype(np.float32) > 0
        count = layer.activation.breakpoints.size
        start = stop - count * len(layer.biases)
        result[:, start:stop] = np.repeat(leads, count, axis=1)
        leads &= own != 0
        stop = start
    return result


def bending_kinks(network: Network) -> Bits:
    """Tell at which kinks the slope of the unit changes, bool [kinks]; Leaky ReLU with a slope of 1 does not bend."""
    changes = [
        np.broadcast_to(np.diff(activation.slopes) != 0.0, (len(layer.biases), activation.breakpoints.size)).ravel()
        for layer in network.layers[:-1]
        for activation in [layer.activation]
    ]
    return np.concatenate([np.zeros(0, dtype=bool), *changes])
