# SPDX-License-Identifier: MIT
"""Do the extremes of outputs agree exactly with the reference, and are their positions right?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from regions import Domain, Line, Network, Plane, Polygon, Segment, extremes, reference

SQUARE = Polygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
CROSS = Network([(np.vstack([np.eye(2), -np.eye(2)]), None), ([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, -1.0, 0.0]], None)])


def reference_values(net: Network, domain: Domain) -> list[list[Fraction]]:
    """The values of each output at all corners of all regions of the reference."""
    values: list[list[Fraction]] = [[] for _ in range(net.n_out)]
    for part in reference.enumerate(net, domain):
        for vertex in part.vertices:
            for output, form in enumerate(part.output):
                values[output].append(form[0] + sum(a * x for a, x in zip(form[1:], vertex, strict=True)))
    return values


def require_extremes(net: Network, domain: Domain) -> None:
    found = extremes(net, domain)
    for output, values in enumerate(reference_values(net, domain)):
        assert found.exact_minimum[output] == min(values)
        assert found.exact_maximum[output] == max(values)
        for rounded, errors, exact in (
            (found.minimum, found.minimum_errors, min(values)),
            (found.maximum, found.maximum_errors, max(values)),
        ):
            assert errors[output] == np.inf or abs(Fraction(rounded[output]) - exact) <= Fraction(errors[output])
            assert (errors[output] == np.inf) == (rounded[output] in (np.inf, -np.inf))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dimension", [1, 2])
def test_extremes_are_those_of_the_reference(family: str, dimension: int) -> None:
    for seed in range(2):
        net, domain = draw(family, dimension, seed)
        if domain.bounded:
            require_extremes(net, domain)
        else:
            require_ends(net, domain)


def test_a_plateau_is_given_by_its_first_point() -> None:
    found = extremes(CROSS, SQUARE)
    assert found.exact_minimum == (0, -1) and found.exact_maximum == (2, 1)
    values = [part.output for part in reference.enumerate(CROSS, SQUARE)]
    assert len(values) == len(found.partition)
    flat = Network([([[1.0, 0.0], [0.0, 1.0]], [-2.0, 0.0]), ([[1.0, 0.0]], [0.25])])  # inactive on the whole square
    found = extremes(flat, SQUARE)
    assert found.minimum == found.maximum == 0.25 and found.argmin.tolist() == found.argmax.tolist() == [[-1.0, -1.0]]
    assert found.argmin_regions == found.argmax_regions
    start, stop = found.partition.cell_offsets[found.argmin_regions[0] :][:2]
    assert [-1.0, -1.0] in found.partition.vertices[found.partition.cell_vertices[start:stop]].tolist()


def test_ties_between_corners_are_decided_exactly() -> None:
    # 3 x = 1 and its mirror image: the values at both ends differ by one part in 2^60, which doubles cannot
    # distinguish.
    tilted = Network([([[3.0], [-3.0]], [-1.0, -1.0]), ([[-1.0, -1.0 - 2.0**-52]], [1.0])])
    for net, wanted in (
        (tilted, 1.0),
        (Network([([[3.0], [-3.0]], [0.0, 0.0]), ([[1.0, 1.0 + 2.0**-52]], [0.0])]), -1.0),
    ):
        found = extremes(net, Segment([-1.0], [1.0]))
        place = found.argmin if wanted > 0 else found.argmax
        assert place == [[-1.0]]


@pytest.mark.parametrize("family", ["strips", "zero_bias", "ternary_weights", "clipped"])
def test_without_end_on_planes_and_lines(family: str) -> None:
    for dimension in (1, 2):
        for seed in range(3):
            net, domain = draw(family, dimension, seed)
            whole = (Line, Plane)[dimension - 1](domain.origin, *domain.directions)
            require_ends(net, whole)


def require_ends(net: Network, domain: Domain) -> None:
    """Check extremes on an unbounded domain: on larger boxes they either grow or stay the same."""
    found = extremes(net, domain)
    near, far = (_in_box(net, domain, side) for side in (2.0**200, 2.0**201))
    for output in range(net.n_out):
        for exact, pick in ((found.exact_minimum, min), (found.exact_maximum, max)):
            ends = pick(near[output]), pick(far[output])
            assert exact[output] == (ends[0] if ends[0] == ends[1] else None)


def _in_box(net: Network, domain: Domain, side: float) -> list[list[Fraction]]:
    generators = np.array(domain.generators)
    generators[generators[:, 0] == 0, 1:] *= side
    generators[:, 0] = 1.0
    return reference_values(net, Domain(domain.origin, domain.directions, generators))


def test_a_strip_has_its_extremes_on_its_borders() -> None:
    band = Network([([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], [0.0, -1.0, 1.0]), ([[-2.0, 1.0, 1.0]], [0.0])])
    found = extremes(band, Plane([0, 0], [1, 0], [0, 1]))
    assert found.exact_maximum == (1,) and found.exact_minimum == (0,)
    assert found.argmax.tolist() == [[0.0, 0.0]]


def test_errors_on_a_domain_of_subnormal_numbers() -> None:
    """The charge for a value at a corner is not a double before it is multiplied by the slopes."""
    rng, off, domain = np.random.default_rng(0), 0, regions.Rectangle.from_bounds([-1e-310, -1e-310], [1e-310, 2e-310])
    for _ in range(20):
        weights = [2.0**60 * rng.standard_normal(shape) for shape in ((3, 2), (4, 3), (2, 4))]
        network = Network([(each, None) for each in weights])
        require_extremes(network, domain)
        found = extremes(network, domain)
        off += sum(Fraction(x) != exact for x, exact in zip(found.maximum, found.exact_maximum, strict=True))
    assert off > 10


def test_directions_without_end_have_length_one() -> None:
    found = extremes(CROSS, Plane([0, 0], [3, 4], [4, -3]))
    assert found.maximum.tolist() == [np.inf, np.inf] and found.exact_maximum == (None, None)
    assert np.linalg.norm(found.argmax, axis=1) == pytest.approx(1.0)
    assert found.maximum_errors.tolist() == [0.0, 0.0]


def test_forms_and_outputs() -> None:
    difference = extremes(CROSS, SQUARE, forms=[[1, -1]])
    values = reference_values(CROSS, SQUARE)
    assert difference.exact_maximum == (max(a - b for a, b in zip(*values, strict=True)),)
    second = extremes(CROSS, SQUARE, outputs=[1])
    assert second.exact_maximum == extremes(CROSS, SQUARE).exact_maximum[1:]
    assert second.as_dict()["maximum"] == [1.0] and "maximum" in second._repr_html_()
    assert repr(second) == "Extremes([-1, 1] on 4 regions)"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"outputs": [0], "forms": [[1, 0]]}, ValueError, "not both"),
        ({"outputs": [2]}, ValueError, r"outputs\[0\]"),
        ({"outputs": []}, ValueError, "outputs is empty"),
        ({"forms": [[1.0]]}, ValueError, "2 columns, one for each output"),
        ({"forms": [[1.0, np.nan]]}, regions.RegionsError, "forms"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        extremes(CROSS, SQUARE, **options)  # type: ignore[arg-type]
