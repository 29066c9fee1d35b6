# SPDX-License-Identifier: MIT
"""Can all regions be certified if they come in blocks, of which only one is in memory at a time?

Each block is certified by itself: every region in it is proven to be the set of points with its pattern. The facets
between blocks are matched (`seams.py`), so that each facet inside the domain has a region on either side. If the
volumes show that each point is in one region, no region is missing, and none comes twice, whatever the order of blocks.
In a box, regions that have the pattern of one point are counted instead of volumes (`polytope_seams.py`). The proof is
in docs/why-certify-proves.md.
Invariant: the state is a few numbers and the facets that wait for their other side.
Cost: as for `certify` of each block, without asking cddlib and the reference.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np

from regions.arithmetic.arguments import Workers, number_of_workers, shown
from regions.arithmetic.types import Floats
from regions.cells.cell_geometry import next_corners
from regions.cells.consistency import first_problem
from regions.certification.certification_report import (
    CARRYING,
    CLAIMS,
    LOOKED_AT,
    CertificationReport,
    Findings,
    in_words,
)
from regions.certification.facets import check_neighbours
from regions.certification.forms import Forms, small_enough
from regions.certification.polytope_regions import check_regions
from regions.certification.polytope_seams import PolytopeSeams
from regions.certification.polytope_verdict import CLAIMS_IN_BOXES, check_names_in_boxes
from regions.certification.proven_regions import Proven, proven_regions
from regions.certification.region_inequalities import Cells
from regions.certification.seams import Seams
from regions.certification.signs_by_values import decide_by_values
from regions.certification.signs_in_integers import decide_in_integers
from regions.certification.totals import check_disjoint, volume
from regions.certification.vertex_signs import VertexSigns
from regions.domains import Domain, Polytope
from regions.domains.domain import require_bounded, require_domain_of, require_fitting
from regions.errors import NetworkError, UnsupportedLayerError
from regions.networks.maxima import Maxima
from regions.networks.network import Network, require_network
from regions.partition import Partition, raw_arrays
from regions.partition.polytopes import PolytopePartition

__all__ = ["StreamCertification"]

U, TINY = 2.0**-53, 1e-290


class StreamCertification:
    """A check of the regions of `regions.stream`, block by block, in the memory that one block needs.

    Parameters
    ----------
    network : Network
        Without max units, unless the domain is a box or a polytope.
    domain : Domain or Polytope
        A bounded one.
    workers : int or "all", optional
        Number of threads for each block, as for `certify`.

    Attributes
    ----------
    regions : int
        Number of regions in the blocks so far.
    blocks : int
        Number of blocks so far.
    waiting : int
        Number of facets whose region on the other side is in a block that has not come yet.

    Raises
    ------
    DomainError
        The domain is unbounded.
    UnsupportedLayerError, NetworkError
        The network has max units and the domain is in a plane or on a line, or it has more weights than exact
        arithmetic takes.
    ShapeMismatchError
        The domain does not lie in the network's input space.
    ValueError
        ``workers`` is not a number of threads, nor "all".

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> square = regions.Polygon([[-1, -1], [3, -1], [3, 1], [-1, 1]])
    >>> whole = regions.StreamCertification(net, square)
    >>> for block in regions.stream(net, square, regions_per_block=2):
    ...     whole.add(block)
    >>> whole.report().conclusion
    'proved: there are exactly 4 regions'
    """

    def __init__(self, network: Network, domain: Domain | Polytope, *, workers: Workers = None) -> None:
        self._threads = number_of_workers(workers)
        if isinstance(domain, Polytope):
            require_fitting(domain, require_network(network).n_in, network.input_shape, "the domain")
        else:
            require_domain_of(domain, require_network(network))
        require_bounded(domain, "StreamCertification")
        if not isinstance(domain, Polytope) and any(isinstance(node.units, Maxima) for node in network.graph.hidden):
            raise UnsupportedLayerError(
                "StreamCertification takes max units in boxes only; certify parts of the domain one by one, with "
                "regions.certify(regions.enumerate(network, part), network)"
            )
        if not small_enough(network, Findings()):
            raise NetworkError(
                "StreamCertification needs exact arithmetic, for which the network is too large; certify "
                "network.until(..), or the same for smaller images"
            )
        self.network, self.domain = network, domain
        self.regions, self.blocks = 0, 0
        self._seams: Any = (
            PolytopeSeams(self._forms, domain) if isinstance(domain, Polytope) else Seams(network, domain)
        )
        self._volume, self._error = Fraction(0), Fraction(0)
        # Numbers of regions proven, and proven in integers; of facets inside blocks that were compared, and of all.
        self._counts = np.zeros(4, dtype=np.int64)
        # For each claim that is false: the first fault, and the number of faults.
        self._wrong: dict[str, tuple[str, int]] = {}
        # Whether the results of a block are being added to the rest. It stays True if an exception interrupts this.
        self._in_part = False

    def __repr__(self) -> str:
        return f"StreamCertification({self.regions:,} regions, {self.blocks:,} blocks, {self.waiting:,} facets wait)"

    @property
    def waiting(self) -> int:
        return int(self._seams.waiting)

    def add(self, block: Partition | PolytopePartition) -> None:
        """Check the regions of a block, and match its facets with those of earlier blocks.

        Damage is reported, not raised. Blocks may come in any order. A block that is added twice is found by the
        volumes or, in a box, by the regions that have the pattern of one point, once all blocks have been added. After
        Ctrl-C the block can be added again, unless Ctrl-C came in the short time in which its results are added to the
        rest. Then `report` says to begin again.

        Parameters
        ----------
        block : Partition or PolytopePartition
            A block, or a partial result, or all regions.

        Raises
        ------
        TypeError, ValueError
            Not a partition, or one of another network or domain.
        """
        self._require(block, PolytopePartition if isinstance(self.domain, Polytope) else Partition, "block")
        findings, before = Findings(), self._in_part
        with np.errstate(all="ignore"):
            problem = first_problem(self.network, self.domain, {n: raw_arrays(block)[n] for n in block.stored}, False)
            if problem:
                findings.wrong("arrays", problem)
            elif isinstance(block, PolytopePartition):
                self._check_in_box(block, findings)
            elif len(block):
                self._check(block, findings)
        self._in_part = True
        for name, (first, count) in findings.faults().items():
            self._note(name, f"block {self.blocks}: {first}", count)
        self.regions += max(block.cell_offsets.size - 1, 0)
        self.blocks += 1
        self._in_part = before

    def merge(self, other: StreamCertification) -> None:
        """Add all blocks of another certification, for instance one that another process made.

        Raises
        ------
        TypeError, ValueError
            Not a StreamCertification, or one of another network or domain.
        """
        self._require(other, StreamCertification, "other")
        if other is self:
            raise ValueError("a certification cannot be merged with itself, because its blocks would count twice")
        before = self._in_part
        self._in_part = True
        if problem := self._seams.merge(other._seams):
            self._note("arrays", problem, 1)
        for name, (first, count) in other._wrong.items():
            self._note(name, first, count)
        self.regions, self.blocks = self.regions + other.regions, self.blocks + other.blocks
        self._volume, self._error = self._volume + other._volume, self._error + other._error
        self._counts = self._counts + other._counts
        self._in_part = before or other._in_part

    def report(self) -> CertificationReport:
        """Return what is proved so far; no region is missing if ``complete`` is True.

        Returns
        -------
        CertificationReport
            ``complete`` says whether the blocks are the whole domain; ``ok`` is False as long as they are not.
        """
        in_box = isinstance(self.domain, Polytope)
        findings = Findings(CLAIMS_IN_BOXES if in_box else CLAIMS)
        sides = self.domain.forms if isinstance(self.domain, Polytope) else self.domain.generators
        findings.inequalities = self.network.kinks + len(sides)
        findings.stop("not asked about blocks")
        complete, why = self._complete_in_box() if in_box else self._complete()
        for name, (first, count) in self._wrong.items():
            findings.wrong(name, f"{first} (and {count - 1:,} more)" if count > 1 else first)
        if self._in_part:
            findings.wrong("arrays", "an exception ended `add` or `merge`, so a block is there in part: begin again")
        proven, integers, compared, facets = self._counts.tolist()
        findings.checked("network", 1, 1, "network")
        matched = f"{self._seams.matched:,} facets between blocks, with a region on either side"
        findings.checked("arrays", self.blocks, self.blocks, "blocks", matched)
        for name in LOOKED_AT:
            remark = f"{integers:,} of them in integers" if name == "inequalities" else ""
            findings.checked(name, proven, self.regions, "regions", remark)
        findings.checked("neighbours", compared, facets, "facets")
        if complete:
            findings.checked("disjoint", self.regions, self.regions, "regions", why)
            if not in_box:
                findings.checked("volume", self.regions, self.regions, "regions", "as rounded, within their bounds")
        else:
            findings.checked("disjoint", self.regions, self.regions, "regions", "only within each block", proof=False)
            findings.unchecked("volume", f"not all blocks have come: {self.waiting:,} facets wait for a region")
        return findings.report(self.regions, complete, self.network.fingerprint, in_words(self.domain))

    def _complete(self) -> tuple[bool, str]:
        """Return whether the blocks cover a domain in a plane or on a line once, and a sentence that says why."""
        if problem := self._seams.settle():
            self._note("arrays", problem, 1)
        whole = _domain_volume(self.domain)
        if self._volume - self._error > whole:
            self._note("volume", "the volumes add up to more than the domain; is a block added twice?", 1)
        return not self.waiting and abs(self._volume - whole) + self._error < whole / 2, "because the volumes add up"

    def _complete_in_box(self) -> tuple[bool, str]:
        """The same in a box."""
        if self._seams.around > 1:
            self._note("disjoint", f"{self._seams.around} regions have one pattern; is a block added twice?", 1)
        return not self.waiting and self._seams.around == 1, "because one point is in one region"

    def _require(self, given: Partition | PolytopePartition | StreamCertification, kind: type, name: str) -> None:
        """Refuse anything but an object of this kind, of the same network and domain."""
        if not isinstance(given, kind):
            raise TypeError(f"{name} must be a {kind.__name__}, got {shown(given)}")
        if given.network != self.network or given.domain != self.domain:
            raise ValueError(f"{name} is of another network or domain than the certification")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_forms"}

    @cached_property
    def _forms(self) -> Forms:
        return Forms(self.network, self.domain)

    def _check(self, block: Partition, findings: Findings) -> None:
        """Prove the regions of a block, and match its open facets."""
        check_disjoint(block, findings)
        proven = proven_regions(block, self.network, threads=self._threads)
        cells = Cells(block, self.network, self._forms, findings)
        cells.see(np.flatnonzero(~proven.regions).tolist())
        check_neighbours(cells, proven, findings)
        sizes, errors = (each[proven.regions] for each in _volumes(block, proven))
        total = fsum(sizes)
        added = Fraction(total) + sum(volume(cell.corners) for cell in cells.cells.values())
        every = int(proven.regions.sum()) + cells.seen
        (facets,) = (item for item in findings.items() if item.name == "neighbours")
        self._in_part = True
        if problem := self._seams.add(block):
            findings.wrong("arrays", problem)
        self._volume += added
        self._error += 2 * Fraction(fsum(errors)) + Fraction(total) / 2**52
        self._counts += [every, cells.seen, facets.checked, facets.total]

    def _check_in_box(self, block: PolytopePartition, findings: Findings) -> None:
        """The same in a box."""
        check_disjoint(block, findings)
        signs = VertexSigns(block, self.network)
        decide_by_values(signs, threads=self._threads)
        left = np.flatnonzero(~signs.known & (signs.owners >= 0))
        decide_in_integers(signs, left, self._forms, findings)
        seen = check_regions(signs, findings)
        check_names_in_boxes(signs, seen, findings)
        in_integers = np.add.reduceat(np.isin(block.cell_vertices, left), block.cell_offsets[:-1]) > 0
        (facets,) = (item for item in findings.items() if item.name == "neighbours")
        counts = [int(seen.sum()), int((seen & in_integers).sum()), facets.checked, facets.total]
        self._in_part = True
        self._seams.add(signs, seen & (not findings.any_wrong(*CARRYING)))
        self._counts += counts

    def _note(self, name: str, first: str, count: int) -> None:
        """Remember that a claim is false."""
        known, before = self._wrong.get(name, (first, 0))
        self._wrong[name] = (known, before + count)


def _volumes(block: Partition, proven: Proven) -> tuple[Floats, Floats]:
    """Return lengths or areas of regions in the chart, from stored corners, and bounds on their errors, which need only
    hold for proven regions.
    """
    at, starts = block.cell_vertices, block.cell_offsets[:-1]
    # Relative to the first corner of each region.
    places = block.vertices[at] - np.repeat(block.vertices[at[starts]], np.diff(block.cell_offsets), axis=0)
    near = np.maximum.reduceat(proven.near[at], starts) + U * np.abs(block.vertices[at]).max(initial=0.0)
    if block.dimension == 1:
        sizes = places[1::2, 0]
        return sizes, 2 * near + 4 * U * np.abs(sizes)
    after = next_corners(block.cell_offsets)
    one, other = places[:, 0] * places[after, 1], places[:, 1] * places[after, 0]
    sides = np.add.reduceat(np.abs(places[after] - places).sum(axis=1), starts)
    errors = near * (sides + np.diff(block.cell_offsets) * near)
    rounded = 16 * U * np.add.reduceat(np.abs(one) + np.abs(other), starts) * np.diff(block.cell_offsets)
    return np.add.reduceat(one - other, starts) / 2, 2 * errors + rounded + TINY


def _domain_volume(domain: Any) -> Fraction:
    """The length or area of a bounded domain in its chart."""
    corners = [tuple(map(Fraction, corner)) for corner in domain.generators[:, 1:].tolist()]
    if domain.dimension == 1:
        return corners[1][0] - corners[0][0]
    pairs = zip(corners, [*corners[1:], corners[0]], strict=True)
    return sum((a[0] * b[1] - a[1] * b[0] for a, b in pairs), Fraction(0)) / 2
