# SPDX-License-Identifier: MIT
"""Which network does a torch module compute, if the shape of its inputs is known?

``torch.export`` runs the caller's own module on one input and records its operators. The result is read like any `.pt2`
archive, by `network.py`. The network is then compared with the module (`graphs/module_check.py`), unless an operator at
the end was left out. torch is imported only in functions that have a torch object already.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import IO, Any

import numpy as np

from regions.errors import InternalError, RegionsError, UnsupportedLayerError
from regions.files.opened import opened
from regions.ground.arithmetic.arguments import integers
from regions.ground.text.printable import printable
from regions.networks.derived import with_notes
from regions.networks.network import Network
from regions.read.chains.between_layers import ActivationChoice
from regions.read.chains.pruning import copied_module, with_plain_weights
from regions.read.exported.module_constants import constants_of_program
from regions.read.exported.network import read_operations
from regions.read.exported.nodes import VIEWS
from regions.read.exported.operators import ROUNDS
from regions.read.graphs.call import DecidedByRounding
from regions.read.graphs.lowering import network_of
from regions.read.graphs.module_check import TOLERANCE, mixes_points, relative_difference
from regions.read.scaling import without_statistics

__all__ = ["network_from_any_module"]


def network_from_any_module(
    module: Any,
    activation: ActivationChoice,
    input_shape: Sequence[int] | int,
    *,
    fuse_max: bool = False,
    outputs: Sequence[str] | None = None,
) -> Network:
    """Make a network of a torch module, through torch.export.

    Parameters
    ----------
    module : torch.nn.Module
        It takes one tensor, [batch, *input_shape].
    activation : str, Activation, sequence of these, or None
        May be left out; a named activation must be the module's own.
    input_shape : sequence of int, or int
        Shape of one input without the batch axis, for instance (3, 32, 32); n stands for (n,).
    fuse_max : bool
    outputs : sequence of str, optional
        As for `regions.load`.

    Raises
    ------
    UnsupportedLayerError
        torch cannot export the module, or some operator is not handled.
    ShapeMismatchError, NonFiniteError, NetworkError
        As for any network.
    """
    import torch

    given = (input_shape,) if isinstance(input_shape, (int, np.integer)) else input_shape
    shape = list(integers(given, "input_shape"))
    module, pruned = with_plain_weights(getattr(module, "_orig_mod", module))  # torch.compile wraps the module
    was_training = any(part.training for part in module.modules())
    try:
        evaluated = copied_module(module).cpu().eval()
    except Exception as error:  # the caller's own objects
        raise UnsupportedLayerError(
            f"this {type(module).__name__} cannot be copied: {_first_line(error)}. Remove what is not part of the "
            "network from it, or export it with torch.export or torch.onnx, and load the file"
        ) from error
    for name, part in evaluated.named_modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.running_mean is None:
            raise without_statistics(f"batch norm {name or '(top)'}")
    tensors = [*evaluated.parameters(), *evaluated.buffers()]
    kinds = [each.dtype for each in tensors if each.dtype.is_floating_point]
    examples = [torch.zeros(1, *shape, dtype=kind) for kind in dict.fromkeys(kinds or [torch.float32])]
    buffer, program = _exported(evaluated, examples)
    with opened(buffer, "the model", ".pt2") as file:
        try:
            operations = read_operations(file, outputs)
        except DecidedByRounding:
            raise
        except RegionsError:  # torch may compute constants that the tables do not have
            operations = read_operations(file, outputs, constants_of_program(program))
        network = network_of(*operations, activation, fuse_max)
    differs = any(note.startswith("left out at the end") for note in network.notes)
    rounds = any(ROUNDS in note for note in network.notes)
    if outputs is None and not differs:
        if (relative_difference(module, network, without_casts=rounds) or 0.0) > TOLERANCE:
            if mixes_points(module, network):
                raise UnsupportedLayerError(
                    f"{type(module).__name__} mixes the points of a batch: its outputs at one point depend on the "
                    "others, as with a mean over the first axis. Regions belong to one point: keep the first axis apart"
                )
            raise InternalError(f"this module was misread as {network!r}; please report it with its repr")
    mode = ["the module is in training mode; it was read as in evaluation mode"] if was_training else []
    return with_notes(network, *pruned, *mode)


class _Program(io.BytesIO):
    name = "the module"  # in messages


def _exported(module: Any, examples: Sequence[Any]) -> tuple[IO[bytes], Any]:
    """Export a module with torch.export, for inputs as the first example that it runs on.

    Returns the saved archive, and the program.

    Raises
    ------
    UnsupportedLayerError
        The module does not run on such inputs, or torch.export cannot trace it.
    """
    import torch

    kind, shape, program = type(module).__name__, list(examples[0].shape), _Program()
    first: Exception | None = None
    with torch.no_grad():
        for example in examples:
            try:
                module(example)
                break
            except Exception as error:  # the caller's own code
                first = first or error
        else:
            assert first is not None
            advice = "Give the shape of one input without the batch axis: input_shape=(C, H, W), or (n,) for vectors"
            if isinstance(first, TypeError):  # such as missing arguments
                advice = "If it takes several inputs, export it with torch.export or torch.onnx, and load the file"
            raise UnsupportedLayerError(
                f"this {kind} does not run on torch.zeros({', '.join(map(str, shape))}): {_first_line(first)}. {advice}"
            ) from first
        try:
            with _no_log(), _no_validation():
                exported = torch.export.export(module, (example,))
                if _changes_views(exported):
                    exported = exported.run_decompositions({})  # operators in place become others
                torch.export.save(exported, program)
        except Exception as error:  # any error of torch
            raise UnsupportedLayerError(
                f"torch.export cannot export this {kind} for inputs {shape}: {_first_line(error)}. Its forward must "
                "not choose what to do by the values of a tensor"
            ) from error
    return program, exported


def _changes_views(program: Any) -> bool:
    """Return whether an operator works in place on a value that other nodes read, or on a view."""
    graph = program.graph_module.graph
    for node in graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if node.op == "call_function" and schema is not None and schema.is_mutable and node.all_input_nodes:
            changed = node.all_input_nodes[0]
            if len(changed.users) > 1 or str(changed.target).partition("aten.")[2].partition(".")[0] in VIEWS:
                return True
    return False


@contextmanager
def _no_validation() -> Iterator[None]:
    """Let distributions of torch take all parameters: they check values, which do not exist in an export."""
    from torch.distributions import Distribution

    before = Distribution._validate_args
    Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        Distribution.set_default_validate_args(before)


@contextmanager
def _no_log() -> Iterator[None]:
    """Suppress torch's messages about modules that it cannot trace; the error has them."""
    before, written = logging.root.manager.disable, io.StringIO()
    logging.disable(logging.CRITICAL)
    try:
        with redirect_stdout(written), redirect_stderr(written):
            yield
    finally:
        logging.disable(before)


def _first_line(error: Exception) -> str:
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return printable(first, 200).rstrip(".")
