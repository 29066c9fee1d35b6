# SPDX-License-Identifier: MIT
"""Is the least margin of a class that of an enumeration, and is it decided exactly whether the class is everywhere?"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from polytope_cases import he_normal
from regions import Box, Network, Polygon, Segment
from regions.errors import DomainError, NetworkError

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])


def scores(*rows: list[float], biases: list[float]) -> Network:
    return Network([(np.eye(2), None), (np.array(rows), biases)])


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_margins_are_the_least_differences_of_scores(dimension: int, seed: int) -> None:
    net = he_normal([dimension, 8, 8, 3], seed)
    domain = [Segment([-1], [1]), SQUARE, *(Box([-1] * d, [1] * d) for d in (3, 4))][dimension - 1]
    classes = regions.decisions(net, domain).classes
    for label in range(3):
        found = regions.margin(net, domain, label)
        others = [other for other in range(3) if other != label]
        every = regions.extremes(net, domain, forms=np.eye(3)[[label]] - np.eye(3)[others])
        assert found.exact == min(every.exact_minimum) and found.decided
        assert found.rival == others[every.exact_minimum.index(found.exact)]
        assert found.where.tolist() == every.argmin[every.exact_minimum.index(found.exact)].tolist()
        assert found.holds == (classes == label).all()
        assert found.interval[0] <= found.exact <= found.interval[1] and abs(found.value - found.exact) <= found.error


def test_the_class_of_a_tie_is_the_first() -> None:
    first, second = [1.0, 0.0], [0.0, 0.0]
    tied = scores(first, second, biases=[0.0, 0.0])  # score 0 is relu(x), at least score 1
    found = regions.margin(tied, SQUARE, 0)
    assert found.holds and found.exact == 0 and repr(found) == "Margin(class 0 everywhere, by at least 0)"
    swapped = scores(second, first, biases=[0.0, 0.0])
    found = regions.margin(swapped, SQUARE, 1)
    assert found.holds is False and found.exact == 0 and found.rival == 0
    # Class 1 ties with class 2, and is above class 0.
    later = scores(second, first, second, biases=[-1.0, 0.0, 0.0])
    found = regions.margin(later, SQUARE, 1)
    assert found.holds and found.exact == 0 and found.rival == 2
    # It also ties with class 0, elsewhere.
    both = scores([1.0, -1.0], first, second, biases=[0.0, 0.0, 0.0])
    assert regions.margin(both, SQUARE, 1).holds is False


def test_networks_with_one_output_and_smallest_scores() -> None:
    logit = Network([(np.eye(2), None), ([[1.0, 1.0]], [0.5])])
    found = regions.margin(logit, SQUARE)
    assert (found.label, found.holds, found.exact) == (1, True, 0.5)
    assert regions.margin(logit, SQUARE, 0).holds is False
    assert regions.margin(logit, SQUARE, threshold=3.0).label == 0
    assert regions.margin(logit, SQUARE, 1, largest=False).exact == -2.5
    with pytest.raises(NetworkError, match="threshold= is for networks with one output"):
        regions.margin(he_normal([2, 3, 2]), SQUARE, threshold=1.0)
    with pytest.raises(ValueError, match="label"):
        regions.margin(logit, SQUARE, 2)
    with pytest.raises(DomainError, match="margins exist in bounded domains"):
        regions.margin(logit, regions.Plane([0, 0], [1, 0], [0, 1]))


def test_polylines() -> None:
    net = he_normal([2, 8, 2])
    path = regions.Polyline([[-1, 0], [0, 2], [1, 0]])
    found = regions.margin(net, path, 0)
    assert found.exact == min(regions.margin(net, leg, 0).exact for leg in path.legs)  # type: ignore[type-var]
    assert abs(float(net(found.where) @ [1, -1]) - found.value) < 1e-12


def test_boxes_with_many_inputs() -> None:
    net = Network([(np.eye(20), None), (np.vstack([np.ones(20), np.zeros(20)]), [0.5, 0.0])])
    found = regions.margin(net, Box([-1] * 20, [1] * 20))
    assert found.holds and found.exact == 0.5 and found.rival == 1
    assert regions.margin(net, Box([-1] * 20, [1] * 20), 1).holds is False
    deep = he_normal([12, 32, 32, 3])
    found = regions.margin(deep, Box([-1e-3] * 12, [1e-3] * 12), limit=20)
    assert found.interval[0] <= found.value <= found.interval[1]
    wide = regions.margin(deep, Box([-1] * 12, [1] * 12), limit=4)
    assert not wide.decided and wide.exact is None and wide.as_dict()["holds"] == wide.holds
