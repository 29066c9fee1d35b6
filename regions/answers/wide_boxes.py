# SPDX-License-Identifier: MIT
"""Between which numbers is the greatest value of outputs on a box with many inputs?

A search by branch and bound, without regions. A value at a point is a lower bound; it is computed in fractions. Upper
bounds come from enclosures of the outputs on parts of the box (`passes/ranges.py`). Parts whose upper bound is not
above the best value are left out. The others are cut in two, the one with the highest bound first. A part that no kink
cuts, decided in fractions, has its greatest value at a corner. If no part is left, the best value is the greatest.
Otherwise the answer is an interval: the best value, and the highest bound of the parts that are left
([proof](../../docs/error-bounds.md#boxes-with-many-inputs)).
Invariant: a lower bound is a value of the stored network at a point of the box; an upper bound is rounded up.
Cost: that of `bisection.py`, and exact forward passes for each better point and each part without kinks.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction
from itertools import count

import numpy as np

from regions.answers.bisection import MOST_NUMBERS, around, cut_in_two, effects, parts_within
from regions.answers.climbing import box_corners, climbed
from regions.answers.extreme_values import BoundedExtreme, Target
from regions.counting.options import Options
from regions.domains import Box
from regions.errors import NonFiniteError, TimeoutReached
from regions.ground.arithmetic.dyadic import common_integers, dyadic, nearest_float
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.threads.deadline import check_time, present_end
from regions.networks.graph import Graph
from regions.networks.network import Network
from regions.networks.parts import in_chart
from regions.networks.rounded import at_points
from regions.passes.exact import ExactForms, ExactSigns
from regions.passes.exact_ranges import exact_ranges
from regions.passes.ranges import ranges_and_kinks

__all__ = ["bounded_extremes"]

# Parts that are bounded together, fewer if there are many inputs; and numbers in the arrays of their sides.
TOGETHER, NUMBERS = 64, 1 << 22
# Bounds nearer to the best value than this, relative to the outputs, are computed again without rounding, until so many
# of them do not help. Bounds on small numbers are at least as large as what underflow can change.
NEAR, LEAST, TRIES = 2.0**-30, 1e-290, 32
# Random points, and the best of them from which a local search begins.
SAMPLES, STARTS = 256, 3

# Minus the upper bound, the order of making, and the corners in the chart.
_Part = tuple[float, int, Floats, Floats]


def bounded_extremes(
    graph: Graph, box: Box, targets: Sequence[Target], options: Options
) -> tuple[list[BoundedExtreme], int]:
    """Return what is proved about each target, and the number of parts that were bounded.

    The work ends with the limit, which is on the number of parts, or with the time limit; without any of them after
    some seconds.
    """
    search = _Search(graph, box)
    each = [_Of(search, target) for target in targets]
    most, stopped, share = options.limit, False, 0.0
    if most is None and present_end() is None:
        most = parts_within(search.whole, box.dimension)
    for one in each:
        try:
            one.begin(stopped)
        except TimeoutReached:  # raised once: from here on, time does not end the work
            stopped = True
            one.begin(stopped)
    while not stopped:
        at_work = [one for one in each if one.open]
        if not at_work:
            break
        for one in at_work:
            done = sum(one.bounded for one in each)
            left = sum(len(one.open) for one in each)
            stopped = most is not None and done >= most
            stopped = stopped or left * 2 * box.dimension > MOST_NUMBERS
            share = max(share, done / (done + left))
            try:
                if options.report is not None:
                    options.report(share, done)
                if not stopped:
                    one.step(search.together if most is None else min(search.together, most - done))
            except TimeoutReached:
                stopped = True
            if stopped:
                break
    return [one.found() for one in each], sum(one.bounded for one in each)


class _Search:
    """The network in the chart of a box, in rounded and in exact arithmetic."""

    def __init__(self, graph: Graph, box: Box) -> None:
        self.graph, self.box = graph, box
        self.whole = Network.from_graph(graph)
        self.axes = box.input_axes
        self.ranged = graph if self.axes is not None else in_chart(graph, box.origin, box.directions)
        self.signs, self.forms = ExactSigns(graph, box), ExactForms(graph, box)
        self.together = max(1, min(TOGETHER, NUMBERS // (box.dimension * self.ranged.n_in)))

    def to_input(self, places: Floats) -> Floats:
        """Map chart points [m, d] to input points, rounded unless the chart coordinates are inputs."""
        points: Floats = self.box.origin + places @ self.box.directions
        return points

    def ranges(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats, Integers, Floats, Floats]:
        """Return bounds on the outputs on parts [m, d], as `ranges_and_kinks`."""
        return ranges_and_kinks(self.ranged, *around(*self.to_ranged(lower, upper)))

    def to_ranged(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Return the corners [.., n] of parts [.., d] in the space of ``ranged``."""
        if self.axes is None:
            return lower, upper
        low, high = (np.tile(self.box.origin, (*lower.shape[:-1], 1)) for _ in range(2))
        low[..., self.axes], high[..., self.axes] = lower, upper
        return low, high

    def values(self, places: Floats) -> Floats:
        """Return the outputs at chart points, rounded; NaN where they overflow."""
        with np.errstate(all="ignore"):
            *_, values = at_points(self.graph, self.to_input(places))
        return values

    def slopes(self, places: Floats) -> Floats:
        """Return the slopes of the outputs at chart points, rounded: [m, outputs, d]; 0 where they overflow."""
        try:
            with np.errstate(all="ignore"):
                slopes: Floats = self.whole.gradient(self.to_input(places)) @ self.box.directions.T
        except NonFiniteError:
            return np.zeros((len(places), self.graph.n_out, self.box.dimension))
        return np.where(np.isfinite(slopes), slopes, 0.0)

    def forms_on(self, lower: Floats, upper: Floats) -> list[list[Fraction]] | None:
        """Return the forms of the outputs on a part; None if a kink cuts it. Decided exactly."""
        check_time()
        pattern = self.signs.pattern(np.clip(lower / 2 + upper / 2, lower, upper))
        self.forms.enter(pattern)
        ends = dyadic(np.stack([lower, upper]))
        # Integers whose signs are those of the forms at the ends.
        power = min(ends.exponent, 0)
        low, high = ends.over(power)
        for number, node in enumerate(self.graph.hidden):
            if not node.units.kinks:
                continue
            bits = pattern[node.kinks]
            chosen = np.flatnonzero(node.units.binding(node.units.pieces_of(bits)))
            rows = self.forms.preactivations(number)
            forms = node.units.compared(rows.integers)[:, chosen]
            values = dyadic(-node.units.kink_values[chosen])
            lowest = min(rows.exponent, values.exponent)
            forms = forms * (1 << (rows.exponent - lowest))
            constants = (forms[0] + values.over(lowest)) * (1 << -power)
            at_low, at_high = forms[1:] * low[:, np.newaxis], forms[1:] * high[:, np.newaxis]
            on, off = bits[chosen], ~bits[chosen]
            if (constants[on] + np.minimum(at_low, at_high)[:, on].sum(axis=0) < 0).any():
                return None
            if (constants[off] + np.maximum(at_low, at_high)[:, off].sum(axis=0) > 0).any():
                return None
        return self._outputs()

    def _outputs(self) -> list[list[Fraction]]:
        found = self.forms.preactivations(len(self.graph.hidden))
        scale = Fraction(2) ** found.exponent
        return [[int(number) * scale for number in column] for column in found.integers.T]


class _Of:
    """The search for one target.

    Attributes
    ----------
    open : list
        Parts with a bound above the best value, a heap.
    stuck : float
        The highest bound of parts that cannot be cut.
    bounded : int
        Number of parts on which bounds were computed.
    """

    def __init__(self, search: _Search, target: Target) -> None:
        self.search, (self.sign, outputs) = search, target
        self.outputs = np.array(outputs)
        self.open: list[_Part] = []
        self.order = count()
        self.stuck, self.bounded, self.tries = -np.inf, 0, TRIES
        self.best: Fraction | None = None
        self.floor = -np.inf  # the largest double that is at most the best value
        self.place, self.output = np.zeros(0), 0
        self.size = 0.0  # bounds on all outputs of the target are at most this large

    def begin(self, late: bool) -> None:
        """Try points, only one if it is late, and bound the whole box."""
        lower, upper = self.search.box.ends
        self.open = [(-np.inf, next(self.order), lower, upper)]
        if late:
            self._see(np.clip(lower / 2 + upper / 2, lower, upper)[np.newaxis])
        else:
            self._search(lower, upper)
        self.step(1)

    def _search(self, lower: Floats, upper: Floats) -> None:
        """Try random points and corners, and follow affine maps from the best of them."""
        samples = np.random.default_rng(0).uniform(0.0, 1.0, (SAMPLES, len(lower)))
        points = lower * (1 - samples) + upper * samples
        points[: SAMPLES // 2] = np.where(samples[: SAMPLES // 2] < 0.5, lower, upper)
        points = np.clip(np.vstack([lower / 2 + upper / 2, points]), lower, upper)
        values = self._values(points)
        starts = np.argsort(-values, kind="stable")[:STARTS]
        self._see(points[starts[:1]])
        for start in starts.tolist():
            here = points[start : start + 1]
            self._see(climbed(here, self._values, self._slopes, box_corners(lower, upper)))

    def step(self, most: int) -> None:
        """Bound some of the open parts with the highest bounds, and cut those that may have a better value."""
        taken: list[_Part] = []
        while self.open and len(taken) < most and not self._is_closed(-self.open[0][0]):
            taken.append(heapq.heappop(self.open))
        if not taken:
            self.open = []
            return
        try:
            parts, stuck = self._cut(taken)
        except BaseException:
            for part in taken:
                heapq.heappush(self.open, part)
            raise
        self.bounded += len(taken)
        self.stuck = max(self.stuck, stuck)
        for part in parts:
            heapq.heappush(self.open, part)

    def found(self) -> BoundedExtreme:
        """Return what is proved so far."""
        assert self.best is not None
        highest = max([self.stuck, *(-part[0] for part in self.open)])
        reached, decided = self.sign * self.best, self._is_closed(highest)
        point = tuple(common_integers([1.0, *self.place.tolist()]))
        return BoundedExtreme(reached if decided else None, reached, self.sign * highest, self.output, point)

    def _is_closed(self, highest: float) -> bool:
        """Return whether no value up to a bound is above the best one."""
        return highest <= self.floor

    def _is_near(self, highest: float) -> bool:
        """Return whether a bound is so near to the best value that it may be that value, up to rounding."""
        return self.tries > 0 and highest - self.floor <= NEAR * self.size + LEAST

    def _is_exactly_closed(self, lower: Floats, upper: Floats) -> bool:
        """Return whether bounds without rounding prove that no value on a part is above the best one."""
        ranges = exact_ranges(self.search.ranged, *self.search.to_ranged(lower, upper))
        closed = ranges is not None and all(
            (high if self.sign > 0 else -low) <= self.best for low, high in (ranges[i] for i in self.outputs)
        )
        self.tries -= not closed
        return closed

    def _cut(self, parts: list[_Part]) -> tuple[list[_Part], float]:
        """Return the halves of parts that may have a better value, and the highest bound of parts without halves."""
        search = self.search
        lower, upper = np.stack([part[2] for part in parts]), np.stack([part[3] for part in parts])
        low, high, kinks, changes, loose = search.ranges(lower, upper)
        if not self.bounded:
            self.size = float(np.nanmax(np.maximum(np.abs(low), np.abs(high))[:, self.outputs]))
        highest = (high if self.sign > 0 else -low)[:, self.outputs]
        bounds = np.minimum(highest.max(axis=1), [-part[0] if np.isfinite(part[0]) else np.inf for part in parts])
        middles = np.clip(lower / 2 + upper / 2, lower, upper)
        outputs = self.outputs[highest.argmax(axis=1)]
        slopes, loose = (each[np.arange(len(parts)), :, outputs] for each in (self.sign * changes, loose))
        corners = np.where(slopes > 0, upper, np.where(slopes < 0, lower, middles))
        self._see(np.vstack([middles, corners]))
        halves: list[_Part] = []
        stuck = -np.inf
        for i in np.flatnonzero(bounds > self.floor).tolist():
            if self._is_closed(bounds[i]) or (kinks[i] == 0 and self._settled(lower[i], upper[i])):
                continue
            if self._is_near(bounds[i]) and self._is_exactly_closed(lower[i], upper[i]):
                continue
            cut = cut_in_two(lower[i], upper[i], effects(slopes[i], loose[i]))
            if not cut:
                stuck = max(stuck, float(bounds[i]))
            halves += [(-float(bounds[i]), next(self.order), low_end, high_end) for _, low_end, high_end in cut]
        return halves, stuck

    def _settled(self, lower: Floats, upper: Floats) -> bool:
        """Note the greatest value on a part, if no kink cuts it."""
        forms = self.search.forms_on(lower, upper)
        if forms is None:
            return False
        for output in self.outputs.tolist():
            slopes = [self.sign * slope for slope in forms[output][1:]]
            place = np.where([slope > 0 for slope in slopes], upper, lower)
            ends = zip(forms[output][1:], map(Fraction, place.tolist()), strict=True)
            self._note(self.sign * (forms[output][0] + sum((a * x for a, x in ends), Fraction(0))), output, place)
        return True

    def _values(self, points: Floats) -> Floats:
        """Return the target's value at chart points, rounded; -inf where it overflows."""
        values = self.sign * self.search.values(points)[:, self.outputs]
        result: Floats = np.where(np.isfinite(values), values, -np.inf).max(axis=1)
        return result

    def _see(self, points: Floats) -> None:
        """Note the value at the best of some points, if it seems to be better."""
        values = self._values(points)
        best = int(values.argmax())
        if self.best is not None and not values[best] > self.floor:
            return
        exact = self.search.signs.outputs(points[best])
        for output in self.outputs.tolist():
            self._note(self.sign * exact[output], output, points[best])

    def _note(self, value: Fraction, output: int, place: Floats) -> None:
        if self.best is not None and value <= self.best:
            return
        self.best, self.output, self.place = value, output, place
        floor = nearest_float(value)
        self.floor = floor if not np.isinf(floor) and Fraction(floor) <= value else float(np.nextafter(floor, -np.inf))

    def _slopes(self, points: Floats) -> Floats:
        """Return the gradients [m, d] of the values at chart points."""
        outputs = self.outputs[(self.sign * self.search.values(points)[:, self.outputs]).argmax(axis=1)]
        return self.sign * self.search.slopes(points)[np.arange(len(points)), outputs]
