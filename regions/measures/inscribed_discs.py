# SPDX-License-Identifier: MIT
"""What is the largest disc, or ball, in each region?

In three and more dimensions see `inscribed_balls.py`. On a line and in a plane it is computed in floating point with a
proven error bound (`rounded_discs.py`). If that bound is not far below the radius, as in regions about as thin as the
spacing of doubles, it is computed exactly (`exact_discs.py`).
Cost: all regions with k corners at once; a millisecond or more for each that needs exact arithmetic, hardly any in
generic partitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.domains.abilities import INSCRIBED_DISCS, require
from regions.errors import NonFiniteError
from regions.ground.arithmetic.roundoff import SMALLEST, U
from regions.ground.arithmetic.types import Floats
from regions.ground.text.tables import facts_table, spread
from regions.measures.exact_discs import exact_discs
from regions.measures.inscribed_balls import inscribed_balls
from regions.measures.rounded_discs import rounded_discs
from regions.results.partition import Partition, require_complete

# Largest bound that is good enough, relative to the radius. With a smaller one, generic partitions would need exact
# arithmetic in some of their regions.
LARGEST_ERROR = 2.0**-12


class InscribedDiscs(NamedTuple):
    """The largest disc, or ball, in each region.

    Attributes
    ----------
    radii : float64 [R]
        In input space.
    centers : float64 [R, d]
        In the chart. Rounded: in a region that is thinner than the spacing of doubles they can be outside.
    errors : float64 [R]
        Proven bounds on the errors of the radii: at most 2^-12 of the radius, mostly far less; for a radius below the
        normal range of doubles, the smallest double. In three and more dimensions they are proven too, and mostly far
        smaller than that.
    """

    radii: Floats
    centers: Floats
    errors: Floats

    def _repr_html_(self) -> str:
        name = {1: "Largest intervals", 2: "Largest discs"}.get(self.centers.shape[1], "Largest balls")
        return facts_table(f"{name} in {len(self.radii):,} regions", spread(self.radii, "radius"))


def inscribed_discs(partition: Partition) -> InscribedDiscs:
    """Return the largest disc in each region of a partition, its Chebyshev radius and centre.

    On a line, the radius is half of the interval; in three and more dimensions, discs are balls. They are in the true
    regions, not between rounded corners.

    Parameters
    ----------
    partition : Partition
        A partition of a bounded domain.

    Returns
    -------
    InscribedDiscs
        If several discs are largest, as in a rectangle, one of them.

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one.
    DomainError
        The domain is unbounded.
    NonFiniteError
        A radius beyond the largest double.

    References
    ----------
    Zhang, Wu, Empirical studies on the properties of linear regions in deep neural networks, 2020.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-1, -1], [3, -1], [3, 1], [-1, 1]]))
    >>> sorted(inscribed_discs(part).radii.tolist())
    [0.5, 1.0]

    A triangle and the rest of the square, cut by a line whose crossing with the domain boundary is not a double:

    >>> net = regions.Network([([[1.0, -1.0]], [2.0**-53]), ([[1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-2, -2], [2, -2], [2, 2], [-2, 2]]))
    >>> discs = inscribed_discs(part)
    >>> discs.radii.round(4), bool(discs.errors.max() < 1e-12)
    (array([1.1716, 1.1716]), True)
    """
    require_complete(partition)
    require(INSCRIBED_DISCS, partition.domain)
    if partition.dimension > 2:
        radii, centers, errors = inscribed_balls(partition)
    else:
        radii, centers, errors = rounded_discs(partition)
        doubtful = np.flatnonzero(np.isinf(errors) | ~(errors <= LARGEST_ERROR * radii))  # a radius can be infinite too
        if doubtful.size:
            radii[doubtful], centers[doubtful] = exact_discs(partition, doubtful)
            errors[doubtful] = 2 * U * radii[doubtful] + SMALLEST
    beyond = np.flatnonzero(~np.isfinite(radii))
    if beyond.size:
        raise NonFiniteError(f"the radius of the largest disc in region {beyond[0]} is beyond the largest double")
    return InscribedDiscs(radii, centers, errors)
