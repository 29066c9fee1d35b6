# SPDX-License-Identifier: MIT
"""Are results the same for any number of workers: numbers, arrays, counters, errors?

Workers take parts of the work in any order, so errors would show as differences between runs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from random_networks import random_network
from regions.domains import Domain, Line, Plane, Polygon, Segment
from regions.ground.threads.workers import each_by_workers
from regions.networks.network import Network
from regions.results.cells.consistency import first_problem
from regions.results.partition import raw_arrays

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
NETWORK = random_network([2, 24, 24, 1], 1, bias=0.1, he=True)
# Millions of regions: work that does not stop takes minutes and gigabytes.
ENDLESS = random_network([2, *[1024] * 5, 1], 1, bias=0.1, he=True)
SEVERAL = [2, 3, 7]


def lines(number: int) -> list[Domain]:
    ends = np.random.default_rng(3).standard_normal((number, 2, 2))
    return [Segment(start, end) for start, end in ends]


def squares(number: int) -> list[Domain]:
    return [Polygon(np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * 0.7**k) for k in range(number)]


class TestSeveralDomains:
    @pytest.mark.parametrize("workers", SEVERAL)
    @pytest.mark.parametrize(
        "domains", [lines(30), [Line([0, k], [1, 1]) for k in range(5)], squares(9), squares(30), [SQUARE], []]
    )
    def test_the_same_numbers(self, domains: list[Domain], workers: int) -> None:
        numbers, certificates = regions.certified_count(NETWORK, domains)
        found, proven = regions.certified_count(NETWORK, domains, workers=workers)
        assert found.dtype == numbers.dtype and found.tolist() == numbers.tolist()
        assert [each.as_dict() for each in proven] == [each.as_dict() for each in certificates]

    def test_curves_and_other_definitions(self) -> None:
        arcs = [regions.Arc([k, 0], [0, 1]) for k in range(1, 6)]
        assert regions.count(NETWORK, arcs, workers=3).tolist() == regions.count(NETWORK, arcs).tolist()
        expected = regions.count(NETWORK, squares(4), "affine").tolist()
        assert regions.count(NETWORK, squares(4), "affine", workers=3).tolist() == expected

    @pytest.mark.parametrize("workers", SEVERAL)
    def test_the_first_that_has_too_many_regions_ends_it(self, workers: int) -> None:
        domains = lines(30)
        numbers = regions.count(NETWORK, domains)
        for limit in (0, int(np.median(numbers)), int(numbers.max()) - 1):
            with pytest.raises(regions.LimitReached) as alone:
                regions.count(NETWORK, domains, limit=limit)
            with pytest.raises(regions.LimitReached) as stopped:
                regions.count(NETWORK, domains, limit=limit, workers=workers)
            assert stopped.value.partial.tolist() == alone.value.partial.tolist()
        assert regions.count(NETWORK, domains, limit=int(numbers.max()), workers=workers).tolist() == numbers.tolist()

    def test_what_fails_early_does_not_wait_for_what_has_no_end(self) -> None:
        with pytest.raises(regions.LimitReached) as stopped:
            regions.count(ENDLESS, [SQUARE] * 24, limit=1000, workers=3)
        assert stopped.value.partial.tolist() == []

    @pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
    def test_what_a_report_raises_stops_all(self, error: type[BaseException]) -> None:
        reports: list[tuple[float, int]] = []

        def report(share: float, found: int) -> None:
            reports.append((share, found))
            if len(reports) == 5:
                raise error

        with pytest.raises(error) as stopped:
            regions.count(ENDLESS, [SQUARE] * 24, progress=report, workers=3)
        assert len(reports) == 5 and [share for share, _ in reports] == sorted(share for share, _ in reports)
        if error is KeyboardInterrupt:
            assert stopped.value.partial.tolist() == []

    def test_a_report_may_count_with_workers_itself(self) -> None:
        counts: list[int] = []

        def report(share: float, found: int) -> None:
            counts.extend(regions.count(NETWORK, squares(3), workers=2))
            if len(counts) == 6:
                raise StopIteration

        with pytest.raises(StopIteration):
            regions.count(ENDLESS, [SQUARE] * 24, progress=report, workers=3)
        assert counts == regions.count(NETWORK, squares(3)).tolist() * 2


def test_threads_are_started_for_long_items_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(index: int, report: object) -> int:
        time.sleep(0.02)
        return threading.get_ident()

    for short, threads in ((1e-4, 4), (10.0, 1)):
        monkeypatch.setattr("regions.ground.threads.workers.SHORT", short)
        found: list[int] = []
        each_by_workers(work, 20, 4, None, found)
        assert (len(found), len(set(found))) == (20, threads)


def require_the_same(network: Network, domain: Domain, workers: int) -> None:
    """Numbers, counters and all bytes."""
    number, certificate = regions.certified_count(network, domain, workers=1)
    found, proven = regions.certified_count(network, domain, workers=workers)
    assert (found, proven.as_dict()) == (number, certificate.as_dict())
    alone = raw_arrays(regions.enumerate(network, domain, workers=1))
    together = raw_arrays(regions.enumerate(network, domain, workers=workers))
    assert alone.keys() == together.keys()
    for name, array in alone.items():
        if isinstance(array, np.ndarray):
            assert array.shape == together[name].shape and array.tobytes() == together[name].tobytes(), name
        else:
            assert array == together[name], name


class TestPartsOfADomain:
    """Threads that have not begun count as idle, so parts of even tiny domains are donated."""

    @pytest.mark.parametrize("workers", SEVERAL)
    @pytest.mark.parametrize("family", [*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES])
    def test_the_same_bytes(self, family: str, workers: int) -> None:
        for seed in range(2):
            require_the_same(*draw(family, 2, seed), workers)
        require_the_same(*draw(family, 1, 0), workers)

    @pytest.mark.parametrize("domain", [SQUARE, Plane([0, 0], [1, 0], [0, 1]), Line([0, 0], [1, 2])])
    def test_the_same_bytes_of_many_regions(self, domain: Domain) -> None:
        network = random_network([2, 40, 40, 40, 1], 4, bias=0.1, he=True)
        for workers in SEVERAL:
            require_the_same(network, domain, workers)

    def test_curves(self) -> None:
        arc, circle = regions.Arc([1, 0], [0, 1]), regions.Circle([0.5, 0], [1, 0], [0, 1])
        for curve in (arc, circle):
            assert regions.count(NETWORK, curve, workers=3) == regions.count(NETWORK, curve, workers=1)

    @pytest.mark.parametrize("family", [*GRAPH_FAMILIES, *MAX_FAMILIES])
    def test_curves_through_other_networks(self, family: str) -> None:
        for seed in range(3):
            network, _ = draw(family, 2, seed)
            ends = np.random.default_rng(seed).standard_normal((8, 2, network.n_in))
            arcs = [regions.Arc(start, end) for start, end in ends]
            alone = [regions.count(network, arc, workers=1) for arc in arcs]
            assert regions.count(network, arcs, workers=3).tolist() == alone
            assert [regions.count(network, arc, workers=3) for arc in arcs] == alone

    @pytest.mark.parametrize("workers", SEVERAL)
    def test_limits(self, workers: int) -> None:
        total = regions.count(NETWORK, SQUARE)
        assert regions.count(NETWORK, SQUARE, limit=total, workers=workers) == total
        assert len(regions.enumerate(NETWORK, SQUARE, limit=total, workers=workers)) == total
        everything = {row.tobytes() for row in regions.enumerate(NETWORK, SQUARE).packed_patterns}
        for limit in (0, 1, total // 2, total - 1):
            with pytest.raises(regions.LimitReached) as stopped:
                regions.count(NETWORK, SQUARE, limit=limit, workers=workers)
            assert limit < stopped.value.partial <= total
            with pytest.raises(regions.LimitReached) as stopped:
                regions.enumerate(NETWORK, SQUARE, limit=limit, workers=workers)
            partial = stopped.value.partial
            assert limit < len(partial) <= total and not partial.complete
            assert first_problem(NETWORK, SQUARE, raw_arrays(partial), complete=False) is None
            patterns = {row.tobytes() for row in partial.packed_patterns}
            assert len(patterns) == len(partial) and patterns <= everything

    def test_a_limit_ends_what_has_no_end(self) -> None:
        with pytest.raises(regions.LimitReached) as stopped:
            regions.count(ENDLESS, SQUARE, limit=1000, workers=3)
        assert 1000 < stopped.value.partial < 100_000
        with pytest.raises(regions.LimitReached) as stopped:
            regions.enumerate(ENDLESS, SQUARE, limit=1000, workers=3)
        assert 1000 < len(stopped.value.partial) < 100_000

    @pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
    def test_what_a_report_raises_stops_all(self, error: type[BaseException]) -> None:
        for function in (regions.count, regions.enumerate):
            reports: list[tuple[float, int]] = []

            def report(share: float, found: int, reports: list[tuple[float, int]] = reports) -> None:
                reports.append((share, found))
                if len(reports) == 5:
                    raise error

            with pytest.raises(error) as stopped:
                function(ENDLESS, SQUARE, progress=report, workers=3)
            partial = stopped.value.partial
            total = partial if isinstance(partial, int) else len(partial)
            assert len(reports) == 5 and total > 0
            for (share, found), (later, more) in zip(reports, [*reports[1:], (1.0, total)], strict=True):
                assert 0 <= share <= later <= 1 and 0 <= found <= more

    def test_a_report_may_use_workers_itself(self) -> None:
        counts: list[int] = []

        def report(share: float, found: int) -> None:
            counts.append(regions.count(NETWORK, SQUARE, workers=2))
            counts.append(len(regions.enumerate(NETWORK, SQUARE, workers=2)))
            if len(counts) == 6:
                raise StopIteration

        with pytest.raises(StopIteration):
            regions.count(ENDLESS, SQUARE, progress=report, workers=3)
        assert counts == [regions.count(NETWORK, SQUARE)] * 6


class TestHowMany:
    @pytest.mark.parametrize("word", ["1", "2", "0000000002", "all", ""])
    def test_the_environment_says_so(self, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REGIONS_WORKERS", word)
        assert regions.count(NETWORK, lines(3)).tolist() == regions.count(NETWORK, lines(3), workers="all").tolist()

    @pytest.mark.parametrize("word", ["0", "000", "-1", "many", "1.5", "9" * 30, "1" + "0" * 9, "²"])
    def test_what_the_environment_may_not_say(self, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REGIONS_WORKERS", word)
        with pytest.raises(ValueError, match="REGIONS_WORKERS must be"):
            regions.count(NETWORK, SQUARE)
        assert regions.count(NETWORK, SQUARE, workers=1) > 1

    @pytest.mark.parametrize("workers", [0, -1, 1.5, "many", True, 10**6])
    def test_invalid_numbers_of_threads(self, workers: object) -> None:
        with pytest.raises((ValueError, TypeError), match='workers must be .*; workers="all" takes one for each'):
            regions.count(NETWORK, SQUARE, workers=workers)


SCRIPT = """
import os
import signal
import threading
import time
import numpy as np
import regions
rng = np.random.default_rng(0)
sizes = [2, *[512] * 6, 1]
pairs = zip(sizes, sizes[1:])
network = regions.Network([(rng.standard_normal((n, m)) / 16, rng.standard_normal(n)) for m, n in pairs])
plane = regions.Polygon([[-9, -9], [9, -9], [9, 9], [-9, 9]])
# Ctrl-C itself writes there, whatever Python is doing just then; processor time is that of all threads together.
came, comes = os.pipe()
os.set_blocking(comes, False)
signal.set_wakeup_fd(comes)
at = []
def wait():
    os.read(came, 1)
    at.append(time.process_time())
waiting = threading.Thread(target=wait)
waiting.start()
reports = 0
def report(share, found):
    global reports
    reports += 1
    if reports == 5:
        print("at work", flush=True)
try:
    {call}
except KeyboardInterrupt as stopped:
    now = time.process_time()
    waiting.join()
    print(now - at[0], stopped.partial, flush=True)
"""
# Threads have stacks as large as the limit for programs; if the limit exceeds the memory, no thread can be started.
REFUSED = """
import resource
import sys
if len(sys.argv) == 1:
    import os
    try:
        resource.setrlimit(resource.RLIMIT_STACK, (2**46, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    except (OSError, ValueError):
        pass  # no such limit here, and nothing is refused
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.execv(sys.executable, [sys.executable, "-c", sys.orig_argv[2], "once more"])
import numpy as np
import regions
rng = np.random.default_rng(0)
network = regions.Network([(rng.standard_normal((24, 2)), rng.standard_normal(24)), (np.ones((1, 24)), [0.0])])
square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
number = regions.count(network, square)
assert regions.count(network, square, workers=3) == number
assert regions.enumerate(network, square, workers=3) == regions.enumerate(network, square)
assert (regions.count(network, [square] * 30, workers=3) == number).all()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no resource module")
def test_where_no_thread_can_be_started() -> None:
    subprocess.run([sys.executable, "-c", REFUSED], check=True, cwd=Path(regions.__file__).parent.parent)


@pytest.mark.parametrize("allowed", [0, 1, 2])
def test_where_few_threads_can_be_started(allowed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    started, start = [], threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if len(started) == allowed:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    expected = regions.count(NETWORK, squares(30))
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert regions.count(NETWORK, squares(30), workers=3).tolist() == expected.tolist()

    def work(index: int, report: object) -> int:
        time.sleep(0.005)
        return index

    started.clear()
    found: list[int] = []
    each_by_workers(work, 30, 3, None, found)
    assert found == list(range(30))
    assert len(started) == allowed


# Seconds of processor time from Ctrl-C until four threads have ended; wall time is not longer if a processor is free.
MOST = 5.0 if "libasan" in os.environ.get("LD_PRELOAD", "") else 1.0
# Limit in seconds for work that takes a tenth of a second, or many seconds with sanitizers on a slow, busy machine.
PATIENCE = 300


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
@pytest.mark.parametrize(
    "call",
    [
        "regions.count(network, [plane] * 99, progress=report, workers=4)",
        "regions.count(network, plane, progress=report, workers=4)",
        "regions.enumerate(network, plane, progress=report, workers=4)",
    ],
)
def test_ctrl_c(call: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(call=call)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(regions.__file__).parent.parent,
    ) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "at work\n"
            child.send_signal(signal.SIGINT)
            output, _ = child.communicate(timeout=PATIENCE)
        finally:
            child.kill()
    used, found = output.split(maxsplit=1)
    assert found and child.returncode == 0
    assert float(used) < MOST
