#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# OpenVINO 2026.4.1 (CPU plugin), onnx 1.23.2, onnxruntime 1.32.0, numpy 2.4.6. ONNX's AveragePool with kernel 3, stride 2,
# one zero of padding on both sides, count_include_pad=1 and ceil_mode=1, on 1, .., 6. The last window holds the 6, the
# zero of the padding, and one place that only rounding up adds. That place is no padding, so it does not count:
# onnxruntime and onnx's evaluator (and torch) divide 6 by 2. One expects 3 from all of them. OpenVINO divides by 3, but only
# in the last window. With count_include_pad=0 all agree. Seen here: "OpenVINO [1, 3, 5, 2]  onnxruntime [1, 3, 5, 3]".
# Fails if OpenVINO gives 3.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/pip" install --quiet openvino==2026.4.1 onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
"$FOLDER/venv/bin/python" - "$FOLDER" <<'PYTHON'
import sys

import numpy as np
import onnx
import onnxruntime
import openvino
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

path, x = f"{sys.argv[1]}/pool.onnx", np.arange(1, 7, dtype=np.float32).reshape(1, 1, 6)
results = []
for included in (1, 0):
    window = {"kernel_shape": [3], "strides": [2], "pads": [1, 1], "ceil_mode": 1, "count_include_pad": included}
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 6])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, None])]
    graph = helper.make_graph([helper.make_node("AveragePool", ["x"], ["y"], **window)], "a pool", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    (seen,) = openvino.Core().compile_model(path, "CPU")([x]).values()
    (wanted,) = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})
    (reference,) = ReferenceEvaluator(model).run(None, {"x": x})
    assert np.array_equal(wanted, reference), "the expected values have changed"
    results.append((seen.ravel().tolist(), wanted.ravel().tolist()))
    print(f"count_include_pad={included}: OpenVINO {results[-1][0]}  onnxruntime {results[-1][1]}")
assert results[0] == ([1, 3, 5, 2], [1, 3, 5, 3]) and results[1][0] == results[1][1], "the behaviour has changed"
PYTHON
