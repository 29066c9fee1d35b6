# SPDX-License-Identifier: MIT
"""Which tasks does a job have, and what is the result of one?

A job counts the regions of networks in domains, or enumerates the regions of one network in one domain. An item is a
pair of network and domain. A task usually holds consecutive items. It is self-contained, so it can be sent to another
process or machine. If there are few items and all are planes or boxes, a task is a section of the recursion in one of
them (`run.py`). In an enumeration, the result of a task is a block (`blocks.py`), or the summary of one
(`stream_summary.py`). A result holds numbers and certificates, and in an enumeration the regions or their summary.
`joining.py` joins results.
A job is identified by a digest of everything that its results depend on, including the version of this package. If
items are divided, that includes the kernel, because another kernel's rounding may lead to another recursion.
An item that fails ends its task, and the error is part of the result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Literal

from regions import core
from regions.core import WHOLE, Path, Section
from regions.counting.blocks import Block, block_of, partition_of
from regions.counting.cases import Cases, cases_of, counted_one, counted_section, without_fraction
from regions.counting.division import NodesKept, divided
from regions.counting.found import exception_of
from regions.counting.options import Options, checked_limit
from regions.counting.run import Model, compiled, frontier, require_countable, require_enumerable
from regions.counting.stream_summary import StreamSummary
from regions.domains import Domain
from regions.domains.curves import Curve
from regions.domains.domain import require_domain_of, require_fitting
from regions.errors import LimitReached
from regions.ground.arithmetic.arguments import Workers, integer, number_of_workers, one_of, shown
from regions.ground.threads.progress import Report, of_division, share_of
from regions.networks.network import Network
from regions.results.cells.sections import ALL, section_of
from regions.results.definitions import DEFINITIONS, Definition
from regions.results.partition.certificate import Certificate
from regions.version import __version__

__all__ = [
    "Function",
    "Result",
    "Task",
    "attempt",
    "identity",
    "result_of",
    "result_of_block",
    "run",
    "split",
    "split_cases",
]

# The public function that does the whole job, and those whose jobs callers may split.
Function = Literal["count", "enumerate", "summarize"]
FUNCTIONS: tuple[Function, ...] = ("count", "enumerate")


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """A piece of a job, made by `regions.jobs.split`; can be pickled.

    Attributes
    ----------
    job : str
        The job's digest: 64 hexadecimal digits.
    total : int
        Number of tasks of the job.
    shape : tuple of int
        The shape of the numbers that the whole job finds.
    function : "count", "enumerate" or "summarize"
    definition : str
    limit : int or None
        As for `regions.count`.
    index : int
        Position of the task in the job, from 0.
    first : int
        Position of its first item in the job, from 0.
    items : tuple of (Network, Domain or Curve)
    kernel : str or None
        The kernel that must run the task; None if whole items are counted.
    begin, end : tuple of int
        If a single item is divided: the paths in the recursion between which the task's regions are. () is the
        beginning, and None the end.
    most : int or None
        The size of a block, if only the first block of the section is wanted.
    """

    job: str
    total: int
    shape: tuple[int, ...]
    function: Function
    definition: Definition
    limit: int | None
    index: int
    first: int
    items: tuple[tuple[Network, Domain | Curve], ...]
    kernel: str | None
    begin: Path
    end: Path | None
    most: int | None = None

    @property
    def section(self) -> Section:
        """The part of the recursion whose regions are the task's."""
        return Section(self.begin, self.end)

    @property
    def whole(self) -> bool:
        """Whether the task covers whole items, not a section of one."""
        return self.section == WHOLE and self.most is None

    def __repr__(self) -> str:
        items = f"{len(self.items)} item{'s' * (len(self.items) != 1)}" if self.whole else "a part of one"
        return f"Task({self.index} of {self.total} of job {self.job[:8]}, {items})"


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The result of a task, made by `regions.counting.run`; can be pickled.

    Attributes
    ----------
    job, total, shape, limit, index, first, whole
        As in the task.
    numbers : list of int
        The number of regions of each item, up to the first that failed; for a section, the regions in it.
    certificates : list of Certificate
        One for each number.
    error : Exception or None
        The error of the item that failed; its ``partial`` is the partial result in that item.
    block : Block or None
        The regions, in an enumeration.
    summary : dict or None
        The state of their `StreamSummary`, if only that is wanted.
    item : (Network, Domain) or None
        Network and domain, in an enumeration's first task.
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
    block: Block | None = None
    summary: dict[str, Any] | None = None
    item: tuple[Network, Domain] | None = None

    @property
    def found(self) -> int:
        """Number of regions, including the partial number of an item that reached its limit."""
        return sum(self.numbers) + (self.error.partial if isinstance(self.error, LimitReached) else 0)

    @property
    def section(self) -> Section:
        """The part of the recursion whose regions were found, of an enumeration that did not fail."""
        if self.block is not None:
            return self.block.section
        assert self.summary is not None
        return Section(*(section_of(self.summary["section"]) or ALL))

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
    function: Function = "count",
) -> list[Task]:
    """Divide the job of counting or enumerating regions into tasks that can be run anywhere and in any order.

    Parameters
    ----------
    network, domain, definition, limit
        As for `regions.count`; to enumerate, one network and one domain.
    n : int
        Number of tasks. There are fewer if there are fewer items or regions, and a few more if planes or boxes are
        divided. Tasks take unequal time; about ten for each worker keep all workers busy.
    function : "count" or "enumerate"
        The function whose result `join` returns.

    Returns
    -------
    list of Task
        Each can be pickled and contains its networks and domains.

    Raises
    ------
    TypeError, ValueError, ShapeMismatchError
        As `regions.count` and `regions.enumerate`, or ``n`` is not a positive integer.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> pieces = regions.jobs.split(net, [regions.Segment([-1, k], [1, 3]) for k in range(-2, 1)], 2)
    >>> numbers, certificates = regions.jobs.join([regions.jobs.run(piece) for piece in pieces])
    >>> numbers
    array([3, 3, 2])
    """
    items = cases_of(network, domain)
    for one, where in map(items.pair, range(len(items))):
        require_fitting(where, one.n_in, one.input_shape, "the domain")
    one_of(function, FUNCTIONS, "function")
    return split_cases(
        items, integer(n, "n"), one_of(definition, DEFINITIONS, "definition"), Options(checked_limit(limit)), function
    )


def split_cases(
    items: Cases, n: int, definition: Definition, options: Options, function: Function, folder: NodesKept | None = None
) -> list[Task]:
    """Return the tasks of a job: sections, or consecutive items, in tasks that differ by at most one item.

    Long divisions are saved in the folder, and read from there.
    """
    limit = options.limit
    if function == "enumerate":
        _require_one(items, definition)
    is_divided = function == "enumerate" or _is_divided(items, n, definition, limit)
    names = [each.fingerprint for each in items.networks], [each.fingerprint for each in items.domains]
    parts = list(_runs(items, n))
    if is_divided:
        facts = function, n, items.shape, *names
        nodes = divided(facts, len(items), folder, partial(_nodes, items, n, of_division(options.report), function))
        parts = [part for index, each in enumerate(nodes) for part in _sections(index, each)]
    kernel = core.kernel() if is_divided else None
    what = __version__, kernel, function, definition, limit, items.shape, *names, parts
    job = hashlib.sha256(json.dumps(what).encode()).hexdigest()
    known = job, len(parts), items.shape, function, definition, limit
    return [
        Task(*known, index, first, tuple(map(items.pair, range(first, last))), kernel, begin, end)
        for index, (first, last, begin, end) in enumerate(parts)
    ]


def _require_one(items: Cases, definition: Definition) -> None:
    """Refuse items or definitions that `regions.enumerate` does not accept."""
    if items.shape:
        raise ValueError("regions.enumerate takes one network and one domain: split one job for each")
    if definition != "activation":
        raise ValueError(f"regions.enumerate finds activation regions; {definition!r} ones are counted")
    network, domain = items.pair(0)
    if isinstance(domain, Curve):
        require_domain_of(domain, network)
    else:
        require_enumerable(domain, network)


def _is_divided(items: Cases, n: int, definition: Definition, limit: int | None) -> bool:
    """Return whether items are divided into sections: few, not on lines, and with a limit only if there is one item."""
    divisible = all(not isinstance(each, Curve) and each.dimension > 1 for each in items.domains)
    few = 0 < 2 * len(items) <= n
    return few and divisible and definition == "activation" and (limit is None or len(items) == 1)


# First item, item after the last, and begin and end of the section.
Part = tuple[int, int, Path, Path | None]


def _runs(items: Cases, n: int) -> Iterator[Part]:
    total = min(n, len(items))
    for index in range(total):
        yield len(items) * index // total, len(items) * (index + 1) // total, (), None


def _nodes(items: Cases, n: int, report: Report | None, function: Function) -> list[list[Path]]:
    """Return the nodes at which the sections of each item begin."""
    found = []
    for index in range(len(items)):
        network, domain = items.pair(index)
        assert not isinstance(domain, Curve)
        require_countable(domain, network)
        share = share_of(report, index, len(items))
        found.append(frontier(compiled(network), domain, n // len(items), share, for_joining=function == "enumerate"))
    return found


def _sections(index: int, paths: list[Path]) -> Iterator[Part]:
    for begin, end in zip(paths, [*paths[1:], None], strict=True):
        yield index, index + 1, begin, end


def run(task: Task, *, workers: Workers = None) -> Result:
    """Run a task.

    Parameters
    ----------
    task : Task
    workers : int or "all", optional
        Threads to use, as for `regions.count`.

    Returns
    -------
    Result
        If an item fails, the result holds the error, and `join` raises it.

    Raises
    ------
    TypeError
        The argument is not a task.
    ValueError
        The task is a section of one item, and another kernel than this machine's divided the job.
    KeyboardInterrupt
        On Ctrl-C.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    >>> (task,) = regions.jobs.split(net, regions.Segment([-1], [1]), 1)
    >>> regions.jobs.run(task).numbers
    [2]
    """
    if not isinstance(task, Task):
        raise TypeError(f"expected a task that regions.jobs.split made, got {shown(task)}")
    return attempt(task, Options(threads=number_of_workers(workers)))


def attempt(task: Task, options: Options, model_of: Callable[[Network], Model] | None = None) -> Result:
    """Run a task, with its own limit; ``model_of`` compiles its networks, or returns cached ones."""
    model_of = model_of or lru_cache(maxsize=1)(compiled)
    options = Options(task.limit, options.report, options.threads)
    if task.kernel not in (None, core.kernel()):
        raise ValueError(
            f"{task!r} belongs to a job for the kernel {task.kernel!r}, and this machine has {core.kernel()!r}. Run it "
            "on a machine like the one on which the job was split."
        )
    if task.function != "count":
        return _attempt_enumeration(task, options, model_of)
    numbers: list[int] = []
    certificates: list[Certificate] = []
    error = None
    for place, (network, domain) in enumerate(task.items):
        try:
            model = model_of(network)
            if task.whole:
                found = counted_one(model, domain, task.definition, options.part(place, len(task.items)))
            else:
                found = counted_section(model, domain, options, task.section)
            number, certificate = found.number, found.certificate
        except Exception as failed:
            error = failed
            break
        numbers.append(number)
        certificates.append(certificate)
    return result_of(task, numbers, certificates, error)


def _attempt_enumeration(task: Task, options: Options, model_of: Callable[[Network], Model]) -> Result:
    ((network, domain),) = task.items
    assert not isinstance(domain, Curve)
    block = None
    try:
        told = options if task.whole else without_fraction(options)
        found, block = block_of(model_of(network), domain, task.section, told, task.most)
        if not block.complete:
            raise exception_of(found.end, found.regions, found)
        return result_of_block(task, block, found.certificate)
    except Exception as error:
        return result_of(task, [], [], error, block if task.function == "enumerate" else None)


def result_of_block(task: Task, block: Block, certificate: Certificate) -> Result:
    """Return the result of a task that found this block: the block, or its summary."""
    certificate = replace(certificate, complete=task.whole)
    if task.function == "enumerate":
        return result_of(task, [len(block)], [certificate], None, block)
    ((network, domain),) = task.items
    assert not isinstance(domain, Curve)
    summary = StreamSummary(network, domain)
    summary.add(partition_of(network, domain, block))
    return result_of(task, [len(block)], [certificate], summary=summary.as_dict())


def identity(of: Task | Result) -> tuple[str, int, tuple[int, ...], int | None, int, int, bool]:
    """Return what a task and its result have in common."""
    return of.job, of.total, of.shape, of.limit, of.index, of.first, of.whole


def result_of(
    task: Task,
    numbers: list[int],
    certificates: list[Certificate],
    error: Exception | None = None,
    block: Block | None = None,
    summary: dict[str, Any] | None = None,
) -> Result:
    """Return the result of a task."""
    network, domain = task.items[0] if task.items else (None, None)
    first = task.function == "enumerate" and task.index == 0
    item = (network, domain) if first and network is not None and not isinstance(domain, (Curve, type(None))) else None
    return Result(*identity(task), numbers, certificates, error, block, summary, item)
