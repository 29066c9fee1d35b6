# SPDX-License-Identifier: MIT
"""Which affine map is the network on each region?

Inside a region every unit keeps to one piece of its activation, so the network is a product of matrices, one
row of slopes apart from region to region. It is multiplied for many regions at a time, from whichever end is
narrower: from the outputs, ``G <- (G * slopes) @ W``, where only the last step knows the input; or, in chart
coordinates, from the d + 1 columns of the first layer restricted to the chart, ``V <- W @ (slopes * V)``.
Cost: for each region and each output (or column) one pass through the hidden weights, all of it matrix
products. Plain floating point: the maps carry the rounding errors of a forward pass and decide nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regions.arithmetic.types import Floats, Indices, Integers, Packed
from regions.domains import Domain
from regions.errors import NonFiniteError
from regions.networks.graph import Graph, Node, Read
from regions.passes import walk

__all__ = ["affine_maps"]

# What the reads of the inputs take: a matrix and a constant.
First = dict[Read, tuple[Floats, "Floats | float"]]

# Numbers per temporary array: 8 MB, enough for full-speed matrix products and small beside the result.
CHUNK = 1 << 20


def affine_maps(graph: Graph, chart: Domain | None, packed: Packed, chosen: Integers) -> tuple[Floats, Floats]:
    """Affine maps of the network on some regions; see `Partition.affine_maps`.

    Parameters
    ----------
    graph : Graph
    chart : Domain or None
        Maps are functions of its chart's coordinates; None for those of input space.
    packed : uint8 [R, bytes]
        Patterns.
    chosen : int64 [m]
        Regions.

    Returns
    -------
    linear : float64 [m, outputs, columns]
    constants : float64 [m, outputs]

    Raises
    ------
    NonFiniteError
        A map with entries beyond the largest double.
    """
    size = graph.n_in if chart is None else chart.dimension
    multiply = _from_inputs if size + 1 < graph.n_out else _from_outputs
    linear = np.empty((len(chosen), graph.n_out, size))
    constants = np.empty((len(chosen), graph.n_out))
    widest = max(min(size + 1, graph.n_out) * max(graph.widths, default=1), graph.kinks)
    step = max(1, CHUNK // max(widest, 1))
    with np.errstate(over="ignore", invalid="ignore"):
        first = {read: _restricted(read, chart) for node in graph.nodes for read in node.reads if read.node < 0}
        for start in range(0, len(chosen), step):
            part = slice(start, start + step)
            bits = graph.bits(packed[chosen[part]])
            linear[part], constants[part] = multiply(graph, first, bits)
    beyond = np.flatnonzero(~(np.isfinite(linear).all(axis=(1, 2)) & np.isfinite(constants).all(axis=1)))
    if beyond.size:
        raise NonFiniteError(
            f"the affine map of region {chosen[beyond[0]]} is beyond the largest double; leave it out of `indices`"
        )
    return linear, constants


def _restricted(read: Read, chart: Domain | None) -> tuple[Floats, Floats | float]:
    """What a read of the inputs takes, as a matrix and a constant, in chart coordinates or those of input space."""
    weights = read.operator.weights
    return (weights, 0.0) if chart is None else (weights @ chart.directions.T, weights @ chart.origin)


class _Forms:
    """Forms float64 [m, columns, units]: the last column is the constant one.

    So the units of all regions and columns meet the weights in one product.
    """

    def __init__(self, first: First) -> None:
        self.first = first

    def preactivations(self, node: Node, sources: Sequence[Floats]) -> Floats:
        forms, *others = [
            self._inputs(read) if read.node < 0 else read.operator.apply(source)
            for read, source in zip(node.reads, sources, strict=True)
        ]
        for more in others:
            forms = forms + more
        forms[:, -1] += node.biases
        return forms

    def outputs(self, node: Node, forms: Floats, pieces: Indices) -> Floats:
        slopes, intercepts = node.units.on_pieces(pieces)
        result: Floats = forms * slopes[:, np.newaxis, :]
        result[:, -1] += intercepts
        return result

    def _inputs(self, read: Read) -> Floats:
        matrix, constant = self.first[read]
        return np.vstack([matrix.T, np.broadcast_to(constant, len(matrix))])[np.newaxis]


def _from_inputs(graph: Graph, first: First, bits: Packed) -> tuple[Floats, Floats]:
    *_, forms = walk.preactivations(graph, _Forms(first), np.zeros(0), bits)
    return forms[:, :-1].transpose(0, 2, 1), forms[:, -1]


class _Gradients:
    """Gradients float64 [m, outputs, units], and what the constants on the way add up to, ``offsets`` [m, outputs]."""

    def __init__(self, graph: Graph, first: First, bits: Packed) -> None:
        self.graph, self.first = graph, first
        self.on_pieces = [node.units.on_pieces(pieces) for node, pieces in graph.pieces(bits)]
        self.gradients = np.broadcast_to(np.eye(graph.n_out), (len(bits), graph.n_out, graph.n_out))
        self.offsets = np.zeros((len(bits), graph.n_out))
        self._add_constants(graph.nodes[-1], self.gradients)

    def _add_constants(self, node: Node, gradients: Floats) -> None:
        constants = [self.first[read][1] for read in node.reads if read.node < 0]
        self.offsets += gradients @ sum(constants, start=node.biases)

    def of_units(self, number: int, gradients: Floats) -> Floats:
        slopes, intercepts = self.on_pieces[number]
        self.offsets += np.einsum("moi,mi->mo", gradients, intercepts)
        gradients *= slopes[:, np.newaxis, :]
        self._add_constants(self.graph.nodes[number], gradients)
        return gradients

    def of_sources(self, read: Read, gradients: Floats) -> Floats:
        if read.node < 0:
            count, outputs, units = gradients.shape
            return (gradients.reshape(-1, units) @ self.first[read][0]).reshape(count, outputs, -1)
        return read.operator.apply_transposed(gradients)


def _from_outputs(graph: Graph, first: First, bits: Packed) -> tuple[Floats, Floats]:
    arithmetic = _Gradients(graph, first, bits)
    *_, (_, linear) = walk.asked(graph, arithmetic, len(graph.hidden), arithmetic.gradients)
    return linear, arithmetic.offsets
