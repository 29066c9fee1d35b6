# SPDX-License-Identifier: MIT
"""What does a random layer have on average, exactly?

Consider one hidden layer of N units, weights N(0, weight_std^2), biases N(0, bias_std^2), all independent. Its N
hyperplanes are independent and isotropic, so that Hanin and Rolnick's Theorem 3 becomes a closed form. With a = radius
* weight_std / bias_std, the intersection of j of them meets the ball around 0 with probability

    P_j = P( Beta((d + 1 - j) / 2, j / 2) >= 1 / (1 + a^2) )

because its distance from 0 is the distance of a Gaussian affine flat. Each flat that meets the ball adds one region.
These are expectations of single layers, not bounds. They are floats, because incomplete beta functions are
transcendental.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from math import comb, exp, inf, log1p, pi, prod, sqrt

from regions.ground.arithmetic.arguments import positive
from regions.theory.bounds.binomials import binomial_row
from regions.theory.bounds.bound_arguments import Widths, codimension_of, in_range, one_width, shape
from regions.theory.bounds.chi import chi_means
from regions.theory.bounds.registry import registered

_WHAT = "the closed form for Gaussian weights"
_SOURCE, _STDS = "Hanin, Rolnick 2019, Theorem 3", ("weight_std", "bias_std")


@registered(
    "expected", "regions", "one breakpoint", _SOURCE, domain="ball", status="derived", also_needs=(*_STDS, "radius")
)
def expected_regions_shallow_ball(
    n_in: int, widths: Widths, radius: float = 1.0, *, weight_std: float = 1.0, bias_std: float = 1.0
) -> float:
    """Return the mean number of regions of a random layer in a ball around 0: ``sum of C(N, j) P_j for j <= n_in``.

    Parameters
    ----------
    n_in : int
        The dimension d.
    widths : int or sequence of one int
        Units N.
    radius : float
        Radius of the ball.
    weight_std, bias_std : float
        Standard deviations of single weights and biases.

    Returns
    -------
    float

    Raises
    ------
    BeyondDoublesError
        The mean is beyond the largest double, as for hundreds of dimensions, a thousand units and a large ball.

    References
    ----------
    Derived from Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, Theorem 3, and checked by
    simulation.

    Examples
    --------
    >>> round(expected_regions_shallow_ball(1, 10), 9)
    6.0
    >>> round(expected_regions_shallow_ball(2, 10, radius=3.0), 6)
    41.256584
    """
    d, layers = shape(n_in, widths)
    units = one_width(layers, _WHAT)
    a = positive(radius, "radius") * positive(weight_std, "weight_std") / positive(bias_std, "bias_std")
    # As fractions: binomial coefficients may be beyond the doubles although their products are not.
    flats = enumerate(binomial_row(units, min(d, units))[1:], start=1)
    mean = 1 + sum(count * Fraction(_meets_the_ball(d, j, a)) for j, count in flats)
    return _rounded(mean, "the mean number of regions")


@registered(
    "expected", "boundary per volume", "one breakpoint", _SOURCE, domain="0", status="derived", also_needs=_STDS
)
def expected_strata_shallow(
    n_in: int, widths: Widths, codimension: int = 1, *, weight_std: float = 1.0, bias_std: float = 1.0
) -> float:
    """Return the mean density at 0 of the stratum where k hyperplanes of a random layer meet.

    ``C(N, k) (weight_std / (bias_std sqrt(2 pi)))**k c_d c_{d-1} .. c_{d-k+1}``, with c_m the mean length of a standard
    Gaussian vector in m dimensions. For k = 1 it is boundary per volume, for k = d vertices per volume.

    Parameters
    ----------
    n_in : int
        The dimension d.
    widths : int or sequence of one int
        Units N.
    codimension : int
        k, from 1 to d.
    weight_std, bias_std : float

    Returns
    -------
    float

    Raises
    ------
    BeyondDoublesError
        The mean is beyond the largest double.

    References
    ----------
    As for `expected_regions_shallow_ball`: the integrand of Theorem 3 at 0.

    Examples
    --------
    >>> round(expected_strata_shallow(2, 10), 9), round(expected_strata_shallow(2, 10, 2), 6)
    (5.0, 7.161972)
    """
    d, layers = shape(n_in, widths)
    k = codimension_of(codimension, d)
    units = one_width(layers, _WHAT)
    # Factors may leave the range of doubles in both directions although their product does not.
    spread = Fraction(positive(bias_std, "bias_std")) * Fraction(sqrt(2.0 * pi))
    ratio = Fraction(positive(weight_std, "weight_std")) / spread
    density = comb(units, k) * ratio**k * prod(map(Fraction, chi_means(d)[d - k + 1 :]))
    return _rounded(density, "the mean density")


@registered(
    "expected", "distance to the boundary", "one breakpoint", _SOURCE, domain="0", status="derived", also_needs=_STDS
)
def expected_distance_shallow(n_in: int, widths: Widths, *, weight_std: float = 1.0, bias_std: float = 1.0) -> float:
    """Return the mean distance of 0 to the nearest hyperplane of a random layer: the integral of ``(1 - P_1(t))**N``.

    Integrated numerically over t > 0. Infinite for one unit and one input.

    Parameters
    ----------
    n_in : int
    widths : int or sequence of one int
        Units N.
    weight_std, bias_std : float

    Returns
    -------
    float

    References
    ----------
    As for `expected_regions_shallow_ball`.

    Examples
    --------
    >>> round(expected_distance_shallow(2, 10), 6)
    0.092802
    """
    from scipy.integrate import quad

    d, layers = shape(n_in, widths)
    units = one_width(layers, _WHAT)
    ratio = positive(bias_std, "bias_std") / positive(weight_std, "weight_std")
    if d == units == 1:
        return inf
    # About as large as the mean. With t = scale * u / (1 - u) the range is finite, the integrand has no narrow peak,
    # and it decays at the end like a power of 1 - u.
    scale = 1.0 / (units * chi_means(d)[d])

    def missed(u: float) -> float:
        chance = _meets_the_ball(d, 1, scale * u / (1.0 - u))
        return exp(units * log1p(-chance)) / (1.0 - u) ** 2 if chance < 1.0 else 0.0

    integral, _ = quad(missed, 0.0, 1.0, epsabs=0.0, epsrel=1e-11, limit=500)
    return in_range(ratio * scale * float(integral), "the mean distance")


def _rounded(value: Fraction | int, what: str) -> float:
    """Return the nearest double; refuse a value beyond the largest one, which `float` would refuse without a name."""
    return float(value) if value <= sys.float_info.max else in_range(inf, what)


def _meets_the_ball(d: int, j: int, a: float) -> float:
    """Return P_j: the probability that the flat where j hyperplanes meet comes within a of 0."""
    from scipy.special import betainc

    # P(Beta(p, q) >= x) is P(Beta(q, p) <= 1 - x), here with 1 - x = a^2 / (1 + a^2).
    share = a * a / (1.0 + a * a) if a < 1.0 else 1.0 / (1.0 + 1.0 / a / a)
    return float(betainc(j / 2, (d + 1 - j) / 2, share))
