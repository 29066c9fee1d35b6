# SPDX-License-Identifier: MIT
"""Where exactly is a vertex of a region in a box, and on which side of each kink?

The vertex is the only point where the forms of its owner's facets through it are zero. Any d independent forms among
these determine it, by elimination. The form of each kink at this point has the sign of an integer.
Invariant: nothing is rounded, and nothing is divided with a remainder.
Cost: the forms of the owner (`forms.py`); for each vertex an elimination of d rows, and d + 1 products for each kink.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import gcd, lcm

import numpy as np

from regions.arithmetic.types import Bits, Indices
from regions.certification.certification_report import Findings
from regions.certification.forms import Forms, value
from regions.certification.region_inequalities import reduced
from regions.certification.vertex_signs import VertexSigns, of_ties
from regions.networks.maxima import Maxima
from regions.reference.integers import Form, Point
from regions.threads.progress import Report

__all__ = ["decide_in_integers", "meeting_point"]


def decide_in_integers(
    signs: VertexSigns, vertices: Indices, forms: Forms, findings: Findings, report: Report | None = None
) -> dict[int, Point]:
    """Decide the signs at some vertices, and return their positions, in lowest terms.

    All these vertices have owners. A vertex whose facets do not meet in one point is a fault, and stays unknown.
    """
    part, positions = signs.part, dict[int, Point]()
    around = defaultdict(list)
    for vertex in vertices.tolist():
        around[int(signs.owners[vertex])].append(vertex)
    owners = list(around)
    bits = signs.network.graph.bits(part.packed_patterns[owners])
    done = 0
    for index, kinks in forms.walk([row.tobytes() for row in bits]):
        every = [*kinks, *forms.edges]
        here = around[owners[index]]
        for vertex in here:
            facets = signs.facets[signs.facet_starts[vertex] : signs.facet_starts[vertex + 1]]
            point = meeting_point([every[column] for column in signs.columns(facets).tolist()], part.dimension)
            if point is None:
                findings.wrong(
                    "vertices", f"the facets of region {owners[index]} at vertex {vertex} do not meet in one point"
                )
                continue
            positions[vertex] = point
            found = np.array([(number > 0) - (number < 0) for number in (value(form, point) for form in every)])
            above, zero = _signs(signs, bits[index], found)
            signs.record(np.array([vertex]), above[np.newaxis], zero[np.newaxis])
        done += len(here)
        if report is not None:
            report(done / len(vertices), 0)
    return positions


def _signs(signs: VertexSigns, bits: Bits, found: Indices) -> tuple[Bits, Bits]:
    """The kinks above zero and those that are zero, bool [every], from the signs of the forms of a region."""
    above, zero = found > 0, found == 0
    for node in signs.network.graph.hidden:
        units = node.units
        if isinstance(units, Maxima):
            here = node.kinks
            argmaxes = units.pieces_of(bits[here])
            binding = units.binding(argmaxes)
            # The sign of each branch minus the argmax of the pattern, by branch.
            (later, earlier), at = units.kink_rows.T, found[here]
            ahead = np.zeros(units.rows, dtype=np.int64)
            rows = units.starts[:-1] + argmaxes
            is_argmax = np.isin(np.arange(units.rows), rows)
            ahead[later[binding & is_argmax[earlier]]] = at[binding & is_argmax[earlier]]
            ahead[earlier[binding & is_argmax[later]]] = -at[binding & is_argmax[later]]
            # A branch above it makes the pattern wrong: it is then not among the ties.
            wrong = np.maximum.reduceat(ahead, units.starts[:-1]) > 0
            first = np.maximum.reduceat(np.where(ahead > 0, units.branches, -1), units.starts[:-1])
            equal = binding & (at == 0) & ~wrong[units.kink_units]
            ties = of_ties(units, np.where(wrong, first, argmaxes)[np.newaxis], equal[np.newaxis])
            above[here], zero[here] = ties[0][0], ties[1][0]
    return above, zero


def meeting_point(rows: Sequence[Form], dimension: int) -> Point | None:
    """Return the point where forms are zero, by the first d independent ones; None if there are fewer."""
    reduced_rows: list[tuple[int, list[int]]] = []  # in each, the columns of all other pivots are zero
    for form in rows:
        row = list(form)
        for pivot, other in reduced_rows:
            row = _without(row, other, pivot)
        chosen = next((k for k in range(1, dimension + 1) if row[k]), 0)
        if chosen:
            reduced_rows = [(pivot, _without(other, row, chosen)) for pivot, other in reduced_rows]
            reduced_rows.append((chosen, row))
        if len(reduced_rows) == dimension:
            break
    else:
        return None
    weight = lcm(*(other[pivot] for pivot, other in reduced_rows))
    point = [weight] + [0] * dimension
    for pivot, other in reduced_rows:
        point[pivot] = -other[0] * (weight // other[pivot])
    return reduced(point)


def _without(row: list[int], other: list[int], column: int) -> list[int]:
    """Eliminate a column of a row by another row; the result has no common divisor."""
    a, b = row[column], other[column]
    if a == 0:
        return row
    result = [b * x - a * y for x, y in zip(row, other, strict=True)]
    divisor = gcd(*result) or 1
    return [x // divisor for x in result]
