# SPDX-License-Identifier: MIT
"""What are the outputs of a network at the corners of its regions, up to proven bounds, and exactly?

On a region the outputs are affine, and by continuity also on its boundary. Therefore an output is largest at a corner,
or it grows without bound in the direction of a corner at infinity. Values at all corners come from the maps of the
regions (`cells/output_maps.py`) at the stored vertices; the bounds include the errors of the vertices. Without these
maps, values come from a forward pass with error bounds (`passes/bounded_together.py`). If the bounds are too wide for a
decision, corners and forms are computed in integers (`cells/exact_outline.py`,
`cells/exact_polytopes.py`, `passes/exact.py`).
Cost: little compared with the enumeration; up to a millisecond for each exact corner.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from regions.ground.arithmetic.dyadic import dyadic, nearest_float
from regions.ground.arithmetic.roundoff import SMALLEST, U
from regions.ground.arithmetic.types import Floats, Integers
from regions.networks.graph import Graph
from regions.networks.walk import asked, preactivations, under
from regions.passes.bounded_together import BoundedTogether
from regions.passes.exact import ExactForms, ExactRows
from regions.results.cells.exact_outline import ExactOutlines, Point
from regions.results.cells.exact_polytopes import ExactPolytopes, exact_corners
from regions.results.cells.output_maps import OutputMaps, first_corners
from regions.results.definitions.bounded_maps import BoundedMaps
from regions.results.definitions.incidence import at_infinity
from regions.results.partition import Partition

__all__ = ["CornerValues", "ExactCorners", "value_at"]

# The core bounds errors by norms, which can be far too large if layers cancel each other, as in a loop that contracts.
# If bounds are wider than NARROW times the median map, forward passes are tried on TRIED regions. They are used if they
# make the bounds GAIN times narrower.
NARROW, TRIED, GAIN = 2.0**-22, 16, 16.0
# Numbers per temporary array: few enough to stay in the processor's cache.
CHUNK = 1 << 20


class ExactCorners:
    """Corners of a partition and outputs of a graph there, exactly.

    Parameters
    ----------
    partition : Partition
    graph : Graph
    """

    def __init__(self, partition: Partition, graph: Graph) -> None:
        self.partition, self.graph = partition, graph

    def __reduce__(self) -> tuple[Any, ...]:
        return ExactCorners, (self.partition, self.graph)

    @cached_property
    def outlines(self) -> ExactOutlines | ExactPolytopes:
        return exact_corners(self.partition)

    @cached_property
    def exact_forms(self) -> ExactForms:
        forms = ExactForms(self.graph, self.partition.domain)
        forms.arithmetic = self.outlines.forms.arithmetic  # so that weights become integers once
        return forms

    def form(self, region: int, output: int) -> tuple[Fraction, ...]:
        """The coefficients of 1, x (and y) of an output on a region, exactly.

        For a single output on a single region it is faster than `forms`.
        """
        bits = self.graph.bits(self.partition.packed_patterns[region]).view(np.bool_)
        asking, last = ExactRows(self.graph, self.exact_forms.arithmetic, bits), len(self.graph.hidden)
        wanted = dyadic(np.eye(1, self.graph.n_out, output)[0])
        asking.add_biases(last, wanted)
        *_, (_, row) = asked(self.graph, asking, last, wanted)
        scale = Fraction(2) ** row.exponent
        constant, *slopes = (int(number) * scale for number in row.integers)
        return (constant + asking.constant, *slopes)

    def forms(self, region: int) -> list[tuple[Fraction, ...]]:
        """For each output its coefficients of 1, x (and y) on a region, exactly."""
        self.exact_forms.enter(self.graph.bits(self.partition.packed_patterns[region]).view(np.bool_))
        found = self.exact_forms.preactivations(len(self.graph.hidden))
        scale = Fraction(2) ** found.exponent
        return [tuple(int(number) * scale for number in column) for column in found.integers.T]

    def point(self, corner: int) -> Point:
        """Homogeneous coordinates of a corner, exactly: (w, w x) with all coordinates x, and w = 0 at infinity."""
        return self.outlines.vertex(corner)

    def corners_of(self, region: int) -> Integers:
        """The numbers of the corners of a region."""
        return np.arange(*self.partition.cell_offsets[region : region + 2])


class CornerValues:
    """Outputs of a graph at the corners of a partition.

    Parameters
    ----------
    partition : Partition
        It has at least one region.
    graph : Graph
        It has the same kinks as the partition's network, for instance the network's graph with other outputs.
    maps : OutputMaps, optional
        The maps of the graph's outputs on the regions.

    Attributes
    ----------
    corners : int64 [V]
        The first corner at each vertex; it belongs to the region with the lowest number.
    lowest : int64 [V]
        The region of that corner.
    infinite : bool [V]
        Which vertices are at infinity.
    regions : int64 [K]
        The region of each corner.
    exact : ExactCorners
    """

    def __init__(self, partition: Partition, graph: Graph, maps: OutputMaps | None = None) -> None:
        self.partition, self.graph, self.maps = partition, graph, maps
        self.exact = ExactCorners(partition, graph)
        self.regions = np.repeat(np.arange(len(partition)), partition.corner_counts)
        self.corners, self.lowest = first_corners(partition)
        self.infinite = at_infinity(partition)

    @cached_property
    def rounded(self) -> tuple[Floats, Floats]:
        """Outputs at the vertices, and bounds on their errors: float64 [V, outputs] each.

        A bound is infinite, and the value 0, at vertices at infinity and where numbers overflow.
        """
        part, shape = self.partition, (len(self.partition.vertices), self.graph.n_out)
        if self.maps is None:
            values, errors = np.zeros(shape), np.full(shape, np.inf)
        else:
            values, errors = self.region_maps.at(self.lowest, part.vertices, part.vertex_errors)
        reached = np.isfinite(part.vertices).all(axis=1) & np.isfinite(part.vertex_errors)
        open_ = np.flatnonzero(reached & ~np.isfinite(errors).all(axis=1))
        if open_.size:
            values[open_], errors[open_] = self._passed(open_)
        return values, errors

    @cached_property
    def region_maps(self) -> OutputMaps:
        """Maps of the outputs on all regions, and bounds on their errors.

        Maps that overflow in the core come from a forward pass; maps that overflow there too are computed exactly. Only
        numbers beyond the largest double are infinite, with infinite bounds.
        """
        assert self.maps is not None
        values, errors = self.maps
        with np.errstate(all="ignore"):
            worst, sizes = errors.max(axis=(1, 2), initial=0.0), np.abs(values).max(axis=(1, 2), initial=0.0)
            known = np.isfinite(sizes) & np.isfinite(worst)
            narrow = worst <= NARROW * np.median(sizes[known]) if known.any() else known
            wide, forward = np.flatnonzero(known & ~narrow), np.flatnonzero(~known)
            if wide.size:
                tried = wide[:: -(-len(wide) // TRIED)]
                found = self._forward(tried).errors.max(axis=(1, 2))
                if (found < worst[tried] / GAIN).mean() > 0.5:
                    forward = np.flatnonzero(~(known & narrow))
            if forward.size:
                values, errors = values.copy(), errors.copy()
                values[forward], errors[forward] = self._forward(forward)
                beyond = ~(np.isfinite(values[forward]) & np.isfinite(errors[forward])).all(axis=(1, 2))
                for region in forward[beyond].tolist():
                    values[region] = [[nearest_float(x) for x in form] for form in self.exact.forms(region)]
                    errors[region] = U * np.abs(values[region]) + SMALLEST
        return OutputMaps(values, errors)

    def _forward(self, regions: Integers) -> OutputMaps:
        """Maps of the outputs on some regions, by forward passes."""
        return OutputMaps(*BoundedMaps(self.partition, regions, self.graph).of(np.arange(len(regions))))

    def _passed(self, reached: Integers) -> tuple[Floats, Floats]:
        """Outputs at some finite vertices, and bounds, by a forward pass: float64 [m, outputs] each."""
        part, together = self.partition, BoundedTogether(self.graph, self.partition.domain)
        values, errors = np.empty((2, len(part.vertices), self.graph.n_out))
        packed = part.packed_patterns[self.lowest]
        # Vertices with errors of one size share their bounds.
        order = reached[np.argsort(part.vertex_errors[reached], kind="stable")]
        step = max(1, CHUNK // max(self.graph.widths, default=1))
        for start in range(0, len(order), step):
            chosen = order[start : start + step]
            with np.errstate(all="ignore"):
                inputs = together.inputs(part.vertices[chosen], part.vertex_errors[chosen])
                bits = under(self.graph.bits(packed[chosen]))
                *_, found = preactivations(self.graph, together, inputs, bits)
            values[chosen], errors[chosen] = found.values, found.errors
        unknown = ~(np.isfinite(values) & np.isfinite(errors))
        values[unknown], errors[unknown] = 0.0, np.inf
        return values[reached], errors[reached]


def value_at(form: tuple[Fraction, ...], point: Point) -> Fraction:
    """Return the value of a form at a point that is not at infinity, exactly."""
    return sum((a * x for a, x in zip(form, point, strict=True)), Fraction(0)) / point[0]
