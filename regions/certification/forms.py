# SPDX-License-Identifier: MIT
"""Where is each kink zero on a region, and which pattern does a point have, exactly?

Where the network has a given pattern, the pre-activation of every unit minus a breakpoint is an affine form of the
chart point, and so is a branch of a maximum minus an earlier one. The network scaled to integers
(`regions.certification.reference.integers`) gives its coefficients by sums of products. The same sums, with numbers in
place of forms, are a forward pass at a point.
Invariant: nothing is rounded and nothing is divided; forms and points are right up to positive factors.
Cost: per pattern and layer, n_out times n_in times d + 1 products of integers. Patterns are visited in lexicographic
order, and a layer is computed again only if the bits of an earlier layer differ from those of the previous pattern.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, compress, islice, pairwise
from math import comb
from operator import add, mul, sub

from regions.certification.certification_report import Findings
from regions.certification.reference.integers import Form, IntegerLayer, Point, products_of_integers, to_integers
from regions.domains import Domain
from regions.networks.network import Network

__all__ = ["Forms", "domain_edges", "line_through", "small_enough", "value"]

# Most products of integers in a forward pass. In dense layers this is the number of weights, which take 80 bytes each.
MOST_PRODUCTS = 50_000_000
# Products that second opinions may take.
AFFORDABLE = 20_000_000

# The units of a layer as affine forms, [coefficient][unit]; or their values at a point, [0][unit].
Columns = list[list[int]]


def small_enough(network: Network, findings: Findings) -> bool:
    """Return whether a forward pass in integers takes seconds; if not, record why claims are unchecked."""
    count = products_of_integers(network.graph)
    if count > MOST_PRODUCTS:
        findings.stop(
            f"too large: a forward pass takes {count:,} products of integers, and {MOST_PRODUCTS:,} are the most; "
            "certify net.until(..), or the same for smaller images"
        )
    return count <= MOST_PRODUCTS


class Forms:
    """The kinks of a network on a domain.

    Patterns are bytes, one of 0 or 1 for each kink. A form is (a0, a1, ..), for a0 + a1 x + ..; a point
    (W, W x, ..) with W > 0.

    Parameters
    ----------
    network : Network
    domain : Domain
        With as many input dimensions as the network.

    Attributes
    ----------
    corners : list of Point
        The domain's generators; for an unbounded domain the corners of the square or interval that replaces it. For a
        polytope, the corners of a box that contains it.
    edges : list of Form
        Zero on each edge of the domain (at each end, on each facet), positive inside.
    infinity : int or None
        Half the width of the square that replaces a plane, or of the interval that replaces a line, if any.
    products_per_pattern : int
        Approximate number of products of short integers to compute all forms and check a region against them.
    """

    def __init__(self, network: Network, domain: Domain) -> None:
        task = to_integers(network, domain)
        self.corners, self.infinity = task.corners, task.infinity
        self.edges = task.forms or domain_edges(task.corners)
        self.output_exponent = task.output_exponent
        self.layers = task.layers
        self.kink_counts = [sum(layer.kinks) for layer in task.layers[:-1]]
        self.maxima = list(_maxima(task.layers[:-1]))
        between = sum(len(row.weights) for layer in task.layers[1:-1] for row in layer.rows)
        size = len(task.corners[0])
        # Regions have four corners on average, or fewer (two on a line); a forward pass starts from one point.
        products = (size + 1) * between + size * (2 * size - 2) * sum(self.kink_counts) + 1
        # Each layer lengthens the numbers, and a product takes time quadratic in their length.
        bits = sum(map(_bits, task.layers[:-1]))
        self.products_per_pattern = products * (1 + (bits // 512) ** 2)
        self.first = _affine(self.layers[0], [list(column) for column in zip(*task.inputs, strict=True)], 1)

    def affordable(self, most: int) -> int:
        """Return how many regions can be checked in some tens of seconds: at least 1, and at most ``most``."""
        return min(most, max(1, AFFORDABLE // self.products_per_pattern))

    def walk(self, patterns: Sequence[bytes]) -> Iterator[tuple[int, list[Form]]]:
        """Yield, for each of some patterns, its index and the forms of all kinks under it, in lexicographic order."""
        hidden = self.layers[:-1]
        columns: list[Columns] = [[] for _ in hidden]
        kinks: list[list[Form]] = [[] for _ in hidden]
        previous: bytes | None = None
        for index in sorted(range(len(patterns)), key=patterns.__getitem__):
            pattern, start = patterns[index], 0
            for level, layer in enumerate(hidden):
                # A layer depends on the bits of the layers before it.
                if previous is None or pattern[:start] != previous[:start]:
                    columns[level] = self._next(level, columns[level - 1], pattern, start) if level else self.first
                    kinks[level] = _kinks(layer, columns[level])
                start += self.kink_counts[level]
            previous = pattern
            yield index, list(chain.from_iterable(kinks))

    def output(self, pattern: bytes) -> list[Form]:
        """Return the outputs of the network where it has a pattern, times 2**output_exponent."""
        columns, start = self.first, 0
        for level in range(1, len(self.layers)):
            start += self.kink_counts[level - 1]
            columns = self._next(level, columns, pattern, start)
        return list(zip(*columns, strict=True))

    def pattern_at(self, point: Point) -> bytes:
        """Return the pattern at a point, by a forward pass that uses no other pattern: active means above the
        breakpoint.
        """
        weight = point[0]
        values = [value(form, point) for form in zip(*self.first, strict=True)]
        pattern: list[int] = []
        for level, layer in enumerate(self.layers[:-1]):
            if level:
                values = _affine(layer, [values], weight)[0]
            if layer.starts is None:
                bits = [[h > t * weight for t in row] for h, row in zip(values, layer.breakpoints, strict=True)]
                pieces = [sum(above) for above in bits]
            else:
                pieces = [values[a:b].index(max(values[a:b])) for a, b in pairwise(layer.starts)]
                branches = map(sub, layer.starts[1:], layer.starts)
                bits = [[b == argmax for _, b in _pairs(size)] for argmax, size in zip(pieces, branches, strict=True)]
            values = _activated(layer, [values], pieces, weight)[0]
            pattern += chain.from_iterable(bits)
        return bytes(pattern)

    def binding(self, pattern: bytes) -> bytes:
        """Return the kinks whose side the pattern determines: all but comparisons of branches without the argmax."""
        result = bytearray(b"\1" * len(pattern))
        for start, branches in self.maxima:
            argmax = _argmax(pattern, start, branches)
            for kink, pair in enumerate(_pairs(branches), start):
                result[kink] = argmax in pair
        return bytes(result)

    def switched(self, pattern: bytes, other: bytes) -> tuple[set[int], set[int]]:
        """Return the kinks that switch between two patterns, with one kink for each maximum whose argmax changes; and
        all kinks whose bits may change thereby, which for a maximum are all its kinks.
        """
        kinks = {kink for kink, (a, b) in enumerate(zip(pattern, other, strict=True)) if a != b}
        explained = set(kinks)
        for start, branches in self.maxima:
            a, b = sorted((_argmax(pattern, start, branches), _argmax(other, start, branches)))
            if a != b:
                own = range(start, start + comb(branches, 2))
                kinks.difference_update(own)
                kinks.add(start + comb(b, 2) + a)
                explained.update(own)
        return kinks, explained

    def _next(self, level: int, columns: Columns, pattern: bytes, start: int) -> Columns:
        """Return the next layer as forms, from the layer before it, whose bits end at ``start``."""
        layer = self.layers[level - 1]
        bits = iter(pattern[start - self.kink_counts[level - 1] : start])
        if layer.starts is None:
            pieces = [sum(islice(bits, kinks)) for kinks in layer.kinks]
        else:
            branches = map(sub, layer.starts[1:], layer.starts)
            pieces = [_argmax(list(islice(bits, comb(size, 2))), 0, size) for size in branches]
        return _affine(self.layers[level], _activated(layer, columns, pieces, 1), 1)


def domain_edges(corners: Sequence[Point]) -> list[Form]:
    """Return forms that are zero on each edge of a convex polygon (at each end of an interval), positive inside."""
    if len(corners[0]) == 2:
        (v, a), (w, b) = corners
        return [(-a, v), (b, -w)]
    return [line_through(a, b) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]


def line_through(a: Point, b: Point) -> Form:
    """Return a form that is zero at two points of the plane and positive to the left of the path between them.

    Applied to two lines, it gives the point on both, up to a factor.
    """
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def value(form: Form, point: Point) -> int:
    """Return a form at a point, times the point's weight."""
    return sum(map(mul, form, point))


def _affine(layer: IntegerLayer, inputs: Columns, unit: int) -> Columns:
    """Apply weights and biases of a layer; ``unit`` represents 1 in the first column."""
    # Rows that read the same inputs share the selection of those that are not zero: most inactive units are.
    selections: dict[int, tuple[list[bool], Columns]] = {}
    result: Columns = [[] for _ in inputs]
    for reads, weights in layer.rows:
        if id(reads) not in selections:
            columns = [list(map(column.__getitem__, reads)) for column in inputs]
            live = [any(coefficients) for coefficients in zip(*columns, strict=True)]
            selections[id(reads)] = live, [list(compress(column, live)) for column in columns]
        live, columns = selections[id(reads)]
        row = list(compress(weights, live))
        for found, column in zip(result, columns, strict=True):
            found.append(sum(map(mul, row, column)))
    result[0] = list(map(add, result[0], [bias * unit for bias in layer.biases]))
    return result


def _bits(layer: IntegerLayer) -> int:
    """The length of the largest weight of a layer."""
    different = {id(row.weights): row.weights for row in layer.rows if row.weights}
    return max((max(max(row), -min(row)) for row in different.values()), default=0).bit_length()


def _maxima(layers: Sequence[IntegerLayer]) -> Iterator[tuple[int, int]]:
    """Yield for each maximum of several branches its first kink, and the number of branches."""
    first = 0
    for layer in layers:
        for kinks, (start, end) in zip(layer.kinks, pairwise(layer.starts or ()), strict=layer.starts is not None):
            if kinks:
                yield first, end - start
            first += kinks
        if layer.starts is None:
            first += sum(layer.kinks)


def _pairs(branches: int) -> list[tuple[int, int]]:
    """Return the pairs of branches that are a maximum's kinks, in order."""
    return [(a, b) for b in range(branches) for a in range(b)]


def _argmax(bits: Sequence[int], start: int, branches: int) -> int:
    """Return the argmax of a maximum whose kinks begin at ``start``: its pair with branch 0 is on."""
    return max((b for b in range(1, branches) if bits[start + comb(b, 2)]), default=0)


def _activated(layer: IntegerLayer, columns: Columns, pieces: list[int], unit: int) -> Columns:
    """Return the units of a layer after its activation, each on its piece, or the argmax branches."""
    if layer.starts is not None:
        rows = list(map(add, layer.starts, pieces))
        return [[column[row] for row in rows] for column in columns]
    slopes = [table[piece] for table, piece in zip(layer.slopes, pieces, strict=True)]
    intercepts = [table[piece] * unit for table, piece in zip(layer.intercepts, pieces, strict=True)]
    result = [list(map(mul, slopes, column)) for column in columns]
    result[0] = list(map(add, result[0], intercepts))
    return result


def _kinks(layer: IntegerLayer, columns: Columns) -> list[Form]:
    """Return h - t for each unit and each breakpoint, or the later minus the earlier one of two branches."""
    if layer.starts is not None:
        branches = list(zip(*columns, strict=True))
        pairs = [(start + a, start + b) for start, end in pairwise(layer.starts) for a, b in _pairs(end - start)]
        return [tuple(map(sub, branches[b], branches[a])) for a, b in pairs]
    units = zip(zip(*columns, strict=True), layer.breakpoints, strict=True)
    return [(h[0] - t, *h[1:]) for h, breakpoints in units for t in breakpoints]
