# SPDX-License-Identifier: MIT
"""One Chromium and one Firefox for all tests of a process, and a page for each test."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from browser import Browser, Opened, OpenedFile, Page, chromium
from firefox import Firefox, firefox
from regions.results.partition import Partition


@pytest.fixture(scope="session")
def browsers() -> Iterator[dict[str, Browser | Firefox]]:
    """The browsers that run."""
    running: dict[str, Browser | Firefox] = {}
    yield running
    for browser in running.values():
        browser.close()


@pytest.fixture
def browser(request: pytest.FixtureRequest, browsers: dict[str, Browser | Firefox]) -> Browser | Firefox:
    """Chromium, or the browser of the test's parameter."""
    name = getattr(request, "param", "chromium")
    if name not in browsers:
        find, start = {"chromium": (chromium, Browser), "firefox": (firefox, Firefox)}[name]
        program = find()
        if program is None:
            pytest.skip(f"could not find {name!r}")
        browsers[name] = start(program)
    return browsers[name]


@pytest.fixture
def opened_files(browser: Browser) -> Iterator[OpenedFile]:
    """Open files; at the end no page may have complained or asked for anything."""
    pages: list[Page] = []

    def open_file(path: Path, width: int = 800, height: int = 520, **media: str) -> Page:
        pages.append(browser.open(path, width, height, **media))
        pages[-1].settle()
        return pages[-1]

    yield open_file
    complaints = [page.complaints() for page in pages]
    for page in pages:
        page.close()
    browser.events.clear()
    assert not any(complaints), complaints


@pytest.fixture
def opened(opened_files: OpenedFile, tmp_path: Path) -> Opened:
    """Write and open the page of a partition."""
    number = count()

    def open_page(
        part: Partition,
        *,
        width: int = 800,
        height: int = 520,
        theme: str = "light",
        motion: str = "no-preference",
        **options: object,
    ) -> Page:
        path = tmp_path / f"page-{next(number)}.html"
        part.to_html(path, **options)
        return opened_files(path, width, height, prefers_color_scheme=theme, prefers_reduced_motion=motion)

    return open_page
