# SPDX-License-Identifier: MIT
"""How are the sums of binomial coefficients in bounds computed?

They are ``r(n, d) = C(n, 0) + .. + C(n, d)`` and its weighted form. Rows are built by recurrence, with one
multiplication and one division by a small number each, so that a thousand hyperplanes in hundreds of dimensions take
about a millisecond. Python integers are exact.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from operator import mul

# Largest size of a row in bits, some gigabytes. The last binomial coefficient has about `last` times the bits of n.
MOST_BITS = 10**11


@lru_cache(maxsize=16)  # most layers of a network have the same width
def binomial_row(n: int, last: int) -> tuple[int, ...]:
    """Return ``C(n, 0), .., C(n, last)``.

    Examples
    --------
    >>> binomial_row(4, 5)
    (1, 4, 6, 4, 1, 0)
    """
    if n.bit_length() * min(last, n) ** 2 > MOST_BITS:
        raise ValueError(
            f"binomial coefficients of {n} up to the order {last} have too many digits to be written down: about "
            f"{n.bit_length() * min(last, n) ** 2:.1e} bits. Take smaller widths, or fewer dimensions"
        )
    row = [1]
    for i in range(last):
        row.append(row[-1] * (n - i) // (i + 1) if i < n else 0)
    return tuple(row)


def weighted_sum(n: int, last: int, weight: int = 1) -> int:
    """Return the sum of ``C(n, i) * weight**i`` for i from 0 to ``last``: r(n, last) for weight 1.

    It is the number of chambers of n families of ``weight`` parallel hyperplanes in ``last`` dimensions, otherwise
    in general position: a flat of codimension i takes i families, and one hyperplane of each.

    Examples
    --------
    >>> weighted_sum(4, 2), weighted_sum(4, 2, 2)
    (11, 33)
    """
    row = binomial_row(n, min(n, last))
    if weight == 1:
        return sum(row)
    return sum(map(mul, row, accumulate([weight] * (len(row) - 1), mul, initial=1)))
