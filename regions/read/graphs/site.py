# SPDX-License-Identifier: MIT
"""How are the operations of one graph node added, within a memory budget?

Readers of all graph formats translate each node into calls of `GraphBuilder`. A `Site` is the node that is being read:
it passes the calls on with the node's name, and its messages name the node. Shapes keep the axis of the batch, which
has length 1, so that axis numbers in the file stay valid.
Invariant: the memory of the network is limited in proportion to the size of the file, even if the file uses one tensor
many times.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import (
    AmbiguousCheckpointError,
    EmptyLayerError,
    NotACheckpointError,
    ShapeMismatchError,
    UnsupportedLayerError,
)
from regions.files import limits
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.text.printable import printable
from regions.networks.activation import Activation
from regions.networks.dense import Dense
from regions.networks.graph import Operator
from regions.read.graphs.builder import GraphBuilder
from regions.read.graphs.nodes import GraphNode
from regions.read.graphs.operations import Tensor
from regions.read.scaling import Scaling

__all__ = ["Reading", "Site", "places"]

# Memory for each element of a tensor.
BYTES_OF_ELEMENT = 16


@dataclass
class Reading:
    """A file that is being read.

    Attributes
    ----------
    file, size
        Its name for messages, and its size in bytes.
    builder : GraphBuilder
        The operations read so far.
    notes : list of str
        Notes for the user.
    input_shape : tuple of int
        Without the axis of the batch.
    input_names : dict of str to slice
        The part of the input vector that each named input takes.
    built, products : int
        Bytes, and products of constants, that have been counted.
    computed : list of str
        The nodes whose results are computed from constants, for a note.
    steps, makers
        How constants were computed; see `regions.read.graphs.constants.rounding`.
    rows : int
        The length of the batch in the file, if one row of it is read; see `regions.read.graphs.rows`.
    """

    file: str
    size: int
    builder: GraphBuilder = field(default_factory=GraphBuilder)
    notes: list[str] = field(default_factory=list)
    input_shape: tuple[int, ...] = ()
    input_names: dict[str, slice] = field(default_factory=dict)
    built: int = 0
    products: int = 0
    computed: list[str] = field(default_factory=list)
    steps: list[Any] = field(default_factory=list)
    makers: dict[int, Any] = field(default_factory=dict)
    rows: int = 1

    def charge(self, kept: int, passing: int = 0) -> None:
        """Count ``kept`` more bytes, and check that they and ``passing`` temporary bytes are within the budget.

        Raises
        ------
        FileTooLargeError
            They are more than the size of the file allows.
        """
        self.built += kept
        limits.require_layers(self.file, self.size, self.built + passing)

    def charge_products(self, count: int) -> None:
        """Count products that compute constants from constants, and check that they are within the budget.

        Raises
        ------
        FileTooLargeError
            There are too many products for one file.
        """
        self.products += count
        limits.require_products(self.file, self.products)

    def note_what_was_computed(self) -> None:
        """Add a note on the nodes whose results are computed from constants, if there are any."""
        if self.computed:
            named = list(dict.fromkeys(self.computed))
            more = f" and {len(named) - 8} more" if len(named) > 8 else ""
            self.notes.append(f"computed from constants, in float64: {', '.join(named[:8])}{more}")

    def inputs(self, given: Sequence[tuple[str, str, Sequence[int | None]]]) -> list[Tensor]:
        """Return the inputs of the model, as parts of one vector in this order.

        Each is given by its name, its description for messages, and its lengths. Only the first length, of the batch,
        may be None.

        Raises
        ------
        AmbiguousCheckpointError, EmptyLayerError, ShapeMismatchError
            A length other than the batch's is not fixed; no numbers; too many numbers.
        """
        shapes = [self._shape_of_input(what, lengths) for _, what, lengths in given]
        ends = [0, *accumulate(map(prod, shapes))]
        if ends[-1] > limits.MAX_INPUTS:
            raise ShapeMismatchError(
                f"the inputs have {ends[-1]} numbers; at most {limits.MAX_INPUTS:,} numbers are read"
            )
        self.charge(BYTES_OF_ELEMENT * ends[-1])
        self.input_names = {name: slice(*pair) for (name, *_), pair in zip(given, pairwise(ends), strict=True)}
        if len(shapes) == 1:
            (shape,) = shapes
            batch = len(shape) > 1 and shape[0] == 1
            self.input_shape = tuple(shape[1:] if batch else shape) or (1,)
            return [self.builder.input(shape)]
        self.input_shape = (ends[-1],)
        self.notes.append(f"several inputs are read as one vector: {_ranges(self.input_names)}")
        whole = self.builder.input(self.input_shape)
        return [
            self.builder.rearranged(whole, np.arange(start, end).reshape(shape))
            for shape, (start, end) in zip(shapes, pairwise(ends), strict=True)
        ]

    def outputs(self, given: Sequence[tuple[str, Tensor]], quiet: Collection[str] = ()) -> Tensor:
        """Return the outputs of the model, by name, as one vector in this order.

        Equal tensors occur only once, and a note says which are left out, except ``quiet`` ones.
        """
        names_of = dict[tuple[bytes, bytes], str]()
        chosen = dict[str, Tensor]()
        again = list[tuple[str, str]]()
        for name, tensor in given:
            first = names_of.setdefault(tensor.content(), name)
            if first not in chosen:
                chosen[name] = tensor
            elif name not in quiet:
                again.append((name, first))
        if again:
            more = f" and {len(again) - 8} more" if len(again) > 8 else ""
            shown = ", ".join(f"{printable(name)!r} has those of {printable(first)!r}" for name, first in again[:8])
            self.notes.append(f"outputs with the same numbers are read once: {shown}{more}")
        tensors = list(chosen.values())
        if len(tensors) == 1:
            return tensors[0]
        ends = [0, *accumulate(tensor.size for tensor in tensors)]
        self.charge(BYTES_OF_ELEMENT * ends[-1])
        names = {name: slice(*pair) for name, pair in zip(chosen, pairwise(ends), strict=True)}
        self.notes.append(f"several outputs are read as one vector: {_ranges(names)}; outputs= chooses among them")
        return self.builder.joined([self.builder.rearranged(x, places(x).ravel()) for x in tensors], 0)

    def _shape_of_input(self, what: str, lengths: Sequence[int | None]) -> list[int]:
        if self.rows > 1:
            self.notes.append(f"{what} is a batch of {self.rows:,} rows, which the nodes keep apart: one row is read")
            lengths = [1, *lengths[1:]]
        unknown = [axis for axis, length in enumerate(lengths) if length is None and axis > 0]
        if unknown:
            raise AmbiguousCheckpointError(
                f"{what} has no fixed length along axis {unknown[0]}; export the model with a fixed shape, but for the "
                "batch"
            )
        shape = [1 if length is None else length for length in lengths]
        if not prod(shape):
            raise EmptyLayerError(
                f"{what} has no numbers, as an axis of it has length 0; export the model for an input that has some"
            )
        if len(shape) > limits.MAX_AXES or prod(shape) > limits.MAX_INPUTS:
            raise ShapeMismatchError(
                f"{what} has {len(shape)} axes and {prod(shape)} numbers; at most {limits.MAX_AXES} axes and "
                f"{limits.MAX_INPUTS:,} numbers are read"
            )
        if sum(length != 1 for length in shape) > 1:
            self.notes.append(f"{what} is read as {prod(shape)} numbers in the order of the array")
        return shape


def _ranges(names: Mapping[str, slice]) -> str:
    """Return a text that says which numbers have which name; if there are many names, the first ones."""
    shown = [f"{printable(name)!r} is {part.start} to {part.stop - 1}" for name, part in names.items()]
    return ", ".join([*shown[:8], *(["..."] if len(shown) > 8 else [])])


@dataclass(frozen=True)
class Site:
    """The node that is being read, and what its operations are added to."""

    reading: Reading
    node: GraphNode

    @property
    def label(self) -> str:
        """The node's name in messages."""
        return self.node.label

    def refused(self, what: str) -> NotACheckpointError:
        """Return the error for an impossible node."""
        return NotACheckpointError(f"{self.label} {what}")

    def several(self, x: Tensor) -> UnsupportedLayerError:
        """Return the error for a node that works on a batch."""
        return UnsupportedLayerError(
            f"{self.label} gets numbers of shape {list(x.shape)} and treats them as several inputs; export the model "
            "for single inputs, or for batches of any size"
        )

    def note(self, note: str) -> None:
        """Add a note that names the node."""
        self.reading.notes.append(f"{self.label} {note}")

    def charge(self, kept: int, passing: int = 0) -> None:
        """Call `Reading.charge`."""
        self.reading.charge(kept, passing)

    def rearranged(self, x: Tensor, sources: Integers) -> Tensor:
        """Return the numbers of x at flat positions, in the shape of the array of positions."""
        self._require_some(sources.shape)
        return self.reading.builder.rearranged(x, sources)

    def moved(self, x: Tensor, move: Callable[[NDArray[Any]], NDArray[Any]]) -> Tensor:
        """Return x with its numbers rearranged by a function of arrays, ``move``; see `GraphBuilder.moved`."""
        result = self.reading.builder.moved(x, move)
        self._require_some(result.shape)
        return result

    def joined(self, tensors: Sequence[Tensor], axis: int) -> Tensor:
        """Concatenate tensors along an axis; their other axes have equal lengths."""
        self._require_some([sum(x.size for x in tensors)])
        return self.reading.builder.joined(tensors, axis)

    def padded(self, x: Tensor, before: Sequence[int], after: Sequence[int]) -> Tensor:
        """Pad each axis with zeros."""
        self._require_some([length + low + high for length, low, high in zip(x.shape, before, after, strict=True)])
        return self.reading.builder.padded(x, before, after)

    def linear(self, x: Tensor, operator: Operator, biases: Floats | None, shape: Sequence[int]) -> Tensor:
        """Apply a linear operator to the flat numbers of x."""
        self._require_some(shape, (operator.weights if isinstance(operator, Dense) else operator.kernels).nbytes)
        return self.reading.builder.linear(x, operator, biases, shape, self.node.name)

    def summed(self, terms: Sequence[tuple[Tensor, float]]) -> Tensor:
        """Add tensors of one shape, each multiplied by a factor."""
        self._require_some(terms[0][0].shape, 20 * sum(x.size for x, _ in terms))
        return self.reading.builder.sum(terms, self.node.name)

    def scaled(
        self,
        x: Tensor,
        scale: Floats | float,
        shift: Floats | float = 0.0,
        *,
        exact: bool = True,
        kind: str | None = None,
        divisors: Floats | None = None,
    ) -> Tensor:
        """Return ``scale * x + shift``; both are numbers, or arrays that broadcast to the shape of x."""
        self.charge(0, 64 * x.size)
        each = [
            np.broadcast_to(part, x.shape).astype(np.float64).ravel() if np.ndim(part) else np.full(x.size, float(part))
            for part in (scale, shift)
        ]
        return self.by(x, Scaling(kind or self.node.said, self.node.name, each[0], each[1], exact, divisors).checked())

    def by(self, x: Tensor, scaling: Scaling) -> Tensor:
        """Apply a scaling, with one factor for each number of x in flat order."""
        self._require_some(x.shape, 40 * x.size)
        return self.reading.builder.scaled(x, scaling)

    def largest(self, x: Tensor, sizes: Integers, shape: Sequence[int]) -> Tensor:
        """Return the maximum of each group of consecutive numbers of x; group i has ``sizes[i]`` numbers."""
        pairs = int((sizes * (sizes - 1) // 2).sum())
        self._require_some(shape, 8 * sizes.nbytes + 24 * x.size + 40 * pairs)
        return self.reading.builder.largest(x, sizes, shape, self.node.name)

    def activated(self, x: Tensor, activation: Activation) -> Tensor:
        """Apply an activation to every number."""
        self._require_some(x.shape)
        return self.reading.builder.activated(x, activation, self.node.name)

    def _require_some(self, shape: Sequence[int], more: int = 0) -> None:
        """Check that a result of this shape is not empty, and charge it with ``more`` bytes."""
        self.require_axes(shape)
        if not prod(shape):
            raise self.refused(f"gives shape {list(shape)}, which has no numbers")
        self.charge(BYTES_OF_ELEMENT * prod(shape) + more)

    def require_axes(self, shape: Sequence[int]) -> None:
        """Refuse a shape with more axes than are read."""
        if len(shape) > limits.MAX_AXES:
            raise self.refused(f"gives {len(shape)} axes; at most {limits.MAX_AXES} are read")


def places(x: Tensor) -> Integers:
    """Return the flat position of each number of a tensor, in its shape."""
    return np.arange(x.size, dtype=np.int64).reshape(x.shape)
