# SPDX-License-Identifier: MIT
"""Does a summary of blocks agree with one enumeration of all regions?"""

from __future__ import annotations

import json
import math
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from generators import CLIPPED_FAMILIES, DEEP_FAMILIES, FAMILIES, GRAPH_FAMILIES, MAX_FAMILIES, draw
from random_networks import random_network
from regions.domains import Domain, Line, Plane, Polygon, Segment
from regions.measures import StreamSummary, boundary_volume
from regions.networks.network import Network
from regions.results.partition import raw_arrays

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
    """Compare counts exactly, and lengths and sizes within their stated errors."""
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
    again = StreamSummary(network, whole.domain, json.loads(json.dumps(summary.as_dict(), allow_nan=False)))
    assert again.as_dict() == summary.as_dict()
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


@pytest.mark.parametrize("dimension", [3, 4])
def test_boxes(dimension: int) -> None:
    network, box = random_network([dimension, 7, 5, 1], 1), regions.Box([-1] * dimension, [1] * dimension)
    whole = regions.enumerate(network, box)
    summary, blocks = summary_of(network, box, 40)
    require_the_same(summary, blocks, whole)
    assert len(blocks) > 1 and summary.size == pytest.approx(2**dimension)
    assert repr(summary) == f"StreamSummary({len(whole)} regions, volume {2**dimension})"


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
    with pytest.raises(ValueError, match="^nothing follows"):  # the block that was stopped, from its beginning
        summary.add(next(regions.stream(NETWORK, SQUARE, regions_per_block=30, start=stopped.value.partial.section[0])))


def test_other_blocks_are_refused() -> None:
    summary = StreamSummary(NETWORK, SQUARE)
    with pytest.raises(ValueError, match="another network or domain"):
        summary.add(regions.enumerate(NETWORK, Segment([0, 0], [1, 1])))
    with pytest.raises(TypeError, match="must be a Partition"):
        summary.add(3)  # type: ignore[arg-type]
    assert summary.regions == 0 and summary.size_histogram()[0].tolist() == []


@pytest.mark.parametrize("domain", [SQUARE, Segment([-1, -1], [1, 0.5])])
def test_each_block_counts_once(domain: Domain, tmp_path: Path) -> None:
    whole = regions.enumerate(NETWORK, domain)
    size = len(whole) // 4
    expected, blocks = summary_of(NETWORK, domain, size)
    assert len(blocks) > 3 and [block.section for block in blocks][-1][1] is None  # type: ignore[index]
    assert expected.as_dict()["section"] == [[], None]
    for place, block in enumerate(blocks):
        summary = StreamSummary(NETWORK, domain)
        for earlier in blocks[: place + 1]:
            summary.add(earlier)
        before = summary.as_dict()
        for kept in (summary, StreamSummary(NETWORK, domain, json.loads(json.dumps(before)))):
            for number, other in enumerate(pickle.loads(pickle.dumps(blocks))):
                if number != place + 1:
                    words = "was added before, or others are missing" if block is not blocks[-1] else "nothing follows"
                    with pytest.raises(ValueError, match=words):
                        kept.add(other)
            with pytest.raises(ValueError, match="the block has all regions"):
                kept.add(whole)
            assert kept.as_dict() == before
    with pytest.raises(ValueError, match="added before"):  # blocks of another size that overlap
        first = StreamSummary(NETWORK, domain)
        first.add(blocks[0])
        first.add(list(regions.stream(NETWORK, domain, regions_per_block=size // 2))[1])

    rest = StreamSummary(NETWORK, domain)  # it may begin anywhere
    for block in blocks[1:]:
        rest.add(block)
    assert rest.regions == len(whole) - len(blocks[0]) and rest.as_dict()["section"] == [[*blocks[1].section[0]], None]  # type: ignore[index]

    for place in (0, 1):
        blocks[place].save(tmp_path / "block.npz")
        loaded = regions.load_partition(tmp_path / "block.npz")
        assert loaded.section is None
        unknown = StreamSummary(NETWORK, domain)
        for block in (*blocks[:place], loaded, *blocks[place + 1 :]):  # errors that cannot be detected are accepted
            unknown.add(block)
        assert unknown.as_dict() == {**expected.as_dict(), "section": None}
        with pytest.raises(ValueError, match="the block has all regions"):
            unknown.add(whole)


def test_invalid_sections() -> None:
    raw = raw_arrays(regions.enumerate(NETWORK, SQUARE))
    for section in (3, [], [()], [(), (), ()], [(1,), (1,)], [(1,), (0, 5)], [None, ()], [(-1,), None], "ab"):
        with pytest.raises((TypeError, ValueError), match="section"):
            regions.Partition(NETWORK, SQUARE, raw | {"section": section})


STATE = summary_of(NETWORK, SQUARE, 100)[0].as_dict()
MOST = max(STATE["exponents"], key=int)
NOTHING = StreamSummary(NETWORK, SQUARE).as_dict()


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
        {"exponents": {word.replace("-", "-0"): number for word, number in STATE["exponents"].items()}},
        {"section": [[]]},
        {"section": [[], []]},
        {"section": [[1.5], None]},
        {"section": 3},
        {"network": "0" * 64},
        {"domain": None},
    ],
)
def test_invalid_states(change: dict[str, Any]) -> None:
    assert StreamSummary(NETWORK, SQUARE, STATE).as_dict() == STATE
    with pytest.raises(ValueError, match="^state "):
        StreamSummary(NETWORK, SQUARE, STATE | change)


@pytest.mark.parametrize(
    "change, words",
    [
        ({name: NOTHING[name] for name in NOTHING if name != "section"}, "no regions, but other numbers"),
        *(
            ({**NOTHING, name: STATE[name]}, "no regions, but other numbers")
            for name in STATE
            if STATE[name] != NOTHING[name] and name != "regions"
        ),
        ({"smallest": None}, "no smallest or no largest"),
        ({"largest": None}, "no smallest or no largest"),
        ({"smallest": {**STATE["smallest"], "index": STATE["regions"]}}, "index beyond the number"),
        ({"largest": {**STATE["largest"], "index": STATE["regions"]}}, "index beyond the number"),
        ({"largest": {**STATE["largest"], "point": [0.0]}}, "point without 2 coordinates"),
        ({"smallest": STATE["largest"], "largest": STATE["smallest"]}, "not the first"),
        ({"smallest": {**STATE["largest"], "index": 0}}, "not the first"),
        ({"smallest": {**STATE["smallest"], "index": STATE["largest"]["index"]}}, "not the first"),
        ({"smallest": {**STATE["largest"], "index": 1}, "largest": {**STATE["largest"], "index": 1}}, "not the first"),
        ({"size": STATE["largest"]["size"] / 2}, "smaller than the largest"),
        ({"regions": STATE["regions"] + 1}, "the bins do not add up"),
        ({"exponents": STATE["exponents"] | {MOST: STATE["exponents"][MOST] + 1}}, "the bins do not add up"),
        ({"exponents": STATE["exponents"] | {"-1000": 0}}, "the bins do not add up"),
        ({"largest": {**STATE["largest"], "size": None}, "size": None}, "the bins do not add up"),
        ({"smallest": {**STATE["smallest"], "size": 0.0}}, "the bins do not add up"),
        ({"smallest": {**STATE["smallest"], "size": STATE["smallest"]["size"] / 2}}, "the first or the last bin"),
        ({"largest": {**STATE["largest"], "size": 3.9}}, "the first or the last bin"),
        ({"facets": [[0] * 48] * 2}, "without facets"),
        ({"facets": [[1] + [0] * 47] * 2, "lengths": [[1.0] + [0.0] * 47] * 2}, "regions have no facets"),
    ],
)
def test_states_that_contradict_themselves(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=f"^state contradicts itself: .*{words}"):
        StreamSummary(NETWORK, SQUARE, STATE | change)


def test_states_on_a_line_that_contradict_themselves() -> None:
    line = Line([0, 0], [1, 2])
    state = summary_of(NETWORK, line, 20)[0].as_dict()
    assert StreamSummary(NETWORK, line, state).as_dict() == state and state["size"] is None
    with pytest.raises(ValueError, match="lengths on a line"):
        StreamSummary(
            NETWORK, line, state | {"lengths": [[2.0 * length for length in row] for row in state["lengths"]]}
        )


@pytest.mark.parametrize("name", sorted(STATE))
def test_states_without_a_part(name: str) -> None:
    with pytest.raises(ValueError, match="^state is not"):
        StreamSummary(NETWORK, SQUARE, {each: value for each, value in STATE.items() if each != name})
