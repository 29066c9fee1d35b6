# SPDX-License-Identifier: MIT
"""How are the nodes of a graph visited, and what becomes of its outputs?

Only nodes that the outputs depend on are visited, in their order. Functions that are not piecewise linear are refused,
except softmax and similar functions at the very end. Such a tail is left out, with a note. Several outputs become one
vector.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from regions.errors import AmbiguousCheckpointError, UnsupportedLayerError
from regions.read.graphs.nodes import Node, needed
from regions.read.graphs.operations import Tensor
from regions.read.graphs.site import Reading
from regions.text.printable import printable

__all__ = ["chosen_outputs", "walk"]


def walk(
    reading: Reading,
    nodes: Sequence[Node],
    outputs: Sequence[str],
    visit: Callable[[Node], Any],
    tensor: Callable[[str], Tensor | None],
    *,
    cut: Collection[str],
    after_cut: Collection[str],
    axis: Callable[[Node], Any],
    complement: str = "",
    named: bool = False,
    only_shapes: Collection[str] = (),
) -> Tensor:
    """Visit the necessary nodes, and return the tensor of all outputs, one after the other.

    Parameters
    ----------
    reading : Reading
        Receives the note on the tail that was left out.
    nodes, outputs
        The nodes in order, and the names of the outputs.
    visit : callable
        Reads a node whose inputs have been made.
    tensor : callable
        Returns the tensor of a name; None for a constant.
    cut, after_cut : collections of str
        Operators that may be left out at the end, and operators that may follow them there.
    axis : callable
        Returns the axis along which an operator that may be left out works; another value than an int if it has no
        axis.
    complement : str
        The operator among these that turns a probability p into 1 - p. It may only be joined with p, as scikit-learn's
        classifiers do.
    named : bool
        Whether the caller named the outputs.
    only_shapes : collection of str
        Values of which only the shape is read. Their nodes are visited, whatever they compute.

    Raises
    ------
    UnsupportedLayerError
        An operator that can only be left out at the end is elsewhere.
    AmbiguousCheckpointError
        An output that is not piecewise linear in the input, such as positions.
    """
    tail: dict[str, Tensor] = {}  # the operators that are left out at the end, and their input
    left_out: list[Node] = []
    used = needed(nodes, outputs)
    for node in used:
        read = [tensor(name) for name in node.inputs if name and name not in tail]
        tensors = [one for one in read if one is not None]
        ends = [tail[name] for name in node.inputs if name in tail]
        if ends:
            if node.operator not in after_cut:
                raise UnsupportedLayerError(
                    f"{left_out[0].label} is not piecewise linear, and comes before {node.label}; only at the very end "
                    f"can it be left out. Name what goes into it: {_choice(left_out[0])}"
                )
            if node.operator == complement and not _is_joined(node, used, outputs, tail):
                raise UnsupportedLayerError(
                    f"{left_out[0].label} is not piecewise linear, and {node.label} subtracts from its result, which "
                    f"reverses its order. Name what goes into it: {_choice(left_out[0])}"
                )
            if tensors or not all(end.content() == ends[0].content() for end in ends):
                raise UnsupportedLayerError(
                    f"{left_out[0].label} is not piecewise linear, and {node.label} joins its result with another "
                    "value: the graph branches; only at the very end can it be left out. Name what goes into it: "
                    f"{_choice(left_out[0])}"
                )
            tail.update(dict.fromkeys(filter(None, node.outputs), ends[0]))
        elif node.operator in cut and tensors and not set(only_shapes).issuperset(node.outputs):
            _require_not_across_inputs(node, axis(node), tensors[0])
            tail.update(dict.fromkeys(filter(None, node.outputs), tensors[0]))
        else:
            visit(node)
            continue
        left_out.append(node)
    results = {name: tail[name] if name in tail else tensor(name) for name in outputs}
    constants = [printable(name) for name, result in results.items() if result is None]
    if constants:
        others = [printable(name) for name, result in list(results.items())[:8] if result is not None]
        advice = (
            f"name those that are meant: outputs={others}" if others else "no output depends on the input otherwise"
        )
        raise AmbiguousCheckpointError(
            f"{reading.file}: its output {constants[0]!r} is a constant, or positions of maxima; {advice}"
        )
    if left_out:
        rest = ", ".join(dict.fromkeys(node.operator for node in left_out[1:]))
        words = f"{left_out[0].label}{f' and {rest}' if rest else ''}"
        reading.notes.append(f"left out at the end: {words}; the outputs of this network are what goes into it")
    reading.note_what_was_computed()
    return reading.outputs({name: result for name, result in results.items() if result is not None}, named)


def _require_not_across_inputs(node: Node, axis: Any, tensor: Tensor) -> None:
    """Refuse an operator along the first of several axes, which is the batch axis if it has length 1."""
    if axis in (0, -len(tensor.shape)) and len(tensor.shape) > 1 and tensor.shape[0] == 1:
        raise UnsupportedLayerError(
            f"{node.label} works along axis 0, across the inputs of a batch, so that each output depends on the other "
            f"inputs. Let it work along another axis, or name what goes into it: {_choice(node)}"
        )


def _is_joined(complement: Node, used: Sequence[Node], outputs: Sequence[str], tail: Collection[str]) -> bool:
    """Return whether 1 - p is only joined with p, and is not an output itself."""
    result, probabilities = complement.outputs[0], [name for name in complement.inputs if name in tail]
    readers = [node for node in used if result in node.inputs]
    joined = all(node.operator == "Concat" and probabilities[0] in node.inputs for node in readers)
    return len(probabilities) == 1 and bool(readers) and joined and result not in outputs


def _choice(node: Node) -> str:
    return f"outputs={printable(node.inputs[0] if node.inputs else '')!r}"


def chosen_outputs(names: Sequence[str], chosen: Sequence[str] | None, made: Collection[str], file: str) -> list[str]:
    """Return the wanted outputs: all of them, or the values that the caller named.

    Raises
    ------
    AmbiguousCheckpointError
        The graph has no such value.
    """
    if chosen is None:
        return list(names)
    for name in chosen:
        if name not in made:
            shown = ", ".join(repr(printable(one)) for one in names[:8])
            raise AmbiguousCheckpointError(
                f"{file}: outputs: it has no value {printable(name)!r}; its outputs are {shown}, and any other value "
                "of the graph may be named"
            )
    return list(chosen)
