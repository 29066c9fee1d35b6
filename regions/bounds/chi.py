# SPDX-License-Identifier: MIT
"""How long is a Gaussian vector on average?

``c_m = sqrt(2) Gamma((m + 1) / 2) / Gamma(m / 2)``, by ``c_m c_{m+1} = m``: a division per step instead of Gamma
functions, with an error of some m roundings at worst.
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
