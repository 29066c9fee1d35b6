# SPDX-License-Identifier: MIT
"""Does a call end with the same bytes when a worker is killed at a random moment?

    python tests/fuzz_kills.py --pools 400 --dask 100 [--seed 0]

Each case enumerates a plane with two workers and kills one of them by SIGKILL. A case that takes too long counts as a
hang; the program then prints the stack of each thread, and ends. A cluster of Dask that has lost all its workers gets
new ones for the next case only: the call has to end without them.
"""

from __future__ import annotations

import argparse
import faulthandler
import logging
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import regions  # noqa: E402
from random_networks import random_network  # noqa: E402
from regions.results.partition import ARRAYS  # noqa: E402

NETWORK = random_network([2, 24, 24, 1], 1, bias=0.1, he=True)
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
HANG = 240  # seconds; a stalled cluster takes two times 30


def bytes_of(partition: regions.Partition) -> list[bytes]:
    return [getattr(partition, name).tobytes() for name in ARRAYS]


WHOLE = bytes_of(regions.enumerate(NETWORK, SQUARE))


@contextmanager
def killing(processes: Callable[[], list[int]], after: float, rng: random.Random) -> Iterator[list[int]]:
    """Kill one of these processes, some seconds after the first one exists; yield a list of the killed ones."""
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while not over.is_set() and not processes():
            time.sleep(0.001)
        if not over.wait(after) and (there := processes()):
            victim = rng.choice(there)
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def require_same(executor: Any) -> None:
    assert bytes_of(regions.enumerate(NETWORK, SQUARE, executor=executor)) == WHOLE


@contextmanager
def pool_of_two() -> Iterator[ProcessPoolExecutor]:
    """End the processes without waiting: `shutdown` of CPython hangs if one was killed as it took its next task."""
    pool = ProcessPoolExecutor(2)
    try:
        yield pool
    finally:
        there = list((pool._processes or {}).values())
        pool.shutdown(wait=False)
        for process in there:
            process.kill()


def kill_in_pools(cases: int, seed: int) -> int:
    """Use a new pool for each case; return how many workers were killed before the call ended."""
    rng, kills = random.Random(seed), 0
    start = time.monotonic()
    with pool_of_two() as pool:
        require_same(pool)
    longest = 1.1 * (time.monotonic() - start)
    for _ in range(cases):
        faulthandler.dump_traceback_later(HANG, exit=True)
        with pool_of_two() as pool:
            there: dict[int, Any] = pool._processes
            with killing(lambda there=there: list(there), rng.uniform(0, longest), rng) as killed:  # type: ignore[misc]
                require_same(pool)
        kills += len(killed)
    faulthandler.cancel_dump_traceback_later()
    return kills


def kill_in_dask(cases: int, seed: int) -> int:
    """Use one cluster for all cases; it replaces most of its workers. Return how many were killed."""
    import distributed

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # each killed worker takes several lines
    rng, kills = random.Random(seed), 0
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        require_same(client)  # workers import the package first
        start = time.monotonic()
        require_same(client)
        longest = 1.1 * (time.monotonic() - start)

        def processes() -> list[int]:
            """Return the running processes; the cluster may not replace one that is killed while it starts."""
            nannies = [each for each in cluster.workers.values() if each.process is not None]
            return [each.pid for each in nannies if each.process.status == distributed.Status.running]

        for _ in range(cases):
            faulthandler.dump_traceback_later(HANG, exit=True)
            with killing(processes, rng.uniform(0, longest), rng) as killed:
                require_same(client)
            kills += len(killed)
            if not cluster.workers:
                print("dask: all workers were lost; the call ended", flush=True)
                cluster.scale(2)
                client.wait_for_workers(2)
        faulthandler.cancel_dump_traceback_later()
    return kills


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pools", type=int, default=400, help="cases with a pool of processes")
    parser.add_argument("--dask", type=int, default=100, help="cases with a cluster of Dask")
    parser.add_argument("--seed", type=int, default=0)
    words = parser.parse_args()
    for name, kill, cases in (("pools", kill_in_pools, words.pools), ("dask", kill_in_dask, words.dask)):
        if cases:
            start = time.monotonic()
            print(f"{name}: {cases} cases, {kill(cases, words.seed)} killed workers, 0 hangs, the same bytes", end="")
            print(f", {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
