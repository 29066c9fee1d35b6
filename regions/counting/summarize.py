# SPDX-License-Identifier: MIT
"""What can be said of all regions, by all cores and in little memory?

The regions come in the blocks of a stream (`blocks_in_order.py`). The worker that finds a block also makes its summary
(`stream_summary.py`), and only the summary is returned, sent or saved. Summaries are merged in the order of the blocks.
Invariant: the statistics depend on the network, the domain and the size of the blocks, not on the workers.
Cost: as the stream, plus some sweeps over the facets and regions of each block; a few kilobytes for each block.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

from regions.counting.blocks_in_order import BlocksInOrder
from regions.counting.found import End, exception_of
from regions.counting.options import asked, takes_timeout
from regions.counting.run import require_enumerable
from regions.counting.stream_summary import StreamSummary
from regions.domains import Domain
from regions.errors import TimeoutReached
from regions.ground.arithmetic.arguments import Workers, integer
from regions.ground.threads.deadline import check_time
from regions.ground.threads.progress import Progress, reporting
from regions.networks.network import Network, require_network

__all__ = ["MOST_REGIONS", "summarize"]

MOST_REGIONS = 2**40


@takes_timeout
def summarize(
    network: Network,
    domain: Domain,
    *,
    regions_per_block: int = 100_000,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
) -> StreamSummary:
    """Return statistics of every activation region in a domain, for more regions than memory holds.

    The statistics are those of a `StreamSummary` to which all blocks of ``regions.stream(.., workers=2)`` are added,
    for any number of workers. Each worker also makes the summaries of its blocks.

    Parameters
    ----------
    network : Network
    domain : Domain
        As for `regions.enumerate`.
    regions_per_block : int, optional
        As for `regions.stream`: each worker holds this many regions in memory. Larger blocks keep workers busier.
    limit, timeout, progress, workers, executor
        As for `regions.count`.
    checkpoint : path, optional
        A folder in which the summary of each block is saved. It holds some kilobytes for each block, not the regions.
        The same call resumes from there.

    Returns
    -------
    StreamSummary

    Raises
    ------
    LimitReached, TimeoutReached, KeyboardInterrupt
        ``partial`` is the summary of the blocks so far, which follow each other from the first one on.
    ShapeMismatchError
        The domain does not lie in the network's input space.
    DomainError, UnsupportedLayerError
        As for `regions.enumerate`.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> square = regions.Polygon([[-1, -1], [3, -1], [3, 1], [-1, 1]])
    >>> regions.measures.summarize(net, square, workers=2)
    StreamSummary(4 regions, area 8)
    """
    require_enumerable(domain, require_network(network))
    most = integer(regions_per_block, "regions_per_block", most=MOST_REGIONS)
    summary = StreamSummary(network, domain)
    try:
        with reporting(progress) as report:

            def show(fraction: float) -> None:
                check_time()
                if report is not None:
                    report(fraction, summary.regions)

            options = asked(limit, report, workers, executor, checkpoint)
            results = BlocksInOrder(network, domain, most, (), options, "summarize").results(show)
            try:
                for result in results:
                    summary.merge(StreamSummary(network, domain, result.summary))
                    if options.limit is not None and summary.regions > options.limit:
                        raise exception_of(End(limit=options.limit), summary)
            finally:
                results.close()
    except (TimeoutReached, KeyboardInterrupt) as stopped:
        stopped.partial = summary  # type: ignore[union-attr]
        raise
    return summary
