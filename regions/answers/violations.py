# SPDX-License-Identifier: MIT
"""Where on a part of a domain are outputs unsafe?

Each inequality of a property becomes a unit whose kink lies where it is an equality, so that on each region the slack
of every inequality has one sign. The unsafe part of a region is then one of its faces, or all of it, and a face of a
bounded region has a corner. Therefore an unsafe point exists exactly if a corner is unsafe.
`first_violation` goes through the regions depth first, in blocks of growing size, and ends with the first block that
has an unsafe corner. Cells that bounds prove to be safe are not cut into regions (csrc/README.md). Corners are
evaluated with error bounds (`corner_values.py`), and in fractions if the bounds do not decide. `unsafe_regions` needs
all regions: the bits of the added units say which of them are unsafe as a whole.
Cost: `first_violation` costs little if much is unsafe; otherwise an enumeration of the cells that bounds do not decide,
and up to a millisecond for each corner that touches the unsafe set. Memory holds one block for each thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from regions.answers.corner_values import CornerValues, value_at
from regions.answers.unsafe_sets import Polytope, is_unsafe, owners, slacks
from regions.answers.witness import Witness, witness_at
from regions.arithmetic.dyadic import nearest_float
from regions.arithmetic.types import Bits, Floats, Integers
from regions.domains import Domain
from regions.domains import Polytope as ConvexPart
from regions.enumeration.found import COMPLETE, End, Found, Path, exception_of
from regions.enumeration.options import Options
from regions.enumeration.run import Model, compiled_with_outputs, enumerated, frontier
from regions.networks.graph import Graph
from regions.networks.network import Network, with_graph
from regions.networks.parts import signing
from regions.partition import Partition
from regions.partition.polytopes import PolytopePartition
from regions.passes.exact import ExactForms, ExactSigns
from regions.text.progress import Report
from regions.threads.deadline import Deadline
from regions.threads.workers import each_by_workers

__all__ = ["Question", "Search", "UnsafeRegions", "first_violation", "outputs_at", "unsafe_regions"]

# Number of regions in the first block, and in the largest blocks; each block has twice as many as the block before it.
FIRST, LARGEST = 128, 1 << 15
# Number of sections of the recursion for each thread: enough to keep all threads busy to the end.
SECTIONS = 8
# Number of regions, largest first, in which a point with few digits is sought.
TRIED = 20


@dataclass(frozen=True, eq=False)
class Question:
    """Can outputs of a network be in one of some polytopes, on a bounded part of a domain?"""

    network: Network
    part: Domain | ConvexPart
    polytopes: Sequence[Polytope]

    @cached_property
    def graph(self) -> Graph:
        """The graph whose outputs are the slacks of all rows."""
        return slacks(self.network.graph, self.polytopes)

    @cached_property
    def rows(self) -> list[Integers]:
        """The numbers of the rows of each polytope."""
        return owners(self.polytopes)

    @cached_property
    def model(self) -> Model:
        """The network with a unit for each row. Cells are left out if each polytope has a row that fails all over the
        cell.
        """
        cut = with_graph(self.network, signing(self.graph))
        groups = np.repeat(np.arange(len(self.rows)), [len(own) for own in self.rows]).tolist()
        return compiled_with_outputs(cut, cut.graph, groups)


@dataclass(frozen=True, eq=False)
class UnsafeRegions:
    """Regions that bounds left open, and which of them are unsafe as a whole: bool [R]."""

    partition: Partition | PolytopePartition
    inside: Bits


@dataclass(frozen=True, eq=False)
class Search:
    """What the search for an unsafe point found.

    Attributes
    ----------
    witness : Witness or None
    regions : int
        Regions that were opened.
    every : UnsafeRegions or None
        All regions that bounds leave open, if they were in one block.
    """

    witness: Witness | None
    regions: int
    every: UnsafeRegions | None = None


class _Violated(Exception):
    """Ends the search on all threads."""

    def __init__(self, search: Search) -> None:
        self.search = search


def first_violation(question: Question, options: Options) -> Search:
    """Look for an unsafe point until there is one, or no region is left.

    Raises
    ------
    LimitReached, TimeoutReached, KeyboardInterrupt
        ``partial`` has the regions of the last block.
    """
    if options.threads == 1:
        return _search(question, options, ((), None), [0], 0)
    starts = frontier(question.model, question.part, SECTIONS * options.threads, options.deadline.until(None))
    sections, opened = list(zip(starts, [*starts[1:], None], strict=True)), [0] * len(starts)

    def search(index: int, report: Report | None) -> Search:
        found = _search(question, replace(options, report=report, threads=1), sections[index], opened, index)
        if found.witness is not None:
            raise _Violated(found)
        return found

    found: list[Search] = []
    try:
        each_by_workers(search, len(starts), options.threads, options.report, found)
    except _Violated as violated:
        return replace(violated.search, regions=sum(opened))
    return Search(None, sum(opened), found[0].every if len(found) == 1 else None)


def _search(
    question: Question, options: Options, section: tuple[Path, Path | None], opened: list[int], index: int
) -> Search:
    """Look for an unsafe point in a section; ``opened`` has the number of regions that were opened in each section."""
    (place, end), most = section, FIRST
    while True:
        left = None if options.limit is None else max(options.limit - sum(opened), 0)
        run = enumerated(question.model, question.part, replace(options, limit=left), place, end, most)
        opened[index] += run.regions
        if run.end.place is None and run.end is not COMPLETE:
            raise exception_of(End(limit=options.limit, error=run.end.error), run.partition, run)
        witness, inside = _judged(question, run, options.deadline)
        whole = (place, end, run.end.place) == ((), None, None)
        if witness is not None or run.end.place is None:
            return Search(witness, opened[index], UnsafeRegions(run.partition, inside) if whole else None)
        most, place = min(2 * most, LARGEST), run.end.place


def unsafe_regions(question: Question, options: Options) -> UnsafeRegions:
    """Find all regions that bounds leave open."""
    run = enumerated(question.model, question.part, options)
    if run.end is not COMPLETE:
        raise exception_of(run.end, run.partition, run)
    return UnsafeRegions(run.partition, _inside(question, _values(question, run)) if run.regions else np.zeros(0, bool))


def _values(question: Question, run: Found[Domain]) -> CornerValues:
    return CornerValues(run.partition, question.graph, run.maps)


def _judged(question: Question, run: Found[Domain], deadline: Deadline) -> tuple[Witness | None, Bits]:
    """An unsafe point of some regions, if there is one, and which of them are unsafe as a whole."""
    if not run.regions:
        return None, np.zeros(0, dtype=bool)
    at = _values(question, run)
    inside = _inside(question, at)
    return _witness(question.network, at, question.rows, inside, deadline), inside


def _inside(question: Question, at: CornerValues) -> Bits:
    """Which regions are unsafe as a whole, bool [R]."""
    kinks = question.model.network.graph.hidden[-1].kinks
    satisfied = at.partition.patterns[:, kinks] | _zero_all_over(at)
    result: Bits = np.any([satisfied[:, own].all(axis=1) for own in question.rows], axis=0)
    return result


def _zero_all_over(at: CornerValues) -> Bits:
    """Whether a row is an equality all over a region, bool [R, rows]. Its bit is then 0, as where the row fails."""
    values, errors = at.rounded
    partition = at.partition
    near = (np.abs(values) <= errors)[partition.cell_vertices]
    result = np.logical_and.reduceat(near, partition.cell_offsets[:-1], axis=0)
    for region in np.flatnonzero(result.any(axis=1)).tolist():
        result[region] &= [not any(form) for form in at.exact.forms(region)]
    return result


def _witness(
    network: Network, at: CornerValues, rows: list[Integers], inside: Bits, deadline: Deadline
) -> Witness | None:
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
        deadline.check()
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
