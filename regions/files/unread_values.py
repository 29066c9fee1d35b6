# SPDX-License-Identifier: MIT
"""Does something stand where a tensor should be?

Checkpoints hold all kinds of things beside their weights, and these are passed over. But a value that is no tensor
under the name of a parameter - an object that could not be built, a list, a number - must not be passed over: the
network would be read without its bias. Cost: linear in what the file holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from regions.errors import UnsafePickleError, UnsupportedLayerError
from regions.files.restricted_pickle import SAVE_A_STATE_DICT, Function, Opaque
from regions.printable import printable

__all__ = ["holds_an_array", "mappings_with_matrices", "require_tensors_read"]

_ADVICE = {
    "torch._utils._rebuild_sparse_tensor": "open the file in torch and save tensor.to_dense() in its place",
    "torch._utils._rebuild_qtensor": "open the file in torch and save tensor.dequantize() in its place",
}
_PARAMETERS = {"weight", "bias", "running_mean", "running_var"}


def _values(content: Any) -> Iterator[Any]:
    """Everything inside, each object once, without recursion: a pickle may nest as deep as it likes."""
    left, seen = [content], {id(content)}
    while left:
        value = left.pop()
        yield value
        inside: Any = ()
        if isinstance(value, dict):
            inside = value.values()
        elif isinstance(value, (list, tuple)):
            inside = value
        for item in inside:
            if isinstance(item, (dict, list, tuple, np.ndarray)) and id(item) not in seen:
                seen.add(id(item))
                left.append(item)


def holds_an_array(content: Any) -> bool:
    """Whether there is an array anywhere inside dicts, lists and tuples."""
    return any(isinstance(value, np.ndarray) for value in _values(content))


def mappings_with_matrices(content: Any) -> Iterator[dict[str, Any]]:
    """All dicts inside that directly hold an array of two or more axes."""
    for value in _values(content):
        if isinstance(value, dict) and any(isinstance(v, np.ndarray) and v.ndim > 1 for v in value.values()):
            yield value


def require_tensors_read(mapping: Mapping[Any, Any], source: str) -> None:
    """Refuse a state dict in which something that is no tensor has the name of a parameter.

    Parameters
    ----------
    mapping : mapping
        Where the tensors were found.
    source : str
        What to call it in messages.

    Raises
    ------
    UnsafePickleError
        An object that only running code could build, such as a quantized tensor.
    UnsupportedLayerError
        A number, a list, or the like.
    """
    names = {key for key, value in mapping.items() if isinstance(key, str) and hasattr(value, "shape")}
    modules = {name.rpartition(".")[0] for name in names}
    for key, value in mapping.items():
        if key in names or not isinstance(key, str) or value is None:
            continue
        module, _, parameter = key.rpartition(".")
        numbered = re.fullmatch(r"[Wb][0-9]{1,9}", key) is not None
        named = parameter in _PARAMETERS and module in modules
        if isinstance(value, Opaque) and (numbered or named or value.has_data or value.name.startswith("torch._")):
            raise UnsafePickleError(
                f"{source}: {printable(key)} is {value!r}: only running code could build it. Nothing was run; "
                f"{_ADVICE.get(value.name, f'save plain dense tensors, or {SAVE_A_STATE_DICT}')}"
            )
        # What makes tensors is no value of its own: a pickle that is damaged can hold it where a tensor was.
        if numbered or named or isinstance(value, Function):
            raise UnsupportedLayerError(
                f"{source}: {printable(key)} is no array but of type {type(value).__name__}; give an array or None"
            )
