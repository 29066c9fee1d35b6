# SPDX-License-Identifier: MIT
"""What is a tensor of a model, and from which operations does it come?

A tensor is a shape and, for each element, an operation and a position in its results. Therefore reshaping, transposing,
slicing, padding and joining are not operations: they only change where elements are. Operations are the inputs, affine
maps of elements of tensors, piecewise-linear functions of each element, and the largest of several elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.types import Floats
from regions.networks.activation import Activation
from regions.networks.graph import Operator
from regions.read.scaling import Scaling

__all__ = ["Activated", "Affine", "Inputs", "Largest", "Operation", "Tensor", "tensors_read"]


@dataclass(frozen=True, eq=False)
class Tensor:
    """Elements, each the result of some operation.

    Attributes
    ----------
    shape : tuple of int
        Without the axis of batches.
    operations : tuple of Operation
    operation : int64 [size]
        The operation that each element is a result of; -1 for a constant 0.
    place : int64 [size]
        The position of each element in the results of its operation.
    """

    shape: tuple[int, ...]
    operations: tuple[Operation, ...]
    operation: NDArray[np.int64]
    place: NDArray[np.int64]

    @classmethod
    def of(cls, operation: Operation, shape: Sequence[int]) -> Tensor:
        """Return all results of an operation."""
        size = operation.size
        return cls(tuple(shape), (operation,), np.broadcast_to(np.int64(0), size), np.arange(size))

    @property
    def size(self) -> int:
        return prod(self.shape)

    def where(self) -> NDArray[np.int64] | None:
        """The position of each result of its only operation, if each result occurs exactly once."""
        if len(self.operations) != 1 or self.size != self.operations[0].size or (self.operation < 0).any():
            return None
        where = np.full(self.size, -1, dtype=np.int64)
        where[self.place] = np.arange(self.size)
        return None if (where < 0).any() else where

    def content(self) -> tuple[bytes, bytes]:
        """A value that is equal for two tensors with the same elements in the same order, in any shapes."""
        owners = np.array([*map(id, self.operations), 0])
        return owners[self.operation].tobytes(), self.place.tobytes()

    def without_constants(self) -> Tensor:
        """Return the elements that are not constants, in one axis."""
        kept = self.operation >= 0
        return Tensor((int(kept.sum()),), self.operations, self.operation[kept], self.place[kept])

    def pruned(self) -> Tensor:
        """Return the same elements, without operations that no element is a result of; one operation is always kept."""
        count = len(self.operations)
        present = np.zeros(count + 1, dtype=bool)
        present[self.operation] = True  # a constant 0 marks the last entry
        kept = np.flatnonzero(present[:count])
        if count == 1 or len(kept) == count:
            return self
        kept = kept if len(kept) else np.zeros(1, dtype=np.int64)
        number = np.full(count + 1, -1)
        number[kept] = np.arange(len(kept))
        operations = tuple(self.operations[old] for old in kept)
        return Tensor(self.shape, operations, number[self.operation], self.place)

    def in_order(self) -> bool:
        """Return whether these are all results of one operation, in order."""
        where = self.where()
        return where is not None and bool((where == np.arange(self.size)).all())


@dataclass(frozen=True, eq=False)
class Inputs:
    """The inputs of the network."""

    size: int


@dataclass(frozen=True, eq=False)
class Affine:
    """Biases plus a sum of operators applied to tensors, and its `Scaling` if it is one."""

    name: str
    terms: tuple[tuple[Operator, Tensor], ...]
    biases: Floats
    scaling: Scaling | None = None

    @property
    def size(self) -> int:
        return len(self.biases)


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest of each group of consecutive elements of a tensor; group i has ``sizes[i]`` elements."""

    name: str
    tensor: Tensor
    sizes: NDArray[np.int64]

    @property
    def size(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, eq=False)
class Activated:
    """A piecewise-linear function of each element of a tensor."""

    name: str
    tensor: Tensor
    activation: Activation

    @property
    def size(self) -> int:
        return self.tensor.size


Operation = Inputs | Affine | Activated | Largest


def tensors_read(operation: Operation) -> list[Tensor]:
    """Return the tensors that an operation reads."""
    if isinstance(operation, Affine):
        return [tensor for _, tensor in operation.terms]
    return [] if isinstance(operation, Inputs) else [operation.tensor]
