# SPDX-License-Identifier: MIT
"""Does the table of bounds describe the functions correctly, and is it complete?"""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from regions import bounds
from regions.bounds import BOUNDS, Bound
from regions.errors import BoundDoesNotApply

FACTS = {
    "breakpoints": 1,
    "rank": 2,
    "ranks": [4],
    "c_grad": 1,
    "c_bias": 1,
    "c_manifold": 1,
    "constant": 1,
    "volume": 1,
    "codimension": 1,
    "radius": 1.0,
    "weight_std": 1.0,
    "bias_std": 1.0,
    "sigma_w": 1.0,
    "sigma_b": 0.0,
    "distribution": "gaussian",
    "scale": 1.0,
    "alpha": 1.0,
    "dimension": 1,
    "low": -1.0,
    "high": 1.0,
    "offset": 0.5,
    "slope": 0.0,
}
# Every lower bound of this table allows two units per input; Serra's need three.
SHAPES = [(1, [4]), (2, [8])]
# These hold for every shape. `regions.check` refuses them by activations, or because they are about means.
EVERY_SHAPE = {
    *("trivial", "raghu", "raghu_hard_tanh[2k]", "raghu_hard_tanh[pairs]", "montufar2017", "serra2018_upper"),
    *("hinz_vandegeer", "maxout_serra", "maxout_montufar_ren_zhang"),
    *("gaines_bi_degree", "gaines_bi_min_degree", "gaines_bi_diameter"),
    *("hanin_rolnick_expected", "hanin_rolnick_volume", "hanin_rolnick_distance", "tiwari_konidaris_volume"),
    *("expected_decision_pieces", "expected_regions", "expected_closed_share"),
    *("expected_regions_wide_line", "expected_length_relu_exact", "expected_volume_relu_exact", "price_tanner"),
}


def of(name: str) -> Bound:
    (bound,) = (bound for bound in BOUNDS if bound.name == name)
    return bound


def test_names_are_unique() -> None:
    assert len({bound.name for bound in BOUNDS}) == len(BOUNDS)
    assert of("raghu_hard_tanh[2k]").function is of("raghu_hard_tanh[pairs]").function is bounds.raghu_hard_tanh


def test_every_function_of_a_shape_is_in_the_table() -> None:
    shaped = {
        name
        for name in bounds.__all__
        if inspect.isfunction(function := getattr(bounds, name))
        and list(inspect.signature(function).parameters)[:2] == ["n_in", "widths"]
    }
    assert shaped - {bound.function.__name__ for bound in BOUNDS} == {"generic_faces"}  # a tuple, not one number


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.name)
def test_rows(bound: Bound) -> None:
    arguments = set(inspect.signature(bound.function).parameters) - {"n_in", "widths"}
    assert arguments == {*bound.needs, *bound.takes, *dict(bound.fixed)}
    assert set(bound.needs) | set(bound.takes) <= set(FACTS)
    assert len({*bound.needs, *bound.takes}) == len(bound.needs) + len(bound.takes)
    assert bound.source
    assert bound.name == "trivial" or (bound.function.__doc__ or "").count("References\n") == 1
    exact = bound.kind in ("upper", "lower", "best")
    values = []
    for n_in, widths in SHAPES:
        try:
            values.append(bound.value(n_in, widths, **FACTS))
        except BoundDoesNotApply:
            continue
    assert values
    assert all(isinstance(value, int) if exact else isinstance(value, (float, Fraction)) for value in values)
    if bound.needs:
        with pytest.raises(BoundDoesNotApply, match=f"{bound.needs[0]}"):
            bound.value(2, [4])


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.name)
def test_shapes_are_refused_with_the_reason(bound: Bound) -> None:
    reasons = []
    for n_in, widths in [(2, [1]), (2, [5, 3]), (3, [4, 4, 2])]:
        facts = {**FACTS, "ranks": [1] * len(widths)}
        try:
            bound.value(n_in, widths, **facts)
        except BoundDoesNotApply as refused:
            reasons.append(str(refused))
    assert bool(reasons) == (bound.name not in EVERY_SHAPE)
    assert all(len(reason) > 15 for reason in reasons)


def test_rows_cannot_be_changed_and_travel() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        BOUNDS[0].kind = "lower"
    assert pickle.loads(pickle.dumps(BOUNDS)) == BOUNDS


def test_after_each_layer() -> None:
    serra = of("serra2018_upper")
    assert serra.after_each_layer(2, [4, 4, 4]) == (11, 121, 1331)
    assert serra.after_each_layer(2, [4, 4], ranks=[1, 4]) == (5, 55)
    assert serra.after_each_layer(2, [4, 4], ranks=np.array([1, 4])) == (5, 55)
    assert of("raghu").after_each_layer(2, [4, 4], breakpoints=(1, 2)) == (11, 363)
    with pytest.raises(BoundDoesNotApply, match="one hidden layer"):
        of("zaslavsky").after_each_layer(2, [4, 4])


def test_bad_facts_are_refused_like_bad_arguments() -> None:
    with pytest.raises(ValueError, match="breakpoints must be at least 0"):
        of("raghu").value(2, [4], breakpoints=-1)


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.name)
def test_too_many_breakpoints_are_refused(bound: Bound) -> None:
    if bound.activations in ("any", "maxout"):
        return
    most = 2 if bound.activations in ("two breakpoints", "hard_tanh") else 1
    for breakpoints in (most + 1, [most + 1], np.array([most + 1])):
        with pytest.raises(BoundDoesNotApply, match=f"at most {most} breakpoints, here breakpoints has {most + 1}"):
            bound.value(1, [4], **{**FACTS, "breakpoints": breakpoints})


def test_breakpoints_of_single_layers() -> None:
    serra = of("serra2018_upper")
    assert serra.value(2, [4, 4], breakpoints=[1, 0]) == serra.value(2, [4, 4]) == 121
    with pytest.raises(BoundDoesNotApply, match="serra2018_upper is for units with at most 1 breakpoints"):
        serra.value(2, [4, 4], breakpoints=[1, 2])
    assert serra.after_each_layer(2, [4, 4], breakpoints=[1, 1]) == (11, 121)


def test_the_pages_name_every_bound() -> None:
    docs = Path(__file__).resolve().parent.parent.parent / "docs"
    page = "".join(
        (docs / f"{name}.md").read_text(encoding="utf-8") for name in ("bounds", "bounds-for-random-networks")
    )
    functions = [name for name in bounds.__all__ if inspect.isfunction(getattr(bounds, name))]
    assert len(functions) > 40
    assert [name for name in functions if f"`{name}`" not in page] == []
