# SPDX-License-Identifier: MIT
"""Which network do these named tensors make?

Accepted are chains of dense layers, with batch norms and PReLUs: names as torch gives them
(``PREFIX.weight``, ``PREFIX.bias``), or ``W0, b0, W1, b1, ..``. Tensors are grouped by module, each module's
kind is known from its parameters, `regions.read.layer_order` orders the modules and
`regions.read.between_layers` puts the activations in. Every tensor must be understood: an unknown one could
change what the network computes, so it is refused by name (only beside ``W0, b0`` are other arrays ignored).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from regions.errors import (
    AmbiguousCheckpointError,
    CheckpointError,
    NotACheckpointError,
    UnsupportedLayerError,
)
from regions.network import Network
from regions.read.between_layers import ActivationChoice, place_activations
from regions.read.chain import build_network
from regions.read.layer_order import Module, list_shapes, order_modules

MAX_NAME_LENGTH = 500
MAX_NESTING = 4

_NORM_PARAMETERS = {"running_mean", "running_var", "weight", "bias", "num_batches_tracked"}
_CONVOLUTIONS = {
    3: "one-dimensional convolution",
    4: "two-dimensional convolution",
    5: "three-dimensional convolution",
}
_UNSUPPORTED = {
    r"(weight|bias)_(ih|hh)_l\d+.*": "a recurrent layer",
    r"in_proj_(weight|bias)|(q|k|v)_proj_weight|bias_(k|v)": "an attention layer",
    r"weight_(orig|mask)|bias_(orig|mask)": "a pruned layer (make it permanent: torch.nn.utils.prune.remove)",
    r"weight_(g|v|u)|original\d*|_weight_norm.*": "a reparametrised layer (first undo it: "
    "torch.nn.utils.parametrize.remove_parametrizations or remove_weight_norm)",
    r"_packed_params.*|scale|zero_point": "a quantized layer",
}


def network_from_state_dict(
    content: Any, activation: ActivationChoice, *, batch_norm_eps: float, order_is_kept: bool, source: str
) -> Network:
    """Make a network of a state dict, or of a mapping that holds one.

    Parameters
    ----------
    content : mapping
        Names to numpy arrays or torch tensors; or such a mapping somewhere inside, as in ``{"state_dict": ..,
        "epoch": 3}``.
    activation : str, Activation, sequence of these, or None
        What lies between the layers.
    batch_norm_eps : float
        What batch norms add to the variance.
    order_is_kept : bool
        Whether the mapping is in the order of definition.
    source : str
        What to call it in messages.

    Raises
    ------
    AmbiguousCheckpointError, NotACheckpointError
        It can not be known which network this is; there are no weights.
    UnsupportedLayerError, ShapeMismatchError, NonFiniteError, NetworkError
        The weights do not make a network that is handled.
    """
    tensors = find_state_dict(content, source)
    ordering_notes: list[str] = []
    if any(re.fullmatch(r"W[0-9]+", name) for name in tensors):
        modules = _numbered_pairs(tensors)
    else:
        modules, ordering_notes = order_modules(_modules(tensors), order_is_kept)
    if not any(module.kind == "dense" for module in modules):
        raise NotACheckpointError(f"{source}: no dense layer found among {list_shapes(modules)}")
    steps, notes = place_activations(modules, activation, batch_norm_eps)
    return build_network(steps, [*ordering_notes, *notes])


def find_state_dict(content: Any, source: str) -> dict[str, Any]:
    """Return the tensors of the one mapping in ``content`` that has weight matrices.

    Looks into mappings inside mappings, under string keys; optimizers number their states, so those are not
    seen.

    Raises
    ------
    NotACheckpointError
        There is none.
    AmbiguousCheckpointError
        There are several.
    """
    found: dict[str, dict[str, Any]] = {}
    seen: set[int] = set()  # a pickle may hold one mapping in many places

    def visit(mapping: Mapping[Any, Any], path: tuple[str, ...]) -> None:
        seen.add(id(mapping))
        tensors = {key: value for key, value in mapping.items() if isinstance(key, str) and _is_tensor(value)}
        if any(len(value.shape) >= 2 for value in tensors.values()):
            found[" > ".join(path) or "the top level"] = tensors
        for key, value in mapping.items():
            if (
                isinstance(key, str)
                and isinstance(value, Mapping)
                and id(value) not in seen
                and len(path) < MAX_NESTING
            ):
                visit(value, (*path, repr(key[:100])))

    if isinstance(content, Mapping):
        visit(content, ())
    if not found:
        keys = list(content)[:8] if isinstance(content, Mapping) else []
        names = [repr(key[:50]) for key in keys if isinstance(key, str)]
        what = f"mapping with {', '.join(names)}" if names else type(content).__name__
        raise NotACheckpointError(
            f"{source}: holds no mapping of names to weight matrices, but a {what}; save model.state_dict(), "
            "or arrays named W0, b0, W1, b1, .."
        )
    if len(found) > 1:
        raise AmbiguousCheckpointError(
            f"{source}: several mappings of tensors, at {', '.join(list(found)[:8])}; give regions.load the "
            "one that is meant (regions.read.read_tensors(path) returns the whole content)"
        )
    return next(iter(found.values()))


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _numbered_pairs(tensors: Mapping[str, Any]) -> list[Module]:
    """Modules from ``W0, b0, W1, b1, ..``; other names are ignored, biases may be missing."""
    numbers = sorted(int(name[1:]) for name in tensors if re.fullmatch(r"W(0|[1-9][0-9]{0,5})", name))
    expected = list(range(numbers[0], numbers[0] + len(numbers))) if numbers else [0]
    if numbers != expected or expected[0] > 1:
        raise CheckpointError(
            f"weights must be named W0, W1, .. (or W1, W2, ..) without a gap; found W with {numbers[:20]}"
        )
    for name in tensors:
        if re.fullmatch(r"b[0-9]+", name) and f"W{name[1:]}" not in tensors:
            raise CheckpointError(f"{name} is stored, but W{name[1:]} is not")
    modules = []
    for number in numbers:
        parts = {"weight": tensors[f"W{number}"], "bias": tensors.get(f"b{number}")}
        _check_axes(f"W{number}", parts["weight"])
        modules.append(
            Module(f"W{number}", "dense", {key: part for key, part in parts.items() if part is not None})
        )
    return modules


def _modules(tensors: Mapping[str, Any]) -> list[Module]:
    """Group the tensors by module, in the order in which they are stored, and tell the kind of each."""
    groups: dict[str, dict[str, Any]] = {}
    for key, value in tensors.items():
        if len(key) > MAX_NAME_LENGTH or not key.isprintable():  # names go into messages, and so to terminals
            raise CheckpointError(
                f"a tensor's name is too long or not printable: {key[:50]!r}, {len(key)} characters"
            )
        name, _, parameter = key.rpartition(".")
        for pattern, what in _UNSUPPORTED.items():
            if re.fullmatch(pattern, parameter):
                raise UnsupportedLayerError(f"{key} belongs to {what}, which is not supported")
        groups.setdefault(name, {})[parameter] = value
    return [Module(name, _kind(name, parts), parts) for name, parts in groups.items()]


def _kind(name: str, parts: dict[str, Any]) -> str:
    prefix = f"{name}." if name else ""
    if "running_mean" in parts or "running_var" in parts:
        return _checked_norm(prefix, parts)
    for parameter in parts:
        if parameter not in ("weight", "bias"):
            raise UnsupportedLayerError(
                f"{prefix}{parameter} (shape {list(parts[parameter].shape)}) is not a parameter of a dense "
                "layer, batch norm or PReLU; if it plays no part in what the network computes, remove it "
                "from the mapping"
            )
    if "weight" not in parts:
        raise UnsupportedLayerError(f"{prefix}bias has no weight beside it")
    axes = len(parts["weight"].shape)
    if axes == 1 and "bias" not in parts:
        return "prelu"
    if axes == 1:
        raise UnsupportedLayerError(
            f"{prefix}weight and bias have one axis each and no running statistics: a layer norm, group "
            "norm, or batch norm without statistics, which is not piecewise linear"
        )
    _check_axes(f"{prefix}weight", parts["weight"])
    if re.search(
        r"(^|[._])(word|token|pos|position)?_?(emb|embed|embedding|embeddings|embed_tokens|wte|wpe)([._]|$)",
        name,
    ):
        raise UnsupportedLayerError(
            f"{prefix}weight seems to be an embedding table (by its name), which is not a dense layer"
        )
    return "dense"


def _checked_norm(prefix: str, parts: dict[str, Any]) -> str:
    for parameter in parts:
        if parameter not in _NORM_PARAMETERS:
            raise UnsupportedLayerError(f"{prefix}{parameter} is not a parameter of a batch norm")
    for statistic in ("running_mean", "running_var"):
        if statistic not in parts:
            raise CheckpointError(f"{prefix}{statistic} is missing, so the batch norm can not be folded")
    return "norm"


def _check_axes(key: str, weight: Any) -> None:
    axes = len(weight.shape)
    if axes in _CONVOLUTIONS:
        raise UnsupportedLayerError(
            f"{key} has {axes} axes (shape {list(weight.shape)}), as in a {_CONVOLUTIONS[axes]}; only dense "
            "layers are supported"
        )
    if axes != 2:
        raise UnsupportedLayerError(
            f"{key} has {axes} axes (shape {list(weight.shape)}); a dense layer has two"
        )
