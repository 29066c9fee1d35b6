#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# torch 2.13.0 (CPU), onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0, numpy 2.4.6. h = 2 x, a view of one column of h,
# then an in-place ReLU on h; the module returns both joined. In torch the view sees the ReLU. torch.onnx.export with
# dynamo=False runs the module and records it, so one expects what was run. The file takes the column before the ReLU: it
# returns -2 where torch returns 0. Without the view, or with dynamo=True, the file is right. Seen here: "torch [0, 4, 0]
# dynamo=False [0, 4, -2]  dynamo=True [0, 4, 0]". Fails if the first file is right, or the second one is not.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/pip" install --quiet torch==2.13.0 onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.32.0 numpy==2.4.6
"$FOLDER/venv/bin/python" - 2> /dev/null <<'PYTHON'
import io

import onnxruntime
import torch


class Joined(torch.nn.Module):
    def forward(self, x):
        h = 2 * x
        column = h[:, :1]
        torch.relu_(h)
        return torch.cat([h, column], 1)


x, module = torch.tensor([[-1.0, 2.0]]), Joined().eval()
wanted, seen = module(x)[0].tolist(), {}
for dynamo in (False, True):
    stream = io.BytesIO()
    torch.onnx.export(module, (x,), stream, dynamo=dynamo, verbose=False)
    session = onnxruntime.InferenceSession(stream.getvalue(), providers=["CPUExecutionProvider"])
    (result,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    seen[dynamo] = result[0].tolist()
print(f"torch {wanted}  dynamo=False {seen[False]}  dynamo=True {seen[True]}")
assert wanted == seen[True] == [0, 4, 0] and seen[False] == [0, 4, -2], "the behaviour has changed"
PYTHON
