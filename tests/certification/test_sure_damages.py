# SPDX-License-Identifier: MIT
"""Is each kind of sure damage rejected? `tests/fuzz_sure_damages.py` tries thousands."""

from __future__ import annotations

from itertools import count

import pytest

from sure_damages import DAMAGES, finding


@pytest.mark.parametrize("seed", range(12))
def test_a_sample_of_sure_damages_is_rejected(seed: int) -> None:
    assert finding(seed)[1] == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_each_kind_of_sure_damage_is_rejected(name: str) -> None:
    tried = 0
    for seed in count(100):
        damaged, said = finding(seed, name)
        assert said == "" and damaged in (name, "")
        tried += damaged == name
        if tried == 4:
            break
