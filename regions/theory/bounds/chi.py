# SPDX-License-Identifier: MIT
"""What is the mean length of a Gaussian vector?

It is ``c_m = sqrt(2) Gamma((m + 1) / 2) / Gamma(m / 2)``, computed by ``c_m c_{m+1} = m``: one division per step
instead of Gamma functions, with an error of at most about m roundings.
"""

from __future__ import annotations

from math import pi, sqrt


def chi_means(last: int) -> list[float]:
    """Return ``c_0 = 0, c_1, .., c_last``: mean lengths of standard Gaussian vectors in 0, 1, .. dimensions.

    Examples
    --------
    >>> [round(mean, 6) for mean in chi_means(3)]
    [0.0, 0.797885, 1.253314, 1.595769]
    """
    means = [0.0, sqrt(2.0 / pi)]
    for m in range(1, last):
        means.append(m / means[-1])
    return means[: last + 1]
