# SPDX-License-Identifier: MIT
"""How many regions and how much boundary does a random network have on average, and how near is the boundary?

These are bounds on expectations over the weights and biases, of order "number of neurons", not exponential in depth. A
single network may violate them. They contain constants of the distribution that the theorems only bound: ``c_grad``
bounds the mean gradients of pre-activations, ``c_bias`` the densities of biases. With independent weights of variance
2 / fan-in, ``c_grad = C exp(C sum of 1 / n_l)`` is valid, with a constant C of the weights' distribution. With
independent biases, ``c_bias`` is the largest density of one bias.
Results are exact fractions of the constants as given (a float is the dyadic fraction that it stores); `tube_volume`
contains pi and is a float.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import comb, factorial, pi, prod

from regions.ground.arithmetic.arguments import integer, number, tuple_of
from regions.theory.bounds.bound_arguments import Widths, codimension_of, in_range, rational, shape
from regions.theory.bounds.registry import registered

Number = int | float | Fraction


@registered(
    "expected upper",
    "regions",
    "relu",
    "Hanin, Rolnick 2019b, Theorem 5",
    domain="cube",
    status="quoted",
    also_needs=("volume",),
)
def hanin_rolnick_expected(
    n_in: int, widths: Widths, *, c_grad: Number, c_bias: Number, volume: Number = 1
) -> Fraction:
    """Bound the mean number of activation regions in a cube: ``volume * (T N)**n_in / n_in!``, T = 32 c_grad c_bias.

    For fewer neurons than inputs ``2**N``, which bounds every network. T is the constant of this theorem, not a number
    of breakpoints.

    Parameters
    ----------
    n_in : int
        Dimension of the input.
    widths : int or sequence of int
        Units of the hidden layers; N is their sum.
    c_grad, c_bias : int, float or Fraction
        Constants of the distribution, above 0.
    volume : int, float or Fraction
        Volume of the cube. The theorem is about cubes with sides above a length that depends on the constants only.

    Returns
    -------
    Fraction

    References
    ----------
    Hanin, Rolnick, Deep ReLU networks have surprisingly few activation patterns, 2019, Theorem 5. The constant 2**5 is
    quoted from notes. In their experiments in a plane the number is about N**2 / 2.

    Examples
    --------
    >>> hanin_rolnick_expected(2, [16, 16], c_grad=0.25, c_bias=0.125)
    Fraction(512, 1)
    """
    dimension, layers = shape(n_in, widths)
    neurons = sum(layers)
    slope = 32 * rational(c_grad, "c_grad") * rational(c_bias, "c_bias")
    size = rational(volume, "volume")
    if neurons < dimension:
        return Fraction(2**neurons)
    return size * (slope * neurons) ** dimension / factorial(dimension)


@registered(
    "expected upper",
    "boundary per volume",
    "any",
    "Hanin, Rolnick 2019, Corollaries 4 and 7",
    status="quoted",
    also_needs=("breakpoints",),
)
def hanin_rolnick_volume(
    n_in: int, widths: Widths, codimension: int = 1, *, c_grad: Number, c_bias: Number, breakpoints: int = 1
) -> Fraction:
    """Bound the mean volume of the boundary's stratum per volume: ``C(N, k) (T c_grad c_bias)**k``.

    The stratum of codimension k is where k neurons switch: for k = 1 the facets, measured in n_in - 1 dimensions; for k
    = n_in the vertices, counted.

    Parameters
    ----------
    n_in, widths
        As for `hanin_rolnick_expected`.
    codimension : int
        From 1 to ``n_in``.
    c_grad, c_bias : int, float or Fraction
        Constants of the distribution, above 0.
    breakpoints : int
        T of the activation.

    Returns
    -------
    Fraction

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, Corollaries 4 and 7.

    Examples
    --------
    >>> hanin_rolnick_volume(2, [8, 8], c_grad=1.0, c_bias=0.5)
    Fraction(8, 1)
    """
    dimension, layers = shape(n_in, widths)
    k = codimension_of(codimension, dimension)
    slope = integer(breakpoints, "breakpoints") * rational(c_grad, "c_grad") * rational(c_bias, "c_bias")
    return comb(sum(layers), k) * slope**k


@registered(
    "expected upper", "boundary per volume", "relu", "Tiwari, Konidaris 2022", domain="manifold", status="quoted"
)
def tiwari_konidaris_volume(
    n_in: int, widths: Widths, codimension: int = 1, *, c_grad: Number, c_bias: Number, c_manifold: Number
) -> Fraction:
    """Bound as in `hanin_rolnick_volume`, on a manifold of ``n_in`` dimensions: ``C(N, k) (2 c_grad c_bias c_M)**k``.

    Parameters
    ----------
    n_in : int
        Dimension of the manifold.
    widths, codimension, c_grad, c_bias
        As for `hanin_rolnick_volume`.
    c_manifold : int, float or Fraction
        Constant of the manifold, above 0.

    Returns
    -------
    Fraction

    References
    ----------
    Tiwari, Konidaris, Effects of data geometry in early deep learning, 2022.

    Examples
    --------
    >>> tiwari_konidaris_volume(1, [8, 8], c_grad=1.0, c_bias=0.5, c_manifold=1.5)
    Fraction(24, 1)
    """
    manifold = 2 * rational(c_manifold, "c_manifold")
    return hanin_rolnick_volume(n_in, widths, codimension, c_grad=c_grad, c_bias=c_bias) * manifold**codimension


@registered(
    "expected lower",
    "distance to the boundary",
    "any",
    "Hanin, Rolnick 2019, Corollaries 5 and 8",
    domain="cube",
    status="quoted",
    also_needs=("breakpoints",),
)
def hanin_rolnick_distance(
    n_in: int, widths: Widths, *, c_grad: Number, c_bias: Number, constant: Number, breakpoints: int = 1
) -> Fraction:
    """Bound the mean distance of uniform points of the unit cube to the boundary from below: ``c / (T c_grad c_bias
    N)``.

    Parameters
    ----------
    n_in, widths
        As for `hanin_rolnick_expected`.
    constant : int, float or Fraction
        The c of the theorem, which only states that it exists, independent of the network.
    c_grad, c_bias, breakpoints
        As for `hanin_rolnick_volume`.

    Returns
    -------
    Fraction

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, Corollaries 5 and 8.

    Examples
    --------
    >>> hanin_rolnick_distance(2, [8, 8], constant=1.0, c_grad=1.0, c_bias=0.5)
    Fraction(1, 8)
    """
    return rational(constant, "constant") / hanin_rolnick_volume(
        n_in, widths, c_grad=c_grad, c_bias=c_bias, breakpoints=breakpoints
    )


def tube_volume(volumes: Iterable[float], radius: float) -> float:
    """Bound the volume within a radius of a piecewise-linear set, from the volumes of its strata.

    It is the sum over k of ``omega_{n - k} radius**(n - k) volumes[k]``, with omega_d the volume of the unit ball in d
    dimensions. This turns a bound on the boundary into a bound on the distance to it.

    Parameters
    ----------
    volumes : iterable of float [n + 1]
        Entry k is the k-dimensional volume of the part of dimension k (entry 0: the number of points), in a space of n
        dimensions.
    radius : float

    Returns
    -------
    float

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, Lemma 12.

    Examples
    --------
    >>> tube_volume([0, 3.0, 0], 0.5)  # a line of length 3 in the plane
    3.0
    """
    sizes = [number(size, f"volumes[{k}]") for k, size in enumerate(tuple_of(volumes, "volumes"))]
    eps, n = number(radius, "radius"), len(sizes) - 1
    balls = [1.0, 2.0]  # omega_d = 2 pi / d omega_{d - 2}
    for d in range(2, n + 1):
        balls.append(2.0 * pi / d * balls[-2])
    terms = [balls[n - k] * prod([eps] * (n - k)) * sizes[k] for k in range(n + 1)]
    return in_range(sum(sorted(terms)), "the volume")
