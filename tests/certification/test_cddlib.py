# SPDX-License-Identifier: MIT
"""Is cddlib asked about regions if it is installed with fractions, and is its answer compared?"""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

import regions
from generators import draw
from partition_cases import SQUARE, families
from random_networks import random_network
from regions.certification import verdict as judge
from regions.certification.cddlib import ask_cddlib
from regions.certification.certification_report import Findings
from regions.certification.exact_regions import ExactRegions
from regions.certification.forms import Forms
from regions.certification.layout import Layout
from regions.certification.signs import VertexSigns
from regions.domains import Domain, Line, Plane
from regions.networks.network import Network

GENERIC = random_network([2, 6, 5, 3])


def corners_by_brute_force(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """Return cddlib's result for inequalities b + a x >= 0 of a polygon: [1, x, y] for each corner."""
    found = []
    for (b, a0, a1), (d, c0, c1) in combinations(rows, 2):
        determinant = a0 * c1 - a1 * c0
        if determinant:
            x, y = (a1 * d - c1 * b) / determinant, (c0 * b - a0 * d) / determinant
            if all(e + f * x + g * y >= 0 for e, f, g in rows):
                found.append([Fraction(1), x, y])
    return found


@pytest.mark.parametrize("missing", [0, 1])
def test_cddlib_is_asked_where_it_has_fractions(missing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replacement with the functions of `cdd.gmp`, which can give wrong answers."""

    def generators(rows: list[list[Fraction]]) -> SimpleNamespace:
        return SimpleNamespace(array=corners_by_brute_force(rows)[missing:])

    gmp = SimpleNamespace(
        matrix_from_array=lambda rows, rep_type: rows,
        polyhedron_from_matrix=lambda rows: rows,
        copy_generators=generators,
    )
    monkeypatch.setitem(sys.modules, "cdd", SimpleNamespace(RepType=SimpleNamespace(INEQUALITY=1), gmp=gmp))
    monkeypatch.setitem(sys.modules, "cdd.gmp", gmp)
    net = Network([(np.eye(2), [0, 0]), ([[1, 1]], [0])])
    report = regions.certify(regions.enumerate(net, SQUARE), net)
    if missing:
        assert [item.name for item in report.failed] == ["inequalities"] and "cddlib finds other corners" in str(report)
    else:
        assert report.ok and "cddlib agrees on 4 of them" in str(report)


@pytest.mark.parametrize("missing", ["cdd", "cdd.gmp"])
def test_without_cddlib_the_report_says_so(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    report = regions.certify(regions.enumerate(GENERIC, SQUARE), GENERIC)
    assert report.ok and "cddlib is not asked, as pycddlib is not installed" in str(report)


class TestCddlibItself:
    """The exact fractions of pycddlib, not a stand-in."""

    @pytest.fixture(autouse=True)
    def in_fractions(self) -> None:
        pytest.importorskip("cdd.gmp")

    @families
    def test_it_agrees_on_every_region(self, family: str, dimension: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(judge, "FEW", 10**9)
        for seed in range(2):
            network, domain = draw(family, dimension, seed)
            part = regions.enumerate(network, domain)
            report = regions.certify(part, network)
            assert report.ok and f"cddlib agrees on {len(part)} of them" in str(report)

    @pytest.mark.parametrize("domain", [Line([0, 0], [1, 2]), Plane([0, 0], [1, 0], [0, 1])])
    def test_it_agrees_without_end(self, domain: Domain) -> None:
        part = regions.enumerate(GENERIC, domain)
        report = regions.certify(part, GENERIC)
        assert report.ok and f"cddlib agrees on {min(20, len(part))} of them" in str(report)

    def test_it_disagrees_with_a_corner_that_is_elsewhere(self) -> None:
        part = regions.enumerate(GENERIC, SQUARE)
        findings = Findings()
        layout, forms = Layout(part, GENERIC), Forms(GENERIC, SQUARE)
        signs = VertexSigns(layout)
        signs.decide_in_integers(np.arange(len(part.vertices)), forms, findings)
        only = np.setdiff1d(layout.corners_of(3), layout.corners_of(2))[0]
        signs.positions[int(only)] = (5, 7, 11)
        ask_cddlib(ExactRegions(layout, forms, signs), [2, 3], findings)
        report = findings.report(len(part), True)
        assert [item.finding for item in report.failed] == ["cddlib finds other corners for region 3"]
