#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# torch 2.13.0 (CPU), opt_einsum 3.4.0, numpy 2.4.6. torch.einsum("ij,jk,kl->il") with shapes 100 x 50, 50 x 80, 80 x 2 is
# exported by torch.export and decomposed. One expects one program for one module, torch version and shapes. The order of
# the products is chosen while exporting, and by opt_einsum only if that package happens to be installed there: the
# program has the product of 100 x 80 numbers without it, and of 50 x 2 numbers with it. Programs of two machines with
# equal versions of torch then round differently. Seen here: "without [(1, 100, 80), (1, 100, 2)]  with [(1, 2, 50), (1, 100,
# 2)]". Fails if both are equal.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6
cat > "$FOLDER/shapes.py" <<'PYTHON'
import torch


class Products(torch.nn.Module):
    def forward(self, x, y, z):
        return torch.einsum("ij,jk,kl->il", x, y, z)


inputs = torch.ones(100, 50), torch.ones(50, 80), torch.ones(80, 2)
program = torch.export.export(Products(), inputs).run_decompositions()
print([tuple(node.meta["val"].shape) for node in program.graph.nodes if "bmm" in str(node.target)])
PYTHON
WITHOUT=$("$FOLDER/venv/bin/python" "$FOLDER/shapes.py" 2> /dev/null)
"$FOLDER/venv/bin/pip" install --quiet opt_einsum==3.4.0
WITH=$("$FOLDER/venv/bin/python" "$FOLDER/shapes.py" 2> /dev/null)
echo "without $WITHOUT  with $WITH"
[ "$WITHOUT" = "[(1, 100, 80), (1, 100, 2)]" ] && [ "$WITH" != "$WITHOUT" ] || { echo "the behaviour has changed"; exit 1; }
