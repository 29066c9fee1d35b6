# SPDX-License-Identifier: MIT
"""Do both sides of Hanin and Rolnick's Theorem 3 (Theorem 6 for T breakpoints) agree?

For random networks whose biases have a density the mean volume of the stratum of codimension k, B_{N,k}, in a body K is

    E vol(B_{N,k} and K) = sum over sets of k kinks of the integral over K of E[ |J| rho 1(all are good) ],

Here |J| is the k-dimensional volume spanned by the gradients of the pre-activations. The number rho is the density of
the biases that put all k neurons on their breakpoints at x. A neuron is *good* if a path of open neurons leads from the
neuron to the output.
The left side is measured on drawn networks: on the regions of each, on an interval, in a box of two dimensions, and for
k > 1 in a box of up to six; by random lines elsewhere (`crofton.py`). The right side draws networks and, for k = 1,
random lines, on which the integral has a closed form. There |gradient of z| is the mean over directions u of
|derivative of z along u|, up to the constant of Crofton's formula, and the integral of |derivative| rho is a
probability. For k > 1 it draws points (`pinned_neurons.py` has both). Both sides are means of independent samples, per
volume of K.
Cost of a sample: left, an enumeration; right, one for each kink, or a forward pass for each of at most 4096 sets.
"""

from __future__ import annotations

import numpy as np

from regions.counting.count_and_enumerate import enumerate as enumerate_regions
from regions.domains import Box, Rectangle
from regions.domains.abilities import MOST_ENUMERATED
from regions.errors import ShapeMismatchError
from regions.ground.arithmetic.arguments import generator, integer, samples
from regions.ground.arithmetic.keywords import helped
from regions.ground.arithmetic.types import Floats
from regions.measures.bodies import Body, Hyperrectangle, in_space, mean_cosine
from regions.measures.boundary import Boundary, boundary_name, boundary_volume
from regions.measures.crofton import crossing_densities
from regions.measures.estimate import Estimate
from regions.measures.pinned_neurons import bias_laws, expected_crossings, integrand
from regions.networks.network import Network
from regions.passes.open_paths import bending_kinks
from regions.theory.bounds.bound_arguments import codimension_of
from regions.theory.ensembles import Discrete, Ensemble

# Least number of networks, in effect, for a standard error.
ENOUGH = 10


@helped("Pass rng=, a seed such as 0: every draw can be repeated.")
def mean_boundary_density(
    random: Ensemble,
    body: Body | Box,
    *,
    networks: int,
    rng: np.random.Generator,
    codimension: int = 1,
    boundary: Boundary = "gradient",
    lines: int = 1,
) -> Estimate:
    """Estimate the left side of Theorem 3: the mean volume of the boundary's stratum, per volume of the body.

    Parameters
    ----------
    random : Ensemble
    body : Ball, Hyperrectangle or Box
    networks : int
        Number of random networks, at least 2.
    rng : int or numpy.random.Generator
        A seed, or a generator.
    codimension : int
        k: 1 for the facets; in a box of two to six dimensions also larger ones, up to its dimension for the vertices.
    boundary : "gradient" or "activation"
        As for `boundary_volume`; the theorem is about the gradient's.
    lines : int
        Random lines per network, for facets in balls, and in boxes of more than two dimensions. Everything else is
        measured on the regions of each network.

    Returns
    -------
    Estimate
        With one sample for each network.

    Raises
    ------
    TypeError, ValueError
        Wrong types; numbers out of range; an unknown boundary; weights or biases without densities.
    ShapeMismatchError
        The body does not lie in the networks' input space; a codimension that is not measured there.

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, Theorems 3 and 6.

    Examples
    --------
    >>> import numpy as np
    >>> from regions.measures import Hyperrectangle
    >>> from regions.theory.ensembles import Ensemble, Gaussian
    >>> random, rng = Ensemble([1, 8, 1], biases=Gaussian(0.5)), np.random.default_rng(0)
    >>> left = mean_boundary_density(random, Hyperrectangle([-1.0], [1.0]), networks=200, rng=rng)
    >>> right = hanin_rolnick_integral(random, Hyperrectangle([-1.0], [1.0]), networks=200, rng=rng)
    >>> left
    Estimate(3.1... +- 0.0..., 200 samples)
    >>> abs(left.deviation(right)) < 4
    True
    """
    body, k, name, rng = _checked(random, body, codimension, boundary, rng)
    box = body if isinstance(body, Hyperrectangle) and (body.n_in == 2 or k > 1) else None
    if k > 1 and (box is None or body.n_in > MOST_ENUMERATED):
        raise ShapeMismatchError(
            f"codimension {k} is measured in boxes of 2 to {MOST_ENUMERATED} dimensions only, here: {body!r}"
        )
    per_network, values = integer(lines, "lines"), []
    for _ in range(samples(networks, "networks")):
        network = random.draw(rng)
        if box is not None:
            values.append(_in_box(network, box, name)[k - 1])
        else:
            values.append(crossing_densities(network, body, per_network, rng, name).mean())
    return Estimate(np.array(values))


@helped("Pass rng=, a seed such as 0: every draw can be repeated.")
def hanin_rolnick_integral(
    random: Ensemble,
    body: Body | Box,
    *,
    networks: int,
    rng: np.random.Generator,
    codimension: int = 1,
    boundary: Boundary = "gradient",
    places: int = 1,
) -> Estimate:
    """Estimate the right side of Theorem 3: the mean over body and networks of ``|J| rho 1(good)``, summed over kinks.

    Parameters
    ----------
    random, body, networks, rng
        As for `mean_boundary_density`.
    codimension : int
        k, from 1 to the dimension of the input.
    boundary : "gradient" or "activation"
        The latter omits the condition that neurons are good, and counts breakpoints where the slope does not change.
    places : int
        Random lines through the body per network; for codimensions above 1, random points of it. An interval has only
        one line.

    Returns
    -------
    Estimate
        With one sample for each network.

    Raises
    ------
    TypeError, ValueError, ShapeMismatchError
        As for `mean_boundary_density`; with a codimension above 1, if so few networks contribute to the integral that
        its error is unknown.

    References
    ----------
    As for `mean_boundary_density`.

    Notes
    -----
    If the codimension is above 1 and biases vary much less than pre-activations do, nearly all of the integral comes
    from few points: use many networks. With the equivalent of fewer than ten that contribute, it is refused.

    Examples
    --------
    One layer at 0, in closed form 4:

    >>> import numpy as np
    >>> from regions.measures import Ball
    >>> from regions.theory.ensembles import Ensemble, Gaussian
    >>> random = Ensemble([2, 8, 1], biases=Gaussian(1.0))  # weights of variance 1
    >>> found = hanin_rolnick_integral(random, Ball([0, 0], 1e-9), networks=400, rng=np.random.default_rng(0))
    >>> abs(found.deviation(4.0)) < 4
    True
    """
    body, k, name, rng = _checked(random, body, codimension, boundary, rng)
    per_network, values = integer(places, "places"), []
    for _ in range(samples(networks, "networks")):
        network = random.draw(rng)
        if k == 1:
            starts, ends, weights = body.chords(per_network, rng)
            chords = zip(starts, ends, strict=True)
            crossings = [expected_crossings(network, random, start, end, name) for start, end in chords]
            values.append((weights * crossings).mean() / mean_cosine(random.n_in))
        else:
            drawn = body.points(per_network, rng)
            values.append(np.mean([integrand(network, random, point, k, name, rng) for point in drawn]))
    if k > 1:
        _require_enough(np.array(values), random)
    return Estimate(np.array(values))


def _checked(
    random: Ensemble, given: Body | Box, codimension: int, boundary: Boundary, rng: np.random.Generator
) -> tuple[Body, int, Boundary, np.random.Generator]:
    if not isinstance(random, Ensemble):
        raise TypeError(f"expected regions.ensembles.Ensemble, got {type(random).__name__}")
    if not random.dense or any(isinstance(law, Discrete) for law in random.weight_laws):
        raise ValueError("the theorems are about weights with densities: neither sparse nor discrete")
    bias_laws(random)
    body = in_space(given, random.n_in)
    return body, codimension_of(codimension, random.n_in), boundary_name(boundary), generator(rng)


def _require_enough(values: Floats, random: Ensemble) -> None:
    """Refuse samples of which almost none contribute to their mean, because its error is then unknown.

    They are as uncertain as ``sum**2 / sum of squares`` equal samples.
    """
    largest = values.max()
    effective = (values / largest).sum() ** 2 / ((values / largest) ** 2).sum() if largest > 0.0 else 0.0
    if effective < ENOUGH and bending_kinks(random.draw(np.random.default_rng(0)).graph).sum() > 1:
        raise ValueError(
            f"the integral comes from the equivalent of {effective:.0f} of {len(values)} networks, so that its error "
            f"is unknown: with {random} few random points count; take more networks or places, or "
            "wider biases"
        )


def _in_box(network: Network, box: Hyperrectangle, boundary: Boundary) -> Floats:
    """Return the densities of the strata of one network in a box of two and more dimensions."""
    solid = Rectangle(box.lower, *np.diag(box.sides)) if box.n_in == 2 else Box(box.lower, box.lower + box.sides)
    return boundary_volume(enumerate_regions(network, solid), boundary).densities
