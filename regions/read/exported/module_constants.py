# SPDX-License-Identifier: MIT
"""Which constants does a torch module compute from its weights, before they meet an input?

This is asked only if the tables of `regions.read.graphs.constants` do not have an operator. Nodes of the exported
program without a path from an input are run by torch, so their operators need not be known here. Each is run in the
module's own types and in float64, and the latter is used. A comparison, or another result without fractions, that
differs between both depends on rounding and is refused. In-place operators change values while the
nodes run, therefore a constant is copied where a node that depends on an input reads it.
Random values are not constants. torch is the caller's, and so is the program: nothing from a file is ever run.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import getitem
from typing import Any

import numpy as np

from regions.errors import UnsupportedLayerError
from regions.ground.text.printable import printable
from regions.read.exported.graph import Known
from regions.read.exported.nodes import VIEWS

__all__ = ["constants_of_program"]

# Operators that make arrays of any content, and operators that only cast.
_UNDEFINED = ("aten.empty", "aten.new_empty")
# Operators that jump, and a difference that is a jump.
_JUMPS = ("floor", "ceil", "round", "trunc", "fix", "sign", "sgn", "frac", "remainder", "fmod", "div.Tensor_mode")
_FRACTION = 1e-3
_CASTS = ("aten.to.", "aten._to_copy.", "aten.type_as.")


def constants_of_program(program: Any) -> Known:
    """Return the constants that nodes with an input read, or that are outputs.

    Parameters
    ----------
    program : torch.export.ExportedProgram

    Raises
    ------
    UnsupportedLayerError
        A constant depends on rounding, or changes in place between two reads.
    """
    import torch

    with torch.no_grad():
        constants = _Constants(program)
    return Known(constants.found, constants.done, constants.rounded)


class _Constants:
    """The values of nodes without a path from an input."""

    def __init__(self, program: Any) -> None:
        import torch

        signature = program.graph_signature
        self.stored: dict[str, Any] = {}
        for names in (signature.inputs_to_parameters, signature.inputs_to_buffers):
            self.stored.update({node: program.state_dict.get(name) for node, name in names.items()})
        for node, name in signature.inputs_to_buffers.items():
            if self.stored[node] is None:  # a buffer that is not in the state dict
                self.stored[node] = program.constants.get(name)
        lifted = signature.inputs_to_lifted_tensor_constants
        self.stored.update({node: program.constants.get(name) for node, name in lifted.items()})
        self.own: dict[str, Any] = {}
        self.wide: dict[str, Any] = {}
        self.found: dict[str, Any] = {}
        self.done: set[str] = set()
        self.rounded: list[str] = []
        graph = program.graph_module.graph
        for node in graph.nodes:
            if node.op == "placeholder" and isinstance(self.stored.get(node.name), torch.Tensor):
                self.own[node.name] = self.stored[node.name].detach()
            elif node.op == "call_function":
                self._visit(node)
            elif node.op == "output":
                self._read(node)

    def _visit(self, node: Any) -> None:
        if str(node.target).startswith("aten._assert"):
            return
        if not all(one.name in self.own for one in node.all_input_nodes) or _is_random(node):
            self._read(node)
            return
        try:
            own = node.target(*_filled(node.args, self.own), **_filled(node.kwargs, self.own))
        except Exception:  # any error of torch; the reader says what it cannot read
            self._read(node)
            return
        wide = self._wide(node, own)
        if not _agree(own, wide, str(node.target).removeprefix("aten.")):
            raise UnsupportedLayerError(
                f"node {printable(node.name)!r} ({printable(str(node.target))}) jumps, and its result for constants "
                "depends on their rounding; put the result into a buffer of the module"
            )
        self.own[node.name], self.wide[node.name] = own, wide
        self.done.add(node.name)
        if node.all_input_nodes and _may_round(node, wide):
            self.rounded.append(f"node {printable(node.name)!r} ({printable(str(node.target))})")

    def _wide(self, node: Any, own: Any) -> Any:
        """Return the result of a node in float64; in its own type, widened, if torch has no such function."""
        import torch

        if not node.all_input_nodes:
            return _widened(own)
        for one in node.all_input_nodes:
            if one.name not in self.wide:  # a stored tensor, which is copied once
                self.wide[one.name] = _widened(self.own[one.name])
        given = _filled(node.args, self.wide)
        if str(node.target).startswith(_CASTS):
            before = _filled(node.args, self.own)[0]
            return given[0] if before.dtype == own.dtype else _widened(given[0].to(own.dtype))
        narrow = (torch.float32, torch.float16, torch.bfloat16)
        more = {
            name: torch.float64 if name == "dtype" and value in narrow else value
            for name, value in _filled(node.kwargs, self.wide).items()
        }
        try:
            return node.target(*given, **more)
        except Exception:  # any error of torch
            return _widened(own)

    def _read(self, node: Any) -> None:
        """Keep the constants that a node with an input reads, as they are now."""
        import torch

        for one in node.all_input_nodes:
            value = self.wide.get(one.name)
            if one.op != "call_function" or not isinstance(value, (torch.Tensor, bool, int, float)):
                continue
            array = np.array(value.numpy() if isinstance(value, torch.Tensor) else value)
            before = self.found.setdefault(one.name, array if isinstance(value, torch.Tensor) else value)
            if not np.array_equal(before, array, equal_nan=array.dtype.kind == "f"):
                raise UnsupportedLayerError(
                    f"node {printable(one.name)!r} is changed in place between two uses of its result; export the "
                    "module without operators in place"
                )


def _is_random(node: Any) -> bool:
    import torch

    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return str(node.target).startswith(_UNDEFINED)
    schema = node.target._schema.arguments
    given = {one.name: one.default_value for one in schema if one.has_default_value()}
    given |= {one.name: value for one, value in zip(schema, node.args, strict=False)} | node.kwargs
    # Recurrent layers, attention and dropout are random only in training.
    return given.get("train", given.get("training", True)) is not False and given.get("dropout_p", 1.0) != 0


def _may_round(node: Any, result: Any) -> bool:
    import torch

    real = any(isinstance(one, torch.Tensor) and one.is_floating_point() for one in _flat(result))
    return real and node.target is not getitem and str(node.target).removeprefix("aten.").partition(".")[0] not in VIEWS


def _filled(given: Any, values: dict[str, Any]) -> Any:
    """Return arguments of a node with values in place of nodes."""
    import torch

    return torch.fx.node.map_arg(given, lambda one: values[one.name])


def _widened(value: Any) -> Any:
    """Return real numbers as doubles, in a copy."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() and value.dtype != torch.float64 else value.clone()
    return type(value)(map(_widened, value)) if isinstance(value, (tuple, list)) else value


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for one in value:
            yield from _flat(one)
    else:
        yield value


def _agree(own: Any, wide: Any, operator: str) -> bool:
    """Return whether results have the same shapes, and the same numbers if the operator jumps."""
    import torch

    for first, second in zip(_flat(own), _flat(wide), strict=True):
        if isinstance(first, torch.Tensor):
            if first.shape != second.shape:
                return False
            if not first.is_floating_point() and not torch.equal(first, second):
                return False
            if operator.startswith(_JUMPS) and not torch.allclose(first.double(), second, 0.0, _FRACTION, True):
                return False
    return True
