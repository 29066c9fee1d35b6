# SPDX-License-Identifier: MIT
"""How does a saved model become a `Network`?

`load` is the one door: it takes a file, a state dict, or a torch module. Each format has one file here that
turns bytes into named tensors, or a module into steps; `chain` turns steps into layers. Nothing in a file is
ever executed, and every file is read under the limits of `regions.read.limits`. Formats and torch are
imported only when they are met.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Mapping
from typing import Any

from regions.errors import NotACheckpointError
from regions.network import Network
from regions.read.between_layers import ActivationChoice

__all__ = ["load", "read_tensors"]

_SUFFIXES = (".pt", ".pth", ".safetensors", ".npz")


def load(source: Any, activation: ActivationChoice = None, *, batch_norm_eps: float = 1e-5) -> Network:
    """Make a `Network` of a saved model.

    Parameters
    ----------
    source : path, mapping, or torch.nn.Module
        A ``.pt``, ``.pth``, ``.safetensors`` or ``.npz`` file; a state dict (names to numpy arrays or torch
        tensors, in the order of the layers); or a torch module that is a chain of layers.
    activation : str, Activation, or a sequence with one for each hidden layer
        What lies between the layers, which files and state dicts do not say: ``"relu"``,
        ``"leaky_relu(0.2)"``, ``"hard_tanh(-2, 2)"``, ``"relu6"``, ``"abs"``, ``"identity"``, or ``"prelu"``
        where its slopes are stored. A `torch.nn.Sequential` says so itself.
    batch_norm_eps : float
        What batch norms add to the variance; state dicts do not store it. Modules say it themselves.

    Returns
    -------
    Network
        Its ``notes`` say what was understood beyond plain copying, such as a batch norm that was folded.

    Raises
    ------
    CheckpointError
        The file is damaged, too large, unsafe, not what it claims, or leaves open which network it is.
    UnsupportedLayerError, ShapeMismatchError, NonFiniteError, NetworkError
        The weights do not make a network that is handled.
    OSError
        The file can not be opened.
    TypeError
        ``source`` is none of these.

    Examples
    --------
    >>> import numpy as np
    >>> weights = {"0.weight": np.ones((3, 2)), "0.bias": np.zeros(3), "2.weight": np.ones((1, 3))}
    >>> load(weights, activation="relu")
    Network(2-3-1, relu, 3 hidden neurons)
    """
    if not (
        isinstance(batch_norm_eps, (int, float)) and math.isfinite(batch_norm_eps) and batch_norm_eps >= 0
    ):
        raise ValueError(
            f"batch_norm_eps must be a finite number that is not negative, got {batch_norm_eps!r}"
        )
    if _is_torch_module(source):
        from regions.read.torch_module import network_from_module

        return network_from_module(source, activation, batch_norm_eps=batch_norm_eps)
    from regions.read.state_dict import network_from_state_dict

    if isinstance(source, (str, os.PathLike)):
        name = os.fsdecode(source)
        tensors = read_tensors(source)
        if isinstance(tensors, dict) and {"header", "cell_offsets"} <= tensors.keys():
            raise NotACheckpointError(
                f"{name}: a partition, not a model; load_partition({name!r}).network is its network"
            )
        return network_from_state_dict(
            tensors,
            activation,
            batch_norm_eps=batch_norm_eps,
            order_is_kept=not name.lower().endswith(".safetensors"),
            source=name,
        )
    if isinstance(source, Mapping):
        return network_from_state_dict(
            source, activation, batch_norm_eps=batch_norm_eps, order_is_kept=True, source="the mapping"
        )
    raise TypeError(
        f"load takes a path, a state dict or a torch module, got {type(source).__name__}; for a list of "
        "weights there is regions.Network([(W0, b0), (W1, b1), ...])"
    )


def read_tensors(path: str | os.PathLike[str]) -> Any:
    """Return what a model file holds, without executing anything in it.

    Use it to look into a file, or to pick or reorder tensors before `load`.

    Parameters
    ----------
    path : path
        A ``.pt``, ``.pth``, ``.safetensors`` or ``.npz`` file.

    Returns
    -------
    dict of str to numpy array
        For ``.pt`` and ``.pth`` whatever was saved: usually such a dict, perhaps inside another one. bfloat16
        tensors come as float32.

    Raises
    ------
    CheckpointError
        The file is damaged, too large, unsafe, or not what it claims.
    OSError
        The file can not be opened.
    """
    name = os.fsdecode(path)
    suffix = os.path.splitext(name)[1].lower()
    kinds = ", ".join(_SUFFIXES)
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise NotACheckpointError(f"{name}: a directory; give the model file in it, which ends in {kinds}")
    if not stat.S_ISREG(mode):  # opening a pipe would wait for whoever writes to it
        raise NotACheckpointError(f"{name}: not an ordinary file; copy the model to one that ends in {kinds}")
    if suffix not in _SUFFIXES:
        found = f"unknown kind of file {suffix!r}" if suffix else "a name without an ending"
        raise NotACheckpointError(f"{name}: {found}; model files end in {kinds}")
    with open(path, "rb") as file:
        if suffix == ".npz":
            from regions.read.npz import read_npz

            return read_npz(file, name)
        if suffix == ".safetensors":
            from regions.read.safetensors import read_safetensors

            return read_safetensors(file, name)
        from regions.read.torch_file import read_torch_file

        return read_torch_file(file, name)


def _is_torch_module(source: Any) -> bool:
    """Whether ``source`` is a torch.nn.Module, found out without importing torch."""
    return any(
        f"{base.__module__}.{base.__qualname__}" == "torch.nn.modules.module.Module"
        for base in type(source).__mro__
    )
