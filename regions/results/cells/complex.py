# SPDX-License-Identifier: MIT
"""How is the result of the core stored?

A `CellComplex` has the network, the domain, and flat arrays that index each other, typed and read-only. Everything
derived from them is computed by functions of a complex, and `cached` caches the result in the complex.
`regions.Partition` is a complex with methods; this folder does not depend on it.
The nine arrays of `ARRAYS` have these names in files too, and in the result of the core. They are checked and locked
once, and shared with no other object. ``facet_vertices`` has rows of d, because for d = 1 and 2 each facet has d
vertices; ``facet_offsets`` is correct in any dimension. From three dimensions on the offsets are stored
too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

import numpy as np

from regions.core import is_private, kernel
from regions.domains import Domain
from regions.domains.abilities import CELLS, Ability, require
from regions.domains.domain import require_domain
from regions.ground.arithmetic.arguments import integer, shown
from regions.ground.arithmetic.arrays import own_array, read_only
from regions.ground.arithmetic.types import Bits, Floats, Integers, Packed
from regions.ground.threads.deadline import check_time_of_call, present_end
from regions.networks.described import architecture
from regions.networks.network import Network, require_network
from regions.results.cells.sections import ALL, Section, section_of
from regions.version import __version__

__all__ = [
    "ARRAYS",
    "POLYTOPE_ARRAYS",
    "CellComplex",
    "arrays_in",
    "cached",
    "cells_found",
    "raw_arrays",
    "same_arrays",
]

Cells = TypeVar("Cells", bound="CellComplex")
Others = ParamSpec("Others")
Fact = TypeVar("Fact")

# The arrays that define a complex, in the order in which they are documented, with their types.
ARRAYS: Mapping[str, type] = {
    "vertices": np.float64,
    "vertex_errors": np.float64,
    "cell_offsets": np.int64,
    "cell_vertices": np.int64,
    "cell_facets": np.int64,
    "facet_vertices": np.int64,
    "facet_regions": np.int64,
    "facet_kinks": np.int64,
    "packed_patterns": np.uint8,
}
# The same from three dimensions on, where the vertices of all facets are one flat array.
POLYTOPE_ARRAYS: Mapping[str, type] = {**ARRAYS, "cell_facet_offsets": np.int64, "facet_offsets": np.int64}


class CellComplex:
    """The regions that were found: flat arrays, as `regions.Partition` documents them, with network and domain.

    Parameters
    ----------
    network : Network
    domain : Domain
    raw : mapping
        The arrays of `ARRAYS`, ``stats`` (the core's counters), and if known ``complete``, ``section``,
        ``version`` and ``kernel``.

    Raises
    ------
    TypeError, ValueError
        Not a mapping, an array that is missing or of another type, counters that are not numbers.
    """

    # In which domains; classes for users hold less.
    holds: ClassVar[Ability] = CELLS

    network: Network
    domain: Domain
    vertices: Floats
    vertex_errors: Floats
    cell_offsets: Integers
    cell_vertices: Integers
    cell_facets: Integers
    facet_vertices: Integers
    facet_regions: Integers
    facet_kinks: Integers
    packed_patterns: Packed
    complete: bool
    section: Section | None
    version: str
    kernel: str
    _stats: dict[str, int]
    _facts: dict[Any, Any]

    def __init__(self, network: Network, domain: Domain, raw: Mapping[str, Any]) -> None:
        if not isinstance(raw, Mapping):
            raise TypeError(f"raw must be a mapping of the arrays of a partition, got {shown(raw)}")
        require(self.holds, require_domain(domain))
        stored = arrays_in(domain)
        missing = [name for name in (*stored, "stats") if name not in raw]
        if missing:
            raise ValueError(f"raw has no {missing[0]!r}")
        stats = raw["stats"]
        if not isinstance(stats, Mapping):
            raise TypeError(f"raw['stats'] must be a mapping of counters, got {shown(stats)}")
        complete = bool(raw.get("complete", True))
        self._store(
            require_network(network),
            domain,
            {
                name: own_array(raw[name], dtype, f"raw[{name!r}]", private=is_private(raw[name]))
                for name, dtype in stored.items()
            },
            _stats={str(name): integer(value, "raw['stats']", least=0, most=1 << 64) for name, value in stats.items()},
            complete=complete,
            section=section_of(raw.get("section", ALL if complete else None)),
            version=str(raw.get("version", __version__)),
            kernel=str(raw.get("kernel", "none")),
        )

    def _store(self, network: Network, domain: Domain, arrays: Mapping[str, Any], **facts: Any) -> None:
        self.__dict__.update(arrays, **facts, network=network, domain=domain, _facts={})

    @property
    def stored(self) -> Mapping[str, type]:
        """The names and types of the arrays that define it."""
        return arrays_in(self.domain)

    def __setattr__(self, name: str, value: object = None) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable; {name!r} cannot be set or deleted")

    __delattr__ = __setattr__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CellComplex) or type(other) is not type(self):
            return NotImplemented
        return self is other or (self._identity == other._identity and same_arrays(self, other))

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        return len(self), self.complete, self.network, self.domain

    def __len__(self) -> int:
        return len(self.cell_offsets) - 1

    def __repr__(self) -> str:
        count = f"{len(self)} region{'' if len(self) == 1 else 's'}"
        state = "exact" if self.complete else "partial"
        return f"{type(self).__name__}({count}, {self.dimension}-D, {architecture(self.network.graph)}, {state})"

    @property
    def stats(self) -> dict[str, int]:
        return dict(self._stats)

    @property
    def patterns(self) -> Bits:
        """Activation patterns, bool [R, kinks]: bit k is True where its unit is above its breakpoint.

        Unpacked at each access, to eight times the size of ``packed_patterns``: store it if you need it twice.
        """
        bits = np.unpackbits(self.packed_patterns, axis=1, count=self.network.kinks, bitorder="little")
        return read_only(bits.view(np.bool_))

    @property
    def dimension(self) -> int:
        """Dimension d of the domain."""
        return self.vertices.shape[1]

    @cached_property
    def corner_counts(self) -> Integers:
        """Number of corners of each region, int64 [R]."""
        return read_only(np.diff(self.cell_offsets))

    @cached_property
    def neighbors(self) -> Integers:
        """Region across each facet of each region, int64 [K], like ``cell_facets``; -1 where the domain ends."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.cell_facet_offsets))
        pairs = self.facet_regions[self.cell_facets]
        return read_only(np.where(pairs[:, 0] == owners, pairs[:, 1], pairs[:, 0]))

    @cached_property
    def cell_facet_offsets(self) -> Integers:
        """Region r has the facets ``cell_facets[cell_facet_offsets[r]:cell_facet_offsets[r + 1]]``: int64 [R + 1]."""
        return self.cell_offsets

    @cached_property
    def facet_offsets(self) -> Integers:
        """Facet f has the vertices ``facet_vertices.ravel()[facet_offsets[f]:facet_offsets[f + 1]]``: int64 [F + 1]."""
        return read_only(np.arange(len(self.facet_vertices) + 1) * self.dimension)

    @cached_property
    def facet_layers(self) -> Integers:
        """Hidden layer, from 0, of the kink that makes each facet, int64 [F]; -1 on the domain boundary."""
        layers = np.append(self.network.kink_layers, -1)  # every negative kink indexes the -1 at the end
        return read_only(layers[np.maximum(self.facet_kinks, -1)])


def arrays_in(domain: Domain) -> Mapping[str, type]:
    """Return the names and types of the arrays that define regions in a domain."""
    return ARRAYS if domain.dimension < 3 else POLYTOPE_ARRAYS


def cells_found(
    kind: type[Cells], network: Network, domain: Domain, raw: Mapping[str, Any], stats: dict[str, int], **facts: Any
) -> Cells:
    """Return the regions that the core has just found; its arrays need no check and no copy."""
    cells = object.__new__(kind)
    arrays = {name: read_only(raw[name]) for name in arrays_in(domain)}
    cells._store(network, domain, arrays, _stats=stats, version=__version__, kernel=kernel(), **facts)
    return cells


def cached(function: Callable[Concatenate[Cells, Others], Fact]) -> Callable[Concatenate[Cells, Others], Fact]:
    """Cache the result of a function of a complex in the complex, for each set of other arguments; arrays are locked.

    A call whose time is over computes no further fact.

    Examples
    --------
    >>> import regions
    >>> @cached
    ... def doubled(cells):
    ...     print("computed")
    ...     return 2 * len(cells)
    >>> net = regions.Network([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    >>> partition = regions.enumerate(net, regions.Segment([-1.0], [1.0]))
    >>> doubled(partition), doubled(partition)
    computed
    (4, 4)
    """

    @wraps(function)
    def fact(cells: Cells, /, *arguments: Others.args, **named: Others.kwargs) -> Fact:
        key = (function, arguments, *sorted(named.items()))
        if key not in cells._facts:
            if present_end() is not None:
                check_time_of_call()
            found: Any = function(cells, *arguments, **named)
            cells._facts[key] = tuple(map(_locked, found)) if type(found) is tuple else _locked(found)
        return cells._facts[key]

    return fact


def _locked(fact: Any) -> Any:
    return read_only(fact) if isinstance(fact, np.ndarray) else fact


def raw_arrays(cells: CellComplex) -> dict[str, Any]:
    """Return the mapping that defines this complex: its arrays under the names of ``stored``, ``stats``,
    ``complete``, ``section``, ``version`` and ``kernel``.
    """
    arrays = {name: getattr(cells, name) for name in cells.stored}
    others = {name: getattr(cells, name) for name in ("stats", "complete", "section", "version", "kernel")}
    return {**arrays, **others}


def same_arrays(one: CellComplex, other: CellComplex) -> bool:
    """Return whether all arrays of two complexes are equal, in the same order."""
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in one.stored)
