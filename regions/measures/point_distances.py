# SPDX-License-Identifier: MIT
"""What are the statistics of the distances of many points to a boundary?

This is the common part of distances in the whole input space (`distance.py`) and within a domain
(`domain_distance.py`): the neurons of the nearest boundary, the mean, and the distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.errors import NonFiniteError, ShapeMismatchError
from regions.files.tabular import Tabular
from regions.ground.arithmetic.arguments import integer, is_sequence
from regions.ground.arithmetic.arrays import name_point, real_numbers, require_finite
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.text.tables import facts_table, spread
from regions.measures.estimate import Estimate
from regions.networks.network import Network


@dataclass(frozen=True, eq=False, repr=False)
class PointDistances(Tabular):
    """Distances of points from a boundary: the base of `BoundaryDistances` and `DomainDistances`.

    Attributes
    ----------
    network : Network
    distances : float64 [..]
        Infinite if there is no boundary.
    kinks : int64 [..]
        The pattern bit that switches there; -1 if there is no boundary.
    nearest : float64 [.., n]
    """

    network: Network
    distances: Floats
    kinks: Integers
    nearest: Floats

    @property
    def layers(self) -> Integers:
        """Hidden layer, from 0, of each nearest kink, int64 [..]; -1 without a boundary."""
        return np.append(self.network.kink_layers, -1)[self.kinks]

    @property
    def units(self) -> Integers:
        """Unit, within its layer, of each nearest kink, int64 [..]; -1 without a boundary."""
        return np.append(self.network.kink_units, -1)[self.kinks]

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a row for each point: its distance, and the nearest kink with its layer and its unit there, all from
        0; -1 without a boundary.
        """
        columns = {"distance": self.distances, "kink": self.kinks, "layer": self.layers, "unit": self.units}
        return {name: column.ravel().tolist() for name, column in columns.items()}

    def times_neurons(self) -> Estimate:
        """Return the mean distance times the number of hidden neurons: of order 1 in theory, at any time of training.

        The points are taken as independent samples.

        Raises
        ------
        ShapeMismatchError, NonFiniteError
            Fewer than two points; a point without a boundary, or a product beyond the largest double.

        References
        ----------
        Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, Corollary 5 and Fig. 6 (b).
        """
        flat = self.distances.ravel()
        if len(flat) < 2:
            raise ShapeMismatchError(f"a mean with a standard error needs at least 2 points, got {len(flat)}")
        without = np.flatnonzero(np.isinf(flat))
        if without.size:
            first = name_point(int(without[0]), self.distances.shape)
            raise NonFiniteError(
                f"no boundary, or only one beyond the largest double, at {len(without)} of {len(flat)} points, first "
                f"at {first}: the mean is infinite; leave such points out, points[np.isfinite(found.distances)]"
            )
        with np.errstate(over="ignore"):
            samples = require_finite(flat[:, np.newaxis] * self.network.hidden, "distance times neurons")
        return Estimate(samples[:, 0])

    def log_histogram(self, bins: int | ArrayLike = 50) -> tuple[Floats, Floats]:
        """Return the distribution of the decimal logarithms of the distances.

        Points on the boundary, and points without one, are left out.

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
        TypeError, ValueError
            No points are left; bins that are neither a number nor ascending edges.

        References
        ----------
        Hanin, Rolnick 2019, Fig. 7.
        """
        finite = self.distances[(self.distances > 0.0) & np.isfinite(self.distances)]
        if not finite.size:
            raise ValueError("no distance is above 0 and finite, so no logarithm can be shown")
        logarithms, chosen = np.log10(finite), _bins(bins)
        if not isinstance(chosen, int) and not ((logarithms >= chosen[0]) & (logarithms <= chosen[-1])).any():
            raise ValueError(f"no distance lies in the bins from {chosen[0]} to {chosen[-1]}, which are logarithms")
        densities, edges = np.histogram(logarithms, bins=chosen, density=True)
        return densities, edges.astype(np.float64)

    def _repr_html_(self) -> str:
        return facts_table(repr(self), spread(self.distances, "distance"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.distances.size} points, {self.network!r})"


def _bins(bins: Any) -> int | Floats:
    """Return a number of bins, or their edges."""
    if not is_sequence(bins):
        return integer(bins, "bins")
    edges = real_numbers(bins, "bins")
    if edges.ndim != 1 or len(edges) < 2 or (np.diff(edges) <= 0.0).any():
        raise ValueError(f"bins must be a number, or at least two ascending edges, got shape {list(edges.shape)}")
    return edges
