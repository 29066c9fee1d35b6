# SPDX-License-Identifier: MIT
"""Which networks and domains are measured?

These are the standard workloads. The name describes a workload: `p2_128x3` is a polygon (`p`) in a 2-dimensional input
space and a network with 3 hidden layers of 128; `l` means segments, `c` the box [-1, 1]^n. Weights are He-normal,
biases N(0, 0.1^2), all rounded to float32 and stored as float64, from fixed seeds: the same numbers wherever numpy
runs, so that other tools can be compared on them. `digits` is the trained classifier of examples/ on the square around
three of its images. `zero_bias`, `ternary` and `sparse` are degenerate: lines of many neurons meet in one point, or
coincide. In `twin` the first two neurons of the last hidden layer are identical, and in `twins` all hidden neurons come
in pairs. `plane_128x3` is `p2_128x3` in the whole plane. `int3` has small integers, and in `pruned` all but the largest
twentieth of the weights are 0. `lattice_16` is the largest of 16 minima of 16 affine forms, written with ReLUs. The
weights of `orthogonal` are the square root of 2 times orthogonal matrices.

A workload includes its number of regions, so that wrong answers are found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import regions

Floats = NDArray[np.float64]
Layers = list[tuple[Floats, Floats]]

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@dataclass(frozen=True)
class Workload:
    """A network and the known facts about it."""

    name: str
    sizes: tuple[int, ...]  # n_in, hidden widths, n_out
    seed: int
    n_regions: int | None = None  # by rational arithmetic or, if that takes too long, by unrelated programs
    n_segments: int = 0
    half_side: float = 1.0  # of the square, in two dimensions


DEGENERATE = (2, 64, 64, 64, 1)

WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("p2_16x2", (2, 16, 16, 1), seed=1, n_regions=468),
        Workload("p2_32x3", (2, 32, 32, 32, 1), seed=1, n_regions=4_029),
        Workload("p2_64x3", (2, 64, 64, 64, 1), seed=1, n_regions=16_623),
        Workload("p2_128x3", (2, 128, 128, 128, 1), seed=1, n_regions=66_795),
        Workload("p2_256x4", (2, 256, 256, 256, 256, 1), seed=1, n_regions=455_915),
        Workload("p2_640x3", (2, 640, 640, 640, 1), seed=1, n_regions=1_601_275),
        Workload("p784_64x3", (784, 64, 64, 64, 10), seed=1, n_regions=9_549),
        Workload("p784_256x3", (784, 256, 256, 256, 10), seed=1, n_regions=154_529),
        Workload("l2_64x3", (2, *[64] * 3, 1), seed=2, n_segments=100),
        Workload("l2_64x10", (2, *[64] * 10, 1), seed=2, n_segments=50),
        Workload("l2_256x3", (2, *[256] * 3, 1), seed=2, n_segments=50),
        Workload("l2_256x10", (2, *[256] * 10, 1), seed=2, n_segments=10),
        Workload("l2_1024x3", (2, *[1024] * 3, 1), seed=2, n_segments=5),
        Workload("l784_512x18", (784, *[512] * 18, 10), seed=2, n_segments=2),
        Workload("l784_784x20", (784, *[784] * 20, 10), seed=2, n_segments=1),
        Workload("l784_784x10", (784, *[784] * 10, 10), seed=2, n_segments=1),
        Workload("l2_64x8", (2, *[64] * 8, 1), seed=2, n_segments=100),
        Workload("l784_256x4", (784, *[256] * 4, 10), seed=2, n_segments=100),
        # A tenth of the segments, because the yardstick needs half a second for each.
        Workload("l784_1024x4", (784, *[1024] * 4, 10), seed=2, n_segments=10),
        Workload("p2_1024x3", (2, *[1024] * 3, 1), seed=1, half_side=0.1),
        Workload("p2_2048x3", (2, *[2048] * 3, 1), seed=1, half_side=0.05),
        Workload("p2_32x6", (2, *[32] * 6, 1), seed=1),
        Workload("p2_32x20", (2, *[32] * 20, 1), seed=1, half_side=0.1),
        Workload("p2_32x40", (2, *[32] * 40, 1), seed=1, half_side=0.02),
        Workload("p2_32x60", (2, *[32] * 60, 1), seed=1, half_side=0.02),
        Workload("p2_64x6", (2, *[64] * 6, 1), seed=1, half_side=0.2),
        Workload("p2_64x20", (2, *[64] * 20, 1), seed=1, half_side=0.05),
        Workload("p2_64x25", (2, *[64] * 25, 1), seed=1, half_side=0.03),
        Workload("p2_64x40", (2, *[64] * 40, 1), seed=1, half_side=0.02),
        Workload("p2_64x60", (2, *[64] * 60, 1), seed=1, half_side=0.01),
        Workload("orthogonal_3x200", (2, *[3] * 200, 1), seed=4),
        Workload("l2_64x20", (2, *[64] * 20, 1), seed=2, n_segments=20),
        Workload("l2_128x40", (2, *[128] * 40, 1), seed=2, n_segments=2),
        Workload("l2_128x60", (2, *[128] * 60, 1), seed=2, n_segments=2),
        Workload("zero_bias", DEGENERATE, seed=1, n_regions=390),
        Workload("ternary", DEGENERATE, seed=1, n_regions=2_102),
        Workload("ternary_zero_bias", DEGENERATE, seed=1, n_regions=149),
        Workload("sparse", DEGENERATE, seed=1, n_regions=355),
        Workload("twin_128x3", (2, 128, 128, 128, 1), seed=1),
        Workload("twins", DEGENERATE, seed=1, n_regions=4_787),
        Workload("int3", DEGENERATE, seed=1),
        Workload("plane_128x3", (2, 128, 128, 128, 1), seed=1),
        Workload("pruned_256x4", (2, 256, 256, 256, 256, 1), seed=1, half_side=0.5),
        Workload("lattice_16", (2, 16, 1), seed=1),
        Workload("lattice_32", (2, 32, 1), seed=1, half_side=0.5),
        Workload("p2_256x1", (2, 256, 1), seed=2),
        Workload("c3_64x2", (3, 64, 64, 1), seed=3, n_regions=319_631),
        Workload("c4_16x2", (4, 16, 16, 1), seed=3),
        Workload("c4_32x2", (4, 32, 32, 1), seed=3, n_regions=506_211),
        Workload("c5_16x2", (5, 16, 16, 1), seed=3, n_regions=127_598),
        Workload("c6_12x2", (6, 12, 12, 1), seed=3),
        Workload("p2_4x1", (2, 4, 1), seed=1),
        Workload("p2_8x2", (2, 8, 8, 1), seed=1),
        Workload("digits", (64, 64, 32, 10), seed=0, n_regions=559),
    )
}


def build_layers(workload: Workload) -> Layers:
    """Return a list of (weights [out, in], biases [out])."""
    if workload.name == "digits":
        network = regions.load(EXAMPLES / "digits.pt", activation="relu")
        return [(layer.weights, layer.biases) for layer in network.layers]
    random = np.random.default_rng(workload.seed)
    layers = []
    for n_in, n_out in zip(workload.sizes[:-1], workload.sizes[1:], strict=True):
        weights, biases = draw_layer(workload.name, random, n_in, n_out)
        layers.append((round_to_float32(weights), round_to_float32(biases)))
    if workload.name.startswith("twin_"):
        for numbers in layers[-2]:
            numbers[1] = numbers[0]
    if workload.name == "twins":
        for layer in layers[:-1]:
            for numbers in layer:
                numbers[1::2] = numbers[::2]
    return layers


def build_lattice(workload: Workload) -> regions.Network:
    """Return the largest of n minima of n affine forms each, chosen from n; values are compared in pairs."""
    n_in, n, _ = workload.sizes
    random = np.random.default_rng(workload.seed)
    pieces = random.standard_normal((n, n_in)), random.standard_normal(n)
    layers: list[tuple[NDArray[Any], Floats]] = [(round_to_float32(pieces[0]), round_to_float32(pieces[1]))]
    layers.append((np.eye(n)[random.integers(n, size=n * n)], np.zeros(n * n)))
    pair = [[1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]]
    left = n * n // 2
    while left:
        smaller_or_larger = -0.5 if left >= n else 0.5
        layers.append((np.kron(np.eye(left), pair), np.zeros(4 * left)))
        half = np.kron(np.eye(left), [[0.5, -0.5, smaller_or_larger, smaller_or_larger]])
        layers.append((half, np.zeros(left)))
        left //= 2
    return regions.Network(layers, activation=["identity", *["identity", "relu"] * (len(layers) // 2 - 1)])


def draw_layer(name: str, random: np.random.Generator, n_in: int, n_out: int) -> tuple[Floats, Floats]:
    """Draw weights and biases; `sparse` is the sparse-discrete ensemble of Price and Tanner, a tenth of it nonzero."""
    weights: NDArray[Any]
    biases: NDArray[Any]
    if name.startswith("ternary"):
        weights, biases = random.integers(-1, 2, (n_out, n_in)), random.integers(-1, 2, n_out)
    elif name == "sparse":
        kept = random.random((n_out, n_in)) < 0.1
        weights, biases = kept * random.integers(-2, 3, (n_out, n_in)), random.choice([-0.01, 0.01], n_out)
    elif name == "int3":
        weights = np.clip(np.round(random.standard_normal((n_out, n_in)) * 1.5), -3, 3)
        biases = np.clip(np.round(random.standard_normal(n_out) * 2), -3, 3)
    elif name.startswith("pruned") and n_in > 2:
        weights, biases = random.standard_normal((n_out, n_in)), random.standard_normal(n_out) * 0.1
        weights[np.abs(weights) < np.quantile(np.abs(weights), 0.95)] = 0
        weights *= np.sqrt(2 * n_out / (weights**2).sum())
    elif name.startswith("orthogonal"):
        basis, _ = np.linalg.qr(random.standard_normal((max(n_in, n_out), max(n_in, n_out))))
        weights, biases = np.sqrt(2) * basis[:n_out, :n_in], random.standard_normal(n_out) * 0.1
    else:
        weights, biases = random.standard_normal((n_out, n_in)) * np.sqrt(2 / n_in), random.standard_normal(n_out) * 0.1
    return weights.astype(np.float64), np.zeros(n_out) if name.endswith("zero_bias") else biases.astype(np.float64)


def round_to_float32(values: Floats) -> Floats:
    return values.astype(np.float32).astype(np.float64)


def build_box(workload: Workload) -> regions.Box:
    """Return the box [-1, 1]^n."""
    return regions.Box([-1.0] * workload.sizes[0], [1.0] * workload.sizes[0])


def build_polygon(workload: Workload) -> regions.Domain:
    """Return the square [-1, 1]^2, a smaller one, or one with sides of 2 sqrt(n_in) in the plane of three random
    points.
    """
    n_in = workload.sizes[0]
    if workload.name == "digits":
        return regions.circumsquare(*np.loadtxt(EXAMPLES / "points.csv", delimiter=","))
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=np.float64)
    if n_in == 2:
        return regions.Polygon(workload.half_side * corners)
    points = np.random.default_rng(7).standard_normal((3, n_in))
    across = points[1] - points[0]
    across /= np.linalg.norm(across)
    along = points[2] - points[0]
    along -= across * (across @ along)
    along /= np.linalg.norm(along)
    x, y = np.sqrt(n_in) * corners.T[:, :, None]
    return regions.Polygon(points.mean(axis=0) + x * across + y * along)


def build_segment_ends(workload: Workload) -> Floats:
    """Return the ends of random segments, [segment, 2, n_in]."""
    ends = np.random.default_rng(9).standard_normal((100, 2, workload.sizes[0]))
    return ends[: workload.n_segments]


def build_generic_sibling(workload: Workload) -> tuple[regions.Network, regions.Domain]:
    """Return a generic network of the same sizes, on a square in which it has slightly more regions, or as many."""
    network = regions.Network(build_layers(replace(workload, name="generic")))
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=np.float64)
    least = regions.count(regions.Network(build_layers(workload)), build_polygon(workload))
    too_small, half = 0.0, 1.0
    for _ in range(30):
        middle = (too_small + half) / 2
        if regions.count(network, regions.Polygon(middle * corners)) < least:
            too_small = middle
        else:
            half = middle
    return network, regions.Polygon(half * corners)
