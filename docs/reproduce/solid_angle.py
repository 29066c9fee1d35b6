# SPDX-License-Identifier: MIT
"""Hanin and Rolnick 2019, Fig. 8, before training: are its numbers of regions solid angles?

With the paper's ensemble, whose biases are tiny, the mean number of regions in a square is 1 + N p / (2 pi) + C(N, 2)
omega / (2 pi), where p is the perimeter and omega the solid angle of the square seen from the origin of the input
space (`bounds.expected_regions_wide_polygon` without biases). So it depends on where the origin is. Squares around the
circumcentre of images of a 0, a 1 and a 2 are taken from raw images, and from the same images minus the mean image.
Each square has networks of its own. The table has the mean of the law over squares, the mean number of regions, their
ratio with half of its interval at 95 percent, which is over squares, the mean number over N^2 / 2, and the mean solid
angle, which is at most 2 pi.
"""

from __future__ import annotations

import sys
from math import comb, pi

import numpy as np
from common import half_interval, keep, load_images, new_figure, read_options

import regions
from regions import bounds, ensembles

SMALL = {"networks": 2, "squares": 6}
SHAPES = [(64, 64, 64), (192,), (32,) * 6]


def perimeter_and_law(corners: np.ndarray, widths: tuple[int, ...]) -> tuple[float, float]:
    """Return the perimeter of a polygon seen from 0, and the mean number of regions in it."""
    unit = corners / np.linalg.norm(corners, axis=1, keepdims=True)
    cosines = (unit * np.roll(unit, -1, axis=0)).sum(axis=1)
    return float(np.arccos(cosines).sum()), bounds.expected_regions_wide_polygon(corners, widths, sigma_b=0.0)


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=8, squares=100)
    images, labels = load_images(options, labelled=True)
    figure, (ax,) = new_figure(1)
    rows: list[list[object]] = []
    for name, shown in (("raw images", images), ("mean image subtracted", images - images.mean(axis=0))):
        for widths in SHAPES:
            rng = np.random.default_rng(options.seed)
            random = ensembles.hanin_rolnick2019([images.shape[1], *widths, 10])
            units, laws, means, angles = sum(widths), [], [], []
            for _ in range(options.squares):
                three = [shown[rng.choice(np.flatnonzero(labels == each))] for each in (0, 1, 2)]
                square = regions.circumsquare(*three)
                generators = np.asarray(square.generators)
                corners = square.to_input(generators[:, 1:] / generators[:, :1])
                perimeter, law = perimeter_and_law(corners, widths)
                laws.append(law)
                angles.append((law - 1 - units * perimeter / (2 * pi)) / comb(units, 2) * 2 * pi)
                means.append(regions.count([random.draw(rng) for _ in range(options.networks)], square).mean())
            mean, law = float(np.mean(means)), float(np.mean(laws))
            ratios = np.array(means) / np.array(laws)
            shape = f"{name}: {'-'.join(map(str, widths))}"
            rows.append(
                [shape, law, mean, ratios.mean(), half_interval(ratios), mean / (units**2 / 2), float(np.mean(angles))]
            )
            if widths == SHAPES[0]:
                ax.plot(laws, means, "o", markersize=3, label=name)
    ends = [0, ax.get_xlim()[1]]
    ax.plot(ends, ends, "k--", linewidth=1)
    ax.set(xlabel="law: perimeter and solid angle", ylabel="mean number of regions")
    ax.legend()
    head = ["images and widths", "law", "regions", "ratio", "+- 95%", "over N^2/2", "solid angle"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
