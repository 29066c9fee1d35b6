#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# onnxruntime 1.32.0 (CPU, on x86-64), onnx 1.23.2, numpy 2.4.6. A model of two float16 layers: r = ReLU(x + 2048), and
# y = r - 2048. All tensors have the type float16, in which 1 + 2048 rounds to 2048, so one expects y = 0 for x = 1, as
# onnx's own evaluator computes it (and torch). onnxruntime computes in float32 and does not round between the layers:
# y = 1, also with all optimisation switched off. If r is an output, too, it is 2048: the outputs contradict each other.
# Seen here: "onnxruntime r [2048.0] y [1.0]  all optimised: y [1.0]  onnx r [2048.0] y [0.0]". Fails if y becomes 0.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/pip" install --quiet onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
"$FOLDER/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

nodes = [
    helper.make_node("Gemm", ["x", "w", "b"], ["h"]),
    helper.make_node("Relu", ["h"], ["r"]),
    helper.make_node("Gemm", ["r", "w", "c"], ["y"]),
]
tensors = [numpy_helper.from_array(np.float16(value), name) for name, value in (("w", [[1]]), ("b", [2048]), ("c", [-2048]))]
x, half = np.float16([[1]]), TensorProto.FLOAT16


def run(outputs, optimise):
    values = [helper.make_tensor_value_info(name, half, [1, 1]) for name in outputs]
    graph = helper.make_graph(nodes, "two layers", [helper.make_tensor_value_info("x", half, [1, 1])], values, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    options = onnxruntime.SessionOptions()
    if not optimise:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = session.run(None, {"x": x}), ReferenceEvaluator(model).run(None, {"x": x})
    return [[float(array[0, 0]) for array in each] for each in results]


seen, wanted = run(["r", "y"], optimise=False)
(optimised,), _ = run(["y"], optimise=True)
print(f"onnxruntime r [{seen[0]}] y [{seen[1]}]  all optimised: y [{optimised}]  onnx r [{wanted[0]}] y [{wanted[1]}]")
assert wanted == [2048, 0], "the expected values have changed"
assert seen == [2048, 1] and optimised == 1, "the behaviour has changed"
PYTHON
