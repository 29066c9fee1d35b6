# SPDX-License-Identifier: MIT
"""How many regions can a deep network have at most, by bounds that are products over layers?

Each layer cuts each region of the layers before it by an arrangement, so the numbers of the layers multiply. The bounds
differ in the dimension that they use: the dimension of the input, or the narrowest layer so far.
They hold for every network of the given widths, with proper regions and with patterns (definitions R2 and R1, so for
the coarser definitions too), on all of R^n_in and on any convex part of it. On a line or in a plane through the input,
use 1 or 2 for ``n_in``. Integers are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod

from regions.ground.arithmetic.arguments import one_of
from regions.theory.bounds.binomials import weighted_sum
from regions.theory.bounds.bound_arguments import Widths, per_layer, shape
from regions.theory.bounds.registry import registered

_RAGHU = "Raghu et al. 2017, Theorem 1"


@registered("upper", "regions", "any", "all patterns", "pattern", also_needs=("breakpoints",), skips=True)
def trivial(n_in: int, widths: Widths, *, breakpoints: int | Sequence[int] = 1) -> int:
    """Return the number of all patterns: ``2**N`` for N ReLUs, ``(T + 1)**N`` for activations with T breakpoints.

    Parameters
    ----------
    n_in : int
        Dimension of the input.
    widths : int or sequence of int
        Units of the hidden layers; a single number is one layer.
    breakpoints : int or sequence of int
        Breakpoints of the activation: 1 for ReLU, leaky ReLU and abs, 2 for hard tanh and ReLU6; one number for all
        layers, or one for each.

    Returns
    -------
    int

    Examples
    --------
    >>> trivial(784, [10, 10, 10]) == 2**30
    True
    >>> trivial(1, [2], breakpoints=2)
    9
    """
    _, layers = shape(n_in, widths)
    pieces = per_layer(breakpoints, layers, "breakpoints", least=0)
    return prod((count + 1) ** width for width, count in zip(layers, pieces, strict=True))


@registered("upper", "regions", "any", _RAGHU, "pattern", status="explicit", also_needs=("breakpoints",), skips=True)
def raghu(n_in: int, widths: Widths, *, breakpoints: int | Sequence[int] = 1) -> int:
    """Return the product of ``sum of C(n_l, i) * T**i for i from 0 to n_in``: Theorem 1 of Raghu et al. in finite form.

    The theorem itself says O(k**(m n)) for n layers of width k on R^m; this is the number that its proof gives. For T
    > 1 breakpoints the T hyperplanes of a unit are parallel, so that a flat lies in at most one of them. The result is
    less than for the proof's T * n_l unrelated hyperplanes (`raghu_hard_tanh`), and one generic layer reaches it.
    Layers may read any layers below: a layer is affine on each region of these, whatever it reads.

    Parameters
    ----------
    n_in, widths, breakpoints
        As for `trivial`.

    Returns
    -------
    int

    References
    ----------
    Raghu, Poole, Kleinberg, Ganguli, Sohl-Dickstein, On the expressive power of deep neural networks, 2017, Theorem
    1 and its proof. The form for T breakpoints is derived here; with smaller dimensions it is `montufar2017`. Hu,
    Zhang, Nearly-tight bounds on linear regions of piecewise linear neural networks, 2018, have the largest number of
    one layer for such activations (abstract).

    Examples
    --------
    >>> raghu(2, [4, 4])
    121
    >>> raghu(2, [4], breakpoints=2)
    33
    """
    dimension, layers = shape(n_in, widths)
    counts = per_layer(breakpoints, layers, "breakpoints", least=0)
    return prod(weighted_sum(width, dimension, count) for width, count in zip(layers, counts, strict=True))


@registered(
    "upper", "regions", "two breakpoints", _RAGHU, "pattern", status="derived", fixed=(("form", "pairs"),), skips=True
)
@registered(
    "upper", "regions", "two breakpoints", _RAGHU, "pattern", status="explicit", fixed=(("form", "2k"),), skips=True
)
def raghu_hard_tanh(n_in: int, widths: Widths, *, form: str = "2k") -> int:
    """Return Theorem 1 of Raghu et al. for hard tanh, or any activation with two breakpoints.

    Parameters
    ----------
    n_in, widths
        As for `trivial`.
    form : {"2k", "pairs"}
        "2k": as in the paper's proof, the two hyperplanes of a unit counted as if unrelated, ``prod of r(2 n_l,
        n_in)``. "pairs": as parallel, which they are; the same as `raghu` with two breakpoints.

    Returns
    -------
    int

    References
    ----------
    Raghu et al., On the expressive power of deep neural networks, 2017, Theorem 1 and its proof.

    Examples
    --------
    >>> raghu_hard_tanh(2, 4), raghu_hard_tanh(2, 4, form="pairs")
    (37, 33)
    """
    dimension, layers = shape(n_in, widths)
    if one_of(form, ("2k", "pairs"), "form") == "pairs":
        return raghu(dimension, layers, breakpoints=2)
    return prod(weighted_sum(2 * width, dimension) for width in layers)


@registered(
    "upper", "regions", "any", "Montufar 2017; Goujon, Etemadi, Unser 2024", "pattern", also_needs=("breakpoints",)
)
def montufar2017(n_in: int, widths: Widths, *, breakpoints: int | Sequence[int] = 1) -> int:
    """Return `raghu` with the narrowest layer so far as the dimension: ``d_l = min(n_in, n_1, .., n_l)``.

    The image of a region under l - 1 layers has at most ``d_l`` dimensions, for any activation.

    Parameters
    ----------
    n_in, widths, breakpoints
        As for `trivial`.

    Returns
    -------
    int

    References
    ----------
    Montufar, Notes on the number of linear regions of deep neural networks, 2017. For T breakpoints: Goujon,
    Etemadi, Unser, On the number of regions of piecewise linear neural networks, 2024 (there with ``kappa = T + 1``
    pieces).

    Examples
    --------
    >>> montufar2017(784, [2, 20]), raghu(784, [2, 20])
    (844, 4194304)
    """
    dimension, layers = shape(n_in, widths)
    counts = per_layer(breakpoints, layers, "breakpoints", least=0)
    narrowest = accumulate(layers, min, initial=dimension)  # d_l may omit n_l, because C(n_l, i) = 0 beyond it
    return prod(weighted_sum(width, d, count) for width, d, count in zip(layers, narrowest, counts, strict=False))
