# SPDX-License-Identifier: MIT
"""Do random signs of neurons give the mean that the theorem says, and are the numbers of the report right?"""

from __future__ import annotations

import json

import numpy as np
import pytest

import regions
from regions import Network, SignTwins, bounds, sign_twins
from regions.errors import LimitReached, NetworkError
from sign_identity import WHOLE, over_signs

LINE = regions.Line([0.0], [1.0])


def random_chain(*sizes: int, seed: int = 0) -> Network:
    rng = np.random.default_rng(seed)
    return Network(
        [(rng.standard_normal((b, a)), rng.standard_normal(b)) for a, b in zip(sizes, sizes[1:], strict=False)]
    )


def test_the_mean_is_the_law() -> None:
    found = sign_twins(random_chain(2, 4, 4, 1), WHOLE[2], 400)
    off = (found.mean - float(bounds.expected_regions(2, [4, 4]))) / (found.spread / 20)
    assert abs(off) < 4


def test_twins_are_of_the_networks_with_all_signs() -> None:
    network = random_chain(2, 3, 3, 1)
    every = set(regions.count(over_signs(network), WHOLE[2]).tolist())
    found = sign_twins(network, WHOLE[2], 100)
    assert set(found.counts.tolist()) == every and found.regions in every


def test_a_layer_has_one_count() -> None:
    found = sign_twins(random_chain(2, 5, 1), WHOLE[2], 2)
    assert (found.regions, found.counts.tolist(), found.spread, found.rank) == (16, [16, 16], 0.0, 0.5)
    assert str(found) == "with random signs 16 +- 0; this network 16"


def test_numbers() -> None:
    found = SignTwins(5, np.array([1, 2, 5, 8]))
    assert (found.mean, found.rank) == (4.0, 0.625)
    assert found.spread == pytest.approx(10**0.5)
    assert repr(found) == "SignTwins(with random signs 4 +- 3; this network 5; 4 twins)"
    facts = {"regions": 5, "mean": 4.0, "spread": found.spread, "rank": 0.625, "counts": [1, 2, 5, 8]}
    assert json.loads(found.to_json()) == facts
    assert "<td" in found._repr_html_() and "0.625" in found._repr_html_()


def test_seeds() -> None:
    network = random_chain(2, 6, 6, 1)
    first, again, other = (sign_twins(network, WHOLE[2], 10, rng=seed).counts.tolist() for seed in (1, 1, 2))
    assert first == again != other
    assert sign_twins(network, WHOLE[2], 10, rng=np.random.default_rng(1), workers=2).counts.tolist() == first


def test_boxes_and_curves() -> None:
    network = random_chain(3, 4, 4, 1)
    for domain in (regions.Box([-1] * 3, [1] * 3), regions.Polyline([[0, 0, 0], [1, 1, 1], [-1, 1, 0]])):
        assert len(sign_twins(network, domain, 3).counts) == 3


def test_limits_keep_the_finished_counts() -> None:
    network = random_chain(1, 6, 6, 1)
    with pytest.raises(LimitReached) as stopped:
        sign_twins(network, LINE, 50, limit=regions.count(network, LINE))
    assert stopped.value.partial[0] == regions.count(network, LINE)


@pytest.mark.parametrize("twins", [1, 0, 2.5, "10"])
def test_too_few_twins(twins: object) -> None:
    with pytest.raises((TypeError, ValueError), match="twins"):
        sign_twins(random_chain(1, 2, 1), LINE, twins)


def test_networks_without_signs_are_refused() -> None:
    network = Network([([[1.0]], [0.0])] * 3, "hard_tanh")
    with pytest.raises(NetworkError, match=r"node 0 \(layer 0\)"):
        sign_twins(network, LINE)
