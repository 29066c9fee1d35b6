# SPDX-License-Identifier: MIT
"""What is there to say of a network in a table, or in a few words?"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from regions.networks.graph import Graph
from regions.printable import printable

__all__ = ["LayerFacts", "activation_names", "architecture", "in_runs", "layer_facts"]


class LayerFacts(NamedTuple):
    """What a table says of a layer."""

    inputs: int
    units: int
    activation: str
    kinks: int


def layer_facts(graph: Graph) -> list[LayerFacts]:
    """What there is to say of each layer, the output last."""
    nodes = ((sum(read.operator.inputs for read in node.reads), node.units) for node in graph.nodes)
    return [LayerFacts(inputs, units.count, units.name, units.kinks) for inputs, units in nodes]


def architecture(graph: Graph) -> str:
    """Sizes and activations of a network in a few words, for instance ``2-16-16-1 relu``."""
    sizes = "-".join([str(graph.n_in), *in_runs(graph.widths), str(graph.n_out)])
    return f"{sizes} {printable(activation_names(graph))}"


def activation_names(graph: Graph) -> str:
    return " + ".join(dict.fromkeys(node.units.name for node in graph.hidden)) or "affine"


def in_runs(sizes: Iterable[int]) -> list[str]:
    """Equal sizes one by one up to four; beyond that a count keeps the line short."""
    runs = [(size, len(list(group))) for size, group in groupby(sizes)]
    return ["-".join([str(size)] * length) if length <= 4 else f"{size}x{length}" for size, length in runs]
