# SPDX-License-Identifier: MIT
"""What does `regions.view` show in a notebook?"""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

import regions
from browser import Browser
from look_cases import partition_of
from regions.pictures import page_frame


def test_a_small_page_is_inside_the_frame(tmp_path: Path) -> None:
    part = partition_of("generic")
    shown = regions.view(part, title='a "title"', height=300)._repr_html_()
    part.to_html(tmp_path / "page.html", title='a "title"')
    source = re.fullmatch(
        r'<iframe sandbox="allow-scripts allow-downloads" [^<>]* height="300" [^<>]* srcdoc="([^"]*)"></iframe>', shown
    )
    assert source and html.unescape(source[1]) == (tmp_path / "page.html").read_text("ascii")


def test_a_large_page_is_a_file_beside_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(page_frame, "LARGEST_INSIDE", 1000)
    part = partition_of("generic")
    names = {re.search(r' src="(regions-[0-9a-f]{16}\.html)"', regions.view(part)._repr_html_())[1] for _ in range(2)}
    assert [path.name for path in tmp_path.iterdir()] == list(names)
    part.to_html(tmp_path / "page.html")
    assert (tmp_path / names.pop()).read_bytes() == (tmp_path / "page.html").read_bytes()


@pytest.mark.parametrize("height", [99, 10_001, 1.5, "300"])
def test_wrong_heights(height: object) -> None:
    with pytest.raises((TypeError, ValueError), match="height"):
        regions.view(partition_of("affine"), height=height)


@pytest.mark.browser
@pytest.mark.slow
def test_the_frame_runs_and_is_shut_off(browser: Browser, tmp_path: Path) -> None:
    """In a page that replaces a notebook, the frame draws and cannot reach its parent."""
    frame = regions.view(partition_of("generic"))._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!doctype html><p>before</p>{frame}", "ascii")
    page = browser.open(tmp_path / "notebook.html")
    page.wait("frames.length === 1")
    reach = "(() => { try { return frames[0].look } catch (error) { return error.name } })()"
    assert page.value(reach) == "SecurityError"
    inside = page.frame()
    inside.settle()
    assert inside.value("document.querySelector('#info dd').textContent") == "805"
    assert inside.value("origin") == "null"
    page.close()
    browser.events.clear()
