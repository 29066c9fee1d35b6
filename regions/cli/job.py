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

from regions import Domain, Network, Partition, certify, linear_regions
from regions.certificate import LONGER, STAGES
from regions.certification import CertificationReport
from regions.cli import stops
from regions.definitions import Definition
from regions.domains.curves import Curve
from regions.enumeration.curves import pieces_counted
from regions.enumeration.jobs import KeptEnumeration, Pieces, run_by_tasks
from regions.enumeration.run import End, Run, compiled, counted, enumerated
from regions.enumeration.stream import stream
from regions.errors import DomainError, LimitReached
from regions.measures import StreamSummary
from regions.text.progress import Report, bar

__all__ = [
    "EXIT_LIMIT",
    "Outcome",
    "progress_bar",
    "run_certify",
    "run_count",
    "run_enumerate",
    "run_kept_enumerate",
    "run_stream",
]

EXIT_LIMIT = 3


@dataclass(frozen=True)
class Outcome:
    """The results, and how the work ended.

    Attributes
    ----------
    run : Run
        The core's result, with the network, the domain or curve, and the regions if they were requested.
    regions : int
        Number of regions, so far if the work was stopped; of pieces on a curve.
    seconds : float
        Time that this took.
    end : "complete", "limit" or "interrupted"
    definition : str
        The kind of regions counted; activation regions if the work was stopped.
    summary : StreamSummary or None
        Statistics of the regions, if they were requested.
    pieces : (int, int) or None
        Number of pieces of the work saved in the folder, and of all pieces, if a folder was given.
    """

    run: Run[Any]
    regions: int
    seconds: float
    end: End
    definition: Definition = "activation"
    summary: StreamSummary | None = None
    pieces: Pieces | None = None

    @property
    def exit_code(self) -> int:
        return {"complete": 0, "limit": EXIT_LIMIT, "interrupted": stops.exit_code()}[self.end]


def run_count(
    network: Network,
    domain: Domain | Curve,
    limit: int | None,
    definition: Definition,
    threads: int,
    checkpoint: Path | None,
) -> Outcome:
    """Count; after a stop, return the number of activation regions found so far."""
    if checkpoint is not None:
        start = time.perf_counter()
        with progress_bar() as report:
            number, run, pieces = run_by_tasks(network, domain, definition, limit, report, threads, checkpoint)
        sense: Definition = definition if run.end == "complete" else "activation"
        return Outcome(run, number, time.perf_counter() - start, run.end, sense, pieces=pieces)
    if isinstance(domain, Curve):
        if definition != "activation":
            raise DomainError(f"{definition!r} is a definition of regions in domains; on a curve, pieces are counted")
        return _outcome(pieces_counted, network, domain, limit, threads)
    outcome = _outcome(counted if definition == "activation" else enumerated, network, domain, limit, threads)
    if definition != "activation" and outcome.end == "complete":
        assert outcome.run.partition is not None
        start = time.perf_counter()
        regions = linear_regions(outcome.run.partition, definition).count
        seconds = outcome.seconds + time.perf_counter() - start
        outcome = replace(outcome, regions=regions, seconds=seconds, definition=definition)
    return replace(outcome, run=replace(outcome.run, partition=None))


def run_enumerate(
    network: Network, domain: Domain, limit: int | None, threads: int, held: stops.Held
) -> tuple[Outcome, Partition]:
    """Enumerate; after a stop, return the finished regions. The caller holds signals until they are used."""
    outcome = _outcome(enumerated, network, domain, limit, threads, held.obeying)
    assert outcome.run.partition is not None
    summary = StreamSummary(network, domain)
    summary.add(outcome.run.partition)
    return replace(outcome, summary=summary), outcome.run.partition


def run_kept_enumerate(network: Network, domain: Domain, limit: int | None, threads: int, checkpoint: Path) -> Outcome:
    """Enumerate with a folder; Ctrl-C leaves the finished regions there, and only their number is returned."""
    start, summary = time.perf_counter(), StreamSummary(network, domain)
    with progress_bar() as report:
        with stops.held() as held:
            work = KeptEnumeration(network, domain, limit, held.obeying(report), threads, checkpoint)
        try:  # everything found so far is in the folder, so Ctrl-C may act at once
            run = work.run()
            seconds = time.perf_counter() - start
            assert run.partition is not None
            summary.add(run.partition)
        except KeyboardInterrupt as stopped:
            run, seconds = work.stopped(stopped), time.perf_counter() - start
    found = None if run.partition is None else summary
    return Outcome(run, run.regions, seconds, run.end, summary=found, pieces=work.pieces)


def run_stream(
    network: Network, domain: Domain, limit: int | None, write: Callable[[Iterator[Partition]], object]
) -> Outcome:
    """Write the regions block by block; after a stop, the finished ones are still written."""
    start, stats, summary = time.perf_counter(), Counter[str](), StreamSummary(network, domain)
    status: Any = "finished"
    no_memory: MemoryError | None = None

    def blocks() -> Iterator[Partition]:
        nonlocal status, no_memory
        with progress_bar() as report:
            try:
                yield from stream(network, domain, limit=limit, progress=held.obeying(report))
            except LimitReached as stopped:
                status = "limit_exceeded"
                yield stopped.partial
            except KeyboardInterrupt as stopped:
                status = stopped
                if getattr(stopped, "partial", None) is not None:
                    yield stopped.partial  # type: ignore[attr-defined]
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
    run = Run(network, domain, summary.regions, {name: stats[name] for name in (*STAGES, *LONGER)}, status)
    return Outcome(run, run.regions, time.perf_counter() - start, run.end, summary=summary)


def _outcome(
    find: Callable[..., Run[Any]],
    network: Network,
    domain: Domain | Curve,
    limit: int | None,
    threads: int,
    obeying: Callable[[Report | None], Report | None] = lambda report: report,
) -> Outcome:
    start = time.perf_counter()
    with progress_bar() as report:
        run = find(network, compiled(network), domain, limit, obeying(report), threads)
    seconds = time.perf_counter() - start
    return Outcome(run, run.regions, seconds, run.end)


def run_certify(
    partition: Partition, network: Network, regions: int | Literal["all"] | None
) -> tuple[CertificationReport, int]:
    """Certify, and return the report and the exit code; after a stop, the report on the checks so far."""
    stopped_code = 0
    try:
        with progress_bar() as report:
            found = certify(partition, network, regions=regions, progress=report)
    except KeyboardInterrupt as stopped:
        if not isinstance(getattr(stopped, "partial", None), CertificationReport):
            raise  # before or after the checks
        found, stopped_code = stopped.partial, stops.exit_code()  # type: ignore[attr-defined]
    return found, stopped_code if found.ok else 1


def progress_bar() -> AbstractContextManager[Report | None]:
    """Return the progress bar, if it would be visible."""
    seen = sys.stderr is not None and sys.stderr.isatty()  # None if the caller has closed it
    return bar() if seen else nullcontext()
