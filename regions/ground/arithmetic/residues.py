# SPDX-License-Identifier: MIT
"""What are doubles modulo a prime, and which powers of two divide them?

Doubles are fractions with powers of two as denominators, so they have residues modulo every odd prime. Residues are
small, so that sums of their products do not round.
Invariant: every product and partial sum is an integer below 2^53, exact in any order and with fused multiply-add.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import isqrt

import numpy as np

from regions.ground.arithmetic.types import Floats, Integers

__all__ = ["combined", "exponents_of", "primes_for", "reduced", "residues", "through"]

# Beyond the exponents of all doubles on both sides, so that they decide nothing.
NO_EXPONENT = 1 << 20


def residues(values: Floats, prime: int) -> Floats:
    """Return the residues of doubles, of least absolute value."""
    mantissas, exponents = np.frexp(values)  # |mantissa| < 1 with 53 bits
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    lowest = int(exponents.min(initial=0))
    powers = [pow(2, lowest - 53, prime)]
    for _ in range(lowest, int(exponents.max(initial=0))):
        powers.append(2 * powers[-1] % prime)
    products = whole % prime * np.array(powers)[exponents - lowest]
    return reduced((products % prime).astype(np.float64), prime)


def reduced(values: Floats, prime: int) -> Floats:
    """Return the integers ``values``, below 2^53 in size, modulo a prime: at most ``prime / 2 + 2`` in size."""
    # The quotient is off by less than 2 / prime, so its nearest integer may be a neighbour; the rest is exact.
    quotients = values * (1.0 / prime)
    np.rint(quotients, out=quotients)
    quotients *= prime
    result: Floats = np.subtract(values, quotients, out=quotients)
    return result


def combined(shares: Integers, rows: Floats, prime: int) -> Floats:
    """Return the sum of the rows, residues, each times its share: [1, ..]."""
    centred = reduced(shares.astype(np.float64), prime)
    total = np.zeros_like(rows[:1])
    for share, row in zip(centred, rows, strict=True):
        total = reduced(total + share * row, prime)
    return total


def primes_for(terms: int) -> Iterator[int]:
    """Yield the primes for which no sum of this many products of residues rounds, the largest first."""
    # Residues are at most p/2 + 2 in size, and with n terms n (p/2 + 2)^2, with room for a bias, must stay below 2^53.
    prime = 2 * isqrt(2**53 // terms) - 5
    while prime := _prime_below(prime):
        yield prime


@lru_cache(maxsize=1 << 10)
def _prime_below(bound: int) -> int:
    """Return the largest odd prime below a number, or 0."""
    for candidate in range(bound - 1, 2, -1):
        if candidate % 2 and all(candidate % divisor for divisor in range(3, isqrt(candidate) + 1, 2)):
            return candidate
    return 0


def through(low: int, high: int, factors: Floats, constants: Floats, terms: int) -> tuple[int, int]:
    """Return the exponents of sums of this many products with factors, and a constant."""
    (factor_low, factor_high), (constant_low, constant_high) = exponents_of(factors), exponents_of(constants)
    return min(low + factor_low, constant_low), max(high + factor_high + terms.bit_length(), constant_high) + 1


def exponents_of(values: Floats) -> tuple[int, int]:
    """Return exponents e and f such that the doubles are multiples of 2^e, and below 2^f."""
    mantissas, exponents = np.frexp(values[values != 0])
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    _, lowest_bits = np.frexp((whole & -whole).astype(np.float64))
    lowest = exponents - 54 + lowest_bits
    return int(lowest.min(initial=NO_EXPONENT)), int(exponents.max(initial=-NO_EXPONENT))
