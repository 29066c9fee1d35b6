# SPDX-License-Identifier: MIT
"""How many regions can one hidden layer have, and how many faces?

A layer of n ReLUs is an arrangement of n hyperplanes in R^d. The numbers below are the largest possible, and the
numbers of every arrangement in general position. There, any i <= d hyperplanes meet in dimension d - i, and more than d
do not meet. In central arrangements any d normals are independent. Integers are exact.
"""

from __future__ import annotations

from math import comb

from regions.ground.arithmetic.arguments import integer
from regions.theory.bounds.binomials import binomial_row, weighted_sum
from regions.theory.bounds.bound_arguments import Widths, one_width, shape
from regions.theory.bounds.registry import registered


@registered("upper", "regions", "one breakpoint", "Schlaefli 1852; Zaslavsky 1975", "pattern")
def zaslavsky(n_in: int, widths: Widths, *, rank: int | None = None) -> int:
    """Return the largest number of regions of n hyperplanes: ``sum of C(n, i) for i from 0 to n_in``.

    Parameters
    ----------
    n_in : int
        Dimension of the input, or of the plane (polygon, line, ..) through it.
    widths : int or sequence of one int
        Number of hyperplanes.
    rank : int, optional
        Exact rank of the weights, if known: it replaces ``n_in`` if it is smaller.

    Returns
    -------
    int

    References
    ----------
    Schlaefli 1852; Buck 1943; Zaslavsky, Facing up to arrangements, 1975. Raghu et al. 2017, Theorem 5. With rank:
    Serra, Tjandraatmadja, Ramalingam 2018, Lemma 2.

    Examples
    --------
    >>> zaslavsky(2, 4), zaslavsky(2, 4, rank=1)
    (11, 5)
    """
    dimension, layers = shape(n_in, widths)
    n = one_width(layers, "the number of regions of an arrangement")
    if rank is not None:
        dimension = min(dimension, integer(rank, "rank", least=0))
    return weighted_sum(n, dimension)


@registered("upper", "regions", "one breakpoint", "Schlaefli 1852; Cover 1965", condition="zero biases")
def cover_central(n_in: int, widths: Widths) -> int:
    """Return the largest number of regions of n hyperplanes through one point: ``2 * sum of C(n - 1, i) for i < n_in``.

    This is the maximum for a layer without biases.

    Parameters
    ----------
    n_in : int
    widths : int or sequence of one int
        Number of hyperplanes.

    Returns
    -------
    int

    References
    ----------
    Schlaefli 1852; Cover, Geometrical and statistical properties of systems of linear inequalities, 1965.

    Examples
    --------
    >>> cover_central(3, 4)
    14
    """
    dimension, layers = shape(n_in, widths)
    return 2 * weighted_sum(one_width(layers, "the number of regions of a central arrangement") - 1, dimension - 1)


@registered("upper", "bounded regions", "one breakpoint", "Zaslavsky 1975", domain="whole space")
def zaslavsky_bounded(n_in: int, widths: Widths) -> int:
    """Return the largest number of bounded regions of n hyperplanes: ``C(n - 1, n_in)``.

    Parameters
    ----------
    n_in : int
    widths : int or sequence of one int
        Number of hyperplanes.

    Returns
    -------
    int

    References
    ----------
    Zaslavsky, Facing up to arrangements, 1975.

    Examples
    --------
    >>> zaslavsky_bounded(2, 4)
    3
    """
    dimension, layers = shape(n_in, widths)
    return comb(one_width(layers, "the number of bounded regions") - 1, dimension)


def generic_faces(n_in: int, widths: Widths) -> tuple[int, ...]:
    """Return the numbers of faces of n hyperplanes in general position: ``f_k = C(n, d - k) * r(n - d + k, k)``.

    Parameters
    ----------
    n_in : int
        The dimension d.
    widths : int or sequence of one int
        Number of hyperplanes n.

    Returns
    -------
    tuple of int
        ``f_0, .., f_d``: vertices, edges, .., regions. The alternating sum is ``(-1)**d``, and the mean number of
        neighbours of a region is ``2 * f[d - 1] / f[d]``.

    References
    ----------
    Buck, Partition of space, 1943; Zaslavsky, Facing up to arrangements, 1975.

    Examples
    --------
    >>> generic_faces(2, 4)
    (6, 16, 11)
    """
    d, layers = shape(n_in, widths)
    n = one_width(layers, "the face vector of an arrangement")
    flats = binomial_row(n, d)[::-1]  # of dimension k, each an arrangement of n - d + k in general position
    faces = [0] * max(d - n, 0)  # too few hyperplanes to meet in so few dimensions
    chambers, next_term = 1, max(n - d, 0)  # r(m, k) and C(m, k + 1) for m = n - d + k
    for k in range(len(faces), d + 1):
        faces.append(flats[k] * chambers)
        m = n - d + k
        chambers, next_term = 2 * chambers + next_term, next_term * (m + 1) // (k + 2)
    return tuple(faces)
