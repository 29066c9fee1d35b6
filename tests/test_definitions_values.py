# SPDX-License-Identifier: MIT
"""Do the bounds hold by which floating point decides about linear regions?

Values at vertices against fractions, also where vertices are stored badly; and what is concluded from numbers with
bounds, against all that these numbers may be.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from generators import FAMILIES
from partition_cases import drawn
from raw_from_reference import raw_from_reference
from regions.definitions.certified_values import CertifiedValues
from regions.definitions.differences import Bounded
from regions.domains import Domain
from regions.network import Network
from regions.partition import Partition


def exact_values(network: Network, domain: Domain, point: tuple[Fraction, ...]) -> list[list[Fraction]]:
    """Pre-activations of all layers at a chart point, the last ones are the outputs."""
    origin, *directions = [[Fraction(x) for x in row] for row in [domain.origin.tolist(), *domain.directions.tolist()]]
    values = [
        o + sum(p * step for p, step in zip(point, steps, strict=True))
        for o, *steps in zip(origin, *directions, strict=True)
    ]
    result = []
    for layer in network.layers:
        rows = zip(layer.weights.tolist(), layer.biases.tolist(), strict=True)
        h = [Fraction(b) + sum(Fraction(w) * x for w, x in zip(row, values, strict=True)) for row, b in rows]
        result.append(h)
        act = layer.activation
        pieces = [sum(x > Fraction(t) for t in act.breakpoints.tolist()) for x in h]
        slopes, intercepts = act.slopes_of(np.array(pieces)), act.intercepts_of(np.array(pieces))
        values = [
            Fraction(s) * x + Fraction(c) for s, x, c in zip(slopes.tolist(), h, intercepts.tolist(), strict=True)
        ]
    return result


@pytest.mark.parametrize("moved", [0.0, 1e-3], ids=["rounded vertices", "vertices far off"])
@pytest.mark.parametrize("family", FAMILIES)
def test_values_are_within_their_bounds(family: str, moved: float) -> None:
    network, domain = drawn(family, 2, seed=6)
    raw = raw_from_reference(network, domain)
    vertices = list(Partition(network, domain, raw).exact_vertices())
    shifts = moved * np.random.default_rng(0).choice([-1.0, 1.0], raw["vertices"].shape)
    raw["vertices"] = raw["vertices"] + shifts
    raw["vertex_errors"] = np.array(
        [
            np.nextafter(max(float(abs(Fraction(x) - y)) for x, y in zip(stored, true, strict=True)), np.inf)
            for stored, true in zip(raw["vertices"].tolist(), vertices, strict=True)
        ]
    )
    partition = Partition(network, domain, raw)
    corners = np.arange(len(partition.cell_vertices))[:60]
    regions = np.repeat(np.arange(len(partition)), partition.corner_counts)[corners]
    chosen = partition.cell_vertices[corners]
    found = CertifiedValues(partition).at(chosen, partition.packed_patterns[regions])
    for row, vertex in enumerate(chosen.tolist()):
        for exact, (values, errors) in zip(exact_values(network, domain, vertices[vertex]), found, strict=True):
            for x, value, error in zip(exact, values[row].tolist(), errors[row].tolist(), strict=True):
                assert not error < np.inf or abs(Fraction(value) - x) <= Fraction(error)


@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_what_follows_from_bounds(outputs: int) -> None:
    """Small integers, known up to 0 or 1: what is proven holds for all integers that they may be."""
    rng = np.random.default_rng(outputs)
    proven = np.zeros(3, dtype=int)
    for _ in range(400):
        a, b = rng.integers(-3, 4, (2, 1, outputs)).astype(float)
        a_errors, b_errors = (rng.random((2, 1, outputs)) < 0.2).astype(float)
        one, other = Bounded(a, a_errors), Bounded(b, b_errors)
        all_a, all_b = possible(one), possible(other)
        opposite = [is_opposite(x, y) for x in all_a for y in all_b]
        nonzero, surely, never = one.nonzero[0], one.opposite(other)[0], one.apart(other)[0]
        proven += nonzero, surely, never
        assert not nonzero or all(any(x) for x in all_a)
        assert not surely or all(opposite)
        assert not never or not any(opposite)
        if outputs == 1 and not (a_errors.any() or b_errors.any()) and a.any() and b.any():
            assert (surely, never) == (opposite[0], not opposite[0])
    assert (proven[[0, 2]] > 100).all() and (proven[1] > 50) == (outputs == 1)


def possible(numbers: Bounded) -> list[tuple[float, ...]]:
    ranges = [np.arange(x - e, x + e + 1).tolist() for x, e in zip(numbers.values[0], numbers.errors[0], strict=True)]
    return list(product(*ranges))


def is_opposite(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    parallel = all(a[i] * b[j] == a[j] * b[i] for i in range(len(a)) for j in range(i))
    return parallel and sum(x * y for x, y in zip(a, b, strict=True)) < 0


def test_nothing_follows_from_no_numbers() -> None:
    unknown = Bounded(np.full((1, 2), np.nan), np.full((1, 2), np.nan))
    endless = Bounded(np.full((1, 2), np.inf), np.full((1, 2), np.inf))
    for a in (unknown, endless):
        for b in (unknown, endless, Bounded(np.ones((1, 2)), np.zeros((1, 2)))):
            assert not (a.nonzero | a.opposite(b) | a.apart(b) | b.opposite(a) | b.apart(a)).any()
