# SPDX-License-Identifier: MIT
"""Which part of the chart does a picture show, and in which proportion?

A bounded domain is shown from end to end. A line, ray or plane is shown in a window
(`regions/results/pages/window.py`). A window of a plane is enumerated as a polygon, so the picture is exact there too;
the window has at most as many regions as were found already. Both axes have the scale of the input space, so lengths
and, in charts at right angles, angles are true. A window more than three times as long as wide is stretched to three to
one, and the label of the stretched axis states the factor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from regions.domains import Polygon
from regions.errors import DomainError
from regions.ground.arithmetic.pattern_index import PatternIndex
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.networks.network import Network
from regions.pictures.picture_axes import PictureAxes, picture_axes
from regions.results.cells.equal_maps import numbered
from regions.results.definitions import LinearRegions
from regions.results.definitions.classed_regions import ClassedRegions
from regions.results.pages.window import window
from regions.results.partition import Partition

__all__ = ["Panel", "View", "axis_labels", "make_view", "proportion", "require_drawable"]

# Beyond it, the differences and margins that matplotlib computes overflow.
LARGEST_DRAWN = 1e300
MOST_STRETCHED = 3.0


@dataclass(frozen=True)
class View:
    """The content of one panel.

    Attributes
    ----------
    partition : Partition
        In a plane on a bounded domain.
    sources : int64 [R]
        The region that was given, and of which each region is a part.
    labels : int64 [R]
        Regions with equal labels are drawn as one.
    title : str
    low, high : float64 [d]
        Ends of the visible part, in the chart.
    axes : PictureAxes
        Map from the chart to the picture.
    limits : float64 [2, d]
        Lower and upper ends of the axes.
    classed : ClassedRegions or None
        The classes of the regions of the partition, if they are to be drawn.
    """

    partition: Partition
    sources: Integers
    labels: Integers
    title: str
    low: Floats
    high: Floats
    axes: PictureAxes
    limits: Floats
    classed: ClassedRegions | None = None

    @property
    def shown_facets(self) -> Bits:
        """Facets that do not lie inside one merged region, bool [F]."""
        first, second = self.partition.facet_regions.T
        return (second < 0) | (self.labels[first] != self.labels[second])

    def shows(self, points: Floats) -> Bits:
        """Return which chart points [k, d] lie in the picture: corners of a domain do, though they are rounded."""
        slack = 1e-9 * (self.high - self.low)
        return np.asarray(((points >= self.low - slack) & (points <= self.high + slack)).all(axis=1))

    @property
    def scores(self) -> Network:
        """The network whose outputs are the classes, or whose only output has them as its signs."""
        return self.partition.network if self.classed is None else self.classed.scores

    def place(self, points: Floats, output: int | None) -> Floats:
        """Return the places on the axes, [k, 2], of chart points [k, d] in the picture.

        On a line they are on the curve of this output, or by default of the largest one, or of the largest score.
        """
        inside = np.clip(points, self.low, self.high)
        placed = self.axes.place(inside)
        if self.partition.dimension == 2:
            return placed
        outputs = self.scores(self.partition.domain.to_input(inside))
        return np.column_stack([placed[:, 0], outputs.max(axis=1) if output is None else outputs[:, output]])


class Panel:
    """The common part of pictures of lines and planes: a view, the meaning of colours, and the drawn output.

    With ``numbers``, one for each region that was given, these are drawn, and ``color_by`` is "number".
    """

    def __init__(self, view: View, color_by: str, output_index: int, numbers: Floats | None = None) -> None:
        self.view, self.output_index = view, output_index
        self.color_by = "class" if view.classed is not None else color_by
        self.partition = view.partition
        self.numbers = np.zeros(0) if numbers is None else numbers[view.sources]

    _pieces: Any  # with ``classes``: each output's part of the regions

    @cached_property
    def classes(self) -> list[int]:
        """Classes that have a part of the picture."""
        return np.unique(self._pieces.classes).tolist() if self.color_by == "class" else []


def make_view(shown: Partition | LinearRegions | ClassedRegions, marks: Floats) -> View:
    """Choose the view of a partition or of linear regions; on a line or plane it contains points float64 [m, n_in].

    Raises
    ------
    DomainError
        Numbers too large for a picture; a part of a whole plane with regions missing.
    """
    partition = shown if isinstance(shown, Partition) else shown.partition
    assert isinstance(partition, Partition)  # `plot` refuses others
    domain = partition.domain
    labels = np.arange(len(partition)) if isinstance(shown, Partition) else shown.labels
    count = int(labels.max(initial=-1)) + 1 if isinstance(shown, ClassedRegions) else len(shown)
    title = f"{count:,} region{'s' * (count != 1)}" + ", not all" * (not partition.complete)
    if isinstance(shown, LinearRegions):
        title += f" ({shown.definition})"
    if isinstance(shown, ClassedRegions):
        view = make_view(partition, marks)
        return replace(view, **_classed(shown, view, labels), title=title)
    require_drawable("the chart", partition.vertices[np.isfinite(partition.vertices)])
    if domain.bounded:
        corners = domain.generators[:, 1:]
        return _view(partition, None, labels, title, corners.min(axis=0), corners.max(axis=0), corners)
    inside = domain.project(marks) if len(marks) else marks[:, : domain.dimension]
    low, high = window(partition, inside[np.isfinite(inside).all(axis=1)])
    return (_line_view if domain.dimension == 1 else _plane_view)(partition, labels, title, low, high)


def _classed(given: ClassedRegions, view: View, labels: Integers) -> dict[str, Any]:
    """The classes and labels of the regions in a view, which may be a window of the regions that were given."""
    partition = view.partition
    if partition is given.partition:
        return {"classed": given, "labels": labels}
    classes, sides = given.classes[view.sources], partition.facet_regions
    borders = np.flatnonzero((sides[:, 1] >= 0) & (classes[sides[:, 0]] != classes[sides[:, 1]]))
    return {
        "classed": ClassedRegions(partition, classes, borders, given.names, given.scores),
        "labels": numbered(labels[view.sources]),
    }


def _line_view(partition: Partition, labels: Integers, title: str, low: Floats, high: Floats) -> View:
    """Return a view of a window on a line or ray."""
    kinks = partition.vertices[np.isfinite(partition.vertices).all(axis=1)]
    hidden = int(((kinks < low) | (kinks > high)).sum())
    title += f", {hidden} kink{'s' * (hidden > 1)} outside" * bool(hidden)
    return _view(partition, None, labels, title, low, high, np.stack([low, high]))


def _plane_view(partition: Partition, labels: Integers, title: str, low: Floats, high: Floats) -> View:
    """Return a view of a window on a whole plane, enumerated as a polygon."""
    if not partition.complete:
        raise DomainError("a whole plane with regions missing cannot be drawn; enumerate a polygon in it instead")
    from regions.counting.count_and_enumerate import enumerate as enumerate_regions

    domain = partition.domain
    corners = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
    part = enumerate_regions(partition.network, Polygon.in_chart(domain.origin, domain.directions, corners))
    sources = PatternIndex(partition.packed_patterns).find(part.packed_patterns)
    there = numbered(labels[sources])
    if there.max() + 1 < labels.max() + 1:
        title += f", {there.max() + 1:,} of them here"
    return _view(part, sources, there, title, low, high, corners)


def _view(
    partition: Partition,
    sources: Integers | None,
    labels: Integers,
    title: str,
    low: Floats,
    high: Floats,
    corners: Floats,
) -> View:
    """Return a view of the part of the chart between these corners, float64 [k, d]."""
    axes = picture_axes(partition.domain, corners)
    placed = axes.place(corners)
    require_drawable("the input space", placed)
    limits = np.stack([placed.min(axis=0), placed.max(axis=0)])
    given = np.arange(len(partition)) if sources is None else sources
    return View(partition, given, labels, title, low, high, axes, limits)


def require_drawable(what: str, numbers: Floats) -> None:
    """Refuse numbers beyond those that matplotlib can draw."""
    largest = np.abs(numbers).max(initial=0.0)
    if largest > LARGEST_DRAWN:
        raise DomainError(f"{what} reaches {largest:.3g}; numbers above {LARGEST_DRAWN:g} cannot be drawn")


def proportion(view: View) -> float | None:
    """Return height over width of a panel in a plane, on paper; None on a line."""
    if view.partition.dimension == 1:
        return None
    return min(max(_true_proportion(view), 1 / MOST_STRETCHED), MOST_STRETCHED)


def axis_labels(view: View) -> tuple[str, str]:
    """Return the names of the axes of a panel in a plane; a stretched axis says so."""
    true, drawn = _true_proportion(view), proportion(view)
    names = list(view.axes.names)
    if drawn is not None and not np.isclose(true, drawn):
        wide = true < drawn
        factor = (drawn / true if true else np.inf) if wide else true / drawn
        names[wide] += f" ({factor:.3g}× stretched)" if factor < np.inf else " (not to scale)"
    return names[0], names[1]


def _true_proportion(view: View) -> float:
    low, high = view.limits
    sizes, more = np.frexp(high / 2 - low / 2)
    exponents = view.axes.exponents + more
    with np.errstate(over="ignore", under="ignore"):
        width, height = sizes * view.axes.lengths
        return float(np.ldexp(height / width, exponents[1] - exponents[0]))
