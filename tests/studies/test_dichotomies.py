# SPDX-License-Identifier: MIT
"""Do labellings along a sweep of weights agree with known ones, and with the reference, in order?"""

from __future__ import annotations

from dataclasses import replace
from functools import cmp_to_key
from typing import Any

import numpy as np
import pytest

from regions import Dichotomies, Network, dichotomies
from regions.certification.reference.arcs import arc_pieces
from regions.counting.legs_counted import strands_of
from regions.domains.curves import QUARTERS, ArcLeg
from regions.errors import NonFiniteError, ShapeMismatchError
from regions.ground.arithmetic.quadratic import Root, compare
from regions.networks.derived import cut_off, with_swept_layer

LINEAR = Network([([[1.0, 0.0]], [0.0])])


def expected(
    net: Network, points: Any, weights: Any, layer: int, quarters: int, output: int
) -> tuple[list[tuple[bool, ...]], list[int]]:
    """Return labellings and transitions, from the pieces that the reference finds along chords."""
    swept = with_swept_layer(net, layer - 1, weights, output)
    arriving = points if layer == 1 else cut_off(net, layer - 1, readout=True)(points)
    events: list[tuple[int, Root, int]] = []
    first: list[bool] = []
    transitions = []
    for number, point in enumerate(arriving):
        labels: list[bool] = []
        for quarter in range(quarters):
            ends = QUARTERS[quarter : quarter + 2].copy()
            for piece in arc_pieces(swept, ArcLeg(np.zeros(2 * len(point)), np.kron(np.eye(2), point), ends)):
                if labels and labels[-1] != piece.pattern[-1]:
                    events.append((quarter, piece.start, number))
                labels.append(piece.pattern[-1])
        first.append(labels[0])
        transitions.append(sum(each[2] == number for each in events) + (quarters == 4 and labels[0] != labels[-1]))

    def compared(one: tuple[int, Root, int], other: tuple[int, Root, int]) -> int:
        return one[0] - other[0] or compare(one[1], other[1])

    events.sort(key=cmp_to_key(compared))
    labellings = [tuple(first)]
    for index, event in enumerate(events):
        if index and compared(events[index - 1], event) == 0:
            first = list(labellings.pop())
        else:
            first = list(labellings[-1])
        first[event[2]] ^= True
        labellings.append(tuple(first))
    return labellings, transitions


def random_case(seed: int) -> dict[str, Any]:
    """Return small networks, mostly with small integers or steps of 2^-50, so that many flips coincide or nearly do."""
    rng = np.random.default_rng(seed)
    kinds = [
        rng.standard_normal,
        lambda shape: rng.integers(-2, 3, shape).astype(float),
        lambda shape: rng.choice([-1.0, 0.0, 1.0, 2.0**-40, 1 + 2.0**-50], shape),
    ]
    draw: Any = kinds[seed % 3]
    activation = ["relu", "hardtanh", "abs", "leaky_relu(0.25)"][int(rng.integers(4))]
    sizes = [*rng.integers(1, 4, rng.integers(2, 5)).tolist(), 2]
    biased = float(rng.random() < 0.5)
    layers = [(draw((after, before)), draw(after) * biased) for before, after in zip(sizes, sizes[1:], strict=False)]
    net = Network(layers, activation=activation)
    points = draw((int(rng.integers(1, 5)), sizes[0]))
    if rng.random() < 0.3:
        points = np.concatenate([points, -points, 2 * points])
    layer = int(rng.integers(1, len(sizes)))
    arriving = points if layer == 1 else cut_off(net, layer - 1, readout=True)(points)
    points = points[arriving.any(axis=1)]  # in other cases the reference's chart is not a plane
    weights = draw((sizes[layer], sizes[layer - 1]))
    return {
        "network": net,
        "points": points,
        "weights": weights,
        "layer": layer,
        "quarters": int(rng.integers(1, 5)),
        "output_index": seed % 2,
    }


@pytest.mark.parametrize("pieces", [pytest.param(None, marks=pytest.mark.slow), 2])
def test_labellings_match_the_reference(monkeypatch: pytest.MonkeyPatch, pieces: int | None) -> None:
    if pieces:  # few are stored at a time, so arcs are halved many times
        monkeypatch.setattr("regions.studies.label_flips.MOST_BYTES", 200 * pieces)
        monkeypatch.setattr("regions.studies.label_flips.MOST_PARTS", 100)
    ties = 0
    for seed in range(40 if pieces else 200):
        case = random_case(seed)
        if not len(case["points"]):
            continue
        found = dichotomies(**case)
        labels, transitions = expected(*case.values())
        assert [tuple(row) for row in found.labels.tolist()] == labels, seed
        assert (found.transitions.tolist(), found.count) == (transitions, len(set(labels))), seed
        assert (np.diff(found.breakpoints) >= 0).all() and len(found.breakpoints) == len(labels) - 1
        ties += int(((found.labels[1:] != found.labels[:-1]).sum(axis=1) > 1).sum())
    assert ties > 10


def circle(points: Any, quarters: int = 4) -> Dichotomies:
    """Return a single neuron without bias, which takes each direction once."""
    return dichotomies(LINEAR, points, [[0.0, 1.0]], quarters=quarters)


@pytest.mark.parametrize("points", [1, 2, 7])
def test_a_half_plane_that_turns_gives_twice_as_many_labellings_as_points(points: int) -> None:
    """Cover 1965: s points in general position in the plane have 2 s homogeneous linear dichotomies."""
    found = circle(np.random.default_rng(points).standard_normal((points, 2)))
    assert found.count == 2 * points == len(found.breakpoints)
    assert found.transitions.tolist() == [2] * points


def test_points_on_one_ray_flip_at_once_and_opposite_ones_too() -> None:
    found = circle([[1.0, 2.0], [2.0, 4.0], [-1.0, -2.0]])
    assert found.count == 2 and found.labels[:3].tolist() == [[True, True, False], [False, False, True]] + [
        [True, True, False]
    ]


def test_the_order_is_decided_where_doubles_do_not_tell() -> None:
    for sign in (1, -1):
        found = circle([[1.0, 1.0], [1.0, 1.0 + sign * 2.0**-52], [1.0, 1.0]], quarters=2)
        between = [sign < 0, sign > 0, sign < 0]
        assert found.labels.tolist() == [[True] * 3, between, [False] * 3]


def test_flips_where_the_turn_begins_and_at_quarters() -> None:
    found = circle([[0.0, 1.0], [1.0, 0.0]])
    assert found.transitions.tolist() == [2, 2] and found.breakpoints.tolist() == [1.0, 2.0, 3.0]
    assert found.labels.tolist() == [[True, True], [True, False], [False, False], [False, True]]


def test_a_point_at_zero_has_one_label() -> None:
    net = Network([(np.eye(2), [1.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    found = dichotomies(net, np.zeros((1, 2)), np.ones((2, 2)))
    assert found.labels.tolist() == [[True]] and found.transitions.tolist() == [0] and found.breakpoints.size == 0


def test_sampled_sweeps_see_nothing_else() -> None:
    rng = np.random.default_rng(3)
    net = Network(
        [(rng.standard_normal((6, 4)), rng.standard_normal(6)), (rng.standard_normal((3, 6)), rng.standard_normal(3))],
        activation="hardtanh",
    )
    points, weights = rng.standard_normal((5, 4)), rng.standard_normal((6, 4))
    found = dichotomies(net, points, weights, output_index=2)
    (own, biases), (last, last_biases) = ((layer.weights, layer.biases) for layer in net.layers)
    for index, (start, end) in enumerate(zip([0.0, *found.breakpoints], [*found.breakpoints, 4.0], strict=True)):
        angle = (start + end) / 2 * np.pi / 2
        hidden = np.clip(points @ (np.cos(angle) * own + np.sin(angle) * weights).T + biases, -1, 1)
        assert ((hidden @ last[2] + last_biases[2]) > 0).tolist() == found.labels[index].tolist()


def test_random_walk_and_bounds() -> None:
    found = circle(np.random.default_rng(1).standard_normal((7, 2)))
    assert found.random_walk(0) == found.random_walk(0) <= 15
    assert (found.ceiling, found.sauer_shelah(2), found.sauer_shelah(7)) == (128, 29, 128)
    assert found.count <= found.sauer_shelah(2)
    assert str(found) == "14 of 128 labellings, 14 transitions"
    assert found.as_dict()["labels"][0] == "".join(str(int(label)) for label in found.labels[0])
    assert "14" in found._repr_html_()


def test_many_points_have_more_labellings_than_can_be_printed() -> None:
    two = circle([[1.0, 2.0], [1.0, 2.0]])
    found = replace(two, labels=two.labels.repeat(10_000, axis=1), transitions=two.transitions.repeat(10_000))
    assert str(found) == "2 of 2^20000 labellings, 40,000 transitions" and "2^20000" in found._repr_html_()
    assert '"ceiling": null' in found.to_json()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"points": [1.0, 2.0]}, ShapeMismatchError),
        ({"points": np.empty((0, 2))}, ShapeMismatchError),
        ({"points": [[1.0, np.nan]]}, NonFiniteError),
        ({"weights": [[1.0, 2.0, 3.0]]}, ShapeMismatchError),
        ({"weights": [[np.inf, 2.0]]}, NonFiniteError),
        ({"layer": 2}, ValueError),
        ({"layer": 0}, ValueError),
        ({"quarters": 5}, ValueError),
        ({"quarters": 1.5}, TypeError),
        ({"output_index": 1}, ValueError),
    ],
)
def test_wrong_arguments(change: dict[str, Any], error: type[Exception]) -> None:
    arguments: dict[str, Any] = {"points": [[1.0, 2.0]], "weights": [[1.0, 2.0]], **change}
    with pytest.raises(error, match=next(iter(change))):
        dichotomies(LINEAR, **arguments)


def test_progress_and_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []

    def found(*arguments: Any) -> Any:
        arguments[-1].report(1.0, 2)
        if len(shares) == 5:
            raise KeyboardInterrupt
        return strands_of(*arguments)

    monkeypatch.setattr("regions.studies.label_flips.strands_of", found)
    points = np.random.default_rng(1).standard_normal((3, 2))
    with pytest.raises(KeyboardInterrupt) as stopped:
        dichotomies(LINEAR, points, [[0.0, 1.0]], quarters=2, progress=lambda share, _: shares.append(share))
    assert np.array(shares) * 6 == pytest.approx([1, 2, 3, 4, 5]) and hasattr(stopped.value, "partial")
