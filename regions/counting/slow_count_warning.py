# SPDX-License-Identifier: MIT
"""When is a user warned that a count will take very long?

After a second of work, one check predicts whether error bounds will prove the signs or exact arithmetic must decide
most of them (`regions/passes/precision_forecast.py`). In the second case a warning names the layer and says what to do.
Work that ends sooner is not checked, so short counts pay nothing.
"""

from __future__ import annotations

import sys
import warnings
from math import isfinite

from regions.domains import Domain
from regions.domains.curves import ArcLeg
from regions.errors import PrecisionWarning
from regions.networks.graph import Graph
from regions.passes.precision_forecast import MOST_LIMBS, UnprovableLayer, unprovable_layer

__all__ = ["warn_if_slow"]


def warn_if_slow(graph: Graph, part: Domain | ArcLeg, limbs: list[int]) -> None:
    """Warn if exact arithmetic must decide most signs; ``limbs`` are the doubles per entry in each hidden layer."""
    layer = unprovable_layer(graph, part, limbs)
    if layer is not None:
        warnings.warn(_warning_text(layer, len(graph.hidden)), PrecisionWarning, stacklevel=_callers_level())


def _warning_text(layer: UnprovableLayer, layers: int) -> str:
    """Return the text of the warning."""
    bound = "the error bound or a value overflows"
    if isfinite(layer.missing):
        bound = f"the error bound is 2^{layer.missing:.1f} times as large as the variation of the values"
    doubles = "1 double" if layer.limbs == 1 else f"{layer.limbs} doubles"
    advice = (
        "limit=.. stops after a number of regions, and a smaller domain has fewer of them; weights far from 1 in size "
        "can be brought near it, layer by layer, by powers of two"
    )
    if layer.node:
        advice = f"net.until({layer.node - 1}) ends below this layer, and is quick; {advice}"
    return (
        f"from {layer.name!r} on (node {layer.node}, of {layers} hidden ones) error bounds will prove next to no sign: "
        f"at the centre of the domain {bound}, with {doubles} for each number, of at most {MOST_LIMBS}. Signs "
        f"are then decided exactly in long integers, and that may take hours. {advice}"
    )


def _callers_level() -> int:
    """Return how many frames above the warning the call into this package is."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "regions":
        level, frame = level + 1, frame.f_back
    return level
