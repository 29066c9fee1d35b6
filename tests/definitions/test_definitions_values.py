# SPDX-License-Identifier: MIT
"""Are the error bounds for linear regions valid, and is exact arithmetic right?

Values at vertices, maps, and their differences are compared with fractions, also for inaccurate vertices. Conclusions
from numbers with bounds are tested for all possible numbers.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import gcd
from typing import Any

import numpy as np
import pytest

import regions
from generators import FAMILIES
from partition_cases import drawn
from raw_from_reference import partition_from_reference, raw_from_reference, sorted_regions
from regions.domains import Domain
from regions.ground.arithmetic.proven import Proven
from regions.networks.network import Network
from regions.networks.walk import preactivations, under
from regions.passes import bounded_together
from regions.passes.bounded_together import BoundedTogether
from regions.passes.exact import ExactForms
from regions.results.cells.equal_maps import equal_maps
from regions.results.definitions.bounded_maps import BoundedMaps
from regions.results.definitions.bounded_values import BoundedValues
from regions.results.definitions.differences import Differences, apart, opposite
from regions.results.definitions.incidence import Corners, at_infinity
from regions.results.definitions.shared_forms import SharedForms
from regions.results.definitions.vertex_signs import VertexSigns
from regions.results.partition import Partition

vertices_off = pytest.mark.parametrize("moved", [0.0, 1e-3], ids=["rounded vertices", "vertices far off"])


def exact_values(network: Network, domain: Domain, point: tuple[Fraction, ...]) -> list[list[Fraction]]:
    """Pre-activations of all hidden layers at a chart point."""
    origin, *directions = [[Fraction(x) for x in row] for row in [domain.origin.tolist(), *domain.directions.tolist()]]
    values = [
        o + sum(p * step for p, step in zip(point, steps, strict=True))
        for o, *steps in zip(origin, *directions, strict=True)
    ]
    result = []
    for layer in network.layers[:-1]:
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


def with_moved_vertices(network: Network, domain: Domain, moved: float) -> tuple[Partition, list[Any]]:
    """Return a partition whose vertices are stored as far off as they say, and its true vertices."""
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
    return Partition(network, domain, raw), vertices


@pytest.mark.slow
@vertices_off
@pytest.mark.parametrize("family", FAMILIES)
def test_values_are_within_their_bounds(family: str, moved: float) -> None:
    network, domain = drawn(family, 2, seed=6)
    partition, vertices = with_moved_vertices(network, domain, moved)
    corners = np.arange(len(partition.cell_vertices))[:60]
    owners = np.repeat(np.arange(len(partition)), partition.corner_counts)[corners]
    chosen = partition.cell_vertices[corners]
    found = BoundedValues(partition).at(chosen, partition.packed_patterns[owners])
    for row, vertex in enumerate(chosen.tolist()):
        for exact, (values, errors) in zip(exact_values(network, domain, vertices[vertex]), found, strict=True):
            for x, value, error in zip(exact, values[row].tolist(), errors[row].tolist(), strict=True):
                assert not error < np.inf or abs(Fraction(value) - x) <= Fraction(error)


@vertices_off
@pytest.mark.parametrize("family", FAMILIES)
def test_signs_that_are_proven_are_right(family: str, moved: float) -> None:
    network, domain = drawn(family, 2, seed=6)
    partition, vertices = with_moved_vertices(network, domain, moved)
    corners = np.arange(len(partition.cell_vertices))[:20]
    owners = np.repeat(np.arange(len(partition)), partition.corner_counts)[corners]
    found = VertexSigns(partition).at(corners, owners)
    kinks = list(zip(network.kink_layers.tolist(), network.kink_units.tolist(), network.kink_values, strict=True))
    for corner, *signs in zip(corners.tolist(), *map(network.graph.bits, found), strict=True):
        values = exact_values(network, domain, vertices[partition.cell_vertices[corner]])
        for (layer, unit, kink), above, below in zip(kinks, *signs, strict=True):
            distance = values[layer][unit] - Fraction(kink)
            assert not (above and distance <= 0) and not (below and distance >= 0)


def test_a_corner_that_is_known_badly_costs_others_nothing() -> None:
    """Forms share bounds at first, and are then evaluated separately. A kink that is zero at a corner has no sign."""
    network, domain = drawn("generic", 2, seed=6)
    partition = partition_from_reference(network, domain)
    corners, regions_ = partition.cell_offsets[:-1], np.arange(len(partition))
    before = np.array(VertexSigns(partition).at(corners, regions_))
    assert network.graph.bits(before[0] | before[1]).mean() > 0.5
    raw = raw_from_reference(network, domain)
    raw["vertex_errors"] = np.where(np.arange(len(partition.vertices)) == corners[0], np.inf, partition.vertex_errors)
    after = np.array(VertexSigns(Partition(network, domain, raw)).at(corners, regions_))
    assert (before == after)[:, partition.cell_vertices[corners] != corners[0]].all()


@pytest.mark.slow
@vertices_off
@pytest.mark.parametrize("deep", [0, 5], ids=["lengths", "units"])
@pytest.mark.parametrize("family", FAMILIES)
def test_values_are_within_bounds_that_they_share(
    family: str, deep: int, moved: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_together, "DEEP", deep)
    network, domain = drawn(family, 2, seed=6)
    partition, vertices = with_moved_vertices(network, domain, moved)
    arithmetic = BoundedTogether(network.graph, domain)
    owners = np.repeat(np.arange(len(partition)), partition.corner_counts)
    for start in range(0, min(60, len(owners)), 3):
        part = slice(start, start + 3)
        chosen, bits = partition.cell_vertices[part], partition.patterns[owners[part]]
        exact = [exact_values(network, domain, vertices[vertex]) for vertex in chosen.tolist()]
        with np.errstate(all="ignore"):
            points = arithmetic.inputs(partition.vertices[chosen], partition.vertex_errors[chosen])
            for layer, found in enumerate(preactivations(network.graph, arithmetic, points, under(bits))):
                if layer == len(network.widths):
                    break
                for row, values in zip(exact, found.values.tolist(), strict=True):
                    bounds = found.errors[0].tolist()
                    # Values that are not finite have no bound.
                    off = [
                        abs(Fraction(x) - y) if bound < np.inf else 0
                        for x, y, bound in zip(values, row[layer], bounds, strict=True)
                    ]
                    assert all(x <= bound for x, bound in zip(off, bounds, strict=True) if bound < np.inf)
                    assert not found.length < np.inf or sum(x**2 for x in off) <= Fraction(found.length) ** 2


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("family", FAMILIES)
def test_maps_are_within_their_bounds(family: str, dimension: int) -> None:
    network, domain = drawn(family, dimension, seed=6)
    partition = partition_from_reference(network, domain)
    chosen = np.random.default_rng(0).permutation(len(partition))[:40]
    maps = BoundedMaps(partition, chosen)
    known = [maps.of(np.array(part)) for part in ([0], [*range(len(chosen))])]
    values, errors = (np.concatenate(each) for each in zip(*known, strict=True))
    true = [region.output for region in sorted_regions(network, domain)]
    for region, forms, bounds in zip([chosen[0], *chosen], values.tolist(), errors.tolist(), strict=True):
        for form, value, bound in zip(true[region], forms, bounds, strict=True):
            for x, y, error in zip(form, value, bound, strict=True):
                assert not error < np.inf or abs(Fraction(y) - x) <= Fraction(error)


@pytest.mark.slow
@vertices_off
@pytest.mark.parametrize("family", FAMILIES)
def test_differences_of_maps(family: str, moved: float) -> None:
    """They are zero where they should be, and have the right signs and ratios elsewhere."""
    network, domain = drawn(family, 2, seed=6)
    partition, points = with_moved_vertices(network, domain, moved)
    maps = equal_maps(partition)
    rng = np.random.default_rng(0)
    vertices = rng.permutation(np.flatnonzero(~at_infinity(partition)))[:60]
    levels = rng.integers(maps.max() + 1, size=len(vertices))
    corners = Corners.of(partition)
    levels[::2] = maps[corners.regions[corners.by_vertex[corners.offsets[vertices[::2] + 1] - 1]]]
    found = Differences(partition, maps, corners).at(vertices, levels)
    true = [region.output for region in sorted_regions(network, domain)]
    first = np.unique(maps, return_index=True)[1]
    for row, (vertex, level) in enumerate(zip(vertices.tolist(), levels.tolist(), strict=True)):
        own = corners.regions[corners.by_vertex[corners.offsets[vertex]]]
        exact = [
            sum((a - b) * x for a, b, x in zip(f, g, (Fraction(1), *points[vertex]), strict=True))
            for f, g in zip(true[own], true[first[level]], strict=True)
        ]
        assert found.nonzero[row].any() == any(exact) and (row % 2 or not any(exact))
        # Vectors are known up to a factor: the other entries follow from the most accurate one.
        values, errors = ([Fraction(x) for x in each[row].tolist()] for each in found)
        best = max(range(len(exact)), key=lambda i: abs(values[i]) - errors[i])
        if any(exact):
            factors = [(values[best] + sign * errors[best]) / exact[best] for sign in (-1, 1)]
            assert min(factors) > 0
            for x, value, error in zip(exact, values, errors, strict=True):
                ends = sorted(factor * x for factor in factors)
                assert ends[0] <= value + error and value - error <= ends[1]


@pytest.mark.parametrize("family", FAMILIES)
def test_forms_are_shared_where_they_are_the_same(family: str) -> None:
    network, domain = drawn(family, 2, seed=6)
    shared, own = SharedForms(network.graph, domain), ExactForms(network.graph, domain)
    for pattern in partition_from_reference(network, domain).patterns[::-1][:30]:
        for forms in (shared, own):
            forms.enter(pattern)
        for kink in range(network.kinks):
            one, other = ([x // (gcd(*form) or 1) for x in form] for form in (shared.kink(kink), own.kink(kink)))
            assert one == other


def test_a_form_of_a_unit_that_reads_few_others_is_computed_once() -> None:
    """In the second layer one unit reads x, the other one y: there are as many forms as pieces of either function."""
    first = np.repeat(np.eye(2), 3, axis=0), [0, -1, -2] * 2
    network = Network([first, (np.repeat(np.eye(2), 3, axis=1), [-0.5, -0.5]), ([[1, 1]], None)])
    partition = regions.enumerate(network, regions.Plane([0, 0], [1, 0], [0, 1]))
    forms = SharedForms(network.graph, partition.domain)
    for pattern in partition.patterns:
        forms.enter(pattern)
        for kink in range(network.kinks):
            forms.kink(kink)
    assert len(forms.shared) == 6 + 4 + 4 < len(partition)


@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_what_follows_from_bounds(outputs: int) -> None:
    """Small integers, known up to 0 or 1: proofs hold for all integers that they may be."""
    rng = np.random.default_rng(outputs)
    proven = np.zeros(3, dtype=int)
    for _ in range(400):
        a, b = rng.integers(-3, 4, (2, 1, outputs)).astype(float)
        a_errors, b_errors = (rng.random((2, 1, outputs)) < 0.2).astype(float)
        one, other = Proven(a, a_errors), Proven(b, b_errors)
        all_a, all_b = possible(one), possible(other)
        opposites = [is_opposite(x, y) for x in all_a for y in all_b]
        nonzero, surely, never = one.nonzero.any(), opposite(one, other)[0], apart(one, other)[0]
        proven += nonzero, surely, never
        assert not nonzero or all(any(x) for x in all_a)
        assert not surely or all(opposites)
        assert not never or not any(opposites)
        if outputs == 1 and not (a_errors.any() or b_errors.any()) and a.any() and b.any():
            assert (surely, never) == (opposites[0], not opposites[0])
    assert (proven[[0, 2]] > 100).all() and (proven[1] > 50) == (outputs == 1)


def possible(numbers: Proven) -> list[tuple[float, ...]]:
    ranges = [np.arange(x - e, x + e + 1).tolist() for x, e in zip(numbers.value[0], numbers.error[0], strict=True)]
    return list(product(*ranges))


def is_opposite(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    parallel = all(a[i] * b[j] == a[j] * b[i] for i in range(len(a)) for j in range(i))
    return parallel and sum(x * y for x, y in zip(a, b, strict=True)) < 0


def test_nothing_follows_from_no_numbers() -> None:
    unknown = Proven(np.full((1, 2), np.nan), np.full((1, 2), np.nan))
    endless = Proven(np.full((1, 2), np.inf), np.full((1, 2), np.inf))
    for a in (unknown, endless):
        for b in (unknown, endless, Proven(np.ones((1, 2)), np.zeros((1, 2)))):
            assert not (a.nonzero.any() or (opposite(a, b) | apart(a, b) | opposite(b, a) | apart(b, a)).any())
