# SPDX-License-Identifier: MIT
"""Do the simplices of neighbouring regions share their facets?"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions.results.cells.pulling import pulled


@pytest.mark.parametrize("dimension", [3, 4])
def test_simplices_have_free_facets_on_the_boundary_of_the_domain_alone(dimension: int) -> None:
    part = regions.enumerate(random_network([dimension, 6, 1], 2), regions.Box([-1.0] * dimension, [1.0] * dimension))
    simplices = np.concatenate(pulled(part)).tolist()
    times = Counter(face for each in simplices for face in combinations(sorted(each), dimension))
    free = np.array([face for face, count in times.items() if count == 1])
    on_a_side = np.abs(part.vertices[free]) == 1
    assert set(times.values()) == {1, 2}
    assert on_a_side.all(axis=1).any(axis=1).all()
