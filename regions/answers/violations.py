# SPDX-License-Identifier: MIT
"""Where on a part of a domain are outputs unsafe?

Each inequality of a property becomes a unit whose kink lies where it is an equality, so that on each region the slack
of every inequality has one sign. The unsafe part of a region is then one of its faces, or all of it, and a face of a
bounded region has a corner. Therefore an unsafe point exists exactly if a corner is unsafe; for strict inequalities,
`unsafe_points.py` says what decides.
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
from functools import cached_property

import numpy as np

from regions.answers.corner_values import CornerValues
from regions.answers.unsafe_points import UnsafePoints
from regions.answers.unsafe_sets import Polytope, Rows, joined, slacks
from regions.answers.witness import Witness
from regions.core import WHOLE, Section
from regions.counting.found import COMPLETE, End, Found, exception_of
from regions.counting.options import Options
from regions.counting.run import Model, compiled_with_outputs, enumerated, frontier
from regions.domains import Domain
from regions.ground.arithmetic.types import Bits
from regions.ground.threads.progress import Report, watching_time
from regions.ground.threads.workers import each_by_workers
from regions.networks.graph import Graph
from regions.networks.network import Network, with_graph
from regions.networks.parts import signing
from regions.results.partition import Partition

__all__ = ["Question", "Search", "UnsafeRegions", "first_violation", "unsafe_regions"]

# Number of regions in the first block, and in the largest blocks; each block has twice as many as the block before it.
FIRST, LARGEST = 128, 1 << 15
# Number of sections of the recursion for each thread: enough to keep all threads busy to the end.
SECTIONS = 8


@dataclass(frozen=True, eq=False)
class Question:
    """Can outputs of a network be in one of some polytopes, on a bounded part of a domain?"""

    network: Network
    part: Domain
    polytopes: Sequence[Polytope]

    @cached_property
    def _joined(self) -> tuple[Polytope, list[Rows]]:
        return joined(self.polytopes)

    @cached_property
    def graph(self) -> Graph:
        """The graph whose outputs are the slacks of all rows."""
        return slacks(self.network.graph, [self._joined[0]])

    @property
    def rows(self) -> list[Rows]:
        """The rows of each polytope."""
        return self._joined[1]

    @cached_property
    def model(self) -> Model:
        """The network with a unit for each row. Cells are left out if each polytope has a row that fails all over the
        cell.
        """
        cut = with_graph(self.network, signing(self.graph))
        groups = np.zeros(len(self._joined[0].bounds), dtype=np.int64)
        for index, own in reversed([*enumerate(self.rows)]):  # a row of several polytopes is in the first one's
            groups[own.numbers] = index
        return compiled_with_outputs(cut, cut.graph, groups.tolist())


@dataclass(frozen=True, eq=False)
class UnsafeRegions:
    """Regions that bounds left open, and which of them are unsafe as a whole: bool [R]."""

    partition: Partition
    inside: Bits


@dataclass(frozen=True, eq=False)
class Search:
    """What the search for an unsafe point found.

    Attributes
    ----------
    witness : Witness or None
    regions : int
        Regions that were opened.
    touching : Witness or None
        If there is no unsafe point: a point that would be unsafe if no inequality was strict.
    every : UnsafeRegions or None
        All regions that bounds leave open, if they were in one block.
    """

    witness: Witness | None
    regions: int
    touching: Witness | None = None
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
        return _search(question, options, WHOLE, _Opened(1), 0)
    least, report = SECTIONS * options.threads, watching_time(None)
    starts = frontier(question.model, question.part, least, report)
    sections, opened = [*map(Section, starts, [*starts[1:], None])], _Opened(len(starts))

    def search(index: int, report: Report | None) -> Search:
        found = _search(question, replace(options, report=report, threads=1), sections[index], opened, index)
        if found.witness is not None:
            raise _Violated(found)
        return found

    found: list[Search] = []
    try:
        each_by_workers(search, len(starts), options.threads, options.report, found)
    except _Violated as violated:
        return replace(violated.search, regions=opened.all_regions)
    touching = next((each.touching for each in found if each.touching is not None), None)
    return Search(None, opened.all_regions, touching, found[0].every if len(found) == 1 else None)


class _Opened:
    """The numbers of regions that were opened, and of cells that bounds proved to be safe, in each section."""

    def __init__(self, sections: int) -> None:
        self.regions, self.closed = [0] * sections, [0] * sections

    @property
    def all_regions(self) -> int:
        return sum(self.regions)

    def left(self, limit: int | None) -> int | None:
        """Return how many regions and cells a limit still allows."""
        return None if limit is None else max(limit - sum(self.regions) - sum(self.closed), 0)

    def add(self, section: int, run: Found[Domain]) -> None:
        self.regions[section] += run.regions
        self.closed[section] += run.stats["closed"]


def _search(question: Question, options: Options, section: Section, opened: _Opened, index: int) -> Search:
    """Look for an unsafe point in a section."""
    block, touching, rest = FIRST, None, section
    while True:
        within = replace(options, limit=opened.left(options.limit))
        run = enumerated(question.model, question.part, within, rest, block)
        opened.add(index, run)
        if run.end.place is None and run.end is not COMPLETE:
            raise exception_of(End(limit=options.limit, error=run.end.error), run.partition, run)
        witness, touched, inside = _judged(question, run)
        touching = touching or touched
        whole = rest == WHOLE and run.end.place is None
        if witness is not None or run.end.place is None:
            every = UnsafeRegions(run.partition, inside) if whole else None
            return Search(witness, opened.regions[index], None if witness else touching, every)
        block, rest = min(2 * block, LARGEST), Section(run.end.place, section.end)


def unsafe_regions(question: Question, options: Options) -> UnsafeRegions:
    """Find all regions that bounds leave open."""
    run = enumerated(question.model, question.part, options)
    if run.end is not COMPLETE:
        raise exception_of(run.end, run.partition, run)
    return UnsafeRegions(run.partition, _inside(question, _values(question, run)) if run.regions else np.zeros(0, bool))


def _values(question: Question, run: Found[Domain]) -> CornerValues:
    return CornerValues(run.partition, question.graph, run.maps)


def _judged(question: Question, run: Found[Domain]) -> tuple[Witness | None, Witness | None, Bits]:
    """An unsafe point of some regions, or one that touches the unsafe set; and which regions are unsafe as a whole."""
    if not run.regions:
        return None, None, np.zeros(0, dtype=bool)
    at = _values(question, run)
    inside = _inside(question, at)
    return *UnsafePoints(question.network, at, question.rows).find(inside), inside


def _inside(question: Question, at: CornerValues) -> Bits:
    """Which regions are unsafe as a whole, bool [R]."""
    kinks = question.model.network.graph.hidden[-1].kinks
    above, zero = at.partition.patterns[:, kinks], _zero_all_over(at)
    each = [(above[:, own.numbers] | (zero[:, own.numbers] & ~own.strict)).all(axis=1) for own in question.rows]
    result: Bits = np.any(each, axis=0)
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
