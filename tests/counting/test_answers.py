# SPDX-License-Identifier: MIT
"""Is an executor's answer accepted only if it can be the task's result?"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions.counting import job as jobs
from regions.counting.answers import Sealed, digest_of, run_sealed, unsealed
from regions.domains import Segment
from regions.results.cells.consistency import first_problem
from regions.results.partition import ARRAYS, raw_arrays

NETWORK = random_network([2, 8, 8, 1], 0, bias=0.1, he=True)
LINES = [Segment([-1, k], [1, 0.3 * k]) for k in range(1, 8)]
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])


@pytest.fixture(autouse=True)
def few_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "TASKS", 12)


class Damaging(ThreadPoolExecutor):
    """An executor that returns something else for one task: the third one, unless another is named."""

    def __init__(self, damage: Callable[[Any], Any], index: int = 2) -> None:
        super().__init__(1)
        self.damage, self.index, self.submitted = damage, index, 0

    def submit(self, work: Any, task: Any) -> Future[Any]:  # type: ignore[override]
        self.submitted += 1
        return super().submit(partial(self.damaged, work) if task.index == self.index else work, task)

    def damaged(self, work: Any, task: Any) -> Any:
        return self.damage(work(task))


class Forging(Damaging):
    """A damaging executor that gives the damaged result the right checksum."""

    def damaged(self, work: Any, task: Any) -> Any:
        return run_sealed(lambda _: self.damage(pickle.loads(work(task).content)), task)


def changed(result: Any, **parts: Any) -> Any:
    """Return the result with other parts; ``certificate`` and ``block`` are changed inside."""
    if "certificate" in parts:
        parts["certificates"] = [replace(result.certificates[0], **parts.pop("certificate"))]
    if "block" in parts:
        parts["block"] = parts["block"] and replace(result.block, **parts["block"])
    return replace(result, **parts)


NO_NUMBERS: list[Any] = [-565, 0, 2**70, 1.5, True, None, "3", np.int64(3)]
DAMAGES_OF_ANY: list[dict[str, Any]] = [
    *(
        {name: value}
        for name in ("job", "total", "index", "first", "shape", "limit", "whole")
        for value in ((9,), -1, "x")
    ),
    {"numbers": []},
    {"certificates": []},
    {"certificates": [None]},
    {"certificates": None},
    {"error": "an error"},
    {"error": regions.LimitReached("more", limit=3, partial=-7)},
    {"shape": np.zeros(3)},
]
DAMAGES_OF_COUNTS: list[dict[str, Any]] = [
    *DAMAGES_OF_ANY,
    *({"numbers": [number]} for number in NO_NUMBERS),
    *({"certificate": {"regions": number, "filter": number}} for number in NO_NUMBERS),
    {"numbers": [-565], "certificate": {"regions": -565}},
    {"certificate": {"network": "0" * 64}},
    {"certificate": {"kernel": "a\nb"}},
    {"certificate": {"complete": False}},
]


def require_lost(damage: Callable[[Any], Any], function: Callable[..., Any], *problem: Any) -> None:
    """Check that the task is submitted again; as that fails too, the caller runs it."""
    expected = function(*problem)
    with Forging(damage) as pool:
        found = function(*problem, executor=pool)
        total = len({id(each) for each in regions.jobs.split(*problem, jobs.TASKS, function=function.__name__)})
    assert np.array_equal(found, expected) if isinstance(found, np.ndarray) else found == expected
    assert pool.submitted == total + 1


@pytest.mark.parametrize("parts", DAMAGES_OF_COUNTS, ids=repr)
def test_counts_that_no_task_finds(parts: dict[str, Any]) -> None:
    require_lost(lambda result: changed(result, **parts), regions.count, NETWORK, LINES)


def damages_of_enumerations() -> list[dict[str, Any]]:
    task = regions.jobs.split(NETWORK, SQUARE, jobs.TASKS, function="enumerate")[2]
    part = regions.jobs.run(task).block
    assert part is not None
    # Its numbers and certificates are computed from the part.
    damages = [parts for parts in DAMAGES_OF_ANY if not parts.keys() & {"numbers", "certificates"}]
    damages += [{"block": None}]
    damages += [
        {"block": {name: value}} for name in ("section", "stats", "kernel", "complete") for value in (None, "x")
    ]
    damages += [{"block": {"stats": dict(part.stats) | {"cells": number}}} for number in (-1, 2**70, None, 1.5)]
    damages += [{"block": {"arrays": arrays}} for arrays in (None, {}, [])]
    damages += [{"block": {"arrays": {**part.arrays, "facet_kinks": None}}}]
    for name, array in part.arrays.items():
        wrong = [array[:0], array[:-1], array.astype(np.float32), array.astype(object), array.reshape(-1, 1, 1)]
        if array.dtype == np.int64:
            wrong += [np.full_like(array, number) for number in (-7, 2**40, -(2**63))]
        damages += [
            {"block": {"arrays": {**part.arrays, name: each}}} for each in wrong if not np.array_equal(each, array)
        ]
    return damages


@pytest.mark.slow
def test_parts_that_no_task_finds() -> None:
    """No damage ends the process, and all tasks are run again."""
    for parts in damages_of_enumerations():
        require_lost(lambda result, parts=parts: changed(result, **parts), regions.enumerate, NETWORK, SQUARE)


def flipped(answer: Any, rng: np.random.Generator) -> Any:
    """Return a worker's message with some flipped bits, or without its end."""
    content = answer.content
    if rng.random() < 0.2:
        content = content[: rng.integers(len(content))]
    elif rng.random() < 0.2:
        return replace(answer, digest=flipped_bits(answer.digest.encode(), rng).decode("latin-1"))
    else:
        content = flipped_bits(content, rng)
    return replace(answer, content=content)


def flipped_bits(content: bytes, rng: np.random.Generator) -> bytes:
    changed = np.frombuffer(content, np.uint8).copy()
    for _ in range(rng.integers(1, 4)):
        changed[rng.integers(changed.size)] ^= 1 << rng.integers(8)
    return changed.tobytes()


def damage_at_random(cases: int) -> None:
    """Damage the answer to any task on the way, twice; the result is right each time."""
    rng = np.random.default_rng(1)
    for function, problem in ((regions.enumerate, SQUARE), (regions.count, SQUARE), (regions.count, LINES)):
        whole = function(NETWORK, problem)
        for _ in range(cases):
            with Damaging(lambda answer: flipped(answer, rng), int(rng.integers(7))) as pool:
                found = function(NETWORK, problem, executor=pool)
            if isinstance(found, regions.Partition):
                assert all(np.array_equal(getattr(found, name), getattr(whole, name)) for name in ARRAYS)
            assert np.array_equal(found, whole) if isinstance(found, np.ndarray) else found == whole
            assert pool.submitted >= 8  # the task was submitted again


def test_answers_that_are_damaged_on_the_way() -> None:
    damage_at_random(10)


@pytest.mark.parametrize(
    "damage",
    [
        lambda answer: pickle.loads(answer.content),
        lambda answer: replace(answer, content=pickle.dumps(None)),
        lambda answer: replace(answer, content=None),
        lambda answer: replace(answer, digest=None),
        lambda answer: replace(answer, content=answer.content[:-1]),
    ],
)
def test_an_answer_without_its_checksum(damage: Callable[[Any], Any]) -> None:
    """It is not unpickled, even if it is right."""
    with Damaging(damage) as pool:
        assert regions.count(NETWORK, LINES, executor=pool).tolist() == regions.count(NETWORK, LINES).tolist()
    assert pool.submitted == 8


@pytest.mark.parametrize("content", [b"", b"rubbish", b"cno.such.module\nf\n."])
def test_a_forged_answer_that_does_not_unpickle(content: bytes) -> None:
    (task,) = regions.jobs.split(NETWORK, LINES[0], 1)
    assert unsealed(Sealed(content, digest_of(task.job, task.index, [content])), task) is None


def test_parts_that_are_forged_at_random() -> None:
    """Some of the answers could be right separately; then they do not fit together, or only coordinates differ."""
    rng = np.random.default_rng(0)
    whole = regions.enumerate(NETWORK, SQUARE)

    def damage(result: Any) -> Any:
        arrays = {name: array.copy() for name, array in result.block.arrays.items()}
        array = arrays[sorted(arrays)[rng.integers(len(arrays))]].reshape(-1).view(np.uint8)
        for _ in range(rng.integers(1, 4)):
            if array.size:
                array[rng.integers(array.size)] ^= 1 << rng.integers(8)
        return changed(result, block={"arrays": arrays})

    outcomes = Counter[str]()
    for _ in range(40):
        with Forging(damage) as pool:
            try:
                found = regions.enumerate(NETWORK, SQUARE, executor=pool)
            except ValueError as error:
                assert "blocks do not fit together" in str(error)
                outcomes["refused"] += 1
            else:
                assert first_problem(found.network, found.domain, raw_arrays(found), complete=True) is None
                outcomes["found again" if found == whole else "believed"] += 1
    assert outcomes["found again"] > 10 and outcomes["refused"] > 0
