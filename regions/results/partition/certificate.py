# SPDX-License-Identifier: MIT
"""What does a count prove, and how was it decided?

A count is a fact about weights and a chart, which are doubles, so it can be proven; every count of this package is. The
certificate says so, names network, domain and version, and counts the signs decided by each stage
(docs/what-is-exact.md). It is a statement by the program that counted, not independent evidence: `regions.certify`
checks a result without any code of the core.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from regions.domains import Domain
from regions.domains.curves import Curve
from regions.files.tabular import JsonReport
from regions.ground.text.tables import facts_table
from regions.networks.network import Network

__all__ = ["Certificate", "make_certificate"]

# The stages that settle signs, counted by the core. Files of earlier versions lack the middle ones.
STAGES = ("filter", "exact", "zero")
LONGER = ("doubled", "tripled", "quadrupled")


@dataclass(frozen=True, slots=True, repr=False)
class Certificate(JsonReport):
    """Proof statement of a count or an enumeration, with the numbers of its decisions by stage.

    Returned by `regions.certified_count` and `Partition.certificate`.

    Attributes
    ----------
    regions : int
        Number of regions; in an incomplete result, the number found so far.
    complete : bool
        Whether these are all regions.
    filter : int
        Signs, each of one kink at one corner of a cell, proven by rounded arithmetic with an error bound.
        Decisions by bounds over a whole cell are proven by the same arithmetic, many at a time; they are not counted.
    doubled, tripled, quadrupled : int
        How many of these signs belong to rows stored in two, three and four times the working precision, such as rows
        in the lowest layers of deep networks.
    exact : int
        Signs that needed exact arithmetic.
    zero : int
        How many of the signs, proven by error bounds or exactly, are zero.
    network : str
        `Network.fingerprint`: SHA-256 of the weights and activations.
    domain : str
        The domain in words.
    domain_fingerprint : str
        `Domain.fingerprint`: SHA-256 of chart and generators.
    version : str
        The version of relu-regions that decided.
    kernel : str
        The instruction set of the core that decided: the core is compiled for several and chooses one.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> number, certificate = regions.certified_count(net, regions.Plane([0, 0], [1, 0], [0, 1]))
    >>> number, certificate.regions, certificate.complete
    (4, 4, True)
    """

    regions: int
    complete: bool
    filter: int
    doubled: int
    tripled: int
    quadrupled: int
    exact: int
    zero: int
    network: str
    domain: str
    domain_fingerprint: str
    version: str
    kernel: str

    @property
    def statement(self) -> str:
        """The proof statement, in a sentence."""
        proven = (
            "Every decision is proven, for the weights and the chart as stored: by rounded arithmetic with a bound on "
            "its error, or exactly."
        )
        return (
            proven if self.complete else f"The work was stopped, or done in blocks, and regions are missing. {proven}"
        )

    @property
    def exact_share(self) -> float:
        """The fraction of the counted signs that needed exact arithmetic, 0 to 1."""
        signs = self.filter + self.exact
        return self.exact / signs if signs else 0.0

    @property
    def signs(self) -> str:
        """The counted signs by stage, in words."""
        share = f" ({self.exact_share:.2%})" if self.exact else ""
        counts = ((2, self.doubled), (3, self.tripled), (4, self.quadrupled))
        longer = ", ".join(f"{count:,} in {doubles}" for doubles, count in counts if count)
        rows = f" ({longer} doubles)" if longer else ""
        return f"{self.filter:,} by error bound{rows}, {self.exact:,}{share} exactly; {self.zero:,} are zero"

    def as_dict(self) -> dict[str, Any]:
        """Return all attributes, with ``statement`` and ``exact_share``: strings, numbers and booleans."""
        return {"statement": self.statement, **asdict(self), "exact_share": self.exact_share}

    def __str__(self) -> str:
        regions = f"{self.regions:,} region{'' if self.regions == 1 else 's'}"
        return "\n".join(
            (
                regions if self.complete else f"{regions} found until the work was stopped, or in one of its blocks",
                self.statement,
                f"signs     {self.signs}",
                "          (decisions by bounds over whole cells: proven, not counted)",
                f"network   sha256 {self.network}",
                f"domain    {self.domain}",
                f"          sha256 {self.domain_fingerprint}",
                f"by        relu-regions {self.version}, {self.kernel} kernel",
            )
        )

    def _repr_html_(self) -> str:
        facts = [
            ("regions", f"{self.regions:,}"),
            ("signs", self.signs),
            ("network", f"sha256 {self.network}"),
            ("domain", f"{self.domain}, sha256 {self.domain_fingerprint}"),
            ("by", f"relu-regions {self.version}, {self.kernel} kernel"),
        ]
        return facts_table(self.statement, facts)

    def __repr__(self) -> str:
        state = "" if self.complete else ", incomplete"
        return f"Certificate({self.regions} regions, {self.filter + self.exact} signs, {self.exact} exactly{state})"


def make_certificate(
    network: Network,
    domain: Domain | Curve,
    regions: int,
    complete: bool,
    counters: Mapping[str, int],
    version: str,
    kernel: str,
) -> Certificate:
    """Make the certificate of a run from the core's counters.

    Raises
    ------
    ValueError
        Counters that the core did not make, so that it is unknown how the regions were found.
    """
    missing = [name for name in STAGES if name not in counters]
    if missing:
        raise ValueError(
            f"counter {missing[0]!r} is missing: these regions were not found by regions.enumerate, so nothing "
            "certifies them"
        )
    rounded, exact, zero = (counters[name] for name in STAGES)
    doubled, tripled, quadrupled = (counters.get(name, 0) for name in LONGER)
    what = network.fingerprint, repr(domain), domain.fingerprint
    return Certificate(regions, complete, rounded, doubled, tripled, quadrupled, exact, zero, *what, version, kernel)
