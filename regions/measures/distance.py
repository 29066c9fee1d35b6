# SPDX-License-Identifier: MIT
"""How far is a point from the boundary of its activation region, in the whole input space?

A region is where affine forms h - t have given signs, and the boundary of a convex set given by half-spaces is as near
as the nearest of their hyperplanes, needed or not. So the distance is the least of |h - t| / |gradient of h| over all
kinks whose gradient is not 0 there; no region has to be enumerated, and the dimension does not matter.
Floating point gives an interval for each of them (`distance_bounds.py`). Where the sign of a kink is not proven, or
more than one kink can be the nearest, exact arithmetic settles it (`exact_distance.py`): which kink is the nearest is
never a matter of rounding.
On a kink the pattern is that of the point, where active means strictly above. The first layer with a kink at 0 and a
gradient other than 0 then really has a boundary there: below it, all kinks at 0 are constant around the point.
Cost: a forward pass for each point and input, or unit of the first layer, whichever are fewer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.arguments import checked_network
from regions.arrays import points_float64
from regions.measures.distance_bounds import Coordinates, KinkIntervals, kink_intervals
from regions.measures.estimate import Estimate
from regions.measures.exact_distance import ExactDistances, NearestKink
from regions.network import Network

__all__ = ["BoundaryDistances", "distance_to_boundary"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bits = NDArray[np.bool_]

# Numbers per temporary array: 8 MB.
CHUNK = 1 << 20


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryDistances:
    """How far points are from the boundary of their activation regions.

    Attributes
    ----------
    network : Network
    distances : float64 [..]
        In input space; 0 on the boundary, infinite where there is none.
    errors : float64 [..]
        Proven bounds on the errors of the distances.
    kinks : int64 [..]
        The pattern bit that switches at the nearest point of the boundary, exactly; of several the first. -1 where
        there is no boundary.
    nearest : float64 [.., n_in]
        The nearest point of the boundary, rounded; nan where there is none.
    """

    network: Network
    distances: Floats
    errors: Floats
    kinks: Integers
    nearest: Floats

    @property
    def layers(self) -> Integers:
        """Hidden layer, from 0, of each nearest kink, int64 [..]; -1 where there is none."""
        return np.append(self.network.kink_layers, -1)[self.kinks]

    @property
    def units(self) -> Integers:
        """Unit, within its layer, of each nearest kink, int64 [..]; -1 where there is none."""
        return np.append(self.network.kink_units, -1)[self.kinks]

    def times_neurons(self) -> Estimate:
        """Mean distance times the number of hidden neurons: of order 1, says theory, before training and after.

        The points are taken as independent samples.

        Raises
        ------
        ShapeMismatchError, NonFiniteError
            Fewer than two points; points without a boundary.

        References
        ----------
        Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, Corollary 5 and Fig. 6 (b).
        """
        return Estimate(self.distances.ravel() * self.network.hidden)

    def log_histogram(self, bins: int | ArrayLike = 50) -> tuple[Floats, Floats]:
        """Distribution of the decimal logarithms of the distances.

        Of the points that are neither on the boundary nor without one.

        Parameters
        ----------
        bins : int or array_like
            As for `numpy.histogram`, in decimal logarithms.

        Returns
        -------
        densities : float64 [bins]
            With an integral of 1.
        edges : float64 [bins + 1]

        Raises
        ------
        ValueError
            There is no such point.

        References
        ----------
        Hanin, Rolnick 2019, Fig. 7.
        """
        finite = self.distances[(self.distances > 0.0) & np.isfinite(self.distances)]
        if not finite.size:
            raise ValueError("no distance is above 0 and finite: there is no logarithm to show")
        densities, edges = np.histogram(np.log10(finite), bins=bins, density=True)
        return densities, edges.astype(np.float64)

    def __repr__(self) -> str:
        return f"BoundaryDistances({self.distances.size} points, {self.network!r})"


def distance_to_boundary(network: Network, points: ArrayLike) -> BoundaryDistances:
    """Distance from points to the boundary of their activation regions, in the whole input space, and where it is.

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
        No network; points that are no finite real numbers, or have another length.

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
    checked_network(network)
    given = points_float64(points, network.n_in)
    flat = given.reshape(-1, network.n_in)
    distances, errors = np.full(len(flat), np.inf), np.zeros(len(flat))
    kinks, nearest = np.full(len(flat), -1, dtype=np.int64), np.full(flat.shape, np.nan)
    exact: ExactDistances | None = None
    coordinates = Coordinates(network.layers[0].weights)
    largest = max(len(coordinates.gradients) * max(network.widths, default=1), network.n_in, network.kinks)
    step = max(1, CHUNK // largest)
    for start in range(0, len(flat) if network.kinks else 0, step):
        part = flat[start : start + step]
        around = kink_intervals(network, coordinates, part)
        least = around.highest.min(axis=1, initial=np.inf)
        candidates = _candidates(around)
        found, none = candidates.sum(axis=1) == 1, ~candidates.any(axis=1)
        settled = np.flatnonzero(around.decided & found & np.isfinite(least))
        kink = candidates[settled].argmax(axis=1)
        distance = around.distances[settled, kink]
        distances[start + settled], kinks[start + settled] = distance, kink
        errors[start + settled] = np.maximum(distance - around.lowest[settled, kink], least[settled] - distance)
        nearest[start + settled] = part[settled] + around.steps[settled]
        open_questions = np.setdiff1d(np.flatnonzero(~(around.decided & none)), settled)
        for index in open_questions.tolist():
            exact = exact or ExactDistances(network)
            answer = _settle(exact, coordinates, part[index])
            if answer is not None:
                kinks[start + index], distances[start + index], nearest[start + index] = answer
                errors[start + index] = np.spacing(answer.distance) if np.isfinite(answer.distance) else np.inf
    shape = given.shape[:-1]
    return BoundaryDistances(
        network, distances.reshape(shape), errors.reshape(shape), kinks.reshape(shape), nearest.reshape(given.shape)
    )


def _settle(exact: ExactDistances, coordinates: Coordinates, point: Floats) -> NearestKink | None:
    """The nearest kink by exact arithmetic: of its signs, and of the few kinks that can be the nearest with these."""
    signs = exact.enter(point)
    around = kink_intervals(exact.network, coordinates, point[np.newaxis], signs)
    return exact.nearest(np.flatnonzero(_candidates(around)[0]))


def _candidates(around: KinkIntervals) -> Bits:
    """Which kinks can be the nearest, bool [m, kinks]."""
    least = around.highest.min(axis=1, initial=np.inf, keepdims=True)
    result: Bits = around.live & (around.lowest <= least)
    return result
