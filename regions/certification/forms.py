# SPDX-License-Identifier: MIT
"""Where is each kink zero on a region, and which pattern does a point have? Exactly.

Where the network has a given pattern, the pre-activation of every unit minus a breakpoint is an affine form of the
chart point. The network scaled to integers (`regions.reference.integers`) gives its coefficients by sums of products.
The same sums, with numbers in place of forms, are a forward pass at a point.
Invariant: nothing is rounded and nothing is divided; forms and points are right up to positive factors.
Cost: per pattern and layer, n_out times n_in times d + 1 products of integers. A layer is written down anew only where
a layer before it differs from that of the pattern before, and patterns are taken in lexicographic order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, compress, islice
from operator import add, mul

from regions.domains import Domain
from regions.networks.network import Network
from regions.reference.integers import Form, IntegerLayer, Point, to_integers

__all__ = ["Forms", "domain_edges", "line_through", "value"]

# The units of a layer as affine forms, [coefficient][unit]; or their values at a point, [0][unit].
Columns = list[list[int]]


class Forms:
    """The kinks of a network on a domain.

    Patterns are bytes, one of 0 or 1 for each kink. A form is (a0, a1) or (a0, a1, a2), for a0 + a1 x + a2 y; a point
    (W, W x) or (W, W x, W y) with W > 0.

    Parameters
    ----------
    network : Network
    domain : Domain
        With as many input dimensions as the network.

    Attributes
    ----------
    corners : list of Point
        The domain's generators; for an unbounded domain those of the square or interval that stands for it.
    edges : list of Form
        Zero on each edge of the domain (at each end), positive inside.
    infinity : int or None
        Half the width of the square that stands for a plane, or interval for a line, if one does.
    products_per_pattern : int
        About how many products of short integers it takes to write down all forms and to hold a region against them.
    """

    def __init__(self, network: Network, domain: Domain) -> None:
        task = to_integers(network, domain)
        self.corners, self.infinity = task.corners, task.infinity
        self.edges = domain_edges(task.corners)
        self.output_exponent = task.output_exponent
        self.layers = task.layers
        self.kink_counts = [sum(map(len, layer.breakpoints)) for layer in task.layers[:-1]]
        widths = [len(layer.biases) for layer in task.layers[:-1]]
        between = sum(map(mul, widths, widths[1:]))
        size = len(task.corners[0])
        # Regions have four corners on average, or just below (two on a line); a forward pass goes from one point.
        products = (size + 1) * between + size * (2 * size - 2) * sum(self.kink_counts) + 1
        # Each layer lengthens the numbers, and long ones take time with the square of their length.
        bits = sum(max(abs(w) for row in layer.weights for w in row).bit_length() for layer in task.layers[:-1])
        self.products_per_pattern = products * (1 + (bits // 512) ** 2)
        self.first = _affine(self.layers[0], [list(column) for column in zip(*task.inputs, strict=True)], 1)

    def walk(self, patterns: Sequence[bytes]) -> Iterator[tuple[int, list[Form]]]:
        """Yield, for each of some patterns, its index and the forms of all kinks under it; in lexicographic order."""
        hidden = self.layers[:-1]
        columns: list[Columns] = [[] for _ in hidden]
        kinks: list[list[Form]] = [[] for _ in hidden]
        previous: bytes | None = None
        for index in sorted(range(len(patterns)), key=patterns.__getitem__):
            pattern, start = patterns[index], 0
            for level, layer in enumerate(hidden):
                # What a layer is depends on the bits of the layers before it.
                if previous is None or pattern[:start] != previous[:start]:
                    columns[level] = self._next(level, columns[level - 1], pattern, start) if level else self.first
                    kinks[level] = _kinks(layer, columns[level])
                start += self.kink_counts[level]
            previous = pattern
            yield index, list(chain.from_iterable(kinks))

    def output(self, pattern: bytes) -> list[Form]:
        """The outputs of the network where it has a pattern, times 2**output_exponent."""
        columns, start = self.first, 0
        for level in range(1, len(self.layers)):
            start += self.kink_counts[level - 1]
            columns = self._next(level, columns, pattern, start)
        return list(zip(*columns, strict=True))

    def pattern_at(self, point: Point) -> bytes:
        """The pattern at a point, by a forward pass that knows no other pattern: active means above the breakpoint."""
        weight = point[0]
        values = [value(form, point) for form in zip(*self.first, strict=True)]
        pattern: list[int] = []
        for level, layer in enumerate(self.layers[:-1]):
            if level:
                values = _affine(layer, [values], weight)[0]
            bits = [[h > t * weight for t in row] for h, row in zip(values, layer.breakpoints, strict=True)]
            values = _activated(layer, [values], [sum(above) for above in bits], weight)[0]
            pattern += chain.from_iterable(bits)
        return bytes(pattern)

    def _next(self, level: int, columns: Columns, pattern: bytes, start: int) -> Columns:
        """A layer as forms, from the one before it, whose bits end at ``start``."""
        layer = self.layers[level - 1]
        bits = iter(pattern[start - self.kink_counts[level - 1] : start])
        pieces = [sum(islice(bits, len(breakpoints))) for breakpoints in layer.breakpoints]
        return _affine(self.layers[level], _activated(layer, columns, pieces, 1), 1)


def domain_edges(corners: Sequence[Point]) -> list[Form]:
    """Forms that are zero on each edge of a convex polygon (at each end of an interval), positive inside."""
    if len(corners[0]) == 2:
        (v, a), (w, b) = corners
        return [(-a, v), (b, -w)]
    return [line_through(a, b) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]


def line_through(a: Point, b: Point) -> Form:
    """A form that is zero at two points of the plane and positive to the left of the way from one to the other.

    Read the other way around, the point on two lines, up to a factor.
    """
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def value(form: Form, point: Point) -> int:
    """A form at a point, times the point's weight."""
    return sum(map(mul, form, point))


def _affine(layer: IntegerLayer, inputs: Columns, unit: int) -> Columns:
    """Weights and biases of a layer; ``unit`` is the number that stands for 1 in the first column."""
    # Most units that are off are zero: leaving them out halves the work.
    live = [any(coefficients) for coefficients in zip(*inputs, strict=True)]
    rows = [list(compress(row, live)) for row in layer.weights]
    columns = [list(compress(column, live)) for column in inputs]
    result = [[sum(map(mul, row, column)) for row in rows] for column in columns]
    result[0] = list(map(add, result[0], [bias * unit for bias in layer.biases]))
    return result


def _activated(layer: IntegerLayer, columns: Columns, pieces: list[int], unit: int) -> Columns:
    """The units of a layer after its activation, each on its piece."""
    slopes = [table[piece] for table, piece in zip(layer.slopes, pieces, strict=True)]
    intercepts = [table[piece] * unit for table, piece in zip(layer.intercepts, pieces, strict=True)]
    result = [list(map(mul, slopes, column)) for column in columns]
    result[0] = list(map(add, result[0], intercepts))
    return result


def _kinks(layer: IntegerLayer, columns: Columns) -> list[Form]:
    """h - t for each unit and each breakpoint."""
    units = zip(zip(*columns, strict=True), layer.breakpoints, strict=True)
    return [(h[0] - t, *h[1:]) for h, breakpoints in units for t in breakpoints]
