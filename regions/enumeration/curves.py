# SPDX-License-Identifier: MIT
"""Where does a curve meet the kinks of a network?

The core cuts each leg of the curve where a unit changes its piece. The pieces of a single leg can be counted without
being stored. For several legs, the patterns on both sides of each joint must be known. On arcs, computing breakpoints
costs several times as much as counting them. Arcs are therefore counted one by one, and the pattern at a joint is found
on a short part of the arc next to it.
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
from regions.text.progress import Report, share_of

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
    LimitReached, or the exception that stopped the core
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
    """Count the pieces of each leg, and subtract those that continue across a joint."""
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
    """Find the strands of each leg; return None for them if the work was stopped."""
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
    """Return the largest number of pieces that a leg may have, given the number found on earlier legs."""
    return checked_limit(limit) - found + _joints(curve, index)


def _at_least(curve: Curve, index: int, found: int) -> int:
    """Return a lower bound on the pieces of the legs up to one: at each joint, one piece may continue."""
    return max(found - _joints(curve, index), 0)


def _joints(curve: Curve, index: int) -> int:
    """Return the number of joints between the legs up to one, including the joint that closes a curve."""
    return index + curve.closed


def _added(stats: dict[str, int], counters: dict[str, int]) -> dict[str, int]:
    return {name: stats.get(name, 0) + counters[name] for name in counters}


def _whole(network: Network, curve: Curve, pieces: int, stats: dict[str, int], limit: int | None) -> Run[Curve]:
    return Run(network, curve, pieces, stats, "limit_exceeded" if pieces > checked_limit(limit) else "finished")
