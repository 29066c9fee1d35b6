# SPDX-License-Identifier: MIT
"""Laws of one random layer: are the closed forms after Hanin and Rolnick's Theorem 3 the means of exact counts?

Eighteen shapes for each of three laws, with radii or codimensions, and weights and biases N(0, 1).
`bounds.expected_regions_shallow_ball`: regions that meet a ball around 0, counted on segments and in discs.
`bounds.expected_strata_shallow`: the right side of the theorem in a ball around 0 that is almost a point, with drawn
networks. `bounds.expected_distance_shallow`: distance of 0 to the boundary. The table has half of the interval at 95
percent, and the deviation in standard errors.
"""

from __future__ import annotations

import sys

import numpy as np
from common import half_interval, keep, new_figure, read_options

import regions
from regions import bounds
from regions.ensembles import Ensemble, Gaussian
from regions.measures import Ball, Estimate, distance_to_boundary, hanin_rolnick_integral, regions_in_discs

SMALL = {"networks": 40}
RADII = (0.5, 1.0, 3.0)
# Inputs and units, eighteen shapes for each law, with the radius or the codimension.
BALLS = [
    (d, units, RADII[number % 3])
    for d, widths in ((1, (1, 2, 3, 4, 6, 10, 16, 24, 40)), (2, (2, 3, 4, 5, 6, 8, 10, 12, 16)))
    for number, units in enumerate(widths)
]
STRATA = [
    *((1, units, 1) for units in (3, 6, 10, 20, 40)),
    *((2, units, k) for units, k in ((4, 1), (5, 2), (8, 1), (10, 2), (20, 2))),
    *((3, units, k) for units, k in ((4, 3), (6, 2), (8, 1), (12, 3), (16, 2))),
    *((5, units, k) for units, k in ((8, 3), (10, 2), (12, 1))),
]
DISTANCES = [
    *((1, units) for units in (3, 10, 30, 100)),
    *((2, units) for units in (2, 5, 10, 30, 100)),
    *((3, units) for units in (4, 16, 64)),
    *((10, units) for units in (4, 16, 64)),
    *((40, units) for units in (8, 32, 128)),
]


def one_layer(n_in: int, units: int) -> Ensemble:
    """Return the ensemble with weights and biases of variance 1."""
    return Ensemble([n_in, units, 1], weights=Gaussian(1.0), biases=Gaussian(1.0), scaling="none")


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=1000)
    figure, panels = new_figure(3)
    rows: list[list[object]] = []
    for number, (d, units, radius) in enumerate(BALLS):
        rng = np.random.default_rng([options.seed, number])
        counts = [_in_ball(one_layer(d, units).draw(rng), radius) for _ in range(options.networks)]
        law = bounds.expected_regions_shallow_ball(d, units, radius)
        rows.append(_row("expected_regions_shallow_ball", f"{units} units, R^{d}, radius {radius:g}", law, counts))
    for number, (d, units, k) in enumerate(STRATA):
        rng = np.random.default_rng([options.seed, 100 + number])
        found = hanin_rolnick_integral(
            one_layer(d, units), Ball(np.zeros(d), 1e-9), networks=options.networks, rng=rng, codimension=k
        )
        law = bounds.expected_strata_shallow(d, units, k)
        rows.append(_row("expected_strata_shallow", f"{units} units, R^{d}, codimension {k}", law, found.samples))
    for number, (d, units) in enumerate(DISTANCES):
        rng = np.random.default_rng([options.seed, 200 + number])
        zero = np.zeros(d)
        distances = [
            float(distance_to_boundary(one_layer(d, units).draw(rng), zero).distances) for _ in range(options.networks)
        ]
        law = bounds.expected_distance_shallow(d, units)
        rows.append(_row("expected_distance_shallow", f"{units} units, R^{d}", law, distances))
    titles = ("regions in a ball", "density of strata at 0", "distance of 0")
    laws = ("expected_regions_shallow_ball", "expected_strata_shallow", "expected_distance_shallow")
    for ax, law, title in zip(panels, laws, titles, strict=True):
        values, means, errors = zip(*(row[2:5] for row in rows if row[0] == law), strict=True)
        ax.errorbar(values, means, errors, fmt="o", markersize=3)
        ax.plot([min(values), max(values)], [min(values), max(values)], "k--", linewidth=1)
        ax.set(xscale="log", yscale="log", xlabel="law", ylabel=f"mean {title}")
    return keep(options, __file__, figure, ["law", "shape", "value", "mean", "+- 95%", "errors off"], rows)


def _row(law: str, shape: str, value: float, samples: object) -> list[object]:
    found = Estimate(np.array(samples, dtype=float))
    return [law, shape, value, found.value, half_interval(found.samples), found.deviation(value)]


def _in_ball(network: regions.Network, radius: float) -> int:
    """Count the regions of a network of one or two inputs that meet a ball around 0, exactly."""
    if network.n_in == 1:
        return regions.count(network, regions.Segment([-radius], [radius]))
    square = radius * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    return int(regions_in_discs(regions.enumerate(network, regions.Polygon(square)), [[0.0, 0.0]], radius)[0])


if __name__ == "__main__":
    main(sys.argv[1:])
