# SPDX-License-Identifier: MIT
"""Do the benchmarks measure the right thing, compared with rivals that count correctly?"""

from __future__ import annotations

import json
import platform
import sys

import numpy as np
import pytest

import page
import regions
import run
import subnormal
from convolutional import CONVOLUTIONAL
from forward_pass import BLOCK, ForwardPass
from layered_breakpoints import count_on_segment
from regions import reference
from regions.results.definitions import DEFINITIONS
from workloads import WORKLOADS, Workload, build_layers, build_polygon, build_segment_ends

SMALL = Workload("small", (3, 8, 8, 8, 2), seed=5, n_segments=4)


def test_rival_on_lines_agrees_with_the_reference():
    layers = build_layers(SMALL)
    network = regions.Network(layers)
    for start, end in build_segment_ends(SMALL):
        expected = reference.count(network, regions.Segment(start, end))
        assert expected > 5
        assert count_on_segment(layers, np.array([start, end])) == expected


def test_rival_on_lines_without_hidden_layer():
    assert count_on_segment([(np.ones((1, 2)), np.zeros(1))], np.array([[0.0, -1.0], [1.0, 1.0]])) == 1


def test_yardstick_evaluates_the_network():
    layers = build_layers(SMALL)
    yardstick = ForwardPass(layers, n_points=BLOCK + 3)
    expected = regions.Network(layers)(yardstick.points)
    np.testing.assert_allclose(yardstick.evaluate(yardstick.points), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_points", [1, BLOCK - 1, BLOCK, 3 * BLOCK + 1])
def test_yardstick_evaluates_as_many_points_as_it_says(monkeypatch, n_points):
    seen = []
    monkeypatch.setattr(ForwardPass, "evaluate", lambda self, points: seen.append(len(points)))
    ForwardPass(build_layers(SMALL), n_points).run()
    assert sum(seen) == n_points


@pytest.mark.parametrize("name", ["p2_16x2", "p2_32x3", "digits"])
def test_small_workloads_have_the_known_number_of_regions(name):
    workload = WORKLOADS[name]
    network, domain = regions.Network(build_layers(workload)), build_polygon(workload)
    assert regions.count(network, domain) == workload.n_regions


def test_workloads_are_the_standard_ones():
    weights, biases = build_layers(WORKLOADS["p2_16x2"])[0]
    assert weights[0, 0] == np.float32(np.random.default_rng(1).standard_normal())
    assert biases.shape == (16,)
    assert weights.dtype == np.float64
    assert build_segment_ends(WORKLOADS["l784_256x4"]).shape == (100, 2, 784)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="interrupts of this processor")
def test_no_call_multiplies_subnormal_numbers(tmp_path):
    found = subnormal.measured("p2_32x3", subnormal.compiled(tmp_path), "count")
    assert {"enumerate", "extremes", "statistics", "level_set", "compare", "certify"} <= set(found)
    assert max(found.values()) <= subnormal.MOST_OPERATIONS


def test_every_case_names_a_kind_and_a_workload():
    for case in run.CASES:
        kind, *senses, workload = case.name.split("/") if "/" in case.name else (case.name, "")
        assert kind in run.UNITS
        assert kind == "import" or workload in WORKLOADS | CONVOLUTIONAL
        known = {
            "checkpoint": ("count", "enumerate"),
            "linear_regions": DEFINITIONS,
            "small": ("network", "polygon", "count", "first", "enumerate", "networks", "segments"),
            "wide": ("extremes", "margin"),
            "workers": ("count", "enumerate", "lines"),
        }
        assert not senses or senses[0] in known.get(kind, ())


@pytest.mark.parametrize(
    ("value", "bar"),
    [
        (1.0, "[            |            ] +0.0 dB"),
        (2.0, "[            |>>>         ] +3.0 dB"),
        (0.5, "[         <<<|            ] -3.0 dB"),
        (1e6, "[            |>>>>>>>>>>>>] +60.0 dB"),
    ],
)
def test_bar(value, bar):
    assert run.draw_bar(value, goal=1.0) == bar


def test_faults():
    case = run.Case("count/p2_16x2", goal=0.5)
    assert run.find_fault(case, {"regions": 468, "value": 0.5}, 468) is None
    assert run.find_fault(case, {"regions": 468, "value": 0.6}, 468) == "goal missed"
    assert run.find_fault(case, {"regions": 467, "value": 0.1}, 468) == "467 regions, but there are 468"
    assert run.find_fault(case, {"error": "MemoryError"}, 468) == "MemoryError"


def test_the_page_of_measurements_is_what_the_files_say():
    assert page.PAGE.read_text() == page.rendered()


def test_a_page_shows_all_machines_and_commits(monkeypatch, tmp_path):
    machine = {
        "processor": "P",
        "python": "Python",
        "blas": "",
        "load": "load 1.0",
        "commit": "c1",
        "date": "2026-01-02",
    }
    case = {
        "name": "count/p2_16x2",
        "goal": 0.5,
        "unit": "x forward pass",
        "regions": 468,
        "seconds": 0.001,
        "value": 0.75,
    }
    failed = {"name": "import", "goal": 0.5, "unit": "s", "error": "no such file"}
    files = {
        "a": {"machine": machine, "cases": [failed]},
        "b": {"machine": machine, "cases": [case | {"values": [0.5, 0.75, 1.0]}]},
        "instructions-1": {"commit": "c1", "date": "2026-01-02", "cases": [case | {"instructions": 46800}]},
        "instructions-2": {"commit": "c2", "date": "2026-01-03", "cases": []},
    }
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    monkeypatch.setattr(page, "MEASURED", tmp_path)
    lines = page.rendered().splitlines()
    assert "| case | regions | `c2`, 2026-01-03 | `c1`, 2026-01-02 |" in lines
    assert "| `count/p2_16x2` | 468 |  | 100 |" in lines
    assert "| `count/p2_16x2` | 468 | 1.0 ms | **0.75** (0.5 to 1) x forward pass | 0.5 |" in lines
    assert "| `import` |  |  | **no such file** |  |" in lines
    assert lines.count("## P") == 1
