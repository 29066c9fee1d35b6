# SPDX-License-Identifier: MIT
"""Does any number of workers leave what one leaves: numbers, arrays, counters, errors?

Workers take parts of the work as they come, so each of these would see another order every time.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions.domains import Domain, Line, Polygon, Segment

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
NETWORK = random_network([2, 24, 24, 1], 1, bias=0.1, he=True)
# Millions of regions: whatever does not stop takes minutes and gigabytes.
ENDLESS = random_network([2, *[1024] * 5, 1], 1, bias=0.1, he=True)
SEVERAL = [2, 3, 7]


def lines(number: int) -> list[Domain]:
    ends = np.random.default_rng(3).standard_normal((number, 2, 2))
    return [Segment(start, end) for start, end in ends]


def squares(number: int) -> list[Domain]:
    return [Polygon(np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * 0.7**k) for k in range(number)]


class TestSeveralDomains:
    @pytest.mark.parametrize("workers", SEVERAL)
    @pytest.mark.parametrize("domains", [lines(30), [Line([0, k], [1, 1]) for k in range(5)], squares(9), [SQUARE], []])
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
            regions.count(ENDLESS, [squares(1)[0], *[SQUARE] * 5], limit=1000, workers=3)
        assert stopped.value.partial.tolist() == []

    @pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
    def test_what_a_report_raises_stops_all(self, error: type[BaseException]) -> None:
        reports: list[tuple[float, int]] = []

        def report(share: float, found: int) -> None:
            reports.append((share, found))
            if len(reports) == 5:
                raise error

        with pytest.raises(error) as stopped:
            regions.count(ENDLESS, [SQUARE] * 5, progress=report, workers=3)
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
            regions.count(ENDLESS, [SQUARE] * 5, progress=report, workers=3)
        assert counts == regions.count(NETWORK, squares(3)).tolist() * 2


class TestHowMany:
    @pytest.mark.parametrize("word", ["1", "2", "all", ""])
    def test_the_environment_says_so(self, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REGIONS_WORKERS", word)
        assert regions.count(NETWORK, lines(3)).tolist() == regions.count(NETWORK, lines(3), workers="all").tolist()

    @pytest.mark.parametrize("word", ["0", "-1", "many", "1.5", "9" * 30, "²"])
    def test_what_the_environment_may_not_say(self, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REGIONS_WORKERS", word)
        with pytest.raises(ValueError, match="REGIONS_WORKERS must be"):
            regions.count(NETWORK, SQUARE)
        assert regions.count(NETWORK, SQUARE, workers=1) > 1

    @pytest.mark.parametrize("workers", [0, -1, 1.5, "many", True, 10**6])
    def test_what_is_no_number_of_threads(self, workers: object) -> None:
        with pytest.raises((ValueError, TypeError), match='workers, if not "all", must be'):
            regions.count(NETWORK, SQUARE, workers=workers)


SCRIPT = """
import sys
import numpy as np
import regions
rng = np.random.default_rng(0)
sizes = [2, *[1024] * 6, 1]
pairs = zip(sizes, sizes[1:])
network = regions.Network([(rng.standard_normal((n, m)) / 16, rng.standard_normal(n)) for m, n in pairs])
plane = regions.Polygon([[-9, -9], [9, -9], [9, 9], [-9, 9]])
reports = 0
def report(share, found):
    global reports
    reports += 1
    if reports == 5:
        print("at work", flush=True)
try:
    {call}
except KeyboardInterrupt as stopped:
    print(stopped.partial, flush=True)
"""
# Seconds, for what takes a tenth of a second; with sanitizers on a slow machine that is busy, many.
PATIENCE = 300


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
@pytest.mark.parametrize("call", ["regions.count(network, [plane] * 9, progress=report, workers=4)"])
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
    assert output and child.returncode == 0
