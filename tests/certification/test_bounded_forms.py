# SPDX-License-Identifier: MIT
"""Are the forms of kinks within their bounds, compared with fractions, also where numbers underflow or overflow?"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import regions
from generators import draw
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from regions.certification.bounded_forms import Bounded, at_points, walk
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Operator, Read, Units
from regions.networks.named_activations import identity, relu
from regions.networks.network import Network
from regions.networks.patches import Patches

Exact = list[list[Fraction]]  # coefficients by row


def exact_kinks(graph: Graph, domain: Any, bits: np.ndarray) -> list[tuple[Exact, Exact]]:
    """Return the exact rows of each hidden node under a pattern, and the forms of its kinks."""
    chart = np.vstack([domain.origin, domain.directions])
    live: dict[int, Exact] = {-1: [list(map(Fraction, lane)) for lane in chart.T.tolist()]}
    found = []
    for number, node in enumerate(graph.hidden):
        rows = []
        # Exactly also where a patch reads an input more than once.
        matrices = [read.operator.entrywise(np.vectorize(Fraction, otypes=[object])).weights for read in node.reads]
        for row, bias in enumerate(node.biases.tolist()):
            total = [Fraction(bias), *[Fraction(0)] * len(domain.directions)]
            for read, matrix in zip(node.reads, matrices, strict=True):
                for weight, source in zip(matrix[row].tolist(), live[read.node], strict=True):
                    if weight:
                        total = [a + weight * b for a, b in zip(total, source, strict=True)]
            rows.append(total)
        units, pieces = node.units, node.units.pieces_of(bits[node.kinks])
        kinks = []
        for (later, earlier), value in zip(units.kink_rows.tolist(), units.kink_values.tolist(), strict=True):
            other = rows[earlier] if earlier >= 0 else [Fraction(value), *[Fraction(0)] * len(domain.directions)]
            kinks.append([a - b for a, b in zip(rows[later], other, strict=True)])
        found.append((rows, kinks))
        which = units.followed(np.arange(units.rows), pieces).tolist()
        slopes, intercepts = (each.tolist() for each in units.on_pieces(pieces))
        live[number] = [
            [Fraction(slope) * a + (Fraction(intercept) if lane == 0 else 0) for lane, a in enumerate(rows[row])]
            for row, slope, intercept in zip(which, slopes, intercepts, strict=True)
        ]
    return found


def sized(form: list[Fraction], reach: Fraction) -> Fraction:
    return abs(form[0]) + reach * sum(map(abs, form[1:]))


def about(form: list[Fraction], centre: list[float]) -> list[Fraction]:
    """Move the origin to another point."""
    return [form[0] + sum(a * Fraction(x) for a, x in zip(form[1:], centre, strict=True)), *form[1:]]


def require_bounds(net: Network, domain: Any, points: np.ndarray, packed: np.ndarray, double: bool) -> int:
    """Compare all forms and values with exact ones; return the number of finite bounds."""
    with np.errstate(all="ignore"):
        block, moved = Bounded(net.graph, domain, double).near(points)
        bits = net.graph.bits(packed)
        exact = [exact_kinks(net.graph, domain, row) for row in bits]
        reach, finite = Fraction(block.least), 0
        centre = block.centre.tolist()
        for number, (node, rows, index) in enumerate(walk(net.graph, block, packed)):
            kinks, mistakes, steep = block.kinks(node, rows)
            growth = steep * (0.0 if double else 2.0**-53 * block.least)
            for pattern, of in enumerate(index.tolist()):
                true = exact[pattern][number]
                for forms, errors, wanted in ((rows[:-1], rows[-1], true[0]), (kinks, mistakes, true[1])):
                    for row, form in enumerate(wanted):
                        bound = errors[of, row]
                        if not bound < np.inf:
                            continue
                        finite += 1
                        form = about(form, centre)
                        mine = [
                            sum(map(Fraction, lane))
                            for lane in zip(*(f[of, :, row].tolist() for f in forms), strict=True)
                        ]
                        apart = sized([a - b for a, b in zip(mine, form, strict=True)], reach)
                        if forms is kinks and bound == 0:  # constant, and with the right sign
                            assert not any(form[1:]) and (mine[0] > 0, mine[0] < 0) == (form[0] > 0, form[0] < 0)
                            continue
                        assert apart <= Fraction(bound), (number, row, float(apart), bound)
                for kink, form in enumerate(true[1]):
                    if steep[of, kink] < np.inf:
                        assert sum(map(abs, form[1:])) <= Fraction(steep[of, kink])
                values, more = at_points([each[of][np.newaxis] for each in kinks], moved)
                bounds = mistakes[of] + growth[of] + more
                for place, point in enumerate(points.tolist()):
                    for kink, form in enumerate(true[1]):
                        bound = bounds[place if np.ndim(more) else 0, kink] if np.ndim(more) else bounds[kink]
                        if bound < np.inf and mistakes[of, kink] != 0:
                            wanted = about(form, point)[0]
                            assert abs(Fraction(values[place, kink]) - wanted) <= Fraction(bound)
    return finite


def at_scale(seed: int, exponents: tuple[int, ...], activation: str) -> tuple[Network, Any]:
    """Return a small network whose numbers have very different sizes, and a domain."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    widths = [d + 1, *rng.integers(2, 6, rng.integers(1, 4)).tolist(), 1]

    def numbers(*shape: int) -> np.ndarray:
        found = np.ldexp(rng.standard_normal(shape), rng.choice(exponents, shape))
        return np.where(rng.random(shape) < 0.1, 0.0, np.clip(found, -1e300, 1e300))

    layers = [(numbers(b, a), numbers(b)) for a, b in pairwise(widths)]
    places = np.vstack([numbers(d + 1), np.eye(d, d + 1) + numbers(d, d + 1) / 8])
    domain = type("Chart", (), {"origin": places[0], "directions": places[1:]})
    return Network(layers, activation), domain


SCALES = {
    "ordinary": (-3, 0, 2),
    "small": (-1060, -700, -400),
    "mixed": (-1060, -300, 0, 400),
    "large": (100, 300, 400),
    "denormal": (-1074, -1020, 0),
    "cancelling": (-60, 0, 60),
}


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("scale", SCALES)
def test_forms_are_within_their_bounds(scale: str, double: bool) -> None:
    finite = 0
    for seed in range(24):
        activation = ("relu", "leaky_relu", "hard_tanh", "relu6", "abs")[seed % 5]
        net, domain = at_scale(seed, SCALES[scale], activation)
        rng = np.random.default_rng([seed, 1])
        far = np.ldexp(1.0, int(rng.choice([-1060, -200, 0, 0, 400])))
        points = far * (rng.standard_normal((3, len(domain.directions))) + rng.choice([0.0, 100.0]))
        # Patterns that units can have, in lexicographic order.
        pieces = [[rng.integers(0, node.units.each + 1, node.units.count) for node in net.graph.hidden] for _ in "abcd"]
        bits = sorted(
            np.concatenate([n.units.bits_of(p) for n, p in zip(net.graph.hidden, each, strict=True)]).tolist()
            for each in pieces
        )
        finite += require_bounds(net, domain, points, np.packbits(np.array(bits), axis=1, bitorder="little"), double)
    assert finite > 100


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("family", [*sorted(GRAPH_FAMILIES)[:4], *sorted(MAX_FAMILIES)[:4], "small_integer"])
def test_forms_of_graphs_and_maxima(family: str, double: bool) -> None:
    for dimension in (1, 2, 3):
        net, domain = draw(family, dimension, 1)
        if not domain.bounded:
            continue
        part = regions.enumerate(net, domain)
        if net.kinks:
            some = part.packed_patterns[:6]
            order = np.lexsort(net.graph.bits(some).T[::-1])
            finite = require_bounds(net, domain, part.vertices[:4], some[order], double)
            assert finite or "extreme" in family


def row_of_two(operators: list[Operator]) -> tuple[Any, np.ndarray]:
    """Return the graph of a row that reads 32 units in each of these ways, of which two are 1 and the others 0."""
    biases = np.full(32, -1.0)
    biases[[0, 16]] = 1.0
    nodes = [
        Node(biases, (Read(Dense(np.zeros((32, 1))), -1),), Units(32, relu()), slice(0, 32)),
        Node(np.zeros(1), tuple(Read(each, 0) for each in operators), Units(1, relu()), slice(32, 33)),
        Node(np.zeros(1), (Read(Dense(np.ones((1, 1))), 1),), Units(1, identity()), slice(33, 33)),
    ]
    net = type("Net", (), {"graph": Graph(1, nodes)})
    return net, np.packbits(np.append(biases > 0, True)[np.newaxis], axis=1, bitorder="little")


# A little more than half of the last place of 1: each is rounded up when it is added.
LITTLE = 2.0**-53 * (1 + 2.0**-20)


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("what", ["parts of many reads", "inputs that are read often"])
def test_every_addition_is_charged(what: str, double: bool) -> None:
    if what == "parts of many reads":
        rows = np.zeros((30, 1, 32))
        rows[:, 0, [0, 16]] = LITTLE
        rows[0, 0, 0] = 1.0
        operators: list[Operator] = [Dense(row) for row in rows]
    else:
        kernel, one = np.full((1, 1, 4000), LITTLE), np.zeros((1, 1), dtype=np.int32)
        kernel[0, 0, :64] = 1.0
        operators = [Patches(32, 1, kernel, one[0], np.zeros((1, 4000), dtype=np.int32), one)]
    net, packed = row_of_two(operators)
    assert require_bounds(net, regions.Segment([0.0], [1.0]), np.array([[0.0], [1.0]]), packed, double)
