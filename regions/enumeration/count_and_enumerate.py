# SPDX-License-Identifier: MIT
"""Which activation regions does a network have in a domain, and how many?

This file has the public functions `count`, `certified_count` and `enumerate`. They turn a run of the core (`run.py`)
into numbers, a `Partition`, or an exception that carries the partial result.

The unit that is enumerated is the activation region (definition R2 of Stargalla, Hertrich and Reichman 2025): a
full-dimensional set of inputs on which every hidden neuron keeps to one piece of its activation. A ReLU is
active where its pre-activation is above 0, and inactive where it is 0 or below. Regions by other definitions are
derived from these (`regions/definitions/`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from os import PathLike
from typing import Any, Literal, overload

import numpy as np

from regions.arithmetic.arguments import flag
from regions.arithmetic.types import Integers
from regions.certificate import Certificate
from regions.definitions import Definition, definition_of
from regions.domains import Domain
from regions.domains.curves import Curve
from regions.enumeration.items import Items, count_item, items_of, shaped
from regions.enumeration.jobs import count_by_tasks, enumerate_by_tasks
from regions.enumeration.run import Model, Run, compiled, enumerated
from regions.enumeration.workers import Workers, beside_and_within, each_by_workers, number_of_workers
from regions.errors import LimitReached
from regions.networks.network import Network
from regions.partition import Partition
from regions.text.progress import Progress, Report, reporting

__all__ = ["certified_count", "count", "enumerate"]


@overload
def count(
    network: Network,
    domain: Domain | Curve,
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    certificate: Literal[False] = False,
) -> int: ...
@overload
def count(
    network: Network,
    domain: Iterable[Domain | Curve],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    certificate: Literal[False] = False,
) -> Integers: ...
@overload
def count(
    network: Iterable[Network],
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    certificate: Literal[False] = False,
) -> Integers: ...
@overload
def count(
    network: Network | Iterable[Network],
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    certificate: Literal[True],
) -> tuple[Any, Any]: ...
def count(
    network: Network | Iterable[Network],
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    certificate: bool = False,
) -> int | Integers | tuple[int, Certificate] | tuple[Integers, list[Any]]:
    """Count the regions of a network in a domain, exactly.

    Parameters
    ----------
    network : Network, or iterable of these
    domain : Domain, Curve, or iterable of these
        All domains must have the same dimension. On a curve, pieces are counted: longest parts on which every hidden
        neuron keeps to one piece of its activation.
    definition : str
        The definition of a region: "activation", or another definition that `linear_regions` explains. For the other
        definitions, the activation regions are enumerated and merged.
    limit : int, optional
        Stop with `LimitReached` once more activation regions than this are found in any one domain.
    progress : bool or callable, optional
        True shows a bar. A callable is called a few times a second with the fraction of the work that is done
        (0 to 1) and the number of regions so far. If it raises an exception, the work stops.
    workers : int or "all", optional
        Number of threads; "all" is one for each processor. The default is the environment variable
        ``REGIONS_WORKERS``, or 1. The threads share the parts of a plane, or count one domain each. The result does
        not depend on their number.
    executor : concurrent.futures.Executor or dask.distributed.Client, optional
        Runs the work in pieces (`regions.tasks`) in other processes or on a cluster. ``workers`` is then the number
        of threads of each piece. If a worker is lost, its piece is run again.
    checkpoint : path, optional
        A folder where the results of finished pieces are saved. If a call ends early, the same call goes on from
        there. Damaged files and files of other jobs or versions are ignored.
    certificate : bool, optional
        If True, return the same as `certified_count`. Prefer that function: its type does not depend on a value.

    Returns
    -------
    int, or int64 [networks], [domains] or [networks, domains]
        There is an axis for networks or domains if an iterable of them was given. With ``certificate``, the result of
        `certified_count`.

    Raises
    ------
    LimitReached
        ``partial`` is the number of activation regions found so far, above the limit.
    KeyboardInterrupt
        On Ctrl-C, at once; ``partial`` is the number of activation regions found so far, or None if the core was not
        running. With several networks or domains, ``partial`` of both is the array of the finished counts.
    ShapeMismatchError
        The domain does not lie in the network's input space.
    CountNotDecided
        For "convex", if the number is hard to compute; ``least`` and ``most`` bound it.
    ValueError
        The definition is unknown.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    >>> regions.count(net, square)
    4
    >>> regions.count(net, [regions.Line([0, 1], [1, 0]), regions.Line([0, 0], [1, 1])])
    array([2, 2])
    >>> regions.count(net, square, "affine")
    4
    """
    if flag(certificate, "certificate"):
        return _counted(network, domain, definition, limit, progress, workers, executor, checkpoint, certified=True)
    return _counted(network, domain, definition, limit, progress, workers, executor, checkpoint, certified=False)[0]


@overload
def certified_count(
    network: Network,
    domain: Domain | Curve,
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
) -> tuple[int, Certificate]: ...
@overload
def certified_count(
    network: Network,
    domain: Iterable[Domain | Curve],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
) -> tuple[Integers, list[Certificate]]: ...
@overload
def certified_count(
    network: Iterable[Network],
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
) -> tuple[Integers, list[Any]]: ...
def certified_count(
    network: Network | Iterable[Network],
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
) -> tuple[int, Certificate] | tuple[Integers, list[Any]]:
    """Count the regions of a network in a domain, and return a certificate of the count.

    The certificate costs only a hash of the weights, because every count is proven anyway.

    Parameters
    ----------
    network, domain, definition, limit, progress, workers, executor, checkpoint
        As for `count`.

    Returns
    -------
    int, or int64 array
        As `count` returns it.
    Certificate, list of Certificate, or list of such lists
        One for each number. For other definitions than "activation", it is about the underlying activation regions.

    Raises
    ------
    LimitReached, KeyboardInterrupt, ShapeMismatchError, CountNotDecided, ValueError
        As `count`.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> number, certificate = regions.certified_count(net, regions.Plane([0, 0], [1, 0], [0, 1]))
    >>> number, certificate.regions, certificate.network == net.fingerprint
    (4, 4, True)
    """
    return _counted(network, domain, definition, limit, progress, workers, executor, checkpoint, certified=True)


def enumerate(
    network: Network,
    domain: Domain,
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Partition:
    """Find every activation region of a network in a domain, exactly, with its polygon (or interval) and neighbours.

    Parameters
    ----------
    network : Network
    domain : Domain
    limit, progress, workers, executor, checkpoint
        As for `count`. The arrays do not depend on the number of workers or the executor, but the partial result after
        a limit does. A piece is a part of the plane with all its regions; a segment is one piece.

    Returns
    -------
    Partition

    Raises
    ------
    LimitReached, KeyboardInterrupt
        ``partial`` is a `Partition` of the regions found so far, with ``complete`` False, or None on a Ctrl-C
        while the core was not running.
    ShapeMismatchError
        The domain does not lie in the network's input space.
    ValueError
        Files of a checkpoint contradict each other, although each one alone could be right.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> len(part), float(part.volumes.sum())
    (4, 4.0)
    """
    threads = number_of_workers(workers)
    with reporting(progress) as report:
        if executor is not None or checkpoint is not None:
            return enumerate_by_tasks(network, domain, limit, report, threads, executor, checkpoint)
        run = enumerated(network, compiled(network), domain, limit, report, threads)
    assert run.partition is not None
    run.require_complete(limit, run.partition)
    return run.partition


def _counted(
    network: Network | Iterable[Network],
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition,
    limit: int | None,
    progress: Progress,
    workers: Workers,
    executor: Any,
    checkpoint: str | PathLike[str] | None,
    certified: bool,
) -> tuple[Any, Any]:
    """Return numbers, and certificates if they are wanted."""
    threads, items, name = number_of_workers(workers), items_of(network, domain), definition_of(definition)
    with reporting(progress) as report:
        if executor is not None or checkpoint is not None:
            return count_by_tasks(items, name, limit, report, threads, executor, checkpoint)
        found = _count_here(items, name, limit, report, threads)
    numbers = [number for number, _ in found]
    certificates: list[Any] = [run.certificate for _, run in found] if certified else numbers
    return shaped(numbers, certificates, items.shape)


def _count_here(
    items: Items, definition: Definition, limit: int | None, report: Report | None, threads: int
) -> list[tuple[int, Run[Any]]]:
    """Return number and run of each item, found by threads of this process."""
    beside, within = beside_and_within(len(items), threads, items.domains[0].dimension if items.domains else 1)

    # Only the models in use are cached, because there may be thousands of networks.
    @lru_cache(maxsize=beside + 1)
    def model(network: int) -> Model:
        return compiled(items.networks[network])

    def count_one(index: int, report: Report | None) -> tuple[int, Run[Any]]:
        network, domain = items.pair(index)
        return count_item(network, model(items.places(index)[0]), domain, definition, limit, report, within)

    found: list[tuple[int, Run[Any]]] = []
    try:
        each_by_workers(count_one, len(items), beside, report, found)
    except (LimitReached, KeyboardInterrupt) as stopped:
        if items.shape:
            counts = np.array([number for number, _ in found], dtype=np.int64)
            stopped.partial = counts  # type: ignore[union-attr]
        raise
    return found
