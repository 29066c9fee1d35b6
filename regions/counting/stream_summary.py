# SPDX-License-Identifier: MIT
"""What can be said of all regions if each block of them is seen only once?

Counts, sizes, the boundary of each neuron, the smallest and the largest region: sums that take a block and then forget
it. Their state is some plain numbers, so it can be stored next to the position of the stream, and both resumed.
`summarize.py` makes a summary of each block where the block is found, and merges the summaries.
Invariant: a facet between two regions of one block counts once. A facet whose other side is in another block comes
twice, once for each of its sides, and counts one half each time. Both sides name the kink whose cut separated the two
regions, and have the same ends, because regions lie face to face (csrc/collect/collect.hpp).
Invariant: blocks follow each other, so that no region counts twice. The section of a block is compared with the end of
the block before (`regions/results/cells/sections.py`).
Numbers of facets are exact. Each sum of lengths or sizes over a block is correctly rounded, and adding a block rounds
once for each.
Cost: some sweeps over the facets and regions of each block, and numbers for each neuron.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from regions.counting.run import require_countable
from regions.domains import Domain
from regions.domains.shape import SHAPES
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import shown
from regions.ground.arithmetic.sums import correct_sum, rounded_sums
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.text.tables import plain
from regions.networks.network import Network, require_network
from regions.results.cells.sections import ALL, Section, section_of
from regions.results.cells.sizes import error_and_point
from regions.results.partition import Partition

__all__ = ["ExtremeRegion", "StreamSummary"]

# Weight of a side of a facet: between two regions of a block, or with the other region elsewhere.
WEIGHTS = np.array([1.0, 0.5])


@dataclass(frozen=True)
class ExtremeRegion:
    """The smallest or the largest region.

    Attributes
    ----------
    index : int
        Its number, in the order of all blocks.
    size, error : float
        Length, area or volume, and a proven bound on its error.
    point : tuple of float
        A point inside, in chart coordinates.
    """

    index: int
    size: float
    error: float
    point: tuple[float, ...]


class StreamSummary(JsonReport):
    """Statistics of the regions of `regions.stream`, without storing the regions.

    Parameters
    ----------
    network : Network
    domain : Domain
    state : mapping, optional
        ``as_dict()`` of an earlier summary of the same network and domain, to resume from; also after a round trip
        through JSON. An inconsistent state is refused. Numbers that are wrong but possible, such as the facets of one
        neuron, cannot be detected.

    Attributes
    ----------
    regions : int
        Number of regions in the blocks so far.
    size : float
        Their total length, area or volume.
    smallest, largest : ExtremeRegion or None
        The first of several; None before the first block.

    Raises
    ------
    ShapeMismatchError
        The domain does not lie in the network's input space.
    ValueError
        A state that no summary of this network and domain can have; the message names the contradiction.

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
        require_countable(domain, require_network(network))
        self.network, self.domain = network, domain
        self.regions, self.size = 0, 0.0
        self.smallest: ExtremeRegion | None = None
        self.largest: ExtremeRegion | None = None
        self.section: Section | None = None
        self._exponents = Counter[int]()
        self._facets = np.zeros((2, network.hidden), dtype=np.int64)
        self._lengths = np.zeros((2, network.hidden))
        if state is not None:
            self._take_up(state)

    def __repr__(self) -> str:
        return f"StreamSummary({self.regions:,} regions, {SHAPES[self.domain.dimension].size} {self.size:g})"

    def add(self, block: Partition) -> None:
        """Add the regions of a block.

        Parameters
        ----------
        block : Partition
            The next block; the partial result of `LimitReached` is one too, and the last one. The first block may begin
            anywhere. ``Partition.section`` shows whether a block comes twice, or one before it is missing. This is not
            checked any more after a block of unknown section, such as one from a file. It is not checked either that
            all blocks are of one kernel and one version, without which sections mean nothing.

        Raises
        ------
        TypeError, ValueError
            Not a partition, one of another network or domain, or one that does not follow the blocks before.
        """
        if not isinstance(block, Partition):
            raise TypeError(f"block must be a Partition, got {shown(block)}")
        if block.network != self.network or block.domain != self.domain:
            raise ValueError("the block is of another network or domain than the summary")
        if not len(block):
            return
        section = self._followed_by(ALL if block.complete else block.section)
        sizes, inside = block.volumes, np.flatnonzero(block.facet_kinks >= 0)
        elsewhere = np.logical_or(*(block.facet_regions < 0).T)[inside]
        places = self.network.hidden * elsewhere + self.network.kink_neurons[block.facet_kinks[inside]]
        shape, count = self._facets.shape, self._facets.size
        lengths = rounded_sums(block.facet_volumes[inside], places, count).reshape(shape)
        smallest, largest = self.smallest, self.largest
        if smallest is None or sizes.min() < smallest.size:
            smallest = self._extreme(block, int(sizes.argmin()))
        if largest is None or sizes.max() > largest.size:
            largest = self._extreme(block, int(sizes.argmax()))
        # From here on nothing fails, so that a block is added completely or not at all.
        self.smallest, self.largest = smallest, largest
        exponents, numbers = np.unique(np.frexp(sizes[np.isfinite(sizes) & (sizes > 0.0)])[1], return_counts=True)
        self._exponents.update(dict(zip(exponents.tolist(), numbers.tolist(), strict=True)))
        self._facets += np.bincount(places, minlength=count).reshape(shape)
        with np.errstate(over="ignore"):
            self._lengths += lengths
        self.size += correct_sum(sizes)
        self.regions += len(block)
        self.section = section

    def merge(self, other: StreamSummary) -> None:
        """Add the summary of the blocks that follow. The result is the same as if these blocks were added.

        Parameters
        ----------
        other : StreamSummary

        Raises
        ------
        TypeError, ValueError
            Not a summary, one of another network or domain, or one of blocks that do not follow the blocks before.
        """
        if not isinstance(other, StreamSummary):
            raise TypeError(f"other must be a StreamSummary, got {shown(other)}")
        if other.network != self.network or other.domain != self.domain:
            raise ValueError("other is of another network or domain than the summary")
        if not other.regions:
            return
        section = self._followed_by(other.section)
        assert other.smallest is not None and other.largest is not None
        if self.smallest is None or other.smallest.size < self.smallest.size:
            self.smallest = replace(other.smallest, index=self.regions + other.smallest.index)
        if self.largest is None or other.largest.size > self.largest.size:
            self.largest = replace(other.largest, index=self.regions + other.largest.index)
        self._exponents.update(other._exponents)
        self._facets += other._facets
        with np.errstate(over="ignore"):
            self._lengths += other._lengths
        self.size += other.size
        self.regions += other.regions
        self.section = section

    @property
    def neuron_facets(self) -> Floats:
        """Facets that each hidden neuron makes, float64 [hidden neurons], exact.

        A facet belongs to the neuron named by `Partition.facet_kinks`, one of several if they coincide. It counts one
        half if the region on its other side has not come yet.
        """
        result: Floats = WEIGHTS @ self._facets
        return result

    @property
    def neuron_lengths(self) -> Floats:
        """Lengths of these facets, float64 [hidden neurons]; on a line their number, and in boxes their volumes."""
        return self._lengths[0] + 0.5 * self._lengths[1]

    @property
    def layer_facets(self) -> Floats:
        """Facets that each hidden layer makes, float64 [hidden layers]."""
        return self._by_layer(self.neuron_facets)

    @property
    def layer_lengths(self) -> Floats:
        """Lengths of these facets, float64 [hidden layers]."""
        return self._by_layer(self.neuron_lengths)

    def size_histogram(self) -> tuple[Integers, Floats]:
        """Return the number of regions between each two consecutive powers of two in size.

        Sizes are rounded, so a region may be counted next to the bin of its true size. Regions with an infinite size,
        or one beyond the largest double, are left out.

        Returns
        -------
        counts : int64 [bins]
        edges : float64 [bins + 1]
            Powers of two; the lower one belongs to the bin. Both are empty before the first region.
        """
        if not self._exponents:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        first, last = min(self._exponents), max(self._exponents)
        counts = np.array([self._exponents[exponent] for exponent in range(first, last + 1)], dtype=np.int64)
        with np.errstate(over="ignore"):
            return counts, np.ldexp(1.0, np.arange(first - 1, last + 1))

    def as_dict(self) -> dict[str, Any]:
        """Return everything that a summary needs to resume, in JSON types. An infinite size is None."""
        facts = {
            "network": self.network.fingerprint,
            "domain": self.domain.fingerprint,
            "section": self.section,
            "regions": self.regions,
            "size": self.size,
            "smallest": self.smallest and asdict(self.smallest),
            "largest": self.largest and asdict(self.largest),
            "exponents": {str(exponent): number for exponent, number in sorted(self._exponents.items())},
            "facets": self._facets.tolist(),
            "lengths": self._lengths.tolist(),
        }
        return {name: plain(value) for name, value in facts.items()}

    def _followed_by(self, section: Section | None) -> Section | None:
        """Return the section of the blocks so far and this one together; None if it is unknown."""
        if not self.regions:
            return section
        if section == ALL:
            raise ValueError("the block has all regions, and some of them were added before")
        if self.section is None:
            return None
        begin, end = self.section
        if end is None:
            raise ValueError("nothing follows on the blocks so far: the last of them ended the work, or was stopped")
        if section is None:
            return None
        if section[0] != end:
            raise ValueError(
                f"the block begins at {shown(section[0])}, and the next one should at {shown(end)}: it was added "
                "before, or others are missing"
            )
        return begin, section[1]

    def _by_layer(self, numbers: Floats) -> Floats:
        widths = self.network.widths
        return np.bincount(np.repeat(np.arange(len(widths)), widths), numbers, len(widths)).astype(np.float64)

    def _extreme(self, block: Partition, region: int) -> ExtremeRegion:
        size, (error, point) = float(block.volumes[region]), error_and_point(block, region)
        return ExtremeRegion(self.regions + region, size, error, tuple(point.tolist()))

    def _take_up(self, state: Mapping[str, Any]) -> None:
        """Restore a state, checking all of it, because it may come from a file."""
        if not isinstance(state, Mapping):
            raise TypeError(f"state must be what as_dict() of a StreamSummary gave, got {shown(state)}")
        shape = self._facets.shape
        try:
            about = state["network"], state["domain"]
            self.section = section_of(state["section"])
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
        """Describe a state that no blocks can have, or None. A rounded sum of non-negative numbers is at least each."""
        smallest, largest = self.smallest, self.largest
        if not self.regions:
            numbers = self.size, self._exponents, self._facets.any(), self._lengths.any(), self.section
            nothing = smallest is largest is None and not any(numbers)
            return None if nothing else "it has no regions, but other numbers are not zero"
        if smallest is None or largest is None:
            return "it has regions, but no smallest or no largest one"
        if max(smallest.index, largest.index) >= self.regions:
            return "the smallest or the largest region has an index beyond the number of regions"
        if not len(smallest.point) == len(largest.point) == self.domain.dimension:
            return f"the smallest or the largest region has a point without {self.domain.dimension} coordinates"
        same = smallest.size == largest.size
        if smallest.size > largest.size or same != (smallest.index == largest.index) or (same and smallest.index):
            return "the smallest or the largest region is not the first one of its size"
        if self.size < largest.size:
            return "all regions together are smaller than the largest"
        bins = self._exponents
        apart = (smallest.size == 0.0) + (largest.size == math.inf)
        if not all(bins.values()) or not apart <= self.regions - sum(bins.values()) <= apart * self.regions:
            return "the bins do not add up to the number of regions"
        ends = [(size, end(bins, default=None)) for size, end in ((smallest.size, min), (largest.size, max))]
        if any(0.0 < size < math.inf and math.frexp(size)[1] != exponent for size, exponent in ends):
            return "the smallest or the largest region is not in the first or the last bin"
        if (self._lengths[self._facets == 0] > 0.0).any():
            return "a neuron has a length without facets"
        if self.domain.dimension == 1 and (self._lengths != self._facets).any():
            return "lengths on a line are numbers of facets"
        if self.regions > 1 and 2 * sum(self._facets[0].tolist()) + sum(self._facets[1].tolist()) < self.regions:
            return "some regions have no facets"
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
    """Return the exponent of a double."""
    if not -1074 < (exponent := int(word)) < 1025 or word != str(exponent):
        raise ValueError
    return exponent


def _size(given: Any) -> float:
    """Return a non-negative number; None is infinite."""
    size = math.inf if given is None else _number(given)
    if not size >= 0.0:
        raise ValueError
    return size


def _number(given: Any) -> float:
    if type(given) is not float and type(given) is not int:
        raise TypeError
    return float(given)
