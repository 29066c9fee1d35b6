# SPDX-License-Identifier: MIT
"""Is the report of a certification the same with any number of threads?"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import regions
from partition_cases import SQUARE
from random_networks import random_network
from regions.certification import signs, verdict
from regions.certification.signs import VertexSigns

BOX = regions.Box([-1, -1, -1], [1, 1, 1])


@pytest.fixture
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values in many small parts, which threads share."""
    monkeypatch.setattr(verdict, "SOON", 0)
    monkeypatch.setattr(signs, "CHUNK", 200)
    monkeypatch.setattr("regions.ground.threads.workers.SHORT", 0.0)


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("workers", [2, 5, "all"])
@pytest.mark.parametrize(
    ("sizes", "domain"),
    [
        ([2, 10, 10, 1], SQUARE),
        ([2, *[4] * 5, 1], SQUARE),
        ([2, 200, 1], regions.Segment([-1, 0], [1, 1])),
        ([3, 6, 1], BOX),
    ],
)
def test_the_same_report(sizes: list[int], domain: Any, workers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    net = random_network(sizes, 2)
    part = regions.enumerate(net, domain)
    seen, original = set[int](), VertexSigns._block

    def noted(self: Any, *args: Any) -> Any:
        seen.add(threading.get_ident())
        return original(self, *args)

    monkeypatch.setattr(VertexSigns, "_block", noted)
    one = regions.certify(part, net, workers=1)
    assert seen <= {threading.get_ident()}
    seen.clear()
    with np.errstate(all="raise"):
        assert regions.certify(part, net, workers=workers) == one
    assert seen - {threading.get_ident()}
    assert one.conclusion == f"proved: there are exactly {len(part)} regions"


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize(("sizes", "domain"), [([2, 10, 10, 1], SQUARE), ([3, 6, 1], BOX)])
def test_the_same_report_of_a_stream(sizes: list[int], domain: Any) -> None:
    net = random_network(sizes, 2)
    reports = []
    for workers in (1, 3):
        whole = regions.StreamCertification(net, domain, workers=workers)
        for block in regions.stream(net, domain, regions_per_block=100):
            whole.add(block)
        reports.append(whole.report())
    assert reports[0] == reports[1] and reports[0].conclusion.startswith("proved: there are exactly")


@pytest.mark.parametrize("workers", [0, -1, 1.5, "many", True])
def test_anything_but_a_number_of_threads_is_refused(workers: Any) -> None:
    net = random_network([2, 4, 1], 2)
    part = regions.enumerate(net, SQUARE)
    for call in (
        lambda: regions.certify(part, net, workers=workers),
        lambda: regions.StreamCertification(net, SQUARE, workers=workers),
    ):
        with pytest.raises((TypeError, ValueError), match="workers"):
            call()


@pytest.mark.usefixtures("many_parts")
def test_an_error_in_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any, *args: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(VertexSigns, "_block", broken)
    net = random_network([2, 10, 10, 1], 2)
    part = regions.enumerate(net, SQUARE)
    with pytest.raises(KeyboardInterrupt) as stopped:
        regions.certify(part, net, workers=3)
    assert stopped.value.partial.conclusion.startswith("no fault found: 0 of")
