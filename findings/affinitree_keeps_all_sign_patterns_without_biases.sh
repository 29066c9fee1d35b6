#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# affinitree 0.23.0, numpy 2.4.6. It turns ReLU networks into decision trees whose leaves are regions, and leaves out
# infeasible paths. One layer of 12 units on the plane, without biases: 12 lines through the origin, so 24 sectors. On
# generic networks the number of leaves is that of the regions (here 79, as n(n+1)/2 + 1 says). Without biases one expects
# fewer leaves, 24. There are 4096, all patterns of signs: every path is a closed cone, holds the origin, and so is feasible.
# infeasible_elimination() removes none. Seen here: "with biases 79 of 79  without 4096 of 24". Fails if there are 24.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/pip" install --quiet affinitree==0.23.0 numpy==2.4.6
"$FOLDER/venv/bin/python" - 2> /dev/null > "$FOLDER/output" <<'PYTHON'
import affinitree
import numpy as np
from affinitree.affinitree import builder

rng = np.random.default_rng(0)
weights, biases = rng.standard_normal((12, 2)), rng.standard_normal(12)
angles = np.sort(np.arctan2(weights[:, 1], weights[:, 0]) % np.pi)
assert np.diff(angles).min() > 1e-3  # no two lines are equal


def leaves(shifts):
    layers = affinitree.Architecture(2)
    layers.linear(affinitree.AffFunc.from_mats(weights, shifts))
    layers.relu()
    layers.linear(affinitree.AffFunc.from_mats(np.ones((1, 12)), np.zeros(1)))
    tree = builder.from_layers(layers)
    tree.infeasible_elimination()
    return tree.num_terminals()


generic, central = leaves(biases), leaves(np.zeros(12))
print(f"with biases {generic} of {12 * 13 // 2 + 1}  without {central} of 24")
assert generic == 79 and central == 4096, "the behaviour has changed"
PYTHON
grep "with biases" "$FOLDER/output"
