# SPDX-License-Identifier: MIT
"""Which units are dead, always on, or switching on a domain?

In enumerated regions, and along a trajectory, the answer is exact, because a pattern has the piece of each unit, and
the regions or pieces cover the domain. In a box of any dimension the ranges of all rows are enclosed
(`regions/passes/ranges.py`): a unit whose range lies on one piece is decided, and others are open.
Invariant: a unit that is called dead or on is so at each point of the domain, up to the domain boundary.
Cost: the bits of all patterns; in a box, 2 + n_in forward passes, and as many numbers for each unit of a layer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from regions.domains import Box
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import one_of, shown
from regions.ground.arithmetic.types import Bits, Floats, Indices, Integers, Packed
from regions.ground.text.tables import html_table
from regions.ground.threads.deadline import check_time
from regions.measures.bodies import Hyperrectangle, in_space
from regions.networks.graph import Graph, Node
from regions.networks.maxima import Maxima
from regions.networks.network import Network, require_network
from regions.passes.ranges import row_ranges
from regions.results.cells.strands import FoundAlongCurve
from regions.results.partition import Partition, require_complete

__all__ = ["UnitStates", "unit_states", "unit_states_in_box"]

STATES = ("dead", "on", "switching", "open")
# Bits of patterns that are unpacked at a time.
CHUNK = 1 << 25


@dataclass(frozen=True, eq=False, repr=False)
class UnitStates(JsonReport):
    """What the units of a network do on a domain; returned by `unit_states` and `unit_states_in_box`.

    Attributes
    ----------
    names : tuple of str
        Name of each hidden layer.
    layers : tuple of array of str [units]
        State of each unit of each hidden layer. "dead": the output of the unit is constant, as that of a ReLU whose row
        is never above 0. "on": the unit is affine with another slope, as a ReLU whose row is never below 0.
        "switching": it has a kink inside the domain. "open": bounds do not decide.
    counts : int64 [layers, 4]
        Number of units of each layer that are dead, on, switching and open.
    """

    ROWS = ("layers",)

    names: tuple[str, ...]
    layers: tuple[Any, ...] = field(repr=False)

    @property
    def counts(self) -> Integers:
        """Number of units of each layer that are dead, on, switching and open: int64 [layers, 4]."""
        each = [[int((layer == state).sum()) for state in STATES] for layer in self.layers]
        return np.array(each, dtype=np.int64).reshape(-1, len(STATES))

    def units(self, state: str) -> list[tuple[int, int]]:
        """Return the units in a state, each as its hidden layer and its number there, both from 0."""
        one_of(state, STATES, "state")
        return [(at, unit) for at, layer in enumerate(self.layers) for unit in np.flatnonzero(layer == state).tolist()]

    def as_dict(self) -> dict[str, Any]:
        """The name of each layer, and its units by state."""
        return {
            "layers": [
                {"name": name, **{state: np.flatnonzero(layer == state).tolist() for state in STATES}}
                for name, layer in zip(self.names, self.layers, strict=True)
            ]
        }

    def _repr_html_(self) -> str:
        rows = zip(self.names, self.counts.tolist(), strict=True)
        return html_table(repr(self), ["layer", *STATES], [[name, *counts] for name, counts in rows])

    def __repr__(self) -> str:
        counts = self.counts.sum(axis=0)
        said = ", ".join(f"{count:,} {state}" for count, state in zip(counts.tolist(), STATES, strict=True) if count)
        return f"UnitStates({said or 'no units'})"


def unit_states(found: Partition | FoundAlongCurve) -> UnitStates:
    """Say which units are dead, always on, or switching in the domain of enumerated regions, or along a curve, exactly.

    Parameters
    ----------
    found : Partition or Trajectory
        The result of `regions.enumerate` or `regions.trajectory`.

    Returns
    -------
    UnitStates
        No unit is open.

    Raises
    ------
    TypeError, ValueError
        Neither a partition nor a trajectory, or a partial one.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 2.0, -3.0]), ([[1.0, 1.0, 1.0]], [0.0])])
    >>> square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    >>> states = unit_states(regions.enumerate(net, square))
    >>> states, states.units("dead")
    (UnitStates(1 dead, 1 on, 1 switching), [(0, 2)])
    """
    if isinstance(found, FoundAlongCurve):
        return _states(found.network, _in_regions(found.network.graph, found.strands.packed_patterns))
    require_complete(found)
    return _states(found.network, _in_regions(found.network.graph, found.packed_patterns))


def unit_states_in_box(network: Network, box: Hyperrectangle | Box) -> UnitStates:
    """Say which units are dead or always on in a box of any dimension, as far as bounds decide.

    Parameters
    ----------
    network : Network
    box : Hyperrectangle or Box
        Of the whole input space, in any dimension.

    Returns
    -------
    UnitStates
        Units that may switch are open.

    Raises
    ------
    TypeError
        Other objects.
    ShapeMismatchError
        A box of another dimension.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 2.0, -3.0]), ([[1.0, 1.0, 1.0]], [0.0])])
    >>> unit_states_in_box(net, regions.measures.Hyperrectangle([-1, -1], [1, 1])).layers[0].tolist()
    ['open', 'on', 'dead']
    """
    require_network(network)
    body = in_space(box, network.n_in, network.input_shape)
    if not isinstance(body, Hyperrectangle):
        raise TypeError(f"box must be a regions.measures.Hyperrectangle(lower, upper) or a Box, got {shown(box)}")
    return _states(network, _in_box(network.graph, body))


def _states(network: Network, found: Iterator[tuple[Node, Indices, Bits, Bits]]) -> UnitStates:
    """Collect states from the piece of each unit, whether it stays there, and whether it is known to leave it."""
    layers = []
    for node, pieces, stays, leaves in found:
        steady = _is_constant(node, pieces)
        layers.append(np.select([leaves, ~stays, steady], ["switching", "open", "dead"], "on"))
    return UnitStates(tuple(node.name for node in network.graph.hidden), tuple(layers))


def _is_constant(node: Node, pieces: Indices) -> Bits:
    """Return which units have slope 0 on these pieces [units]."""
    return np.asarray(node.units.on_pieces(pieces)[0] == 0.0)


def _in_regions(graph: Graph, packed: Packed) -> Iterator[tuple[Node, Indices, Bits, Bits]]:
    step = max(1, CHUNK // max(graph.kinks, 1))
    first = [(node, pieces[0]) for node, pieces in graph.pieces(graph.bits(packed[:1]))]
    switching = [np.zeros(node.units.count, dtype=bool) for node, _ in first]
    for start in range(0, len(packed), step):
        check_time()
        found = graph.pieces(graph.bits(packed[start : start + step]))
        for (_, before), (_, pieces), changed in zip(first, found, switching, strict=True):
            changed |= (pieces != before).any(axis=0)
    for (node, pieces), changed in zip(first, switching, strict=True):
        yield node, pieces, ~changed, changed


def _in_box(graph: Graph, box: Hyperrectangle) -> Iterator[tuple[Node, Indices, Bits, Bits]]:
    lower, upper = box.lower, box.upper
    centre = lower / 2 + upper / 2
    # Rounded up, so that the box of this centre contains the corners.
    half = np.nextafter(np.maximum(upper - centre, centre - lower), np.inf)
    boxes = np.concatenate([centre[np.newaxis], np.diag(half)])[np.newaxis]
    for node, (low, high) in zip(graph.hidden, row_ranges(graph, boxes), strict=False):
        check_time()
        pieces, other = node.units.pieces_at(low)[0], node.units.pieces_at(high)[0]
        stays = _largest_everywhere(node.units, low[0], high[0]) if isinstance(node.units, Maxima) else pieces == other
        yield node, pieces, np.asarray(stays), np.zeros(len(pieces), dtype=bool)


def _largest_everywhere(units: Maxima, low: Floats, high: Floats) -> Bits:
    """Return the units of which the branch with the largest lower bound is above all others everywhere."""
    chosen = units.pieces_at(low)
    others = np.where(units.branches == units.of_all_rows(chosen), -np.inf, high)
    return np.asarray(units.followed(low, chosen) > units.largest(others))
