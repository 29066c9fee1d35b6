# SPDX-License-Identifier: MIT
"""Will the core's error bounds prove signs on a domain, or will most of them be left to exact arithmetic?

The core stores rows of pre-activations in one to four doubles and bounds their rounding, layer by layer
(`docs/error-bounds.md`). A sign is left to long integers if a value is nearer to zero than its bound. The forecast
computes the bound by the same recurrence at one point, the centre of the domain, and compares it with the spread of the
values over the domain, as given by the affine forms there. A layer is *unprovable* if the bound is as large as the
spread for half of the units: hardly any sign in it, or above it, is proved.
The forecast decides nothing: at other points bounds may be better or worse, and its own rounding in doubles may hide
cancellation. Units that are constant around the centre carry no information, and are left out.
Cost: 2 (1 + d) forward passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np

from regions.domains import Domain
from regions.domains.curves import ArcLeg
from regions.ground.arithmetic.roundoff import U
from regions.ground.arithmetic.types import Floats, Indices
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Operator
from regions.networks.lowering import lowered
from regions.networks.walk import Forward

__all__ = ["MOST_LIMBS", "UnprovableLayer", "unprovable_layer"]

# As in csrc/rows: the most doubles that store a number of a row, and the smallest magnitude of factors.
MOST_LIMBS = 4
FLOOR = 2.0**-400


@dataclass(frozen=True)
class UnprovableLayer:
    """A layer whose error bounds reach the spread of its values.

    Attributes
    ----------
    node : int
        Index of a hidden node, the lowest unprovable one.
    name : str
    missing : float
        The bits by which the bound of the median unit exceeds the spread of its values; infinite after overflow.
    limbs : int
        Number of doubles that store each number in the rows of this layer.
    """

    node: int
    name: str
    missing: float
    limbs: int


class Rows(NamedTuple):
    """Affine forms of the chart point: constants, then the coefficients of each coordinate; float64 [1 + d, rows]
    each.
    """

    values: Floats
    own: Floats  # bounds on the rounding of the row itself


class Outputs(NamedTuple):
    """Outputs of a node: forms, and bounds on the sizes of their terms, float64 [1 + d, units] each."""

    values: Floats
    sizes: Floats


class Rounded:
    """Rounding of rows that are stored in a number of doubles, one number for each hidden node."""

    def __init__(self, limbs: Sequence[int]) -> None:
        self.limbs, self.entered = limbs, -1

    def preactivations(self, node: Node, sources: Sequence[Outputs]) -> Rows:
        self.entered += 1
        values = np.zeros((len(sources[0].values), node.units.rows))
        sizes, terms = np.zeros_like(values), 1
        for read, source in zip(node.reads, sources, strict=True):
            values += read.operator.apply(source.values)
            sizes += read.operator.entrywise(_floored).apply(source.sizes)
            terms += _terms(read.operator)
        values[0] += node.biases
        sizes[0] += np.abs(node.biases)
        return Rows(values, _rounding(self.limbs[self.entered], terms) * sizes)

    def outputs(self, node: Node, before: Rows, pieces: Indices) -> Outputs:
        slopes, intercepts = node.units.on_pieces(pieces)
        values, own = (slopes * node.units.followed(each, pieces[np.newaxis]) for each in before)
        values[0] += intercepts
        return Outputs(values, _floored(np.abs(values) + np.abs(own)))


def unprovable_layer(graph: Graph, part: Domain | ArcLeg, limbs: Sequence[int]) -> UnprovableLayer | None:
    """Return the lowest layer in which the bounds prove almost no sign, or None.

    Parameters
    ----------
    graph : Graph
    part : Domain or ArcLeg
    limbs : sequence of int
        Number of doubles in which the core stores rows, for each hidden node.
    """
    centre, ways = _centre_and_ways(part)
    point, chart = np.append(1.0, centre), np.vstack([part.origin, part.directions])
    arithmetic, norms = Rounded(limbs), [layer.norm for layer in lowered(graph)]
    with np.errstate(all="ignore"):  # overflow becomes NaN, which compares as unprovable
        walk = Forward(graph, arithmetic, Outputs(chart, _floored(np.abs(chart))))
        carried = np.zeros(len(point))
        for number, node in enumerate(graph.hidden):
            rows = walk.preactivations(node)
            inherited = np.where(carried > 0, _row_length(node) * carried, 0.0)[:, np.newaxis]
            # Signs are decided on the first of the doubles of a number.
            errors = rows.own + inherited + (U * np.abs(rows.values) if limbs[number] > 1 else 0.0)
            apart = np.abs(ways @ rows.values[1:]).max(axis=0)
            live = ~(apart == 0.0)
            if not live.any():
                return None
            missing = float(np.median(_bits(np.abs(point) @ errors[:, live], apart[live])))
            if missing > 0.0:
                return UnprovableLayer(number, node.name, missing, limbs[number])
            pieces = node.units.pieces_at(point @ rows.values)
            walk.leave(node, rows, pieces)
            slopes = np.abs(node.units.tables().slopes)
            rounded = slopes.max(axis=1) * node.units.largest(rows.own)
            gain = max(_norm(node, norms[number]) * float(slopes.max()), FLOOR)
            carried = np.where(carried > 0, gain * carried, 0.0) + sqrt(node.units.count) * rounded.max(axis=1)
    return None


def _centre_and_ways(part: Domain | ArcLeg) -> tuple[Floats, Floats]:
    """Return a point of the chart [d], and the vectors from there to the ends of the domain, [.., d]."""
    if isinstance(part, ArcLeg):
        corners, directions = part.chart_points(np.array([0.0, 0.5, 1.0])), np.zeros((0, 2))
    else:
        finite = part.generators[:, 0] != 0.0
        corners = part.generators[finite, 1:] / part.generators[finite, :1]
        directions = part.generators[~finite, 1:]
    centre = corners.mean(axis=0) if len(corners) else np.zeros(part.directions.shape[0])
    return centre, np.concatenate([corners - centre, directions])


def _bits(errors: Floats, apart: Floats) -> Floats:
    """Return by how many bits errors exceed the spread; infinite for NaN."""
    ratios = errors / apart
    return np.log2(np.where(np.isfinite(ratios), np.maximum(ratios, FLOOR), np.inf))


def _floored(array: Floats) -> Floats:
    sizes = np.abs(array)
    return np.where(sizes == 0.0, 0.0, np.maximum(sizes, FLOOR))


def _terms(operator: Operator) -> int:
    """Return the number of products in the sum of an output."""
    return operator.inputs if isinstance(operator, Dense) else int(operator.sources.shape[1])


def _rounding(limbs: int, terms: int) -> float:
    """Return the rounding of a sum, relative to the sizes of its terms, as in `csrc/rows/lanes.hpp`, if half are 0."""
    if limbs == 1:
        return U * (0.5 * terms + 3)
    bound = 1.0
    for limb in range(1, limbs + 1):
        bound *= limb * (0.5 * terms + 9 * limbs) * U
    return bound


def _row_length(node: Node) -> float:
    """Return the length of the weights of a row, averaged over rows."""
    return hypot(*(read.operator.frobenius for read in node.reads)) / sqrt(node.units.rows)


def _norm(node: Node, known: float) -> float:
    """Return the norm of the layer in the core; shallow networks have no better bound than this one."""
    return known if known < np.inf else hypot(*(read.operator.frobenius for read in node.reads))
