# SPDX-License-Identifier: MIT
"""How are the results of a job's tasks joined?

Counts are added in the order of the items, whatever the order of the results. Regions are merged where the domain was
divided (`blocks.py`). The joined result therefore does not depend on which worker ran a task, or when.
Invariant: results are joined only if all belong to one job and each appears once. If several items failed, the error of
the first one is raised, as if the items had been counted one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from regions.counting.blocks import Arrays, partition_of_blocks, problem_of
from regions.counting.cases import shaped
from regions.counting.found import End, exception_of
from regions.counting.run import compiled
from regions.counting.tasks import Result
from regions.domains import Domain
from regions.errors import LimitReached
from regions.ground.arithmetic.arguments import list_of, shown
from regions.networks.network import Network
from regions.results.partition import Partition
from regions.results.partition.certificate import LONGER, STAGES, Certificate

__all__ = ["added", "join", "joined", "partition_of", "require_limit"]

ArraysOf = Callable[[Result], Arrays]


def join(results: Iterable[Result]) -> Any:
    """Join the results of all tasks of a job.

    Parameters
    ----------
    results : iterable of Result
        In any order.

    Returns
    -------
    int or int64 array, Certificate or lists of these
        The result of `regions.certified_count`; for an enumeration, the `Partition` of `regions.enumerate`.

    Raises
    ------
    ValueError
        A result is missing, appears twice, belongs to another job, or cannot come from its task; the message says
        which. Or another kernel than this machine's found the parts of an enumeration.
    Exception
        The error of the first item that failed, such as `LimitReached`. Results after this item may be missing.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    >>> tasks = regions.jobs.split(net, [regions.Segment([-1], [1]), regions.Segment([1], [2])], 2)
    >>> second, first = (regions.jobs.run(task) for task in reversed(tasks))
    >>> numbers, _ = regions.jobs.join([second, first])
    >>> numbers
    array([2, 1])
    >>> regions.jobs.join([second])
    Traceback (most recent call last):
    ValueError: the job has 2 results, and these are missing: 0
    """
    given = list_of(results, "results", "a list of what regions.counting.run returned")
    if not given:
        raise ValueError("there are no results to join")
    results = _in_order(given)
    for each in results:
        _require_structure(each, results[0].item)
    return joined(results, trusted=False)


def _require_structure(result: Result, item: tuple[Network, Domain] | None) -> None:
    if result.block is None or item is None:
        return
    problem = problem_of(result.block, *item)
    if problem is not None:
        raise ValueError(f"result {result.index} is not what a task finds: {problem}")


def _in_order(given: list[Any]) -> list[Result]:
    """Return the results of one job in order: all, or all up to the first that failed."""
    by_index: dict[int, Result] = {}
    for place, each in enumerate(given):
        if not isinstance(each, Result):
            raise TypeError(f"results[{place}]: expected what regions.counting.run returned, got {shown(each)}")
        if (each.job, each.total) != (given[0].job, given[0].total):
            raise ValueError(f"results[{place}] belongs to another job than results[0]: {each!r}, {given[0]!r}")
        if each.index in by_index:
            raise ValueError(f"result {each.index} appears twice, the second time as results[{place}]")
        by_index[each.index] = each
    failed = [index for index, each in by_index.items() if each.error is not None]
    wanted = range(min(failed) + 1 if failed else given[0].total)
    missing = [index for index in wanted if index not in by_index]
    if missing:
        named = ", ".join(map(str, missing[:10])) + (", .." if len(missing) > 10 else "")
        raise ValueError(f"the job has {given[0].total} results, and these are missing: {named}")
    return [by_index[index] for index in wanted]


def joined(results: Sequence[Result], arrays_of: ArraysOf | None = None, trusted: bool = True) -> Any:
    """Join results, which come in the order of their tasks; for a failed job, the last one holds the error."""
    if results[0].item is not None:
        return _joined_partition(results, results[0].item, arrays_of, trusted)
    if results[0].block is not None:
        raise ValueError("result 0 does not contain its network and domain")
    numbers, certificates = added(results)
    error, shape = results[-1].error, results[0].shape
    require_limit(results)
    if error is not None:
        if isinstance(error, LimitReached) and shape:
            error.partial = np.array(numbers, dtype=np.int64)
        raise error
    return shaped(numbers, [replace(each, complete=True) for each in certificates], shape)


def _joined_partition(
    results: Sequence[Result], item: tuple[Network, Domain], arrays_of: ArraysOf | None, trusted: bool
) -> Partition:
    try:
        require_limit(results)
        if results[-1].error is not None:
            raise results[-1].error
    except LimitReached as stopped:
        partial = partition_of(results, item, False, arrays_of, trusted)
        raise LimitReached(str(stopped), limit=stopped.limit, partial=partial) from None
    return partition_of(results, item, True, arrays_of, trusted)


def partition_of(
    results: Iterable[Result],
    item: tuple[Network, Domain],
    complete: bool,
    arrays_of: ArraysOf | None = None,
    trusted: bool = True,
) -> Partition:
    """Merge the regions of results, which come in the order of their tasks.

    ``arrays_of`` returns the arrays of a result if its block does not hold them.
    """
    network, domain = item
    found = [each for each in results if each.block is not None]
    blocks = [each.block for each in found if each.block is not None]

    def arrays_at(index: int) -> Arrays:
        return blocks[index].arrays if arrays_of is None else arrays_of(found[index])

    return partition_of_blocks(compiled(network), domain, blocks, arrays_at, complete, trusted)


def require_limit(results: Iterable[Result]) -> None:
    """Raise `LimitReached` if the sections of one item together have more regions than its limit."""
    sections = [each for each in results if not each.whole and each.limit is not None]
    found = sum(each.found for each in sections)
    if sections and found > (sections[0].limit or 0):
        nothing = np.zeros(0, dtype=np.int64)  # the call got lists, with one item in all
        raise exception_of(End(limit=sections[0].limit), nothing if sections[0].shape else found)


def added(results: Iterable[Result]) -> tuple[list[int], list[Certificate]]:
    """Return the number and the certificate of each item, added over its sections."""
    found: dict[int, list[tuple[int, Certificate]]] = defaultdict(list)
    for each in results:
        for place, pair in enumerate(zip(each.numbers, each.certificates, strict=True)):
            found[each.first + place].append(pair)
    numbers = [sum(number for number, _ in pairs) for pairs in found.values()]
    return numbers, [_together([certificate for _, certificate in pairs]) for pairs in found.values()]


def _together(sections: list[Certificate]) -> Certificate:
    counted = {name: sum(getattr(each, name) for each in sections) for name in ("regions", *STAGES, *LONGER)}
    return replace(sections[0], **counted)
