# SPDX-License-Identifier: MIT
"""Does all code that reads units support separate breakpoints for each?

The tests use an unnamed kind of units: triangle waves, each with a different period. If the periods are moved into the
weights (they are powers of two, so no bit changes), these are units of one ordinary activation.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from regions import Activation, Network, reference
from regions.domains import Domain, Plane, Rectangle, Segment

PERIODS, TURNS = np.array([0.5, 1.0, 2.0, 0.25]), np.arange(3.0)


class Waves(Activation):
    """Slopes 1 and -1 in turn, each for one period."""

    def __init__(self, periods: np.ndarray) -> None:
        breakpoints = np.outer(periods, TURNS)
        slopes = np.broadcast_to((-1.0) ** np.arange(len(TURNS) + 1), (len(periods), len(TURNS) + 1))
        steps = np.concatenate([np.zeros((len(periods), 1)), -np.diff(slopes) * breakpoints], axis=1)
        self.__dict__.update(name="waves", breakpoints=breakpoints, slopes=slopes, intercepts=np.cumsum(steps, axis=1))


def networks() -> tuple[Network, Network]:
    rng = np.random.default_rng(3)
    first, bias, second, other, last = (rng.integers(-8, 9, shape) / 8.0 for shape in ((4, 2), 4, (3, 4), 3, (2, 3)))
    one = Waves(np.ones(1))
    wave = Activation("wave", one.breakpoints[0], one.slopes[0], one.intercepts[0])
    own = Network([(first, bias), (second, other), (last, None)], [Waves(PERIODS), "relu"])
    scaled = [(first / PERIODS[:, np.newaxis], bias / PERIODS), (second * PERIODS, other), (last, None)]
    return own, Network(scaled, [wave, "relu"])


@pytest.mark.parametrize(
    "domain", [Rectangle([-2, -2], [4, 0], [0, 4]), Plane([0, 0], [1, 0], [0, 1]), Segment([-3, 1], [2, -2])]
)
def test_units_with_breakpoints_of_their_own(domain: Domain) -> None:
    own, same = networks()
    here, there = (regions.enumerate(network, domain) for network in (own, same))
    patterns = {tuple(bits) for bits in here.patterns.tolist()}
    assert regions.count(own, domain) == regions.count(same, domain) == len(here) == len(patterns)
    assert patterns == {tuple(bits) for bits in there.patterns.tolist()} == set(reference.patterns(own, domain))
    assert regions.certify(here, own).conclusion == f"proved: there are exactly {len(here)} regions"
    if domain.bounded:
        senses = ("open", "closed", "affine")
        counts = [[regions.linear_regions(part, sense).count for sense in senses] for part in (here, there)]
        assert counts[0] == counts[1]
    inside = domain.to_input(here.interior_points)
    assert (here.locate(inside) == np.arange(len(here))).all()
    slopes, constants = here.affine_maps(space="input")
    np.testing.assert_allclose(np.einsum("moi,mi->mo", slopes, inside) + constants, own(inside), atol=1e-12)
    assert own(inside).tolist() == same(inside).tolist() and (own.pattern(inside) == same.pattern(inside)).all()


def test_distances_to_breakpoints_of_their_own() -> None:
    points = np.random.default_rng(4).uniform(-3, 3, (40, 2))
    own, same = (regions.measures.distance_to_boundary(network, points) for network in networks())
    assert (own.kinks == same.kinks).all()
    np.testing.assert_allclose(own.distances, same.distances, rtol=1e-12)
