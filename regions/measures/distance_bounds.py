# SPDX-License-Identifier: MIT
"""Which bounds on the distances from points to all kinks can floating point prove?

A distance is the size of a pre-activation minus a breakpoint over the length of its gradient, and both are known up to
bounds (`regions/passes/bounded_gradients.py`).
Invariant: all bounds hold with underflow and overflow. After overflow the result is unknown: an interval from 0
to infinity, a point that is not decided.
Cost: a product with the weights for each point, and each input or unit of the first layer, whichever are fewer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.roundoff import TINY
from regions.ground.arithmetic.types import Bits, Floats
from regions.networks.graph import Graph
from regions.networks.walk import Forward
from regions.passes.bounded import rounding_unit
from regions.passes.bounded_gradients import BoundedGradients, Coordinates

LARGEST = float(np.finfo(np.float64).max)


class KinkIntervals(NamedTuple):
    """Distances from m points to the hyperplanes of all kinks, in the region of each point."""

    decided: Bits  # [m]: the signs of all kinks are proven; otherwise the other fields are meaningless
    above: Bits  # [m, kinks]: whether the point is above the breakpoint
    live: Bits  # [m, kinks]: whether there may be a hyperplane
    distances: Floats  # [m, kinks], rounded
    lowest: Floats  # [m, kinks]: proven
    highest: Floats  # [m, kinks]: proven, infinite if the gradient can be 0
    steps: Floats  # [m, n_in]: from the point to the nearest hyperplane, the first one with the least `highest`


def kink_intervals(
    graph: Graph, coordinates: Coordinates, points: Floats, signs: NDArray[np.int8] | None = None
) -> KinkIntervals:
    """Bound the distances to all kinks.

    Parameters
    ----------
    graph : Graph
    coordinates : Coordinates
        The coordinates of the graph's gradients.
    points : float64 [m, n_in]
    signs : int8 [kinks], optional
        The true sign of every kink, for a single point, which is then decided.
    """
    count = len(points)
    shape = (count, graph.kinks)
    above, live = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    distances, lowest, highest = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    decided, least = np.ones(count, dtype=bool), np.full(count, np.inf)
    steps = np.zeros((count, len(coordinates.gradients)))
    rows, arithmetic = np.arange(count), BoundedGradients(coordinates)
    with np.errstate(all="ignore"):
        walk = Forward(graph, arithmetic, arithmetic.inputs(points))
        for node in graph.hidden:
            units, at_kinks, part = walk.preactivations(node), node.units.at_kinks, node.kinks
            offsets = at_kinks(units.values) - node.units.kink_values
            sizes, errors = np.abs(offsets), at_kinks(units.errors)
            on, known = offsets > 0.0, (sizes > errors) | (errors == 0.0)
            if signs is not None:
                on, known = np.broadcast_to(signs[part] > 0, on.shape), np.ones_like(known)
                sizes, errors = (np.where(signs[part] == 0, 0.0, each) for each in (sizes, errors))
            decided &= known.all(axis=1)
            lengths, shortest, longest = map(at_kinks, (units.lengths, units.shortest, units.longest))
            above[:, part], live[:, part] = on, at_kinks(units.live)
            distances[:, part] = sizes / lengths
            unit = rounding_unit(4)  # for the roundings of the next two lines
            low = np.maximum(sizes - errors, 0.0) / longest * (1.0 - unit) - TINY
            high = (sizes + errors) / shortest * (1.0 + unit) + TINY
            lowest[:, part] = np.where(low > 0.0, np.minimum(low, LARGEST), 0.0)  # 0 for NaN
            highest[:, part] = np.where(live[:, part] & (shortest > 0.0) & (high >= 0.0), high, np.inf)
            if node.units.kinks:
                nearest = highest[:, part].argmin(axis=1)
                better = np.flatnonzero(highest[rows, part.start + nearest] < least)
                kink = nearest[better]
                least[better] = highest[better, part.start + kink]
                along = units.gradients[better, :, node.units.kink_units[kink]] / lengths[better, kink][:, np.newaxis]
                steps[better] = -(offsets[better, kink] / lengths[better, kink])[:, np.newaxis] * along
            walk.leave(node, units, node.units.pieces_of(on))
    return KinkIntervals(decided, above, live, distances, lowest, highest, coordinates.to_input(steps))
