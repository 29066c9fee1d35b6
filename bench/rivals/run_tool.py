# SPDX-License-Identifier: MIT
"""How many regions does one tool find, in which time and memory?

``python run_tool.py TOOL DOMAIN WEIGHTS..`` prints a line of JSON for each file of weights. DOMAIN is ``square``, with
corners at plus and minus one, or ``plane``. The file runs in the environment of the tool, so it does not import its
neighbours. Each tool is called as its own
documentation shows. Times are processor time, without imports and without reading the file.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Layers = list[tuple[Any, Any]]


def relu_regions(layers: Layers, domain: str) -> int:
    import regions

    net = regions.Network([(weights.astype(float), biases.astype(float)) for weights, biases in layers])
    square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    plane = regions.Plane([0, 0], [1, 0], [0, 1])
    return len(regions.enumerate(net, square if domain == "square" else plane))


def regioncam(layers: Layers, domain: str) -> int:
    import regioncam  # type: ignore[import-not-found]

    found = regioncam.Regioncam(size=1)  # the square with corners at plus and minus one
    for number, (weights, biases) in enumerate(layers):
        found.linear(np.ascontiguousarray(weights.T), biases)
        if number < len(layers) - 1:
            found.relu()
    return int(found.num_faces)


def relucent(layers: Layers, domain: str) -> int:
    import relucent  # type: ignore[import-not-found]
    from relucent.model.model import LinearLayer, ReLULayer, ReLUNetwork  # type: ignore[import-not-found]

    parts: list[Any] = []
    for number, (weights, biases) in enumerate(layers):
        parts += [ReLULayer()] * (number > 0) + [LinearLayer(weights.astype(float), biases.astype(float))]
    found = relucent.Complex(ReLUNetwork(parts))
    # Its default start, the origin, lies on lines of some networks; the search is of the whole plane.
    found.bfs(np.array([[0.1234567, -0.7654321]]), verbose=0, nworkers=1)
    return len(found)


TOOLS: dict[str, Callable[[Layers, str], int]] = {
    "relu-regions": relu_regions,
    "regioncam": regioncam,
    "relucent": relucent,
}


def processor_time() -> float:
    """The processor time of this process and its children, in seconds."""
    return time.process_time() + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def main() -> None:
    """Run a tool on the square or the plane."""
    tool, domain, *paths = sys.argv[1:]
    # What the tool prints is not a result.
    results, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
    one = [(np.eye(2, dtype=np.float32), np.zeros(2, np.float32))]
    with contextlib.suppress(Exception):
        TOOLS[tool]([*one, *one], domain)  # imports
    for path in paths:
        with np.load(path) as arrays:
            layers = [(arrays[f"w{i}"], arrays[f"b{i}"]) for i in range(len(arrays.files) // 2)]
        start, count, error = processor_time(), None, None
        try:
            count = TOOLS[tool](layers, domain)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
        seconds = processor_time() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        facts = {"regions": count, "seconds": seconds, "memory": memory, "error": error}
        print(json.dumps(facts), file=results, flush=True)


if __name__ == "__main__":
    main()
