# SPDX-License-Identifier: MIT
"""Where is a rival wrong? A picture of the exact regions of a network, and of the faces that regioncam finds.

    pip install ".[plot]" regioncam==0.5.2
    python bench/rivals/picture.py "tllBench_n=2_N=M=8_m=1_instance_0_0.onnx" docs/compared.png

draws the network of VNN-COMP's `tllverifybench` in the square from -2 to 2, which is the domain of its properties, and
prints both counts and that of `regions.reference`, in rational arithmetic. The file is not in this repository, because
the benchmark states no licence; docs/compared.md says where it is. Edges of regioncam are red if their middle is
further than 0.0001 from every exact edge. This tolerance decides only about colours.
Cost: some seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import shapely
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from PIL import Image

import regions
from run_tool import regioncam_of

SIZE = 2.0
APART = 1e-4  # in units of the input, whose square has a side of 4
SQUARE = regions.Polygon([[-SIZE, -SIZE], [SIZE, -SIZE], [SIZE, SIZE], [-SIZE, SIZE]])


def main(model: str, picture: str) -> None:
    """Count the regions and faces of a network of two inputs with ReLUs, and draw both."""
    network = regions.load(model)
    part = regions.enumerate(network, SQUARE)
    layers = [(layer.weights.astype(np.float32), layer.biases.astype(np.float32)) for layer in network.layers]
    if any((small != layer.weights).any() for (small, _), layer in zip(layers, network.layers, strict=True)):
        raise SystemExit(f"{model}: weights are no float32, so regioncam would read other numbers")
    rectified = {number for number, layer in enumerate(network.layers) if len(layer.activation.breakpoints)}
    found = regioncam_of(layers, SIZE, rectified)
    edges = np.array([[vertex.inputs for vertex in edge.vertices] for edge in found.edges], dtype=float)
    exact = shapely.union_all([shapely.boundary(cell) for cell in part.to_shapely()])
    false = shapely.distance(exact, shapely.points(edges.mean(axis=1))) > APART
    areas = np.array([face.area for face in found.faces])
    print(f"regions: {len(part):,}, in rational arithmetic {len(regions.reference.enumerate(network, SQUARE)):,}")
    print(f"faces of regioncam: {len(areas):,}, of which {(areas < 1e-9).sum():,} have an area below 1e-9")
    print(f"edges of regioncam: {len(edges):,}, of which {false.sum():,} are inside of regions")
    figure = Figure(figsize=(9.0, 4.7), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    regions.plot(part, left, "none", title=f"{len(part):,} regions, exactly")
    right.add_collection(LineCollection(list(edges[~false]), colors="0.4", linewidths=0.5))
    right.add_collection(LineCollection(list(edges[false]), colors="tab:red", linewidths=0.9))
    right.set(aspect="equal", xlabel=left.get_xlabel(), title=f"{len(areas):,} faces by regioncam 0.5.2")
    with TemporaryDirectory() as folder:
        figure.savefig(Path(folder, "large.png"), dpi=110, bbox_inches="tight")
        # A palette takes a third of the bytes.
        Image.open(Path(folder, "large.png")).convert("RGB").quantize(16).save(picture, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
