# SPDX-License-Identifier: MIT
"""Are graphs of regions expanders at initialisation?

A family of graphs expands if its spectral gaps and its conductances stay above a positive number. Graphs of regions in
the whole plane, and in a cube, are compared for growing widths. In a plane they are planar, so they cannot expand:
their conductance is at most a constant over the root of the number of regions. The table has means over networks: of
the regions, of the spectral gap, of the upper bound on the conductance, of both times powers of the number R of
regions, and the mean and the variance of the degrees. Weights are He's, biases are N(0, 1).
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options

import regions
from regions import measures
from regions.domains import Domain, Polytope
from regions.ensembles import Ensemble, Gaussian

SMALL = {"networks": 1, "most": 30}
ROWS = [
    *((2, widths) for widths in [(8, 8), (16, 16), (32, 32), (64, 64), (96, 96), (8,) * 4, (16,) * 4, (32,) * 4]),
    *((3, widths) for widths in [(6, 6), (12, 12), (18, 18), (24, 24)]),
]


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=20, most=1000)
    domains: dict[int, Domain | Polytope] = {
        2: regions.Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]),
        3: regions.Box([-1.0] * 3, [1.0] * 3),
    }
    rows: list[list[object]] = []
    for number, (inputs, widths) in enumerate(ROWS):
        if sum(widths) > options.most:
            continue
        rng = np.random.default_rng([options.seed, number])
        random = Ensemble([inputs, *widths, 1], biases=Gaussian(1.0))
        found = []
        for _ in range(options.networks):
            part = regions.enumerate(random.draw(rng), domains[inputs])
            graph, degrees = measures.expansion(part), measures.degrees(part)
            gap, conductance, size = graph.spectral_gap, float(graph.conductance), len(part)
            power = size ** (1 / inputs)
            found.append([size, gap, conductance, gap * power**2, conductance * power, degrees.mean(), degrees.var()])
        name = f"{'plane' if inputs == 2 else 'cube'}: {'-'.join(map(str, widths))}"
        rows.append([name, *np.array(found).mean(axis=0)])
    figure, (ax,) = new_figure(1)
    for name, marker in (("plane", "o"), ("cube", "s")):
        chosen = [[float(str(cell)) for cell in row[1:]] for row in rows if str(row[0]).startswith(name)]
        for column, label in ((1, "spectral gap"), (2, "conductance, at most")):
            ax.plot([row[0] for row in chosen], [row[column] for row in chosen], marker, label=f"{label}, {name}")
    sizes = np.array([float(str(row[1])) for row in rows])
    for slope, style in ((-1.0, ":"), (-0.5, "--")):
        ax.plot(np.sort(sizes), np.sort(sizes) ** slope, f"k{style}", linewidth=1, label=f"R^({slope:g})")
    ax.set(xscale="log", yscale="log", xlabel="regions R", ylabel="spectral gap, conductance")
    ax.legend(fontsize=7)
    powers = ["gap R^(2/d)", "conductance R^(1/d)"]
    head = ["domain and widths", "regions", "gap", "conductance", *powers, "degree", "variance"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
