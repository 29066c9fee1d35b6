# SPDX-License-Identifier: MIT
"""How is a file of `torch.export.save` made without torch, from a list of nodes?

Only the entries that the reader needs are written.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {"float32": 7, "float64": 8, "float16": 6, "int64": 5, "int32": 4, "bool": 12, "uint8": 1}


def named(name: str) -> dict[str, Any]:
    """Return the argument that is a tensor."""
    return {"as_tensor": {"name": name}}


def argument(value: Any) -> dict[str, Any]:
    """Return an argument in the schema's form; a string is the name of a tensor."""
    if value is None:
        return {"as_none": True}
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        return named(value)
    if isinstance(value, list):
        if any(isinstance(one, str) or one is None for one in value):
            return {"as_optional_tensors": [{"as_none": True} if one is None else named(one) for one in value]}
        kind = "as_floats" if any(isinstance(one, float) for one in value) else "as_ints"
        return {kind: value}
    return {{bool: "as_bool", int: "as_int", float: "as_float"}[type(value)]: value}


def call(target: str, output: str, **arguments: Any) -> dict[str, Any]:
    """Return a node: an operator of aten and its arguments; ``self_`` stands for ``self``."""
    inputs = [{"name": name.rstrip("_"), "arg": argument(value), "kind": 1} for name, value in arguments.items()]
    return {"target": f"torch.ops.aten.{target}", "inputs": inputs, "outputs": [named(output)], "name": output}


def archive(
    nodes: Sequence[Mapping[str, Any]],
    tensors: Mapping[str, NDArray[Any]] | None = None,
    *,
    shape: Sequence[int] = (1, 3),
    output: str = "y",
    kinds: Mapping[str, int] | None = None,
) -> bytes:
    """Return a program that reads ``x`` and stored tensors; ``kinds`` are element types of other values."""
    tensors = {name: np.asarray(array) for name, array in (tensors or {}).items()}

    def meta(lengths: Sequence[int], kind: int) -> dict[str, Any]:
        strides = np.cumprod([1, *[max(length, 1) for length in lengths[:0:-1]]])[::-1] if lengths else []
        return {
            "dtype": kind,
            "sizes": [{"as_int": length} for length in lengths],
            "strides": [{"as_int": int(stride)} for stride in strides],
            "storage_offset": {"as_int": 0},
            "layout": 7,
        }

    metas = {name: meta(array.shape, _TYPES[array.dtype.name]) for name, array in tensors.items()}
    config = {
        name: {"path_name": f"weight_{number}", "use_pickle": False, "tensor_meta": metas[name]}
        for number, name in enumerate(tensors)
    }
    specs: list[dict[str, Any]] = [{"buffer": {"arg": {"name": name}, "buffer_name": name}} for name in tensors]
    program = {
        "schema_version": {"major": 8, "minor": 20},
        "graph_module": {
            "graph": {
                "nodes": list(nodes),
                "outputs": [named(output)],
                "tensor_values": {
                    "x": meta(shape, 7),
                    **{name: {**meta((), kind), "sizes": []} for name, kind in (kinds or {}).items()},
                },
            },
            "signature": {
                "input_specs": [*specs, {"user_input": {"arg": named("x")}}],
                "output_specs": [{"user_output": {"arg": named(output)}}],
            },
        },
    }
    buffer = io.BytesIO()
    members: dict[str, bytes | str] = {
        **{f"archive/data/weights/weight_{number}": array.tobytes() for number, array in enumerate(tensors.values())},
        "archive/data/weights/model_weights_config.json": json.dumps({"config": config}),
        "archive/data/constants/model_constants_config.json": json.dumps({"config": {}}),
        "archive/models/model.json": json.dumps(program),
        "archive/archive_format": b"pt2",
        "archive/byteorder": b"little",
    }
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content)  # without the time, so that the bytes are always the same
    return buffer.getvalue()
