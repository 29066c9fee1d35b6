# SPDX-License-Identifier: MIT
"""Do both sides of Hanin and Rolnick's Theorem 3 agree, with each other and with closed forms?

All rows of examples/hanin_rolnick.py are run, on few networks. The other tests are about parts that make the two sides
differ if they are wrong: which neurons are good, and at which biases.
"""

from __future__ import annotations

import runpy
from dataclasses import replace
from math import pi
from pathlib import Path

import numpy as np
import pytest

import regions
from measures_parts import PLANE_BOX, close
from random_networks import random_network
from regions import bounds
from regions.ensembles import Discrete, Ensemble, Gaussian, Uniform
from regions.errors import ShapeMismatchError
from regions.measures import Ball, Estimate, Hyperrectangle, hanin_rolnick_integral, mean_boundary_density
from regions.measures.pinned_neurons import _pin, expected_crossings

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples" / "hanin_rolnick.py"


def test_the_theorem_and_closed_forms(capsys: pytest.CaptureFixture[str]) -> None:
    """All rows of the example, on few networks: more than ten architectures, n_in of 1, 2, 10 and 16."""
    example = runpy.run_path(str(EXAMPLE))
    assert example["main"](["--networks", "20", "--seed", "5"]) == 0
    assert len(example["THEOREM"]) >= 10
    assert capsys.readouterr().out.count("+-") == 2 * len(example["THEOREM"]) + 14


def test_good_neurons_are_seen() -> None:
    """One unit after four: by symmetry it is closed half of the time, and hides half of the first layer's kinks.

    The factor of both sides for the condition that neurons are good then has a closed form.
    """
    random = Ensemble([1, 4, 1, 1], biases=Gaussian(0.5))
    hidden = 4 * (2 / pi * np.arctan(np.sqrt(2.0) / 0.5)) / 2 / 2
    for side in (mean_boundary_density, hanin_rolnick_integral):
        # With equal seeds the same networks and points are drawn.
        every, good = (
            side(
                random, Hyperrectangle([-1], [1]), networks=250, rng=np.random.default_rng(6), boundary=boundary
            ).samples
            for boundary in ("activation", "gradient")
        )
        assert close(Estimate(every - good), hidden, 0.15)


def test_neurons_are_good_or_not_where_the_kink_is() -> None:
    """At 0 the second unit is open; on both kinks of the first one, whose value is then -1 or 1, it is saturated."""
    network = regions.Network([([[1.0]], None), ([[3.0]], None), ([[1.0]], None)], "hard_tanh")
    pinned = _pin(network, np.zeros(1), np.arange(4)[:, np.newaxis])
    assert pinned.good.ravel().tolist() == [False, False, True, True]
    assert pinned.biases.ravel().tolist() == [-1.0, 1.0, -1.0, 1.0]
    assert pinned.gradients.ravel().tolist() == [1.0, 1.0, 3.0, 3.0]


def test_on_a_line_the_integral_is_a_probability() -> None:
    """The first unit's kinks are hidden, as above. The second's value goes from -3 to 3, and is constant after that."""
    network = regions.Network([([[1.0]], None), ([[3.0]], None), ([[1.0]], None)], "hard_tanh")
    random = Ensemble([1, 1, 1, 1], "hard_tanh", biases=Uniform(3**0.5 * 10.0))
    start, end = np.array([-2.0]), np.array([4.0])
    per_bias = 1 / (2 * np.sqrt(3.0) * 10)
    assert expected_crossings(network, random, start, end, "gradient") == pytest.approx(2 * 6 * per_bias, rel=1e-14)
    assert expected_crossings(network, random, start, end, "activation") == pytest.approx(24 * per_bias, rel=1e-14)
    assert expected_crossings(network, random, start, start, "gradient") == 0.0


def test_narrow_biases() -> None:
    """Nearly all of the integral is within a thousandth of the zeros of the pre-activation without its bias."""
    rng = np.random.default_rng(12)
    random = Ensemble([1, 12, 12, 1], biases=Gaussian(1e-3))
    left = mean_boundary_density(random, Hyperrectangle([0], [1]), networks=400, rng=rng)
    right = hanin_rolnick_integral(random, Hyperrectangle([0], [1]), networks=100, rng=rng)
    assert abs(left.deviation(right)) < 4
    assert right.standard_error < 0.03 * right.value


def test_too_few_points_that_count() -> None:
    """In codimension 2 with narrow biases hardly any point contributes to the integral: this is refused, instead of an
    estimate of 0 +- 0.
    """
    for std in (1e-3, 1e-6):
        random = Ensemble([2, 4, 4, 1], biases=Gaussian(std))
        with pytest.raises(ValueError, match=r"the equivalent of \d of 50 networks"):
            hanin_rolnick_integral(random, PLANE_BOX, networks=50, rng=np.random.default_rng(13), codimension=2)
    # Nothing to find.
    straight = Ensemble([2, 3, 1], "leaky_relu(1.0)", biases=Gaussian(1.0))
    found = hanin_rolnick_integral(straight, PLANE_BOX, networks=5, rng=np.random.default_rng(14), codimension=2)
    assert found.value == 0.0


def test_the_way_through_a_pinned_neuron_is_open() -> None:
    """Where two bent lines cross, the only path from the first neuron leads through the second one, which is open on
    one side.
    """
    network = regions.Network([([[1.0, 0.0], [0.0, 1.0]], None), ([[1.0, 1.0]], [-1.0]), ([[1.0]], None)])
    pinned = _pin(network, np.array([0.0, 1.0]), np.array([[0, 2]]))
    assert pinned.good.tolist() == [[True, True]]


def test_strata_at_zero() -> None:
    rng = np.random.default_rng(7)
    for d, units, k in ((1, 6, 1), (2, 10, 2), (3, 6, 3)):
        random = Ensemble([d, units, 1], weights=Gaussian(1.0), biases=Gaussian(1.0), scaling="none")
        found = hanin_rolnick_integral(random, Ball(np.zeros(d), 1e-9), networks=300, rng=rng, codimension=k)
        assert close(found, bounds.expected_strata_shallow(d, units, k), 0.1)


def test_many_sets_of_kinks_are_sampled() -> None:
    """120 units have 7140 pairs, of which 4096 are sampled."""
    random = Ensemble([2, 120, 1], biases=Gaussian(1.0))
    found = hanin_rolnick_integral(random, Ball([0, 0], 1e-9), networks=20, rng=np.random.default_rng(8), codimension=2)
    assert close(found, bounds.expected_strata_shallow(2, 120, 2), 0.1)


def test_breakpoints_without_a_bend_do_not_bound_the_gradient() -> None:
    straight = Ensemble([1, 5, 1], "leaky_relu(1.0)", biases=Gaussian(1.0))
    rng = np.random.default_rng(9)
    assert hanin_rolnick_integral(straight, Hyperrectangle([-1], [1]), networks=5, rng=rng).value == 0.0
    assert mean_boundary_density(straight, Hyperrectangle([-1], [1]), networks=5, rng=rng).value == 0.0
    assert (
        hanin_rolnick_integral(straight, Hyperrectangle([-1], [1]), networks=5, rng=rng, boundary="activation").value
        > 0.0
    )


def test_refusals() -> None:
    network, rng = random_network([2, 4, 1]), np.random.default_rng(11)
    random = Ensemble([2, 3, 1], biases=Gaussian(1.0))
    with pytest.raises(TypeError, match="expected regions.ensembles.Ensemble, got Network"):
        mean_boundary_density(network, PLANE_BOX, networks=5, rng=rng)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="codimension 3 is above the 2 dimensions"):
        hanin_rolnick_integral(random, PLANE_BOX, networks=5, rng=rng, codimension=3)
    with pytest.raises(ShapeMismatchError, match="codimension 2 is measured in boxes of 2 to 6 dimensions only"):
        mean_boundary_density(random, Ball([0, 0], 1.0), networks=5, rng=rng, codimension=2)
    for wrong in (Ensemble([2, 3, 1]), Ensemble([2, 3, 1], biases=Discrete([-1, 1]))):
        with pytest.raises(ValueError, match="about biases with densities"):
            mean_boundary_density(wrong, PLANE_BOX, networks=5, rng=rng)
    for wrong in (replace(random, alpha=0.5), replace(random, weights=Discrete([-1, 1]))):
        with pytest.raises(ValueError, match="about weights with densities"):
            hanin_rolnick_integral(wrong, PLANE_BOX, networks=5, rng=rng)


def test_each_layer_has_a_law_of_its_own() -> None:
    """Wide biases in the first layer, narrow ones in the second: exchanging them would change the result."""
    random = Ensemble([1, 6, 6, 1], biases=[Gaussian(2.0), Uniform(0.05), None])
    rng = np.random.default_rng(15)
    left = mean_boundary_density(random, Hyperrectangle([-1], [1]), networks=400, rng=rng)
    right = hanin_rolnick_integral(random, Hyperrectangle([-1], [1]), networks=200, rng=rng)
    assert abs(left.deviation(right)) < 4 and right.standard_error < 0.05 * right.value
    plane = Ensemble([2, 3, 3, 1], biases=[Gaussian(0.3), Uniform(2.0), None])
    left = mean_boundary_density(plane, PLANE_BOX, networks=300, rng=rng, codimension=2)
    right = hanin_rolnick_integral(plane, PLANE_BOX, networks=300, rng=rng, codimension=2, places=4)
    assert abs(left.deviation(right)) < 4
