# SPDX-License-Identifier: MIT
"""Is a kink zero at a vertex, decided modulo primes?

In homogeneous coordinates, the determinant of d facets and one more form is the value of the form where the facets
meet, times the determinant of the facets' slopes. It is a multiple of a known power of two. If it is zero modulo primes
whose product is larger than a bound on its quotient by this power, it is zero (docs/error-bounds.md, "Zeros").
`Residues` computes the forms of kinks modulo a prime, as an arithmetic of `walk` (`bounded_forms.py`).
Invariant: nothing is rounded: all numbers are integers below 2^53, and below 2^63 in `vanishing`.
Cost: a walk for each prime of about 22 bits; primes are needed only for kinks that bounds leave open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from regions.certification.bounded_forms import Rows
from regions.domains import Domain
from regions.ground.arithmetic.residues import exponents_of, primes_for, reduced, residues, through
from regions.ground.arithmetic.types import Bits, Floats, Indices, Integers
from regions.networks.graph import Graph, Node, Read, Units, entries

__all__ = ["Residues", "lowest_exponents", "primes", "vanishing"]


class Residues:
    """Forms modulo a prime, one of `primes`. Rows are (forms [c, 1 + d, rows],)."""

    def __init__(self, graph: Graph, domain: Domain, prime: int) -> None:
        self.prime = prime
        self.first: dict[Node, Floats] = {}
        self.operators = {}
        self.tables = {}
        chart = residues(np.vstack([domain.origin, domain.directions]), prime)
        read: Read
        for node in graph.hidden:
            for read in node.reads:
                operator = read.operator.entrywise(lambda weights: residues(weights, prime))
                if read.node < 0:
                    self.first[node] = reduced(operator.apply(chart), prime)
                self.operators[read] = operator
            if isinstance(node.units, Units):
                tables = node.units.activation.slopes, node.units.activation.intercepts
                self.tables[node] = tuple(residues(table, prime) for table in tables)

    def rows(self, node: Node, sources: Sequence[Rows], count: int) -> Rows:
        """Return the rows of a node, from the outputs of the nodes that it reads."""
        if node in self.first:
            total = np.repeat(self.first[node][np.newaxis], count, axis=0)
        else:
            found = [self.operators[read].apply(forms) for read, (forms,) in zip(node.reads, sources, strict=True)]
            total = found[0]
            for other in found[1:]:
                total += other
        total[:, 0] += residues(node.biases, self.prime)
        return (reduced(total, self.prime),)

    def outputs(self, node: Node, rows: Rows, pieces: Indices) -> Rows:
        """Return the outputs of a node on pieces [c, units]."""
        shape = *rows[0].shape[:2], pieces.shape[1]
        forms = node.units.followed(rows[0], np.broadcast_to(pieces[:, np.newaxis], shape))
        if node in self.tables:
            slopes, intercepts = (entries(table, pieces) for table in self.tables[node])
            forms = forms * slopes[:, np.newaxis]
            forms[:, 0] += intercepts
            forms = reduced(forms, self.prime)
        return (forms,)

    def kinks(self, node: Node, rows: Rows) -> Floats:
        """Return the forms of kinks [c, 1 + d, kinks]."""
        forms = node.units.compared(rows[0]) + 0.0
        forms[:, 0] -= residues(node.units.kink_values, self.prime)
        return reduced(forms, self.prime)


def primes(graph: Graph) -> Iterator[int]:
    """Return the primes for which no sum of products of residues rounds, the largest first."""
    return primes_for(max(node.terms - 1 for node in graph.nodes))


def lowest_exponents(graph: Graph, domain: Domain) -> Integers:
    """Return for each kink an exponent e such that all coefficients of its form are multiples of 2^e."""
    given = {-1: exponents_of(np.vstack([domain.origin, domain.directions]))}
    found = [np.zeros(0, dtype=np.int64)]
    for number, node in enumerate(graph.hidden):
        reads = [through(*given[read.node], read.operator.weights, node.biases, 1)[0] for read in node.reads]
        low = min(*reads, exponents_of(node.units.kink_values)[0])
        found.append(np.full(node.units.kinks, low))
        given[number] = through(low, 0, *node.units.tables()[1:], 1)
    return np.concatenate(found)


def vanishing(rows: Integers, prime: int) -> tuple[Bits, Bits]:
    """Return whether the last of d + 1 forms [m, d + 1, 1 + d] is zero, modulo a prime, where the first d meet; and
    whether these meet in one point, so that this says something.
    """
    rows, d = rows.copy(), rows.shape[1] - 1
    sound, every = np.ones(len(rows), dtype=bool), np.arange(len(rows))
    for k in range(d):
        usable = rows[:, k, 1:] != 0
        sound &= usable.any(axis=1)
        pivot = usable.argmax(axis=1) + 1
        head = rows[every, k, pivot]
        for other in range(d + 1):
            if other != k:  # instead of a division, rows are multiplied by the pivot
                scale = rows[every, other, pivot][:, np.newaxis]
                rows[:, other] = (rows[:, other] * head[:, np.newaxis] - scale * rows[:, k]) % prime
    return (rows[:, d] == 0).all(axis=1), sound
