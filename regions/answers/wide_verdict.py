# SPDX-License-Identifier: MIT
"""Is a box with too many free inputs for an enumeration safe?

An unsafe point is sought first (`counterexamples.py`). Then bounds on parts of the box may prove all of it to be safe
(`bisection.py`), and the middles of parts are tried, too. Otherwise the box is not decided.
Cost: some hundred points, then bounds on some thousands of parts, or on as many as the limit or the time allows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regions.answers.bisection import MOST_NUMBERS, Bisection, parts_within, rounded_down
from regions.answers.counterexamples import Counterexamples
from regions.answers.unsafe_sets import Polytope
from regions.answers.witness import Witness
from regions.counting.found import End, exception_of
from regions.ground.arithmetic.types import Floats
from regions.ground.threads.deadline import present_end
from regions.networks.network import Network

__all__ = ["WideVerdict"]


class WideVerdict:
    """The decision about a box.

    Parameters
    ----------
    network : Network
    lower, upper : float64 [n_in]
        Corners of the box.
    polytopes : sequence of Polytope

    Attributes
    ----------
    parts : int
        Number of parts on which bounds were computed.
    """

    def __init__(self, network: Network, lower: Floats, upper: Floats, polytopes: Sequence[Polytope]) -> None:
        self._search = Counterexamples(network, polytopes)
        self._bisection = Bisection(network, lower, upper, polytopes)
        self._most = parts_within(network, int(np.count_nonzero(lower < upper)))
        self._room = MOST_NUMBERS // (2 * len(lower))

    @property
    def parts(self) -> int:
        return self._bisection.bounded

    @property
    def safe(self) -> bool:
        """Whether the whole box is proven to be safe."""
        return self._bisection.complete

    @property
    def proved_share(self) -> float:
        """A lower bound on the share of the box that is proven to be safe."""
        return rounded_down(self._bisection.proved)

    def decide(self, lower: Floats, upper: Floats, limit: int | None) -> Witness | None:
        """Return an unsafe point, if one is found; points are tried between these corners [n_in] first.

        Without a limit on the number of parts, the work ends at the time limit, or after some seconds. It also ends
        where the parts would take too much memory.
        """
        found = self._search.find(lower, upper)
        if found is not None:
            return found
        most = self._most if limit is None and present_end() is None else max(self._most, self._room)
        most = most if limit is None else min(most, limit)
        found = self._bisection.run(most, self._search)
        if found is None and not self.safe and most == limit:
            raise exception_of(End(limit=limit), None, what="parts of a box")
        return found
