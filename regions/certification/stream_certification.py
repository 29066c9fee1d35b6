# SPDX-License-Identifier: MIT
"""Can all regions be certified if they come in blocks, of which only one is in memory at a time?

Each block is certified by itself: every region in it is proven to be the set of points with its pattern. The facets
between blocks are matched (`seams.py`), so that each facet inside the domain has a region on either side. If one point
is then in one region, no region is missing, and none comes twice, whatever the order of blocks. The volumes of lines
and planes show, too, that no block came twice. The proof is in docs/why-certify-proves.md.
Invariant: the state is a few numbers and the facets that wait for their other side.
Cost: as for `certify` of each block, without asking cddlib and the reference.
"""

from __future__ import annotations

from functools import cached_property
from math import fsum
from typing import Any

import numpy as np

from regions.certification.certification_report import (
    CARRYING,
    LOOKED_AT,
    CertificationReport,
    Findings,
    claims_in,
    in_words,
)
from regions.certification.exact_regions import ExactRegions
from regions.certification.forms import Forms, small_enough
from regions.certification.layout import Layout
from regions.certification.seams import Seams
from regions.certification.signs import VertexSigns
from regions.certification.totals import check_disjoint
from regions.certification.verdict import check_regions
from regions.domains import Domain
from regions.domains.abilities import STREAM_CERTIFICATIONS
from regions.domains.domain import require_domain_of
from regions.errors import NetworkError
from regions.ground.arithmetic.arguments import Workers, number_of_workers, shown
from regions.ground.arithmetic.roundoff import UP
from regions.networks.network import Network, require_network
from regions.results.cells.consistency import first_problem
from regions.results.partition import Partition, raw_arrays

__all__ = ["StreamCertification"]


class StreamCertification:
    """A check of the regions of `regions.stream`, block by block, in the memory that one block needs.

    Parameters
    ----------
    network : Network
    domain : Domain
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
    NetworkError
        The network has more weights than exact arithmetic takes.
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

    def __init__(self, network: Network, domain: Domain, *, workers: Workers = None) -> None:
        self._threads = number_of_workers(workers)
        require_domain_of(domain, require_network(network), STREAM_CERTIFICATIONS)
        if not small_enough(network, Findings()):
            raise NetworkError(
                "StreamCertification needs exact arithmetic, for which the network is too large; certify "
                "network.until(..), or the same for smaller images"
            )
        self.network, self.domain = network, domain
        self.regions, self.blocks = 0, 0
        self._seams = Seams(self._forms, domain)
        # The sum of the rounded lengths or areas, and of their bounds.
        self._volume, self._error = 0.0, 0.0
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
        return self._seams.waiting

    def add(self, block: Partition) -> None:
        """Check the regions of a block, and match its facets with those of earlier blocks.

        Damage is reported, not raised. Blocks may come in any order. A block that is added twice is found by the
        volumes on a line or in a plane, and by the regions that have the pattern of one point. After
        Ctrl-C the block can be added again, unless Ctrl-C came in the short time in which its results are added to the
        rest. Then `report` says to begin again.

        Parameters
        ----------
        block : Partition
            A block, or a partial result, or all regions.

        Raises
        ------
        TypeError, ValueError
            Not a partition, or one of another network or domain.
        """
        self._require(block, Partition, "block")
        findings, before = Findings(), self._in_part
        with np.errstate(all="ignore"):
            problem = first_problem(self.network, self.domain, {n: raw_arrays(block)[n] for n in block.stored}, False)
            if problem:
                findings.wrong("arrays", problem)
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
        self._seams.merge(other._seams)
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
        findings = Findings(claims_in(self.domain.dimension))
        findings.inequalities = self.network.kinks + len(self._forms.edges)
        findings.stop("not asked about blocks")
        complete, flat = self._complete(), self.domain.dimension < 3
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
            why = "because one point is in one region"
            findings.checked("disjoint", self.regions, self.regions, "regions", why)
            if flat:
                findings.checked("volume", self.regions, self.regions, "regions", "as rounded, within their bounds")
        else:
            findings.checked("disjoint", self.regions, self.regions, "regions", "only within each block", proof=False)
            reason = f"not all blocks have come, or one came twice: {self.waiting:,} facets wait for a region"
            findings.unchecked("volume", reason)
        return findings.report(self.regions, complete, self.network.fingerprint, in_words(self.domain))

    def _complete(self) -> bool:
        """Return whether the blocks cover the domain once."""
        if self._seams.around > 1:
            self._note("disjoint", f"{self._seams.around} regions have one pattern; is a block added twice?", 1)
        domain = self.domain
        if domain.dimension < 3 and self._volume - self._error > domain.volume * UP:
            self._note("volume", "the volumes add up to more than the domain; is a block added twice?", 1)
        return not self.waiting and self._seams.around == 1

    def _require(self, given: Partition | StreamCertification, kind: type, name: str) -> None:
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
        layout = Layout(block, self.network)
        check_disjoint(layout, findings)
        signs, asked = VertexSigns(layout), np.ones(len(block), dtype=bool)
        signs.decide_by_values(threads=self._threads)
        left = np.flatnonzero(~signs.known & (layout.owners >= 0))
        signs.decide_in_integers(left, self._forms, findings)
        seen = check_regions(layout, signs, ExactRegions(layout, self._forms, signs), asked, findings)
        in_integers = ~layout.with_all(~np.isin(np.arange(len(layout.vertices)), left))
        (facets,) = (item for item in findings.items() if item.name == "neighbours")
        counts = [int(seen.sum()), int((seen & in_integers).sum()), facets.checked, facets.total]
        flat = self.domain.dimension < 3
        volume, error = (fsum(block.volumes), fsum(block.volume_errors)) if flat else (0.0, 0.0)
        self._in_part = True
        self._seams.add(layout, signs, seen & (not findings.any_wrong(*CARRYING)))
        self._volume, self._error = self._volume + volume, self._error + error + 2.0**-50 * abs(volume)
        self._counts += counts

    def _note(self, name: str, first: str, count: int) -> None:
        """Remember that a claim is false."""
        known, before = self._wrong.get(name, (first, 0))
        self._wrong[name] = (known, before + count)
