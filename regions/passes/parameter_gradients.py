# SPDX-License-Identifier: MIT
"""What are the derivatives of the outputs with respect to weights and biases on a region, modulo a prime?

On a region a network is a product of matrices, so its derivative with respect to a weight is the derivative with
respect to the unit, which is constant, times the input of the weight, an affine form of the chart point. Both are
computed for all weights at once, by one pass forwards and one pass backwards.
Invariant: every product and partial sum is an integer below 2^53, so nothing is rounded (`arithmetic/residues.py`).
Cost: for each region and output, d + 1 rows of as many numbers as there are weights and biases.
"""

from __future__ import annotations

from itertools import islice

import numpy as np

from regions.domains.chart import Chart
from regions.ground.arithmetic.residues import primes_for, reduced, residues
from regions.ground.arithmetic.types import Bits, Floats
from regions.networks.network import Network

__all__ = ["ParameterGradients", "parameter_count", "scaling_count", "two_primes"]


def parameter_count(network: Network) -> int:
    """Return the number of weights and biases of a chain of dense layers."""
    return sum(layer.weights.size + layer.biases.size for layer in network.layers)


def scaling_count(network: Network) -> int:
    """Return the number of independent changes of scale that leave a chain of dense layers the same function.

    If an activation has phi(c t) = c phi(t) for c > 0, the inputs of a unit can be multiplied by c and its outputs
    divided by it. Scales that are equal on both sides of a weight leave the weight as it is. If this holds for all
    weights and biases that are not 0, nothing changes: only units that nothing ties to an input, an output or a bias
    allow that.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers, links, free, start = [np.zeros(network.n_in, dtype=np.int64)], [(0, 0)], 0, 1
    for layer in network.layers[:-1]:
        activation = layer.activation
        assert activation is not None
        keeps_factors = not (activation.breakpoints.any() or activation.intercepts.any())
        free += keeps_factors * len(layer.biases)
        numbers.append(np.arange(start, start + len(layer.biases)))
        start += len(layer.biases)
        tied = numbers[-1][(layer.biases != 0.0) | (not keeps_factors)]
        links += [(0, unit) for unit in tied.tolist()]
    numbers.append(np.zeros(network.n_out, dtype=np.int64))
    for layer, below, above in zip(network.layers, numbers, numbers[1:], strict=False):
        rows, columns = np.nonzero(layer.weights)
        links += zip(above[rows].tolist(), below[columns].tolist(), strict=True)
    pairs = np.array(links).T
    graph = coo_array((np.ones(len(links), dtype=bool), (pairs[0], pairs[1])), shape=(start, start))
    parts, _ = connected_components(graph, directed=False)
    return free - int(parts - 1)


def two_primes(network: Network, domain: Chart, terms: int) -> tuple[int, int]:
    """Return two primes for which no sum in these passes rounds, nor a sum of so many products."""
    most = max(network.n_in, domain.dimension + 1, *network.widths, network.n_out, terms)
    first, second = islice(primes_for(most + 1), 2)
    return first, second


class ParameterGradients:
    """Derivatives of the outputs of a chain of dense layers on a domain, modulo a prime.

    Parameters
    ----------
    network : Network
    domain : Chart
        Only its chart is used.
    prime : int
        One of `two_primes`.
    """

    def __init__(self, network: Network, domain: Chart, prime: int) -> None:
        self.graph, self.prime = network.graph, prime
        self.weights = [residues(layer.weights, prime) for layer in network.layers]
        self.biases = [residues(layer.biases, prime) for layer in network.layers]
        self.inputs = residues(np.vstack([domain.origin, domain.directions]).T, prime)  # [n_in, d + 1]

    def rows(self, pattern: Bits) -> Floats:
        """Return the coefficients of 1 and of each chart coordinate in the derivatives of each output, one row each,
        under a pattern, bool [kinks]: float64 [n_out (d + 1), parameters].
        """
        forms, slopes = [self.inputs], []
        for node, weights, biases in zip(self.graph.hidden, self.weights, self.biases, strict=False):
            before = reduced(weights @ forms[-1], self.prime)
            before[:, 0] = reduced(before[:, 0] + biases, self.prime)
            slope, intercept = node.units.on_pieces(node.units.pieces_of(pattern[node.kinks]))
            slopes.append(residues(slope, self.prime))
            after = reduced(before * slopes[-1][:, np.newaxis], self.prime)
            after[:, 0] = reduced(after[:, 0] + residues(intercept, self.prime), self.prime)
            forms.append(after)
        asked, blocks = np.eye(len(self.biases[-1])), []  # [n_out, units]
        for layer in reversed(range(len(self.weights))):
            of_biases = np.zeros((len(asked), self.inputs.shape[1], asked.shape[1]))
            of_biases[:, 0] = asked
            of_weights = np.einsum("ou,id->odui", asked, forms[layer])
            of_weights = reduced(of_weights, self.prime).reshape(*of_biases.shape[:2], -1)
            blocks += [of_biases, of_weights]
            if layer:
                asked = reduced(reduced(asked @ self.weights[layer], self.prime) * slopes[layer - 1], self.prime)
        return np.concatenate(blocks, axis=2).reshape(-1, sum(each.shape[2] for each in blocks))
