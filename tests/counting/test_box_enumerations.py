# SPDX-License-Identifier: MIT
"""Is an enumeration of a box that was cut into tasks the same, to the last bit, as one that was not?"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from killed_jobs import damaged, ended_half_way, files_of, noted_attempts, require_done_again, require_to_go_on
from pieces import done, pieces_of
from polytope_cases import OF_THEIR_OWN, he_normal
from pools_that_fail import Replacing, kill_the_first, kill_the_worker
from regions import Box, Network, PolytopePartition, jobs
from regions.counting import joined_blocks, joining
from regions.errors import DomainError
from regions.results.cells.complex import POLYTOPE_ARRAYS
from regions.results.cells.consistency import first_problem
from regions.results.partition import raw_arrays

NETWORK, CUBE = he_normal([3, 10, 10, 1]), Box([-1] * 3, [1] * 3)
WHOLE = regions.enumerate(NETWORK, CUBE)
EVERY = [f for f in FAMILIES | GRAPH_FAMILIES | CLIPPED_FAMILIES | MAX_FAMILIES if f not in OF_THEIR_OWN]


def require_same(found: PolytopePartition, whole: PolytopePartition) -> None:
    for name in POLYTOPE_ARRAYS:
        one, other = getattr(found, name), getattr(whole, name)
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes()), name
    assert found == whole and found.complete and found.certificate.complete


@pytest.mark.filterwarnings("ignore::regions.errors.PrecisionWarning")
@pytest.mark.parametrize("family", EVERY)
@pytest.mark.parametrize("dimension", [3, 4])
def test_every_family(family: str, dimension: int) -> None:
    for seed in range(3):
        network, domain = draw(family, dimension, seed)
        if not domain.bounded:
            continue
        try:
            whole = regions.enumerate(network, domain, limit=200)
        except regions.LimitReached:
            continue
        for n in (1, 2, 30):
            require_same(jobs.join(done(pieces_of(network, domain, n))), whole)


@pytest.mark.parametrize(
    "dimension", [3, 4, pytest.param(5, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)]
)
def test_many_regions(dimension: int) -> None:
    network, box = he_normal([dimension, 7, 6, 1]), Box([-1] * dimension, [1] * dimension)
    whole = regions.enumerate(network, box)
    for n in (2, 200):
        pieces = pieces_of(network, box, n)
        assert len(pieces) >= min(n, len(whole))
        require_same(jobs.join(done(pieces)), whole)


def test_several_kinks_change_together_between_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units that come twice, and negated: each facet has several kinks, and each task names one of them."""
    rng, matched = np.random.default_rng(0), []
    weights = rng.integers(-1, 2, (5, 3)).astype(float)
    layers = [(np.vstack([weights, 2 * weights, -weights]), np.zeros(15)), (rng.integers(-1, 2, (6, 15)), [0.25] * 6)]
    network = Network([*layers, (np.ones((1, 6)), [0.0])])
    search = joined_blocks._pairs_of_several
    monkeypatch.setattr(
        joined_blocks, "_pairs_of_several", lambda *given: matched.append(search(*given)) or matched[-1]
    )
    whole = regions.enumerate(network, CUBE)
    require_same(jobs.join(done(pieces_of(network, CUBE, 40))), whole)
    assert len(matched[0]) > 30


def test_vertices_closer_than_their_bounds_are_matched_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        joined_blocks,
        "_can_meet",
        lambda arrays, one, other: np.ones(np.broadcast_shapes(one.shape, other.shape), bool),
    )
    require_same(
        jobs.join(done(pieces_of(he_normal([3, 5, 4, 1]), CUBE, 8))), regions.enumerate(he_normal([3, 5, 4, 1]), CUBE)
    )


def test_other_polytopes_and_charts() -> None:
    rng = np.random.default_rng(2)
    network = Network([(rng.standard_normal((8, 12)), rng.standard_normal(8)), (np.ones((1, 8)), [0])])
    simplex = regions.Polytope([[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 1, 1]], [0, 0, 0, 1])
    for net, domain in (
        (network, Box.around(rng.standard_normal(12), 0.5, rng.standard_normal((3, 12)))),
        (he_normal([3, 8, 6, 1]), simplex),
    ):
        require_same(jobs.join(done(pieces_of(net, domain, 12))), regions.enumerate(net, domain))


def test_a_certificate_and_a_check_of_the_joined_regions() -> None:
    found = jobs.join(done(pieces_of(NETWORK, CUBE, 12)))
    assert found.certificate.regions == len(WHOLE) == regions.count(NETWORK, CUBE)
    assert regions.certify(found, NETWORK).all_proved


class TestExecutors:
    def test_threads_and_a_folder(self, tmp_path: Path) -> None:
        with ThreadPoolExecutor(3) as pool:
            require_same(regions.enumerate(NETWORK, CUBE, executor=pool), WHOLE)
            require_same(regions.enumerate(NETWORK, CUBE, executor=pool, checkpoint=tmp_path), WHOLE)
        for workers in (1, 3):
            require_same(regions.enumerate(NETWORK, CUBE, checkpoint=tmp_path, workers=workers), WHOLE)
        assert regions.count(NETWORK, CUBE, checkpoint=tmp_path) == len(WHOLE)

    @pytest.mark.slow
    def test_processes_one_of_which_is_killed(self, tmp_path: Path) -> None:
        with ProcessPoolExecutor(2) as pool:
            require_same(regions.enumerate(NETWORK, CUBE, executor=pool), WHOLE)
            instead = {3: partial(kill_the_first, tmp_path / "mark"), 8: kill_the_worker}
            require_same(regions.enumerate(NETWORK, CUBE, executor=Replacing(pool, instead)), WHOLE)
        assert (tmp_path / "mark").exists()


def require_part(partial: PolytopePartition, least: int) -> None:
    assert not partial.complete and least <= len(partial) <= len(WHOLE)
    arrays = {name: raw_arrays(partial)[name] for name in POLYTOPE_ARRAYS}
    assert first_problem(partial.network, partial.domain, arrays, complete=False) is None
    assert {row.tobytes() for row in partial.packed_patterns} <= {row.tobytes() for row in WHOLE.packed_patterns}


class TestStopping:
    @pytest.mark.parametrize("limit", [0, len(WHOLE) // 2, len(WHOLE) - 1])
    def test_limits(self, limit: int, tmp_path: Path) -> None:
        for n in (1, 20):
            with pytest.raises(regions.LimitReached) as stopped:
                jobs.join([jobs.run(task) for task in pieces_of(NETWORK, CUBE, n, limit=limit)])
            assert stopped.value.limit == limit
            require_part(stopped.value.partial, limit + 1)
        with pytest.raises(regions.LimitReached) as stopped:
            regions.enumerate(NETWORK, CUBE, limit=limit, checkpoint=tmp_path)
        require_part(stopped.value.partial, limit + 1)

    def test_a_limit_that_is_enough(self, tmp_path: Path) -> None:
        require_same(regions.enumerate(NETWORK, CUBE, limit=len(WHOLE), checkpoint=tmp_path), WHOLE)

    def test_ctrl_c(self, monkeypatch: pytest.MonkeyPatch) -> None:
        report = ended_half_way(monkeypatch)
        with ThreadPoolExecutor(1) as pool, pytest.raises(KeyboardInterrupt) as stopped:
            regions.enumerate(NETWORK, CUBE, executor=pool, progress=report)
        require_part(stopped.value.partial, 1)

    def test_ctrl_c_before_anything_is_found(self) -> None:
        assert len(joining.partition_of([], (NETWORK, CUBE), False)) == 0


class TestFolders:
    def test_finished_tasks_are_not_run_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        attempts = noted_attempts(monkeypatch, 12)
        for _ in range(2):
            require_same(regions.enumerate(NETWORK, CUBE, checkpoint=tmp_path), WHOLE)
        total = len(files_of(tmp_path))
        assert sorted(attempts) == list(range(total)) and total >= 12
        files_of(tmp_path)[4].unlink()
        require_same(regions.enumerate(NETWORK, CUBE, checkpoint=tmp_path), WHOLE)
        assert attempts[total:] == [4]

    def test_damaged_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        network, attempts = he_normal([3, 3, 1]), noted_attempts(monkeypatch, 4)
        whole = regions.enumerate(network, CUBE)

        def again() -> None:
            require_same(regions.enumerate(network, CUBE, checkpoint=tmp_path), whole)

        again()
        path = files_of(tmp_path)[2]
        for number, content in enumerate(damaged(path.read_bytes())):
            if number % 50 == 0:
                attempts.clear()
                require_done_again(tmp_path, path, content, again)
                assert attempts == [2]


class TestWhatIsWrong:
    def test_results_in_exchanged_positions(self) -> None:
        results = [jobs.run(task) for task in pieces_of(NETWORK, CUBE, 6)]
        for one, other in ((1, 2), (0, 3), (2, 4)):
            section = results[one].block.section
            forged = replace(results[one], block=replace(results[other].block, section=section))
            given = [forged if result is results[one] else result for result in results]
            with pytest.raises(ValueError, match="blocks do not fit together"):
                jobs.join(given)

    def test_parts_of_other_networks_and_missing_ones(self) -> None:
        results = [jobs.run(task) for task in pieces_of(NETWORK, CUBE, 4)]
        with pytest.raises(ValueError, match="belongs to another job"):
            jobs.join([*results[:3], jobs.run(pieces_of(he_normal([3, 10, 9, 1]), CUBE, 4)[3])])
        with pytest.raises(ValueError, match="these are missing: 1"):
            jobs.join([results[0], *results[2:]])
        empty = jobs.run(pieces_of(NETWORK, CUBE, 4, limit=0)[1]).block
        assert empty is not None and not empty.complete
        forged = replace(results[1], block=replace(empty, complete=True))
        with pytest.raises(ValueError, match="do not fit together: facet .* has only one region"):
            jobs.join([results[0], forged, *results[2:]])

    @pytest.mark.parametrize("name", POLYTOPE_ARRAYS)
    def test_forged_arrays_are_refused_or_harmless(self, name: str) -> None:
        results = [jobs.run(task) for task in pieces_of(NETWORK, CUBE, 6)]
        part, rng = results[2].block, np.random.default_rng(0)
        assert part is not None
        array = part.arrays[name]
        values = {"f": (np.nan, np.inf, -1.0, 0.5), "u": (0, 1, 255), "i": (-1, 0, 1, 5, 2**40, -(2**63), 2**63 - 1)}
        refused = 0
        for value in values[array.dtype.kind]:
            changed = array.copy()
            changed.reshape(-1)[rng.integers(array.size)] = value
            forged = replace(results[2], block=replace(part, arrays={**part.arrays, name: changed}))
            try:
                found = jobs.join([*results[:2], forged, *results[3:]])
            except ValueError as error:
                assert any(
                    each in str(error) for each in ("is not what a task finds", "fit together", "facet", "pattern")
                )
                refused += 1
            else:
                assert found.complete
        assert refused >= 1

    @pytest.mark.parametrize(
        "change",
        [
            lambda arrays: {},
            lambda arrays: arrays | {"facet_kinks": arrays["facet_kinks"].tolist()},
            lambda arrays: arrays | {"facet_kinks": arrays["facet_kinks"].astype(">i8")},
            lambda arrays: arrays | {"vertices": np.asfortranarray(arrays["vertices"])},
            lambda arrays: arrays | {"facet_offsets": arrays["facet_offsets"][:0]},
            lambda arrays: arrays | {"more": arrays["facet_kinks"]},
        ],
    )
    def test_arrays_of_another_form(self, change: Any) -> None:
        results = [jobs.run(task) for task in pieces_of(NETWORK, CUBE, 6)]
        part = results[2].block
        assert part is not None
        forged = replace(results[2], block=replace(part, arrays=change(dict(part.arrays))))
        with pytest.raises(ValueError, match="result 2 is not what a task finds"):
            jobs.join([*results[:2], forged, *results[3:]])

    def test_what_is_not_enumerated(self) -> None:
        for work in (pieces_of, lambda net, box, n: regions.enumerate(net, box, checkpoint="never made")):
            with pytest.raises(DomainError, match="bounded domains of 3 and more dimensions"):
                work(NETWORK, regions.Space([0] * 3, np.eye(3)), 4)
        assert not Path("never made").exists()


SCRIPT = """
import sys
import numpy as np
import regions
rng = np.random.default_rng(0)
pairs = ((3, 24), (24, 24), (24, 1))
network = regions.Network([(rng.standard_normal((n, m)) / m, rng.standard_normal(n) / 3) for m, n in pairs])
box = regions.Box([-1] * 3, [1] * 3)
checkpoint = sys.argv[1] if len(sys.argv) > 1 else None
found = regions.enumerate(network, box, checkpoint=checkpoint, progress=lambda *at: print(at, flush=True), workers=2)
print("bytes", *[getattr(found, name).tobytes().hex() for name in found.stored], flush=True)
"""


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path) -> None:
    require_to_go_on(SCRIPT, tmp_path)
