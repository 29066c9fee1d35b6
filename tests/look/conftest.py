# SPDX-License-Identifier: MIT
"""One browser for all tests of a process, and a page for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import Browser, Opened, Page, chromium
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
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Write and open the page of a partition; at the end no page may have complained or asked for anything."""
    pages: list[Page] = []

    def open_page(
        part: Partition,
        *,
        width: int = 1000,
        height: int = 700,
        theme: str = "light",
        motion: str = "no-preference",
        **options: object,
    ) -> Page:
        path = tmp_path / f"page-{len(pages)}.html"
        part.to_html(path, **options)
        page = browser.open(path, width, height, prefers_color_scheme=theme, prefers_reduced_motion=motion)
        pages.append(page)
        page.settle()
        return page

    yield open_page
    complaints = [page.complaints() for page in pages]
    for page in pages:
        page.close()
    browser.events.clear()
    assert not any(complaints), complaints
