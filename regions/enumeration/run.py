# SPDX-License-Identifier: MIT
"""How did a run of the core end, and what did it find?

`counted` and `enumerated` pass flat arrays to the core and return a `Run`, even if the work was stopped: the number of
regions, its certificate, and on request the regions themselves. `count` and `enumerate` turn a stopped run into an
exception; the command line turns it into an exit code.

The core's recursion is the same each time, so each of its nodes has a path: the numbers of the children on the way to
it. Both functions can find a section: all regions at or after the node `begin` and before the node `end`. `frontier`
returns nodes at which sections can begin; these sections together find the same regions as one run, in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from regions import core
from regions.arithmetic.arguments import shown
from regions.certificate import Certificate, make_certificate
from regions.domains import Domain
from regions.domains.curves import ArcLeg, Curve
from regions.domains.domain import require_domain_of
from regions.enumeration.slow_count_warning import with_slow_count_warning
from regions.errors import LimitReached
from regions.networks.lowering import lowered
from regions.networks.network import Network, require_network
from regions.partition import Partition
from regions.text.progress import Report
from regions.version import __version__

__all__ = [
    "End",
    "Model",
    "Path",
    "Run",
    "checked_limit",
    "compiled",
    "counted",
    "counted_in",
    "enumerated",
    "enumerated_in",
    "frontier",
    "require_finished",
    "watched",
]

# Regions are counted in a domain, pieces on a curve.
Where = TypeVar("Where", Domain, Curve)

End = Literal["complete", "limit", "interrupted"]

# A network in the form that the core needs.
Model = core.CompiledNetwork

# Identifies a node of the recursion; () is the whole domain.
Path = tuple[int, ...]

_NO_LIMIT = 2**62


@dataclass(frozen=True)
class Run(Generic[Where]):
    """The findings of the core, and how the work ended.

    Attributes
    ----------
    network, domain
        The network, and the domain or curve.
    regions : int
        Activation regions, or the number found until the work was stopped.
    stats : mapping of str to int
        Counters of the core.
    status : "finished", "limit_exceeded" or exception
        The core's status, or the exception that stopped the work.
    partition : Partition or None
        The regions themselves, if they were requested.
    section : bool
        Whether only a section of the recursion was requested.
    """

    network: Network
    domain: Where
    regions: int
    stats: Mapping[str, int]
    status: Any
    partition: Partition | None = None
    section: bool = False

    @property
    def end(self) -> End:
        """How the work ended. Exceptions other than Ctrl-C are raised here."""
        if isinstance(self.status, KeyboardInterrupt):
            return "interrupted"
        if isinstance(self.status, BaseException):
            raise self.status
        return "complete" if self.status == "finished" else "limit"

    @property
    def certificate(self) -> Certificate:
        """The certificate of the number of regions."""
        complete = self.status == "finished" and not self.section
        found = self.regions, complete, self.stats, __version__, core.kernel()
        return make_certificate(self.network, self.domain, *found)

    def require_complete(self, limit: int | None, partial: Any) -> None:
        """Raise the exception that stopped the work, with the partial result."""
        require_finished(self.status, limit, partial)


def require_finished(status: Any, limit: int | None, partial: Any) -> None:
    """Raise the exception for the core's status, with the partial result; return if it finished."""
    if status == "finished":
        return
    if status == "limit_exceeded":
        assert limit is not None
        raise LimitReached(
            f"there are more than {limit} regions; raise the limit, or take `partial` from this exception",
            limit=limit,
            partial=partial,
        )
    status.partial = partial
    raise status


def compiled(network: Network) -> Model:
    """Compile a network for the core; several runs can share the result."""
    graph = require_network(network).graph
    return Model(graph.n_in, lowered(graph))


def counted(
    network: Network,
    model: Model,
    domain: Domain,
    limit: int | None,
    report: Report | None,
    threads: int = 1,
    begin: Path = (),
    end: Path | None = None,
) -> Run[Domain]:
    """Count activation regions; ``model`` is the compiled network. A section takes one thread."""
    require_domain_of(domain, network)
    report = watched(network, model, domain, report)
    status, found, stats = counted_in(model, domain, checked_limit(limit), report, threads, begin, end)
    return Run(network, domain, int(found), stats, status, section=begin != () or end is not None)


def enumerated(
    network: Network,
    model: Model,
    domain: Domain,
    limit: int | None,
    report: Report | None,
    threads: int = 1,
    begin: Path = (),
    end: Path | None = None,
    most: int | None = None,
) -> Run[Domain]:
    """Find activation regions; ``model`` is the compiled network.

    If there are more than ``most`` regions, the work stops after these and the few that the core finds together with
    the last one; ``status`` is then the path at which the other regions begin.
    """
    require_domain_of(domain, network)
    report = watched(network, model, domain, report)
    status, raw, stats = enumerated_in(model, domain, checked_limit(limit), report, threads, begin, end, most)
    for array in raw.values():
        array.setflags(write=False)  # read-only arrays need no copy in the partition
    section = begin != () or end is not None
    place = begin, status if isinstance(status, tuple) else end
    complete = status == "finished" and not section
    raw |= {"stats": stats, "complete": complete, "section": place, "kernel": core.kernel()}
    partition = Partition(network, domain, raw)
    return Run(network, domain, len(partition), stats, status, partition, section)


def watched(network: Network, model: Model, part: Domain | ArcLeg, report: Report | None) -> Report:
    """Return the function that the core calls while it works: ``report``, with a warning before very long work."""
    limbs = partial(core.limbs, model, part.origin, part.directions, part.generators, isinstance(part, ArcLeg))
    return with_slow_count_warning(network.graph, part, limbs, report)


def frontier(model: Model, domain: Domain, least: int, report: Report | None = None) -> list[Path]:
    """Return the paths of at least ``least`` nodes, in order, at which sections can begin; all regions are below them.

    There are fewer nodes if there are fewer regions, and one on a segment, which is not divided. Exceptions from
    ``report`` and Ctrl-C are raised.
    """
    status, paths = core.frontier(model, domain.origin, domain.directions, domain.generators, least, report)
    if isinstance(status, BaseException):
        raise status
    return paths


def counted_in(
    model: Model,
    part: Domain | ArcLeg,
    most: int,
    report: Report | None,
    threads: int = 1,
    begin: Path = (),
    end: Path | None = None,
) -> tuple[Any, int, dict[str, int]]:
    """Return the core's status, the number of regions, and the core's counters."""
    shape = part.origin, part.directions, part.generators
    return core.count(model, *shape, most, report, isinstance(part, ArcLeg), threads, begin, end)


def enumerated_in(
    model: Model,
    part: Domain | ArcLeg,
    limit: int,
    report: Report | None,
    threads: int = 1,
    begin: Path = (),
    end: Path | None = None,
    most: int | None = None,
) -> tuple[Any, dict[str, Any], dict[str, int]]:
    """Return the core's status, its arrays, and its counters."""
    shape = part.origin, part.directions, part.generators
    return core.enumerate(model, *shape, limit, report, isinstance(part, ArcLeg), threads, begin, end, most)


def checked_limit(limit: int | None) -> int:
    """Return a limit in the form that the core needs."""
    if limit is None:
        return _NO_LIMIT
    if isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit < 0:
        raise ValueError(f"limit must be a number of regions, 0 or more, got {shown(limit)}")
    return min(int(limit), _NO_LIMIT)
