# SPDX-License-Identifier: MIT
"""How large and how small do the outputs of a network get on a domain, and where?

On each region an output is affine. Therefore its largest value is at a corner, or it grows without bound towards a
corner at infinity. All corners are evaluated with error bounds (`corner_values.py`). If several corners may still be
the largest, they are compared in fractions: the position is decided exactly. If several corners are the largest, the
one in the region with the lowest number is taken.
Invariant: no comparison is decided by a rounded number alone.
Cost: two to three times an enumeration, and up to a millisecond for each corner that rounding leaves open. Such corners
are many if the network is constant on many regions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.answers.corner_values import CornerValues, ExactCorners, value_at
from regions.answers.forms import asked_forms
from regions.answers.legs import OnLegs, on_curve, values_on_legs
from regions.counting.options import takes_timeout
from regions.domains import Curve, Domain
from regions.ground.arithmetic.arguments import Workers
from regions.ground.arithmetic.arrays import exact_float64
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.types import Bits, Floats, Indices, Integers
from regions.ground.text.tables import html_table
from regions.ground.threads.progress import Progress
from regions.networks.network import Network, require_network
from regions.results.cells.exact_outline import Point

__all__ = ["Extremes", "extremes", "extremes_of"]

# Half of the last place of a double, relative to the double.
HALF_PLACE = 2.0**-53
SMALLEST = 2.0**-1074


@dataclass(frozen=True, eq=False)
class _Extreme:
    """An extreme value of one output, exactly; the value is None if it is unbounded."""

    value: Fraction | None
    point: Point
    region: int
    leg: int

    @property
    def unbounded(self) -> bool:
        return self.value is None

    @property
    def rounded(self) -> tuple[float, float]:
        """The value, and a bound on its error; the value is rounded once."""
        assert self.value is not None
        value = nearest_float(self.value)
        return value, HALF_PLACE * abs(value) + SMALLEST


@dataclass(frozen=True, eq=False)
class _AtCorner:
    """An extreme value of one output that is at this corner; its exact value is computed on first use."""

    exact: ExactCorners
    output: int
    corner: int
    region: int
    leg: int
    rounded: tuple[float, float]
    unbounded = False

    @cached_property
    def value(self) -> Fraction:
        return value_at(self.exact.form(self.region, self.output), self.point)

    @cached_property
    def point(self) -> Point:
        return self.exact.point(self.corner)


@dataclass(frozen=True, eq=False, repr=False)
class Extremes(OnLegs):
    """The least and the greatest value of each output on a domain.

    Attributes
    ----------
    domain : Domain or Polyline
    partition : Partition or PolytopePartition
        The regions of the domain.
    partitions : tuple of Partition
        The regions of each leg of a polyline; a single entry for other domains.
    minimum, maximum : float64 [m]
        The least and greatest value of each output, or linear form of outputs; infinite if it is unbounded, and if it
        is beyond the largest double: then ``exact_maximum`` has it.
    minimum_errors, maximum_errors : float64 [m]
        Proven bounds on the errors of these: 0 if they are unbounded, infinite beyond the largest double.
    argmin, argmax : float64 [m, n_in]
        Points of input space where they are attained, rounded. If the value is unbounded (``exact_maximum`` is None), a
        direction of length one along which it diverges.
    chart_argmin, chart_argmax : float64 [m, d]
        The same in the chart of the domain; on a polyline its parameter, from 0 to 1.
    argmin_regions, argmax_regions : int64 [m]
        The region with the lowest number in which they are attained.
    argmin_legs, argmax_legs : int64 [m]
        The first leg of a polyline on which they are attained; 0 on other domains.
    exact_minimum, exact_maximum : tuple of Fraction or None [m]
        The values of the network as stored, exactly; None if unbounded.
    rows : float64 [m, n_out]
        The linear forms of outputs that were asked for; unit vectors for single outputs.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 2.0]], [0.5])])
    >>> found = regions.extremes(net, regions.Segment([-1.0], [3.0]))
    >>> found.minimum, found.maximum, found.argmax
    (array([0.5]), array([3.5]), array([[3.]]))
    >>> regions.extremes(net, regions.Line([0.0], [1.0])).maximum
    array([inf])
    """

    rows: Floats
    _least: tuple[_Extreme | _AtCorner, ...]
    _greatest: tuple[_Extreme | _AtCorner, ...]

    @property
    def minimum(self) -> Floats:
        return _values(self._least, -np.inf)

    @property
    def maximum(self) -> Floats:
        return _values(self._greatest, np.inf)

    @property
    def minimum_errors(self) -> Floats:
        return _errors(self._least)

    @property
    def maximum_errors(self) -> Floats:
        return _errors(self._greatest)

    @property
    def chart_argmin(self) -> Floats:
        return self._in_chart(self._least)

    @property
    def chart_argmax(self) -> Floats:
        return self._in_chart(self._greatest)

    @property
    def argmin(self) -> Floats:
        return self._to_input(self._least)

    @property
    def argmax(self) -> Floats:
        return self._to_input(self._greatest)

    @property
    def argmin_regions(self) -> Integers:
        return np.array([each.region for each in self._least], dtype=np.int64)

    @property
    def argmax_regions(self) -> Integers:
        return np.array([each.region for each in self._greatest], dtype=np.int64)

    @property
    def argmin_legs(self) -> Integers:
        return np.array([each.leg for each in self._least], dtype=np.int64)

    @property
    def argmax_legs(self) -> Integers:
        return np.array([each.leg for each in self._greatest], dtype=np.int64)

    @property
    def exact_minimum(self) -> tuple[Fraction | None, ...]:
        return tuple(each.value for each in self._least)

    @property
    def exact_maximum(self) -> tuple[Fraction | None, ...]:
        return tuple(each.value for each in self._greatest)

    def as_dict(self) -> dict[str, Any]:
        """Values, their errors and places."""
        names = ("minimum", "minimum_errors", "argmin", "maximum", "maximum_errors", "argmax")
        return {"regions": self.regions_met, **{name: getattr(self, name).tolist() for name in names}}

    def _in_chart(self, found: tuple[_Extreme | _AtCorner, ...]) -> Floats:
        places = zip(found, _places(found).tolist(), strict=True)
        rows = [on_curve(self.domain, each.leg, place) for each, place in places]
        return np.array(rows, dtype=np.float64).reshape(len(found), self.domain.dimension)

    def _to_input(self, found: tuple[_Extreme | _AtCorner, ...]) -> Floats:
        points = np.empty((len(found), self.domain.n_in))
        for row, (each, place) in enumerate(zip(found, _places(found), strict=True)):
            part = self.partitions[each.leg].domain
            if each.unbounded:
                direction = place @ part.directions
                points[row] = direction / np.linalg.norm(direction)
            else:
                points[row] = part.to_input(place)
        return points

    def _repr_html_(self) -> str:
        rows = [
            (str(number), f"{low:.6g}", f"{high:.6g}")
            for number, (low, high) in enumerate(zip(self.minimum, self.maximum, strict=True))
        ]
        return html_table(repr(self), ("output", "minimum", "maximum"), rows)

    def __repr__(self) -> str:
        pairs = [f"[{low:.6g}, {high:.6g}]" for low, high in zip(self.minimum, self.maximum, strict=True)]
        shown = ", ".join(pairs[:3]) + (", .." if len(pairs) > 3 else "")
        return f"Extremes({shown} {self.on_regions})"


@takes_timeout
def extremes(
    network: Network,
    domain: Domain | Curve,
    outputs: Sequence[int] | None = None,
    forms: ArrayLike | None = None,
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Extremes:
    """Find the least and the greatest value of each output of a network on a domain.

    Parameters
    ----------
    network : Network
    domain : Domain or Polyline
        A segment, ray, line, polyline, polygon or plane, or a box of three to six dimensions.
    outputs : sequence of int, optional
        Numbers of outputs; all of them by default.
    forms : array-like [m, n_out], optional
        Instead of outputs, linear forms of outputs: ``[[1, -1]]`` asks for the first output minus the second.
    limit, timeout, progress, workers
        As for `regions.enumerate`.

    Returns
    -------
    Extremes

    Raises
    ------
    TypeError, ValueError
        Forms or outputs do not fit the network, or both are given.
    LimitReached, TimeoutReached, ShapeMismatchError, DomainError
        As for `regions.enumerate`; a curve with arcs.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0], [1.0, -1.0]], [0.0, 0.0])])
    >>> square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    >>> regions.extremes(net, square)
    Extremes([0, 2], [-1, 1] on 4 regions)
    >>> regions.extremes(net, square, forms=[[1, -1]]).argmax
    array([[1., 1.]])
    >>> path = regions.Polyline([[-1, 0], [0, 2], [1, 0]])
    >>> found = regions.extremes(net, path, outputs=[0])
    >>> found.argmax, found.chart_argmax, found.argmax_legs
    (array([[0., 2.]]), array([[0.5]]), array([0]))
    """
    graph = asked_forms(require_network(network), outputs, forms)
    legs = values_on_legs(network, graph, domain, limit=limit, progress=progress, workers=workers)
    rows = np.eye(network.n_out) if forms is None else exact_float64(forms, "forms")
    rows = rows if outputs is None else rows[list(outputs)]
    return extremes_of(domain, legs, rows)


def extremes_of(domain: Domain | Curve, legs: Sequence[CornerValues], rows: Floats) -> Extremes:
    """Find the extremes of outputs at the corners of the parts of a domain; ``rows`` are the linear forms that these
    outputs compute.
    """
    of_legs = [_extremes_on(at, leg) for leg, at in enumerate(legs)]
    found = [
        tuple(_first_of(each, sign) for each in zip(*(extremes[number] for extremes in of_legs), strict=True))
        for number, sign in enumerate((-1, 1))
    ]
    return Extremes(domain, tuple(at.partition for at in legs), rows, *found)


def _extremes_on(at: CornerValues, leg: int) -> list[list[_Extreme | _AtCorner]]:
    """The least and the greatest values of the outputs on a part of the domain."""
    values, errors = (np.ascontiguousarray(each.T) for each in at.rounded)
    ends = _Ends(at)
    return [
        [
            replace(_greatest(at, ends, output, sign, sign * values[output], errors[output]), leg=leg)
            for output in range(at.graph.n_out)
        ]
        for sign in (-1, 1)
    ]


def _first_of(found: Sequence[_Extreme | _AtCorner], sign: int) -> _Extreme | _AtCorner:
    """The first of the values that are the greatest, after multiplication by a sign; decided exactly."""
    if len(found) == 1:
        return found[0]
    values, errors = np.array([each.rounded for each in found]).T
    near = np.flatnonzero(_may_be_greatest(sign * values, errors, np.ones(len(found), dtype=bool)))
    if len(near) == 1:
        return found[near[0]]

    def size(index: int) -> Fraction:
        value = found[index].value
        assert value is not None  # legs are bounded
        return sign * value

    return found[max(near.tolist(), key=size)]


def _greatest(
    at: CornerValues, ends: _Ends, output: int, sign: int, values: Floats, errors: Floats
) -> _Extreme | _AtCorner:
    """The greatest value of sign times an output."""
    without_end = ends.rising(output, sign)
    if without_end is not None:
        return without_end
    corners = np.sort(at.corners[_may_be_greatest(values, errors, ~at.infinite)])
    if len(corners) == 1 and not len(ends.without_vertex):
        (corner,) = corners.tolist()
        vertex, region = int(at.partition.cell_vertices[corner]), int(at.regions[corner])
        if np.isfinite(errors[vertex]):
            return _AtCorner(at.exact, output, corner, region, 0, (float(sign * values[vertex]), float(errors[vertex])))
    best: _Extreme | None = None
    for value, point, region in (*_candidates(at, output, corners), *ends.on_lines(output)):
        if best is None or best.value is None or sign * (value - best.value) > 0:
            best = _Extreme(value, point, region, 0)
    assert best is not None
    return best


def _candidates(at: CornerValues, output: int, corners: Integers) -> Iterator[tuple[Fraction, Point, int]]:
    """The exact values of an output at corners, which are sorted by region."""
    region, constant = -1, False
    form: tuple[Fraction, ...] = ()
    for corner in corners.tolist():
        here = int(at.regions[corner])
        if here != region:
            region, form = here, at.exact.forms(here)[output]
            constant = not any(form[1:])
        elif constant:
            continue  # the same value as at the region's first corner, which has been yielded
        point = at.exact.point(corner)
        yield value_at(form, point), point, region


def _may_be_greatest(values: Floats, errors: Floats, finite: Bits) -> Bits:
    """Find the numbers, known up to errors, that may be the greatest of all."""
    with np.errstate(invalid="ignore", over="ignore"):
        known = finite & np.isfinite(errors)
        best = np.max(values - errors, where=known, initial=-np.inf)
        # Rounded outwards: sums of two doubles are off by less than the distance to the next double.
        below = np.nextafter(np.nextafter(best, -np.inf), -np.inf)
        return finite & ~(known & (values + errors < below))


class _Ends:
    """The behaviour of outputs towards infinity."""

    def __init__(self, at: CornerValues) -> None:
        self.at = at
        endless = at.infinite[at.partition.cell_vertices]
        self.corners: Indices = np.flatnonzero(endless)
        # A region whose corners are all at infinity has a whole line in it.
        finite = np.bincount(at.regions[~endless], minlength=len(at.partition))
        self.without_vertex: Indices = np.flatnonzero(finite == 0)

    def rising(self, output: int, sign: int) -> _Extreme | None:
        """Find a direction in which sign times an output is unbounded, or return None."""
        region = -1
        form: tuple[Fraction, ...] = ()
        for corner in self.corners.tolist():
            here = int(self.at.regions[corner])
            if here != region:
                region, form = here, self.at.exact.forms(here)[output]
            if not any(form[1:]):
                continue
            point = self.at.exact.point(corner)
            if sign * sum(a * x for a, x in zip(form[1:], point[1:], strict=True)) > 0:
                return _Extreme(None, point, region, 0)
        return None

    def on_lines(self, output: int) -> Iterator[tuple[Fraction, Point, int]]:
        """The values on the boundary lines of regions without a vertex; along such a line the output is constant."""
        for region in self.without_vertex.tolist():
            form = self.at.exact.forms(region)[output]
            for point in self._points(region):
                yield value_at(form, point), point, region

    def _points(self, region: int) -> list[Point]:
        """A point on each boundary line of a region without a vertex; any point, if it has no boundary."""
        part = self.at.partition
        kinks = part.facet_kinks[part.cell_facets[self.at.exact.corners_of(region)]]
        points: list[Point] = []
        for kink in kinks[kinks >= 0].tolist():
            self.at.exact.exact_forms.enter(self.at.graph.bits(part.packed_patterns[region]).view(np.bool_))
            form = self.at.exact.exact_forms.kink(kink)
            points.append((sum(a * a for a in form[1:]), *(-form[0] * a for a in form[1:])))
        return points or [(1,) + (0,) * part.dimension]


def _values(found: tuple[_Extreme | _AtCorner, ...], endless: float) -> Floats:
    return np.array([endless if each.unbounded else each.rounded[0] for each in found])


def _errors(found: tuple[_Extreme | _AtCorner, ...]) -> Floats:
    """Bounds on the errors of the values; infinite beyond the largest double."""
    return np.array([0.0 if each.unbounded else each.rounded[1] for each in found])


def _places(found: tuple[_Extreme | _AtCorner, ...]) -> Floats:
    """Points of the chart, rounded; directions of length one."""
    rows = []
    for each in found:
        weight = each.point[0]
        if weight:
            rows.append([nearest_float(Fraction(x, weight)) for x in each.point[1:]])
        else:
            largest = max(abs(x) for x in each.point[1:])
            direction = np.array([float(Fraction(x, largest)) for x in each.point[1:]])
            rows.append((direction / np.linalg.norm(direction)).tolist())
    return np.array(rows, dtype=np.float64)
