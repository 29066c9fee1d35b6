# SPDX-License-Identifier: MIT
"""One browser for all tests of a process, and a page for each test."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from browser import Browser, Opened, OpenedFile, Page, chromium
from regions.partition import Partition


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = chromium()
    if program is None:
        pytest.skip("could not find 'chromium'")
    browser = Browser(program)
    yield browser
    browser.close()


@pytest.fixture
def opened_files(browser: Browser) -> Iterator[OpenedFile]:
    """Open files; at the end no page may have complained or asked for anything."""
    pages: list[Page] = []

    def open_file(path: Path, width: int = 1000, height: int = 700, **media: str) -> Page:
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
        width: int = 1000,
        height: int = 700,
        theme: str = "light",
        motion: str = "no-preference",
        **options: object,
    ) -> Page:
        path = tmp_path / f"page-{next(number)}.html"
        part.to_html(path, **options)
        return opened_files(path, width, height, prefers_color_scheme=theme, prefers_reduced_motion=motion)

    return open_page
