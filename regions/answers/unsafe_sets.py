# SPDX-License-Identifier: MIT
"""Which outputs are unsafe?

A union of polytopes of linear inequalities on outputs and inputs, as in VNN-LIB. In the graph of a network each
inequality becomes an output that is at least 0 where the inequality is satisfied: its *slack*. Weights are not
multiplied, so nothing is rounded, and exact arithmetic sees the numbers as they were given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from regions.arithmetic.arguments import list_of
from regions.arithmetic.arrays import exact_float64
from regions.arithmetic.types import Floats, Integers
from regions.networks.graph import Graph
from regions.networks.parts import with_forms, with_largest

__all__ = ["Polytope", "UnsafeSets", "as_polytopes", "is_unsafe", "owners", "slacks", "with_depth"]

# What users pass: pairs (A, b), or triples (A, b, C).
UnsafeSets = Iterable[Sequence[ArrayLike]]


class Polytope(NamedTuple):
    """The outputs y and inputs x with ``A y + C x <= b``, boundary included.

    Attributes
    ----------
    outputs : float64 [k, n_out]
        A, a row for each inequality.
    bounds : float64 [k]
        b.
    inputs : float64 [k, n_in]
        C.
    """

    outputs: Floats
    bounds: Floats
    inputs: Floats


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
        if len(parts) not in (2, 3):
            raise ValueError(f"unsafe[{index}] must be a pair (A, b), or a triple (A, b, C), got {len(parts)} items")
        rows, bounds = exact_float64(parts[0], f"unsafe[{index}]: A"), exact_float64(parts[1], f"unsafe[{index}]: b")
        if rows.ndim != 2 or bounds.shape != rows.shape[:1] or rows.shape[1:] != (n_out,) or not len(rows):
            raise ValueError(
                f"unsafe[{index}]: A must have one row for each inequality and {n_out} columns, one for each output, "
                f"and b one number for each row; got shapes {list(rows.shape)} and {list(bounds.shape)}"
            )
        inputs = np.zeros((len(rows), n_in))
        if len(parts) == 3:
            inputs = exact_float64(parts[2], f"unsafe[{index}]: C")
        if inputs.shape != (len(rows), n_in):
            raise ValueError(
                f"unsafe[{index}]: C must have as many rows as A and {n_in} columns, one for each input; got shape "
                f"{list(inputs.shape)}"
            )
        result.append(Polytope(rows, bounds, inputs))
    if not result:
        raise ValueError("unsafe is empty: name at least one pair (A, b)")
    return tuple(result)


def slacks(graph: Graph, polytopes: Sequence[Polytope]) -> Graph:
    """Return the graph whose outputs are the slacks ``b - A y - C x`` of all rows of polytopes, in order."""
    rows, bounds, inputs = (np.concatenate(parts) for parts in zip(*polytopes, strict=True))
    return with_forms(graph, -rows, bounds, -inputs)


def with_depth(graph: Graph, polytopes: Sequence[Polytope]) -> Graph:
    """Return the graph with one output, the least over polytopes of the greatest ``A y + C x - b`` over rows.

    It is at most 0 where an output is unsafe.
    """
    inner = with_largest(slacks(graph, polytopes), [len(each.bounds) for each in polytopes], -1.0)
    outer = with_largest(inner, [len(polytopes)], -1.0)
    return with_forms(outer, np.array([[-1.0]]))


def owners(polytopes: Sequence[Polytope]) -> list[Integers]:
    """Return the numbers of the rows of each polytope, int64 [k] each."""
    ends = np.cumsum([len(each.bounds) for each in polytopes])
    return [np.arange(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def is_unsafe(slack: Sequence[Any], rows: Sequence[Integers]) -> bool:
    """Whether slacks, one for each row, are at least 0 for all rows of a polytope."""
    return any(all(slack[i] >= 0 for i in own.tolist()) for own in rows)
