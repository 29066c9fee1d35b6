# SPDX-License-Identifier: MIT
"""What is the affine map of a network on a region, modulo a prime?

Weights are doubles, which are fractions with powers of two as denominators, so they have residues modulo every odd
prime. Sums and products of them have residues too, and so do the values of a region's affine map at a few chart points,
which determine it. Residues are small, so that matrix products of doubles do not round.
Two regions whose values differ modulo any prime have different maps. Maps that agree modulo primes whose product is
large enough (`difference_bits`) are equal (the Chinese remainder theorem).
Invariant: every product and partial sum is an integer below 2^53, exact in any order and with fused multiply-add.
Underflow and overflow cannot happen, for any weights.
Cost: a forward pass per prime, point and region, all of it matrix products; consecutive regions share the passes
through the layers in which their patterns agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from regions.domains import Domain
from regions.ground.arithmetic.residues import combined, exponents_of, primes_for, reduced, residues, through
from regions.ground.arithmetic.types import Floats, Indices, Integers, Packed
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Read, Units, entries
from regions.networks.walk import under_patterns

__all__ = ["ResidueMaps", "difference_bits", "primes"]


class ResidueMaps:
    """The affine maps of a network on a domain modulo a prime.

    Parameters
    ----------
    graph : Graph
    domain : Domain
        Only its chart is used.
    prime : int
        One of ``primes(graph)``.
    """

    def __init__(self, graph: Graph, domain: Domain, prime: int) -> None:
        self.graph, self.prime = graph, prime
        self.operators: dict[Read, Dense] = {}
        self.biases: dict[Node, Floats] = {}
        self.slopes: dict[Node, Floats] = {}
        self.intercepts: dict[Node, Floats] = {}
        for node in graph.nodes:
            for read in node.reads:
                self.operators[read] = Dense(residues(read.operator.weights, prime))
            self.biases[node] = residues(node.biases, prime)
        for node in graph.hidden:
            if isinstance(node.units, Units):
                self.slopes[node] = residues(node.units.activation.slopes, prime)
                self.intercepts[node] = residues(node.units.activation.intercepts, prime)
        # The inputs at the chart points 0, e1 (and e2), [1, d + 1, n_in].
        chart = residues(np.vstack([domain.origin, domain.directions]), prime)
        self.inputs = reduced(np.vstack([chart[:1], chart[:1] + chart[1:]]), prime)[np.newaxis]

    def shortened(self, rng: np.random.Generator) -> None:
        """Reduce the values, from now on, to one random combination of outputs at one random chart point."""
        shares = rng.integers(1, self.prime, size=self.inputs.shape[1] - 1)
        shares = np.append((1 - shares.sum()) % self.prime, shares)
        self.inputs = combined(shares, self.inputs[0], self.prime)[np.newaxis]
        shares = rng.integers(1, self.prime, size=self.graph.n_out)
        last = self.graph.nodes[-1]
        for read in last.reads:
            self.operators[read] = Dense(combined(shares, self.operators[read].weights, self.prime))
        self.biases[last] = combined(shares, self.biases[last], self.prime)

    @property
    def size(self) -> int:
        """Number of array entries that one region needs at a time, at most."""
        return int(max(map(len, self.biases.values())) * self.inputs.shape[1] + self.graph.kinks)

    def values(self, packed: Packed) -> Integers:
        """Return the values of the maps of patterns uint8 [m, bytes] at the chart points 0, e1 (and e2).

        Returns
        -------
        int64 [m, (d + 1) * outputs], or [m, 1] if `shortened`
            From 0 to the prime, exclusive.
        """
        values, rows = under_patterns(self.graph, self, self.inputs, packed)
        return (values.reshape(len(values), -1) % self.prime).astype(np.int64)[rows]

    def preactivations(self, node: Node, sources: Sequence[Floats]) -> Floats:
        """Return residues [m, points, units]; the sum of all terms does not round, and is reduced once."""
        first, *others = (self.operators[read].apply(each) for read, each in zip(node.reads, sources, strict=True))
        for more in others:
            first += more
        first += self.biases[node]
        return reduced(first, self.prime)

    def outputs(self, node: Node, forms: Floats, pieces: Indices) -> Floats:
        """Return the outputs, computed in place."""
        if node not in self.slopes:
            return node.units.followed(forms, pieces[:, np.newaxis])
        slopes, intercepts = self.slopes[node], self.intercepts[node]
        forms *= entries(slopes, pieces)[:, np.newaxis, :]
        if intercepts.any():
            forms += entries(intercepts, pieces)[:, np.newaxis, :]
        elif np.abs(slopes).max() <= 1.0:
            return forms
        return reduced(forms, self.prime)

    @staticmethod
    def before_at(forms: Floats, rows: Integers) -> Floats:
        return np.asarray(forms[rows])

    after_at = before_at


def primes(graph: Graph) -> Iterator[int]:
    """Return the primes for which no sum of products of residues rounds in this network, the largest first."""
    return primes_for(max(graph.n_out, *(node.terms - 1 for node in graph.nodes)))


def difference_bits(graph: Graph, domain: Domain) -> int:
    """Return b such that maps are equal if their values agree modulo primes whose product is at least 2^b."""
    # All values are multiples of 2^low, and below 2^high.
    low, high = exponents_of(np.vstack([domain.origin, domain.directions]))
    given = {-1: (low, high + 1)}
    for number, node in enumerate(graph.nodes):
        found = [through(*given[read.node], read.operator.weights, node.biases, node.terms - 1) for read in node.reads]
        lows, highs = zip(*found, strict=True)
        _, slopes, intercepts = node.units.tables()
        given[number] = low, high = through(min(lows), max(highs), slopes, intercepts, 1)
    return max(0, high + 1 - low)
