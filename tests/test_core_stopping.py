# SPDX-License-Identifier: MIT
"""Does long work report, stop when told to, and leave what it had; and can several threads work at once?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import regions
from regions.consistency import first_problem
from regions.domains import Domain, Line, Polygon, Segment
from regions.network import Network
from regions.partition import Partition, raw_arrays

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
Function = type(regions.count)


def random_network(sizes: list[int], seed: int) -> Network:
    rng = np.random.default_rng(seed)
    pairs = zip(sizes, sizes[1:], strict=False)
    return Network([(rng.standard_normal((n, m)) * np.sqrt(2 / m), 0.1 * rng.standard_normal(n)) for m, n in pairs])


SMALL = random_network([2, 16, 16, 1], 1)
# Millions of regions: whatever does not stop takes minutes and gigabytes.
ENDLESS = random_network([2, 1024, 1024, 1024, 1], 1)
ENDLESS_LINE = random_network([2, *[512] * 12, 1], 1)


def check_partial(partial: Partition, network: Network, domain: Domain) -> None:
    """A true part of the partition, and marked as a part."""
    assert not raw_arrays(partial)["complete"]
    assert first_problem(network, domain, raw_arrays(partial), complete=False) is None
    assert len(np.unique(partial.packed_patterns, axis=0)) == len(partial)
    assert not partial.complete and "partial" in repr(partial)


class TestLimit:
    @pytest.mark.parametrize("domain", [SQUARE, Segment([-1, -1], [1, 1]), Line([0, 0], [1, 2])])
    def test_it_is_the_most_that_may_be_found(self, domain: Domain) -> None:
        total = regions.count(SMALL, domain)
        everything = {row.tobytes() for row in regions.enumerate(SMALL, domain).packed_patterns}
        assert regions.count(SMALL, domain, limit=total) == total
        assert len(regions.enumerate(SMALL, domain, limit=total)) == total
        for limit in (0, 1, 2, total // 2, total - 1):
            with pytest.raises(regions.LimitReached) as stopped:
                regions.count(SMALL, domain, limit=limit)
            assert stopped.value.limit == limit and limit < stopped.value.partial <= total
            with pytest.raises(regions.LimitReached, match=f"more than {limit} regions") as stopped:
                regions.enumerate(SMALL, domain, limit=limit)
            partial = stopped.value.partial
            assert stopped.value.limit == limit and limit <= len(partial) <= total
            check_partial(partial, SMALL, domain)
            assert {row.tobytes() for row in partial.packed_patterns} <= everything

    def test_it_ends_what_has_no_end(self) -> None:
        start = time.perf_counter()
        with pytest.raises(regions.LimitReached):
            regions.count(ENDLESS, SQUARE, limit=1000)
        with pytest.raises(regions.LimitReached) as stopped:
            regions.enumerate(ENDLESS, SQUARE, limit=1000)
        assert len(stopped.value.partial) >= 1000
        assert time.perf_counter() - start < 30

    def test_of_several_domains(self) -> None:
        lines = [Segment([0, 0], [1e-9, 0]), Segment([-1, -1], [1, 1])]
        with pytest.raises(regions.LimitReached) as stopped:
            regions.count(SMALL, lines, limit=5)
        assert stopped.value.partial.tolist() == [1]

    @pytest.mark.parametrize("limit", [-1, 1.5, True, "10"])
    def test_what_is_none_is_refused(self, limit: object) -> None:
        with pytest.raises(ValueError, match="limit must be"):
            regions.count(SMALL, SQUARE, limit=limit)


class TestProgress:
    @pytest.mark.parametrize("function", [regions.count, regions.enumerate])
    def test_it_never_goes_back(self, function: Function) -> None:
        reports: list[tuple[float, int]] = []
        network = random_network([2, 200, 200, 200, 1], 2)
        result = function(network, SQUARE, progress=lambda share, found: reports.append((share, found)))
        total = result if isinstance(result, int) else len(result)
        assert reports and total > 10_000
        for (share, found), (later, more) in zip(reports, [*reports[1:], (1.0, total)], strict=True):
            assert 0 <= share <= later <= 1 and 0 <= found <= more

    def test_it_changes_nothing(self) -> None:
        network = random_network([2, 100, 100, 1], 3)
        # Arithmetic on arrays in the report, as a report that draws would do.
        with_report = regions.enumerate(network, SQUARE, progress=lambda *_: np.arange(10.0).sum())
        without = regions.enumerate(network, SQUARE)
        assert (with_report.packed_patterns == without.packed_patterns).all()
        assert (with_report.vertices == without.vertices).all()

    @pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
    @pytest.mark.parametrize("domain", [SQUARE, Segment([-1000, -1000], [1000, 999])])
    def test_what_it_raises_stops_the_work(self, error: type[BaseException], domain: Domain) -> None:
        network = ENDLESS if domain is SQUARE else ENDLESS_LINE
        raised = error("enough")

        def report(share: float, found: int) -> None:
            raise raised

        for function in (regions.count, regions.enumerate):
            start = time.perf_counter()
            with pytest.raises(error) as stopped:
                function(network, domain, progress=report)
            assert time.perf_counter() - start < 30
            assert stopped.value is raised
            partial = stopped.value.partial
            if function is regions.count:
                assert partial >= 0
            else:
                check_partial(partial, network, domain)


@pytest.mark.parametrize("function", [regions.count, regions.enumerate])
def test_ctrl_c_while_the_core_is_not_at_work(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has ended, and what it found is on its way: handlers that look for a part find that there is none."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(regions.enumeration._core, function.__name__, interrupted)
    with pytest.raises(KeyboardInterrupt) as stopped:
        function(SMALL, SQUARE)
    assert stopped.value.partial is None


REENTRANT = """
import numpy as np
import regions
def network(sizes):
    rng = np.random.default_rng(2)
    return regions.Network([(rng.standard_normal((n, m)) * (2 / m) ** 0.5, rng.standard_normal(n) / 10)
                            for m, n in zip(sizes, sizes[1:])])
square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
large, small = network([2, 200, 200, 200, 1]), network([2, 16, 16, 1])
found, expected = set(), regions.count(small, square)
def report(share, regions_so_far):
    found.add(regions.count(small, square))
    found.add(len(regions.enumerate(small, square)))
total = regions.count(large, square)
assert regions.count(large, square, progress=report) == total
assert len(regions.enumerate(large, square, progress=report)) == total
assert found == {expected}
"""


# In a process of its own, since what goes wrong here is memory.
def test_a_report_may_count_regions_itself() -> None:
    folder = Path(regions.__file__).parent.parent
    assert subprocess.run([sys.executable, "-c", REENTRANT], cwd=folder).returncode == 0


# Seconds. Sanitizers make everything ten times slower, handing over what was found included.
AT_ONCE = 30 if "libasan" in os.environ.get("LD_PRELOAD", "") else 1

# Each of these works for a minute or more, or until it is interrupted; it then says when that was and how much it had.
SCRIPT = """
import sys, time
import numpy as np
import regions
rng = np.random.default_rng(0)
def layers(sizes, draw):
    return [(draw((n, m)), draw(n)) for m, n in zip(sizes, sizes[1:])]
def gaussian(shape):
    return rng.standard_normal(shape) / 16
def signs(shape):
    return rng.integers(-1, 2, shape).astype(float)
plane = regions.Polygon([[-9, -9], [9, -9], [9, 9], [-9, 9]])
name, function = sys.argv[1:]
if name == "generic":
    network, domain = layers([2, 1024, 1024, 1024, 1024, 1], gaussian), plane
elif name == "exact":  # twins that cancel: all later neurons are zero everywhere, which only exact arithmetic can say
    network, domain = layers([2, 128, 128, 128, 128, 1], gaussian), plane
    network[:-1] = [(np.repeat(w, 2, axis=0), np.repeat(b, 2)) for w, b in network[:-1]]
    network[1:] = [(np.repeat(w, 2, axis=1) * np.resize([1, -1], 2 * w.shape[1]), 0 * b) for w, b in network[1:]]
elif name == "lattice":  # many lines through each point
    network, domain = layers([2, 512, 512, 512, 1], signs), plane
else:
    network, domain = layers([2, *[512] * 20, 1], gaussian), regions.Segment([-1000, -1000], [1000, 999])
network = regions.Network(network)
print("ready", flush=True)
try:
    getattr(regions, function)(network, domain)
except KeyboardInterrupt as stopped:
    partial = stopped.partial
    print(time.time(), partial if isinstance(partial, int) else len(partial), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
@pytest.mark.parametrize("name", ["generic", "exact", "lattice", "line"])
@pytest.mark.parametrize("function", ["count", "enumerate"])
def test_ctrl_c(name: str, function: str) -> None:
    """No more than a second from the signal to the exception, in the midst of any kind of work."""
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, name, function],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(regions.__file__).parent.parent,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.7)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    output, _ = child.communicate(timeout=60)
    stopped, found = output.split()
    assert int(found) >= 0 and child.returncode == 0
    assert float(stopped) - sent < AT_ONCE


class TestThreads:
    def test_several_at_once(self) -> None:
        networks = [random_network([2, 40, 40, 1], seed) for seed in range(8)]
        expected = [regions.enumerate(network, SQUARE) for network in networks]
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda network: regions.enumerate(network, SQUARE), networks * 3))
            counts = list(threads.map(lambda network: regions.count(network, SQUARE), networks * 3))
        assert counts == [len(partition) for partition in expected] * 3
        for partition, alone in zip(found, expected * 3, strict=True):
            assert (partition.packed_patterns == alone.packed_patterns).all()
            assert (partition.vertices == alone.vertices).all()
            assert (partition.cell_facets == alone.cell_facets).all()

    def test_stopping_one_does_not_stop_another(self) -> None:
        network = random_network([2, 100, 100, 1], 3)
        expected = regions.count(network, SQUARE)

        def work(limit: int | None) -> int:
            try:
                return regions.count(network, SQUARE, limit=limit)
            except regions.LimitReached:
                return -1

        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(work, [None, 10, None, 20] * 5)) == [expected, -1, expected, -1] * 5

    def test_other_threads_run_meanwhile(self) -> None:
        """The work is done without holding the lock of the interpreter."""
        ready, stop, turns = threading.Event(), threading.Event(), [0]

        def spin() -> None:
            ready.set()
            while not stop.is_set():
                turns[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=spin)
        thread.start()
        ready.wait()
        before = turns[0]
        regions.count(random_network([2, 200, 200, 200, 1], 2), SQUARE)
        during = turns[0] - before
        stop.set()
        thread.join()
        assert during > 10
