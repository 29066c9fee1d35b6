# SPDX-License-Identifier: MIT
"""Does the API reference show every public name, once?

`docs/api/` lists names, and Sphinx puts their docstrings there. The public names are `__all__` of the package and of
the modules that the documents name. A new name that is on no page fails here, and so does a removed name that still is.
The site itself is built by `.ci/run`, with warnings as errors.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import regions

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted((ROOT / "docs" / "api").glob("*.md"))
MODULES = [
    regions,
    *(
        importlib.import_module(f"regions.{name}")
        for name in "arrangements bounds constructions ensembles errors export jobs measures reference".split()
    ),
]
DIRECTIVE = re.compile(r"^\.\. (currentmodule|automodule|auto\w+|py:data):: ([\w.]+)(\n   :members:)?$", re.MULTILINE)


def shown(page: Path) -> list[str]:
    """Return the full names of all entries on a page."""
    module, names = "", []
    for directive, name, members in DIRECTIVE.findall(page.read_text(encoding="utf-8")):
        if directive == "currentmodule":
            module = name
        elif directive == "automodule":
            names += [f"{name}.{member}" for member in listed(name) if members]
        else:
            names.append(f"{module}.{name}")
    return names


def listed(name: str) -> list[str]:
    """Return ``__all__`` of a module, without importing it, because it may need torch."""
    stem = ROOT.joinpath(*name.split("."))
    path = stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return list(ast.literal_eval(statement.value))
    raise AssertionError(f"{path} has no __all__")


def home(module: ModuleType, name: str) -> str:
    """Return the name under which something is shown; errors belong to `regions.errors`."""
    thing = getattr(module, name)
    error = inspect.isclass(thing) and issubclass(thing, regions.RegionsError)
    return f"regions.errors.{name}" if error else f"{module.__name__}.{name}"


def test_every_public_name_stands_on_one_page() -> None:
    found = Counter(name for page in PAGES for name in shown(page))
    public = {
        home(module, name)
        for module in MODULES
        for name in module.__all__
        if not isinstance(getattr(module, name), ModuleType)
    } | {f"regions.torch.{name}" for name in listed("regions.torch")}
    assert len(public) > 100
    assert not public - set(found), "public, and on no page of docs/api"
    assert not set(found) - public, "on a page of docs/api, and not public"
    assert [name for name, times in found.items() if times > 1] == []


def test_every_module_that_can_be_seen_has_its_names_on_a_page() -> None:
    seen = {name for name in dir(regions) if isinstance(getattr(regions, name), ModuleType)}
    assert seen == {module.__name__.partition(".")[2] for module in MODULES} - {""}


def test_the_first_page_links_to_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    links = {(ROOT / "docs" / link).resolve() for link in re.findall(r"\]\(([^)#]+\.md)\)", index)}
    pages = {*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")}
    assert pages - links == {ROOT / "docs" / "index.md"}
