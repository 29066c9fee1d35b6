# SPDX-License-Identifier: MIT
"""Does a network violate a property somewhere on a domain?

A property says which outputs are unsafe (`unsafe_sets.py`). Each inequality becomes a unit whose kink lies where it is
an equality, so that on each region every inequality keeps one side. The unsafe part of a region is then one of its
faces, or all of it, and a face of a bounded region has a corner. So the property holds exactly if no corner is unsafe.
Most of the domain is proven to be safe by bounds over cells, which are then not cut into regions (csrc/README.md).
Corners of the other regions are evaluated with error bounds (`corner_values.py`), and in fractions if the bounds do not
decide. The bits of the added units say which regions are unsafe as a whole; the unsafe share is the sum of their sizes.
Cost: less than a count if the property holds by a margin; else it grows with the regions near the unsafe set, up to two
enumerations, and up to a millisecond for each corner that touches the unsafe set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from regions.answers.corner_values import CornerValues, value_at
from regions.answers.extremes import extremes
from regions.answers.legs import OnLegs, each_part, mean_of_legs, parts_of
from regions.answers.shares import proven_share
from regions.answers.unsafe_sets import Polytope, UnsafeSets, as_polytopes, is_unsafe, owners, slacks, with_depth
from regions.answers.witness import Witness, witness_at
from regions.arithmetic.dyadic import nearest_float
from regions.arithmetic.types import Bits, Floats, Integers
from regions.domains import Curve, Domain
from regions.domains import Polytope as ConvexPart
from regions.domains.domain import require_bounded
from regions.enumeration.options import Workers
from regions.errors import DomainError
from regions.jobs.count_and_enumerate import enumerate_with_maps
from regions.networks.graph import Graph
from regions.networks.network import Network, require_network, with_graph
from regions.networks.parts import signing
from regions.passes.exact import ExactForms, ExactSigns
from regions.text.progress import Progress, Report
from regions.text.tables import facts_table

__all__ = ["Verdict", "outputs_at", "verdict_on", "verify"]

TINIEST = 2.0**-1074
# Regions in which a point with few digits is looked for, the largest ones first.
TRIED = 20


@dataclass(frozen=True, eq=False, repr=False)
class Verdict(OnLegs):
    """Whether a property holds on a domain.

    Attributes
    ----------
    holds : bool
        Whether no point of the domain, its boundary included, has unsafe outputs. Decided exactly.
    witness : Witness or None
        A point with unsafe outputs, if there is one.
    violated_share, errors : float
        The share of the domain's length, area or volume that is unsafe, and a proven bound on its error. It is 0 if the
        unsafe set is only touched.
    margin : float
        The amount by which all bounds b must be raised until the property is violated. If it is violated already, the
        margin is 0 or negative: the bounds must be lowered by that amount until it holds. The exact number, rounded. It
        is computed on first use, by an enumeration with max units: on lines and in planes only.
    domain : Domain, Polytope or Polyline
    partition : Partition or PolytopePartition
        Regions of the network with a unit for each row of the property: those that bounds did not prove to be safe. It
        is not complete; ``stats["closed"]`` is the number of cells that bounds proved to be safe.
    partitions : tuple of Partition
        The same for each leg of a polyline; of other domains there is one.
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

    holds: bool
    witness: Witness | None
    violated_share: float
    errors: float
    network: Network
    unsafe: Sequence[Polytope]

    @cached_property
    def margin(self) -> float:
        if isinstance(self.domain, ConvexPart):
            raise DomainError(
                "the margin is computed on lines and in planes; in a box, verify with other bounds, or take a Polygon"
            )
        depth = with_graph(self.network, with_depth(self.network.graph, self.unsafe))
        (least,) = extremes(depth, self.domain).exact_minimum
        assert least is not None  # the domain is bounded
        # The sign of a margin below the smallest double is kept.
        return nearest_float(least) or (least > 0) * TINIEST

    def as_dict(self) -> dict[str, Any]:
        """The verdict, the share and the witness, with fractions rounded."""
        facts: dict[str, Any] = {"holds": self.holds, "violated_share": self.violated_share, "errors": self.errors}
        if self.witness is not None:
            facts["witness"] = self.witness.as_dict()
        return {**facts, "regions": self.regions_met}

    def _repr_html_(self) -> str:
        share = f"{self.violated_share:.6g}"
        return facts_table(repr(self), [("holds", "yes, proved" if self.holds else "no"), ("unsafe share", share)])

    def __repr__(self) -> str:
        word = "holds" if self.holds else f"violated on a share of {self.violated_share:.6g}"
        return f"Verdict({word}, bounds left {self.regions_met} region{'s' * (self.regions_met != 1)})"


def verify(
    network: Network,
    domain: Domain | ConvexPart | Curve,
    unsafe: UnsafeSets,
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Verdict:
    """Decide whether outputs on a domain can be unsafe.

    Parameters
    ----------
    network : Network
    domain : Domain, Polytope or Polyline
        A segment, a polyline, a polygon, or a box of three to six dimensions.
    unsafe : iterable of (array-like [k, n_out], array-like [k]), or triples with an array-like [k, n_in]
        Polytopes ``A y <= b``, or ``A y + C x <= b``, of outputs y at inputs x. Outputs are unsafe if they are in one
        of the polytopes, boundaries included.
    limit, progress, workers
        As for `regions.enumerate`, applied to the network with one more unit for each row. Cells that bounds prove to
        be safe do not count towards the limit. With several workers, the share and the witness can differ in their last
        digits, because vertices are then placed in another order.

    Returns
    -------
    Verdict

    Raises
    ------
    DomainError
        The domain is unbounded, or it is a curve with arcs.
    TypeError, ValueError
        The polytopes do not fit the network.
    LimitReached, ShapeMismatchError
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
    parts = parts_of(domain, require_network(network))
    for part in parts:
        require_bounded(part, "verify")
    polytopes = as_polytopes(unsafe, network.n_in, network.n_out)

    def verdict(part: Domain | ConvexPart, left: int | None, report: Report | None) -> Verdict:
        return verdict_on(network, part, polytopes, left, report, workers)

    found = each_part(parts, verdict, limit, progress)
    witnesses = [replace(each.witness, leg=leg) for leg, each in enumerate(found) if each.witness is not None]
    share = mean_of_legs(parts, [(each.violated_share, each.errors) for each in found])
    partitions, witness = tuple(each.partition for each in found), witnesses[0] if witnesses else None
    return Verdict(domain, partitions, not witnesses, witness, *share, network, polytopes)


def verdict_on(
    network: Network,
    domain: Domain | ConvexPart,
    polytopes: Sequence[Polytope],
    limit: int | None,
    progress: Progress,
    workers: Workers,
) -> Verdict:
    """Decide whether outputs on a bounded domain can be in one of some polytopes, as `verify` does."""
    graph, rows = slacks(network.graph, polytopes), owners(polytopes)
    cut = with_graph(network, signing(graph))
    groups = np.repeat(np.arange(len(rows)), [len(own) for own in rows]).tolist()
    partition, maps = enumerate_with_maps(
        cut, cut.graph, domain, groups, limit=limit, progress=progress, workers=workers
    )
    if not len(partition):
        return Verdict(domain, (partition,), True, None, 0.0, 0.0, network, polytopes)
    at = CornerValues(partition, graph, maps)
    satisfied = partition.patterns[:, cut.graph.hidden[-1].kinks] | _zero_all_over(at)
    inside = np.any([satisfied[:, own].all(axis=1) for own in rows], axis=0)
    witness = _witness(network, at, rows, inside)
    share = proven_share(partition, inside)
    return Verdict(domain, (partition,), witness is None, witness, *share, network, polytopes)


def _zero_all_over(at: CornerValues) -> Bits:
    """On which regions a row is an equality everywhere, bool [R, rows]. Its bit is 0 there, so the bit cannot tell."""
    values, errors = at.rounded
    partition = at.partition
    near = (np.abs(values) <= errors)[partition.cell_vertices]
    result = np.logical_and.reduceat(near, partition.cell_offsets[:-1], axis=0)
    for region in np.flatnonzero(result.any(axis=1)).tolist():
        result[region] &= [not any(form) for form in at.exact.forms(region)]
    return result


def _witness(network: Network, at: CornerValues, rows: list[Integers], inside: Bits) -> Witness | None:
    """An unsafe point: one with few digits inside a region if there is such a region, else a corner."""
    partition, domain = at.partition, at.partition.domain
    found = np.flatnonzero(inside)
    order = found[np.argsort(-partition.volumes[found], kind="stable")]
    for point in partition.interior_points[order[:TRIED]]:
        if np.isfinite(point).all() and is_unsafe(outputs_at(at.graph, domain, point), rows):
            place = tuple(map(Fraction, point.tolist()))
            return _made(network, at, place, outputs_at(network.graph, domain, point), rows)
    values, errors = at.rounded
    open_ = np.any([(values[:, own] + errors[:, own] >= 0).all(axis=1) for own in rows], axis=0)
    outputs = CornerValues(partition, network.graph)
    for corner in np.sort(at.corners[open_]).tolist():
        vertex, region = at.exact.point(corner), int(at.regions[corner])
        if is_unsafe([value_at(form, vertex) for form in at.exact.forms(region)], rows):
            place = tuple(Fraction(x, vertex[0]) for x in vertex[1:])
            return _made(network, at, place, [value_at(form, vertex) for form in outputs.exact.forms(region)], rows)
    return None


def _made(
    network: Network,
    at: CornerValues,
    place: tuple[Fraction, ...],
    outputs: list[Fraction],
    rows: list[Integers],
) -> Witness:
    point = at.partition.domain.to_input([nearest_float(x) for x in place]).reshape(-1)
    return witness_at(at.graph, place, outputs, point, lambda slack: is_unsafe(slack, rows))


def outputs_at(graph: Graph, domain: Domain | ConvexPart, point: Floats) -> list[Fraction]:
    """The outputs of a graph at a chart point, exactly."""
    forms = ExactForms(graph, domain)
    forms.enter(ExactSigns(graph, domain).pattern(point))
    found = forms.preactivations(len(graph.hidden))
    scale = Fraction(2) ** found.exponent
    weights = [Fraction(1), *map(Fraction, point.tolist())]
    return [
        sum((int(a) * x for a, x in zip(column, weights, strict=True)), Fraction(0)) * scale
        for column in found.integers.T
    ]
