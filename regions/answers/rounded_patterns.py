# SPDX-License-Identifier: MIT
"""Which patterns does a network run in a format of fewer digits, and which of them are regions of the network?

The regions belong to the stored weights in exact arithmetic. A forward pass in float16, say, has rounded weights and
rounded sums (`passes/narrow.py`), so it can run a pattern that no region has. Both patterns are found at the same
points: the numbers of the format nearest to those given.
Cost: a pass in the format, and one with proven error bounds; a millisecond or more for each point near a kink.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from regions.domains.chart import Chart
from regions.ground.arithmetic.arguments import one_of
from regions.ground.arithmetic.arrays import points_float64
from regions.ground.arithmetic.types import Bits, Floats
from regions.networks.network import Network, require_network
from regions.passes.bounded import BoundedPatterns
from regions.passes.exact import ExactSigns
from regions.passes.narrow import FORMATS, Narrow
from regions.results.partition import Partition, require_partition

__all__ = ["Phantoms", "RoundedPatterns", "exact_patterns", "rounded_patterns"]

# Numbers per temporary array.
CHUNK = 1 << 20


class Phantoms(NamedTuple):
    """Patterns that a rounded pass runs and that no region has.

    Attributes
    ----------
    patterns : int
        How many different ones.
    points : int
        At how many of the points.
    """

    patterns: int
    points: int


@dataclass(frozen=True, eq=False, repr=False)
class RoundedPatterns:
    """Patterns of a network in a format of fewer digits, beside the exact ones.

    Attributes
    ----------
    network : Network
    dtype : str
        The format.
    points : float64 [m, n_in]
        The points at which both were computed: numbers of the format.
    patterns : bool [m, kinks]
        Patterns of the rounded pass.
    exact : bool [m, kinks]
        Patterns of the stored network in exact arithmetic. A unit that is exactly at its kink is off.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 1.0], [1.0, 1.0]], [-1.0, 2**-13 - 1.0]), ([[1.0, 1.0]], [0.0])])
    >>> found = regions.rounded_patterns(net, [[0.5, 0.5], [0.25, 0.25]], "float16")
    >>> found
    RoundedPatterns(float16, 2 points, 1 differ)
    >>> found.patterns.tolist(), found.exact.tolist()
    ([[False, False], [False, False]], [[False, True], [False, False]])
    """

    network: Network
    dtype: str
    points: Floats
    patterns: Bits
    exact: Bits

    @property
    def differing(self) -> int:
        """The number of points whose two patterns differ."""
        return int((self.patterns != self.exact).any(axis=1).sum())

    def without_region(self, partition: Partition) -> Phantoms:
        """Count the patterns of the rounded pass that no region of a partition has.

        Parameters
        ----------
        partition : Partition
            Of the same network, on a domain that contains the points.

        Returns
        -------
        Phantoms

        Raises
        ------
        TypeError, ValueError
            Something else than a partition; the partition is of another network.
        """
        require_partition(partition)
        if partition.network != self.network:
            raise ValueError("the partition is of another network")
        known = set(map(bytes, partition.packed_patterns))
        packed = np.packbits(self.patterns, axis=1, bitorder="little")
        found, counts = np.unique(packed, axis=0, return_counts=True)
        strange = np.array([bytes(each) not in known for each in found], dtype=bool)
        return Phantoms(int(strange.sum()), int(counts[strange].sum()))

    def __repr__(self) -> str:
        return f"RoundedPatterns({self.dtype}, {len(self.points):,} points, {self.differing:,} differ)"


def rounded_patterns(network: Network, points: ArrayLike, dtype: str = "float32") -> RoundedPatterns:
    """Find the patterns that a forward pass in a format of fewer digits runs, beside the exact ones.

    Weights, biases and inputs are rounded to the format. Each pre-activation and each output is the exact value,
    rounded once. Programs that round more often differ more often.

    Parameters
    ----------
    network : Network
        A chain of dense layers with relu, abs, hard_tanh or similar activations, whose slopes are 0, 1 or -1.
    points : array_like [m, n_in]
        They are rounded to the format.
    dtype : "float32", "float16" or "bfloat16"

    Returns
    -------
    RoundedPatterns

    Raises
    ------
    NetworkError
        The network is not a chain of dense layers, or an activation has other slopes.
    NonFiniteError
        A number is beyond the largest one of the format.
    ShapeMismatchError, ValueError
        Wrong points, or another format.

    Examples
    --------
    >>> import numpy as np
    >>> import regions
    >>> net = regions.load("examples/digits.pt", activation="relu")
    >>> images = regions.load_points("examples/points.csv")
    >>> regions.rounded_patterns(net, images, "bfloat16")
    RoundedPatterns(bfloat16, 3 points, 0 differ)
    """
    narrow = Narrow(require_network(network), one_of(dtype, FORMATS, "dtype"))
    given = points_float64(points, network.n_in, shape=network.input_shape)
    at = narrow.rounded(given.reshape(-1, network.n_in), "the points")
    step = max(1, CHUNK // max(network.n_in, *network.widths, 1))
    chunks = [at[start : start + step] for start in range(0, len(at), step)]
    none = np.zeros((0, network.kinks), dtype=bool)
    patterns = np.concatenate([none, *map(narrow.patterns, chunks)])
    return RoundedPatterns(network, dtype, at, patterns, np.concatenate([none, *exact_patterns(network, chunks)]))


def exact_patterns(network: Network, chunks: Iterable[Floats]) -> list[Bits]:
    """Return the exact patterns of chunks of points of input space."""
    never = np.zeros(network.kinks, dtype=bool)
    chart = Chart("the inputs", np.zeros(network.n_in), np.eye(network.n_in))
    bounded, signs = BoundedPatterns(network.graph, chart, never, never), ExactSigns(network.graph, None)
    found = []
    for points in chunks:
        bits, decided = bounded.at(points)
        for undecided in np.flatnonzero(~decided):
            bits[undecided] = signs.pattern(points[undecided])
        found.append(bits)
    return found
