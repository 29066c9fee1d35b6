# SPDX-License-Identifier: MIT
"""Where does a curve meet the kinks of a network?

The core cuts each leg of the curve where a unit moves to another piece of its activation. The pieces of the curve on a
single leg can be counted without being stored. For several legs, the patterns on both sides of each joint must be
known. On arcs, computing breakpoints costs several times as much as counting them. Arcs are therefore counted one by
one, and the pattern at a joint is found on a short part of the arc next to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from regions.counting.found import COMPLETE, End, Found, exception_of
from regions.counting.options import NO_OPTIONS, Options
from regions.counting.run import Model, counted, enumerated_in
from regions.domains import Segment
from regions.domains.curves import ArcLeg, Curve
from regions.domains.domain import require_fitting
from regions.ground.arithmetic.types import Integers
from regions.results.cells.strands import Strands

__all__ = ["pieces_counted", "strands_of"]


def pieces_counted(model: Model, curve: Curve, options: Options) -> Found[Curve]:
    """Count the pieces of a curve."""
    require_fitting(curve, model.network.n_in, model.network.input_shape, "the curve")
    if len(curve.legs) > 1 and isinstance(curve.legs[0], Segment):
        return _cut(model, curve, options)[0]
    return _counted(model, curve, options)


def strands_of(model: Model, curve: Curve, options: Options) -> Strands:
    """Find the strands of a curve.

    Raises
    ------
    ShapeMismatchError
        The curve does not lie in the network's input space.
    LimitReached, or the exception that stopped the core
        ``partial`` is the number of pieces found so far.
    """
    require_fitting(curve, model.network.n_in, model.network.input_shape, "the curve")
    found, strands = _cut(model, curve, options)
    if found.end is not COMPLETE:
        raise exception_of(found.end, found.regions, found)
    assert strands is not None
    return strands


def _counted(model: Model, curve: Curve, options: Options) -> Found[Curve]:
    """Count the pieces of each leg, and subtract those that continue across a joint."""
    stats: dict[str, int] = {}
    found = 0
    for index, leg in enumerate(curve.legs):
        of_leg = counted(model, leg, _of_leg(curve, index, options, found))
        found, stats = found + of_leg.regions, _added(stats, of_leg.stats)
        if of_leg.end is not COMPLETE:
            return _stopped(model, curve, index, found, stats, of_leg.end, options)
    following = [*curve.legs[1:], *curve.legs[:1]] if curve.closed else curve.legs[1:]
    for before, after in zip(curve.legs, following, strict=False):
        assert isinstance(before, ArcLeg) and isinstance(after, ArcLeg)
        patterns = []
        for part, place in ((before.part_at(1), -1), (after.part_at(0), 0)):
            end, raw, counters = enumerated_in(model, part, NO_OPTIONS)
            stats = _added(stats, counters)
            if end is not COMPLETE:
                return _stopped(model, curve, index, found, stats, end, options)
            patterns.append(raw["packed_patterns"][place])
        found -= np.array_equal(*patterns)
    return _whole(model, curve, max(found, 1), stats, options)


def _cut(model: Model, curve: Curve, options: Options) -> tuple[Found[Curve], Strands | None]:
    """Find the strands of each leg; return None for them if the work was stopped."""
    legs: list[Integers] = []
    arrays: list[dict[str, Any]] = []
    stats: dict[str, int] = {}
    found = 0
    for index, leg in enumerate(curve.legs):
        end, raw, counters = enumerated_in(model, leg, _of_leg(curve, index, options, found))
        pieces = len(raw["packed_patterns"])
        found, stats = found + pieces, _added(stats, counters)
        if end is not COMPLETE:
            return _stopped(model, curve, index, found, stats, end, options), None
        arrays.append(raw)
        legs.append(np.full(pieces, index, dtype=np.int64))
    ends = [raw["vertices"][raw["cell_vertices"]].reshape(-1, 2, raw["vertices"].shape[1]) for raw in arrays]
    errors = [raw["vertex_errors"][raw["cell_vertices"]].reshape(-1, 2) for raw in arrays]
    strands = Strands(
        model.network,
        curve,
        np.concatenate(legs),
        np.concatenate(ends),
        np.concatenate(errors),
        np.concatenate([raw["packed_patterns"] for raw in arrays]),
        stats,
    )
    return _whole(model, curve, strands.count, stats, options), strands


def _of_leg(curve: Curve, index: int, options: Options, found: int) -> Options:
    """Return the options of a leg, given the number of pieces on earlier legs."""
    part = options.part(index, len(curve.legs))
    return part if part.limit is None else replace(part, limit=part.limit - found + _joints(curve, index))


def _stopped(
    model: Model, curve: Curve, index: int, found: int, stats: dict[str, int], end: End, options: Options
) -> Found[Curve]:
    """Return a lower bound on the pieces of the legs up to a given one: at each joint, one piece may continue."""
    at_least = max(found - _joints(curve, index), 0)
    return Found(model.network, curve, at_least, stats, end if end.limit is None else End(limit=options.limit))


def _joints(curve: Curve, index: int) -> int:
    """Return the number of joints between the legs up to a given one, including the joint that closes a curve."""
    return index + curve.closed


def _added(stats: dict[str, int], counters: Mapping[str, int]) -> dict[str, int]:
    return {name: stats.get(name, 0) + counters[name] for name in counters}


def _whole(model: Model, curve: Curve, pieces: int, stats: dict[str, int], options: Options) -> Found[Curve]:
    end = End(limit=options.limit) if options.limit is not None and pieces > options.limit else COMPLETE
    return Found(model.network, curve, pieces, stats, end)
