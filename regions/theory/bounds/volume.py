# SPDX-License-Identifier: MIT
"""By what factor does a random ReLU network change areas and volumes, on average?

The image of a d-dimensional piece of the input space is measured after the last hidden layer. Let G be the rows of a
layer's weights of the active units, restricted to the piece's tangent space. The layer multiplies volumes by
sqrt(det(G^T G)). Given that a unit is active, its row has a law whose symmetrisation is Gaussian, and the determinant
does not depend on the signs of rows. So the factor is that of m Gaussian rows, with m binomial: c_m c_{m-1} ..
c_{m-d+1} on average, by orthogonalisation, with c_m the mean length of a Gaussian vector in m dimensions. Layers are
independent, because the law does not depend on the tangent space. For d = 1 it is the law of lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, prod

from regions.ground.arithmetic.arguments import integer
from regions.theory.bounds.bound_arguments import Widths, in_range, numbers_per_layer, shape
from regions.theory.bounds.chi import chi_means
from regions.theory.bounds.length import binomial_shares
from regions.theory.bounds.registry import registered


@registered("expected", "volume ratio", "relu", "Hanin, Jeong, Rolnick 2022", domain="convex", status="derived")
def expected_volume_relu_exact(
    n_in: int, widths: Widths, weight_std: float | Sequence[float], dimension: int = 2
) -> float:
    """Return the exact mean factor by which a Gaussian ReLU network multiplies d-dimensional volumes.

    ``prod of s_l**d E(c_m c_{m-1} .. c_{m-d+1})`` with m binomial: each of n_l units is active with probability 1/2.
    Parts of the image that are covered several times count as often.

    Parameters
    ----------
    n_in : int
        Dimension of the input, at least d, which is not used otherwise.
    widths : int or sequence of int
        Units of the hidden layers; a single number is one layer.
    weight_std : float, or sequence of one for each layer
        Standard deviation s_l of a single weight: ``sqrt(2 / n_{l-1})`` for He initialisation.
    dimension : int
        d: 1 for lengths, 2 for areas.

    Returns
    -------
    float
        0 if a layer has fewer than d units. For areas a layer's factor is ``s_l**2 (n_l / 2 - 1 + 2**-n_l)``.

    Raises
    ------
    ValueError
        A dimension above the number of inputs.

    References
    ----------
    Derived here, and checked by simulation in ``docs/reproduce/random_laws.py``. Hanin, Jeong, Rolnick, Deep ReLU
    networks preserve expected length, 2022, bound volumes from above and compute lengths.

    Examples
    --------
    >>> he = [0.2**0.5, 0.2**0.5]
    >>> [round(expected_volume_relu_exact(10, [10, 10], he, d), 4) for d in (1, 2)]
    [0.8754, 0.6403]
    """
    inputs, layers = shape(n_in, widths)
    d = integer(dimension, "dimension")
    if d > inputs:
        raise ValueError(f"dimension {d} is above the {inputs} dimensions of the input")
    stds = numbers_per_layer(weight_std, layers, "weight_std")
    factors = (prod([std] * d) * _layer_factor(width, d) for std, width in zip(stds, layers, strict=True))
    return in_range(prod(factors), "the mean volume")


def _layer_factor(width: int, d: int) -> float:
    means, shares = chi_means(width), binomial_shares(width)
    return fsum(share * prod(means[m - d + 1 : m + 1]) for m, share in enumerate(shares) if m >= d)
