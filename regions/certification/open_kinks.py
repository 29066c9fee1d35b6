# SPDX-License-Identifier: MIT
"""Which kinks may be zero at a vertex, because bounds on their values do not prove their sign?

Such a kink is *open*. If two branches of a maximum may both equal the argmax, the kink between them may be zero too: it
is added to the open kinks, without bounds of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.arithmetic.types import Floats, Indices, Integers
from regions.networks.maxima import Maxima

__all__ = ["OpenKinks", "with_closed"]


class OpenKinks(NamedTuple):
    """Open kinks of some vertices.

    Attributes
    ----------
    vertices, kinks : int64 [n]
    most, growth : float64 [n]
        Bounds on the magnitudes of the forms of open kinks at the stored points, and for each unit of distance from
        there; 0 if two branches are equal where open kinks that have bounds are zero.
    """

    vertices: Integers
    kinks: Integers
    most: Floats
    growth: Floats


def with_closed(units: Maxima, pieces: Indices, found: OpenKinks) -> OpenKinks:
    """Add the comparisons of branches that may both equal the argmax [vertices, units]: each is zero if these are."""
    keys = found.vertices * units.count + units.kink_units[found.kinks]
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    sizes = np.diff(starts, append=len(keys))
    vertices, kinks = [found.vertices], [found.kinks]
    for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        group = order[start : start + size]
        vertex, unit = divmod(int(keys[group[0]]), units.count)
        argmax = units.starts[unit] + int(pieces[vertex, unit])
        # The branches that are compared with the argmax, as indices within their unit, and the first kink of the unit.
        pairs = units.kink_rows[found.kinks[group]]
        branches = np.sort(np.where(pairs[:, 0] == argmax, pairs[:, 1], pairs[:, 0]) - units.starts[unit]).tolist()
        first = int(np.searchsorted(units.kink_units, unit))
        added = [first + b * (b - 1) // 2 + a for b in branches for a in branches if a < b]
        vertices.append(np.full(len(added), vertex, dtype=np.int64))
        kinks.append(np.array(added, dtype=np.int64))
    every, numbers = np.concatenate(vertices), np.concatenate(kinks)
    zeros = np.zeros(len(every) - len(found.vertices))
    return OpenKinks(every, numbers, np.concatenate([found.most, zeros]), np.concatenate([found.growth, zeros]))
