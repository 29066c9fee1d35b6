# SPDX-License-Identifier: MIT
"""Does a network violate a property somewhere on a domain?

A property says which outputs are unsafe (`unsafe_sets.py`). All regions that bounds do not prove to be safe are
searched, up to the first unsafe point (`violations.py`). The unsafe share is the sum of the sizes of all regions that
are unsafe as a whole. It takes an enumeration of the unsafe part, and is computed on first use.
In boxes of more than six dimensions, `wide_verdict.py` decides.
Cost: as `violations.py` says; for the share an enumeration, and the volumes of the unsafe regions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from regions.answers.bisection import proved_soon
from regions.answers.extreme_values import Target
from regions.answers.legs import OfLegs, mean_of_legs, parts_of, straight_parts
from regions.answers.shares import proven_share
from regions.answers.targets import reached_on
from regions.answers.unsafe_sets import Polytope, UnsafeSets, as_polytopes, with_depths
from regions.answers.violations import Question, Search, UnsafeRegions, first_violation, unsafe_regions
from regions.answers.wide_verdict import WideVerdict
from regions.answers.witness import Witness
from regions.counting.found import End, exception_of
from regions.counting.options import Options, asked, takes_timeout
from regions.domains import Box, Curve, Domain
from regions.domains.abilities import MOST_ENUMERATED, VERDICTS, require
from regions.errors import DomainError, LimitReached, VerdictNotDecided, WorkStopped
from regions.ground.arithmetic.arguments import Workers
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.roundoff import SMALLEST
from regions.ground.arithmetic.types import Floats
from regions.ground.text.tables import facts_table
from regions.ground.threads.progress import Progress, reporting
from regions.networks.network import Network, require_network, with_graph
from regions.results.partition import Partition

__all__ = ["Unfinished", "Verdict", "verdict_on", "verify"]

# A limit counts these.
LIMITED = "regions and cells that bounds prove to be safe"

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False, repr=False)
class Verdict(OfLegs):
    """Whether a property holds on a domain.

    Attributes
    ----------
    holds : bool
        Whether no point of the domain, its boundary included, has unsafe outputs. Decided exactly.
    witness : Witness or None
        A point with unsafe outputs, if there is one.
    touching : Witness or None
        If the property holds: a point that would be unsafe if no inequality was strict, if there is one.
    regions_met : int
        The number of regions that were opened until this was decided: those that bounds did not prove to be safe.
    bounded_parts : int or None
        In a box of more than six dimensions, where no regions are opened: the number of parts that were bounded.
    violated_share, errors : float
        The share of the domain's length, area or volume that is unsafe, and a proven bound on its error. It is 0 if the
        unsafe set is only touched. If the property is violated, it is computed on first use and kept: that takes an
        enumeration of the unsafe part, with the limit and the workers of the call, and can take much longer than the
        verdict. In more than six dimensions, where nothing is enumerated, it raises `DomainError`.
    margin : float
        The amount by which all bounds b must be raised until the property is violated. If it is violated already, the
        margin is 0 or negative: the bounds must be lowered by that amount until it holds. The exact number, rounded. It
        is computed on first use, by a search for the least margin of all polytopes. In more than six dimensions it
        raises `VerdictNotDecided` if bounds leave an interval.
    domain : Domain or Polyline
    partition : Partition
        All regions that bounds do not prove to be safe, of the network with a unit for each row of the property. It is
        not complete; ``stats["closed"]`` is the number of cells that bounds proved to be safe. Computed on first use.
    partitions : tuple of Partition
        The same for each leg of a polyline; a single entry for other domains.
    network : Network
        The network that was asked about.
    unsafe : sequence of triples (A, b, C)
        The polytopes ``A y + C x <= b``, as named tuples with ``outputs``, ``bounds`` and ``inputs``.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> segment = regions.Segment([-1.0], [3.0])
    >>> found = regions.verify(net, segment, [([[-1.0]], [-4.0])])  # y >= 4 is unsafe
    >>> found, found.margin
    (Verdict(holds, bounds left 0 regions), 1.0)
    >>> found = regions.verify(net, segment, [([[-1.0]], [-2.0])])  # y >= 2 is unsafe
    >>> found.holds, found.violated_share, found.witness.outputs
    (False, 0.25, (Fraction(5, 2),))
    """

    domain: Domain | Curve
    holds: bool
    witness: Witness | None
    regions_met: int
    network: Network
    unsafe: Sequence[Polytope]
    _parts: tuple[Domain, ...]
    _searches: tuple[Search, ...]
    _options: Options
    bounded_parts: int | None = None

    @cached_property
    def _unsafe_regions(self) -> tuple[UnsafeRegions, ...]:
        """All regions that bounds leave open in each part. Parts after the first violated one were not searched."""
        every: list[UnsafeRegions] = []
        for number, part in enumerate(self._parts):
            known = self._searches[number].every if number < len(self._searches) else None
            question, met = Question(self.network, part, self.unsafe), sum(len(each.partition) for each in every)
            every.append(known or _with_what_is_left(unsafe_regions, question, self._options, met))
        return tuple(every)

    @property
    def touching(self) -> Witness | None:
        found = (replace(each.touching, leg=leg) for leg, each in enumerate(self._searches) if each.touching)
        return next(found, None) if self.holds else None

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:  # type: ignore[override]
        return tuple(each.partition for each in self._unsafe_regions)

    @cached_property
    def _share(self) -> tuple[float, float]:
        if self.holds:
            return 0.0, 0.0
        return mean_of_legs(self._parts, [proven_share(each.partition, each.inside) for each in self._unsafe_regions])

    @property
    def violated_share(self) -> float:
        return self._share[0]

    @property
    def errors(self) -> float:
        return self._share[1]

    @cached_property
    def margin(self) -> float:
        depths = with_graph(self.network, with_depths(self.network.graph, self.unsafe))
        target = Target(-1, tuple(range(len(self.unsafe))))
        (found,) = reached_on(depths, depths.graph, self.domain, [target], replace(self._options, limit=None)).values
        least = found.value
        if least is None:
            low, high = found.interval(-1)
            raise VerdictNotDecided(
                f"the margin is between {low!r} and {high!r}, and bounds on parts of the box do not decide more; call "
                "verify on a smaller box",
                partial=self,
            )
        # The sign of a margin below the smallest double is kept.
        return nearest_float(least) or (least > 0) * SMALLEST

    def as_dict(self) -> dict[str, Any]:
        """The verdict and the witness, with fractions rounded. The share is not computed for it."""
        met = {"regions": self.regions_met} if self.bounded_parts is None else {"parts": self.bounded_parts}
        facts: dict[str, Any] = {"holds": self.holds, **met}
        for name in ("witness", "touching"):
            if (point := getattr(self, name)) is not None:
                facts[name] = point.as_dict()
        return facts

    def _repr_html_(self) -> str:
        opened = ("regions opened", str(self.regions_met))
        if self.bounded_parts is not None:
            opened = ("parts of the box", str(self.bounded_parts))
        return facts_table(repr(self), [("holds", "yes, proved" if self.holds else "no"), opened])

    def __repr__(self) -> str:
        if self.bounded_parts is not None:
            parts = f"bounds on {self.bounded_parts} part{'s' * (self.bounded_parts != 1)}"
            return f"Verdict({'holds, by' if self.holds else 'violated, after'} {parts})"
        opened = f"{self.regions_met} region{'s' * (self.regions_met != 1)}"
        return f"Verdict({f'holds, bounds left {opened}' if self.holds else f'violated, after {opened}'})"


@dataclass(frozen=True)
class Unfinished:
    """What is known of a verification that was stopped: the attribute ``found`` of the exceptions that stop it.

    Attributes
    ----------
    proved_share : float or None
        A lower bound on the share of the domain that is proven to be safe; None if the domain is not a box with sides
        along the inputs.
    """

    proved_share: float | None


@takes_timeout
def verify(
    network: Network,
    domain: Domain | Curve,
    unsafe: UnsafeSets,
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Verdict:
    """Decide whether outputs on a domain can be unsafe.

    Parameters
    ----------
    network : Network
    domain : Domain or Polyline
        A segment, a polyline, a polygon, or a box or polytope of three to six dimensions. A `Box` of inputs may have up
        to 1024.
    unsafe : iterable of (array-like [k, n_out], array-like [k]), or triples with an array-like [k, n_in]
        Polytopes ``A y <= b``, or ``A y + C x <= b``, of outputs y at inputs x. Outputs are unsafe if they are in one
        of the polytopes, boundaries included. A fourth item, bool [k], says which inequalities are strict.
    limit, progress, workers
        As for `regions.enumerate`, applied to the network with one more unit for each row. The limit is on the number
        of regions and of cells that bounds prove to be safe, in more than six dimensions of parts of the box. The
        search ends with the first unsafe point. With several workers, that can be another point, and the share can
        differ in its last digits.
    timeout : float, optional
        Stop with `TimeoutReached` after this many seconds. It does not hold for shares that are computed later. In more
        than six dimensions, work without limits ends after some seconds.

    Returns
    -------
    Verdict

    Raises
    ------
    DomainError
        The domain is unbounded, it is a curve with arcs, or it has more than six dimensions and is not a box of inputs.
    VerdictNotDecided
        In more than six dimensions, neither bounds nor the search for an unsafe point decide. ``partial.proved_share``
        is the share of the box that is proven to be safe.
    TypeError, ValueError
        The polytopes do not fit the network.
    LimitReached
        More regions were opened, and none of them is unsafe; ``partial`` has the last block of them, and
        ``found.proved_share`` is a share of a box that is proven to be safe.
    TimeoutReached, KeyboardInterrupt
        The work took longer, or was stopped; as for `LimitReached`.
    ShapeMismatchError
        As for `regions.enumerate`.

    Examples
    --------
    Is class 0 always the smallest score? Unsafe are the scores where score 1, or score 2, is at most score 0.

    >>> import regions
    >>> scores = [[0.5, 0.0], [1.0, 0.5], [0.0, 1.0]]
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), (scores, [0.0, 0.25, 1.0])])
    >>> square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    >>> regions.verify(net, square, [([[-1, 1, 0]], [0]), ([[-1, 0, 1]], [0])])
    Verdict(holds, bounds left 0 regions)
    """
    wide = isinstance(domain, Box) and domain.dimension > MOST_ENUMERATED
    parts = (straight_parts if wide else parts_of)(domain, require_network(network))
    for part in parts:
        require(VERDICTS, part)
    polytopes = as_polytopes(unsafe, network.n_in, network.n_out)
    with reporting(progress) as report:
        options = asked(limit, report, workers)
        if isinstance(domain, Box) and wide:
            return _in_wide_box(network, domain, polytopes, options)
        try:
            return verdict_on(network, domain, parts, polytopes, options)
        except (WorkStopped, KeyboardInterrupt) as stopped:
            stopped.found = Unfinished(_proved_share(network, domain, polytopes))  # type: ignore[union-attr]
            raise


def _in_wide_box(network: Network, box: Box, polytopes: Sequence[Polytope], options: Options) -> Verdict:
    corners = _corners(box)
    if corners is None:
        raise DomainError(
            f"{box!r} has more than {MOST_ENUMERATED} dimensions, and its sides are not along inputs; take "
            "regions.Box(low, high), and put the directions into the first layer of the network"
        )
    search = WideVerdict(network, *corners, polytopes)
    try:
        witness = search.decide(*corners, options.limit)
    except (WorkStopped, KeyboardInterrupt) as stopped:
        stopped.found = Unfinished(search.proved_share)  # type: ignore[union-attr]
        raise
    if witness is None and not search.safe:
        raise VerdictNotDecided(
            f"no unsafe point was found, and bounds prove {search.proved_share:.3g} of the box to be safe; take a "
            "longer timeout, or a smaller box",
            partial=Unfinished(search.proved_share),
        )
    later = replace(options, report=None)
    return Verdict(box, witness is None, witness, 0, network, polytopes, (box,), (), later, search.parts)


def _corners(box: Box) -> tuple[Floats, Floats] | None:
    """Return the corners of a box in input space, float64 [n_in]; None if its sides are not along inputs."""
    if box.input_axes is None:
        return None
    lower, upper = box.origin.copy(), box.origin.copy()
    lower[box.input_axes], upper[box.input_axes] = box.ends
    return lower, upper


def _proved_share(network: Network, domain: Domain | Curve, polytopes: Sequence[Polytope]) -> float | None:
    corners = _corners(domain) if isinstance(domain, Box) else None
    return None if corners is None else proved_soon(network, *corners, polytopes)


def verdict_on(
    network: Network,
    domain: Domain | Curve,
    parts: tuple[Domain, ...],
    polytopes: Sequence[Polytope],
    options: Options,
) -> Verdict:
    """Decide whether outputs on bounded parts of a domain can be in one of some polytopes, as `verify` does."""
    searches: list[Search] = []
    witness = None
    for leg, part in enumerate(parts):
        question, met = Question(network, part, polytopes), sum(each.regions for each in searches)
        searches.append(_with_what_is_left(first_violation, question, options.part(leg, len(parts)), met))
        if searches[-1].witness is not None:
            witness = replace(searches[-1].witness, leg=leg)
            break
    met, later = sum(each.regions for each in searches), replace(options, report=None)
    return Verdict(domain, witness is None, witness, met, network, polytopes, parts, tuple(searches), later)


def _with_what_is_left(
    find: Callable[[Question, Options], Found], question: Question, options: Options, met: int
) -> Found:
    """Ask a question with the rest of the limit, which holds for all parts of the domain together."""
    if options.limit is None:
        return find(question, options)
    try:
        return find(question, replace(options, limit=max(options.limit - met, 0)))
    except LimitReached as reached:
        raise exception_of(End(limit=options.limit), reached.partial, what=LIMITED) from None
