# SPDX-License-Identifier: MIT
"""Do signs at points agree with fractions, in any blocks of the first layer?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from partition_cases import CASES
from random_networks import random_network
from regions.domains import Line
from regions.passes.exact import ExactSigns


def test_exact_signs_match_fractions() -> None:
    network, domain = random_network([3, 5, 4, 1], 11, "hard_tanh"), Line([0.1, 0.2, 0.3], [1, -1, 0.5])
    exact = ExactSigns(network.graph, domain)
    for p in (0.0, 1.0, -0.37, 1e-300, 2.0**80):
        values = [
            Fraction(o) + Fraction(p) * Fraction(d)
            for o, d in zip(domain.origin.tolist(), domain.directions[0].tolist(), strict=True)
        ]
        expected = []
        for layer in network.layers[:-1]:
            weights, biases = layer.weights.tolist(), layer.biases.tolist()
            h = [sum(Fraction(w) * v for w, v in zip(row, values, strict=True)) for row in weights]
            h = [x + Fraction(bias) for x, bias in zip(h, biases, strict=True)]
            expected += [(x > t) - (x < t) for x in h for t in (-1, 1)]
            values = [min(max(x, Fraction(-1)), Fraction(1)) for x in h]
        assert exact.at(np.array([p])).tolist() == expected


def test_the_first_layer_is_taken_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    network, domain = CASES["rectangle"]
    point = np.array([0.25, 0.5])
    whole = ExactSigns(network.graph, domain).at(point)
    monkeypatch.setattr("regions.passes.exact.BLOCK", 2 * network.n_in)
    assert (ExactSigns(network.graph, domain).at(point) == whole).all()
