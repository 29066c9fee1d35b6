# SPDX-License-Identifier: MIT
"""How many regions does a random layer of maxout units have on a line?

On a line a unit of rank k is the largest of k affine functions. Their slopes and values are k Gaussian points of a
plane. The pieces of the unit are the corners of the upper half of these points' convex hull. A hull with E sides has
(E + 2) / 2 such corners on average, by symmetry, and therefore E / 2 breakpoints. E does not change under affine maps,
so the variances of weights and biases do not matter. Breakpoints of different units differ.
"""

from __future__ import annotations

from math import exp, pi, sqrt

from regions.ground.arithmetic.arguments import integer
from regions.theory.bounds.bound_arguments import Widths, one_width, shape
from regions.theory.bounds.registry import registered


@registered("expected", "regions", "maxout", "after Tseran, Montufar 2021", domain="whole space", status="derived")
def expected_regions_maxout_line(n_in: int, widths: Widths, rank: int) -> float:
    """Return the mean number of regions of one Gaussian layer of maxout units on a whole line.

    ``1 + n k (k - 1) / 2 * integral of Phi(p)**(k - 2) exp(-p**2) / sqrt(pi) dp``.

    Parameters
    ----------
    n_in : int
        Number of inputs, which is not used: the line may be anywhere in the input space.
    widths : int or sequence of one int
        Units n.
    rank : int
        k, at least 2: affine functions of a unit, with Gaussian weights of one variance, and biases of another one.

    Returns
    -------
    float

    Raises
    ------
    BoundDoesNotApply
        More than one hidden layer.

    Notes
    -----
    A breakpoint is a side of the upper half of the convex hull of k Gaussian points. The line through two of them has
    a distance from 0 of variance 1/2, and is a side if all others are on one side of it (Renyi, Sulanke 1963).

    References
    ----------
    Derived here, and checked by simulation in ``docs/reproduce/random_laws.py``. Tseran and Montufar, On the expected
    complexity of maxout networks, 2021, bound the mean for networks of any depth.

    Examples
    --------
    >>> expected_regions_maxout_line(1, 10, 2), round(expected_regions_maxout_line(1, 10, 3), 9)
    (11.0, 16.0)
    """
    _, layers = shape(n_in, widths)
    units = one_width(layers, "the closed form for Gaussian maxout units")
    k = integer(rank, "rank", least=2)
    return 1.0 + units * _mean_breakpoints(k)


def _mean_breakpoints(k: int) -> float:
    """Return the mean number of breakpoints of a unit: half the mean number of sides of the hull."""
    if k == 2:
        return 1.0
    from scipy.integrate import quad
    from scipy.special import ndtr

    def on_one_side(p: float) -> float:
        return float(ndtr(p)) ** (k - 2) * exp(-p * p) / sqrt(pi)

    # The peak is where most of many points are on one side; the integrand is below 1e-300 outside.
    integral, _ = quad(on_one_side, -30.0, 30.0, epsabs=0.0, epsrel=1e-11, limit=500, points=[0.0, 1.0, 2.0, 4.0])
    return k * (k - 1) / 2 * float(integral)
