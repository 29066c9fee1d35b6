# SPDX-License-Identifier: MIT
"""Do the scripts still give their recorded tables?

``python docs/reproduce/common_tables.py --seconds 60`` runs each script whose recorded run took at most a minute, with
the options in the first line of its table, and says which tables are different, and by how much. Names of scripts as
arguments choose these only. If a script trains with torch, its numbers may depend on the version of torch.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from math import inf
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent


class Recorded(NamedTuple):
    """A recorded run: its script, the words of its command line, its seconds and the rows of its table."""

    script: str
    words: list[str]
    seconds: int
    rows: list[str]


def recorded(path: Path) -> Recorded:
    """Read a table. Its first line is `name.py: option value .., option value .., seed 0; images; 12 s of one core`."""
    head, _, *rows = path.read_text(encoding="utf-8").splitlines()
    script, settings, seconds = re.fullmatch(r"(\w+\.py): ([^;]*);.* ([\d,]+) s of one core", head).groups()  # type: ignore[union-attr]
    words = [f"--{setting}".split() for setting in settings.split(", ")]
    return Recorded(script, sum(words, []), int(seconds.replace(",", "")), rows)


def difference(row: str, other: str) -> float:
    """Return the largest relative difference of numbers in two rows; infinity if other words differ."""
    off = 0.0
    for one, two in zip(row.split(), other.split(), strict=True):
        try:
            numbers = float(one), float(two)
        except ValueError:
            off = max(off, 0.0 if one == two else inf)
        else:
            off = max(off, abs(numbers[0] - numbers[1]) / (max(map(abs, numbers)) or 1.0))
    return off


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*")
    parser.add_argument("--seconds", type=int, default=60, help="leave out scripts that took longer; default: 60")
    given = parser.parse_args()
    runs = [recorded(path) for path in FOLDER.glob("*.txt") if (FOLDER / f"{path.stem}.py").exists()]
    runs = [run for run in runs if run.script in given.scripts or not given.scripts and run.seconds <= given.seconds]
    different = 0
    for run in sorted(runs, key=lambda run: run.seconds):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(FOLDER / run.script), *run.words, "--folder", folder]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            rows = recorded((Path(folder) / run.script).with_suffix(".txt")).rows
        changed = [pair for pair in zip(run.rows, rows, strict=True) if pair[0].split() != pair[1].split()]
        off = max((difference(*pair) for pair in changed), default=0.0)
        said = f"{len(changed)} of {len(rows)} rows differ, by at most {off:.2g} of a number"
        different += bool(changed)
        print(f"{run.script}: {said if changed else 'as recorded'}", flush=True)
    print(f"{len(runs)} tables, {different} different")
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main())
