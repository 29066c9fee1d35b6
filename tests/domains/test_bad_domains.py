# SPDX-License-Identifier: MIT
"""Is every set of points that is not a domain refused, by name, with what is wrong and where?"""

from __future__ import annotations

import re
from fractions import Fraction
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

from regions.domains import Domain, Line, Polygon, Ray, Rectangle, Segment, circumsquare
from regions.errors import (
    DegenerateDomainError,
    DomainError,
    NonFiniteError,
    NotConvexError,
    NotCoplanarError,
    RegionsError,
    ShapeMismatchError,
)
from regions.read.points import load_points

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
STAR = [[np.cos(a), np.sin(a)] for a in np.arange(5) * 4 * np.pi / 5]
LIFTED = [[0, 0, 0], [1, 0, 0], [1, 1, 0.01], [0, 1, 0]]
TINY = 5e-324


def gear(teeth: int) -> list[list[float]]:
    """Corners at two distances in turn: every other one is a dent."""
    angles = np.arange(2 * teeth) * np.pi / teeth
    return [[(4 - 3 * (i % 2)) * np.cos(a), (4 - 3 * (i % 2)) * np.sin(a)] for i, a in enumerate(angles)]


NOT_NUMBERS = [
    (lambda: Segment([0, nan], [1, 1]), NonFiniteError, r"Segment: a\[1\] is nan"),
    (lambda: Polygon([[0, 0], [1, inf], [0, 1]]), NonFiniteError, r"vertices\[1, 1\] is inf"),
    (lambda: Line([0], [nan]), NonFiniteError, "direction"),
    (lambda: circumsquare([0, 0], [1, 0], [0, 1], side=nan), NonFiniteError, "side"),
    (lambda: circumsquare([0, 0], [1, 0], [0, 1], side=10**400), NonFiniteError, "side must be a finite double"),
    (lambda: Segment(None, None), DomainError, r"dtype object \(NoneType\)"),
    (lambda: Segment([-1.5e308], [1.5e308]), NonFiniteError, "beyond the largest double"),
    (lambda: Polygon([[-1.5e308, 0, 0], [1.5e308, 0, 0], [0, 1, 0]]), NonFiniteError, "Polygon: the dist"),
    (lambda: circumsquare([0, 0], [1e308, 0], [0.5e308, 1e295]), NonFiniteError, "circle"),
    (lambda: circumsquare([-1e308, 0], [1e308, 0], [0, 1]), NonFiniteError, "circumsquare: the distance"),
    (lambda: Segment([0j], [1j]), DomainError, "complex"),
    (lambda: Segment(["0"], ["1"]), DomainError, "not a real number"),
    (lambda: Segment([Fraction(1)], [2]), DomainError, "not a real number"),
    (lambda: Segment([2**53 + 1], [0]), DomainError, "cannot hold exactly"),
]
WRONG_SHAPE = [
    (lambda: Polygon([[0, 0], [1, 0], [1]]), ShapeMismatchError, "differ in length"),
    (lambda: Segment(0, 1), ShapeMismatchError, "flat list"),
    (lambda: Segment([[0]], [[1]]), ShapeMismatchError, "flat list"),
    (lambda: Segment([], []), ShapeMismatchError, "Segment: a: .* got .0., which is empty; give at least one"),
    (lambda: Segment([0, 0], [1]), ShapeMismatchError, "a has 2, b has 1"),
    (lambda: Line([0, 0], [1]), ShapeMismatchError, "point has 2, direction has 1"),
    (lambda: Rectangle([0, 0], [1, 0], [0, 1, 0]), ShapeMismatchError, "e1 has 2"),
    (lambda: Rectangle([0], [1, 0], [0, 1]), ShapeMismatchError, "origin has 1"),
    (lambda: circumsquare([0, 0], [1, 0], [1]), ShapeMismatchError, "c has 1"),
    (lambda: circumsquare([0, 0], [1, 0]), ShapeMismatchError, "two points are given"),
    (lambda: circumsquare([[0, 0], [1, 0]]), ShapeMismatchError, "three points are needed, got 2"),
    (lambda: Rectangle.from_bounds([0, 0, 0], [1, 1, 1]), ShapeMismatchError, "3 coordinates have low < high.*a Box"),
    (lambda: Rectangle.from_bounds([0, 0], [1, 0]), ShapeMismatchError, "1 coordinates.*a Segment"),
    (lambda: Rectangle.from_bounds([0, 2], [1, 0]), DegenerateDomainError, r"low\[1\] = 2 is above high\[1\] = 0"),
    (lambda: Polygon([[0], [1], [2]]), ShapeMismatchError, "at least 2 input dimensions"),
    (lambda: Polygon([0, 1, 2]), ShapeMismatchError, "one row per point"),
    (lambda: Polygon.in_chart([0, 0], np.eye(2), np.eye(3)), ShapeMismatchError, "chart points"),
    (lambda: Domain([0] * 3, np.eye(3), [[1, 0, 0, 0]]), ShapeMismatchError, "1 or 2"),
    (lambda: Domain([0, 0], np.eye(2), [[1, 0], [1, 1]]), ShapeMismatchError, r"\[v, 3\]"),
    (lambda: Domain([0], [[1]], [[1, 0], [1, 1], [1, 2]]), ShapeMismatchError, "2 generators"),
]
NO_VOLUME = [
    (lambda: Segment([1, 2], [1, 2]), DegenerateDomainError, "same point"),
    (lambda: Ray([1, 2], [0, 0]), DegenerateDomainError, "Ray: the direction is zero"),
    (lambda: Line([1, 2], [0, -0.0]), DegenerateDomainError, "Line: the direction is zero"),
    (lambda: Polygon([[1, 2]]), DegenerateDomainError, "at least 3 vertices, got 1"),
    (lambda: Polygon([[1, 2]] * 3), DegenerateDomainError, "vertices 0 and 1 coincide"),
    (lambda: Polygon([[1, 2, 3]]), DegenerateDomainError, "Polygon: "),
    (lambda: Polygon([[1, 2, 3]] * 3), DegenerateDomainError, "vertices 0 and 1 coincide"),
    (lambda: Polygon([[1, 2], [3, 4]]), DegenerateDomainError, "at least 3 vertices"),
    (lambda: Polygon([[1, 2, 0], [3, 4, 0]]), DegenerateDomainError, "Polygon: .* one line"),
    (lambda: Polygon([*SQUARE, SQUARE[0]]), DegenerateDomainError, "vertices 0 and 4 coincide"),
    (lambda: Polygon([*LIFTED[:3], LIFTED[0]]), DegenerateDomainError, "vertices 0 and 3 coincide"),
    (lambda: Polygon([[0, 0], [0.1, 0.1], [3, 3]]), DegenerateDomainError, "no area"),
    (lambda: Polygon([[0, 0, 0], [1, 1, 1], [3, 3, 3]]), DegenerateDomainError, "one line"),
    (
        lambda: Polygon(np.array([[0.0], [0.1], [0.7], [1.0]]) * [0.1, 0.7, 1.3]),
        DegenerateDomainError,
        "up to rounding",
    ),
    (lambda: Rectangle([0, 0], [1, 2], [-2, -4]), DegenerateDomainError, "parallel"),
    (lambda: Rectangle([0, 0], [1, 2], [0, 0]), DegenerateDomainError, "one is zero"),
    (lambda: Rectangle([0], [1], [2]), DegenerateDomainError, "do not span"),
    (lambda: circumsquare([0, 0], [1, 2], [2, 4]), DegenerateDomainError, "circumsquare: .* one line"),
    (lambda: circumsquare([0, 0], [0, 0], [2, 4]), DegenerateDomainError, "coincide"),
    (lambda: circumsquare([0], [1], [3]), DegenerateDomainError, "one line"),
    (lambda: circumsquare([0, 0], [1, 0], [0, 1], side=0), DegenerateDomainError, "above 0"),
    (lambda: circumsquare([0, 0], [1, 0], [0, 1], side=TINY), DegenerateDomainError, "above 0"),
    (lambda: Domain([0], [[1]], [[1, 1], [1, 0]]), DegenerateDomainError, "must be below"),
]
NOT_CONVEX = [
    (lambda: Polygon([[0, 0], [2, 0], [0.5, 0.5], [0, 2]]), NotConvexError, "crosses itself, at vertex 2; give"),
    (lambda: Polygon([[0, 0], [4, 0], [2, 1], [4, 4], [2, 3], [0, 4]]), NotConvexError, "at vertices 2 and 4; give"),
    (lambda: Polygon(gear(3)), NotConvexError, "at vertices 1, 3 and 5; give"),
    (lambda: Polygon(gear(40)), NotConvexError, "at vertices 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and 30 more; give"),
    (lambda: Polygon([[0, 2], [0.5, 0.5], [2, 0], [0, 0]]), NotConvexError, "at vertex 1;"),
    (lambda: Polygon([[0, 0], [0.5, TINY], [1, 0], [0, 1]]), NotConvexError, "at vertex 1;"),
    (lambda: Polygon(SQUARE[[0, 1, 3, 2]]), NotConvexError, "turns both ways"),
    (lambda: Polygon(STAR), NotConvexError, "goes around 2 times"),
    (lambda: Polygon(STAR[::-1]), NotConvexError, "goes around 2 times"),
    (lambda: Polygon([[0, 0], [3, 0], [1, 0], [1, 1]]), NotConvexError, "back on itself at vertex 1"),
    (lambda: Polygon([[0, 0, 1], [2, 0, 1], [0.5, 0.5, 1], [0, 2, 1]]), NotConvexError, "vertex 2.*rounded"),
    (lambda: Polygon(LIFTED), NotCoplanarError, r"Polygon: .* vertex \d is off by 0.01"),
    (lambda: Polygon.in_chart([0, 0], np.eye(2), SQUARE[::-1]), NotConvexError, "counter-clockwise"),
    (
        lambda: Polygon.in_chart([0, 0], np.eye(2), [[0, 0], [1, 0], [2, 0], [0, 1]]),
        NotConvexError,
        "strictly convex",
    ),
]
OTHER_GENERATORS = [
    (lambda: Domain([0], [[1]], [[2, 0], [1, 1]]), DomainError, "neither an end"),
    (lambda: Domain([0], [[1]], [[0, 1], [1, 1]]), DomainError, "neither an end"),
    (lambda: Domain([0], [[1]], [[1, 0], [0, 2]]), DomainError, "neither an end"),
    (lambda: Domain([0, 0], np.eye(2), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]), DomainError, "corners"),
]


class TestBadInput:
    @pytest.mark.parametrize(
        ("make", "error", "message"),
        NOT_NUMBERS + WRONG_SHAPE + NO_VOLUME + NOT_CONVEX + OTHER_GENERATORS,
    )
    def test_is_refused_by_name(self, make: object, error: type, message: str) -> None:
        with pytest.raises(error, match=message) as caught:
            make()
        assert type(caught.value) is error
        assert isinstance(caught.value, RegionsError) and isinstance(caught.value, ValueError)

    @pytest.mark.parametrize("side", ["1", [1.0, 2.0]])
    def test_a_side_that_is_not_a_number(self, side: object) -> None:
        with pytest.raises(TypeError, match=f"side must be a number, got {type(side).__name__}"):
            circumsquare([0, 0], [1, 0], [0, 1], side=side)

    def test_a_strip_as_thin_as_2_to_the_minus_45_is_not_bad_input(self) -> None:
        thin = 2.0**-45
        assert Polygon([[0, 0], [1, 0], [1, thin]]).volume == thin / 2
        assert Polygon([[0, 0, 1], [1, 0, 1], [1, thin, 1]]).volume == pytest.approx(thin / 2, rel=0.05)
        assert Rectangle([0, 0, 1], [1, 0, 0], [0, thin, 0]).volume == thin


class TestLoadPoints:
    def test_npy_and_csv(self, tmp_path: Path) -> None:
        points = np.arange(6, dtype=np.float32).reshape(2, 3) / 4
        np.save(tmp_path / "points.npy", points)
        np.save(tmp_path / "point.npy", points[0])
        (tmp_path / "points.CSV").write_text("# x, y, z\n0, 0.25 ,0.5\n\n0.75,1,1.25 # the second\n")
        assert load_points(tmp_path / "points.npy").tolist() == points.tolist()
        assert load_points(str(tmp_path / "point.npy")).tolist() == points[:1].tolist()
        assert load_points(tmp_path / "points.CSV").tolist() == points.tolist()

    @pytest.mark.parametrize(
        ("name", "content", "error", "message"),
        [
            ("a.txt", b"1,2", DomainError, "not .txt"),
            ("a", b"1,2", DomainError, "a bare name"),
            ("a.csv", b"", ShapeMismatchError, "the file is empty; write a row"),
            ("a.csv", b"\n# x,y\n", ShapeMismatchError, "nothing but comments in it; write a row"),
            ("a.csv", b"x,y\n", ShapeMismatchError, "nothing but a header"),
            ("a.csv", b"x,2\n1,2\n", DomainError, "line 1: .*'x,2'; column 0 is 'x'.*--skip-column"),
            ("a.csv", b"1,2\n1;2\n", DomainError, "line 2: .*'1;2'"),
            ("a.csv", b"1,2\n\n1,2,3\n", ShapeMismatchError, "line 3: 3 coordinates"),
            ("a.csv", b"1_0,2\n", DomainError, "line 1: not numbers separated by commas: '1_0,2'"),
            ("a.csv", b"#\n1,nan\n", NonFiniteError, "line 2: .*finite.*'1,nan'"),
            ("a.csv", b"1,1e999\n", NonFiniteError, "line 1: .*'1,1e999'"),
            ("a.csv", b"\x93NUMPY\x01\xff", DomainError, "not a text file"),
            ("a.npy", b"", DomainError, "not a .npy file"),
            ("a.npy", b"PK\x03\x04 this is a zip", DomainError, "not a .npy file"),
            ("a.npy", b"\x93NUMPY\x01\x00", DomainError, "damaged"),
            ("a.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': [[[[\n", DomainError, "damaged"),
        ],
    )
    def test_other_content_is_refused(
        self, tmp_path: Path, name: str, content: bytes, error: type, message: str
    ) -> None:
        (tmp_path / name).write_bytes(content)
        # The file is named as it was given, not by its last part only.
        with pytest.raises(error, match=f"^{re.escape(str(tmp_path / name))}(?s:.*){message}"):
            load_points(tmp_path / name)

    @pytest.mark.parametrize(
        ("array", "error", "message"),
        [
            (np.zeros((2, 2, 2, 2, 2)), ShapeMismatchError, "expected points"),
            (np.float64(3), ShapeMismatchError, "expected points"),
            (np.zeros((2, 0)), ShapeMismatchError, "holds no points, because it has no numbers"),
            (np.array([[1.0, inf]]), NonFiniteError, "inf"),
            (np.zeros((2, 2), complex), DomainError, "complex"),
            (np.array([["a"]]), DomainError, "not a real number"),
        ],
    )
    def test_other_arrays_are_refused(self, tmp_path: Path, array: np.ndarray, error: type, message: str) -> None:
        np.save(tmp_path / "a.npy", array)
        with pytest.raises(error, match=f"^{re.escape(str(tmp_path / 'a.npy'))}.*{message}"):
            load_points(tmp_path / "a.npy")

    def test_nothing_is_unpickled(self, tmp_path: Path) -> None:
        class Trap:
            def __reduce__(self) -> tuple:
                return (tmp_path / "sprung").touch, ()

        array = np.empty((1, 1), dtype=object)
        array[0, 0] = Trap()
        np.save(tmp_path / "a.npy", array, allow_pickle=True)
        with pytest.raises(DomainError, match="not plain numbers"):
            load_points(tmp_path / "a.npy")
        assert not (tmp_path / "sprung").exists()

    def test_a_header_that_announces_too_much_allocates_nothing(self, tmp_path: Path) -> None:
        file = tmp_path / "a.npy"
        np.save(file, np.zeros((4, 3)))
        content = file.read_bytes()
        claim = content.replace(b"(4, 3), }            ", b"(4000000000000, 3), }")
        assert claim != content and len(claim) == len(content)
        file.write_bytes(claim)
        with pytest.raises(DomainError, match="damaged"):
            load_points(file)

    def test_a_missing_file_is_the_operating_systems_error(self, tmp_path: Path) -> None:
        for name in ("none.npy", "none.csv"):
            with pytest.raises(FileNotFoundError):
                load_points(tmp_path / name)
