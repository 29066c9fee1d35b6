# SPDX-License-Identifier: MIT
"""Do affine maps modulo primes agree with the reference, as fractions, and without rounding?"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, islice

import numpy as np

from generators import draw
from partition_cases import families
from regions import reference
from regions.ground.arithmetic.residues import reduced, residues
from regions.networks.network import Network
from regions.passes.modular import ResidueMaps, difference_bits, primes


def values(output: list[tuple[Fraction, ...]]) -> list[Fraction]:
    """Return the values of a map at the chart points 0, e1 (and e2), one after the other, each with all outputs."""
    constants = [form[0] for form in output]
    steps = [[form[k] for form in output] for k in range(1, len(output[0]))]
    return constants + [a + b for step in steps for a, b in zip(constants, step, strict=True)]


@families
def test_residues_match_the_reference(family: str, dimension: int) -> None:
    network, domain = draw(family, dimension, seed=4)
    found = reference.enumerate(network, domain)
    packed = np.packbits(np.array([region.pattern for region in found]), axis=1, bitorder="little")
    for prime in islice(primes(network.graph), 2):
        maps = ResidueMaps(network.graph, domain, prime)
        if network.kinks:
            expected = [[x.numerator * pow(x.denominator, -1, prime) % prime for x in values(r.output)] for r in found]
            assert maps.values(packed).tolist() == expected


@families
def test_bound_on_differences_holds(family: str, dimension: int) -> None:
    network, domain = draw(family, dimension, seed=5)
    found = reference.enumerate(network, domain)
    limit = 1 << difference_bits(network.graph, domain)
    for one, other in combinations(found[:12], 2):
        for a, b in zip(values(one.output), values(other.output), strict=True):
            assert abs((a - b).numerator) < limit


def test_products_of_residues_do_not_round() -> None:
    rng = np.random.default_rng(0)
    network = Network([(rng.standard_normal((700, 2)), None), (rng.standard_normal((3, 700)), None)])
    prime = next(primes(network.graph))
    a, b = rng.integers(-(prime // 2) - 2, prime // 2 + 3, (2, 50, 700)).astype(float)
    a[0], b[0] = prime // 2 + 2, prime // 2 + 2
    exact = (a.astype(np.int64).astype(object) * b.astype(np.int64).astype(object)).sum(axis=1)
    assert np.einsum("ij,ij->i", a, b).tolist() == exact.tolist()
    remainders = reduced(np.einsum("ij,ij->i", a, b), prime)
    assert (remainders % prime).tolist() == [x % prime for x in exact]
    assert np.abs(remainders).max() <= prime / 2 + 2


def test_residues_of_all_doubles() -> None:
    numbers = np.array([0.0, 1.0, -1.5, 5e-324, -5e-324, 1.7976931348623157e308, 2.0**-1022, 0.1, -3e17])
    for prime in (101, 2**26 - 5):
        expected = [x.numerator * pow(x.denominator, -1, prime) % prime for x in map(Fraction, numbers.tolist())]
        assert (residues(numbers, prime) % prime).tolist() == expected
