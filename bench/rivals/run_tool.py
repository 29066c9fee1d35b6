# SPDX-License-Identifier: MIT
"""How many regions does one tool find, in which time and memory?

``python run_tool.py TOOL DOMAIN WEIGHTS..`` prints a line of JSON for each file of weights. DOMAIN is ``square`` or
``box``, with corners at plus and minus one, or ``plane`` or ``space``, which is all of the input space. The file runs
in the environment of the tool, so it imports no other file of this folder. Each tool is called as its own documentation
shows. Times are processor time, without imports and without reading the file. `compare.py` does not run edge
subdivision and parx, because a package index has no working copy of them; their functions say what they need.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Container
from typing import Any

import numpy as np

Layers = list[tuple[Any, Any]]


def our_domain(domain: str, n_in: int) -> Any:
    """Return a domain by its name, in as many dimensions as there are inputs."""
    import regions

    if domain == "square":
        return regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    if domain == "box":
        return regions.Box(-np.ones(n_in), np.ones(n_in))
    if n_in == 2:
        return regions.Plane([0, 0], [1, 0], [0, 1])
    return regions.Space(np.zeros(n_in), np.eye(n_in))


def relu_regions(layers: Layers, domain: str) -> int:
    import regions

    net = regions.Network([(weights.astype(float), biases.astype(float)) for weights, biases in layers])
    return len(regions.enumerate(net, our_domain(domain, net.n_in)))


def relu_regions_count(layers: Layers, domain: str) -> int:
    import regions

    net = regions.Network([(weights.astype(float), biases.astype(float)) for weights, biases in layers])
    return int(regions.count(net, our_domain(domain, net.n_in)))


def regioncam(layers: Layers, domain: str) -> int:
    return int(regioncam_of(layers, 1.0, range(len(layers) - 1)).num_faces)


def regioncam_of(layers: Layers, size: float, rectified: Container[int]) -> Any:
    """Give regioncam the square with corners at plus and minus `size`, and layers; those in `rectified` have ReLUs."""
    import regioncam  # type: ignore[import-not-found]

    found = regioncam.Regioncam(size=size)
    for number, (weights, biases) in enumerate(layers):
        found.linear(np.ascontiguousarray(weights.T), biases)
        if number in rectified:
            found.relu()
    return found


def relucent(layers: Layers, domain: str) -> int:
    import relucent  # type: ignore[import-not-found]
    from relucent.model.model import LinearLayer, ReLULayer, ReLUNetwork  # type: ignore[import-not-found]

    parts: list[Any] = []
    for number, (weights, biases) in enumerate(layers):
        parts += [ReLULayer()] * (number > 0) + [LinearLayer(weights.astype(float), biases.astype(float))]
    found = relucent.Complex(ReLUNetwork(parts))
    # Its default start, the origin, lies on lines of some networks; the search is of the whole space.
    start = np.array([[0.1234567, -0.7654321, 0.3141592, -0.2718281, 0.5772156]])
    found.bfs(start[:, : layers[0][0].shape[1]], verbose=0, nworkers=1)
    return len(found)


def edge_subdivision(layers: Layers, domain: str) -> int:
    """Count the cells around the vertices that edge subdivision finds; its repository is on PYTHONPATH."""
    import itertools

    import torch
    from edge_subdivision import skeletal_subdivision  # type: ignore[import-not-found]
    from NN import Net  # type: ignore[import-not-found]

    n_in = layers[0][0].shape[1]
    net = Net([n_in, *(len(weights) for weights, _ in layers[:-1])])
    with torch.no_grad():
        for part, (weights, biases) in zip(net.fcs, layers, strict=False):
            part.weight.copy_(torch.tensor(weights))
            part.bias.copy_(torch.tensor(biases))
        _, _, found = skeletal_subdivision(net, device=torch.device("cpu"), verbose=False)
    signs = found.numpy()
    zeros = np.argwhere(signs == 0)[:, 1].reshape(len(signs), n_in)  # the sides of the box come first
    cells: set[bytes] = set()
    for filling in itertools.product((1, -1), repeat=n_in):
        filled = signs.copy()
        np.put_along_axis(filled, zeros, np.array(filling, dtype=filled.dtype)[np.newaxis], axis=1)
        cells.update(map(bytes, filled[(filled[:, : 2 * n_in] == 1).all(axis=1)]))
    return len(cells)


def parx(layers: Layers, domain: str) -> int:
    """Run parx's search in Python. Importing parx needs a command `julia`, which this search does not call."""
    import parx  # type: ignore[import-not-found]

    weights, biases = zip(*((one.astype(float), other.astype(float)) for one, other in layers[:-1]), strict=True)
    start = np.array([[0.1234567, -0.7654321, 0.3141592, -0.2718281, 0.5772156]])[:, : weights[0].shape[1]]
    return len(parx.methods.get_method("exact_python")(list(weights), list(biases), start).patterns)


TOOLS: dict[str, Callable[[Layers, str], int]] = {
    "relu-regions": relu_regions,
    "relu-regions count": relu_regions_count,
    "regioncam": regioncam,
    "relucent": relucent,
    "edge-subdivision": edge_subdivision,
    "parx": parx,
}


def processor_time() -> float:
    """The processor time of this process and its children, in seconds."""
    return time.process_time() + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def main() -> None:
    """Run a tool on each file of weights."""
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
