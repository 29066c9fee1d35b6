# SPDX-License-Identifier: MIT
"""Which region surely contains a point, by the stored corners alone?

Corners are known up to their ``vertex_errors``. A point that is farther from all facets of a region than these errors
and the rounding of the test is inside the true region, and in no other region's closure. On a line regions are sorted.
In a plane the core walks from region to region (csrc/locate/), through points that are sorted along a space-filling
curve. Facets of a whole plane may be endless. Their corners at infinity are then replaced by two points of their lines,
which are computed exactly and rounded.
Invariant: for a correct partition, an answer other than -1 is right.
Cost: 0.2 microseconds per point, most of it for sorting. The exact form of each endless facet is computed once.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from regions import core
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.roundoff import SMALLEST, U
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.passes.exact import ExactForms, Form
from regions.results.cells.cell_geometry import next_corners
from regions.results.cells.complex import CellComplex
from regions.results.cells.sizes import rounded_volumes

__all__ = ["InPlane", "OnLine", "inside_finder"]

# The most steps of a walk, for each point. Few walks take more than ten; beyond this number, looking up a pattern is
# cheaper.
STEPS = 100


class OnLine:
    """The regions of a line, from left to right."""

    def __init__(self, cells: CellComplex) -> None:
        first, last = cells.cell_vertices[cells.cell_offsets[:-1]], cells.cell_vertices[cells.cell_offsets[1:] - 1]
        self.order = np.argsort(cells.vertices[first, 0], kind="stable")
        (self.left, self.left_errors), (self.right, self.right_errors) = (
            (cells.vertices[ends, 0], cells.vertex_errors[ends]) for ends in (first[self.order], last[self.order])
        )

    def find(self, points: Floats) -> Integers:
        """Return the region of each of the chart points [m, 1], or -1 if that is not certain: int64 [m]."""
        x = points[:, 0]
        place = np.searchsorted(self.left, x, side="right") - 1
        with np.errstate(all="ignore"):
            # A nonzero difference is rounded to a nonzero number, and to less than twice its size.
            sure = (x - self.left[place] > 2 * self.left_errors[place]) & (
                self.right[place] - x > 2 * self.right_errors[place]
            )
        result: Integers = np.where(sure, self.order[place], -1)
        return result


class InPlane:
    """The regions of a plane, as the core walks through them."""

    def __init__(self, cells: CellComplex) -> None:
        vertices, errors, corners = cells.vertices, cells.vertex_errors, cells.cell_vertices
        if not cells.domain.bounded:
            vertices, errors, corners = _with_far_points(cells)
        others = cells.cell_facets, cells.facet_regions, cells.facet_kinks
        self.cells = core.CompiledCells(vertices, errors, cells.cell_offsets, corners, *others)
        # Walks start in the largest region, because its edges are long compared with the errors of corners.
        self.start = int(np.argmax(rounded_volumes(cells)))

    def find(self, points: Floats) -> Integers:
        """Return the region of each of the chart points [m, 2] of the domain, or -1 if uncertain: int64 [m]."""
        order = _along_curve(points)
        result = np.empty(len(points), dtype=np.int64)
        result[order] = self.cells.find(self.start, self.cells.regions + STEPS * len(points), points[order])
        return result


def inside_finder(cells: CellComplex) -> OnLine | InPlane | None:
    """Return the search structure for the regions of a partition; None if it is empty."""
    if len(cells) == 0:
        return None
    return OnLine(cells) if cells.dimension == 1 else InPlane(cells)


def _along_curve(points: Floats) -> NDArray[np.intp]:
    """Sort points [m, 2] so that neighbours are near each other, along Morton's curve through 2^16 x 2^16 squares."""
    if len(points) == 0:
        return np.zeros(0, dtype=np.intp)
    with np.errstate(all="ignore"):
        # In halves, because they can be farther apart than the largest double.
        halves = points / 2
        shares = (halves - halves.min(axis=0)) / np.ptp(halves, axis=0)
    squares = np.nan_to_num(shares * (2**16 - 1)).astype(np.uint64)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        squares = (squares | squares << np.uint64(shift)) & np.uint64(mask)
    return np.argsort(squares[:, 0] | squares[:, 1] << np.uint64(1))


def _with_far_points(cells: CellComplex) -> tuple[Floats, Floats, Integers]:
    """Return vertices, their errors, and the vertex at each corner; points at infinity are replaced by finite points on
    the same lines.
    """
    infinite: Bits = np.asarray(np.isinf(cells.vertices).any(axis=1))
    facets = np.flatnonzero(infinite[cells.facet_vertices].any(axis=1) & (cells.facet_kinks >= 0))
    forms, graph = ExactForms(cells.network.graph, cells.domain), cells.network.graph
    finite = np.abs(cells.vertices[~infinite]).max(initial=0.0)
    points = []
    for facet, region in zip(facets.tolist(), cells.facet_regions[facets, 0].tolist(), strict=True):
        kink = int(cells.facet_kinks[facet])
        forms.enter(graph.bits(cells.packed_patterns[region]).view(np.bool_))
        points += _points_of_line(forms.kink(kink), Fraction(finite) or Fraction(1))[:: 1 if forms.bits[kink] else -1]
    added = np.array(points).reshape(-1, 2)
    # Two points for each facet; the first is where the facet begins as seen from its first region.
    numbers = np.full(len(cells.facet_kinks), -1)
    numbers[facets] = len(cells.vertices) + 2 * np.arange(len(facets))
    corners = np.flatnonzero(numbers[cells.cell_facets] >= 0)
    following = next_corners(cells.cell_offsets)[corners]
    own = cells.cell_facets[corners]
    second = cells.facet_regions[own, 0] != np.repeat(np.arange(len(cells)), cells.corner_counts)[corners]
    result = cells.cell_vertices.copy()
    for places, ends in ((corners, numbers[own] + second), (following, numbers[own] + ~second)):
        far = infinite[cells.cell_vertices[places]]
        result[places[far]] = ends[far]
    errors = 2 * U * np.abs(added).max(axis=1, initial=0.0) + SMALLEST
    return np.concatenate([cells.vertices, added]), np.concatenate([cells.vertex_errors, errors]), result


def _points_of_line(form: Form, reach: Fraction) -> list[list[float]]:
    """Return two points where a form is zero, on both sides of all its zeros with coordinates of at most ``reach``.

    The form is positive to the left of the path from the first to the second.
    """
    constant, a, b = form
    if a == b == 0:  # possible in a modified file
        return [[np.inf, np.inf], [np.inf, np.inf]]
    squared = a * a + b * b
    foot = Fraction(-constant * a, squared), Fraction(-constant * b, squared)
    length = 4 * max(reach, *map(abs, foot)) / max(abs(a), abs(b))
    return [[nearest_float(x + way * length * y) for x, y in zip(foot, (b, -a), strict=True)] for way in (-1, 1)]
