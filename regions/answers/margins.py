# SPDX-License-Identifier: MIT
"""Does a network give one class all over a domain, and by which margin?

The margin of a class at a point is its score minus the largest of the other scores. Its least value on a domain is the
least difference of two scores, one target of the search in `targets.py`, with one threshold for all other classes. If
it is above 0, the whole domain has the class. If it is 0, other classes reach the score somewhere. The class of a point
is the first of the largest scores, so it is another one there only if an earlier class reaches it: a second search
tells.
Cost: that of one or two searches.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from regions.answers.classes import scored, threshold_of
from regions.answers.extreme_values import Extreme, Target
from regions.answers.legs import straight_parts
from regions.answers.targets import Reached, reached_on, words_of
from regions.answers.unsafe_points import outputs_at
from regions.counting.options import Options, asked, takes_timeout
from regions.domains import Box, Curve, Domain
from regions.domains.abilities import MARGINS, require
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers, flag, integer
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.types import Floats
from regions.ground.text.tables import facts_table
from regions.ground.threads.deadline import short_work
from regions.ground.threads.progress import Progress, reporting
from regions.networks.graph import Graph
from regions.networks.network import Network, require_network
from regions.networks.parts import with_forms

__all__ = ["Margin", "margin"]


@dataclass(frozen=True, eq=False, repr=False)
class Margin(JsonReport):
    """By which margin a network gives one class all over a domain.

    Attributes
    ----------
    label : int
        The class.
    holds : bool or None
        Whether every point of the domain has this class, decided exactly. None in a box of more than six dimensions, if
        bounds do not decide it.
    value, error : float
        The least margin, and a proven bound on its error: the score of the class minus the largest other score, at the
        point where that is least. If ``decided`` is False, the least margin that was found.
    exact : Fraction or None
        The least margin, exactly; None if it is not decided.
    interval : (float, float)
        Between which numbers the least margin is, proven and rounded outwards. If it is not decided, the upper end is a
        margin that was found, and the lower end a bound.
    decided : bool
        Whether the least margin is known exactly: always, except in a box of more than six dimensions.
    rival : int
        The class with the largest other score at that point.
    where : float64 [n_in]
        The point of input space, rounded.
    domain : Domain or Polyline

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], None), ([[1.0, 1.0], [0.5, 0.0]], [0.5, 0.0])])
    >>> found = regions.margin(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> found
    Margin(class 0 everywhere, by at least 0.5)
    >>> found.rival, found.exact
    (1, Fraction(1, 2))
    """

    label: int
    holds: bool | None
    rival: int
    domain: Domain | Curve
    _reached: Reached

    @property
    def _least(self) -> Extreme:
        return self._reached.values[0]

    @property
    def value(self) -> float:
        return self._least.rounded[0]

    @property
    def error(self) -> float:
        return self._least.rounded[1]

    @property
    def exact(self) -> Fraction | None:
        return self._least.value

    @property
    def interval(self) -> tuple[float, float]:
        return self._least.interval(-1)

    @property
    def decided(self) -> bool:
        return self._reached.decided

    @cached_property
    def where(self) -> Floats:
        weight, *coordinates = self._least.point
        place = [nearest_float(Fraction(x, weight)) for x in coordinates]
        return self._reached.parts[self._least.leg].to_input(place)

    def as_dict(self) -> dict[str, Any]:
        """The verdict, the margin and its place."""
        return {
            "label": self.label,
            "holds": self.holds,
            "margin": self.value,
            "error": self.error,
            "interval": list(self.interval),
            "decided": self.decided,
            "rival": self.rival,
            "where": self.where.tolist(),
        }

    @property
    def words(self) -> str:
        """The margin in words: an interval, if it is not decided."""
        return words_of(self._least, self.value, -1)

    def _repr_html_(self) -> str:
        holds = {True: "yes, proved", False: "no", None: "not decided"}[self.holds]
        return facts_table(repr(self), [(f"class {self.label} everywhere", holds), ("least margin", self.words)])

    def __repr__(self) -> str:
        if self.holds:
            return f"Margin(class {self.label} everywhere, by at least {self.words})"
        if self.holds is None:
            return f"Margin(class {self.label} not decided, least margin {self.words})"
        return f"Margin(not class {self.label} everywhere, least margin {self.words})"


@takes_timeout
def margin(
    network: Network,
    domain: Domain | Curve,
    label: int | None = None,
    *,
    threshold: float | None = None,
    largest: bool = True,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Margin:
    """Decide whether a network gives one class all over a domain, and find the least margin.

    Parameters
    ----------
    network : Network
    domain : Domain or Polyline
        A segment, polyline, polygon, a box of three and more dimensions, or another bounded polytope of three to six.
    label : int, optional
        The class; by default that of the middle of the domain, or of the first leg of a polyline.
    threshold, largest
        As for `regions.decisions`, with the same classes.
    limit, timeout, progress, workers
        As for `regions.extremes`.

    Returns
    -------
    Margin

    Raises
    ------
    NetworkError
        A threshold is given, and the network has several outputs.
    TypeError, ValueError
        The label is not the number of a class.
    DomainError
        The domain is unbounded, or it is a curve with arcs.
    LimitReached, TimeoutReached, ShapeMismatchError
        As for `regions.extremes`.

    Examples
    --------
    >>> import regions
    >>> logit = regions.Network([([[1.0, 0.0], [-1.0, 0.0]], None), ([[1.0, 1.0]], [-0.5])])  # |x| - 0.5
    >>> regions.margin(logit, regions.Polygon([[1, 0], [2, 0], [2, 1], [1, 1]]))
    Margin(class 1 everywhere, by at least 0.5)
    """
    given = threshold_of(require_network(network), threshold)
    graph = scored(network.graph, given, flag(largest, "largest"))
    parts = straight_parts(domain, network)
    for part in parts:
        require(MARGINS, part)
    if label is None:
        with short_work():
            scores = outputs_at(graph, parts[0], _middle(parts[0]))
        chosen = scores.index(max(scores))
    else:
        chosen = integer(label, "label", least=0, most=graph.n_out - 1)
    others = [number for number in range(graph.n_out) if number != chosen]
    with reporting(progress) as report:
        options = asked(limit, report, workers)
        found = _least(network, graph, domain, chosen, others, options)
        rival = others[found.values[0].output]
        holds = _holds(found.values[0], rival < chosen, chosen > 0)
        if holds is None and found.decided:
            # The least margin is 0. Does an earlier class reach it?
            earlier = _least(network, graph, domain, chosen, others[:chosen], options).values[0]
            holds = _holds(earlier, True, True)
    return Margin(chosen, holds, rival, domain, found)


def _holds(least: Extreme, reached_by_earlier: bool, earlier: bool) -> bool | None:
    """Return whether the class is everywhere, given the least margin and whether an earlier class may reach it.

    None if that is not decided.
    """
    reached = least.reached
    assert reached is not None  # the domain is bounded
    if reached < 0 or (reached == 0 and reached_by_earlier):
        return False
    proved = least.value if least.value is not None else least.interval(-1)[0]
    return True if proved > 0 or (proved == 0 and not earlier) else None


def _least(
    network: Network, graph: Graph, domain: Domain | Curve, chosen: int, others: list[int], options: Options
) -> Reached:
    """Find the least difference of the score of a class and the scores of others."""
    rows = np.eye(graph.n_out)[[chosen]] - np.eye(graph.n_out)[others]
    differences = with_forms(graph, rows)
    return reached_on(network, differences, domain, [Target(-1, tuple(range(len(others))))], options)


def _middle(domain: Domain) -> Floats:
    """Return a chart point in the middle of a bounded domain, rounded."""
    if isinstance(domain, Box):
        low, high = domain.ends
        return np.clip(low / 2 + high / 2, low, high)
    return np.asarray((domain.generators[:, 1:] / len(domain.generators)).sum(axis=0))
