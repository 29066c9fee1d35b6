# SPDX-License-Identifier: MIT
"""Do the certificates of blocks and of the boundaries between them prove the number of all regions, and reveal each
damage of a block?"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import regions
from damage_parts import damaged, undamaged
from damages import IN_PLANE, ON_LINE
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from partition_cases import SQUARE
from random_networks import random_network
from regions import StreamCertification
from regions.certification.certification_report import CARRYING
from regions.domains import Domain
from regions.networks.network import Network
from regions.results.partition import Partition, raw_arrays

GENERIC, LINE = random_network([2, 6, 5, 3]), random_network([2, 8, 8, 1], 4)
SEGMENT = regions.Segment([-2, 1], [3, 0])
SEVERAL = Network(
    [([[1, 0], [0, 1], [1, 1], [2, 2]], [0, 0, 0, 0]), ([[1, 1, 1, 1], [1, -1, 0, 2]], [0, 1]), ([[1, 1]], [0])]
)


def certified(net: Network, domain: Domain, blocks: Iterable[Partition]) -> StreamCertification:
    whole = StreamCertification(net, domain)
    for block in blocks:
        whole.add(block)
    return whole


def proves(whole: StreamCertification, number: int) -> bool:
    report = whole.report()
    words = f"proved: there {'is' if number == 1 else 'are'} exactly {number:,} region{'' if number == 1 else 's'}"
    assert (report.conclusion == words) == (report.ok and report.complete)
    return report.conclusion == words


@pytest.mark.parametrize("family", sorted({*FAMILIES, *CLIPPED_FAMILIES}))
def test_right_blocks_of_all_families(family: str) -> None:
    """In any order."""
    for dimension in (1, 2):
        net, domain = draw(family, dimension, 3)
        if domain.bounded:
            number = int(regions.count(net, domain))
            blocks = list(regions.stream(net, domain, regions_per_block=max(1, number // 4)))
            assert proves(certified(net, domain, blocks), number)
            assert proves(certified(net, domain, blocks[::-1]), number)


def test_several_kinks_along_a_seam() -> None:
    number = int(regions.count(SEVERAL, SQUARE))
    whole = certified(SEVERAL, SQUARE, regions.stream(SEVERAL, SQUARE, regions_per_block=1))
    assert proves(whole, number) and whole.waiting == 0


def test_parts_that_others_certified() -> None:
    blocks = list(regions.stream(GENERIC, SQUARE, regions_per_block=9))
    parts = [pickle.loads(pickle.dumps(certified(GENERIC, SQUARE, blocks[k::3]))) for k in range(3)]
    whole = StreamCertification(GENERIC, SQUARE)
    for part in parts:
        assert not proves(whole, whole.regions)
        whole.merge(part)
    assert proves(whole, int(regions.count(GENERIC, SQUARE)))
    assert whole.blocks == len(blocks) and whole.waiting == 0


def test_blocks_that_are_missing_or_come_twice() -> None:
    blocks = list(regions.stream(GENERIC, SQUARE, regions_per_block=9))
    each = [certified(GENERIC, SQUARE, [block]) for block in blocks]
    for k in range(len(blocks)):
        report = merged(each[:k] + each[k + 1 :]).report()
        assert not report.ok and not report.failed and not report.complete
        assert report.conclusion.startswith("partial: ") and "not all blocks have come" in report.conclusion
        assert [item.name for item in report.sampled] == ["disjoint"]
        report = merged([*each, each[k]]).report()
        assert {"volume"} <= {item.name for item in report.failed} <= {"volume", "disjoint"}
    assert [item.name for item in merged([*each, *each]).report().failed] == ["disjoint", "volume"]
    whole = regions.enumerate(GENERIC, SQUARE)
    assert proves(certified(GENERIC, SQUARE, [whole]), len(whole))
    assert not proves(certified(GENERIC, SQUARE, [whole, blocks[0]]), len(whole) + len(blocks[0]))


def merged(parts: Iterable[StreamCertification]) -> StreamCertification:
    whole = StreamCertification(GENERIC, SQUARE)
    for part in parts:
        whole.merge(part)
    return whole


@pytest.mark.parametrize("name", [*IN_PLANE, *(f"line {name}" for name in ON_LINE)])
def test_a_damaged_block(name: str) -> None:
    line = name.startswith("line ")
    damage, items = (ON_LINE if line else IN_PLANE)[name.removeprefix("line ")]
    net, domain = (LINE, SEGMENT) if line else (GENERIC, SQUARE)
    part, claimed = damaged(damage, undamaged(net, domain))
    if part.network != net or part.domain != domain:
        with pytest.raises(ValueError, match="of another network or domain"):
            certified(net, domain, [part])
    elif claimed == net:
        found = proves(certified(net, domain, [part]), max(part.cell_offsets.size - 1, 0))
        assert not (found and {*CARRYING, "border", "volume"} & {*items})


def test_damage_in_one_of_many_blocks() -> None:
    """A bit of a pattern, at each place in turn."""
    blocks = list(regions.stream(GENERIC, SQUARE, regions_per_block=9))
    others = certified(GENERIC, SQUARE, [blocks[0], *blocks[2:]])
    for place in range(GENERIC.kinks):
        raw = raw_arrays(blocks[1])
        raw["packed_patterns"] = raw["packed_patterns"].copy()
        raw["packed_patterns"][place % len(blocks[1]), place // 8] ^= 1 << place % 8
        wrong = Partition(GENERIC, SQUARE, raw)
        report = merged([others, certified(GENERIC, SQUARE, [wrong])]).report()
        assert not report.ok and "block 0: " in report.failed[0].finding


def test_memory_of_facets_that_wait() -> None:
    """Few facets wait at any time, because the blocks are cells of the recursion."""
    net = random_network([2, 24, 24, 1], 3)
    whole, most = StreamCertification(net, SQUARE), 0
    for block in regions.stream(net, SQUARE, regions_per_block=40):
        whole.add(block)
        most = max(most, whole.waiting)
    assert proves(whole, int(regions.count(net, SQUARE))) and most < 3 * len(whole.network.kink_layers)


def test_refusals() -> None:
    with pytest.raises(regions.errors.DomainError, match="certifications of streams exist in bounded domains"):
        StreamCertification(GENERIC, regions.Plane([0, 0], [1, 0], [0, 1]))
    with pytest.raises(regions.errors.ShapeMismatchError):
        StreamCertification(GENERIC, regions.Segment([0], [1]))
    whole = StreamCertification(GENERIC, SQUARE)
    with pytest.raises(TypeError, match="block must be a Partition"):
        whole.add(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="other must be a StreamCertification"):
        whole.merge(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="of another network or domain"):
        whole.merge(StreamCertification(LINE, SQUARE))
    with pytest.raises(ValueError, match="merged with itself"):
        whole.merge(whole)
    assert (
        not whole.report().ok
        and not whole.report().complete
        and repr(whole) == "StreamCertification(0 regions, 0 blocks, 0 facets wait)"
    )
    assert np.isfinite(whole.report().inequalities)


def is_added_with_ctrl_c(whole: StreamCertification, block: Partition, line: int) -> bool:
    """Add a block, with Ctrl-C at one of the lines that are run; return whether Ctrl-C ended the call."""
    where, lines = ("stream_certification.py", "seams.py"), 0

    def trace(frame: Any, event: str, argument: object) -> Any:
        nonlocal lines
        if not frame.f_code.co_filename.endswith(where):
            return None
        lines += event == "line"
        if event == "line" and lines == line:
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        whole.add(block)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


@pytest.mark.slow
@pytest.mark.parametrize("domain", [SEGMENT, SQUARE, regions.Box([-1] * 3, [1] * 3)], ids=lambda each: each.dimension)
def test_ctrl_c_at_each_line(domain: Domain) -> None:
    """A block that was left out can be added again; otherwise nothing is proved, even if it is not added again."""
    net = GENERIC if domain.dimension < 3 else random_network([3, 3, 2, 1])
    *blocks, last = regions.stream(net, domain, regions_per_block=4)
    before, number = certified(net, domain, blocks), int(regions.count(net, domain))
    line, ends = 1, set()
    while is_added_with_ctrl_c(whole := pickle.loads(pickle.dumps(before)), last, line):
        assert not whole.report().all_proved
        whole.add(last)
        assert proves(whole, number) or not whole.report().ok
        ends.add(proves(whole, number))
        line += 1
    assert ends == {True, False} and proves(whole, number)
