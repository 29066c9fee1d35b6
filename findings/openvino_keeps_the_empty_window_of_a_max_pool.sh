#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# OpenVINO 2026.4.1 (CPU plugin), onnx 1.23.2, onnxruntime 1.32.0, numpy 2.4.6. ONNX's MaxPool with kernel 1, stride 2 and
# ceil_mode=1 on the numbers 1, 2, 3, 4. A third window would begin past the end, so onnxruntime and onnx's own evaluator
# drop it and give 1, 3. One expects the same, an error, or at least a number of the input. OpenVINO computes the empty
# window too: its result is the lowest float32, -3.4e38, and no warning says so. After a global maximum this hides; after
# a mean or a linear layer it is the result. Seen here: "OpenVINO [1, 3, -3.4028234663852886e+38]  onnxruntime [1, 3]". Fails if
# OpenVINO drops the window.
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

node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[1], strides=[2], ceil_mode=1)
inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 4])]
outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, None])]
graph = helper.make_graph([node], "a pool", inputs, outputs)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
onnx.checker.check_model(model)
path = f"{sys.argv[1]}/pool.onnx"
onnx.save(model, path)
x = np.float32([[[1, 2, 3, 4]]])
(seen,) = openvino.Core().compile_model(path, "CPU")([x]).values()
session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
(wanted,) = session.run(None, {"x": x})
(reference,) = ReferenceEvaluator(model).run(None, {"x": x})
print(f"OpenVINO {seen.ravel().tolist()}  onnxruntime {wanted.ravel().tolist()}  onnx {reference.ravel().tolist()}")
assert wanted.ravel().tolist() == reference.ravel().tolist() == [1, 3], "the expected values have changed"
assert seen.shape == (1, 1, 3) and seen[0, 0, 2] == np.finfo(np.float32).min, "the behaviour has changed"
PYTHON
