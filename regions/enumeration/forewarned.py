# SPDX-License-Identifier: MIT
"""Who says that a count will take very long, before it does?

Work that has gone on for a second is looked at once: whether error bounds will prove its signs, or most will be left to
exact arithmetic (`regions/passes/foreseen.py`). If so, a warning says in which layer, and what to do. Work that ends
sooner is never looked at, so many short counts pay nothing.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from math import isfinite
from time import perf_counter

from regions.domains import Domain
from regions.domains.curves import ArcLeg
from regions.errors import PrecisionWarning
from regions.networks.graph import Graph
from regions.passes.foreseen import MOST_LIMBS, LostLayer, lost_layer
from regions.reporting import Report

__all__ = ["forewarned"]

SECONDS = 1.0


def forewarned(graph: Graph, part: Domain | ArcLeg, limbs: Callable[[], list[int]], report: Report | None) -> Report:
    """What the core calls while it works: ``report``, and once, after a second, what may have to be said.

    ``limbs`` tells to how many doubles rows of each hidden layer are kept.
    """
    start, looked = perf_counter(), False

    def tell(share: float, found: int) -> None:
        nonlocal looked
        if not looked and perf_counter() - start >= SECONDS:
            looked = True
            lost = lost_layer(graph, part, limbs())
            if lost is not None:
                warnings.warn(_said(lost, len(graph.hidden)), PrecisionWarning, stacklevel=_callers_level())
        if report is not None:
            report(share, found)

    return tell


def _said(lost: LostLayer, layers: int) -> str:
    """What a user is told."""
    bits = f"is 2^{lost.missing:.1f} times" if isfinite(lost.missing) else "overflows, or values do, beside"
    doubles = "one double" if lost.limbs == 1 else f"{lost.limbs} doubles"
    advice = (
        "limit=.. stops after a number of regions, and a smaller domain has fewer of them; weights far from 1 in size "
        "can be brought near it, layer by layer, by powers of two"
    )
    if lost.node:
        advice = f"net.until({lost.node - 1}) ends below this layer, and is quick; {advice}"
    return (
        f"from {lost.name!r} on (node {lost.node}, of {layers} hidden ones) error bounds will prove next to no sign: "
        f"at the centre of the domain the bound {bits} what values vary by over the domain, with rows kept to "
        f"{doubles}, of at most {MOST_LIMBS}. Signs are then decided in long integers, exactly, and that may take "
        f"hours. {advice}"
    )


def _callers_level() -> int:
    """How many frames up from where it warns somebody called this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "regions":
        level, frame = level + 1, frame.f_back
    return level
