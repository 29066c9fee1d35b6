# SPDX-License-Identifier: MIT
"""Which activation regions does a network have in a domain, and how many?

The two front doors, `count` and `enumerate`. They check what they are given, hand flat arrays to the C++
core, and turn what comes back into Python's own: numbers, a `Partition`, or an exception that carries what
was finished.

The unit that is enumerated is the activation region (definition R2 of Stargalla, Hertrich and Reichman 2025): a
full-dimensional set of inputs on which every hidden neuron keeps to one piece of its activation. A ReLU is
active where its pre-activation is above 0, and inactive where it is 0 or below. Regions by other definitions are
derived from these (`regions/definitions/`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from regions import _core
from regions.arithmetic.arguments import flag, shown
from regions.arithmetic.types import Floats, Integers
from regions.certificate import Certificate, make_certificate
from regions.domains import Domain
from regions.domains.domain import require_domain_of
from regions.errors import LimitReached, ShapeMismatchError
from regions.networks.lowering import lowered
from regions.networks.network import Network, require_network
from regions.partition import Partition
from regions.reporting import Progress, Report, reporting, share_of
from regions.version import __version__

if TYPE_CHECKING:
    from regions.definitions import Definition

__all__ = ["count", "enumerate"]

_NO_LIMIT = 2**62


@overload
def count(
    network: Network,
    domain: Domain,
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    certificate: Literal[False] = False,
) -> int: ...
@overload
def count(
    network: Network,
    domain: Domain,
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    certificate: Literal[True],
) -> tuple[int, Certificate]: ...
@overload
def count(
    network: Network,
    domain: Iterable[Domain],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    certificate: Literal[False] = False,
) -> Integers: ...
@overload
def count(
    network: Network,
    domain: Iterable[Domain],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    certificate: Literal[True],
) -> tuple[Integers, list[Certificate]]: ...
def count(
    network: Network,
    domain: Domain | Iterable[Domain],
    definition: Definition = "activation",
    *,
    limit: int | None = None,
    progress: Progress = None,
    certificate: bool = False,
) -> int | Integers | tuple[int, Certificate] | tuple[Integers, list[Certificate]]:
    """Number of regions of a network in a domain, exactly.

    Parameters
    ----------
    network : Network
    domain : Domain or iterable of Domain
        Several domains of one dimension are counted one after another.
    definition : str
        What a region is: "activation", or another one of the definitions that `linear_regions` explains. For these
        the activation regions are enumerated and merged.
    limit : int, optional
        Stop with `LimitReached` once more activation regions than this are found, in any one domain.
    progress : bool or callable, optional
        True shows a bar. A callable is called a few times a second with the share of the work that is done
        (0 to 1) and the number of regions so far; what it raises stops the work.
    certificate : bool, optional
        Return with each number what is proven about it; for other definitions, about the activation regions that it
        was derived from. It costs nothing but a hash of the weights: all counts are proven, with or without.

    Returns
    -------
    int, or int64 [domains]
        With ``certificate`` a pair of it and a `Certificate`, or a list of them.

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
    >>> regions.count(net, square, certificate=True)[1].network == net.fingerprint
    True
    """
    compiled, with_certificate = _compiled(network), flag(certificate, "certificate")
    if isinstance(domain, Domain):
        with reporting(progress) as report:
            number, found, stats = _count(network, compiled, domain, definition, limit, report)
        return (number, certified(network, domain, found, stats)) if with_certificate else number
    domains = _domains(domain)
    counts: list[int] = []
    certificates: list[Certificate] = []
    _check_one_dimension(domains)
    with reporting(progress) as report:
        for each in domains:
            shifted = share_of(report, len(counts), len(domains))
            try:
                number, found, stats = _count(network, compiled, each, definition, limit, shifted)
            except (LimitReached, KeyboardInterrupt) as stopped:
                stopped.partial = np.array(counts, dtype=np.int64)  # type: ignore[union-attr]
                raise
            counts.append(number)
            if with_certificate:
                certificates.append(certified(network, each, found, stats))
    numbers = np.array(counts, dtype=np.int64)
    return (numbers, certificates) if with_certificate else numbers


def enumerate(network: Network, domain: Domain, *, limit: int | None = None, progress: Progress = None) -> Partition:
    """Every activation region of a network in a domain, exactly, with its polygon (or interval) and neighbours.

    Parameters
    ----------
    network : Network
    domain : Domain
    limit, progress
        As for `count`.

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
    with reporting(progress) as report:
        status, partition = _enumerate(network, _compiled(network), domain, limit, report)
    _raise_unless_finished(status, limit, partition)
    return partition


def _enumerate(
    network: Network, compiled: _core.CompiledNetwork, domain: Domain, limit: int | None, report: Report | None
) -> tuple[Any, Partition]:
    """How the work ended, and the regions that were found."""
    status, raw, stats = _core.enumerate(compiled, *_chart_arrays(network, domain), _checked_limit(limit), report)
    for array in raw.values():
        array.setflags(write=False)  # nobody else has it: the partition need not copy it
    raw |= {"stats": stats, "complete": status == "finished", "kernel": _core.kernel()}
    return status, Partition(network, domain, raw)


def _count(
    network: Network,
    compiled: _core.CompiledNetwork,
    domain: Domain,
    definition: Definition,
    limit: int | None,
    report: Report | None,
) -> tuple[int, int, dict[str, int]]:
    """Number of regions, of activation regions, and counters of the core."""
    from regions.definitions import checked_definition, linear_regions

    name = checked_definition(definition)
    if name == "activation":
        status, found, stats = _core.count(compiled, *_chart_arrays(network, domain), _checked_limit(limit), report)
        _raise_unless_finished(status, limit, found)
        return int(found), int(found), stats
    status, partition = _enumerate(network, compiled, domain, limit, report)
    _raise_unless_finished(status, limit, len(partition))
    return linear_regions(partition, name).count, len(partition), partition.stats


def count_with_statistics(
    network: Network, domain: Domain, limit: int | None, report: Report | None
) -> tuple[Any, int, dict[str, int]]:
    """Count, and tell how: (status, regions found, counters of the core).

    For the command line, which prints what was found however the work ended. The status is "finished",
    "limit_exceeded", or the exception that stopped the work.
    """
    arrays = _chart_arrays(network, domain)
    return _core.count(_compiled(network), *arrays, _checked_limit(limit), report)


def certified(
    network: Network, domain: Domain, found: int, stats: Mapping[str, int], *, complete: bool = True
) -> Certificate:
    """The certificate of a number of regions that the core has just found."""
    return make_certificate(
        network,
        domain,
        regions=found,
        complete=complete,
        counters=stats,
        version=__version__,
        kernel=_core.kernel(),
    )


def _compiled(network: Network) -> _core.CompiledNetwork:
    graph = require_network(network).graph
    return _core.CompiledNetwork(graph.n_in, lowered(graph))


def _chart_arrays(network: Network, domain: Domain) -> tuple[Floats, Floats, Floats]:
    require_domain_of(domain, network.n_in)
    return domain.origin, domain.directions, domain.generators


def _checked_limit(limit: int | None) -> int:
    if limit is None:
        return _NO_LIMIT
    if isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit < 0:
        raise ValueError(f"limit must be a number of regions, 0 or more, got {shown(limit)}")
    return min(int(limit), _NO_LIMIT)


def _domains(given: Any) -> list[Domain]:
    """The domains of an iterable, looked at one by one, so that one without end is refused where it begins."""
    domains: list[Domain] = []
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
        if not isinstance(each, Domain):
            raise TypeError(
                f"domain[{len(domains)}]: expected a domain such as regions.Segment or regions.Polygon, "
                f"got {type(each).__name__}"
            )
        domains.append(each)
    return domains


def _check_one_dimension(domains: list[Domain]) -> None:
    if len({each.dimension for each in domains}) > 1:
        raise ShapeMismatchError("domains of different dimensions: count lines and polygons in separate calls")


def _raise_unless_finished(status: Any, limit: int | None, partial: Any) -> None:
    if status == "finished":
        return
    if status == "limit_exceeded":
        assert limit is not None
        raise LimitReached(
            f"there are more than {limit} regions; raise the limit, or take `partial` from this exception",
            limit=limit,
            partial=partial,
        )
    status.partial = partial
    raise status
