# SPDX-License-Identifier: MIT
"""Between which numbers are the distances from points to all kinks, as far as floating point can prove?

A forward pass in float64 that carries gradients along, and with values and gradients bounds on their errors. For values
they are those of `regions/passes/certified_pattern.py`. A gradient is a sum of gradients of the layer below times
weights, and its error a vector whose length is at most the sum of their errors' lengths, plus a rounding of each term:
so one number per unit bounds it, and one more product with the weights' magnitudes carries it on.
A unit is *live* where its gradient can be other than 0: where it reads, with weights that are not 0, a live unit that
is not on a constant piece. The others are constant around the point, exactly. A unit that reads only zeros is its
bias, exactly.
When the first layer has fewer units than there are inputs, gradients lie in the span of its weights, and are carried in
coordinates Q there, of as many numbers as there are units. Q is orthonormal up to rounding, and how far it is from that
is measured, and proven, once.
Invariant: all bounds hold with under- and overflow. What is no finite number comes out as unknown: an interval from 0
to infinity, a point that is not decided.
Cost: a product with the weights for each point, and each input or unit of the first layer, whichever are fewer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Bits, Floats
from regions.networks.layer import Layer
from regions.networks.network import Network
from regions.passes.certified_pattern import TINY, rounding_unit

__all__ = ["Coordinates", "KinkIntervals", "kink_intervals"]

# The root of what is lost when squares underflow, for any number of them that fits into memory.
ROOT_TINY = 1e-150
LARGEST = float(np.finfo(np.float64).max)


class KinkIntervals(NamedTuple):
    """Distances from m points to the hyperplanes of all kinks, in the region of each point."""

    decided: Bits  # [m]: the signs of all kinks are proven; without that, nothing else is
    above: Bits  # [m, kinks]: whether the point is above the breakpoint
    live: Bits  # [m, kinks]: whether there is a hyperplane, as far as is known
    distances: Floats  # [m, kinks], rounded
    lowest: Floats  # [m, kinks]: proven
    highest: Floats  # [m, kinks]: proven, infinite if the gradient can be 0
    steps: Floats  # [m, n_in]: to the nearest point on the hyperplane of the first least `highest`


class Coordinates:
    """In which coordinates the gradients of a network are carried.

    Parameters
    ----------
    weights : float64 [n_1, n_in]
        Of the first layer.

    Attributes
    ----------
    basis : float64 [n_in, r] or None
        Coordinates times the basis are vectors of input space; None for the input's own.
    gradients : float64 [r, n_1]
        The gradients of the first layer.
    errors : float64 [n_1]
        Bounds on the lengths of their errors.
    stretch : float
        The length of a vector of input space is, relative to that of its coordinates, within this of 1.
    """

    def __init__(self, weights: Floats) -> None:
        units, n_in = weights.shape
        self.basis: Floats | None = None
        self.gradients, self.errors, self.stretch = weights.T, np.zeros(units), 0.0
        if units < n_in:
            unit = rounding_unit(n_in)
            with np.errstate(all="ignore"):
                self.basis, self.gradients = np.linalg.qr(weights.T)
                sizes = np.abs(self.basis)
                residual = np.abs(weights.T - self.basis @ self.gradients)
                residual += unit * (np.abs(weights.T) + sizes @ np.abs(self.gradients)) + TINY
                self.errors = np.linalg.norm(residual, axis=0) * (1.0 + unit) + ROOT_TINY
                # Singular values of the basis are within this of 1, since their squares are.
                defect = np.abs(self.basis.T @ self.basis - np.eye(units)) + unit * (sizes.T @ sizes) + TINY
                stretch = float(np.linalg.norm(defect)) * (1.0 + unit) + ROOT_TINY
                self.stretch = stretch if stretch < 0.5 else np.nan  # for nothing is known then

    def to_input(self, vectors: Floats) -> Floats:
        """Vectors of input space float64 [m, n_in] from their coordinates [m, r], rounded."""
        if self.basis is None:
            return vectors
        with np.errstate(all="ignore"):
            return vectors @ self.basis.T


class _Inputs(NamedTuple):
    """What a layer reads at m points."""

    values: Floats  # [m, units]
    errors: Floats
    live: Bits
    gradients: Floats | None  # [m, r, units] in coordinates; None for the inputs of the network themselves
    gradient_errors: Floats  # [m, units]
    lengths: Floats  # [m, units]: upper bounds on the lengths of the gradients


class _Units(NamedTuple):
    """The pre-activations of a layer at m points."""

    values: Floats
    errors: Floats
    live: Bits
    gradients: Floats
    gradient_errors: Floats
    lengths: Floats  # of the gradients as computed, rounded
    shortest: Floats  # bounds on the lengths of the true ones
    longest: Floats


def kink_intervals(
    network: Network, coordinates: Coordinates, points: Floats, signs: NDArray[np.int8] | None = None
) -> KinkIntervals:
    """Bound the distances to all kinks.

    Parameters
    ----------
    network : Network
    coordinates : Coordinates
        Those of its first layer.
    points : float64 [m, n_in]
    signs : int8 [kinks], optional
        The true sign of every kink, for a single point: then it is decided.
    """
    count = len(points)
    shape = (count, network.kinks)
    above, live = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    distances, lowest, highest = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    decided, least = np.ones(count, dtype=bool), np.full(count, np.inf)
    steps = np.zeros((count, len(coordinates.gradients)))
    nothing = np.zeros_like(points)
    inputs = _Inputs(points, nothing, np.ones(points.shape, dtype=bool), None, nothing, nothing)
    start, rows = 0, np.arange(count)
    with np.errstate(all="ignore"):
        for layer in network.layers[:-1]:
            units, kinks = _preactivations(layer, inputs, coordinates), layer.activation.breakpoints.size
            stop = start + len(layer.biases) * kinks
            part = slice(start, stop)
            offsets = (units.values[:, :, np.newaxis] - layer.activation.breakpoints).reshape(count, stop - start)
            sizes, errors = np.abs(offsets), np.repeat(units.errors, kinks, axis=1)
            on, known = offsets > 0.0, (sizes > errors) | (errors == 0.0)
            if signs is not None:
                on, known = np.broadcast_to(signs[part] > 0, on.shape), np.ones_like(known)
                sizes, errors = (np.where(signs[part] == 0, 0.0, each) for each in (sizes, errors))
            decided &= known.all(axis=1)
            lengths, shortest, longest = (
                np.repeat(each, kinks, axis=1) for each in (units.lengths, units.shortest, units.longest)
            )
            above[:, part], live[:, part] = on, np.repeat(units.live, kinks, axis=1)
            distances[:, part] = sizes / lengths
            unit = rounding_unit(4)  # for the roundings of the next two lines
            low = np.maximum(sizes - errors, 0.0) / longest * (1.0 - unit) - TINY
            high = (sizes + errors) / shortest * (1.0 + unit) + TINY
            lowest[:, part] = np.where(low > 0.0, np.minimum(low, LARGEST), 0.0)  # 0 for nan
            highest[:, part] = np.where(live[:, part] & (shortest > 0.0) & (high >= 0.0), high, np.inf)
            if kinks:
                nearest = highest[:, part].argmin(axis=1)
                better = np.flatnonzero(highest[rows, start + nearest] < least)
                kink = nearest[better]
                least[better] = highest[better, start + kink]
                along = units.gradients[better, :, kink // kinks] / lengths[better, kink][:, np.newaxis]
                steps[better] = -(offsets[better, kink] / lengths[better, kink])[:, np.newaxis] * along
            inputs = _activations(layer, units, on)
            start = stop
    return KinkIntervals(decided, above, live, distances, lowest, highest, coordinates.to_input(steps))


def _preactivations(layer: Layer, inputs: _Inputs, coordinates: Coordinates) -> _Units:
    weights, magnitudes, biases = layer.weights.T, np.abs(layer.weights).T, layer.biases
    unit, wired = rounding_unit(len(weights) + 1), (weights != 0.0).astype(np.float32)
    values = inputs.values @ weights + biases
    sources = inputs.errors + unit * np.abs(inputs.values)
    errors = (sources @ magnitudes + unit * np.abs(biases)) * (1.0 + unit) + TINY
    # One term can overflow while the true value, and the bound, are doubles.
    errors = np.where(np.isfinite(values), errors, np.inf)
    reads = ((inputs.values != 0.0) | (inputs.errors != 0.0)).astype(np.float32) @ wired > 0.0
    live = inputs.live.astype(np.float32) @ wired > 0.0
    count, size = len(values), len(coordinates.gradients)
    if inputs.gradients is None:
        gradients = np.broadcast_to(coordinates.gradients, (count, size, len(biases)))
        gradient_errors = np.broadcast_to(coordinates.errors, values.shape)
    else:
        gradients = (inputs.gradients.reshape(count * size, -1) @ weights).reshape(count, size, len(biases))
        gradient_sources = inputs.gradient_errors + unit * inputs.lengths
        gradient_errors = (gradient_sources @ magnitudes) * (1.0 + unit) + TINY
    lengths = np.sqrt(np.einsum("mij,mij->mj", gradients, gradients))
    slack = (rounding_unit(size) + coordinates.stretch) * lengths + gradient_errors + ROOT_TINY
    finite = np.isfinite(lengths) & np.isfinite(slack)
    shortest = np.where(finite, np.maximum(lengths - slack, 0.0), 0.0)
    longest = np.where(finite, lengths + slack, np.inf)
    errors = np.where(reads, errors, 0.0)
    return _Units(values, errors, live, gradients, gradient_errors, lengths, shortest, longest)


def _activations(layer: Layer, units: _Units, on: Bits) -> _Inputs:
    """Apply the pieces that the kinks, on [m, kinks], choose."""
    pieces = on.reshape(*units.values.shape, layer.activation.breakpoints.size).sum(axis=2, dtype=np.intp)
    slopes, intercepts = layer.activation.slopes_of(pieces), layer.activation.intercepts_of(pieces)
    unit, constant, sizes = rounding_unit(2), slopes == 0.0, np.abs(slopes)
    products = slopes * units.values
    errors = sizes * units.errors + unit * (np.abs(products) + np.abs(intercepts)) + TINY
    gradient_errors = sizes * (units.gradient_errors + unit * units.longest) + TINY
    return _Inputs(
        np.where(constant, intercepts, products + intercepts),
        np.where(constant, 0.0, errors),
        units.live & ~constant,
        units.gradients * slopes[:, np.newaxis, :],
        np.where(constant, 0.0, gradient_errors),
        np.where(constant, 0.0, sizes * units.longest * (1.0 + unit)),
    )
