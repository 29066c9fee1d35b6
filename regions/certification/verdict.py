# SPDX-License-Identifier: MIT
"""Can a partition be believed?

The order of the checks, which of the regions are looked at in exact arithmetic, and what is left out when something
they build on has failed. The argument why this is enough is in `regions.certification`.
Cost: mostly products of integers, `Forms.products_per_pattern` for each region that is looked at. All are, where that
takes PRODUCTS of them at most; else as many as that allows, drawn at random. The caller may say how many instead.
"""

from __future__ import annotations

from typing import Literal, overload

import numpy as np

from regions.arithmetic.arguments import shown
from regions.cells.consistency import first_problem
from regions.cells.strands import FoundAlongCurve
from regions.certification.along_curves import certified_along_curve
from regions.certification.cddlib import ask_cddlib
from regions.certification.certification_report import (
    LOOKED_AT,
    CertificationReport,
    CurveCertificationReport,
    Findings,
)
from regions.certification.facets import check_border, check_neighbours
from regions.certification.forms import Forms, small_enough
from regions.certification.region_inequalities import Cells
from regions.certification.resample import check_against_reference
from regions.certification.rounding import check_affine_maps, check_coordinates, check_volumes
from regions.certification.totals import check_disjoint, check_euler, check_volume
from regions.networks.network import Network, require_network
from regions.partition import ARRAYS, Partition, raw_arrays, require_partition
from regions.reporting import Progress, Report, reporting

__all__ = ["certify"]

# A minute or two.
PRODUCTS = 600_000_000
# Affine maps and second opinions are of so many regions at most, and of a tenth of those that are drawn.
FEW = 20
# Regions that are looked at together when not all are: neighbours, so that facets are seen from both sides.
PATCH = 32


@overload
def certify(
    part: Partition, net: Network, *, regions: int | Literal["all"] | None = None, progress: Progress = None
) -> CertificationReport: ...
@overload
def certify(
    part: FoundAlongCurve, net: Network, *, regions: int | Literal["all"] | None = None, progress: Progress = None
) -> CurveCertificationReport: ...
def certify(
    part: Partition | FoundAlongCurve,
    net: Network,
    *,
    regions: int | Literal["all"] | None = None,
    progress: Progress = None,
) -> CertificationReport | CurveCertificationReport:
    """Check a partition, or a trajectory, anew, sharing no code with what made it.

    In exact arithmetic on the weights as stored, from the patterns, the names of the facets, and who is next to whom:
    that every region is what it is said to be, and that together they are all there are. When that would take more than
    a minute or two, some regions are drawn and checked; the report says how many. Of networks with more than 50 million
    weights as whole matrices, as convolutional ones are soon, nothing is looked at in exact arithmetic, and it says so.

    Of a trajectory the pieces are checked, with their order and their ends, by the reference (`regions.reference`), and
    the numbers that follow from them; lengths are not.

    Parameters
    ----------
    part : Partition or Trajectory
    net : Network
        The network it is said to be of.
    regions : int or "all", optional
        How many regions to look at in exact arithmetic, at most, beside those around one or a few places where the
        reference is asked: no more again, or 8. By default as many as take a minute or two, which depends on the
        network, never on the machine. What it takes is proportional to this number, beside one pass over the arrays. Of
        a trajectory it is strands: what lies between breakpoints and joints of legs.
    progress : bool or callable, optional
        As for `count`, with the regions that have been looked at, and their share of those that are to be.

    Returns
    -------
    CertificationReport, or CurveCertificationReport
        What was proved, what was only sampled, and what is wrong. Damage is a failed item, not an exception.

    Raises
    ------
    TypeError
        Something else than a Partition or a Trajectory and a Network.
    ValueError
        ``regions`` is neither a number of 1 or more nor "all".
    KeyboardInterrupt
        On Ctrl-C; ``partial`` is the report on what had been checked by then.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1, 0], [0, 1], [1, 1]], [-0.1, -0.2, -(0.1 + 0.2)]), ([[1, 1, 1]], [0])])
    >>> part = regions.enumerate(net, regions.Polygon([[0, 0], [1, 0], [1, 1], [0, 1]]))
    >>> regions.certify(part, net).conclusion
    'proved: there are exactly 7 regions'
    >>> regions.certify(part, net, regions=2).conclusion
    'no fault found: 2 of 7 regions checked in exact arithmetic (2 of 7 patterns, 14 of 49 inequalities)'
    """
    if isinstance(part, FoundAlongCurve):
        wanted, network = _checked_number(regions), require_network(net)
        with reporting(progress) as report:
            return certified_along_curve(part, network, wanted, PRODUCTS, report)
    require_partition(part)
    require_network(net)
    wanted, findings = _checked_number(regions), Findings()
    # Infinite and undefined numbers are compared like others, and found wrong where they are.
    with np.errstate(all="ignore"), reporting(progress) as report:
        try:
            if _comparable(part, net, findings) and _indexable(part, net, findings):
                _judge(part, net, wanted, report, findings)
        except KeyboardInterrupt as stopped:
            findings.stop()
            stopped.partial = findings.report(_size(part), part.complete)  # type: ignore[attr-defined]
            raise
    return findings.report(_size(part), part.complete)


def _checked_number(regions: object) -> int | Literal["all"] | None:
    if regions is None or (isinstance(regions, str) and regions == "all"):
        return None if regions is None else "all"
    if isinstance(regions, bool) or not isinstance(regions, (int, np.integer)) or regions < 1:
        raise ValueError(f'regions must be a number of regions, 1 or more, or "all", got {shown(regions)}')
    return int(regions)


def _size(part: Partition) -> int:
    return max(part.cell_offsets.size - 1, 0)


def _comparable(part: Partition, net: Network, findings: Findings) -> bool:
    """Check that it is the right network; returns whether it is one that the partition could be of."""
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


def _indexable(part: Partition, net: Network, findings: Findings) -> bool:
    """Check that arrays may be indexed with each other."""
    arrays = {name: raw_arrays(part)[name] for name in ARRAYS}
    problem = first_problem(net, part.domain, arrays, part.complete)
    if problem:
        findings.wrong("arrays", problem)
    findings.checked("arrays", len(ARRAYS), len(ARRAYS), "arrays")
    return problem is None


def _judge(
    part: Partition, net: Network, wanted: int | Literal["all"] | None, report: Report | None, findings: Findings
) -> None:
    """All checks that index arrays."""
    check_disjoint(part, findings)
    if not small_enough(net, findings):
        if part.complete:
            check_euler(part, findings)
        return
    forms, rng = Forms(net, part.domain), np.random.default_rng(int(net.fingerprint[:16], 16))
    findings.inequalities = net.kinks + len(forms.edges)
    chosen = _chosen(part, _allowed(part, forms, wanted), rng)
    cells = Cells(part, net, forms, findings)
    every = len(chosen) == len(part)
    few = rng.permutation(chosen)[: FEW if every else min(FEW, 1 + len(chosen) // 10)].tolist()
    remark = ""
    try:
        cells.see(chosen, report)
        sound = not findings.any_wrong(*LOOKED_AT)
        if sound:
            remark = ask_cddlib(cells, few, findings)
    finally:  # Ctrl-C leaves those that have been seen
        for name in LOOKED_AT:
            findings.checked(name, cells.seen, len(part), "regions", remark if name == "inequalities" else "")
    check_neighbours(cells, findings)
    check_coordinates(cells, findings)
    check_affine_maps(cells, few, findings)
    if sound:
        check_volumes(cells, findings)
        check_against_reference(cells, None if every else len(chosen), rng, findings)
    _judge_whole(cells, sound, every, findings)


def _judge_whole(cells: Cells, sound: bool, every: bool, findings: Findings) -> None:
    """What is said of all regions together."""
    if not cells.partition.complete:
        for name in ("border", "volume", "euler"):
            findings.unchecked(name, "not claimed of a partial result")
        return
    check_euler(cells.partition, findings)
    if sound and every:
        check_border(cells, findings)
        check_volume(cells, findings)
    elif sound:
        for name in ("border", "volume"):
            findings.unchecked(name, "only where all regions were looked at")


def _allowed(part: Partition, forms: Forms, wanted: int | Literal["all"] | None) -> int:
    """How many regions may be looked at in exact arithmetic."""
    if wanted == "all":
        return len(part)
    return max(1, PRODUCTS // forms.products_per_pattern) if wanted is None else wanted


def _chosen(part: Partition, allowed: int, rng: np.random.Generator) -> list[int]:
    """The regions to look at in exact arithmetic: all of them, or random ones with those around them."""
    if len(part) <= allowed:
        return list(range(len(part)))
    chosen: set[int] = set()
    for start in rng.permutation(len(part)).tolist():
        size = min(PATCH, allowed - len(chosen))
        if size <= 0:
            break
        patch, reached = [start], {start}
        for region in patch:  # which grows, breadth first
            facets = part.cell_facets[part.cell_facet_offsets[region] : part.cell_facet_offsets[region + 1]]
            around = set(part.facet_regions[facets].ravel().tolist()) - reached - {-1}
            patch += sorted(around)
            reached |= around
            if len(patch) >= size:
                break
        chosen.update(patch[:size])
    return sorted(chosen)
