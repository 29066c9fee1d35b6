# SPDX-License-Identifier: MIT
"""Are the signs that values prove those of integers, and do values prove generic, degenerate and deep networks?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from certificates_judge import DAMAGES, by_values, finding, require_sound
from damage_parts import damaged, undamaged
from fuzz_certificates import ALL, drawn
from generators import draw
from generators_maxima import pooled
from partition_cases import SQUARE
from random_networks import random_network
from regions.certification import conditions, signs
from regions.certification.doubled_rows import Pair, SlicedOperator
from regions.certification.layout import Layout
from regions.certification.residue_forms import vanishing
from regions.certification.signs import VertexSigns
from regions.networks.dense import Dense
from regions.networks.network import Network
from regions.results.cells.complex import raw_arrays
from regions.results.partition import Partition

THREE_LINES = Network([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])


@pytest.mark.parametrize(
    "family", [pytest.param(family, marks=pytest.mark.slow) if "deep" in family else family for family in ALL]
)
def test_values_and_integers_come_to_the_same_verdict(family: str) -> None:
    for dimension in (1, 2):
        assert finding(*drawn(family, dimension, 5), seed=5, damages=2) is None


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_damage_at_random_is_not_proven(name: str) -> None:
    net = random_network([2, 6, 6, 1], 4)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        wrong, claimed = damaged(lambda case, rng=rng: DAMAGES[name](case, rng), undamaged(net, SQUARE))
        values, integers = by_values(wrong, claimed), regions.certify(wrong, claimed, regions="all")
        assert values.conclusion.startswith("proved") <= integers.conclusion.startswith(("proved", "failed: coord"))


@pytest.mark.parametrize("sizes", [[2, 12, 12, 1], [2, 6, 6, 6, 6, 6, 1], [2, *[5] * 12, 1]])
@pytest.mark.parametrize("activation", ["relu", "leaky_relu(0.1)", "hard_tanh", "soft_shrink(0.5)"])
def test_values_decide_nearly_all_vertices(sizes: list[int], activation: str) -> None:
    net = random_network(sizes, 2, activation)
    part = regions.enumerate(net, SQUARE)
    assert require_sound(part, net) >= 0.95 * len(part.vertices)


@pytest.mark.parametrize("family", ["zero_bias", "doubled_neurons", "related_neurons", "small_integer"])
def test_values_decide_degenerate_networks(family: str) -> None:
    """Zeros beyond the facets of the owner are proven by bounds on determinants, or modulo primes."""
    for seed in range(3):
        net, domain = draw(family, 2, seed)
        if domain.bounded:
            part = regions.enumerate(net, domain)
            assert require_sound(part, net) >= 0.4 * len(part.vertices)


@pytest.mark.parametrize("widths", [[16], [12, 8], [8, 6, 6]])
@pytest.mark.parametrize("seed", range(3))
def test_values_decide_max_pools(widths: list[int], seed: int) -> None:
    net = pooled(widths, seed)
    part = regions.enumerate(net, SQUARE)
    assert require_sound(part, net) >= 0.95 * len(part.vertices) and by_values(part, net).all_proved


@pytest.mark.parametrize("seed", range(12))
def test_values_and_integers_agree_about_damaged_pools(seed: int) -> None:
    for dimension in (1, 2):
        assert finding(*draw("max_pools", dimension, seed), seed, damages=3) is None


def test_a_facet_that_names_two_branches_that_are_zero_is_found() -> None:
    """Across it one of them becomes the argmax, but the unit below is the first to change."""
    net = pooled([8], 1)
    part = regions.enumerate(net, SQUARE)
    graph, bits = net.graph, net.graph.bits(part.packed_patterns)
    units, changed = graph.hidden[1].units, 0
    raw = {name: np.array(array) for name, array in raw_arrays(part).items() if isinstance(array, np.ndarray)}
    names = raw["facet_kinks"]
    for facet, (here, there) in enumerate(part.facet_regions.tolist()):
        (flipped,) = np.nonzero(bits[here] != bits[there]) if there >= 0 else ([],)
        later = [kink for kink in flipped if kink >= graph.hidden[1].kinks.start]
        if names[facet] < graph.hidden[1].kinks.start and names[facet] >= 0 and later:
            names[facet], changed = later[0], changed + 1
            break
    assert changed and units.kinks
    raw |= {"stats": part.stats, "complete": True, "kernel": part.kernel}
    assert not by_values(Partition(net, part.domain, raw), net).ok


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    net = pooled([8, 6], 0)
    part = regions.enumerate(net, SQUARE)
    report = by_values(part, net)
    monkeypatch.setattr(signs, "CHUNK", 200)
    monkeypatch.setattr(conditions, "CHUNK", 20)
    assert by_values(part, net) == report and report.conclusion.startswith("proved")


def test_a_vertex_beyond_its_bound_is_not_decided_by_values() -> None:
    """Signs hold as far from the stored vertex as is stated, so the distance has to be proven as well."""
    net = random_network([2, 12, 12, 1], 3)
    part = regions.enumerate(net, SQUARE)
    inner = np.setdiff1d(np.arange(len(part.vertices)), part.facet_vertices[part.facet_kinks < 0])
    raw = {**raw_arrays(part), "vertices": part.vertices.copy()}
    raw["vertices"][inner] += 16 * part.vertex_errors[inner, np.newaxis]
    found = VertexSigns(Layout(Partition(net, SQUARE, raw), net))
    found.decide_by_values()
    assert not found.known[inner].any()


def test_determinants_modulo_a_prime() -> None:
    rng, prime = np.random.default_rng(0), 101
    for d in (1, 2, 3):
        facets = rng.integers(0, prime, (50, d, d + 1))
        shares = rng.integers(1, prime, (50, 1, d))
        on, off = shares @ facets % prime, rng.integers(0, prime, (50, 1, d + 1))
        for last, expected in ((on, 1.0), (off, 0.0)):
            zero, sound = vanishing(np.concatenate([facets, last], axis=1), prime)
            assert sound.mean() > 0.9 and abs((zero & sound).sum() / sound.sum() - expected) < 0.1
        dependent = np.repeat(facets[:, :1], d + 1, axis=1)
        assert d == 1 or not vanishing(dependent, prime)[1].any()


def test_a_facet_that_is_run_along_three_times() -> None:
    """Of three copies of a neuron each names a facet between the same two vertices, there and back again.

    All signs are right, regions turn left, and each facet is used once from each side.
    """
    net = Network([([[1, 0], [2, 0], [4, 0], [0, 1]], np.zeros(4)), ([[1, 1, 1, 1]], [0])])
    part = regions.enumerate(net, SQUARE)
    raw = {**raw_arrays(part)}
    facet = int(np.flatnonzero((part.facet_kinks >= 0) & (part.facet_kinks < 3))[0])
    named, new = int(part.facet_kinks[facet]), [len(part.facet_kinks), len(part.facet_kinks) + 1]
    vertices, facets = [], []
    for start, stop in zip(part.cell_offsets[:-1], part.cell_offsets[1:], strict=True):
        ring, uses = part.cell_vertices[start:stop].tolist(), part.cell_facets[start:stop].tolist()
        if facet in uses:
            at = uses.index(facet)
            ends = ring[at], ring[(at + 1) % len(ring)]
            along = [facet, *new] if len(facets) == part.facet_regions[facet, 0] else [*new[::-1], facet]
            ring, uses = ring[:at] + [*ends, ends[0]] + ring[at + 1 :], uses[:at] + along + uses[at + 1 :]
        vertices.append(ring)
        facets.append(uses)
    ends = part.facet_vertices[facet]
    raw["cell_offsets"] = np.cumsum([0, *map(len, vertices)])
    raw["cell_vertices"], raw["cell_facets"] = np.concatenate(vertices), np.concatenate(facets)
    raw["facet_vertices"] = np.vstack([part.facet_vertices, ends[::-1], ends])
    raw["facet_regions"] = np.vstack([part.facet_regions, part.facet_regions[[facet, facet]]])
    raw["facet_kinks"] = np.append(part.facet_kinks, [kink for kink in range(3) if kink != named])
    wrong = Partition(net, SQUARE, raw)
    for report in (by_values(wrong, net), regions.certify(wrong, net)):
        assert {"cells", "euler"} <= {item.name for item in report.failed}


def test_each_bit_of_a_sign_vector_counts() -> None:
    """Any wrong sign is found, and any sign instead of a zero."""
    part = regions.enumerate(THREE_LINES, SQUARE)
    layout = Layout(part, THREE_LINES)
    right = VertexSigns(layout)
    right.decide_by_values()
    right.known[:] = True
    everything = np.ones(len(part), dtype=bool)
    assert not list(conditions.faults_of_regions(layout, right, everything))
    for vertex in range(len(part.vertices)):
        for column in range(layout.every):
            byte, bit = column >> 3, np.uint8(1 << (column & 7))
            for name in ("above", "zero"):
                array = getattr(right, name)
                before = array[vertex].copy()
                array[vertex, byte] ^= bit
                found = list(conditions.faults_of_regions(layout, right, everything))
                if not right.zero[vertex, byte] & bit:  # a sign that is not zero, or one that was
                    assert found, (vertex, column, name)
                array[vertex] = before


@pytest.mark.parametrize(("outputs", "inputs"), [(3, 1), (5, 8), (4, 100)])
@pytest.mark.parametrize("kind", ["floats", "doubles", "far apart", "tiny"])
def test_sliced_products_are_within_their_bounds(outputs: int, inputs: int, kind: str) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        weights, high = rng.standard_normal((outputs, inputs)), rng.standard_normal((3, inputs))
        if kind == "floats":
            weights = weights.astype(np.float32).astype(np.float64)
        elif kind == "far apart":
            weights, high = (x * 10.0 ** rng.integers(-30, 30, x.shape) for x in (weights, high))
        elif kind == "tiny":
            weights, high = weights * 1e-160, high * 1e-140
        low = high * rng.uniform(-1, 1, high.shape) * 2.0**-53
        found, bounds = SlicedOperator(Dense(weights)).apply(Pair(high, low))
        for row in range(3):
            for output in range(outputs):
                exact = sum(
                    Fraction(w) * (Fraction(a) + Fraction(b))
                    for w, a, b in zip(weights[output], high[row], low[row], strict=True)
                )
                off = abs(exact - Fraction(found.high[row, output]) - Fraction(found.low[row, output]))
                assert off <= Fraction(bounds[output])
                sizes = (np.abs(weights[output]) * np.abs(high).max(axis=0)).sum()
                assert kind in ("far apart", "tiny") or bounds[output] <= 2.0**-80 * sizes
