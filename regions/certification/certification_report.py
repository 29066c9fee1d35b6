# SPDX-License-Identifier: MIT
"""What did a certification prove, what did it only sample, and what is wrong?

The report is a list of items, each a claim about the result and its status. During the checks, `Findings` collects the
faults of each item; at the end, faults and numbers of checks make the report.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from regions.domains import Domain
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.text.tables import aligned, html_table, shortened

__all__ = [
    "CLAIMS",
    "CLAIMS_ON_CURVES",
    "LOOKED_AT",
    "CertificationItem",
    "CertificationReport",
    "CurveCertificationReport",
    "Findings",
    "claims_in",
    "in_words",
    "refused",
]

Status = Literal["proved", "sampled", "failed", "unchecked"]

# The claims, in the order of the report.
CLAIMS = {
    "network": "it is the network of the partition",
    "arrays": "they fit together, each facet used once from each side",
    "disjoint": "no two regions have the same pattern",
    "vertices": "each is the one point where its facets meet, and no two coincide",
    "cells": "each region is strictly convex, its corners in order",
    "inequalities": "those of pattern and domain have exactly these corners",
    "patterns": "inside, the network has the region's pattern",
    "neighbours": "exactly the kinks that change sign on a facet flip across it",
    "border": "its facets cover each edge of the domain, once",
    "volume": "the volumes add up to the volume of the domain",
    "euler": "the numbers of vertices, facets and regions obey Euler's relation",
    "coordinates": "each stored vertex is within its bound of the true one",
    "volumes": "each rounded one is within its rounding error of the exact one",
    "affine maps": "each rounded one is within its rounding error of the exact one",
    "reference": "`regions.reference` finds the same patterns",
}

# How some claims read in three and more dimensions.
IN_BOXES = {
    "cells": "the boundary of each region is closed by its facets",
    "border": "its facets cover the boundary of the domain, once",
    "euler": "the numbers of faces of all dimensions obey Euler's relation",
}

# The claims about results along a curve.
CLAIMS_ON_CURVES = {
    "network": "it is the network of the trajectory",
    "arrays": "there are strands on all legs, end to end, and neighbours of different patterns",
    "patterns": "`regions.reference` finds the same, in the same order",
    "coordinates": "each stored end is within its bound of the true one",
    "numbers": "pieces, transitions and patterns are those of the strands",
}

# A report shows at most CORNERS corners of a domain, and COORDINATES coordinates of each corner.
CORNERS, COORDINATES = 8, 4
# Together these imply that the regions are real and complete: docs/why-certify-proves.md.
CARRYING = ("network", "arrays", "disjoint", "vertices", "cells", "inequalities", "patterns")
# The claims among these about single regions.
LOOKED_AT = CARRYING[3:]


@dataclass(frozen=True)
class CertificationItem:
    """One claim and its status.

    Attributes
    ----------
    name, claim : str
    status : "proved", "sampled", "failed" or "unchecked"
        "proved" if all cases were checked, in exact arithmetic or with proven bounds on rounding. "unchecked" if a
        partial result does not make the claim, or if a claim that it builds on has failed.
    checked, total : int
        Number of cases checked, and of all cases.
    unit : str
        The kind of case: "regions", "facets", ..
    finding : str
        What is wrong, with the number of the region, facet or vertex; or why it is unchecked; or a remark; or "".
    """

    name: str
    claim: str
    status: Status
    checked: int
    total: int
    unit: str
    finding: str


class _Items(JsonReport):
    """A report that is a list of items; each item builds only on earlier ones."""

    ROWS = ("items",)

    items: tuple[CertificationItem, ...]

    @property
    def proved(self) -> tuple[CertificationItem, ...]:
        """The claims that hold, with certainty."""
        return self._with_status("proved")

    @property
    def sampled(self) -> tuple[CertificationItem, ...]:
        """The claims without a fault in the regions that were checked."""
        return self._with_status("sampled")

    @property
    def failed(self) -> tuple[CertificationItem, ...]:
        """The claims that are false."""
        return self._with_status("failed")

    @property
    def unchecked(self) -> tuple[CertificationItem, ...]:
        """The claims that were not checked; each says why."""
        return self._with_status("unchecked")

    @property
    def _failure(self) -> str:
        """The conclusion if claims are false: their names, and what is wrong with the first one."""
        return f"failed: {', '.join(item.name for item in self.failed)}; {self.failed[0].finding}"

    @property
    def _carrying(self) -> list[CertificationItem]:
        """The items that the conclusion follows from."""
        return list(self.items)

    @property
    def ok(self) -> bool:
        """Whether the result is proved: no claim is false, and no claim that the proof needs is only sampled or
        unchecked.
        """
        return not self.failed and all(item.status == "proved" for item in self._carrying)

    @property
    def conclusion(self) -> str:
        """The conclusion from the items, in a sentence."""
        raise NotImplementedError

    @property
    def _about(self) -> list[str]:
        """Lines that name the network and the domain, if they are known."""
        return []

    def as_dict(self) -> dict[str, Any]:
        """Return the report for JSON: ``ok``, ``conclusion``, and its attributes."""
        return {"ok": self.ok, "conclusion": self.conclusion, **asdict(self)}  # type: ignore[call-overload]

    def __str__(self) -> str:
        return "\n".join([self.conclusion, *self._about, "", *aligned(self._rows())])

    def __repr__(self) -> str:
        return shortened(str(self))

    def _repr_html_(self) -> str:
        return html_table(" - ".join([self.conclusion, *self._about]), ("claim", "", "checked", ""), self._rows())

    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [(item.name, item.status, _amount(item), _remark(item)) for item in self.items]

    def _with_status(self, status: Status) -> tuple[CertificationItem, ...]:
        return tuple(item for item in self.items if item.status == status)


@dataclass(frozen=True, repr=False)
class CurveCertificationReport(_Items):
    """The result of `regions.certify` for a trajectory.

    Attributes
    ----------
    pieces : int
        Number of pieces according to the trajectory.
    network, curve : str
        The fingerprints of the network and the curve, and what kind of curve it is.
    items : tuple of CertificationItem
        Each item builds only on earlier ones.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.5]), ([[1.0, 1.0]], [0.0])])
    >>> path = regions.trajectory(net, regions.Circle([0, 0], [1, 0], [0, 1]))
    >>> report = regions.certify(path, net)
    >>> report.conclusion
    'proved: there are exactly 4 pieces'
    >>> report.network == net.fingerprint, report.curve[64:]
    (True, ': Circle(in R^2, 4 legs)')
    """

    pieces: int
    network: str
    curve: str
    items: tuple[CertificationItem, ...]

    @property
    def _about(self) -> list[str]:
        return [f"network {self.network}", f"curve {self.curve}"]

    @property
    def conclusion(self) -> str:
        """The conclusion from the items, in a sentence."""
        if self.failed:
            return self._failure
        if not self.ok:
            looked_at = next(item for item in self.items if item.name == "patterns")
            return f"no fault found: {looked_at.checked:,} of {looked_at.total:,} strands compared with the reference"
        pieces = f"{self.pieces:,} piece{'' if self.pieces == 1 else 's'}"
        return f"proved: there {'is' if self.pieces == 1 else 'are'} exactly {pieces}"


@dataclass(frozen=True, repr=False)
class CertificationReport(_Items):
    """The result of `regions.certify` for a partition.

    Attributes
    ----------
    regions : int
        Number of regions that the partition lists.
    complete : bool
        Whether it claims that these are all regions. With ``ok``, they are all regions.
    inequalities : int
        Number of inequalities of each region: one for each kink of the network and each edge of the domain.
    network, domain : str
        The fingerprints of the network and the domain, and the corners of the domain: at most eight, and four
        coordinates of each, as rounded. Empty if a file could not be loaded.
    items : tuple of CertificationItem
        Each item builds only on earlier ones.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.5]), ([[1.0, 1.0]], [0.0])])
    >>> report = regions.certify(regions.enumerate(net, regions.Segment([-1.0], [1.0])), net)
    >>> report.ok, len(report.proved), report.sampled, report.failed
    (True, 15, (), ())
    >>> report.conclusion
    'proved: there are exactly 3 regions'
    >>> report.network == net.fingerprint, report.domain[64:]
    (True, ': 2 corners in R^1: [[-1.0], [1.0]]')
    """

    regions: int
    complete: bool
    inequalities: int
    network: str
    domain: str
    items: tuple[CertificationItem, ...]

    @property
    def all_proved(self) -> bool:
        """Whether the listed regions are proved to be all regions: ``ok`` and ``complete``."""
        return self.ok and self.complete

    @property
    def _carrying(self) -> list[CertificationItem]:
        return [item for item in self.items if item.name in CARRYING]

    @property
    def _about(self) -> list[str]:
        return [f"network {self.network}", f"domain {self.domain}"] if self.network else []

    @property
    def conclusion(self) -> str:
        """The conclusion from the items, in a sentence."""
        listed = f"{self.regions:,} region{'' if self.regions == 1 else 's'}"
        if self.failed:
            return self._failure
        exact = min(item.checked for item in self._carrying if item.name in LOOKED_AT)
        if exact < self.regions or (self.complete and not self.ok):
            held, all_held = (number * self.inequalities for number in (exact, self.regions))
            return (
                f"no fault found: {exact:,} of {listed} checked "
                f"({exact:,} of {self.regions:,} patterns, {held:,} of {all_held:,} inequalities)"
            )
        if not self.complete:
            why = "this is a partial result" if self.ok else "not all blocks have come"
            return f"partial: {listed}, each of them real; there may be more, because {why}"
        return f"proved: there {'is' if self.regions == 1 else 'are'} exactly {listed}"


class Findings:
    """Faults of each item, and the status of the others so far.

    Attributes
    ----------
    inequalities : int
        Number of inequalities of each region; 0 until it is known.
    """

    def __init__(self, claims: Mapping[str, str] = CLAIMS) -> None:
        self.claims = claims
        self.inequalities = 0
        self._not_looked_at = "builds on what has failed"
        self._wrong: dict[str, list[str]] = defaultdict(list)
        self._items: dict[str, CertificationItem] = {}

    def wrong(self, name: str, what: str) -> None:
        """Record that a claim is false."""
        self._wrong[name].append(what)

    def checked(self, name: str, checked: int, total: int, unit: str, remark: str = "", proof: bool = True) -> None:
        """Record that a claim was checked for some or all cases; ``proof``: whether checking all cases is a proof."""
        status: Status = "proved" if checked == total and proof else "sampled"
        self._items[name] = CertificationItem(name, self.claims[name], status, checked, total, unit, remark)

    def unchecked(self, name: str, reason: str) -> None:
        """Record that a claim is not checked."""
        self._items[name] = CertificationItem(name, self.claims[name], "unchecked", 0, 0, "", reason)

    def stop(self, reason: str = "stopped before") -> None:
        """Mark the remaining claims as unchecked."""
        self._not_looked_at = reason

    def any_wrong(self, *names: str) -> bool:
        """Return whether one of these claims is false."""
        return any(name in self._wrong for name in names)

    def faults(self) -> dict[str, tuple[str, int]]:
        """Return the first fault, and the number of faults, of each claim that is false."""
        return {name: (faults[0], len(faults)) for name, faults in self._wrong.items()}

    def report(self, regions: int, complete: bool, network: str = "", domain: str = "") -> CertificationReport:
        """Return the report on a partition; claims without a record are unchecked."""
        return CertificationReport(regions, complete, self.inequalities, network, domain, self.items())

    def items(self) -> tuple[CertificationItem, ...]:
        """Return the status of each claim."""
        return tuple(map(self._item, self.claims))

    def _item(self, name: str) -> CertificationItem:
        if name not in self._items:
            self.unchecked(name, self._not_looked_at)
        item = self._items[name]
        if name not in self._wrong:
            return item
        first, *others = self._wrong[name]
        finding = f"{first} (and {len(others):,} more)" if others else first
        return replace(item, status="failed", finding=finding)


def claims_in(dimension: int) -> dict[str, str]:
    """Return the claims about a partition of a domain with so many dimensions."""
    return {**CLAIMS, **IN_BOXES} if dimension > 2 else CLAIMS


def in_words(domain: Domain) -> str:
    """Return the fingerprint of a domain and its first corners, rounded once, as the standalone checkers print them."""
    if not domain.bounded:
        return f"{domain.fingerprint}: {domain!r}"
    rows, origin = domain.generators[:CORNERS, 1:].tolist(), domain.origin[:COORDINATES].tolist()
    directions = [list(map(Fraction, lane)) for lane in domain.directions[:, :COORDINATES].T.tolist()]
    corners = [
        [
            nearest_float(Fraction(start) + sum(Fraction(x) * step for x, step in zip(row, lane, strict=True)))
            for start, lane in zip(origin, directions, strict=True)
        ]
        for row in rows
    ]
    return f"{domain.fingerprint}: {len(domain.generators)} corners in R^{domain.n_in}: {corners}"


def refused(reason: str) -> CertificationReport:
    """Return the report on a file that does not contain a partition, or one with inconsistent arrays."""
    findings = Findings()
    findings.wrong("arrays", reason)
    return findings.report(0, False)


def _amount(item: CertificationItem) -> str:
    return f"{item.checked:,} of {item.total:,} {item.unit}" if item.unit else ""


def _remark(item: CertificationItem) -> str:
    if item.status in ("failed", "unchecked"):
        return item.finding
    return f"{item.claim}; {item.finding}" if item.finding else item.claim
