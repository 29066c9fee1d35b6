#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# mlx 0.32.4 (its processor build for Linux), safetensors 0.8.0, numpy 2.4.6. The header of a .safetensors file is JSON, in
# which "__metadata__", if it is there, is a map from texts to texts, as the format's description says. Without metadata one
# expects no such entry, as safetensors writes it. mlx.core.save_safetensors writes "__metadata__": null. safetensors'
# own reader takes it, and readers that keep to the description refuse every file of MLX. With metadata both write a map. Seen here:
# "mlx without {'__metadata__': None}  with {'__metadata__': {'a': 'b'}}  safetensors without {}". Fails if MLX leaves it out.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/pip" install --quiet "mlx[cpu]==0.32.4" safetensors==0.8.0 numpy==2.4.6
"$FOLDER/venv/bin/python" - "$FOLDER" <<'PYTHON'
import json
import sys

import mlx.core
import numpy as np
from safetensors.numpy import load_file, save_file

path, array = f"{sys.argv[1]}/m.safetensors", np.eye(2, dtype=np.float32)


def header():
    with open(path, "rb") as file:
        content = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return {name: value for name, value in content.items() if name == "__metadata__"}


mlx.core.save_safetensors(path, {"w": mlx.core.array(array)})
without = header()
assert np.array_equal(load_file(path)["w"], array), "safetensors refuses the file"
mlx.core.save_safetensors(path, {"w": mlx.core.array(array)}, {"a": "b"})
given = header()
save_file({"w": array}, path)
print(f"mlx without {without}  with {given}  safetensors without {header()}")
assert header() == {} and given == {"__metadata__": {"a": "b"}}, "the expected values have changed"
assert without == {"__metadata__": None}, "the behaviour has changed"
PYTHON
