# SPDX-License-Identifier: MIT
"""What are the mean, the variance, the distribution and the steepness of the outputs of a network on a domain?

The regions are cut into simplices, on each of which the outputs are affine (`simplices.py`): moments
(`moments.py`) and shares (`distribution.py`) are sums over simplices, and Lipschitz constants are the largest of all
regions (`lipschitz.py`). Nothing is sampled. The only errors are rounding errors, and each number comes with a proven
bound on them.
Cost: an enumeration, a forward pass for each vertex, and a sweep over the simplices for each number that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from regions.answers.corner_values import CornerValues
from regions.answers.distribution import quantile, share_above
from regions.answers.forms import asked_forms
from regions.answers.legs import OnLegs, leg_shares, values_on_legs
from regions.answers.lipschitz import gradient_lengths, in_all_inputs, largest, within_domain
from regions.answers.moments import covariance, mean, total_variation
from regions.answers.pulled_simplices import AnySimplices, PulledSimplices
from regions.answers.shares import proven_sum
from regions.answers.simplices import JoinedSimplices, Simplices
from regions.counting.options import takes_timeout
from regions.domains import Curve, Domain
from regions.domains.abilities import INTEGRALS, require
from regions.errors import NonFiniteError
from regions.ground.arithmetic.arguments import Workers, integer, one_of, real, shown
from regions.ground.arithmetic.arrays import real_numbers, require_finite
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.roundoff import SMALLEST, UP, U
from regions.ground.arithmetic.types import Floats
from regions.ground.text.tables import html_table
from regions.ground.threads.progress import Progress
from regions.networks.network import Network, require_network

__all__ = ["Histogram", "Statistics", "statistics"]

MOMENTS = ("integral", "mean", "variance", "covariance", "total_variation")


class Histogram(NamedTuple):
    """The share of a domain where an output lies between each two edges.

    Attributes
    ----------
    edges : float64 [bins + 1]
    shares, errors : float64 [bins]
        The share where the output is above an edge and not above the next one, and bounds on the errors.
    """

    edges: Floats
    shares: Floats
    errors: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Statistics(OnLegs):
    """Moments, distribution and Lipschitz constants of the outputs of a network on a domain.

    Each number is computed on first use. On an unbounded domain there are only Lipschitz constants; all other numbers
    raise `DomainError`.

    Attributes
    ----------
    domain : Domain or Polyline
    partition : Partition
        The regions of the domain.
    partitions : tuple of Partition
        The regions of each leg of a polyline; a single entry for other domains.
    regions_met : int
        The number of regions. On a polyline, a region that continues across a joint counts on both legs.
    integral, integral_errors : float64 [m]
        The integral of each output over the domain's length, area or volume, and bounds on the errors.
    mean, mean_errors : float64 [m]
        The integral divided by the domain's length, area or volume.
    variance, variance_errors : float64 [m]
    covariance, covariance_errors : float64 [m, m]
    total_variation, total_variation_errors : float64 [m]
        The integral of the length of each output's gradient within the domain.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [-1.0]], None), ([[1.0, 1.0]], None)])
    >>> found = regions.statistics(net, regions.Segment([-1.0], [1.0]))
    >>> found.mean, found.variance.round(12), found.total_variation
    (array([0.5]), array([0.08333333]), array([2.]))
    >>> share, error = found.share_above(0.75)
    >>> share, error < 1e-12
    (0.25, True)
    >>> regions.statistics(net, regions.Line([0.0], [2.0])).lipschitz()[0]
    array([1.])
    """

    ROWS = (*(name for each in MOMENTS for name in (each, f"{each}_errors")), "lipschitz", "lipschitz_errors")
    NUMBER = "output"

    _legs: tuple[CornerValues, ...]

    @property
    def mean(self) -> Floats:
        return self._mean[0]

    @property
    def mean_errors(self) -> Floats:
        return self._mean[1]

    @property
    def integral(self) -> Floats:
        return self._integral[0]

    @property
    def integral_errors(self) -> Floats:
        return self._integral[1]

    @property
    def covariance(self) -> Floats:
        return self._covariance[0]

    @property
    def covariance_errors(self) -> Floats:
        return self._covariance[1]

    @property
    def variance(self) -> Floats:
        return np.maximum(np.diagonal(self.covariance), 0.0)

    @property
    def variance_errors(self) -> Floats:
        return np.diagonal(self.covariance_errors).copy()

    @property
    def total_variation(self) -> Floats:
        return self._total_variation[0]

    @property
    def total_variation_errors(self) -> Floats:
        return self._total_variation[1]

    def share_above(self, threshold: float, output: int = 0) -> tuple[float, float]:
        """Return the share of the domain where an output is above a threshold, and a bound on the error.

        A region on which the output equals the threshold is not above it; this is decided exactly. So a constant output
        has the share 0 at its own value.

        Parameters
        ----------
        threshold : float
        output : int

        Returns
        -------
        float, float
        """
        return share_above(self._simplices, self._output(output), real(threshold, "threshold"))

    def quantile(self, share: float, output: int = 0) -> tuple[float, float]:
        """Return the least t such that an output is at most t on this share of the domain, and a bound on the error.

        Parameters
        ----------
        share : float
            Above 0 and below 1; for the ends see `regions.extremes`.
        output : int

        Returns
        -------
        float, float
        """
        number = real(share, "share")
        if not 0.0 < number < 1.0:
            raise ValueError(f"share must be above 0 and below 1, got {number!r}; for the ends see regions.extremes")
        return quantile(self._simplices, self._output(output), number)

    def histogram(self, bins: int | ArrayLike = 10, output: int = 0) -> Histogram:
        """Return the share of the domain where an output lies in each of some bins.

        Parameters
        ----------
        bins : int or array-like [bins + 1]
            The number of bins, equally wide between the least and greatest value at a vertex, or around a constant; or
            their edges, ascending. A bin contains its upper edge, not its lower edge; if a number is given, the first
            bin also contains the least value, such as the 0 of a ReLU.
        output : int

        Returns
        -------
        Histogram
        """
        number = self._output(output)
        if np.ndim(bins) == 0:
            count = integer(bins, "bins", most=10**6)
            values = self._simplices.values.value[:, number]
            low, high = float(values.min()), float(values.max())
            if low == high:
                low, high = low - max(0.5, abs(low) / 2), high + max(0.5, abs(high) / 2)
            edges = np.linspace(low, high, count + 1)
            # No value is below the first edge or above the last one, up to rounding.
            inner = [(1.0, 0.0), *(self.share_above(edge, number) for edge in edges[1:-1].tolist()), (0.0, 0.0)]
        else:
            edges = real_numbers(bins, "bins")
            if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all():
                raise ValueError(f"bins must be a number, or two or more edges in ascending order, got {shown(bins)}")
            inner = [self.share_above(edge, number) for edge in edges.tolist()]
        above, errors = np.array(inner).T
        return Histogram(edges, above[:-1] - above[1:], (errors[:-1] + errors[1:]) * UP + 2 * U)

    def lipschitz(self, norm: float = 2, space: str = "domain") -> tuple[Floats, Floats]:
        """Return the Lipschitz constant of each output, and bounds on the errors.

        Parameters
        ----------
        norm : 1, 2 or infinity
            The norm in which distances of inputs are measured.
        space : "domain" or "input"
            Whether inputs stay in the domain, or all inputs may change. In the second case the result is the largest
            dual norm of the gradients on the regions of the domain. Within a box of three and more dimensions the
            norms 1 and infinity need a box along axes.

        Returns
        -------
        float64 [m], float64 [m]
        """
        if isinstance(norm, bool) or not isinstance(norm, (int, float)) or norm not in (1, 2, np.inf):
            raise ValueError(f"norm must be 1, 2 or infinity (numpy.inf), got {shown(norm)}")
        within = one_of(space, ("domain", "input"), "space") == "domain"
        if within and norm == 2 and self._gradients is not None:
            values, errors = largest([self._gradients])
        else:
            constant = within_domain if within else in_all_inputs
            values, errors = largest([constant(at, float(norm))[np.newaxis] for at in self._legs])
        return values, errors.copy()

    def as_dict(self) -> dict[str, Any]:
        """Moments and Lipschitz constants with their errors; None where a number is beyond the largest double."""
        constants, errors = self.lipschitz()
        names = MOMENTS if self._bounded else ()
        found = {name: self._listed(name) for each in names for name in (each, f"{each}_errors")}
        lipschitz = {"lipschitz": constants.tolist(), "lipschitz_errors": errors.tolist()}
        return {"regions": self.regions_met, **found, **lipschitz}

    def _listed(self, name: str) -> Any:
        try:
            return getattr(self, name).tolist()
        except NonFiniteError:
            return None

    @property
    def _bounded(self) -> bool:
        return all(partition.domain.bounded for partition in self.partitions)

    def _output(self, given: int) -> int:
        return integer(given, "output", least=0, most=self._legs[0].graph.n_out - 1)

    @cached_property
    def _simplices(self) -> AnySimplices:
        parts = [partition.domain for partition in self.partitions]
        for part in parts:
            require(INTEGRALS, part)
        if self.domain.dimension > 2:
            return PulledSimplices(self._legs[0])
        simplices = [Simplices(at) for at in self._legs]
        return JoinedSimplices(simplices, leg_shares(parts)) if len(parts) > 1 else simplices[0]

    @cached_property
    def _mean(self) -> tuple[Floats, Floats]:
        return _known(mean(self._simplices), "a mean")

    @cached_property
    def _integral(self) -> tuple[Floats, Floats]:
        if self.domain.dimension > 2:
            volume, off = proven_sum(self.partition.volumes, self.partition.volume_errors)
        else:
            volume = fsum(partition.domain.volume for partition in self.partitions)
            off = 4 * U * volume
        off += len(self.partitions) * SMALLEST  # sizes below the smallest double
        with np.errstate(over="ignore", invalid="ignore"):
            return _known(Proven(*self._mean) * Proven(volume, off), "an integral")

    @cached_property
    def _covariance(self) -> tuple[Floats, Floats]:
        return _known(covariance(self._simplices, Proven(*self._mean)), "a covariance")

    @cached_property
    def _gradients(self) -> Proven | None:
        """Except on lines, lengths of the gradients on the regions."""
        return gradient_lengths(self._legs[0]) if self.partitions[0].dimension > 1 else None

    @cached_property
    def _total_variation(self) -> tuple[Floats, Floats]:
        return _known(total_variation(self._simplices, self._gradients), "a total variation")

    def _repr_html_(self) -> str:
        constants, _ = self.lipschitz()
        columns = [self.mean, self.variance] if self._bounded else []
        head = ("output", *("mean", "variance")[: len(columns)], "Lipschitz constant")
        table = zip(*columns, constants, strict=True)
        return html_table(repr(self), head, [(str(n), *(f"{x:.6g}" for x in row)) for n, row in enumerate(table)])

    def __repr__(self) -> str:
        outputs = self._legs[0].graph.n_out
        return f"Statistics({outputs} output{'s' * (outputs != 1)} {self.on_regions})"


@takes_timeout
def statistics(
    network: Network,
    domain: Domain | Curve,
    outputs: Sequence[int] | None = None,
    forms: ArrayLike | None = None,
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Statistics:
    """Find moments, distribution and Lipschitz constants of the outputs of a network on a domain.

    Parameters
    ----------
    network : Network
    domain : Domain or Polyline
        A segment, ray, line, polyline, polygon or plane, or a bounded box or polytope of three to six dimensions.
        Points are distributed uniformly over its length, area or volume. On an unbounded domain only Lipschitz
        constants are defined.
    outputs : sequence of int, optional
        Numbers of outputs; all of them by default.
    forms : array-like [m, n_out], optional
        Instead of outputs, linear forms of outputs.
    limit, timeout, progress, workers
        As for `regions.enumerate`.

    Returns
    -------
    Statistics

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
    >>> found = regions.statistics(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> float(found.integral[0].round(12)), found.variance.round(6)
    (2.0, array([0.208333, 0.208333]))
    >>> round(found.quantile(0.5)[0], 9)
    0.449489743
    """
    graph = asked_forms(require_network(network), outputs, forms)
    legs = values_on_legs(network, graph, domain, limit=limit, progress=progress, workers=workers)
    return Statistics(domain, tuple(at.partition for at in legs), legs)


def _known(found: Proven, what: str) -> tuple[Floats, Floats]:
    """Refuse values beyond the largest double; bounds that overflowed are infinite."""
    values, errors = found.checked
    require_finite(values.reshape(1, -1)[0], what)
    return values, errors.copy()
