# SPDX-License-Identifier: MIT
"""Do answers on polylines agree with the answers on their legs?"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_maxima import MAX_FAMILIES
from polyline_judge import polyline_findings
from regions import Circle, Curve, LimitReached, Network, Polyline, Segment
from regions.errors import DomainError, ShapeMismatchError

ABSOLUTE = Network([([[1.0], [-1.0]], None), ([[1.0, 1.0]], None)])
THERE_AND_BACK = Polyline([[0.0], [2.0], [-2.0]])
AT_LEAST_ONE = [([[-1.0]], [-1.0])]
ANSWERS: list[Callable[..., Any]] = [
    regions.extremes,
    regions.statistics,
    regions.function,
    lambda net, domain, **options: regions.compare(net, net, domain, **options),
    lambda net, domain, **options: regions.verify(net, domain, [([[-1.0]], [0.5])], **options),
]


@pytest.mark.parametrize("family", [*FAMILIES, *MAX_FAMILIES])
def test_answers_on_polylines_are_those_of_the_reference(family: str) -> None:
    assert next(polyline_findings(*draw(family, 1, 2)), None) is None


def test_a_path_there_and_back() -> None:
    found = regions.extremes(ABSOLUTE, THERE_AND_BACK)
    assert found.exact_minimum == (0,) and found.exact_maximum == (2,)
    assert found.argmin_legs == [0] and found.argmax_legs == [0] and found.chart_argmax == [[0.5]]
    assert repr(found) == "Extremes([0, 2] on 3 regions of 2 legs)" and found.as_dict()["regions"] == 3
    moments = regions.statistics(ABSOLUTE, THERE_AND_BACK)
    assert moments.integral == pytest.approx([6.0]) and moments.mean == pytest.approx([1.0])
    assert moments.total_variation == pytest.approx([6.0]) and moments.share_above(1.0)[0] == pytest.approx(0.5)
    verdict = regions.verify(ABSOLUTE, THERE_AND_BACK, AT_LEAST_ONE)
    assert not verdict.holds and verdict.violated_share == pytest.approx(0.5) and verdict.margin == -1.0
    assert verdict.witness is not None and verdict.witness.leg == 0
    assert repr(moments) == "Statistics(1 output on 3 regions of 2 legs)"
    late = regions.verify(ABSOLUTE, Polyline([[0.0], [0.5], [3.0]]), AT_LEAST_ONE)
    assert late.witness is not None and late.witness.leg == 1
    other = Network([([[1.0], [-1.0]], None), ([[1.0, 0.5]], None)])
    compared = regions.compare(ABSOLUTE, other, THERE_AND_BACK)
    assert compared.max_difference == [1.0] and compared.regions == (2, 2, 2) and compared.disagreement == 0.0


def test_the_error_at_a_joint_covers_both_legs() -> None:
    points = [[1000.1], [0.3], [-0.7]]
    line = Network([([[1.0]], [-0.3])])
    found = regions.function(line, Polyline(points))
    first = found.partitions[0].domain
    end = Fraction(first.origin[0]) + Fraction(first.directions[0, 0]) - Fraction(0.3)
    assert end != 0  # the second leg begins at 0.3
    for exact in (end, Fraction(0)):
        assert abs(Fraction(found.values[1, 0]) - exact) <= Fraction(found.errors[1, 0])
    assert found.to_scipy()(0.75) == pytest.approx(found(0.75))


@pytest.mark.parametrize("answer", ANSWERS[:-1])
def test_the_limit_holds_for_all_legs_together(answer: Callable[..., Any]) -> None:
    shifted = Polyline([[-1.0], [1.5], [-1.5]])
    answer(ABSOLUTE, shifted, limit=4)
    with pytest.raises(LimitReached, match="more than 3 regions") as stopped:
        answer(ABSOLUTE, shifted, limit=3)
    assert stopped.value.limit == 3
    assert len(stopped.value.partial) == 2 and len(stopped.value.partial[0]) == 2


def test_a_verdict_on_the_first_leg_needs_no_others() -> None:
    """The limit is for the regions that are opened."""
    shifted = Polyline([[-1.0], [1.5], [-1.5]])
    found = regions.verify(ABSOLUTE, shifted, [([[-1.0]], [0.5])], limit=2)
    assert not found.holds and found.regions_met == 2
    with pytest.raises(LimitReached, match="more than 2 regions"):
        _ = found.violated_share


@pytest.mark.parametrize("answer", ANSWERS)
def test_arcs_and_other_spaces_are_refused(answer: Callable[..., Any]) -> None:
    plane = Network([(np.eye(2), None), ([[1.0, 1.0]], None)])
    with pytest.raises(DomainError, match="take a polyline through points of it"):
        answer(plane, Circle([0, 0], [1, 0], [0, 1]))
    with pytest.raises(ShapeMismatchError, match="the curve lies in a space of 1 dimensions, the network takes 2"):
        answer(plane, THERE_AND_BACK)


@pytest.mark.parametrize("answer", ANSWERS)
def test_one_leg_is_a_segment(answer: Callable[..., Any]) -> None:
    segment = Segment([-1.0], [2.0])
    assert answer(ABSOLUTE, Curve([segment], False)).to_json() == answer(ABSOLUTE, segment).to_json()


def test_a_polyline_has_several_partitions() -> None:
    found = regions.extremes(ABSOLUTE, THERE_AND_BACK)
    assert [len(part) for part in found.partitions] == [1, 2]
    with pytest.raises(DomainError, match=r"take partitions\[i\] instead of partition"):
        found.partition  # noqa: B018
