# SPDX-License-Identifier: MIT
"""How many regions can maxout networks have?

The value of a maxout unit of rank k is the largest of k affine functions; its pattern names which one. Regions have a
constant pattern. Integers are exact.
Ranks may be one number, one for each layer, or for each layer one for each of its units.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import comb, prod

from regions.errors import BoundDoesNotApply
from regions.ground.arithmetic.arguments import integer
from regions.theory.bounds.binomials import weighted_sum
from regions.theory.bounds.bound_arguments import Widths, equal_width, one_each, one_width, per_layer, shape
from regions.theory.bounds.registry import registered

Ranks = int | Sequence[int | Sequence[int]]


@registered("upper", "regions", "maxout", "Montufar et al. 2014")
def maxout_montufar2014_upper(n_in: int, widths: Widths, rank: int) -> int:
    """Return ``min(r(k**2 n, n_in), k**n)`` for one layer of n units of rank k.

    Parameters
    ----------
    n_in : int
    widths : int or sequence of one int
    rank : int

    Returns
    -------
    int

    References
    ----------
    Montufar, Pascanu, Cho, Bengio, On the number of linear regions of deep neural networks, 2014.

    Examples
    --------
    >>> maxout_montufar2014_upper(2, 3, 3)
    27
    """
    dimension, layers = shape(n_in, widths)
    k = integer(rank, "rank")
    width = one_width(layers, "the upper bound of Montufar et al. 2014 for maxout")
    return min(weighted_sum(k * k * width, dimension), int(k**width))


@registered("upper", "regions", "maxout", "Serra, Tjandraatmadja, Ramalingam 2018, Theorem 8")
def maxout_serra(n_in: int, widths: Widths, rank: int | Sequence[int]) -> int:
    """Return the product over layers of ``r(n_l k (k - 1) / 2, d_l)``, ``d_l = min(n_in, n_1, .., n_l)``.

    Every pair of a unit's affine functions is counted as a separate hyperplane.

    Parameters
    ----------
    n_in, widths
        As for `maxout_montufar_ren_zhang`.
    rank : int, or sequence of one int for each layer

    Returns
    -------
    int

    References
    ----------
    Serra, Tjandraatmadja, Ramalingam, Bounding and counting linear regions of deep neural networks, 2018, Theorem 8.

    Examples
    --------
    >>> maxout_serra(2, [3, 3], 3)
    2116
    """
    dimension, layers = shape(n_in, widths)
    ranks = per_layer(rank, layers, "rank")
    dims = list(accumulate(layers, min, initial=dimension))[1:]
    return prod(weighted_sum(width * comb(k, 2), d) for width, k, d in zip(layers, ranks, dims, strict=True))


@registered("upper", "regions", "maxout", "Montufar, Ren, Zhang 2022")
def maxout_montufar_ren_zhang(n_in: int, widths: Widths, rank: Ranks) -> int:
    """Return the product over layers of ``sum of e_j(k_1 - 1, .., k_n - 1) for j <= min(n_in, n_1, .., n_{l-1})``.

    e_j is the elementary symmetric polynomial in the units' ranks minus 1; with one rank k for all it is ``C(n, j) *
    (k - 1)**j``. For one layer this is the largest number that occurs.

    Parameters
    ----------
    n_in : int
        Dimension of the input.
    widths : int or sequence of int
        Units of the hidden layers; a single number is one layer.
    rank : int, or sequence with one int, or one sequence of ints, for each layer
        Number of affine functions of each unit, at least 1.

    Returns
    -------
    int

    References
    ----------
    Montufar, Ren, Zhang, Sharp bounds for the number of regions of maxout networks and vertices of Minkowski sums,
    2022.

    Examples
    --------
    >>> maxout_montufar_ren_zhang(2, [3, 3], 3)
    361
    >>> maxout_montufar_ren_zhang(2, [2], [[2, 4]])
    8
    """
    dimension, layers = shape(n_in, widths)
    narrowest = accumulate(layers, min, initial=dimension)
    ranks = _ranks_of_units(rank, layers)
    return prod(_symmetric_sum(each, d) for each, d in zip(ranks, narrowest, strict=False))


@registered("best", "regions", "maxout", "Montufar et al. 2014")
def maxout_montufar2014_lower(n_in: int, widths: Widths, rank: int) -> int:
    """Return ``k**(L - 1) * k**n_in`` for L layers of ``n_in`` units, ``k**min(n_in, n)`` for one layer of n.

    With rank 2, it is ``2**(n_in * L)``. Some network of these widths has that many.

    Parameters
    ----------
    n_in, widths
        As for `maxout_montufar_ren_zhang`.
    rank : int

    Returns
    -------
    int

    Raises
    ------
    BoundDoesNotApply
        Several layers that do not all have ``n_in`` units.

    References
    ----------
    Montufar, Pascanu, Cho, Bengio, On the number of linear regions of deep neural networks, 2014.

    Examples
    --------
    >>> maxout_montufar2014_lower(2, [2, 2], 3), maxout_montufar2014_lower(2, [2, 2], 2)
    (27, 16)
    """
    dimension, layers = shape(n_in, widths)
    k = integer(rank, "rank")
    if len(layers) == 1:
        return int(k ** min(dimension, layers[0]))
    theorem = "the lower bound of Montufar et al. 2014 for deep maxout networks"
    if equal_width(layers, theorem) != dimension:
        raise BoundDoesNotApply(f"{theorem} needs layers of {dimension} units, one per input, not {layers[0]}")
    return int(k ** (dimension * len(layers) if k == 2 else len(layers) - 1 + dimension))


@registered("best", "regions", "maxout", "Montufar, Ren, Zhang 2022", status="quoted")
def maxout_montufar_ren_zhang_lower(n_in: int, widths: Widths, rank: int) -> int:
    """Return ``prod of (n_l (k - 1) / n_in + 1)**n_in for l < L, times sum of C(n_L, j) (k - 1)**j for j <= n_in``.

    Some network of these widths has that many; ``n_l / n_in`` must be an even number for l < L.

    Parameters
    ----------
    n_in, widths
        As for `maxout_montufar_ren_zhang`.
    rank : int

    Returns
    -------
    int

    Raises
    ------
    BoundDoesNotApply
        A width (other than the last) that is not an even multiple of ``n_in``.

    References
    ----------
    Montufar, Ren, Zhang 2022, as for `maxout_montufar_ren_zhang`; quoted from notes, not from the paper's text.

    Examples
    --------
    >>> maxout_montufar_ren_zhang_lower(1, [2, 2], 3)
    25
    """
    dimension, layers = shape(n_in, widths)
    others = integer(rank, "rank") - 1
    for i, width in enumerate(layers[:-1]):
        if width % (2 * dimension):
            raise BoundDoesNotApply(
                f"the lower bound of Montufar, Ren and Zhang needs even multiples of {dimension} inputs; widths[{i}] "
                f"is {width}"
            )
    folds: int = prod((width // dimension * others + 1) ** dimension for width in layers[:-1])
    return folds * weighted_sum(layers[-1], dimension, others)


def _ranks_of_units(rank: Ranks, layers: Sequence[int]) -> list[tuple[int, ...]]:
    if not isinstance(rank, Iterable):
        return [(integer(rank, "rank"),) * width for width in layers]
    items = one_each(rank, len(layers), "rank")
    return [per_layer(items[i], range(layers[i]), f"rank[{i}]", noun="units") for i in range(len(layers))]


def _symmetric_sum(ranks: Sequence[int], last: int) -> int:
    """Return the sum of the elementary symmetric polynomials of degree 0 to ``last`` in the ranks minus 1."""
    if len(set(ranks)) == 1:
        return weighted_sum(len(ranks), last, ranks[0] - 1)
    polynomials = [1] + [0] * min(last, len(ranks))
    for k in ranks:
        for j in range(len(polynomials) - 1, 0, -1):
            polynomials[j] += (k - 1) * polynomials[j - 1]
    return sum(polynomials)
