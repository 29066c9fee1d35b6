# SPDX-License-Identifier: MIT
"""Where do two networks differ on a domain, and by how much?

Their difference is a network too: both side by side, and one node that subtracts the outputs. Its regions are the
common refinement of the regions of both, and its extremes are the largest differences, with their places
(`extremes.py`). The networks are equal on the domain exactly if all these extremes are 0. To compare classes, units
that compare outputs are added to both networks (`classes.py`), so that each region has one class of each.
Cost: that of the extremes; for the numbers of regions three counts; for the share of different classes an enumeration
with n (n - 1) units more for n outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from regions.answers.classes import classes_of
from regions.answers.extremes import Extremes, extremes_on
from regions.answers.legs import mean_of_legs
from regions.answers.shares import proven_share
from regions.counting.count_and_enumerate import count
from regions.counting.count_and_enumerate import enumerate as enumerate_regions
from regions.counting.options import asked, takes_timeout
from regions.domains import Curve, Domain
from regions.domains.abilities import SHARED_CLASSES, require
from regions.errors import ShapeMismatchError
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.roundoff import TINY, UP, U
from regions.ground.arithmetic.types import Bits, Floats
from regions.ground.text.proven_digits import outwards
from regions.ground.text.tables import facts_table
from regions.ground.threads.progress import Progress, reporting
from regions.networks.network import Network, require_network, with_graph
from regions.networks.parts import comparing, pairs_of, side_by_side
from regions.results.partition import Partition

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(JsonReport):
    """How far two networks differ on a domain.

    Attributes
    ----------
    first, second : Network
    extremes : Extremes
        Extremes of the outputs of the first network minus the outputs of the second.
    equal : bool or None
        Whether the two networks are the same function on the domain, decided exactly. None in a box of more than six
        dimensions, if bounds do not decide it and no difference was found.
    max_difference, errors : float64 [m]
        The largest absolute difference of each output, infinite if it is unbounded, and proven bounds on the errors. If
        ``extremes`` are not decided, the largest difference that was found.
    where : float64 [m, n_in]
        Where it is attained: points, or directions if it is infinite, as in `Extremes.argmax`.
    regions : tuple of int
        Numbers of activation regions of the first network, of the second one, and of their common refinement; on a
        polyline of its pieces. Computed on first use, by three calls of `regions.count`.
    disagreement, disagreement_error : float
        The share of the domain's length or area where the classes differ, and a proven bound on its error. The class is
        the number of the largest output, the first one if several are equal. A network with one output has two classes:
        above 0, and not above 0. Computed on first use.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> rounded = regions.Network([([[1.0], [-1.0]], [0.0, 0.125]), ([[1.0, 1.0]], [0.0])])
    >>> found = regions.compare(net, rounded, regions.Segment([-1.0], [1.0]))
    >>> found.equal, found.max_difference, found.where
    (False, array([0.125]), array([[-1.]]))
    >>> regions.compare(net, net, regions.Line([0.0], [1.0])).equal
    True
    """

    ROWS = ("max_difference", "errors", "where")
    NUMBER = "output"

    first: Network
    second: Network
    extremes: Extremes

    @property
    def equal(self) -> bool | None:
        found = self.extremes
        if (found.minimum < -found.minimum_errors).any() or (found.maximum > found.maximum_errors).any():
            return False
        if any(value != 0 for value in (*found.reached_minimum, *found.reached_maximum)):
            return False
        return True if found.decided else None

    @property
    def max_difference(self) -> Floats:
        return np.maximum(-self.extremes.minimum, self.extremes.maximum)

    @property
    def errors(self) -> Floats:
        found = self.extremes
        if found.decided:
            return np.where(self._above, found.maximum_errors, found.minimum_errors)
        with np.errstate(over="ignore"):
            farthest = np.maximum(-found.minimum_intervals[:, 0], found.maximum_intervals[:, 1]) - self.max_difference
            # The difference is rounded, and the reached difference was rounded before.
            return farthest * UP + 4 * U * self.max_difference + TINY

    @property
    def where(self) -> Floats:
        return np.where(self._above[:, np.newaxis], self.extremes.argmax, self.extremes.argmin)

    @cached_property
    def regions(self) -> tuple[int, int, int]:
        networks = self.first, self.second, _difference(self.first, self.second)
        first, second, both = (int(count(net, self.extremes.domain)) for net in networks)
        return first, second, both

    @property
    def disagreement(self) -> float:
        return self._disagreement[0]

    @property
    def disagreement_error(self) -> float:
        return self._disagreement[1]

    def as_dict(self) -> dict[str, Any]:
        """Whether they are equal, the differences and their places, and numbers of regions, or of bounded parts."""
        found = self.extremes
        return {
            "equal": self.equal,
            "max_difference": self.max_difference.tolist(),
            "errors": self.errors.tolist(),
            "where": self.where.tolist(),
            **({"parts": found.bounded_parts} if found.bounded_parts else {"regions": list(self.regions)}),
        }

    @property
    def _above(self) -> Bits:
        """Whether the first network is above the second where they differ most, bool [m]; decided exactly."""
        found = self.extremes
        with np.errstate(invalid="ignore"):
            more = Proven(found.minimum, found.minimum_errors) + Proven(found.maximum, found.maximum_errors)
            if more.nonzero.all():
                return more.positive
        pairs = zip(found.reached_minimum, found.reached_maximum, strict=True)
        return np.array([high is None or (low is not None and high >= -low) for low, high in pairs])

    @cached_property
    def _disagreement(self) -> tuple[float, float]:
        domains = self.extremes.parts
        for domain in domains:
            require(SHARED_CLASSES, domain)
        shares = [proven_share(*_where_classes_differ(self.first, self.second, domain)) for domain in domains]
        return mean_of_legs(domains, shares)

    def _repr_html_(self) -> str:
        largest = float(self.max_difference.max())
        facts = [
            ("equal", {True: "yes, proved", False: "no", None: "not decided"}[self.equal]),
            ("largest difference", f"{largest:.6g}"),
        ]
        if not self.extremes.bounded_parts:
            names = ("the first", "the second", "both")
            facts += [(f"regions of {name}", f"{count:,}") for name, count in zip(names, self.regions, strict=True)]
        return facts_table(repr(self), facts)

    def __repr__(self) -> str:
        if self.equal:
            return f"Comparison(equal{self.extremes.on_regions})"
        if not self.extremes.decided:
            least, most = outwards(float(self.max_difference.max()), float((self.max_difference + self.errors).max()))
            found = f"differ by {least} to {most}" if self.equal is False else f"no difference found, at most {most}"
            return f"Comparison({found}{self.extremes.on_regions})"
        return f"Comparison(differ by {self.max_difference.max():.6g}{self.extremes.on_regions})"


@takes_timeout
def compare(
    first: Network,
    second: Network,
    domain: Domain | Curve,
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Comparison:
    """Find the largest difference of two networks on a domain, or prove that they are equal there.

    Parameters
    ----------
    first, second : Network
        With the same inputs and equally many outputs, such as a network and its quantised copy.
    domain : Domain or Polyline
        A segment, ray, line, polyline, polygon or plane, a box of three and more dimensions, or another polytope of
        three to six.
    limit, timeout, progress, workers
        As for `regions.extremes`, applied to the difference of the networks.

    Returns
    -------
    Comparison

    Raises
    ------
    ShapeMismatchError
        The networks do not have the same numbers of inputs and outputs, or the domain lies in another space.
    DomainError
        A curve with arcs.
    LimitReached, TimeoutReached
        As for `regions.extremes`.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0], [1.0, -1.0]], [0.0, 0.25])])
    >>> other = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0], [1.0, -1.0]], [0.5, 0.25])])
    >>> square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    >>> found = regions.compare(net, other, square)
    >>> found
    Comparison(differ by 0.5 on 4 regions)
    >>> found.disagreement
    0.5625
    """
    require_network(first)
    require_network(second)
    if (first.n_in, first.n_out) != (second.n_in, second.n_out):
        advice = "; choose outputs with network.outputs([..])" if first.n_in == second.n_in else ""
        raise ShapeMismatchError(
            f"compare: the numbers of inputs and outputs are {first.n_in} and {first.n_out} for the first network, "
            f"{second.n_in} and {second.n_out} for the second: both must have the same numbers{advice}"
        )
    difference = _difference(first, second)
    with reporting(progress) as report:
        options = asked(limit, report, workers)
        found = extremes_on(difference, difference.graph, domain, np.eye(first.n_out), options)
    return Comparison(first, second, found)


def _difference(first: Network, second: Network) -> Network:
    ones = np.eye(first.n_out)
    return with_graph(first, side_by_side(first.graph, second.graph, ones, -ones))


def _where_classes_differ(first: Network, second: Network, domain: Domain) -> tuple[Partition, Bits]:
    """Regions on which both networks have one class, and whether these differ."""
    n = first.n_out
    scores = n if n > 1 else 2  # a single output is compared with 0
    ones = np.eye(n) if n > 1 else np.array([[0.0], [1.0]])
    none = np.zeros_like(ones)
    scored = side_by_side(first.graph, second.graph, np.vstack([ones, none]), np.vstack([none, ones]))
    pairs = pairs_of(scores)
    graph = comparing(scored, np.concatenate([pairs, pairs + scores]))
    partition = enumerate_regions(with_graph(first, graph), domain)
    bits = partition.patterns[:, graph.hidden[-1].kinks]
    here, there = (classes_of(half, pairs, scores) for half in np.split(bits, 2, axis=1))
    return partition, here != there
