# SPDX-License-Identifier: MIT
"""How is a network summarised in a table, or in a few words?"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from regions.ground.text.printable import printable
from regions.networks.graph import Graph

__all__ = ["LayerFacts", "activation_names", "architecture", "in_runs", "layer_facts"]


class LayerFacts(NamedTuple):
    """One row of the table of layers."""

    inputs: int
    units: int
    activation: str
    kinks: int


def layer_facts(graph: Graph) -> list[LayerFacts]:
    """Return the facts about each layer, the output last."""
    nodes = ((sum(read.operator.inputs for read in node.reads), node.units) for node in graph.nodes)
    return [LayerFacts(inputs, units.count, units.name, units.kinks) for inputs, units in nodes]


def architecture(graph: Graph) -> str:
    """Return sizes and activations of a network in a few words, for instance ``2-16-16-1 relu``."""
    sizes = "-".join([str(graph.n_in), *in_runs(graph.widths), str(graph.n_out)])
    return f"{sizes} {printable(activation_names(graph))}"


def activation_names(graph: Graph) -> str:
    return " + ".join(dict.fromkeys(node.units.name for node in graph.hidden)) or "affine"


def in_runs(sizes: Iterable[int]) -> list[str]:
    """Return up to four equal sizes one by one; longer runs are abbreviated by a count."""
    runs = [(size, len(list(group))) for size, group in groupby(sizes)]
    return ["-".join([str(size)] * length) if length <= 4 else f"{size}x{length}" for size, length in runs]
