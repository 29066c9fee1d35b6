# SPDX-License-Identifier: MIT
"""Does every bound refuse, by its name and with the reason, networks to which its theorem does not apply?

`regions.check` knows the network, and refuses by activations. The functions know only the shape, and refuse by
`BoundDoesNotApply`: those of the table in `test_bounds_table.py`, and the others here.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from generators_maxima import network_of_maxima
from random_networks import random_network
from regions import bounds
from regions.bounds import BOUNDS, Bound
from regions.checking import BoundItem
from regions.errors import BoundDoesNotApply

SQUARE = regions.Rectangle([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0])
# For each kind of activations: one that is not of the kind, and the reason.
FOREIGN = {
    "any": ("max", "is for units with breakpoints, layer 1 has max"),
    "relu": ("hard_tanh", "is for ReLU and whatever is constant below its one breakpoint, layer 1 has hard_tanh"),
    "one breakpoint": ("hard_tanh", "is for activations with one breakpoint, layer 1 has hard_tanh"),
    "two breakpoints": ("relu", "is for activations with two breakpoints, layer 1 has relu"),
    "maxout": ("relu", "is for maxout units, layer 1 has relu"),
}


@pytest.fixture(scope="module")
def checked() -> dict[str, dict[str, BoundItem]]:
    """Return the bounds by name, for a network of each activation in a square."""
    rng = np.random.default_rng(0)
    of_maxima = network_of_maxima(2, [(rng.standard_normal((6, 3)), [3, 3]), (rng.standard_normal((4, 3)), [2, 2])])
    networks = {name: random_network([2, 3, 2, 1], rng, name, bias=1.0) for name in ("relu", "hard_tanh")}
    return {
        name: {item.name: item for item in regions.check(network, SQUARE).bounds}
        for name, network in {**networks, "max": of_maxima}.items()
    }


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.name)
def test_networks_that_are_refused(bound: Bound, checked: dict[str, dict[str, BoundItem]]) -> None:
    activation, reason = FOREIGN.get(bound.activations, ("relu", ""))
    if bound.kind.startswith("expected"):
        reason = "is about the mean over random networks; a single one may be on either side"
    item = checked[activation][bound.name]
    assert (item.status, item.note) == ("does not apply", reason)


def test_functions_of_other_shapes() -> None:
    with pytest.raises(BoundDoesNotApply, match="is about one hidden layer, there are 2"):
        bounds.generic_faces(2, [4, 4])
    for refused in (bounds.xiong_cnn_upper, bounds.xiong_cnn_lower):
        with pytest.raises(BoundDoesNotApply, match=r"layers\[0\]: the kernel \[3\] does not fit"):
            refused((1, 2), [(1, 3, 1)])
    with pytest.raises(BoundDoesNotApply, match=r"the kernel \[3\] does not fit"):
        bounds.xiong_cnn((1, 2), 1, 3)
