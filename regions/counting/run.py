# SPDX-License-Identifier: MIT
"""How does the core count and enumerate the regions of one network in one domain?

`counted` and `enumerated` return a `Found`, even if the work was stopped.

`frontier` returns nodes of the core's recursion at which sections can begin; these sections together find the same
regions as one run, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

from regions import core
from regions.core import NO_LIMIT, WHOLE, Path, Section
from regions.counting.found import COMPLETE, End, Found
from regions.counting.options import NO_OPTIONS, Options
from regions.counting.slow_count_warning import warn_if_slow
from regions.domains import Domain
from regions.domains.abilities import ENUMERATIONS, why_not
from regions.domains.curves import ArcLeg
from regions.domains.domain import require_domain_of
from regions.errors import DomainError
from regions.ground.arithmetic.arrays import read_only
from regions.ground.threads.deadline import check_time, keep_partial, present_end
from regions.ground.threads.progress import Report
from regions.networks.graph import Graph
from regions.networks.lowering import lowered
from regions.networks.merging import merged
from regions.networks.network import Network, require_network
from regions.results.cells.complex import cells_found
from regions.results.cells.output_maps import OutputMaps, with_outputs_compiled
from regions.results.partition.polytopes import PARTITIONS

__all__ = [
    "Model",
    "compiled",
    "compiled_with_outputs",
    "counted",
    "end_of",
    "enumerated",
    "enumerated_in",
    "frontier",
    "limits_of",
    "require_countable",
    "require_enumerable",
    "why_not_enumerable",
]

# Seconds of work after which a user may be warned that it will take very long.
CHECKED_AFTER = 1.0

# Neurons are merged if at least one in so many kinks of the network repeats a boundary.
REPEATED = 8

# The compiled forms with merged neurons, of graphs whose neurons repeat boundaries.
_MERGED: WeakKeyDictionary[Graph, core.CompiledNetwork] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Model:
    """A network, also in the form that the core needs; several runs can share it."""

    network: Network
    compiled: core.CompiledNetwork


def compiled(network: Network) -> Model:
    """Return a network with its compiled form, which is made once."""
    return Model(network, require_network(network).compiled)


def _smaller(model: Model) -> core.CompiledNetwork:
    """Return the compiled network, or a smaller one with the same regions if many of its neurons repeat a boundary."""
    whole = model.compiled
    if whole.repeated_kinks * REPEATED <= whole.kinks or whole.outputs or whole.leaves_out:
        return whole
    graph = model.network.graph
    if graph not in _MERGED:
        _MERGED[graph] = whole
        if (smaller := merged(graph)) is not None:
            kinks = whole, smaller.kinks, smaller.opposite
            _MERGED[graph] = core.CompiledNetwork(graph.n_in, lowered(smaller.graph), merged_from=kinks)
    return _MERGED[graph]


def compiled_with_outputs(network: Network, graph: Graph, groups: Sequence[int] = ()) -> Model:
    """Compile a network, and the outputs of a graph that begins with its hidden nodes and has no other kinks."""
    return Model(network, with_outputs_compiled(graph, len(require_network(network).graph.hidden), groups))


def counted(model: Model, part: Domain | ArcLeg, options: Options = NO_OPTIONS, section: Section = WHOLE) -> Found[Any]:
    """Count activation regions of a domain, or pieces of a leg of a curve. A section takes one thread."""
    try:
        status, regions, stats = core.count(_smaller(model), part.compiled, limits_of(model, part, options), section)
    except RuntimeError as error:
        raise _advised(error) from None
    return Found(model.network, part, regions, stats, end_of(status, options), section=section != WHOLE)


def require_countable(domain: Domain, network: Network) -> None:
    """Refuse anything but a domain in the input space of a network."""
    require_domain_of(domain, network)


def enumerated(
    model: Model,
    domain: Domain,
    options: Options = NO_OPTIONS,
    section: Section = WHOLE,
    block: int | None = None,
) -> Found[Any]:
    """Find activation regions.

    If there are more than ``block`` regions, the work stops after these and the few that the core finds together with
    the last one.
    """
    require_enumerable(domain, model.network)
    how, raw, stats = enumerated_in(model, domain, options, section, block)
    place = section.begin, section.end if how.place is None else how.place
    complete = how is COMPLETE and section == WHOLE and not model.compiled.leaves_out
    kind = PARTITIONS[domain.dimension]
    partition = cells_found(kind, model.network, domain, raw, stats, complete=complete, section=place)
    if present_end() is not None:
        keep_partial(partition)
    maps = OutputMaps(read_only(raw["maps"]), read_only(raw["map_errors"])) if model.compiled.outputs else None
    return Found(model.network, domain, len(partition), stats, how, partition, section != WHOLE, maps=maps)


def require_enumerable(domain: Domain, network: Network) -> None:
    """Refuse what cannot be enumerated: in three dimensions and more, unbounded domains; more than six dimensions."""
    require_domain_of(domain, network, ENUMERATIONS)


def why_not_enumerable(domain: Domain) -> str:
    """Return why regions are counted in a domain, but not enumerated; or ""."""
    return why_not(ENUMERATIONS, domain)


def enumerated_in(
    model: Model,
    part: Domain | ArcLeg,
    options: Options,
    section: Section = WHOLE,
    block: int | None = None,
    for_joining: bool = False,
) -> tuple[End, dict[str, Any], dict[str, int]]:
    """Return how the work ended, the core's arrays, and its counters; `blocks.py` joins arrays ``for_joining``."""
    limits = limits_of(model, part, options, block)
    try:
        status, raw, stats = core.enumerate(_smaller(model), part.compiled, limits, section, for_joining)
    except RuntimeError as error:
        raise _advised(error) from None
    return end_of(status, options), raw, stats


def _advised(error: RuntimeError) -> Exception:
    """Return an error of the core; where cells have too many facets, it says what to do."""
    if "more than 128" not in str(error):
        return error
    return DomainError(f"{error}; take a smaller domain, or a polygon in it")


def frontier(
    model: Model,
    domain: Domain,
    least: int,
    report: Report | None = None,
    *,
    for_joining: bool = False,
) -> list[Path]:
    """Return the paths of at least ``least`` nodes, in order, at which sections can begin; all regions are below them.

    There are fewer nodes if there are fewer regions, and one on a segment, which is not divided. Sections
    ``for_joining`` have the regions of one enumeration in its order; small cells of a plane are then not divided.
    Exceptions from ``report`` and Ctrl-C are raised.
    """
    status, paths = core.frontier(_smaller(model), domain.compiled, least, report, for_joining)
    if isinstance(status, BaseException):
        raise status
    return paths


def limits_of(model: Model, part: Domain | ArcLeg, options: Options, block: int | None = None) -> core.Limits:
    """Return the limits of a call of the core, which also warns before very long work."""
    check_time()
    regions = NO_LIMIT if options.limit is None else options.limit
    return core.Limits(regions, block, options.threads, _watched(model, part, options.report))


def _watched(model: Model, part: Domain | ArcLeg, report: Report | None) -> Report:
    """Return the function that the core calls while it works: ``report``, with a warning before very long work."""
    start, checked = perf_counter(), False

    def report_and_check(share: float, found: int) -> None:
        nonlocal checked
        if not checked and perf_counter() - start >= CHECKED_AFTER:
            checked = True
            warn_if_slow(model.network.graph, part, core.limbs(model.compiled, part.compiled))
        if report is not None:
            report(share, found)

    return report_and_check


def end_of(status: Any, options: Options) -> End:
    """Return how the work ended, from the core's status: a word, an exception, or the path of a node."""
    if isinstance(status, BaseException):
        return End(error=status)
    if isinstance(status, tuple):
        return End(place=status)
    return COMPLETE if status == "finished" else End(limit=options.limit)
