# SPDX-License-Identifier: MIT
"""How are operations turned into nodes of a network?

An affine operation becomes part of a node only when it is read. If only an activation reads it, its rows and the units
of the activation are one node. If only a sum reads it, the sum takes over its rows. Otherwise it becomes a node whose
units are the identity.
Matrices are never multiplied, because products of doubles are not doubles. Only a scaling, such as a batch norm, is
folded, in float64: into the affine operation just before it or, after an activation, into the dense operation that
follows. A note says if that rounds.
Invariant: nodes come in the order of operations, so each reads earlier ones. Memory is charged before it is allocated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.types import Floats, Integers
from regions.networks.activation import Activation
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Maxima, Node, Operator, Read, Units
from regions.networks.lattice import Lattice
from regions.networks.named_activations import identity
from regions.networks.patches import Patches
from regions.read.graphs.operations import Activated, Affine, Inputs, Largest, Operation, Tensor, tensors_read
from regions.read.scaling import Scaling, add, multiply

__all__ = ["Charge", "graph_of"]

# Checks that the budget allows more bytes: bytes that the network keeps, and temporary ones.
Charge = Callable[[int, int], None]
# Bytes of a unit: a bias, an index, and a source, a kind and a target in the operator that reads it. Rows that are not
# yet in a node have only a bias and an index.
UNIT_BYTES = 32
WAITING_BYTES = 12
# To look up a number that a node reads: its owner, its position, the selection, and copies of these.
ROW_BYTES = 72
# Number of temporary copies of the lists of patches: LISTS to look up the inputs, SORTED_LISTS if patches read several
# nodes and are sorted by them.
LISTS, SORTED_LISTS = 3, 12
# Each read is an operator with its arrays, which takes 60 microseconds to make. All reads within the limit take three
# seconds.
READ_BYTES = 6000
# A matrix for all units of a node has at most this many columns for each unit that is read.
MOST_COLUMNS = 4


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a node before its activation. ``where`` has the row of each element of the operation."""

    name: str
    reads: tuple[Read, ...]
    biases: Floats
    where: NDArray[np.int64]


def graph_of(operations: Sequence[Operation], outputs: Tensor, charge: Charge) -> tuple[Graph, list[str]]:
    """Return the graph whose outputs are the elements of a tensor, and notes on folded scalings.

    Parameters
    ----------
    operations : sequence of Operation
        Each reads earlier ones; the first one is the inputs.
    outputs : Tensor
    charge : callable
        Called before nodes are made.
    """
    making = _Making(operations, outputs)
    charge(*making.bytes())
    return making.graph(), making.notes


class _Making:
    """The nodes of the operations added so far."""

    def __init__(self, operations: Sequence[Operation], outputs: Tensor) -> None:
        self.outputs, self.notes, self.nodes = outputs, list[str](), list[Node]()
        self.sizes = [operations[0].size]  # of the inputs, then of each node
        wanted = set(outputs.operations)
        for operation in reversed(operations):
            if operation in wanted:
                wanted.update(read for tensor in tensors_read(operation) for read in tensor.operations)
        self.operations = [operation for operation in operations if operation in wanted]
        # Number of reads of each operation, including reads by the outputs; a tensor read twice counts twice.
        self.uses = Counter(outputs.operations)
        for operation in self.operations:
            self.uses.update(read for tensor in tensors_read(operation) for read in tensor.operations)
        # For each result of an operation, its node and its unit there; or rows that are not yet in a node.
        self.results: dict[Operation, tuple[int, NDArray[np.int64]]] = {}
        self.waiting: dict[Operation, _Rows] = {}
        self.kinks = 0
        self.folded: set[Operation] = set()  # scalings that were folded into the operation before them

    def bytes(self) -> tuple[int, int]:
        """Return the bytes that the nodes keep, and the bytes that are needed only while they are made."""
        kept, passing = UNIT_BYTES * self.outputs.size, 0
        for operation in self.operations:
            kept += (WAITING_BYTES if isinstance(operation, Affine) else UNIT_BYTES) * operation.size
        for tensor in [self.outputs, *(tensor for each in self.operations for tensor in tensors_read(each))]:
            kept += READ_BYTES * len(tensor.operations)
            passing = max(passing, ROW_BYTES * tensor.size)
        for operation in self.operations:
            for operator, tensor in operation.terms if isinstance(operation, Affine) else ():
                lists = operator.sources.nbytes + operator.targets.nbytes if isinstance(operator, Patches) else 0
                kept += lists
                passing = max(passing, (SORTED_LISTS if len(tensor.operations) > 1 else LISTS) * lists)
        return kept, passing

    def graph(self) -> Graph:
        taken = {self.outputs.operations[0]} if self.outputs.in_order() else set[Operation]()
        for operation in self.operations:
            taken.update(self._takes(operation))
        for operation in self.operations:
            if isinstance(operation, Inputs):
                self.results[operation] = -1, np.arange(operation.size)
            elif isinstance(operation, Activated):
                self._activate(operation)
            elif isinstance(operation, Largest):
                self._maximize(operation)
            else:
                rows = self._rows(operation)
                if operation in taken and self.uses[operation] == 1:
                    self.waiting[operation] = rows
                else:
                    self._add(rows, identity(), operation)
        rows = self._selected(self.outputs, "outputs")
        if not _in_order(rows.where):
            self._add(rows, identity(), self.outputs.operations[0])
            rows = self._selected(self.outputs, "outputs")
        self._add(rows, identity(), None)
        return Graph(self.sizes[0], self.nodes)

    def _takes(self, operation: Operation) -> list[Operation]:
        """Return the operations read by an operation whose rows it can take over."""
        if isinstance(operation, Activated) or (isinstance(operation, Affine) and operation.scaling is not None):
            tensors = [tensor for tensor in tensors_read(operation) if tensor.where() is not None]
        elif isinstance(operation, Largest):
            tensors = [operation.tensor] if operation.tensor.without_constants().where() is not None else []
        elif isinstance(operation, Affine) and len(operation.terms) > 1:
            tensors = [tensor for operator, tensor in operation.terms if _is_sign(operator) and tensor.in_order()]
        elif isinstance(operation, Affine):
            ((operator, tensor),) = operation.terms
            waits = isinstance(operator, Dense) and tensor.in_order() and _is_scaling(tensor.operations[0])
            tensors = [tensor] if waits else []
        else:
            tensors = []
        return [tensor.operations[0] for tensor in tensors]

    def _activate(self, operation: Activated) -> None:
        rows = self._selected(operation.tensor, operation.name)
        # Unit i has the row of result j with where[j] == i.
        order = np.empty(operation.size, dtype=np.int64)
        order[rows.where] = np.arange(operation.size)
        activation = operation.activation
        if activation.slopes.ndim > 1:
            slopes, intercepts = activation.slopes[order], activation.intercepts[order]
            activation = Activation(activation.name, activation.breakpoints, slopes, intercepts)
        self._add(rows, activation, operation)

    def _maximize(self, operation: Largest) -> None:
        """Add max units. Their branches are rows in the order of the tensor; a constant 0 is a row without reads."""
        tensor = operation.tensor
        constant = tensor.operation < 0
        name = "max(0, ..)" if constant.any() else "max"
        rows = self._selected(tensor if constant.all() else tensor.without_constants(), operation.name)
        branches = np.arange(tensor.size) if constant.all() else np.flatnonzero(~constant)
        # The row i that is not constant is the branch places[i].
        places = np.empty(len(branches), dtype=np.int64)
        places[rows.where] = branches
        biases = np.zeros(tensor.size)
        biases[places] = rows.biases
        reads = tuple(Read(_placed(read.operator, places, tensor.size), read.node) for read in rows.reads)
        units = Maxima.of_sizes(operation.sizes, name)
        ready = _Rows(rows.name, reads, biases, np.arange(tensor.size))
        self._add_units(ready, units, np.arange(units.count), operation)

    def _selected(self, tensor: Tensor, name: str) -> _Rows:
        """Return the elements of a tensor as rows; rows that are not yet in a node are taken over."""
        rows = self.waiting.pop(tensor.operations[0], None) if tensor.where() is not None else None
        if rows is not None:
            return replace(rows, where=rows.where[tensor.place])
        every = np.arange(tensor.size)
        return _Rows(name, self._reads(Patches.selection(tensor.size, every), tensor), np.zeros(tensor.size), every)

    def _rows(self, operation: Affine) -> _Rows:
        if operation.scaling is not None:
            folded = self._folded(operation.scaling, operation.terms[0][1])
            if folded is not None:
                self.folded.add(operation)
                return folded
        reads: list[Read] = []
        biases = operation.biases
        for operator, tensor in operation.terms:
            rows = self.waiting.get(tensor.operations[0])
            if rows is None:
                reads += self._reads(operator, tensor)
            elif len(operation.terms) == 1 and tensor.operations[0] not in self.folded:
                return self._folded_forwards(operation, rows, tensor)
            elif len(operation.terms) == 1:
                self._add(self.waiting.pop(tensor.operations[0]), identity(), tensor.operations[0])
                reads += self._reads(operator, tensor)
            else:
                sign = float(operator.row(0)[0])
                sums, exact = add(biases, sign * rows.biases)
                del self.waiting[tensor.operations[0]]
                if exact and _in_order(rows.where):
                    biases = sums
                    reads += rows.reads if sign == 1.0 else [_negated(read) for read in rows.reads]
                else:
                    self._add(rows, identity(), tensor.operations[0])
                    reads += self._reads(operator, tensor)
        return _Rows(operation.name, tuple(reads), biases, np.arange(operation.size))

    def _folded(self, scaling: Scaling, tensor: Tensor) -> _Rows | None:
        """Fold a scaling into the rows just before it; None without such rows, or if that needs too many blocks."""
        rows = self.waiting.get(tensor.operations[0])
        if rows is None or tensor.where() is None:
            return None
        where = rows.where[tensor.place]
        factors, shifts = np.empty_like(scaling.scale), np.empty_like(scaling.shift)
        factors[where], shifts[where] = scaling.scale, scaling.shift
        reads, exact = [], scaling.exact
        for read in rows.reads:
            operator, products_exact = _scaled(read.operator, factors)
            if operator is None:
                del self.waiting[tensor.operations[0]]
                self._add(rows, identity(), tensor.operations[0])
                return None
            reads.append(Read(operator, read.node))
            exact = exact and products_exact
        products, products_exact = multiply(rows.biases, factors)
        biases, sums_exact = add(products, shifts)
        self._note(scaling, exact and products_exact and sums_exact, f"{rows.name}, which precedes it")
        del self.waiting[tensor.operations[0]]
        return _Rows(rows.name, tuple(reads), biases, where)

    def _folded_forwards(self, operation: Affine, rows: _Rows, tensor: Tensor) -> _Rows:
        """Fold a scaling into the dense operation that follows it."""
        ((operator, _),) = operation.terms
        scaled = tensor.operations[0]
        assert isinstance(operator, Dense) and isinstance(scaled, Affine) and scaled.scaling is not None
        del self.waiting[scaled]
        weights, biases, exact = scaled.scaling.before(operator.weights, operation.biases)
        self._note(scaled.scaling, exact, f"{operation.name}, which follows it")
        reads = self._reads(Dense(weights), scaled.terms[0][1])
        return _Rows(operation.name, reads, biases, np.arange(operation.size))

    def _note(self, scaling: Scaling, exact: bool, into: str) -> None:
        if not exact:
            self.notes.append(
                f"{scaling.kind} {scaling.name} folded into {into}, in float64; results are for the rounded weights"
            )

    def _reads(self, operator: Operator, tensor: Tensor) -> tuple[Read, ...]:
        """Convert an operator on the elements of a tensor to operators on the outputs of nodes."""
        # The elements that are results of each operation. Constants, which belong to no operation, come first.
        order = np.argsort(tensor.operation, kind="stable")
        ends = np.searchsorted(tensor.operation[order], np.arange(-1, len(tensor.operations)), side="right")
        own: dict[int, list[tuple[Integers, Integers]]] = {}
        for operation, start, end in zip(tensor.operations, ends, ends[1:], strict=False):
            if start < end:
                elements = order[start:end]
                node, unit_of = self.results[operation]
                own.setdefault(node, []).append((elements, unit_of[tensor.place[elements]]))
        # A tensor of constants needs one empty operator, here on the inputs.
        nodes = sorted(own) or [-1]
        nothing = [(order[:0], order[:0])]
        parts = [_joined(own.get(node, nothing), self.sizes[node + 1]) for node in nodes]
        return tuple(map(Read, _composed(operator, parts), nodes))

    def _add(self, rows: _Rows, activation: Activation, operation: Operation | None) -> None:
        self._add_units(rows, Units(len(rows.biases), activation), rows.where, operation)

    def _add_units(
        self, rows: _Rows, units: Units | Maxima, where: NDArray[np.int64], operation: Operation | None
    ) -> None:
        """Add a node; ``where`` has the unit of each result of its operation."""
        kinks = slice(self.kinks, self.kinks + units.kinks)
        if operation is not None:
            self.kinks, self.results[operation] = kinks.stop, (len(self.nodes), where)
        self.nodes.append(Node(rows.biases, rows.reads, units, kinks, rows.name))
        self.sizes.append(units.count)


def _in_order(where: NDArray[np.int64]) -> bool:
    return bool((where == np.arange(len(where))).all())


def _is_sign(operator: Operator) -> bool:
    """Return whether an operator multiplies its inputs by 1 or -1."""
    return isinstance(operator, Patches) and operator.kernels.size == 1 and abs(operator.kernels.item()) == 1.0


def _is_scaling(operation: Operation) -> bool:
    return isinstance(operation, Affine) and operation.scaling is not None


def _negated(read: Read) -> Read:
    return Read(read.operator.entrywise(np.negative), read.node)


@dataclass(frozen=True, eq=False)
class _Part:
    """The inputs of an operator that are units of one node: unit ``units[i]``, of ``size`` units, is input
    ``inputs[i]``.
    """

    inputs: NDArray[np.int64]
    units: NDArray[np.int64]
    size: int


def _joined(pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]], size: int) -> _Part:
    """Return several parts of one node as one, in the order of inputs."""
    if len(pairs) == 1:
        return _Part(*pairs[0], size)
    inputs, units = (np.concatenate(each) for each in zip(*pairs, strict=True))
    order = np.argsort(inputs)
    return _Part(inputs[order], units[order], size)


def _composed(operator: Operator, parts: Sequence[_Part]) -> list[Operator]:
    """Return the operator on the units of each node that its inputs come from; an input may be in no part.

    The cost for all parts together is about the size of the operator.
    """
    if isinstance(operator, Dense):
        return [_of_columns(operator.weights, part) for part in parts]
    owners, units = np.full((2, operator.inputs + 1), -1, dtype=np.int32)  # the last one is for sources of -1
    for number, part in enumerate(parts):
        owners[part.inputs], units[part.inputs] = number, part.units
    owner, sources = owners[operator.sources], units[operator.sources]
    if len(parts) == 1:
        patches, columns = (np.flatnonzero((owner == 0).any(axis=axis)) for axis in (1, 0))
        return [_restricted(operator, patches, columns, sources[patches][:, columns], parts[0].size)]
    entries = np.argsort(owner, axis=None, kind="stable")
    ends = np.searchsorted(owner.ravel()[entries], np.arange(-1, len(parts)), side="right")
    result: list[Operator] = []
    for part, start, end in zip(parts, ends, ends[1:], strict=False):
        patch, column = np.divmod(entries[start:end], max(1, sources.shape[1]))
        comes_first = np.diff(patch, prepend=-1) > 0
        patches, columns = patch[comes_first], np.flatnonzero(np.bincount(column, minlength=1))
        few = np.full((len(patches), len(columns)), -1, dtype=np.int32)
        few[np.cumsum(comes_first) - 1, np.searchsorted(columns, column)] = sources[patch, column]
        result.append(_restricted(operator, patches, columns, few, part.size))
    return result


def _restricted(
    operator: Patches,
    patches: NDArray[np.int64],
    columns: NDArray[np.int64],
    sources: NDArray[np.int32],
    size: int,
) -> Patches:
    """Return some patches with some of their columns, as an operator on a number of units."""
    kernels, kinds, targets = operator.kernels[:, :, columns], operator.kinds[patches], operator.targets[patches]
    at = operator.lattice
    lattice = None if at is None else Lattice(at.corners[patches], at.offsets[columns])
    return Patches(size, operator.outputs, kernels, kinds, sources, targets, lattice)


def _of_columns(weights: Floats, part: _Part) -> Operator:
    """Return a matrix on the units of a node; some of the units are its columns."""
    outputs, inputs = weights.shape
    if len(part.inputs) == inputs:
        own = weights
    elif len(part.inputs) == 1:
        own = weights[:, part.inputs[0], np.newaxis]
    else:
        own = weights[:, part.inputs]
    if len(part.units) == part.size and (part.size == 1 or _in_order(part.units)):
        return Dense(own)
    few = part.size <= MOST_COLUMNS * len(part.units)
    if few and len(np.unique(part.units)) == len(part.units):
        spread = np.zeros((outputs, part.size))
        spread[:, part.units] = own
        return Dense(spread)
    lists = (
        np.zeros(1, np.int32),
        part.units[np.newaxis].astype(np.int32),
        np.arange(outputs, dtype=np.int32)[np.newaxis],
    )
    return Patches(part.size, outputs, own[np.newaxis], *lists)


def _placed(operator: Operator, places: NDArray[np.int64], outputs: int) -> Operator:
    """Return an operator with more outputs, which are 0; its own outputs get the given indices."""
    if len(places) == outputs and _in_order(places):
        return operator
    if isinstance(operator, Dense):
        weights = np.zeros((outputs, operator.inputs))
        weights[places] = operator.weights
        return Dense(weights)
    return replace(operator, outputs=outputs, targets=places[operator.targets].astype(np.int32))


def _scaled(operator: Operator, factors: Floats) -> tuple[Operator | None, bool]:
    """Return the operator with its outputs multiplied by factors, and whether nothing was rounded."""
    if isinstance(operator, Dense):
        weights, exact = multiply(operator.weights, factors[:, np.newaxis])
        return Dense(weights), exact
    # Each different row of factors needs its own block.
    told_apart = np.column_stack([operator.kinds, factors[operator.targets]])
    blocks, kinds = np.unique(told_apart, axis=0, return_inverse=True)
    if len(blocks) * operator.kernels[:1].size > operator.kernels.size + operator.sources.size:
        return None, False
    kernels, exact = multiply(operator.kernels[blocks[:, 0].astype(np.intp)], blocks[:, 1:, np.newaxis])
    return replace(operator, kernels=kernels, kinds=kinds.ravel().astype(np.int32)), exact
