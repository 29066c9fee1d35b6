# SPDX-License-Identifier: MIT
"""How do maxima absorb the ReLUs before them?

The largest of max(0, a) and max(0, b) is the largest of 0, a and b. The function is the same, but its activation
patterns are not: as written, they also say which of the smaller numbers are above 0. Therefore this is done only on
request, with a note. A ReLU is absorbed if exactly one maximum reads it, and nothing else. 0 becomes the first branch,
which wins ties.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from regions.networks.named_activations import relu
from regions.read.graphs.operations import Activated, Affine, Inputs, Largest, Operation, Tensor, tensors_read

__all__ = ["with_fused_maxima"]


def with_fused_maxima(operations: Sequence[Operation], outputs: Tensor) -> tuple[list[Operation], Tensor, list[str]]:
    """Return operations whose maxima have absorbed ReLUs, the tensor of their results, and a note for each maximum."""
    uses = Counter(outputs.operations)
    for operation in operations:
        uses.update(read for tensor in tensors_read(operation) for read in tensor.operations)
    notes = []
    made: dict[Operation, Operation] = {}
    for operation in operations:
        made[operation] = again = _reading(operation, made)
        if isinstance(operation, Largest) and isinstance(again, Largest):
            alone = [made[each] for each in operation.tensor.operations if uses[each] == 1]
            inner = [each for each in alone if isinstance(each, Activated) and each.activation == relu()]
            if inner:
                made[operation] = _taking_in(again, inner)
                shown = ", ".join(each.name for each in inner)
                notes.append(
                    f"max(0, ..): ReLU {shown} and the maximum {again.name} that reads it are taken together "
                    "(fuse_max): the same function, with fewer regions than the model as written, or as many"
                )
    return list(made.values()), _renamed(outputs, made), notes


def _reading(operation: Operation, made: dict[Operation, Operation]) -> Operation:
    """Return the same operation, with the new versions of the operations that it reads."""
    if isinstance(operation, Inputs):
        return operation
    if isinstance(operation, Affine):
        return replace(operation, terms=tuple((operator, _renamed(x, made)) for operator, x in operation.terms))
    return replace(operation, tensor=_renamed(operation.tensor, made))


def _renamed(tensor: Tensor, made: dict[Operation, Operation]) -> Tensor:
    return replace(tensor, operations=tuple(made[operation] for operation in tensor.operations))


def _taking_in(largest: Largest, inner: Sequence[Activated]) -> Largest:
    """Return the largest of 0, the inputs of the ReLUs, and the other elements."""
    x = largest.tensor
    operations = list(dict.fromkeys([*x.operations, *(read for each in inner for read in each.tensor.operations)]))
    operation, place = x.operation.copy(), x.place.copy()
    taken = np.zeros(x.size, dtype=bool)
    for each in inner:
        here = x.operation == x.operations.index(each)
        numbers = np.array([*map(operations.index, each.tensor.operations), -1])
        operation[here] = numbers[each.tensor.operation[x.place[here]]]
        place[here] = each.tensor.place[x.place[here]]
        taken |= here
    starts = np.cumsum(largest.sizes) - largest.sizes
    extended = np.logical_or.reduceat(taken, starts)
    at = starts[extended]
    tensor = _pruned(operations, np.insert(operation, at, -1), np.insert(place, at, 0))
    return Largest(largest.name, tensor, largest.sizes + extended)


def _pruned(operations: Sequence[Operation], operation: np.ndarray, place: np.ndarray) -> Tensor:
    """Return a tensor that lists only those operations that its elements are results of."""
    used = np.unique(operation[operation >= 0])
    numbers = np.full(len(operations) + 1, -1)
    numbers[used] = np.arange(len(used))
    return Tensor((len(operation),), tuple(operations[number] for number in used), numbers[operation], place)
