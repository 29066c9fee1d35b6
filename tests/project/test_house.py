# SPDX-License-Identifier: MIT
"""Is `regions/` divided as CONTRIBUTING.md says: are its floors in pyproject.toml, and which rooms read networks?"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_picture_has_the_floors_of_the_contract() -> None:
    contract = re.search(
        r"^layers = \[\n(.*?)^\]", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    picture = re.search(
        r"^## Where things are\n\n```\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M | re.S
    )
    assert contract and picture
    floors = [sorted(re.split(" [|:] ", floor)) for floor in re.findall(r'"(.*)"', contract[1])]
    drawn = [sorted(line[:48].split("   ")[0].split()) for line in picture[1].splitlines()]
    assert drawn[: drawn.index([])] == floors[1:]
    rooms = {path.parent.name for path in (ROOT / "regions").glob("*/__init__.py")}
    assert rooms <= {name for floor in floors for name in floor}


def test_only_one_file_imports_the_compiled_core() -> None:
    importing = [
        path.name
        for path in (ROOT / "regions").rglob("*.py")
        if re.search(
            r"^\s*(from regions import .*\b_core|from regions\._core|import regions\._core)\b",
            path.read_text("utf-8"),
            re.M,
        )
    ]
    assert importing == ["core.py"]


# Classes of domains and of partitions, of which there is one base class each.
KINDS = {"Polytope", "PolytopePartition", "Line", "Ray", "Polygon", "Rectangle", "Plane", "Space"}


def test_no_code_asks_for_the_class_of_a_domain_or_a_partition() -> None:
    """Code asks a domain for its dimension, so that no class can be forgotten."""
    asking = []
    for path in (ROOT / "regions").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                classes = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
                asking += [(path.name, node.lineno)] * bool(classes & KINDS)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
                classes = {each.id for each in (node.left, node.right) if isinstance(each, ast.Name)}
                asking += [(path.name, node.lineno)] * bool(classes & KINDS and classes & {"Domain", "Partition"})
    assert asking == []


# The names of a network's parts.
CHAIN = {"layers", "nodes", "reads", "operator", "weights", "biases"}
READERS = {"networks", "passes", "certification", "check_answer.py", "check_certificate.py", "check_property.py"}
# Other uses of these names, room by room: layers of pictures and results, other graphs, steps of reading.
OTHERS = {
    "checking": {"boundary.layers", "self.layers"},
    "measures": {"pinned.biases", "self.layers"},
    "pictures": {"palette.layers", "picture.layers"},
    "results": {"self.nodes", "self.operator"},
    "theory": {"self.biases", "self.weights"},
    "read": {
        *(
            "builder.layers",
            "at.node.operator",
            "call.at.node.operator",
            "graph.nodes",
            "node.operator",
            "program.nodes",
            "self.graph.nodes",
            "self.layers",
            "self.nodes",
            "self.operator",
        ),
        *(f"{step}.weights" for step in ("before", "last", "self", "self.open", "step")),
        *(f"{step}.biases" for step in ("before", "last", "self", "self.open", "step")),
        # Nodes that are being made.
        *(
            "operation.biases",
            "operation.terms[0][0].weights",
            "operator.weights",
            "read.operator",
            "rows.biases",
            "rows.reads",
        ),
    },
}


def test_only_three_rooms_read_the_chain_of_a_network() -> None:
    """All other rooms call functions of these rooms."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in (ROOT / "regions").rglob("*.py"):
        room = path.relative_to(ROOT / "regions").parts[0]
        names = (each for each in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(each, ast.Attribute))
        if room not in READERS:
            found[room] |= {ast.unparse(each) for each in names if each.attr in CHAIN}
    assert {room: names for room, names in found.items() if names} == OTHERS


def test_no_two_test_files_have_one_name() -> None:
    """pytest would import one of them for both."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(names) == len(set(names))
