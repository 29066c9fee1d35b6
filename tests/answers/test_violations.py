# SPDX-License-Identifier: MIT
"""Is a verdict the same for any division of the search into blocks and sections, and is the share computed only on
request?"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import regions
from generators import draw
from polytope_cases import he_normal
from regions import Box, LimitReached, Polygon
from regions.answers import verdict, violations
from regions.answers.verdict import Verdict

FAMILIES = ["generic", "ternary_weights", "small_integer", "zero_bias", "one_bit_weights"]


def properties(net: regions.Network, domain: Any, seed: int) -> list[Any]:
    """Return unsafe sets near the values at vertices: some are only touched, and some are not reached."""
    rng = np.random.default_rng(seed)
    part = regions.enumerate(net, domain)
    values = net(domain.to_input(part.vertices)).reshape(-1, net.n_out)
    found = []
    for step in (0.0, 0.0, -0.125, 0.125):
        rows = rng.integers(-1, 2, (int(rng.integers(1, 3)), net.n_out)).astype(float)
        found.append([(rows, rows @ values[rng.integers(len(values))] - step)])
    return found


def same(found: Verdict, other: Verdict) -> None:
    assert found.holds == other.holds and (found.witness is None) == (other.witness is None)
    assert abs(found.violated_share - other.violated_share) <= found.errors + other.errors + 1e-15


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_blocks_and_sections_do_not_change_a_verdict(
    family: str, dimension: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    net, domain = next(
        (net, domain) for net, domain in (draw(family, dimension, seed) for seed in range(20)) if domain.bounded
    )
    for unsafe in properties(net, domain, dimension):
        whole = regions.verify(net, domain, unsafe)
        with monkeypatch.context() as patch:
            patch.setattr(violations, "FIRST", 1)
            same(regions.verify(net, domain, unsafe), whole)
            same(regions.verify(net, domain, unsafe, workers=2), whole)


@pytest.mark.parametrize(("shape", "least"), [([3, 10, 10, 10, 2], 50)])
def test_all_blocks_are_searched(shape: list[int], least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    net, box = he_normal(shape), Box([-1] * shape[0], [1] * shape[0])
    common = np.quantile(net(np.random.default_rng(0).uniform(-1, 1, (2000, shape[0]))), 0.9, axis=0)

    def verdict_above(height: float, workers: int = 1) -> Verdict:
        """Can all outputs be this much above their common values, at one point?"""
        return regions.verify(net, box, [(-np.eye(net.n_out), -common - height)], workers=workers)

    low, high = -5.0, 5.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if verdict_above(middle).holds else (middle, high)
    monkeypatch.setattr(violations, "FIRST", 1)
    for workers in (1, 2):
        violated, held = verdict_above(low, workers), verdict_above(high, workers)
        assert not violated.holds and 0 < violated.violated_share < 1e-20
        assert held.holds and held.regions_met > least


@pytest.mark.parametrize("workers", [1, 2])
def test_the_search_ends_with_the_first_violation(workers: int) -> None:
    net, box = he_normal([4, 16, 16, 1]), Box([-1] * 4, [1] * 4)
    middle = float(np.median(net(np.random.default_rng(0).uniform(-1, 1, (1000, 4)))))
    found = regions.verify(net, box, [([[1.0]], [middle])], workers=workers)
    assert not found.holds and found.witness is not None and found.witness.outputs[0] <= middle
    assert found.regions_met < 2000 < 20_000 < regions.count(net, box)


def test_the_share_is_computed_once_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    net, box = he_normal([3, 12, 12, 1]), Box([-1] * 3, [1] * 3)
    unsafe = [([[1.0]], [float(np.median(net(np.random.default_rng(0).uniform(-1, 1, (1000, 3)))))])]
    calls = []
    enumerate_all = violations.unsafe_regions
    monkeypatch.setattr(verdict, "unsafe_regions", lambda *given: calls.append(1) or enumerate_all(*given))
    found = regions.verify(net, box, unsafe)
    reports = repr(found), found._repr_html_(), found.as_dict(), found.to_json()
    assert not calls and "share" not in "".join(map(str, reports))
    assert 0.4 < found.violated_share < 0.6 and found.errors < 1e-9
    assert found.partition.stats["closed"] > 0 and len(found.partition) > found.regions_met and len(calls) == 1
    again = pickle.loads(pickle.dumps(regions.verify(net, box, unsafe)))
    assert again.violated_share == found.violated_share


def test_a_limit_ends_the_search_and_the_share() -> None:
    net, box = he_normal([3, 12, 12, 1]), Box([-1] * 3, [1] * 3)
    values = net(np.random.default_rng(0).uniform(-1, 1, (1000, 1, 3)))[:, 0]
    early = regions.verify(net, box, [([[1.0]], [float(np.median(values))])], limit=300)
    assert not early.holds and early.regions_met <= 300
    with pytest.raises(LimitReached, match="more than 300 regions"):
        _ = early.violated_share
    far = [([[1.0], [-1.0]], [float(values.min()) / 2, -float(values.max()) / 2])]  # never both
    for workers in (1, 2):
        with pytest.raises(LimitReached, match="more than 5 regions") as reached:
            regions.verify(net, box, [([[0.0]], [1.0])], limit=5, workers=workers)
        assert len(reached.value.partial) > 0
    assert regions.verify(net, box, far).holds


def test_later_legs_are_not_searched_after_a_violation() -> None:
    net = he_normal([2, 8, 1])
    path = regions.Polyline([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0]])
    low, high = regions.extremes(net, path).minimum[0], regions.extremes(net, path).maximum[0]
    always = regions.verify(net, path, [([[1.0]], [float(high) + 1])])
    assert always.witness is not None and always.witness.leg == 0 and always.regions_met == len(always.partitions[0])
    assert len(always.partitions) == 2 and always.violated_share == pytest.approx(1.0)
    assert regions.verify(net, path, [([[1.0]], [float(low) - 1])]).partitions[1].stats["closed"] > 0


def test_progress_of_a_search_grows() -> None:
    net = he_normal([3, 24, 24, 1])
    seen: list[float] = []
    square = Polygon(np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float))
    top = float(regions.extremes(net, square).maximum[0])
    for domain in (square, Box([-1] * 3, [1] * 3)):
        regions.verify(net, domain, [([[-1.0]], [-top * 0.999])], progress=lambda share, _: seen.append(share))
    assert all(0 <= share <= 1 for share in seen)
