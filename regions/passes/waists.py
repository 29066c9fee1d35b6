# SPDX-License-Identifier: MIT
"""Through how many numbers, at most, do the outputs depend on the inputs, under a pattern?

A node is a *waist* if no later node reads anything before it: the network's outputs depend on the inputs only through
it. A unit of a waist is constant if its slope is 0 under the pattern. The number of other units bounds the dimension of
the image of a region, exactly and without any arithmetic.
Cost: a look at the slopes of each waist.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.types import Integers, Packed
from regions.networks.graph import Graph

__all__ = ["narrowest"]

# Numbers per temporary array: 8 MB.
CHUNK = 1 << 20


def narrowest(graph: Graph, packed: Packed) -> Integers:
    """Return the least number of non-constant units in a waist under patterns uint8 [m, bytes], at most n_in: int64
    [m].
    """
    result = np.full(len(packed), graph.n_in, dtype=np.int64)
    readers = [(number, read.node) for number, node in enumerate(graph.nodes) for read in node.reads]
    waists = [
        node
        for number, node in enumerate(graph.hidden)
        if all(source >= number for reader, source in readers if reader > number)
    ]
    step = max(1, CHUNK // (graph.kinks + max(graph.widths, default=0) + 1))
    for start in range(0, len(packed), step):
        part = slice(start, start + step)
        bits = graph.bits(packed[part])
        for node in waists:
            slopes, _ = node.units.on_pieces(node.units.pieces_of(bits[:, node.kinks]))
            result[part] = np.minimum(result[part], np.count_nonzero(slopes, axis=1))
    return result
