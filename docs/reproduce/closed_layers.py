# SPDX-License-Identifier: MIT
"""On which share of a domain is a layer of a random network closed: is `bounds.expected_closed_share` exact?

A layer is closed where none of its units is active, and the network is constant there. Lengths, areas and volumes of
the regions with a closed layer are added up, for narrow and wide, shallow and deep shapes on a segment, in a square and
in a cube, with three laws of weights and biases. The table has the law, the mean over networks, and half of its
interval at 95 percent.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options

import regions
from regions import bounds
from regions.domains import Box, Domain, Polytope, Rectangle, Segment
from regions.measures import Estimate
from regions.networks.network import Network

SMALL = {"networks": 20}
LAWS = {
    "he": lambda rng, a, b: (rng.normal(0, (2 / a) ** 0.5, (b, a)), rng.normal(0, 1, b)),
    "torch": lambda rng, a, b: (rng.uniform(-(a**-0.5), a**-0.5, (b, a)), rng.uniform(-(a**-0.5), a**-0.5, b)),
    "cauchy": lambda rng, a, b: (rng.standard_cauchy((b, a)), rng.standard_cauchy(b)),
}
DOMAINS: dict[int, Domain | Polytope] = {
    1: Segment([-2.0], [2.0]),
    2: Rectangle([-2.0, -2.0], [4.0, 0.0], [0.0, 4.0]),
    3: Box([-2.0] * 3, [2.0] * 3),
}
ROWS = [
    *((1, widths, "he") for widths in [(1,), (2, 2), (3, 3, 3), (1, 8), (4,) * 8, (6,) * 6]),
    *((2, widths, "he") for widths in [(2,), (3, 3), (2, 5), (4, 4, 4), (6,) * 4, (3, 2, 3)]),
    *((2, (3, 3), law) for law in ("torch", "cauchy")),
    *((1, (3, 3, 3), law) for law in ("torch", "cauchy")),
    *((3, widths, "he") for widths in [(3, 3), (2, 4)]),
]


def closed_share(network: Network, domain: Domain | Polytope) -> float:
    """Return the share of a domain on which a layer is closed."""
    part = regions.enumerate(network, domain)
    ends = np.cumsum((0, *network.widths))
    layers = [~part.patterns[:, start:end].any(axis=1) for start, end in zip(ends, ends[1:], strict=False)]
    return float(part.volumes[np.any(layers, axis=0)].sum() / part.volumes.sum())


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=1000)
    figure, (ax,) = new_figure(1)
    rows: list[list[object]] = []
    for number, (n_in, widths, law) in enumerate(ROWS):
        rng = np.random.default_rng([options.seed, number])
        sizes = list(zip((n_in, *widths), (*widths, 1), strict=True))
        networks = (regions.Network([LAWS[law](rng, a, b) for a, b in sizes]) for _ in range(options.networks))
        found = Estimate(np.array([closed_share(network, DOMAINS[n_in]) for network in networks]))
        low, high = found.interval(0.95)
        exact = float(bounds.expected_closed_share(n_in, widths))
        rows.append([f"{n_in}: {'-'.join(map(str, widths))} {law}", exact, found.value, (high - low) / 2])
    ax.plot([row[1] for row in rows], [row[2] for row in rows], "o", markersize=4)
    ax.plot([0, 1], [0, 1], "k--", linewidth=1)
    ax.set(xlabel="exact law", ylabel="mean share with a closed layer")
    return keep(options, __file__, figure, ["inputs: widths", "law", "share", "+- 95%"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
