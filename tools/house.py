# SPDX-License-Identifier: MIT
"""How heavy is the package: rooms, floors, lines of code, and second ways of doing a thing?

    python tools/house.py

Prints a table. Rooms are the folders of `regions/`, floors the rows of the contract in `pyproject.toml`. Lines of code
are lines with a token, without docstrings, comments and imports. Of names, those are counted that several classes, or
several files in rooms, have. Tokens are those of Python, without comments and docstrings.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "regions"
# Classes of domains and partitions of which there should be one each.
DOMAINS = {"Domain", "Polytope", "Segment", "Line", "Ray", "Polygon", "Rectangle", "Plane", "Box", "Space"}
PARTITIONS = {"Partition", "PolytopePartition"}
UNIONS = {
    "Domain | Polytope": ("Domain", "Polytope"),
    "Partition | PolytopePartition": ("Partition", "PolytopePartition"),
}
SKIPPED = {
    *(tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENDMARKER, tokenize.ENCODING),
}


def main() -> None:
    files = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in files.items()}
    code = {path: sum(1 for _ in set(_code_lines(text, trees[path]))) for path, text in files.items()}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    tested = [name for node in nodes for name in _tested_classes(node)]
    native = [path for ending in ("*.cpp", "*.hpp") for path in (ROOT / "csrc").rglob(ending)]
    rows = {
        "rooms": sum(1 for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()),
        "floors": len(_floors()),
        **{union: sum(_is_union(node, set(names)) for node in nodes) for union, names in UNIONS.items()},
        "isinstance of domains and partitions": sum(name in DOMAINS | PARTITIONS for name in tested),
        "isinstance of Curve": tested.count("Curve"),
        "assert isinstance": sum(isinstance(node, ast.Assert) and bool(_tested_classes(node.test)) for node in nodes),
        "class names with two meanings": _repeated(node.name for node in nodes if isinstance(node, ast.ClassDef)),
        "file names with two meanings": _repeated(
            path.stem for path in files if path.stem != "__init__" and path.parent != PACKAGE
        ),
        "lines of __all__": sum(_lines_of_all(node) for node in nodes),
        "private constants of rounding": sum(_is_rounding(node) for tree in trees.values() for node in tree.body),
        "tokens of certification": sum(
            1 for path, text in files.items() if "certification" in path.parts for _ in _tokens(text, trees[path])
        ),
        "lines of certification": sum(
            text.count("\n") for path, text in files.items() if "certification" in path.parts
        ),
        "lines of Python": sum(text.count("\n") for text in files.values()),
        "lines of code": sum(code.values()),
        "lines of C++": sum(path.read_text("utf-8").count("\n") for path in native),
    }
    for name, value in rows.items():
        print(f"{name:<40}{value:>8,}")


def _floors() -> list[str]:
    """The rows of the first contract of import-linter, without the file that `python -m` runs."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    rows = re.search(r"^layers = \[\n(.*?)^\]", text, re.M | re.S)
    assert rows is not None
    return [row for row in re.findall(r'"(.*)"', rows[1]) if row != "__main__"]


def _tokens(text: str, tree: ast.Module) -> Iterator[tokenize.TokenInfo]:
    within = _docstring_lines(tree)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SKIPPED and token.start[0] not in within:
            yield token


def _code_lines(text: str, tree: ast.Module) -> Iterator[int]:
    imports = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    for token in _tokens(text, tree):
        yield from (line for line in range(token.start[0], token.end[0] + 1) if line not in imports)


def _docstring_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) or not ast.get_docstring(node):
            continue
        first = node.body[0]
        lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def _tested_classes(node: ast.AST) -> list[str]:
    """The classes of a call of isinstance; no names for anything else."""
    if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"):
        return []
    return [each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)]


def _repeated(names: Iterable[str]) -> int:
    return sum(count > 1 for count in Counter(names).values())


def _lines_of_all(node: ast.AST) -> int:
    if not isinstance(node, ast.Assign) or ast.unparse(node.targets[0]) != "__all__":
        return 0
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _is_union(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and _names(node) == names


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _is_rounding(node: ast.AST) -> bool:
    """Whether a constant of a module is a power of two below 1, or next to 1: a bound on rounding."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    return re.search(r"\b2\.0 \*\* \(?-\d|smallest_subnormal", ast.unparse(node.value)) is not None


if __name__ == "__main__":
    main()
