# SPDX-License-Identifier: MIT
"""Are networks of maxout units drawn as `MaxoutEnsemble` says?"""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest

import regions
from regions import bounds
from regions.ensembles import Discrete, Gaussian, MaxoutEnsemble, Uniform
from regions.errors import ShapeMismatchError
from regions.measures import Estimate


@pytest.mark.parametrize(
    ("rank", "variance"),
    [(2, 1.0), (3, 2 * pi / (sqrt(3) + 2 * pi)), (4, pi / (sqrt(3) + pi)), (5, 0.5555)],
)
def test_variances_are_those_of_the_authors(rank: int, variance: float) -> None:
    laws = MaxoutEnsemble([7, 3, 5, 2], rank).weight_laws
    assert np.allclose([law.std**2 for law in laws], [variance / 7, variance / 3, 1 / 5], rtol=1e-4)


@pytest.mark.parametrize("rank", [2, 5, 9])
def test_a_layer_keeps_the_mean_square(rank: int) -> None:
    rng = np.random.default_rng(rank)
    x = rng.standard_normal(6)
    after = []
    for _ in range(400):
        network = MaxoutEnsemble([6, 40, 40, 1], rank).draw(rng)
        after.append(float((network.until(1)(x) ** 2).mean()))
    assert abs(Estimate(after).deviation(float((x**2).mean()))) < 4


def test_regions_on_a_line_follow_the_law() -> None:
    rng = np.random.default_rng(0)
    ensemble = MaxoutEnsemble([3, 8, 1], 4, weights=Gaussian(2.0), biases=Gaussian(0.5))
    line = regions.Line([1.0, 0.0, 2.0], [1.0, 1.0, -1.0])
    counts = [float(regions.count(ensemble.draw(rng), line)) for _ in range(300)]
    assert abs(Estimate(counts).deviation(bounds.expected_regions_maxout_line(3, 8, 4))) < 4


def test_draws_are_seeded_and_laws_are_used() -> None:
    ensemble = MaxoutEnsemble([2, 4, 3], 2, weights=Discrete([-1.0, 1.0]), biases=Uniform(0.25))
    first, again = ensemble.draw(5), ensemble.draw(5)
    assert first.fingerprint == again.fingerprint != ensemble.draw(6).fingerprint
    layer = first.graph.nodes[0]
    assert (abs(layer.reads[0].operator.weights) == 1 / sqrt(2)).all() and (abs(layer.biases) <= 0.25).all()
    assert str(ensemble) == "2-4-3, maxout of rank 2" and (ensemble.n_in, ensemble.widths) == (2, (4,))


def test_invalid_arguments() -> None:
    with pytest.raises(ShapeMismatchError, match="at least 3 numbers"):
        MaxoutEnsemble([2, 1], 2)
    with pytest.raises(ValueError, match="rank must be"):
        MaxoutEnsemble([2, 2, 1], 1)
    with pytest.raises(TypeError, match="biases must be a Gaussian"):
        MaxoutEnsemble([2, 2, 1], 2, biases=0.5)  # type: ignore[arg-type]
