# SPDX-License-Identifier: MIT
"""Where does a curve meet the kinks of a network?

Each leg of the curve is handed to the core, which cuts it where a unit changes its piece. A single leg can be counted
without being kept; of several the patterns at the joints must be known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regions.arithmetic.types import Integers
from regions.cells.strands import Strands
from regions.domains.curves import Curve
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
    if len(curve.legs) > 1:
        return _cut(network, model, curve, limit, report, threads)[0]
    (leg,) = curve.legs
    report = watched(network, model, leg, report)
    status, found, stats = counted_in(model, leg, checked_limit(limit), report, threads)
    return Run(network, curve, int(found), stats, status)


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


def _cut(
    network: Network, model: Model, curve: Curve, limit: int | None, report: Report | None, threads: int = 1
) -> tuple[Run[Curve], Strands | None]:
    """One leg after the other; no strands where the work was stopped."""
    legs: list[Integers] = []
    arrays: list[dict[str, Any]] = []
    stats: dict[str, int] = {}
    found = 0
    for index, leg in enumerate(curve.legs):
        most = checked_limit(limit) - found + (index > 0) + curve.closed
        share = watched(network, model, leg, share_of(report, index, len(curve.legs)))
        status, raw, counters = enumerated_in(model, leg, most, share, threads)
        pieces = len(raw["packed_patterns"])
        found += pieces - (index > 0)  # at a joint, and where a curve closes, a piece may go on
        stats = {name: stats.get(name, 0) + counters[name] for name in counters}
        if status != "finished":
            return Run(network, curve, found, stats, status), None
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
    status = "limit_exceeded" if strands.count > checked_limit(limit) else "finished"
    return Run(network, curve, strands.count, stats, status), strands
