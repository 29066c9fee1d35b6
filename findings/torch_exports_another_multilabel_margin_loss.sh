#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# torch 2.13.0 (CPU), onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0, numpy 2.4.6. nn.functional.multilabel_margin_loss
# with constant targets, which list the classes of a row up to the first -1, exported by torch.onnx.export(dynamo=True).
# One expects the value of torch, or an error. The export succeeds without a warning about it, and the file computes
# another number: 3.75 for torch's 0.8125 here. Of the losses of margins, multi_margin_loss is exported rightly. Seen here:
# "torch 0.8125  file 3.75  multi_margin_loss: torch 0.0625  file 0.0625". Fails if the file gives torch's value.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/pip" install --quiet torch==2.13.0 onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.32.0 numpy==2.4.6
"$FOLDER/venv/bin/python" - 2> /dev/null <<'PYTHON'
import io

import onnxruntime
import torch
import torch.nn.functional as F


class Loss(torch.nn.Module):
    def __init__(self, loss, target):
        super().__init__()
        self.loss, self.target = loss, target

    def forward(self, x):
        return self.loss(x, self.target)


x = torch.tensor([[1.5, -0.5, 0.5, 1.0], [-1.0, 0.0, 2.0, 0.5]])


def both(loss, target):
    module, stream = Loss(loss, torch.tensor(target)).eval(), io.BytesIO()
    torch.onnx.export(module, (x,), stream, dynamo=True, verbose=False)
    session = onnxruntime.InferenceSession(stream.getvalue(), providers=["CPUExecutionProvider"])
    (seen,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    return float(module(x)), float(seen)


wanted, seen = both(F.multilabel_margin_loss, [[0, 2, -1, -1], [1, -1, -1, -1]])
same, also = both(F.multi_margin_loss, [0, 2])
print(f"torch {wanted:.6g}  file {seen:.6g}  multi_margin_loss: torch {same:.6g}  file {also:.6g}")
assert abs(same - also) < 1e-5 and abs(seen - wanted) > 1, "the behaviour has changed"
PYTHON
