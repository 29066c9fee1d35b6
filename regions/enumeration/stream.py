# SPDX-License-Identifier: MIT
"""How are regions had that are too many to be kept?

In blocks, one after the other, each a `Partition` of its own. The core's recursion is the same each time and leaves
regions in one order; a block is a section of it, and ends at the path of the node where the next one begins. Nothing is
kept from block to block but that path, so memory is that of one block, and who has the path can go on from there:
tomorrow, or on another machine.
Invariant: blocks depend on the network, the domain, their size and where the first one began, and on nothing else.
Cost: that of `enumerate`, and a few dozen steps of the recursion for each block to get to where it begins.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from time import monotonic

from regions.arithmetic.arguments import integer
from regions.cells.sections import Place, place_of
from regions.domains import Domain
from regions.domains.domain import require_domain_of
from regions.enumeration.run import checked_limit, compiled, enumerated
from regions.networks.network import Network, require_network
from regions.partition import Partition
from regions.reporting import PATIENCE, Progress, Report, reporting, require_progress

__all__ = ["Stream", "stream"]

_MOST_REGIONS = 2**40


class Stream(Iterator[Partition]):
    """The regions of a network in a domain, block by block: an iterator of partitions, made by `regions.stream`.

    Attributes
    ----------
    place : tuple of int, or None
        Where the next block begins: the ``start`` of a stream of what is still to come. None after the last block.
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
    ) -> None:
        require_domain_of(domain, require_network(network))
        checked_limit(limit)
        require_progress(progress)
        self._most = integer(regions_per_block, "regions_per_block", most=_MOST_REGIONS)
        self.place: Place | None = place_of(start, "start")
        self.found = 0
        self._network, self._domain, self._limit = network, domain, limit
        self._blocks = self._found(progress)

    def __next__(self) -> Partition:
        return next(self._blocks)

    def close(self) -> None:
        """End it before its last block; ``place`` stays."""
        self._blocks.close()

    def _found(self, progress: Progress) -> Generator[Partition, None, None]:
        model = compiled(self._network)
        self._told = monotonic()
        with reporting(progress) as report:
            while self.place is not None:
                left = None if self._limit is None else self._limit - self.found
                told = self._together(report)
                run = enumerated(self._network, model, self._domain, left, told, begin=self.place, most=self._most)
                assert run.partition is not None
                more = isinstance(run.status, tuple)
                if not more:
                    run.require_complete(self._limit, run.partition)
                self.place = run.status if more else None
                self.found += len(run.partition)
                yield run.partition

    def _together(self, report: Report | None) -> Report | None:
        """With the regions of earlier blocks, and no oftener than within one: each of them reports at its end."""
        if report is None:
            return None
        before = self.found

        def told(share: float, found: int) -> None:
            now = monotonic()
            if now - self._told >= PATIENCE:
                self._told = now
                report(share, before + found)

        return told


def stream(
    network: Network,
    domain: Domain,
    *,
    regions_per_block: int = 100_000,
    start: Iterable[int] = (),
    limit: int | None = None,
    progress: Progress = None,
) -> Stream:
    """Every activation region of a network in a domain, exactly, in blocks that need little memory.

    Blocks follow one another in the order of `enumerate`, whose patterns they have; on segments, from left to right.
    Each is a `Partition` with ``complete`` False, unless it is the only one: all that it says of its regions is exact
    and proven, but it is no whole. A facet has the second region -1 and a kink where that region is in another block,
    or where both are in this one but on the two sides of a cut that other blocks share; one point may then be several
    vertices. Measures of a whole, such as those of the boundary, refuse it.

    Parameters
    ----------
    network : Network
    domain : Domain
    regions_per_block : int, optional
        A block has as many, or the few more that are found with the last of them; the last block has what is left.
    start : tuple of int, optional
        The ``place`` of an earlier stream through the same network and domain, with the same version of this package
        and the same kernel (`Certificate.kernel`): where to go on. Its blocks are those that the earlier one would have
        had next, to the last byte.
    limit : int, optional
        Stop with `LimitReached` once more regions than this are found in all blocks.
    progress : bool or callable, optional
        As for `count`; the share is that of the whole domain. Fast blocks report too, a few times a second together.

    Returns
    -------
    Stream
        An iterator of partitions, with ``place``, ``found`` and ``close()``.

    Raises
    ------
    LimitReached, KeyboardInterrupt
        From the iterator, as from `enumerate`; ``partial`` is what was found of the block under way, which begins at
        ``place``.
    ValueError
        A start that leads nowhere.
    ShapeMismatchError
        The domain does not lie in the network's input space.

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
    return Stream(network, domain, regions_per_block, start, limit, progress)
