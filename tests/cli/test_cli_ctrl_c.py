# SPDX-License-Identifier: MIT
"""Are results kept if Ctrl-C comes while they are summed up or written?"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import partial

import pytest

import regions
from cli_cases import A, B, C, model
from regions.cli import job, stops
from regions.domains import Polygon
from regions.measures import StreamSummary
from regions.results.partition import Partition

pytestmark = pytest.mark.usefixtures("in_folder_with_models")


@pytest.mark.parametrize("moment", ["added", "written"])
def test_ctrl_c_between_blocks(moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal comes after the first report of the core: the results so far are summed up and written."""
    network, domain = model(), Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    monkeypatch.setattr(job, "stream", partial(regions.stream, regions_per_block=10))
    written, add = [], StreamSummary.add

    def ctrl_c_and_add(summary: StreamSummary, block: Partition) -> None:
        if moment == "added" and not summary.regions:
            signal.raise_signal(signal.SIGINT)
        add(summary, block)

    def write(blocks: Iterator[Partition]) -> None:
        for block in blocks:
            if moment == "written" and not written:
                signal.raise_signal(signal.SIGINT)
            written.append(len(block))

    monkeypatch.setattr(StreamSummary, "add", ctrl_c_and_add)
    before = signal.getsignal(signal.SIGINT)
    outcome = job.run_stream(network, domain, None, 1, write)
    assert outcome.summary is not None
    assert outcome.regions == outcome.summary.regions == sum(written) >= 10
    assert outcome.end in ("interrupted", "complete")  # depends on when the core next reports
    with stops.held() as held:
        outcome = job.run_enumerate(network, domain, None, 2, held)
    assert (outcome.regions, outcome.partition) == (len(whole := regions.enumerate(network, domain)), whole)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_only_the_second_ctrl_c_ends_everything(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM comes twice from `timeout`, which sends it to the command and to its group."""
    add = StreamSummary.add

    def twice(summary: StreamSummary, block: Partition) -> None:
        for _ in range(2):
            signal.raise_signal(number)
        add(summary, block)

    def enumerated() -> job.Outcome:
        with stops.held() as held:
            return job.run_enumerate(model(), Polygon([A, B, C]), None, 1, held)

    monkeypatch.setattr(StreamSummary, "add", twice)
    for run in (lambda: job.run_stream(model(), Polygon([A, B, C]), None, 1, list), enumerated):
        stopped = False
        try:
            assert run().regions > 0
        except KeyboardInterrupt:
            stopped = True
        assert stopped == (number == signal.SIGINT)
