# SPDX-License-Identifier: MIT
"""How did a run of the core end, and what did it find?

`counted` and `enumerated` hand flat arrays to the core and give a `Run`, whatever stopped the work: the number of
regions, what is proven about it, the regions themselves where they were asked for. `count` and `enumerate` turn a run
that was stopped into an exception, the command line into an exit code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from regions import _core
from regions.arithmetic.arguments import shown
from regions.certificate import Certificate, make_certificate
from regions.domains import Domain
from regions.domains.curves import ArcLeg, Curve
from regions.domains.domain import require_domain_of
from regions.errors import LimitReached
from regions.networks.lowering import lowered
from regions.networks.network import Network, require_network
from regions.partition import Partition
from regions.reporting import Report
from regions.version import __version__

__all__ = [
    "End",
    "Model",
    "Run",
    "checked_limit",
    "compiled",
    "counted",
    "counted_in",
    "enumerated",
    "enumerated_in",
    "require_finished",
]

# In what regions are looked for, or pieces.
Where = TypeVar("Where", Domain, Curve)

End = Literal["complete", "limit", "interrupted"]

# A network as the core takes it.
Model = _core.CompiledNetwork

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
    """

    network: Network
    domain: Where
    regions: int
    stats: Mapping[str, int]
    status: Any
    partition: Partition | None = None

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
        found = self.regions, self.status == "finished", self.stats, __version__, _core.kernel()
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
    network: Network, model: Model, domain: Domain, limit: int | None, report: Report | None, threads: int = 1
) -> Run[Domain]:
    """Count activation regions; ``model`` is the compiled network."""
    require_domain_of(domain, network)
    status, found, stats = counted_in(model, domain, checked_limit(limit), report, threads)
    return Run(network, domain, int(found), stats, status)


def enumerated(
    network: Network, model: Model, domain: Domain, limit: int | None, report: Report | None, threads: int = 1
) -> Run[Domain]:
    """Find activation regions; ``model`` is the compiled network."""
    require_domain_of(domain, network)
    status, raw, stats = enumerated_in(model, domain, checked_limit(limit), report, threads)
    for array in raw.values():
        array.setflags(write=False)  # nobody else has it: the partition need not copy it
    raw |= {"stats": stats, "complete": status == "finished", "kernel": _core.kernel()}
    partition = Partition(network, domain, raw)
    return Run(network, domain, len(partition), stats, status, partition)


def counted_in(
    model: Model, part: Domain | ArcLeg, most: int, report: Report | None, threads: int = 1
) -> tuple[Any, int, dict[str, int]]:
    """How the core ended, the number of regions, and its counters."""
    shape = part.origin, part.directions, part.generators
    return _core.count(model, *shape, most, report, isinstance(part, ArcLeg), threads)


def enumerated_in(
    model: Model, part: Domain | ArcLeg, most: int, report: Report | None, threads: int = 1
) -> tuple[Any, dict[str, Any], dict[str, int]]:
    """How the core ended, its arrays, and its counters."""
    shape = part.origin, part.directions, part.generators
    return _core.enumerate(model, *shape, most, report, isinstance(part, ArcLeg), threads)


def checked_limit(limit: int | None) -> int:
    """A limit as the core takes it."""
    if limit is None:
        return _NO_LIMIT
    if isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit < 0:
        raise ValueError(f"limit must be a number of regions, 0 or more, got {shown(limit)}")
    return min(int(limit), _NO_LIMIT)
