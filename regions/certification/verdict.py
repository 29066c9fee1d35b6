# SPDX-License-Identifier: MIT
"""In which order is a result certified?

This file has the order of the checks, the choice of the regions to check in exact arithmetic, and the checks to omit
after a failure. The proof that they are enough is in docs/why-certify-proves.md.
If at most SOON products of integers suffice to check all regions, all are checked in integers. Otherwise values at the
vertices prove most regions (`proven_regions.py`), and the others, and a few more, are checked in integers. If the
caller gives a number, only this number of regions, drawn at random, is checked. A network that is too large for
integers is checked by values alone.
Cost: one forward pass for each vertex, and `Forms.products_per_pattern` products for each region checked in integers.
"""

from __future__ import annotations

from typing import Literal, overload

import numpy as np

from regions.arithmetic.arguments import Workers, number_of_workers, seconds, shown
from regions.arithmetic.types import Integers
from regions.cells.consistency import first_problem
from regions.cells.strands import FoundAlongCurve
from regions.certification.along_curves import certified_along_curve
from regions.certification.cddlib import ask_cddlib
from regions.certification.certification_report import (
    CLAIMS,
    LOOKED_AT,
    CertificationReport,
    CurveCertificationReport,
    Findings,
    in_words,
)
from regions.certification.facets import check_border, check_names, check_neighbours
from regions.certification.forms import Forms, small_enough
from regions.certification.polytope_verdict import CLAIMS_IN_BOXES, judge_polytopes
from regions.certification.proven_regions import Proven, proven_regions
from regions.certification.region_inequalities import Cells
from regions.certification.resample import check_against_reference
from regions.certification.rounding import (
    around,
    check_affine_maps,
    check_bounds,
    check_coordinates,
    check_volumes,
    volumes_hold,
)
from regions.certification.totals import check_disjoint, check_euler, check_rounded_volume, check_volume
from regions.errors import TimeoutReached
from regions.networks.network import Network, require_network
from regions.partition import Partition, raw_arrays, require_partition
from regions.partition.polytopes import PolytopePartition
from regions.threads.deadline import call_with_time_limit
from regions.threads.progress import Progress, Report, reporting, share_of

__all__ = ["certify"]

# Number of products of integers that take a minute or two, for curves, and number that take a fraction of a second.
PRODUCTS, SOON = 600_000_000, 2_000_000
# Affine maps and second opinions are checked for at most this many regions, and for at most a tenth of the drawn
# regions.
FEW = 20
# If values at vertices prove the regions, AGAIN of these are also checked in exact arithmetic, and cddlib gets matrices
# of at most ROWS rows in all.
AGAIN, ROWS = 4, 200
# If not all regions are checked, this many adjacent ones are checked together, so that facets are seen from both sides.
PATCH = 32


@overload
def certify(
    part: Partition | PolytopePartition,
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
    part: Partition | PolytopePartition | FoundAlongCurve,
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
    large ones, on bounded domains, values at the vertices with proven error bounds prove most regions, and the others
    are checked in exact arithmetic, however long that takes. On unbounded domains all regions are checked in exact
    arithmetic, so that large results may take hours: ``regions`` limits the number. Only the regions of networks that
    are too large for exact arithmetic may remain unproven; the report says how many.

    For a trajectory, the reference (`regions.reference`) checks the pieces, their order and their ends, and the numbers
    that follow from them; lengths are not checked.

    Parameters
    ----------
    part : Partition, PolytopePartition or Trajectory
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
        Not a Partition, PolytopePartition or Trajectory with a Network.
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
    part: Partition | PolytopePartition | FoundAlongCurve,
    net: Network,
    regions: int | Literal["all"] | None,
    progress: Progress,
    threads: int,
) -> CertificationReport | CurveCertificationReport:
    if isinstance(part, FoundAlongCurve):
        wanted, network = _checked_number(regions), require_network(net)
        with reporting(progress) as report:
            return certified_along_curve(part, network, wanted, PRODUCTS, report)
    in_box = isinstance(part, PolytopePartition)
    if not in_box:
        require_partition(part)
    require_network(net)
    wanted, findings = _checked_number(regions), Findings(CLAIMS_IN_BOXES if in_box else CLAIMS)
    # Infinite and undefined numbers are compared like others, without warnings.
    with np.errstate(all="ignore"), reporting(progress) as report:
        try:
            if _comparable(part, net, findings) and _indexable(part, net, findings):
                if isinstance(part, PolytopePartition):
                    judge_polytopes(part, net, wanted, report, threads, findings)
                else:
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


def _report(part: Partition | PolytopePartition, net: Network, findings: Findings) -> CertificationReport:
    size = max(part.cell_offsets.size - 1, 0)
    return findings.report(size, part.complete, net.fingerprint, in_words(part.domain))


def _comparable(part: Partition | PolytopePartition, net: Network, findings: Findings) -> bool:
    """Check that it is the right network; return whether the partition could be of it."""
    if net != part.network:
        names = f"{part.network.fingerprint[:12]}.., not {net.fingerprint[:12]}.."
        findings.wrong("network", f"the partition is of the network with the fingerprint {names}")
    if part.domain.n_in != net.n_in:
        findings.wrong("network", f"the domain lies in R^{part.domain.n_in}, but the network takes {net.n_in} inputs")
        return False
    findings.checked("network", 1, 1, "network")
    return _sizes(net) == _sizes(part.network)


def _sizes(network: Network) -> list[tuple[int, ...]]:
    return [(node.terms, node.units.count, node.units.kinks) for node in network.graph.nodes]


def _indexable(part: Partition | PolytopePartition, net: Network, findings: Findings) -> bool:
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
    check_disjoint(part, findings)
    if not small_enough(net, findings):
        if wanted is None:
            _judge_by_values(part, net, report, threads, findings)
        elif part.complete:
            check_euler(part, findings)
        return
    forms, rng = Forms(net, part.domain), np.random.default_rng(int(net.fingerprint[:16], 16))
    findings.inequalities = net.kinks + len(forms.edges)
    proven = None
    if wanted is None and len(part) * forms.products_per_pattern > SOON and part.domain.bounded:
        proven = _proven(part, net, share_of(report, 0, 2), threads, findings)
        report = share_of(report, 1, 2)
    allowed, chosen = wanted if isinstance(wanted, int) else len(part), list[int]()
    left, measured = np.arange(len(part)), np.zeros(len(part), dtype=bool)
    if proven is not None:
        measured = proven.regions & volumes_hold(part, proven.near)
        left = np.union1d(np.flatnonzero(~measured), around(part, ~(proven.near <= part.vertex_errors)))
        # A few of the others are checked in both ways.
        chosen = rng.permutation(np.flatnonzero(proven.regions))[: forms.affordable(AGAIN)].tolist()
    chosen = sorted({*chosen, *_chosen(part, left, allowed, rng)})
    cells = Cells(part, net, forms, findings)
    every = len(left) <= allowed
    few = rng.permutation(chosen)[: FEW if every else min(FEW, 1 + len(chosen) // 10)].tolist()
    remark = ""
    try:
        cells.see(chosen, report)
        sound = not findings.any_wrong(*LOOKED_AT)
        if sound:
            most = FEW if proven is None else max(1, ROWS // findings.inequalities)
            remark = ask_cddlib(cells, few[:most], findings)
    finally:  # after Ctrl-C the checked regions are still judged
        seen = cells.seen
        if proven is not None:
            seen = int((proven.regions | np.isin(np.arange(len(part)), list(cells.cells))).sum())
            remark = "; ".join(filter(None, [f"{cells.seen:,} of them in integers", remark]))
        for name in LOOKED_AT:
            findings.checked(name, seen, len(part), "regions", remark if name == "inequalities" else "")
    check_neighbours(cells, proven, findings)
    check_coordinates(cells, proven, findings)
    check_affine_maps(cells, few, findings)
    if sound:
        check_volumes(cells, measured, findings)
        whole = every and proven is None
        check_against_reference(cells, None if whole else len(chosen), rng, findings)
    _judge_whole(cells, proven, sound, every, findings)


def _proven(part: Partition, net: Network, report: Report | None, threads: int, findings: Findings) -> Proven:
    """Prove regions by values; after Ctrl-C, record how many have been proven."""
    try:
        return proven_regions(part, net, report, threads)
    except KeyboardInterrupt as stopped:
        proven = getattr(stopped, "proven", None)
        if proven is not None:
            for name in LOOKED_AT:
                findings.checked(name, int(proven.regions.sum()), len(part), "regions", "until it was stopped")
        raise


def _judge_whole(cells: Cells, proven: Proven | None, sound: bool, every: bool, findings: Findings) -> None:
    """Check the claims about all regions together."""
    if not cells.partition.complete:
        for name in ("border", "volume", "euler"):
            findings.unchecked(name, "not claimed of a partial result")
        return
    check_euler(cells.partition, findings)
    if sound and every:
        check_border(cells.partition, findings)
        if proven is None:
            check_volume(cells, findings)
        else:
            check_rounded_volume(cells.partition, findings)
    elif sound:
        for name in ("border", "volume"):
            findings.unchecked(name, "only where all regions were looked at")


def _judge_by_values(part: Partition, net: Network, report: Report | None, threads: int, findings: Findings) -> None:
    """Perform the checks that need no integers."""
    findings.inequalities = net.kinks + len(part.domain.generators)
    proven = _proven(part, net, report, threads, findings)
    every = bool(proven.regions.all())
    remark = "" if every else "the others need exact arithmetic, for which the network is too large"
    for name in LOOKED_AT:
        findings.checked(name, int(proven.regions.sum()), len(part), "regions", remark)
    findings.checked("coordinates", int((proven.near <= part.vertex_errors).sum()), len(part.vertices), "vertices")
    check_bounds(part, findings)
    measured = proven.regions & volumes_hold(part, proven.near)
    findings.checked("volumes", int(measured.sum()), len(part), "regions")
    check_names(part, net, proven, np.zeros(len(part.facet_kinks), dtype=bool), findings)
    if not part.complete:
        return
    check_euler(part, findings)
    if every:
        check_border(part, findings)
        check_rounded_volume(part, findings)


def _chosen(part: Partition, left: Integers, allowed: int, rng: np.random.Generator) -> list[int]:
    """Return the regions of the rest to check in exact arithmetic: all of them, or random ones with neighbours."""
    if len(left) <= allowed:
        return left.tolist()
    chosen: set[int] = set()
    for start in rng.permutation(left).tolist():
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
    return sorted(chosen)
