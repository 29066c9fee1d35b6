# SPDX-License-Identifier: MIT
"""Which of many facets is nearest to each of many points?

On a line a sorted list is searched, in a plane a search tree of segments. A ray is represented by a segment so long
that all points project onto it or before it. Rays and whole lines are divided into two segments at their point nearest
to 0. The tree compares squares of doubles. It therefore works in units of the facets' own size, and contains the facets
and points between 2^-300 and 2^300 units. Other facets, and facets with an end beyond the largest double, are compared
with every point, and other points with every facet.
Invariant: the tree's answer and other facets are compared by distances from `facet_distance.py`.
Cost: the logarithm of the number of facets for each point, after sorting them once. Because the boxes of rays overlap,
each point also takes some 50 ns for each of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.ground.arithmetic.types import Floats, Integers
from regions.measures.facet_distance import StraightFacets, length_vectors, scaled

# Pairs of a point and a facet that are compared at a time: some 30 MB.
CHUNK = 1 << 16
# Products of three numbers up to this size, or down to its inverse, are doubles: the tree computes no larger ones.
LARGE = 2.0**300


class _Segments(NamedTuple):
    """The segments in the tree."""

    ends: Floats  # [s, 2, 2]: in units
    facets: Integers  # [s]


def nearest_facets(facets: StraightFacets, points: Floats) -> Integers:
    """Return the nearest of some facets, at least one, for each chart point [n, d]: int64 [n]."""
    return _on_line(facets, points) if points.shape[1] == 1 else _in_plane(facets, points)


def _on_line(facets: StraightFacets, points: Floats) -> Integers:
    positions = facets.places[:, 0, 0]
    order = np.argsort(positions)
    right = np.searchsorted(positions[order], points[:, 0]).clip(0, len(order) - 1)
    pairs = order[np.stack([np.maximum(right - 1, 0), right])]
    distances, _ = facets.distances(pairs, points)
    return np.where(distances[0] <= distances[1], *pairs)


def _in_plane(facets: StraightFacets, points: Floats) -> Integers:
    import shapely

    best, least = np.zeros(len(points), dtype=np.int64), np.full(len(points), np.inf)
    unit = _unit(facets)
    places = _in_units(facets, points, unit)
    near = np.flatnonzero((np.abs(places) <= LARGE).all(axis=1))
    segments = _segments(facets, unit, np.abs(places[near]).max(initial=0.0))
    if segments.facets.size and near.size:
        tree = shapely.STRtree(shapely.linestrings(segments.ends))
        best[near] = segments.facets[tree.nearest(shapely.points(places[near]))]
        least[near] = facets.distances(best[near], points[near])[0]
    # Below this the squares that the tree compared were too small. A point on a facet needs no comparison.
    smallest = scaled(np.array(1.0 / LARGE), unit)
    unsure = np.flatnonzero((least != 0.0) & ((least < smallest) | (least == np.inf)))
    _compare(facets, np.unique(segments.facets), points, unsure, best, least)
    others = np.setdiff1d(np.arange(len(facets.steps)), segments.facets)
    _compare(facets, others, points, np.arange(len(points)), best, least)
    return best


def _unit(facets: StraightFacets) -> Integers:
    """Return the exponent of the unit of length: the median exponent of the segments."""
    segments = np.isfinite(facets.places[:, :2]).all(axis=(1, 2)) & (facets.steps != 0.0).any(axis=1)
    return np.array(np.median(facets.exponents[segments]) if segments.any() else 0, dtype=np.int64)


def _in_units(facets: StraightFacets, points: Floats, unit: Integers) -> Floats:
    """Return chart points [.., 2] in coordinates with the lengths of input space."""
    vectors, exponents = length_vectors(facets.domain, np.zeros_like(points), points)
    return scaled(vectors, (exponents - unit)[..., np.newaxis])


@np.errstate(all="ignore")  # some have no length, and segments beyond the doubles are removed at the end
def _segments(facets: StraightFacets, unit: Integers, reach: float) -> _Segments:
    """Return segments that represent the facets for all points within reach, as far as the tree can hold them."""
    places = _in_units(facets, facets.places, unit)
    finite = np.isfinite(facets.places[..., 0]) & np.isfinite(facets.places[..., 1])
    along = facets.directions / np.hypot(*facets.directions.T)[:, np.newaxis]
    whole = np.flatnonzero(finite[:, :2].all(axis=1))
    # The tree measures from the first end. The end nearer to 0 loses less precision if the other one is far away.
    turn = np.hypot(places[whole, 0, 0], places[whole, 0, 1]) > np.hypot(places[whole, 1, 0], places[whole, 1, 1])
    pieces, owners = [np.where(turn[:, np.newaxis, np.newaxis], places[whole, 1::-1], places[whole, :2])], [whole]
    # If a facet has an end beyond the largest double, its number of steps or its position is not finite.
    endless = np.stack([facets.shares[:, 0] == -np.inf, facets.shares[:, 1] == np.inf], axis=1)
    straight = finite[:, 2] & (finite[:, :2] | endless).all(axis=1)
    divided = (facets.shares[:, 0] < 0.0) & (facets.shares[:, 1] > 0.0)
    for side, sign in enumerate((-1.0, 1.0)):
        rays = np.flatnonzero(straight & (divided | endless[:, side]))
        start = places[rays, np.where(divided[rays], 2, 1 - side)]
        length = 2.0 * (reach + np.abs(start).sum(axis=1, keepdims=True))
        far = start + sign * length * along[rays]
        stop = np.where(endless[rays, side, np.newaxis], far, places[rays, side])
        pieces.append(np.stack([start, stop], axis=1))
        owners.append(rays)
    ends, owner = np.concatenate(pieces), np.concatenate(owners)
    lengths = np.hypot(*(ends[:, 1] - ends[:, 0]).T)
    fit = (np.abs(ends) <= LARGE).all(axis=(1, 2)) & ((lengths == 0.0) | (lengths >= 1.0 / LARGE))
    left_out = np.isin(owner, owner[~fit])  # if one half of a facet does not fit, both are left out
    return _Segments(ends[~left_out], owner[~left_out])


def _compare(
    facets: StraightFacets, candidates: Integers, points: Floats, rows: Integers, best: Integers, least: Floats
) -> None:
    """Replace the best facets of some points, and their distances, by nearer candidates."""
    step = max(1, CHUNK // max(len(candidates), 1))
    for start in range(0, len(rows) if candidates.size else 0, step):
        part = rows[start : start + step]
        distances, _ = facets.distances(candidates[np.newaxis], points[part, np.newaxis])
        first = distances.argmin(axis=1)
        distances = distances[np.arange(len(part)), first]
        nearer = distances < least[part]
        best[part[nearer]], least[part[nearer]] = candidates[first[nearer]], distances[nearer]
