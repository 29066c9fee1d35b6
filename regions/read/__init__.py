# SPDX-License-Identifier: MIT
"""How does a saved model become a `Network`?

`load` takes a file, a state dict, a torch module or an estimator. `formats` recognises files by content. The room
`chains` reads state dicts, `onnx` and `exported` read graphs of operators, which `graphs` turns into networks, and each
other source has one file here. Nothing in a file is ever executed, and every file is read under the limits of
`regions.files.limits`. Formats and torch are imported only when they are needed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import IO, Any

from regions.arithmetic.arguments import flag, list_of, number, word
from regions.errors import CheckpointError, NotACheckpointError
from regions.files.opened import is_open_file, opened, printable_errors
from regions.networks.network import Network
from regions.read.chains.between_layers import ActivationChoice, as_activation_choice
from regions.read.chains.prefixes import Prefix, as_prefixes
from regions.read.formats import READ_KINDS, recognise
from regions.read.normalization import Normalization, normalize_inputs
from regions.read.scikit_learn import is_estimator, network_from_estimator

__all__ = ["load", "read_tensors"]


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
    """Make a `Network` of a saved model.

    Parameters
    ----------
    source : path, open binary file, mapping, torch.nn.Module, or scikit-learn estimator
        A torch file, ``.pt2`` (of ``torch.export.save``), ``.safetensors``, ``.npz``, ``.onnx`` (which needs onnx) or
        ``.nnet``, recognised by its content
        whatever it is called (an open file is read from its beginning, and stays open); a state dict (names to numpy
        arrays or torch tensors, in the order of the layers); a torch module that is a chain of layers; or a fitted
        ``MLPClassifier`` or ``MLPRegressor``, alone or at the end of a ``Pipeline`` of scalers.
    activation : str, Activation, or a sequence with one for each hidden layer
        The activation between the layers, which files and state dicts do not say: a name that `Network` takes,
        such as ``"relu"``, ``"leaky_relu(0.2)"`` or ``"soft_shrink(0.3)"``, or ``"prelu"`` if its slopes are stored.
        A `torch.nn.Sequential`, ``.pt2``, ONNX and ``.nnet`` say so themselves.
    batch_norm_eps : float
        What batch norms add to the variance; state dicts do not store it. Modules say it themselves.
    prefix : str, or a sequence of str
        Which tensors of a file or state dict are meant, where not all of them are: those whose names begin so, in
        whole parts, as ``"actor"`` for ``actor.0.weight``. Several are read one after the other, in this order.
    normalize : (mean, std)
        With which the inputs are normalised before the model sees them, ``(x - mean) / std``; it is folded into the
        first layer, so that the network takes them as they are. Each a number, an array with one for each input (or
        the array [C, H, W] that they are flattened from), or [C, 1, 1] with one for each channel; also [C] where the
        file says that inputs are images.
    input_shape : sequence of int, or int
        Shape of one input of a torch module without the batch axis, for instance (3, 32, 32); n stands for (n,). With
        it, any module is read that torch.export can export, including convolutions and skip connections. Without it,
        only chains of layers are read, including pools along vectors after a linear layer.
    fuse_max : bool
        What becomes of a ReLU that only a max-pool or another maximum reads, ``max(relu(a), relu(b))``. As written, its
        kinks are part of activation patterns. With True it is one unit, ``max(0, a, b)``: the same function, with fewer
        regions, and ``notes`` say so.
    outputs : str, or a sequence of str
        Of ``.pt2``, ONNX, and modules with ``input_shape``, the outputs that are wanted, by name, in this order; any
        other value of the graph may be named, too. All outputs if left out. Several are joined to one vector, and
        ``notes`` say in which order.

    Returns
    -------
    Network
        Its ``notes`` say what was understood beyond plain copying: in which order the layers of a state dict were
        taken, which batch norm was folded.

    Raises
    ------
    CheckpointError
        The file is damaged, too large, unsafe, not what it claims, or leaves open which network it is.
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
    if input_shape is None and names is None and prefix is None and _is_torch_module(source):
        from regions.read.torch_module import inputs_of_pooled_chain

        input_shape = inputs_of_pooled_chain(source)
    if input_shape is None:
        network = _read(source, activation, batch_norm_eps, prefix, fuse_max, names)
    elif prefix is None and _is_torch_module(source):
        from regions.read.exported.module import network_from_any_module

        network = network_from_any_module(source, activation, input_shape, fuse_max=fuse_max, outputs=names)
    else:
        raise ValueError("input_shape is for torch modules; files and estimators say themselves what they take")
    return network if normalize is None else normalize_inputs(network, normalize)


def _names(outputs: str | Sequence[str] | None) -> list[str] | None:
    if outputs is None:
        return None
    names = [outputs] if isinstance(outputs, str) else list_of(outputs, "outputs", "a list of str")
    for i, name in enumerate(names):
        word(name, f"outputs[{i}]")
    if not names or len(set(names)) < len(names):
        raise ValueError("outputs: name at least one, and each once")
    return names


def _read(
    source: Any,
    activation: ActivationChoice,
    batch_norm_eps: float,
    prefix: Prefix,
    fuse_max: bool,
    outputs: list[str] | None,
) -> Network:
    """Find out what ``source`` is, and have it read."""
    if outputs is not None and not (isinstance(source, (str, os.PathLike)) or is_open_file(source)):
        raise ValueError(
            "outputs is for .pt2 and .onnx files, and modules with input_shape; of a network, take some outputs by "
            "net.outputs([0, 1])"
        )
    if prefix is not None and (_is_torch_module(source) or is_estimator(source)):
        raise ValueError("prefix is for files and state dicts; of an object, load the part itself: module.actor")
    if is_estimator(source):
        return network_from_estimator(source, activation)
    if _is_torch_module(source):
        from regions.read.torch_module import network_from_module

        return network_from_module(source, activation, batch_norm_eps=batch_norm_eps)
    from regions.read.chains.state_dict import network_from_state_dict

    read = partial(network_from_state_dict, activation=activation, batch_norm_eps=batch_norm_eps, prefix=prefix)
    if isinstance(source, (str, os.PathLike)) or is_open_file(source):
        with printable_errors(), opened(source, "the model", READ_KINDS) as file:
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
            tensors = form.tensors(file)
            if isinstance(tensors, dict) and {"header", "cell_offsets"} <= tensors.keys():
                raise NotACheckpointError(
                    f"{file.name}: a partition, not a model; load_partition({file.name!r}).network is its network"
                )
            return read(tensors, order_is_kept=form.order_is_kept, source=file.name)
    if isinstance(source, Mapping):
        return read(source, order_is_kept=True, source="the mapping")
    raise TypeError(
        f"load takes an open file, an estimator of scikit-learn, a path, a state dict or a torch module, got "
        f"{type(source).__name__}; for a list of weights there is regions.Network([(W0, b0), (W1, b1), ...])"
    )


def read_tensors(source: str | os.PathLike[str] | IO[bytes]) -> Any:
    """Return what a model file holds, without executing anything in it.

    Use it to look into a file, or to pick or reorder tensors before `load`.

    Parameters
    ----------
    source : path or open binary file
        A torch file, ``.pt2``, ``.safetensors``, ``.npz``, ``.onnx`` or ``.nnet``, whatever it is called.

    Returns
    -------
    dict of str to numpy array
        For torch files whatever was saved: usually such a dict, perhaps inside another one. Of ``.pt2`` and ``.onnx``
        the tensors that are stored beside the graph; of ``.nnet`` what `regions.read.nnet.read_nnet` returns. bfloat16
        tensors come as float32.

    Raises
    ------
    CheckpointError
        The file is damaged, too large, unsafe, or not what it claims.
    OSError
        The file cannot be opened.
    """
    with printable_errors(), opened(source, "the model", READ_KINDS) as file:
        return recognise(file).tensors(file)


def _is_torch_module(source: Any) -> bool:
    """Whether ``source`` is a torch.nn.Module, found out without importing torch."""
    return any(
        f"{base.__module__}.{base.__qualname__}" == "torch.nn.modules.module.Module" for base in type(source).__mro__
    )
