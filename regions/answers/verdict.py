# SPDX-License-Identifier: MIT
"""Does a network violate a property somewhere on a domain?

A property says which outputs are unsafe: a union of polytopes ``A y <= b``, as in VNN-LIB. Each row becomes a unit
whose kink lies where the row is an equality, so that on each region every row keeps one side. The unsafe part of a
region is then one of its faces, or all of it, and a face of a bounded region has a corner. So the property holds
exactly if no corner is unsafe.
Corners are evaluated with error bounds (`corner_values.py`), and in fractions where these do not decide. If the
unsafe set has an interior, the bits of the new units already tell, and their regions measure it.
Cost: an enumeration with one more unit for each row, a forward pass for each vertex, and up to a millisecond for each
corner that touches the unsafe set.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.answers.corner_values import CornerValues, value_at
from regions.answers.shares import proven_share
from regions.arithmetic.arguments import list_of
from regions.arithmetic.arrays import exact_float64
from regions.arithmetic.dyadic import nearest_float
from regions.arithmetic.types import Bits, Floats, Integers
from regions.domains import Domain
from regions.domains.domain import require_bounded, require_domain_of
from regions.enumeration.count_and_enumerate import enumerate as enumerate_regions
from regions.enumeration.workers import Workers
from regions.errors import NonFiniteError
from regions.networks.graph import Graph
from regions.networks.network import Network, require_network, with_graph
from regions.networks.parts import signing, with_forms
from regions.partition import Partition
from regions.passes.exact import ExactForms, ExactSigns
from regions.text.progress import Progress
from regions.text.tables import JsonReport, facts_table

__all__ = ["Verdict", "Witness", "verify"]

# Regions in which a point with few digits is looked for, the largest ones first.
TRIED = 20


@dataclass(frozen=True, eq=False)
class Witness:
    """A point of the domain whose outputs are unsafe, exactly.

    Attributes
    ----------
    point : tuple of Fraction [d]
        In the chart of the domain.
    outputs : tuple of Fraction [n_out]
        The outputs of the stored network at this point, exactly.
    input : float64 [n_in]
        The point of input space, rounded.
    replayed : bool
        Whether the outputs are unsafe as well if the network is evaluated at ``input`` in float64.
    """

    point: tuple[Fraction, ...]
    outputs: tuple[Fraction, ...]
    input: Floats
    replayed: bool


@dataclass(frozen=True, eq=False, repr=False)
class Verdict(JsonReport):
    """Whether a property holds on a domain.

    Attributes
    ----------
    holds : bool
        Whether no point of the domain, its boundary included, has unsafe outputs. Decided exactly.
    witness : Witness or None
        A point with unsafe outputs, if there is one.
    violated_share, errors : float
        The share of the domain's length or area that is unsafe, and a proven bound on its error. It is 0 if the unsafe
        set is only touched.
    partition : Partition
        The regions of the network with a unit for each row of the property.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> segment = regions.Segment([-1.0], [3.0])
    >>> regions.verify(net, segment, [([[-1.0]], [-4.0])])  # y >= 4 is unsafe
    Verdict(holds, on 2 regions)
    >>> found = regions.verify(net, segment, [([[-1.0]], [-2.0])])  # y >= 2 is unsafe
    >>> found.holds, found.violated_share, found.witness.outputs
    (False, 0.25, (Fraction(5, 2),))
    """

    holds: bool
    witness: Witness | None
    violated_share: float
    errors: float
    partition: Partition = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The verdict, the share and the witness, with fractions rounded."""
        facts: dict[str, Any] = {"holds": self.holds, "violated_share": self.violated_share, "errors": self.errors}
        if self.witness is not None:
            facts["witness"] = {
                "input": self.witness.input.tolist(),
                "outputs": [nearest_float(value) for value in self.witness.outputs],
                "replayed": self.witness.replayed,
            }
        return {**facts, "regions": len(self.partition)}

    def _repr_html_(self) -> str:
        share = f"{self.violated_share:.6g}"
        return facts_table(repr(self), [("holds", "yes, proved" if self.holds else "no"), ("unsafe share", share)])

    def __repr__(self) -> str:
        word = "holds" if self.holds else f"violated on a share of {self.violated_share:.6g}"
        return f"Verdict({word}, on {len(self.partition)} region{'s' * (len(self.partition) != 1)})"


def verify(
    network: Network,
    domain: Domain,
    unsafe: Iterable[tuple[ArrayLike, ArrayLike]],
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Verdict:
    """Decide whether outputs on a domain can be unsafe.

    Parameters
    ----------
    network : Network
    domain : Domain
        With an end: a segment or a polygon.
    unsafe : iterable of (array-like [k, n_out], array-like [k])
        Polytopes ``A y <= b`` of unsafe outputs y: an output is unsafe if it is in one of them, boundaries included.
    limit, progress, workers
        As for `regions.enumerate`, of the network with one more unit for each row.

    Returns
    -------
    Verdict

    Raises
    ------
    DomainError
        The domain has no end.
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
    Verdict(holds, on 4 regions)
    """
    require_domain_of(domain, require_network(network))
    require_bounded(domain, "verify")
    polytopes = _polytopes(unsafe, network.n_out)
    rows, bounds = (np.concatenate(parts) for parts in zip(*polytopes, strict=True))
    # At least 0 where a row is satisfied.
    graph = with_forms(network.graph, -rows, bounds)
    cut = with_graph(network, signing(graph))
    partition = enumerate_regions(cut, domain, limit=limit, progress=progress, workers=workers)
    ends = np.cumsum([len(each) for each, _ in polytopes])
    owners = [np.arange(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    at = CornerValues(partition, graph)
    satisfied = partition.patterns[:, cut.graph.hidden[-1].kinks] | _zero_all_over(at)
    inside = np.any([satisfied[:, own].all(axis=1) for own in owners], axis=0)
    witness = _witness(network, at, owners, inside)
    return Verdict(witness is None, witness, *proven_share(partition, inside), partition)


def _polytopes(unsafe: Iterable[tuple[ArrayLike, ArrayLike]], outputs: int) -> list[tuple[Floats, Floats]]:
    """The polytopes, checked."""
    result = []
    for index, given in enumerate(list_of(unsafe, "unsafe", "a list of pairs (A, b)")):
        pair = list_of(given, f"unsafe[{index}]", "a pair (A, b)")
        if len(pair) != 2:
            raise ValueError(f"unsafe[{index}] must be a pair (A, b), got {len(pair)} items")
        rows, bounds = exact_float64(pair[0], f"unsafe[{index}]: A"), exact_float64(pair[1], f"unsafe[{index}]: b")
        if rows.ndim != 2 or bounds.shape != rows.shape[:1] or rows.shape[1:] != (outputs,) or not len(rows):
            raise ValueError(
                f"unsafe[{index}]: A must have one row for each inequality and {outputs} columns, one for each output, "
                f"and b one number for each row; got shapes {list(rows.shape)} and {list(bounds.shape)}"
            )
        result.append((rows, bounds))
    if not result:
        raise ValueError("unsafe is empty: name at least one pair (A, b)")
    return result


def _zero_all_over(at: CornerValues) -> Bits:
    """On which regions a row is an equality everywhere, bool [R, rows]: its bit is 0 there, as below."""
    values, errors = at.rounded
    partition = at.partition
    near = (np.abs(values) <= errors)[partition.cell_vertices]
    result = np.logical_and.reduceat(near, partition.cell_offsets[:-1], axis=0)
    for region in np.flatnonzero(result.any(axis=1)).tolist():
        result[region] &= [not any(form) for form in at.forms(region)]
    return result


def _witness(network: Network, at: CornerValues, owners: list[Integers], inside: Bits) -> Witness | None:
    """An unsafe point: one with few digits inside a region if there is such a region, else a corner."""
    partition, domain = at.partition, at.partition.domain
    found = np.flatnonzero(inside)
    order = found[np.argsort(-partition.volumes[found], kind="stable")]
    for point in partition.interior_points[order[:TRIED]]:
        if np.isfinite(point).all() and _is_unsafe(_outputs_at(at.graph, domain, point), owners):
            place = tuple(map(Fraction, point.tolist()))
            return _made(network, at, place, _outputs_at(network.graph, domain, point), owners)
    values, errors = at.rounded
    open_ = np.any([(values[:, own] + errors[:, own] >= 0).all(axis=1) for own in owners], axis=0)
    outputs = CornerValues(partition, network.graph)
    for corner in np.sort(at.corners[open_]).tolist():
        vertex, region = at.point(corner), int(at.regions[corner])
        if _is_unsafe([value_at(form, vertex) for form in at.forms(region)], owners):
            place = tuple(Fraction(x, vertex[0]) for x in vertex[1:])
            return _made(network, at, place, [value_at(form, vertex) for form in outputs.forms(region)], owners)
    return None


def _made(
    network: Network,
    at: CornerValues,
    place: tuple[Fraction, ...],
    outputs: list[Fraction],
    owners: list[Integers],
) -> Witness:
    point = at.partition.domain.to_input([nearest_float(x) for x in place]).reshape(-1)
    try:
        rows = with_graph(network, at.graph)(point.reshape(network.input_shape))
    except NonFiniteError:
        return Witness(place, tuple(outputs), point, False)
    return Witness(place, tuple(outputs), point, _is_unsafe(rows.ravel().tolist(), owners))


def _is_unsafe(rows: list[Any], owners: list[Integers]) -> bool:
    return any(all(rows[i] >= 0 for i in own.tolist()) for own in owners)


def _outputs_at(graph: Graph, domain: Domain, point: Floats) -> list[Fraction]:
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
