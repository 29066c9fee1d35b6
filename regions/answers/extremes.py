# SPDX-License-Identifier: MIT
"""How large and how small do the outputs of a network get on a domain, and where?

On each region an output is affine. Therefore its largest value is at a corner, or it grows without bound towards a
corner at infinity. Corners are evaluated with error bounds (`corner_values.py`), and the position is decided exactly
(`greatest_corner.py`). No subdivision of the domain changes it. In a bounded plane or box only those regions are found
in which an output can be extreme (`extreme_regions.py`). In a box of more than six dimensions, values and bounds
enclose the extremes, or decide them (`wide_boxes.py`).
Cost: that of `extreme_regions.py` or `wide_boxes.py`; two to three enumerations on lines and unbounded domains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.answers.corner_values import CornerValues
from regions.answers.extreme_values import Extreme, both_ends
from regions.answers.forms import asked_forms
from regions.answers.legs import OfLegs, on_curve
from regions.answers.targets import Enumeration, Reached, reached_in, reached_on, words_of
from regions.counting.options import Options, asked, takes_timeout
from regions.domains import Curve, Domain
from regions.ground.arithmetic.arguments import Workers
from regions.ground.arithmetic.arrays import exact_float64
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.text.tables import html_table
from regions.ground.threads.progress import Progress, reporting
from regions.networks.graph import Graph
from regions.networks.network import Network, require_network
from regions.results.partition import Partition

__all__ = ["Extremes", "extremes", "extremes_of", "extremes_on"]


@dataclass(frozen=True, eq=False, repr=False)
class Extremes(OfLegs):
    """The least and the greatest value of each output on a domain.

    Attributes
    ----------
    domain : Domain or Polyline
    network : Network
    partition : Partition
        The regions of the domain. If the search for extremes did not need all of them, they are enumerated on first
        use, with the limit and the workers of the call; that can take much longer than the search.
    partitions : tuple of Partition
        The regions of each leg of a polyline; a single entry for other domains.
    parts : tuple of Domain
        The legs of a polyline; a single entry for other domains.
    regions_met : int
        The number of regions in which bounds did not prove that no output is extreme, or of all regions. On a
        polyline, a region that continues across a joint counts on both legs. It is 0 in a box of more than six
        dimensions.
    bounded_parts : int
        The number of parts of a box of more than six dimensions on which bounds were computed; otherwise 0.
    decided : bool
        Whether all extremes are known exactly: always, except in a box of more than six dimensions.
    minimum_intervals, maximum_intervals : float64 [m, 2]
        Between which numbers each extreme is, proven and rounded outwards. If it is not decided, the end nearer to the
        other values is a value that the output has, and the other end a bound, which may be infinite.
    minimum, maximum : float64 [m]
        The least and greatest value of each output, or linear form of outputs; infinite if it is unbounded, and if it
        is beyond the largest double: then ``exact_maximum`` has it. If it is not decided, the least and greatest value
        that was found.
    minimum_errors, maximum_errors : float64 [m]
        Proven bounds on the errors of these: 0 if they are unbounded, infinite beyond the largest double.
    argmin, argmax : float64 [m, n_in]
        Points of input space where these values are attained, rounded. If the value is unbounded, a direction of length
        one along which it diverges. If there are several such points, it is the one with the
        smallest coordinates in the chart of the domain, the first coordinate first; on a polyline, on the first leg. In
        a box of more than six dimensions it is any of them.
    chart_argmin, chart_argmax : float64 [m, d]
        The same in the chart of the domain; on a polyline its parameter, from 0 to 1.
    argmin_regions, argmax_regions : int64 [m]
        The region of ``partition`` with the lowest number that contains these points. They need the partition.
    argmin_legs, argmax_legs : int64 [m]
        The first leg of a polyline on which they are attained; 0 on other domains.
    exact_minimum, exact_maximum : tuple of Fraction or None [m]
        The values of the network as stored, exactly; None if unbounded, or not decided.
    reached_minimum, reached_maximum : tuple of Fraction or None [m]
        The values at ``argmin`` and ``argmax`` before these are rounded, exactly: the same, if they are decided.
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

    ROWS = ("minimum", "minimum_errors", "maximum", "maximum_errors", "argmin", "argmax")
    NUMBER = "output"

    domain: Domain | Curve
    rows: Floats
    _reached: Reached

    @property
    def network(self) -> Network:
        found = self._reached.regions
        return found.network if isinstance(found, Enumeration) else found[0].network

    @property
    def parts(self) -> tuple[Domain, ...]:
        return self._reached.parts

    @property
    def regions_met(self) -> int:
        return self._reached.regions_met

    @property
    def bounded_parts(self) -> int:
        return self._reached.bounded_parts or 0

    @property
    def decided(self) -> bool:
        return self._reached.decided

    @property
    def minimum_intervals(self) -> Floats:
        return np.array([each.interval(-1) for each in self._least])

    @property
    def maximum_intervals(self) -> Floats:
        return np.array([each.interval(1) for each in self._greatest])

    @property
    def _least(self) -> tuple[Extreme, ...]:
        return self._reached.values[: len(self.rows)]

    @property
    def _greatest(self) -> tuple[Extreme, ...]:
        return self._reached.values[len(self.rows) :]

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:  # type: ignore[override]
        return self._numbered[0]

    @cached_property
    def _numbered(self) -> tuple[tuple[Partition, ...], Integers, Integers]:
        """All regions, and the numbers of those in which the outputs are least and greatest."""
        found = self._reached
        if isinstance(found.regions, Enumeration):
            found = found.regions.on(self.domain)
        assert not isinstance(found.regions, Enumeration)
        least, greatest = np.array([each.region for each in found.values]).reshape(2, -1)
        return found.regions, least, greatest

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
        return self._numbered[1]

    @property
    def argmax_regions(self) -> Integers:
        return self._numbered[2]

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

    @property
    def reached_minimum(self) -> tuple[Fraction | None, ...]:
        return tuple(each.reached for each in self._least)

    @property
    def reached_maximum(self) -> tuple[Fraction | None, ...]:
        return tuple(each.reached for each in self._greatest)

    def as_dict(self) -> dict[str, Any]:
        """Values, their errors and places; in a box of more than six dimensions also intervals."""
        names = ["minimum", "minimum_errors", "argmin", "maximum", "maximum_errors", "argmax"]
        facts: dict[str, Any] = {"regions": self.regions_met}
        if self._reached.bounded_parts is not None:
            facts = {"parts": self.bounded_parts, "decided": self.decided}
            names += ["minimum_intervals", "maximum_intervals"]
        return {**facts, **{name: getattr(self, name).tolist() for name in names}}

    def _in_chart(self, found: tuple[Extreme, ...]) -> Floats:
        places = zip(found, _places(found).tolist(), strict=True)
        rows = [on_curve(self.domain, each.leg, place) for each, place in places]
        return np.array(rows, dtype=np.float64).reshape(len(found), self.domain.dimension)

    def _to_input(self, found: tuple[Extreme, ...]) -> Floats:
        points = np.empty((len(found), self.domain.n_in))
        for row, (each, place) in enumerate(zip(found, _places(found), strict=True)):
            part = self.parts[each.leg]
            if each.unbounded:
                direction = place @ part.directions
                points[row] = direction / np.linalg.norm(direction)
            else:
                points[row] = part.to_input(place)
        return points

    def words(self) -> list[tuple[str, str]]:
        """Return the least and the greatest value of each output in words: intervals where they are not decided."""
        least = zip(self._least, self.minimum.tolist(), strict=True)
        greatest = zip(self._greatest, self.maximum.tolist(), strict=True)
        return [
            (words_of(low, value, -1), words_of(high, other, 1))
            for (low, value), (high, other) in zip(least, greatest, strict=True)
        ]

    def _repr_html_(self) -> str:
        rows = [(str(number), *each) for number, each in enumerate(self.words())]
        return html_table(repr(self), ("output", "minimum", "maximum"), rows)

    def __repr__(self) -> str:
        pairs = [f"[{low}, {high}]" for low, high in self.words()]
        shown = ", ".join(pairs[:3]) + (", .." if len(pairs) > 3 else "")
        return f"Extremes({shown}{self.on_regions})"

    @property
    def on_regions(self) -> str:
        """On how many regions the extremes were computed, as words that end a sentence."""
        return self._reached.on_regions


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
        A segment, ray, line, polyline, polygon or plane, a box of three and more dimensions, or another polytope of
        three to six.
    outputs : sequence of int, optional
        Numbers of outputs; all of them by default.
    forms : array-like [m, n_out], optional
        Instead of outputs, linear forms of outputs: ``[[1, -1]]`` asks for the first output minus the second.
    limit, progress, workers
        As for `regions.enumerate`. In a bounded plane or box, cells on which bounds prove that no output is extreme are
        left out. If there are many regions, the search goes through the domain several times, and the limit is on the
        number of regions found and cells left out each time. In a box of more than six dimensions it is on the number
        of parts, and one worker is used.
    timeout : float, optional
        Stop with `TimeoutReached` after this many seconds. It does not hold for regions that are enumerated later. In a
        box of more than six dimensions, nothing is raised at the limit or timeout: the result has the intervals that
        are proved. Without both, the work ends after some seconds.

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
    array([[-1.,  1.]])
    >>> path = regions.Polyline([[-1, 0], [0, 2], [1, 0]])
    >>> found = regions.extremes(net, path, outputs=[0])
    >>> found.argmax, found.chart_argmax, found.argmax_legs
    (array([[0., 2.]]), array([[0.5]]), array([0]))
    >>> net = regions.Network([(np.eye(20), None), (np.ones((1, 20)), None)])
    >>> regions.extremes(net, regions.Box([-1] * 20, [1] * 20))
    Extremes([0, 20], decided by bounds on 2 parts)
    """
    graph = asked_forms(require_network(network), outputs, forms)
    rows = np.eye(network.n_out) if forms is None else exact_float64(forms, "forms")
    rows = rows if outputs is None else rows[list(outputs)]
    with reporting(progress) as report:
        return extremes_on(network, graph, domain, rows, asked(limit, report, workers))


def extremes_on(network: Network, graph: Graph, domain: Domain | Curve, rows: Floats, options: Options) -> Extremes:
    """Find the extremes of the outputs of a graph on a domain; ``rows`` are the linear forms that they compute.

    The graph has the network's kinks and no others.
    """
    return Extremes(domain, rows, reached_on(network, graph, domain, both_ends(graph.n_out), options))


def extremes_of(domain: Domain | Curve, legs: Sequence[CornerValues], rows: Floats) -> Extremes:
    """Find the extremes of outputs at the corners of the parts of a domain; ``rows`` are the linear forms that these
    outputs compute.
    """
    return Extremes(domain, rows, reached_in(legs, both_ends(len(rows))))


def _values(found: tuple[Extreme, ...], endless: float) -> Floats:
    return np.array([endless if each.unbounded else each.rounded[0] for each in found])


def _errors(found: tuple[Extreme, ...]) -> Floats:
    """Bounds on the distance of the values from the extremes; infinite beyond the largest double."""
    return np.array([0.0 if each.unbounded else each.rounded[1] for each in found])


def _places(found: tuple[Extreme, ...]) -> Floats:
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
