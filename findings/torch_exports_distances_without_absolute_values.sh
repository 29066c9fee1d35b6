#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# torch 2.13.0 (CPU), onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0, numpy 2.4.6. nn.functional.pairwise_distance is a norm
# of a difference. One expects every exporter to write one. torch.onnx.export(dynamo=False) writes the sum of powers
# (x - y)^p and its root 1/p, without absolute values: right for the default p = 2, the plain sum of the differences
# for p = 1 (which may cancel, or be negative), not a number for odd p > 1 and a negative sum, and 1 for p = infinity.
# The exporter with dynamo=True is right. Seen here: "p=1: torch 6  file 2   p=3: torch 4.16  file nan   p=inf: torch 4  file
# 1   p=2: torch 4.47  file 4.47". Fails if one of these files gives torch's value, or p = 2 does not.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/pip" install --quiet torch==2.13.0 onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.32.0 numpy==2.4.6
"$FOLDER/venv/bin/python" - 2> /dev/null <<'PYTHON'
import io
import math

import onnxruntime
import torch
import torch.nn.functional as F


class Distance(torch.nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, y):
        return F.pairwise_distance(x, y, p=self.p, eps=0.0)


def both(p, signs):
    x, y = torch.tensor([signs]), torch.zeros(1, 2)
    module, stream = Distance(p).eval(), io.BytesIO()
    torch.onnx.export(module, (x, y), stream, dynamo=False, verbose=False)
    session = onnxruntime.InferenceSession(stream.getvalue(), providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    (seen,) = session.run(None, dict(zip(names, (x.numpy(), y.numpy()))))
    return float(module(x, y)), float(seen.item())


found = {p: both(p, signs) for p, signs in ((1.0, [4.0, -2.0]), (3.0, [2.0, -4.0]), (math.inf, [4.0, -2.0]), (2.0, [4.0, -2.0]))}
print("   ".join(f"p={p:g}: torch {wanted:.3g}  file {seen:.3g}" for p, (wanted, seen) in found.items()))
assert abs(found[2.0][0] - found[2.0][1]) < 1e-4, "the expected value has changed"
assert found[1.0][1] == 2 and math.isnan(found[3.0][1]) and found[math.inf][1] == 1, "the behaviour has changed"
PYTHON
