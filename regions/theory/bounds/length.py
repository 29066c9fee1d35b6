# SPDX-License-Identifier: MIT
"""By what factor does a random network stretch a curve, on average?

It is the length of the image of a curve after the last hidden layer, over the length of the curve: an expectation over
networks with independent Gaussian weights of mean 0. A single network may be far off: in deep narrow networks the
lengths have heavy tails. For sparse layers and other laws see `regions.theory.bounds.sparse_length`.
Two scalings are in use: `expected_length_relu_exact` takes the standard deviation of a single weight unchanged. The
functions named after Raghu et al. take ``sigma_w`` for weights N(0, sigma_w^2 / k) in layers of width k.
The paper writes its lower bounds with a big O and without constants; these are the explicit numbers that its proofs
give. Results are floats, because of Gamma functions and square roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan, erf, erfc, exp, fsum, hypot, pi, prod, sqrt

from regions.ground.arithmetic.arguments import integer, number, one_of, positive
from regions.theory.bounds.bound_arguments import Widths, equal_width, in_range, numbers_per_layer, shape
from regions.theory.bounds.chi import chi_means
from regions.theory.bounds.registry import registered

# Below this variance, one over its root is larger than any number with erf below 1.
TINY = 1e-30


def relu_length_factor(width: int) -> float:
    """Return mu_k: the mean length of a Gaussian vector in k dimensions, each entry kept with probability 1/2.

    Parameters
    ----------
    width : int
        k.

    Returns
    -------
    float
        About ``sqrt(k / 2) * (1 - 5 / (8 k))``.

    Examples
    --------
    >>> round(relu_length_factor(8), 10)
    1.8381021495
    """
    k = integer(width, "width")
    return fsum(share * mean for share, mean in zip(binomial_shares(k), chi_means(k), strict=True))


def binomial_shares(k: int) -> list[float]:
    """Return the probability that m of k fair coins show heads, for m from 0 to k."""
    # Relative to the largest one, from the middle outwards, so that all are in the range of doubles.
    weights = [0.0] * (k + 1)
    weights[k // 2] = 1.0
    for m in range(k // 2, k):
        weights[m + 1] = weights[m] * (k - m) / (m + 1)
    for m in range(k // 2, 0, -1):
        weights[m - 1] = weights[m] * m / (k - m + 1)
    total = fsum(weights)
    return [weight / total for weight in weights]


@registered("expected", "length ratio", "relu", "Hanin, Jeong, Rolnick 2022", domain="curve", status="derived")
def expected_length_relu_exact(n_in: int, widths: Widths, weight_std: float | Sequence[float]) -> float:
    """Return the exact mean stretching of a ReLU network with Gaussian weights: ``prod of s_l
    relu_length_factor(n_l)``.

    It holds for any curve that is nowhere constant, and biases of any symmetric law, including zero: given that a unit
    is active, its part of the velocity is still half-normal.

    Parameters
    ----------
    n_in : int
        Dimension of the input, which is not used.
    widths : int or sequence of int
        Units of the hidden layers; a single number is one layer.
    weight_std : float, or sequence of one for each layer
        Standard deviation s_l of a single weight: ``sqrt(2 / n_{l-1})`` for He initialisation.

    Returns
    -------
    float

    References
    ----------
    Derived here and checked by simulation; the result of Hanin, Jeong, Rolnick, Deep ReLU networks preserve expected
    length, 2022, in closed form.

    Examples
    --------
    >>> round(expected_length_relu_exact(10, [10, 10], 0.2**0.5), 4)
    0.8754
    """
    _, layers = shape(n_in, widths)
    stds = numbers_per_layer(weight_std, layers, "weight_std")
    factors = (std * relu_length_factor(width) for std, width in zip(stds, layers, strict=True))
    return in_range(prod(factors), "the mean stretching")


@registered(
    "expected lower",
    "length ratio",
    "hard_tanh",
    "Raghu et al. 2017, Theorem 3",
    domain="curve",
    status="explicit",
    fixed=(("activation", "hard_tanh"),),
)
@registered(
    "expected lower",
    "length ratio",
    "relu",
    "Raghu et al. 2017, Theorem 3",
    domain="curve",
    status="explicit",
    fixed=(("activation", "relu"),),
)
def raghu_length_lower(
    n_in: int, widths: Widths, sigma_w: float, sigma_b: float = 0.0, *, activation: str = "relu"
) -> float:
    """Return a lower bound on the mean stretching: Theorem 3 of Raghu et al., made explicit.

    Each layer of width k multiplies the part of the velocity that is perpendicular to the point by at least ``c sigma_w
    sqrt(k) p (1 / sqrt(1 + (k - 1) p) - (1 - p)**(k - 1))``. Here p is the probability that a unit is in its linear
    piece. It is 1/2 for ReLU. For hard tanh it is at least the probability that a normal number of variance sigma_w^2 +
    sigma_b^2 lies in [-1, 1], because no entry of a layer is above 1. (The factor increases with p.)

    Parameters
    ----------
    n_in : int
        Dimension of the input, which is not used.
    widths : int or sequence of int
        Hidden layers of equal width k.
    sigma_w, sigma_b : float
        Weights are N(0, sigma_w^2 / k), biases N(0, sigma_b^2).
    activation : {"relu", "hard_tanh"}

    Returns
    -------
    float
        Relative to the length perpendicular to the curve's points, which is the whole length on an arc around 0. The
        rate of the theorem, for one layer, is of order ``sigma_w sqrt(k / (k + 1))`` for ReLU.

    Raises
    ------
    BoundDoesNotApply
        Layers of different widths.

    Notes
    -----
    The constant is c = 1/2, for which ``sqrt(2) sqrt(m / 2 - 3 / 4) >= c sqrt(m)`` for all m >= 2; the paper's text
    seems to say 1 / sqrt(2), which is too large at m = 2. For hard tanh the paper continues to ``p >= 1 / (s sqrt(2
    pi))`` and uses ``1 - 1 / s`` as an upper bound on ``1 - p``; with p itself neither step is needed.

    References
    ----------
    Raghu et al., On the expressive power of deep neural networks, 2017, Theorem 3, and equation (a) of its proof.

    Examples
    --------
    >>> round(raghu_length_lower(100, [100], 1.0), 4)
    0.3518
    """
    _, layers = shape(n_in, widths)
    k = equal_width(layers, "Theorem 3 of Raghu et al.")
    scale, spread = number(sigma_w, "sigma_w"), number(sigma_b, "sigma_b")
    if one_of(activation, ("relu", "hard_tanh"), "activation") == "relu":
        p = 0.5
    else:
        deviation = hypot(scale, spread)
        p = erf(1.0 / (sqrt(2.0) * deviation)) if deviation > 0.0 else 1.0
    step = 0.5 * scale * sqrt(k) * p * (1.0 / sqrt(1.0 + (k - 1) * p) - (1.0 - p) ** (k - 1))
    # k = 1: an exact zero, however the step is rounded
    return in_range(prod([max(step, 0.0)] * len(layers)), "the bound on the mean stretching")


@registered("expected upper", "length ratio", "hard_tanh", "Raghu et al. 2017, appendix", domain="curve")
def raghu_length_upper(n_in: int, widths: Widths, sigma_w: float) -> float:
    """Return the appendix's upper bound on the mean stretching, ``sigma_w sqrt(2 / k) Gamma((k + 1) / 2) / Gamma(k /
    2)`` per layer.

    It is the stretching of a layer without its activation, and holds for hard tanh and ReLU, which stretch nothing.
    The paper then continues to ``sigma_w sqrt((k + 1) / k)``; in fact the factor is below ``sigma_w``.

    Parameters
    ----------
    n_in, widths, sigma_w
        As for `raghu_length_lower`.

    Returns
    -------
    float

    Raises
    ------
    BoundDoesNotApply
        Layers of different widths.

    References
    ----------
    Raghu et al., On the expressive power of deep neural networks, 2017, appendix, after the proof of Theorem 3.

    Examples
    --------
    >>> round(raghu_length_upper(100, [100], 2.0), 4)
    1.995
    """
    _, layers = shape(n_in, widths)
    k = equal_width(layers, "the upper bound of Raghu et al.")
    step = number(sigma_w, "sigma_w") / sqrt(k) * chi_means(k)[k]
    return in_range(prod([step] * len(layers)), "the bound on the mean stretching")


@registered(
    "expected lower", "transition ratio", "hard_tanh", "Raghu et al. 2017, Theorem 4", domain="curve", status="explicit"
)
def raghu_transitions_lower(n_in: int, widths: Widths, sigma_w: float, sigma_b: float = 0.0) -> float:
    """Return a lower bound on mean transitions of the last layer per transition of the first: Theorem 4 of Raghu et al.

    Each layer after the first multiplies by ``k (1 - 2 / pi arctan sqrt(k (1 + sigma_b^2 / sigma_w^2)))``, about ``2 /
    pi sqrt(k)``: the expected number of units that one switching input switches. It is for saturated hard tanh: in the
    limit of large ``sigma_w``, units are nearly always -1 or 1.

    Parameters
    ----------
    n_in, widths, sigma_w, sigma_b
        As for `raghu_length_lower`.

    Returns
    -------
    float

    Raises
    ------
    BoundDoesNotApply
        Layers of different widths.

    References
    ----------
    Raghu et al., On the expressive power of deep neural networks, 2017, Theorem 4 and its proof.

    Examples
    --------
    >>> round(raghu_transitions_lower(4, [4, 4], 1.0), 4)
    1.1807
    """
    _, layers = shape(n_in, widths)
    k = equal_width(layers, "Theorem 4 of Raghu et al.")
    ratio = number(sigma_b, "sigma_b") / positive(sigma_w, "sigma_w")
    # 1 - 2 / pi atan(x) is 2 / pi atan(1 / x), which is accurate for large x.
    step = 2.0 / pi * k * atan(1.0 / (sqrt(k) * hypot(1.0, ratio)))
    return in_range(prod([step] * (len(layers) - 1), start=1.0), "the bound on mean transitions")


def hard_tanh_length_growth(sigma_w: float, sigma_b: float = 0.0) -> float:
    """Return the stretching of a curve by one hard tanh layer, in the limit of wide layers and after many of them.

    ``sqrt(sigma_w^2 erf(1 / sqrt(2 q)))``, where the variance q of pre-activations is the fixed point of ``q =
    sigma_w^2 E[clip(sqrt(q) Z)^2] + sigma_b^2``.

    Parameters
    ----------
    sigma_w, sigma_b : float
        Weights are N(0, sigma_w^2 / k), biases N(0, sigma_b^2).

    Returns
    -------
    float
        At most 1 for ``sigma_w <= 1``.

    References
    ----------
    Derived here and checked by simulation.

    Examples
    --------
    >>> round(hard_tanh_length_growth(2.0), 4)
    1.3452
    """
    scale, spread = number(sigma_w, "sigma_w"), number(sigma_b, "sigma_b")
    if spread == 0.0 and scale <= 1.0:  # q = 0: nothing saturates
        return scale
    low, high = 0.0, in_range(scale * scale + spread * spread, "the variance of pre-activations")
    if high < TINY:  # nothing saturates, up to the precision of doubles
        return scale
    while low < (middle := (low + high) / 2.0) < high:  # the right side is concave in q and crosses q once above 0
        if scale**2 * _clipped_variance(middle) + spread**2 > middle:
            low = middle
        else:
            high = middle
    return scale * sqrt(erf(1.0 / sqrt(2.0 * high)))


def _clipped_variance(q: float) -> float:
    """Return E[clip(sqrt(q) Z, -1, 1)^2] for a standard normal Z."""
    edge = 1.0 / sqrt(q)
    inside = erf(edge / sqrt(2.0)) - sqrt(2.0 / pi) * edge * exp(-(edge * edge) / 2.0)
    return q * inside + erfc(edge / sqrt(2.0))
