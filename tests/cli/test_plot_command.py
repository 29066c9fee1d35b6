# SPDX-License-Identifier: MIT
"""Which options does `regions plot` have, and what does the picture then show?

The figure is intercepted before it is written; `test_pictures.py` tests the writing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_cases import POINTS, SQUARE, Run, weights
from regions.cli import pictures

pytestmark = pytest.mark.usefixtures("in_folder_with_models")

WORDS = ["plot", "model.npz", "--activation", "relu"]
AROUND = ["--square", "points.csv"]


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """Figures, each with its dots per inch, instead of files."""
    found: list[tuple[Any, Any]] = []
    monkeypatch.setattr(pictures, "save_figure", lambda figure, path, dpi: found.append((figure, dpi)))
    return found


def marks(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (AROUND, ["0", "1", "2"]),
        (["--segment", "points.csv:2", "points.csv:0"], ["2", "0"]),
        (["--segment", "points.csv:2", "points.npy:0"], ["points.csv:2", "points.npy:0"]),
        (["--segment", "0,0", "1,1"], ["a", "b"]),
        (["--polygon", "points.csv"], ["0", "1", "2"]),
        (["--ray", "points.csv:1", "1,0"], ["1"]),
        ([*SQUARE], []),
        (["--box", "-1,-1", "1,1"], []),
        ([*AROUND, "--no-mark"], []),
        ([*SQUARE, "--mark", "0.25,0.5", "0,0"], ["a", "b"]),
        ([*AROUND, "--mark", "zero=points.csv:0", "-0.5,0.5"], ["zero", "a"]),
        ([*AROUND, "--mark=zero=points.csv:0"], ["zero"]),
        (["--plane", "points.csv:0", "1,0", "0,1"], ["0"]),
        # Floating point cannot tell these directions apart, so it cannot take a point to the chart.
        (["--rectangle", "points.csv:0", "1,0", "1,1e-320"], []),
    ],
)
def test_which_points_are_marked(run: Run, saved: list[Any], words: list[str], names: list[str]) -> None:
    code, _, err = run(*WORDS, *words, "-o", "out.png")
    assert (code, err) == (0, "")
    # Files of one stem are told apart by their whole names.
    assert marks(saved[0][0]) == names


def test_marks_are_where_the_points_are(run: Run, saved: list[Any]) -> None:
    run(*WORDS, *AROUND, "-o", "out.png")
    places = [text.xy for text in saved[0][0].axes[0].texts]
    np.testing.assert_allclose(places, POINTS, atol=1e-12)


def test_size_title_and_dots(run: Run, saved: list[Any]) -> None:
    for words in (["--size", "3.5x2"], ["--size", "3.5"], []):
        assert run(*WORDS, *AROUND, *words, "--title", "a $p$", "--dpi", "300", "-o", "out.pdf")[0] == 0
    (both, dpi), (width, _), (neither, _) = saved
    assert both.get_size_inches().tolist() == [3.5, 2.0] and dpi == 300
    assert width.get_figwidth() == 3.5 and 2 < width.get_figheight() < 3.5
    assert neither.get_figwidth() == 6.4 and both.axes[0].get_title() == "a $p$"
    run(*WORDS, *AROUND, "--title", "", "-o", "out.png")
    assert (saved[-1][0].axes[0].get_title(), saved[-1][1]) == ("", None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--size", "3,5"], "neither a width in inches"),
        (["--size", "1"], "from 2 to 100 inches"),
        (["--size", "3x1000"], "from 2 to 100 inches"),
        (["--dpi", "5"], "10<=x<=2400"),
        (["--size", "50x50", "--dpi", "1000"], "2,500,000,000 pixels; at most 100,000,000"),
        (["--title", r"$\nonsense$"], "invalid formula"),
        (["--mark", "--no-mark"], "--mark takes points"),
        (["--mark", "0,0", "--no-mark"], "give --mark or --no-mark"),
        (["--mark", "x=0,0", "x=1,0"], "two points to be marked are called 'x'"),
        (["--mark", "x=points.csv"], "points.csv has 3 points, and 'x' is one name"),
        (["--color-by", "shape"], "'class'"),
        (["--output-index", "3"], "the network has 3 outputs"),
    ],
)
def test_wrong_words(run: Run, saved: list[Any], words: list[str], message: str) -> None:
    code, out, err = run(*WORDS, *AROUND, *words, "-o", "out.png")
    assert (code, out, saved) == (2, "", []) and message in " ".join(err.split())


def test_points_that_are_not_in_the_picture(run: Run) -> None:
    np.savez("deep.npz", **weights([3, 4, 1], seed=1))
    words = ["plot", "deep.npz", "--activation", "relu", "--rectangle", "0,0,0", "1,0,0", "0,1,0", "-o", "out.png"]
    code, out, err = run(*words, "--mark", "off=0,0,2")
    assert (code, out) == (1, "") and "point 'off' is 2 away from the plane" in err
    assert not Path("out.png").exists()


def test_the_same_command_writes_the_same_bytes(run: Run) -> None:
    words = [*WORDS, *AROUND, "--color-by", "class", "--size", "2"]
    contents = []
    for _ in range(2):
        assert run(*words, "-o", "out.svg")[0] == 0
        contents.append(Path("out.svg").read_bytes())
    assert contents[0] == contents[1] and re.search(rb"<!-- class 0 -->", contents[0])


def test_an_option_with_its_value_ends_the_points(run: Run) -> None:
    code, out, _ = run("enumerate", "model.npz", "--activation", "relu", *AROUND, "--output=out.csv")
    assert (code, out.splitlines()[-1]) == (0, "wrote out.csv")


@pytest.mark.parametrize("words", [["--title", "a\x1bb"], ["--mark", "a\x1bb=points.csv:0"]], ids=["title", "mark"])
def test_what_no_font_has_is_refused(run: Run, words: list[str]) -> None:
    code, out, err = run(*WORDS, *AROUND, *words, "-o", "out.svg")
    assert (code, out) == (2, "") and "has characters that cannot be drawn: 'a\\x1bb'\n" in err
    assert not Path("out.svg").exists()


class TestPages:
    def test_a_page_has_the_marked_points_and_the_title(self, run: Run) -> None:
        code, out, err = run(*WORDS, *AROUND, "--mark", "zero=points.csv:0", "--title", "Mine", "-o", "page.html")
        assert (code, err) == (0, "") and "page.html" in out
        text = Path("page.html").read_text("ascii")
        assert "<title>Mine</title>" in text and '"name":"zero"' in text

    def test_without_a_title_the_number_of_regions_stands_there(self, run: Run) -> None:
        assert run(*WORDS, *AROUND, "-o", "page.HTML")[0] == 0
        assert re.search(r"<title>\d+ regions</title>", Path("page.HTML").read_text("ascii"))

    @pytest.mark.parametrize("option", ["--size=3", "--dpi=100", "--color-by=layer", "--output-index=0"])
    def test_options_of_pictures_are_refused(self, run: Run, option: str) -> None:
        code, _, err = run(*WORDS, *AROUND, option, "-o", "page.html")
        assert code == 2 and f"Error: {option.partition('=')[0]} is for pictures" in err
        assert not Path("page.html").exists()
