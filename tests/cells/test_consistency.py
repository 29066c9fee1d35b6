# SPDX-License-Identifier: MIT
"""Are consistent arrays accepted, and inconsistent ones refused with their names?"""

from __future__ import annotations

import re

import numpy as np
import pytest

from partition_cases import CASES, drawn, families
from raw_from_reference import raw_from_reference, without_last_region
from regions.results.cells.consistency import first_problem
from regions.results.partition import ARRAYS


@families
def test_arrays_of_every_family_are_consistent(family: str, dimension: int) -> None:
    network, domain = drawn(family, dimension)
    arrays = raw_from_reference(network, domain)
    assert first_problem(network, domain, arrays, True) is None


BROKEN = [
    ("vertices", (0, 0), np.nan, "not a number"),
    ("vertices", (0, 0), np.inf, "infinite"),
    ("vertex_errors", 0, -1.0, "error of vertex 0"),
    ("vertex_errors", 0, np.nan, "error of vertex 0"),
    ("vertex_errors", 0, np.inf, "error of vertex 0"),
    ("cell_offsets", 0, 1, "from 0 to"),
    ("cell_offsets", -1, 10**9, "from 0 to"),
    ("cell_offsets", 1, 1, "fewer than three"),
    ("cell_offsets", 1, -5, "fewer than three"),
    ("cell_vertices", 0, -1, r"cell_vertices\[0\] is -1"),
    ("cell_vertices", 0, 10**9, r"cell_vertices\[0\]"),
    ("cell_vertices", 0, 1, "different vertices"),
    ("cell_facets", 0, -1, r"cell_facets\[0\]"),
    ("cell_facets", 0, 1, "used by"),
    ("facet_vertices", (0, 1), 10**9, r"facet_vertices\[0, 1\]"),
    ("facet_vertices", (0, slice(None)), [1, 0], "different vertices"),
    ("facet_regions", (0, 0), 10**9, r"facet_regions\[0, 0\]"),
    ("facet_regions", (0, 1), -2, r"facet_regions\[0, 1\]"),
    ("facet_regions", (0, 0), -1, "needs a first region"),
    ("facet_kinks", 0, 10**9, r"facet_kinks\[0\]"),
    ("facet_kinks", 0, -5, r"facet_kinks\[0\]"),
    ("packed_patterns", (0, -1), 0x80, "beyond the network's"),
]


@pytest.mark.parametrize(("name", "index", "value", "message"), BROKEN)
def test_inconsistent_arrays_are_named(name: str, index: object, value: object, message: str) -> None:
    network, domain = CASES["square"]
    arrays = {key: np.array(array) for key, array in raw_from_reference(network, domain).items() if key in ARRAYS}
    arrays[name][index] = value
    problem = first_problem(network, domain, arrays, True)
    assert problem is not None and re.search(message, problem), problem


def test_wrong_shapes_and_kinks_are_named() -> None:
    network, domain = CASES["hard_tanh"]
    arrays = raw_from_reference(network, domain)
    for name in ARRAYS:
        problem = first_problem(network, domain, {**arrays, name: np.zeros((1, 1, 1))}, True)
        assert problem is not None and "shape" in problem, name
    patterns = np.array(arrays["packed_patterns"])
    patterns[3] = 0b10  # the first unit above 1 but not above -1
    problem = first_problem(network, domain, {**arrays, "packed_patterns": patterns}, True)
    assert problem == "region 3 has kink 1 on and kink 0 of the same unit off"


def test_facets_of_a_line_have_the_left_region_first() -> None:
    network, domain = CASES["segment"]
    arrays = raw_from_reference(network, domain)
    swapped = np.array(arrays["facet_regions"])
    swapped[2] = swapped[2, ::-1]
    problem = first_problem(network, domain, {**arrays, "facet_regions": swapped}, True)
    assert problem == "region 1 and its facet 2 have different vertices"


def test_only_a_partial_result_may_miss_neighbors() -> None:
    network, domain = CASES["square"]
    raw = without_last_region(raw_from_reference(network, domain))
    assert "only one region" in str(first_problem(network, domain, raw, True))
    assert first_problem(network, domain, raw, False) is None
