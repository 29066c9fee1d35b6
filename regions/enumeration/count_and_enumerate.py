# SPDX-License-Identifier: MIT
"""Which activation regions does a network have in a domain, and how many?

The front doors: `count`, with or without a certificate, and `enumerate`. They turn a run of the core (`run.py`) into
numbers, a `Partition`, or an exception that carries what was finished.

The unit that is enumerated is the activation region (definition R2 of Stargalla, Hertrich and Reichman 2025): a
full-dimensional set of inputs on which every hidden neuron keeps to one piece of its activation. A ReLU is
active where its pre-activation is above 0, and inactive where it is 0 or below. Regions by other definitions are
derived from these (`regions/definitions/`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np

from regions.arithmetic.arguments import flag
from regions.arithmetic.types import Integers
from regions.certificate import Certificate
from regions.definitions import Definition, definition_of, linear_regions
from regions.domains import Domain
from regions.domains.curves import Curve
from regions.enumeration.curves import pieces_counted
from regions.enumeration.run import Model, Run, compiled, counted, enumerated
from regions.enumeration.workers import Workers, each_by_workers, number_of_workers
from regions.errors import DomainError, LimitReached, ShapeMismatchError
from regions.networks.network import Network
from regions.partition import Partition
from regions.reporting import Progress, Report, reporting

__all__ = ["certified_count", "count", "enumerate"]

# From so many domains in planes for each thread on, they are counted side by side.
_MANY_PLANES = 8


@overload
def count(
    network: Network,
    domain: Domain | Curve,
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
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
    certificate: Literal[False] = False,
) -> Integers: ...
@overload
def count(
    network: Network,
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
    certificate: Literal[True],
) -> tuple[Any, Any]: ...
def count(
    network: Network,
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
    certificate: bool = False,
) -> int | Integers | tuple[int, Certificate] | tuple[Integers, list[Certificate]]:
    """Number of regions of a network in a domain, exactly.

    Parameters
    ----------
    network : Network
    domain : Domain, Curve, or iterable of these
        Several have one dimension. Of a curve the pieces are counted: longest parts on
        which every hidden neuron keeps to one piece of its activation.
    definition : str
        What a region is: "activation", or another one of the definitions that `linear_regions` explains. For these
        the activation regions are enumerated and merged.
    limit : int, optional
        Stop with `LimitReached` once more activation regions than this are found, in any one domain.
    progress : bool or callable, optional
        True shows a bar. A callable is called a few times a second with the share of the work that is done
        (0 to 1) and the number of regions so far; what it raises stops the work.
    workers : int or "all", optional
        Threads to use; "all" is one for each processor. Without it, the environment variable ``REGIONS_WORKERS`` says
        how many, or there is one. They share the parts of a plane, or take a domain each. What comes out is the same
        for any number.
    certificate : bool, optional
        True is another way to write `certified_count`, which is to be preferred: its type does not depend on a value.

    Returns
    -------
    int, or int64 [domains]
        With ``certificate`` what `certified_count` returns.

    Raises
    ------
    LimitReached
        ``partial`` is the number of activation regions found so far, above the limit.
    KeyboardInterrupt
        On Ctrl-C, at once; ``partial`` is the number of activation regions found so far, or None if the core was not
        at work just then. With several domains both carry the array of the counts that were finished.
    ShapeMismatchError
        The domain does not lie in the network's input space.
    CountNotDecided
        For "convex", where it is hard to compute; ``least`` and ``most`` are the numbers it is between.
    ValueError
        Another definition.

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
        return certified_count(network, domain, definition, limit=limit, progress=progress, workers=workers)
    numbers = [number for number, _ in _counted(network, domain, definition, limit, progress, workers)]
    return numbers[0] if isinstance(domain, (Domain, Curve)) else np.array(numbers, dtype=np.int64)


@overload
def certified_count(
    network: Network,
    domain: Domain | Curve,
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
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
) -> tuple[Integers, list[Certificate]]: ...
def certified_count(
    network: Network,
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> tuple[int, Certificate] | tuple[Integers, list[Certificate]]:
    """Number of regions of a network in a domain, with what is proven about it.

    It costs nothing but a hash of the weights: all counts are proven, with or without.

    Parameters
    ----------
    network, domain, definition, limit, progress, workers
        As for `count`.

    Returns
    -------
    int, or int64 [domains]
        As `count` returns it.
    Certificate, or list of Certificate
        For each number; for other definitions than "activation", about the activation regions that it was derived from.

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
    found = _counted(network, domain, definition, limit, progress, workers)
    numbers, certificates = [number for number, _ in found], [run.certificate for _, run in found]
    if isinstance(domain, (Domain, Curve)):
        return numbers[0], certificates[0]
    return np.array(numbers, dtype=np.int64), certificates


def enumerate(
    network: Network,
    domain: Domain,
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Partition:
    """Every activation region of a network in a domain, exactly, with its polygon (or interval) and neighbours.

    Parameters
    ----------
    network : Network
    domain : Domain
    limit, progress, workers
        As for `count`. All arrays are the same for any number of workers; which regions a limit leaves is not.

    Returns
    -------
    Partition

    Raises
    ------
    LimitReached, KeyboardInterrupt
        ``partial`` is a `Partition` of the regions found so far, with ``complete`` False, or None on a Ctrl-C
        while the core was not at work.
    ShapeMismatchError
        The domain does not lie in the network's input space.

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
        run = enumerated(network, compiled(network), domain, limit, report, threads)
    assert run.partition is not None
    run.require_complete(limit, run.partition)
    return run.partition


def _counted(
    network: Network,
    domain: Domain | Curve | Iterable[Domain | Curve],
    definition: Definition,
    limit: int | None,
    progress: Progress,
    workers: Workers,
) -> list[tuple[int, Run[Any]]]:
    """The number of regions in each domain, and the run that it comes from, without the regions themselves."""
    threads = number_of_workers(workers)
    model = compiled(network)
    domains = [domain] if isinstance(domain, (Domain, Curve)) else _domains(domain)
    _check_one_dimension(domains)
    found: list[tuple[int, Run[Any]]] = []
    # Of a plane parts are given away; a few of them, one after the other, keep all threads busy to the end.
    few = len(domains) < (2 if domains and domains[0].dimension == 1 else _MANY_PLANES * threads)
    beside, within = (1, threads) if few else (threads, 1)

    def count_one(index: int, report: Report | None) -> tuple[int, Run[Any]]:
        return _count(network, model, domains[index], definition, limit, report, within)

    with reporting(progress) as report:
        try:
            each_by_workers(count_one, len(domains), beside, report, found)
        except (LimitReached, KeyboardInterrupt) as stopped:
            if not isinstance(domain, (Domain, Curve)):
                counts = np.array([number for number, _ in found], dtype=np.int64)
                stopped.partial = counts  # type: ignore[union-attr]
            raise
    return found


def _count(
    network: Network,
    model: Model,
    domain: Domain | Curve,
    definition: Definition,
    limit: int | None,
    report: Report | None,
    threads: int,
) -> tuple[int, Run[Any]]:
    name = definition_of(definition)
    if isinstance(domain, Curve):
        if name != "activation":
            raise DomainError(f"{name!r} is a definition of regions in domains; of a curve, pieces are counted")
        pieces = pieces_counted(network, model, domain, limit, report, threads)
        pieces.require_complete(limit, pieces.regions)
        return pieces.regions, pieces
    run = (counted if name == "activation" else enumerated)(network, model, domain, limit, report, threads)
    run.require_complete(limit, run.regions)
    if run.partition is None:
        return run.regions, run
    return linear_regions(run.partition, name).count, replace(run, partition=None)


def _domains(given: Any) -> list[Domain | Curve]:
    """The domains of an iterable, looked at one by one, so that one without end is refused where it begins."""
    domains: list[Domain | Curve] = []
    try:
        iterator = None if isinstance(given, (str, bytes, Mapping)) else iter(given)
    except Exception:
        iterator = None
    if iterator is None:
        raise TypeError(
            f"expected a domain such as regions.Segment or regions.Polygon, or a list of them, "
            f"got {type(given).__name__}"
        )
    for each in iterator:
        if not isinstance(each, (Domain, Curve)):
            raise TypeError(
                f"domain[{len(domains)}]: expected a domain such as regions.Segment or regions.Polygon, "
                f"got {type(each).__name__}"
            )
        domains.append(each)
    return domains


def _check_one_dimension(domains: list[Domain | Curve]) -> None:
    if len({each.dimension for each in domains}) > 1:
        raise ShapeMismatchError("domains of different dimensions: count lines and polygons in separate calls")
