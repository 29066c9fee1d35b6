# SPDX-License-Identifier: MIT
"""By what factor does a sparse random ReLU network stretch a curve, at least?

Price and Tanner's Theorem 2: expectations over networks whose weights are independent and 0 with some probability.
The factor is the length of the image of a curve after the last hidden layer, divided by the length of the curve. As in
the paper's theorems, ``scale`` belongs to a single weight. The paper's experiments divide it by the square root of the
width; the theorems do not. Results are floats, because of square roots.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum, pi, prod, sqrt

from regions.ground.arithmetic.arguments import number, one_of, real, shown, tuple_of
from regions.theory.bounds.bound_arguments import Widths, in_range, numbers_per_layer, shape
from regions.theory.bounds.registry import registered


@registered("expected lower", "length ratio", "relu", "Price, Tanner 2020, Theorem 2", domain="curve")
def price_tanner(
    n_in: int,
    widths: Widths,
    distribution: str,
    scale: float | Iterable[float],
    *,
    alpha: float | Sequence[float] = 1.0,
) -> float:
    """Return a lower bound on the mean stretching by sparse random ReLU layers: ``prod of alpha_l M sqrt(n_l) / 2``.

    A weight is 0 with probability 1 - alpha, otherwise it has the given law; ``M |u|`` bounds ``E|w . u|`` from below
    for weights of that law.

    Parameters
    ----------
    n_in : int
        Dimension of the input, which is not used.
    widths : int or sequence of int
        Units of the hidden layers; a single number is one layer.
    distribution : {"gaussian", "uniform", "discrete"}
        N(0, scale^2), with ``M = scale sqrt(2 / pi)``; uniform on [-scale, scale], with ``M = scale / (2 sqrt(2))``;
        uniform on the numbers ``scale``, which must be symmetric, with ``M = (mean of |scale|) / sqrt(2)``.
    scale : float, or iterable of float for "discrete"
        Scale of single weights, not divided by the square root of the width.
    alpha : float, or sequence of one for each layer
        Probability that a weight is not 0, above 0 and at most 1.

    Returns
    -------
    float

    Notes
    -----
    The bound is for curves made of finitely many segments and arcs, and independent biases of one symmetric law,
    including 0, as in the paper. One step of the proof assumes that a unit which changes along the curve is nowhere 0.
    On each piece of the curve a unit is an analytic function. Either it is 0 on the whole piece, and its output does
    not move, or it is 0 at finitely many points, which add nothing to a length. At such a point the mean speed may be
    below the bound. Take k = 2, alpha = 0.1, weights N(0, 1), no biases, and a point on the first axis. There the mean
    speed in the direction of the second axis is 0.008, and the formula gives 0.056. But any curve that starts there in
    that direction, however short, is stretched by 0.079 on average. The paper also excludes curves that point to the
    origin. This is not needed, because a unit and its derivative change their signs together.

    References
    ----------
    Price, Tanner, Trajectory growth lower bounds for random sparse deep ReLU networks, 2020, Theorem 2 and
    Corollaries 1 to 3. Corollary 3 is printed with ``2 N_w`` once, where its derivation ends with ``sqrt(2) N_w``.

    Examples
    --------
    >>> round(price_tanner(784, [784], "gaussian", 6 / 28, alpha=0.5), 4)
    1.1968
    """
    _, layers = shape(n_in, widths)
    kept = numbers_per_layer(alpha, layers, "alpha")
    if not all(0.0 < probability <= 1.0 for probability in kept):
        raise ValueError(f"alpha must be above 0 and at most 1, got {shown(alpha)}")
    mean = _mean_projection(distribution, scale)
    factors = (probability * mean * sqrt(width) / 2.0 for probability, width in zip(kept, layers, strict=True))
    return in_range(prod(factors), "the bound on the mean stretching")


def _mean_projection(distribution: str, scale: float | Iterable[float]) -> float:
    """Return M: a lower bound on E|w . u| over unit vectors u."""
    law = one_of(distribution, ("gaussian", "uniform", "discrete"), "distribution")
    if law == "discrete":
        values = [real(value, f"scale[{i}]") for i, value in enumerate(tuple_of(scale, "scale"))]
        if sorted(values) != sorted(-value for value in values):
            raise ValueError(f"scale must be symmetric, with -w for every w, got {values}")
        return fsum(map(abs, values)) / (sqrt(2.0) * len(values))
    size = number(scale, "scale")
    return size * sqrt(2.0 / pi) if law == "gaussian" else size / (2.0 * sqrt(2.0))
