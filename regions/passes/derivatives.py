# SPDX-License-Identifier: MIT
"""What are the derivatives of all layers along a curve, on each of its pieces?

A curve runs through pieces of the network, and on each piece of the first l layers, layer l is affine. The walk
computes derivatives by the coordinates of the chart, one row for each piece and coordinate. A node is entered with the
pieces of the nodes below it only, and its products are copied to the finer pieces that the node itself makes.

Error, of all derivatives of a piece together, in the 2-norm: the largest slope times the error of the node. The latter
is sigma (2-norm of the weights) times the error of the values it reads, plus (terms + reads + 3) units of the product
of Frobenius norms. The bounds themselves are rounded; users of a bound multiply it by 1 + 2^-20.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from regions.ground.arithmetic.roundoff import TINY, U
from regions.ground.arithmetic.types import Exponents, Floats, Integers, Packed
from regions.networks.graph import Graph, Node

__all__ = ["Derivatives", "derivatives", "norms", "scaled"]


class Derivatives(NamedTuple):
    """The first strand of each piece, int64 [k], derivatives on these [k, d, units], and their errors [k]."""

    starts: Integers
    values: Floats
    errors: Floats


def derivatives(graph: Graph, packed: Packed, first: Derivatives, starts: Sequence[Integers]) -> Iterator[Derivatives]:
    """Yield the derivatives of the inputs, of each hidden node after its activation, and of the outputs.

    Parameters
    ----------
    graph : Graph
    packed : uint8 [m, bytes]
        Patterns of the strands of a curve, in its order.
    first : Derivatives
        Derivatives of the inputs.
    starts : sequence of int64 [k]
        For each hidden node, the first strand of each piece of the nodes up to it; finer from node to node.
    """
    bits = graph.bits(packed)
    levels = {-1: first}
    yield first
    for number, node in enumerate(graph.nodes):
        products = _products(node, levels, levels[number - 1].starts)
        if number == len(graph.hidden):
            yield products
            return
        place = _places(products.starts, starts[number])
        pieces = node.units.pieces_of(bits[starts[number], node.kinks])
        slopes, _ = node.units.on_pieces(pieces)
        values = node.units.followed(products.values[place], pieces[:, np.newaxis]) * slopes[:, np.newaxis]
        steepest = np.abs(slopes).max(axis=1, initial=0.0)
        errors = steepest * products.errors[place] + U * norms(values) + TINY
        levels[number] = Derivatives(starts[number], values, errors)
        yield levels[number]


def _products(node: Node, levels: dict[int, Derivatives], below: Integers) -> Derivatives:
    """Return the derivatives of a node before its activation, on the pieces of all nodes below it."""
    parts, errors = [], np.zeros(len(below))
    for read in node.reads:
        source, weights = levels[read.node], read.operator
        rounded = (node.terms + len(node.reads) + 3) * U * weights.frobenius * norms(source.values)
        place = _places(source.starts, below)
        parts.append(weights.apply(source.values)[place])
        errors += (rounded + weights.norm_bound * source.errors + TINY)[place]
    return Derivatives(below, sum(parts[1:], start=parts[0]), errors)


def _places(coarse: Integers, fine: Integers) -> Integers:
    """Return the index of the coarse piece that contains each fine one, given the first strand of each piece."""
    return (np.searchsorted(coarse, fine, side="right") - 1).astype(np.int64)


def scaled(values: Floats) -> tuple[Floats, Exponents]:
    """Scale derivatives [k, d, units] to size one, so that squares stay in range; return them and exponents [k]."""
    _, exponents = np.frexp(np.abs(values).max(axis=(1, 2), initial=0.0))
    return np.ldexp(values, -exponents[:, np.newaxis, np.newaxis]), exponents


def norms(values: Floats) -> Floats:
    """Return the 2-norms of derivatives [k, d, units], of all coordinates together, float64 [k]."""
    squares = np.einsum("kdu,kdu->k", values, values)
    if ((squares > 1e-200) & (squares < 1e200)).all():  # any underflow is negligible
        return np.sqrt(squares)
    about_one, exponents = scaled(values)
    return np.ldexp(np.linalg.norm(about_one, axis=(1, 2)), exponents)
