# SPDX-License-Identifier: MIT
"""Does each folder of the core include only those below it, as the picture in csrc/README.md says?"""

from __future__ import annotations

import re
from pathlib import Path

CORE = Path(__file__).resolve().parent.parent.parent / "csrc"


def test_includes_go_down_the_picture() -> None:
    picture = (CORE / "README.md").read_text().split("## The folders")[1].split("```")[1]
    folders = {path.name for path in CORE.iterdir() if path.is_dir()}
    lines = [[word for word in line.split()[:2] if word in folders] for line in picture.strip().splitlines()]
    floor = {folder: number for number, line in enumerate(lines) for folder in line}
    assert floor.keys() == folders
    upward = [
        f"{path.relative_to(CORE)} includes {target}"
        for path in [*CORE.rglob("*.hpp"), *CORE.rglob("*.cpp")]
        for target in re.findall(r'#include "([^"]+)"', path.read_text())
        if (there := target.split("/")[0]) != path.parent.name and floor[there] <= floor[path.parent.name]
    ]
    assert upward == []
