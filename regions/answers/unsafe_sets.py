# SPDX-License-Identifier: MIT
"""Which outputs are unsafe?

A union of polytopes of linear inequalities on outputs and inputs, as in VNN-LIB. In the graph of a network each
inequality becomes an output that is at least 0 where the inequality is satisfied, and above 0 if it is strict: its
*slack*. Weights are not multiplied, so nothing is rounded, and exact arithmetic sees the numbers as they were given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from regions.ground.arithmetic.arguments import list_of
from regions.ground.arithmetic.arrays import as_numpy, exact_float64
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.networks.graph import Graph
from regions.networks.parts import with_forms, with_largest

__all__ = ["Polytope", "Rows", "UnsafeSets", "as_polytopes", "is_unsafe", "joined", "owners", "slacks", "with_depths"]

# Users pass pairs (A, b), triples (A, b, C), or quadruples (A, b, C, strict).
UnsafeSets = Iterable[Sequence[ArrayLike]]


class Polytope(NamedTuple):
    """The outputs y and inputs x with ``A y + C x <= b``, where some inequalities may be strict.

    Attributes
    ----------
    outputs : float64 [k, n_out]
        A, a row for each inequality.
    bounds : float64 [k]
        b.
    inputs : float64 [k, n_in]
        C.
    strict : bool [k]
        Which inequalities are strict, so that their boundary is left out.
    """

    outputs: Floats
    bounds: Floats
    inputs: Floats
    strict: Bits


@dataclass(frozen=True)
class Rows:
    """The rows of a polytope among the rows of all polytopes.

    Attributes
    ----------
    numbers : int64 [k]
    strict : bool [k]
        Which of them are strict.
    """

    numbers: Integers
    strict: Bits

    def has(self, slack: Sequence[Any]) -> bool:
        """Return whether slacks, one for each row of all polytopes, satisfy these rows."""
        rows = zip(self.numbers.tolist(), self.strict.tolist(), strict=True)
        return all(slack[i] > 0 if strict else slack[i] >= 0 for i, strict in rows)

    def touches(self, slack: Sequence[Any]) -> bool:
        """Return whether slacks would satisfy these rows if none of them was strict."""
        return all(slack[i] >= 0 for i in self.numbers.tolist())


def as_polytopes(unsafe: UnsafeSets, n_in: int, n_out: int) -> tuple[Polytope, ...]:
    """Return the polytopes that a user passed, checked.

    Raises
    ------
    TypeError, ValueError
        They do not fit these numbers of inputs and outputs.
    """
    result = []
    for index, given in enumerate(list_of(unsafe, "unsafe", "a list of pairs (A, b)")):
        parts = list_of(given, f"unsafe[{index}]", "a pair (A, b)")
        if len(parts) not in (2, 3, 4):
            raise ValueError(
                f"unsafe[{index}] must be a pair (A, b), a triple (A, b, C), or (A, b, C, strict), "
                f"got {len(parts)} items"
            )
        rows, bounds = exact_float64(parts[0], f"unsafe[{index}]: A"), exact_float64(parts[1], f"unsafe[{index}]: b")
        if rows.ndim != 2 or bounds.shape != rows.shape[:1] or rows.shape[1:] != (n_out,) or not len(rows):
            raise ValueError(
                f"unsafe[{index}]: A must have one row for each inequality and {n_out} columns, one for each output, "
                f"and b one number for each row; got shapes {list(rows.shape)} and {list(bounds.shape)}"
            )
        inputs, strict = np.zeros((len(rows), n_in)), np.zeros(len(rows), dtype=bool)
        if len(parts) > 2:
            inputs = exact_float64(parts[2], f"unsafe[{index}]: C")
        if inputs.shape != (len(rows), n_in):
            raise ValueError(
                f"unsafe[{index}]: C must have as many rows as A and {n_in} columns, one for each input; got shape "
                f"{list(inputs.shape)}"
            )
        if len(parts) > 3:
            strict = as_numpy(parts[3], f"unsafe[{index}]: strict").copy()
        if strict.shape != (len(rows),) or strict.dtype != bool:
            raise ValueError(
                f"unsafe[{index}]: strict must have a bool for each row of A; got {strict.dtype} of shape "
                f"{list(strict.shape)}"
            )
        result.append(Polytope(rows, bounds, inputs, strict))
    if not result:
        raise ValueError("unsafe is empty: name at least one pair (A, b)")
    return tuple(result)


def slacks(graph: Graph, polytopes: Sequence[Polytope]) -> Graph:
    """Return the graph whose outputs are the slacks ``b - A y - C x`` of all rows of polytopes, in order."""
    rows, bounds, inputs, _ = (np.concatenate(parts) for parts in zip(*polytopes, strict=True))
    return with_forms(graph, -rows, bounds, -inputs)


def joined(polytopes: Sequence[Polytope]) -> tuple[Polytope, list[Rows]]:
    """Return one polytope with the rows of all, and the rows of each.

    Bounds of one input that several polytopes have are there once. A file with decimals gives each of its polytopes the
    bounds of the box, and a cell of a box can be touched by few rows.
    """
    rows, bounds, inputs, strict = (np.concatenate(parts) for parts in zip(*polytopes, strict=True))
    numbers = np.arange(len(bounds))
    shared = np.flatnonzero(~rows.any(axis=1) & (np.count_nonzero(inputs, axis=1) == 1))
    if len(shared):
        _, first, which = np.unique(np.c_[inputs, bounds][shared], axis=0, return_index=True, return_inverse=True)
        numbers[shared] = shared[first][which.ravel()]
    kept, numbers = np.unique(numbers, return_inverse=True)
    each = np.split(numbers, np.cumsum([len(one.bounds) for one in polytopes])[:-1])
    whole = Polytope(rows[kept], bounds[kept], inputs[kept], strict[kept])
    return whole, [Rows(own, one.strict) for own, one in zip(each, polytopes, strict=True)]


def with_depths(graph: Graph, polytopes: Sequence[Polytope]) -> Graph:
    """Return the graph whose outputs are, for each polytope, the greatest ``A y + C x - b`` over its rows.

    The output of a polytope is at most 0 exactly at its points, if no inequality is strict.
    """
    sizes, of_rows = [len(each.bounds) for each in polytopes], slacks(graph, polytopes)
    if max(sizes) == 1:
        return with_forms(of_rows, -np.eye(len(sizes)))
    return with_largest(of_rows, sizes, -1.0)


def owners(polytopes: Sequence[Polytope]) -> list[Rows]:
    """Return the rows of each polytope."""
    ends = np.cumsum([len(each.bounds) for each in polytopes])
    starts = [0, *ends[:-1]]
    return [Rows(np.arange(*span), each.strict) for *span, each in zip(starts, ends, polytopes, strict=True)]


def is_unsafe(slack: Sequence[Any], rows: Sequence[Rows]) -> bool:
    """Whether slacks, one for each row, satisfy all rows of a polytope."""
    return any(own.has(slack) for own in rows)
