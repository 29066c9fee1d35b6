# SPDX-License-Identifier: MIT
"""What does `verify` decide in boxes of more than six dimensions?

Networks that read three of their inputs have the same verdicts in boxes of these three inputs, where regions are
enumerated.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from regions import Network
from regions.errors import DomainError, LimitReached, TimeoutReached, VerdictNotDecided

READ = [1, 4, 6]


def of_three_inputs(seed: int, integers: bool = False) -> tuple[Network, Network]:
    """Return a network with three inputs, and the same as a network with eight, which reads three of them."""
    rng = np.random.default_rng(seed)
    draw = (
        (lambda *shape: rng.integers(-2, 3, shape).astype(float))
        if integers
        else (lambda *shape: rng.normal(size=shape))
    )
    first, later = draw(5, 3), [(draw(4, 5), draw(4)), (draw(2, 4), draw(2))]
    wide = np.zeros((5, 8))
    wide[:, READ] = first
    biases = draw(5)
    return Network([(first, biases), *later]), Network([(wide, biases), *later])


@pytest.mark.parametrize("integers", [False, True], ids=["real", "integers"])
@pytest.mark.parametrize("seed", range(6))
def test_verdicts_are_those_of_an_enumeration(seed: int, integers: bool) -> None:
    net, wide = of_three_inputs(seed, integers)
    small, large = regions.Box([-1] * 3, [1] * 3), regions.Box([-1] * 8, [1] * 8)
    highest = regions.extremes(net, small).reached_maximum[0]
    assert highest is not None
    decided = 0
    for off in (-1, -Fraction(1, 8), 0, Fraction(1, 8), 1):
        threshold = float(highest + off)
        unsafe = [([[-1.0, 0.0]], [-threshold])]
        expected = regions.verify(net, small, unsafe)
        try:
            found = regions.verify(wide, large, unsafe, timeout=60, limit=3000)
        except (LimitReached, TimeoutReached) as stopped:
            assert 0 <= stopped.found.proved_share < 1 and abs(off) < Fraction(1, 4)
            continue
        decided += 1
        assert found.holds == expected.holds and found.bounded_parts is not None
        if not found.holds:
            assert found.witness is not None and found.witness.outputs[0] >= threshold
            assert (np.abs(found.witness.input) <= 1).all()
    assert decided >= 3


def test_what_is_not_decided_has_the_proved_share() -> None:
    rng = np.random.default_rng(0)
    hidden = [(rng.normal(size=(32, 9)), rng.normal(size=32)), (rng.normal(size=(32, 32)), rng.normal(size=32))]
    net = Network([*hidden, (rng.normal(size=(1, 32)), [0.0])])
    box = regions.Box([-3] * 9, [3] * 9)
    reached = regions.extremes(net, box).maximum_intervals[0]
    unsafe = [([[-1.0]], [-float(reached.mean())])]
    with pytest.raises(VerdictNotDecided, match="of the box to be safe; take a longer timeout") as found:
        regions.verify(net, box, unsafe)
    assert 0 <= found.value.partial.proved_share < 1
    with pytest.raises(TimeoutReached) as late:
        regions.verify(net, box, unsafe, timeout=0.05)
    assert 0 <= late.value.found.proved_share < 1  # type: ignore[union-attr]
    with pytest.raises(LimitReached, match="parts of a box"):
        regions.verify(net, box, unsafe, limit=3)


def test_margins_and_shares() -> None:
    _, net = of_three_inputs(1)
    box = regions.Box([-1] * 8, [1] * 8)
    found = regions.verify(net, box, [([[-1.0, 0.0]], [-1000.0])])
    assert found.holds and (found.violated_share, found.errors) == (0.0, 0.0)
    assert repr(found) == "Verdict(holds, by bounds on 1 part)" and found.as_dict() == {"holds": True, "parts": 1}
    violated = regions.verify(net, box, [([[1.0, 0.0]], [1000.0])])
    assert not violated.holds
    with pytest.raises(DomainError, match="exist in 1 to 6 dimensions"):
        _ = violated.violated_share


def test_boxes_along_other_directions_are_refused() -> None:
    _, net = of_three_inputs(0)
    turned = np.eye(8)
    turned[0, 1] = 1.0
    with pytest.raises(DomainError, match="not along inputs"):
        regions.verify(net, regions.Box.around(np.zeros(8), 1.0, turned), [([[1.0, 0.0]], [0.0])])
