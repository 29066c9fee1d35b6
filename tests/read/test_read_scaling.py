# SPDX-License-Identifier: MIT
"""Is it known whether each product, sum and inverse was rounded, and are scalings folded correctly?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from regions.errors import FileTooLargeError, NonFiniteError, ShapeMismatchError
from regions.networks.named_activations import relu
from regions.read.chains.steps import Dense, Nonlinearity, build_network
from regions.read.scaling import Scaling, add, invert, multiply

RNG = np.random.default_rng(0)
# Short and long significands, of ordinary size, next to zero, and next to the largest double.
NUMBERS = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 0.1, 1 / 3, 1 + 2.0**-52, 1 - 2.0**-53, 2.0**27 + 1, 2.0**26 + 1),
    *(2.0**-1074, 3 * 2.0**-1074, 2.0**-1022, 0.1 * 2.0**-1000, 2.0**1023, np.finfo(float).max),
    *RNG.standard_normal(20),
    *RNG.standard_normal(20).astype(np.float32).astype(float),
]


def test_products_sums_and_inverses_know_whether_they_are_exact() -> None:
    seen = set()
    for a in NUMBERS:
        for b in NUMBERS:
            for name, (values, exact), true in (
                ("multiply", multiply(np.array([a]), np.array([b])), Fraction(a) * Fraction(b)),
                ("add", add(np.array([a]), np.array([b])), Fraction(a) + Fraction(b)),
            ):
                rounded = float(values[0])
                assert exact == (np.isfinite(rounded) and Fraction(rounded) == true), (name, a, b)
                seen.add((name, exact))
        if a:
            values, exact = invert(np.array([a]))
            assert exact == (np.isfinite(values[0]) and Fraction(float(values[0])) == 1 / Fraction(a)), a
            seen.add(("invert", exact))
    assert len(seen) == 6


def scaling(scale: list[float], shift: list[float], exact: bool = True) -> Scaling:
    return Scaling("Div", "norm", np.array(scale), np.array(shift), exact)


LAYER = Dense("fc", np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0]))


def test_only_rounded_folds_leave_a_note() -> None:
    after = build_network([LAYER, scaling([2.0, -0.5], [1.0, 0.0])])
    assert after.notes == ()
    assert after.layers[0].weights.tolist() == [[2.0, 4.0], [-1.5, -2.0]]
    assert after.layers[0].biases.tolist() == [11.0, -3.0]
    before = build_network([scaling([2.0, -0.5], [0.0, 0.0]), LAYER])
    assert before.notes == ()
    assert before.layers[0].weights.tolist() == [[2.0, -1.0], [6.0, -2.0]]
    assert before.layers[0].biases.tolist() == [5.0, 6.0]
    for steps in (
        [LAYER, scaling([0.1, 1.0], [0.0, 0.0])],
        [LAYER, scaling([1.0, 1.0], [2.0**-60, 0.0])],
        [LAYER, scaling([1.0, 1.0], [0.0, 0.0], exact=False)],
        [scaling([0.1, 1.0], [0.0, 0.0]), LAYER],
        [scaling([1.0, 1.0], [0.1, 0.0]), LAYER],
    ):
        (note,) = build_network(steps).notes
        assert note.startswith("Div norm folded into fc, which ")


def test_two_in_a_row() -> None:
    first, second = scaling([2.0, 1.0], [1.0, 1.0]), scaling([4.0, 1.0], [0.5, -1.0])
    both = first.then(second)
    assert (both.scale.tolist(), both.shift.tolist(), both.exact) == ([8.0, 1.0], [4.5, 0.0], True)
    assert both.name == "norm, norm"
    assert not scaling([3.0, 1.0], [0.0, 0.0]).then(scaling([0.1, 1.0], [0.0, 0.0])).exact
    assert Scaling("Sub", "s", np.ones(2), np.ones(2), True).then(first).name == "s, Div norm"


def test_in_a_layer_of_its_own() -> None:
    network = build_network([scaling([2.0, 3.0], [0.1, -1.0]), Nonlinearity("r", relu()), LAYER])
    assert network.notes == ()
    assert network.layers[0].weights.tolist() == [[2.0, 0.0], [0.0, 3.0]]
    assert network.layers[0].biases.tolist() == [0.1, -1.0]


def test_refusals() -> None:
    with pytest.raises(ShapeMismatchError, match="Div 'norm' has 3 features, the values that reach it are 2"):
        build_network([LAYER, scaling([1.0] * 3, [0.0] * 3)])
    with pytest.raises(NonFiniteError, match="Div 'norm, norm': its scale or shift is not finite"):
        build_network([scaling([1e200] * 2, [0.0] * 2), scaling([1e200] * 2, [0.0] * 2), LAYER])
    wide = Dense("wide", np.ones((1, 5000)), np.zeros(1))
    with pytest.raises(FileTooLargeError, match="a layer of 5000 x 5000 weights would have to be put in before r"):
        build_network([Nonlinearity("r", relu()), wide])
