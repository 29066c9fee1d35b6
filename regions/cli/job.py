# SPDX-License-Identifier: MIT
"""How does a count or an enumeration run under the command line, and how can it end?

It ends by itself, at the limit, or by Ctrl-C; other signals count as Ctrl-C (`stops.py`). In all three cases there is
an `Outcome` with the results so far, and an exit code. The reported time is the time to find the regions, without
reading the model, measuring and printing. A certification ends by itself or by Ctrl-C, with a report on its checks.
With a checkpoint folder, Ctrl-C leaves an enumeration's regions there, and they are not assembled.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from regions import (
    Certificate,
    Curve,
    Domain,
    LimitReached,
    Network,
    Partition,
    TimeoutReached,
    certified_count,
    certify,
    enumerate,
    stream,
)
from regions.certification import CertificationReport
from regions.cli import stops
from regions.core import kernel
from regions.errors import WorkStopped
from regions.ground.threads.progress import Report, bar
from regions.measures import StreamSummary
from regions.results.definitions import Definition
from regions.results.partition.certificate import LONGER, STAGES, make_certificate
from regions.version import __version__

__all__ = [
    "EXIT_LIMIT",
    "End",
    "end_of",
    "exit_code_of",
    "Outcome",
    "progress_bar",
    "run_certify",
    "run_count",
    "run_enumerate",
    "run_in_folder",
    "run_stream",
]

# The exit code for only some of the regions: the limit was reached, a partial result was given, or a sample was
# checked.
EXIT_LIMIT = 3
End = Literal["complete", "limit", "timeout", "interrupted"]


@dataclass(frozen=True)
class Outcome:
    """The results, and how the work ended.

    Attributes
    ----------
    network : Network
    domain : Domain or Curve
    regions : int
        Number of regions, or of pieces of a curve; if the work was stopped, the number found so far.
    certificate : Certificate
    seconds : float
        Time to find the regions.
    end : "complete", "limit", "timeout" or "interrupted"
    definition : str
        The kind of regions counted; activation regions if the work was stopped.
    partition : Partition or None
        The regions, if they were requested.
    summary : StreamSummary or None
        Statistics of the regions, if they were requested.
    pieces : (int, int) or None
        Number of pieces of the work saved in the folder, and of all pieces, if the work in a folder was stopped.
    """

    network: Network
    domain: Any
    regions: int
    certificate: Certificate
    seconds: float
    end: End = "complete"
    definition: Definition = "activation"
    partition: Partition | None = None
    summary: StreamSummary | None = None
    pieces: tuple[int, int] | None = None

    @property
    def exit_code(self) -> int:
        return 0 if self.end == "complete" else exit_code_of(self.end)


def run_count(
    network: Network,
    domain: Domain | Curve,
    limit: int | None,
    definition: Definition,
    threads: int,
    checkpoint: Path | None,
) -> Outcome:
    """Count; after a stop, return the number of activation regions found so far."""
    start = time.perf_counter()
    try:
        with progress_bar() as report:
            number, certificate = certified_count(
                network, domain, definition, limit=limit, progress=report, workers=threads, checkpoint=checkpoint
            )
    except (WorkStopped, KeyboardInterrupt) as stopped:
        return _stopped(stopped, start)
    return Outcome(network, domain, number, certificate, time.perf_counter() - start, definition=definition)


def run_enumerate(
    network: Network,
    domain: Domain,
    limit: int | None,
    threads: int,
    held: stops.Held,
    maps: bool = False,
) -> Outcome:
    """Enumerate; after a stop, return the finished regions. The caller holds signals until these regions have been
    used.
    """
    return _summarized(_enumerated(network, domain, limit, threads, held, maps=maps))


def run_in_folder(network: Network, domain: Domain, limit: int | None, threads: int, checkpoint: Path) -> Outcome:
    """Enumerate with a folder; Ctrl-C leaves the finished regions there, and only their number is returned."""
    with stops.held() as held:
        outcome = _enumerated(network, domain, limit, threads, held, checkpoint)
    try:  # all regions are in the folder, so Ctrl-C may act at once
        return _summarized(outcome)
    except KeyboardInterrupt:
        return replace(outcome, end="interrupted", partition=None)


def run_stream(
    network: Network, domain: Domain, limit: int | None, threads: int, write: Callable[[Iterator[Partition]], object]
) -> Outcome:
    """Write the regions block by block; after a stop, the finished blocks are still written."""
    start, summary = time.perf_counter(), StreamSummary(network, domain)
    stats = Counter(dict.fromkeys((*STAGES, *LONGER), 0))
    end: End = "complete"
    no_memory: MemoryError | None = None

    def blocks() -> Iterator[Partition]:
        nonlocal end, no_memory
        with progress_bar() as report:
            try:
                yield from stream(network, domain, limit=limit, workers=threads, progress=held.obeying(report))
            except (WorkStopped, KeyboardInterrupt) as stopped:
                end = end_of(stopped)
                if getattr(stopped, "partial", None) is not None:
                    yield stopped.partial  # type: ignore[union-attr]
            except MemoryError as error:  # the earlier blocks have been written
                no_memory = error

    def counted_blocks() -> Iterator[Partition]:
        for block in blocks():
            if len(block):
                summary.add(block)
                stats.update(block.stats)
                yield block

    with stops.held() as held:
        each = counted_blocks()
        first = next(each, None)
        if first is not None:
            write(chain([first], each))
    if no_memory is not None:
        raise no_memory
    found = summary.regions, end == "complete", stats, __version__, kernel()
    certificate = make_certificate(network, domain, *found)
    return Outcome(network, domain, summary.regions, certificate, time.perf_counter() - start, end, summary=summary)


def _enumerated(
    network: Network,
    domain: Domain,
    limit: int | None,
    threads: int,
    held: stops.Held,
    checkpoint: Path | None = None,
    maps: bool = False,
) -> Outcome:
    """Enumerate, without statistics of the regions."""
    start = time.perf_counter()
    try:
        with progress_bar() as report:
            told = held.obeying(report)
            found = enumerate(
                network, domain, maps=maps, limit=limit, progress=told, workers=threads, checkpoint=checkpoint
            )
    except (WorkStopped, KeyboardInterrupt) as stopped:
        return _stopped(stopped, start)
    return Outcome(network, domain, len(found), found.certificate, time.perf_counter() - start, partition=found)


def _stopped(stopped: WorkStopped | KeyboardInterrupt, start: float) -> Outcome:
    """Return the outcome of work that was stopped; if nothing had been found, raise the exception again."""
    found, partial = getattr(stopped, "found", None), getattr(stopped, "partial", None)
    if found is None:
        raise stopped
    partition = partial if isinstance(partial, Partition) else None
    number, certificate = (
        (found.regions, found.certificate) if partition is None else (len(partition), partition.certificate)
    )
    seconds, end = time.perf_counter() - start, end_of(stopped)
    return Outcome(
        found.network, found.domain, number, certificate, seconds, end, partition=partition, pieces=found.pieces
    )


def end_of(stopped: WorkStopped | KeyboardInterrupt) -> End:
    """Return the word for the end of work that was stopped."""
    words: dict[type[BaseException], End] = {LimitReached: "limit", TimeoutReached: "timeout"}
    return words.get(type(stopped), "interrupted")


def exit_code_of(end: End) -> int:
    """Return the exit code of a command whose work was stopped."""
    return stops.exit_code() if end == "interrupted" else EXIT_LIMIT


def _summarized(outcome: Outcome) -> Outcome:
    """Return the outcome with statistics of its regions, if it has regions."""
    if outcome.partition is None:
        return outcome
    summary = StreamSummary(outcome.network, outcome.partition.domain)
    summary.add(outcome.partition)
    return replace(outcome, summary=summary)


def run_certify(
    partition: Partition, network: Network, regions: int | Literal["all"] | None, threads: int
) -> tuple[CertificationReport, int]:
    """Certify, and return the report and the exit code, which is 0 only if the listed regions are proved to be all
    regions. After a stop, return the report on the checks so far.
    """
    stopped_code = 0
    try:
        with progress_bar() as report:
            found = certify(partition, network, regions=regions, progress=report, workers=threads)
    except (TimeoutReached, KeyboardInterrupt) as stopped:
        partial = getattr(stopped, "partial", None)
        if not isinstance(partial, CertificationReport):
            raise  # before or after the checks
        found, stopped_code = partial, exit_code_of(end_of(stopped))
    return found, 1 if found.failed else stopped_code or (0 if found.all_proved else EXIT_LIMIT)


def progress_bar() -> AbstractContextManager[Report | None]:
    """Return the progress bar, if it would be visible."""
    seen = sys.stderr is not None and sys.stderr.isatty()  # None if the caller has closed it
    return bar() if seen else nullcontext()
