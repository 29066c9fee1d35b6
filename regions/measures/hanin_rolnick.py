# SPDX-License-Identifier: MIT
"""Do both sides of Hanin and Rolnick's Theorem 3 (Theorem 6 for T breakpoints) agree?

For random networks whose biases have a density the mean volume of the stratum of codimension k, B_{N,k}, in a body K is

    E vol(B_{N,k} and K) = sum over sets of k kinks of the integral over K of E[ |J| rho 1(all are good) ],

|J| the k-dimensional volume spanned by the gradients of the pre-activations, rho the density of the biases that put all
k neurons on their breakpoints at x, and *good*: a path of open neurons leads from it to the output.
The left side is measured on drawn networks: exactly, on each, on an interval and in a box of two dimensions; by random
lines elsewhere (`crofton.py`). The right side draws networks and uniform points x, and evaluates the sum. Both are
means of independent samples, per volume of K.
Conditioned on everything else, the theorem integrates over the biases of the k neurons, and the integrand is what it is
once these *have the values that put the neurons on their breakpoints*. So each set of kinks is evaluated with its
neurons' outputs pinned to their values there: whether later neurons are open depends on that. (Evaluated with the
biases as drawn, the sum would be another number.) A pinned neuron counts as open, since it is so on one side; and
which of its two slopes later gradients are taken with does not matter, for it adds a multiple of one row of J to
another. Floating point throughout: exceptions have probability 0.
Cost: for k = 1, as many forward passes with Jacobian as there are kinks, per sample; for k > 1 of at most 4096 sets.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.arguments import integer
from regions.bounds.arguments import codimension_of
from regions.domains import Rectangle
from regions.enumeration import enumerate as enumerate_regions
from regions.errors import ShapeMismatchError
from regions.measures.arguments import Boundary, boundary_name, generator, samples
from regions.measures.bodies import Body, Box, in_space
from regions.measures.boundary import boundary_volume
from regions.measures.crofton import crossing_densities
from regions.measures.estimate import Estimate
from regions.measures.random_networks import RandomNetworks
from regions.network import Network

__all__ = ["hanin_rolnick_integral", "mean_boundary_density"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Sets of kinks per sample; if there are more, so many are drawn.
SETS = 4096


def mean_boundary_density(
    random: RandomNetworks,
    body: Body,
    *,
    networks: int,
    rng: np.random.Generator,
    codimension: int = 1,
    boundary: Boundary = "gradient",
    lines: int = 1,
) -> Estimate:
    """Left side of Theorem 3: mean volume of the boundary's stratum, per volume of the body, over random networks.

    Parameters
    ----------
    random : RandomNetworks
    body : Ball or Box
    networks : int
        How many are drawn, at least 2.
    rng : numpy.random.Generator
    codimension : int
        k: 1 for the facets; 2, in a box of two dimensions, for the vertices.
    boundary : "gradient" or "activation"
        As for `boundary_volume`; the theorem is about the gradient's.
    lines : int
        Random lines per network, where it is not measured exactly: in balls, and beyond two dimensions.

    Returns
    -------
    Estimate
        With one sample for each network.

    Raises
    ------
    TypeError, ValueError
        Wrong types; numbers out of range; another boundary.
    ShapeMismatchError
        The body does not lie in the networks' input space; a codimension that is not measured there.

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, Theorems 3 and 6.

    Examples
    --------
    >>> import numpy as np
    >>> from regions.measures import Box
    >>> random, rng = RandomNetworks([1, 8, 1], bias_std=0.5), np.random.default_rng(0)
    >>> left = mean_boundary_density(random, Box([-1.0], [1.0]), networks=200, rng=rng)
    >>> right = hanin_rolnick_integral(random, Box([-1.0], [1.0]), networks=200, rng=rng, points=4)
    >>> left
    Estimate(3.1... +- 0.0..., 200 samples)
    >>> abs(left.deviation(right)) < 4
    True
    """
    k, name, rng = _checked(random, body, codimension, boundary, rng)
    box = body if isinstance(body, Box) and body.n_in == 2 else None
    if k > 1 and box is None:
        raise ShapeMismatchError(f"codimension {k} is measured in boxes of 2 dimensions only, here: {body!r}")
    per_network, values = integer(lines, "lines"), []
    for _ in range(samples(networks, "networks")):
        network = random.draw(rng)
        if box is not None:
            values.append(_in_box(network, box, name)[k - 1])
        else:
            values.append(crossing_densities(network, body, per_network, rng, name).mean())
    return Estimate(np.array(values))


def hanin_rolnick_integral(
    random: RandomNetworks,
    body: Body,
    *,
    networks: int,
    rng: np.random.Generator,
    codimension: int = 1,
    boundary: Boundary = "gradient",
    points: int = 1,
) -> Estimate:
    """Right side of Theorem 3: mean over the body and over random networks of ``|J| rho 1(good)``, summed over kinks.

    Parameters
    ----------
    random, body, networks, rng
        As for `mean_boundary_density`.
    codimension : int
        k, from 1 to the dimension of the input.
    boundary : "gradient" or "activation"
        The latter leaves out the condition that neurons are good, and counts breakpoints where the slope does not
        change.
    points : int
        Random points of the body per network.

    Returns
    -------
    Estimate
        With one sample for each network.

    Raises
    ------
    TypeError, ValueError, ShapeMismatchError
        As for `mean_boundary_density`.

    References
    ----------
    As for `mean_boundary_density`.

    Examples
    --------
    One layer at 0, in closed form 4:

    >>> import numpy as np
    >>> from regions.measures import Ball
    >>> random = RandomNetworks([2, 8, 1], weight_gain=2.0)  # weights of variance 1
    >>> found = hanin_rolnick_integral(random, Ball([0, 0], 1e-9), networks=400, rng=np.random.default_rng(0))
    >>> abs(found.deviation(4.0)) < 4
    True
    """
    k, name, rng = _checked(random, body, codimension, boundary, rng)
    per_network, values = integer(points, "points"), []
    for _ in range(samples(networks, "networks")):
        network = random.draw(rng)
        drawn = body.points(per_network, rng)
        values.append(np.mean([_integrand(network, random, point, k, name, rng) for point in drawn]))
    return Estimate(np.array(values))


def _checked(
    random: RandomNetworks, body: Body, codimension: int, boundary: Boundary, rng: np.random.Generator
) -> tuple[int, Boundary, np.random.Generator]:
    if not isinstance(random, RandomNetworks):
        raise TypeError(f"expected regions.measures.RandomNetworks, got {type(random).__name__}")
    in_space(body, random.n_in)
    return codimension_of(codimension, random.n_in), boundary_name(boundary), generator(rng)


def _in_box(network: Network, box: Box, boundary: Boundary) -> Floats:
    """Densities of the strata of one network in a box of two dimensions."""
    e1, e2 = np.diag(box.sides)
    return boundary_volume(enumerate_regions(network, Rectangle(box.lower, e1, e2)), boundary).densities


def _integrand(
    network: Network, random: RandomNetworks, point: Floats, codimension: int, boundary: str, rng: np.random.Generator
) -> float:
    """The sum over sets of kinks, or an unbiased sample of it."""
    sets, weight = _sets_of_kinks(network.kinks, codimension, rng)
    pinned = _pin(network, point, sets)
    gram = pinned.gradients @ pinned.gradients.transpose(0, 2, 1)
    # Of dependent rows, as two breakpoints of one neuron have, the determinant is 0, or may come out below.
    terms = np.sqrt(np.maximum(np.linalg.det(gram), 0.0)) * random.bias_density(pinned.biases).prod(axis=1)
    if boundary == "gradient":
        terms[~(pinned.good & _bends(network)[sets]).all(axis=1)] = 0.0
    return float(weight * terms.sum())


def _sets_of_kinks(kinks: int, size: int, rng: np.random.Generator) -> tuple[Integers, float]:
    """All sets of kinks of a size, ascending, int64 [m, size], or random ones; and for how many each stands."""
    total = comb(kinks, size)
    if total <= SETS:
        return np.array(list(combinations(range(kinks), size)), dtype=np.int64).reshape(total, size), 1.0
    drawn = np.zeros((0, size), dtype=np.int64)
    while len(drawn) < SETS:
        more = np.sort(rng.integers(kinks, size=(SETS, size)), axis=1)
        drawn = np.concatenate([drawn, more[(np.diff(more, axis=1) > 0).all(axis=1)]])
    return drawn[:SETS], total / SETS


class _Pinned(NamedTuple):
    """What sets of k kinks, [m, k], are like at a point where each neuron is on its breakpoint."""

    biases: Floats  # [m, k]: the biases that put it there
    gradients: Floats  # [m, k, n_in] of the pre-activations
    good: NDArray[np.bool_]  # [m, k]: whether a path of open neurons leads to the output


def _pin(network: Network, point: Floats, sets: Integers) -> _Pinned:
    (m, k), n_in = sets.shape, network.n_in
    biases, gradients = np.zeros((m, k)), np.zeros((m, k, n_in))
    values = np.broadcast_to(point, (m, n_in))
    forms = np.broadcast_to(np.eye(n_in), (m, n_in, n_in))  # [set, input, unit]
    # Units to which an open path leads from each kink of a set.
    reached: NDArray[np.bool_] = np.zeros((m, k, n_in), dtype=bool)
    layers, units, breakpoints = network.kink_layers[sets], network.kink_units[sets], network.kink_values[sets]
    for index, layer in enumerate(network.layers):
        reached = (reached.astype(np.float32) @ (layer.weights != 0.0).T.astype(np.float32)) > 0.0
        if index + 1 == len(network.layers):
            break
        z, forms = values @ layer.weights.T, forms @ layer.weights.T
        row, column = np.nonzero(layers == index)
        unit, breakpoint_ = units[row, column], breakpoints[row, column]
        biases[row, column] = breakpoint_ - z[row, unit]
        gradients[row, column] = forms[row, :, unit]
        h = z + layer.biases
        h[row, unit] = breakpoint_
        pieces = layer.activation.pieces(h)
        slopes = layer.activation.slopes_of(pieces)
        values = slopes * h + layer.activation.intercepts_of(pieces)
        forms = forms * slopes[:, np.newaxis, :]
        is_open = slopes != 0.0
        is_open[row, unit] = True
        reached &= is_open[:, np.newaxis, :]
        reached[row, column, unit] = True
    good: NDArray[np.bool_] = np.asarray(reached.any(axis=2))
    return _Pinned(biases, gradients, good)


def _bends(network: Network) -> NDArray[np.bool_]:
    """Whether the slope of the neuron changes at each kink, bool [kinks]."""
    none = [np.zeros(0, dtype=bool)]
    changes = [
        np.broadcast_to(np.diff(act.slopes) != 0.0, (len(layer.biases), act.breakpoints.size)).ravel()
        for layer in network.layers[:-1]
        for act in [layer.activation]
    ]
    return np.concatenate(none + changes)
