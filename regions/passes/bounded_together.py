# SPDX-License-Identifier: MIT
"""What are the pre-activations at many points, up to bounds that all these points share?

This is the forward pass of `bounded.py` with one bound for each unit, from the largest values and errors among the
points: only values need a product for each point. Errors are bounded in two ways, and the smaller bound counts. One
way is unit by unit, as in `bounded.py`. The other is by length: the vector of a node's errors is at most as long as the
vector of the errors it reads, times the spectral norm of the weights, plus the rounding in the node itself. The error
of one unit is at most that length times the length of its row of weights. Lengths grow far less from layer to layer.
Spectral norms take time, so only deep networks have them. `docs/error-bounds.md` proves both bounds.
Points that are close to each other lose little precision. If one point overflows, nothing is known of all of them.
Cost: one forward pass, and a few sweeps over its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from regions.domains import Domain
from regions.ground.arithmetic.roundoff import TINY
from regions.ground.arithmetic.types import Floats, Indices
from regions.networks.graph import Graph, Node
from regions.networks.lowering import DEEP
from regions.passes.bounded import Bounded, Known, carried, rounding_unit

__all__ = ["BoundedTogether", "Together"]

# The square root of the underflow in a sum of squares, of as many terms as fit into memory.
ROOT_TINY = 1e-150


class Together(NamedTuple):
    """Numbers of a node's units at m points, and bounds that hold at all of them."""

    values: Floats  # [m, units]
    magnitudes: Floats  # [1, units]: at least the magnitudes of the added terms
    errors: Floats  # [1, units]: bounds
    length: float  # a bound on the Euclidean length of the vector of all errors at a point


class BoundedTogether:
    """Values at points of a domain's chart, with shared bounds.

    Parameters
    ----------
    graph : Graph
    domain : Domain
        Only its chart is used.
    """

    def __init__(self, graph: Graph, domain: Domain) -> None:
        self.alone = Bounded(graph, domain)
        reads = [read for node in graph.nodes for read in node.reads if read.node >= 0]
        deep = len(graph.hidden) >= DEEP
        self.norms = {read: read.operator.norm_bound if deep else np.inf for read in reads}
        with np.errstate(over="ignore", under="ignore"):
            self.row_lengths = {read: _lengths(read.operator.weights) for read in reads}

    @staticmethod
    def inputs(points: Floats, errors: Floats) -> Together:
        """Return the values of chart points [m, d], each coordinate of which is known up to errors [m]."""
        return Together(points, np.abs(points).max(axis=0, keepdims=True), errors.max(keepdims=True), np.inf)

    def preactivations(self, node: Node, sources: Sequence[Together]) -> Together:
        """Return the pre-activations; their ``magnitudes`` are not used, and are the ``errors``."""
        values, errors, length = self._first(node, *sources) if node in self.alone.rows else self._next(node, sources)
        if not np.isfinite(values.sum()):  # overflow at one of the points
            errors, length = np.full_like(errors, np.inf), np.inf
        return Together(values, errors, errors, length)

    def _first(self, node: Node, points: Together) -> tuple[Floats, Floats, float]:
        rows, _ = self.alone.rows[node]
        errors = self.alone.first_errors(node, Known(points.values, points.magnitudes, points.errors))
        return points.values @ rows[:, 1:].T + (rows[:, 0] + node.biases), errors, float(_lengths(errors)[0])

    def _next(self, node: Node, sources: Sequence[Together]) -> tuple[Floats, Floats, float]:
        unit = rounding_unit(node.terms)
        rounded = unit * np.abs(node.biases)[np.newaxis]
        by_unit, by_length, length = np.zeros_like(rounded), np.zeros_like(rounded), 0.0
        values: Floats | None = None
        for read, source in zip(node.reads, sources, strict=True):
            product = read.operator.apply(source.values)
            values = product if values is None else np.add(values, product, out=values)
            weights = self.alone.magnitudes(read)
            rounded = rounded + weights.apply(source.magnitudes) * (2 * unit)
            by_unit = by_unit + weights.apply(source.errors)
            by_length = by_length + self.row_lengths[read] * source.length
            length += self.norms[read] * source.length
        assert values is not None
        values += node.biases
        errors = (np.minimum(by_unit, by_length) + rounded) * (1 + unit) + TINY
        return values, errors, min(float(_lengths(errors)[0]), (length + float(_lengths(rounded)[0])) * (1 + unit))

    def outputs(self, node: Node, before: Together, pieces: Indices) -> Together:
        """Return the outputs, computed in place."""
        slopes, intercepts = node.units.on_pieces(pieces)
        rows = node.units.followed(before.values, pieces)
        values = np.multiply(rows, slopes, out=rows)
        largest = np.abs(node.units.tables().slopes).max(axis=1)[np.newaxis]
        if not node.units.shifting:
            magnitudes = np.maximum(values.max(axis=0, keepdims=True), -values.min(axis=0, keepdims=True))
        else:
            magnitudes = (np.abs(values) + np.abs(intercepts)).max(axis=0, keepdims=True)
            values += intercepts
        length = float(largest.max()) * before.length + ROOT_TINY
        return Together(values, magnitudes, carried(node, largest, node.units.largest(before.errors)), length)


def _lengths(rows: Floats) -> Floats:
    """Return upper bounds on the lengths of rows [m, n]: float64 [m]."""
    lengths: Floats = np.linalg.norm(rows, axis=1) * (1 + rounding_unit(rows.shape[1])) + ROOT_TINY
    return lengths
