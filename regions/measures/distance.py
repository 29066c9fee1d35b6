# SPDX-License-Identifier: MIT
"""How far is a point from the boundary of its activation region, in the whole input space?

A region is the set where affine forms h - t have given signs. The nearest point on the boundary of a convex set given
by half-spaces is on the nearest of their hyperplanes, redundant or not. So the distance is the least of |h - t| /
|gradient of h| over all kinks whose gradient is not 0 there; no region has to be enumerated, in any dimension. Floating
point gives an interval for each distance (`distance_bounds.py`). If the sign of a kink is not proven, or more than one
kink can be the nearest, exact arithmetic decides (`exact_distance.py`), so the nearest kink never depends on rounding.
On a kink the pattern is the pattern of the point, where active means strictly above. The first layer with a kink at 0
and a nonzero gradient really has a boundary there: below it, all kinks at 0 are constant around the point. For a
maximum, only comparisons with the argmax bound the region; of several largest branches the lowest is the argmax.
Networks with maxima use exact arithmetic, for every point and each such comparison.
Cost: a forward pass for each point and input, or unit of the first layer, whichever are fewer. In exact arithmetic, as
on boundaries, ten milliseconds and more for each 100,000 weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ulp
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.ground.arithmetic.arrays import points_float64
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.ground.threads.deadline import check_time_of_call, present_end
from regions.measures.distance_bounds import KinkIntervals, kink_intervals
from regions.measures.exact_distance import ExactDistances, NearestKink
from regions.measures.point_distances import PointDistances
from regions.networks.graph import Maxima
from regions.networks.network import Network, require_network
from regions.passes.bounded_gradients import Coordinates

# Numbers per temporary array: 8 MB.
CHUNK = 1 << 20


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryDistances(PointDistances):
    """Distances of points from the boundary of their activation regions.

    Attributes
    ----------
    network : Network
    distances : float64 [..]
        In input space; 0 on the boundary, infinite if there is no boundary.
    kinks : int64 [..]
        The pattern bit that switches at the nearest point of the boundary, exactly; the first of several. -1 if there
        is no boundary.
    nearest : float64 [.., n_in]
        The nearest point of the boundary, rounded; NaN if there is no boundary.
    errors : float64 [..]
        Proven bounds on the errors of the distances.
    """

    errors: Floats

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the table of `PointDistances` with bounds on the errors of the distances."""
        return {**super().to_columns(), "error": self.errors.ravel().tolist()}


def distance_to_boundary(network: Network, points: ArrayLike) -> BoundaryDistances:
    """Return the distance from points to the boundary of their activation regions, and where the boundary is.

    Parameters
    ----------
    network : Network
    points : array_like [.., n_in]

    Returns
    -------
    BoundaryDistances

    Raises
    ------
    TypeError, ShapeMismatchError, NonFiniteError
        Not a network; points that are not finite real numbers, or have another length.

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, section 3.2.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[3.0, 4.0], [1.0, 0.0]], [0.0, -5.0]), ([[1.0, 1.0]], [0.0])])
    >>> found = distance_to_boundary(net, [[3.0, 4.0], [4.5, 4.0], [4.0, -3.0]])
    >>> found.distances, found.kinks
    (array([2. , 0.5, 0. ]), array([1, 1, 0]))
    >>> found.nearest[1]
    array([5., 4.])
    """
    require_network(network)
    given = points_float64(points, network.n_in, shape=network.input_shape)
    flat = given.reshape(-1, network.n_in)
    distances, errors = np.full(len(flat), np.inf), np.zeros(len(flat))
    kinks, nearest = np.full(len(flat), -1, dtype=np.int64), np.full(flat.shape, np.nan)
    exact = ExactDistances(network.graph)

    def keep(index: int, answer: NearestKink | None) -> None:
        if answer is not None:
            kinks[index], distances[index], nearest[index] = answer
            errors[index] = ulp(answer.distance)  # infinity has an infinite ulp

    if any(isinstance(node.units, Maxima) for node in network.graph.hidden):
        for index, point in enumerate(flat):
            keep(index, exact.around(point))
    else:
        _mostly_rounded(network, flat, exact, keep, (distances, kinks, errors, nearest))
    shape = given.shape[:-1]
    return BoundaryDistances(
        network,
        distances.reshape(shape),
        kinks.reshape(shape),
        nearest.reshape(given.shape),
        errors.reshape(shape),
    )


def _mostly_rounded(
    network: Network,
    flat: Floats,
    exact: ExactDistances,
    keep: Callable[[int, NearestKink | None], None],
    found: tuple[Floats, Integers, Floats, Floats],
) -> None:
    """Find the distances of points [m, n_in] by bounds, and exactly where these do not decide."""
    distances, kinks, errors, nearest = found
    coordinates = Coordinates(network.graph)
    largest = max(len(coordinates.gradients) * max(network.widths, default=1), network.n_in, network.kinks)
    step = max(1, CHUNK // largest)
    for start in range(0, len(flat) if network.kinks else 0, step):
        if present_end() is not None:
            check_time_of_call()
        part = flat[start : start + step]
        around = kink_intervals(network.graph, coordinates, part)
        candidates, least = _candidates(around, exact), around.highest.min(axis=1)
        counts = candidates.sum(axis=1)
        settled = np.flatnonzero(around.decided & (counts == 1) & np.isfinite(least))
        kink = candidates[settled].argmax(axis=1)
        distance = around.distances[settled, kink]
        distances[start + settled], kinks[start + settled] = distance, kink
        errors[start + settled] = np.maximum(distance - around.lowest[settled, kink], least[settled] - distance)
        nearest[start + settled] = part[settled] + around.steps[settled]
        open_questions = np.setdiff1d(np.flatnonzero(~(around.decided & (counts == 0))), settled)
        for index in open_questions.tolist():
            if present_end() is not None:
                check_time_of_call()
            if around.decided[index]:
                answer = exact.nearest(part[index], around.above[index], np.flatnonzero(candidates[index]).tolist())
            else:
                answer = _settle(exact, coordinates, part[index])
            keep(start + index, answer)


def _settle(exact: ExactDistances, coordinates: Coordinates, point: Floats) -> NearestKink | None:
    """Return the nearest kink by exact arithmetic, from its signs and the few kinks that can then be the nearest."""
    signs = exact.signs(point)
    around = kink_intervals(exact.graph, coordinates, point[np.newaxis], signs)
    return exact.nearest(point, signs > 0, np.flatnonzero(_candidates(around, exact)[0]).tolist())


def _candidates(around: KinkIntervals, exact: ExactDistances) -> Bits:
    """Return which kinks can be the nearest; only the first of kinks known to be on one hyperplane: bool [m, kinks]."""
    result: Bits = around.live & (around.lowest <= around.highest.min(axis=1, keepdims=True))
    for index in np.flatnonzero(around.decided & (result.sum(axis=1) > 1)).tolist():
        first = exact.distinct(np.flatnonzero(result[index]).tolist())
        result[index] = False
        result[index, first] = True
    return result
