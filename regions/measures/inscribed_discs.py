# SPDX-License-Identifier: MIT
"""How large a disc fits into each region?

In floating point with a proven bound on the error (`rounded_discs.py`). Where that bound is not far below the radius
itself, as in regions about as thin as the spacing of doubles, exactly (`exact_discs.py`).
Cost: all regions with k corners at once; those that need exact arithmetic, in generic partitions hardly any, take a
millisecond or more each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.arithmetic.types import Floats
from regions.domains.domain import require_bounded
from regions.errors import NonFiniteError
from regions.measures.exact_discs import exact_discs
from regions.measures.rounded_discs import rounded_discs
from regions.partition import Partition, require_complete
from regions.tables import facts_table, spread

# Beyond this part of the radius a bound is not good enough. Smaller, and generic partitions would pay for it: in one of
# 66,795 regions, whose stored corners are off by up to 1e-10, none has a bound beyond 2^-12, and 170 beyond 2^-20.
LARGEST_ERROR = 2.0**-12


class InscribedDiscs(NamedTuple):
    """The largest disc in each region.

    Attributes
    ----------
    radii : float64 [R]
        In input space.
    centers : float64 [R, d]
        In the chart. Rounded: in a region that is thinner than the spacing of doubles they can be outside.
    errors : float64 [R]
        Proven bounds on how far the radii are from the true ones: at most 2^-12 of the radius, mostly far less; or,
        of a radius below the normal range of doubles, the smallest double.
    """

    radii: Floats
    centers: Floats
    errors: Floats

    def _repr_html_(self) -> str:
        name = ("Largest intervals", "Largest discs")[self.centers.shape[1] - 1]
        return facts_table(f"{name} in {len(self.radii):,} regions", spread(self.radii, "radius"))


def inscribed_discs(partition: Partition) -> InscribedDiscs:
    """Largest disc in each region of a partition (on a line, half of the interval): its Chebyshev radius and centre.

    Of the true regions, not of those between rounded corners.

    Parameters
    ----------
    partition : Partition
        Of a bounded domain.

    Returns
    -------
    InscribedDiscs
        Where several discs are largest, as in a rectangle, one of them.

    Raises
    ------
    TypeError, ValueError
        No partition, or a partial one.
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

    A triangle and what is left of the square beyond it, by a line whose crossing with the border is no double:

    >>> net = regions.Network([([[1.0, -1.0]], [2.0**-53]), ([[1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-2, -2], [2, -2], [2, 2], [-2, 2]]))
    >>> discs = inscribed_discs(part)
    >>> discs.radii.round(4), bool(discs.errors.max() < 1e-12)
    (array([1.1716, 1.1716]), True)
    """
    require_complete(partition)
    require_bounded(partition.domain, "an inscribed disc")
    radii, centers, errors = rounded_discs(partition)
    doubtful = np.flatnonzero(np.isinf(errors) | ~(errors <= LARGEST_ERROR * radii))  # a radius can be infinite too
    if doubtful.size:
        radii[doubtful], centers[doubtful] = exact_discs(partition, doubtful)
        errors[doubtful] = 2.0**-52 * radii[doubtful] + np.finfo(np.float64).smallest_subnormal
    beyond = np.flatnonzero(~np.isfinite(radii))
    if beyond.size:
        raise NonFiniteError(f"the radius of the largest disc in region {beyond[0]} is beyond the largest double")
    return InscribedDiscs(radii, centers, errors)
