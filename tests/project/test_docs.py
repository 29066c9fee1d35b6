# SPDX-License-Identifier: MIT
"""Are the documents true?

Every example in README.md and docs/ is run, in a folder with a copy of examples/, and its output is compared: Python
blocks as doctests, `$ regions ..` in console blocks through the command line. Times, the number of signs, and whether
cddlib is installed may differ, nothing else. Blocks of sh, which install packages, are run by .ci/run. The examples in
docstrings are run as well, and links between the files must lead somewhere.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import regions
from regions.cli.commands import regions_group

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OTHER_PAGES = [ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted(ROOT.glob("*/README.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODULES = [module.name for module in pkgutil.walk_packages(regions.__path__, "regions.")]

# Their examples take seconds.
SLOW = {
    "tasks.md",
    "jobs-in-detail.md",
    "training.md",
    "through-training.md",
    "hanin-rolnick.md",
    "regions.measures.hanin_rolnick",
}

# Output that differs from run to run, or from one order of cuts to another.
VARYING = [
    (re.compile(r"[\d.]+ m?s, [\d,]+ regions/s"), "TIME"),
    (re.compile(r"^time   [\d.]+ m?s$", re.MULTILINE), "TIME"),
    (re.compile(r"[\d,]+ by error bound"), "SIGNS"),
    (re.compile(r"cddlib agrees on \d+ of them|cddlib is not asked, .*"), "CDDLIB"),
]


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def blocks(page: Path, language: str) -> Iterator[tuple[int, str]]:
    """Yield the fenced blocks of one language, each with the number of its first line."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if match[1] == language:
            yield text.count("\n", 0, match.start(2)) + 1, match[2]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def pages_marked_slow() -> list[Any]:
    return [pytest.param(page, marks=pytest.mark.slow) if page.name in SLOW else page for page in PAGES]


@pytest.mark.parametrize("page", pages_marked_slow(), ids=name)
def test_python(page: Path) -> None:
    """Run the blocks one after the other with common variables: as doctests if there are prompts, else as programs."""
    shared: dict[str, object] = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for line, source in blocks(page, "python"):
        for package in ("torch", "distributed"):
            if f"import {package}" in source or f"from {package} import" in source:
                pytest.importorskip(package)
        if ">>>" not in source:
            exec(compile("\n" * (line - 1) + source, name(page), "exec"), shared)
            continue
        example = doctest.DocTestParser().get_doctest(source, shared, name(page), str(page), line - 1)
        report = io.StringIO()
        runner.run(example, out=report.write, clear_globs=False)
        shared = example.globs
        assert not report.getvalue(), report.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands(page: Path) -> None:
    for line, block in blocks(page, "console"):
        commands = re.split(r"^\$ ", block, flags=re.MULTILINE)
        assert not commands[0], f"{name(page)}:{line}: a console block begins with '$ '"
        code = 0
        for command in commands[1:]:
            words, shown = command.replace("\\\n", "").split("\n", 1)
            if words == "echo $?":
                out = f"{code}\n"
            else:
                program, *arguments = shlex.split(words)
                assert program == "regions", f"{name(page)}:{line}: {program} is not run here"
                code, out = run(arguments)
            assert comparable(out) == comparable(shown), f"{name(page)}:{line}: regions {words}"


@pytest.mark.parametrize("page", [ROOT / "examples" / "README.md"], ids=name)
def test_commands_without_output(page: Path) -> None:
    commands = re.findall(r"^    regions (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert commands
    for command in commands:
        assert run(shlex.split(command))[0] == 0


@pytest.mark.parametrize(
    "module", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in MODULES]
)
def test_docstrings(module: str) -> None:
    if module == "regions.torch":
        pytest.importorskip("torch")
    if module != "regions.__main__":
        assert doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS).failed == 0


def test_no_output_depends_on_the_version_of_numpy() -> None:
    """A number of numpy is `np.float64(2.0)` since numpy 2 and `2.0` before, so examples must not print it."""
    parser = doctest.DocTestParser()
    outputs = [
        (path, example.want.split('"""')[0])
        for path in [*PAGES, *(ROOT / "regions").rglob("*.py")]
        for example in parser.get_examples(path.read_text(encoding="utf-8"))
    ]
    assert len(outputs) > 500
    assert not [f"{name(path)}: {output}" for path, output in outputs if "np." in output]


@pytest.mark.parametrize("page", [*PAGES, *OTHER_PAGES], ids=name)
def test_links(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


QUESTIONS = {
    "Is my tool in this comparison?": ("docs/compared.md", "which-tool-for-which-question"),
    "Which theorem applies to my network?": ("docs/check.md", "which-theorem-applies-to-my-network"),
    "Can the figures of the papers be reproduced?": ("docs/reproduce/README.md", ""),
    "How do I cite it, and what is new here?": ("docs/how-to/citing.md", ""),
}


@pytest.mark.parametrize("start", ["README.md", "docs/index.md"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_two_clicks_away(start: str, question: str) -> None:
    answer, heading = QUESTIONS[question]
    headings = re.findall(r"^#+ (.*)$", (ROOT / answer).read_text(encoding="utf-8"), re.MULTILINE)
    anchors = [re.sub(r"[^a-z0-9 -]", "", text.lower()).replace(" ", "-") for text in headings]
    assert not heading or heading in anchors
    reached = {ROOT / start}
    for _ in range(2):
        reached |= {page for each in reached for page in linked_pages(each)}
    assert ROOT / answer in reached


def linked_pages(page: Path) -> set[Path]:
    links = re.findall(r"\]\(([^)#]+\.md)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    return {(page.parent / link).resolve() for link in links if "://" not in link}


def test_the_pictures_are_small() -> None:
    for picture in (ROOT / "docs").glob("*.png"):
        assert picture.stat().st_size < 200_000


def run(arguments: list[str]) -> tuple[int, str]:
    """Return the exit code and everything that is printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        with pytest.raises(SystemExit) as end:
            regions_group.main(arguments, prog_name="regions")
    assert isinstance(end.value.code, int)
    return end.value.code, printed.getvalue()


def comparable(text: str) -> str:
    for pattern, replacement in VARYING:
        text = pattern.sub(replacement, text)
    return os.linesep.join(line.rstrip() for line in text.rstrip().splitlines())


@pytest.mark.parametrize("word", ["cnn", "resnet", "lightning", "sb3", "keras", "jax", "vnnlib", "cite", "gpu", "onnx"])
def test_a_search_finds_a_page(word: str) -> None:
    """The site's search looks through the text of all pages; a how-to page should be among the results."""
    pages = (ROOT / "docs" / "how-to").glob("*.md")
    assert any(re.search(rf"\b{word}s?\b", page.read_text(encoding="utf-8"), re.IGNORECASE) for page in pages)
