# SPDX-License-Identifier: MIT
"""Which operations of a graph compute the same numbers, because they do the same to the same?

A model may call a part twice for one input, and an exporter then writes its nodes twice. Each operation has a digest of
its numbers, and of the operations that it reads. Where these are equal, the first operation stands for all others.
Invariant: the first equal operation never reads one that comes after it.
Cost: the operations' arrays are read once, when the first question is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from regions.read.graphs.operations import Activated, Affine, Inputs, Operation, Tensor

__all__ = ["EqualOperations"]

# These fields do not change what an operation computes.
_NAMES = {"name", "kind", "lattice"}


@dataclass
class EqualOperations:
    """The first of equal operations, for each operation of a list that grows."""

    operations: Sequence[Operation]
    _first: dict[Operation, Operation] = field(default_factory=dict)
    _numbers: dict[Operation, int] = field(default_factory=dict)
    _known: dict[bytes, Operation] = field(default_factory=dict)

    def first(self, operation: Operation) -> Operation:
        """Return the first operation that computes the same numbers in the same order."""
        for number in range(len(self._first), len(self.operations)):
            each = self.operations[number]
            self._numbers[each] = number
            self._first[each] = each if isinstance(each, Inputs) else self._known.setdefault(self._digest(each), each)
        return self._first[operation]

    def _digest(self, operation: Operation) -> bytes:
        digest = blake2b(type(operation).__name__.encode())
        for part in self._parts(operation):
            if isinstance(part, np.ndarray):
                digest.update(f"{part.dtype.str}{part.shape}".encode())
                digest.update(np.ascontiguousarray(part).data)
            else:
                digest.update(f"{part!r};".encode())
        return digest.digest()

    def _parts(self, operation: Operation) -> Iterable[Any]:
        """Yield everything that decides which numbers an operation computes."""
        if isinstance(operation, Affine):
            for operator, tensor in operation.terms:
                yield from _fields(operator)
                yield from self._elements(tensor)
            yield operation.biases
            yield from _fields(operation.scaling)
        elif not isinstance(operation, Inputs):
            yield from self._elements(operation.tensor)
            yield from _fields(operation.activation) if isinstance(operation, Activated) else (operation.sizes,)

    def _elements(self, tensor: Tensor) -> Iterable[Any]:
        numbers = np.array([*(self._numbers[self._first[each]] for each in tensor.operations), -1])
        yield numbers[tensor.operation]
        yield np.where(tensor.operation < 0, 0, tensor.place)


def _fields(part: Any) -> Iterable[Any]:
    """Yield the type and the numbers of an operator, an activation or a scaling."""
    yield type(part).__name__
    if is_dataclass(part):
        for each in fields(part):
            if each.name not in _NAMES:
                yield getattr(part, each.name)
