# SPDX-License-Identifier: MIT
"""Does the page of a training show each step, and keep what was chosen from step to step? In a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import regions
from browser import OpenedFile, Page
from look_cases import SQUARE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OpenedSteps = Callable[..., Page]


def moved(step: int, n_in: int = 2) -> regions.Network:
    """Return a network whose weights move a little from step to step."""
    rng, sizes = np.random.default_rng(1), [n_in, 12, 12, 3]
    starts, ways = (
        [(rng.standard_normal((k, n)), rng.standard_normal(k)) for n, k in zip(sizes, sizes[1:], strict=False)]
        for _ in "ab"
    )
    move = 0.02 * step
    return regions.Network([(w + move * v, b + move * c) for (w, b), (v, c) in zip(starts, ways, strict=True)])


def recorded(domain: regions.domains.Domain) -> regions.TrainingRecord:
    networks = [moved(step, domain.n_in) for step in range(4)]
    return regions.watch(networks, domain, steps=[0, 5, 10, 20], keep=True)


@pytest.fixture
def opened_steps(opened_files: OpenedFile, tmp_path: Path) -> OpenedSteps:
    def open_page(record: regions.TrainingRecord, motion: str = "no-preference") -> Page:
        record.to_html(tmp_path / "page.html", mark=False)
        return opened_files(tmp_path / "page.html", prefers_reduced_motion=motion)

    return open_page


def shown(page: Page) -> str:
    return str(page.value("document.getElementById('step-name').textContent"))


def test_the_slider_shows_each_step(opened_steps: OpenedSteps) -> None:
    record = recorded(SQUARE)
    page = opened_steps(record)
    assert page.value("look.part.step") == 3  # the last one, at first
    points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    for number in (0, 3, 1, 2):
        page.call(
            """number => {
                const slider = document.getElementById("step");
                slider.value = number;
                slider.dispatchEvent(new Event("input"));
            }""",
            number,
        )
        page.settle()
        part = record.partitions[number]
        assert shown(page) == f"step {record.rows[number].step}: {len(part):,} regions"
        assert page.value("document.getElementById('step').getAttribute('aria-valuetext')") == shown(page)
        assert page.value("document.querySelector('#info dd').textContent") == f"{len(part):,}"
        found = page.call("points => points.map(([x, y]) => look.locate(x, y))", points.tolist())
        assert found == part.locate(points, space="chart").tolist()


def test_what_was_chosen_stays_chosen(opened_steps: OpenedSteps) -> None:
    record = recorded(SQUARE)
    page = opened_steps(record)
    page.value("document.getElementById('stage').focus()")
    page.press("Enter")
    page.value("look.choose(15)")
    place = page.value("look.toChart(...look.state.keptAt)")
    for number in (2, 1, 0):
        page.press(",")
        page.settle()
        part = record.partitions[number]
        assert page.value("look.state.pinned") == int(part.locate(place, space="chart"))
        rows = page.value("[...document.querySelectorAll('#neuron dd')].map(each => each.textContent)")
        assert rows[:2] == ["layer 2, neuron 3", str((part.facet_kinks == 15).sum())]
        assert page.value("document.getElementById('said').textContent") == shown(page)
    page.press(",")  # already at the first step
    assert page.value("look.part.step") == 0
    page.press(".")
    assert page.value("look.part.step") == 1


def test_playing_shows_all_steps_once(opened_steps: OpenedSteps) -> None:
    page = opened_steps(recorded(SQUARE))
    page.value("document.getElementById('play').click()")
    assert page.value("[look.part.step, document.getElementById('play').textContent]") == [0, "Pause"]
    page.settle()
    assert page.value("[look.part.step, document.getElementById('play').textContent]") == [3, "Play"]


def test_nothing_plays_if_motion_is_reduced(opened_steps: OpenedSteps) -> None:
    page = opened_steps(recorded(SQUARE), motion="reduce")
    assert page.value("document.getElementById('play').hidden")
    page.press("p")
    assert page.value("look.part.step") == 3 and "reduced" in page.value("document.getElementById('said').textContent")


def test_colours_have_one_scale(opened_steps: OpenedSteps) -> None:
    record = recorded(SQUARE)
    page = opened_steps(record)
    choose = """face => {
        const field = document.getElementById("faces");
        field.value = face;
        field.dispatchEvent(new Event("change"));
    }"""
    legend = "document.querySelector('#legend .bar').textContent"
    for face in ("value", "difference", "lead", "relief", "slope", "area"):
        page.call(choose, face)
        words = set()
        for number in range(4):
            page.call("look.toStep", number)
            page.settle()
            words.add(page.value(legend))
        assert len(words) == 1, (face, words)
    page.call(choose, "value")
    page.value("document.getElementById('fit').click()")
    page.settle()
    assert page.value(legend) not in words


def test_regions_that_stay_keep_their_colours(opened_steps: OpenedSteps) -> None:
    record = recorded(SQUARE)
    page = opened_steps(record)
    colours = []
    for number, part in enumerate(record.partitions):
        page.call("look.toStep", number)
        numbers = np.array(page.value("[...look.colourNumbers()]"))
        pairs = part.facet_regions[part.facet_regions[:, 1] >= 0]
        assert (numbers[pairs[:, 0]] != numbers[pairs[:, 1]]).all()
        colours.append(dict(zip((row.tobytes() for row in part.packed_patterns), numbers.tolist(), strict=True)))
    for before, after in zip(colours, colours[1:], strict=False):
        both = before.keys() & after.keys()
        assert len(both) > 30 and sum(before[each] == after[each] for each in both) > 0.8 * len(both)


def test_steps_on_a_segment(opened_steps: OpenedSteps) -> None:
    record = recorded(regions.Segment([-1, 0, 1], [1, 0.5, 0]))
    page = opened_steps(record)
    for number, part in enumerate(record.partitions):
        page.call("look.toStep", number)
        page.settle()
        assert shown(page).endswith(f": {len(part)} regions")
        points = np.linspace(-0.1, 1.1, 50)
        found = page.call("points => points.map(x => look.locate(x, 0))", points.tolist())
        assert found == part.locate(points[:, np.newaxis], space="chart").tolist()
