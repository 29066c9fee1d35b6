# SPDX-License-Identifier: MIT
"""How many regions can a deep ReLU network have at most, given the dimension lost to inactive units?

If only a of the units of a layer are active, its image has at most a dimensions, and the next layer cuts it at most as
an arrangement in a dimensions does. So let R_l(d) be the largest number of parts that layers l, l + 1, .. make of a
region whose image has d dimensions:

    R_l(d) = sum over a of gamma_{d, n_l}(a) * R_{l+1}(min(d, a)),      R_{L+1} = 1

where gamma_{d, n}(a) bounds how many regions of n hyperplanes in d dimensions have a active units, in the sense that
no arrangement has more regions with a or more, for any a. This is only for units that are constant where inactive
(ReLU): a leaky unit loses no dimension.
Cost: for each layer and dimension a constant number of operations on integers of some thousand bits, because most terms
share R_{l+1}(d) and the others are differences of partial sums. Integers are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import mul

from regions.theory.bounds.binomials import binomial_row
from regions.theory.bounds.bound_arguments import Widths, per_layer, shape
from regions.theory.bounds.registry import registered


@registered("upper", "regions", "relu", "Serra, Tjandraatmadja, Ramalingam 2018, Theorem 1", "pattern")
def serra2018_upper(n_in: int, widths: Widths, *, ranks: Sequence[int] | None = None) -> int:
    """Return Theorem 1 of Serra et al.: the sum of ``prod of C(n_l, j_l)`` over the j that dimensions permit.

    j_l is the number of inactive units of layer l on a region, counted generously: ``0 <= j_l <= min(n_in, n_1 - j_1,
    .., n_{l-1} - j_{l-1}, n_l)``. With one input it is ``prod of (n_l + 1)``, which is reached if all widths are at
    least 3 (Theorem 5, `regions.constructions.serra_fold`), but not by widths (2, 2), for which it gives 9 while 7 is
    the maximum.

    Parameters
    ----------
    n_in : int
        Dimension of the input, or of the plane (polygon, line, ..) through it.
    widths : int or sequence of int
        Units of the hidden layers; a single number is one layer.
    ranks : sequence of int, optional
        Ranks of the layers' weights, if known: ``rank(W_l)`` replaces the last ``n_l`` above. Ranks must be exact: a
        rank with a tolerance, as from `numpy.linalg.matrix_rank`, can be too small, and then so is the bound.

    Returns
    -------
    int

    References
    ----------
    Serra, Tjandraatmadja, Ramalingam, Bounding and counting linear regions of deep neural networks, 2018, Theorem 1;
    the form with ranks follows its Lemma 2.

    Examples
    --------
    >>> serra2018_upper(2, [2, 2]), serra2018_upper(784, [2, 20])
    (11, 254)
    >>> serra2018_upper(2, [4, 4], ranks=[1, 2])
    55
    """
    dimension, layers = shape(n_in, widths)
    caps = layers if ranks is None else per_layer(ranks, layers, "ranks", least=0)
    after = [1] * (dimension + 1)
    for width, cap in zip(layers[:0:-1], caps[:0:-1], strict=True):
        after = _binomial_step(width, cap, after, range(dimension + 1))
    return _binomial_step(layers[0], caps[0], after, [dimension])[0]


@registered("upper", "regions", "relu", "Hinz, van de Geer 2019; Hinz 2021", "pattern", status="quoted")
def hinz_vandegeer(n_in: int, widths: Widths) -> int:
    """Return the bound of Hinz and van de Geer, with the sharpest activation histograms of Hinz 2021 in 1 and 2
    dimensions.

    A region with many active units keeps its dimension, but few regions can have many: for n half-planes in the plane
    at most ``1 + k n`` regions lie outside of at most k, on a line ``1 + 2 k``. In three dimensions and more, binomial
    coefficients are used as in `serra2018_upper`. It is never above `serra2018_upper`, and smaller if a layer of 4
    units cuts a region of 2 dimensions.

    Parameters
    ----------
    n_in, widths
        As for `serra2018_upper`.

    Returns
    -------
    int

    References
    ----------
    Hinz, van de Geer, A framework for the construction of upper bounds on the number of affine linear regions of ReLU
    feed-forward neural networks, 2019: the norm of ``B_{n_L} M .. B_{n_1} M e`` there is the recursion of this file.
    Hinz, Using activation histograms to bound the number of affine regions in ReLU feed-forward neural networks, 2021:
    the histograms for 1 and 2 dimensions. The plane's agrees with the largest numbers that a search over half-planes
    (n = 2 to 7) finds; his further bounds for three dimensions and more are not used.

    Examples
    --------
    >>> hinz_vandegeer(2, [4, 4]), serra2018_upper(2, [4, 4])
    (109, 121)
    """
    dimension, layers = shape(n_in, widths)
    after = [1] * (dimension + 1)
    for width in layers[:0:-1]:
        after = _sharpest_step(width, after, range(dimension + 1))
    return _sharpest_step(layers[0], after, [dimension])[0]


def _sharpest_step(width: int, after: Sequence[int], dimensions: Iterable[int]) -> list[int]:
    """Return R_l from R_{l+1}, for each of the dimensions."""
    steps = zip(dimensions, _binomial_step(width, width, after, dimensions), strict=True)
    return [_histogram_step(width, d, after) if d in (1, 2) else step for d, step in steps]


def _binomial_step(width: int, cap: int, after: Sequence[int], dimensions: Iterable[int]) -> list[int]:
    """Return the sum of ``C(width, j) * after[min(d, width - j)]`` over ``j <= min(cap, d)``, for each of the
    dimensions d.
    """
    result = []
    binomials = binomial_row(width, min(width, len(after) - 1))  # no more units than dimensions are inactive
    regions = list(accumulate(binomials))
    # weighted[e] is the sum of C(width, i) * after[i] for i < e, by active units i.
    weighted = [0, *accumulate(map(mul, binomials, after))]
    for d in dimensions:
        kept = min(d, width)  # the image cannot have more dimensions than the layer has units
        most = min(cap, kept)  # inactive units
        full = min(most, width - kept)  # up to here no dimension is lost
        lost = weighted[kept] - weighted[width - most] if most > full else 0
        result.append(regions[full] * after[kept] + lost)
    return result


def _histogram_step(width: int, d: int, after: Sequence[int]) -> int:
    """Return R_l(d) for d = 1 and 2, where the largest number of regions with at most k inactive units is known."""
    total = width + 1 if d == 1 else 1 + width + width * (width - 1) // 2
    kept = min(d, width)
    # upto[e]: regions with at least e active units, for e up to the number at which no dimension is lost.
    upto = [min(1 + (width - e) * (2 if d == 1 else width), total) for e in range(kept + 1)]
    lost = sum((upto[e] - upto[e + 1]) * after[e] for e in range(kept))
    return upto[kept] * after[kept] + lost
