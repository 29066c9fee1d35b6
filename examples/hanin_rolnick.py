# SPDX-License-Identifier: MIT
"""Do the theorems of Hanin and Rolnick (2019) on random networks hold, in numbers?

    python examples/hanin_rolnick.py                    # two thousand networks for each row: ten minutes
    python examples/hanin_rolnick.py --networks 50      # seconds

The first table has both sides of Theorem 3 (Theorem 6 for activations with two breakpoints), per volume of the body.
They are the mean boundary of drawn networks, measured exactly (by exact counts on random lines beyond two dimensions),
and the mean of the integrand at random points. The second table compares means over one random layer with their closed
forms. The last column is the difference in standard errors: for 30 rows, one or two are above 2 in size, and none above
4. The exit code is 1 if one is above 4.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import shapely

import regions
from regions import bounds
from regions.ensembles import Ensemble, Gaussian, Uniform
from regions.measures import (
    Ball,
    Estimate,
    Hyperrectangle,
    distance_to_boundary,
    hanin_rolnick_integral,
    mean_boundary_density,
)

INTERVAL, SQUARE = Hyperrectangle([-1], [1]), Hyperrectangle([-1, -1], [1, 1])

# Ensemble, body and codimension.
THEOREM = [
    (Ensemble([1, 8, 1], biases=Gaussian(0.5)), INTERVAL, 1),
    (Ensemble([1, 4, 4, 1], biases=Gaussian(0.5)), INTERVAL, 1),
    (Ensemble([1, 3, 2, 2, 1], biases=Gaussian(0.5)), INTERVAL, 1),
    (Ensemble([1, 8, 8, 8, 1], biases=Gaussian(0.5)), INTERVAL, 1),
    (Ensemble([1, 16, 16, 16, 1], biases=Gaussian(0.3)), INTERVAL, 1),
    (Ensemble([1, 16, 16, 1], biases=Gaussian(1e-3)), INTERVAL, 1),
    (Ensemble([1, 6, 6, 1], "hard_tanh", biases=Gaussian(1.0)), INTERVAL, 1),
    (Ensemble([1, 5, 5, 1], weights=Uniform(6**0.5), biases=Uniform(3**0.5)), INTERVAL, 1),
    (Ensemble([2, 8, 1], biases=Gaussian(0.5)), SQUARE, 1),
    (Ensemble([2, 6, 6, 1], biases=Gaussian(0.5)), SQUARE, 1),
    (Ensemble([2, 12, 12, 1], biases=Gaussian(1e-3)), SQUARE, 1),
    (Ensemble([2, 4, 3, 3, 2], biases=Gaussian(1.0)), SQUARE, 1),
    (Ensemble([2, 4, 4, 1], "hard_tanh", biases=Gaussian(1.0)), SQUARE, 1),
    (Ensemble([2, 5, 4, 1], "leaky_relu(0.1)", biases=Gaussian(1.0)), SQUARE, 1),
    (Ensemble([10, 10, 10, 1], biases=Gaussian(1.0)), Ball(np.zeros(10), 2.0), 1),
    (Ensemble([16, 8, 8, 1], biases=Gaussian(1.0)), Hyperrectangle(np.zeros(16), np.ones(16)), 1),
    (Ensemble([2, 4, 5, 1], biases=Gaussian(1.0)), SQUARE, 2),
    (Ensemble([2, 3, 3, 1], "hard_tanh", biases=Gaussian(1.0)), SQUARE, 2),
]


def one_layer(n_in: int, units: int) -> Ensemble:
    """Return the ensemble with weights and biases of variance 1."""
    return Ensemble([n_in, units, 1], weights=Gaussian(1.0), biases=Gaussian(1.0), scaling="none")


def regions_in_ball(n_in: int, units: int, radius: float, networks: int, rng: np.random.Generator) -> Estimate:
    """Estimate the mean number of regions that meet a ball around 0, for one or two inputs."""
    found = []
    for _ in range(networks):
        network = one_layer(n_in, units).draw(rng)
        if n_in == 1:
            found.append(float(regions.count(network, regions.Segment([-radius], [radius]))))
        else:
            square = radius * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
            cells = regions.enumerate(network, regions.Polygon(square)).to_shapely()
            found.append(float((shapely.distance(cells, shapely.Point(0, 0)) < radius).sum()))
    return Estimate(found)


def distance_of_zero(n_in: int, units: int, networks: int, rng: np.random.Generator) -> Estimate:
    """Estimate the mean distance from 0 to the boundary."""
    zero = np.zeros(n_in)
    return Estimate(
        [float(distance_to_boundary(one_layer(n_in, units).draw(rng), zero).distances) for _ in range(networks)]
    )


def density_at_zero(n_in: int, units: int, codimension: int, networks: int, rng: np.random.Generator) -> Estimate:
    """Estimate the integrand of Theorem 3, where its closed form is known: in a ball that is almost a point."""
    ball = Ball(np.zeros(n_in), 1e-9)
    return hanin_rolnick_integral(
        one_layer(n_in, units), ball, networks=networks, rng=rng, codimension=codimension, places=4
    )


def theorem(networks: int, rng: np.random.Generator) -> list[float]:
    """Print both sides for each row of THEOREM; return the differences in standard errors."""
    print(f"{'networks':<36}{'body':<14}{'k':>2}  {'boundary per volume':<22}{'integral':<22}{'apart':>6}")
    deviations = []
    for random, body, k in THEOREM:
        lines = 4 if body.n_in > 1 else 1
        left = mean_boundary_density(random, body, networks=networks, rng=rng, codimension=k, lines=lines)
        places = lines if k == 1 else 8
        right = hanin_rolnick_integral(random, body, networks=networks, rng=rng, codimension=k, places=places)
        deviations.append(left.deviation(right))
        law = random.bias_laws[0]
        word = "uniform biases" if isinstance(law, Uniform) else "biases"
        name = f"{'-'.join(map(str, random.sizes))} {random.activation}, {word} {law.std:g}"
        where = f"{type(body).__name__.lower()} in R^{body.n_in}"
        print(f"{name:<36}{where:<14}{k:>2}  {shown(left):<22}{shown(right):<22}{deviations[-1]:>6.2f}", flush=True)
    return deviations


def closed_forms(networks: int, rng: np.random.Generator) -> list[float]:
    """Print means over single layers with their closed forms; return the differences in standard errors."""
    print(f"\n{'one layer, weights and biases N(0, 1)':<54}{'mean':<24}{'closed form':<14}{'apart':>6}")
    rows: list[tuple[str, Estimate, float]] = []
    for d, units, radius in ((1, 10, 1.0), (1, 10, 10.0), (2, 10, 1.0), (2, 10, 3.0), (2, 16, 1.0)):
        expected = bounds.expected_regions_shallow_ball(d, units, radius)
        name = f"regions of {units} units in a ball of radius {radius:g} in R^{d}"
        rows.append((name, regions_in_ball(d, units, radius, networks, rng), expected))
    for d, units in ((1, 10), (1, 100), (2, 10), (2, 100), (10, 64)):
        name = f"distance from 0 to {units} units in R^{d}"
        # Ten times as many, because distances are nearly exponential: with few, mean and error are small together.
        found = distance_of_zero(d, units, 10 * networks, rng)
        rows.append((name, found, bounds.expected_distance_shallow(d, units)))
    for d, units, k in ((2, 10, 1), (2, 10, 2), (5, 8, 1), (5, 8, 3)):
        name = f"stratum of codimension {k} of {units} units at 0 in R^{d}"
        rows.append((name, density_at_zero(d, units, k, networks, rng), bounds.expected_strata_shallow(d, units, k)))
    for name, estimate, expected in rows:
        print(f"{name:<54}{shown(estimate):<24}{expected:<14.6g}{estimate.deviation(expected):>6.2f}")
    return [estimate.deviation(expected) for _, estimate, expected in rows]


def shown(estimate: Estimate) -> str:
    return f"{estimate.value:.5g} +- {estimate.standard_error:.2g}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Theorems on random networks, in numbers.")
    parser.add_argument("--networks", type=int, default=2000, help="for each row (default: 2000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    deviations = theorem(options.networks, rng) + closed_forms(options.networks, rng)
    return int(max(map(abs, deviations)) > 4.0)


if __name__ == "__main__":
    sys.exit(main())
