# SPDX-License-Identifier: MIT
"""Which tools count regions right, how long do they take, and how much memory?

    python bench/rivals/compare.py

installs the tools that a package index has into temporary environments, runs each on the same networks
(`compared_networks.py`) in processes of their own (`run_tool.py`), and rewrites the tables in docs/compared.md. Counts
of small networks are compared with `regions.reference`, in rational arithmetic. On generic networks, which are larger,
a count is taken as right if all tools agree on it; if they do not, the reference decides which tool is wrong.
Cost: some minutes, and much longer if tools disagree on a large network. Needs a package index.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import regions
from compared_networks import BOXES, DEGENERATE, GENERIC, SPACES, Layers
from run_tool import our_domain

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "compared.md"
TOOLS = {"regioncam": "regioncam==0.5.2", "relucent": "relucent==1.0.0"}
OURS = "relu-regions"
COUNT = "relu-regions count"


class Run(NamedTuple):
    """The answer of a tool: regions or an error, seconds of processor time, and the peak memory in MB."""

    regions: int | None
    seconds: float
    memory: float
    error: str | None


def main() -> None:
    """Measure, and rewrite the tables."""
    with tempfile.TemporaryDirectory() as folder:
        pythons = {OURS: sys.executable, COUNT: sys.executable} | {
            name: installed(name, Path(folder)) for name in TOOLS
        }
        square = [
            *table("square", GENERIC, [OURS, "regioncam"], 4, pythons, Path(folder)),
            *table("square", DEGENERATE, [OURS, "regioncam"], 20, pythons, Path(folder))[2:],
        ]
        small = {name: family for name, family in GENERIC.items() if "16" in name} | DEGENERATE
        tables = {
            "square": square,
            "plane": table("plane", small, [OURS, "relucent"], 4, pythons, Path(folder)),
            "space": table("space", SPACES, [COUNT, "relucent"], 2, pythons, Path(folder)),
            "box": table("box", BOXES, [COUNT, OURS], 2, pythons, Path(folder)),
        }
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in tables.items():
        begin, end = f"<!-- {name}: written by bench/rivals/compare.py -->\n", f"<!-- end of {name} -->\n"
        before, rest = text.split(begin)
        text = before + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.split(end)[1]
    PAGE.write_text(text, encoding="utf-8")


def installed(tool: str, folder: Path) -> str:
    """Install a tool in an environment of its own, and return the path of its Python."""
    place = folder / tool
    venv.create(place, with_pip=True)
    python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", TOOLS[tool]], check=True)
    return str(python)


def table(
    domain: str,
    families: dict[str, Callable[[int], Layers]],
    tools: list[str],
    seeds: int,
    pythons: dict[str, str],
    folder: Path,
) -> list[str]:
    """Return the lines of a table with a row for each family."""
    lines = [
        "| networks | regions | " + " | ".join(f"{tool}: right, ms, MB" for tool in tools) + " |",
        "|---|---|" + "---|" * len(tools),
    ]
    for name, family in families.items():
        layers = [family(seed) for seed in range(seeds)]
        paths = [saved(each, folder / f"case{seed}.npz") for seed, each in enumerate(layers)]
        found = {tool: ran(tool, pythons[tool], domain, paths) for tool in tools}
        right = [
            exact(each, domain) if name in DEGENERATE else settled(each, domain, answers)
            for each, answers in zip(layers, zip(*found.values(), strict=True), strict=True)
        ]
        low, high = min(right), max(right)
        columns = [column(found[tool], right) for tool in tools]
        lines.append(f"| {name} | {low:,} to {high:,} | " + " | ".join(columns) + " |")
        print(lines[-1], flush=True)
    return lines


def saved(layers: Layers, path: Path) -> Path:
    arrays = {f"{name}{i}": array for i, pair in enumerate(layers) for name, array in zip("wb", pair, strict=True)}
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


def ran(tool: str, python: str, domain: str, paths: Iterable[Path]) -> list[Run]:
    """Run a tool on each file, in a process for each, so that memory is that of one network."""
    found = []
    for path in paths:
        command = [python, str(HERE / "run_tool.py"), tool, domain, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        if done.returncode or not lines:
            found.append(Run(None, 0.0, 0.0, f"ended with code {done.returncode}"))
        else:
            found.append(Run(**json.loads(lines[-1])))
    return found


def exact(layers: Layers, domain: str) -> int:
    """The number of regions in rational arithmetic."""
    net = regions.Network([(weights.astype(float), biases.astype(float)) for weights, biases in layers])
    return len(regions.reference.enumerate(net, our_domain(domain, net.n_in)))


def settled(layers: Layers, domain: str, answers: tuple[Run, ...]) -> int:
    """The count on which all tools agree, or else the number of regions in rational arithmetic."""
    first, *others = {answer.regions for answer in answers}
    return exact(layers, domain) if others or first is None else first


def column(found: list[Run], right: list[int]) -> str:
    """How many counts are right, the median time, and the largest memory."""
    good = sum(run.regions == number for run, number in zip(found, right, strict=True))
    refused = sum(run.regions is None for run in found)
    words = f"{good} of {len(found)}" + f" ({refused} refused)" * bool(refused)
    times = [run.seconds * 1000 for run in found if run.regions is not None]
    if not times:
        return words
    return f"{words}, {float(f'{np.median(times):.3g}'):,g}, {max(run.memory for run in found):.0f}"


if __name__ == "__main__":
    main()
