# SPDX-License-Identifier: MIT
"""How was a count decided, and of what is it the count?

A count is a fact about weights and a chart, both made of doubles, so it can be proven, and here it always is: there is
no other mode. The certificate says so, names network, domain and version, and tells how many signs each stage decided
(docs/what-is-exact.md). It is a statement by the program that counted, not evidence: whoever does not want to believe
it can ask `regions.certify`, which shares no code with the core.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from regions.domains import Domain
from regions.domains.curves import Curve
from regions.networks.network import Network
from regions.tables import JsonReport, facts_table

__all__ = ["Certificate", "make_certificate"]

# How signs were settled: what the core counts. Files of earlier versions do not tell those in between.
STAGES = ("filter", "exact", "zero")
LONGER = ("doubled", "tripled", "quadrupled")


@dataclass(frozen=True, slots=True, repr=False)
class Certificate(JsonReport):
    """What is proven about a count or an enumeration, and how its decisions were made.

    Made by `regions.certified_count` and `Partition.certificate`.

    Attributes
    ----------
    regions : int
        How many there are; in a result that is not complete, how many were found.
    complete : bool
        Whether these are all.
    filter : int
        Signs, each of one kink at one corner of a cell, that rounded arithmetic proved with a bound on its error.
        Decisions by bounds over a whole cell are proven by the same arithmetic, many at a time: not counted.
    doubled, tripled, quadrupled : int
        Of these, signs of rows that are kept to two, three and four times the working precision, as those of the lowest
        layers of deep networks are.
    exact : int
        Signs that needed exact arithmetic.
    zero : int
        Signs, of both kinds, that turned out to be zero.
    network : str
        `Network.fingerprint`: SHA-256 of the weights and activations.
    domain : str
        The domain in words.
    domain_fingerprint : str
        `Domain.fingerprint`: SHA-256 of chart and generators.
    version : str
        The version of relu-regions that decided.
    kernel : str
        For which instruction set the core that decided was compiled: it chooses among several.

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
        """What is proven, in a sentence."""
        proven = (
            "Every decision is proven, for the weights and the chart as stored: by rounded arithmetic with a bound on "
            "its error, or exactly."
        )
        return (
            proven if self.complete else f"The work was stopped, or done in blocks, and regions are missing. {proven}"
        )

    @property
    def exact_share(self) -> float:
        """The share of the counted signs that needed exact arithmetic, 0 to 1."""
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
        """All attributes, with ``statement`` and ``exact_share``: strings, numbers and booleans."""
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
        Counters that the core did not make: nothing is known of how these regions were found.
    """
    missing = [name for name in STAGES if name not in counters]
    if missing:
        raise ValueError(
            f"there is no counter {missing[0]!r}: these regions were not found by regions.enumerate, so nothing "
            "certifies them"
        )
    rounded, exact, zero = (counters[name] for name in STAGES)
    doubled, tripled, quadrupled = (counters.get(name, 0) for name in LONGER)
    what = network.fingerprint, repr(domain), domain.fingerprint
    return Certificate(regions, complete, rounded, doubled, tripled, quadrupled, exact, zero, *what, version, kernel)
