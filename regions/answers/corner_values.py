# SPDX-License-Identifier: MIT
"""What are the outputs of a network at the corners of its regions, up to proven bounds, and exactly?

On a region the outputs are affine forms, and by continuity these also hold on its boundary. So a form of the outputs
is largest at a corner, or it grows without end in the direction of a corner at infinity. Values at all corners come
from a forward pass with error bounds (`passes/bounded_together.py`) at the stored vertices, whose own errors are
charged. Where that is not enough, corners and forms are computed in integers (`cells/exact_outline.py`,
`passes/exact.py`).
Cost: a forward pass for each vertex; exactly, up to a millisecond for each corner that is asked for.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from regions.arithmetic.types import Floats, Integers
from regions.cells.exact_outline import ExactOutlines, Point
from regions.definitions.incidence import at_infinity
from regions.networks.graph import Graph
from regions.networks.walk import preactivations, under
from regions.partition import Partition
from regions.passes.bounded_together import BoundedTogether
from regions.passes.exact import ExactForms

__all__ = ["CornerValues", "value_at"]

# Numbers per temporary array: few enough to stay near the processor.
CHUNK = 1 << 20


class CornerValues:
    """Outputs of a graph at the corners of a partition.

    Parameters
    ----------
    partition : Partition
        With a region at least.
    graph : Graph
        With the kinks of the partition's network, such as its graph with other outputs.

    Attributes
    ----------
    corners : int64 [V]
        A corner at each vertex: the first one, so that it is in the region with the lowest number.
    infinite : bool [V]
        Which vertices are at infinity.
    regions : int64 [K]
        The region of each corner.
    """

    def __init__(self, partition: Partition, graph: Graph) -> None:
        self.partition, self.graph = partition, graph
        self.regions = np.repeat(np.arange(len(partition)), partition.corner_counts)
        _, self.corners = np.unique(partition.cell_vertices, return_index=True)
        self.infinite = at_infinity(partition)
        self.together = BoundedTogether(graph, partition.domain)
        self.outlines = ExactOutlines(partition)
        self.exact_forms = ExactForms(graph, partition.domain)
        self.exact_forms.arithmetic = self.outlines.forms.arithmetic  # so that weights become integers once

    @cached_property
    def rounded(self) -> tuple[Floats, Floats]:
        """Outputs at the vertices, and bounds on their errors: float64 [V, outputs] each.

        A bound is infinite, and the value 0, at vertices at infinity and where numbers overflow.
        """
        part = self.partition
        values, errors = (
            np.zeros((len(part.vertices), self.graph.n_out)),
            np.full((len(part.vertices), self.graph.n_out), np.inf),
        )
        packed = part.packed_patterns[self.regions[self.corners]]
        reached = np.flatnonzero(np.isfinite(part.vertices).all(axis=1) & np.isfinite(part.vertex_errors))
        # Vertices with errors of one size share their bounds.
        order = reached[np.argsort(part.vertex_errors[reached], kind="stable")]
        step = max(1, CHUNK // max(self.graph.widths, default=1))
        for start in range(0, len(order), step):
            chosen = order[start : start + step]
            with np.errstate(all="ignore"):
                inputs = self.together.inputs(part.vertices[chosen], part.vertex_errors[chosen])
                bits = under(self.graph.bits(packed[chosen]))
                *_, found = preactivations(self.graph, self.together, inputs, bits)
            values[chosen], errors[chosen] = found.values, found.errors
        unknown = ~(np.isfinite(values) & np.isfinite(errors))
        values[unknown], errors[unknown] = 0.0, np.inf
        return values, errors

    def forms(self, region: int) -> list[tuple[Fraction, ...]]:
        """For each output its coefficients of 1, x (and y) on a region, exactly."""
        self.exact_forms.enter(self.graph.bits(self.partition.packed_patterns[region]).view(np.bool_))
        found = self.exact_forms.preactivations(len(self.graph.hidden))
        scale = Fraction(2) ** found.exponent
        return [tuple(int(number) * scale for number in column) for column in found.integers.T]

    def point(self, corner: int) -> Point:
        """Homogeneous coordinates of a corner, exactly: (w, w x) or (w, w x, w y), with w = 0 at infinity."""
        return self.outlines.vertex(corner)

    def corners_of(self, region: int) -> Integers:
        """The numbers of the corners of a region."""
        return np.arange(*self.partition.cell_offsets[region : region + 2])


def value_at(form: tuple[Fraction, ...], point: Point) -> Fraction:
    """Return the value of a form at a point that is not at infinity, exactly."""
    return sum((a * x for a, x in zip(form, point, strict=True)), Fraction(0)) / point[0]
