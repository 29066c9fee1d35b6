# SPDX-License-Identifier: MIT
"""Does the network of a random file agree with onnx or torch on the file?

Judges return None if they agree, or do not evaluate the file: they refuse some readable files, such as graphs with
unused empty values, and large batches.
"""

from __future__ import annotations

import io
import json
import math
import sys
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import regions

# Constants and points have few digits, and graphs ten layers of single precision at most.
TOLERANCE = 1e-4
POINTS = 3
# Files may name any batch, and memory is limited.
MOST_NUMBERS = 2**20


def judged_by_onnx(content: bytes, network: regions.Network) -> str | None:
    """Compare with onnxruntime if the caller imported it, else with onnx's own evaluator.

    The latter has batch norms and maxima over whole images wrong, in some versions of the operators.
    """
    import onnx

    model = onnx.ModelProto.FromString(content)
    shape = [axis.dim_value or 1 for axis in model.graph.input[0].type.tensor_type.shape.dim]
    if math.prod(shape) > MOST_NUMBERS:
        return None
    points = _points(shape)
    runtime = "onnxruntime" in sys.modules
    wrong = {"BatchNormalization", "GlobalMaxPool"}
    if not runtime and any(node.op_type in wrong for node in model.graph.node):
        return None
    try:
        evaluate = _runtime(content) if runtime else onnx.reference.ReferenceEvaluator(model).run
        dtype = onnx.helper.tensor_dtype_to_np_dtype(model.graph.input[0].type.tensor_type.elem_type)
        with np.errstate(all="ignore"):
            wanted = [evaluate(None, {"x": point.astype(dtype)})[0] for point in points]
    except Exception:
        return None
    return _difference(network, points, wanted)


def _runtime(content: bytes) -> Callable[..., Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    run: Callable[..., Any] = onnxruntime.InferenceSession(content, options, ["CPUExecutionProvider"]).run
    return run


def judged_by_torch(content: bytes, network: regions.Network) -> str | None:
    """Compare with torch's operators, called one by one in double precision."""
    import torch

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        config = json.loads(archive.read("archive/data/weights/model_weights_config.json"))["config"]
        graph = json.loads(archive.read("archive/models/model.json"))["graph_module"]["graph"]
        stored = {
            name: _stored(archive.read(f"archive/data/weights/{entry['path_name']}"), entry["tensor_meta"])
            for name, entry in config.items()
        }
    shape = [size["as_int"] for size in graph["tensor_values"]["x"]["sizes"]]
    if math.prod(shape) > MOST_NUMBERS:
        return None
    points = _points(shape)
    wanted = []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # threads of OpenMP do not survive the forks of other tests, and hang there
    try:
        for point in points:
            values = {**stored, "x": torch.from_numpy(point)}
            for node in graph["nodes"]:
                operator, overload = node["target"].removeprefix("torch.ops.aten.").split(".")
                arguments = {one["name"]: _argument(one["arg"], values) for one in node["inputs"]}
                result = getattr(getattr(torch.ops.aten, operator), overload)(**arguments)
                values[node["outputs"][0]["as_tensor"]["name"]] = result
            wanted.append(values[graph["outputs"][0]["as_tensor"]["name"]].double().numpy())
    except Exception:
        return None
    finally:
        torch.set_num_threads(threads)
    return _difference(network, points, wanted)


def _points(shape: list[int]) -> list[NDArray[np.float64]]:
    draw = np.random.default_rng(0)
    return [draw.integers(-32, 33, shape) / 8 for _ in range(POINTS)]


def _difference(network: regions.Network, points: list[Any], wanted: list[Any]) -> str | None:
    rows = len(points[0]) if points[0].ndim > 1 else 1
    if rows > 1 and network.n_in * rows == points[0].size:  # a batch whose rows are apart
        wanted = [row for one in wanted for row in np.reshape(one, (rows, -1))]
        points = [row for point in points for row in point]
    if network.n_in != points[0].size:
        return f"{network.n_in} inputs instead of {points[0].size}"
    for point, one in zip(points, wanted, strict=True):
        expected = np.ravel(one).astype(float)
        if not np.isfinite(expected).all() or np.abs(expected).max(initial=0) > 1e6:
            return None
        found = network(point.ravel())
        if found.shape != expected.shape:
            return f"another number of outputs, {found.shape} instead of {expected.shape}"
        if np.abs(found - expected).max(initial=0) > TOLERANCE * max(1.0, np.abs(expected).max(initial=0)):
            return f"other numbers: {found[:5]} instead of {expected[:5]}"
    return None


def _stored(data: bytes, meta: dict[str, Any]) -> Any:
    import torch

    names = {1: "u1", 4: "i4", 5: "i8", 6: "f2", 7: "f4", 8: "f8", 12: "?"}
    array = np.frombuffer(data, names[meta["dtype"]]).reshape([size["as_int"] for size in meta["sizes"]]).copy()
    tensor = torch.from_numpy(array)
    return tensor.double() if tensor.is_floating_point() else tensor


def _argument(argument: dict[str, Any], values: dict[str, Any]) -> Any:
    ((kind, content),) = argument.items()
    if kind == "as_none":
        return None
    if kind == "as_tensor":
        return values[content["name"]]
    if kind == "as_optional_tensors":
        return [_argument(one, values) for one in content]
    return content
