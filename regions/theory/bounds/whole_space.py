# SPDX-License-Identifier: MIT
"""How many regions does a random network of any width and depth have in the whole space, on average?

If the signs of a unit's row are as likely as the opposite ones, the gates on the way to a unit are independent fair
coins. A set of units can switch together if and only if open gates link them to as many inputs by disjoint paths. The
mean number of regions is the mean number of such sets, and a closed formula for each shape. The proof is in
``docs/depth.md``. Integers and fractions are exact.
The share of inputs at which a layer is closed follows from the same coins.
Cost: one multiplication of long integers for each layer and each pair of numbers up to ``n_in``.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from math import prod

from regions.ground.arithmetic.arguments import real
from regions.theory.bounds.binomials import MOST_BITS, binomial_row
from regions.theory.bounds.bound_arguments import Widths, shape
from regions.theory.bounds.registry import registered

# Fair coins of all units together, for a fraction that Python reduces in about a second.
MOST_COINS = 10**6


@registered("expected", "regions", "one breakpoint", "derived here", domain="whole space", status="derived")
def expected_regions(n_in: int, widths: Widths, *, slope: float = 0.0) -> Fraction:
    """Return the exact mean number of activation regions of a random network in the whole space.

    Two statements hold for dense layers without skip connections, for every width and depth:

    - For **any** weights and biases, take the mean over the signs of the hidden units: each row of a layer, its bias,
      and the column that reads the unit may be multiplied by -1. The mean number of regions is at most this number. It
      is equal for all weights and biases outside a set of measure zero.
    - Therefore it is the mean over random networks if their weights and biases, in every layer, have a joint density
      that does not change under these signs. All usual initialisations with random biases do: He, Xavier and torch's
      default, with any scales. If there is no density (sparse or discrete weights, zero biases)
      it is an upper bound on the mean.

    It does not hold if signs are not symmetric: biases of one sign, weights with a positive mean, batch norms with
    statistics of data, ``x + relu(W x)``.

    Parameters
    ----------
    n_in : int
        Dimension d of the input space, or of the affine plane of it in which regions are counted.
    widths : int or sequence of int
        Units of the hidden layers.
    slope : float
        Slope of the activation below 0: 0 for ReLU, -1 for abs. Above 0 the slope is 1.

    Returns
    -------
    Fraction
        The sum over s_1 + .. + s_L <= d of the products of C(n_l, s_l) and, for all but the last layer, P(at least
        s_{l+1} + .. + s_L of n_l - s_l fair coins show heads). For slopes other than 0 all coins show heads, and if no
        layer is narrower than d the sum is r(N, d). It is never more than r(N, d), the number of one layer with as many
        units.

    Raises
    ------
    ValueError
        A slope of 1, which bends nothing; or the result has too many digits to be written down.

    References
    ----------
    Derived here. For ``n_in=1`` it sharpens the limit of Kogan, Jananthan, Kepner, Complexity of one-dimensional ReLU
    DNNs, 2025. That gates are fair coins is known from Hanin, Rolnick, Complexity of linear regions in deep networks,
    2019.

    Examples
    --------
    >>> from regions.theory.bounds import zaslavsky
    >>> expected_regions(2, [4, 4])
    Fraction(263, 8)
    >>> 129 - expected_regions(1, [64, 64]) == Fraction(1, 2**58)
    True
    >>> expected_regions(2, [4, 4], slope=0.1) == zaslavsky(2, 8)
    True
    """
    dimension, layers = shape(n_in, widths)
    below = real(slope, "slope")
    if below == 1.0:
        raise ValueError("slope must not be 1: then the activation has no kink")
    coins = 0 if below else sum(layers[:-1])
    if coins > MOST_COINS or coins * min(dimension, sum(layers)) > MOST_BITS:
        raise ValueError(f"the denominator 2**{coins} has too many digits to be written down. Take smaller widths")
    # Entry k: the sum over choices of k units in the layers above, with their probabilities.
    choices = [1]
    for number, width in enumerate(reversed(layers)):
        row = binomial_row(width, min(width, dimension))
        longer = [0] * (min(len(choices) - 1 + width, dimension) + 1)
        for here, ways in enumerate(row[: len(longer)]):
            needed = choices[: len(longer) - here]
            open_ = _open_gates(width - here, len(needed) - 1, bool(below) or number == 0)
            for above, (weight, chance) in enumerate(zip(needed, open_, strict=True)):
                longer[here + above] += weight * ways * (chance << (0 if below or number == 0 else here))
        choices = longer
    return Fraction(sum(choices), 1 << coins)


@registered("expected", "decision pieces", "one breakpoint", "derived here", domain="whole space", status="derived")
def expected_decision_pieces(n_in: int, widths: Widths, *, slope: float = 0.0) -> Fraction:
    """Return the exact mean number of pieces of the decision boundary of a random network in the whole space.

    The decision boundary is where the one output is 0, or where two outputs are equal. Each region that it divides has
    one piece of it. One more unit, whose kink is there, would divide the same regions, so that the mean is a difference
    of two values of `expected_regions`, under the same conditions, for the weights and the bias of the output as well.

    Parameters
    ----------
    n_in : int
        Dimension d of the input space, or of the affine plane of it in which pieces are counted.
    widths : int or sequence of int
        Units of the hidden layers.
    slope : float
        As for `expected_regions`.

    Returns
    -------
    Fraction
        ``expected_regions(n_in, [*widths, 1]) - expected_regions(n_in, widths)``. For wide layers it tends to
        r(N, d - 1), the number of regions of one layer of N units in one dimension less.

    Raises
    ------
    ValueError
        As for `expected_regions`.

    References
    ----------
    Derived here, from the theorem of `expected_regions`.

    Examples
    --------
    >>> from regions.theory.bounds import zaslavsky
    >>> round(float(expected_decision_pieces(2, [16, 16])), 3), zaslavsky(1, 32)
    (32.995, 33)
    >>> expected_decision_pieces(1, [1])
    Fraction(1, 2)
    """
    _, layers = shape(n_in, widths)
    return expected_regions(n_in, [*layers, 1], slope=slope) - expected_regions(n_in, layers, slope=slope)


@registered("expected", "closed share", "relu", "Hanin, Rolnick 2019, appendix D", status="derived")
def expected_closed_share(n_in: int, widths: Widths) -> Fraction:
    """Return the mean share of a domain on which a layer of a random ReLU network is closed.

    A layer is closed where none of its units is active, and the network is constant there. At every input the units of
    a network with symmetric signs, as `expected_regions` describes them, are active like independent fair coins. The
    share is also the probability that a layer is closed at a given input. One minus the share is a factor of the lower
    bound in Corollary 4 of Hanin and Rolnick: the constants of that bound may be used in `hanin_rolnick_volume`.

    Parameters
    ----------
    n_in : int
        Dimension of the input, which is not used otherwise.
    widths : int or sequence of int
        Units of the hidden layers.

    Returns
    -------
    Fraction
        ``1 - prod of (1 - 2**-n_l)``.

    Raises
    ------
    ValueError
        The result has too many digits to be written down.

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, appendix D, equation (31); that the coins are
    independent is Proposition 2 of Hanin, Nica, Products of many large random matrices and gradients in deep neural
    networks, 2018. Exact on a domain, because a mean over its points is a mean over points.

    Examples
    --------
    >>> expected_closed_share(2, [3, 3])
    Fraction(15, 64)
    >>> float(expected_closed_share(2, [64] * 10)) < 1e-18
    True
    """
    _, layers = shape(n_in, widths)
    units = sum(layers)
    if units > MOST_COINS:
        raise ValueError(
            f"the share is a fraction with 2^{units} below the line; at most {MOST_COINS:,} units are allowed"
        )
    opened = prod((1 << width) - 1 for width in layers)
    return Fraction((1 << units) - opened, 1 << units)


def _open_gates(units: int, most: int, all_open: bool) -> list[int]:
    """Return, for k = 0, 1, .., most, in how many of the 2**units states at least k gates are open; if all gates are
    open, 1 or 0.
    """
    if all_open:
        return [int(k <= units) for k in range(most + 1)]
    fewer = accumulate((0, *binomial_row(units, most)[:most]))
    return [(1 << units) - less for less in fewer]
