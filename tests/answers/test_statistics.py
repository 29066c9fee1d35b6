# SPDX-License-Identifier: MIT
"""Do moments, shares and Lipschitz constants agree with rational arithmetic, within bounds that are narrow?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from polytope_cases import OF_THEIR_OWN, he_normal
from regions import Box, Domain, Line, Network, Plane, Polygon, Segment, statistics
from regions.errors import DomainError, NonFiniteError
from statistics_judge import statistics_findings

# The fractions of deep graphs take half a minute.
QUICK = [family for family in (*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES) if family != "graph_deep"]
SQUARE = Polygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
CROSS = Network([(np.eye(2), None), ([[1.0, 1.0], [1.0, -1.0]], None)])


@pytest.mark.parametrize("family", QUICK)
def test_statistics_are_those_of_rational_arithmetic(family: str) -> None:
    for dimension in (1, 2):
        net, domain = draw(family, dimension, 3)
        assert list(statistics_findings(net, domain)) == []


IN_BOXES = [family for family in (*FAMILIES, *GRAPH_FAMILIES) if family not in OF_THEIR_OWN]


@pytest.mark.filterwarnings("ignore::regions.errors.PrecisionWarning")
@pytest.mark.parametrize("family", IN_BOXES)
def test_statistics_in_boxes_are_those_of_rational_arithmetic(family: str) -> None:
    for dimension, most in ((3, 8), (4, 2)):
        for seed in range(2):
            net, domain = draw(family, dimension, seed)
            if domain.bounded and regions.count(net, domain) <= most:
                assert list(statistics_findings(net, domain)) == [], f"{dimension} {seed}"


@pytest.mark.parametrize("dimension", [3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_statistics_in_boxes_are_those_of_a_sample(dimension: int) -> None:
    net, box = he_normal([dimension, 5, 4, 2]), Box([-1] * dimension, [1] * dimension)
    found, points = statistics(net, box), np.random.default_rng(0).uniform(-1, 1, (40_000, dimension))
    values, steps = net(points), np.linalg.norm(net.gradient(points), axis=2)
    assert found.mean == pytest.approx(values.mean(axis=0), abs=0.03) and found.mean_errors.max() < 1e-6
    assert found.integral == pytest.approx(found.mean * 2**dimension) and found.integral_errors.max() < 1e-4
    assert found.covariance == pytest.approx(np.cov(values.T), rel=0.05, abs=0.02)
    share, error = found.share_above(float(values[:, 0].mean()))
    assert share == pytest.approx((values[:, 0] > values[:, 0].mean()).mean(), abs=0.01) and error < 1e-6
    assert found.histogram(4).shares.sum() == pytest.approx(1.0)
    assert (steps.max(axis=0) <= found.lipschitz()[0] + 1e-9).all()
    assert found.total_variation == pytest.approx(2**dimension * steps.mean(axis=0), rel=0.05)
    norms = np.abs(net.gradient(points[:1000])).sum(axis=2).max(axis=0)
    assert (norms <= found.lipschitz(np.inf)[0] + 1e-9).all()
    assert set(found.as_dict()) >= {"mean", "lipschitz"} and "mean" in found._repr_html_()


def test_statistics_of_other_charts_and_polytopes() -> None:
    rng = np.random.default_rng(1)
    net = Network([(rng.integers(-2, 3, (4, 5)), rng.integers(-1, 2, 4) / 4), (rng.integers(-2, 3, (2, 4)), [0, 0.5])])
    skew = Box.around([0.5] * 5, 1.0, rng.integers(-2, 3, (3, 5)).astype(float))
    assert list(statistics_findings(net, skew)) == []
    with pytest.raises(DomainError, match="an input changes in several directions"):
        statistics(net, skew).lipschitz(1)
    flat = regions.Polytope([[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 2, 1024]], [0, 0, 0, 1])
    assert list(statistics_findings(he_normal([3, 3, 2]), flat)) == []
    with pytest.raises(DomainError, match="bounded domains of 3 and more dimensions"):
        statistics(net, regions.Space([0] * 5, np.eye(3, 5)))


def test_without_end_there_are_only_lipschitz_constants() -> None:
    for domain in (Plane([0, 0], [1, 2], [3, 1]), Line([0, 0], [1, 2])):
        assert list(statistics_findings(CROSS, domain)) == []
        found = statistics(CROSS, domain)
        with pytest.raises(DomainError, match="integrals and shares exist in bounded domains"):
            found.mean  # noqa: B018
        assert (
            set(found.as_dict()) == {"regions", "lipschitz", "lipschitz_errors"} and "mean" not in found._repr_html_()
        )


def test_bounds_are_narrow() -> None:
    rng = np.random.default_rng(1)
    sizes = [(2, 16), (16, 16), (16, 2)]
    net = Network([(rng.normal(size=(b, a)) * (2 / a) ** 0.5, rng.normal(size=b)) for a, b in sizes])
    found = statistics(net, SQUARE)
    names = ("integral", "mean", "variance", "covariance", "total_variation")
    assert all(getattr(found, f"{name}_errors").max() < 1e-9 for name in names)
    assert found.share_above(0.3)[1] < 1e-10 and found.quantile(0.7, 1)[1] < 1e-8
    points = rng.uniform(-1, 1, size=(40_000, 2))
    values = net(points)
    assert found.mean == pytest.approx(values.mean(axis=0), abs=0.05)
    assert found.covariance == pytest.approx(np.cov(values.T), abs=0.1)
    assert found.share_above(0.3)[0] == pytest.approx((values[:, 0] > 0.3).mean(), abs=0.02)
    assert found.quantile(0.7, 1)[0] == pytest.approx(np.quantile(values[:, 1], 0.7), abs=0.05)
    steps = np.linalg.norm(net.gradient(points), axis=2)
    assert (steps.max(axis=0) <= found.lipschitz()[0] + 1e-9).all()
    assert found.total_variation == pytest.approx(4 * steps.mean(axis=0), rel=0.05)


def test_a_plateau_at_the_threshold_is_not_above_it() -> None:
    # The output is 0 on a quarter of the square.
    found = statistics(Network([([[1.0, 0.0], [0.0, 1.0]], None), ([[1.0, 1.0]], None)]), SQUARE)
    assert found.share_above(0.0)[0] == 0.75 and found.share_above(-1e-300)[0] == pytest.approx(1.0, abs=1e-15)
    assert found.share_above(0.0)[1] < 1e-12 and found.quantile(0.25)[0] == pytest.approx(0.0, abs=1e-9)
    constant = statistics(Network([([[1.0, 0.0]], [-2.0]), ([[1.0]], [1 / 3])]), SQUARE)
    assert constant.share_above(1 / 3) == (0.0, 0.0)
    assert constant.share_above(float(np.nextafter(1 / 3, 0)))[0] == pytest.approx(1.0, abs=1e-15)


def test_histograms() -> None:
    found = statistics(CROSS, SQUARE, outputs=[0])
    few = found.histogram(4)
    assert few.edges.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0] and few.shares.sum() == pytest.approx(1.0)
    assert few.shares == pytest.approx([0.25 + 0.28125, 0.34375, 0.09375, 0.03125]) and few.errors.max() < 1e-12
    given = found.histogram([0.0, 0.5, 2.0])
    assert given.shares == pytest.approx([0.28125, 0.46875])


def test_the_histogram_of_a_constant_has_bins_around_it() -> None:
    found = statistics(Network([([[1.0, 0.0]], [-2.0]), ([[1.0]], [2.0])]), SQUARE).histogram(3)
    assert found.edges.tolist() == pytest.approx([1.0, 5 / 3, 7 / 3, 3.0]) and found.shares.tolist() == [0.0, 1.0, 0.0]


def test_reports_leave_out_what_is_beyond_the_largest_double() -> None:
    facts = statistics(Network([(np.eye(2) * 1e150, None), ([[1e150, 1e150]], None)]), SQUARE).as_dict()
    assert facts["covariance"] is None and facts["mean"] == pytest.approx([5e299])


def test_outputs_forms_and_reports() -> None:
    found = statistics(CROSS, SQUARE, forms=[[1, 1]])
    assert found.mean == pytest.approx([0.5]) and repr(found) == "Statistics(1 output on 4 regions)"
    assert found.as_dict()["integral"] == pytest.approx([2.0]) and "variance" in found._repr_html_()
    assert statistics(CROSS, Segment([0, 0], [1, 1])).total_variation == pytest.approx([2.0, 0.0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda found: found.share_above(np.nan), ValueError, "threshold must be a finite number"),
        (lambda found: found.share_above(0.0, 2), ValueError, "output must be at most 1"),
        (lambda found: found.quantile(1.0), ValueError, "share must be above 0 and below 1"),
        (lambda found: found.histogram(0), ValueError, "bins must be at least 1"),
        (lambda found: found.histogram([1.0, 0.0]), ValueError, "bins must be a number, or two or more edges"),
        (lambda found: found.lipschitz(3), ValueError, "norm must be 1, 2 or infinity"),
        (lambda found: found.lipschitz(1, "chart"), ValueError, "space must be one of 'domain', 'input'"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(statistics(CROSS, SQUARE))


def test_values_beyond_the_largest_double_are_refused() -> None:
    steep = Network([([[1e200, 0.0], [0.0, 1.0]], None), ([[1e200, 1.0]], None)])
    with pytest.raises(NonFiniteError, match="beyond the largest double"):
        regions.statistics(steep, SQUARE).mean  # noqa: B018


def test_slopes_that_overflow_on_the_way_are_computed_exactly() -> None:
    # The slope of the first unit is 0, but its terms are beyond the largest double.
    net = Network([([[1e308, -1e308], [0.0, 1.0]], [1.0, 1.0]), ([[1.0, 1.0]], None)])
    segment = Domain([0.0, 0.0], [[2.0, 2.0]], [[1.0, 0.0], [1.0, 1.0]])
    for norm in (1, 2, np.inf):
        values, errors = statistics(net, segment).lipschitz(norm)
        assert values == pytest.approx(1 / np.linalg.norm([1.0, 1.0], norm)) and errors[0] < 1e-12


def test_gradients_whose_squares_overflow() -> None:
    net = Network([([[3e200, 4e200]], None), ([[1.0]], None)])
    values, errors = statistics(net, SQUARE).lipschitz(2, "input")
    assert values == pytest.approx([5e200]) and errors[0] < 1e188


def test_a_share_below_the_smallest_double_is_within_its_error() -> None:
    # The case that revealed this error has outputs near the smallest double.
    for finding in statistics_findings(*draw("denormal", 2, 907)):
        raise AssertionError(finding)


def test_lipschitz_constants_that_overflow_are_infinite_without_a_warning() -> None:
    for space in ("domain", "input"):
        values, errors = statistics(*draw("max_extreme", 1, 888)).lipschitz(2, space)
        assert not np.isnan(values).any() and not np.isnan(errors).any()


def test_sizes_below_the_smallest_double_have_bounds() -> None:
    """The integral is 1e-400, and the area of the square 1e-400."""
    tiny = 1e-200
    net = regions.Network([([[1.0]], [tiny]), ([[1.0]], [0.0])])
    found = regions.statistics(net, regions.Domain([0.0], [[tiny]], [[1, 0], [1, 1]]))
    assert 0.0 <= found.integral[0] < found.integral_errors[0] <= 1e-300
    net = regions.Network([([[1.0, 0.0]], [-tiny / 2]), ([[1.0]], [0.0])])
    square = regions.Rectangle([0, 0], [tiny, 0], [0, tiny])
    found = regions.statistics(net, square)
    assert 0.0 <= found.integral[0] < found.integral_errors[0] <= 1e-300
    verdict = regions.verify(net, square, [([[-1.0]], [-tiny / 4])])
    assert not verdict.holds and abs(verdict.violated_share - 0.25) <= verdict.errors
