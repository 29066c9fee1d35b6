# SPDX-License-Identifier: MIT
"""How long, in input space, is the way from one chart point to another?

The triangular factor of a domain's directions takes chart coordinates to coordinates in which lengths are those of
input space. Vectors come with an exponent each and have about size one, so that their squares neither over- nor
underflow, however small or large the domain.
Invariant: points are subtracted in the chart, before anything else is rounded.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Floats, Integers
from regions.domains import Domain

__all__ = ["length_factor", "length_vectors", "scaled"]

# Of zero: so low that it is never the largest, and so little that sums of a few do not overflow.
NO_EXPONENT = -(1 << 20)


def length_factor(domain: Domain) -> tuple[Floats, Integers]:
    """The factor, float64 [d, d], upper triangular, and the exponents [d] of the chart's axes.

    Chart coordinates times two to these exponents, times the factor, are coordinates with the lengths of input space.
    """
    factor, exponents = domain.length_factor
    return factor, exponents.astype(np.int64)


def length_vectors(domain: Domain, start: Floats, end: Floats) -> tuple[Floats, Integers]:
    """The way from some chart points [.., d] to others: vectors float64 [.., d], times two to the exponents [..].

    Not finite where one of the points is not.
    """
    factor, exponents_of_axes = length_factor(domain)
    with np.errstate(all="ignore"):
        offsets = end - start
        wide = np.isinf(offsets)  # perhaps only on the way
        offsets, parts = np.frexp(np.where(wide, end / 2 - start / 2, offsets))
        exponents = np.where(offsets == 0.0, NO_EXPONENT, parts + exponents_of_axes + wide)
        largest = exponents.max(axis=-1)
        vectors = scaled(offsets, exponents - largest[..., np.newaxis]) @ factor.T
        # In a skew chart it can be a lot shorter than its coordinates are large.
        _, shift = np.frexp(np.abs(vectors).max(axis=-1))
        return scaled(vectors, -shift[..., np.newaxis]), largest + shift


def scaled(values: Floats, exponents: Integers) -> Floats:
    """Values times two to the exponents: exactly, but for over- and underflow."""
    with np.errstate(over="ignore"):
        return np.ldexp(values, exponents.astype(np.intc))
