# SPDX-License-Identifier: MIT
"""Does `regions.watch` measure each checkpoint, whatever it comes as, and say what the columns claim?"""

from __future__ import annotations

import csv
import io
import math
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import regions
from regions import TrainingRecord, watch
from regions.domains import Line, Plane, Polygon, Segment
from regions.errors import DomainError, MissingDependencyError, ShapeMismatchError
from regions.network import Network

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
POINTS = [[0.5, 0.25], [-0.5, 0.75]]


def lines_at(*offsets: float) -> Network:
    """Units that switch where x is each of the offsets."""
    weights = np.tile([1.0, 0.0], (len(offsets), 1))
    return Network([(weights, -np.array(offsets)), (np.ones((1, len(offsets))), None)])


def test_exact_numbers() -> None:
    record = watch([lines_at(0.0), lines_at(0.0, 0.5)], SQUARE, points=POINTS, steps=[0, 7])
    first, second = record.rows
    assert (first.step, first.regions, first.regions_per_kink, first.boundary) == (0, 2.0, 2.0, 2.0)
    assert (first.density, first.density_per_kink, first.distance, first.distance_times_kinks) == (0.5, 0.5, 0.5, 0.5)
    assert (second.step, second.regions, second.regions_per_kink, second.boundary) == (7, 3.0, 1.5, 4.0)
    assert (second.density, second.density_per_kink) == (1.0, 0.5)
    assert (second.distance, second.distance_error, second.distance_times_kinks) == (0.25, 0.25, 0.5)
    assert repr(record) == "TrainingRecord(2 steps, 1 domain)"


def test_several_domains_are_averaged() -> None:
    short, long = Segment([-1, 0], [1, 0]), Segment([-1, 1], [5, 1])
    record = watch([lines_at(0.0, 2.0)], [short, long], points=POINTS)
    (row,) = record.rows
    assert (row.step, row.regions, row.boundary, row.density) == (0, 2.5, 1.5, 3 / 8)


def test_unbounded_domains_have_counts_but_no_density() -> None:
    (row,) = watch([lines_at(0.0, 2.0)], Line([0, 0], [1, 1]), points=POINTS).rows
    assert row.regions == 3 and math.isnan(row.density) and math.isnan(row.density_per_kink)
    (row,) = watch([lines_at(0.0)], Plane([0, 0], [1, 0], [0, 1]), points=POINTS).rows
    assert row.regions == 2 and row.boundary == math.inf
    with pytest.raises(DomainError, match="bounded"):
        watch([lines_at(0.0)], Line([0, 0], [1, 1]))


def test_a_network_without_boundary() -> None:
    (row,) = watch([Network([([[1.0, 1.0]], None)])], SQUARE).rows
    assert row.regions == 1 and row.boundary == 0 and math.isnan(row.distance)


def test_random_points_are_the_same_at_every_step() -> None:
    record = watch([lines_at(0.0), lines_at(0.0)], SQUARE)
    first, second = record.rows
    assert first.distance == second.distance == pytest.approx(0.5, abs=0.05)  # the mean of |x| on the square
    assert np.abs(record.points).max() <= 1 and len(record.points) == 500


def test_checkpoints_of_all_kinds(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 5), torch.nn.ReLU(), torch.nn.Linear(5, 1))
    torch.save(model.state_dict(), tmp_path / "model.pt")
    kinds = [model, model.state_dict(), tmp_path / "model.pt", regions.load(model)]
    record = watch(kinds, SQUARE, points=POINTS, activation="relu")
    assert len({(row.regions, row.boundary, row.distance) for row in record.rows}) == 1


def test_a_record_in_a_training_loop() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 5), torch.nn.ReLU(), torch.nn.Linear(5, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    record = TrainingRecord(SQUARE, points=POINTS)
    for step in range(3):
        record.record(step, model)
        optimizer.zero_grad()
        model(torch.ones(1, 2)).square().sum().backward()
        optimizer.step()
    assert [row.step for row in record.rows] == [0, 1, 2]
    assert len({row.distance for row in record.rows}) == 3  # what is recorded does not change with the model


def test_the_table_as_text_and_arrays(tmp_path: Path) -> None:
    record = watch([lines_at(0.1), lines_at(0.0, 1 / 3)], SQUARE, points=POINTS)
    text = record.to_csv(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text(encoding="utf-8") == text
    rows = list(csv.DictReader(io.StringIO(text)))
    columns = record.columns()
    for name, column in columns.items():
        assert [float(row[name]) for row in rows] == column.tolist()
    assert columns["regions"].dtype == np.float64
    lines = str(record).splitlines()
    assert len(lines) == 3 and len({len(line) for line in lines}) == 1


def test_the_plot(monkeypatch: pytest.MonkeyPatch) -> None:
    record = watch([lines_at(0.1), lines_at(0.0, 0.5)], SQUARE, points=POINTS)
    figure = record.plot()
    assert [len(ax.lines) for ax in figure.axes] == [1, 1, 1, 1]
    assert figure.axes[0].lines[0].get_ydata().tolist() == [2, 3]
    another = type(figure)()
    assert record.plot(another) is another and len(another.axes) == 4
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match="plot"):
        record.plot()


def test_what_is_refused() -> None:
    net = lines_at(0.0)
    for single in (net, "model.pt", {}, torch.nn.Sequential(torch.nn.Linear(2, 1)), 3):
        with pytest.raises(TypeError, match="sequence"):
            watch(single, SQUARE)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1 checkpoints and 2 steps"):
        watch([net], SQUARE, steps=[1, 2])
    for domain in ("square", [], [SQUARE, "square"], 3):
        with pytest.raises(TypeError, match="domain"):
            watch([net], domain)  # type: ignore[arg-type]
    with pytest.raises(ShapeMismatchError, match="separate calls"):
        watch([net], [SQUARE, Segment([0, 0], [1, 1])])
    for points in ([[1.0, 2.0, 3.0]], [1.0, 2.0], [[1.0, 2.0]]):
        with pytest.raises(ShapeMismatchError):
            watch([net], SQUARE, points=points)
