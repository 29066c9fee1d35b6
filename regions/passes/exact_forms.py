# SPDX-License-Identifier: MIT
"""Which affine form of the chart point is zero on a kink, exactly, inside a region?

Inside a region every unit keeps to one piece of its activation, so pre-activations are affine forms of the chart
point. They are computed as `exact_pattern.py` computes values at a point, in integers with one exponent per array:
nothing is rounded.
Invariant: what is kept of a layer was computed under the pieces that all layers below it are on now.
Cost: d + 1 products of long integers for each active unit below; a layer is computed in full where another one reads
it. Regions that follow each other in a partition mostly differ in late layers only, so the early layers of the one
serve for the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Bits, Indices
from regions.domains import Domain
from regions.networks.network import Network
from regions.passes.exact_pattern import Dyadic, ExactNetwork, exactly

__all__ = ["ExactForms", "Form"]

# (a0, a1) or (a0, a1, a2): the form a0 + a1 x + a2 y, times some positive number.
Form = tuple[int, ...]


class _Outputs(NamedTuple):
    """What a layer gives on a region: the units that are not constantly zero, and their forms [units, 1 + d]."""

    units: Indices
    forms: Dyadic


class ExactForms:
    """The kinks of a network on a domain as exact forms, in one region after the other.

    Parameters
    ----------
    network : Network
    domain : Domain
        Only its chart is used.
    """

    def __init__(self, network: Network, domain: Domain) -> None:
        self.network = network
        self.exact = ExactNetwork(network, domain)
        self.bits = np.zeros(network.kinks, dtype=np.bool_)
        self.outputs: list[_Outputs | None] = [None] * len(self.exact.layers)
        self.rows: list[Dyadic | None] = [None] * len(self.exact.layers)
        self.kinks: list[dict[int, Form]] = [{} for _ in self.exact.layers]
        self.layer_of: list[int] = network.kink_layers.tolist()
        self.first_kink = np.searchsorted(network.kink_layers, np.arange(len(self.exact.layers) + 1)).tolist()

    def enter(self, pattern: Bits) -> None:
        """Go to the region with this pattern, bool [kinks]."""
        changed = np.flatnonzero(self.bits != pattern)
        if changed.size:
            lowest = self.layer_of[int(changed[0])]
            self.bits = pattern
            self.outputs[lowest:] = [None] * len(self.outputs[lowest:])
            self.rows[lowest + 1 :] = [None] * len(self.rows[lowest + 1 :])
            for forms in self.kinks[lowest + 1 :]:
                forms.clear()

    def kink(self, kink: int) -> Form:
        """The form that is zero on a kink: pre-activation minus breakpoint."""
        layer = self.layer_of[kink]
        known = self.kinks[layer].get(kink)
        if known is not None:
            return known
        rows = self.preactivations(layer, self.network.kink_units[kink : kink + 1])
        shifted = _plus_constants(rows, exactly(-self.network.kink_values[kink : kink + 1]))
        form: Form = tuple(shifted.integers[0].tolist())
        self.kinks[layer][kink] = form
        return form

    def preactivations(self, layer: int, units: NDArray[np.integer]) -> Dyadic:
        """Forms [units, 1 + d] of some units of a layer, before the activation."""
        if layer == 0:
            rows = self.exact.rows.at(units)
        else:
            below = self._outputs(layer - 1)
            rows = self.exact.weights[layer - 1].at(np.ix_(units, below.units)).matrix_times(below.forms)
        return _plus_constants(rows, self.exact.biases[layer].at(units))

    def _outputs(self, layer: int) -> _Outputs:
        known = self.outputs[layer]
        if known is not None:
            return known
        activation, biases = self.exact.layers[layer].activation, self.exact.layers[layer].biases
        bits = self.bits[self.first_kink[layer] : self.first_kink[layer + 1]]
        pieces = bits.reshape(len(biases), activation.breakpoints.size).sum(axis=1)
        slopes, intercepts = activation.slopes_of(pieces), activation.intercepts_of(pieces)
        units = np.flatnonzero((slopes != 0) | (intercepts != 0))
        rows = self.rows[layer]
        if rows is None:
            rows = self.rows[layer] = self.preactivations(layer, np.arange(len(biases)))
        forms = exactly(slopes[units, np.newaxis]).times(rows.at(units))
        self.outputs[layer] = result = _Outputs(units, _plus_constants(forms, exactly(intercepts[units])))
        return result


def _plus_constants(forms: Dyadic, constants: Dyadic) -> Dyadic:
    """Add a number [m] to the constant term of each of the forms [m, 1 + d]."""
    lowest = min(forms.exponent, constants.exponent)
    integers = forms.over(lowest)
    integers[:, 0] += constants.over(lowest)
    return Dyadic(integers, lowest)
