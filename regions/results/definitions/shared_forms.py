# SPDX-License-Identifier: MIT
"""Which regions share the forms of kinks?

The form of a kink depends on the pieces of the units that its own unit reads, directly or indirectly. Regions with the
same pieces of these share the form, so it is computed once. If units read few others, as in networks made by hand, a
few hundred forms serve all the facets.
Cost: microseconds for a known form.
"""

from __future__ import annotations

import numpy as np

from regions.domains import Domain
from regions.ground.arithmetic.types import Bits
from regions.networks.graph import Graph
from regions.passes.exact import ExactForms, Form
from regions.passes.open_paths import kinks_read

__all__ = ["SharedForms"]


class SharedForms(ExactForms):
    """The kinks of a network on a domain as exact forms, each of which is cached.

    Parameters
    ----------
    graph : Graph
    domain : Domain
        Only its chart is used.
    """

    def __init__(self, graph: Graph, domain: Domain) -> None:
        super().__init__(graph, domain)
        self.pattern = self.bits
        self.read: dict[int, Bits] = {}
        self.shared: dict[tuple[int, bytes], Form] = {}

    def enter(self, pattern: Bits) -> None:
        """Enter the region with this pattern, bool [kinks], as soon as an unknown form is needed there."""
        self.pattern = pattern

    def kink(self, kink: int) -> Form:
        """Return the form that is zero on a kink: pre-activation minus breakpoint."""
        if kink not in self.read:
            self.read[kink] = kinks_read(self.graph, kink)
        key = kink, np.packbits(self.pattern & self.read[kink]).tobytes()
        if key not in self.shared:
            super().enter(self.pattern)
            self.shared[key] = super().kink(kink)
        return self.shared[key]
