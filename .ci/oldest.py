# SPDX-License-Identifier: MIT
"""Which are the oldest versions that pyproject.toml admits?

    python .ci/oldest.py pyproject.toml > constraints.txt

Prints a line of pip constraints for each requirement of the project and of its extras that has a lower bound: `>=`
becomes `==`. What is pinned already, and extras that ask for extras of the project itself, need none. The requirements
are taken from the text, as Python 3.10 cannot read TOML: each is a string of its own.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

REQUIREMENT = re.compile(r'"([A-Za-z0-9_.-]+)>=([0-9.]+)(?:,[^"]*)?"')


def oldest(text: str) -> dict[str, str]:
    """Lower bounds of all requirements, by name; of two for one name the higher one."""
    _, _, project = text.partition("\n[project]\n")
    tables = project.partition("\n[tool.")[0]
    found: dict[str, str] = {}
    for name, version in REQUIREMENT.findall(re.sub(r"(?m)^\s*#.*$", "", tables)):
        found[name] = max(found.get(name, version), version, key=lambda text: [int(part) for part in text.split(".")])
    return found


if __name__ == "__main__":
    for name, version in oldest(Path(sys.argv[1]).read_text(encoding="utf-8")).items():
        print(f"{name}=={version}")
