# SPDX-License-Identifier: MIT
"""Does the function along a line agree with the reference, within its bounds, in as few pieces as possible?"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from regions import Line, Network, Plane, Ray, Segment, reference
from regions.errors import DomainError, NonFiniteError

HAT = Network([([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])])
BEYOND = {"overflowing", "max_extreme"}  # slopes beyond the largest double


def reference_pieces(net: Network, domain: regions.Domain) -> list[tuple[tuple[Fraction, ...], ...]]:
    """Return the maps of all pieces along the line; neighbouring pieces have different maps."""
    parts = sorted(reference.enumerate(net, domain), key=lambda part: _start(part.vertices))
    maps = [tuple(part.output) for part in parts]
    return [each for each, before in zip(maps, [None, *maps], strict=False) if each != before]


def _start(vertices: list[tuple[Fraction, ...] | None]) -> tuple[bool, Fraction]:
    first, *_ = vertices
    return first is not None, Fraction(0) if first is None else first[0]


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in BEYOND])
def test_the_function_is_that_of_the_reference(family: str) -> None:
    for seed in range(3):
        net, domain = draw(family, 1, seed)
        try:
            found = regions.function(net, domain)
        except NonFiniteError:
            continue
        pieces = reference_pieces(net, domain)
        assert len(found) == len(pieces) and (np.diff(found.knots) >= 0).all()
        for slopes, errors, forms in zip(found.slopes, found.slope_errors, pieces, strict=True):
            for slope, error, form in zip(slopes, errors, forms, strict=True):
                assert error == np.inf or abs(Fraction(slope) - form[1]) <= Fraction(error)
        exact = found.partition.exact_vertices(found.vertices)
        for place in range(len(found) + 1):
            vertex = exact[place]
            if len(vertex) != 1:
                continue
            assert abs(Fraction(found.knots[place]) - vertex[0]) <= Fraction(found.knot_errors[place])
            for value, error, form in zip(
                found.values[place], found.errors[place], pieces[max(place - 1, 0)], strict=True
            ):
                assert error == np.inf or abs(Fraction(value) - (form[0] + form[1] * vertex[0])) <= Fraction(error)


def test_regions_with_one_map_are_one_piece() -> None:
    found = regions.function(HAT, Segment([-1.0], [3.0]))
    assert len(found) == 4 and len(found.partition) == 4
    idle = Network([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, 0.0]], [0.0])])  # the second neuron is not read
    assert len(regions.function(idle, Segment([-1.0], [3.0]))) == 2


@pytest.mark.parametrize("domain", [Segment([-1.0], [3.0]), Ray([3.0], [-2.0]), Line([0.5], [3.0])])
def test_calls_are_values_of_the_network(domain: regions.Domain) -> None:
    found = regions.function(HAT, domain)
    t = np.linspace(0.0, 1.0, 101) if isinstance(domain, Segment) else np.linspace(0.0, 7.0, 101)
    assert found(t) == pytest.approx(HAT(domain.to_input(t[:, np.newaxis])), abs=1e-12)
    assert found(0.25).shape == (1,) and found(t.reshape(1, -1)).shape == (1, 101, 1)
    if not isinstance(domain, Line):
        with pytest.raises(DomainError, match=r"coordinate -1.0 \(number 1\) is outside of the domain"):
            found([0.5, -1.0])
    assert found(np.zeros((3, 0))).shape == (3, 0, 1)
    for wrong in ("0.5", [None], 1j):
        with pytest.raises(TypeError, match="t must be real numbers"):
            found(wrong)
    constant = regions.function(Network([([[1.0]], [0.25])]), Line([0.5], [3.0]))
    assert constant([-2.0, 5.0]).ravel().tolist() == [-5.25, 15.75]


def test_other_programs(tmp_path: Path) -> None:
    found = regions.function(HAT, Segment([-1.0], [3.0]))
    t = np.linspace(0.0, 1.0, 57)
    assert found.to_scipy()(t) == pytest.approx(found(t))
    found.to_csv(tmp_path / "hat.csv")
    header, *rows = (tmp_path / "hat.csv").read_text().splitlines()
    assert header == "t,y0,slope0" and rows == [
        "0.0,0.0,0.0",
        "0.25,0.0,4.0",
        "0.5,1.0,-4.0",
        "0.75,0.0,0.0",
        "1.0,0.0,",
    ]
    found.to_c(tmp_path / "hat.h", "hat")
    table = (tmp_path / "hat.h").read_text().splitlines()
    assert table[1] == "static const double hat_knots[5] = {" and table[-1] == "};"
    assert "static const double hat_slopes[4][1] = {" in table and "  {-4.0}," in table
    with pytest.raises(ValueError, match="name must be at most 50 letters, digits or underscores"):
        found.to_c(tmp_path / "hat.h", "my hat")
    endless = regions.function(HAT, Line([0.0], [1.0]))
    with pytest.raises(DomainError, match="tables of functions, such as PPoly, exist"):
        endless.to_c(tmp_path / "line.h")
    with pytest.raises(DomainError, match="tables of functions, such as PPoly, exist"):
        endless.to_scipy()
    endless.to_csv(tmp_path / "line.csv")
    assert (tmp_path / "line.csv").read_text().splitlines()[1] == "-inf,,0.0"


def test_values_beyond_the_largest_double_are_refused() -> None:
    steep = Network([([[1e200], [-1e200]], None), ([[1.0, 1.0]], None)])
    with pytest.raises(NonFiniteError, match="a value of the network at points\\[1\\] is beyond the largest double"):
        regions.function(steep, Line([0.0], [1.0]))([0.0, 1e300])


def test_what_is_not_a_line_is_refused() -> None:
    with pytest.raises(DomainError, match="functions of one variable exist in 1 dimension; this domain has 2"):
        regions.function(Network([([[1.0, 0.0]], None)]), Plane([0, 0], [1, 0], [0, 1]))


def test_reports() -> None:
    found = regions.function(HAT, Segment([-1.0], [3.0]))
    assert repr(found) == "Function1D(4 pieces on 4 regions)" and "slopes" in found._repr_html_()
    assert found.as_dict()["knots"] == [0.0, 0.25, 0.5, 0.75, 1.0] and '"slopes"' in found.to_json()
