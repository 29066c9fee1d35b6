# SPDX-License-Identifier: MIT
"""How are networks and domains of doubles converted to integers without changing any sign?

Every double is an integer times a power of two. Multiplied by a power of two, the inputs, as affine forms of the chart
point, become integers. The weights of the first layer do so too, and its pre-activations if biases and breakpoints are
multiplied by both powers; likewise in the following layers. Positive factors change no sign and no region.
A node of a graph may read nodes other than the one before it. Values that are still to be read are passed through: they
follow the units of each layer in between, as identity units without a breakpoint.
Invariant: nothing is rounded; a remainder in a division is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, chain, compress, pairwise, product
from math import ceil, comb, factorial
from typing import Any, NamedTuple

import numpy as np

from regions.domains import Domain
from regions.domains.domain import require_domain_of
from regions.errors import InternalError
from regions.ground.arithmetic.types import Floats
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Maxima, Node, Operator
from regions.networks.network import Network, require_network

__all__ = ["Form", "IntegerLayer", "IntegerTask", "Point", "binary_places", "to_integers"]

# (a0, a1, ..): the affine function a0 + a1 x + .. of the chart point, times a positive number.
Form = tuple[int, ...]
# (W, W x, ..), W > 0: the chart point (x, ..).
Point = tuple[int, ...]


class Row(NamedTuple):
    """What a row adds up: inputs, perhaps one of them several times, and a weight for each."""

    reads: list[int]  # the same object for all rows of a matrix, or of a patch
    weights: list[int]


class IntegerLayer(NamedTuple):
    """Units whose values are a power of two times the original values, each with its own number of breakpoints.

    Each has one row, or is the largest of several rows, its branches; then none has a breakpoint.
    """

    rows: list[Row]
    biases: list[int]  # [row]
    breakpoints: list[list[int]]  # [unit][kink]
    slopes: list[list[int]]  # [unit][piece]
    intercepts: list[list[int]]  # [unit][piece]
    starts: list[int] | None  # [unit + 1]: first row of each unit's branches, if units are maxima

    @property
    def kinks(self) -> list[int]:
        """Number of kinks of each unit: breakpoints, or pairs of branches."""
        if self.starts is None:
            return [len(row) for row in self.breakpoints]
        return [comb(end - start, 2) for start, end in pairwise(self.starts)]


class IntegerTask(NamedTuple):
    """A network on a domain, in integers."""

    inputs: list[Form]  # the coordinates of the input
    layers: list[IntegerLayer]  # the last one is the output
    output_exponent: int  # the output layer gives 2**output_exponent times the network's output
    corners: list[Point]
    forms: list[
        Form
    ]  # from three dimensions on: the domain is the part of these corners' box where they are at least zero
    infinity: int | None  # the coordinate that stands for infinity, if the domain is unbounded


def to_integers(net: Network, domain: Domain) -> IntegerTask:
    """Scale up a network and a domain until all their numbers are integers."""
    require_domain_of(domain, require_network(net))
    # The inputs as forms of the chart point, x_j = origin_j + p @ directions[:, j], times 2**exponent.
    chart = np.vstack([domain.origin, domain.directions])
    exponent = binary_places(chart)
    inputs = list(zip(*_scaled(chart, exponent), strict=True))
    layers = []
    for rows in _layers(net.graph):
        scaled, exponent = _integer_layer(rows, exponent)
        layers.append(scaled)
    if domain.dimension > 2:
        forms = list(map(tuple, _scaled(domain.forms, binary_places(domain.forms))))
        size = _beyond_everything(layers, inputs, domain, forms)
        corners = [(1, *corner) for corner in product((-size, size), repeat=domain.dimension)]
        return IntegerTask(inputs, layers, exponent, corners, forms, size)
    infinity = None if domain.bounded else _beyond_everything(layers, inputs, domain, [])
    corners = [_corner(generator, infinity or 0) for generator in domain.generators]
    return IntegerTask(inputs, layers, exponent, corners, [], infinity)


# A node and the number of its outputs.
Values = tuple[int, int]


class _Layer(NamedTuple):
    """Units that read the layer before, in doubles."""

    operators: list[tuple[Operator, int]]  # to be added up; each reads inputs from this one on
    through: list[int]  # the inputs that are passed through, in the last rows
    biases: Floats
    breakpoints: list[list[float]]
    slopes: list[list[float]]
    intercepts: list[list[float]]
    starts: list[int] | None


def _layers(graph: Graph) -> Iterator[_Layer]:
    """Yield the units of each node, followed by its pass-through units."""
    for node, given, passed in _read_by(graph):
        starts = dict(zip((of for of, _ in given), accumulate((size for _, size in given), initial=0), strict=False))
        rows = node.units.rows
        through = [starts[of] + i for of, size in passed for i in range(size)]
        breakpoints, slopes, intercepts = (table.tolist() for table in node.units.tables())
        unit_starts = None
        if isinstance(node.units, Maxima):  # a pass-through unit is the maximum of one row
            unit_starts = [*node.units.starts.tolist(), *range(rows + 1, rows + 1 + len(through))]
        yield _Layer(
            [(read.operator, starts[read.node]) for read in node.reads],
            through,
            np.append(node.biases, np.zeros(len(through))),
            breakpoints + [[] for _ in through],
            slopes + [[1.0] for _ in through],
            intercepts + [[0.0] for _ in through],
            unit_starts,
        )


def _read_by(graph: Graph) -> Iterator[tuple[Node, list[Values], list[Values]]]:
    """Yield each node, the values of the layer before it, in order, and those that later nodes still read."""
    given: list[Values] = [(-1, graph.n_in)]
    for number, node in enumerate(graph.nodes):
        later = {read.node for other in graph.nodes[number + 1 :] for read in other.reads}
        passed = [(of, size) for of, size in given if of in later]
        yield node, given, passed
        given = [(number, node.units.count), *passed]


def products_of_integers(graph: Graph) -> int:
    """Return the number of products of a weight and a value in a forward pass through the layers of `to_integers`."""
    return sum(
        sum(read.operator.multiply_adds for read in node.reads) + sum(size for _, size in passed)
        for node, _, passed in _read_by(graph)
    )


def _integer_layer(layer: _Layer, exponent: int) -> tuple[IntegerLayer, int]:
    """Scale a layer, whose inputs are 2**exponent times too large, to integers; return it and its values' exponent.

    Scaling the weights by 2**e makes the pre-activations 2**(exponent + e) times too large, so biases and breakpoints
    are scaled by that, and slopes and intercepts likewise.
    """
    places = [binary_places(_weights(operator)) for operator, _ in layer.operators]
    e = max(*places, binary_places(np.append(layer.biases, _flat(layer.breakpoints))) - exponent)
    exponent += e
    rows, *others = [_rows(operator, first, e) for operator, first in layer.operators]
    for added in others:
        rows = _sums(rows, added)
    f = max(binary_places(_flat(layer.slopes)), binary_places(_flat(layer.intercepts)) - exponent)
    return IntegerLayer(
        rows + [Row([index], [1 << e]) for index in layer.through],
        _scaled(layer.biases, exponent),
        [[_scaled_one(t, exponent) for t in row] for row in layer.breakpoints],
        [[_scaled_one(slope, f) for slope in row] for row in layer.slopes],
        [[_scaled_one(intercept, exponent + f) for intercept in row] for row in layer.intercepts],
        layer.starts,
    ), exponent + f


def _weights(operator: Operator) -> Floats:
    """The weights of an operator, each at least once."""
    return operator.weights if isinstance(operator, Dense) else operator.kernels


def _rows(operator: Operator, first: int, exponent: int) -> list[Row]:
    """The rows of an operator times 2**exponent, which reads inputs from ``first`` on."""
    scaled = _scaled(_weights(operator), exponent)
    if isinstance(operator, Dense):
        every = list(range(first, first + operator.inputs))
        return [Row(every, row) for row in scaled]
    rows = [Row([], [])] * operator.outputs
    present = operator.sources >= 0
    for kind, sources, here, targets in zip(operator.kinds, operator.sources, present, operator.targets, strict=True):
        reads = (sources[here] + first).tolist()
        for target, row in zip(targets.tolist(), scaled[kind], strict=True):
            rows[target] = Row(reads, row if len(reads) == len(row) else list(compress(row, here)))
    return rows


def _sums(rows: list[Row], added: list[Row]) -> list[Row]:
    """The sums of rows and other rows."""
    reads: dict[tuple[int, int], list[int]] = {}
    result = []
    for one, other in zip(rows, added, strict=True):
        which = id(one.reads), id(other.reads)
        if which not in reads:
            reads[which] = one.reads + other.reads
        result.append(Row(reads[which], one.weights + other.weights))
    return result


def _flat(rows: list[list[float]]) -> Floats:
    return np.array(list(chain.from_iterable(rows)))


def binary_places(numbers: Floats) -> int:
    """Return the least e >= 0 for which all numbers times 2**e are integers."""
    mantissas, exponents = np.frexp(numbers[numbers != 0])
    integers = np.abs(np.ldexp(mantissas, 53)).astype(np.int64)
    trailing = np.frexp((integers & -integers).astype(np.float64))[1] - 1
    return max(0, int((53 - exponents - trailing).max(initial=0)))


def _scaled(numbers: Floats, exponent: int) -> Any:
    """Return numbers times 2**exponent as integers, in lists like the array."""
    with np.errstate(over="ignore"):
        scaled = np.ldexp(numbers, exponent)  # exact, or infinite: the exponent is not negative
    if not (np.abs(scaled) < 2.0**62).all():
        rows = [_scaled_one(number, exponent) for number in numbers.ravel().tolist()]
        return np.array([*rows, None], dtype=object)[:-1].reshape(numbers.shape).tolist()
    integers = scaled.astype(np.int64)
    if (integers != scaled).any():
        raise InternalError(f"{numbers[integers != scaled][0]!r} * 2**{exponent} is not an integer")
    return integers.tolist()


def _scaled_one(number: float, exponent: int) -> int:
    numerator, denominator = number.as_integer_ratio()
    result, remainder = divmod(numerator << exponent, denominator)
    if remainder:
        raise InternalError(f"{number!r} * 2**{exponent} is not an integer")
    return result


def _beyond_everything(layers: list[IntegerLayer], inputs: list[Form], domain: Domain, forms: list[Form]) -> int:
    """Return a coordinate M so large that the box from -M to M contains a part of every cell.

    In d dimensions, d forms with integer coefficients of at most B meet at coordinates of at most d! B^d, and each flat
    that some of them have in common has a point that close to zero. A cell of the whole space has such a flat on its
    boundary, or is the space: in each case a part of it lies inside the box. That part is convex, so it is one piece:
    the box has exactly as many cells as the space, with the same patterns. ``forms`` define the domain.
    """
    largest = max((abs(a) for form in forms for a in form), default=1)
    sizes = [max(map(abs, form)) for form in inputs]  # bounds on the coefficients of the values of each unit
    for layer in layers[:-1]:
        rows = zip(layer.rows, layer.biases, strict=True)
        sizes = [sum(abs(w) * sizes[i] for i, w in zip(*row, strict=True)) + abs(bias) for row, bias in rows]
        if layer.starts is not None:  # differences of two branches are compared with 0
            largest = max(largest, 2 * max(sizes))
            sizes = [max(sizes[start:end]) for start, end in pairwise(layer.starts)]
            continue
        largest = max(largest, max(sizes) + max((abs(t) for row in layer.breakpoints for t in row), default=0))
        pieces = zip(layer.slopes, layer.intercepts, sizes, strict=True)
        sizes = [max(map(abs, slopes)) * size + max(map(abs, intercepts)) for slopes, intercepts, size in pieces]
    finite = max((abs(x) for w, *p in domain.generators.tolist() if w for x in p), default=0.0)
    dimension = domain.dimension
    return factorial(dimension) * max(largest, 1) ** dimension + ceil(finite) + 1


def _corner(generator: Floats, infinity: int) -> Point:
    position = generator[1:]
    if generator[0] == 0:
        return (1, *[int(x) * infinity for x in position.tolist()])
    exponent = binary_places(position)
    return (1 << exponent, *_scaled(position, exponent))
