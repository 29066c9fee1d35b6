# SPDX-License-Identifier: MIT
"""How much time and memory does one case take?

run.py runs this file in a separate process for every case, so that peak memory belongs to that case alone and no case
warms another: `python measure.py KIND/WORKLOAD` prints one line of JSON.
"Measure A, against B" means that the value is the time of A divided by the time of B, the yardstick.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import layered_breakpoints
import regions
import workloads
from convolutional import CONVOLUTIONAL, Convolutional, Torch
from forward_pass import ForwardPass
from regions.networks.network import with_graph
from regions.networks.parts import side_by_side
from regions.results.definitions import Definition
from timing import best_times, peak_memory, seconds_of
from workloads import Workload

Measurement = dict[str, float | int | None]


def measure_count(workload: Workload) -> Measurement:
    """Measure counting, against one forward pass over as many points."""
    before = peak_memory()
    layers = workloads.build_layers(workload)
    network, domain = regions.Network(layers), workloads.build_polygon(workload)
    n_regions = regions.count(network, domain)
    memory = peak_memory() - before
    seconds, yardstick = best_times(lambda: regions.count(network, domain), ForwardPass(layers, n_regions).run)
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_memory(workload: Workload) -> Measurement:
    """Measure the peak memory of making the network and counting, in megabytes above the memory after import."""
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)
    start = time.process_time()
    n_regions = regions.count(network, domain)
    seconds = time.process_time() - start
    memory = peak_memory() - before
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": memory / 1e6}


def build_domain(workload: Workload) -> regions.Domain | regions.Polytope:
    if workload.name.startswith("plane"):
        return regions.Plane([0, 0], [1, 0], [0, 1])
    return (workloads.build_box if workload.name.startswith("c") else workloads.build_polygon)(workload)


def build_network(workload: Workload) -> regions.Network:
    if workload.name.startswith("lattice"):
        return workloads.build_lattice(workload)
    return regions.Network(workloads.build_layers(workload))


def measure_enumerate(workload: Workload) -> Measurement:
    """Measure enumerating with vertices, neighbours and patterns, against counting."""
    before = peak_memory()
    network, domain = build_network(workload), build_domain(workload)
    n_regions = len(regions.enumerate(network, domain))
    memory = peak_memory() - before
    seconds, yardstick = best_times(lambda: regions.enumerate(network, domain), lambda: regions.count(network, domain))
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_checkpoint(workload: Workload, what: str) -> Measurement:
    """Measure a job that saves its results in a folder, against the same job without one."""
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)

    def found(**options: Any) -> int:
        if what == "enumerate":
            return len(regions.enumerate(network, domain, **options))
        return int(regions.count(network, domain, **options))

    def found_with_folder() -> int:
        with tempfile.TemporaryDirectory() as folder:
            return found(checkpoint=folder)

    n_regions = found_with_folder()
    memory = peak_memory() - before
    seconds, yardstick = best_times(found_with_folder, found)
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_check(workload: Workload) -> Measurement:
    """Measure checking the regions against the theory, including the enumeration, against enumerating."""
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)
    n_regions = regions.check(network, domain).regions
    memory = peak_memory() - before
    seconds, yardstick = best_times(lambda: regions.check(network, domain), lambda: regions.enumerate(network, domain))
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_extremes(workload: Workload) -> Measurement:
    """Measure the extremes of the first output, against counting."""
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), build_domain(workload)
    found, n_regions = regions.extremes(network, domain, outputs=[0]), regions.count(network, domain)
    if not np.isfinite([*found.maximum_errors, *found.minimum_errors]).all():
        raise RuntimeError("an extreme has no error bound")
    memory = peak_memory() - before
    seconds, yardstick = best_times(
        lambda: regions.extremes(network, domain, outputs=[0]).maximum, lambda: regions.count(network, domain)
    )
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_wide(workload: Workload, what: str) -> Measurement:
    """Measure the extremes of one output, or the least margin, by bounds on 200 parts of a box with sides of 0.04,
    against a forward pass for each part.
    """
    before, parts = peak_memory(), 200
    layers = workloads.build_layers(workload)
    network, middle = regions.Network(layers), np.random.default_rng(7).standard_normal(workload.sizes[0])
    box = regions.Box(middle - 0.02, middle + 0.02)
    actions: dict[str, Callable[[], object]] = {
        "extremes": lambda: regions.extremes(network, box, outputs=[0], limit=parts).maximum,
        "margin": lambda: regions.margin(network, box, limit=parts),
    }
    actions[what]()
    memory = peak_memory() - before
    seconds, yardstick = best_times(actions[what], ForwardPass(layers, parts).run)
    return {"regions": None, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_all_extremes(workload: Workload) -> Measurement:
    """Measure the extremes of all outputs, against the extremes of the first output."""
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), build_domain(workload)
    regions.extremes(network, domain)
    memory = peak_memory() - before
    seconds, yardstick = best_times(
        lambda: regions.extremes(network, domain).maximum,
        lambda: regions.extremes(network, domain, outputs=[0]).maximum,
    )
    return {"regions": None, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_certify(workload: Workload) -> Measurement:
    """Measure certifying all regions, against enumerating them."""
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)
    partition = regions.enumerate(network, domain)
    proved = regions.certify(partition, network).conclusion
    memory = peak_memory() - before
    if not proved.startswith("proved"):
        raise RuntimeError(proved)
    seconds, yardstick = best_times(
        lambda: regions.certify(partition, network), lambda: regions.enumerate(network, domain)
    )
    return {"regions": len(partition), "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_statistics(workload: Workload) -> Measurement:
    """Measure the mean and the variance of all outputs, including the enumeration, against enumerating."""
    return _against_enumerating(workload, lambda network, domain: regions.statistics(network, domain).variance)


def measure_level_set(workload: Workload) -> Measurement:
    """Measure the curves where the first output is 0, including the enumeration, against enumerating."""
    return _against_enumerating(
        workload, lambda network, domain: regions.level_set(network, domain, 0.0, output=0).length
    )


def _against_enumerating(workload: Workload, ask: Callable[[regions.Network, regions.Domain], object]) -> Measurement:
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)
    n_regions = len(regions.enumerate(network, domain))
    ask(network, domain)
    memory = peak_memory() - before
    seconds, yardstick = best_times(lambda: ask(network, domain), lambda: regions.enumerate(network, domain))
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_compare(workload: Workload) -> Measurement:
    """Measure the largest differences from the network rounded to float16, against counting their refinement."""
    before = peak_memory()
    layers, domain = workloads.build_layers(workload), build_domain(workload)
    network = regions.Network(layers)
    rounded = regions.Network([(w.astype(np.float16), b.astype(np.float16)) for w, b in layers])
    ones = np.eye(network.n_out)
    difference = with_graph(network, side_by_side(network.graph, rounded.graph, ones, -ones))
    regions.compare(network, rounded, domain)
    memory = peak_memory() - before
    seconds, yardstick = best_times(
        lambda: regions.compare(network, rounded, domain).max_difference, lambda: regions.count(difference, domain)
    )
    # The regions of the difference are not those of the workload.
    return {"regions": None, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_verify(workload: Workload) -> Measurement:
    """Measure proving that the first output stays below its maximum plus its range, against counting."""
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)
    found = regions.extremes(network, domain, outputs=[0])
    row = [[-1.0] + [0.0] * (network.n_out - 1)]
    unsafe = [(row, [float(found.minimum[0] - 2 * found.maximum[0])])]
    if not regions.verify(network, domain, unsafe).holds:
        raise SystemExit("a property that holds is called violated")
    memory = peak_memory() - before
    seconds, yardstick = best_times(
        lambda: regions.verify(network, domain, unsafe), lambda: regions.count(network, domain)
    )
    n_regions = regions.count(network, domain)
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_locate(workload: Workload) -> Measurement:
    """Measure the first look-up of a million points, with its preparation, against enumerating."""
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)
    points = np.random.default_rng(3).uniform(-workload.half_side, workload.half_side, (1_000_000, 2))
    partition = regions.enumerate(network, domain)
    if (network.pattern(points[:1000]) != partition.patterns[partition.locate(points)[:1000]]).any():
        raise SystemExit("points were found in regions of another pattern")
    memory = peak_memory() - before
    both, yardstick = best_times(
        lambda: regions.enumerate(network, domain).locate(points), lambda: regions.enumerate(network, domain)
    )
    seconds = both - yardstick
    return {"regions": len(partition), "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_plot(workload: Workload) -> Measurement:
    """Measure a picture of the regions, colours and layout but no file, against enumerating."""
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("agg")
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)
    partition = regions.enumerate(network, domain)

    def draw() -> None:
        regions.plot(partition)
        pyplot.close()

    draw()
    memory = peak_memory() - before
    seconds, yardstick = best_times(draw, lambda: regions.enumerate(network, domain))
    return {"regions": len(partition), "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_linear_regions(workload: Workload, definition: Definition) -> Measurement:
    """Measure deriving the linear regions in one sense from enumerated regions, against enumerating these."""
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)

    def derive() -> int:
        # A partition caches its derived facts, so each run needs another partition.
        partition = regions.enumerate(network, domain)
        regions.linear_regions(partition, definition)
        return len(partition)

    n_regions = derive()
    memory = peak_memory() - before
    both, yardstick = best_times(derive, lambda: regions.enumerate(network, domain))
    return {"regions": n_regions, "seconds": both - yardstick, "memory": memory, "value": both / yardstick - 1.0}


def measure_degenerate(workload: Workload) -> Measurement:
    """Measure counting on a degenerate network, against a generic one with as many regions."""
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)
    n_regions = regions.count(network, domain)
    memory = peak_memory() - before
    generic, square = workloads.build_generic_sibling(workload)
    seconds, yardstick = best_times(lambda: regions.count(network, domain), lambda: regions.count(generic, square))
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_depth(workload: Workload) -> Measurement:
    """Measure the time for a region, relative to a network of six layers and to the number of layers."""
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)
    n_regions = regions.count(network, domain)
    memory = peak_memory() - before
    name, _, depth = workload.name.partition("x")
    sibling = workloads.WORKLOADS[f"{name}x6"]
    shallow, square = regions.Network(workloads.build_layers(sibling)), workloads.build_polygon(sibling)
    seconds, yardstick = best_times(lambda: regions.count(network, domain), lambda: regions.count(shallow, square))
    value = (seconds / n_regions) / (yardstick / regions.count(shallow, square)) / (int(depth) / 6)
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": value}


def measure_width(workload: Workload) -> Measurement:
    """Measure counting a region, against counting one of p2_64x3."""
    before = peak_memory()
    network, domain = build_network(workload), build_domain(workload)
    n_regions = regions.count(network, domain)
    memory = peak_memory() - before
    sibling = workloads.WORKLOADS["p2_64x3"]
    narrow, square = regions.Network(workloads.build_layers(sibling)), workloads.build_polygon(sibling)
    seconds, yardstick = best_times(lambda: regions.count(network, domain), lambda: regions.count(narrow, square))
    value = (seconds / n_regions) / (yardstick / regions.count(narrow, square))
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": value}


def measure_orthogonal(workload: Workload) -> Measurement:
    """Measure the seconds for 300 regions."""
    before = peak_memory()
    network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)
    n_regions = regions.count(network, domain)
    memory = peak_memory() - before
    seconds, _ = best_times(lambda: regions.count(network, domain), lambda: None)
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": seconds * 300 / n_regions}


def measure_lines(workload: Workload) -> Measurement:
    """Measure counting on many segments in one call, against layered breakpoints in numpy. The counts must agree."""
    before = peak_memory()
    layers, segment_ends = workloads.build_layers(workload), workloads.build_segment_ends(workload)
    network = regions.Network(layers)
    segments = [regions.Segment(start, end) for start, end in segment_ends]
    counts = regions.count(network, segments)
    memory = peak_memory() - before
    rival = layered_breakpoints.count_regions(layers, segment_ends)
    if not np.array_equal(counts, rival):
        differing = np.flatnonzero(np.asarray(counts) != rival)
        raise SystemExit(f"counts differ from layered breakpoints on segments {differing.tolist()}")
    seconds, yardstick = best_times(
        lambda: regions.count(network, segments),
        lambda: layered_breakpoints.count_regions(layers, segment_ends),
    )
    n_regions = int(np.sum(counts))
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_arcs(workload: Workload) -> Measurement:
    """Measure counting the pieces of arcs, per piece, against the segments between their ends."""
    before = peak_memory()
    segment_ends = workloads.build_segment_ends(workload)
    network = regions.Network(workloads.build_layers(workload))
    arcs = [regions.Arc(start, end) for start, end in segment_ends]
    segments = [regions.Segment(start, end) for start, end in segment_ends]
    pieces, others = (int(np.sum(regions.count(network, curves))) for curves in (arcs, segments))
    memory = peak_memory() - before
    seconds, yardstick = best_times(lambda: regions.count(network, arcs), lambda: regions.count(network, segments))
    value = (seconds / pieces) / (yardstick / others)
    return {"regions": pieces, "seconds": seconds, "memory": memory, "value": value}


def measure_trajectory(workload: Workload) -> Measurement:
    """Measure all layers' lengths on a segment, against lengths of 10,000 points in numpy, which must agree to a
    thousandth.
    """
    before = peak_memory()
    layers, ((start, end),) = workloads.build_layers(workload), workloads.build_segment_ends(workload)
    network, segment = regions.Network(layers), regions.Segment(start, end)
    points = segment.to_input(np.linspace(0.0, 1.0, 10_000)[:, np.newaxis])

    def sampled() -> list[float]:
        values, lengths = points, []
        for weights, biases in layers[:-1]:
            values = np.maximum(values @ weights.T + biases, 0.0)
            lengths.append(float(np.linalg.norm(np.diff(values, axis=0), axis=1).sum()))
        return lengths

    path = regions.trajectory(network, segment)
    if not np.allclose(path.lengths[1:-1], sampled(), rtol=1e-3):
        raise SystemExit("lengths differ from the lengths of the sampled curve")
    memory = peak_memory() - before
    seconds, yardstick = best_times(lambda: regions.trajectory(network, segment), sampled)
    return {"regions": int(path.pieces[-1]), "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_convolutional(workload: Convolutional) -> Measurement:
    """Measure counting a region, once, against torch's forward pass of a point, 16 at a time."""
    before = peak_memory()
    network, domain, yardstick = workload.network(), workload.domain(), Torch()
    points = np.random.default_rng(3).standard_normal((16, network.n_in))
    images = points.reshape(16, *workload.shape)
    if not np.allclose(network(points), yardstick.evaluate(workload.forms, images), rtol=1e-9, atol=1e-9):
        raise SystemExit("torch evaluates another network")
    start = time.process_time()
    n_regions = regions.count(network, domain)
    seconds = time.process_time() - start
    memory = peak_memory() - before
    (forward,) = best_times(lambda: yardstick.evaluate(workload.forms, images))
    value = (seconds / n_regions) / (forward / 16)
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": value}


def measure_workers(workload: Workload, what: str) -> Measurement:
    """Measure two threads against one, in wall time; the results must be the same."""
    before = peak_memory()
    network = regions.Network(workloads.build_layers(workload))
    domain: Any = workloads.build_polygon(workload)
    if what == "lines":
        domain = [regions.Segment(start, end) for start, end in workloads.build_segment_ends(workload)]

    def found(workers: int) -> int:
        if what == "enumerate":
            return len(regions.enumerate(network, domain, workers=workers))
        return int(np.sum(regions.count(network, domain, workers=workers)))

    n_regions = found(2)
    memory = peak_memory() - before
    seconds, yardstick = best_times(lambda: found(2), lambda: found(1), clock=time.perf_counter)
    return {"regions": n_regions, "seconds": seconds, "memory": memory, "value": seconds / yardstick}


def measure_small(workload: Workload, what: str) -> Measurement:
    """Measure microseconds for a tiny network, domain, count or enumeration, or for each of many items.

    The items are 100 new networks that are counted one by one, or 10,000 new networks or segments in one call.
    """
    before, (many, samples) = peak_memory(), (100, 100) if what == "first" else (10_000, 3)
    layers, domain = workloads.build_layers(workload), workloads.build_polygon(workload)
    network, corners = regions.Network(layers), domain.generators[:, 1:].tolist()
    n_regions = regions.count(network, domain)
    actions = {
        "network": lambda: regions.Network(layers),
        "polygon": lambda: regions.Polygon(corners),
        "count": lambda: regions.count(network, domain),
        "enumerate": lambda: regions.enumerate(network, domain),
    }
    of_items: dict[str, Callable[[Any], object]] = {
        "first": lambda networks: [regions.count(each, domain) for each in networks],
        "networks": lambda networks: regions.count(networks, domain),
        "segments": lambda ends: regions.count(network, ends),
    }
    if what in actions:
        (seconds,) = best_times(actions[what])
    else:
        ends, seconds = np.random.default_rng(9).standard_normal((many, 2, network.n_in)), float("inf")
        for _ in range(samples):
            items = ends if what == "segments" else [regions.Network(layers) for _ in ends]
            seconds = min(seconds, seconds_of(partial(of_items[what], items), 1, time.process_time) / many)
    return {"regions": n_regions, "seconds": seconds, "memory": peak_memory() - before, "value": seconds * 1e6}


def measure_evaluate(workload: Workload) -> Measurement:
    """Measure the network at 30,000 points that are given, against one forward pass over as many points."""
    before, count = peak_memory(), 30_000
    layers = workloads.build_layers(workload)
    network = regions.Network(layers)
    points = np.random.default_rng(0).standard_normal((count, network.n_in))
    seconds, yardstick = best_times(lambda: network(points), ForwardPass(layers, count).run)
    return {"regions": count, "seconds": seconds, "memory": peak_memory() - before, "value": seconds / yardstick}


def measure_import() -> Measurement:
    """Measure the seconds that `import regions` takes after numpy is imported. Torch must not be imported."""
    program = """
import sys, time, numpy
start = time.perf_counter()
import regions
print(time.perf_counter() - start)
assert "torch" not in sys.modules
"""
    command = [sys.executable, "-c", program]
    # From this folder, because `-c` imports from the current folder, and the core in the root's source folder
    # may not be compiled.
    folder = Path(__file__).resolve().parent
    runs = [subprocess.run(command, check=True, capture_output=True, cwd=folder) for _ in range(5)]
    seconds = min(float(run.stdout) for run in runs)
    return {"regions": None, "seconds": seconds, "memory": None, "value": seconds}


MEASURES: dict[str, Callable[..., Measurement]] = {
    "count": measure_count,
    "enumerate": measure_enumerate,
    "checkpoint": measure_checkpoint,
    "check": measure_check,
    "extremes": measure_extremes,
    "all_extremes": measure_all_extremes,
    "wide": measure_wide,
    "certify": measure_certify,
    "statistics": measure_statistics,
    "level_set": measure_level_set,
    "compare": measure_compare,
    "verify": measure_verify,
    "linear_regions": measure_linear_regions,
    "locate": measure_locate,
    "plot": measure_plot,
    "degenerate": measure_degenerate,
    "depth": measure_depth,
    "width": measure_width,
    "boxes": measure_width,
    "orthogonal": measure_orthogonal,
    "small": measure_small,
    "evaluate": measure_evaluate,
    "lines": measure_lines,
    "arcs": measure_arcs,
    "trajectory": measure_trajectory,
    "workers": measure_workers,
    "memory": measure_memory,
    "convolutional": measure_convolutional,
}


def main() -> None:
    kind, *senses = sys.argv[1].split("/")
    every = workloads.WORKLOADS | CONVOLUTIONAL
    measured = MEASURES[kind](every[senses.pop()], *senses) if senses else measure_import()
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
