# SPDX-License-Identifier: MIT
"""Is a domain divided only once, although its job begins again, and does a bar show how far that is?"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import regions
from killed_jobs import head_of, with_digest
from random_networks import random_network
from regions.counting import blocks_in_order, division, tasks
from regions.counting.checkpoints import Folder
from regions.counting.run import compiled, frontier
from regions.ground.threads import progress
from regions.measures import summarize

NETWORK = random_network([2, 24, 24, 1], 1, bias=0.1, he=True)
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
CALLS: dict[str, Callable[[Any], Any]] = {
    "count": lambda folder: regions.count(NETWORK, SQUARE, checkpoint=folder),
    "enumerate": lambda folder: regions.enumerate(NETWORK, SQUARE, checkpoint=folder),
    "stream": lambda folder: [
        block.packed_patterns.tobytes()
        for block in regions.stream(NETWORK, SQUARE, regions_per_block=100, checkpoint=folder, workers=2)
    ],
    "summarize": lambda folder: summarize(NETWORK, SQUARE, regions_per_block=100, checkpoint=folder).as_dict(),
}


@pytest.fixture
def divisions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets an entry for each division by the core; all are saved, however short."""
    done: list[int] = []
    monkeypatch.setattr(division, "SHORT", -1.0)

    def counted(*words: Any, **options: Any) -> Any:
        done.append(1)
        return frontier(*words, **options)

    for module in (tasks, blocks_in_order):
        monkeypatch.setattr(module, "frontier", counted)
    return done


def files_of_divisions(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if head_of(path)["total"] == 1]


@pytest.mark.parametrize("name", CALLS)
def test_a_domain_is_divided_once(name: str, tmp_path: Path, divisions: list[int]) -> None:
    first = CALLS[name](tmp_path)
    assert len(divisions) == 1 and len(files_of_divisions(tmp_path)) == 1
    assert CALLS[name](tmp_path) == first and len(divisions) == 1


def test_streams_and_summaries_share_a_division(tmp_path: Path, divisions: list[int]) -> None:
    for name in ("stream", "summarize"):
        CALLS[name](tmp_path)
    assert len(divisions) == 1


def test_short_divisions_make_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(division, "SHORT", 1e9)
    CALLS["count"](tmp_path)
    assert not files_of_divisions(tmp_path)


def test_a_folder_that_has_all_results_need_not_be_writable(
    tmp_path: Path, divisions: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, call in CALLS.items():
        for short in (-1.0, 1e9):
            monkeypatch.setattr(division, "SHORT", short)
            expected = call(tmp_path / name)
            with monkeypatch.context() as patch:
                patch.setattr(Folder, "require_writable", None)
                patch.setattr(Folder, "_write", None)
                assert call(tmp_path / name) == expected


@pytest.mark.parametrize("name", CALLS)
def test_damaged_and_forged_divisions(name: str, tmp_path: Path, divisions: list[int]) -> None:
    """A file that cannot be a division is ignored. If it has something that is not a node, its folder is refused."""
    expected = CALLS[name](tmp_path)
    (path,) = files_of_divisions(tmp_path)
    head, whole = head_of(path), path.read_bytes()
    ((*nodes,),) = json.loads(whole.partition(b"\n")[2])
    impossible: list[Any] = [
        None, 3, "x", [], {}, [[]], [nodes, nodes], [nodes[1:]], [nodes[::-1]], [[*nodes, nodes[-1]]],
        [[*nodes, [2**31]]], [[*nodes, [-1]]], [[*nodes, ["9"]]], [[*nodes, 9]], [[[0] * 5000, [0] * 4000]],
    ]  # fmt: skip
    contents = [json.dumps(each).encode() + b"\n" for each in impossible] + [b"", b"[" * 100_000, b"\xff"]
    for content in contents:
        path.write_bytes(with_digest(head, content))
        divisions.clear()
        assert CALLS[name](tmp_path) == expected and len(divisions) == 1, content[:100]
        for new in set(files_of_divisions(tmp_path)) - {path}:
            new.unlink()
    for node in ([2**31 - 1], [*nodes[-1], 10**6], [*nodes[-1], *[1] * 5000]):
        path.write_bytes(with_digest(head, json.dumps([[*nodes, node]]).encode() + b"\n"))
        for other in tmp_path.iterdir():
            if other != path:
                other.unlink()
        with pytest.raises(regions.errors.NotACheckpointError, match=r"(joined|contradict each other).*another folder"):
            CALLS[name](tmp_path)


class TestReports:
    def test_a_bar_shows_the_division(self, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
        monkeypatch.setenv("COLUMNS", "120")
        monkeypatch.setenv("FORCE_COLOR", "1")
        with progress.bar() as report:
            divided = progress.of_division(progress.checking(lambda: None, report))
            assert divided is not None
            divided(0.25, 0)
            shown, end = "", time.monotonic() + 60
            while "dividing the domain" not in shown and time.monotonic() < end:  # the bar is drawn ten times a second
                time.sleep(0.01)
                shown += capsys.readouterr().err
            report(0.5, 7)
        assert "25% dividing the domain" in re.sub("\x1b[^m]*m", "", shown)
        shown = capsys.readouterr().err
        assert "7 regions" in shown and "dividing the domain" not in shown.splitlines()[-1]

    def test_other_reports_stay_at_zero(self) -> None:
        told: list[tuple[float, int]] = []
        report = progress.of_division(lambda share, found: told.append((share, found)))
        assert report is not None and progress.of_division(None) is None
        report(0.5, 0)
        assert told == [(0.0, 0)]

    def test_the_core_reports_the_share_of_nodes(self) -> None:
        told: list[float] = []
        wide = regions.ensembles.he([2, 256, 256, 256, 1]).draw(0)
        model = compiled(wide)
        nodes = frontier(model, SQUARE, 100, lambda share, found: told.append(share), for_joining=True)
        assert len(nodes) > 1 and told == sorted(told) and all(0 <= share <= 1 for share in told)
