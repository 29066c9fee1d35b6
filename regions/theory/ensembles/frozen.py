# SPDX-License-Identifier: MIT
"""Which arrangement of hyperplanes has the same regions as a network with random signs, on average?

If the gates of a network are fair coins, and not determined by the input, each unit is an affine function. Where these
are 0 there are hyperplanes. The region of an input in a network with random signs has the same law as the cell of that
input among the hyperplanes (``docs/depth.md``). Therefore means of everything that is a sum over regions, and the whole
law of the distance to the boundary, can be sampled with straight hyperplanes, for every width and depth.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.arguments import generator
from regions.ground.arithmetic.keywords import helped
from regions.networks.frozen_gates import frozen_graph
from regions.networks.network import Network, require_network, with_graph
from regions.networks.sign_flips import free_signs

__all__ = ["frozen"]


@helped("Pass rng=, a seed such as 0: every draw can be repeated.")
def frozen(network: Network, rng: int | np.random.Generator) -> Network:
    """Return the network in which each unit follows one of its two pieces everywhere, chosen by a fair coin.

    Its units still switch where their pre-activations are 0, which are now hyperplanes. For networks with random signs,
    from an `Ensemble` with symmetric laws or by `regions.sign_twins`, these have the same law as for the frozen
    network: the region of a given input, its size and its sides, and the distance of the input to the boundary
    (`regions.measures.distance_to_boundary`). The mean number of activation regions in a convex domain is the same too.
    Other laws differ: numbers of regions of hyperplanes spread less.

    Parameters
    ----------
    network : Network
        As for `regions.sign_twins`.
    rng : int or numpy.random.Generator

    Returns
    -------
    Network
        It has the weights, biases and kinks of the network, and is affine. So no definition but "activation" finds more
        than one region.

    Raises
    ------
    NetworkError
        As for `regions.sign_twins`.

    Examples
    --------
    >>> import regions
    >>> random = regions.ensembles.Ensemble([2, 4, 4, 4, 1], biases=regions.ensembles.Gaussian(1.0))
    >>> rng = np.random.default_rng(0)
    >>> networks = [random.draw(rng) for _ in range(1000)]
    >>> plane = regions.Plane([0, 0], [1, 0], [0, 1])
    >>> counts = regions.count([frozen(network, rng) for network in networks], plane)
    >>> round(float(counts.mean()), 1), round(float(regions.bounds.expected_regions(2, [4, 4, 4])), 1)
    (61.9, 62.0)
    """
    graph, coins = require_network(network).graph, generator(rng)
    free_signs(graph)
    return with_graph(network, frozen_graph(graph, coins))
