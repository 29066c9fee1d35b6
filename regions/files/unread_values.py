# SPDX-License-Identifier: MIT
"""Does another value take the place of a tensor?

Checkpoints hold all kinds of other values in addition to their weights, and these are skipped. But a value that is not
a tensor and has the name of a parameter (an object that could not be built, a list, a number) must not be skipped:
the network would be read without its bias. Cost: linear in the content of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from regions.errors import UnsafePickleError, UnsupportedLayerError
from regions.files.restricted_pickle import SAVE_A_STATE_DICT, Function, Opaque
from regions.ground.text.printable import printable

__all__ = ["holds_an_array", "mappings_with_matrices", "require_tensors_read"]

_ADVICE = {
    "torch._utils._rebuild_sparse_tensor": "open the file in torch and save tensor.to_dense() in its place",
    "torch._utils._rebuild_qtensor": "open the file in torch and save tensor.dequantize() in its place",
}
_PARAMETERS = {"weight", "bias", "running_mean", "running_var"}


def _values(content: Any) -> Iterator[Any]:
    """Yield every value inside, each once, without recursion, because a pickle may be nested to any depth."""
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
    """Return whether there is an array anywhere inside dicts, lists and tuples."""
    return any(isinstance(value, np.ndarray) for value in _values(content))


def mappings_with_matrices(content: Any) -> Iterator[dict[str, Any]]:
    """Yield all dicts inside that directly hold an array of two or more axes."""
    for value in _values(content):
        if isinstance(value, dict) and any(isinstance(v, np.ndarray) and v.ndim > 1 for v in value.values()):
            yield value


def require_tensors_read(mapping: Mapping[Any, Any], source: str) -> None:
    """Refuse a state dict in which another value than a tensor has the name of a parameter.

    Parameters
    ----------
    mapping : mapping
        The mapping that holds the tensors.
    source : str
        Its name in messages.

    Raises
    ------
    UnsafePickleError
        The value is an object that only running code could build, such as a quantized tensor.
    UnsupportedLayerError
        The value is a number, a list, or similar.
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
        # A damaged pickle can hold a builder of tensors in the place of a tensor.
        if numbered or named or isinstance(value, Function):
            raise UnsupportedLayerError(
                f"{source}: {printable(key)} has type {type(value).__name__} and is not an array; give an array or None"
            )
