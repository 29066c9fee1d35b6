# SPDX-License-Identifier: MIT
"""Which curves do the facets between classes of regions make?

A facet goes from one of its ends to the other with the larger class on its left. Facets between the same two classes
are linked end to start, at vertices where exactly one such facet ends and one begins. At all other vertices curves
end: there more than two classes meet, the boundary crosses itself, or the domain ends.
Invariant: each facet is in exactly one curve, and no coordinate is computed.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.types import Integers
from regions.results.partition import Partition

__all__ = ["boundary_curves"]


def boundary_curves(partition: Partition, facets: Integers, classes: Integers) -> list[Integers]:
    """Return the runs of vertices that facets [m] between regions of different classes [R] make: int64 [k] each."""
    ends = partition.facet_vertices[facets]
    if partition.dimension == 1:
        return list(ends)
    sides = classes[partition.facet_regions[facets]]
    # A facet's ends are counter-clockwise for its first region, which is on the left from the first end to the second.
    starts, stops = np.where((sides[:, 0] > sides[:, 1])[:, np.newaxis], ends, ends[:, ::-1]).T
    _, pairs = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True)
    following = _links(starts, stops, pairs.ravel())
    reached = np.zeros(len(facets), dtype=bool)
    reached[following[following >= 0]] = True
    runs = [_run(first, following) for first in np.flatnonzero(~reached).tolist()]
    left = np.ones(len(facets), dtype=bool)
    left[[facet for run in runs for facet in run]] = False
    for first in np.flatnonzero(left).tolist():  # closed curves, from the facet with the lowest number
        if left[first]:
            runs.append(_run(first, following))
            left[runs[-1]] = False
    return [np.append(starts[run], stops[run[-1]]) for run in runs]


def _links(starts: Integers, stops: Integers, pairs: Integers) -> Integers:
    """The facet that continues each facet, or -1: int64 [m]."""
    size = int(max(starts.max(initial=0), stops.max(initial=0))) + 1
    beginning, ending = pairs * size + starts, pairs * size + stops
    # Facets of all classes are counted, because all curves that meet at a vertex end there.
    degrees = np.bincount(np.append(starts, stops), minlength=size)
    order = np.argsort(beginning, kind="stable")
    places = np.searchsorted(beginning[order], ending)
    found = order[np.minimum(places, len(order) - 1)] if len(order) else order
    linked = (beginning[found] == ending) & (degrees[stops] == 2)
    return np.where(linked, found, -1)


def _run(first: int, following: Integers) -> list[int]:
    """Return the facets of a curve from ``first`` on, to the last one or back to ``first``."""
    run = [first]
    while (after := int(following[run[-1]])) not in (-1, first):
        run.append(after)
    return run
