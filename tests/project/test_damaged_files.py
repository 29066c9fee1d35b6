# SPDX-License-Identifier: MIT
"""Do `certify` and the standalone checker reject damaged results, and accept those that are right all the same?"""

from __future__ import annotations

from pathlib import Path

import pytest

from damage_judge import KINDS, SQUARE, finding, is_right
from damage_parts import undamaged
from random_networks import random_network
from regions import check_certificate


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(KINDS))
def test_both_reject_what_is_wrong(name: str, tmp_path: Path) -> None:
    assert finding(name, 0, check_certificate, tmp_path)[1] == ""


def test_blocks_in_another_order_are_right(tmp_path: Path) -> None:
    assert finding("blocks_exchanged", 4, check_certificate, tmp_path) == ("right", "")


def test_the_exact_comparison_sees_a_vertex_beyond_its_bound() -> None:
    net = random_network([2, 3, 2, 1], 1)
    case = undamaged(net, SQUARE)
    assert is_right(case.partition(), net)
    vertex = int(case.raw["vertex_errors"].argmax())
    case.raw["vertices"][vertex] += 3 * case.raw["vertex_errors"][vertex]
    assert not is_right(case.partition(), net)
