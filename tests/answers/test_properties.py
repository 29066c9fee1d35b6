# SPDX-License-Identifier: MIT
"""Which boxes and unsafe outputs does a property have, and which domains and slices?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from regions import Property, load_property
from regions.errors import CheckpointError, DomainError, FileTooLargeError, NonFiniteError, ShapeMismatchError
from regions.files import limits

DECLARED = "".join(f"(declare-const X_{i} Real)" for i in range(3)) + "(declare-const Y_0 Real)(declare-const Y_1 Real)"
BOX = "(assert (and (>= X_0 0) (<= X_0 1) (>= X_1 -1) (<= X_1 0.5) (<= X_2 2) (>= X_2 2)))"


def read(folder: Path, text: str) -> Property:
    file = folder / "property.vnnlib"
    file.write_text(DECLARED + text)
    return load_property(file)


def test_a_file_of_two_alternatives_with_one_box(tmp_path: Path) -> None:
    found = read(tmp_path, BOX + "(assert (or (<= Y_0 Y_1) (and (<= Y_0 3) (<= (+ Y_1 X_0 X_2) 4))))")
    assert found.lower.tolist() == [[0, -1, 2]] and found.upper.tolist() == [[1, 0.5, 2]]
    ((first, second),) = found.unsafe
    assert (first.outputs.tolist(), first.bounds.tolist(), first.inputs.tolist()) == ([[1, -1]], [0], [[0, 0, 0]])
    assert second.outputs.tolist() == [[1, 0], [0, 1]] and second.bounds.tolist() == [3, 4]
    assert second.inputs.tolist() == [[0, 0, 0], [1, 0, 1]]


def test_boxes_of_alternatives_stay_apart_and_empty_ones_are_dropped(tmp_path: Path) -> None:
    more = "(assert (or (and (<= X_0 0.25) (<= Y_0 0)) (and (>= X_0 (- 0.5)) (<= Y_0 0)) (and (>= X_0 7) (<= Y_0 0))))"
    found = read(tmp_path, BOX + more)
    assert found.lower[:, 0].tolist() == [0, 0] and found.upper[:, 0].tolist() == [0.25, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(assert (<= Y_0 0))", "input 0 has no lower bound"),
        (BOX.replace("(<= X_1 0.5)", "") + "(assert (<= Y_0 0))", "input 1 has no upper bound"),
        (BOX, "allow every output for some inputs"),
        (BOX + "(assert (<= Y_0 0)) (assert (<= X_0 -1))", "the bounds contradict each other"),
    ],
)
def test_properties_that_cannot_be_decided_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        read(tmp_path, text)


def test_a_limit_on_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_PROPERTY_NUMBERS", 10)
    with pytest.raises(FileTooLargeError, match="15 numbers, above the limit of 10"):
        read(tmp_path, BOX + "(assert (<= Y_0 0))")


def test_domains_have_exactly_the_corners_of_the_box() -> None:
    low, high = [0.1, 5.0, 0.3], [0.7, 5.0, 0.9]
    domain = Property([low], [high], [[([[1.0]], [0.0])]]).domain(0)
    assert domain.to_input(domain.generators[:, 1:]).tolist() == [
        [0.1, 5.0, 0.3],
        [0.7, 5.0, 0.3],
        [0.7, 5.0, 0.9],
        [0.1, 5.0, 0.9],
    ]
    segment = Property([low], [[0.7, 5.0, 0.3]], [[([[1.0]], [0.0])]]).domain(0)
    assert segment.to_input(segment.generators[:, 1:]).tolist() == [low, [0.7, 5.0, 0.3]]


def test_slices_fix_inputs_at_the_middle_or_where_they_are_told() -> None:
    unsafe = [[([[1.0]], [0.0])], [([[2.0]], [0.0])]]
    given = Property([[0, 0, 0], [2, 2, 2]], [[1, 1, 1], [3, 3, 3]], unsafe)
    middle = given.slice([2])
    assert middle.lower.tolist() == [[0.5, 0.5, 0], [2.5, 2.5, 2]] and len(middle) == 2
    told = given.slice([0, 1], at=[9, 9, 2.25])
    assert told.lower.tolist() == [[2, 2, 2.25]] and told.unsafe[0][0].outputs == 2
    with pytest.raises(DomainError, match=r"input 2 is 9.0, box 0 has it from 0.0 to 1.0"):
        given.slice([0, 1], at=[0, 0, 9])
    with pytest.raises(ShapeMismatchError, match="at has 2 values, the boxes have 3 inputs"):
        given.slice([0, 1], at=[0, 0])
    for wrong in ([0, 0], [0, 1, 2]):
        with pytest.raises(ValueError, match="one or two different inputs"):
            given.slice(wrong)


def test_boxes_that_are_no_domains() -> None:
    given = Property([[0] * 7, [1] * 7], [[1] * 7, [1] * 7], [[([[1.0]], [0.0])]] * 2)
    with pytest.raises(DomainError, match=r"box 0 has 7 free inputs.*prop.slice\(\[0, 1\]\)"):
        given.domain(0)
    with pytest.raises(DomainError, match="box 1 is a single point"):
        given.domain(1)


ONE = [[([[1.0]], [0.0])]]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0], [1], ONE), ShapeMismatchError, r"shape \[boxes, n_in\], got \[1\] and \[1\]"),
        (([[0]], [[1, 2]], ONE), ShapeMismatchError, r"got \[1, 1\] and \[1, 2\]"),
        (([[2]], [[1]], ONE), DomainError, "box 0, input 0: the lower bound 2.0 is above the upper bound 1.0"),
        (([[float("nan")]], [[1]], ONE), NonFiniteError, "lower"),
        (([[0]], [[1]], ONE * 2), ShapeMismatchError, "an item for each of the 1 boxes, got 2"),
        (([[0]], [[1]], [[]]), ValueError, "unsafe"),
        (([[0]], [[1]], [[([1.0], [0.0])]]), ValueError, "unsafe"),
        (([[0]], [[1]], [[([[1.0]], [0.0], [[1.0, 2.0]])]]), ValueError, "C must have as many rows as A and 1 columns"),
        (([[0]], [[1]], 3), TypeError, "unsafe"),
    ],
)
def test_arguments_that_do_not_fit(arguments: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Property(*arguments)


def test_the_middle_of_tiny_and_huge_boxes_is_inside() -> None:
    tiny, huge = np.nextafter(0, 1), np.finfo(float).max
    given = Property([[tiny, -huge, tiny]], [[tiny, huge, 2 * tiny]], ONE)
    assert ((given.lower <= given.middle) & (given.middle <= given.upper)).all()
    assert regions.Property is Property
