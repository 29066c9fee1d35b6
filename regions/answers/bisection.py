# SPDX-License-Identifier: MIT
"""Which share of a box do bounds prove to be safe, if they are computed on parts of it?

A part is safe if on all of it an inequality of each unsafe polytope is proven to fail, by an enclosure of its slack
(`passes/ranges.py`). Parts that are not safe are cut in two, the largest first, along the input by which the slack that
is nearest to failing changes most, and along which kinks make its bound loose.
Invariant: the shares are exact: a part with corners lower and upper has the product of its relative widths.
Cost: 2 + d forward passes for each part with d free inputs, and one for each unit that a kink may cut.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction
from itertools import count

import numpy as np

from regions.answers.counterexamples import Counterexamples
from regions.answers.unsafe_sets import Polytope, owners, slacks
from regions.answers.witness import Witness
from regions.ground.arithmetic.types import Floats
from regions.ground.threads.deadline import check_time
from regions.networks.network import Network, with_graph
from regions.passes.ranges import most_symbols, ranges_and_kinks

__all__ = [
    "MOST_NUMBERS",
    "Bisection",
    "around",
    "cut_in_two",
    "effects",
    "parts_within",
    "proved_soon",
    "rounded_down",
]

# Minus the share as a double, the order of making, the share, and the corners.
_Part = tuple[float, int, Fraction, Floats, Floats]
# Parts that are bounded together.
TOGETHER = 64
# Products that bounds on all parts may take, if no limit on their number is given, and the largest number of parts.
PRODUCTS, MOST_PARTS = 2**30, 2**13
# Numbers in the corners of all parts: 256 MB.
MOST_NUMBERS = 1 << 25
# The weight of changes along a side, against kinks, in the choice of a side.
SLOPES = 0.3
# After work was stopped, the number of parts is divided by this.
SOON = 16


def parts_within(network: Network, free: int) -> int:
    """Return a number of parts that are bounded in some seconds, for boxes with some free inputs."""
    passes = free + 2 + most_symbols(network.graph)
    return int(min(max(PRODUCTS // (max(network.graph.products, 1) * passes), 2), MOST_PARTS))


def rounded_down(share: Fraction) -> float:
    """Return the largest double that is at most a share."""
    nearest = float(share)
    return nearest if Fraction(nearest) <= share else float(np.nextafter(nearest, -np.inf))


class Bisection:
    """A box that is cut into parts until bounds prove each to be safe.

    Parameters
    ----------
    network : Network
    lower, upper : float64 [n_in]
        Corners of the box.
    polytopes : sequence of Polytope

    Attributes
    ----------
    proved : Fraction
        The share of the box that is proven to be safe.
    bounded : int
        Number of parts on which bounds were computed.
    """

    def __init__(
        self,
        network: Network,
        lower: Floats,
        upper: Floats,
        polytopes: Sequence[Polytope],
    ) -> None:
        self.proved, self.bounded = Fraction(0), 0
        self._rows, self._of_slacks = owners(polytopes), with_graph(network, slacks(network.graph, polytopes))
        self._order = count()
        self._open: list[_Part] = [(-1.0, next(self._order), Fraction(1), lower, upper)]

    @property
    def complete(self) -> bool:
        """Whether the whole box is proven to be safe."""
        return self.proved == 1

    def run(self, most: int, search: Counterexamples | None = None) -> Witness | None:
        """Bound at most so many more parts; return an unsafe point if the search finds one in the middle of a part."""
        end = self.bounded + most
        while self._open and self.bounded < end:
            check_time()
            size = min(TOGETHER, len(self._open), end - self.bounded)
            parts = [heapq.heappop(self._open) for _ in range(size)]
            lower, upper = np.stack([part[3] for part in parts]), np.stack([part[4] for part in parts])
            _, highest, _, changes, loose = ranges_and_kinks(self._of_slacks.graph, *around(lower, upper))
            self.bounded += size
            failing = np.stack([(highest[:, own.numbers] < 0).any(axis=1) for own in self._rows], axis=1)
            left = np.flatnonzero(~failing.all(axis=1))
            self.proved += sum((part[2] for part in parts), Fraction(0)) - sum((parts[i][2] for i in left), Fraction(0))
            if not left.size:
                continue
            middles = lower[left] / 2 + upper[left] / 2
            if search is not None and (found := search.unsafe(middles)) is not None:
                return found
            # The row nearest to failing, of the first polytope that does not fail.
            own = [self._rows[int(np.argmin(each))].numbers for each in failing[left]]
            rows = [int(numbers[np.argmin(highest[i, numbers])]) for i, numbers in zip(left, own, strict=True)]
            for i, row in zip(left.tolist(), rows, strict=True):
                sizes, free = np.zeros_like(lower[i]), np.flatnonzero(lower[i] < upper[i])
                sizes[free] = effects(changes[i, :, row], loose[i, :, row])[: len(free)]
                self._cut(parts[i], sizes)
        return None

    def _cut(self, part: _Part, changes: Floats) -> None:
        *_, share, lower, upper = part
        for own, below, above in cut_in_two(lower, upper, changes):  # parts between neighbouring doubles stay open
            own *= share
            heapq.heappush(self._open, (-float(own), next(self._order), own, below, above))


def proved_soon(network: Network, lower: Floats, upper: Floats, polytopes: Sequence[Polytope]) -> float:
    """Return a share of a box that bounds prove to be safe in a fraction of a second, for work that was stopped."""
    bisection = Bisection(network, lower, upper, polytopes)
    bisection.run(max(parts_within(network, int((lower < upper).sum())) // SOON, 1))
    return rounded_down(bisection.proved)


def effects(changes: Floats, loose: Floats) -> Floats:
    """Return how much better the bounds of a part become if each of its sides is cut, by a guess.

    Half of a part has smaller values, by ``changes`` of the output along its sides, and fewer kinks, which make bounds
    loose. The latter counts more: see `ranges_and_kinks`.
    """
    return np.nan_to_num(SLOPES * np.abs(changes) + loose)


def cut_in_two(lower: Floats, upper: Floats, changes: Floats) -> list[tuple[Fraction, Floats, Floats]]:
    """Return the shares and the corners of the two halves of a part, or [] if no input has a double between its ends.

    It is cut along the input with the largest change, or along the widest input if all changes are 0.
    """
    with np.errstate(over="ignore"):
        middles, widths = lower / 2 + upper / 2, upper - lower
    can_be_cut = (lower < middles) & (middles < upper)
    if not can_be_cut.any():
        return []
    sizes = changes if changes[can_be_cut].any() else widths
    axis = int(np.where(can_be_cut, sizes, -1.0).argmax())
    below, above = upper.copy(), lower.copy()
    below[axis] = above[axis] = middles[axis]
    low, middle, high = (Fraction(float(each[axis])) for each in (lower, middles, upper))
    first = (middle - low) / (high - low)
    return [(first, lower, below), (1 - first, above, upper)]


def around(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Return centres [m, n_in] and sides [m, d, n_in], one for each free input, of boxes around the given ones."""
    free = lower < upper
    centres = np.where(free, np.clip(lower / 2 + upper / 2, lower, upper), lower)
    halves = np.nextafter(np.maximum(centres - lower, upper - centres), np.inf)
    halves[~free] = 0.0
    order = np.argsort(~free, axis=1, kind="stable")[:, : max(int(free.sum(axis=1).max()), 1)]
    sides = np.zeros((len(lower), order.shape[1], lower.shape[1]))
    boxes = np.arange(len(lower))[:, np.newaxis]
    sides[boxes, np.arange(order.shape[1]), order] = np.take_along_axis(halves, order, axis=1)
    return centres, sides
