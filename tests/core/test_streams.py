# SPDX-License-Identifier: MIT
"""Does a stream yield all regions, in little memory, and the same ones after it is resumed?"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions.domains import Domain, Line, Plane, Polygon, Segment
from regions.errors import DomainError
from regions.results.cells.consistency import first_problem
from regions.results.partition import raw_arrays

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
NETWORK = random_network([2, 24, 24, 1], 1, bias=0.1, he=True)
ENDLESS = random_network([2, *[256] * 6, 1], 1, bias=0.1, he=True)


def packed(blocks: list[regions.Partition]) -> bytes:
    return b"".join(block.packed_patterns.tobytes() for block in blocks)


@pytest.mark.parametrize(
    "domain", [SQUARE, Plane([0, 0], [1, 0], [0, 1]), Line([0, 0], [1, 2]), Segment([-1, -1], [1, 0.5])]
)
def test_all_regions_in_their_order(domain: Domain) -> None:
    whole = regions.enumerate(NETWORK, domain)
    for size in (1, 40, 300):
        stream = regions.stream(NETWORK, domain, regions_per_block=size)
        blocks = list(stream)
        assert stream.found == len(whole) and stream.place is None and list(stream) == []
        assert packed(blocks) == whole.packed_patterns.tobytes()
        assert max(map(len, blocks[:-1]), default=size) <= size + 1
        if domain.bounded:
            assert abs(sum(block.volumes.sum() for block in blocks) - whole.volumes.sum()) < 1e-9


@pytest.mark.parametrize("dimension", [3, 4])
def test_boxes(dimension: int) -> None:
    """Blocks have the regions of one run, in its order, also if the stream is resumed; each region is real."""
    net, box = random_network([dimension, 7, 5, 1], 1), regions.Box([-1] * dimension, [1] * dimension)
    whole = regions.enumerate(net, box)
    for size in (1, 40, 100_000):
        stream = regions.stream(net, box, regions_per_block=size)
        blocks = []
        while stream.place is not None:
            blocks.append(next(stream))
            stream = regions.stream(net, box, regions_per_block=size, start=stream.place) if stream.place else stream
        assert np.array_equal(np.vstack([block.packed_patterns for block in blocks]), whole.packed_patterns)
        assert max(map(len, blocks[:-1]), default=size) <= size + 1
        assert abs(sum(block.volumes.sum() for block in blocks) - 2**dimension) < 1e-9
        assert sum((block.facet_kinks < 0).sum() for block in blocks) == (whole.facet_kinks < 0).sum()
    assert blocks == [whole]
    block = next(regions.stream(net, box, regions_per_block=40))
    assert isinstance(block, regions.PolytopePartition) and block.section is not None
    assert regions.certify(block, net).conclusion.startswith(f"partial: {len(block)} region")
    with pytest.raises(DomainError, match="exist in bounded domains of 3 and more"):
        regions.stream(net, regions.Space([0] * dimension, np.eye(dimension)))


def test_one_block_is_the_whole() -> None:
    (block,) = regions.stream(NETWORK, SQUARE)
    assert block == regions.enumerate(NETWORK, SQUARE) and block.complete


def test_what_a_block_does_not_claim(tmp_path: Path) -> None:
    block = next(regions.stream(NETWORK, SQUARE, regions_per_block=50))
    assert not block.complete and not block.certificate.complete and "partial" in repr(block)
    assert "in blocks, and regions are missing" in block.certificate.statement
    assert "in one of its blocks" in str(block.certificate)
    assert first_problem(NETWORK, SQUARE, raw_arrays(block), complete=False) is None
    for measure in (
        partial(regions.linear_regions, definition="affine"),
        regions.measures.boundary_volume,
        regions.measures.diameter,
    ):
        with pytest.raises(ValueError, match="one block of a stream"):
            measure(block)
    report = regions.certify(block, NETWORK)
    assert report.ok and "there may be more" in report.conclusion
    block.save(tmp_path / "block.npz")
    assert regions.load_partition(tmp_path / "block.npz") == block


def test_it_goes_on_from_any_place_with_the_same_bytes() -> None:
    stream = regions.stream(NETWORK, SQUARE, regions_per_block=90)
    blocks, places = [], []
    for block in stream:
        blocks.append(block)
        places.append(stream.place)
    for number, place in enumerate(places[:-1]):
        start = json.loads(json.dumps(place))
        later = list(regions.stream(NETWORK, SQUARE, regions_per_block=90, start=start))
        assert [raw_arrays(block) is not None and block for block in later] == blocks[number + 1 :]


def test_wrong_starts_and_networks() -> None:
    with pytest.raises(ValueError, match="no node with the path"):
        next(regions.stream(NETWORK, SQUARE, start=(7, 7)))
    with pytest.raises(regions.errors.ShapeMismatchError):
        regions.stream(NETWORK, Segment([0], [1]))
    with pytest.raises(ValueError, match="regions_per_block must be at least 1"):
        regions.stream(NETWORK, SQUARE, regions_per_block=0)


def test_limits_are_for_all_blocks() -> None:
    total = regions.count(NETWORK, SQUARE)
    assert sum(map(len, regions.stream(NETWORK, SQUARE, regions_per_block=100, limit=total))) == total
    stream = regions.stream(NETWORK, SQUARE, regions_per_block=100, limit=total - 1)
    found = 0
    with pytest.raises(regions.LimitReached, match=f"more than {total - 1} regions") as stopped:
        for block in stream:
            found += len(block)
    assert found == stream.found and stream.found + len(stopped.value.partial) == total
    assert len(list(regions.stream(NETWORK, SQUARE, start=stream.place))[0]) == total - found


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_what_a_report_raises_leaves_a_place_to_go_on(error: type[BaseException]) -> None:
    reports: list[tuple[float, int]] = []

    def report(share: float, found: int) -> None:
        reports.append((share, found))
        if len(reports) == 2:
            raise error

    # Only work of more than 50 ms is reported, so this block takes seconds on any machine.
    stream = regions.stream(ENDLESS, SQUARE, regions_per_block=10**9, progress=report)
    with pytest.raises(error) as stopped:
        for _ in stream:
            pass
    assert reports == sorted(reports) and 0 <= reports[-1][0] < 1
    assert stopped.value.partial is not None and list(stream) == []
    assert len(next(regions.stream(ENDLESS, SQUARE, regions_per_block=10, start=stream.place))) >= 10


@pytest.mark.parametrize("domain", [SQUARE, Segment([-1, -1], [1, 0.5])])
def test_every_block_reports_where_time_passes(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of this test advances by a second each time it is read, so the machine's speed does not matter."""
    seconds, reports = itertools.count(), list[tuple[float, int]]()
    monkeypatch.setattr("regions.counting.stream.monotonic", lambda: float(next(seconds)))
    stream = regions.stream(NETWORK, domain, regions_per_block=10, progress=lambda *report: reports.append(report))
    ends = [stream.found for _ in stream]
    # The last cut of a block may find some regions more.
    assert len(ends) > 2 and all(any(end - 3 < found <= end for _, found in reports) for end in ends[:-1])
    assert reports == sorted(reports) and 0 < reports[0][0] and reports[-1][0] < 1
    monkeypatch.setattr("regions.counting.stream.monotonic", lambda: 0.0)
    stream = regions.stream(NETWORK, domain, regions_per_block=10, progress=lambda *report: 1 / 0)
    assert len(list(stream)) == len(ends)  # no time passes


def test_a_block_whose_report_fails_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regions.counting.stream.PATIENCE", 0.0)
    stream = regions.stream(NETWORK, SQUARE, regions_per_block=10, progress=lambda *report: 1 / 0)
    with pytest.raises(ZeroDivisionError) as stopped:
        next(stream)
    first = next(regions.stream(NETWORK, SQUARE, regions_per_block=10))
    assert stream.place == () and len(stopped.value.partial) == len(first)


def test_closed_before_its_end() -> None:
    stream = regions.stream(ENDLESS, SQUARE, regions_per_block=10)
    next(stream)
    place = stream.place
    stream.close()
    assert list(stream) == [] and stream.place == place is not None


SCRIPT = """
import resource, sys
import regions
biases = regions.ensembles.Gaussian(std=0.5)
network = regions.ensembles.Ensemble([2, 64, 64, 64, 1], biases=biases).draw(1)
square = regions.Polygon([[-9, -9], [9, -9], [9, 9], [-9, 9]])
peaks = []
for number, block in zip(range(13), regions.stream(network, square, regions_per_block=1000)):
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(peaks[-1] / peaks[2])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no resource module")
def test_memory_does_not_grow() -> None:
    run = [sys.executable, "-c", SCRIPT]
    folder = Path(regions.__file__).parent.parent
    assert float(subprocess.run(run, capture_output=True, text=True, check=True, cwd=folder).stdout) < 1.05
