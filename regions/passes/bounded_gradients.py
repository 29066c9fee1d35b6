# SPDX-License-Identifier: MIT
"""What are the pre-activations and their gradients around points of input space, up to proven bounds?

This is a forward pass in float64 that computes values, gradients, and bounds on the errors of both; the bounds on
values are as in `bounded.py`. A gradient is a sum of gradients of the nodes below times weights. Its error is a vector,
at most as long as the sum of their errors' lengths plus a rounding of each term. One number per unit therefore bounds
it, and one more product with the weights' magnitudes passes it on. A unit is *live* if its gradient can be nonzero: it
reads, with nonzero weights, a live unit that is not on a constant piece. The other units are constant around the point,
exactly. A unit that reads only zeros equals its bias, exactly. If the first layer has fewer units than there are
inputs, gradients lie in the span of its weights, and are stored in coordinates Q, as many numbers as there are units. Q
is orthonormal up to rounding, and a bound on its defect is computed once.
Invariant: all bounds hold with underflow and overflow.
Cost: a product with the weights for each point, and each input or unit of the first layer, whichever are fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from regions.ground.arithmetic.roundoff import TINY
from regions.ground.arithmetic.types import Bits, Floats, Indices
from regions.networks.graph import Graph, Node, Read
from regions.passes.bounded import magnitudes, rounding_unit
from regions.passes.open_paths import wired

__all__ = ["BoundedGradients", "Coordinates"]

# The square root of the underflow in a sum of squares, of as many terms as fit into memory.
ROOT_TINY = 1e-150


class Coordinates:
    """The coordinates in which the gradients of a network are stored.

    Parameters
    ----------
    graph : Graph

    Attributes
    ----------
    basis : float64 [n_in, r] or None
        Coordinates times the basis are vectors of input space; None if gradients are stored as vectors of input space.
    gradients : float64 [r, n_1]
        The gradients of the units that read the inputs.
    errors : float64 [n_1]
        Bounds on the lengths of their errors.
    places : dict of slice
        For each read of the inputs, the position of its units among these.
    stretch : float
        The length of a vector and the length of its coordinates differ by this factor relative to 1, at most.
    """

    def __init__(self, graph: Graph) -> None:
        reads = [read for node in graph.nodes for read in node.reads if read.node < 0]
        ends = np.cumsum([0, *(len(read.operator.weights) for read in reads)]).tolist()
        self.places = {read: slice(*pair) for read, pair in zip(reads, pairwise(ends), strict=True)}
        weights = np.concatenate([read.operator.weights for read in reads])
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
                # The singular values of the basis are within this of 1, because their squares are.
                defect = np.abs(self.basis.T @ self.basis - np.eye(units)) + unit * (sizes.T @ sizes) + TINY
                stretch = float(np.linalg.norm(defect)) * (1.0 + unit) + ROOT_TINY
                self.stretch = stretch if stretch < 0.5 else np.nan  # beyond that there is no bound

    def to_input(self, vectors: Floats) -> Floats:
        """Return vectors of input space float64 [m, n_in] from their coordinates [m, r], rounded."""
        if self.basis is None:
            return vectors
        with np.errstate(all="ignore"):
            return vectors @ self.basis.T


class Given(NamedTuple):
    """Outputs of a node at m points."""

    values: Floats  # [m, units]
    errors: Floats
    live: Bits
    gradients: Floats | None  # [m, r, units] in coordinates; None for the inputs of the network themselves
    gradient_errors: Floats  # [m, units]
    lengths: Floats  # [m, units]: upper bounds on the lengths of the gradients


class Units(NamedTuple):
    """The pre-activations of a node at m points."""

    values: Floats
    errors: Floats
    live: Bits
    gradients: Floats
    gradient_errors: Floats
    lengths: Floats  # of the computed, rounded gradients
    shortest: Floats  # lower bounds on the lengths of the true gradients
    longest: Floats


class BoundedGradients:
    """Values with gradients, at points of input space.

    Parameters
    ----------
    coordinates : Coordinates
        The coordinates of the gradients of the graph.
    """

    def __init__(self, coordinates: Coordinates) -> None:
        self.coordinates = coordinates

    @staticmethod
    def inputs(points: Floats) -> Given:
        """Return the values of points float64 [m, n_in]."""
        nothing = np.zeros_like(points)
        return Given(points, nothing, np.ones(points.shape, dtype=bool), None, nothing, nothing)

    def preactivations(self, node: Node, sources: Sequence[Given]) -> Units:
        unit, reading = rounding_unit(node.terms), zip(node.reads, sources, strict=True)
        first, *others = [self._term(read, source, unit) for read, source in reading]
        for more in others:
            first = tuple(a + b for a, b in zip(first, more, strict=True))  # type: ignore[assignment, operator]
        values, errors, reads, live, gradients, gradient_errors = first
        values = values + node.biases
        errors = (errors + unit * np.abs(node.biases)) * (1.0 + unit) + TINY
        # A term can overflow although the true value and the bound are doubles.
        errors = np.where(np.isfinite(values), errors, np.inf)
        lengths = np.sqrt(np.einsum("mij,mij->mj", gradients, gradients))
        slack = (rounding_unit(gradients.shape[1]) + self.coordinates.stretch) * lengths + gradient_errors + ROOT_TINY
        finite = np.isfinite(lengths) & np.isfinite(slack)
        shortest = np.where(finite, np.maximum(lengths - slack, 0.0), 0.0)
        longest = np.where(finite, lengths + slack, np.inf)
        errors = np.where(reads, errors, 0.0)
        return Units(values, errors, live, gradients, gradient_errors, lengths, shortest, longest)

    def _term(self, read: Read, source: Given, unit: float) -> tuple[Floats, Floats, Bits, Bits, Floats, Floats]:
        """Return values, errors, whether anything is read, whether it is live, gradients and their errors."""
        sizes, ones = magnitudes(read), wired(read)
        values = read.operator.apply(source.values)
        errors = sizes.apply(source.errors / unit + np.abs(source.values)) * unit
        reads = ones.apply(((source.values != 0.0) | (source.errors != 0.0)).astype(np.float32)) > 0.0
        live = ones.apply(source.live.astype(np.float32)) > 0.0
        if source.gradients is None:
            place = self.coordinates.places[read]
            own = self.coordinates.gradients[:, place]
            gradients = np.broadcast_to(own, (len(values), *own.shape))
            gradient_errors = np.broadcast_to(self.coordinates.errors[place], values.shape)
            return values, errors, reads, live, gradients, gradient_errors
        gradient_errors = sizes.apply(source.gradient_errors / unit + source.lengths) * unit * (1.0 + unit) + TINY
        return values, errors, reads, live, read.operator.apply(source.gradients), gradient_errors

    def outputs(self, node: Node, before: Units, pieces: Indices) -> Given:
        slopes, intercepts = node.units.on_pieces(pieces)
        unit, constant, sizes = rounding_unit(2), slopes == 0.0, np.abs(slopes)
        rows = (before.values, before.errors, before.live, before.gradient_errors, before.longest)
        values, errors, live, gradient_errors, longest = (node.units.followed(each, pieces) for each in rows)
        gradients = node.units.followed(before.gradients, pieces[:, np.newaxis])
        products = slopes * values
        errors = sizes * errors + unit * (np.abs(products) + np.abs(intercepts)) + TINY
        gradient_errors = sizes * (gradient_errors + unit * longest) + TINY
        return Given(
            np.where(constant, intercepts, products + intercepts),
            np.where(constant, 0.0, errors),
            live & ~constant,
            gradients * slopes[:, np.newaxis, :],
            np.where(constant, 0.0, gradient_errors),
            np.where(constant, 0.0, sizes * longest * (1.0 + unit)),
        )
