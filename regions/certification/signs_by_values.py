# SPDX-License-Identifier: MIT
"""On which side of each kink is a vertex of regions in a box, by values with proven bounds?

In three and more dimensions a vertex is described by the signs of all kinks there (`vertex_signs.py`). One region
around the vertex, its *owner*, defines it: the forms of the owner's facets through it are zero there. If these are d
facets, as for nearly all vertices, values decide most signs. One pass gives the forms of all kinks on the owner, as
d + 1 coefficients each, with two bounds: on the error of the form anywhere in the domain, and on the error of its
slopes, added up over the coordinates. A rounded inverse of the slopes of the d facets bounds the distance of the true
vertex from the stored point; docs/why-certify-proves.md ("Three dimensions and more") has the formula. Another kink has
a proven sign if its value at the stored point is larger than its bound plus the magnitudes of its slopes times this
distance. The signs of the vertex are known if all other kinks have one.
If the distance is larger than the stated bound of the vertex, the values of the facets are computed again, with two
doubles each (`doubled_rows.py`), which gives a sharper bound.
Errors. With u = 2^-53 an inner product of n terms is within n u / (1 - n u) of the sum of their magnitudes, in any
order (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). Errors from below pass through the
magnitudes of the weights. Bounds are computed in floating point themselves, and each step is enlarged.
Cost: one pass of d + 3 columns for each vertex, and the inverse of a matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.arithmetic.types import Bits, Floats, Indices
from regions.certification.centre_rows import restricted_forms
from regions.certification.doubled_rows import ROUNDING, Pair, plus, scaled
from regions.certification.vertex_signs import VertexSigns, of_ties
from regions.certification.vertex_values import VertexValues, unit_of_terms
from regions.domains import Polytope
from regions.networks.graph import Maxima
from regions.threads.progress import Report
from regions.threads.workers import each_by_workers

__all__ = ["decide_by_values"]

U, TINY, LOOSE = 2.0**-53, 1e-290, 1 + 2.0**-30
# A block of forms has at most CHUNK numbers. Values with two doubles each are computed for DOUBLED vertices at a time.
CHUNK, DOUBLED = 1 << 20, 1 << 8


class _Forms(NamedTuple):
    """Forms [m, 1 + d, n] of kinks or units on regions; bounds [m, n] on their errors in the domain, and of slopes."""

    forms: Floats
    values: Floats
    slopes: Floats


def decide_by_values(signs: VertexSigns, report: Report | None = None, threads: int = 1) -> None:
    """Decide the signs of as many vertices as values can, and bound their distances from the true positions.

    The report function is called with the fraction of vertices that are done. The result does not depend on the number
    of threads.
    """
    part, graph = signs.part, signs.network.graph
    doubled = VertexValues(graph, restricted_forms(graph, part.domain))
    d, forms = part.dimension, _RegionForms(doubled, part.domain, part.vertices)
    usable = np.isfinite(part.vertices).all(axis=1) & (np.diff(signs.facet_starts) == d) & (signs.owners >= 0)
    chosen = np.flatnonzero(usable)
    chosen = chosen[np.argsort(signs.owners[chosen], kind="stable")]
    step = max(1, CHUNK // ((d + 1) * max(graph.kinks, 1)))

    def decide(number: int, report: Report | None) -> None:
        vertices = chosen[number * step : (number + 1) * step]
        owners, index = np.unique(signs.owners[vertices], return_inverse=True)
        bits = graph.bits(part.packed_patterns[owners]).view(np.bool_)
        with np.errstate(all="ignore"):  # threads do not inherit this
            found = forms.of(bits)
            _decide(signs, vertices, bits[index], _Forms(*(each[index] for each in found)), forms.reach, doubled)

    each_by_workers(decide, -(-len(chosen) // step), threads, report, [])


def _decide(
    signs: VertexSigns, vertices: Indices, bits: Bits, kinks: _Forms, reach: Floats, doubled: VertexValues
) -> None:
    """Decide the signs of some vertices from the patterns of their owners, and the forms of the kinks on these."""
    part = signs.part
    d, count = part.dimension, len(vertices)
    edges = np.broadcast_to(part.domain.forms.T, (count, d + 1, len(part.domain.forms)))
    nothing = np.zeros((count, len(part.domain.forms)))
    every = _Forms(
        np.concatenate([kinks.forms, edges], axis=2),
        np.concatenate([kinks.values, nothing], axis=1),
        np.concatenate([kinks.slopes, nothing], axis=1),
    )
    points = np.concatenate([np.ones((count, 1)), part.vertices[vertices]], axis=1)
    values = np.matmul(points[:, np.newaxis], every.forms)[:, 0]
    steep = np.abs(every.forms[:, 1:])
    sizes = np.abs(every.forms[:, 0]) + (reach[:, np.newaxis] * steep).sum(axis=1)
    bounds = (every.values + unit_of_terms(d + 1) * sizes) * LOOSE + TINY
    growth = (steep.sum(axis=1) + every.slopes) * LOOSE

    rows, facets = np.arange(count)[:, np.newaxis], signs.facet_columns(vertices)
    slopes = every.forms[rows, 1:, facets]
    inverse = _inverses(slopes)
    product = np.matmul(inverse, slopes)
    loss = np.abs(np.eye(d) - product) + unit_of_terms(d + 2) * np.matmul(np.abs(inverse), np.abs(slopes))
    alpha = (loss.sum(axis=2) + np.matmul(np.abs(inverse), every.slopes[rows, facets][:, :, np.newaxis])[:, :, 0]).max(
        axis=1
    )
    alpha = alpha * LOOSE + TINY
    near = _distances(inverse, alpha, values[rows, facets], bounds[rows, facets])

    sure = np.abs(values) - bounds * LOOSE > growth * near[:, np.newaxis]
    binding = np.ones_like(sure)
    binding[:, : bits.shape[1]] = signs.network.graph.binding(bits)
    open_ = ~sure & binding
    # Exactly the d facets are open, and they are zero.
    known = np.isfinite(near) & (open_.sum(axis=1) == d) & open_[rows, facets].all(axis=1)
    above = (values > 0) & sure
    for node in signs.network.graph.hidden:
        if isinstance(node.units, Maxima):
            here = node.kinks
            known &= ~((above[:, here] != bits[:, here]) & sure[:, here] & binding[:, here]).any(axis=1)
            ties = of_ties(node.units, node.units.pieces_of(bits[:, here]), open_[:, here])
            above[:, here], open_[:, here] = ties
    signs.record(vertices[known], above[known], open_[known])
    signs.near[vertices[known]] = near[known]
    (again,) = np.nonzero(known & (near > part.vertex_errors[vertices]))
    for start in range(0, len(again), DOUBLED):
        some = again[start : start + DOUBLED]
        points, columns = part.vertices[vertices[some]], facets[some]
        block = doubled.block(points, float(near[some].max()), bits[some], np.zeros_like(points))
        rows, kinks_of = np.arange(len(some))[:, np.newaxis], np.minimum(columns, bits.shape[1])
        # One more column, which facets on the boundary read: a network may not have any kink.
        values, bounds_of = np.pad(block.values, ((0, 0), (0, 1))), np.append(block.bounds, 0.0)
        found, errors = values[rows, kinks_of], np.broadcast_to(bounds_of[kinks_of], columns.shape)
        for number, form in enumerate(part.domain.forms, bits.shape[1]):
            here = columns == number
            value, error = _at_edge(form, points)
            found, errors = np.where(here, value[:, np.newaxis], found), np.where(here, error[:, np.newaxis], errors)
        closer = _distances(inverse[some], alpha[some], found, errors + 4 * U * np.abs(found))
        signs.near[vertices[some]] = np.fmin(near[some], closer)


def _distances(inverse: Floats, alpha: Floats, values: Floats, bounds: Floats) -> Floats:
    """Bounds on the distances of vertices [m] from the values [m, d] of their facets, and bounds on the errors."""
    moves = np.abs(np.matmul(inverse, values[:, :, np.newaxis])[:, :, 0])
    left = bounds + unit_of_terms(values.shape[1]) * np.abs(values)
    moves += np.matmul(np.abs(inverse), left[:, :, np.newaxis])[:, :, 0]
    return np.where(alpha < 0.5, moves.max(axis=1) * LOOSE / (1 - alpha) * LOOSE + TINY, np.inf)


def _at_edge(form: Floats, points: Floats) -> tuple[Floats, Floats]:
    """An inequality of the domain at points [m, d], and bounds on the errors, [m] each."""
    total = Pair(np.full(len(points), form[0]), np.zeros(len(points)))
    for slope, coordinates in zip(form[1:].tolist(), points.T, strict=True):
        total = plus(total, scaled(Pair(coordinates, np.zeros(len(points))), np.full(len(points), slope)))
    sizes = np.abs(form[0]) + np.abs(points) @ np.abs(form[1:])
    return total.high, 4 * len(form) * ROUNDING * sizes * LOOSE + U * np.abs(total.high) + TINY


class _RegionForms:
    """The affine forms of kinks on regions, with bounds.

    Attributes
    ----------
    reach : float64 [d]
        More than the magnitudes of coordinates in the domain, and of the stored vertices.
    """

    def __init__(self, doubled: VertexValues, domain: Polytope, vertices: Floats) -> None:
        self.graph = doubled.graph
        self.shared = doubled  # the first layer on the chart, and magnitudes of weights
        finite = vertices[np.isfinite(vertices).all(axis=1)]
        places = np.abs(np.vstack([domain.generators[:, 1:], finite]))
        self.reach = places.max(axis=0) * LOOSE

    def of(self, bits: Bits) -> _Forms:
        """Return the forms of all kinks on regions with patterns bool [m, kinks]."""
        live: dict[int, _Forms] = {}
        found = []
        for number, node in enumerate(self.graph.hidden):
            rows = self._rows(number, live, len(bits))
            here, units = bits[:, node.kinks], node.units
            forms = units.compared(rows.forms)
            forms[:, 0] -= units.kink_values
            rounding = 4 * U * (units.either(np.abs(rows.forms[:, 0])) + np.abs(units.kink_values))
            spread = 4 * U * units.either(np.abs(rows.forms[:, 1:]))
            values = units.either(rows.values) + rounding + (self.reach[:, np.newaxis] * spread).sum(axis=1)
            found.append(_Forms(forms, values * LOOSE + TINY, (units.either(rows.slopes) + spread.sum(axis=1)) * LOOSE))
            live[number] = self._outputs(number, rows, units.pieces_of(here))
            for old in self.graph.last_reads[number]:
                live.pop(old, None)
        size = len(bits), 1 + len(self.reach), 0
        none = _Forms(np.zeros(size), np.zeros(size[::2]), np.zeros(size[::2]))
        return _Forms(*(np.concatenate(each, axis=-1) for each in zip(none, *found, strict=True)))

    def _rows(self, number: int, live: dict[int, _Forms], count: int) -> _Forms:
        """The rows of a node, before its units."""
        node = self.graph.nodes[number]
        if node in self.shared.forms:
            (high, low), errors = self.shared.forms[node]
            left = (errors + np.abs(low)) * LOOSE + TINY
            rounding = 2 * U * (np.abs(high[0]) + np.abs(node.biases))
            values = left[0] + self.reach @ left[1:] + rounding
            forms = np.repeat(high[np.newaxis], count, axis=0)
            forms[:, 0] += node.biases
            shape = count, len(node.biases)
            return _Forms(
                forms, np.broadcast_to(values * LOOSE, shape), np.broadcast_to(left[1:].sum(axis=0) * LOOSE, shape)
            )
        unit, width = unit_of_terms(node.terms + 2), len(node.biases)
        forms = np.zeros((count, 1 + len(self.reach), width))
        errors = np.zeros((2, count, width))
        for read in node.reads:
            source = live[read.node]
            forms += read.operator.apply(source.forms.reshape(-1, source.forms.shape[2])).reshape(forms.shape)
            values, slopes = _magnitudes(source.forms, self.reach)
            asked = np.stack([source.values + unit * values, source.slopes + unit * slopes])
            magnitudes = self.shared.norms[read.operator].magnitudes
            errors += magnitudes.apply(asked.reshape(2 * count, -1)).reshape(errors.shape)
        forms[:, 0] += node.biases
        errors = errors * LOOSE + TINY
        return _Forms(forms, (errors[0] + unit * np.abs(node.biases)) * LOOSE, errors[1])

    def _outputs(self, number: int, rows: _Forms, pieces: Indices) -> _Forms:
        """The units of a node on their pieces."""
        units = self.graph.nodes[number].units
        slopes, intercepts = units.on_pieces(pieces)
        each = units.followed(
            rows.forms, np.broadcast_to(pieces[:, np.newaxis], (*rows.forms.shape[:2], pieces.shape[1]))
        )
        forms = each * slopes[:, np.newaxis]
        forms[:, 0] += intercepts
        steep = np.abs(slopes)
        values, spread = units.followed(rows.values, pieces) * steep, units.followed(rows.slopes, pieces) * steep
        if units.scaling or units.shifting:
            sizes, gradients = _magnitudes(forms, self.reach)
            values = values + 4 * U * (sizes + np.abs(intercepts)) + TINY
            spread = spread + 4 * U * gradients + TINY
        return _Forms(forms, values * LOOSE, spread * LOOSE)


def _magnitudes(forms: Floats, reach: Floats) -> tuple[Floats, Floats]:
    """The largest magnitudes of forms [m, 1 + d, n] in the domain, and the sums of their slopes' magnitudes, [m, n]."""
    sizes = np.abs(forms)
    slopes = sizes[:, 1:]
    return sizes[:, 0] + (reach[:, np.newaxis] * slopes).sum(axis=1), slopes.sum(axis=1)


def _inverses(matrices: Floats) -> Floats:
    """Approximate inverses [m, d, d]; not finite where a matrix has no inverse."""
    try:
        return np.asarray(np.linalg.inv(matrices), dtype=np.float64)
    except np.linalg.LinAlgError:
        result = np.full_like(matrices, np.nan)
        for number, matrix in enumerate(matrices):
            try:
                result[number] = np.linalg.inv(matrix)
            except np.linalg.LinAlgError:
                continue
        return result
