# SPDX-License-Identifier: MIT
"""In which regions of a bounded domain can outputs be least or greatest?

A search by branch and bound. Values at some points give a threshold for each target, a little below the best value so
far; in boxes, affine maps are followed from the best points (`climbing.py`). A target is the greatest value of one
output, or of any of several outputs, each times a sign. Each of its outputs becomes a unit with its kink at the
threshold, and the core leaves out cells on which bounds prove that no output reaches its threshold (csrc/README.md).
Values at the corners of the regions that are left raise the thresholds for the next pass. The last pass goes through
the whole domain. If each threshold is then proven to be reached, all points where a target is reached are in the
regions that this pass found ([proof](../../docs/error-bounds.md#branch-and-bound)).
Invariant: thresholds come from rounded numbers, and nothing depends on how good they are, except the cost.
Cost: in a plane about one count for one output, in boxes of four to six dimensions a fraction of a count. Where bounds
help little, as for the difference of two similar networks, an enumeration costs less. It is therefore tried first, for
few regions, and again after each search of limited length, up to a number of regions that costs as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import comb
from typing import overload

import numpy as np

from regions.answers.climbing import climbed
from regions.answers.corner_values import CornerValues, value_at
from regions.answers.extreme_values import Target
from regions.core import NO_LIMIT
from regions.counting.found import COMPLETE, End, Found, exception_of
from regions.counting.options import Options
from regions.counting.run import Model, compiled_with_outputs, enumerated, require_enumerable
from regions.domains import Domain
from regions.errors import NonFiniteError
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.types import Bits, Floats, Indices
from regions.ground.threads.deadline import check_time
from regions.networks.graph import Graph
from regions.networks.network import Network, with_graph
from regions.networks.parts import signing, with_forms
from regions.networks.rounded import at_points
from regions.results.cells.output_maps import OutputMaps

__all__ = ["LIMITED", "Opened", "opened_regions"]

# Regions that are enumerated before a search, in a plane and in boxes, where they cost more. All regions are enumerated
# if a guess of their number is below the other two numbers, which grow with the number of outputs: many outputs are
# extreme in many places.
FEW, FEW_IN_BOXES, SMALL, SMALL_IN_BOXES = 256, 64, 8192, 1024
# Regions that are enumerated in the time that one cell of a search takes, by dimension; one in more dimensions.
PER_CELL = {2: 12, 3: 3}
# The first search takes at most this share of the time of an enumeration, by the same guess; at least so many cells.
SHARE, LEAST_CELLS = 0.25, 256
# Largest number of regions that are enumerated after that.
MOST_REGIONS = 1 << 20
# Largest number of outputs of all targets for a search.
MOST_OUTPUTS = 32
# Random points for the first thresholds, fewer if there are many inputs; and the largest number of inputs in all.
SAMPLES, LEAST_SAMPLES, MOST_INPUTS = 256, 64, 1 << 16
# Largest number of corners of the domain among these points.
CORNERS = 64
# The best of these points, from which affine maps are followed.
STARTS = 16
# Regions after which a pass ends, if it is not the last one. A region of a box takes much longer than one of a plane.
BLOCKS, BLOCKS_IN_BOXES = (128, 1024), (64, 512)
# Thresholds are below the best values by these shares of the range of values, and of the values themselves.
BELOW, OF_VALUES = 2.0**-20, 2.0**-40
# A limit counts these in a search.
LIMITED = "regions and cells that bounds leave out"


@dataclass(frozen=True, eq=False)
class Opened:
    """Regions of a part of a domain, among them all in which a target is reached.

    Attributes
    ----------
    at : CornerValues
    complete : bool
        Whether these are all regions of the part.
    """

    at: CornerValues
    complete: bool


def opened_regions(network: Network, graph: Graph, part: Domain, targets: Sequence[Target], options: Options) -> Opened:
    """Find regions of a part of a domain that contain all points where outputs of a graph reach targets.

    Parameters
    ----------
    network : Network
    graph : Graph
        It has the network's kinks and no others.
    part : Domain
    targets : sequence of Target
        Each output of the graph is in one of them.
    options : Options

    Raises
    ------
    LimitReached, TimeoutReached, KeyboardInterrupt
        ``partial`` has the regions of the last pass.
    """
    require_enumerable(part, network)
    search = _Search(network, graph, part, targets, options)
    if part.dimension > 1 and part.bounded and len(search.rows) <= MOST_OUTPUTS:
        return search.opened()
    return search.every(None)


class _NoHelp(Exception):
    """Values overflow, or they are all equal, or a threshold is not reached."""


class _Search:
    """The passes of one search.

    Attributes
    ----------
    passes : int
        The number of passes so far.
    blocks : list of int or None
        The number of regions after which each of the next passes ends.
    rows : int64 [k]
        The outputs of all targets, one target after the other.
    signs : int64 [k]
    owners : int64 [k]
        The target of each.
    best, least : float64 [targets]
        The greatest and the least values seen, times the sign, rounded.
    """

    def __init__(
        self, network: Network, graph: Graph, part: Domain, targets: Sequence[Target], options: Options
    ) -> None:
        self.network, self.graph, self.part, self.options = network, graph, part, options
        self.passes = 0
        self.blocks: list[int | None] = [*(BLOCKS if part.dimension == 2 else BLOCKS_IN_BOXES), None]
        self.rows = np.array([output for target in targets for output in target.outputs])
        self.owners = np.repeat(np.arange(len(targets)), [len(target.outputs) for target in targets])
        self.signs = np.array([target.sign for target in targets])[self.owners]
        self.best, self.least = np.full(len(targets), -np.inf), np.full(len(targets), np.inf)

    def opened(self) -> Opened:
        """Return regions that contain all points where targets are reached."""
        d = self.part.dimension
        # The number of regions of hyperplanes in general position, which is about right for networks of a few layers.
        guess = sum(comb(self.network.kinks, k) for k in range(d + 1))
        small = (SMALL if d == 2 else SMALL_IN_BOXES) * (1 + len(self.rows) // 8)
        found = self.every(guess if guess <= small else FEW if d == 2 else FEW_IN_BOXES)
        if found is not None:
            return found
        self._try_points()
        cells = max(int(SHARE * guess) // PER_CELL.get(d, 1), LEAST_CELLS)
        try:
            found = self._searched(cells)
            if found is None and 2 * guess <= MOST_REGIONS:
                found = self.every(2 * guess)
            if found is None:
                found = self._searched(None)
        except _NoHelp:
            found = None
        return self.every(None) if found is None else found

    @overload
    def every(self, most: None) -> Opened: ...
    @overload
    def every(self, most: int) -> Opened | None: ...
    def every(self, most: int | None) -> Opened | None:
        """Enumerate the whole part; return None if there are more regions than ``most``."""
        run = self._pass(compiled_with_outputs(self.network, self.graph), most, None, "regions")
        at = CornerValues(run.partition, self.graph, run.maps)
        if run.end is COMPLETE:
            return Opened(at, True)
        return None

    def _searched(self, most: int | None) -> Opened | None:
        """Return the regions that the last pass found, or None if a pass needs more regions and cells than ``most``."""
        while True:
            check_time()
            thresholds, block = self._thresholds(), self.blocks[0]
            run = self._pass(self._model(thresholds), most, block, LIMITED)
            if not run.regions:
                if run.end is COMPLETE:
                    raise _NoHelp
                return None
            at = CornerValues(run.partition, self.graph, self._of_outputs(run.maps, thresholds))
            if run.end is COMPLETE:
                if not self._reached(at, thresholds):
                    raise _NoHelp
                return Opened(at, False)
            if block is None:  # with several threads, which regions were found depends on their timing
                return None
            self._see(*at.rounded)
            if run.end.limit is not None:
                return None
            self.blocks = self.blocks[1:]

    def _try_points(self) -> None:
        """Note the values at corners of the part and at random points; in boxes also where affine maps lead."""
        corners = self.part.generators[:, 1:] / self.part.generators[:, :1]
        points = _tried(corners, self.part.n_in)
        values = self._values(points)
        self._see(values, np.zeros_like(values))
        if self.part.dimension == 2:  # a count takes about as long
            return
        whole = Network.from_graph(self.graph)
        for target in range(len(self.best)):
            with suppress(NonFiniteError):
                reached = self._values(self._climbed(points, values, whole, corners, self.owners == target))
                self._see(reached, np.zeros_like(reached))

    def _climbed(self, points: Floats, values: Floats, whole: Network, corners: Floats, own: Bits) -> Floats:
        """Return chart points where some of the outputs are greater than at the best of the points."""
        rows, signs = self.rows[own], self.signs[own]

        def greatest(values: Floats) -> tuple[Floats, Indices]:
            signed = np.nan_to_num(signs * values[:, rows], nan=-np.inf, posinf=-np.inf)
            return signed.max(axis=1), signed.argmax(axis=1)

        def slopes(points: Floats) -> Floats:
            _, place = greatest(self._values(points))
            gradients = whole.gradient(self.part.to_input(points))[np.arange(len(points)), rows[place]]
            found: Floats = signs[place, np.newaxis] * (gradients @ self.part.directions.T)
            return found

        best = np.argsort(-greatest(values)[0], kind="stable")[:STARTS]
        with np.errstate(all="ignore"):
            return climbed(
                points[best],
                lambda points: greatest(self._values(points))[0],
                slopes,
                lambda slopes, _: corners[(slopes @ corners.T).argmax(axis=1)],
            )

    def _values(self, points: Floats) -> Floats:
        """Return the outputs at chart points, rounded: [m, outputs]; NaN where inputs overflow."""
        try:
            inputs = self.part.to_input(points)
        except NonFiniteError:
            return np.full((len(points), self.graph.n_out), np.nan)
        with np.errstate(all="ignore"):
            *_, values = at_points(self.graph, inputs.reshape(len(points), -1))
        return values

    def _pass(self, model: Model, most: int | None, block: int | None, what: str) -> Found[Domain]:
        """Go through the part once, up to ``most`` regions and cells that are left out, or until a block is full."""
        limit, report = self.options.limit, self.options.report
        if report is not None:
            # The number of passes is not known: each is half of the work that is left.
            done = 1.0 - 0.5**self.passes
            given, report = report, lambda share, found: given(done + (1.0 - done) * share / 2, found)
        threads = self.options.threads if block is None else 1
        least = min(NO_LIMIT if each is None else each for each in (limit, most))
        run = enumerated(model, self.part, Options(least, report, threads), block=block)
        self.passes += 1
        own = most is not None and most < (NO_LIMIT if limit is None else limit)
        if run.end.error is not None or (run.end.limit is not None and not own):
            raise exception_of(End(limit=limit, error=run.end.error), run.partition, run, what=what)
        return run

    def _model(self, thresholds: Floats) -> Model:
        forms = self.signs[:, np.newaxis] * np.eye(self.graph.n_out)[self.rows]
        cut = with_graph(self.network, signing(with_forms(self.graph, forms, -thresholds[self.owners])))
        return compiled_with_outputs(cut, cut.graph, range(len(self.rows)))

    def _see(self, values: Floats, errors: Floats) -> None:
        """Note the values of outputs at some points, [m, outputs], with bounds on their errors."""
        with np.errstate(all="ignore"):
            least = self.signs * values[:, self.rows] - errors[:, self.rows]
        finite = np.isfinite(least)
        np.maximum.at(self.best, self.owners, least.max(axis=0, where=finite, initial=-np.inf))
        np.minimum.at(self.least, self.owners, least.min(axis=0, where=finite, initial=np.inf))

    def _thresholds(self) -> Floats:
        """Return numbers a little below the best values."""
        with np.errstate(all="ignore"):
            margins = np.maximum(BELOW * (self.best - self.least), OF_VALUES * np.abs(self.best))
            thresholds = self.best - margins
        if not (np.isfinite(thresholds) & (thresholds < self.best)).all():
            raise _NoHelp
        return thresholds

    def _of_outputs(self, maps: OutputMaps | None, thresholds: Floats) -> OutputMaps:
        """Return the maps of outputs, given the maps of all units: signs times outputs, minus their thresholds."""
        assert maps is not None
        # A unit of each output.
        units = np.array([np.flatnonzero(self.rows == output)[0] for output in range(self.graph.n_out)])
        values, errors = maps.values[:, units].copy(), maps.errors[:, units].copy()
        with np.errstate(all="ignore"):
            values[:, :, 0], errors[:, :, 0] = Proven(values[:, :, 0], errors[:, :, 0]) + thresholds[self.owners[units]]
        return OutputMaps(values * self.signs[units][:, np.newaxis], errors)

    def _reached(self, at: CornerValues, thresholds: Floats) -> bool:
        """Return whether each threshold is proven to be below the value of one of its outputs at some corner."""
        reached = np.zeros(len(thresholds), dtype=bool)
        rows = list(zip(self.rows.tolist(), self.signs.tolist(), self.owners.tolist(), strict=True))
        for is_above in (_is_above, _is_exactly_above):
            for output, sign, owner in rows:
                reached[owner] = reached[owner] or is_above(at, output, sign, float(thresholds[owner]))
        return bool(reached.all())


def _tried(corners: Floats, n_in: int) -> Floats:
    """Return chart points [m, d] of a part with these corners: some of them, and random points near them and inside."""
    count, rng = len(corners), np.random.default_rng(0)
    samples = int(np.clip(MOST_INPUTS // n_in, LEAST_SAMPLES, SAMPLES))
    weights = rng.exponential(size=(samples, count)) ** rng.choice([1.0, 4.0, 16.0], size=(samples, 1))
    return np.vstack([corners[:: -(-count // CORNERS)], weights / weights.sum(axis=1, keepdims=True) @ corners])


def _is_above(at: CornerValues, output: int, sign: int, threshold: float) -> bool:
    """Return whether sign times an output is proven by error bounds to be above a threshold at some corner."""
    values, errors = (each[:, output] for each in at.rounded)
    with np.errstate(all="ignore"):
        least = np.where(np.isfinite(errors), sign * values - errors, -np.inf)
    # Rounding is monotonic: a difference that is rounded to a number above a threshold is above the threshold.
    return bool(least.max() > threshold)


def _is_exactly_above(at: CornerValues, output: int, sign: int, threshold: float) -> bool:
    """Return whether sign times an output is above a threshold at the corner where it seems to be greatest."""
    values, _ = at.rounded
    corner = int(at.corners[np.argmax(np.where(at.infinite, -np.inf, sign * values[:, output]))])
    form, point = at.exact.form(int(at.regions[corner]), output), at.exact.point(corner)
    return sign * value_at(form, point) > threshold
