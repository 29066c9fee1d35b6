# SPDX-License-Identifier: MIT
"""Which value is the output of a graph of nodes, in any format that has names for values?

Only nodes that the outputs depend on are visited, in their order. Functions that are not piecewise linear are refused
where they are met, but for softmax and the like at the very end: such a tail is left out, and a note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from regions.errors import AmbiguousCheckpointError, UnsupportedLayerError
from regions.printable import printable
from regions.read.graph_nodes import Node, needed
from regions.read.operations import Tensor
from regions.read.site import Reading

__all__ = ["walk"]


def walk(
    reading: Reading,
    nodes: Sequence[Node],
    outputs: Sequence[str],
    visit: Callable[[Node], Any],
    tensor: Callable[[str], Tensor | None],
    *,
    cut: Collection[str],
    after_cut: Collection[str],
    advice: str,
) -> Tensor:
    """Visit the nodes that are needed, and return the tensor that is the output.

    Parameters
    ----------
    reading : Reading
        Gets the note on what was left out.
    nodes, outputs
        In order; names.
    visit : callable
        Reads a node whose inputs have been made.
    tensor : callable
        The tensor of a name; None for a constant.
    cut, after_cut : collections of str
        Operators that may be left out at the end, and those that may follow them there.
    advice : str
        What to do where there are several outputs.

    Raises
    ------
    UnsupportedLayerError
        What can only be left out at the end is not there.
    AmbiguousCheckpointError
        Several outputs, or none that depends on the input.
    """
    tail: set[str] = set()
    left_out: list[Node] = []
    results: list[Tensor] = []
    for node in needed(nodes, outputs):
        read = [tensor(name) for name in node.inputs if name and name not in tail]
        tensors = [one for one in read if one is not None]
        if any(name in tail for name in node.inputs):
            if node.operator not in after_cut:
                raise UnsupportedLayerError(
                    f"{left_out[0].label} is not piecewise linear, and comes before {node.label}; only at the very end "
                    "can it be left out"
                )
            if tensors:
                raise UnsupportedLayerError(
                    f"{left_out[0].label} is not piecewise linear, and {node.label} joins its result with another "
                    "value: the graph branches; only at the very end can it be left out"
                )
        elif node.operator in cut and tensors:
            results.append(tensors[0])
        else:
            visit(node)
            continue
        left_out.append(node)
        tail.update(filter(None, node.outputs))
    results += [one for one in (tensor(name) for name in outputs if name not in tail) if one is not None]
    if (
        not results
        or any(not _same(one, results[0]) for one in results)
        or any(name not in tail and tensor(name) is None for name in outputs)
    ):
        shown = ", ".join(repr(printable(name)) for name in outputs[:8])
        raise AmbiguousCheckpointError(
            f"{reading.file}: its outputs ({shown}) are not all made of the last layer; {advice}"
        )
    if left_out:
        rest = ", ".join(dict.fromkeys(node.operator for node in left_out[1:]))
        words = f"{left_out[0].label}{f' and {rest}' if rest else ''}"
        reading.notes.append(f"left out at the end: {words}; the outputs of this network are what goes into it")
    return results[0]


def _same(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors have the same numbers in the same order."""
    if first.size != second.size:
        return False
    owners = [[tensor.operations[number] for number in tensor.operation.tolist()] for tensor in (first, second)]
    return owners[0] == owners[1] and bool((first.place == second.place).all())
