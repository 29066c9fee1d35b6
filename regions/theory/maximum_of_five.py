# SPDX-License-Identifier: MIT
"""How do two hidden layers compute the maximum of five numbers?

A tournament of maxima of pairs needs three hidden layers for five numbers. Bakaev et al. proved that two suffice. Their
proof cuts a simplex into polytopes whose support functions need two layers; such a function is a maximum
``max(f, g)`` of two functions of one layer. The combination here was found by a linear program over all pairs of
points, segments and parallelograms with corners among the midpoints and corners of the simplex. It has 32 such maxima.
`regions.compare` proves it.
Invariant: M is a maximum, q and o are a and b in either order, and each sum is over all different terms that arise when
c, d and e change places:

    18 M(a, .., e) = 6 sum of M(q, c, d, e)  +  4 sum of M(a, b, d, e)  -  sum of M(2 c, d + e, a + b)
                     + sum of M(d + e, 2 c, M(d, a) + M(d, b))  +  sum of M(2 c, a + b, M(d, q) + M(e, q))
                     - sum of M(M(e, q) + M(e, d), M(q, d) + M(o, c))

All weights are integers. The network computes 18 times the maximum, because 1 / 18 is not a double.
"""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from regions.ground.arithmetic.types import Floats
from regions.networks.network import Network

__all__ = ["maximum_of_five"]

INPUTS = np.eye(5)
TRIPLES = list(permutations(INPUTS[2:]))


def maximum_of_five() -> Network:
    """Return a network with two hidden layers that computes 18 times the maximum of five numbers, for all inputs.

    Its hidden layers have 22 and 34 units, and all weights are integers. By pairs, a maximum of five numbers takes
    three hidden layers.

    References
    ----------
    Bakaev, Brunck, Hertrich, Stade, Yehudayoff, Better neural network expressivity: subdividing the simplex, 2025.

    Examples
    --------
    >>> net = maximum_of_five()
    >>> net
    Network(5-22-34-1, relu, 56 hidden neurons)
    >>> net([3.0, -1.0, 4.0, 1.0, -5.0]) / 18
    array([4.])
    """
    a, b = INPUTS[:2]
    pairs = [one - other for one, other in combinations(INPUTS, 2)]
    thirds = [row for c, d, e in TRIPLES[::2] for row in (2 * c - d - e, 2 * c - a - b)]
    back = [INPUTS[4] - each for each in INPUTS[:4]]
    units = [*pairs, *thirds, *back, INPUTS[4], -INPUTS[4]]
    places = {tuple(unit): place for place, unit in enumerate(units)}

    def unit(row: Floats) -> Floats:
        return np.eye(len(units))[places[tuple(row)]]

    def linear(row: Floats) -> Floats:
        """Write a linear function by units: x_i - x_5 and x_5 are differences of two units each."""
        last = unit(INPUTS[4]) - unit(-INPUTS[4])
        steps = [unit(each - INPUTS[4]) - unit(INPUTS[4] - each) for each in INPUTS[:4]]
        return row[:4] @ np.array(steps) + row.sum() * last

    def larger(one: Floats, other: Floats) -> Floats:
        """Write the maximum of two linear functions by units: other + relu(one - other), or the same the other way."""
        one, other = (one, other) if tuple(one - other) in places else (other, one)
        return linear(other) + unit(one - other)

    terms = [(6, larger(q, c), larger(d, e)) for q in (a, b) for c, d, e in TRIPLES[:1]]
    terms += [(4, larger(a, b), larger(d, e)) for _, d, e in TRIPLES[::2]]
    terms += [(-1, larger(2 * c, d + e), linear(a + b)) for c, d, e in TRIPLES[::2]]
    terms += [(1, larger(2 * c, d + e), larger(d, a) + larger(d, b)) for c, d, e in TRIPLES]
    for q, o in ((a, b), (b, a)):
        terms += [(1, larger(2 * c, a + b), larger(d, q) + larger(e, q)) for c, d, e in TRIPLES[::2]]
        terms += [(-1, larger(e, q) + larger(e, d), larger(q, d) + larger(o, c)) for c, d, e in TRIPLES]
    rest = np.sum([factor * other for factor, _, other in terms], axis=0)
    second = [one - other for _, one, other in terms] + [rest, -rest]
    readout = [factor for factor, _, _ in terms] + [1, -1]
    return Network([(np.array(units), None), (np.array(second), None), (np.array([readout], dtype=float), None)])
