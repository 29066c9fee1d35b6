# SPDX-License-Identifier: MIT
"""Do reachable sets, inclusions and decreases of loops agree with rational arithmetic?"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import regions
from exact_passes import exact_outputs
from generators import draw
from loop_judge import loop_findings
from regions import LimitReached, Line, Network, Polygon, Segment, closed_loop, decrease, image, iterate
from regions.answers.polar_forms import greatest
from regions.errors import DomainError, NetworkError, ShapeMismatchError

FAMILIES = ("strips", "ternary_weights", "zero_bias", "layer_off", "idle_neurons", "sparse", "leaky")
SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
NEAR = Polygon([[-0.25, -0.25], [0.25, -0.25], [0.25, 0.25], [-0.25, 0.25]])
FEEDBACK = Network([([[-1.0, -2.0]], [0.0]), ([[1.0]], [0.0])], activation="hard_tanh")
LOOP = closed_loop(FEEDBACK, A=[[1.0, 0.5], [0.0, 1.0]], B=[[0.0], [0.5]])
EYE = np.eye(2)


def linear(matrix: Any, constant: Any = None) -> Network:
    return Network([(matrix, constant)])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dimension", [1, 2])
def test_loops_are_those_of_rational_arithmetic(family: str, dimension: int) -> None:
    assert list(loop_findings(*draw(family, dimension, 1))) == []


def test_states_after_many_steps_are_within_their_bounds() -> None:
    found = iterate(LOOP, SQUARE, 12)
    assert len(found) == 13 and found.images[0].vertices.tolist() == SQUARE.generators[:, 1:].tolist()
    assert max(each.errors.max() for each in found.images) < 1e-9
    last = found.images[-1]
    for vertex, errors, place in zip(last.vertices, last.errors, last.partition.exact_vertices(), strict=True):
        state = place
        for _ in range(12):
            state = tuple(exact_outputs(LOOP.graph, SQUARE, state))
        moved = (abs(Fraction(x) - y) for x, y in zip(vertex, state, strict=True))
        assert all(x <= Fraction(error) for x, error in zip(moved, errors, strict=True))
    assert (found.maximum[1:] >= -found.minimum[1:] - 1e-9).all()  # the loop is odd
    assert (np.diff(found.volumes) < 0).all()


def test_reports_of_an_iteration() -> None:
    found = iterate(LOOP, SQUARE, 5)
    assert repr(found) == f"Iteration(5 steps, 1, 3, 5, 7, .., {len(found.images[5].partition)} regions)"
    facts = json.loads(found.to_json())
    assert facts["regions"] == [len(each.partition) for each in found.images] and len(facts["maximum"]) == 6
    assert "ranges of the coordinates" in found._repr_html_()
    axes = found.plot()
    assert [text.get_text() for text in axes.get_legend().get_texts()][:2] == ["after 0 steps", "after 1 step"]
    with pytest.raises(ValueError, match="this one has 1 coordinate"):
        iterate(linear([[0.5]]), Segment([0.0], [1.0]), 1).plot()


def test_iterations_that_are_refused() -> None:
    with pytest.raises(ShapeMismatchError, match="a loop maps states to states, and this network has 2 inputs and 1"):
        iterate(FEEDBACK, SQUARE, 2)
    with pytest.raises(DomainError, match="reachable sets exist in bounded domains"):
        iterate(LOOP, Line([0, 0], [1, 0]), 2)
    with pytest.raises(ValueError, match="steps"):
        iterate(LOOP, SQUARE, 0)
    with pytest.raises(LimitReached):
        iterate(LOOP, SQUARE, 5, limit=4)


def test_inclusion_is_decided_to_the_last_bit() -> None:
    third = Network([([[1.0, 1.0]], [0.0]), ([[1.0], [0.0]], [0.0, 0.0])])
    for end, holds in ((2.0, True), (np.nextafter(2.0, 0.0), False)):
        box = Polygon([[0.0, -1.0], [end, -1.0], [end, 1.0], [0.0, 1.0]])
        found = image(third, SQUARE).inside(box)
        assert found.holds is holds and abs(found.margin) <= found.errors + (not holds) * 2.0**-52
        assert (found.witness is None) is holds
    assert found.witness is not None
    assert found.witness.outputs == (2, 0) and found.witness.point == (1, 1)
    assert found.witness.replayed and found.witness.replayed_float32
    assert json.loads(found.to_json())["witness"]["outputs"] == [2.0, 0.0]
    assert repr(found).startswith("Inclusion(violated, margin ") and "no" in found._repr_html_()


def test_inclusion_in_a_turned_and_mirrored_chart() -> None:
    # The sides of this polygon are not doubles, because its corners are sums and products of doubles.
    for sign in (1.0, -1.0):
        directions = np.array([[0.1, 0.7], [-0.7, 0.1]]) * [[1.0], [sign]]
        corners = [[-3.0, -3.0], [3.0, -3.0], [3.0, 3.0], [-3.0, 3.0]]
        wide = Polygon.in_chart([0.1, 0.2], directions, corners)
        assert image(linear(EYE), wide).inside(wide).holds
        moved = image(linear(EYE, [2.0**-40, 0.0]), wide).inside(wide)
        assert not moved.holds and moved.margin == pytest.approx(-(2.0**-40) * 0.7 / np.hypot(0.1, 0.7), rel=1e-2)


def test_inclusions_that_are_refused() -> None:
    found = image(LOOP, SQUARE)
    with pytest.raises(DomainError, match="polygon must be a polygon in a space of 2 dimensions"):
        found.inside(Segment([0.0], [1.0]))
    with pytest.raises(DomainError, match="polygon is unbounded"):
        found.inside(regions.Plane([0, 0], [1, 0], [0, 1]))
    with pytest.raises(DomainError, match="no segment or polygon fills a space of more than 2 dimensions"):
        image(linear(np.ones((3, 2))), SQUARE).inside(SQUARE)
    with pytest.raises(TypeError):
        found.inside([[0, 0], [1, 0], [0, 1]])


def test_a_maximum_inside_a_region() -> None:
    # V(x+) - V(x) is 1/4 - |x|^2: it is negative on the boundary.
    found = decrease(linear(np.zeros((2, 2)), [0.5, 0.0]), SQUARE, quadratic=EYE)
    assert not found.holds and found.change == Fraction(1, 4) and found.bound is None
    assert found.witness is not None and found.witness.point == (0, 0) and found.witness.outputs == (0.5, 0)
    assert found.witness.replayed and json.loads(found.to_json())["change"] == 0.25
    assert repr(found) == "Decrease(violated, a change of 0.25 on 1 region)"
    beyond = decrease(linear(np.zeros((2, 2)), [0.125, 0.0]), SQUARE, quadratic=EYE, without=NEAR)
    assert beyond.holds and beyond.bound == 0.125**2 - 0.25**2  # at the middle of a side of the hole
    assert repr(beyond) == "Decrease(holds, by at least 0.046875 on 1 region)" and "yes" in beyond._repr_html_()


def test_the_boundary_of_the_hole_counts() -> None:
    identity = linear(EYE)
    assert decrease(identity, SQUARE, quadratic=EYE, without=NEAR).change == 0
    # The change is 1/16 - |x|^2, which is 0 on a circle that touches the hole from inside.
    touching = decrease(linear(np.zeros((2, 2)), [0.25, 0.0]), SQUARE, quadratic=EYE, without=NEAR)
    assert not touching.holds and touching.change == 0
    wider = Polygon([[-0.26, -0.26], [0.26, -0.26], [0.26, 0.26], [-0.26, 0.26]])
    assert decrease(linear(np.zeros((2, 2)), [0.25, 0.0]), SQUARE, quadratic=EYE, without=wider).holds


def test_piecewise_linear_candidates() -> None:
    forms = [[1, 0], [-1, 0], [0, 1], [0, -1]]
    shrinking = linear([[0.5, 0.25], [0.0, 0.5]])
    found = decrease(shrinking, SQUARE, forms=forms, without=NEAR)
    assert found.holds and found.bound == -0.0625
    network = Network([(np.vstack([EYE, -EYE]), None), ([[1.0, 1.0, 1.0, 1.0]], [0.0])])  # |x| + |y|
    assert decrease(shrinking, SQUARE, candidate=network, without=NEAR).holds
    assert decrease(linear([[1.0, 0.0], [0.0, 0.5]]), SQUARE, candidate=network, without=NEAR).change == 0
    assert not decrease(shrinking, SQUARE, forms=[[1.0, 0.0]], without=NEAR).holds
    on_line = decrease(linear([[0.5]]), Segment([0.0], [1.0]), forms=[[1.0]], without=Segment([-1.0], [0.5]))
    assert on_line.holds and on_line.bound == -0.25


def test_most_regions_are_decided_by_bounds() -> None:
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(16, 2)), rng.normal(size=16)
    loop = closed_loop(Network([weights, (0.01 * rng.normal(size=(2, 16)), None)]), A=[[0.6, 0.2], [-0.2, 0.6]])
    found = decrease(loop, SQUARE, quadratic=EYE, without=NEAR)
    assert found.holds and len(found.partition) > 40 and found.exact < len(found.partition) / 4
    points = rng.uniform(-1, 1, (2000, 2))
    points = points[(np.abs(points) >= 0.25).any(axis=1)]
    changes = (loop(points) ** 2).sum(axis=1) - (points**2).sum(axis=1)
    assert found.bound is not None and changes.max() <= found.bound


def test_decreases_that_are_refused() -> None:
    for arguments, error, message in (
        ({}, ValueError, "pass one of quadratic=, forms= and candidate=, got 0"),
        ({"quadratic": EYE, "forms": EYE}, ValueError, "got 2 of them"),
        ({"quadratic": [[1.0, 1.0], [0.0, 1.0]]}, ValueError, "quadratic must be symmetric"),
        ({"quadratic": [[1.0]]}, ShapeMismatchError, r"quadratic must have shape \[2, 2\]"),
        ({"quadratic": "x"}, NetworkError, "quadratic"),
        ({"forms": [1.0, 2.0]}, ShapeMismatchError, r"forms must have shape \[k, 2\]"),
        ({"candidate": LOOP}, ShapeMismatchError, "candidate must have 2 inputs and 1 output, got 2 inputs and 2"),
        ({"quadratic": EYE, "without": SQUARE}, DomainError, "at x"),
        ({"quadratic": EYE, "without": Segment([0.0], [1.0])}, DomainError, "without must be a polygon"),
    ):
        if message == "at x":  # closed squares of equal size leave the boundary
            assert decrease(linear(0.5 * EYE), SQUARE, **arguments).holds
            continue
        with pytest.raises(error, match=message):
            decrease(LOOP, SQUARE, **arguments)
    larger = Polygon([[-2, -2], [2, -2], [2, 2], [-2, 2]])
    with pytest.raises(DomainError, match="without: nothing is left of the domain"):
        decrease(LOOP, SQUARE, quadratic=EYE, without=larger)
    with pytest.raises(DomainError, match="decisions about decrease exist in bounded domains"):
        decrease(LOOP, Line([0, 0], [1, 0]), quadratic=EYE)


def test_the_greatest_value_on_a_degenerate_polygon() -> None:
    def product(a: tuple[Fraction, ...], b: tuple[Fraction, ...]) -> Fraction:
        return -(a[0] * b[0] + a[1] * b[1])

    flat = [(Fraction(1), Fraction(0)), (Fraction(2), Fraction(0)), (Fraction(2), Fraction(0))]
    assert greatest(flat, flat, product) == (-1, flat[0])
    across = [(Fraction(-1), Fraction(1)), (Fraction(3), Fraction(1))]
    assert greatest(across, across, product) == (-1, (0, 1))
