# SPDX-License-Identifier: MIT
"""In how many directions of its weights and biases can a network change as a function on a domain?

The functional dimension of Grigsby, Lindsey, Meyerhoff and Wu (2022) is the rank of the derivatives with respect to all
weights and biases, at all points of the domain together. On a region each derivative is an affine form of the point,
so d + 1 rows for each output span all of its points; with all regions of a partition, no point is left out. Each
hidden unit whose activation keeps factors, such as ReLU, takes away one direction: scaling its inputs up and its
outputs down changes nothing. What is missing beyond that are *hidden symmetries*.
The rank is computed modulo two primes. Modulo any prime it is at most the rank, so the larger of both is proven to be a
lower bound. It is the rank unless both primes divide the same minors. If it reaches the upper bound, it is proven.
Cost: for each region an elimination of its rows, as long as the upper bound is not reached.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from regions.errors import UnsupportedLayerError
from regions.ground.arithmetic.residues import reduced
from regions.ground.arithmetic.types import Floats
from regions.ground.text.tables import facts_table
from regions.ground.threads.deadline import check_time
from regions.passes.parameter_gradients import ParameterGradients, parameter_count, scaling_count, two_primes
from regions.results.partition import Partition, require_complete

__all__ = ["FunctionalDimension", "functional_dimension"]

# Products that are added before the sum is reduced.
CHUNK = 64


@dataclass(frozen=True, eq=False, repr=False)
class FunctionalDimension:
    """The functional dimension of a network on a domain; returned by `functional_dimension`.

    Attributes
    ----------
    partition : Partition
    dimension : int
        The rank modulo two primes, the larger one: never above the rank, and below it only if both primes happen to
        divide the same minors.
    parameters : int
        Number of weights and biases.
    upper : int
        ``parameters`` without the scalings of hidden units, each of which leaves the function as it is.
    ranks : tuple of int
        The rank modulo each prime. Only one if it reaches ``upper``.
    """

    partition: Partition = field(repr=False)
    dimension: int
    parameters: int
    upper: int
    ranks: tuple[int, ...]

    @property
    def is_proven(self) -> bool:
        """Whether the dimension reaches its upper bound, and is therefore proven."""
        return self.dimension == self.upper

    @property
    def hidden_symmetries(self) -> int:
        """Number of directions, besides scalings, in which the function does not change."""
        return self.upper - self.dimension

    def _repr_html_(self) -> str:
        facts = [("parameters", self.parameters), ("without scalings", self.upper), ("dimension", self.dimension)]
        return facts_table(repr(self), [(name, f"{number:,}") for name, number in facts])

    def __repr__(self) -> str:
        return f"FunctionalDimension({self.dimension} of at most {self.upper}, {self.parameters} parameters)"


def functional_dimension(partition: Partition) -> FunctionalDimension:
    """Return the functional dimension of a network over all regions of a domain.

    Parameters
    ----------
    partition : Partition
        Of a chain of dense layers. On an unbounded domain it is about all of it. Biases that are 0 count as parameters.

    Returns
    -------
    FunctionalDimension

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one.
    UnsupportedLayerError
        The network is not a chain of dense layers with activations.

    References
    ----------
    Grigsby, Lindsey, Meyerhoff, Wu, Functional dimension of feedforward ReLU neural networks, 2022; Grigsby, Lindsey,
    Rolnick, Hidden symmetries of ReLU networks, 2023, who sample points.

    Examples
    --------
    A unit with its kink inside the segment has four parameters, one of which is its scale. If the kink is outside, the
    function is affine, with two directions.

    >>> import regions
    >>> net = regions.Network([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    >>> functional_dimension(regions.enumerate(net, regions.Segment([-1.0], [1.0])))
    FunctionalDimension(3 of at most 3, 4 parameters)
    >>> found = functional_dimension(regions.enumerate(net, regions.Segment([1.0], [2.0])))
    >>> found.dimension, found.hidden_symmetries
    (2, 1)
    """
    require_complete(partition)
    network = partition.network
    if not network.is_chain:
        raise UnsupportedLayerError(
            "the functional dimension is computed for chains of dense layers; this network has convolutions, skips, "
            "maxima or other nodes that share or leave out weights"
        )
    parameters = parameter_count(network)
    upper, ranks = parameters - scaling_count(network), list[int]()
    for prime in two_primes(network, partition.domain, CHUNK):
        ranks.append(_rank(partition, prime, upper))
        if ranks[-1] == upper:
            break
    return FunctionalDimension(partition, max(ranks), parameters, upper, tuple(ranks))


def _rank(partition: Partition, prime: int, most: int) -> int:
    """Return the rank of the derivatives in all regions modulo a prime; stop when it is the largest possible one."""
    gradients, graph = ParameterGradients(partition.network, partition.domain, prime), partition.network.graph
    basis = _Basis(parameter_count(partition.network), prime)
    for packed in partition.packed_patterns:
        check_time()
        basis.add(gradients.rows(graph.bits(packed).view(np.bool_)))
        if basis.size == most:
            break
    return basis.size


class _Basis:
    """Rows modulo a prime in reduced echelon form: each is 1 in its pivot, where all others are 0."""

    def __init__(self, columns: int, prime: int) -> None:
        self.rows: Floats = np.zeros((0, columns))
        self.pivots, self.prime = list[int](), prime

    @property
    def size(self) -> int:
        return len(self.pivots)

    def add(self, rows: Floats) -> None:
        """Add what is new in some rows."""
        shares = rows[:, self.pivots]
        for start in range(0, self.size, CHUNK):
            part = slice(start, start + CHUNK)
            rows = reduced(rows - shares[:, part] @ self.rows[part], self.prime)
        while len(rows := rows[rows.any(axis=1)]):
            check_time()
            pivot = int(np.flatnonzero(rows[0])[0])
            inverse = pow(int(rows[0, pivot]) % self.prime, -1, self.prime)
            factor = reduced(np.array([float(inverse)]), self.prime)
            new = reduced(rows[:1] * factor, self.prime)
            self.rows = np.vstack([reduced(self.rows - self.rows[:, pivot, np.newaxis] * new, self.prime), new])
            self.pivots.append(pivot)
            rows = reduced(rows[1:] - rows[1:, pivot, np.newaxis] * new, self.prime)
