# SPDX-License-Identifier: MIT
"""How dense is the boundary in the whole input space, in any dimension?

Crofton's formula: the boundary's volume in a body is, up to a constant, the mean number of times that random lines
cross it there. The core counts the crossings on each line exactly; only the choice of lines is random, and the estimate
has the resulting error. With u a uniform direction and the lines of `bodies.py`,

    volume of boundary / volume of body = mean( weight of the line * crossings ) / mean(|u_1|).

Cost: one exact count per line; for the gradient's boundary an enumeration.
"""

from __future__ import annotations

import numpy as np

from regions.counting.count_and_enumerate import count
from regions.counting.count_and_enumerate import enumerate as enumerate_regions
from regions.domains import Box, Segment
from regions.errors import BeyondDoublesError
from regions.ground.arithmetic.arguments import Workers, generator, samples
from regions.ground.arithmetic.keywords import helped
from regions.ground.arithmetic.types import Floats
from regions.measures.bodies import Body, in_space, mean_cosine
from regions.measures.boundary import Boundary, boundary_name, gradient_jumps
from regions.measures.estimate import Estimate
from regions.networks.network import Network, require_network


@helped("Pass rng=, a seed such as 0: every draw can be repeated.")
def crofton_density(
    network: Network,
    body: Body | Box,
    *,
    lines: int,
    rng: np.random.Generator,
    boundary: Boundary = "activation",
    workers: Workers = None,
) -> Estimate:
    """Estimate the boundary's (n_in - 1)-dimensional volume per volume of a ball or box, from exact counts on lines.

    Parameters
    ----------
    network : Network
    body : Ball, Hyperrectangle or Box
    lines : int
        Number of random lines, at least 2.
    rng : numpy.random.Generator
    boundary : "activation" or "gradient"
        As for `boundary_volume`.
    workers : int or "all", optional
        Number of threads, as for `regions.count`.

    Returns
    -------
    Estimate
        With one sample for each line. Multiplied by the volume of the body it is the volume of the boundary.

    Raises
    ------
    TypeError, ValueError
        Wrong types; an unknown boundary; fewer than two lines.
    ShapeMismatchError
        The body does not lie in the network's input space.
    NonFiniteError, BeyondDoublesError
        Chords longer than the largest double; densities above it.

    References
    ----------
    Santalo, Integral geometry and geometric probability, 1976, chapter 14.

    Examples
    --------
    Three planes through the centre of a ball: three discs of area pi in a volume of 4/3 pi, which is 9/4.

    >>> import numpy as np, regions
    >>> from regions.measures import Ball
    >>> net = regions.Network([(np.eye(3), None), ([[1.0, 1.0, 1.0]], None)])
    >>> found = crofton_density(net, Ball([0, 0, 0], 1.0), lines=2000, rng=np.random.default_rng(0))
    >>> found
    Estimate(2.2... +- 0.0..., 2000 samples)
    >>> abs(found.deviation(9 / 4)) < 4
    True
    """
    body = in_space(body, require_network(network).n_in, network.input_shape)
    name = boundary_name(boundary)
    return Estimate(crossing_densities(network, body, samples(lines, "lines"), generator(rng), name, workers))


def crossing_densities(
    network: Network, body: Body, lines: int, rng: np.random.Generator, boundary: str, workers: Workers = None
) -> Floats:
    """Return unbiased samples of the density, one for each of some random lines: float64 [lines]."""
    starts, ends, weights = body.chords(lines, rng)
    # A chord so short that its ends coincide crosses nothing.
    long = np.flatnonzero((starts != ends).any(axis=1))
    segments = [Segment(start, end) for start, end in zip(starts[long], ends[long], strict=True)]
    crossings = np.zeros(lines)
    if boundary == "activation":
        crossings[long] = count(network, segments, workers=workers) - 1
    else:
        crossings[long] = [gradient_jumps(enumerate_regions(network, segment)).sum() for segment in segments]
    with np.errstate(over="ignore"):
        result: Floats = weights * crossings / mean_cosine(network.n_in)
    if np.isinf(result).any():
        what = "the boundary's density along a line is beyond the largest double"
        raise BeyondDoublesError(f"{what}; scale up the body, together with the network's biases")
    return result
