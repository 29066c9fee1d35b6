# SPDX-License-Identifier: MIT
"""Which pieces does a job have, what comes out of one, and what of all together?

A job is to count the regions of networks in domains. Its items, one number each, are dealt out in runs: a task is a run
of items, and has all that it needs, so that it can be sent to another process or machine. Where there are few items in
planes, a task is a section of the recursion in one of them (`run.py`). A result holds the numbers with what is proven
about each. Joining is adding, in the order of the items whatever the order of the results: so what comes out does not
depend on who did what, or when.
Invariant: results are joined only if they are all of one job, each once. A job is known by a digest of everything that
decides what its tasks find, the version of this package included.
An item that fails ends its task, and the error is part of the result: the first one in the order of the items is
raised where results are joined, as if the items had been counted one after the other.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regions.arithmetic.arguments import integer, list_of, shown
from regions.arithmetic.types import Integers
from regions.certificate import LONGER, STAGES, Certificate
from regions.definitions import Definition, definition_of
from regions.domains import Domain
from regions.domains.curves import Curve
from regions.domains.domain import require_domain_of
from regions.enumeration.items import Items, count_item, count_section, items_of, shaped
from regions.enumeration.run import Path, checked_limit, compiled, frontier, require_finished
from regions.enumeration.workers import Workers, number_of_workers
from regions.errors import LimitReached
from regions.networks.network import Network
from regions.reporting import Report, share_of
from regions.version import __version__

__all__ = [
    "Result",
    "Task",
    "added",
    "attempt",
    "join",
    "joined",
    "require_limit",
    "result_of",
    "run",
    "split",
    "split_items",
]


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """A piece of a job; made by `regions.tasks.split`, and to be pickled.

    Attributes
    ----------
    job : str
        A digest of all that the job is about: 64 hexadecimal digits.
    total : int
        How many tasks it has.
    shape : tuple of int
        Of the numbers that the whole job finds.
    definition : str
    limit : int or None
        As for `regions.count`.
    index : int
        Which task of the job it is, from 0.
    first : int
        The number of its first item, in the order of these.
    items : tuple of (Network, Domain or Curve)
    begin, end : tuple of int
        Where a single item is divided: the paths in the recursion between which its regions are counted. () is the
        beginning, and None the end.
    """

    job: str
    total: int
    shape: tuple[int, ...]
    definition: Definition
    limit: int | None
    index: int
    first: int
    items: tuple[tuple[Network, Domain | Curve], ...]
    begin: Path
    end: Path | None

    @property
    def whole(self) -> bool:
        """Whether its items are counted, and not a section of one."""
        return self.begin == () and self.end is None

    def __repr__(self) -> str:
        items = f"{len(self.items)} item{'s' * (len(self.items) != 1)}" if self.whole else "a part of one"
        return f"Task({self.index} of {self.total} of job {self.job[:8]}, {items})"


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What came out of a task; made by `regions.tasks.run`, and to be pickled.

    Attributes
    ----------
    job, total, shape, limit, index, first, whole
        Those of the task.
    numbers : list of int
        Of the regions in its items, up to the first that failed; of a section, those that are in it.
    certificates : list of Certificate
        What is proven about each.
    error : Exception or None
        What the item raised that failed; its ``partial`` is what was found in that item.
    """

    job: str
    total: int
    shape: tuple[int, ...]
    limit: int | None
    index: int
    first: int
    whole: bool
    numbers: list[int]
    certificates: list[Certificate]
    error: Exception | None = None

    @property
    def found(self) -> int:
        """Regions, those of an item included that has too many."""
        return sum(self.numbers) + (self.error.partial if isinstance(self.error, LimitReached) else 0)

    def __repr__(self) -> str:
        found = f"{type(self.error).__name__}" if self.error else f"{sum(self.numbers):,} regions"
        return f"Result({self.index} of {self.total} of job {self.job[:8]}, {found})"


def split(
    network: Network | Iterable[Network],
    domain: Domain | Curve | Iterable[Domain | Curve],
    n: int,
    *,
    definition: Definition = "activation",
    limit: int | None = None,
) -> list[Task]:
    """Cut the job of counting regions into tasks, to be done anywhere and in any order.

    Parameters
    ----------
    network, domain, definition, limit
        As for `regions.count`.
    n : int
        Into how many; there are fewer where there is less to deal out, and a few more where planes are divided. These
        take unequal time: ten times as many as there are workers keep all of them busy.

    Returns
    -------
    list of Task
        Each can be pickled, and brings along the networks and domains that it is about.

    Raises
    ------
    TypeError, ValueError, ShapeMismatchError
        As `regions.count`; ``n`` is no number of tasks.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> pieces = regions.tasks.split(net, [regions.Segment([-1, k], [1, 3]) for k in range(-2, 1)], 2)
    >>> numbers, certificates = regions.tasks.join([regions.tasks.run(piece) for piece in pieces])
    >>> numbers
    array([3, 3, 2])
    """
    return split_items(items_of(network, domain), integer(n, "n"), definition_of(definition), limit)


def split_items(
    items: Items, n: int, definition: Definition, limit: int | None, report: Report | None = None
) -> list[Task]:
    """The tasks of a job: runs of items, as long as each other but for one item, or sections."""
    checked_limit(limit)
    divided = _divided(items, n, definition, limit)
    parts = list(_sections(items, n, report) if divided else _runs(items, n))
    names = [each.fingerprint for each in items.networks], [each.fingerprint for each in items.domains]
    what = (__version__, definition, None if limit is None else int(limit), items.shape, *names, parts)
    job = hashlib.sha256(json.dumps(what).encode()).hexdigest()
    known = job, len(parts), items.shape, definition, limit
    return [
        Task(*known, index, first, tuple(map(items.pair, range(first, last))), begin, end)
        for index, (first, last, begin, end) in enumerate(parts)
    ]


def _divided(items: Items, n: int, definition: Definition, limit: int | None) -> bool:
    """Whether items are few, and of a kind that sections are found of; of several, each has a limit of its own."""
    planes = all(isinstance(each, Domain) and each.dimension == 2 for each in items.domains)
    few = 0 < 2 * len(items) <= n
    return few and planes and definition == "activation" and (limit is None or len(items) == 1)


# The first of its items and the one after the last, and its section.
Part = tuple[int, int, Path, Path | None]


def _runs(items: Items, n: int) -> Iterator[Part]:
    total = min(n, len(items))
    for index in range(total):
        yield len(items) * index // total, len(items) * (index + 1) // total, (), None


def _sections(items: Items, n: int, report: Report | None) -> Iterator[Part]:
    for index in range(len(items)):
        network, domain = items.pair(index)
        paths = frontier(compiled(network), require_domain_of(domain, network), n // len(items), report)
        for begin, end in zip(paths, [*paths[1:], None], strict=True):
            yield index, index + 1, begin, end


def run(task: Task, *, workers: Workers = None) -> Result:
    """Do a task.

    Parameters
    ----------
    task : Task
    workers : int or "all", optional
        Threads to use, as for `regions.count`.

    Returns
    -------
    Result
        Where an item fails, with the error, which `join` raises.

    Raises
    ------
    TypeError
        That is no task.
    KeyboardInterrupt
        On Ctrl-C.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    >>> (task,) = regions.tasks.split(net, regions.Segment([-1], [1]), 1)
    >>> regions.tasks.run(task).numbers
    [2]
    """
    if not isinstance(task, Task):
        raise TypeError(f"expected a task that regions.tasks.split made, got {shown(task)}")
    return attempt(task, number_of_workers(workers))


def attempt(task: Task, threads: int = 1, report: Report | None = None) -> Result:
    """Do a task with so many threads."""
    numbers: list[int] = []
    certificates: list[Certificate] = []
    error, model, last = None, None, None
    for place, (network, domain) in enumerate(task.items):
        share = share_of(report, place, len(task.items))
        try:
            if model is None or network is not last:
                model, last = compiled(network), network
            if task.whole:
                number, found = count_item(network, model, domain, task.definition, task.limit, share, threads)
            else:
                number, found = count_section(network, model, domain, task.limit, report, task.begin, task.end)
            certificate = found.certificate
        except Exception as failed:
            error = failed
            break
        numbers.append(number)
        certificates.append(certificate)
    return result_of(task, numbers, certificates, error)


def result_of(
    task: Task, numbers: list[int], certificates: list[Certificate], error: Exception | None = None
) -> Result:
    """What came out of a task."""
    known = task.job, task.total, task.shape, task.limit, task.index, task.first, task.whole
    return Result(*known, numbers, certificates, error)


def join(results: Iterable[Result]) -> tuple[int, Certificate] | tuple[Integers, Any]:
    """Put the results of all tasks of a job together.

    Parameters
    ----------
    results : iterable of Result
        In any order.

    Returns
    -------
    int or int64 array, Certificate or lists of these
        What `regions.certified_count` returns.

    Raises
    ------
    ValueError
        A result is missing, is there twice, or is of another job; the message says which.
    Exception
        What the first item raised that failed, such as `LimitReached`. Results that come after it may be missing.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    >>> tasks = regions.tasks.split(net, [regions.Segment([-1], [1]), regions.Segment([1], [2])], 2)
    >>> second, first = (regions.tasks.run(task) for task in reversed(tasks))
    >>> numbers, _ = regions.tasks.join([second, first])
    >>> numbers
    array([2, 1])
    >>> regions.tasks.join([second])
    Traceback (most recent call last):
    ValueError: of 2 results of the job these are missing: 0
    """
    given = list_of(results, "results", "a list of what regions.tasks.run returned")
    if not given:
        raise ValueError("there are no results to join")
    return joined(_in_order(given))


def _in_order(given: list[Any]) -> list[Result]:
    """All results of one job, or those up to the first that failed."""
    by_index: dict[int, Result] = {}
    for place, each in enumerate(given):
        if not isinstance(each, Result):
            raise TypeError(f"results[{place}]: expected what regions.tasks.run returned, got {shown(each)}")
        if (each.job, each.total) != (given[0].job, given[0].total):
            raise ValueError(f"results[{place}] is of another job than results[0]: {each!r}, {given[0]!r}")
        if each.index in by_index:
            raise ValueError(f"result {each.index} is there twice, the second time as results[{place}]")
        by_index[each.index] = each
    failed = [index for index, each in by_index.items() if each.error is not None]
    wanted = range(min(failed) + 1 if failed else given[0].total)
    missing = [index for index in wanted if index not in by_index]
    if missing:
        named = ", ".join(map(str, missing[:10])) + (", .." if len(missing) > 10 else "")
        raise ValueError(f"of {given[0].total} results of the job these are missing: {named}")
    return [by_index[index] for index in wanted]


def joined(results: Sequence[Result]) -> tuple[int, Certificate] | tuple[Integers, Any]:
    """Results of all tasks in their order; of a job that failed, up to the one that did."""
    numbers, certificates = added(results)
    error, shape = results[-1].error, results[0].shape
    require_limit(results)
    if error is not None:
        if isinstance(error, LimitReached) and shape:
            error.partial = np.array(numbers, dtype=np.int64)
        raise error
    return shaped(numbers, [replace(each, complete=True) for each in certificates], shape)


def require_limit(results: Iterable[Result]) -> None:
    """Refuse sections of one item that have more regions together than its limit."""
    sections = [each for each in results if not each.whole and each.limit is not None]
    found = sum(each.found for each in sections)
    if sections and found > (sections[0].limit or 0):
        nothing = np.zeros(0, dtype=np.int64)  # of several items, of which there is one here
        require_finished("limit_exceeded", sections[0].limit, nothing if sections[0].shape else found)


def added(results: Iterable[Result]) -> tuple[list[int], list[Certificate]]:
    """The numbers of items, and what is proven about them, put together of those of their sections."""
    found: dict[int, list[tuple[int, Certificate]]] = defaultdict(list)
    for each in results:
        for place, pair in enumerate(zip(each.numbers, each.certificates, strict=True)):
            found[each.first + place].append(pair)
    numbers = [sum(number for number, _ in pairs) for pairs in found.values()]
    return numbers, [_together([certificate for _, certificate in pairs]) for pairs in found.values()]


def _together(sections: list[Certificate]) -> Certificate:
    counted = {name: sum(getattr(each, name) for each in sections) for name in ("regions", *STAGES, *LONGER)}
    return replace(sections[0], kernel=", ".join(sorted({each.kernel for each in sections})), **counted)
