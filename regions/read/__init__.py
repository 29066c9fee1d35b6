# SPDX-License-Identifier: MIT
"""How does a saved model become a `Network`?

`load` takes a file, a state dict, a torch module or an estimator. `formats` recognises files by content. The folder
`chains` reads state dicts. The folders `onnx` and `exported` read graphs of operators, which `graphs` turns into
networks. Each other source has one file here. Nothing in a file is ever executed, and every file is read under the
limits of `regions.files.limits`. Formats and torch are imported only when they are needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from regions.errors import (
    CheckpointError,
    EmptyLayerError,
    NonFiniteError,
    NotACheckpointError,
    ShapeMismatchError,
    UnsupportedLayerError,
)
from regions.files.opened import OpenedFile, is_open_file, opened, printable_errors
from regions.files.shards import require_whole
from regions.ground.arithmetic.arguments import flag, list_of, number, word
from regions.ground.arithmetic.keywords import helped
from regions.ground.text.printable import file_name, printable
from regions.networks.concurrent_kinks import note_on_concurrent_kinks
from regions.networks.derived import with_notes
from regions.networks.network import Network
from regions.read.chains.between_layers import ActivationChoice, as_activation_choice
from regions.read.chains.prefixes import Prefix, as_prefixes
from regions.read.chains.state_dict import network_from_state_dict
from regions.read.formats import READ_KINDS, recognise
from regions.read.normalization import Normalization, normalize_inputs
from regions.read.not_read import advice_on_folder
from regions.read.scikit_learn import is_estimator, network_from_estimator

__all__ = ["load", "read_tensors"]

NO_INPUT_SHAPE = "input_shape is for torch modules; files and estimators say themselves what they take"


@helped()
def load(
    source: Any,
    activation: ActivationChoice = None,
    *,
    batch_norm_eps: float = 1e-5,
    prefix: Prefix = None,
    normalize: Normalization = None,
    input_shape: Sequence[int] | int | None = None,
    fuse_max: bool = False,
    outputs: str | Sequence[str] | None = None,
) -> Network:
    """Read a network from a saved model, or from an object that holds its weights.

    Parameters
    ----------
    source : path, open binary file, mapping, torch.nn.Module, or scikit-learn estimator
        One of these:

        - a torch file, ``.pt2`` (from ``torch.export.save``), ``.safetensors``, ``.npz``, ``.onnx`` (which needs onnx)
          or ``.nnet`` file, or the index of a model in several files. Formats are recognised by content. The file name
          does not matter, except that one file of several is refused. An open file is read from its beginning and
          stays open.
        - a state dict: names with numpy arrays or torch tensors, in the order of the layers.
        - a torch module. Without ``input_shape`` it must be a chain of layers.
        - a fitted ``MLPClassifier`` or ``MLPRegressor``, alone or at the end of a ``Pipeline`` of scalers.
    activation : str, Activation, or a sequence with one for each hidden layer
        The activation between the layers, which state dicts do not store: a name that `Network` takes, such as
        ``"relu"``, ``"leaky_relu(0.2)"`` or ``"soft_shrink(0.3)"``, or ``"prelu"`` if its slopes are stored. Leave it
        out for a `torch.nn.Sequential`, ``.pt2``, ONNX or ``.nnet``, which have their activations, and if settings
        beside the weights state it; another name than the stated one is refused.
    batch_norm_eps : float
        The number that batch norms add to the variance; state dicts do not store it, but modules do.
    prefix : str, or a sequence of str
        Read only the tensors whose names begin with this, in whole parts: ``"actor"`` reads ``actor.0.weight``. Several
        prefixes are read one after the other, in this order.
    normalize : (mean, std)
        If the inputs are normalised before the model is applied, ``(x - mean) / std``, their mean and standard
        deviation. They are folded into the first layer, so the network takes inputs that are not normalised. Each is a
        number, an array with one entry for each input (or the array [C, H, W] before flattening), or [C, 1, 1] with one
        for each channel; also [C] if the file says that inputs are images.
    input_shape : sequence of int, or int
        Shape of one input of a torch module without the batch axis, for instance (3, 32, 32); n stands for (n,). With
        it, every module that torch.export can export is read, including convolutions and skip connections. Without it,
        only chains of layers are read, and pools along vectors after a linear layer.
    fuse_max : bool
        Whether ReLUs that are read only by a maximum, as in ``max(relu(a), relu(b))``, become one unit with it,
        ``max(0, a, b)``. This is the same function with fewer regions, and ``notes`` say so. If False, the kinks of the
        ReLUs are part of activation patterns.
    outputs : str, or a sequence of str
        Names of the wanted outputs, in order, for ``.pt2``, ONNX, and modules with ``input_shape``. Any other value of
        the graph can be named too. The default is all outputs. Several are joined to one vector, and ``notes`` say in
        which order.

    Returns
    -------
    Network
        Its ``notes`` say what the reader decided: for instance the order in which it took the layers of a state dict,
        or which batch norm it folded.

    Raises
    ------
    CheckpointError
        The file is damaged, too large, unsafe or of another kind, or it does not say which network it is.
    UnsupportedLayerError, ShapeMismatchError, NonFiniteError, NetworkError
        The weights do not make a network that is handled.
    OSError
        The file cannot be opened.
    TypeError
        ``source`` is something else.

    Examples
    --------
    >>> import numpy as np
    >>> weights = {"0.weight": np.ones((3, 2)), "0.bias": np.zeros(3), "2.weight": np.ones((1, 3))}
    >>> load(weights, activation="relu")
    Network(2-3-1, relu, 3 hidden neurons)
    """
    batch_norm_eps, fuse_max = number(batch_norm_eps, "batch_norm_eps"), flag(fuse_max, "fuse_max")
    activation = as_activation_choice(activation)
    as_prefixes(prefix)
    names = _names(outputs)
    if isinstance(source, (str, os.PathLike)) or is_open_file(source):
        if input_shape is not None:
            raise ValueError(NO_INPUT_SHAPE)
        network = _read_file(source, activation, batch_norm_eps, prefix, fuse_max, names)
    else:
        network = _read_object(source, activation, batch_norm_eps, prefix, input_shape, fuse_max, names)
    if normalize is not None:
        network = normalize_inputs(network, normalize)
    note = note_on_concurrent_kinks(network)
    return network if note is None else with_notes(network, note)


def _names(outputs: str | Sequence[str] | None) -> list[str] | None:
    if outputs is None:
        return None
    names = [outputs] if isinstance(outputs, str) else list_of(outputs, "outputs", "a list of str")
    for i, name in enumerate(names):
        word(name, f"outputs[{i}]")
    if not names or len(set(names)) < len(names):
        raise ValueError("outputs: name at least one, and each once")
    return names


def _read_file(
    source: Any,
    activation: ActivationChoice,
    batch_norm_eps: float,
    prefix: Prefix,
    fuse_max: bool,
    outputs: list[str] | None,
) -> Network:
    with _opened_model(source) as file:
        form = recognise(file)
        if outputs is not None and not form.names_values:
            raise CheckpointError(
                f"{file.name}: it has no names for outputs; load it without outputs=, and take some of the network "
                "by net.outputs([0, 1])"
            )
        if form.network is not None:
            if prefix is not None:
                raise CheckpointError(f"{file.name}: a prefix is for named weights; this file is one whole network")
            return form.network(file, activation, fuse_max, outputs)
        require_whole(file)
        tensors = form.tensors(file)
        if isinstance(tensors, dict) and {"header", "cell_offsets"} <= tensors.keys():
            raise NotACheckpointError(
                f"{file.name}: a partition, not a model; load_partition({file.name!r}).network is its network"
            )
        order = form.order_is_kept
        try:
            return network_from_state_dict(
                tensors,
                activation,
                batch_norm_eps=batch_norm_eps,
                order_is_kept=order,
                source=file.name,
                prefix=prefix,
                statements=form.statements(file),
            )
        except (EmptyLayerError, NonFiniteError, ShapeMismatchError) as error:
            raise type(error)(f"{file.name}: {error}") from None


@contextmanager
def _opened_model(source: Any) -> Iterator[OpenedFile]:
    with printable_errors():
        if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
            advice = advice_on_folder(os.fsdecode(source))
            if advice is not None:
                raise NotACheckpointError(f"{file_name(source)}: {advice}")
        with opened(source, "the model", READ_KINDS) as file:
            yield file


def _read_object(
    source: Any,
    activation: ActivationChoice,
    batch_norm_eps: float,
    prefix: Prefix,
    input_shape: Sequence[int] | int | None,
    fuse_max: bool,
    outputs: list[str] | None,
) -> Network:
    is_module = _is_torch_module(source)
    if is_module or isinstance(source, Mapping):
        _require_numbers(source.named_parameters() if is_module else source.items())
    if prefix is not None and (is_module or is_estimator(source)):
        raise ValueError("prefix is for files and state dicts; of an object, load the part itself: module.actor")
    if is_module:
        from regions.read.torch_module import inputs_of_pooled_chain, network_from_module, require_no_quantised_layers

        require_no_quantised_layers(source)
        if input_shape is None and outputs is None:
            input_shape = inputs_of_pooled_chain(source)
        if input_shape is not None:
            from regions.read.exported.module import network_from_any_module

            return network_from_any_module(source, activation, input_shape, fuse_max=fuse_max, outputs=outputs)
    if input_shape is not None:
        raise ValueError(NO_INPUT_SHAPE)
    if outputs is not None:
        raise ValueError(
            "outputs is for .pt2 and .onnx files, and modules with input_shape; of a network, take some outputs by "
            "net.outputs([0, 1])"
        )
    if is_module:
        return network_from_module(source, activation, batch_norm_eps=batch_norm_eps)
    if is_estimator(source):
        return network_from_estimator(source, activation)
    if isinstance(source, Mapping):
        return network_from_state_dict(
            source, activation, batch_norm_eps=batch_norm_eps, order_is_kept=True, source="the mapping", prefix=prefix
        )
    raise TypeError(
        f"load takes an open file, an estimator of scikit-learn, a path, a state dict or a torch module, got "
        f"{type(source).__name__}; for a list of weights there is regions.Network([(W0, b0), (W1, b1), ...])"
    )


def read_tensors(source: str | os.PathLike[str] | IO[bytes]) -> Any:
    """Return the content of a model file, without executing anything in it.

    Use it to look into a file, or to choose or reorder tensors before `load`.

    Parameters
    ----------
    source : path or open binary file
        A torch file, ``.pt2``, ``.safetensors``, ``.npz``, ``.onnx`` or ``.nnet``, with any name.

    Returns
    -------
    dict of str to numpy array
        For torch files the saved object: usually such a dict, perhaps inside another one. For ``.pt2`` and ``.onnx``
        the tensors that are stored with the graph; for ``.nnet`` the result of `regions.read.nnet.read_nnet`. bfloat16
        tensors are returned as float32.

    Raises
    ------
    CheckpointError
        The file is damaged, too large, unsafe, or of another kind.
    OSError
        The file cannot be opened.
    """
    with _opened_model(source) as file:
        return recognise(file).tensors(file)


def _require_numbers(named: Iterable[tuple[Any, Any]]) -> None:
    """Refuse parameters of lazy modules that have not been called yet: torch draws their numbers in the first call."""
    for name, value in named:
        if (type(value).__module__, type(value).__name__) == ("torch.nn.parameter", "UninitializedParameter"):
            raise UnsupportedLayerError(
                f"parameter {printable(str(name))!r} has no numbers yet; call the module once with an input, and load "
                "it then"
            )


def _is_torch_module(source: Any) -> bool:
    """Return whether this is a torch.nn.Module, without importing torch."""
    return any(
        f"{base.__module__}.{base.__qualname__}" == "torch.nn.modules.module.Module" for base in type(source).__mro__
    )
