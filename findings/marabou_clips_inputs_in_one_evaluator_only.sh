#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# maraboupy 2.0.0, numpy 2.4.6. A network in a .nnet file says in which box its inputs are: here y = ReLU(x) with x in [-1, 1].
# Marabou's object has two ways to evaluate it, "without Marabou" by numpy and "with Marabou" by its solver. One expects the
# same function of both, up to rounding, or an error outside the box. With normalize=True the first one clips the input to
# the box, and the second one does not: for x = 3 they give 1 and 3, without a word. Inside the box, and with
# normalize=False, they agree. A test of one says nothing of what the other one proves. Seen here: "x=3: without 1.0 with 3.0
# inside: 0.5 0.5  not normalised: 3.0 3.0". Fails if both agree outside the box.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/pip" install --quiet maraboupy==2.0.0 numpy==2.4.6
cat > "$FOLDER/relu.nnet" <<'NNET'
// y = ReLU(x), x in [-1, 1]
2,1,1,1,
1,1,1,
0,
-1.0,
1.0,
0.0,0.0,
1.0,1.0,
1.0,
0.0,
1.0,
0.0,
NNET
"$FOLDER/venv/bin/python" - "$FOLDER" 2> /dev/null <<'PYTHON'
import sys

import numpy as np
from maraboupy import Marabou


def both(x, normalize):
    network = Marabou.read_nnet(f"{sys.argv[1]}/relu.nnet", normalize=normalize)
    values = np.array([[x]])
    without = network.evaluateWithoutMarabou(values)
    within = network.evaluateWithMarabou([values], filename=f"{sys.argv[1]}/log.txt")
    return [round(float(np.ravel(result)[0]), 6) for result in (without, within)]


outside, inside, plain = both(3.0, True), both(0.5, True), both(3.0, False)
print(f"x=3: without {outside[0]} with {outside[1]}  inside: {inside[0]} {inside[1]}  not normalised: {plain[0]} {plain[1]}")
assert inside == [0.5, 0.5] and plain == [3, 3], "the expected values have changed"
assert outside == [1, 3], "the behaviour has changed"
PYTHON
