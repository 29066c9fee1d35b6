# SPDX-License-Identifier: MIT
"""On which side of every kink do many points lie, as far as floating point can prove?

A forward pass in float64 together with a bound on its error, carried from layer to layer. A sign counts as
known when the value is further from the breakpoint than the bound. A point all of whose signs are known is
*decided*, and its pattern is right; `exact_pattern` settles the others.

The bound. With u = 2^-53 a computed inner product of n terms, summed in any order, with or without fused
multiply-add, is within g(n) * sum |x_i y_i| of the true one, g(n) = n u / (1 - n u) (Higham, Accuracy and
Stability of Numerical Algorithms, section 3.1). Inputs known to within e_i add sum |y_i| e_i. The bounds are
themselves computed in floating point, from non-negative terms only, so they are too small by a relative g(n)
at most: `rounding_unit(n)`, four times as large as g(n + 8), leaves room for it. Underflow adds at most 2^-1074 per
operation: TINY is far more. What overflows on the way has an infinite bound, and is unknown.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Bits, Floats
from regions.domains import Domain
from regions.networks.network import Network

__all__ = ["TINY", "CertifiedNetwork", "rounding_unit"]

TINY = 1e-300


def rounding_unit(terms: int) -> float:
    """Factor on the sum of magnitudes that bounds the error of an inner product of this many terms, and of
    its bound."""
    return 4 * (terms + 8) * 2.0**-53


class CertifiedNetwork:
    """The hidden layers of a network on a domain, in floating point with error bounds.

    Parameters
    ----------
    network : Network
    domain : Domain
        Only its chart is used.
    always_off, always_on : bool [kinks]
        Kinks known to have this bit all over the domain: where their sign is not known, their side still is.
    """

    def __init__(self, network: Network, domain: Domain, always_off: Bits, always_on: Bits) -> None:
        self.layers = network.layers[:-1]
        self.known_off, self.known_on = always_off, always_on
        if not self.layers:
            return
        first = self.layers[0]
        chart = np.vstack([domain.origin, domain.directions]).T
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):  # what overflows is not decided
            self.rows = first.weights @ chart  # [n_1, 1 + d]
            magnitudes = np.abs(first.weights) @ np.abs(chart)
            self.row_errors = rounding_unit(network.n_in) * magnitudes + TINY
        self.magnitudes = [np.abs(layer.weights) for layer in self.layers[1:]]

    def patterns(self, points: Floats) -> tuple[Bits, Bits]:
        """Patterns of chart points [m, d].

        Returns
        -------
        bits : bool [m, kinks]
            Activation patterns, meaningless where not decided.
        decided : bool [m]
            Whether all bits of a point are proven.
        """
        decided = np.ones(len(points), dtype=bool)
        bits = np.zeros((len(points), len(self.known_off)), dtype=bool)
        if not self.layers:
            return bits, decided
        start = 0
        silent = np.zeros((len(points), 0), dtype=bool)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            h, errors = self.first_preactivations(points)
            for index, layer in enumerate(self.layers):
                count = layer.activation.breakpoints.size
                stop = start + len(layer.biases) * count
                distance = (h[:, :, np.newaxis] - layer.activation.breakpoints).reshape(len(points), stop - start)
                # The subtraction is correctly rounded: its sign is right and its error below u * |distance|,
                # for which the bound has room as well.
                above = np.abs(distance) > np.repeat(errors, count, axis=1)
                known = above | self.known_on[start:stop] | self.known_off[start:stop]
                on = np.where(above, distance > 0, self.known_on[start:stop])
                bits[:, start:stop] = on
                if index > 0:
                    self._know_silent_units(index, silent, known)
                decided &= known.all(axis=1)
                start = stop
                if index + 1 < len(self.layers):
                    pieces = on.reshape(len(points), len(layer.biases), count).sum(axis=2, dtype=np.intp)
                    slopes = layer.activation.slopes_of(pieces)
                    intercepts = layer.activation.intercepts_of(pieces)
                    silent = (slopes == 0) & (intercepts == 0)
                    h, errors = self.next_preactivations(index, h, errors, slopes, intercepts)
        return bits, decided

    def first_preactivations(self, points: Floats) -> tuple[Floats, Floats]:
        """Pre-activations of the first layer at chart points [m, d], and bounds on their errors: [m, n_1] each."""
        biases = self.layers[0].biases
        h = self.rows[:, 0] + points @ self.rows[:, 1:].T + biases
        size = np.abs(points)
        sums = np.abs(self.rows[:, 0]) + size @ np.abs(self.rows[:, 1:]).T + np.abs(biases)
        errors = self.row_errors[:, 0] + size @ self.row_errors[:, 1:].T
        unit = rounding_unit(points.shape[1] + 2)
        return h, (errors + unit * sums) * (1 + unit) + TINY

    def _know_silent_units(self, index: int, silent: Bits, known: Bits) -> None:
        """Mark, in known [m, kinks of the layer], what is exactly zero all around the point, not just there.

        A unit that reads only units which are off, strictly, keeps the value of its bias next to the point.
        If that is the breakpoint itself, the unit is off in every region there. In sparse networks without
        biases this is common, and distances can not tell it.
        """
        rows = np.flatnonzero(~known.all(axis=1))
        if rows.size == 0:
            return
        layer = self.layers[index]
        reads_nothing = (~silent[rows]).astype(np.float32) @ (layer.weights != 0).astype(np.float32).T == 0
        at_breakpoint = layer.biases[:, np.newaxis] == layer.activation.breakpoints  # [unit, breakpoint]
        off = reads_nothing[:, :, np.newaxis] & at_breakpoint
        known[rows] |= off.reshape(len(rows), -1)

    def next_preactivations(
        self, index: int, h: Floats, errors: Floats, slopes: Floats, intercepts: Floats
    ) -> tuple[Floats, Floats]:
        """Those of the layer after ``index``, from that layer's, with slopes and intercepts of its units' pieces."""
        layer = self.layers[index + 1]
        products = slopes * h
        unit = rounding_unit(len(slopes.T) + 1)
        # Errors that the values carry and errors that the inner products add both go through the weights'
        # magnitudes: one product for both. A piece of slope 0 carries none, it is its intercept.
        sources = np.abs(slopes) * errors + 2 * unit * (np.abs(products) + np.abs(intercepts))
        errors = (sources @ self.magnitudes[index].T + unit * np.abs(layer.biases)) * (1 + unit) + TINY
        values = (products + intercepts) @ layer.weights.T + layer.biases
        # One term can overflow while the true value, and the bound, are doubles.
        return values, np.where(np.isfinite(values), errors, np.inf)
