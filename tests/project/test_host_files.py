# SPDX-License-Identifier: MIT
"""Do the files for the repository's host say the same as the rest of the project?

Workflows, forms and hooks repeat facts from elsewhere: Python versions, steps of `.ci/run`, versions of linters. This
file compares the copies. `.ci/run lint` checks the form of these files with schemas.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
HOOKS = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
RUN = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
WORKFLOWS = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")}
PYTHONS = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PROJECT)


def listed(text: str, name: str) -> list[str]:
    """Return the items of ``name: [..]`` or ``name = [..]``, which must occur once."""
    (items,) = re.findall(rf"^\s*{name}\s*[:=] \[(.*)\]$", text, re.MULTILINE)
    return [item.strip(" \"'") for item in items.split(",")]


def test_hooks_have_the_versions_of_the_extra_lint() -> None:
    pinned = dict(item.split("==") for item in listed(PROJECT, "lint"))
    hooks = re.findall(r"\b([a-z-]+)==([0-9.]+)", HOOKS)
    assert {name for name, _ in hooks} == {"ruff", "mypy", "import-linter"}
    assert all(pinned[name] == version for name, version in hooks)


def test_hooks_run_what_the_step_lint_runs() -> None:
    linters = RUN.partition("\nlinted() {")[2].partition("\n}\n")[0]
    commands = re.findall(r"^ {4}((?:ruff|mypy|lint-imports)\b[^.&\n]*)", linters, re.MULTILINE)
    assert len(commands) == 4
    entries = re.findall(r"entry: (.*)", HOOKS)
    assert {command.replace("--check", "").strip() for command in commands} <= set(entries)


def test_the_workflow_runs_every_step() -> None:
    steps = re.findall(r"^step_(\w+)\(\)", RUN, re.MULTILINE)
    steps.remove("quick")  # parts of other steps, for use by hand
    assert listed(WORKFLOWS["ci"], "step") == steps
    assert f"set -- {' '.join(steps)}\n" in RUN
    assert re.findall(r"^#   (\w+) {2,}\S", RUN, re.MULTILINE) == steps


def test_every_python_is_tested_and_has_wheels() -> None:
    assert listed(WORKFLOWS["ci"], "python") == PYTHONS
    assert f'requires-python = ">={PYTHONS[0]}"' in PROJECT
    first, last = re.findall(r'"cp31\[(\d)-(\d)\]-manylinux', PROJECT)[0]
    assert [f"3.1{minor}" for minor in range(int(first), int(last) + 1)] == PYTHONS


def test_actions_match_the_host_at_a_major_version() -> None:
    used = [action for text in WORKFLOWS.values() for action in re.findall(r"uses: (\S+)", text)]
    assert used
    others = [action for action in used if not re.fullmatch(r"actions/[a-z-]+@v\d+", action)]
    assert others == ["pypa/gh-action-pypi-publish@release/v1"]


def test_only_a_release_may_write() -> None:
    for name, text in WORKFLOWS.items():
        rights = re.findall(r"^      ([a-z-]+: write)\b", text, re.MULTILINE)
        assert rights == (["contents: write", "id-token: write"] if name == "wheels" else [])
        assert text.count(": write") == len(rights)
        assert re.findall(r"^permissions:\n((?:  .*\n)+)", text, re.MULTILINE) == ["  contents: read\n"]
        assert "secrets" not in text


def test_nothing_is_published_until_the_owner_says_so() -> None:
    publish = WORKFLOWS["wheels"].partition("\n  publish:\n")[2]
    assert "    if: github.ref_type == 'tag' && vars.PUBLISH_TO_PYPI == 'true'\n" in publish
    assert "gh-action-pypi-publish" in publish and WORKFLOWS["wheels"].count("gh-action-pypi-publish") == 1
