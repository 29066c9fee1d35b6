# SPDX-License-Identifier: MIT
"""By how much does a Lyapunov candidate change in one step of a loop, on each region?

The candidate V is quadratic, or piecewise linear and given as a network. One step takes the state x to x+. For a
piecewise-linear V the change V(x+) - V(x) is the output of a network: V after the loop, minus V. For a quadratic
V = x P x the change is a quadratic function of the outputs (x+, x) of a network, with the polar form x+ P y+ - x P y.
On a simplex the largest value of the polar form at pairs of corners is an upper bound on the change; it is computed
in floating point, with a bound on its error.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Protocol

import numpy as np

from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.types import Floats, Integers
from regions.networks.network import Network, with_graph
from regions.networks.parts import in_sequence, side_by_side, with_forms, with_largest

__all__ = ["Candidate", "PiecewiseLinear", "Quadratic", "largest_form"]


class Candidate(Protocol):
    """A function of the state, and how it changes."""

    network: Network  # its outputs determine the change

    def upper_bounds(self, values: Proven, corners: Integers) -> Floats:
        """Bound the change on simplices with corners [S, d + 1] from above, float64 [S], given the outputs at vertices,
        [V, m]; infinite if unknown."""

    def polar(self, one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        """Return the polar form of the change, given the outputs at two points."""


class Quadratic:
    """V(x) = x P x, for a symmetric matrix P [n, n]."""

    def __init__(self, loop: Network, matrix: Floats) -> None:
        n = loop.n_in
        ones, none = np.eye(n), np.zeros((n, n))
        graph = with_forms(loop.graph, np.vstack([ones, none]), None, np.vstack([none, ones]))
        self.network = with_graph(loop, graph)
        self.matrix = np.block([[matrix, none], [none, -matrix]])
        self.exact = [[Fraction(x) for x in row] for row in self.matrix.tolist()]

    def upper_bounds(self, values: Proven, corners: Integers) -> Floats:
        upper = np.full(len(corners), -np.inf)
        with np.errstate(all="ignore"):
            weighted = values @ self.matrix
            for i, j in combinations_with_replacement(range(corners.shape[1]), 2):
                products = (values[corners[:, i]] * weighted[corners[:, j]]).sum(axis=1)
                upper = np.maximum(upper, products.high)
        return np.where(np.isnan(upper), np.inf, upper)

    def polar(self, one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        rows = (sum(a * y for a, y in zip(row, other, strict=True)) for row in self.exact)
        return sum((x * y for x, y in zip(one, rows, strict=True)), Fraction(0))


class PiecewiseLinear:
    """V is a network with one output."""

    def __init__(self, loop: Network, candidate: Network) -> None:
        one = np.ones((1, 1))
        after = in_sequence(loop.graph, candidate.graph)
        self.network = with_graph(loop, side_by_side(after, candidate.graph, one, -one))

    def upper_bounds(self, values: Proven, corners: Integers) -> Floats:
        with np.errstate(all="ignore"):
            upper = values[:, 0].high[corners].max(axis=1)
        return np.where(np.isnan(upper), np.inf, upper)

    def polar(self, one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        return (one[0] + other[0]) / 2


def largest_form(rows: Floats) -> Network:
    """Return the network whose output is the largest of some linear forms [k, n] of the inputs."""
    forms = Network([(rows, None)])
    return with_graph(forms, with_largest(forms.graph, [len(rows)], 1.0))
