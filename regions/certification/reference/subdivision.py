# SPDX-License-Identifier: MIT
"""What are the regions, computed as simply as possible?

This is the whole method in exact rational arithmetic, layer by layer, in pure Python: executable documentation, and a
check of the compiled core, with which it shares neither code nor ideas.

A cell is a convex piece of the domain on which all layers so far are affine. The first cell is the domain itself.
Then, for each hidden layer, write each unit on the cell as an affine form of the chart point, cut the cell where a form
crosses a breakpoint, and continue with the pieces. A unit with pre-activation h and breakpoint t is active where h > t,
strictly. If h only touches t on a cell, the cell is not cut. If h equals t on a whole cell, the unit is inactive there.
A unit that is the largest of several forms, its branches, cuts the cell into the parts where each of them is the
largest. Where two are equal on a whole part, the earlier one is taken.

Only signs decide, and doubles are integers times powers of two. Therefore the network is first scaled up, exactly,
until all its numbers are Python integers (`integers.py`). Points are homogeneous, (W, W x, W y)
with W > 0, and a form (a0, a1, a2) has at such a point the value W (a0 + a1 x + a2 y), so nothing is ever
divided.
Cost: regions times the size of a layer, in numbers of a few hundred bits; milliseconds for small networks,
seconds for some thousand regions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from operator import mul
from typing import NamedTuple

from regions.certification.reference.cutting import Corner, cut, first_cell
from regions.certification.reference.integers import Form, IntegerLayer, IntegerTask, Point, to_integers
from regions.domains import Domain
from regions.networks.network import Network

__all__ = ["ReferenceRegion", "activations", "count", "enumerate", "patterns", "preactivations", "argmax_bits"]


@dataclass(frozen=True)
class ReferenceRegion:
    """One activation region, exactly.

    Attributes
    ----------
    pattern : tuple of bool
        One bit per kink, in the order of `Network.kink_layers`.
    vertices : list of (tuple of Fraction or None)
        In chart coordinates. In a line: left and right end. In a plane: the corners, counter-clockwise,
        strictly convex. From three dimensions on: the corners, in no order. None is an end or a corner at infinity.
    volume : Fraction or None
        Length or area in the chart; None when unbounded, or from three dimensions on.
    output : list of tuple of Fraction
        The network on this region: output i at chart point (x, ..) is ``output[i][0] + output[i][1] * x +
        ..``.
    """

    pattern: tuple[bool, ...]
    vertices: list[tuple[Fraction, ...] | None]
    volume: Fraction | None
    output: list[tuple[Fraction, ...]]


def enumerate(net: Network, domain: Domain) -> list[ReferenceRegion]:
    """Return every activation region of the network in the domain, in no particular order.

    Parameters
    ----------
    net : Network
    domain : Domain
        Bounded or not.

    Returns
    -------
    list of ReferenceRegion

    Raises
    ------
    ShapeMismatchError
        The domain lies in another input space.

    Examples
    --------
    >>> from regions.domains import Segment
    >>> net = Network([([[3.0]], [-1.0]), ([[1.0]], [0.0])])
    >>> [(region.pattern, str(region.volume)) for region in enumerate(net, Segment([0.0], [1.0]))]
    [((False,), '1/3'), ((True,), '2/3')]
    """
    task = to_integers(net, domain)
    return [_region(task, cell) for cell in _subdivide(task)]


def count(net: Network, domain: Domain) -> int:
    """Return the number of activation regions of the network in the domain.

    Examples
    --------
    >>> from regions.domains import Line
    >>> net = Network([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, 1.0]], [0.0])])
    >>> count(net, Line([0.0], [1.0]))
    3
    """
    return len(_subdivide(to_integers(net, domain)))


def patterns(net: Network, domain: Domain) -> list[tuple[bool, ...]]:
    """Return the activation patterns of all regions of the network in the domain, in no particular order.

    Two regions never share a pattern: a pattern is a conjunction of affine inequalities, so its region is convex.
    """
    return [cell.pattern for cell in _subdivide(to_integers(net, domain))]


# A part of a cell, and its bits.
_Piece = tuple[list[Corner], tuple[bool, ...]]


class _Cell(NamedTuple):
    corners: list[Corner]
    pattern: tuple[bool, ...]  # one bit per kink of the layers so far
    values: list[Form]  # the units of the last layer so far, after the activation


def _subdivide(task: IntegerTask) -> list[_Cell]:
    cells = [_Cell(first_cell(task.corners, task.forms), (), task.inputs)]
    for layer in task.layers[:-1]:
        cells = [piece for cell in cells for piece in _through_layer(layer, cell)]
    return cells


def _through_layer(layer: IntegerLayer, cell: _Cell) -> list[_Cell]:
    """Cut a cell along all kinks of the next layer, and compute that layer on each piece."""
    forms = preactivations(layer, cell.values)
    pieces = _by_breakpoints(layer, forms, cell) if layer.starts is None else _by_branches(layer.starts, forms, cell)
    return [
        _Cell(corners, pattern, activations(layer, forms, pattern[len(cell.pattern) :])) for corners, pattern in pieces
    ]


def _by_breakpoints(layer: IntegerLayer, forms: list[Form], cell: _Cell) -> list[_Piece]:
    pieces: list[_Piece] = [(cell.corners, cell.pattern)]
    for form, breakpoints in zip(forms, layer.breakpoints, strict=True):
        for breakpoint_ in breakpoints:
            kink = (form[0] - breakpoint_, *form[1:])  # h - t
            pieces = [
                (part, (*pattern, active))
                for corners, pattern in pieces
                for part, active in zip(cut(corners, kink), (False, True), strict=True)
                if part
            ]
    return pieces


def _by_branches(starts: list[int], forms: list[Form], cell: _Cell) -> list[_Piece]:
    """Cut a cell into the parts where each branch is the largest, for one unit after the other."""
    pieces: list[_Piece] = [(cell.corners, cell.pattern)]
    for start, end in pairwise(starts):
        branches = forms[start:end]
        pieces = [
            (part, (*pattern, *argmax_bits(argmax, len(branches))))
            for corners, pattern in pieces
            for argmax in range(len(branches))
            if (part := _where_largest(corners, branches, argmax))
        ]
    return pieces


def _where_largest(corners: list[Corner], branches: list[Form], argmax: int) -> list[Corner]:
    """Return the part of a cell where a branch is above earlier ones and not below later ones; empty if none."""
    for other in range(len(branches)):
        earlier, later = sorted((other, argmax))
        difference = tuple(b - a for a, b in zip(branches[earlier], branches[later], strict=True))
        if other != argmax and corners:
            corners = cut(corners, difference)[argmax > other]
    return corners


def argmax_bits(argmax: int, branches: int) -> list[bool]:
    """Return the bits of a maximum: for each pair of branches, ordered by the later one, whether that is the argmax."""
    return [later == argmax for later in range(branches) for _ in range(later)]


def preactivations(layer: IntegerLayer, inputs: list[Form]) -> list[Form]:
    """Return the units of a layer as forms, given its inputs as forms."""
    coefficients = list(zip(*inputs, strict=True))  # [power of the chart point][input]
    forms = []
    for (reads, weights), bias in zip(layer.rows, layer.biases, strict=True):
        constant, *slopes = [sum(map(mul, weights, map(column.__getitem__, reads))) for column in coefficients]
        forms.append((constant + bias, *slopes))
    return forms


def activations(layer: IntegerLayer, forms: list[Form], bits: tuple[bool, ...]) -> list[Form]:
    """Apply to each unit the piece of the activation that its bits choose, or take its argmax branch."""
    values, first = [], 0
    if layer.starts is not None:
        for (start, end), kinks in zip(pairwise(layer.starts), layer.kinks, strict=True):
            own = list(bits[first : first + kinks])
            values.append(
                forms[next(branch for branch in range(start, end) if argmax_bits(branch - start, end - start) == own)]
            )
            first += kinks
        return values
    units = zip(forms, layer.breakpoints, layer.slopes, layer.intercepts, strict=True)
    for form, breakpoints, slopes, intercepts in units:
        piece = sum(bits[first : first + len(breakpoints)])  # the number of breakpoints below h
        first += len(breakpoints)
        slope = slopes[piece]
        values.append((slope * form[0] + intercepts[piece], *[slope * a for a in form[1:]]))
    return values


def _region(task: IntegerTask, cell: _Cell) -> ReferenceRegion:
    vertices = [_vertex(point, task.infinity) for point, _ in cell.corners]
    finite = [vertex for vertex in vertices if vertex is not None]
    output = [
        tuple(Fraction(a, 1 << task.output_exponent) for a in form)
        for form in preactivations(task.layers[-1], cell.values)
    ]
    has_size = len(finite) == len(vertices) and len(finite[0]) < 3
    return ReferenceRegion(cell.pattern, vertices, _volume(finite) if has_size else None, output)


def _vertex(point: Point, infinity: int | None) -> tuple[Fraction, ...] | None:
    weight, *position = point
    if infinity is not None and max(map(abs, position)) == infinity * weight:
        return None
    return tuple(Fraction(x, weight) for x in position)


def _volume(vertices: list[tuple[Fraction, ...]]) -> Fraction:
    if len(vertices[0]) == 1:
        return vertices[1][0] - vertices[0][0]
    following = vertices[1:] + vertices[:1]
    return sum((a[0] * b[1] - a[1] * b[0] for a, b in zip(vertices, following, strict=True)), Fraction(0)) / 2
