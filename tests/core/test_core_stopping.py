# SPDX-License-Identifier: MIT
"""Does long work report, stop on request, and return partial results; and can several threads work at once?

Nothing here depends on the speed of the machine: actions during work wait for a report of that work, which takes far
too long to end before. Timeouts only end calls that hang because the core is broken.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions.domains import Domain, Line, Polygon, Segment
from regions.networks.network import Network
from regions.results.cells.consistency import first_problem
from regions.results.partition import Partition, raw_arrays

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
Function = type(regions.count)


SMALL = random_network([2, 16, 16, 1], 1, bias=0.1, he=True)
# Millions of regions: work that does not stop takes minutes and gigabytes.
ENDLESS = random_network([2, *[1024] * 5, 1], 1, bias=0.1, he=True)
ENDLESS_LINE = random_network([2, *[512] * 12, 1], 1, bias=0.1, he=True)


def check_partial(partial: Partition, network: Network, domain: Domain) -> None:
    """Check that this is a proper part of the partition, and marked as partial."""
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
        with pytest.raises(regions.LimitReached) as stopped:
            regions.count(ENDLESS, SQUARE, limit=1000)
        # The count may jump, because regions of a cell without further kinks are counted together.
        assert 1000 < stopped.value.partial < 10_000
        with pytest.raises(regions.LimitReached) as stopped:
            regions.enumerate(ENDLESS, SQUARE, limit=1000)
        assert 1000 <= len(stopped.value.partial) < 10_000

    def test_of_several_domains(self) -> None:
        lines = [Segment([0, 0], [1e-9, 0]), Segment([-1, -1], [1, 1])]
        with pytest.raises(regions.LimitReached) as stopped:
            regions.count(SMALL, lines, limit=5)
        assert stopped.value.partial.tolist() == [1]

    @pytest.mark.parametrize("limit", [-1, 1.5, True, "10"])
    def test_wrong_arguments_are_refused(self, limit: object) -> None:
        with pytest.raises(ValueError if limit == -1 else TypeError, match="limit must be"):
            regions.count(SMALL, SQUARE, limit=limit)


class TestProgress:
    @pytest.mark.parametrize("function", [regions.count, regions.enumerate])
    def test_it_never_goes_back(self, function: Function) -> None:
        reports: list[tuple[float, int]] = []

        def report(share: float, found: int) -> None:
            reports.append((share, found))
            if len(reports) == 12:
                raise StopIteration

        with pytest.raises(StopIteration) as stopped:
            function(ENDLESS, SQUARE, progress=report)
        partial = stopped.value.partial
        total = partial if isinstance(partial, int) else len(partial)
        assert total > 10_000
        for (share, found), (later, more) in zip(reports, [*reports[1:], (1.0, total)], strict=True):
            assert 0 <= share <= later <= 1 and 0 <= found <= more

    @pytest.mark.slow
    def test_it_changes_nothing(self) -> None:
        network = random_network([2, 200, 200, 200, 1], 3, bias=0.1, he=True)
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
        reports = []

        def report(share: float, found: int) -> None:
            reports.append(share)
            raise raised

        for function in (regions.count, regions.enumerate):
            reports.clear()
            with pytest.raises(error) as stopped:
                function(network, domain, progress=report)
            assert stopped.value is raised
            assert len(reports) == 1
            partial = stopped.value.partial
            if function is regions.count:
                assert partial >= 0
            else:
                check_partial(partial, network, domain)


@pytest.mark.parametrize("function", [regions.count, regions.enumerate])
def test_ctrl_c_while_the_core_is_not_at_work(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work has ended and its result is being returned: handlers that look for a partial result find None."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(regions.core, function.__name__, interrupted)
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
endless, large, small = network([2, *[1024] * 5, 1]), network([2, *[100] * 3, 1]), network([2, 16, 16, 1])
found, expected = [], regions.count(small, square)
def report(share, regions_so_far):
    found.append(regions.count(small, square))
    found.append(len(regions.enumerate(small, square)))
def third_report(*report_of):
    report(*report_of)
    if len(found) >= 6:
        raise StopIteration
for function in (regions.count, regions.enumerate):
    found.clear()
    try:
        function(endless, square, progress=third_report)
    except StopIteration:
        assert found == [expected] * 6
    else:
        raise AssertionError("that cannot have ended")
# Too short on a fast machine for a report, on others not.
total = regions.count(large, square)
assert regions.count(large, square, progress=report) == total
assert len(regions.enumerate(large, square, progress=report)) == total
assert set(found) == {expected}
"""


# In a separate process, because a failure here corrupts memory.
@pytest.mark.slow
def test_a_report_may_count_regions_itself() -> None:
    folder = Path(regions.__file__).parent.parent
    assert subprocess.run([sys.executable, "-c", REENTRANT], cwd=folder).returncode == 0


# Each of these works for minutes, or until it is interrupted; it prints when it has begun, and how much it found.
SCRIPT = """
import sys
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
    network, domain = layers([2, *[1024] * 6, 1], gaussian), plane
elif name == "exact":  # a neuron and its triple cancel: all later neurons are zero, which only exact arithmetic can say
    network, domain = layers([2, *[128] * 4, 1], lambda shape: np.round(gaussian(shape) * 2**20) / 2**20), plane
    def both(rows, one, other):
        return np.stack([one * rows, other * rows], axis=1).reshape(-1, *rows.shape[1:])
    network[:-1] = [(both(w, 1, 3), both(b, 1, 3)) for w, b in network[:-1]]
    network[1:] = [(both(w.T, 3, -1).T, 0 * b) for w, b in network[1:]]
elif name == "lattice":  # many lines through each point
    network, domain = layers([2, *[1024] * 6, 1], signs), plane
else:
    network, domain = layers([2, *[512] * 20, 1], gaussian), regions.Segment([-1000, -1000], [1000, 999])
network = regions.Network(network)
reports = 0
def report(share, found):
    global reports
    reports += 1
    if reports == 3:
        print("at work", flush=True)
try:
    getattr(regions, function)(network, domain, progress=report)
except KeyboardInterrupt as stopped:
    partial = stopped.partial
    print(partial if isinstance(partial, int) else len(partial), flush=True)
"""
# Limit in seconds for work that takes a hundredth of a second, or a few seconds with sanitizers on a slow, busy
# machine.
PATIENCE = 300


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
@pytest.mark.parametrize("name", ["generic", "exact", "lattice", "line"])
@pytest.mark.parametrize("function", ["count", "enumerate"])
def test_ctrl_c(name: str, function: str) -> None:
    """A signal from outside ends any kind of work."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, name, function],
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
    assert int(output) >= 0 and child.returncode == 0


class TestThreads:
    def test_several_at_once(self) -> None:
        networks = [random_network([2, 40, 40, 1], seed, bias=0.1, he=True) for seed in range(8)]
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
        network = random_network([2, 100, 100, 1], 3, bias=0.1, he=True)
        expected = regions.count(network, SQUARE)

        def work(limit: int | None) -> int:
            try:
                return regions.count(network, SQUARE, limit=limit)
            except regions.LimitReached:
                return -1

        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(work, [None, 10, None, 20] * 5)) == [expected, -1, expected, -1] * 5

    @pytest.mark.slow
    def test_other_threads_run_meanwhile(self) -> None:
        """The work is done without holding the lock of the interpreter: another thread can end it."""
        folder = Path(regions.__file__).parent.parent
        done = subprocess.run([sys.executable, "-c", MEANWHILE], cwd=folder, timeout=PATIENCE)
        assert done.returncode == 0


# Ctrl-C comes from another thread, which could not run if the lock were held; no reports were requested. If the signal
# comes before the core has begun, it is repeated a little later.
MEANWHILE = """
import _thread, threading, time
import numpy as np
import regions
rng = np.random.default_rng(1)
sizes = [2, *[1024] * 6, 1]
pairs = zip(sizes, sizes[1:])
network = regions.Network([(rng.standard_normal((n, m)) / 16, rng.standard_normal(n)) for m, n in pairs])
square = regions.Polygon([[-9, -9], [9, -9], [9, 9], [-9, 9]])
def interrupt(delay):
    time.sleep(delay)
    _thread.interrupt_main()
delay, partial = 0.05, None
while partial is None:
    thread = threading.Thread(target=interrupt, args=[delay])
    try:
        thread.start()
        regions.count(network, square)
        raise SystemExit("the work has ended before the other thread could run")
    except KeyboardInterrupt as stopped:
        partial = getattr(stopped, "partial", None)
    thread.join()
    delay *= 2
"""


def test_work_in_many_dimensions_reports_at_once() -> None:
    """In a space of eight dimensions each vertex takes many long products. The first report does not wait for many."""
    rng = np.random.default_rng(3)
    net = Network([(rng.standard_normal((12, 8)), np.zeros(12)), (np.ones((1, 12)), [0.0])])
    seen: list[int] = []

    def stop(share: float, found: int) -> None:
        seen.append(found)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        regions.count(net, regions.Space(np.zeros(8), np.eye(8)), progress=stop)
    assert seen[0] < 300
