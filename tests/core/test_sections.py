# SPDX-License-Identifier: MIT
"""Do sections of the recursion together find what one run finds?

Compared are counts, patterns in order, corners, and nodes of the recursion, for any division, also into blocks.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from random_networks import random_network
from regions.core import Path, Section
from regions.counting.found import COMPLETE, Found
from regions.counting.options import Options
from regions.counting.run import compiled, counted, enumerated, frontier
from regions.domains import Domain, Line, Plane, Polygon, Rectangle, Segment
from regions.networks.network import Network
from regions.results.cells.consistency import first_problem
from regions.results.partition import Partition, raw_arrays

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
NETWORK = random_network([2, 24, 24, 1], 1, bias=0.1, he=True)
FIRST_REGION = 2**16  # the number in a path that stands for the first region of a swept cell
ENDLESS = random_network([2, *[256] * 6, 1], 1, bias=0.1, he=True)


def all_of(network: Network, domain: Domain) -> Found:
    """Return everything as a section, so that the recursion finds it on segments, too."""
    run = enumerated(compiled(network), domain, block=2**60)
    assert run.end == COMPLETE
    return run


def blocks(network: Network, domain: Domain, most: int, begin: Path = ()) -> list[Found]:
    model, found = compiled(network), []
    while True:
        run = enumerated(model, domain, section=Section(begin), block=most)
        found.append(run)
        if run.end == COMPLETE:
            return found
        assert len(run.partition) >= most and run.end.place > begin
        begin = run.end.place


def corners(partition: Partition) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of all regions' corners, and their errors."""
    return partition.vertices[partition.cell_vertices], partition.vertex_errors[partition.cell_vertices]


def require_together(runs: list[Found], whole: Found) -> None:
    """Compare sections; a vertex that was found from two sides may have either position."""
    parts = [run.partition for run in runs]
    assert b"".join(part.packed_patterns.tobytes() for part in parts) == whole.partition.packed_patterns.tobytes()
    assert sum(run.stats["cells"] for run in runs) == whole.stats["cells"]
    require_close(parts, whole)


def require_the_same_regions(runs: list[Found], whole: Found) -> None:
    """Compare sections of a plane that may begin inside of cells that are swept, and have another order there."""
    parts = [run.partition for run in runs]
    found = np.concatenate([part.packed_patterns for part in parts])
    assert sorted(map(bytes, found)) == sorted(map(bytes, whole.partition.packed_patterns))
    for part in parts:
        assert first_problem(part.network, part.domain, raw_arrays(part), complete=False) is None


def require_close(parts: list[Partition], whole: Found) -> None:
    """Require the corners of the whole, each of them within its errors."""
    sizes = np.concatenate([np.diff(part.cell_offsets) for part in parts])
    assert np.array_equal(sizes, np.diff(whole.partition.cell_offsets))
    positions, errors = (np.concatenate(arrays) for arrays in zip(*map(corners, parts), strict=True))
    expected, bounds = corners(whole.partition)
    finite = np.isfinite(expected)
    assert np.array_equal(positions[~finite], expected[~finite])
    near = np.abs(positions[finite] - expected[finite]) <= np.repeat(errors + bounds, finite.sum(axis=1))
    assert near.all()
    for part in parts:
        assert first_problem(part.network, part.domain, raw_arrays(part), complete=False) is None


def require_divisible(network: Network, domain: Domain, numbers: tuple[int, ...]) -> None:
    model, whole = compiled(network), all_of(network, domain)
    total = len(whole.partition)
    assert counted(model, domain).regions == total
    most = len(frontier(model, domain, 2**40, for_joining=True))  # cells that are swept are not divided
    for least in numbers:
        for joined in (False, True):
            paths = frontier(model, domain, least, for_joining=joined)
            expected = min(least, most if joined else total)
            assert paths == sorted(paths) and (len(paths) >= expected or domain.dimension == 1)
            sections = list(zip(paths, [*paths[1:], None], strict=True))
            runs = [enumerated(model, domain, section=Section(*each)) for each in sections]
            assert sum(run.regions for run in runs) == total
            counts = [counted(model, domain, section=Section(*each)).regions for each in sections]
            assert counts == [run.regions for run in runs]
            if domain.dimension == 2 and joined:
                require_together(runs, whole)
            elif domain.dimension == 2:
                require_the_same_regions(runs, whole)
        require_together(blocks(network, domain, least), whole)


@pytest.mark.parametrize("family", [*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES, *CLIPPED_FAMILIES])
@pytest.mark.parametrize("dimension", [1, 2])
def test_every_family(family: str, dimension: int) -> None:
    require_divisible(*draw(family, dimension, 0), (1, 3, 10**6))


@pytest.mark.parametrize(
    "domain",
    [
        SQUARE,
        Rectangle([-0.5, -1], [1, 0.25], [-0.25, 1]),
        Polygon([[-1, -1], [1, -0.5], [0, 2]]),
        Plane([0, 0], [1, 0], [0, 1]),
        Line([0, 0], [1, 2]),
        Segment([-1, -1], [1, 0.5]),
    ],
)
def test_many_regions(domain: Domain) -> None:
    require_divisible(NETWORK, domain, (2, 17, 100))


def test_cells_that_are_not_swept_are_divided_down_to_regions() -> None:
    hard_tanh = random_network([2, 12, 12, 1], 1, "hard_tanh", bias=0.1, he=True)
    assert len(frontier(compiled(hard_tanh), SQUARE, 10**6, for_joining=True)) == regions.count(hard_tanh, SQUARE)
    wide = random_network([2, 64, 64, 1], 1, bias=0.1, he=True)
    paths = frontier(compiled(wide), SQUARE, 10**6, for_joining=True)
    assert len(paths) > regions.count(wide, SQUARE) / 200


def test_networks_with_merged_neurons() -> None:
    # The second neuron of each pair repeats the boundary of the first.
    weights = np.repeat([[1.0, 0.25], [-0.5, 1.0], [1.0, 1.0]], 2, axis=0)
    weights[1::2] *= [[1.0], [-2.0], [-1.0]]
    network = Network([(weights, None), (np.eye(6) - 0.5, np.arange(6) - 2.5), (np.ones((1, 6)), None)])
    assert compiled(network).compiled.repeated_kinks == 3
    require_divisible(network, SQUARE, (2, 5))


def test_a_network_that_is_one_affine_piece() -> None:
    network = Network([([[1.0, 0.0]], [5.0]), ([[1.0]], [0.0])])
    assert frontier(compiled(network), SQUARE, 100) == [()]
    require_divisible(network, SQUARE, (1, 5))


def test_sections_from_anywhere_to_anywhere() -> None:
    model = compiled(NETWORK)
    paths = frontier(model, SQUARE, 40)
    sections = map(Section, paths, [*paths[1:], None])
    sizes = [counted(model, SQUARE, section=each).regions for each in sections]
    before = np.cumsum([0, *sizes])
    for first, last in itertools.combinations_with_replacement(range(0, len(paths), 7), 2):
        number = counted(model, SQUARE, section=Section(paths[first], paths[last])).regions
        assert number == before[last] - before[first]
    for path in paths:  # a node and its first child begin with the same leaf
        beginning = path[: len(path) - 1]
        if path == (*beginning, 0):
            assert counted(model, SQUARE, section=Section(beginning, path)).regions == 0


def test_blocks_have_few_more_regions_than_were_asked_for() -> None:
    assert max(len(run.partition) for run in blocks(NETWORK, SQUARE, 50)) <= 51


def test_a_block_may_end_within_a_swept_cell() -> None:
    model, total = compiled(NETWORK), regions.count(NETWORK, SQUARE)
    run = enumerated(model, SQUARE, block=50)
    place = run.end.place
    assert place is not None and place[-1] > FIRST_REGION and len(run.partition) == 50
    assert counted(model, SQUARE, section=Section((), place)).regions == 50
    assert counted(model, SQUARE, section=Section(place)).regions == total - 50
    later = (*place[:-1], place[-1] + 3)
    assert counted(model, SQUARE, section=Section(place, later)).regions == 3
    assert len(enumerated(model, SQUARE, section=Section(place, later)).partition) == 3
    assert enumerated(model, SQUARE, section=Section(place, later), block=2).end.place == (*place[:-1], place[-1] + 2)
    for wrong in ((*place[:-1], FIRST_REGION + 10**6), (*place, 0), (FIRST_REGION,)):
        for pair in ((wrong, None), ((), wrong)):
            with pytest.raises(ValueError, match="the recursion has no node with the path"):
                enumerated(model, SQUARE, section=Section(*pair))


def test_paths_of_earlier_versions_lead_into_swept_cells() -> None:
    model = compiled(NETWORK)
    cell = enumerated(model, SQUARE, block=50).end.place[:-1]
    last = enumerated(model, SQUARE, section=Section((*cell, 1)))
    first = enumerated(model, SQUARE, section=Section(cell, (*cell, 1)))
    assert len(first.partition) > 1 and len(last.partition) > 1
    assert len(first.partition) + len(last.partition) == counted(model, SQUARE, section=Section(cell)).regions
    for run in (first, last):
        assert first_problem(NETWORK, SQUARE, raw_arrays(run.partition), complete=False) is None


def test_blocks_are_the_same_wherever_the_first_one_began() -> None:
    found = blocks(NETWORK, SQUARE, 60)
    for number, run in enumerate(found[:-1]):
        later = blocks(NETWORK, SQUARE, 60, run.end.place)
        assert [each.partition for each in later] == [each.partition for each in found[number + 1 :]]


def test_neighbours_within_a_section_match_the_whole() -> None:
    whole = regions.enumerate(NETWORK, SQUARE)
    first, missing = 0, 0
    everyone = {tuple(pair) for pair in np.sort(whole.facet_regions, axis=1).tolist()}
    for run in blocks(NETWORK, SQUARE, 200):
        part = run.partition
        inside = part.facet_regions[part.facet_regions[:, 1] >= 0]
        assert {tuple(pair) for pair in np.sort(inside + first, axis=1).tolist()} <= everyone
        missing += ((part.facet_regions[:, 1] < 0) & (part.facet_kinks >= 0)).sum()
        first += len(part)
    assert 0 < missing < len(whole.facet_kinks) / 2


def test_a_section_does_not_claim_to_be_all() -> None:
    model = compiled(NETWORK)
    section = enumerated(model, SQUARE, section=Section((1,)))
    assert section.end == COMPLETE
    assert not section.partition.complete and not section.certificate.complete
    assert not counted(model, SQUARE, section=Section((), (1,))).certificate.complete
    assert counted(model, SQUARE).certificate.complete


@pytest.mark.parametrize("path", [(2,), (0, 5), (2**31 - 1,), (0,) * 1000, (1,) * 1000])
@pytest.mark.parametrize("domain", [SQUARE, Segment([-1, -1], [1, 0.5])])
def test_paths_that_lead_nowhere(path: Path, domain: Domain) -> None:
    model = compiled(NETWORK)
    for ask in (counted, enumerated):
        for begin, end in ((path, None), ((), path), (path, path)):
            with pytest.raises(ValueError, match="the recursion has no node with the path"):
                ask(model, domain, section=Section(begin, end))


def test_anything_but_a_section_is_refused() -> None:
    model = compiled(NETWORK)
    for path in ((-1,), (0.5,), ("0",), (2**31,), (None,)):
        with pytest.raises(ValueError, match="a path is made of numbers of children"):
            counted(model, SQUARE, section=Section(path))
    with pytest.raises(ValueError, match="cannot end at"):
        counted(model, SQUARE, section=Section((1,), (0, 1)))
    with pytest.raises(ValueError, match="at least one region"):
        enumerated(model, SQUARE, block=0)


def test_limits_and_reports() -> None:
    model, total = compiled(NETWORK), regions.count(NETWORK, SQUARE)
    half = counted(model, SQUARE, section=Section((1,))).regions
    assert counted(model, SQUARE, Options(half), Section((1,))).end == COMPLETE
    assert counted(model, SQUARE, Options(half - 1), Section((1,))).end.limit == half - 1
    assert 0 < half < total

    def report(share: float, found: int) -> None:
        shares.append(share)
        if len(shares) == 3:
            raise ZeroDivisionError

    for begin in ((), (1,)):
        shares: list[float] = []
        run = counted(compiled(ENDLESS), SQUARE, Options(None, report), Section(begin, None if begin else (1,)))
        assert isinstance(run.end.error, ZeroDivisionError)
        assert (min(shares) >= 0.5) == (begin != ()) and shares == sorted(shares)
    shares = []
    with pytest.raises(ZeroDivisionError):
        frontier(compiled(ENDLESS), SQUARE, 10**9, report)
