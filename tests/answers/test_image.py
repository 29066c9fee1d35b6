# SPDX-License-Identifier: MIT
"""Do images of regions agree with rational arithmetic: corners, ranks, distortions and sizes?"""

from __future__ import annotations

import json
import warnings
from fractions import Fraction

import numpy as np
import pytest

import regions
import regions.answers.distortion
from generators import FAMILIES, draw
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from image_judge import image_findings
from regions import Line, Network, Polygon, Segment
from regions.errors import DomainError, NonFiniteError, ShapeMismatchError

# The fractions of deep graphs take half a minute.
QUICK = [family for family in (*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES) if family != "graph_deep"]
SQUARE = Polygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
CROSS = Network([(np.eye(2), None), ([[1.0, 1.0], [1.0, -1.0]], None)])


@pytest.mark.parametrize("family", QUICK)
def test_images_are_those_of_rational_arithmetic(family: str) -> None:
    for dimension in (1, 2):
        net, domain = draw(family, dimension, 4)
        assert list(image_findings(net, domain)) == []


@pytest.mark.parametrize(("family", "dimension", "seed"), [("max_extreme", 1, 13), ("overflowing", 2, 19)])
def test_maps_beyond_the_doubles_warn_nobody(family: str, dimension: int, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(image_findings(*draw(family, dimension, seed))) == []


def test_ranks_that_rounding_cannot_tell() -> None:
    # The determinant is 2^-60 in the first network and 0 in the second one.
    tiny = [[1.0 + 2.0**-30, 1.0], [1.0, 1.0 - 2.0**-30]]
    for lower, rank in ((1.0 - 2.0**-30 + 2.0**-52, 2), (1.0 - 2.0**-30, 2), (1.0, 1)):
        weights = [*tiny[:1], [1.0, lower]] if rank == 2 else [[1.0, 1.0], [1.0, 1.0]]
        found = regions.image(Network([(weights, None)]), SQUARE)
        exact = Fraction(weights[0][0]) * Fraction(weights[1][1]) - Fraction(weights[0][1]) * Fraction(weights[1][0])
        assert found.ranks.tolist() == [2 if exact else 1]
        assert abs(Fraction(found.distortions[0]) - abs(exact)) <= Fraction(found.distortion_errors[0])
        assert bool(found.distortions[0]) == bool(exact)


def test_a_single_output_has_segments_as_images() -> None:
    net = Network([(np.eye(2), None), ([[1.0, 2.0]], None)])
    found = regions.image(net, SQUARE)
    assert found.kinds == {"polygons": 0, "segments": 3, "points": 1}
    assert not found.distortions.any() and not found.distortion_errors.any() and found.volume == found.volume_error == 0
    found._at.exact.forms = None  # nothing had to be decided in fractions
    assert regions.answers.distortion.distortions(found._at).ranks.tolist() == found.ranks.tolist()


def test_units_that_do_not_move_prove_a_collapse() -> None:
    rng = np.random.default_rng(8)
    sizes = [(2, 12), (12, 6), (6, 1), (1, 3)]
    net = Network([(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in sizes])
    found = regions.image(net, SQUARE)
    found._at.exact.forms = None
    assert found.ranks.max() == 1 and found.ranks.min() == 0 and found.volume == 0
    # A skip connection passes the inputs around the waist.
    skip = regions.closed_loop(net, A=np.eye(2), B=np.ones((2, 3)))
    assert regions.image(skip, SQUARE).ranks.max() == 2 and list(image_findings(skip, SQUARE)) == []


def test_numbers_near_the_ends_of_the_doubles() -> None:
    for scale in (2.0**-600, 2.0**500):
        found = regions.image(Network([(scale * np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), None)]), SQUARE)
        exact = Fraction(scale) ** 2
        (value,), (error,) = found.distortions, found.distortion_errors
        # The three minors are -2, -3 and 1.
        if np.isfinite(value):
            low, high = max(Fraction(value) - Fraction(error), Fraction(0)), Fraction(value) + Fraction(error)
            assert low**2 <= 14 * exact**2 <= high**2
        else:
            assert error == np.inf
        assert found.ranks.tolist() == [2]
    lengths = regions.image(Network([([[2.0**-600], [2.0**-600]], None)]), Segment([0.0], [1.0]))
    assert lengths.volume == pytest.approx(2.0**-599.5, rel=1e-12) and lengths.volume_error < 2.0**-640


def test_after_a_layer_and_in_a_projection() -> None:
    rng = np.random.default_rng(5)
    sizes = [(2, 8), (8, 5), (5, 3)]
    net = Network([(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in sizes])
    after = regions.image(net.until(0), SQUARE)
    part = regions.enumerate(net.until(0), SQUARE)
    assert len(after.partition) == len(part) and after.vertices.shape[1] == 8
    flat = regions.image(net, SQUARE, forms=[[1.0, 0.0, 0.0], [0.0, 1.0, -1.0]])
    whole = regions.image(net, SQUARE)
    assert flat.vertices == pytest.approx(np.column_stack([whole.vertices[:, 0], -np.diff(whole.vertices[:, 1:])]))
    assert (whole.volumes >= flat.volumes / 2).all()
    assert whole.errors.max() < 1e-10 and whole.volume_error < 1e-10 * whole.volume


def test_a_length_is_that_of_the_trajectory() -> None:
    rng = np.random.default_rng(6)
    net = Network([(rng.normal(size=(6, 3)), rng.normal(size=6)), (rng.normal(size=(4, 6)), rng.normal(size=4))])
    segment = Segment([0.0, 1.0, 2.0], [3.0, -1.0, 0.5])
    found, along = regions.image(net, segment), regions.trajectory(net, segment)
    assert abs(found.volume - along.lengths[-1]) <= found.volume_error + along.length_errors[-1]
    assert [len(each) for each in found.polygons] == [2] * len(found.partition)


def test_reports() -> None:
    found = regions.image(CROSS, SQUARE)
    assert repr(found) == "Image(4 regions, 3 collapse, area 2 with multiplicity)"
    facts = json.loads(found.to_json())
    assert facts["regions"] == 4 and sorted(facts["ranks"]) == [0, 1, 1, 2] and facts["volume"] == pytest.approx(2.0)
    assert "images that are segments" in found._repr_html_() and "area" in found._repr_html_()
    assert found.extremes.maximum.tolist() == [2.0, 1.0]
    assert found.statistics.mean == pytest.approx([0.5, 0.0])
    axes = found.plot()
    assert len(axes.collections[0].get_paths()) == 4


def test_refused() -> None:
    with pytest.raises(DomainError, match="images exist in bounded domains"):
        regions.image(CROSS, Line([0.0, 0.0], [1.0, 0.0]))
    with pytest.raises(ValueError, match="a picture shows images in a plane, and this one has 1 coordinate"):
        regions.image(CROSS, SQUARE, outputs=[0]).plot()
    beyond = regions.image(Network([([[2.0**1000]], None), ([[2.0**1000]], None)]), Segment([0.0], [1.0]))
    with pytest.raises(NonFiniteError, match="output 0 at vertex"):
        beyond.vertices  # noqa: B018
    with pytest.raises(ShapeMismatchError):
        regions.image(CROSS, Segment([0.0], [1.0]))
