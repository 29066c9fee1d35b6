# SPDX-License-Identifier: MIT
"""How did a run of the core end, and what did it find?

`counted` and `enumerated` hand flat arrays to the core and give a `Run`, whatever stopped the work: the number of
regions, what is proven about it, the regions themselves where they were asked for. `count` and `enumerate` turn a run
that was stopped into an exception, the command line into an exit code.

The core's recursion is the same each time, so a node of it has a name: its path, the numbers of the children on the
way to it. Both functions can be asked for a section, all regions at or after the node `begin` and before the node
`end`; `frontier` says where sections can begin, so that together they find what one run finds, in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from regions import _core
from regions.arithmetic.arguments import shown
from regions.certificate import Certificate, make_certificate
from regions.domains import Domain
from regions.domains.curves import ArcLeg, Curve
from regions.domains.domain import require_domain_of
from regions.enumeration.forewarned import forewarned
from regions.errors import LimitReached
from regions.networks.lowering import lowered
from regions.networks.network import Network, require_network
from regions.partition import Partition
from regions.reporting import Report
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

# In what regions are looked for, or pieces.
Where = TypeVar("Where", Domain, Curve)

End = Literal["complete", "limit", "interrupted"]

# A network as the core takes it.
Model = _core.CompiledNetwork

# Of a node of the recursion; () is the whole domain.
Path = tuple[int, ...]

_NO_LIMIT = 2**62


@dataclass(frozen=True)
class Run(Generic[Where]):
    """What the core found, and how that ended.

    Attributes
    ----------
    network, domain
        What it is about; instead of a domain, a curve.
    regions : int
        Activation regions, or the number found until the work was stopped.
    stats : mapping of str to int
        Counters of the core.
    status : "finished", "limit_exceeded" or exception
        As the core says it; an exception that stopped the work.
    partition : Partition or None
        The regions themselves, where they were asked for.
    section : bool
        Whether a section of the recursion was asked for, and not everything.
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
        """How the work ended; an exception other than Ctrl-C is raised here."""
        if isinstance(self.status, KeyboardInterrupt):
            return "interrupted"
        if isinstance(self.status, BaseException):
            raise self.status
        return "complete" if self.status == "finished" else "limit"

    @property
    def certificate(self) -> Certificate:
        """What is proven about it."""
        complete = self.status == "finished" and not self.section
        found = self.regions, complete, self.stats, __version__, _core.kernel()
        return make_certificate(self.network, self.domain, *found)

    def require_complete(self, limit: int | None, partial: Any) -> None:
        """Raise what stopped the work, with the part that was finished."""
        require_finished(self.status, limit, partial)


def require_finished(status: Any, limit: int | None, partial: Any) -> None:
    """Raise what stopped the core, as it says it, with the part that was finished."""
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
    """Make a network ready for the core: once for several runs."""
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

    With ``most`` regions, or the few more that come with the last, the work stops where there are others; ``status`` is
    then the path at which they begin.
    """
    require_domain_of(domain, network)
    report = watched(network, model, domain, report)
    status, raw, stats = enumerated_in(model, domain, checked_limit(limit), report, threads, begin, end, most)
    for array in raw.values():
        array.setflags(write=False)  # nobody else has it: the partition need not copy it
    section = begin != () or end is not None
    place = begin, status if isinstance(status, tuple) else end
    complete = status == "finished" and not section
    raw |= {"stats": stats, "complete": complete, "section": place, "kernel": _core.kernel()}
    partition = Partition(network, domain, raw)
    return Run(network, domain, len(partition), stats, status, partition, section)


def watched(network: Network, model: Model, part: Domain | ArcLeg, report: Report | None) -> Report:
    """What the core calls while it works: ``report``, and a warning where that would take very long."""
    limbs = partial(_core.limbs, model, part.origin, part.directions, part.generators, isinstance(part, ArcLeg))
    return forewarned(network.graph, part, limbs, report)


def frontier(model: Model, domain: Domain, least: int, report: Report | None = None) -> list[Path]:
    """Paths of at least so many nodes, in order, with all regions below them: where sections begin.

    There are fewer where there are fewer regions, and one on a segment, which is not divided. What ``report`` raises,
    or Ctrl-C, comes out of here.
    """
    status, paths = _core.frontier(model, domain.origin, domain.directions, domain.generators, least, report)
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
    """How the core ended, the number of regions, and its counters."""
    shape = part.origin, part.directions, part.generators
    return _core.count(model, *shape, most, report, isinstance(part, ArcLeg), threads, begin, end)


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
    """How the core ended, its arrays, and its counters."""
    shape = part.origin, part.directions, part.generators
    return _core.enumerate(model, *shape, limit, report, isinstance(part, ArcLeg), threads, begin, end, most)


def checked_limit(limit: int | None) -> int:
    """A limit as the core takes it."""
    if limit is None:
        return _NO_LIMIT
    if isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit < 0:
        raise ValueError(f"limit must be a number of regions, 0 or more, got {shown(limit)}")
    return min(int(limit), _NO_LIMIT)
