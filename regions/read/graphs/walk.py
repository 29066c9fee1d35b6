# SPDX-License-Identifier: MIT
"""How are the nodes of a graph visited, and what becomes of its outputs?

Only nodes that the outputs depend on are visited, in their order. Functions that are not piecewise linear are refused,
except softmax, and strictly monotone functions of each output, at the very end. Such a tail is left out, with a note.
Several outputs become one vector.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from regions.errors import AmbiguousCheckpointError, UnsupportedLayerError
from regions.ground.text.printable import printable
from regions.read.graphs.nodes import Node, needed
from regions.read.graphs.operations import Tensor, tensors_read
from regions.read.graphs.piecewise import Piecewise
from regions.read.graphs.site import Reading, Site
from regions.read.graphs.stand_ins import StandIns, Tail
from regions.read.graphs.tails import Formula, left_out
from regions.read.graphs.written_out import written_out

__all__ = ["chosen_outputs", "walk"]


def _note(tails: Sequence[tuple[str, Tail]]) -> str:
    """Return the note on tails of one tensor, each with the name of its output."""
    nodes = list({id(node): node for _, tail in tails for node in tail.steps}.values())
    rest = ", ".join(dict.fromkeys(node.operator for node in nodes[1:]))
    formulas = {tail.said(repr(printable(name))) for name, tail in tails}
    formula = formulas.pop() if len(formulas) == 1 else None
    return left_out(f"{nodes[0].label}{f' and {rest}' if rest else ''}", formula)


def walk(
    reading: Reading,
    nodes: Sequence[Node],
    outputs: Sequence[str],
    visit: Callable[[Node], Any],
    depends: Callable[[str], bool],
    tensor: Callable[[str], Tensor | None],
    *,
    put: Callable[[Node, Tensor], None],
    moves: Collection[str],
    cut: Collection[str],
    after_cut: Collection[str],
    kept: Collection[str],
    axis: Callable[[Node], Any],
    formula: Callable[[Node, str, Formula, tuple[int, ...]], Formula | None],
    operands: Callable[[Node], tuple[str, Sequence[str | None]] | None],
    value: Callable[[str], Tensor | Piecewise | None],
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
    depends : callable
        Returns whether the value of a name depends on the input.
    tensor : callable
        Returns the tensor of a name; None for a constant. It is an error if the value jumps.
    put : callable
        Gives a node's result a tensor that stands for it.
    moves : collection of str
        Operators that only move numbers, or read only their shape.
    cut, after_cut : collections of str
        Operators that may be left out at the end, and operators that may follow them there.
    kept : collection of str
        Those of the latter that change neither the numbers nor their order.
    axis : callable
        Returns the axis along which an operator that may be left out works; another value than an int if it has no
        axis.
    formula : callable
        Takes a node, the name of a value that it reads, the value's formula and its shape. Returns the formula of the
        node's result if this is a strictly monotone function of each number; otherwise None.
    operands : callable
        Returns what a node does and the names of its operands, None for a number, if several operators together may
        write a function that can be left out, see `written_out`; otherwise None.
    value : callable
        Returns the tensor of a name, or a value that may jump; None for a constant.
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
    tail: dict[str, Tail] = {}
    stand_ins = StandIns(reading)
    used = needed(nodes, outputs)

    def joined(node: Node) -> Tail | None:
        """Return the tail of a node that completes a function of several operators."""
        found = operands(node)
        if found is None:
            return None
        given = [None if name is None else tail[name] if name in tail else value(name) for name in found[1]]
        return written_out(Site(reading, node), found[0], given)

    for node in used:
        tensors = [name for name in node.inputs if name and name not in tail and depends(name)]
        inputs = [name for name in node.inputs if name in tail]
        if inputs:
            ends = [tail[name] for name in inputs]
            end, before = ends[0], ends[0].formula
            if node.operator in moves and all(each.value is not None for each in ends):
                count = len(reading.builder.numbers)
                visit(node)
                added = list(reading.builder.numbers)[count:]
                if any(stand_ins.are_read(tensors_read(operation)) for operation in added):
                    raise _too_early(end, node)
                for name in filter(None, node.outputs):
                    moved = tensor(name)
                    if moved is not None and stand_ins.are_read([moved]):
                        traced = stand_ins.traced(moved, node)
                        if traced is None:
                            raise _too_early(end, node)
                        tail[name] = traced
                continue
            shape = end.tensor.shape if end.value is None else end.value.shape
            single = before is not None and len(ends) == 1 and not tensors
            after = formula(node, inputs[0], before, shape) if single and before is not None else None
            if node.operator == complement and not tensors and _is_joined(node, used, outputs, tail):
                after = None
            whole = joined(node) if tensors else None
            if whole is not None and whole.formula is not None:
                tail[node.outputs[0]], stand_in = stand_ins.put(whole.tensor, whole.steps, whole.formula, shape)
                put(node, stand_in)
                continue
            if after is not None and end.value is not None:
                tail[node.outputs[0]], stand_in = stand_ins.put(end.tensor, (*end.steps, node), after, shape)
                put(node, stand_in)
                continue
            falls = before is not None and before.signs != {1} and node.operator not in kept
            if end.parts or (after is None and (falls or node.operator not in after_cut)):
                raise _too_early(end, node)
            if (
                after is None
                and node.operator == complement
                and not tensors
                and not _is_joined(node, used, outputs, tail)
            ):
                raise UnsupportedLayerError(
                    f"{end.first.label} is not piecewise linear, and {node.label} subtracts from its result, which "
                    f"reverses its order. Name what goes into it: {_choice(end.first)}"
                )
            more = node.operator == "Concat" and len(inputs) < len(node.inputs)
            if tensors or more or not all(each.tensor.content() == end.tensor.content() for each in ends):
                raise UnsupportedLayerError(
                    f"{end.first.label} is not piecewise linear, and {node.label} joins its result with another "
                    "value: the graph branches; only at the very end can it be left out. Name what goes into it: "
                    f"{_choice(end.first)}"
                )
            after = before if after is None and node.operator in kept else after
            before_it = {id(each): each for one in ends for each in one.steps}
            made = Tail(end.tensor, (*before_it.values(), node), after)
            tail.update(dict.fromkeys(filter(None, node.outputs), made))
            continue
        shape_only = set(only_shapes).issuperset(node.outputs)
        after = formula(node, tensors[0], Formula(), ()) if len(tensors) == 1 and not shape_only else None
        if tensors and not shape_only and (node.operator in cut or after is not None):
            x = tensor(tensors[0])
            assert x is not None
            if node.operator in cut:
                _require_not_across_inputs(node, axis(node), x)
            if after is not None and len(node.outputs) == 1:
                tail[node.outputs[0]], stand_in = stand_ins.put(x, (node,), after, x.shape)
                put(node, stand_in)
            else:
                tail.update(dict.fromkeys(filter(None, node.outputs), Tail(x, (node,), after)))
        elif len(tensors) == 2 and not shape_only and (whole := joined(node)) is not None and whole.formula:
            tail[node.outputs[0]], stand_in = stand_ins.put(
                whole.tensor, whole.steps, whole.formula, whole.tensor.shape
            )
            put(node, stand_in)
        else:
            visit(node)
    results = {name: tail[name].tensor if name in tail else tensor(name) for name in outputs}
    constants = [printable(name) for name, result in results.items() if result is None]
    if constants:
        others = [printable(name) for name, result in list(results.items())[:8] if result is not None]
        advice = (
            f"name those that are meant: outputs={others}" if others else "no output depends on the input otherwise"
        )
        raise AmbiguousCheckpointError(
            f"{reading.file}: its output {constants[0]!r} is a constant, or positions of maxima; {advice}"
        )
    together: dict[Any, list[tuple[str, Tail]]] = {}
    for name in outputs:
        if name in tail:
            together.setdefault(tail[name].tensor.content(), []).append((name, tail[name]))
    reading.notes += map(_note, together.values())
    reading.note_what_was_computed()
    # The note on a softmax or argmax says enough about a classifier that returns both.
    unsaid = {
        tail[name].tensor.content()
        for name in outputs
        if name in tail and tail[name].formula is None and not tail[name].parts
    }
    quiet = {
        name for name, result in results.items() if not named and result is not None and result.content() in unsaid
    }
    return reading.outputs([(name, result) for name in outputs if (result := results[name]) is not None], quiet)


def _too_early(tail: Tail, node: Node) -> UnsupportedLayerError:
    """Return the error for a function that can only be left out at the end, and is read by a node."""
    return UnsupportedLayerError(
        f"{tail.first.label} is not piecewise linear, and comes before {node.label}; only at the very end can it be "
        f"left out. Name what goes into it: {_choice(tail.first)}"
    )


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
