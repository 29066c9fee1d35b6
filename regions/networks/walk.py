# SPDX-License-Identifier: MIT
"""How does something travel through a network?

Forwards, from the inputs to the outputs: what nodes read becomes their pre-activations, and these become, on the pieces
that their units are on, their outputs. Backwards, from what is asked of a node to what that asks of all that it reads.
What travels (values, bounds, forms, zeros and ones), and what adding and multiplying mean, says an *arithmetic*: one
file for each, `rounded.py` next to this one, which networks themselves evaluate with, and those of `regions/passes/`.
Invariant: a node is entered once all that it reads is known, and what no later node reads is let go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Indices, Integers, Packed
from regions.networks.graph import Graph, Node, Read

__all__ = ["Arithmetic", "Asking", "Forward", "Sharing", "asked", "preactivations", "under", "under_patterns"]

# What a node has before its activation, and after it.
Before = TypeVar("Before")
After = TypeVar("After")
# What is asked of a node; more of it is added by +.
Asked = TypeVar("Asked")


class Arithmetic(Protocol[Before, After]):
    """What travels from the inputs to the outputs, and how."""

    def preactivations(self, node: Node, sources: Sequence[After]) -> Before:
        """What a node has, given what it reads."""

    def outputs(self, node: Node, before: Before, pieces: Indices) -> After:
        """What a node gives when its units are on these pieces."""


class Forward(Generic[Before, After]):
    """One walk from the inputs to the outputs: for each node in order, `preactivations`, then `leave`.

    Parameters
    ----------
    graph : Graph
    arithmetic : Arithmetic
    inputs
        What stands for the outputs of the node -1.

    Attributes
    ----------
    live : dict
        The outputs of the nodes that are still to be read.
    """

    def __init__(self, graph: Graph, arithmetic: Arithmetic[Before, After], inputs: After) -> None:
        self.graph, self.arithmetic, self.entered, self.live = graph, arithmetic, -1, {-1: inputs}

    def preactivations(self, node: Node) -> Before:
        """What the next node has."""
        self.entered += 1
        before = self.arithmetic.preactivations(node, [self.live[read.node] for read in node.reads])
        for number in self.graph.last_reads[self.entered]:
            del self.live[number]
        return before

    def leave(self, node: Node, before: Before, pieces: Indices) -> None:
        """Take along what that node gives on these pieces."""
        self.live[self.entered] = self.arithmetic.outputs(node, before, pieces)


def preactivations(
    graph: Graph, arithmetic: Arithmetic[Before, After], inputs: After, pieces: Callable[[Node, Before], Indices]
) -> Iterator[Before]:
    """What each node has, in order, where units are on these pieces; the last node has the outputs of the network."""
    walk = Forward(graph, arithmetic, inputs)
    for node in graph.hidden:
        before = walk.preactivations(node)
        yield before
        walk.leave(node, before, pieces(node, before))
    yield walk.preactivations(graph.nodes[-1])


def under(bits: NDArray[Any]) -> Callable[[Node, Any], Indices]:
    """The pieces that units are on under patterns, bits [.., kinks], for `preactivations`."""
    return lambda node, _: node.units.pieces_of(bits[..., node.kinks])


class Sharing(Arithmetic[Before, After], Protocol):
    """What travels, for many patterns side by side."""

    def before_at(self, before: Before, rows: Integers) -> Before:
        """What nodes have under some of the patterns before."""

    def after_at(self, after: After, rows: Integers) -> After:
        """What nodes give under some of the patterns before."""


def under_patterns(
    graph: Graph, arithmetic: Sharing[Before, After], inputs: After, packed: Packed
) -> tuple[Before, Integers]:
    """What the last node has under patterns uint8 [m, bytes], all from the same inputs, which are one row.

    Patterns that follow each other share the way through all nodes before the first kink at which they differ. Regions
    next to each other in a partition mostly differ in late nodes only.

    Returns
    -------
    what the last node has, a row for each of some patterns
    int64 [m]
        Which row is that of each pattern.
    """
    rows, bits = np.arange(len(packed)), graph.bits(packed)
    # Before this bit each pattern is the same as the one before it.
    same_until = 8 * np.argmax(packed[1:] != packed[:-1], axis=1)
    leaders, walk = rows[:1], Forward(graph, arithmetic, inputs)
    for node in graph.hidden:
        before = walk.preactivations(node)
        parents, leaders = leaders, rows[np.append(True, same_until < node.kinks.stop)]
        if len(parents) < len(leaders):
            again = np.searchsorted(parents, leaders, side="right") - 1
            walk.live = {number: arithmetic.after_at(each, again) for number, each in walk.live.items()}
            before = arithmetic.before_at(before, again)
        walk.leave(node, before, node.units.pieces_of(bits[leaders, node.kinks]))
    return walk.preactivations(graph.nodes[-1]), np.searchsorted(leaders, rows, side="right") - 1


class Asking(Protocol[Asked]):
    """What travels from the outputs to the inputs, and how."""

    def of_units(self, number: int, asked: Asked) -> Asked:
        """What a hidden node is asked for before its activation, by what it is asked for after it."""

    def of_sources(self, read: Read, asked: Asked) -> Asked:
        """What a read asks for, by what its node is asked for before its activation."""


def asked(graph: Graph, arithmetic: Asking[Asked], number: int, first: Asked) -> Iterator[tuple[int, Asked]]:
    """What each node below one is asked for, from the last to the first; and the inputs, which have the number -1."""
    wanted: dict[int, Asked] = {}
    for below in range(number, -2, -1):
        if below < number:
            if below not in wanted:
                continue
            yield below, wanted[below]
            if below < 0:
                return
            first = arithmetic.of_units(below, wanted.pop(below))
        for read in graph.nodes[below].reads:
            more = arithmetic.of_sources(read, first)
            wanted[read.node] = wanted[read.node] + more if read.node in wanted else more  # type: ignore[operator]
