# SPDX-License-Identifier: MIT
"""How do values travel through a network?

Forwards, from the inputs to the outputs: the reads of a node become its pre-activations, and these become its outputs,
on the pieces that its units are on. Backwards, a *demand* on a node (such as the gradient of an output, or whether a
row is needed) becomes demands on everything that the node reads.
An *arithmetic* defines the values (numbers, bounds, forms, zeros and ones) and how they are added and multiplied. Each
has a file: `rounded.py` in this folder, with which networks evaluate themselves, and the files of `regions/passes/`.
Invariant: a node is entered once all that it reads is known, and its value is released after its last reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.types import Indices, Integers, Packed
from regions.ground.threads.deadline import check_time_of_call, present_end
from regions.networks.graph import Graph, Node, Read

__all__ = ["Arithmetic", "Asking", "Forward", "Sharing", "asked", "preactivations", "under", "under_patterns"]

# The value of a node before its activation, and after it.
Before = TypeVar("Before")
After = TypeVar("After")
# A demand on a node; demands are added by +.
Asked = TypeVar("Asked")


class Arithmetic(Protocol[Before, After]):
    """Rules for values that travel from the inputs to the outputs."""

    def preactivations(self, node: Node, sources: Sequence[After]) -> Before:
        """Return the pre-activations of a node, given the values that it reads."""

    def outputs(self, node: Node, before: Before, pieces: Indices) -> After:
        """Return the outputs of a node whose units are on these pieces."""


class Forward(Generic[Before, After]):
    """One walk from the inputs to the outputs: for each node in order, `preactivations`, then `leave`.

    Parameters
    ----------
    graph : Graph
    arithmetic : Arithmetic
    inputs
        The value of the inputs, node -1.

    Attributes
    ----------
    live : dict
        The outputs of the nodes that are still read later.
    """

    def __init__(self, graph: Graph, arithmetic: Arithmetic[Before, After], inputs: After) -> None:
        self.graph, self.arithmetic, self.entered, self.live = graph, arithmetic, -1, {-1: inputs}

    def preactivations(self, node: Node) -> Before:
        """Return the pre-activations of the next node."""
        if present_end() is not None:
            check_time_of_call()
        self.entered += 1
        before = self.arithmetic.preactivations(node, [self.live[read.node] for read in node.reads])
        for number in self.graph.last_reads[self.entered]:
            del self.live[number]
        return before

    def leave(self, node: Node, before: Before, pieces: Indices) -> None:
        """Store the outputs of that node on these pieces."""
        self.live[self.entered] = self.arithmetic.outputs(node, before, pieces)


def preactivations(
    graph: Graph, arithmetic: Arithmetic[Before, After], inputs: After, pieces: Callable[[Node, Before], Indices]
) -> Iterator[Before]:
    """Yield the pre-activations of each node, in order, on these pieces; the last node has the network's outputs."""
    walk = Forward(graph, arithmetic, inputs)
    for node in graph.hidden:
        before = walk.preactivations(node)
        yield before
        walk.leave(node, before, pieces(node, before))
    yield walk.preactivations(graph.nodes[-1])


def under(bits: NDArray[Any]) -> Callable[[Node, Any], Indices]:
    """Return the pieces that units are on under patterns, bits [.., kinks], for `preactivations`."""
    return lambda node, _: node.units.pieces_of(bits[..., node.kinks])


class Sharing(Arithmetic[Before, After], Protocol):
    """Rules for values that travel for many patterns at a time."""

    def before_at(self, before: Before, rows: Integers) -> Before:
        """Return these rows of the pre-activations, some of them several times."""

    def after_at(self, after: After, rows: Integers) -> After:
        """Return these rows of the outputs."""


def under_patterns(
    graph: Graph, arithmetic: Sharing[Before, After], inputs: After, packed: Packed
) -> tuple[Before, Integers]:
    """Compute the last node under patterns uint8 [m, bytes]; the inputs are one row, the same for all patterns.

    Consecutive patterns share the walk through all nodes before the first kink at which they differ. Neighbouring
    regions of a partition mostly differ in late nodes only.

    Returns
    -------
    pre-activations of the last node, a row for each of some patterns
    int64 [m]
        Index of the row of each pattern.
    """
    rows, bits = np.arange(len(packed)), graph.bits(packed)
    # Before this bit, each pattern equals the one before it.
    changes = packed[1:] != packed[:-1]
    same_until = 8 * np.argmax(changes, axis=1) if changes.shape[1] else np.zeros(len(changes), dtype=np.int64)
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
    """Rules for demands that travel from the outputs to the inputs."""

    def of_units(self, number: int, asked: Asked) -> Asked:
        """Return the demand on the rows of a hidden node, given the demand on its outputs."""

    def of_sources(self, read: Read, asked: Asked) -> Asked:
        """Return the demand on the source of a read, given the demand on the rows of its node."""


def asked(graph: Graph, arithmetic: Asking[Asked], number: int, first: Asked) -> Iterator[tuple[int, Asked]]:
    """Yield the demands that ``first``, a demand on the rows of node ``number``, makes on lower nodes, the last first.

    The inputs come at the end, as node -1.
    """
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
