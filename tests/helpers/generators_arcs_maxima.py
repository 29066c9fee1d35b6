# SPDX-License-Identifier: MIT
"""On which arcs are max units hard?

`maxima_arc_case`: the networks of `generators_maxima.py` on the arcs of `generators_arcs.py`. `meeting_arms_case`: one
unit, and perhaps one above it, on the unit circle with many branches that are equal at one point of it: at an end of
the arc, inside it, touching each other there, or nearly so. Points have rational coordinates, so that this is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from generators_arcs import arc_leg
from generators_arcs_aimed import TRIPLES
from generators_maxima import MAX_FAMILIES, network_of_maxima
from regions.domains.curves import QUARTERS, ArcLeg
from regions.networks.network import Network

__all__ = ["maxima_arc_case", "meeting_arms_case"]


def maxima_arc_case(seed: int) -> tuple[Network, ArcLeg]:
    """Return a network of some nodes, and an arc in its input space."""
    rng = np.random.default_rng([91, seed])
    families = list(MAX_FAMILIES.values())
    network, _ = families[seed % len(families)](rng, 2)
    return network, arc_leg(rng, network.n_in)


def meeting_arms_case(seed: int) -> tuple[Network, ArcLeg]:
    """Return a case in which all branches, or all but some, are equal at a point of the arc."""
    rng = np.random.default_rng([92, seed])
    a, b, radius = TRIPLES[int(rng.integers(len(TRIPLES)))]
    points = np.array([[a, b], [radius, 0], [0, radius], [b, a]], dtype=float)
    arms = int(rng.choice([3, 4, 5, 8]))
    rows = np.zeros((arms, 3))
    for arm in range(arms):
        point = points[0 if rng.random() < 0.7 else rng.integers(len(points))]
        kind = rng.random()
        if kind < 0.2:  # touches the circle there
            rows[arm] = np.array([-radius * radius, *point]) * rng.integers(-3, 4)
        elif kind < 0.9:  # is zero there
            slopes = rng.integers(-4, 5, 2)
            rows[arm] = [-(slopes @ point), *slopes]
        else:
            rows[arm] = rng.integers(-3, 4, 3)
    if rng.random() < 0.5:  # a common form, which cancels in all comparisons
        rows += rng.integers(-5, 6, 3)
    near = rng.random(arms) < (0.5 if rng.random() < 0.4 else 0)
    rows[near, 0] += rng.choice([-1, 1], near.sum()) * 2.0 ** -rng.integers(5, 50, near.sum())
    rows[near] *= 2.0 ** rng.integers(-2, 3)
    if rng.random() < 0.2:
        rows[rng.integers(arms)] = rows[rng.integers(arms)]
    layers: list[tuple[Any, list[int]]] = [(rows, [arms])]
    if rng.random() < 0.5:  # beside another unit, and with one above both
        more = int(rng.integers(2, 5))
        layers = [(np.concatenate([rows, rng.integers(-3, 4, (more, 3))]), [arms, more])]
        layers.append((rng.integers(-2, 3, (3, 3)), [3]))
    ends = QUARTERS[:2].copy()
    if rng.random() < 0.4:
        ends[int(rng.integers(2))] = [a, b]
    return network_of_maxima(2, layers), ArcLeg(np.zeros(2), radius * np.eye(2), ends)
