# SPDX-License-Identifier: MIT
"""How does a list of operations become a graph?

Readers call one method for each operation that a file names. It returns a tensor, which later operations read.
`finished` makes the graph, with the nodes of `nodes_of_operations.py`. Readers check shapes first, because they know
the names for messages.
Invariant: the graph computes the operations in the arithmetic of real numbers; notes name all exceptions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.types import Floats, Integers
from regions.networks.activation import Activation
from regions.networks.graph import Graph, Operator
from regions.networks.named_activations import identity
from regions.networks.patches import Patches
from regions.read.graphs.equal_operations import EqualOperations
from regions.read.graphs.fused_maxima import with_fused_maxima
from regions.read.graphs.nodes_of_operations import Charge, graph_of
from regions.read.graphs.operations import Activated, Affine, Inputs, Largest, Operation, Tensor
from regions.read.scaling import Scaling

__all__ = ["GraphBuilder"]


def _free(kept: int, passing: int) -> None:
    """No limit."""


class GraphBuilder:
    """Operations, one after the other.

    Attributes
    ----------
    numbers : dict of Operation to int
        Each operation comes after those that it reads.
    """

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self.numbers: dict[Operation, int] = {}
        self._equal = EqualOperations(self._operations)

    def input(self, shape: Sequence[int]) -> Tensor:
        """Return the input of the network; call this once, and first."""
        return self._result(Inputs(prod(shape)), shape)

    def first(self) -> Tensor:
        """Return the input again."""
        return Tensor.of(self._operations[0], (self._operations[0].size,))

    def first_equal(self, operation: Operation) -> Operation:
        """Return the first operation that computes the same numbers."""
        return self._equal.first(operation)

    def rearranged(self, x: Tensor, sources: NDArray[np.integer]) -> Tensor:
        """Return the elements at flat positions of x, in the shape of the positions; -1 stands for a constant 0."""
        flat = sources.ravel()
        operation = np.where(flat >= 0, x.operation[flat], -1)
        return Tensor(sources.shape, x.operations, operation, x.place[flat]).pruned()

    def moved(self, x: Tensor, move: Callable[[NDArray[Any]], NDArray[Any]]) -> Tensor:
        """Return the elements, rearranged by a function of arrays that only moves, repeats or leaves out numbers."""
        operation, place = (move(each.reshape(x.shape)) for each in (x.operation, x.place))
        return Tensor(operation.shape, x.operations, operation.ravel(), place.ravel()).pruned()

    def joined(self, tensors: Sequence[Tensor], axis: int) -> Tensor:
        """Return tensors, joined along an axis."""
        operations = dict.fromkeys(operation for tensor in tensors for operation in tensor.operations)
        number_of = {operation: number for number, operation in enumerate(operations)}
        numbers = [np.array([*map(number_of.__getitem__, tensor.operations), -1]) for tensor in tensors]
        owners = [number[x.operation].reshape(x.shape) for number, x in zip(numbers, tensors, strict=True)]
        owner = np.concatenate(owners, axis=axis)
        place = np.concatenate([x.place.reshape(x.shape) for x in tensors], axis=axis)
        return Tensor(owner.shape, tuple(operations), owner.ravel(), place.ravel())

    def padded(self, x: Tensor, before: Sequence[int], after: Sequence[int]) -> Tensor:
        """Return x with zeros before and after each axis."""
        flat = np.arange(x.size).reshape(x.shape)
        return self.rearranged(x, np.pad(flat, list(zip(before, after, strict=True)), constant_values=-1))

    def linear(self, x: Tensor, operator: Operator, biases: Floats | None, shape: Sequence[int], name: str) -> Tensor:
        """Return an operator, applied to the elements of x, plus biases."""
        constants = np.zeros(operator.outputs) if biases is None else biases
        return self._result(Affine(name, ((operator, x),), constants), shape)

    def sum(self, terms: Sequence[tuple[Tensor, float]], name: str) -> Tensor:
        """Return a sum of tensors of one shape times factors, element by element."""
        shape, size = terms[0][0].shape, terms[0][0].size
        scaled = tuple((Patches.scale(np.full(size, factor)), tensor) for tensor, factor in terms)
        return self._result(Affine(name, scaled, np.zeros(size)), shape)

    def scaled(self, x: Tensor, scaling: Scaling) -> Tensor:
        """Return each element times a factor, plus a constant; the scaling has one factor for each element of x."""
        operator = Patches.scale(scaling.scale)
        return self._result(Affine(f"{scaling.kind} {scaling.name}", ((operator, x),), scaling.shift, scaling), x.shape)

    def activated(self, x: Tensor, activation: Activation, name: str) -> Tensor:
        """Return a piecewise-linear function of each element."""
        return x if activation == identity() else self._result(Activated(name, x, activation), x.shape)

    def largest(self, x: Tensor, sizes: Integers, shape: Sequence[int], name: str) -> Tensor:
        """Return the largest of the first ``sizes[0]`` elements of x, of the next ``sizes[1]`` elements, and so on."""
        return self._result(Largest(name, x, sizes), shape)

    def finished(self, y: Tensor, *, fuse_max: bool = False, charge: Charge = _free) -> tuple[Graph, list[str]]:
        """Return the graph whose outputs are the elements of y, and notes on changed numbers.

        ``charge`` is called before nodes are made; see `graph_of`. With ``fuse_max``, ReLUs that only maxima read
        become part of these: the largest of 0 and the inputs of the ReLUs.
        """
        if not fuse_max:
            return graph_of(self._operations, y, charge)
        operations, outputs, notes = with_fused_maxima(self._operations, y)
        graph, more = graph_of(operations, outputs, charge)
        return graph, notes + more

    def _result(self, operation: Operation, shape: Sequence[int]) -> Tensor:
        self.numbers[operation] = len(self._operations)
        self._operations.append(operation)
        return Tensor.of(operation, shape)
