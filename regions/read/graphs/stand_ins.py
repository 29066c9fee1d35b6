# SPDX-License-Identifier: MIT
"""How are values moved that are left out at the end?

A value such as tanh(h) is not an operation of a network. A stand-in takes its place: an operation of its own, which
operators that only move numbers handle as any other. Afterwards each element is traced back: it is either an element
of the value that went into such a function, with a formula, or an ordinary element, which is returned as it is.
Invariant: no operation of the network reads a stand-in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from regions.ground.arithmetic.types import Integers
from regions.read.graphs.operations import Inputs, Operation, Tensor
from regions.read.graphs.site import BYTES_OF_ELEMENT, Reading
from regions.read.graphs.tails import SHOWN, Formula

__all__ = ["StandIns", "Tail"]


@dataclass(frozen=True)
class Tail:
    """A value after nodes that are left out.

    Attributes
    ----------
    tensor : Tensor
        The value that goes into the first of these nodes, or the values that go into several, in the order of the
        elements of this one.
    steps : tuple of GraphNode
    formula : Formula or None
        Each number of the value as a monotone function of a number ``h`` of the tensor, if all have the same one.
    parts : tuple of (Formula, int64 [n])
        The formulas of a value that has several, and the positions of the numbers with each.
    value : Tensor, optional
        The value with its shape, made of stand-ins; None if its numbers cannot be moved.
    """

    tensor: Tensor
    steps: tuple[Any, ...]
    formula: Formula | None
    parts: tuple[tuple[Formula, Integers], ...] = ()
    value: Tensor | None = None

    @property
    def first(self) -> Any:
        return self.steps[0]

    def said(self, output: str) -> str | None:
        """Return what a note says about the numbers of an output; None if there is no formula."""
        if not self.parts:
            return self.formula.said if self.formula else None
        first, *rest = [f"{formula.said} as {_ranges(positions)}" for formula, positions in self.parts]
        return ", and ".join([f"{first} of output {output}", *rest])


@dataclass
class StandIns:
    """The stand-ins of one graph."""

    reading: Reading
    _tails: dict[Operation, Tail] = field(default_factory=dict)

    def put(
        self, tensor: Tensor, steps: tuple[Any, ...], formula: Formula, shape: Sequence[int]
    ) -> tuple[Tail, Tensor]:
        """Return a tail whose value has a shape, and the stand-in for this value."""
        self.reading.charge(BYTES_OF_ELEMENT * prod(shape))
        stand_in = Inputs(prod(shape))
        value = Tensor.of(stand_in, shape)
        self._tails[stand_in] = tail = Tail(tensor, steps, formula, (), value)
        return tail, value

    def are_read(self, tensors: Sequence[Tensor]) -> bool:
        """Return whether a tensor has an element that stands for another one."""
        return any(operation in self._tails for tensor in tensors for operation in tensor.operations)

    def traced(self, value: Tensor, node: Any) -> Tail | None:
        """Return the tail of a moved value; None if it has no stand-in, or the numbers of a formula are mixed up."""
        found = {number: self._tails[each] for number, each in enumerate(value.operations) if each in self._tails}
        builder = self.reading.builder
        each = [Tensor((one.size,), one.operations, one.operation, one.place) for one in _tensors(value, found)]
        starts = [0, *accumulate(one.size for one in each)]
        self.reading.charge(BYTES_OF_ELEMENT * value.size, BYTES_OF_ELEMENT * starts[-1])
        sources = np.arange(value.size)
        # A list of constants belongs to the numbers of one value.
        formulas: dict[tuple[Formula, int], list[Integers]] = {}
        rest = np.ones(value.size, dtype=bool)
        for start, (number, tail) in zip(starts[1:], found.items(), strict=False):
            here = np.flatnonzero(value.operation == number)
            if not len(here):
                continue
            places = value.place[here]
            assert tail.formula is not None
            if "[" in tail.formula.text and not np.array_equal(places, np.arange(tail.tensor.size)):
                return None
            sources[here], rest[here] = start + places, False
            formulas.setdefault((tail.formula, number if "[" in tail.formula.text else -1), []).append(here)
        if not formulas:
            return None
        if rest.any():
            formulas[Formula(), -1] = [np.flatnonzero(rest)]
        nodes = {id(step): step for tail in found.values() for step in tail.steps}
        parts = tuple((formula, np.sort(np.concatenate(positions))) for (formula, _), positions in formulas.items())
        tensor = builder.rearranged(builder.joined(each, 0), sources)
        single = parts[0][0] if len(parts) == 1 else None
        return Tail(tensor, (*nodes.values(), node), single, () if single else parts, value)


def _tensors(value: Tensor, found: dict[int, Tail]) -> list[Tensor]:
    return [value, *(tail.tensor for tail in found.values())]


def _ranges(positions: Integers) -> str:
    """Return positions as words: runs of consecutive ones, the first few of them."""
    runs = np.split(positions, np.flatnonzero(np.diff(positions) != 1) + 1)
    words = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs[:SHOWN]]
    return f"numbers {', '.join(words)}{', ..' if len(runs) > SHOWN else ''}"
