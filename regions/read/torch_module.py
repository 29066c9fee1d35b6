# SPDX-License-Identifier: MIT
"""Which network is this torch module?

The children of a `Sequential`, nested or not, are the steps of the network. If a module has a ``forward`` of its own,
its state dict is read if the caller names the activation; otherwise its only child is read. The network is then
compared with the module (`graphs/module_check.py`). torch is imported only in functions that have a torch object
already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from regions.errors import AmbiguousCheckpointError, InternalError, RegionsError, UnsupportedLayerError
from regions.ground.arithmetic.arrays import exact_float64
from regions.networks.derived import with_notes
from regions.networks.named_activations import (
    ACTIVATIONS,
    Activation,
    identity,
    is_discontinuous,
    is_smooth,
    prelu,
    relu,
)
from regions.networks.network import Network
from regions.read.chains.between_layers import ActivationChoice, require_activation
from regions.read.chains.pruning import with_plain_weights
from regions.read.chains.state_dict import network_from_state_dict
from regions.read.chains.steps import Dense, Nonlinearity, Step, build_network
from regions.read.graphs.module_check import TOLERANCE, points_for, relative_difference
from regions.read.graphs.tails import Formula, increasing_formula, left_out
from regions.read.scaling import Scaling, scaling_of_batch_norm, without_statistics

_ACTIVATIONS = {row.module: row for row in ACTIVATIONS if row.module}
# These do nothing to a vector in evaluation mode.
_NO_STEP = {"Identity", "Flatten", "Dropout", "AlphaDropout", "FeatureAlphaDropout"}
# Modules that are not piecewise linear. At the end of a network the first are left out, and the second refused with the
# advice to remove them; the third are refused everywhere.
_INCREASING = {
    **dict.fromkeys(("Tanh", "Sigmoid", "LogSigmoid", "Softsign", "Tanhshrink", "SELU"), ()),
    **{"ELU": ("alpha",), "CELU": ("alpha",), "Softplus": ("beta", "threshold")},
}
_LEFT_OUT = {"Softmax", "LogSoftmax", *_INCREASING}
_AT_THE_END = {*_LEFT_OUT, "Softmin"}
_INSIDE = {"LayerNorm", "GroupNorm", "InstanceNorm1d", "RMSNorm", "LocalResponseNorm"}
_INSIDE |= {"MultiheadAttention", "LSTM", "GRU", "RNN"}


# These work along vectors: a chain of them and of linear layers determines its number of inputs.
_POOLS = {"MaxPool1d", "AvgPool1d", "AdaptiveMaxPool1d", "AdaptiveAvgPool1d"}


class _UnknownStructure(Exception):
    """A module whose children do not determine the order of their calls."""


def network_from_module(module: Any, activation: ActivationChoice, *, batch_norm_eps: float) -> Network:
    """Make a network of a torch module.

    Parameters
    ----------
    module : torch.nn.Module
    activation : str, Activation, sequence of these, or None
        Needed only if the structure does not determine it; otherwise it must agree.
    batch_norm_eps : float
        Used only if the module's batch norms have different ones.

    Raises
    ------
    AmbiguousCheckpointError
        The module has a ``forward`` of its own and no activation was named, or the module does not compute the same as
        with the named activation.
    UnsupportedLayerError, ShapeMismatchError, NonFiniteError, NetworkError
        As for any network.
    """
    module, notes = with_plain_weights(getattr(module, "_orig_mod", module))  # torch.compile wraps the module
    try:
        steps, tail = _without_tail(_steps(module, ""))
        network = build_network(steps, [*notes, *_training_note(module), *tail])
    except _UnknownStructure as unknown:
        if activation is None:
            return with_notes(_network_of_only_child(module, str(unknown)), *notes)
        return with_notes(_network_of_state_dict(module, activation, batch_norm_eps), *notes)
    if not tail and (relative_difference(module, network) or 0.0) > TOLERANCE:
        raise InternalError(f"this chain of layers was misread as {network!r}; please report it with its repr")
    require_activation(network, activation, "the module")
    return network


def inputs_of_pooled_chain(module: Any) -> int | None:
    """Return the number of inputs of a `Sequential` that pools along vectors; None for all other modules."""
    import torch

    kinds = {type(part).__name__ for part in module.modules()} - {"Sequential"}
    plain = {"Linear", "BatchNorm1d", "PReLU"} | _ACTIVATIONS.keys() | _NO_STEP | _LEFT_OUT
    if not kinds & _POOLS or kinds - _POOLS - plain or type(module) is not torch.nn.Sequential:
        return None
    first = next((part for part in module.modules() if type(part).__name__ in _POOLS | {"Linear"}), None)
    return int(first.in_features) if isinstance(first, torch.nn.Linear) else None


@dataclass(frozen=True)
class _Smooth:
    """A module that is not piecewise linear, and is left out if no step follows it."""

    name: str
    kind: str
    parameters: Mapping[str, Any]


def _without_tail(steps: Iterable[Step | _Smooth]) -> tuple[list[Step], list[str]]:
    """Return the steps without smooth ones at the end, and a note on these."""
    result: list[Step] = []
    tail: list[_Smooth] = []
    for step in steps:
        if isinstance(step, _Smooth):
            tail.append(step)
        elif tail:
            raise UnsupportedLayerError(
                f"module {tail[0].name} is of type {tail[0].kind}. It is not piecewise linear, and module {step.name} "
                "comes after it; only at the very end can it be left out"
            )
        else:
            result.append(step)
    if not tail:
        return result, []
    formula: Formula | None = Formula()
    for step in tail:
        formula = None if formula is None else increasing_formula(step.kind, step.parameters, formula)
    shown = ", ".join(f"module {step.name} ({step.kind})" for step in tail)
    return result, [left_out(shown, formula.said if formula else None)]


def require_no_quantised_layers(module: Any) -> None:
    """Refuse a module with layers that torch has quantised, whose weights are packed, and which round their inputs."""
    for name, child in module.named_modules():
        if type(child).__module__.startswith(("torch.ao.nn.quantized", "torch.ao.nn.intrinsic.quantized")):
            raise UnsupportedLayerError(
                f"{name or 'the module'} ({type(child).__name__}) is a quantised layer, which may round its inputs, so "
                "it has no linear regions; load the float model that it was made of"
            )


def _steps(module: Any, name: str) -> Iterator[Step | _Smooth]:
    """Yield the steps of a module that is read from its structure."""
    import torch

    _require_no_hooks(module, name)
    kind = type(module)
    forward = getattr(kind, "forward", None)  # TorchScript modules have none
    if "forward" in vars(module):  # given to this object alone
        raise _UnknownStructure(f"{name or 'the module'} ({kind.__name__}) has a forward of its own")
    if forward is torch.nn.Sequential.forward:
        # named_children() would return a module that is used twice only once.
        for child_name, child in module._modules.items():
            yield from _steps(child, f"{name}.{child_name}" if name else child_name)
    elif forward is torch.nn.Linear.forward:
        weights = exact_float64(module.weight, f"{name}.weight")
        bias = np.zeros(len(weights)) if module.bias is None else exact_float64(module.bias, f"{name}.bias")
        yield Dense(name or "the layer", weights, bias)
    elif kind is torch.nn.BatchNorm1d:
        yield _batch_norm(module, name)
    elif (kind.__module__, kind.__name__) == ("regions.torch", "TrajectoryRegularization"):
        yield _learnt_scale(module, name)
    elif not kind.__module__.startswith("torch.nn.modules."):
        raise _UnknownStructure(f"{name or 'the module'} ({kind.__name__}) has a forward of its own")
    elif kind.__name__ in _ACTIVATIONS or kind.__name__ == "PReLU":
        activation = _activation(module, kind.__name__, name or "(top)")
        if activation != identity():
            yield Nonlinearity(name or "the activation", activation)
    elif kind.__name__ == "ELU" and module.alpha == 0:
        yield Nonlinearity(name or "the activation", relu())
    elif kind.__name__ in _LEFT_OUT:
        if getattr(module, "dim", None) in (0, -2):
            raise UnsupportedLayerError(
                f"module {name or '(top)'} is of type {kind.__name__} along axis {module.dim}, across the inputs "
                "of a batch, so that each output depends on the other inputs. Let it work along the last axis: dim=-1"
            )
        parameters = {word: getattr(module, word) for word in _INCREASING.get(kind.__name__, ())}
        if _INCREASING.get(kind.__name__) and increasing_formula(kind.__name__, parameters, Formula()) is None:
            raise UnsupportedLayerError(
                f"module {name or '(top)'} is of type {kind.__name__} with {parameters}, which is not piecewise linear"
            )
        yield _Smooth(name or "(top)", kind.__name__, parameters)
    elif kind.__name__ not in _NO_STEP and not (kind.__name__ == "Hardshrink" and module.lambd <= 0):
        raise UnsupportedLayerError(f"module {name or '(top)'} is of type {kind.__name__}. {_advice(kind.__name__)}")


def _activation(module: Any, kind: str, name: str) -> Activation:
    try:
        if kind == "PReLU":
            return prelu(exact_float64(module.weight, "PReLU weight"))
        row = _ACTIVATIONS[kind]
        return row.make(*[getattr(module, parameter) for parameter in row.parameters])
    except RegionsError as error:
        raise type(error)(f"module {name}: {error}") from None


def _advice(kind: str) -> str:
    """Return advice about a module that cannot be read from its structure alone."""
    if kind in _AT_THE_END:
        return "It is not piecewise linear. If it is the last module, leave it out: regions.load(model[:-1])"
    if is_discontinuous(kind):
        return "It is not continuous, so the network has no linear regions"
    if is_smooth(kind):
        return "It is not piecewise linear, so the network has no linear regions. Train one with ReLU in its place"
    if kind in _INSIDE:
        return "It is not piecewise linear, so the network has no linear regions"
    return (
        "What it computes depends on the shape of its input, which the layers alone do not say. Give the shape of one "
        "input: regions.load(module, input_shape=(C, H, W)), or (n,) for vectors"
    )


def _batch_norm(module: Any, name: str) -> Scaling:
    if module.running_mean is None:
        raise without_statistics(f"batch norm {name}")
    mean, variance = module.running_mean, module.running_var
    return scaling_of_batch_norm(name, mean, variance, module.weight, module.bias, module.eps)


def _learnt_scale(module: Any, name: str) -> Scaling:
    scale = np.full(module.num_features, exact_float64(module.learnt_scale, f"{name}.learnt_scale"))
    return Scaling("trajectory regularisation", name, scale, np.zeros_like(scale), exact=True).checked()


def _require_no_hooks(module: Any, name: str) -> None:
    if module._forward_hooks or module._forward_pre_hooks or "parametrizations" in module._modules:
        raise UnsupportedLayerError(
            f"module {name or '(top)'} ({type(module).__name__}) has hooks or reparametrised weights, which "
            "change what it computes; give the shape of one input, so that they are followed: regions.load(module, "
            "input_shape=(C, H, W)), or (n,) for vectors. Or make them permanent (torch.nn.utils.parametrize."
            "remove_parametrizations or remove_weight_norm), and remove hooks (handle.remove())"
        )


def _training_note(module: Any) -> list[str]:
    import torch

    changing = (torch.nn.modules.batchnorm._BatchNorm, torch.nn.modules.dropout._DropoutNd, torch.nn.RReLU)
    if any(part.training and isinstance(part, changing) for part in module.modules()):
        return ["the module is in training mode; it was read as in evaluation mode"]
    return []


def _network_of_only_child(module: Any, why: str) -> Network:
    """Read a module that only wraps one chain, if both give the same values."""
    advice = (
        f"{why}, so its layers alone do not say what it computes. Give the shape of one input: "
        "regions.load(module, input_shape=(C, H, W)), or (n,) for vectors"
    )
    children = list(module._modules.items())
    if len(children) != 1 or list(module.parameters(recurse=False)) or list(module.buffers(recurse=False)):
        raise AmbiguousCheckpointError(advice)
    name, child = children[0]
    try:
        steps, tail = _without_tail(_steps(child, name))
        network = build_network(steps, _training_note(module))
    except _UnknownStructure:
        raise AmbiguousCheckpointError(advice) from None
    difference = None if tail else relative_difference(module, network)
    if difference is None:
        raise AmbiguousCheckpointError(advice)
    _require_same_values(difference, f"its only child {name}")
    note = f"{name} was read; the module gives the same values at {points_for(network)} random points"
    return with_notes(network, note)


def _network_of_state_dict(module: Any, activation: ActivationChoice, batch_norm_eps: float) -> Network:
    for name, part in module.named_modules():
        _require_no_hooks(part, name)
    found = {part.eps for part in module.modules() if type(part).__name__ == "BatchNorm1d"}
    network = network_from_state_dict(
        module.state_dict(),
        activation,
        batch_norm_eps=found.pop() if len(found) == 1 else batch_norm_eps,
        order_is_kept=True,
        source=type(module).__name__,
        will_be_checked=True,
    )
    difference = relative_difference(module, network)
    if difference is None:
        raise AmbiguousCheckpointError(
            f"{type(module).__name__} does not run on points [n, {network.n_in}], so it cannot be compared with "
            f"{network!r}, the chain of its layers. Give the shape of one input: "
            "regions.load(module, input_shape=(C, H, W))"
        )
    _require_same_values(difference, f"a chain of its layers with activation {activation!r}")
    note = f"read as a state dict; the module gives the same values at {points_for(network)} random points"
    return with_notes(network, *_training_note(module), note)


def _require_same_values(difference: float, what: str) -> None:
    if difference > TOLERANCE:
        raise AmbiguousCheckpointError(
            f"the module does not compute the same as {what}: their values differ at random points. Let torch.export "
            "read the module: "
            "regions.load(module, input_shape=(C, H, W)), or (n,) for vectors"
        )
