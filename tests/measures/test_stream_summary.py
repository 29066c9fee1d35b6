# SPDX-License-Identifier: MIT
"""Does a summary of blocks say of all regions what one enumeration says of them?"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import regions
from generators import CLIPPED_FAMILIES, DEEP_FAMILIES, FAMILIES, GRAPH_FAMILIES, MAX_FAMILIES, draw
from random_networks import random_network
from regions.domains import Domain, Line, Plane, Polygon, Segment
from regions.measures import StreamSummary, boundary_volume
from regions.networks.network import Network

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
NETWORK = random_network([2, 24, 24, 1], 1, bias=0.1, he=True)
U = 2.0**-53


def summary_of(network: Network, domain: Domain, size: int) -> tuple[StreamSummary, list[regions.Partition]]:
    summary, blocks = StreamSummary(network, domain), []
    for block in regions.stream(network, domain, regions_per_block=size):
        summary.add(block)
        blocks.append(block)
    return summary, blocks


def require_the_same(summary: StreamSummary, blocks: list[regions.Partition], whole: regions.Partition) -> None:
    """Counts exactly, and lengths and sizes as far as the errors go that are stated."""
    network = whole.network
    numbers = [sum(network.widths[:layer]) for layer in network.kink_layers] + network.kink_units
    inside = whole.facet_kinks >= 0
    facets = np.bincount(numbers[whole.facet_kinks[inside]].astype(int), minlength=network.hidden)
    assert summary.regions == len(whole) and summary.neuron_facets.tolist() == facets.tolist()
    assert summary.layer_facets.sum() == summary.neuron_facets.sum() == inside.sum()

    sides = [(block, block.facet_kinks >= 0) for block in blocks]
    error = sum(float(block.facet_volume_errors[those].sum()) for block, those in sides)
    error += float(whole.facet_volume_errors[inside].sum())
    true = np.bincount(numbers[whole.facet_kinks[inside]].astype(int), whole.facet_volumes[inside], network.hidden)
    rounding = (len(blocks) + inside.sum()) * U * true
    finite = np.isfinite(true)
    assert (np.isfinite(summary.neuron_lengths) == finite).all()
    assert (abs(summary.neuron_lengths - true)[finite] <= error + rounding[finite]).all()
    assert np.isclose(summary.layer_lengths.sum(), summary.neuron_lengths.sum(), rtol=1e-14, atol=0.0)

    sizes = np.concatenate([block.volumes for block in blocks])
    errors = np.concatenate([block.volume_errors for block in blocks])
    if np.isfinite(sizes).all():
        error = errors.sum() + whole.volume_errors.sum() + (len(blocks) + len(whole)) * U * summary.size
        assert abs(summary.size - whole.volumes.sum()) <= error
    assert summary.smallest is not None and summary.largest is not None
    for extreme, index in ((summary.smallest, sizes.argmin()), (summary.largest, sizes.argmax())):
        assert (extreme.index, extreme.size, extreme.error) == (index, sizes[index], errors[index])
    counts, edges = summary.size_histogram()
    expected = Counter(math.frexp(size)[1] for size in sizes.tolist() if 0.0 < size < math.inf)
    ends = zip(counts.tolist(), edges.tolist(), strict=False)
    assert {math.frexp(low)[1]: number for number, low in ends if number} == expected
    assert (edges[1:] == 2.0 * edges[:-1])[:-1].all()


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("family", sorted(FAMILIES | DEEP_FAMILIES | GRAPH_FAMILIES | MAX_FAMILIES | CLIPPED_FAMILIES))
def test_degenerate_networks(family: str, dimension: int) -> None:
    for seed in range(2):
        network, domain = draw(family, dimension, seed)
        if regions.count(network, domain) > 200:
            continue
        whole = regions.enumerate(network, domain)
        for size in (1, 3):
            require_the_same(*summary_of(network, domain, size), whole)


@pytest.mark.parametrize("domain", [SQUARE, Segment([-1, -1], [1, 0.5])])
def test_the_boundary_of_a_generic_network(domain: Domain) -> None:
    whole = regions.enumerate(NETWORK, domain)
    boundary = boundary_volume(whole)
    summary, blocks = summary_of(NETWORK, domain, 30)
    require_the_same(summary, blocks, whole)
    assert len(blocks) > 1 and np.allclose(summary.neuron_lengths, boundary.neurons, rtol=1e-12, atol=0.0)
    (alone,) = summary_of(NETWORK, domain, 10_000)[1]
    summary = StreamSummary(NETWORK, domain)
    summary.add(alone)
    assert summary.neuron_lengths.tolist() == boundary.neurons.tolist()
    assert summary.smallest is not None
    assert list(summary.smallest.point) == alone.interior_points[alone.volumes.argmin()].tolist()
    assert (
        repr(summary)
        == {
            1: f"StreamSummary({len(whole)} regions, length {domain.volume:g})",
            2: f"StreamSummary({len(whole):,} regions, area 4)",
        }[domain.dimension]
    )


@pytest.mark.parametrize("domain", [SQUARE, Plane([0, 0], [1, 0], [0, 1]), Line([0, 0], [1, 2])])
def test_it_goes_on_from_any_place(domain: Domain) -> None:
    expected = summary_of(NETWORK, domain, 60)[0].to_json()
    summary, stream = StreamSummary(NETWORK, domain), regions.stream(NETWORK, domain, regions_per_block=60)
    while stream.place is not None:
        summary.add(next(stream))
        kept = json.dumps({"place": stream.place, "summary": summary.as_dict()}, allow_nan=False)
        found = json.loads(kept)
        summary = StreamSummary(NETWORK, domain, found["summary"])
        assert json.loads(summary.to_json()) == found["summary"]
        if found["place"] is not None:
            stream = regions.stream(NETWORK, domain, regions_per_block=60, start=found["place"])
    assert summary.to_json() == expected


def test_what_stopped_at_the_limit_is_part_of_it() -> None:
    summary = StreamSummary(NETWORK, SQUARE)
    with pytest.raises(regions.LimitReached) as stopped:
        for block in regions.stream(NETWORK, SQUARE, regions_per_block=30, limit=100):
            summary.add(block)
    summary.add(stopped.value.partial)
    assert summary.regions >= 100 and 0.0 < summary.size < 4.0


def test_other_blocks_are_refused() -> None:
    summary = StreamSummary(NETWORK, SQUARE)
    with pytest.raises(ValueError, match="another network or domain"):
        summary.add(regions.enumerate(NETWORK, Segment([0, 0], [1, 1])))
    with pytest.raises(TypeError, match="must be a Partition"):
        summary.add(3)  # type: ignore[arg-type]
    assert summary.regions == 0 and summary.size_histogram()[0].tolist() == []


STATE = summary_of(NETWORK, SQUARE, 100)[0].as_dict()


@pytest.mark.parametrize(
    "change",
    [
        {"regions": -1},
        {"regions": 1.5},
        {"regions": True},
        {"size": "4"},
        {"size": -4.0},
        {"size": math.nan},
        {"smallest": 3},
        {"largest": {"index": 0}},
        {"exponents": [1]},
        {"exponents": {"99999999999": 1}},
        {"exponents": {"a": 1}},
        {"facets": [[1, 2], [3]]},
        {"facets": [[1, 2], [3, 4]]},
        {"facets": [[2**70] * 48] * 2},
        {"lengths": 5},
        {"lengths": [[None] * 48]},
        {"lengths": [["1"] * 48] * 2},
        {"network": "0" * 64},
        {"domain": None},
    ],
)
def test_states_that_are_none(change: dict[str, Any]) -> None:
    assert StreamSummary(NETWORK, SQUARE, STATE).as_dict() == STATE
    with pytest.raises(ValueError, match="^state "):
        StreamSummary(NETWORK, SQUARE, STATE | change)


@pytest.mark.parametrize("name", sorted(STATE))
def test_states_without_a_part(name: str) -> None:
    with pytest.raises(ValueError, match="^state is not"):
        StreamSummary(NETWORK, SQUARE, {each: value for each, value in STATE.items() if each != name})
