# SPDX-License-Identifier: MIT
"""Does `regions.watch` measure each checkpoint, of any type, and fill the columns correctly?"""

from __future__ import annotations

import csv
import io
import math
import pickle
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions import TrainingRecord, watch
from regions.domains import Line, Plane, Polygon, Segment
from regions.errors import DomainError, MissingDependencyError, NonFiniteError, RegionsError, ShapeMismatchError
from regions.measures import local_complexity
from regions.networks.network import Network

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
POINTS = [[0.5, 0.25], [-0.5, 0.75]]


def lines_at(*offsets: float) -> Network:
    """Return a network whose units switch where x is each of the offsets."""
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


def test_sign_twins() -> None:
    nets = [random_network([2, 5, 4, 1], seed=seed) for seed in (0, 1)]
    halves = [Polygon([[-1, -1], [1, -1], [1, 1]]), Polygon([[-1, -1], [1, 1], [-1, 1]])]
    record = watch(nets, halves, points=POINTS, twins=8)
    for row, net in zip(record.rows, nets, strict=True):
        counts = np.mean([regions.sign_twins(net, half, 8).counts for half in halves], axis=0)
        assert row.twin_regions == pytest.approx(counts.mean()) and row.twin_spread == pytest.approx(counts.std(ddof=1))
    assert list(record.columns())[-2:] == ["twin_regions", "twin_spread"]
    assert "twin_regions" not in watch(nets, SQUARE, points=POINTS).to_csv()
    assert (watch(nets, SQUARE, points=POINTS).rows[0].twin_regions) is None
    with pytest.raises(ValueError, match="twins must be"):
        watch(nets, SQUARE, points=POINTS, twins=1)


def test_each_checkpoint_is_measured_before_the_next_one_is_made() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    offsets = [(0.0, 2.0), (0.0, 0.5), (2.0, 3.0)]

    def trained_in_place() -> Iterator[object]:
        model[0].weight.data = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
        for pair in offsets:
            model[0].bias.data.copy_(-torch.tensor(pair))
            yield model

    record = watch(trained_in_place(), SQUARE, points=POINTS)
    assert [row.regions for row in record.rows] == [2, 3, 1]
    assert record.rows == watch([lines_at(*pair) for pair in offsets], SQUARE, points=POINTS).rows


def test_several_domains_are_averaged() -> None:
    short, long = Segment([-1, 0], [1, 0]), Segment([-1, 1], [5, 1])
    record = watch([lines_at(0.0, 2.0)], [short, long], points=POINTS)
    (row,) = record.rows
    assert (row.step, row.regions, row.boundary, row.density) == (0, 2.5, 1.5, 3 / 8)


def test_unbounded_domains_have_counts_but_no_density() -> None:
    record = watch([lines_at(0.0, 2.0)], Line([0, 0], [1, 1]), points=POINTS)
    (row,) = record.rows
    assert repr(record) == "TrainingRecord(1 step, 1 domain)"
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


@pytest.mark.parametrize("side", [1e-200, 1e-155, 1e154, 2e200])
def test_domains_that_a_double_cannot_measure_are_refused(side: float) -> None:
    tiny_or_huge = Polygon([[0, 0], [side, 0], [side, side], [0, side]])
    size = "small" if side < 1 else "large"
    for points in (None, POINTS):
        with pytest.raises(DomainError, match=f"Polygon.* is too {size}.*between 1e-300 and 1e\\+300"):
            TrainingRecord([SQUARE, tiny_or_huge], points=points)


@pytest.mark.parametrize("length", [2.0**-996, 2.0**996])
def test_domains_that_a_double_can_just_measure(length: float) -> None:
    (row,) = watch([lines_at(length / 2)], [Segment([0, 0], [length, 0])] * 100).rows
    assert (row.regions, row.boundary, row.density) == (2, 1, 1 / length)
    assert 0.2 < row.distance / length < 0.3


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-600, 2.0**600, 2.0**1000])
def test_distances_whose_squares_no_double_can_hold(scale: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (row,) = watch([lines_at(0.0, 0.0)], SQUARE, points=[[scale, 0], [3 * scale, 0]]).rows
    assert (row.distance, row.distance_error, row.distance_times_kinks) == (2 * scale, scale, 4 * scale)


def test_what_is_beyond_the_largest_double_is_refused() -> None:
    points = [[1.7e308, 0], [1.6e308, 0]]
    assert watch([lines_at(0.0)], SQUARE, points=points).rows[0].distance == pytest.approx(1.65e308)
    with pytest.raises(NonFiniteError, match="distance_times_kinks is beyond"):
        watch([lines_at(0.0, 0.0)], SQUARE, points=points)
    tall = Polygon([[0, 0], [1e-308, 0], [1e-308, 1.5e8], [0, 1.5e8]])
    with pytest.raises(NonFiniteError, match="density is beyond"):
        watch([lines_at(2e-309, 4e-309, 6e-309)], tall, points=POINTS)


def test_checkpoints_of_all_kinds(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(2, 5), torch.nn.ReLU(), torch.nn.Linear(5, 1))
    torch.save(model.state_dict(), tmp_path / "model.pt")
    kinds = [model, model.state_dict(), tmp_path / "model.pt", regions.load(model)]
    record = watch(kinds, SQUARE, points=POINTS, activation="relu")
    assert len({(row.regions, row.boundary, row.distance) for row in record.rows}) == 1


def test_a_record_in_a_training_loop() -> None:
    torch = pytest.importorskip("torch")
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


def test_sizes_and_local_complexity() -> None:
    nets = [lines_at(0.0), lines_at(0.0, 0.5)]
    assert [row.local_complexity for row in watch(nets, SQUARE, points=POINTS).rows] == [None, None]
    record = watch(nets, SQUARE, points=POINTS, radius=1.0)
    assert record.columns()["median_size"].tolist() == [2.0, 1.0]
    assert record.columns()["local_complexity"].tolist() == [
        local_complexity(net, POINTS, 1.0).counts.mean() for net in nets
    ]
    assert str(record).split()[10] == "local_complexity"
    wide = Network([(np.ones((1, 30)), None), ([[1.0]], None)])
    line = Segment(np.zeros(30), np.ones(30))
    rows = [watch([wide], line, points=np.zeros((2, 30)), radius=radius).rows for radius in (1.0, 1.0, 2.0)]
    assert rows[0] == rows[1] == rows[2] and rows[0][0].local_complexity == 1.0
    with pytest.raises(ValueError, match="radius must be"):
        watch(nets, SQUARE, points=POINTS, radius=0.0)


def test_whole_numbers_are_printed_whole() -> None:
    record = watch([lines_at(0.0)] * 4, SQUARE, points=[[1234567, 0], [1234569, 0]], steps=[1234567, 1234568, 0.1, -2])
    words = [line.split() for line in str(record).splitlines()[1:]]
    assert [row[0] for row in words] == ["1234567", "1234568", "0.1", "-2"]
    assert words[0][6:9] == ["1234568", "1", "1234568"] and words[0][4] == "0.5"
    (row,) = watch([lines_at(0.0)], SQUARE, points=[[1e300, 0], [1e300, 0]], steps=[2**60 + 1]).rows
    record.rows[:] = [row]
    assert str(record).split()[13::6][:2] == ["1152921504606846977", "1e+300"]


@pytest.mark.slow
def test_the_plot(monkeypatch: pytest.MonkeyPatch) -> None:
    record = watch([lines_at(0.1), lines_at(0.0, 0.5)], SQUARE, points=POINTS)
    figure = record.plot()[0].figure
    assert [len(ax.lines) for ax in figure.axes] == [1, 1, 1, 1]
    assert figure.axes[0].lines[0].get_ydata().tolist() == [2, 3]
    figure.draw_without_rendering()
    for ax in figure.axes:
        title = ax.title.get_window_extent()
        assert 0 <= title.x0 < title.x1 <= figure.bbox.width
    another = type(figure)()
    assert record.plot(another) == another.axes and len(another.axes) == 4
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match="plot"):
        record.plot()


@pytest.mark.parametrize("points", [[[0.0, 0.0], [0.0, 1.0]], [[0.5, 0.0], [-0.5, 1.0]]])
def test_the_plot_shades_two_errors_of_distances_that_may_be_zero(points: list[list[float]]) -> None:
    record = watch([lines_at(0.0, 0.25), Network([([[1.0, 1.0]], None)])], SQUARE, points=points)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = record.plot()[3]
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    mean, error = record.rows[0].distance, record.rows[0].distance_error
    assert (heights.min(), heights.max()) == (2 * mean - 4 * error, 2 * mean + 4 * error)


class TestStopping:
    """An exception in `watch` keeps its class, names the checkpoint, and carries the finished rows."""

    def check(self, partial: object, steps: list[float]) -> None:
        assert isinstance(partial, TrainingRecord)
        nets = [lines_at(*[0.0] * (index + 1)) for index in range(len(steps))]
        assert partial.rows == watch(nets, SQUARE, points=POINTS, steps=steps or None).rows

    def test_ctrl_c_between_checkpoints(self) -> None:
        def interrupted() -> Iterator[Network]:
            yield lines_at(0.0)
            yield lines_at(0.0, 0.0)
            signal.raise_signal(signal.SIGINT)

        with pytest.raises(KeyboardInterrupt) as stopped:
            watch(interrupted(), SQUARE, points=POINTS, steps=[5, 6, 7])
        self.check(stopped.value.partial, [5, 6])

    def test_ctrl_c_while_the_core_is_at_work(self) -> None:
        endless = random_network([2, 1024, 1024, 1024, 1], 1, bias=0.1, he=True)
        shares = []

        def report(share: float, found: int) -> None:
            shares.append(share)
            if found > 1000:
                signal.raise_signal(signal.SIGINT)

        with pytest.raises(KeyboardInterrupt) as stopped:
            watch([lines_at(0.0), endless], SQUARE, points=POINTS, progress=report)
        self.check(stopped.value.partial, [0])
        assert 0.5 <= shares[-1] < 1

    def test_ctrl_c_before_the_first_checkpoint(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("regions.studies.training.TrainingRecord", interrupted)
        with pytest.raises(KeyboardInterrupt) as stopped:
            watch([lines_at(0.0)], SQUARE)
        assert stopped.value.partial is None

    @pytest.mark.parametrize("error", [RuntimeError("out of memory"), KeyError("epoch"), SystemExit(3)])
    def test_errors_of_the_generator_are_left_as_they_are(self, error: BaseException) -> None:
        def failing() -> Iterator[Network]:
            yield lines_at(0.0)
            raise error

        text = str(error)
        with pytest.raises(type(error)) as stopped:
            watch(failing(), SQUARE, points=POINTS)
        assert stopped.value is error and str(error) == text
        self.check(error.partial, [0])

    @pytest.mark.parametrize(
        ("wrong", "kind", "message"),
        [
            (Network([(np.ones((1, 3)), None)]), ShapeMismatchError, "checkpoint 1 (step 0.5): the domain lies in a"),
            ("nowhere.pt", FileNotFoundError, "[Errno 2] checkpoint 1 (step 0.5): No such file or directory: 'nowh"),
            ("", RegionsError, "checkpoint 1 (step 0.5): "),
            (None, TypeError, "checkpoint 1 (step 0.5): "),
        ],
    )
    def test_a_wrong_checkpoint(self, wrong: object, kind: type[Exception], message: str, tmp_path: Path) -> None:
        if wrong == "":
            wrong = tmp_path / "wrong.pt"
            wrong.write_bytes(b"no checkpoint")
        with pytest.raises(kind) as stopped:
            watch([lines_at(0.0), wrong, lines_at(0.0)], SQUARE, points=POINTS, steps=[7, 0.5, 8])
        assert str(stopped.value).startswith(message) and str(stopped.value).count("checkpoint 1 (") == 1
        self.check(stopped.value.partial, [7])
        copy = pickle.loads(pickle.dumps(stopped.value))
        assert type(copy) is type(stopped.value) and copy.partial.rows == stopped.value.partial.rows

    @pytest.mark.parametrize("error", [MemoryError(), KeyError("layer"), RuntimeError("a", "b")])
    def test_errors_without_one_text(self, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
        def failing(*_: object) -> None:
            raise error

        arguments = error.args
        monkeypatch.setattr("regions.studies.training_record.load", failing)
        with pytest.raises(type(error)) as stopped:
            watch([lines_at(0.0), "model.pt"], SQUARE, points=POINTS)
        assert stopped.value is error and error.args == arguments
        self.check(error.partial, [0])

    @pytest.mark.parametrize(
        ("steps", "message"), [([1], "more checkpoints than the 1 steps"), ([1, 2, 3], "2 checkpoints and 3 steps")]
    )
    def test_a_generator_of_another_length_than_steps(self, steps: list[float], message: str) -> None:
        with pytest.raises(ValueError, match=message) as stopped:
            watch((lines_at(*[0.0] * count) for count in (1, 2)), SQUARE, points=POINTS, steps=steps)
        self.check(stopped.value.partial, steps[:2])


class TestProgress:
    def reports(self, checkpoints: object, **options: object) -> list[tuple[float, int]]:
        found = []
        watch(checkpoints, **options, progress=lambda *report: found.append(report))  # type: ignore[call-overload]
        return found

    def test_of_known_length(self) -> None:
        nets = [lines_at(0.0), lines_at(0.0, 0.5)]
        expected = [(0.5, 2), (1.0, 3)]
        assert self.reports(nets, domain=SQUARE) == expected
        assert self.reports(iter(nets), domain=SQUARE, steps=[3, 4]) == expected

    def test_of_a_generator_without_steps(self) -> None:
        nets = (lines_at(0.0) for _ in range(3))
        assert self.reports(nets, domain=SQUARE) == [(1.0, 2)] * 3

    @pytest.mark.slow
    def test_it_never_goes_back(self) -> None:
        nets = [random_network([2, 150, 150, 150, 1], seed, bias=0.1, he=True) for seed in (1, 2)]
        shares = [share for share, _ in self.reports(nets, domain=[SQUARE, SQUARE], points=POINTS)]
        assert shares == sorted(shares)
        assert shares[0] >= 0 and shares[-1] == 1 and 0.5 in shares

    @pytest.mark.slow
    def test_it_never_goes_back_while_the_core_is_at_work(self) -> None:
        """Ten reports of work that takes minutes."""
        nets = [lines_at(0.0), random_network([2, *[1024] * 5, 1], 1, bias=0.1, he=True)]
        shares: list[float] = []

        def report(share: float, found: int) -> None:
            shares.append(share)
            if len(shares) == 10:
                raise StopIteration

        with pytest.raises(StopIteration):
            watch(nets, [SQUARE, SQUARE], points=POINTS, progress=report)
        assert shares == sorted(shares) and shares[0] == 0.5 < shares[-1] < 0.75

    def test_a_bar(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FORCE_COLOR", "1")
        watch([lines_at(0.0)], SQUARE, points=POINTS, progress=True)
        printed = capsys.readouterr()
        assert "2 regions" in printed.err and not printed.out

    def test_wrong_arguments_are_refused(self) -> None:
        with pytest.raises(TypeError, match="progress"):
            watch([lines_at(0.0)], SQUARE, progress=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["a", None, True, [1], 1j, math.nan, math.inf, 10**400])
def test_steps_that_are_not_finite_numbers(wrong: object) -> None:
    kind = ValueError if isinstance(wrong, float) else TypeError
    with pytest.raises(kind, match=r"^steps\[1\] must be a"):
        watch(iter([]), SQUARE, points=POINTS, steps=[1, wrong])  # type: ignore[list-item]
    record = TrainingRecord(SQUARE, points=POINTS)
    with pytest.raises(kind, match="^step must be a"):
        record.record(wrong, lines_at(0.0))  # type: ignore[arg-type]
    assert not record.rows


@pytest.mark.parametrize("steps", [5, "12", {1: 2, 3: 4}])
def test_steps_that_are_not_a_sequence(steps: object) -> None:
    with pytest.raises(TypeError, match="steps must be a sequence of numbers, got"):
        watch([lines_at(0.0)] * 2, SQUARE, points=POINTS, steps=steps)  # type: ignore[arg-type]


def test_steps_of_all_kinds() -> None:
    steps = [np.int64(3), np.float32(0.5), np.array(7.0), 2**60 + 1]
    record = watch([lines_at(0.0)] * 4, SQUARE, points=POINTS, steps=steps)
    assert [row.step for row in record.rows] == [3, 0.5, 7, 2**60 + 1]
    assert [type(row.step) for row in record.rows] == [int, float, float, int]
    assert record.to_csv().splitlines()[4].startswith("1152921504606846977,")


def test_torch_of_all_kinds() -> None:
    torch = pytest.importorskip("torch")
    record = watch([lines_at(0.0)], SQUARE, points=POINTS, steps=[torch.tensor(7)])
    assert (record.rows[0].step, type(record.rows[0].step)) == (7, float)
    with pytest.raises(TypeError, match="sequence"):
        watch(torch.nn.Sequential(torch.nn.Linear(2, 1)), SQUARE)


def test_what_is_refused() -> None:
    net = lines_at(0.0)
    for single in (net, "model.pt", {}, 3):
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
