# SPDX-License-Identifier: MIT
"""Which activation regions does a network have in a domain, and how many?

This file has the public functions `count`, `certified_count` and `enumerate`. They turn what was found
(`regions/counting/found.py`) into numbers, a `Partition`, or an exception that carries the partial result.

The unit that is enumerated is the activation region (definition R2 of Stargalla, Hertrich and Reichman 2025): a
full-dimensional set of inputs on which every hidden neuron keeps to one piece of its activation. A ReLU is
active where its pre-activation is above 0, and inactive where it is 0 or below. Regions by other definitions are
derived from these (`regions/results/definitions/`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict, overload

import numpy as np

from regions.counting.cases import Cases, cases_of, counted_one, shaped
from regions.counting.found import COMPLETE, Found, exception_of
from regions.counting.job import count_in_tasks, enumerate_in_tasks
from regions.counting.options import Options, asked, takes_timeout
from regions.counting.run import compiled, compiled_with_outputs, enumerated, require_enumerable
from regions.domains import Domain
from regions.domains.curves import Curve
from regions.errors import WorkStopped
from regions.ground.arithmetic.arguments import Workers, flag, one_of
from regions.ground.arithmetic.types import Integers
from regions.ground.threads.progress import Progress, Report, reporting
from regions.ground.threads.workers import across_and_per_item, each_by_workers
from regions.networks.graph import Graph
from regions.networks.network import Network, require_network
from regions.results.cells.output_maps import OutputMaps, keep_maps, output_maps
from regions.results.definitions import DEFINITIONS, Definition
from regions.results.partition import Partition
from regions.results.partition.certificate import Certificate

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["certified_count", "count", "enumerate", "enumerate_with_maps"]


class _Asked(TypedDict, total=False):
    """The options of `count`, for its overloads."""

    limit: int | None
    timeout: float | None
    progress: Progress
    workers: Workers
    executor: Any
    checkpoint: str | PathLike[str] | None


@overload
def count(  # type: ignore[overload-overlap]
    network: Network, domain: Domain | Curve, definition: Definition = ..., **options: Unpack[_Asked]
) -> int: ...
@overload
def count(
    network: Network | Iterable[Network],
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition = ...,
    **options: Unpack[_Asked],
) -> Integers: ...
@takes_timeout
def count(
    network: Network | Iterable[Network],
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
) -> int | Integers:
    """Count the regions of a network in a domain, exactly.

    Parameters
    ----------
    network : Network, or iterable of these
    domain : Domain, Curve, iterable of these, or array [n, 2, n_in] or [n, 2, C, H, W]
        An array has the two ends of each of n segments. All domains must have the same dimension. In a `Box` or another
        polytope of three to ten dimensions, activation regions are counted. On a curve, pieces are counted: longest
        parts on which every hidden neuron keeps to one piece of its activation.
    definition : str
        The definition of a region: "activation", or another definition that `linear_regions` explains. For the other
        definitions, the activation regions are enumerated and merged.
    limit : int, optional
        Stop with `LimitReached` once more activation regions than this are found in any one domain.
    timeout : float, optional
        Stop with `TimeoutReached` after this many seconds, for all domains together.
    progress : bool or callable, optional
        True shows a bar. A callable is called a few times a second with the fraction of the work that is done
        (0 to 1) and the number of regions so far. If it raises an exception, the work stops. A bar also shows how far
        the division of a domain is, before work in pieces; the fraction is 0 meanwhile.
    workers : int or "all", optional
        Number of threads; "all" is one for each processor. The default is the environment variable
        ``REGIONS_WORKERS``, or 1. The threads share the parts of a plane, or count one domain each. The result does
        not depend on their number.
    executor : concurrent.futures.Executor or dask.distributed.Client, optional
        Runs the work in pieces (`regions.jobs`) in other processes or on a cluster. ``workers`` is then the number
        of threads of each piece. If a worker is lost, its piece is run again.
    checkpoint : path, optional
        A folder where the results of finished pieces are saved. If a call ends early, the same call goes on from
        there. Damaged files and files of other jobs or versions are ignored.

    Returns
    -------
    int, or int64 [networks], [domains] or [networks, domains]
        There is an axis for networks or domains if an iterable of them was given.

    Raises
    ------
    LimitReached
        ``partial`` is the number of activation regions found so far, above the limit.
    KeyboardInterrupt
        On Ctrl-C, at once; ``partial`` is the number of activation regions found so far, or None if the core was not
        running. With several networks or domains, ``partial`` of both exceptions is the array of the finished counts.
        With one network and one domain, ``found`` of both exceptions is a `regions.jobs.Found`.
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
    with reporting(progress) as report:
        options = asked(limit, report, workers, executor, checkpoint)
        return counted_cases(cases_of(network, domain), definition, options, certified=False)[0]


@overload
def certified_count(  # type: ignore[overload-overlap]
    network: Network, domain: Domain | Curve, definition: Definition = ..., **options: Unpack[_Asked]
) -> tuple[int, Certificate]: ...
@overload
def certified_count(
    network: Network | Iterable[Network],
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition = ...,
    **options: Unpack[_Asked],
) -> tuple[Integers, list[Any]]: ...
@takes_timeout
def certified_count(
    network: Network | Iterable[Network],
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
) -> tuple[int, Certificate] | tuple[Integers, list[Any]]:
    """Count the regions of a network in a domain, and return a certificate of the count.

    The certificate costs only a hash of the weights, because every count is proven anyway.

    Parameters
    ----------
    network, domain, definition, limit, timeout, progress, workers, executor, checkpoint
        As for `count`.

    Returns
    -------
    int, or int64 array
        As `count` returns it.
    Certificate, list of Certificate, or list of such lists
        One for each number. For other definitions than "activation", it is about the underlying activation regions.

    Raises
    ------
    LimitReached, TimeoutReached, KeyboardInterrupt, ShapeMismatchError, CountNotDecided, ValueError
        As `count`.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> number, certificate = regions.certified_count(net, regions.Plane([0, 0], [1, 0], [0, 1]))
    >>> number, certificate.regions, certificate.network == net.fingerprint
    (4, 4, True)
    """
    with reporting(progress) as report:
        options = asked(limit, report, workers, executor, checkpoint)
        return counted_cases(cases_of(network, domain), definition, options, certified=True)


@takes_timeout
def enumerate(
    network: Network,
    domain: Domain,
    *,
    maps: bool = False,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Partition:
    """Find every activation region of a network in a domain, exactly, with its vertices, facets and neighbours.

    Parameters
    ----------
    network : Network
    domain : Domain
        A `Box` or another polytope must be bounded, and have at most six dimensions.
    maps : bool
        Whether to keep the affine map of the outputs on each region, which the recursion computes on the way:
        ``affine_maps()``, pictures of outputs and `Partition.to_html` then need no second run. They take
        ``16 (d + 1)`` bytes for each region and output, and are not saved with the partition.
    limit, timeout, progress, workers, executor, checkpoint
        As for `count`. The arrays do not depend on the number of workers or the executor, but the partial result after
        a limit does. A piece is a part of the plane or box with all its regions; a segment is one piece.

    Returns
    -------
    Partition
        From three dimensions on a `PolytopePartition`.

    Raises
    ------
    LimitReached, TimeoutReached, KeyboardInterrupt
        ``partial`` is a partition of the regions found so far, with ``complete`` False, and ``found`` is a
        `regions.jobs.Found`. On a Ctrl-C, ``partial`` is None if the core was not running, and also with a checkpoint,
        whose folder has the finished pieces.
    ShapeMismatchError
        The domain does not lie in the network's input space.
    NotACheckpointError
        Files of a checkpoint contradict each other, although each one alone could be right.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> len(part), float(part.volumes.sum())
    (4, 4.0)
    """
    with reporting(progress) as report:
        options = asked(limit, report, workers, executor, checkpoint)
        if executor is not None or checkpoint is not None:
            if flag(maps, "maps"):
                raise ValueError("maps are kept where regions are enumerated in one process: leave out maps=True")
            return enumerate_in_tasks(network, domain, options)
        # On a line the recursion, which finds maps, rounds vertices in another way than the sweep.
        together = flag(maps, "maps") and not (domain.dimension == 1)
        model = compiled_with_outputs(network, network.graph) if together else compiled(network)
        found = enumerated(model, domain, options)
        if maps:
            keep_maps(found.partition, found.maps if together else output_maps(found.partition, network.graph))
        if found.end is not COMPLETE:
            raise exception_of(found.end, found.partition, found)
        result: Partition = found.partition
        return result


def enumerate_with_maps(
    network: Network,
    graph: Graph,
    domain: Domain,
    groups: Sequence[int] = (),
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> tuple[Partition, OutputMaps]:
    """Enumerate the regions of a network, with the maps of the outputs of a graph that has its kinks and no others.

    Parameters
    ----------
    network : Network
    graph : Graph
    domain : Domain
    groups : sequence of int [units], optional
        The group of each unit of the last hidden node, from 0; each unit has one kink. On a cell a group is excluded if
        bounds prove that one of its units is below its kink all over the cell, its boundary included. A unit given as
        ``~g`` must be at its kink: it excludes group g also where it is above its kink. Cells on which all groups are
        excluded are not cut further, and their regions are left out. The partition is then not complete, and its
        ``stats`` have the number of these cells, "closed".
    limit, progress, workers
        As for `enumerate`.
    """
    require_enumerable(domain, require_network(network))
    with reporting(progress) as report:
        found = enumerated(compiled_with_outputs(network, graph, groups), domain, asked(limit, report, workers))
    assert found.partition is not None and found.maps is not None
    if found.end is not COMPLETE:
        raise exception_of(found.end, found.partition, found)
    return found.partition, found.maps


def counted_cases(items: Cases, definition: Definition, options: Options, certified: bool) -> tuple[Any, Any]:
    """Return numbers, and certificates if they are wanted."""
    one_of(definition, DEFINITIONS, "definition")
    if options.executor is not None or options.checkpoint is not None:
        return count_in_tasks(items, definition, options)
    if items.shape:
        found = _counted_on_threads(items, definition, options)
    else:
        found = [counted_one(compiled(items.networks[0]), items.domains[0], definition, options)]
    numbers = [each.number for each in found]
    certificates: list[Any] = [each.certificate for each in found] if certified else numbers
    return shaped(numbers, certificates, items.shape)


def _counted_on_threads(items: Cases, definition: Definition, options: Options) -> list[Found[Any]]:
    dimension = items.domains[0].dimension if items.domains else 1
    across, per_item = across_and_per_item(len(items), options.threads, dimension)
    of_one = Options(options.limit, None, per_item)

    def count_one(index: int, report: Report | None) -> Found[Any]:
        network, domain = items.pair(index)
        one = of_one if report is None else replace(of_one, report=report)
        return counted_one(compiled(network), domain, definition, one)

    found: list[Found[Any]] = []
    try:
        each_by_workers(count_one, len(items), across, options.report, found)
    except (WorkStopped, KeyboardInterrupt) as stopped:
        counts = np.array([each.number for each in found], dtype=np.int64)
        stopped.partial, stopped.found = counts, None  # type: ignore[union-attr]
        raise
    return found
