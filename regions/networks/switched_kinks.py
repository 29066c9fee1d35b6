# SPDX-License-Identifier: MIT
"""Which kinks switch, given the bits of a pattern that change?

For units with breakpoints, each changed bit is a kink. When the argmax of a maximum changes, several bits change:
(i, b) for all i before the new argmax b, and (i, a) for all i before the old argmax a. They are one kink, the pair
(a, b).
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Integers
from regions.networks.graph import Graph

__all__ = ["switched_kinks"]


def switched_kinks(graph: Graph, places: Integers, bits: Integers) -> tuple[Integers, Integers]:
    """Keep one kink per maximum of the bits that change at each position.

    Parameters
    ----------
    graph : Graph
    places, bits : int64 [m]
        Pairs of a position and a bit that changes there. Positions ascend, and so do the bits of each position.

    Returns
    -------
    places, kinks : int64 [n]
        In the same order.
    """
    pairs = np.flatnonzero(graph.kink_rows[bits, 1] >= 0)
    if not pairs.size:
        return places, bits
    later, earlier = graph.kink_rows[bits[pairs]].T
    # The bits of one unit at one position are consecutive.
    units = np.stack([places[pairs], graph.kink_nodes[bits[pairs]], graph.kink_units[bits[pairs]]])
    begins = np.flatnonzero(np.append(True, (units[:, 1:] != units[:, :-1]).any(axis=0)))
    group = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(pairs))))
    one = np.maximum.reduceat(later, begins)
    # The other argmax: the later branch of a remaining bit, or branch 0, which precedes every argmax.
    rest = np.where(later < one[group], later, -1)
    other = np.maximum(np.maximum.reduceat(rest, begins), np.minimum.reduceat(earlier, begins))
    kept = np.ones(len(bits), dtype=bool)
    kept[pairs] = (later == one[group]) & (earlier == other[group])
    return places[kept], bits[kept]
