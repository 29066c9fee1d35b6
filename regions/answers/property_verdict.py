# SPDX-License-Identifier: MIT
"""Does a network violate a property on one of many boxes?

A box is *decided by bounds* if on the whole box an inequality of each unsafe polytope is proven to fail, by enclosures
of its slack (`passes/ranges.py`). Bounds are computed for all boxes together. Boxes that they do not decide follow one
by one: points by their exact outputs, boxes of one to six free inputs as in `verdict.py`.
Cost: three or four forward passes for each box; an enumeration for each box that bounds leave open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from regions.answers.properties import Property, too_free
from regions.answers.unsafe_sets import Polytope, is_unsafe, owners, slacks
from regions.answers.verdict import Verdict, verdict_on
from regions.answers.violations import outputs_at
from regions.answers.witness import Witness, witness_at
from regions.arithmetic.arguments import Workers
from regions.arithmetic.arrays import read_only
from regions.arithmetic.types import Bits, Floats
from regions.domains.domain import Domain
from regions.domains.polytopes import MOST_ENUMERATED
from regions.enumeration.options import asked
from regions.errors import DomainError, ShapeMismatchError
from regions.networks.network import Network, require_network
from regions.passes.ranges import output_ranges
from regions.text.progress import Progress, reporting
from regions.text.tables import JsonReport, facts_table

__all__ = ["PropertyVerdict", "verify_property"]


@dataclass(frozen=True, eq=False, repr=False)
class PropertyVerdict(JsonReport):
    """Whether a property holds on its boxes.

    Attributes
    ----------
    holds : bool
        Whether no input in any box has unsafe outputs. Decided exactly.
    violated : bool [boxes]
        Which boxes have such an input.
    by_bounds : bool [boxes]
        Whether each box was decided by bounds, without enumerating its regions.
    verdicts : mapping of int to Verdict
        The verdicts of `regions.verify` on the boxes that bounds did not decide. Points have none.
    violated_shares, errors : float64 [boxes]
        The share of each box's length, area or volume that is unsafe, 1 or 0 for a point, and proven bounds on the
        errors. Computed on first use: see `Verdict`.
    box : int or None
        The first violated box.
    witness : Witness or None
        A point of that box with unsafe outputs.

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

    holds: bool
    violated: Bits
    by_bounds: Bits
    verdicts: Mapping[int, Verdict]
    box: int | None
    witness: Witness | None

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
        boxes = np.flatnonzero(self.violated)
        facts: dict[str, Any] = {
            "holds": self.holds,
            "boxes": len(self.violated),
            "decided_by_bounds": int(self.by_bounds.sum()),
            "violated": boxes.tolist(),
        }
        return facts if self.witness is None else {**facts, "witness": self.witness.as_dict()}

    def _repr_html_(self) -> str:
        rows = [
            ("holds", "yes, proved" if self.holds else "no"),
            ("boxes", str(len(self.violated))),
            ("violated", str(int(self.violated.sum()))),
            ("decided by bounds", str(int(self.by_bounds.sum()))),
        ]
        return facts_table(repr(self), rows)

    def __repr__(self) -> str:
        count = len(self.violated)
        boxes = f"{count} box{'es' * (count != 1)}"
        words = f"holds on {boxes}" if self.holds else f"violated in {self.violated.sum()} of {boxes}"
        return f"PropertyVerdict({words})"


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
        From `load_property`. Boxes with more than six free inputs are decided by bounds only.
    limit, progress, workers
        As for `regions.enumerate`, for each box that bounds do not decide.
    timeout : float, optional
        Stop with `TimeoutReached` after this many seconds, for all boxes together.

    Returns
    -------
    PropertyVerdict

    Raises
    ------
    DomainError
        Bounds do not decide a box with more than six free inputs.
    ShapeMismatchError
        The property has other numbers of inputs or outputs than the network.
    LimitReached, TimeoutReached
        As for `regions.verify`.

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
    free = (property.lower < property.upper).sum(axis=1)
    by_bounds = _decided_by_bounds(network, property)
    left = np.flatnonzero(~by_bounds)
    wide = left[free[left] > MOST_ENUMERATED]
    if len(wide):
        raise DomainError(too_free(property, int(wide[0])))
    violated, verdicts = np.zeros(len(property), bool), {}
    witness, first = None, None
    with reporting(progress) as report:
        options = asked(limit, report, workers, timeout=timeout)
        for done, box in enumerate(left.tolist()):
            options.deadline.check()
            polytopes = property.unsafe[box]
            if free[box]:
                domain = property.domain(box)
                verdicts[box] = verdict_on(network, domain, (domain,), polytopes, options.part(done, len(left)))
                found = verdicts[box].witness
            else:
                found = _witness_at_point(network, property.lower[box], polytopes)
            violated[box] = found is not None
            if found is not None and first is None:
                witness, first = found, box
    return PropertyVerdict(first is None, violated, by_bounds, verdicts, first, witness)


def _decided_by_bounds(network: Network, given: Property) -> Bits:
    """Whether enclosures prove that each box has no unsafe outputs: bool [boxes]."""
    polytopes = [each for unsafe in given.unsafe for each in unsafe]
    sizes = np.array([len(each.bounds) for each in polytopes])
    rows = np.concatenate([np.hstack([each.outputs, each.inputs]) for each in polytopes])
    bounds = np.concatenate([each.bounds for each in polytopes])
    # Boxes often share the coefficients, though not the bounds.
    forms, which = np.unique(rows, axis=0, return_inverse=True)
    together = Polytope(forms[:, : given.n_out], np.zeros(len(forms)), forms[:, given.n_out :])
    centres, sides = _around(given)
    _, upper = output_ranges(slacks(network.graph, [together]), centres, sides)
    boxes = np.repeat(np.arange(len(given)), [len(unsafe) for unsafe in given.unsafe])
    # The slack of a row is at most its bound plus this; the sum is rounded, hence the factor.
    most = upper[np.repeat(boxes, sizes), which.ravel()]
    fails = most + bounds < -(2.0**-50) * (np.abs(most) + np.abs(bounds))
    starts = np.cumsum(sizes) - sizes
    safe = np.logical_or.reduceat(fails, starts)
    decided = np.ones(len(given), dtype=bool)
    np.logical_and.at(decided, boxes, safe)
    return decided


def _around(given: Property) -> tuple[Floats, Floats]:
    """Centres [boxes, n_in] and sides [boxes, d, n_in], one for each free input, of boxes around the property's."""
    centres = given.middle
    halves = np.nextafter(np.maximum(centres - given.lower, given.upper - centres), np.inf)
    free = given.lower < given.upper
    halves[~free] = 0.0
    order = np.argsort(~free, axis=1, kind="stable")[:, : max(int(free.sum(axis=1).max()), 1)]
    sides = np.zeros((len(given), order.shape[1], given.n_in))
    boxes = np.arange(len(given))[:, np.newaxis]
    sides[boxes, np.arange(order.shape[1]), order] = np.take_along_axis(halves, order, axis=1)
    return centres, sides


def _witness_at_point(network: Network, point: Floats, polytopes: tuple[Polytope, ...]) -> Witness | None:
    """The point as a witness, if its outputs are unsafe."""
    graph, rows = slacks(network.graph, polytopes), owners(polytopes)
    direction = np.zeros((1, len(point)))
    direction[0, 0] = 1.0
    place = Domain(point, direction, [[1.0, 0.0], [1.0, 1.0]])
    here = np.zeros(1)
    if not is_unsafe(outputs_at(graph, place, here), rows):
        return None
    outputs = outputs_at(network.graph, place, here)
    return witness_at(graph, (), outputs, point, lambda slack: is_unsafe(slack, rows))
