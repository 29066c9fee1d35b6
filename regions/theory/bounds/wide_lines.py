# SPDX-License-Identifier: MIT
"""How many regions does a wide random ReLU network have on a line?

A unit of layer l is, on a line and for wide layers below, a Gaussian process: its value at x has the variance A_l
|x|^2 + B_l, with A_1 = sigma_w^2 / n_in and B_1 = sigma_b^2, and A_{l+1} = sigma_w^2 A_l / 2 and B_{l+1} = sigma_w^2
B_l / 2 + sigma_b^2 behind a ReLU, which halves both. By Rice's formula the mean number of its zeros on a piece of a
line is the angle between the vectors (sqrt(A_l) x, sqrt(B_l)) of the two ends, over pi. On the whole line this is one
zero per unit, which is the theorem of Kogan, Jananthan and Kepner; `expected_regions` has the exact mean there. The
first layer has this law at any width.
These are limits of means, not bounds: a single network, or narrow layers, may be on either side. Biases must be
Gaussian: a unit's own bias keeps its distribution, however wide the layers are.
"""

from __future__ import annotations

from math import atan2, copysign, hypot, inf, isinf, pi, sqrt
from typing import Any

from regions.errors import BoundDoesNotApply
from regions.ground.arithmetic.arguments import number, positive, real, shown
from regions.theory.bounds.bound_arguments import Widths, in_range, shape
from regions.theory.bounds.registry import registered


@registered("expected", "regions", "relu", "Kogan, Jananthan, Kepner 2025", domain="whole space")
def kogan_expected_regions(n_in: int, widths: Widths) -> float:
    """Return the mean number of regions of a wide He-initialised network on a line: 1 + the sum of the widths.

    The exact mean at every width is `expected_regions`, with ``n_in=1``. It is smaller by at most the sum of the widths
    times (L - 1) 2**-n for L layers of at least n units, and it needs symmetric signs only, not He scaling.

    Parameters
    ----------
    n_in : int
        1: the theorem is about networks of one input.
    widths : int or sequence of int
        Units of the hidden layers.

    Returns
    -------
    float
        The theorem adds a term of smaller order than the sum, for widths that grow to infinity.

    Raises
    ------
    BoundDoesNotApply
        More than one input.

    References
    ----------
    Kogan, Jananthan, Kepner, Complexity of one-dimensional ReLU DNNs, 2025: fully connected, He scaling, biases that
    are not zero.

    Examples
    --------
    >>> kogan_expected_regions(1, [64, 64])
    129.0
    """
    dimension, layers = shape(n_in, widths)
    if dimension != 1:
        raise BoundDoesNotApply(f"the theorem of Kogan et al. 2025 is about one input, here are {dimension}")
    return float(1 + sum(layers))


@registered("expected", "regions", "relu", "after Kogan, Jananthan, Kepner 2025", domain="curve", status="derived")
def expected_regions_wide_line(
    n_in: int,
    widths: Widths,
    low: float = -inf,
    high: float = inf,
    *,
    offset: float = 0.0,
    sigma_w: float = sqrt(2.0),
    sigma_b: float = 1.0,
) -> float:
    """Return the limit of the mean number of regions on a piece of a line, for wide layers.

    The line is at the distance ``offset`` from 0. The piece goes from ``low`` to ``high``, measured in input space from
    the point of the line that is nearest to 0.

    Parameters
    ----------
    n_in : int
        Number of inputs of the network.
    widths : int or sequence of int
        Units of the hidden layers.
    low, high : float
        Ends of the piece, possibly infinite.
    offset : float
    sigma_w, sigma_b : float
        Weights are Gaussian of variance sigma_w^2 / fan-in (He: 2), biases N(0, sigma_b^2).

    Returns
    -------
    float
        Exact for one layer. Otherwise it is too large for narrow layers: by 2 to 6 percent for 2 to 5 layers of width
        16. With biases that are not Gaussian it is not the limit: with torch's uniform ones the mean was 7 to 13
        percent smaller on segments in R^64, for 3 to 6 layers of width 64. It is linear in the widths, and grows at
        most linearly with the depth, as the bound of Goujon, Etemadi and Unser on the density along paths.

    Raises
    ------
    ValueError
        Ends in the wrong order; a ``sigma_w`` that is not above 0.
    BoundDoesNotApply
        No biases, on a line through 0: all units switch there. An offset above 0 with one input: the only line there
        goes through 0.

    References
    ----------
    Derived here; checked by simulation in ``docs/reproduce/kogan_2025.py``. Kogan, Jananthan, Kepner, Complexity of
    one-dimensional ReLU DNNs, 2025. Goujon, Etemadi, Unser, On the number of regions of piecewise linear neural
    networks, 2024 (abstract).

    Examples
    --------
    >>> expected_regions_wide_line(1, [64, 64])
    129.0
    >>> round(expected_regions_wide_line(1, [10], -1.0, 1.0, sigma_w=1.0), 9)
    6.0
    """
    inputs, layers = shape(n_in, widths)
    start, end, distance = _end(low, "low"), _end(high, "high"), number(offset, "offset")
    if start > end:
        raise ValueError(f"low must not be above high, got {shown(low)} and {shown(high)}")
    if inputs == 1 and distance:
        raise BoundDoesNotApply(f"offset must be 0 for one input: the only line goes through 0, got {shown(offset)}")
    weight, bias = positive(sigma_w, "sigma_w"), number(sigma_b, "sigma_b")
    if not bias and not distance:
        raise BoundDoesNotApply("without biases all units switch at 0: a line through 0 needs a sigma_b above 0")
    # B_l / A_l: it grows by its first value, over (sigma_w**2 / 2)**l.
    relative = bias / weight
    # Products are infinite if they are too large, where a power would raise.
    first, half = inputs * relative * relative, weight * weight / 2.0
    ratio, total = first, 1.0
    for width in layers:
        across = hypot(distance, sqrt(ratio))
        total += width * (_angle(end, across) - _angle(start, across)) / pi
        first = first and (first / half if half else inf)
        ratio += first
    return in_range(total, "the mean number of regions")


def _angle(position: float, across: float) -> float:
    """Return the angle at which a position of a line is seen from a point beside it."""
    return copysign(pi / 2.0, position) if isinf(position) else atan2(position, across)


def _end(value: Any, name: str) -> float:
    """Return an end of a piece, possibly infinite."""
    return value if isinstance(value, float) and isinf(value) else real(value, name)
