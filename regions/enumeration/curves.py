# SPDX-License-Identifier: MIT
"""Where does a curve meet the kinks of a network?

Each leg of the curve is handed to the core, which cuts it where a unit changes its piece. A single leg can be counted
without being kept; of several the patterns on both sides of each joint must be known. Breakpoints on arcs cost several
times their count, so arcs are counted one by one, and a short part of each, next to the joint, has the pattern there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regions.arithmetic.types import Integers
from regions.cells.strands import Strands
from regions.domains import Segment
from regions.domains.curves import ArcLeg, Curve
from regions.domains.domain import require_fitting
from regions.enumeration.run import Model, Run, checked_limit, counted_in, enumerated_in, watched
from regions.networks.network import Network
from regions.reporting import Report, share_of

__all__ = ["pieces_counted", "strands_of"]


def pieces_counted(
    network: Network, model: Model, curve: Curve, limit: int | None, report: Report | None, threads: int = 1
) -> Run[Curve]:
    """Count the pieces of a curve; ``model`` is the compiled network."""
    require_fitting(curve, network.n_in, network.input_shape, "the curve")
    if len(curve.legs) > 1 and isinstance(curve.legs[0], Segment):
        return _cut(network, model, curve, limit, report, threads)[0]
    return _counted(network, model, curve, limit, report, threads)


def strands_of(network: Network, model: Model, curve: Curve, limit: int | None, report: Report | None) -> Strands:
    """Find the strands of a curve; ``model`` is the compiled network.

    Raises
    ------
    ShapeMismatchError
        The curve does not lie in the network's input space.
    LimitReached, or what stopped the core
        ``partial`` is the number of pieces found so far.
    """
    require_fitting(curve, network.n_in, network.input_shape, "the curve")
    run, strands = _cut(network, model, curve, limit, report)
    run.require_complete(limit, run.regions)
    assert strands is not None
    return strands


def _counted(
    network: Network, model: Model, curve: Curve, limit: int | None, report: Report | None, threads: int
) -> Run[Curve]:
    """One leg after the other, and which pieces go on at joints."""
    stats: dict[str, int] = {}
    found = 0
    for index, leg in enumerate(curve.legs):
        share = watched(network, model, leg, share_of(report, index, len(curve.legs)))
        status, pieces, counters = counted_in(model, leg, _most(curve, index, limit, found), share, threads)
        found, stats = found + int(pieces), _added(stats, counters)
        if status != "finished":
            return Run(network, curve, _at_least(curve, index, found), stats, status)
    following = [*curve.legs[1:], *curve.legs[:1]] if curve.closed else curve.legs[1:]
    for before, after in zip(curve.legs, following, strict=False):
        assert isinstance(before, ArcLeg) and isinstance(after, ArcLeg)
        patterns = []
        for part, place in ((before.part_at(1), -1), (after.part_at(0), 0)):
            status, raw, counters = enumerated_in(model, part, checked_limit(None), report=None)
            stats = _added(stats, counters)
            if status != "finished":
                return Run(network, curve, _at_least(curve, index, found), stats, status)
            patterns.append(raw["packed_patterns"][place])
        found -= np.array_equal(*patterns)
    return _whole(network, curve, max(found, 1), stats, limit)


def _cut(
    network: Network, model: Model, curve: Curve, limit: int | None, report: Report | None, threads: int = 1
) -> tuple[Run[Curve], Strands | None]:
    """One leg after the other; no strands where the work was stopped."""
    legs: list[Integers] = []
    arrays: list[dict[str, Any]] = []
    stats: dict[str, int] = {}
    found = 0
    for index, leg in enumerate(curve.legs):
        share = watched(network, model, leg, share_of(report, index, len(curve.legs)))
        status, raw, counters = enumerated_in(model, leg, _most(curve, index, limit, found), share, threads)
        pieces = len(raw["packed_patterns"])
        found, stats = found + pieces, _added(stats, counters)
        if status != "finished":
            return Run(network, curve, _at_least(curve, index, found), stats, status), None
        arrays.append(raw)
        legs.append(np.full(pieces, index, dtype=np.int64))
    ends = [raw["vertices"][raw["cell_vertices"]].reshape(-1, 2, raw["vertices"].shape[1]) for raw in arrays]
    errors = [raw["vertex_errors"][raw["cell_vertices"]].reshape(-1, 2) for raw in arrays]
    strands = Strands(
        network,
        curve,
        np.concatenate(legs),
        np.concatenate(ends),
        np.concatenate(errors),
        np.concatenate([raw["packed_patterns"] for raw in arrays]),
        stats,
    )
    return _whole(network, curve, strands.count, stats, limit), strands


def _most(curve: Curve, index: int, limit: int | None, found: int) -> int:
    """How many pieces of a leg there may be at most, after those that were found on the legs before it."""
    return checked_limit(limit) - found + _joints(curve, index)


def _at_least(curve: Curve, index: int, found: int) -> int:
    """How many pieces there are for certain, of those found on the legs up to one: at each joint a piece may go on."""
    return max(found - _joints(curve, index), 0)


def _joints(curve: Curve, index: int) -> int:
    """How many joints there are between the legs up to one, with that at which a curve closes."""
    return index + curve.closed


def _added(stats: dict[str, int], counters: dict[str, int]) -> dict[str, int]:
    return {name: stats.get(name, 0) + counters[name] for name in counters}


def _whole(network: Network, curve: Curve, pieces: int, stats: dict[str, int], limit: int | None) -> Run[Curve]:
    return Run(network, curve, pieces, stats, "limit_exceeded" if pieces > checked_limit(limit) else "finished")
