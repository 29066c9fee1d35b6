# SPDX-License-Identifier: MIT
"""What did a call find, and how did its work end?

Work that was stopped also has a `Found`. `exception_of` makes the exception that callers see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from regions import core
from regions.core import Path
from regions.domains import Domain
from regions.domains.curves import Curve
from regions.errors import LimitReached
from regions.networks.network import Network
from regions.results.cells.output_maps import OutputMaps
from regions.results.partition.certificate import Certificate, make_certificate
from regions.version import __version__

__all__ = ["COMPLETE", "End", "Found", "exception_of"]

# Regions are counted in a domain, pieces on a curve.
Where = TypeVar("Where", Domain, Curve)


@dataclass(frozen=True)
class End:
    """How the work ended; if all attributes are None, nothing stopped it.

    Attributes
    ----------
    limit : int or None
        The limit that was exceeded.
    error : BaseException or None
        The exception that stopped the work: from Ctrl-C, or from a progress function.
    place : tuple of int or None
        The node where the regions after the block begin, if only a block of regions was wanted.
    """

    limit: int | None = None
    error: BaseException | None = None
    place: Path | None = None


# The end of all work that was not stopped.
COMPLETE = End()


@dataclass(frozen=True)
class Found(Generic[Where]):
    """The results of a call until its work ended: the attribute ``found`` of the exceptions that stop it.

    Attributes
    ----------
    network : Network
    domain : Domain or Curve
    regions : int
        Activation regions, or pieces of a curve, found so far.
    stats : mapping of str to int
        Counters of the core.
    end : End
        How the work ended.
    partition : Partition or None
        The regions themselves, if they were wanted.
    section : bool
        Whether only a section of the recursion was wanted.
    pieces : (int, int) or None
        With a checkpoint: the number of pieces of work whose results are in the folder, and the number of all pieces.
    merged : int or None
        The number of regions by another definition than "activation", if that was wanted.
    maps : OutputMaps or None
        The maps of the outputs on the regions, if these were wanted.
    """

    network: Network
    domain: Where
    regions: int
    stats: Mapping[str, int]
    end: End = COMPLETE
    partition: Any = None
    section: bool = False
    pieces: tuple[int, int] | None = None
    merged: int | None = None
    maps: OutputMaps | None = None

    @property
    def number(self) -> int:
        """The number of regions by the definition that was asked for."""
        return self.regions if self.merged is None else self.merged

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate of the number of regions."""
        complete = self.end == COMPLETE and not self.section
        found = self.regions, complete, self.stats, __version__, core.kernel()
        return make_certificate(self.network, self.domain, *found)


def exception_of(end: End, partial: Any, found: Any = None, what: str = "regions") -> BaseException:
    """Return the exception for work that was stopped, with the partial result; ``what`` is what the limit counts."""
    error = end.error
    if error is None:
        assert end.limit is not None
        message = f"there are more than {end.limit} {what}; raise the limit, or take `partial` from this exception"
        error = LimitReached(message, limit=end.limit, partial=partial)
    error.partial, error.found = partial, found  # type: ignore[attr-defined]
    return error
