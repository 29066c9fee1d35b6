# SPDX-License-Identifier: MIT
"""How does a count or an enumeration run under the command line, and how can it end?

By itself, at the limit, or by Ctrl-C. In all three cases there is an `Outcome` with what was found, and an
exit code. The time is that of finding the regions, without reading the model, measuring and printing. A certification
ends by itself or by Ctrl-C, and there is a report on what was checked.
"""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Literal

from regions import Certificate, Domain, LimitReached, Network, Partition, certify, enumerate, linear_regions
from regions.certification import CertificationReport
from regions.definitions import Definition
from regions.enumeration.count_and_enumerate import certified, count_with_statistics
from regions.progress import bar
from regions.reporting import Report

__all__ = ["EXIT_INTERRUPTED", "EXIT_LIMIT", "Outcome", "run_certify", "run_count", "run_enumerate"]

EXIT_LIMIT = 3
EXIT_INTERRUPTED = 130  # what shells report for a program that Ctrl-C ended

End = Literal["complete", "limit", "interrupted"]


@dataclass(frozen=True)
class Outcome:
    """What was found, and how the work ended.

    Attributes
    ----------
    network, domain
        What it is about.
    regions : int
        Their number, or the number found until the work was stopped.
    seconds : float
        How long that took.
    end : "complete", "limit" or "interrupted"
    partition : Partition or None
        The regions themselves, where they were asked for.
    certificate : Certificate or None
        What is proven about it, or about the activation regions that it is derived from; None if it did not come from
        the core.
    definition : str
        What ``regions`` counts; activation regions, where the work was stopped.
    """

    network: Network
    domain: Domain
    regions: int
    seconds: float
    end: End
    partition: Partition | None = None
    certificate: Certificate | None = None
    definition: Definition = "activation"

    @property
    def exit_code(self) -> int:
        return {"complete": 0, "limit": EXIT_LIMIT, "interrupted": EXIT_INTERRUPTED}[self.end]


def run_count(network: Network, domain: Domain, limit: int | None, definition: Definition) -> Outcome:
    """Count; a stop still gives the number found until then."""
    if definition != "activation":
        return _run_derived(network, domain, limit, definition)
    start = time.perf_counter()
    with _bar() as report:
        status, found, stats = count_with_statistics(network, domain, limit, report)
    seconds = time.perf_counter() - start
    if isinstance(status, KeyboardInterrupt):
        end: End = "interrupted"
    elif isinstance(status, BaseException):
        raise status
    else:
        end = "complete" if status == "finished" else "limit"
    proven = certified(network, domain, found, stats, complete=end == "complete")
    return Outcome(network, domain, found, seconds, end, certificate=proven)


def _run_derived(network: Network, domain: Domain, limit: int | None, definition: Definition) -> Outcome:
    """Enumerate, and derive the number from the regions; what was stopped keeps the number of these."""
    outcome = run_enumerate(network, domain, limit)
    assert outcome.partition is not None
    if outcome.end == "complete":
        start = time.perf_counter()
        regions = linear_regions(outcome.partition, definition).count
        seconds = outcome.seconds + time.perf_counter() - start
        outcome = replace(outcome, regions=regions, seconds=seconds, definition=definition)
    return replace(outcome, partition=None)


def run_enumerate(network: Network, domain: Domain, limit: int | None) -> Outcome:
    """Enumerate; a stop still gives the regions that were finished."""
    end: End = "complete"
    start = time.perf_counter()
    try:
        with _bar() as report:
            partition = enumerate(network, domain, limit=limit, progress=report)
    except LimitReached as stopped:
        end, partition = "limit", stopped.partial
    except KeyboardInterrupt as stopped:
        if not isinstance(getattr(stopped, "partial", None), Partition):
            raise  # before the core had begun, or after it had ended
        end, partition = "interrupted", stopped.partial  # type: ignore[attr-defined]
    seconds = time.perf_counter() - start
    return Outcome(network, domain, len(partition), seconds, end, partition, partition.certificate)


def run_certify(
    partition: Partition, network: Network, regions: int | Literal["all"] | None
) -> tuple[CertificationReport, int]:
    """Certify; a stop still gives the report on what was checked until then. Also the exit code."""
    stopped_code = 0
    try:
        with _bar() as report:
            found = certify(partition, network, regions=regions, progress=report)
    except KeyboardInterrupt as stopped:
        if not isinstance(getattr(stopped, "partial", None), CertificationReport):
            raise  # before or after the checks
        found, stopped_code = stopped.partial, EXIT_INTERRUPTED  # type: ignore[attr-defined]
    return found, stopped_code if found.ok else 1


def _bar() -> AbstractContextManager[Report | None]:
    """The progress bar, where somebody can see it."""
    seen = sys.stderr is not None and sys.stderr.isatty()  # None where the caller has closed it
    return bar() if seen else nullcontext()
