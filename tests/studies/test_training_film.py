# SPDX-License-Identifier: MIT
"""Does a record keep partitions, and does it write a film and a page of them? A browser looks at the page elsewhere."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions import TrainingRecord, watch
from regions.domains import Line, Polygon, Segment
from regions.errors import DomainError, ShapeMismatchError
from regions.studies import training_film

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
POINTS = [[0.5, 0.25], [-0.5, 0.75]]
NETWORKS = [random_network([2, 8, 8, 3], seed) for seed in range(3)]


@pytest.fixture(scope="module")
def record() -> TrainingRecord:
    return watch(NETWORKS, SQUARE, points=POINTS, steps=[0, 10, 20], keep=True)


def test_the_partitions_are_kept_on_request_only(record: TrainingRecord) -> None:
    assert record.partitions == [regions.enumerate(network, SQUARE) for network in NETWORKS]
    assert [len(part) for part in record.partitions] == [row.regions for row in record.rows]
    plain = watch(NETWORKS, SQUARE, points=POINTS)
    assert plain.partitions == []
    for write in (plain.to_html, plain.animate):
        with pytest.raises(ValueError, match="make it with keep=True"):
            write("nothing.html")
    with pytest.raises(ValueError, match="record one first"):
        TrainingRecord(SQUARE, keep=True).animate("nothing.gif")


def test_a_failed_step_keeps_no_partition() -> None:
    record = TrainingRecord(SQUARE, keep=True)
    with pytest.raises(ShapeMismatchError):
        record.record(0, random_network([3, 4, 1], 0))
    record.record(1, NETWORKS[0])
    assert len(record.rows) == len(record.partitions) == 1


def test_which_domains_have_partitions_to_keep() -> None:
    with pytest.raises(ShapeMismatchError, match="a single domain, got 2"):
        TrainingRecord([SQUARE, SQUARE], keep=True)
    with pytest.raises(DomainError, match="records of training that keep partitions exist in bounded domains"):
        TrainingRecord(Line([0, 0], [1, 1]), points=POINTS, keep=True)
    with pytest.raises(TypeError, match="keep"):
        TrainingRecord(SQUARE, keep="no")  # type: ignore[arg-type]


def test_a_page_has_all_steps_with_one_scale(record: TrainingRecord, tmp_path: Path) -> None:
    record.to_html(tmp_path / "page.html", classes=["a", "b", "c"])
    text = (tmp_path / "page.html").read_text("ascii")
    found = re.search('id="header">(.*?)</script>', text)
    assert found
    header = json.loads(found[1])
    assert [step["name"] for step in header["steps"]] == ["step 0", "step 10", "step 20"]
    assert [step["regions"] for step in header["steps"]] == [len(part) for part in record.partitions]
    assert header["title"] == "3 steps of a training" and header["classes"] == ["a", "b", "c"]
    largest = max(np.abs(part.network(part.vertices)).max() for part in record.partitions)
    assert largest <= header["factor"] < 2 * largest
    arrays = re.search('id="arrays">(.*?)</script>', text)
    assert arrays and len(arrays[1].split(" ")) == 3


def test_a_page_needs_the_same_layers_at_all_steps(tmp_path: Path) -> None:
    record = watch([random_network([2, k, 1], 0) for k in (3, 4)], SQUARE, points=POINTS, keep=True)
    with pytest.raises(ShapeMismatchError, match=r"step 0 has Network\(2-3-1.* step 1 has Network\(2-4-1"):
        record.to_html(tmp_path / "page.html")
    with pytest.raises(ValueError, match=r"must end in \.html"):
        record.to_html(tmp_path / "page.gif")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", ["gif", "webp"])
@pytest.mark.parametrize("domain", [SQUARE, Segment([-1, 0], [1, 0.5])])
def test_a_film_has_a_picture_for_each_step(suffix: str, domain: regions.domains.Domain, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    record = watch(NETWORKS, domain, points=POINTS, keep=True)
    record.animate(tmp_path / f"film.{suffix}", seconds=0.3)
    film = image.open(tmp_path / f"film.{suffix}")
    times, sizes = [], set()
    for number in range(film.n_frames):
        film.seek(number)
        film.load()
        times.append(film.info["duration"])
        sizes.add(film.size)
    assert times == [300, 300, 2000] and len(sizes) == 1
    assert [path.name for path in tmp_path.iterdir()] == [f"film.{suffix}"]


def test_a_class_has_one_colour_at_all_steps(tmp_path: Path) -> None:
    """The middle of the picture changes its class from step to step, and back."""
    image = pytest.importorskip("PIL.Image")
    steps = [regions.Network([(np.eye(2), [0, 0]), (np.zeros((2, 2)), [b, 0.5])]) for b in (0, 1, 0)]
    record = watch(steps, SQUARE, points=POINTS, keep=True)
    record.animate(tmp_path / "film.gif", color_by="class")
    film, colours = image.open(tmp_path / "film.gif"), []
    for number in range(3):
        film.seek(number)
        width, height = film.size
        colours.append(film.convert("RGB").getpixel((width // 2 + 30, height // 2 + 30)))
    assert colours[0] == colours[2] != colours[1]


def test_an_mp4_is_made_by_ffmpeg(record: TrainingRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    program = tmp_path / "ffmpeg"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"$0.asked"\nfor last; do :; done\ncat >"${last#file:}"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    record.animate(tmp_path / "film.mp4", seconds=0.5)
    asked = (tmp_path / "ffmpeg.asked").read_text().split("\n")
    width, height = map(int, asked[asked.index("-s") + 1].split("x"))
    assert asked[asked.index("-r") + 1] == "2.0"
    # Two seconds for the last picture.
    assert (tmp_path / "film.mp4").stat().st_size == (3 + 3) * 3 * width * height
    program.write_text("#!/bin/sh\ncat >/dev/null\necho 'no such codec\x1b[0m' >&2\nexit 1\n")
    with pytest.raises(OSError, match="ffmpeg could not write the film: no such codec") as caught:
        record.animate(tmp_path / "other.mp4")
    assert "\x1b" not in str(caught.value) and not (tmp_path / "other.mp4").exists()


def test_films_have_a_legend_and_data(record: TrainingRecord, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from PIL import Image

    domain = record.partitions[0].domain
    style: Any = {"points": domain.to_input(record.partitions[0].interior_points), "classes": ["one", "two"]}
    record.animate(tmp_path / "plain.gif")
    record.animate(tmp_path / "data.gif", **style)
    record.animate(tmp_path / "small.gif", figsize=(2.5, 2), **style)
    record.animate(tmp_path / "bare.gif", legend=False, title="", figsize=(2.5, 2), **style)
    record.animate(tmp_path / "sizes.gif", color_by=lambda region: region.volume, cmap="cividis", title=["a", "b", "c"])
    bare = Image.open(tmp_path / "bare.gif").convert("RGB")
    assert np.ptp(np.asarray(bare)[:4].astype(int)) == 0  # no title: the upper margin is empty
    plain, data, small = (Image.open(tmp_path / f"{name}.gif") for name in ("plain", "data", "small"))
    assert small.size == (250, 200) and data.n_frames == plain.n_frames
    assert data.size[0] == plain.size[0] and data.tobytes() != plain.tobytes()


def test_wrong_films(record: TrainingRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(training_film.shutil, "which", lambda name: None)
    for name, options, error, words in (
        ("film.mp4", {}, FileNotFoundError, "ffmpeg was not found"),
        ("film.avi", {}, ValueError, r"must end in \.gif, \.webp or \.mp4"),
        ("film.gif", {"seconds": 0.01}, ValueError, "from 0.02 to 60"),
        ("film.gif", {"seconds": "1"}, TypeError, "seconds"),
        ("film.gif", {"color_by": "kind"}, ValueError, "color_by"),
        ("film.gif", {"output_index": 3}, ValueError, "output_index"),
        ("film.gif", {"fps": 3}, TypeError, "^there is no argument 'fps'"),
        ("film.gif", {"title": ["a"]}, ValueError, "3 panels or steps and 1 titles"),
        ("film.gif", {"legend": 3}, TypeError, "legend"),
        ("film.gif", {"within": 3}, ValueError, "pass points="),
    ):
        with pytest.raises(error, match=words):
            record.animate(tmp_path / name, **options)
    assert not list(tmp_path.iterdir())
