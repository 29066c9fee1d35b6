# SPDX-License-Identifier: MIT
"""Is an enumeration that was cut into tasks the same, to the last bit, as one that was not?"""

from __future__ import annotations

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from generators_deep import DEEP_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from killed_jobs import ended_half_way
from pieces import done, pieces_of
from pools_that_fail import Replacing, kill_the_first, kill_the_worker
from random_networks import random_network
from regions import errors, jobs
from regions.counting import joined_blocks
from regions.domains import Domain, Line, Plane, Polygon, Segment
from regions.ground.arithmetic.types import Integers
from regions.networks.network import Network
from regions.results.cells.consistency import first_problem
from regions.results.partition import ARRAYS, Partition, raw_arrays
from regions.results.partition.certificate import LONGER, STAGES

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
PLANE = Plane([0, 0], [1, 0], [0, 1])
NETWORK = random_network([2, 24, 24, 1], 1, bias=0.1, he=True)
WHOLE = regions.enumerate(NETWORK, SQUARE)
MANY = 10**5


def require_same(found: Partition, whole: Partition) -> None:
    for name in ARRAYS:
        one, other = getattr(found, name), getattr(whole, name)
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes()), name
    assert found == whole and found.complete
    assert found.stats["cells"] == whole.stats["cells"]
    # The signs on the way to each section are decided again.
    assert all(found.stats[name] >= whole.stats[name] for name in (*STAGES, *LONGER, "zero"))


@pytest.mark.parametrize("family", [*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES, *CLIPPED_FAMILIES, *DEEP_FAMILIES])
@pytest.mark.parametrize("dimension", [1, 2])
def test_every_family(family: str, dimension: int) -> None:
    network, domain = draw(family, dimension, 0)
    whole = regions.enumerate(network, domain)
    for n in (1, 2, 3, 7, MANY):
        require_same(jobs.join(done(pieces_of(network, domain, n))), whole)


# Each unit of the first layer occurs twice; all lines go through one point.
TWINS = Network(
    [
        (np.repeat(np.random.default_rng(0).integers(-1, 2, (9, 2)), 2, axis=0), np.zeros(18)),
        (np.random.default_rng(1).integers(-1, 2, (12, 18)), np.zeros(12)),
        (np.ones((1, 12)), [0.0]),
    ]
)


@pytest.mark.slow
@pytest.mark.parametrize("network", [NETWORK, TWINS, random_network([2, 16, 16, 16, 1], 3, "hard_tanh", he=True)])
@pytest.mark.parametrize(
    "domain", [SQUARE, Polygon([[-1, -1], [1, -0.5], [0, 2]]), PLANE, Line([0, 0], [1, 2]), Segment([-1, -1], [1, 0.5])]
)
def test_many_regions(network: Network, domain: Domain) -> None:
    whole = regions.enumerate(network, domain)
    for n in (3, 40, MANY):
        pieces = pieces_of(network, domain, n)
        # Cells that are swept are not divided.
        assert len(pieces) >= 3 if domain.dimension == 2 else len(pieces) == 1
        require_same(jobs.join(done(pieces)), whole)


def test_corners_that_are_placed_once_more() -> None:
    """The allowed number depends on the cells of all tasks together."""
    network = random_network([2, *[24] * 8, 1], 2, bias=0.1, he=True)
    whole = regions.enumerate(network, SQUARE)
    for n in (2, 30):
        require_same(jobs.join(done(pieces_of(network, SQUARE, n))), whole)


@pytest.mark.parametrize("domain", [SQUARE, PLANE])
def test_facets_that_may_be_anywhere_are_compared_exactly(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    def anywhere(arrays: Any, facets: Integers) -> Integers:
        return np.stack(np.triu_indices(len(facets), 1), axis=1)

    monkeypatch.setattr(joined_blocks, "_at_the_same_place", anywhere)
    for n in (3, 40):
        require_same(jobs.join(done(pieces_of(TWINS, domain, n))), regions.enumerate(TWINS, domain))


def test_a_wide_bound_makes_only_more_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    paired = joined_blocks._at_the_same_place

    def widened(arrays: Any, facets: Integers) -> Integers:
        errors = arrays["vertex_errors"].copy()
        errors[arrays["facet_vertices"][facets[::7]]] += 1.0
        return paired({**arrays, "vertex_errors": errors}, facets)

    monkeypatch.setattr(joined_blocks, "_at_the_same_place", widened)
    monkeypatch.setattr(joined_blocks, "FEW", 2)
    require_same(jobs.join(done(pieces_of(TWINS, SQUARE, 40))), regions.enumerate(TWINS, SQUARE))


def test_other_threads_do_not_matter() -> None:
    (task,) = pieces_of(NETWORK, SQUARE, 1)
    require_same(jobs.join([jobs.run(task, workers=3)]), WHOLE)


class TestExecutors:
    def test_threads(self, tmp_path: Path) -> None:
        with ThreadPoolExecutor(3) as pool:
            require_same(regions.enumerate(NETWORK, SQUARE, executor=pool), WHOLE)
            require_same(regions.enumerate(NETWORK, SQUARE, executor=pool, checkpoint=tmp_path), WHOLE)
        for workers in (1, 3):
            require_same(regions.enumerate(NETWORK, SQUARE, checkpoint=tmp_path, workers=workers), WHOLE)

    @pytest.mark.slow
    def test_processes_one_of_which_is_killed(self, tmp_path: Path) -> None:
        with ProcessPoolExecutor(2) as pool:
            require_same(regions.enumerate(NETWORK, SQUARE, executor=pool), WHOLE)
            instead = {3: partial(kill_the_first, tmp_path / "mark"), 8: kill_the_worker}
            require_same(regions.enumerate(NETWORK, SQUARE, executor=Replacing(pool, instead)), WHOLE)
        assert (tmp_path / "mark").exists()

    def test_progress_adds_up_over_all_tasks(self) -> None:
        reports: list[tuple[float, int]] = []
        with ThreadPoolExecutor(2) as pool:
            regions.enumerate(NETWORK, SQUARE, executor=pool, progress=lambda *report: reports.append(report))
        assert reports == sorted(reports) and reports[-1] == (1.0, len(WHOLE))


def require_part(partial: Partition, least: int) -> None:
    """Check that a result is a part of the whole; any part is allowed, but everything in it must be right."""
    assert not partial.complete and least <= len(partial) <= len(WHOLE)
    assert first_problem(partial.network, partial.domain, raw_arrays(partial), complete=False) is None
    assert {row.tobytes() for row in partial.packed_patterns} <= {row.tobytes() for row in WHOLE.packed_patterns}


class TestStopping:
    @pytest.mark.slow
    @pytest.mark.parametrize("limit", [0, 1, len(WHOLE) // 2, len(WHOLE) - 1])
    def test_limits(self, limit: int, tmp_path: Path) -> None:
        with pytest.raises(regions.LimitReached) as alone:
            regions.enumerate(NETWORK, SQUARE, limit=limit)
        for n in (1, 2, 30):
            results = [jobs.run(task) for task in pieces_of(NETWORK, SQUARE, n, limit=limit)]
            for _ in range(2):
                with pytest.raises(regions.LimitReached) as stopped:
                    jobs.join(results)
                assert str(stopped.value) == str(alone.value) and stopped.value.limit == limit
                require_part(stopped.value.partial, limit + 1)
        for workers in (1, 3):
            with pytest.raises(regions.LimitReached) as stopped:
                regions.enumerate(NETWORK, SQUARE, limit=limit, checkpoint=tmp_path, workers=workers)
            assert str(stopped.value) == str(alone.value)
            require_part(stopped.value.partial, limit + 1)

    def test_a_limit_that_is_enough(self, tmp_path: Path) -> None:
        require_same(regions.enumerate(NETWORK, SQUARE, limit=len(WHOLE), checkpoint=tmp_path), WHOLE)

    def test_a_limit_on_a_segment(self, tmp_path: Path) -> None:
        with pytest.raises(regions.LimitReached) as stopped:
            regions.enumerate(NETWORK, Segment([-1, -1], [1, 0.5]), limit=3, checkpoint=tmp_path)
        assert len(stopped.value.partial) > 3 and not stopped.value.partial.complete

    def test_partial_results_are_joined_where_possible(self) -> None:
        """The first half of the tasks: only facets towards the others are open."""
        pieces = pieces_of(NETWORK, SQUARE, 30, limit=len(WHOLE) // 2)
        with pytest.raises(regions.LimitReached) as stopped:
            jobs.join([jobs.run(task) for task in pieces])
        open_facets = (stopped.value.partial.facet_regions[:, 1] < 0).mean()
        assert open_facets < 0.2

    @pytest.mark.parametrize("workers", [1, 3])
    def test_ctrl_c(self, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
        report = ended_half_way(monkeypatch)
        with ThreadPoolExecutor(workers) as pool, pytest.raises(KeyboardInterrupt) as stopped:
            regions.enumerate(NETWORK, SQUARE, executor=pool, progress=report)
        require_part(stopped.value.partial, 1)
        assert stopped.value.found.regions >= len(stopped.value.partial)

    def test_ctrl_c_before_anything_is_found(self) -> None:
        given: list[Future[Any]] = []

        def stop(share: float, found: int) -> None:
            if given:  # dividing the work is reported, too, if it takes long
                raise KeyboardInterrupt

        class Idle(Executor):
            def submit(self, *work: Any) -> Future[Any]:  # type: ignore[override]
                given.append(Future())
                return given[-1]

        with pytest.raises(KeyboardInterrupt) as stopped:
            regions.enumerate(NETWORK, SQUARE, executor=Idle(), progress=stop)
        assert len(stopped.value.partial) == 0 and not stopped.value.partial.complete


class TestWhatIsWrong:
    def test_results_that_do_not_belong_together(self) -> None:
        results = [jobs.run(task) for task in pieces_of(NETWORK, SQUARE, 4)]
        others = {
            "network": jobs.split(random_network([2, 24, 24, 1], 2, he=True), SQUARE, 4, function="enumerate"),
            "number of tasks": pieces_of(NETWORK, SQUARE, 20),
            "limit": pieces_of(NETWORK, SQUARE, 4, limit=10**6),
            "function": jobs.split(NETWORK, SQUARE, 4),
        }
        for pieces in others.values():
            with pytest.raises(ValueError, match=r"results\[3\] belongs to another job than results\[0\]"):
                jobs.join([*results[:3], jobs.run(pieces[3])])
        with pytest.raises(ValueError, match="appears twice"):
            jobs.join([*results, results[1]])
        with pytest.raises(ValueError, match="these are missing: 1"):
            jobs.join([results[0], *results[2:]])

    def test_results_that_only_look_right(self) -> None:
        """Forged files with right checksums must not cause a crash, or silently wrong arrays."""
        results = [jobs.run(task) for task in pieces_of(NETWORK, SQUARE, 6)]
        for one, other in ((1, 2), (0, 3), (2, 4)):
            section = results[one].block.section
            forged = replace(results[one], block=replace(results[other].block, section=section))
            given = [forged if result is results[one] else result for result in results]
            with pytest.raises(ValueError, match="blocks do not fit together"):
                jobs.join(given)

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("cell_vertices", lambda array: array.__setitem__(0, 2**40)),
            ("cell_vertices", lambda array: array.__setitem__(0, -1)),
            ("cell_facets", lambda array: array.__setitem__(0, -1)),
            ("cell_offsets", lambda array: array.__setitem__(-1, 2**40)),
            ("facet_kinks", lambda array: array.__setitem__(0, 2**40)),
            ("facet_kinks", lambda array: array.__setitem__(slice(None), -1)),
            ("facet_regions", lambda array: array.__setitem__((slice(None), 1), -1)),
            ("facet_vertices", lambda array: array.__setitem__(0, array[0, ::-1])),
            ("cell_facets", lambda array: array.__setitem__(array < 2, 1 - array[array < 2])),
            ("vertices", lambda array: array.__setitem__(-1, np.nan)),
            ("vertices", lambda array: array.__iadd__(0.5)),
        ],
    )
    def test_arrays_that_no_task_finds(self, name: str, change: Any) -> None:
        results = [jobs.run(task) for task in pieces_of(NETWORK, SQUARE, 6)]
        part = results[2].block
        array = part.arrays[name].copy()
        change(array)
        forged = replace(results[2], block=replace(part, arrays=part.arrays | {name: array}))
        with pytest.raises(ValueError, match="result 2 is not what a task finds|blocks do not fit together"):
            jobs.join([*results[:2], forged, *results[3:]])

    @pytest.mark.parametrize(
        "change",
        [
            lambda arrays: {},
            lambda arrays: arrays | {"facet_kinks": arrays["facet_kinks"].tolist()},
            lambda arrays: arrays | {"facet_kinks": arrays["facet_kinks"].astype(np.int32)},
            lambda arrays: arrays | {"facet_kinks": arrays["facet_kinks"].astype(">i8")},
            lambda arrays: arrays | {"vertices": np.asfortranarray(arrays["vertices"])},
            lambda arrays: arrays | {"vertices": arrays["vertices"][:1]},
            lambda arrays: arrays | {"packed_patterns": arrays["packed_patterns"][:0]},
            lambda arrays: arrays | {"cell_offsets": arrays["cell_offsets"][:0]},
            lambda arrays: arrays | {"more": arrays["facet_kinks"]},
        ],
    )
    def test_arrays_of_another_form(self, change: Any) -> None:
        results = [jobs.run(task) for task in pieces_of(NETWORK, SQUARE, 6)]
        part = results[2].block
        forged = replace(results[2], block=replace(part, arrays=change(dict(part.arrays))))
        with pytest.raises(ValueError, match="result 2 is not what a task finds"):
            jobs.join([*results[:2], forged, *results[3:]])

    def test_results_in_exchanged_positions(self) -> None:
        """A network with symmetries: many parts have the same sizes, but different corners."""
        network = Network(
            [([[4, 0], [0, 4], [4, 4], [4, -4]], [0, 0, 0, 0]), (np.eye(4), np.zeros(4)), (np.ones((1, 4)), [0])],
            "hard_tanh",
        )
        results = [jobs.run(task) for task in pieces_of(network, SQUARE, 8)]
        assert len(results) >= 8
        for one, other in [(i, j) for i in range(len(results)) for j in range(len(results)) if i != j]:
            section = results[one].block.section
            forged = replace(results[one], block=replace(results[other].block, section=section))
            with pytest.raises(ValueError, match="blocks do not fit together"):
                jobs.join([forged if index == one else result for index, result in enumerate(results)])

    def test_other_kernels(self) -> None:
        """Their rounding may lead to another recursion, whose parts do not fit this one."""
        for function in ("count", "enumerate"):
            pieces = jobs.split(NETWORK, SQUARE, 6, function=function)
            with pytest.raises(ValueError, match="belongs to a job for the kernel 'other', and this machine has"):
                jobs.run(replace(pieces[1], kernel="other"))
        results = [jobs.run(task) for task in pieces]
        forged = replace(results[2], block=replace(results[2].block, kernel="other"))
        with pytest.raises(ValueError, match="blocks that the kernel 'other' found"):
            jobs.join([*results[:2], forged, *results[3:]])
        (whole,) = jobs.split(NETWORK, Segment([-1, -1], [1, 1]), 1)
        assert whole.kernel is None

    @pytest.mark.parametrize("function", [regions.count, regions.enumerate])
    def test_workers_with_another_kernel_leave_their_tasks_to_the_caller(self, function: Any) -> None:
        class Elsewhere(ThreadPoolExecutor):
            def submit(self, work: Any, task: Any) -> Future[Any]:  # type: ignore[override]
                return super().submit(work, replace(task, kernel="other") if task.index % 2 else task)

        with Elsewhere(2) as pool:
            assert function(NETWORK, SQUARE, executor=pool) == function(NETWORK, SQUARE)

    def test_nodes_that_are_not_there(self) -> None:
        results = [jobs.run(task) for task in pieces_of(NETWORK, SQUARE, 4)]
        for node in ((9,), (0,) * 200):
            with pytest.raises(ValueError, match="no node with the path"):
                jobs.join([results[0], jobs.run(replace(pieces_of(NETWORK, SQUARE, 4)[1], begin=node, end=None))])

    def test_one_network_in_one_domain(self) -> None:
        for what in (([NETWORK], SQUARE), (NETWORK, [SQUARE])):
            with pytest.raises(ValueError, match="one network and one domain"):
                jobs.split(*what, 4, function="enumerate")
        with pytest.raises(ValueError, match="'affine' ones are counted"):
            pieces_of(NETWORK, SQUARE, 4, definition="affine")
        with pytest.raises(ValueError, match="function must be"):
            jobs.split(NETWORK, SQUARE, 4, function="stream")
        with pytest.raises(TypeError):
            pieces_of(NETWORK, regions.Circle([0, 0], [1, 0], [0, 1]), 4)
        with pytest.raises(errors.ShapeMismatchError):
            pieces_of(NETWORK, Segment([0], [1]), 4)
