# SPDX-License-Identifier: MIT
"""How many regions does the best network of a given shape have at least?

Each bound is a construction: there is a network of the given widths with that many linear regions, and therefore at
least as many activation regions. The bounds say nothing about a given network, which may have a single region; they
show how close the upper bounds are.
A theorem that does not cover the given widths raises `BoundDoesNotApply`. Integers are exact.
"""

from __future__ import annotations

from math import prod

from regions.errors import BoundDoesNotApply
from regions.theory.bounds.binomials import weighted_sum
from regions.theory.bounds.bound_arguments import Widths, shape
from regions.theory.bounds.registry import registered


@registered("best", "regions", "relu", "Telgarsky 2015")
def telgarsky_lower(n_in: int, widths: Widths) -> int:
    """Return ``2**L``, the pieces on [0, 1] of a network with one input and at least two units in each layer.

    Parameters
    ----------
    n_in, widths
        As for `pascanu2013_lower`.

    Returns
    -------
    int

    Raises
    ------
    BoundDoesNotApply
        More than one input, or a layer of one unit.

    References
    ----------
    Telgarsky, Representation benefits of deep feedforward networks, 2015; `regions.constructions.sawtooth`.

    Examples
    --------
    >>> telgarsky_lower(1, [2, 2, 2])
    8
    """
    dimension, layers = shape(n_in, widths)
    if dimension != 1:
        raise BoundDoesNotApply(f"Telgarsky's sawtooth has one input, not {dimension}")
    if min(layers) < 2:
        raise BoundDoesNotApply("Telgarsky's sawtooth needs two units in each layer")
    return 1 << len(layers)


@registered("best", "regions", "relu", "Pascanu, Montufar, Bengio 2013")
def pascanu2013_lower(n_in: int, widths: Widths) -> int:
    """Return ``prod of floor(n_l / n_in) for l < L, times r(n_L, n_in)``; needs all widths at least ``n_in``.

    Parameters
    ----------
    n_in : int
    widths : int or sequence of int
        Units of the hidden layers; a single number is one layer.

    Returns
    -------
    int

    Raises
    ------
    BoundDoesNotApply
        A layer is narrower than the input.

    References
    ----------
    Pascanu, Montufar, Bengio, On the number of response regions of deep feedforward networks with piece-wise linear
    activations, 2013.

    Examples
    --------
    >>> pascanu2013_lower(2, [6, 6])
    66
    """
    dimension, layers = _at_least("Pascanu et al. 2013", 1, n_in, widths)
    return prod(width // dimension for width in layers[:-1]) * weighted_sum(layers[-1], dimension)


@registered("best", "regions", "relu", "Montufar et al. 2014, Theorem 5")
def montufar2014_lower(n_in: int, widths: Widths) -> int:
    """Return ``prod of floor(n_l / n_in)**n_in for l < L, times r(n_L, n_in)``; needs all widths at least ``n_in``.

    All layers but the last fold each coordinate ``floor(n_l / n_in)`` times (`regions.constructions.square_fold` is
    the case of the plane), and the last draws hyperplanes in general position.

    Parameters
    ----------
    n_in, widths
        As for `pascanu2013_lower`.

    Returns
    -------
    int

    Raises
    ------
    BoundDoesNotApply
        A layer is narrower than the input.

    References
    ----------
    Montufar, Pascanu, Cho, Bengio, On the number of linear regions of deep neural networks, 2014, Theorem 5.

    Examples
    --------
    >>> montufar2014_lower(2, [6, 6])
    198
    """
    dimension, layers = _at_least("Theorem 5 of Montufar et al. 2014", 1, n_in, widths)
    folds: int = prod((width // dimension) ** dimension for width in layers[:-1])
    return folds * weighted_sum(layers[-1], dimension)


@registered("best", "regions", "relu", "Serra, Tjandraatmadja, Ramalingam 2018, Theorem 6")
def serra2018_lower(n_in: int, widths: Widths) -> int:
    """Return ``prod of (floor(n_l / n_in) + 1)**n_in for l < L, times r(n_L, n_in)``; needs widths of ``3 n_in``.

    With one input this is ``prod of (n_l + 1)``, the exact maximum (Theorem 5, `regions.constructions.serra_fold`).

    Parameters
    ----------
    n_in, widths
        As for `pascanu2013_lower`.

    Returns
    -------
    int

    Raises
    ------
    BoundDoesNotApply
        A layer is narrower than three times the input.

    References
    ----------
    Serra, Tjandraatmadja, Ramalingam, Bounding and counting linear regions of deep neural networks, 2018, Theorem 6.

    Examples
    --------
    >>> serra2018_lower(2, [6, 6])
    352
    """
    dimension, layers = _at_least("Theorem 6 of Serra et al. 2018", 3, n_in, widths)
    folds: int = prod((width // dimension + 1) ** dimension for width in layers[:-1])
    return folds * weighted_sum(layers[-1], dimension)


@registered("best", "regions", "relu", "Arora et al. 2018, Theorem 2.11")
def arora2018_lower(n_in: int, widths: Widths) -> int:
    """Return ``2 * sum of C(m - 1, j) for j < n_in, times w**(L - 1)`` for widths ``2 m, w, .., w``.

    The first layer makes the support function of a zonotope, the others fold its values.

    Parameters
    ----------
    n_in, widths
        As for `pascanu2013_lower`.

    Returns
    -------
    int

    Raises
    ------
    BoundDoesNotApply
        The first width is odd, or the others differ from each other or are below 2.

    References
    ----------
    Arora, Basu, Mianjy, Mukherjee, Understanding deep neural networks with rectified linear units, 2018, Theorem 2.11.

    Examples
    --------
    >>> arora2018_lower(2, [6, 2])
    12
    """
    return _zonotope("Theorem 2.11 of Arora et al. 2018", n_in, widths, least=2, more=0)


@registered("best", "regions", "relu", "Serra, Tjandraatmadja, Ramalingam 2018, Theorem 7", status="quoted")
def serra2018_zonotope_lower(n_in: int, widths: Widths) -> int:
    """Return ``2 * sum of C(m - 1, j) for j < n_in, times (w + 1)**(L - 1)`` for widths ``2 m, w, .., w``.

    It is `arora2018_lower` with the better fold of `serra2018_lower`, which takes three units. So w is at least 3,
    unless only the last layer has width w: it folds nothing. The formula is quoted for w = 2 as well, but cannot hold
    there for many layers. Two layers of two units cut a segment into at most 7 pieces, not 9, so their number grows by
    less than a factor of 3 per layer.

    Parameters
    ----------
    n_in, widths
        As for `pascanu2013_lower`.

    Returns
    -------
    int

    Raises
    ------
    BoundDoesNotApply
        The first width is odd, or the others differ from each other, or several of them are below 3.

    References
    ----------
    Serra, Tjandraatmadja, Ramalingam, Bounding and counting linear regions of deep neural networks, 2018, Theorem 7.

    Examples
    --------
    >>> serra2018_zonotope_lower(2, [8, 3, 3])
    128
    """
    _, layers = shape(n_in, widths)
    return _zonotope("Theorem 7 of Serra et al. 2018", n_in, layers, least=1 if len(layers) == 2 else 3, more=1)


def _at_least(theorem: str, multiple: int, n_in: int, widths: Widths) -> tuple[int, tuple[int, ...]]:
    dimension, layers = shape(n_in, widths)
    for i, width in enumerate(layers):
        if width < multiple * dimension:
            raise BoundDoesNotApply(
                f"{theorem} needs widths of at least {multiple * dimension}, {multiple} per input; widths[{i}] is "
                f"{width}"
            )
    return dimension, layers


def _zonotope(theorem: str, n_in: int, widths: Widths, *, least: int, more: int) -> int:
    dimension, (first, *rest) = shape(n_in, widths)
    if first % 2 or len(set(rest)) > 1 or min(rest, default=least) < least:
        raise BoundDoesNotApply(
            f"{theorem} is about widths 2 m, w, .., w with w at least {least}, here they are {[first, *rest]}"
        )
    return 2 * weighted_sum(first // 2 - 1, dimension - 1) * prod(width + more for width in rest)
