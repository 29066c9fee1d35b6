# SPDX-License-Identifier: MIT
"""Does a network violate a property on one of many boxes?

A box is *decided by bounds* if on the whole box an inequality of each unsafe polytope is proven to fail, by enclosures
of its slack (`passes/ranges.py`). Bounds are computed for all boxes together. Boxes that they do not decide follow one
by one: points by their exact outputs, boxes of one to six free inputs as in `verdict.py`, and larger
ones as in `wide_verdict.py`.
The boxes and polytopes of a property contain those of its file. Therefore an unsafe point counts only if it is within
the numbers of the file; otherwise the box is not decided.
Cost: three or four forward passes for each box; an enumeration for each box that bounds leave open, or bounds on some
thousands of parts for a larger one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from regions.answers.bisection import around, proved_soon
from regions.answers.counterexamples import witness_at_point
from regions.answers.properties import Property, free_inputs, inside, too_free
from regions.answers.unsafe_sets import Polytope, owners, slacks
from regions.answers.verdict import Verdict, verdict_on
from regions.answers.wide_verdict import WideVerdict
from regions.answers.witness import Witness
from regions.counting.options import Options, asked, takes_timeout
from regions.domains.abilities import MOST_ENUMERATED
from regions.errors import ShapeMismatchError, VerdictNotDecided, WorkStopped
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers
from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.roundoff import U
from regions.ground.arithmetic.types import Bits, Floats
from regions.ground.text.tables import facts_table
from regions.ground.threads.deadline import check_time, short_work
from regions.ground.threads.progress import Progress, reporting
from regions.networks.network import Network, require_network
from regions.passes.ranges import output_ranges

__all__ = ["PropertyVerdict", "verify_property"]


@dataclass(frozen=True, eq=False, repr=False)
class PropertyVerdict(JsonReport):
    """Whether a property holds on its boxes.

    Attributes
    ----------
    holds : bool or None
        Whether no input in any box has unsafe outputs. Decided exactly, for the numbers of the file that the property
        was read from; only an input that the file fixes has the nearest double. None, for unknown, only in the
        ``partial`` of an exception.
    violated : bool [boxes]
        Which boxes have such an input.
    undecided : bool [boxes]
        Which boxes are not decided: no box, if the property holds.
    proved_shares : float64 [boxes]
        Lower bounds on the share of each box that is proven to be safe: 1 if it was decided to be safe, and 0 if it is
        violated.
    by_bounds : bool [boxes]
        Whether each box was decided by bounds, without enumerating its regions.
    verdicts : mapping of int to Verdict
        The verdicts of `regions.verify` on the boxes that bounds did not decide. Points have none.
    violated_shares, errors : float64 [boxes]
        The share of each box's length, area or volume that is unsafe, 1 or 0 for a point, and proven bounds on the
        errors, for the boxes of the property. Computed on first use: see `Verdict`.
    box : int or None
        The first violated box.
    witness : Witness or None
        A point of that box with unsafe outputs.
    touching : Witness or None
        If no box is violated: a point that would be unsafe if no inequality was strict, if one was found.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])  # |x|
    >>> large = [([[-1.0]], [-2.0])]  # y >= 2 is unsafe
    >>> found = regions.verify_property(net, regions.Property([[-1.0], [1.0]], [[1.0], [3.0]], [large, large]))
    >>> found
    PropertyVerdict(violated in 1 of 2 boxes)
    >>> found.box, found.violated_shares, found.witness.input
    (1, array([0. , 0.5]), array([2.5]))
    """

    holds: bool | None
    violated: Bits
    undecided: Bits
    proved_shares: Floats
    by_bounds: Bits
    verdicts: Mapping[int, Verdict]
    box: int | None
    witness: Witness | None
    touching: Witness | None = None

    @property
    def verdict(self) -> str:
        """The word "holds", "violated" or "unknown"."""
        return "unknown" if self.holds is None else "holds" if self.holds else "violated"

    @cached_property
    def violated_shares(self) -> Floats:
        shares = self.violated.astype(np.float64)
        for box, verdict in self.verdicts.items():
            shares[box] = verdict.violated_share
        return read_only(shares)

    @cached_property
    def errors(self) -> Floats:
        errors = np.zeros(len(self.violated))
        for box, verdict in self.verdicts.items():
            errors[box] = verdict.errors
        return read_only(errors)

    def as_dict(self) -> dict[str, Any]:
        """The verdict, the violated boxes, and the witness, with fractions rounded. Shares are not computed for it."""
        facts: dict[str, Any] = {
            "verdict": self.verdict,
            "holds": self.holds,
            "boxes": len(self.violated),
            "decided_by_bounds": int(self.by_bounds.sum()),
            "violated": np.flatnonzero(self.violated).tolist(),
            "undecided": np.flatnonzero(self.undecided).tolist(),
        }
        if self.undecided.any():
            facts["proved_shares"] = self.proved_shares[self.undecided].tolist()
        for name in ("witness", "touching"):
            if (point := getattr(self, name)) is not None:
                facts[name] = point.as_dict()
        return facts

    def _repr_html_(self) -> str:
        rows = [
            ("holds", {True: "yes, proved", False: "no", None: "unknown"}[self.holds]),
            ("boxes", str(len(self.violated))),
            ("violated", str(int(self.violated.sum()))),
            ("undecided", str(int(self.undecided.sum()))),
            ("decided by bounds", str(int(self.by_bounds.sum()))),
        ]
        return facts_table(repr(self), rows)

    def __repr__(self) -> str:
        count = len(self.violated)
        boxes = f"{count} box{'es' * (count != 1)}"
        if self.holds is None:
            return f"PropertyVerdict(unknown, {self.undecided.sum()} of {boxes} undecided)"
        words = f"holds on {boxes}" if self.holds else f"violated in {self.violated.sum()} of {boxes}"
        return f"PropertyVerdict({words})"


@takes_timeout
def verify_property(
    network: Network,
    property: Property,
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> PropertyVerdict:
    """Decide whether a network violates a property on its boxes.

    Parameters
    ----------
    network : Network
    property : Property
        From `load_property`. Boxes with more than six free inputs are decided by an unsafe point that a search finds,
        or by bounds on parts of them, or not at all.
    limit, progress, workers
        As for `regions.verify`, for each box that bounds do not decide. In boxes with more than six free inputs, the
        limit is on the number of parts.
    timeout : float, optional
        Stop with `TimeoutReached` after this many seconds, for all boxes together.

    Returns
    -------
    PropertyVerdict

    Raises
    ------
    VerdictNotDecided
        A box with more than six free inputs is not decided, and no box is violated. Or a box is unsafe only within a
        rounding of numbers of the file that are not doubles.
    ShapeMismatchError
        The property has other numbers of inputs or outputs than the network.
    LimitReached, TimeoutReached, KeyboardInterrupt
        The work was stopped; ``partial`` is a `PropertyVerdict` with what was decided so far.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])  # |x|
    >>> prop = regions.Property([[-1.0]], [[1.0]], [[([[-1.0]], [-2.0])]])  # y >= 2 is unsafe
    >>> regions.verify_property(net, prop)
    PropertyVerdict(holds on 1 box)
    """
    require_network(network)
    if not isinstance(property, Property):
        raise TypeError(f"expected a property, as from regions.load_property, got {type(property).__name__}")
    if (property.n_in, property.n_out) != (network.n_in, network.n_out):
        raise ShapeMismatchError(
            f"the property is about {property.n_in} inputs and {property.n_out} outputs, the network has "
            f"{network.n_in} and {network.n_out}"
        )
    with reporting(progress) as report:
        return _Boxes(network, property).decided(asked(limit, report, workers))


class _Boxes:
    """The boxes of a property, and what was decided of them."""

    def __init__(self, network: Network, given: Property) -> None:
        self.network, self.given = network, given
        with short_work():
            self.by_bounds = _decided_by_bounds(network, given)
        self.open = ~self.by_bounds
        self.shares = self.by_bounds.astype(np.float64)
        self.witnesses: dict[int, Witness] = {}
        self.touching: Witness | None = None
        self.verdicts: dict[int, Verdict] = {}
        self.at_digits: set[int] = set()

    def decided(self, options: Options) -> PropertyVerdict:
        """Decide the boxes that are open, one by one."""
        todo = np.flatnonzero(self.open).tolist()
        for done, box in enumerate(todo):
            try:
                check_time()
                self._decide(box, options.part(done, len(todo)))
            except (WorkStopped, KeyboardInterrupt) as stopped:
                if self.shares[box] == 0 and len(free_inputs(self.given, box)):
                    given = self.given
                    self.shares[box] = proved_soon(self.network, given.lower[box], given.upper[box], given.unsafe[box])
                stopped.partial, stopped.found = self.verdict(), None  # type: ignore[union-attr]
                raise
        found = self.verdict()
        if found.holds is None:
            box = int(np.flatnonzero(self.open)[0])
            if box in self.at_digits:
                raise VerdictNotDecided(
                    f"box {box} is unsafe only within a rounding of numbers that no double holds, such as 0.1; write "
                    "the numbers of its bounds with fewer digits, as multiples of a power of two",
                    partial=found,
                )
            why = "no unsafe point was found, and bounds on parts of the box do not prove all of it to be safe"
            raise VerdictNotDecided(too_free(self.given, box, why), partial=found)
        return found

    def verdict(self) -> PropertyVerdict:
        """Return what was decided so far."""
        violated = np.zeros(len(self.given), bool)
        violated[list(self.witnesses)] = True
        first = min(self.witnesses, default=None)
        holds = False if first is not None else None if self.open.any() else True
        witness = None if first is None else self.witnesses[first]
        decided = read_only(violated), read_only(self.open.copy()), read_only(self.shares.copy())
        touching = None if first is not None else self.touching
        return PropertyVerdict(holds, *decided, self.by_bounds, self.verdicts, first, witness, touching)

    def _decide(self, box: int, options: Options) -> None:
        free, polytopes = len(free_inputs(self.given, box)), self.given.unsafe[box]
        if free > MOST_ENUMERATED:
            return self._decide_wide(box, options)
        if free:
            domain = self.given.domain(box)
            verdict = self.verdicts[box] = verdict_on(self.network, domain, (domain,), polytopes, options)
            self._close(box, verdict.witness)
            self.touching = self.touching or verdict.touching
        else:
            point = self.given.lower[box]
            witness = witness_at_point(self.network, point, polytopes)
            if witness is None and self.touching is None:
                closed = [each._replace(strict=np.zeros_like(each.strict)) for each in polytopes]
                self.touching = witness_at_point(self.network, point, closed)
            self._close(box, witness)

    def _decide_wide(self, box: int, options: Options) -> None:
        given = self.given
        search = WideVerdict(self.network, given.lower[box], given.upper[box], given.unsafe[box])
        try:
            found = search.decide(*self._inner(box), options.limit)
        finally:
            self.shares[box] = search.proved_share
        if found is not None or search.safe:
            self.by_bounds[box] = found is None
            self._close(box, found)

    def _inner(self, box: int) -> tuple[Floats, Floats]:
        """Return the corners of the doubles inside a box, or of the box where no double is inside."""
        least, most = inside(self.given).lower[box], inside(self.given).upper[box]
        none = least > most
        return np.where(none, self.given.lower[box], least), np.where(none, self.given.upper[box], most)

    def _confirmed(self, box: int, witness: Witness) -> Witness | None:
        """Return an unsafe point within the numbers of the file, if one is found near the given one."""
        given, within = self.given, inside(self.given)
        outer = given.unsafe[box]
        inner = [each._replace(bounds=bounds) for each, bounds in zip(outer, within.bounds[box], strict=True)]
        same = all(np.array_equal(one.bounds, other.bounds) for one, other in zip(outer, inner, strict=True))
        corners = np.stack([given.lower[box], given.upper[box]]), np.stack([within.lower[box], within.upper[box]])
        if same and (given.n_in <= MOST_ENUMERATED or np.array_equal(*corners)):
            return witness  # the bounds of small boxes are rows
        low, high = self._inner(box)
        point, none = np.clip(witness.input, low, high), within.lower[box] > within.upper[box]
        if none.any():
            part = np.where(none, low, point)[np.newaxis], np.where(none, high, point)[np.newaxis]
            least, _ = output_ranges(slacks(self.network.graph, inner), *around(*part))
            if not any((least[0, own.numbers] > 0).all() for own in owners(inner)):
                return None
        return witness_at_point(self.network, point, inner)

    def _close(self, box: int, witness: Witness | None) -> None:
        if witness is not None and (witness := self._confirmed(box, witness)) is None:
            self.at_digits.add(box)
            self.by_bounds[box] = False
            self.verdicts.pop(box, None)
            return
        self.open[box], self.shares[box] = False, witness is None
        if witness is not None:
            self.witnesses[box] = witness


def _decided_by_bounds(network: Network, given: Property) -> Bits:
    """Whether enclosures prove that each box has no unsafe outputs: bool [boxes]."""
    polytopes = [each for unsafe in given.unsafe for each in unsafe]
    sizes = np.array([len(each.bounds) for each in polytopes])
    rows = np.concatenate([np.hstack([each.outputs, each.inputs]) for each in polytopes])
    bounds = np.concatenate([each.bounds for each in polytopes])
    # Boxes often share the coefficients, though not the bounds.
    forms, which = np.unique(rows, axis=0, return_inverse=True)
    none = np.zeros(len(forms))
    together = Polytope(forms[:, : given.n_out], none, forms[:, given.n_out :], none.astype(bool))
    _, upper = output_ranges(slacks(network.graph, [together]), *around(given.lower, given.upper))
    boxes = np.repeat(np.arange(len(given)), [len(unsafe) for unsafe in given.unsafe])
    # The slack of a row is at most its bound plus this; the sum is rounded, hence the factor.
    most = upper[np.repeat(boxes, sizes), which.ravel()]
    fails = most + bounds < -8 * U * (np.abs(most) + np.abs(bounds))
    starts = np.cumsum(sizes) - sizes
    safe = np.logical_or.reduceat(fails, starts)
    decided = np.ones(len(given), dtype=bool)
    np.logical_and.at(decided, boxes, safe)
    return decided
