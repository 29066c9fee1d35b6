# SPDX-License-Identifier: MIT
"""In which order is a result certified?

Arrays must fit together. Then every vertex gets its sign vector (`signs.py`), by values or in integers, and bits show
whether each region is the closure of the set of points with its pattern, and whether these are all regions
(`conditions.py`). docs/why-certify-proves.md proves that this is enough, in any dimension. Rounded numbers, totals and
second opinions follow.
If at most SOON products of integers suffice to decide all vertices, all are decided in integers. Otherwise values
decide most vertices, and integers the others, and all vertices of a few regions again. If the caller gives a number,
only this number of regions, drawn at random, is checked, in integers. A network that is too large for integers is
checked by values alone.
Cost: that of the signs, and a few operations for each corner and byte of signs.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import Literal, overload

import numpy as np

from regions.certification.along_curves import certified_along_curve
from regions.certification.cddlib import ask_cddlib
from regions.certification.certification_report import (
    LOOKED_AT,
    CertificationReport,
    CurveCertificationReport,
    Findings,
    claims_in,
    in_words,
)
from regions.certification.conditions import (
    Fault,
    check_different_vertices,
    check_neighbours,
    faults_of_regions,
    unsure_turns,
)
from regions.certification.exact_regions import ExactRegions
from regions.certification.forms import Forms, small_enough
from regions.certification.layout import Layout
from regions.certification.resample import check_against_reference
from regions.certification.rounding import check_affine_maps, check_coordinates, check_volumes, volumes_hold
from regions.certification.signs import VertexSigns
from regions.certification.totals import check_border, check_disjoint, check_euler, check_volume
from regions.errors import TimeoutReached
from regions.ground.arithmetic.arguments import Workers, number_of_workers, seconds, shown
from regions.ground.arithmetic.types import Bits, Integers
from regions.ground.threads.deadline import call_with_time_limit
from regions.ground.threads.progress import Progress, Report, reporting, share_of
from regions.networks.network import Network, require_network
from regions.results.cells.consistency import first_problem
from regions.results.cells.strands import FoundAlongCurve
from regions.results.partition import Partition, raw_arrays, require_partition

__all__ = ["certify", "check_regions"]

# Number of products of integers that take a minute or two, for curves, and number that take a fraction of a second.
PRODUCTS, SOON = 600_000_000, 2_000_000
# Affine maps and second opinions are checked for at most this many regions, and for at most a tenth of the drawn
# regions. Forward passes check points inside at most INSIDE regions, and exact volumes at most SIMPLICES simplices. At
# most EXPLAINED wrong regions are compared with their own forms.
FEW, INSIDE, SIMPLICES, EXPLAINED = 20, 1_000, 400_000, 200
# If values decide the vertices, AGAIN regions are also checked in integers, and cddlib gets matrices of at most ROWS
# rows in all.
AGAIN, ROWS = 4, 200
# If not all regions are checked, this many adjacent ones are checked together, so that facets are seen from both sides.
PATCH = 32


@overload
def certify(
    part: Partition,
    net: Network,
    *,
    regions: int | Literal["all"] | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> CertificationReport: ...
@overload
def certify(
    part: FoundAlongCurve,
    net: Network,
    *,
    regions: int | Literal["all"] | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> CurveCertificationReport: ...
def certify(
    part: Partition | FoundAlongCurve,
    net: Network,
    *,
    regions: int | Literal["all"] | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> CertificationReport | CurveCertificationReport:
    """Check a partition, or a trajectory, independently, without any code that computed it.

    The check uses the weights as stored, the patterns, the names of the facets and the adjacency of regions. It shows
    that every listed region is real, and that no region is missing. Small results are checked in exact arithmetic. In
    large ones, on bounded domains, values at the vertices with proven error bounds decide most vertices, and the others
    are decided in exact arithmetic, however long that takes. On unbounded domains all vertices are decided in exact
    arithmetic, so that large results may take hours: ``regions`` limits the number. Only the regions of networks that
    are too large for exact arithmetic may remain unproven; the report says how many.

    For a trajectory, the reference (`regions.reference`) checks the pieces, their order and their ends, and the numbers
    that follow from them; lengths are not checked.

    Parameters
    ----------
    part : Partition or Trajectory
    net : Network
        The network that the result claims to be about.
    regions : int or "all", optional
        Check only this number of regions, in exact arithmetic. In addition, at most this number, or 8, of regions
        around random points are compared with the reference. "all" checks all in exact arithmetic. For a trajectory,
        the number of strands: the parts between breakpoints and joints of legs.
    timeout : float, optional
        Stop with `TimeoutReached` after this many seconds.
    progress : bool or callable, optional
        As for `count`, with the number of checked regions, and their fraction of all regions to be checked.
    workers : int or "all", optional
        Number of threads, as for `count`. They compute values at vertices; exact arithmetic and trajectories use one.
        The report does not depend on it.

    Returns
    -------
    CertificationReport, or CurveCertificationReport
        What was proved, what was only sampled, and what is wrong. Damage is a failed item, not an exception.

    Raises
    ------
    TypeError
        Not a Partition or Trajectory with a Network.
    ValueError
        ``regions`` is neither a number of at least 1 nor "all"; ``workers`` is not a number of threads, nor "all".
    TimeoutReached, KeyboardInterrupt
        ``partial`` is the report on the checks so far; for a trajectory, None.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1, 0], [0, 1], [1, 1]], [-0.1, -0.2, -(0.1 + 0.2)]), ([[1, 1, 1]], [0])])
    >>> part = regions.enumerate(net, regions.Polygon([[0, 0], [1, 0], [1, 1], [0, 1]]))
    >>> regions.certify(part, net).conclusion
    'proved: there are exactly 7 regions'
    >>> regions.certify(part, net, regions=2).conclusion
    'no fault found: 2 of 7 regions checked (2 of 7 patterns, 14 of 49 inequalities)'
    """
    with call_with_time_limit(seconds(timeout, "timeout")):
        return _certified(part, net, regions, progress, number_of_workers(workers))


def _certified(
    part: Partition | FoundAlongCurve,
    net: Network,
    regions: int | Literal["all"] | None,
    progress: Progress,
    threads: int,
) -> CertificationReport | CurveCertificationReport:
    if isinstance(part, FoundAlongCurve):
        wanted, network = _checked_number(regions), require_network(net)
        with reporting(progress) as report:
            return certified_along_curve(part, network, wanted, PRODUCTS, report)
    require_partition(part)
    require_network(net)
    wanted, findings = _checked_number(regions), Findings(claims_in(part.dimension))
    # Infinite and undefined numbers are compared like others, without warnings.
    with np.errstate(all="ignore"), reporting(progress) as report:
        try:
            if _comparable(part, net, findings) and _indexable(part, net, findings):
                _judge(part, net, wanted, report, threads, findings)
        except (TimeoutReached, KeyboardInterrupt) as stopped:
            findings.stop()
            stopped.partial = _report(part, net, findings)  # type: ignore[union-attr]
            raise
    return _report(part, net, findings)


def _checked_number(regions: object) -> int | Literal["all"] | None:
    if regions is None or (isinstance(regions, str) and regions == "all"):
        return None if regions is None else "all"
    if isinstance(regions, bool) or not isinstance(regions, (int, np.integer)) or regions < 1:
        raise ValueError(f'regions must be a number of regions, 1 or more, or "all", got {shown(regions)}')
    return int(regions)


def _report(part: Partition, net: Network, findings: Findings) -> CertificationReport:
    size = max(part.cell_offsets.size - 1, 0)
    return findings.report(size, part.complete, net.fingerprint, in_words(part.domain))


def _comparable(part: Partition, net: Network, findings: Findings) -> bool:
    """Check that it is the right network; return whether the partition could be of it."""
    if net != part.network:
        names = f"{part.network.fingerprint[:12]}.., not {net.fingerprint[:12]}.."
        findings.wrong("network", f"the partition is of the network {names}: give that one, or enumerate again")
    if part.domain.n_in != net.n_in:
        findings.wrong("network", f"the domain lies in R^{part.domain.n_in}, but the network takes {net.n_in} inputs")
        return False
    findings.checked("network", 1, 1, "network")
    return _sizes(net) == _sizes(part.network)


def _sizes(network: Network) -> list[tuple[int, ...]]:
    return [(node.terms, node.units.count, node.units.kinks) for node in network.graph.nodes]


def _indexable(part: Partition, net: Network, findings: Findings) -> bool:
    """Check that arrays may be indexed with each other."""
    arrays = {name: raw_arrays(part)[name] for name in part.stored}
    problem = first_problem(net, part.domain, arrays, part.complete)
    if problem:
        findings.wrong("arrays", problem)
    findings.checked("arrays", len(arrays), len(arrays), "arrays")
    return problem is None


def _judge(
    part: Partition,
    net: Network,
    wanted: int | Literal["all"] | None,
    report: Report | None,
    threads: int,
    findings: Findings,
) -> None:
    """Perform all checks that index arrays."""
    integers = small_enough(net, findings)
    forms = Forms(net, part.domain) if integers else None
    rng, chosen = np.random.default_rng(int(net.fingerprint[:16], 16)), None
    if isinstance(wanted, int) and wanted < len(part):
        chosen = _chosen(part, wanted, rng)
    layout = Layout(part, net, chosen)
    findings.inequalities = layout.every
    check_disjoint(layout, findings)
    if part.complete:
        check_euler(layout, findings)
    else:
        for name in ("border", "volume", "euler"):
            findings.unchecked(name, "not claimed of a partial result")
    if not integers and wanted is not None:
        return
    signs = VertexSigns(layout)
    asked = np.ones(len(part), dtype=bool) if chosen is None else np.isin(np.arange(len(part)), chosen)
    if chosen is None:
        for vertex in np.flatnonzero(layout.owners < 0).tolist():
            findings.wrong("vertices", f"vertex {vertex} belongs to no region")
    by_values, measured = False, np.zeros(len(part), dtype=bool)
    try:
        work = len(part.vertices) * (forms.products_per_pattern if forms else 0)
        if part.domain.bounded and wanted is None and (forms is None or work > SOON):
            by_values = True
            signs.decide_by_values(share_of(report, 0, 2), threads)
            measured = signs_hold(layout, signs) & volumes_hold(layout, signs.near)
            report = share_of(report, 1, 2)
        if forms is not None:
            again = np.zeros(0, dtype=np.int64)
            if by_values:
                seen = layout.with_all(signs.known)
                again = rng.permutation(np.flatnonzero(seen))[: forms.affordable(AGAIN)]
                if layout.dimension < 3:
                    again = np.union1d(again, np.flatnonzero(seen & ~measured))
            needed = layout.vertices_of(np.flatnonzero(asked)) if chosen is not None else np.arange(len(part.vertices))
            left = needed[~signs.known[needed] & (layout.owners[needed] >= 0)]
            _decide_in_integers(signs, np.union1d(left, layout.vertices_of(again)), forms, findings, report)
    finally:  # after Ctrl-C the regions that are decided are still judged
        exact = ExactRegions(layout, forms, signs) if forms is not None else None
        seen = check_regions(layout, signs, exact, asked, findings)
        remark = f"{len(signs.positions):,} of {len(part.vertices):,} vertices in integers" if by_values else ""
        if forms is None and not seen.all():
            remark = "the others need exact arithmetic, for which the network is too large"
        for name in LOOKED_AT:
            told = name == "inequalities" or forms is None
            findings.checked(name, int(seen.sum()), len(part), "regions", remark if told else "")
    check_coordinates(layout, signs, None if part.domain.bounded or not forms else forms.infinity, findings)
    sound, total = not findings.any_wrong(*LOOKED_AT), None
    if exact is not None:
        total = _second_opinions(exact, seen, measured, by_values, wanted, rng, remark, findings)
    elif part.dimension < 3:
        findings.checked("volumes", int(measured.sum()), len(part), "regions")
    if part.complete and sound and seen.all():
        check_border(layout, findings)
        check_volume(layout, forms, total, findings)
    elif part.complete and sound and chosen is not None:
        for name in ("border", "volume"):
            findings.unchecked(name, "only where all regions were looked at")


def signs_hold(layout: Layout, signs: VertexSigns) -> Bits:
    """Return the regions of which values prove all vertices to be as near as is stated."""
    return layout.with_all(signs.known & (signs.near <= layout.errors))


def _decide_in_integers(
    signs: VertexSigns, vertices: Integers, forms: Forms, findings: Findings, report: Report | None
) -> None:
    """Decide vertices in integers, and compare the signs of those that values have decided before."""
    before, known = (signs.above[vertices].copy(), signs.zero[vertices].copy()), signs.known[vertices]
    signs.decide_in_integers(vertices, forms, findings, report)
    differ = ((before[0] != signs.above[vertices]) | (before[1] != signs.zero[vertices])).any(axis=1)
    for vertex in vertices[differ & known].tolist():
        findings.wrong("vertices", f"values and integers disagree about vertex {vertex}: please report this")


def check_regions(
    layout: Layout, signs: VertexSigns, exact: ExactRegions | None, asked: Bits, findings: Findings
) -> Bits:
    """Check all conditions on regions of which all vertices are known, and return which these are, bool [R]."""
    seen = layout.with_all(signs.known) & asked
    if layout.complete:
        check_different_vertices(layout, signs, findings)
    faults = list(faults_of_regions(layout, signs, seen))
    faulty = np.zeros(layout.regions, dtype=bool)
    faulty[[fault.region for fault in faults]] = True
    if exact is not None and faults:
        faults = _explained(exact, faults)
    for fault in faults:
        findings.wrong(fault.item, fault.what)
    turns = unsure_turns(layout, signs, seen)
    if exact is not None and turns.size:
        left = layout.vertices_of(turns)
        left = left[~np.isin(left, list(signs.positions))]
        signs.decide_in_integers(left, exact.forms, findings)
        for region in turns[layout.with_all(signs.known)[turns]].tolist():
            if not exact.is_counter_clockwise(region):
                findings.wrong("cells", f"the corners of region {region} are not in order")
    elif turns.size:
        seen[turns] = False
    check_neighbours(layout, signs, seen, faulty, exact.forms if exact else None, findings)
    return seen


def _explained(exact: ExactRegions, faults: list[Fault]) -> list[Fault]:
    """Return what is wrong with regions according to their own forms, where corners are known exactly, and otherwise,
    or if that finds nothing, the given faults. If the owner of a vertex is wrong, other regions around it may be, too.
    """
    layout, wrong = exact.layout, np.unique([fault.region for fault in faults])
    doubtful = np.isin(layout.owners[layout.cell_vertices], wrong)
    around = np.setdiff1d(layout.corner_regions[doubtful], wrong)
    placed = set(exact.placed().tolist())
    found = exact.faults([region for region in [*wrong.tolist(), *around.tolist()] if region in placed][:EXPLAINED])
    explained = {fault.region for fault in found}
    return found + [fault for fault in faults if fault.region not in explained]


def _second_opinions(
    exact: ExactRegions,
    seen: Bits,
    measured: Bits,
    by_values: bool,
    wanted: int | Literal["all"] | None,
    rng: np.random.Generator,
    remark: str,
    findings: Findings,
) -> Fraction | None:
    """Check patterns inside, affine maps and volumes of regions with exact corners, and ask cddlib and the reference;
    return the exact volume of all regions, if it is known.
    """
    layout, part = exact.layout, exact.partition
    placed = exact.placed()
    placed = placed[seen[placed]]
    sound, every = not findings.any_wrong(*LOOKED_AT), bool(seen.all())
    few = rng.permutation(placed)[: FEW if every else min(FEW, 1 + len(placed) // 10)].tolist()
    check_affine_maps(exact, few, findings)
    if not sound:
        return None
    most = FEW if not by_values else max(1, ROWS // findings.inequalities)
    remark = "; ".join(filter(None, [remark, ask_cddlib(exact, few[:most], findings)]))
    findings.checked("inequalities", int(seen.sum()), len(part), "regions", remark)
    for region in placed[:INSIDE].tolist():
        fault = exact.wrong_pattern(region)
        if fault:
            findings.wrong("patterns", fault.what)
    simplices = factorial(layout.dimension) << layout.dimension
    chosen = placed[: max(1, SIMPLICES // simplices)] if layout.dimension > 2 or by_values else placed
    total = check_volumes(exact, chosen.tolist(), measured, findings)
    if not findings.any_wrong("coordinates"):
        asked = wanted if isinstance(wanted, int) and not every else None
        check_against_reference(layout, exact.forms, asked, rng, findings)
    return total if len(chosen) == len(part) else None


def _chosen(part: Partition, allowed: int, rng: np.random.Generator) -> Integers:
    """Return random regions with neighbours, ascending."""
    chosen: set[int] = set()
    for start in rng.permutation(len(part)).tolist():
        size = min(PATCH, allowed - len(chosen))
        if size <= 0:
            break
        patch, reached = [start], {start}
        for region in patch:  # the list grows, breadth first
            facets = part.cell_facets[part.cell_facet_offsets[region] : part.cell_facet_offsets[region + 1]]
            around = set(part.facet_regions[facets].ravel().tolist()) - reached - {-1}
            patch += sorted(around)
            reached |= around
            if len(patch) >= size:
                break
        chosen.update(patch[:size])
    return np.array(sorted(chosen), dtype=np.int64)
