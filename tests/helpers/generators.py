# SPDX-License-Identifier: MIT
"""On which networks and domains is the core tested?

`FAMILIES` maps a name to a function ``(rng, dimension) -> (Network, Domain)``. They are small (1 to 4 inputs,
mostly up to 6 units in up to 3 layers), so that the reference takes milliseconds, and each is degenerate in
its own way. `draw` makes one from a family, a dimension and a seed. The families are in
`generators_general.py` and `generators_degenerate.py`; deep networks in `generators_deep.py`, networks that
are not chains in `generators_graphs.py`, max units in `generators_maxima.py`, units with several kinks in
`generators_clipped.py`, and common parts in `generator_parts.py`.
"""

from __future__ import annotations

import numpy as np

import generators_degenerate  # noqa: F401 - importing registers the families
import generators_general  # noqa: F401
from generator_parts import FAMILIES
from generators_clipped import CLIPPED_FAMILIES
from generators_deep import DEEP_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from regions.domains import Domain
from regions.networks.network import Network

__all__ = ["FAMILIES", "draw"]


def draw(family: str, dimension: int, seed: int) -> tuple[Network, Domain]:
    """Return a network and domain of a family; the same for the same arguments."""
    # The name is part of the seed, so a new family does not change the draws of others.
    return (FAMILIES | DEEP_FAMILIES | GRAPH_FAMILIES | MAX_FAMILIES | CLIPPED_FAMILIES)[family](
        np.random.default_rng([seed, dimension, *family.encode()]), dimension
    )
