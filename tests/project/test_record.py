# SPDX-License-Identifier: MIT
"""Are counts and arrays those of the record, and would the record notice one other bit?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import record
import regions
from regions.core import kernel

# These depend on the version of numpy, and places on arcs also on the processor. Without fused multiply-add, arrays may
# have other last bits, or another order.
ELSEWHERE = {"file", "page", "places"} | ({"arrays", "stream"} if kernel() == "baseline" else set())
CASES = list(record.cases())


@pytest.mark.parametrize("part", range(4))
def test_results_are_those_of_the_record(part: int) -> None:
    before = record.recorded()
    assert [str(case) for case in CASES] == list(before)
    compared = 0
    for case in CASES[part::16]:
        now = record.measured(case)
        if now["drawn"] == before[str(case)]["drawn"]:
            compared += 1
            assert not set(record.different(now, before[str(case)])) - ELSEWHERE, case
    assert compared > len(CASES) / 32, "nearly all cases are drawn in another way here"


def test_one_other_bit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    case = record.Case("generic", 2, 0)
    before = record.measured(case)
    assert record.measured(case) == before
    enumerate_ = regions.enumerate

    def moved(*given: Any) -> Any:
        result = enumerate_(*given)
        vertices = result.vertices.copy()
        vertices[1, 0] = np.nextafter(vertices[1, 0], np.inf)
        object.__setattr__(result, "vertices", vertices)
        return result

    monkeypatch.setattr(regions, "enumerate", moved)
    assert {"arrays", "file"} <= set(record.different(record.measured(case), before))
