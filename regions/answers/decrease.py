# SPDX-License-Identifier: MIT
"""Does a Lyapunov candidate decrease in each step of a loop, on a polygon without a neighbourhood of the origin?

On each region of the loop the change of the candidate is affine or quadratic (`candidates.py`). Upper bounds on
simplices decide most regions. In the others the change is maximised in fractions (`polar_forms.py`). The neighbourhood
is convex, so the part of a region outside of it is a union of convex parts, one beyond each side of the neighbourhood.
Invariant: the neighbourhood is open, so its boundary is checked too; nothing is decided by a rounded number alone.
Cost: an enumeration with maps, and some milliseconds for each region that bounds leave open: those where the change is
near 0, compared with the candidate on the region.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.answers.candidates import Candidate, PiecewiseLinear, Quadratic, largest_form
from regions.answers.corner_values import CornerValues, ExactCorners
from regions.answers.polar_forms import clipped, greatest
from regions.answers.sides import Sides, sides_of
from regions.answers.simplices import Simplices
from regions.answers.witness import Witness, witness_at
from regions.counting.count_and_enumerate import enumerate_with_maps
from regions.counting.options import takes_timeout
from regions.domains import Domain
from regions.domains.abilities import DECREASE
from regions.domains.domain import require_domain_of
from regions.errors import DomainError, ShapeMismatchError
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers
from regions.ground.arithmetic.arrays import exact_float64
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.types import Bits, Floats
from regions.ground.text.tables import facts_table
from regions.ground.threads.progress import Progress
from regions.networks.closed_loop import require_loop
from regions.networks.network import Network, require_network
from regions.results.partition import Partition

__all__ = ["Decrease", "decrease"]

Place = tuple[Fraction, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Decrease(JsonReport):
    """Whether a function V of the state decreases in each step of a loop.

    Attributes
    ----------
    holds : bool
        Whether V(x+) < V(x) for all states x of the domain outside of the neighbourhood. Decided exactly.
    bound : float or None
        If it holds, V(x+) - V(x) is at most this number, proven; else None.
    witness : Witness or None
        A state where V does not decrease, with the next state as its outputs.
    change : Fraction or None
        V(x+) - V(x) at the witness, exactly.
    partition : Partition
        The regions on which the change is affine or quadratic.
    exact : int
        How many of these regions had to be decided in fractions.

    Examples
    --------
    >>> import regions
    >>> loop = regions.Network([([[0.5, 0.25], [0.0, 0.5]], [0.0, 0.0])])
    >>> square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    >>> near = regions.Polygon([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])
    >>> regions.decrease(loop, square, quadratic=[[1.0, 0.0], [0.0, 1.0]], without=near).holds
    True
    >>> found = regions.decrease(loop, square, quadratic=[[1.0, 0.0], [0.0, 1.0]])
    >>> found.holds, found.change, found.witness.outputs
    (False, Fraction(0, 1), (Fraction(0, 1), Fraction(0, 1)))
    """

    holds: bool
    bound: float | None
    witness: Witness | None
    change: Fraction | None
    partition: Partition = field(repr=False)
    exact: int

    def as_dict(self) -> dict[str, Any]:
        """The verdict and the witness, with fractions rounded."""
        facts: dict[str, Any] = {"holds": self.holds, "bound": self.bound, "regions": len(self.partition)}
        facts["exact"] = self.exact
        if self.witness is None or self.change is None:
            return facts
        return {**facts, "change": nearest_float(self.change), "witness": self.witness.as_dict()}

    def _repr_html_(self) -> str:
        rows = [("holds", "yes, proved" if self.holds else "no"), ("regions", f"{len(self.partition):,}")]
        return facts_table(repr(self), [*rows, ("decided in fractions", f"{self.exact:,}")])

    def __repr__(self) -> str:
        regions = f"{len(self.partition)} region{'s' * (len(self.partition) != 1)}"
        if self.change is None:
            return f"Decrease(holds, by at least {-(self.bound or 0.0):.6g} on {regions})"
        return f"Decrease(violated, a change of {nearest_float(self.change):.6g} on {regions})"


@takes_timeout
def decrease(
    loop: Network,
    domain: Domain,
    *,
    quadratic: ArrayLike | None = None,
    forms: ArrayLike | None = None,
    candidate: Network | None = None,
    without: Domain | None = None,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Decrease:
    """Decide whether a Lyapunov candidate V decreases in each step of a loop.

    Pass one of ``quadratic``, ``forms`` and ``candidate``.

    Parameters
    ----------
    loop : Network
        A network that maps states to next states, such as `regions.closed_loop` makes of a controller.
    domain : Domain
        The states x to check, a segment or polygon.
    quadratic : array-like [n, n], optional
        A symmetric matrix P, for V(x) = x P x.
    forms : array-like [k, n], optional
        Linear forms, for V(x) the largest of them, such as a polyhedral norm.
    candidate : Network, optional
        V itself, with one output.
    without : Domain, optional
        A polygon in the plane, or segment in the line, of the states. Its interior is left out, usually because it
        contains an equilibrium, where no function decreases.
    limit, timeout, progress, workers
        As for `regions.enumerate`.

    Returns
    -------
    Decrease

    Raises
    ------
    DomainError
        A domain is unbounded, or has more than two dimensions; nothing is left of the domain; ``without`` has fewer
        dimensions than the states.
    TypeError, ValueError
        None or several of the candidates are given, or a matrix that is not symmetric.
    ShapeMismatchError
        The numbers of inputs and outputs of the loop differ, or the candidate does not fit it.
    LimitReached, TimeoutReached
        As for `regions.enumerate`.

    Examples
    --------
    >>> import regions
    >>> loop = regions.Network([([[0.5, 0.25], [0.0, 0.5]], [0.0, 0.0])])
    >>> square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    >>> near = regions.Polygon([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    >>> regions.decrease(loop, square, forms=[[1, 0], [-1, 0], [0, 1], [0, -1]], without=near)
    Decrease(holds, by at least 0.125 on 8 regions)
    """
    require_loop(loop)
    require_domain_of(domain, loop, DECREASE)
    change = _candidate(loop, quadratic, forms, candidate)
    around = None if without is None else _around(without, domain)
    network = change.network
    partition, maps = enumerate_with_maps(
        network, network.graph, domain, limit=limit, progress=progress, workers=workers
    )
    at = CornerValues(partition, network.graph, maps)
    upper, inside = _upper_bounds(at, change), _strictly_inside(partition, around)
    open_ = np.flatnonzero((upper >= 0.0) & ~inside).tolist()
    bound = float(upper[(upper < 0.0) & ~inside].max(initial=-np.inf))
    for number, region in enumerate(open_):
        found = _greatest(at, change, region, around)
        if found is None:
            continue
        value, place = found
        if value >= 0:
            return Decrease(False, None, _made(at, loop, change, region, place), value, partition, number + 1)
        bound = max(bound, _rounded_up(value))
    return Decrease(True, bound, None, None, partition, len(open_))


def _candidate(
    loop: Network, quadratic: ArrayLike | None, forms: ArrayLike | None, candidate: Network | None
) -> Candidate:
    """The one candidate that is given, checked."""
    given = sum(each is not None for each in (quadratic, forms, candidate))
    if given != 1:
        raise ValueError(f"pass one of quadratic=, forms= and candidate=, got {given} of them")
    n = loop.n_in
    if quadratic is not None:
        matrix = exact_float64(quadratic, "quadratic")
        if matrix.shape != (n, n):
            raise ShapeMismatchError(f"quadratic must have shape {[n, n]}, got {list(matrix.shape)}")
        if (matrix != matrix.T).any():
            raise ValueError("quadratic must be symmetric; (P + P.T) / 2 defines the same function")
        return Quadratic(loop, matrix)
    if forms is not None:
        rows = exact_float64(forms, "forms")
        if rows.ndim != 2 or not len(rows) or rows.shape[1] != n:
            raise ShapeMismatchError(f"forms must have shape [k, {n}] with k at least 1, got {list(rows.shape)}")
        return PiecewiseLinear(loop, largest_form(rows))
    network = require_network(candidate)
    if (network.n_in, network.n_out) != (n, 1):
        raise ShapeMismatchError(
            f"candidate must have {n} inputs and 1 output, got {network.n_in} inputs and {network.n_out} outputs"
        )
    return PiecewiseLinear(loop, network)


def _around(without: Domain, domain: Domain) -> Sides:
    """The sides of the neighbourhood, as forms in the chart of the domain."""
    around = sides_of(without, domain.n_in, "without").within(domain)
    corners = [tuple(map(Fraction, corner)) for corner in domain.generators[:, 1:].tolist()]
    if not any(clipped(corners, form) for form in around.forms):
        raise DomainError("without: nothing is left of the domain, which lies inside; take a smaller polygon")
    return around


def _upper_bounds(at: CornerValues, change: Candidate) -> Floats:
    """Upper bounds on the change on all regions, float64 [R]."""
    simplices = Simplices(at)
    upper = np.full(len(at.partition), -np.inf)
    np.maximum.at(upper, simplices.regions, change.upper_bounds(Proven(*at.rounded), simplices.vertices))
    return upper


def _strictly_inside(partition: Partition, around: Sides | None) -> Bits:
    """Whether each region is proven, by bounds, to lie inside the neighbourhood, off its boundary: bool [R]."""
    if around is None:
        return np.zeros(len(partition), dtype=bool)
    points = Proven(partition.vertices, partition.vertex_errors[:, np.newaxis])
    inside = np.all(around.distances(points).positive, axis=1)
    return np.logical_and.reduceat(inside[partition.cell_vertices], partition.cell_offsets[:-1])


def _greatest(at: CornerValues, change: Candidate, region: int, around: Sides | None) -> tuple[Fraction, Place] | None:
    """The greatest change on a region outside of the neighbourhood, and where; None if nothing is outside."""
    points = [at.exact.point(corner) for corner in at.exact.corners_of(region).tolist()]
    corners = [tuple(Fraction(x, weight) for x in others) for weight, *others in points]
    parts = [corners] if around is None else [clipped(corners, form) for form in around.forms]
    forms = at.exact.forms(region)
    found = [
        greatest(part, [[_value(form, corner) for form in forms] for corner in part], change.polar)
        for part in parts
        if part
    ]
    return max(found, key=lambda each: each[0], default=None)


def _value(form: tuple[Fraction, ...], place: Place) -> Fraction:
    return form[0] + sum((a * x for a, x in zip(form[1:], place, strict=True)), Fraction(0))


def _made(at: CornerValues, loop: Network, change: Candidate, region: int, place: Place) -> Witness:
    """The witness at a point of a region."""
    # The network begins with the kinks of the loop, so a region's pattern begins with the bits of the loop.
    following = [_value(form, place) for form in ExactCorners(at.partition, loop.graph).forms(region)]
    point = at.partition.domain.to_input([nearest_float(x) for x in place]).reshape(-1)

    def violates(outputs: list[float]) -> bool:
        exact = [Fraction(x) for x in outputs]
        return change.polar(exact, exact) >= 0

    return witness_at(at.graph, place, following, point, violates)


def _rounded_up(value: Fraction) -> float:
    nearest = nearest_float(value)
    up = np.isfinite(nearest) and Fraction(nearest) >= value
    return nearest if up else float(np.nextafter(nearest, np.inf))
