# SPDX-License-Identifier: MIT
"""How can a caller see all regions if they do not fit into memory?

They come in blocks, one after the other, each a `Partition`. The core's recursion finds regions in the same order each
time; a block is a section of it and ends at the path of the node where the next block begins. Only this path is stored
between blocks, so memory holds one block, and a stream can go on from the path later or on another machine.
With several workers, an executor or a folder, blocks come from sections side by side (`blocks_in_order.py`).
Invariant: blocks depend only on the network, the domain, their size, the start of the first block, and on whether the
domain is divided.
Cost: as `enumerate`, plus a few dozen steps of the recursion per block to reach its beginning.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from os import PathLike
from time import monotonic
from typing import Any

from regions.core import Section
from regions.counting.blocks import partition_of
from regions.counting.blocks_in_order import BlocksInOrder
from regions.counting.checkpoints import Folder
from regions.counting.executors import require_executor
from regions.counting.found import COMPLETE, End, Found, exception_of
from regions.counting.options import Options, asked, checked_limit
from regions.counting.run import compiled, enumerated, require_enumerable
from regions.counting.summarize import MOST_REGIONS
from regions.domains import Domain
from regions.ground.arithmetic.arguments import Workers, integer, seconds
from regions.ground.arithmetic.keywords import helped
from regions.ground.threads.deadline import check_time, end_after, keep_partial, until
from regions.ground.threads.progress import (
    PATIENCE,
    Progress,
    Report,
    changed,
    reporting,
    require_progress,
    watching_time,
)
from regions.networks.network import Network, require_network
from regions.results.cells.sections import Place, place_of
from regions.results.partition import Partition

__all__ = ["Stream", "stream"]


class Stream(Iterator[Partition]):
    """An iterator over the regions of a network in a domain, block by block; made by `regions.stream`.

    Attributes
    ----------
    place : tuple of int, or None
        The beginning of the next block: pass it as ``start`` to go on from there. None after the last block.
    found : int
        Regions in the blocks so far.
    """

    def __init__(
        self,
        network: Network,
        domain: Domain,
        regions_per_block: int,
        start: Iterable[int],
        limit: int | None,
        progress: Progress,
        timeout: float | None = None,
        workers: Workers = None,
        executor: Any = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        require_enumerable(domain, require_network(network))
        require_progress(progress)
        self._most = integer(regions_per_block, "regions_per_block", most=MOST_REGIONS)
        self.place: Place | None = place_of(start, "start")
        self.found = 0
        self._end = end_after(seconds(timeout, "timeout"))
        with until(self._end):
            check_time()
        self._network, self._domain, self._limit = network, domain, checked_limit(limit)
        self._options = asked(None, None, workers, executor, checkpoint)
        if executor is not None:
            require_executor(executor)
        if checkpoint is not None:
            Folder(checkpoint)  # refuses what cannot be a folder
        several = self._options.threads > 1 or executor is not None or checkpoint is not None
        self._blocks: Generator[Any, None, None] = (self._found_by_several if several else self._found)(progress)

    def __next__(self) -> Partition:
        return next(self._blocks)

    def close(self) -> None:
        """End the stream before its last block; ``place`` stays."""
        self._blocks.close()

    def _found(self, progress: Progress) -> Generator[Partition, None, None]:
        model = compiled(self._network)
        self._reported = monotonic()
        with reporting(progress) as report:
            while self.place is not None:
                left = None if self._limit is None else self._limit - self.found
                with until(self._end):
                    keep_partial(None)  # the last block was yielded
                    options = Options(left, watching_time(self._together(report)))
                    run = enumerated(model, self._domain, options, Section(self.place), self._most)
                if run.end.limit is not None:
                    run = replace(run, end=End(limit=self._limit))
                assert run.partition is not None
                if run.end.place is None and run.end is not COMPLETE:
                    raise exception_of(run.end, run.partition, run)
                self.place = run.end.place
                self.found += len(run.partition)
                yield run.partition

    def _found_by_several(self, progress: Progress) -> Generator[Any, None, None]:
        self._reported = monotonic()
        with reporting(progress) as report:
            with until(self._end):
                options = replace(self._options, report=watching_time(self._together(report)))
                start = () if self.place is None else self.place
                several = BlocksInOrder(self._network, self._domain, self._most, start, options)

            def show(fraction: float) -> None:
                check_time()
                together = self._together(report)
                if together is not None:
                    together(fraction, 0)

            results = several.results(show)
            try:
                while self.place is not None:
                    with until(self._end):
                        keep_partial(None)  # the last block was yielded
                        block = next(results).block
                    assert block is not None
                    partition = partition_of(self._network, self._domain, block)
                    if self._limit is not None and self.found + len(partition) > self._limit:
                        end, stats = End(limit=self._limit), block.stats
                        found: Found[Any] = Found(self._network, self._domain, len(partition), stats, end)
                        raise exception_of(end, partition, found)
                    self.place = block.section.end
                    self.found += len(partition)
                    yield partition
            finally:
                results.close()

    def _together(self, report: Report | None) -> Report | None:
        """Return a report that adds the regions of earlier blocks.

        It limits the rate of reports, because every block reports at its end.
        """
        if report is None:
            return None
        before = self.found

        def at_intervals(one: Report) -> Report:
            def report_at_intervals(fraction: float, found: int) -> None:
                now = monotonic()
                if now - self._reported >= PATIENCE:
                    self._reported = now
                    one(fraction, before + found)

            return report_at_intervals

        return changed(report, at_intervals)


@helped()
def stream(
    network: Network,
    domain: Domain,
    *,
    regions_per_block: int = 100_000,
    start: Iterable[int] = (),
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Stream:
    """Find every activation region of a network in a domain, exactly, in blocks that need little memory.

    Regions come in the order of `enumerate`, with the same patterns; on segments, from left to right. Each block is a
    `Partition`, or in a box a `PolytopePartition`, with ``complete`` False, unless it is the only one. Its statements
    about its own regions are exact and proven. A facet has the second region -1 and a kink if that region is in another
    block. In a plane the same holds if both regions are in this block but on two sides of a cut that extends into other
    blocks; several vertices may then be the same point. Measures of a whole domain, such as the length of the boundary,
    refuse a block.

    Parameters
    ----------
    network : Network
    domain : Domain
        As for `enumerate`.
    regions_per_block : int, optional
        A block has this many regions, or the few more that the core finds together with the last one; the last block
        has the rest.
    start : tuple of int, optional
        Where to go on: the ``place`` of an earlier stream through the same network and domain, with the same version
        of this package and the same kernel (`Certificate.kernel`). The blocks are then byte for byte those that the
        earlier stream would have yielded next.
    limit : int, optional
        Stop with `LimitReached` once more regions than this are found in all blocks.
    timeout : float, optional
        Stop with `TimeoutReached` when a block is not finished this many seconds after the call.
    progress : bool or callable, optional
        As for `count`; the fraction refers to the whole domain. All blocks together report a few times a second.
    workers, executor, checkpoint : optional
        As for `count`. The domain is then divided into sections of about one block, which are found side by side.
        A block also ends where a section ends. Blocks therefore differ from those of one thread, but they do not depend
        on the number or kind of workers. Each section has at most one block ahead of the caller. The folder keeps all
        blocks, and the same call reads them.

    Returns
    -------
    Stream
        An iterator of partitions, with ``place``, ``found`` and ``close()``.

    Raises
    ------
    LimitReached, TimeoutReached, KeyboardInterrupt
        From the iterator, as from `enumerate`; ``partial`` has the regions found so far in the current block, which
        begins at ``place``. With several workers, it is None unless a limit was reached.
    ValueError
        The start is not a node of the recursion.
    ShapeMismatchError
        The domain does not lie in the network's input space.
    DomainError, UnsupportedLayerError
        As for `enumerate`.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    >>> blocks = regions.stream(net, square, regions_per_block=2)
    >>> [float(block.volumes.sum()) for block in blocks]
    [2.0, 2.0]
    >>> blocks = regions.stream(net, square, regions_per_block=2)
    >>> first = next(blocks)
    >>> [len(block) for block in regions.stream(net, square, regions_per_block=2, start=blocks.place)]
    [2]
    """
    return Stream(network, domain, regions_per_block, start, limit, progress, timeout, workers, executor, checkpoint)
