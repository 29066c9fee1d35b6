# SPDX-License-Identifier: MIT
"""What does a network compute in floating point, at points and on each region?

At a point, each unit is on the piece of its own value. Inside a region every unit stays on one piece of its activation,
so the network is a product of matrices, and only the rows of slopes differ between regions. Many regions are multiplied
at a time, from the narrower end. From the outputs this is ``G <- (G * slopes) @ W``, and only the last step uses
the input; from the columns of the first layer, restricted to the chart, it is ``V <- W @ (slopes * V)``. A single point
is one such column, the constant term.
Cost: one pass through the hidden weights for each region and each output (or column), all of it matrix
products. Plain floating point, with the rounding errors of a forward pass; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from regions.ground.arithmetic.types import Bits, Floats, Indices, Packed
from regions.networks.graph import Graph, Node, Read
from regions.networks.walk import asked, preactivations, under

__all__ = [
    "Chart",
    "RoundedForms",
    "RoundedValues",
    "SingleValues",
    "affine_maps",
    "at_points",
    "outputs_at_points",
    "patterns_at_points",
]

# A chart of the inputs: a point of input space [n_in], and directions from there [d, n_in].
Chart = tuple[Floats, Floats]
# The reads of the inputs on a chart: a matrix and a constant.
First = dict[Read, tuple[Floats, "Floats | float"]]

# Numbers per temporary array: 8 MB, enough for full-speed matrix products and small compared with the result.
CHUNK = 1 << 20
# Points are evaluated in blocks that stay in the cache: of so many points, or of so many numbers in the widest layer if
# these are more points.
ROWS, NUMBERS = 256, 1 << 14


# At points, units take the pieces of their values.
_NOT_ASKED: Indices = np.zeros(0, dtype=np.intp)


class RoundedForms:
    """Forms float64 [m, columns, units]: the last column is the constant one, or the value at a point.

    The units of all regions and columns are multiplied by the weights in one product.
    """

    def preactivations(self, node: Node, sources: Sequence[Floats]) -> Floats:
        forms, *others = [self.read(read, source) for read, source in zip(node.reads, sources, strict=True)]
        for more in others:
            forms = forms + more
        forms[:, -1] += node.biases
        return forms

    def read(self, read: Read, source: Floats) -> Floats:
        return read.operator.apply(source)

    def outputs(self, node: Node, forms: Floats, pieces: Indices) -> Floats:
        slopes, intercepts = node.units.on_pieces(pieces)
        result: Floats = node.units.followed(forms, pieces[:, np.newaxis]) * slopes[:, np.newaxis]
        result[:, -1] += intercepts
        return result


class RoundedValues:
    """Values float64 [m, units] at points."""

    def preactivations(self, node: Node, sources: Sequence[Floats]) -> Floats:
        rows, *others = [self.read(read, source) for read, source in zip(node.reads, sources, strict=True)]
        for more in others:
            rows += more
        rows += node.biases
        return rows

    def read(self, read: Read, source: Floats) -> Floats:
        return read.operator.apply(source)

    def outputs(self, node: Node, rows: Floats, pieces: Indices) -> Floats:
        return node.units.outputs_at(rows)


class SingleValues(RoundedValues):
    """Values float32 [m, units] at points."""

    def read(self, read: Read, source: Floats) -> Floats:
        return read.operator.entrywise(lambda weights: weights.astype(np.float32)).apply(source)

    def outputs(self, node: Node, rows: Floats, pieces: Indices) -> Floats:
        return node.units.outputs_at(rows.astype(np.float64)).astype(np.float32)


def at_points(graph: Graph, points: Floats, rounded: RoundedValues | None = None) -> Iterator[Floats]:
    """Yield the pre-activations of each node, in order, at points [m, n_in]: [m, units]; the last are the outputs.

    They have the type of the points, float64 unless ``rounded`` is `SingleValues`.
    """
    return preactivations(graph, rounded or RoundedValues(), points, lambda node, rows: _NOT_ASKED)


class _InArrays(RoundedValues):
    """Values of up to ``most`` points, in arrays that are used again once nothing reads them."""

    def __init__(self, graph: Graph, most: int) -> None:
        self.graph, self.most, self.number = graph, most, -1
        self.used: dict[int, Floats] = {}
        self.free: dict[int, list[Floats]] = {len(node.biases): [] for node in graph.nodes}

    def preactivations(self, node: Node, sources: Sequence[Floats]) -> Floats:
        self.number = (self.number + 1) % len(self.graph.nodes)
        free = self.free[len(node.biases)]
        array = free.pop() if free else np.empty((self.most, len(node.biases)))
        rows = node.reads[0].operator.apply(sources[0], array[: len(sources[0])])
        for read, source in zip(node.reads[1:], sources[1:], strict=True):
            rows += read.operator.apply(source)
        rows += node.biases
        done = [number for number in self.graph.last_reads[self.number] if number >= 0]
        for number in done:
            self.free[self.used[number].shape[1]].append(self.used.pop(number))
        self.used[self.number] = array
        return rows

    def outputs(self, node: Node, rows: Floats, pieces: Indices) -> Floats:
        return node.units.outputs_at(rows, rows)


def outputs_at_points(graph: Graph, points: Floats) -> Floats | None:
    """Return the outputs [m, outputs] at points [m, n_in]; None if a value on the way is beyond the largest double."""
    step = _points_at_once(graph)
    arithmetic, outputs = _InArrays(graph, min(step, len(points))), np.empty((len(points), graph.n_out))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(points), step):
            for values in at_points(graph, points[start : start + step], arithmetic):
                if not np.isfinite(values).all():
                    return None
            outputs[start : start + step] = values
    return outputs


def patterns_at_points(graph: Graph, points: Floats) -> Bits | None:
    """Return the patterns, bool [m, kinks], at points [m, n_in]; None if a value is beyond the largest double."""
    step, patterns = _points_at_once(graph), np.empty((len(points), graph.kinks), dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(points), step):
            last = 0
            for node, values in zip(graph.hidden, at_points(graph, points[start : start + step]), strict=False):
                if not np.isfinite(values).all():
                    return None
                bits = node.units.bits_at(values)
                first, last = last, last + bits.shape[1]
                patterns[start : start + step, first:last] = bits
    return patterns


def _points_at_once(graph: Graph) -> int:
    widest = max(len(node.biases) for node in graph.nodes)
    return max(1, min(max(ROWS, NUMBERS // widest), CHUNK // widest))


def affine_maps(graph: Graph, chart: Chart | None, packed: Packed) -> tuple[Floats, Floats]:
    """Return the affine maps of a network where it has some patterns.

    Parameters
    ----------
    graph : Graph
    chart : (origin [n_in], directions [d, n_in]) or None
        Maps are functions of the coordinates along the directions; None for coordinates of input space.
    packed : uint8 [m, bytes]
        Patterns.

    Returns
    -------
    linear : float64 [m, outputs, columns]
    constants : float64 [m, outputs]
        Numbers beyond the largest double are infinite or NaN.
    """
    size = graph.n_in if chart is None else len(chart[1])
    multiply = _from_inputs if size + 1 < graph.n_out else _from_outputs
    linear, constants = np.empty((len(packed), graph.n_out, size)), np.empty((len(packed), graph.n_out))
    widest = max(min(size + 1, graph.n_out) * max(graph.widths, default=1), graph.kinks)
    step = max(1, CHUNK // max(widest, 1))
    with np.errstate(over="ignore", invalid="ignore"):
        first = {read: _restricted(read, chart) for node in graph.nodes for read in node.reads if read.node < 0}
        for start in range(0, len(packed), step):
            part = slice(start, start + step)
            linear[part], constants[part] = multiply(graph, first, graph.bits(packed[part]))
    return linear, constants


def _restricted(read: Read, chart: Chart | None) -> tuple[Floats, Floats | float]:
    """Return a read of the inputs as a matrix and a constant, in chart coordinates or coordinates of input space."""
    weights = read.operator.weights
    return (weights, 0.0) if chart is None else (weights @ chart[1].T, weights @ chart[0])


class _FormsOnChart(RoundedForms):
    """Forms of the inputs, restricted to the chart once for all regions."""

    def __init__(self, first: First) -> None:
        self.first = first

    def read(self, read: Read, source: Floats) -> Floats:
        if read.node >= 0:
            return super().read(read, source)
        matrix, constant = self.first[read]
        return np.vstack([matrix.T, np.broadcast_to(constant, len(matrix))])[np.newaxis]


def _from_inputs(graph: Graph, first: First, bits: Packed) -> tuple[Floats, Floats]:
    *_, forms = preactivations(graph, _FormsOnChart(first), np.zeros(0), under(bits))
    return forms[:, :-1].transpose(0, 2, 1), forms[:, -1]


class _Gradients:
    """Gradients float64 [m, outputs, units], and the sum of the constants so far, ``offsets`` [m, outputs]."""

    def __init__(self, graph: Graph, first: First, bits: Packed) -> None:
        self.graph, self.first, self.pieces = graph, first, [pieces for _, pieces in graph.pieces(bits)]
        self.gradients = np.broadcast_to(np.eye(graph.n_out), (len(bits), graph.n_out, graph.n_out))
        self.offsets = np.zeros((len(bits), graph.n_out))
        self._add_constants(graph.nodes[-1], self.gradients)

    def _add_constants(self, node: Node, gradients: Floats) -> None:
        constants = [self.first[read][1] for read in node.reads if read.node < 0]
        self.offsets += gradients @ sum(constants, start=node.biases)

    def of_units(self, number: int, gradients: Floats) -> Floats:
        node, pieces = self.graph.nodes[number], self.pieces[number]
        slopes, intercepts = node.units.on_pieces(pieces)
        self.offsets += np.einsum("moi,mi->mo", gradients, intercepts)
        gradients = node.units.asked_of_rows(gradients * slopes[:, np.newaxis], pieces[:, np.newaxis])
        self._add_constants(node, gradients)
        return gradients

    def of_sources(self, read: Read, gradients: Floats) -> Floats:
        if read.node < 0:
            count, outputs, units = gradients.shape
            return (gradients.reshape(-1, units) @ self.first[read][0]).reshape(count, outputs, -1)
        return read.operator.apply_transposed(gradients)


def _from_outputs(graph: Graph, first: First, bits: Packed) -> tuple[Floats, Floats]:
    arithmetic = _Gradients(graph, first, bits)
    *_, (_, linear) = asked(graph, arithmetic, len(graph.hidden), arithmetic.gradients)
    return linear, arithmetic.offsets
