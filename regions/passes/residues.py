# SPDX-License-Identifier: MIT
"""Which affine map is the network on a region, modulo a prime?

Weights are doubles, so fractions whose denominators are powers of two, and these have residues modulo every odd prime.
So has what is made of them by sums and products: the values of a region's affine map at a few chart points, which
determine it. Residues are small, so that matrix products of doubles do not round.
Two regions whose values differ modulo some prime have different maps, whatever the prime. And maps that agree modulo
primes whose product is large enough (`difference_bits`) are equal (the Chinese remainder theorem).
Invariant: every product and partial sum is an integer below 2^53, exact in any order and with fused multiply-add.
Under- and overflow can not happen, whatever the weights.
Cost: a forward pass per prime, point and region, all of it matrix products; but regions that follow each other share
the passes through the layers in which their patterns agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import isqrt

import numpy as np

from regions.arithmetic.types import Floats, Indices, Integers, Packed
from regions.domains import Domain
from regions.networks.network import Network
from regions.passes.affine import pieces_of

__all__ = ["ResidueMaps", "difference_bits", "primes"]

# More and less than all exponents of doubles, so that they decide nothing.
NO_EXPONENT = 1 << 20


class ResidueMaps:
    """The affine maps of a network on a domain modulo a prime.

    Parameters
    ----------
    network : Network
    domain : Domain
        Only its chart is used.
    prime : int
        One of ``primes(network)``.
    """

    def __init__(self, network: Network, domain: Domain, prime: int) -> None:
        self.prime, self.hidden, self.kinks = prime, network.layers[:-1], network.kinks
        self.weights = [residues(layer.weights, prime) for layer in network.layers]
        self.biases = [residues(layer.biases, prime) for layer in network.layers]
        shapes = [(len(layer.biases), layer.activation.breakpoints.size + 1) for layer in self.hidden]
        activations = [layer.activation for layer in self.hidden]
        self.slopes = [
            residues(np.broadcast_to(act.slopes, shape), prime) for act, shape in zip(activations, shapes, strict=True)
        ]
        self.intercepts = [
            residues(np.broadcast_to(act.intercepts, shape), prime)
            for act, shape in zip(activations, shapes, strict=True)
        ]
        # The inputs at the chart points 0, e1 (and e2), [n_in, d + 1].
        origin, *others = residues(np.vstack([domain.origin, domain.directions]), prime)
        inputs = reduced(np.stack([origin, *(origin + other for other in others)], axis=1), prime)
        # First pre-activations there, [d + 1, units].
        self.first = reduced(self.weights[0] @ inputs + self.biases[0][:, np.newaxis], prime).T

    def shortened(self, rng: np.random.Generator) -> None:
        """Look, from now on, at one random combination of outputs at one random chart point."""
        shares = rng.integers(1, self.prime, size=len(self.first) - 1)
        shares = np.append((1 - shares.sum()) % self.prime, shares)
        self.first = self._combined(shares, self.first)
        shares = rng.integers(1, self.prime, size=len(self.biases[-1]))
        self.weights[-1] = self._combined(shares, self.weights[-1])
        self.biases[-1] = self._combined(shares, self.biases[-1])

    def _combined(self, shares: Integers, rows: Floats) -> Floats:
        """The sum of rows, each times its share: [1, ..]."""
        centred = reduced(shares.astype(np.float64), self.prime)
        total = np.zeros_like(rows[:1])
        for share, row in zip(centred, rows, strict=True):
            total = reduced(total + share * row, self.prime)
        return total

    @property
    def size(self) -> int:
        """Numbers that one region needs, at most, at a time."""
        return max(map(len, self.biases)) * len(self.first) + self.kinks

    def values(self, packed: Packed) -> Integers:
        """Values of the maps of patterns uint8 [m, bytes] at the chart points 0, e1 (and e2).

        Returns
        -------
        int64 [m, (d + 1) * outputs], or [m, 1] if `shortened`
            From 0 to the prime, without it.
        """
        rows = np.arange(len(packed))
        bits = np.unpackbits(packed, axis=1, count=self.kinks, bitorder="little")
        # Before this bit each pattern is the same as the one before it.
        same_until = 8 * np.argmax(packed[1:] != packed[:-1], axis=1)
        leaders, forms, start = rows[:1], self.first[np.newaxis], 0
        for index, layer in enumerate(self.hidden):
            stop = start + self.slopes[index].shape[0] * (self.slopes[index].shape[1] - 1)
            parents, leaders = leaders, rows[np.append(True, same_until < stop)]
            forms = forms[np.searchsorted(parents, leaders, side="right") - 1]
            forms = self._activated(index, forms, pieces_of(layer, bits[leaders, start:stop]))
            weights, biases = self.weights[index + 1], self.biases[index + 1]
            flat = forms.reshape(-1, forms.shape[2]) @ weights.T + biases
            forms = reduced(flat, self.prime).reshape(len(leaders), -1, len(biases))
            start = stop
        values = forms.reshape(len(leaders), -1) % self.prime
        return values.astype(np.int64)[np.searchsorted(leaders, rows, side="right") - 1]

    def _activated(self, index: int, forms: Floats, pieces: Indices) -> Floats:
        """Apply to pre-activations [m, points, units] the pieces [m, units] of the activation."""
        slopes, intercepts = self.slopes[index], self.intercepts[index]
        units = np.arange(len(slopes))
        forms = forms * slopes[units, pieces][:, np.newaxis, :]
        if intercepts.any():
            forms += intercepts[units, pieces][:, np.newaxis, :]
        elif np.abs(slopes).max() <= 1.0:
            return forms
        return reduced(forms, self.prime)


def residues(values: Floats, prime: int) -> Floats:
    """Residues of doubles, of least absolute value."""
    mantissas, exponents = np.frexp(values)  # |mantissa| < 1 with 53 bits
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    lowest = int(exponents.min(initial=0))
    powers = [pow(2, lowest - 53, prime)]
    for _ in range(lowest, int(exponents.max(initial=0))):
        powers.append(2 * powers[-1] % prime)
    products = whole % prime * np.array(powers)[exponents - lowest]
    return reduced((products % prime).astype(np.float64), prime)


def reduced(values: Floats, prime: int) -> Floats:
    """The integers ``values``, below 2^53 in size, modulo a prime: at most ``prime / 2 + 2`` in size."""
    # The quotient is off by less than 2 / prime, so its nearest integer may be the neighbour's; the rest is exact.
    quotients = np.rint(values * (1.0 / prime))
    quotients *= prime
    result: Floats = np.subtract(values, quotients, out=quotients)
    return result


def primes(network: Network) -> Iterator[int]:
    """Primes for which no sum of products of two residues rounds in this network, the largest first."""
    # Residues are at most p/2 + 2 in size, and with n terms n (p/2 + 2)^2, with room for a bias, must stay below 2^53.
    terms = max(network.n_in, network.n_out, *network.widths, 1)
    prime = 2 * isqrt(2**53 // terms) - 5
    while prime := _prime_below(prime):
        yield prime


@lru_cache(maxsize=1 << 10)
def _prime_below(bound: int) -> int:
    """The largest odd prime below a number, or 0."""
    for candidate in range(bound - 1, 2, -1):
        if candidate % 2 and all(candidate % divisor for divisor in range(3, isqrt(candidate) + 1, 2)):
            return candidate
    return 0


def difference_bits(network: Network, domain: Domain) -> int:
    """Maps are equal if their values agree modulo primes whose product is at least two to this power."""
    # All values are multiples of 2^low, and below 2^high.
    low, high = _exponents(np.vstack([domain.origin, domain.directions]))
    high += 1
    for layer in network.layers:
        low, high = _through(low, high, layer.weights, layer.biases, layer.weights.shape[1])
        low, high = _through(low, high, layer.activation.slopes, layer.activation.intercepts, 1)
    return max(0, high + 1 - low)


def _through(low: int, high: int, factors: Floats, constants: Floats, terms: int) -> tuple[int, int]:
    """The exponents of sums of so many products with factors, and a constant."""
    (factor_low, factor_high), (constant_low, constant_high) = _exponents(factors), _exponents(constants)
    return min(low + factor_low, constant_low), max(high + factor_high + terms.bit_length(), constant_high) + 1


def _exponents(values: Floats) -> tuple[int, int]:
    """Exponents e and f such that the doubles are multiples of 2^e, and below 2^f."""
    mantissas, exponents = np.frexp(values[values != 0])
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    _, lowest_bits = np.frexp((whole & -whole).astype(np.float64))
    lowest = exponents - 54 + lowest_bits
    return int(lowest.min(initial=NO_EXPONENT)), int(exponents.max(initial=-NO_EXPONENT))
