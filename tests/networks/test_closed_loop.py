# SPDX-License-Identifier: MIT
"""Is a closed loop the composition of its steps, exactly?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from exact_passes import exact_outputs
from regions import Network, Segment, closed_loop
from regions.errors import NonFiniteError, ShapeMismatchError

RNG = np.random.default_rng(0)
CONTROLLER = Network([(RNG.normal(size=(5, 2)), RNG.normal(size=5)), (RNG.normal(size=(1, 5)), RNG.normal(size=1))])
A, B, C = RNG.normal(size=(2, 2)), RNG.normal(size=(2, 1)), RNG.normal(size=2)


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_steps_are_exact(steps: int) -> None:
    loop = closed_loop(CONTROLLER, A, B, C, steps)
    assert (loop.n_in, loop.n_out, loop.hidden) == (2, 2, loop.hidden)
    state = [Fraction(1, 3), Fraction(-2, 7)]
    domain = regions.Polygon([[0, 0], [1, 0], [0, 1]])  # its chart is the input space
    found = exact_outputs(loop.graph, domain, tuple(state))
    for _ in range(steps):
        (control,) = exact_outputs(CONTROLLER.graph, domain, tuple(state))
        state = [
            sum(Fraction(a) * x for a, x in zip(row, state, strict=True)) + Fraction(b[0]) * control + Fraction(c)
            for row, b, c in zip(A.tolist(), B.tolist(), C.tolist(), strict=True)
        ]
    assert found == state


def test_parts_may_be_left_out() -> None:
    square = Network([(RNG.normal(size=(4, 2)), None), (RNG.normal(size=(2, 4)), None)])
    x = np.array([0.5, -0.25])
    assert closed_loop(square) is square
    assert closed_loop(square, steps=2)(x) == pytest.approx(square(square(x)))
    assert closed_loop(square, A=np.eye(2))(x) == pytest.approx(x + square(x))
    assert closed_loop(square, c=[1.0, 2.0])(x) == pytest.approx(square(x) + [1.0, 2.0])
    assert regions.count(closed_loop(square, steps=3), Segment([0, 0], [1, 1])) >= 1


def test_refused() -> None:
    with pytest.raises(ShapeMismatchError, match=r"B is missing: the network has 2 inputs and 1 outputs"):
        closed_loop(CONTROLLER, A)
    with pytest.raises(ShapeMismatchError, match=r"A must have shape \[2, 2\], got \[2, 1\]"):
        closed_loop(CONTROLLER, B, B)
    with pytest.raises(NonFiniteError, match="c"):
        closed_loop(CONTROLLER, A, B, [0.0, np.nan])
    with pytest.raises(ValueError, match="steps"):
        closed_loop(CONTROLLER, A, B, steps=0)
