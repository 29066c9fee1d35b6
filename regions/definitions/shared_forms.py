# SPDX-License-Identifier: MIT
"""Which forms of kinks do regions share?

The form of a kink depends on the pieces of those units that its own unit reads, directly or through others. Regions
that agree in these share it, so it is computed once: where units read few others, as in networks that are made by hand,
a few hundred forms serve all the facets.
Cost: microseconds for a form that is known.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Bits
from regions.domains import Domain
from regions.networks.network import Network
from regions.passes.exact_forms import ExactForms, Form

__all__ = ["SharedForms"]


class SharedForms(ExactForms):
    """The kinks of a network on a domain as exact forms, each of which is kept.

    Parameters
    ----------
    network : Network
    domain : Domain
        Only its chart is used.
    """

    def __init__(self, network: Network, domain: Domain) -> None:
        super().__init__(network, domain)
        self.pattern = self.bits
        self.read: dict[int, Bits] = {}
        self.shared: dict[tuple[int, bytes], Form] = {}

    def enter(self, pattern: Bits) -> None:
        """Go to the region with this pattern, bool [kinks], once a form is asked for that is not known there."""
        self.pattern = pattern

    def kink(self, kink: int) -> Form:
        """The form that is zero on a kink: pre-activation minus breakpoint."""
        if kink not in self.read:
            self.read[kink] = self._kinks_read(kink)
        key = kink, np.packbits(self.pattern & self.read[kink]).tobytes()
        if key not in self.shared:
            super().enter(self.pattern)
            self.shared[key] = super().kink(kink)
        return self.shared[key]

    def _kinks_read(self, kink: int) -> Bits:
        """The kinks of all units that the unit of a kink reads, directly or through others."""
        result = np.zeros(self.network.kinks, dtype=np.bool_)
        layers = self.network.layers
        units = np.array([self.network.kink_units[kink]])
        for layer in range(self.layer_of[kink], 0, -1):
            reads = (layers[layer].weights[units] != 0.0).any(axis=0)
            bits = np.repeat(reads, layers[layer - 1].activation.breakpoints.size)
            result[self.first_kink[layer - 1] : self.first_kink[layer]] = bits
            units = np.flatnonzero(reads)
        return result
