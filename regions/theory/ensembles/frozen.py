# SPDX-License-Identifier: MIT
"""Which arrangement of hyperplanes has the same regions as a network with random signs, on average?

If the gates of a network are fair coins, and not determined by the input, each unit is an affine function. Where these
are 0 there are hyperplanes. The region of an input in a network with random signs has the same law as the cell of that
input among the hyperplanes (``docs/depth.md``). Therefore means of everything that is a sum over regions, and the whole
law of the distance to the boundary, can be sampled without any regions, for every width and depth.
"""

from __future__ import annotations

import numpy as np

from regions.errors import NonFiniteError
from regions.ground.arithmetic.arguments import generator
from regions.ground.arithmetic.keywords import helped
from regions.networks.network import Network, require_network
from regions.networks.sign_flips import free_signs
from regions.passes.frozen import frozen_forms

__all__ = ["frozen"]


@helped("Pass rng=, a seed such as 0: every draw can be repeated.")
def frozen(network: Network, rng: int | np.random.Generator) -> Network:
    """Return the hyperplanes of a network whose gates are fair coins, as a network of one layer.

    For networks with random signs, from an `Ensemble` with symmetric laws or by `regions.sign_twins`, these have the
    same law as for the frozen network: the region of a given input, its size and its sides, and the distance of the
    input to the boundary (`regions.measures.distance_to_boundary`). The mean number of regions in a convex domain is
    the same too. Other laws differ: numbers of regions of hyperplanes spread less.

    Parameters
    ----------
    network : Network
        As for `regions.sign_twins`.
    rng : int or numpy.random.Generator

    Returns
    -------
    Network
        It has a hidden unit for each kink of the network, and a constant output. Its weights are products of the
        weights, and rounded.

    Raises
    ------
    NetworkError
        As for `regions.sign_twins`.
    NonFiniteError
        A product of weights is beyond the largest double.

    Examples
    --------
    >>> import regions
    >>> random = regions.ensembles.Ensemble([2, 8, 8, 1], biases=regions.ensembles.Gaussian(1.0))
    >>> rng = np.random.default_rng(0)
    >>> networks = [random.draw(rng) for _ in range(200)]
    >>> plane = regions.Plane([0, 0], [1, 0], [0, 1])
    >>> counts = regions.count([frozen(network, rng) for network in networks], plane)
    >>> round(float(counts.mean()), 1), round(float(regions.bounds.expected_regions(2, [8, 8])), 1)
    (136.5, 135.5)
    """
    graph, coins = require_network(network).graph, generator(rng)
    free_signs(graph)
    every = frozen_forms(graph, coins)
    if not np.isfinite(every).all():
        raise NonFiniteError("a product of weights is beyond the largest double: scale the weights")
    if not every.shape[1]:
        return Network([(np.zeros((1, graph.n_in)), None)])
    return Network([(every[1:].T, every[0]), (np.zeros((1, every.shape[1])), None)])
