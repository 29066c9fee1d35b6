# SPDX-License-Identifier: MIT
"""Does `verify_property` decide each box as `verify` does, by bounds and by the regions?"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from polytope_cases import he_normal
from regions import Network, Property, verify, verify_property
from regions.answers import bisection, property_verdict
from regions.answers.unsafe_sets import as_polytopes
from regions.errors import LimitReached, ShapeMismatchError, TimeoutReached, VerdictNotDecided

CROSS = Network([(np.vstack([np.eye(3), -np.eye(3)]), None), (np.ones((1, 6)), None)])  # |x| + |y| + |z|
LARGE = [([[-1.0]], [-2.0])]  # y >= 2 is unsafe


def drawn_property(net: Network, rng: np.random.Generator, boxes: int) -> Property:
    """Return boxes with at most two free inputs, and polytopes near the values there; some corners lie exactly on their
    boundary.
    """
    lower = rng.integers(-2, 3, (boxes, net.n_in)) / 2
    upper = lower.copy()
    for box in range(boxes):
        free = rng.permutation(net.n_in)[: rng.integers(0, 3)]
        upper[box, free] += rng.integers(1, 4, len(free)) * rng.choice([0.5, 0.125])
    unsafe = []
    for corner in lower:
        rows = rng.integers(-1, 2, (int(rng.integers(1, 3)), net.n_out)).astype(float)
        of_inputs = rng.integers(-1, 2, (len(rows), net.n_in)).astype(float) * (rng.random() < 0.3)
        bounds = rows @ net(corner) + of_inputs @ corner + rng.choice([0.0, 0.0, 0.25, -0.25])
        unsafe.append([(rows, bounds, of_inputs)])
    return Property(lower, upper, unsafe)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_bounds_decide_as_regions_do(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng([2, *family.encode()])
    net, _ = draw(family, 2, 0)
    given = drawn_property(net, rng, 8)
    found = verify_property(net, given)
    monkeypatch.setattr(property_verdict, "_decided_by_bounds", lambda net, given: np.zeros(len(given), dtype=bool))
    again = verify_property(net, given)
    assert (found.violated == again.violated).all() and found.box == again.box
    assert (found.violated_shares == again.violated_shares).all()
    assert not (found.by_bounds & found.violated).any() and found.holds == (not found.violated.any())


def test_a_box_is_decided_as_its_domain() -> None:
    net, rng = draw("generic", 2, 3)[0], np.random.default_rng(3)
    given = drawn_property(net, rng, 40)
    found, free = verify_property(net, given), (given.lower < given.upper).sum(axis=1)
    assert 0 < found.violated.sum() < 40 and found.by_bounds.any()
    for box in np.flatnonzero(free > 0).tolist():
        alone = verify(net, given.domain(box), given.unsafe[box])
        assert alone.holds == (not found.violated[box]) and alone.violated_share == found.violated_shares[box]
    for box in np.flatnonzero(free == 0).tolist():
        unsafe = [
            (A @ net(given.lower[box]) + C @ given.lower[box] <= b + 1e-9).all() for A, b, C, _ in given.unsafe[box]
        ]
        assert found.violated_shares[box] in (0.0, 1.0) and (not found.violated[box] or any(unsafe))


def test_the_witness_of_a_point_and_of_an_inequality_with_inputs() -> None:
    point = Property([[1.0, 0.5, -0.5]], [[1.0, 0.5, -0.5]], [LARGE])
    found = verify_property(CROSS, point)
    assert found.violated.tolist() == [True] and found.violated_shares == 1.0 and found.witness is not None
    assert found.witness.outputs == (2,) and found.witness.replayed and found.witness.replayed_float32
    # y - x >= 1.75 is unsafe; on this segment y = |x| + 1.
    mixed = Property([[-1, 0.5, 0.5]], [[1, 0.5, 0.5]], [[([[-1.0]], [-1.75], [[1.0, 0.0, 0.0]])]])
    assert verify_property(CROSS, mixed).violated_shares == (1 - 0.375) / 2


def test_a_witness_can_be_lost_in_float32() -> None:
    large = 1 + 2.0**-40
    found = verify_property(CROSS, Property([[0, 0, 0]], [[large, 0, 0]], [[([[-1.0]], [-large])]]))
    assert found.witness is not None and found.witness.replayed and not found.witness.replayed_float32


def test_boxes_with_more_free_inputs_are_decided_by_bounds_or_refused() -> None:
    wide = Network([(np.vstack([np.eye(7), -np.eye(7)]), None), (np.ones((1, 14)), None)])
    easy = Property([[-0.1] * 7], [[0.1] * 7], [LARGE])
    assert verify_property(wide, easy).by_bounds.all()
    corner = verify_property(wide, Property([[-1.0] * 7], [[1.0] * 7], [[([[-1.0]], [-7.0])]]))
    assert corner.witness is not None and corner.witness.outputs == (7,) and corner.violated.all()
    found = verify_property(CROSS, Property([[-1.0] * 3], [[1.0] * 3], [LARGE]))
    assert abs(found.violated_shares[0] - 1 / 6) <= found.errors[0]


def test_arguments_that_do_not_fit() -> None:
    with pytest.raises(TypeError, match="expected a property, as from regions.load_property, got list"):
        verify_property(CROSS, [LARGE])  # type: ignore[arg-type]
    with pytest.raises(ShapeMismatchError, match="about 1 inputs and 1 outputs, the network has 3 and 1"):
        verify_property(CROSS, Property([[0.0]], [[1.0]], [LARGE]))


def test_progress_and_reports() -> None:
    seen: list[float] = []
    given = Property([[-1, -1, 0]] * 2, [[1.5, 1, 0]] * 2, [LARGE, [([[-1.0]], [-2.25])]])
    found = verify_property(CROSS, given, progress=lambda share, _: seen.append(share))
    assert not seen or max(seen) <= 1
    assert found.as_dict()["violated"] == [0, 1] and "2 of 2" in repr(found) and "no" in found._repr_html_()
    with pytest.raises(regions.LimitReached):
        verify_property(CROSS, given, limit=1)


def wide_case() -> tuple[Network, Property]:
    """Return a network and a property that holds, and that some parts of the box do not prove."""
    net = he_normal([8, 12, 1])
    high = float(net(np.random.default_rng(1).uniform(-1, 1, (20_000, 8))).max())
    return net, Property([[-1.0] * 8], [[1.0] * 8], [[([[-1.0]], [-1.5 * high])]])


def test_a_wide_box_that_is_not_decided_says_which_share_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    net, given = wide_case()
    assert verify_property(net, given).holds
    monkeypatch.setattr(bisection, "MOST_PARTS", 100)
    with pytest.raises(VerdictNotDecided, match=r"8 free inputs, .* take a slice, such as prop\.slice") as open_:
        verify_property(net, given)
    partial = open_.value.partial
    assert partial.holds is None and partial.undecided.all() and 0 < partial.proved_shares[0] < 1
    facts = partial.as_dict()
    assert facts["verdict"] == "unknown" and facts["proved_shares"] == partial.proved_shares.tolist()
    assert "unknown, 1 of 1 box undecided" in repr(partial) and "unknown" in partial._repr_html_()
    with pytest.raises(LimitReached, match="more than 10 parts of a box") as stopped:
        verify_property(net, given, limit=10)
    assert 0 <= stopped.value.partial.proved_shares[0] < partial.proved_shares[0]


def test_a_violated_box_decides_although_another_box_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    net, given = wide_case()
    monkeypatch.setattr(bisection, "MOST_PARTS", 100)
    both = Property([*given.lower, [0.0] * 8], [*given.upper, [0.0] * 8], [given.unsafe[0], [([[0.0]], [1.0])]])
    found = verify_property(net, both)
    assert found.holds is False and found.box == 1
    assert found.undecided.tolist() == [True, False] and found.violated.tolist() == [False, True]


def test_the_search_finds_points_that_samples_do_not_hit() -> None:
    rng = np.random.default_rng(5)
    for seed in range(6):
        net = he_normal([10, 16, 1])
        lower, upper = np.full(10, -1.0), np.full(10, 1.0)
        best = float(net(rng.uniform(-1, 1, (20_000, 10))).max())
        found = verify_property(net, Property([lower], [upper], [[([[-1.0]], [-best - 0.01 * seed])]]))
        assert found.witness is not None and found.witness.outputs[0] >= best + 0.01 * seed
        assert all(-1 <= x <= 1 for x in found.witness.input) and not found.verdicts


def test_bisection_adds_exact_shares() -> None:
    # On the box from -1 to 1, y = x is at least 0.5 on a quarter. Parts that touch it stay open.
    line = Network([(np.eye(1, 8), None), ([[1.0]], None)])
    parts = bisection.Bisection(line, -np.ones(8), np.ones(8), as_polytopes([([[-1.0]], [-0.5])], 8, 1))
    assert parts.run(7) is None
    assert parts.proved == Fraction(5, 8) and not parts.complete and parts.bounded == 7


def test_a_stop_says_which_share_is_proved() -> None:
    net = he_normal([4, 12, 12, 1])
    high = float(np.quantile(net(np.random.default_rng(1).uniform(-1, 1, (1000, 4))), 0.9))
    both = [([[-1.0], [1.0]], [-high, high - 1e-9])]  # never both
    given = Property([[-1.0] * 4, [0.0] * 4], [[1.0] * 4, [0.0] * 4], [both, both])
    for stop in ({"limit": 100}, {"timeout": 0.0}):
        with pytest.raises((LimitReached, TimeoutReached)) as stopped:
            verify_property(net, given, **stop)  # type: ignore[arg-type]
        partial = stopped.value.partial
        assert partial.holds is None and partial.undecided.tolist()[0] and 0 < partial.proved_shares[0] < 1

    box = regions.Box([-1] * 4, [1] * 4)
    with pytest.raises(LimitReached) as of_verify:
        verify(net, box, both, limit=100)
    assert 0 < of_verify.value.found.proved_share < 1
    with pytest.raises(LimitReached) as turned:
        verify(net, regions.Box.around([0.5] * 4, 1.0, 2 * np.eye(4)), both, limit=2)
    assert turned.value.found.proved_share is None

    def interrupt(share: float, found: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as ended:
        verify_property(net, given, progress=interrupt)
    assert 0 < ended.value.partial.proved_shares[0] < 1  # type: ignore[attr-defined]


def test_strict_inequalities_at_points_and_in_wide_boxes() -> None:
    for strict in (False, True):
        edge = [([[-1.0]], [-7.0], np.zeros((1, 7)), [strict])]
        wide = Network([(np.vstack([np.eye(7), -np.eye(7)]), None), (np.ones((1, 14)), None)])
        point = verify_property(wide, Property([[1.0] * 7], [[1.0] * 7], [edge]))
        assert point.holds == strict


def declared(inputs: int, *bounds: str) -> str:
    """Return a VNN-LIB text of some inputs and one output."""
    names = [*(f"X_{i}" for i in range(inputs)), "Y_0"]
    return "".join(f"(declare-const {name} Real)" for name in names) + "".join(f"(assert {one})" for one in bounds)


@pytest.mark.parametrize(
    ("bounds", "holds"),
    [
        (["(>= X_0 0)", "(<= X_0 0.1)", "(>= Y_0 0.1)"], False),  # at a tenth, which no double is
        (["(>= X_0 0)", "(<= X_0 0.1)", "(> Y_0 0.1)"], True),  # the double 0.1 is above a tenth
        (["(>= X_0 0)", f"(<= X_0 {Decimal(0.1)})", "(> Y_0 0.1)"], False),
        (["(>= X_0 0.3)", "(<= X_0 1)", "(< Y_0 0.3)"], True),  # the double 0.3 is below three tenths
        (["(>= X_0 0.1)", "(<= X_0 0.1)", "(>= Y_0 0.1)"], False),
        (["(>= X_0 0.1)", "(<= X_0 0.1)", "(> Y_0 0.1)"], False),  # a fixed input is the nearest double
        (["(>= X_0 0.3)", "(<= X_0 0.3)", "(>= Y_0 0.3)"], True),
        (["(>= X_0 0.1)", "(<= X_0 0.1)", "(>= Y_0 0.11)"], True),
    ],
)
def test_numbers_of_a_file_are_fractions(bounds: list[str], holds: bool, tmp_path: Path) -> None:
    net = Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, -1.0]], [0.0])])  # x
    (tmp_path / "a.vnnlib").write_text(declared(1, *bounds))
    assert verify_property(net, regions.load_property(tmp_path / "a.vnnlib")).holds == holds


def test_a_point_that_touches(tmp_path: Path) -> None:
    net = Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, -1.0]], [0.0])])  # x
    (tmp_path / "a.vnnlib").write_text(declared(1, "(>= X_0 0.5)", "(<= X_0 0.5)", "(> Y_0 0.5)"))
    found = verify_property(net, regions.load_property(tmp_path / "a.vnnlib"))
    assert found.holds and found.touching is not None and found.touching.input.tolist() == [0.5]


def test_inputs_that_are_fixed_at_decimals(tmp_path: Path) -> None:
    fixed = [f"({sign} X_{i} 0.1)" for i in range(2, 10) for sign in (">=", "<=")]
    free = ["(>= X_0 0.1)", "(<= X_0 0.3)", "(>= X_1 0)", "(<= X_1 0.7)"]
    (tmp_path / "a.vnnlib").write_text(declared(10, *free, *fixed, "(>= Y_0 9)"))
    given = regions.load_property(tmp_path / "a.vnnlib")
    assert given.domain(0).dimension == 2 and given.lower[0, 2:].tolist() == given.upper[0, 2:].tolist() == [0.1] * 8
    net = Network([(np.vstack([np.eye(10), -np.eye(10)]), None), (np.ones((1, 20)), None)])
    assert verify_property(net, given).holds
    (tmp_path / "a.vnnlib").write_text(declared(1, "(>= X_0 0.1)", "(< X_0 0.1)", "(>= Y_0 0)"))
    with pytest.raises(regions.errors.CheckpointError, match="no input satisfies"):
        regions.load_property(tmp_path / "a.vnnlib")


@pytest.mark.parametrize("relation", [">=", ">"])
def test_many_alternatives_in_a_box_of_decimals(relation: str, tmp_path: Path) -> None:
    """Each alternative has the exact bounds of the box, and a cell of a box is touched by 128 rows at most."""
    bounds = [f"({sign} X_{i} {value})" for i in range(3) for sign, value in ((">=", "-0.1"), ("<=", "0.3"))]
    each = [f"(and ({relation} Y_0 0.9) (<= (+ X_0 (* -{2 * k} X_1) X_2) 0))" for k in range(40)]
    (tmp_path / "a.vnnlib").write_text(declared(3, *bounds, f"(or {' '.join(each)})"))
    found = verify_property(CROSS, regions.load_property(tmp_path / "a.vnnlib"))
    assert found.holds == (relation == ">")
    if found.witness is not None:
        assert found.witness.point == (Fraction("0.3"),) * 3


@pytest.mark.parametrize(("least", "holds"), [("0.5", False), ("0.9", True), ("0.8", None)])
def test_numbers_of_large_boxes_are_fractions(least: str, holds: bool | None, tmp_path: Path) -> None:
    net = Network([(np.vstack([np.eye(8), -np.eye(8)]), None), (np.ones((1, 16)), None)])  # the sum of sizes
    bounds = [f"(>= X_{i} 0)" for i in range(8)] + [f"(<= X_{i} 0.1)" for i in range(8)]
    (tmp_path / "a.vnnlib").write_text(declared(8, *bounds, f"(>= Y_0 {least})"))
    given = regions.load_property(tmp_path / "a.vnnlib")
    if holds is None:  # the sum is 0.8 at one point, which is no double
        with pytest.raises(VerdictNotDecided):
            verify_property(net, given)
        return
    found = verify_property(net, given)
    assert found.holds == holds
    if found.witness is not None:
        assert all(0 <= Fraction(x) <= Fraction(1, 10) for x in found.witness.input.tolist())
    assert given.slice([0, 1]).lower.shape == (1, 8)
