# SPDX-License-Identifier: MIT
"""Which kinks switch where some bits of a pattern do?

Of units with breakpoints those of these bits. Where another arm of a maximum wins, several bits change: (i, b) for all
i before the new winner b, and (i, a) for those before the old one. That is one kink, the pair of the two winners.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Integers
from regions.networks.graph import Graph

__all__ = ["switched_kinks"]


def switched_kinks(graph: Graph, places: Integers, bits: Integers) -> tuple[Integers, Integers]:
    """Keep of the bits that change at each place one for each maximum.

    Parameters
    ----------
    graph : Graph
    places, bits : int64 [m]
        Pairs: a bit changes at a place. Places ascend, and the bits of each.

    Returns
    -------
    places, kinks : int64 [n]
        In the same order.
    """
    pairs = np.flatnonzero(graph.kink_rows[bits, 1] >= 0)
    if not pairs.size:
        return places, bits
    later, earlier = graph.kink_rows[bits[pairs]].T
    # The bits of one unit at one place follow each other.
    units = np.stack([places[pairs], graph.kink_nodes[bits[pairs]], graph.kink_units[bits[pairs]]])
    begins = np.flatnonzero(np.append(True, (units[:, 1:] != units[:, :-1]).any(axis=0)))
    group = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(pairs))))
    one = np.maximum.reduceat(later, begins)
    # The other winner: the later arm of what is left, or arm 0, which all those before the first winner include.
    rest = np.where(later < one[group], later, -1)
    other = np.maximum(np.maximum.reduceat(rest, begins), np.minimum.reduceat(earlier, begins))
    kept = np.ones(len(bits), dtype=bool)
    kept[pairs] = (later == one[group]) & (earlier == other[group])
    return places[kept], bits[kept]
