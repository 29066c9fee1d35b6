# SPDX-License-Identifier: MIT
"""What is one application of an operator in an exported program of torch?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regions.read.graphs.nodes import GraphNode

__all__ = ["VIEWS", "ExportedNode", "Name", "Word"]

# Operators whose result shares, or may share, memory with their argument.
VIEWS = {
    *("view", "reshape", "_unsafe_view", "flatten", "unflatten", "permute", "transpose", "t", "numpy_T", "movedim"),
    *("moveaxis", "swapaxes", "swapdims", "slice", "select", "narrow", "chunk", "split", "split_with_sizes", "unbind"),
    *("tensor_split", "unsqueeze", "squeeze", "expand", "expand_as", "contiguous", "to", "type_as", "detach", "alias"),
    *("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "positive", "view_as", "reshape_as"),
    *("diagonal", "as_strided", "unfold", "mT", "mH", "adjoint", "real", "float", "double", "half", "cpu", "identity"),
    *("einsum", "ravel", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_to"),
    *("hsplit", "vsplit", "dsplit", "unsafe_chunk", "unsafe_split", "sum_to_size", "matrix_H", "conj", "imag", "type"),
    *("resolve_conj", "resolve_neg", "lift_fresh", "bfloat16"),
}


@dataclass(frozen=True)
class Name:
    """A value of another node."""

    name: str


@dataclass(frozen=True)
class Word:
    """A constant of torch, of which only the number is used: an element type, a layout, a device."""

    kind: str
    number: Any = None


@dataclass(frozen=True)
class ExportedNode(GraphNode):
    """One application of an operator; its name is without the overload, and without the underscore of in-place
    operators.

    Attributes
    ----------
    target : str
        The operator's name in the file; printable.
    arguments : dict of str to None, bool, int, float, str, Name, Word, or a list of these
    types : list of (int or None)
        Element type of each output, by its number in the schema.
    in_place : bool
    several : bool
        Whether its result is a list of values.
    channels_last : bool
        Whether the channels of the first tensor that it reads are innermost in memory.
    """

    target: str
    arguments: dict[str, Any]
    types: list[int | None]
    in_place: bool
    several: bool
    channels_last: bool

    @property
    def said(self) -> str:
        return self.target
