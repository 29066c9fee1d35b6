# SPDX-License-Identifier: MIT
"""Is the sum of counts over all signs of the units the sum of cells of arrangements over all gates?

The theorem is in ``docs/depth.md``. Both sides are integers and need no tolerance, so it also tests the enumeration: a
region missed or found twice in any of the networks would show. In whole spaces the cells are counted by characteristic
polynomials, which share no code with the core. `fuzz_sign_identities.py` compares many more.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import regions
from fuzz_sign_identities import main
from regions import bounds
from sign_identity import (
    KINDS,
    LAWS,
    PARTS,
    SLOPES,
    WHOLE,
    arrangements,
    case_of,
    cells_in,
    chambers,
    difference,
    drawn,
    over_signs,
)

SHAPES = [(3, 3), (4, 2), (2, 3, 2), (3, 2, 2), (2, 2, 2, 2), (5,)]


def chain(rng: np.random.Generator, n_in: int, widths: tuple[int, ...], law: str, activation: str) -> regions.Network:
    """Draw a chain. Generic numbers have ten bits, so that no minor is 0 by chance."""

    def generic(*size: int) -> np.ndarray:
        return (2 * rng.integers(-(2**9), 2**9, size) + 1) / 2**8

    weights, biases = LAWS[law]
    laws = (generic, generic) if law == "generic" else (lambda *s: weights(rng, *s), lambda *s: biases(rng, *s))
    return drawn("chain", n_in, widths, activation, *laws)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n_in", [1, 2, 3, 4])
def test_whole_spaces(n_in: int, law: str) -> None:
    rng = np.random.default_rng([n_in, list(LAWS).index(law)])
    for widths, (activation, slope) in product(SHAPES, SLOPES.items()):
        network = chain(rng, n_in, widths, law, activation)
        counts = regions.count(over_signs(network), WHOLE[n_in])
        assert counts.sum() == chambers(list(arrangements(network))), (widths, activation)
        mean = Fraction(int(counts.sum()), len(counts))
        law_of_all = bounds.expected_regions(n_in, widths, slope=slope)
        assert mean == law_of_all if law == "generic" else mean <= law_of_all, (widths, activation)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n_in", [1, 2, 3])
def test_parts_of_spaces(n_in: int, law: str) -> None:
    rng = np.random.default_rng([7, n_in, list(LAWS).index(law)])
    for widths, activation in product(SHAPES, SLOPES):
        network = chain(rng, n_in, widths, law, activation)
        counts = regions.count(over_signs(network), PARTS[n_in])
        assert counts.sum() == cells_in(PARTS[n_in], list(arrangements(network))), (widths, activation)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_other_networks(kind: str) -> None:
    cases = [case for case in map(case_of, range(300)) if case.kind == kind]
    assert {case.n_in for case in cases} >= {1, 2, 3}
    for case in cases[:25]:
        assert not difference(case)[1], case


def test_a_few_networks() -> None:
    network = chain(np.random.default_rng(0), 2, (3, 3), "generic", "relu")
    counts = regions.count(over_signs(network), WHOLE[2])
    assert len(set(counts.tolist())) > 1  # single networks differ, and only their mean is known
    assert counts.sum() == chambers(list(arrangements(network)))
    assert Fraction(int(counts.sum()), 8) == bounds.expected_regions(2, [3, 3])


def test_the_sign_of_a_unit_flips_its_row_and_its_column() -> None:
    network = chain(np.random.default_rng(1), 2, (3, 2, 4), "generic", "abs")
    sizes = [3, 2]
    for signs, flipped in zip(product((1.0, -1.0), repeat=5), over_signs(network), strict=True):
        first, second = np.split(np.array(signs), np.cumsum(sizes))[:-1]
        for layer, other, before, after in zip(
            network.layers, flipped.layers, (np.ones(2), first, second), (first, second, np.ones(4)), strict=False
        ):
            assert (other.weights == after[:, np.newaxis] * layer.weights * before).all()
            assert (other.biases == after * layer.biases).all()


def test_the_campaign_reports(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz_sign_identities.py", "--networks", "60"])
    assert main() == 0
    assert " 0 differences" in capsys.readouterr().out
    monkeypatch.setattr("sign_identity.cells_in", lambda *_: 0)
    assert main() == 1


def test_the_formula_by_brute_force() -> None:
    """Count sets of units whose linear parts are independent modulo a prime, for random weights."""
    prime, rng = 2**31 - 1, np.random.default_rng(3)
    for n_in, widths, slope in (
        (2, (3, 2), 0),
        (3, (1, 3, 2), 0),
        (3, (2, 1, 3), 0),
        (2, (2, 3), 2),
        (3, (1, 2, 2), 2),
    ):
        layers = [
            (rng.integers(1, prime, (b, a)).astype(object), np.zeros(b, dtype=object))
            for a, b in zip((n_in, *widths), widths, strict=False)
        ]
        total = 0
        for flat in product((1, slope), repeat=sum(widths[:-1])):
            gates = np.split(np.array(flat), np.cumsum(widths[:-1]))[:-1]
            normals = layers[0][0]
            rows = [normals]
            for gate, (w, _) in zip(gates, layers[1:], strict=True):
                normals = w.dot(gate.astype(object)[:, np.newaxis] * normals) % prime
                rows.append(normals)
            total += independent_sets(np.vstack(rows).tolist(), prime)
        assert Fraction(total, 2 ** sum(widths[:-1])) == bounds.expected_regions(n_in, widths, slope=slope)


def independent_sets(rows: list[list[int]], prime: int) -> int:
    """Count the sets of linearly independent rows modulo a prime, the empty one included."""
    if not rows:
        return 1
    first, rest = rows[0], rows[1:]
    without = independent_sets(rest, prime)
    place = next((i for i, x in enumerate(first) if x % prime), None)
    if place is None:
        return without
    inverse = pow(first[place], -1, prime)
    reduced = [
        [(x - row[place] * inverse * y) % prime for i, (x, y) in enumerate(zip(row, first, strict=True)) if i != place]
        for row in rest
    ]
    return without + independent_sets(reduced, prime)


def test_a_layer_of_a_coarse_law_has_fewer_regions() -> None:
    """Weights and biases 1 and -1 have symmetric signs. The bound of the theorem is one layer in general position."""
    line, means = regions.Line([0.0], [1.0]), []
    for widths in ([3], [2, 1]):
        shapes = [(1, widths[0]), *((n, m) for n, m in zip(widths, widths[1:], strict=False))]
        counts = []
        for numbers in product((-1.0, 1.0), repeat=sum((n + 1) * m for n, m in shapes)):
            rest, layers = list(numbers), []
            for n, m in shapes:
                layers.append(([[rest.pop() for _ in range(n)] for _ in range(m)], [rest.pop() for _ in range(m)]))
            layers.append(([[1.0] * widths[-1]], [0.0]))
            counts.append(regions.count(regions.Network(layers), line))
        means.append(sum(counts) / len(counts))
    assert means == [2.75, 3.125] and max(means) <= regions.bounds.zaslavsky(1, 3)
