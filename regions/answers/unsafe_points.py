# SPDX-License-Identifier: MIT
"""At which point of some regions are outputs unsafe, exactly?

On a region the slack of every inequality is affine and has one sign (`violations.py`). Therefore the points that
satisfy a polytope, with its boundary, are a face of the region, or all of it, or none. That face is the convex hull of
the corners that satisfy the polytope. A strict inequality is satisfied somewhere on the face exactly if it is satisfied
at one of these corners. If each strict inequality is, the mean of these corners satisfies all of them. If one is not,
the region only touches the polytope.
A witness is a point with few digits inside a region that is unsafe as a whole, if there is one, else a corner or a mean
of corners. Whether it is unsafe, and whether it is in the domain, is decided in fractions for every witness.
Cost: up to a millisecond for each corner that bounds do not decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from regions.answers.corner_values import CornerValues, value_at
from regions.answers.unsafe_sets import Rows, is_unsafe
from regions.answers.witness import Witness, witness_at
from regions.domains import Domain
from regions.domains.membership import contains
from regions.errors import InternalError
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.types import Bits, Floats
from regions.ground.threads.deadline import check_time
from regions.networks.graph import Graph
from regions.networks.network import Network
from regions.passes.exact import ExactForms, ExactSigns
from regions.results.cells.exact_outline import Point

__all__ = ["UnsafePoints", "outputs_at"]

# Number of regions, largest first, in which a point with few digits is sought.
TRIED = 20

# Coordinates in the chart.
Place = tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class UnsafePoints:
    """Regions in which unsafe points are sought.

    Attributes
    ----------
    network : Network
    at : CornerValues
        The slacks of all rows at the corners of the regions.
    rows : list of Rows
        One for each polytope.
    """

    network: Network
    at: CornerValues
    rows: list[Rows]

    def find(self, inside: Bits) -> tuple[Witness | None, Witness | None]:
        """Return an unsafe point, or else a point that would be unsafe if no inequality was strict.

        The regions ``inside``, bool [R], are unsafe as a whole.
        """
        found = self._inside(inside)
        if found is not None:
            return found, None
        slacks: dict[int, list[Fraction]] = {}
        for vertex in self._open_vertices():
            check_time()
            corner = int(self.at.corners[vertex])
            point, region = self.at.exact.point(corner), int(self.at.regions[corner])
            slack = [value_at(form, point) for form in self.at.exact.forms(region)]
            if is_unsafe(slack, self.rows):
                return self._made(_place(point), region), None
            if any(own.touches(slack) for own in self.rows):
                slacks[vertex] = slack
        if not slacks:
            return None, None
        found = self._between(slacks)
        if found is not None:
            return found, None
        corner = int(self.at.corners[next(iter(slacks))])
        return None, self._made(_place(self.at.exact.point(corner)), int(self.at.regions[corner]))

    def _inside(self, inside: Bits) -> Witness | None:
        """Return a point with few digits in a region that is unsafe as a whole."""
        partition, domain = self.at.partition, self.at.partition.domain
        found = np.flatnonzero(inside)
        order = found[np.argsort(-partition.volumes[found], kind="stable")]
        for point in partition.interior_points[order[:TRIED]]:
            # The interior point of a tiny region is rounded, and may be outside of the domain.
            if not np.isfinite(point).all() or not contains(domain, place := tuple(map(Fraction, point.tolist()))):
                continue
            if is_unsafe(outputs_at(self.at.graph, domain, point), self.rows):
                return self._witness(place, outputs_at(self.network.graph, domain, point))
        return None

    def _open_vertices(self) -> list[int]:
        """Return the vertices at which bounds do not exclude any polytope, region after region."""
        values, errors = self.at.rounded
        highest = values + errors
        open_ = np.flatnonzero(np.any([(highest[:, own.numbers] >= 0).all(axis=1) for own in self.rows], axis=0))
        return [int(vertex) for vertex in open_[np.argsort(self.at.corners[open_], kind="stable")]]

    def _between(self, slacks: dict[int, list[Fraction]]) -> Witness | None:
        """Return an unsafe point between corners that satisfy a polytope, except for its strict inequalities."""
        partition = self.at.partition
        vertices, offsets = partition.cell_vertices, partition.cell_offsets
        touched = np.isin(vertices, list(slacks))
        for region in np.flatnonzero(np.add.reduceat(touched, offsets[:-1], dtype=np.int64) > 1).tolist():
            check_time()
            here = np.arange(*offsets[region : region + 2])
            corners = here[touched[here]].tolist()
            known = {corner: slacks[int(vertices[corner])] for corner in corners}
            for own in self.rows:
                face = [corner for corner, slack in known.items() if own.touches(slack)]
                strict = own.numbers[own.strict].tolist()
                if face and all(any(known[corner][row] > 0 for corner in face) for row in strict):
                    return self._made(_mean([_place(self.at.exact.point(corner)) for corner in face]), region)
        return None

    def _made(self, place: Place, region: int) -> Witness:
        """Return the witness at a point of a region."""
        if not contains(self.at.partition.domain, place):
            raise InternalError("an exact corner of a region is outside of the domain")
        forms = CornerValues(self.at.partition, self.network.graph).exact.forms(region)
        return self._witness(place, [_value(form, place) for form in forms])

    def _witness(self, place: Place, outputs: Sequence[Fraction]) -> Witness:
        point = self.at.partition.domain.to_input([nearest_float(x) for x in place]).reshape(-1)
        return witness_at(self.at.graph, place, outputs, point, lambda slack: is_unsafe(slack, self.rows))


def outputs_at(graph: Graph, domain: Domain, point: Floats) -> list[Fraction]:
    """The outputs of a graph at a chart point, exactly."""
    forms = ExactForms(graph, domain)
    forms.enter(ExactSigns(graph, domain).pattern(point))
    found = forms.preactivations(len(graph.hidden))
    scale = Fraction(2) ** found.exponent
    weights = [Fraction(1), *map(Fraction, point.tolist())]
    return [
        sum((int(a) * x for a, x in zip(column, weights, strict=True)), Fraction(0)) * scale
        for column in found.integers.T
    ]


def _place(point: Point) -> Place:
    return tuple(Fraction(x, point[0]) for x in point[1:])


def _mean(places: list[Place]) -> Place:
    return tuple(sum(axis, Fraction(0)) / len(places) for axis in zip(*places, strict=True))


def _value(form: tuple[Fraction, ...], place: Place) -> Fraction:
    return form[0] + sum((a * x for a, x in zip(form[1:], place, strict=True)), Fraction(0))
