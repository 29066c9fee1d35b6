# SPDX-License-Identifier: MIT
"""Is there an unsafe point in a box, found by trying points?

Points are tried by rounded evaluations: the middle of the box, random points, and a local search from the best of them.
The search follows the affine map at a point towards the corner of the box at which the weakest inequality of a polytope
grows most. Each point with unsafe outputs is replayed in fractions, so that a point that is returned is a proof.
Results depend on the numbers of the box and the network only: random points come from a fixed seed.
Cost: some hundred forward passes, and an exact forward pass for each point that is replayed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regions.answers.climbing import box_corners, climbed
from regions.answers.unsafe_points import outputs_at
from regions.answers.unsafe_sets import Polytope, is_unsafe, owners, slacks
from regions.answers.witness import Witness, witness_at
from regions.domains.domain import Domain
from regions.errors import NonFiniteError
from regions.ground.arithmetic.types import Floats
from regions.ground.threads.deadline import check_time
from regions.networks.network import Network, with_graph
from regions.networks.rounded import at_points

__all__ = ["Counterexamples", "witness_at_point"]

# Random points; the best points, and the polytopes at each, from which a local search begins.
SAMPLES, STARTS = 256, 3
# Points of one group that are replayed in fractions, those with the largest slacks first, and points in all: where
# outputs only touch a strict inequality, no replay succeeds.
REPLAYED, MOST_REPLAYED = 8, 64


class Counterexamples:
    """The search for an unsafe point in boxes.

    Parameters
    ----------
    network : Network
    polytopes : sequence of Polytope
    """

    def __init__(self, network: Network, polytopes: Sequence[Polytope]) -> None:
        self.network, self.polytopes = network, polytopes
        self.rows, self._replays = owners(polytopes), 0
        self.of_slacks = with_graph(network, slacks(network.graph, polytopes))

    def find(self, lower: Floats, upper: Floats) -> Witness | None:
        """Return an unsafe point of a box with corners [n_in], or None if no tried point is unsafe."""
        samples = np.random.default_rng(0).uniform(0.0, 1.0, (SAMPLES, len(lower)))
        middle = lower / 2 + upper / 2
        points = np.clip(np.vstack([middle, lower + samples * (upper - lower)]), lower, upper)
        found = self.unsafe(points)
        if found is not None:
            return found
        weakest = self.weakest(points)
        for place in np.argsort(-weakest.max(axis=1), kind="stable")[:STARTS].tolist():
            for polytope in np.argsort(-weakest[place], kind="stable")[:STARTS].tolist():
                found = self._climbed(points[place], polytope, lower, upper)
                if found is not None:
                    return found
        return None

    def weakest(self, points: Floats) -> Floats:
        """Return the smallest slack of each polytope at points [m, n_in], rounded: [m, polytopes]; -inf if unknown."""
        with np.errstate(all="ignore"):
            *_, slack = at_points(self.of_slacks.graph, points)
        slack = np.where(np.isfinite(slack), slack, -np.inf)
        return np.stack([slack[:, own.numbers].min(axis=1) for own in self.rows], axis=1)

    def unsafe(self, points: Floats) -> Witness | None:
        """Return one of some points as a witness, if it is unsafe."""
        best = self.weakest(points).max(axis=1)
        for place in np.argsort(-best, kind="stable")[:REPLAYED].tolist():
            check_time()
            if best[place] < 0 or self._replays == MOST_REPLAYED:
                return None
            self._replays += 1
            if found := witness_at_point(self.network, points[place], self.polytopes):
                return found
        return None

    def _climbed(self, point: Floats, polytope: int, lower: Floats, upper: Floats) -> Witness | None:
        """Follow affine maps from a point, as long as the weakest inequality of a polytope grows."""
        own = self.rows[polytope].numbers

        def values(points: Floats) -> Floats:
            return self.weakest(points)[:, polytope]

        def slopes(points: Floats) -> Floats:
            weakest = self.of_slacks(points)[:, own].argmin(axis=1)
            return self.of_slacks.gradient(points)[np.arange(len(points)), own[weakest]]

        try:
            return self.unsafe(climbed(point[np.newaxis], values, slopes, box_corners(lower, upper)))
        except NonFiniteError:
            return None


def witness_at_point(network: Network, point: Floats, polytopes: Sequence[Polytope]) -> Witness | None:
    """Return a point of input space, [n_in], as a witness, if its exact outputs are unsafe."""
    graph, rows = slacks(network.graph, polytopes), owners(polytopes)
    direction = np.zeros((1, len(point)))
    direction[0, 0] = 1.0
    place, here = Domain(point, direction, [[1.0, 0.0], [1.0, 1.0]]), np.zeros(1)
    if not is_unsafe(outputs_at(graph, place, here), rows):
        return None
    outputs = outputs_at(network.graph, place, here)
    return witness_at(graph, (), outputs, point, lambda slack: is_unsafe(slack, rows))
