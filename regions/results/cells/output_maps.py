# SPDX-License-Identifier: MIT
"""What are the affine maps of a network's outputs on all regions, with proven bounds on their errors?

The core computes these maps to decide signs, and returns them if it also gets the layers of the outputs. These layers
do not change the recursion. A second run with them therefore finds the maps of known regions, in the order of the
regions, unless neurons had been merged. `docs/error-bounds.md` proves the bounds.
Cost: an enumeration with maps takes a third longer for one output, and twice as long for ten. That is less than a
forward pass for each region, except in networks of a few units, also if many signs are decided exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from regions import core
from regions.domains import Domain
from regions.ground.arithmetic.pattern_index import PatternIndex
from regions.ground.arithmetic.roundoff import TINY
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.networks.graph import Graph
from regions.networks.lowering import lowered
from regions.networks.rounded import affine_maps
from regions.passes.bounded import rounding_unit
from regions.results.cells.complex import CellComplex

__all__ = ["OutputMaps", "first_corners", "keep_maps", "output_maps", "outputs_at_vertices", "with_outputs_compiled"]

# Number of points evaluated at a time, so few that temporary arrays fit into the processor's cache.
STEP = 1 << 13
# Largest error, as a share of the largest output, that does not matter in single precision.
SINGLE = 1e-7


class OutputMaps(NamedTuple):
    """The maps of R regions.

    Attributes
    ----------
    values : float64 [R, outputs, 1 + d]
        The constant and the slopes of each output, in chart coordinates.
    errors : float64 [R, outputs, 1 + d]
        Proven bounds on their errors. A number or its bound may be infinite or NaN: then nothing is known of it.
    """

    values: Floats
    errors: Floats

    def at(self, regions: Integers, points: Floats, point_errors: Floats) -> tuple[Floats, Floats]:
        """Evaluate the maps of regions [m] at points [m, d] whose coordinates are known up to errors [m].

        Returns
        -------
        float64 [m, outputs], float64 [m, outputs]
            The outputs, and bounds on their errors: infinite, with the value 0, if nothing is known.
        """
        values, errors = np.empty((2, len(regions), self.values.shape[1]))
        unit = rounding_unit(points.shape[1] + 2)
        with np.errstate(all="ignore"):
            for start in range(0, len(regions), STEP):
                part = slice(start, start + STEP)
                maps, map_errors = self.values[regions[part]], self.errors[regions[part]]
                ones = np.ones((len(maps), 1))
                magnitudes, moved = np.abs(points[part]), point_errors[part, np.newaxis]
                values[part] = np.einsum("rok,rk->ro", maps, np.hstack([ones, points[part]]))
                # The charge is multiplied last, because slopes would magnify its underflow.
                charged = np.hstack([ones, magnitudes + moved / unit])
                found = np.einsum("rok,rk->ro", np.abs(maps), charged) * unit
                found += np.einsum("rok,rk->ro", map_errors, np.hstack([ones, magnitudes + moved]))
                errors[part] = found * (1 + unit) + TINY
        unknown = ~(np.isfinite(values) & np.isfinite(errors))
        values[unknown], errors[unknown] = 0.0, np.inf
        return values, errors


def first_corners(cells: CellComplex) -> tuple[Integers, Integers]:
    """Return the first corner at each vertex, int64 [V], and its region, the one with the lowest number."""
    corners = np.empty(len(cells.vertices), dtype=np.int64)
    # Of several numbers assigned to one place the last one stays.
    corners[cells.cell_vertices[::-1]] = np.arange(len(cells.cell_vertices))[::-1]
    return corners, np.searchsorted(cells.cell_offsets, corners, side="right") - 1


def with_outputs_compiled(graph: Graph, hidden: int, groups: Sequence[int] = ()) -> core.CompiledNetwork:
    """Compile a graph for the core; its nodes from number ``hidden`` on only compute outputs, whose maps are found.

    ``groups`` has the group of each unit of the last hidden node, if regions are left out.
    """
    count = len(graph.hidden) + 1 - hidden
    return core.CompiledNetwork(graph.n_in, lowered(graph, count), count, groups)


def keep_maps(cells: CellComplex, maps: OutputMaps | None) -> None:
    """Keep the maps of the network's own outputs, which were found with the regions."""
    cells._facts[keep_maps] = maps


def output_maps(cells: CellComplex, graph: Graph) -> OutputMaps | None:
    """Return the maps of the outputs of a graph on the regions: those that were kept, or found by another run.

    Parameters
    ----------
    cells : CellComplex
    graph : Graph
        It begins with the hidden nodes of the network, and has no other kinks.

    Returns
    -------
    OutputMaps or None
        None if another run may not find the same regions in the same order, as for partial results and for files from
        other kernels.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C.
    """
    kept: OutputMaps | None = cells._facts.get(keep_maps)
    if kept is not None and graph is cells.network.graph:
        return kept
    if not cells.complete or cells.kernel != core.kernel():
        return None
    domain: Domain = cells.domain
    model = with_outputs_compiled(graph, len(cells.network.graph.hidden))
    status: Any
    raw: dict[str, Any]
    status, raw, _ = core.enumerate(model, domain.compiled, core.Limits(len(cells)), core.WHOLE)
    if isinstance(status, BaseException):
        raise status
    found = OutputMaps(raw["maps"], raw["map_errors"])
    if np.array_equal(raw["packed_patterns"], cells.packed_patterns):
        return found
    # A run with outputs merges no neurons, so it may have another order.
    places = PatternIndex(raw["packed_patterns"]).find(cells.packed_patterns)
    return None if (places < 0).any() else OutputMaps(found.values[places], found.errors[places])


def outputs_at_vertices(cells: CellComplex) -> Floats:
    """Return all outputs at the vertices, float64 [V, n_out], from the map of one region at each vertex.

    The regions around a vertex agree there, but not where it is rounded to. If this matters in single precision, the
    map with the least error bound is taken, because steep maps multiply the rounding error of the vertex. The vertices
    are finite. Outputs beyond the largest double are infinite or NaN.
    """
    regions = first_corners(cells)[1]
    maps = output_maps(cells, cells.network.graph)
    if maps is None:
        maps = _maps_from_forward_passes(cells)
    values, errors = maps.at(regions, cells.vertices, cells.vertex_errors)
    unknown = np.isinf(errors).any(axis=1)
    values[unknown] = _from_forward_passes(cells, regions[unknown], cells.vertices[unknown])
    doubtful = (errors > SINGLE * np.abs(values).max(axis=0, initial=0.0)).any(axis=1) & ~unknown
    if doubtful.any():
        _take_calmest(cells, maps, doubtful, values)
    return values


def _take_calmest(cells: CellComplex, maps: OutputMaps, which: Bits, values: Floats) -> None:
    """Replace the outputs at some vertices by those with the least error bound among all regions around each vertex."""
    corners = np.flatnonzero(which[cells.cell_vertices])
    vertices = cells.cell_vertices[corners]
    regions = np.searchsorted(cells.cell_offsets, corners, side="right") - 1
    found, errors = maps.at(regions, cells.vertices[vertices], cells.vertex_errors[vertices])
    for output in range(values.shape[1]):
        order = np.argsort(-errors[:, output], kind="stable")
        values[vertices[order], output] = found[order, output]  # of several, the last one stays


def _maps_from_forward_passes(cells: CellComplex) -> OutputMaps:
    """Return the maps of all regions, by a forward pass for each; their own errors count as 0."""
    linear, constants = affine_maps(
        cells.network.graph, (cells.domain.origin, cells.domain.directions), cells.packed_patterns
    )
    values = np.concatenate([constants[:, :, np.newaxis], linear], axis=2)
    return OutputMaps(values, np.zeros_like(values))


def _from_forward_passes(cells: CellComplex, regions: Integers, points: Floats) -> Floats:
    """Return the outputs at points [m, d] of regions [m], by a forward pass for each region."""
    chosen, places = np.unique(regions, return_inverse=True)
    chart = cells.domain.origin, cells.domain.directions
    linear, constants = affine_maps(cells.network.graph, chart, cells.packed_patterns[chosen])
    with np.errstate(over="ignore", invalid="ignore"):
        return np.einsum("rod,rd->ro", linear[places], points) + constants[places]
