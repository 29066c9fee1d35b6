# SPDX-License-Identifier: MIT
"""What has been measured, on which machines and at which commits?

    python bench/page.py

Writes docs/measurements.md from the files in bench/measured: `instructions.py --json` wrote those that begin with
"instructions", and `run.py --json` the others. Files of one machine and commit are shown together, so a run can be
divided among processors.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from run import CASES

FOLDER = Path(__file__).resolve().parent
MEASURED = FOLDER / "measured"
PAGE = FOLDER.parent / "docs" / "measurements.md"

HEAD = """# Measurements

This page is written by `python bench/page.py`, from files that the benchmarks write.
[The benchmarks](../bench/README.md) say what each case compares with, and how it is measured.
[Compared with other tools](compared.md) has the times of other tools.
"""

INSTRUCTIONS = """
## Instructions per region

valgrind counts the instructions of the core, on one thread and with AVX2. They hardly depend on the machine: two counts
differ by less than a thousandth.

"""

RATIOS = """
## {processor}

Commit {commit}, {date}: {rest}. Each case is measured {rounds}.
Each ratio is a median, with its range in brackets. Ratios above their goals are bold.

"""


def rendered() -> str:
    """Return the page."""
    files = {path.stem: json.loads(path.read_text()) for path in sorted(MEASURED.glob("*.json"), reverse=True)}
    counted = [content for stem, content in files.items() if stem.startswith("instructions")]
    timed = defaultdict(list)
    for stem, content in files.items():
        if not stem.startswith("instructions"):
            machine = content["machine"]
            timed[machine["date"], machine["commit"], machine["processor"]].append(content)
    parts = [HEAD, INSTRUCTIONS, *table_of_instructions(counted)]
    for (date, commit, processor), contents in sorted(timed.items(), reverse=True):
        machine, cases = contents[0]["machine"], [case for content in contents for case in content["cases"]]
        rounds = max(len(case.get("values", [0])) for case in cases)
        parts.append(
            RATIOS.format(
                processor=processor,
                commit=f"`{commit}`",
                date=date,
                rest=", ".join(machine[key] for key in ("python", "blas", "load") if machine[key]),
                rounds="once" if rounds == 1 else f"{rounds} times",
            )
        )
        parts += table_of_ratios(sorted(cases, key=lambda case: order_of(case["name"])))
    return "".join(parts)


def order_of(name: str) -> int:
    """Return the place of a case among all cases; cases that no longer exist come last."""
    names = [case.name for case in CASES]
    return names.index(name) if name in names else len(names)


def table_of_instructions(files: Iterable[dict[str, Any]]) -> Iterable[str]:
    """Yield the rows of a table with a column for each commit: the latest first; commits of one day are in the given
    order."""
    files = sorted(files, key=lambda content: content["date"], reverse=True)
    names = list(dict.fromkeys(case["name"] for content in files for case in content["cases"]))
    columns = [{case["name"]: case for case in content["cases"]} for content in files]
    yield row("case", "regions", *(f"`{content['commit']}`, {content['date']}" for content in files))
    yield row(*["---"] * (2 + len(files)))
    for name in names:
        cases = [column.get(name) for column in columns]
        regions = next(case["regions"] for case in cases if case)
        numbers = [f"{case['instructions'] / case['regions']:,.0f}" if case else "" for case in cases]
        yield row(f"`{name}`", f"{regions:,}", *numbers)


def table_of_ratios(cases: Iterable[dict[str, Any]]) -> Iterable[str]:
    """Yield the rows of a table with a row for each case."""
    yield row("case", "regions", "time", "ratio", "goal")
    yield row(*["---"] * 5)
    for case in cases:
        if "error" in case:
            yield row(f"`{case['name']}`", "", "", f"**{case['error']}**", "")
            continue
        values, goal = case["values"], case["goal"]
        ratio = f"{case['value']:.3g}"
        ratio = f"**{ratio}**" if goal is not None and case["value"] > goal else ratio
        spread = f" ({min(values):.3g} to {max(values):.3g})" if len(values) > 1 else ""
        regions = "" if case["regions"] is None else f"{case['regions']:,}"
        goal_text = "" if goal is None else f"{goal:g}"
        yield row(
            f"`{case['name']}`",
            regions,
            f"{case['seconds'] * 1e3:,.1f} ms",
            f"{ratio}{spread} {case['unit']}",
            goal_text,
        )


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(rendered())
