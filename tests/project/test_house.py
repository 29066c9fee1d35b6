# SPDX-License-Identifier: MIT
"""Is the picture of the house in CONTRIBUTING.md that of the contract in pyproject.toml?"""

from __future__ import annotations

import re
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
    floors = [sorted(floor.split(" | ")) for floor in re.findall(r'"(.*)"', contract[1])]
    drawn = [sorted(line[:41].split()) for line in picture[1].splitlines()]
    above = drawn[: drawn.index(["arithmetic"]) + 1]
    assert above == floors[1 : len(above) + 1]
    assert set(floors[-1]) >= {"errors", "tables", "version"}
    rooms = {path.parent.name for path in (ROOT / "regions").glob("*/__init__.py")}
    assert rooms <= {name for floor in above for name in floor}
