# SPDX-License-Identifier: MIT
"""What can be said of all regions when each block of them is seen once?

Counts, sizes, how much boundary each neuron makes, the smallest and the largest region: sums, each of which takes a
block and forgets it. What is known so far is some plain numbers, so it is kept beside the place of the stream, and both
go on from there.
Invariant: a facet between two regions of one block counts once. One whose other side is not in its block is there twice
in all, for each of its sides, and counts one half each time. Both sides name the kink whose cut parted the two regions,
and have the same ends, since regions lie face to face (csrc/collect/collect.hpp).
Invariant: blocks follow each other, so that no region counts twice. What a block knows of its place is compared with
where the one before ended (`regions/cells/sections.py`).
Numbers of facets are exact; of lengths and sizes each sum of a block is correctly rounded, and what blocks add is
rounded once for each.
Cost: some sweeps over the facets and regions of each block, and numbers for each neuron.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from regions.arithmetic.arguments import shown
from regions.arithmetic.sums import rounded_sums
from regions.arithmetic.types import Floats, Integers
from regions.cells.sections import Section, section_of
from regions.domains import Domain
from regions.domains.domain import require_domain_of
from regions.measures.boundary import correct_sum, neurons_of_kinks
from regions.networks.network import Network, require_network
from regions.partition import Partition
from regions.tables import JsonReport, plain

__all__ = ["ExtremeRegion", "StreamSummary"]

# Of sides of facets: between two regions of a block, or with the other one elsewhere.
WEIGHTS = np.array([1.0, 0.5])


@dataclass(frozen=True)
class ExtremeRegion:
    """The smallest or the largest region.

    Attributes
    ----------
    index : int
        Its number, in the order of all blocks.
    size, error : float
        Length or area, and a proven bound on its error.
    point : tuple of float
        A point inside, in chart coordinates.
    """

    index: int
    size: float
    error: float
    point: tuple[float, ...]


class StreamSummary(JsonReport):
    """What the regions are like that `regions.stream` gives, without keeping them.

    Parameters
    ----------
    network : Network
    domain : Domain
    state : mapping, optional
        ``as_dict()`` of an earlier summary of the same network and domain, to go on from; also as JSON gives it back.
        One that contradicts itself is refused. That numbers are wrong which could be right, such as the facets of one
        neuron, cannot be told.

    Attributes
    ----------
    regions : int
        How many there are in the blocks so far.
    size : float
        Their length or area.
    smallest, largest : ExtremeRegion or None
        The first of these, if there are several; None before the first block.

    Raises
    ------
    ShapeMismatchError
        The domain does not lie in the network's input space.
    ValueError
        A state that no summary of this network and domain can have; the message says what contradicts what.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> square = regions.Polygon([[-1, -1], [3, -1], [3, 1], [-1, 1]])
    >>> summary = regions.measures.StreamSummary(net, square)
    >>> for block in regions.stream(net, square, regions_per_block=2):
    ...     summary.add(block)
    >>> summary.regions, summary.size, summary.neuron_facets, summary.neuron_lengths
    (4, 8.0, array([2., 2.]), array([2., 4.]))
    >>> summary.size_histogram()
    (array([2, 2]), array([1., 2., 4.]))
    """

    def __init__(self, network: Network, domain: Domain, state: Mapping[str, Any] | None = None) -> None:
        require_domain_of(domain, require_network(network))
        self.network, self.domain = network, domain
        self.regions, self.size = 0, 0.0
        self.smallest: ExtremeRegion | None = None
        self.largest: ExtremeRegion | None = None
        self._section: Section | None = None
        self._exponents = Counter[int]()
        self._facets = np.zeros((2, network.hidden), dtype=np.int64)
        self._lengths = np.zeros((2, network.hidden))
        if state is not None:
            self._take_up(state)

    def __repr__(self) -> str:
        word = ("length", "area")[self.domain.dimension - 1]
        return f"StreamSummary({self.regions:,} regions, {word} {self.size:g})"

    def add(self, block: Partition) -> None:
        """Add the regions of a block.

        Parameters
        ----------
        block : Partition
            The next one; what `LimitReached` carries is one too, and nothing follows on it. The first one may begin
            anywhere. Whether a block is there twice, or one before it is missing, is told by ``Partition.section``; it
            cannot be told any more once a block came that does not know its place, such as one from a file. Nor is it
            told whether all blocks are of one kernel and one version, without which places mean nothing.

        Raises
        ------
        TypeError, ValueError
            No partition, of another network or domain, or one that does not follow on the blocks before.
        """
        if not isinstance(block, Partition):
            raise TypeError(f"block must be a Partition, got {shown(block)}")
        if block.network != self.network or block.domain != self.domain:
            raise ValueError("the block is of another network or domain than the summary")
        if not len(block):
            return
        section = self._with(block)
        sizes, inside = block.volumes, np.flatnonzero(block.facet_kinks >= 0)
        elsewhere = (block.facet_regions[inside] < 0).any(axis=1)
        places = self.network.hidden * elsewhere + neurons_of_kinks(self.network)[block.facet_kinks[inside]]
        shape, count = self._facets.shape, self._facets.size
        lengths = rounded_sums(block.facet_volumes[inside], places, count).reshape(shape)
        # Errors and points are computed for all regions of a block: so only where it has a new extreme.
        smallest, largest = self.smallest, self.largest
        if smallest is None or sizes.min() < smallest.size:
            smallest = self._extreme(block, int(sizes.argmin()))
        if largest is None or sizes.max() > largest.size:
            largest = self._extreme(block, int(sizes.argmax()))
        # From here on nothing fails, so that a block is added or it is not.
        self.smallest, self.largest = smallest, largest
        exponents, numbers = np.unique(np.frexp(sizes[np.isfinite(sizes) & (sizes > 0.0)])[1], return_counts=True)
        self._exponents.update(dict(zip(exponents.tolist(), numbers.tolist(), strict=True)))
        self._facets += np.bincount(places, minlength=count).reshape(shape)
        with np.errstate(over="ignore"):
            self._lengths += lengths
        self.size += correct_sum(sizes)
        self.regions += len(block)
        self._section = section

    @property
    def neuron_facets(self) -> Floats:
        """Facets that each hidden neuron makes, float64 [hidden neurons], exact.

        A facet is of the neuron that `Partition.facet_kinks` names: one of those that coincide. Where the region on
        its other side is still to come, it counts one half.
        """
        result: Floats = WEIGHTS @ self._facets
        return result

    @property
    def neuron_lengths(self) -> Floats:
        """How long these are, float64 [hidden neurons]; on a line their number."""
        return self._lengths[0] + 0.5 * self._lengths[1]

    @property
    def layer_facets(self) -> Floats:
        """Facets that each hidden layer makes, float64 [hidden layers]."""
        return self._by_layer(self.neuron_facets)

    @property
    def layer_lengths(self) -> Floats:
        """How long these are, float64 [hidden layers]."""
        return self._by_layer(self.neuron_lengths)

    def size_histogram(self) -> tuple[Integers, Floats]:
        """Return how many regions are between two powers of two in size.

        Sizes are rounded, so a region may stand beside the bin of its true size. Those without an end, or with one
        that no double holds, are left out.

        Returns
        -------
        counts : int64 [bins]
        edges : float64 [bins + 1]
            Powers of two; the lower one is part of the bin. Both are empty before the first region.
        """
        if not self._exponents:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        first, last = min(self._exponents), max(self._exponents)
        counts = np.array([self._exponents[exponent] for exponent in range(first, last + 1)], dtype=np.int64)
        with np.errstate(over="ignore"):
            return counts, np.ldexp(1.0, np.arange(first - 1, last + 1))

    def as_dict(self) -> dict[str, Any]:
        """Everything, as what JSON can hold; the ``state`` to go on from. A size that is infinite is None."""
        facts = {
            "network": self.network.fingerprint,
            "domain": self.domain.fingerprint,
            "section": self._section,
            "regions": self.regions,
            "size": self.size,
            "smallest": self.smallest and asdict(self.smallest),
            "largest": self.largest and asdict(self.largest),
            "exponents": {str(exponent): number for exponent, number in sorted(self._exponents.items())},
            "facets": self._facets.tolist(),
            "lengths": self._lengths.tolist(),
        }
        return {name: plain(value) for name, value in facts.items()}

    def _with(self, block: Partition) -> Section | None:
        """Return where all blocks are together, once this one is added; None where that is not known."""
        if not self.regions:
            return block.section
        if block.complete:
            raise ValueError("the block has all regions, and some of them were added before")
        if self._section is None:
            return None
        begin, end = self._section
        if end is None:
            raise ValueError("nothing follows on the blocks so far: the last of them ended the work, or was stopped")
        if block.section is None:
            return None
        if block.section[0] != end:
            raise ValueError(
                f"the block begins at {shown(block.section[0])}, and the next one should at {shown(end)}: it was added "
                "before, or others are missing"
            )
        return begin, block.section[1]

    def _by_layer(self, numbers: Floats) -> Floats:
        widths = self.network.widths
        return np.bincount(np.repeat(np.arange(len(widths)), widths), numbers, len(widths)).astype(np.float64)

    def _extreme(self, block: Partition, region: int) -> ExtremeRegion:
        size, error = float(block.volumes[region]), float(block.volume_errors[region])
        return ExtremeRegion(self.regions + region, size, error, tuple(block.interior_points[region].tolist()))

    def _take_up(self, state: Mapping[str, Any]) -> None:
        """Believe nothing of it: it may come from a file."""
        if not isinstance(state, Mapping):
            raise TypeError(f"state must be what as_dict() of a StreamSummary gave, got {shown(state)}")
        shape = self._facets.shape
        try:
            about = state["network"], state["domain"]
            self._section = section_of(state["section"])
            self.regions, self.size = _count(state["regions"]), _size(state["size"])
            self.smallest, self.largest = _taken_up(state["smallest"]), _taken_up(state["largest"])
            self._exponents.update({_exponent(word): _count(number) for word, number in state["exponents"].items()})
            self._facets = np.array([[_count(number) for number in row] for row in state["facets"]], dtype=np.int64)
            self._lengths = np.array([[_size(length) for length in row] for row in state["lengths"]])
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ValueError("state is not what as_dict() of a StreamSummary gave") from error
        if about != (self.network.fingerprint, self.domain.fingerprint):
            raise ValueError("state is of another network or domain")
        if not self._facets.shape == self._lengths.shape == shape:
            raise ValueError(f"state has facets and lengths that are not {shape[0]} lists of {shape[1]} numbers")
        contradiction = self._contradiction()
        if contradiction is not None:
            raise ValueError(f"state contradicts itself: {contradiction}")

    def _contradiction(self) -> str | None:
        """What no blocks add up to, or None. Rounded sums of what is not negative are no smaller than any of it."""
        smallest, largest = self.smallest, self.largest
        if not self.regions:
            numbers = self.size, self._exponents, self._facets.any(), self._lengths.any(), self._section
            nothing = smallest is largest is None and not any(numbers)
            return None if nothing else "it has no regions, and something of them"
        if smallest is None or largest is None:
            return "it has regions, and none that is the smallest or the largest"
        if max(smallest.index, largest.index) >= self.regions:
            return "the smallest or the largest region is none of its regions"
        if not len(smallest.point) == len(largest.point) == self.domain.dimension:
            return f"the smallest or the largest region has a point that has not {self.domain.dimension} coordinates"
        same = smallest.size == largest.size
        if smallest.size > largest.size or same != (smallest.index == largest.index) or (same and smallest.index):
            return "the smallest region is not the first one of the smallest, or so with the largest"
        if self.size < largest.size:
            return "all regions together are smaller than the largest"
        bins = self._exponents
        apart = (smallest.size == 0.0) + (largest.size == math.inf)
        if not all(bins.values()) or not apart <= self.regions - sum(bins.values()) <= apart * self.regions:
            return "the bins do not have as many regions as there are"
        ends = [(size, end(bins, default=None)) for size, end in ((smallest.size, min), (largest.size, max))]
        if any(0.0 < size < math.inf and math.frexp(size)[1] != exponent for size, exponent in ends):
            return "the first or the last bin is not that of the smallest or the largest region"
        if (self._lengths[self._facets == 0] > 0.0).any():
            return "a neuron has a length without facets"
        if self.domain.dimension == 1 and (self._lengths != self._facets).any():
            return "lengths on a line are numbers of facets"
        if self.regions > 1 and 2 * sum(self._facets[0].tolist()) + sum(self._facets[1].tolist()) < self.regions:
            return "there are regions without a facet"
        return None


def _taken_up(extreme: Mapping[str, Any] | None) -> ExtremeRegion | None:
    if extreme is None:
        return None
    point = tuple(math.nan if coordinate is None else _number(coordinate) for coordinate in extreme["point"])
    return ExtremeRegion(_count(extreme["index"]), _size(extreme["size"]), _size(extreme["error"]), point)


def _count(given: Any) -> int:
    if type(given) is not int or not 0 <= given < 2**63:
        raise ValueError
    return given


def _exponent(word: str) -> int:
    """Of a double."""
    if not -1074 < (exponent := int(word)) < 1025 or word != str(exponent):
        raise ValueError
    return exponent


def _size(given: Any) -> float:
    """Not negative; None is infinite."""
    size = math.inf if given is None else _number(given)
    if not size >= 0.0:
        raise ValueError
    return size


def _number(given: Any) -> float:
    if type(given) is not float and type(given) is not int:
        raise TypeError
    return float(given)
