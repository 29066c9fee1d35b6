# SPDX-License-Identifier: MIT
"""Are units that are not constant counted only at waists, through which everything passes?"""

from __future__ import annotations

import numpy as np

import regions
from regions import Network, Polygon, closed_loop
from regions.passes.waists import narrowest

SQUARE = Polygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
CROSS = Network([(np.eye(2), None), (np.eye(2), None)])


def test_a_skip_goes_around_a_waist() -> None:
    part = regions.enumerate(CROSS, SQUARE)
    assert narrowest(CROSS.graph, part.packed_patterns).tolist() == part.patterns.sum(axis=1).tolist()
    skip = closed_loop(CROSS, A=np.eye(2))
    assert narrowest(skip.graph, regions.enumerate(skip, SQUARE).packed_patterns).tolist() == [2] * len(part)


def test_no_hidden_node() -> None:
    linear = Network([(np.eye(2), None)])
    assert narrowest(linear.graph, regions.enumerate(linear, SQUARE).packed_patterns).tolist() == [2]
