# SPDX-License-Identifier: MIT
"""Which network is stored in these named tensors?

Accepted are chains of dense layers, with batch norms and PReLUs: names as torch gives them
(``PREFIX.weight``, ``PREFIX.bias``), or ``W0, b0, W1, b1, ..``, or ``arr_0, arr_1, ..`` in this order, as
`numpy.savez` names arrays without names. `prefixes.py` selects the tensors. They are grouped by
module, whose kind follows from its parameters. `layer_order.py` orders the modules, and `between_layers.py` inserts the
activations. Every tensor must be understood: an unknown one could change what the network computes, so an error names
it. Only counters and the standard deviations of random policies are left out, and with ``W0, b0, ..`` other arrays.
It is a guess that the layers are a chain in this order, and a note always says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from regions.errors import (
    CheckpointError,
    NetworkError,
    NotACheckpointError,
    RegionsError,
    UnsupportedLayerError,
)
from regions.ground.text.printable import listed
from regions.networks.described import in_runs
from regions.networks.network import Network
from regions.read.chains.agreed_activation import is_about_another_part, settle_activation
from regions.read.chains.between_layers import ActivationChoice, place_activations
from regions.read.chains.layer_order import Module, chained, list_names, list_shapes, order_modules
from regions.read.chains.numbered import are_numbered, numbered_modules, require_axes
from regions.read.chains.prefixes import (
    Part,
    Prefix,
    arrays_beside,
    as_prefixes,
    find_mappings,
    require_parts_read,
    select,
    working_parts,
)
from regions.read.chains.pruning import masked_tensors
from regions.read.chains.stated_activation import Statement, find_statements
from regions.read.chains.stated_flags import Flag, find_flags, notes_on_flags
from regions.read.chains.steps import Nonlinearity, build_network

_NORM_PARAMETERS = {"running_mean", "running_var", "weight", "bias", "num_batches_tracked"}
# The last part of the names of tensors that may normalise inputs, and of single numbers that may scale.
_MOMENT = re.compile(r"(?:^|[._])(?:mean|std|var|variance)$")
_SCALAR = re.compile(r"(?:^|[._])(?:mean|std|var|variance|scale|shift|offset|gain|temperature|factor)$")
_UNSEEN = "State dicts hide skip connections; regions.load(module, input_shape={}) finds them"
_KERNEL = re.compile(r"(^|/)kernel(:0)?$")
_UNSUPPORTED = {
    r"(weight|bias)_(ih|hh)_l\d+.*": "a recurrent layer",
    r"in_proj_(weight|bias)|(q|k|v)_proj_weight|bias_(k|v)": "an attention layer",
    r"weight_(orig|mask)|bias_(orig|mask)": "a layer that is pruned in part, since only a weight or only a mask is "
    "stored (make it permanent: torch.nn.utils.prune.remove)",
    r"weight_(g|v|u)|original\d*|_weight_norm.*": "a reparametrised layer (first undo it: "
    "torch.nn.utils.parametrize.remove_parametrizations or remove_weight_norm)",
    r"_packed_params.*|zero_point": "a quantized layer (load the float model that it was made of)",
    r"learnt_scale|original_length": "a TrajectoryRegularization, whose place is not stored (give the module)",
}
# Counters, and the standard deviations of policies with random actions, are not part of the function. Other integer
# scalars are treated as counters, too.
_LEFT_OUT = {"num_batches_tracked", "n_averaged", "num_updates", "step", "steps", "epoch", "decay"}
_LEFT_OUT |= {"log_std", "logstd", "log_stds", "action_std", "action_log_std", "actor_logstd", "log_alpha"}
_LEFT_OUT |= {"log_std_parameter", "log_std_param", "std_param"}
# Advice on means and deviations that no layer has.
_NORMALIZE = (
    "if they normalise the inputs of this network, pass normalize=(mean, std), with the std that the program divides "
    "by: many add a small number, which is not stored"
)


def network_from_state_dict(
    content: Any,
    activation: ActivationChoice,
    *,
    batch_norm_eps: float,
    order_is_kept: bool,
    source: str,
    prefix: Prefix = None,
    statements: Sequence[Statement | Flag] = (),
    will_be_checked: bool = False,
) -> Network:
    """Make a network of a state dict, or of a mapping that holds one.

    Parameters
    ----------
    content : mapping
        Names to numpy arrays or torch tensors; or such a mapping somewhere inside, as in ``{"state_dict": ..,
        "epoch": 3}``.
    activation : str, Activation, sequence of these, or None
        The activation between the layers.
    batch_norm_eps : float
        The number that batch norms add to the variance.
    order_is_kept : bool
        Whether the mapping is in the order of definition.
    source : str
        Its name in messages.
    prefix : str, sequence of str, or None
        Selects tensors, see `regions.read.chains.prefixes`.
    statements : sequence of Statement or Flag
        What the file states about its activation and its parts, outside ``content``.
    will_be_checked : bool
        Whether the caller will compare the network with the module, so that a wrong order cannot go unnoticed.

    Raises
    ------
    AmbiguousCheckpointError, NotACheckpointError
        Several networks are possible, or the weights are missing.
    UnsupportedLayerError, ShapeMismatchError, NonFiniteError, NetworkError
        The weights do not make a network that is handled.
    """
    prefixes = as_prefixes(prefix)
    mappings = find_mappings(content, source)
    notes: list[str] = []
    with _parts_offered(mappings, order_is_kept):
        parts = select(mappings, prefixes, source)
    require_parts_read(parts, source)
    with _parts_offered(mappings, order_is_kept):
        modules: list[Module] = []
        guessed: list[Module] = []
        for part in parts:
            found, said = _read_part(part, order_is_kept, will_be_checked)
            modules += found
            notes += said
            if not (will_be_checked or are_numbered(part)):
                guessed += [module for module in found if module.kind == "dense"]
        if guessed:
            notes.insert(0, f"read as a chain in this order: {list_names(guessed)}. {_UNSEEN.format(guessed[0].n_in)}")
        if len(parts) > 1:
            chained(modules)
    if not any(module.kind == "dense" for module in modules):
        raise NotACheckpointError(f"{source}: no dense layer found among {list_shapes(modules)}")
    if prefixes is not None:
        read, stored = (sum(len(part.tensors) for part in group) for group in (parts, mappings))
        notes.insert(0, f"prefix {', '.join(prefixes)}: {read} of {stored} tensors")
        dense = [module for module in modules if module.kind == "dense"]
        notes += _scalers(mappings, parts, {dense[0].n_in, dense[-1].n_out})
    beside = arrays_beside(content, mappings)
    if beside:
        advice = f"; {_NORMALIZE}" if any(map(_MOMENT.search, beside)) else ""
        notes.append(f"arrays beside the weights, left out: {listed(beside)}{advice}")
    hidden = sum(module.kind == "dense" for module in modules) - 1
    stated = [*(one for one in statements if isinstance(one, Statement)), *find_statements(content)]
    flags = [*(one for one in statements if isinstance(one, Flag)), *find_flags(content)]
    flags = [one for one in flags if not is_about_another_part(one.where, prefixes)]
    activation, settled = settle_activation(activation, stated, hidden, prefixes, _alone(source, parts[0]))
    steps, placing = place_activations(modules, activation, batch_norm_eps)
    used = {step.activation.name for step in steps if isinstance(step, Nonlinearity)}
    contradicted = notes_on_flags(flags, used, any(module.kind == "norm" for module in modules)) if flags else []
    return build_network(steps, [*notes, *settled, *placing, *contradicted])


@contextmanager
def _parts_offered(mappings: Sequence[Part], order_is_kept: bool) -> Iterator[None]:
    """Add the parts that a prefix could choose to errors."""
    try:
        yield
    except (CheckpointError, NetworkError) as error:
        # With prefixes for single layers they can be reordered, but no layer may be left out, and no LoRA adapter of a
        # layer.
        adapted = any("lora_" in name for mapping in mappings for name in mapping.tensors)
        least = 2 if adapted or isinstance(error, UnsupportedLayerError) else 1
        choice = working_parts(mappings, lambda part: _sizes(part, order_is_kept, least))
        if not choice:
            raise
        raise type(error)(
            f"{error}. Choose a part with prefix= (on the command line --prefix), or several in the order of their "
            f"calls; there are {', '.join(choice)}"
        ) from None


def _scalers(mappings: Sequence[Part], parts: Sequence[Part], ends: set[int]) -> list[str]:
    """Return a note on tensors outside the chosen parts that may scale or shift inputs or outputs.

    These are numbers that belong to no layer, as many as the network has inputs or outputs (``ends``), or one. Means
    and deviations are such numbers, too.
    """
    read = {(part.path, name) for part in parts for name in part.tensors}
    names = [
        ".".join(map(str, (*mapping.path, name)))
        for mapping in mappings
        for name, tensor in mapping.tensors.items()
        if (mapping.path, name) not in read
        and "float" in str(tensor.dtype)
        and (int(np.prod(tensor.shape, dtype=object)) in ends or (not tensor.shape and _SCALAR.search(name)))
        and _belongs_to_no_layer(name, mapping.tensors)
    ]
    if not names:
        return []
    return [f"left out: {listed(names)}; {_NORMALIZE}. If they scale or shift its outputs, apply them to these"]


def _belongs_to_no_layer(name: str, tensors: Mapping[str, Any]) -> bool:
    moment = _MOMENT.search(name)  # in names such as obs_mean, a part of the last word
    module, _, parameter = name.rpartition(".")
    inner = name[: moment.start()].rpartition(".")[0] if moment else module
    is_of_layer = any(f"{one}.weight" in tensors for one in (module, inner))
    return not is_of_layer and parameter not in {"weight", "bias", *_LEFT_OUT}


def _alone(source: str, part: Part) -> str:
    """Return how to load a mapping without what is said around it, for messages."""
    origin = source if source == "the mapping" else f"regions.read.read_tensors({source!r})"
    inside = "".join(f"[{key!r}]" for key in part.path)
    others = ", of which only the tensors" if find_statements(part.others) else ""
    return f"tensors = {origin}{inside}{others}; regions.load(tensors, activation=..)"


def _read_part(part: Part, order_is_kept: bool, will_be_checked: bool) -> tuple[list[Module], list[str]]:
    """Return the modules of one part in the order of their calls, and notes on the order."""
    numbered = numbered_modules(part)
    if numbered is not None:
        return numbered
    tensors, pruned = masked_tensors(part.tensors)
    modules, left_out = _modules(tensors)
    ordered, notes = order_modules(modules, order_is_kept, part.within, names_count=not will_be_checked)
    notes = [*pruned, *notes]
    if left_out:
        notes.append(f"not part of the function, and left out: {listed(left_out)}")
    return ordered, notes


def _sizes(part: Part, order_is_kept: bool, least: int) -> str | None:
    """Return the sizes of the network in a part, ``"4-64-64-2"``; None if it is not a chain of enough dense layers."""
    try:
        modules, _ = _read_part(part, order_is_kept, will_be_checked=False)
    except RegionsError:
        return None
    dense = [module for module in modules if module.kind == "dense"]
    if len(dense) < least:
        return None
    return "-".join(in_runs([dense[0].n_in, *(module.n_out for module in dense)])[:12])


def _modules(tensors: Mapping[str, Any]) -> tuple[list[Module], list[str]]:
    """Return the modules in stored order, with their tensors and kinds.

    Also return the names of tensors that are not used.
    """
    groups: dict[str, dict[str, Any]] = {}
    counters: dict[str, dict[str, Any]] = {}
    for key, value in tensors.items():
        name, _, parameter = key.rpartition(".")
        if parameter == "weight_orig" and f"{key.removesuffix('orig')}u" in tensors:
            raise UnsupportedLayerError(
                f"{key} belongs to a layer with spectral norm, which is not supported (make it permanent: "
                "torch.nn.utils.remove_spectral_norm)"
            )
        is_quantized = parameter == "scale" and f"{key.removesuffix('scale')}zero_point" in tensors
        for pattern, what in _UNSUPPORTED.items():
            if re.fullmatch(pattern, "zero_point" if is_quantized else parameter):
                raise UnsupportedLayerError(f"{key} belongs to {what}, which is not supported")
        (counters if _plays_no_part(parameter, value) else groups).setdefault(name, {})[parameter] = value
    left_out = []
    for name, parts in counters.items():
        norm = groups.get(name, {})
        if "running_mean" in norm or "running_var" in norm:
            norm |= parts
        else:
            left_out += [f"{name}.{parameter}" if name else parameter for parameter in parts]
    return [Module(name, _kind(name, parts), parts) for name, parts in groups.items()], left_out


def _plays_no_part(parameter: str, value: Any) -> bool:
    whole = re.fullmatch(r"(torch\.)?(u?int\d+|bool)", str(value.dtype)) is not None
    is_counter = whole and len(value.shape) == 0 and parameter not in ("weight", "bias")
    return parameter in _LEFT_OUT or (is_counter and not _SCALAR.search(parameter))


def _kind(name: str, parts: dict[str, Any]) -> str:
    prefix = f"{name}." if name else ""
    if "running_mean" in parts or "running_var" in parts:
        return _norm_kind(prefix, parts)
    kernel = next((parameter for parameter in parts if _KERNEL.search(parameter)), None)
    if kernel is not None:
        raise UnsupportedLayerError(
            f"{prefix}{kernel} (shape {list(parts[kernel].shape)}) is named as in Keras or Flax, whose kernels are "
            "[inputs, outputs]. Export the model to ONNX. Or transpose the kernels and number the layers: "
            "{'W0': kernel.T, 'b0': bias, 'W1': ..}"
        )
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
            f"{prefix}weight and bias have one axis each and no running statistics: a layer norm, a group norm, or a "
            "batch norm without statistics. None of these is piecewise linear, so the network has no linear regions"
        )
    require_axes(f"{prefix}weight", parts["weight"])
    if re.search(
        r"(^|[._])(word|token|pos|position)?_?(emb|embed|embedding|embeddings|embed_tokens|wte|wpe)([._]|$)",
        name,
    ):
        raise UnsupportedLayerError(
            f"{prefix}weight seems to be an embedding table (by its name), which is not a dense layer"
        )
    return "dense"


def _norm_kind(prefix: str, parts: dict[str, Any]) -> str:
    for parameter in parts:
        if parameter not in _NORM_PARAMETERS:
            raise UnsupportedLayerError(f"{prefix}{parameter} is not a parameter of a batch norm")
    for statistic in ("running_mean", "running_var"):
        if statistic not in parts:
            raise CheckpointError(f"{prefix}{statistic} is missing, so the batch norm cannot be folded")
    return "norm"
