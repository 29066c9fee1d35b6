# SPDX-License-Identifier: MIT
"""Has a job that is killed several times the same statistics as one that ran through?

    python tests/fuzz_resumes.py --folds 2 3 3 --kills 5 [--seed 0]

The network folds the unit square onto itself, once for each number given, and then draws a random network on it, so the
number of regions is known: the product of the squares of the numbers, times the regions of the random network. With
`--folds 5 5 5` there are about 10^8.

One process makes the statistics (`regions.measures.summarize`) with one worker. Another one makes them with two workers
and a folder. It is killed by SIGKILL at random moments, and begins again each time. Both must end with the same JSON.
Without kills, the times of both are compared.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import subprocess
import sys
import time
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import regions  # noqa: E402
from random_networks import random_network  # noqa: E402
from regions.networks.derived import compose, product  # noqa: E402

# Between blocks, workers wait for each other: with a quarter of this, two take a fifth longer for 3 * 10^7 regions.
BLOCK = 1 << 18
SQUARE = regions.Rectangle.from_bounds([0, 0], [1, 1])


def drawn() -> regions.Network:
    """Return a random network whose weights have so few digits that it can be composed with folds exactly."""
    layers = random_network([2, 128, 128, 1], 1, bias=0.1, he=True).layers
    return regions.Network(
        [(np.float32(layer.weights).astype(float), np.float32(layer.biases).astype(float)) for layer in layers]
    )


DRAWN = drawn()


def zigzag(pieces: int) -> regions.Network:
    """Map [0, 1] onto itself this many times: up, down, up, ..."""
    kinks, slopes = np.arange(pieces, dtype=float), 2.0 * (-1.0) ** np.arange(pieces)
    slopes[0] = 1.0
    return regions.Network([(np.full((pieces, 1), float(pieces)), -kinks), (slopes[np.newaxis], [0.0])])


def network_of(folds: list[int]) -> regions.Network:
    """Return a network with ``prod(folds)**2`` times as many regions as `DRAWN`."""
    folded = reduce(compose, map(zigzag, folds))
    return compose(product(folded, folded), DRAWN)


def summarize(folds: list[int], workers: int, folder: str | None) -> None:
    """Print the statistics, the seconds on the clock and those of all processors."""
    print("begun", flush=True)
    begin, network = time.monotonic(), network_of(folds)
    options = {"regions_per_block": BLOCK, "workers": workers, "checkpoint": folder}
    state = regions.measures.summarize(network, SQUARE, **options).as_dict()
    used = resource.getrusage(resource.RUSAGE_SELF)
    clock, processors = time.monotonic() - begin, used.ru_utime + used.ru_stime
    print(json.dumps({"state": state, "clock": clock, "processors": processors, "peak": used.ru_maxrss / 1024}))


def begun(folds: list[int], workers: int, folder: str | None = None) -> subprocess.Popen[str]:
    """Return a process that has imported the package and begins its work."""
    words = ["--folds", *map(str, folds), "--alone", str(workers), *([] if folder is None else ["--folder", folder])]
    process = subprocess.Popen([sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    return process


def result_of(process: subprocess.Popen[str], what: str) -> dict[str, Any]:
    """Wait for a process, and print and return what it found."""
    out, _ = process.communicate()
    assert process.returncode == 0, f"{what}: ended with {process.returncode}"
    found: dict[str, Any] = json.loads(out)
    print(f"{what}: {found['state']['regions']:,} regions, {found['clock']:.1f} s on the clock, ", end="")
    print(f"{found['processors']:.1f} s of processors, at most {found['peak']:.0f} MB", flush=True)
    return found


def killed(folds: list[int], kills: int, seconds: float, rng: random.Random, folder: str) -> dict[str, Any]:
    """Kill a job several times at random moments, and return what it finds at last.

    It takes about ``seconds`` if it is not killed. About half of it is done at the last kill.
    """
    before = 0
    for kill in range(kills):
        process = begun(folds, 2, folder)
        time.sleep(rng.uniform(0.2, 1.0) * seconds / (kills + 1))
        ended = process.poll() is not None
        process.kill()
        process.wait()
        files = len(list(Path(folder).iterdir())) if Path(folder).exists() else 0
        print(f"kill {kill + 1}: the folder has {files} files, {files - before} of them new", flush=True)
        assert not ended, "the job ended before it was killed: take more regions"
        before = files
    return result_of(begun(folds, 2, folder), f"two workers, after {kills} kills")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, nargs="+", default=[2, 3, 3])
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--alone", type=int, metavar="WORKERS", help="only make the statistics, and print them")
    parser.add_argument("--folder", help="the folder of a job that is run --alone")
    words = parser.parse_args()
    if words.alone:
        summarize(words.folds, words.alone, words.folder)
        return
    one = result_of(begun(words.folds, 1), "one worker")
    assert one["state"]["regions"] == math.prod(words.folds) ** 2 * regions.count(DRAWN, SQUARE)
    with TemporaryDirectory() as folder:
        two = killed(words.folds, words.kills, one["clock"] / 2, random.Random(words.seed), str(Path(folder, "kept")))
    assert two["state"] == one["state"], "the statistics differ"
    print(f"{words.kills} kills: the same statistics")
    if not words.kills:
        print(f"one worker takes {one['clock'] / two['clock']:.2f} times as long as two")


if __name__ == "__main__":
    main()
