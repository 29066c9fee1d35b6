# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Theorem 1 and Theorem 4's count, on arcs: do random arcs obey the bounds?

There are 1,000 arcs through random networks, ReLU and hard tanh, of up to four layers. The patterns on an arc are at
most as many as Theorem 1 allows in the arc's plane, and at most as many as the pieces. The pieces are at most one more
than the transitions. A neuron of the first layer switches at most twice at each breakpoint, as a line meets an ellipse.
The last column counts violations.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options

import regions
from regions import bounds
from regions.ensembles import Ensemble, Gaussian

SMALL = {"arcs": 60}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, arcs=1000)
    rng = np.random.default_rng(options.seed)
    found: dict[tuple[str, int], list[list[float]]] = {}
    for _ in range(options.arcs):
        activation = ("relu", "hard_tanh")[rng.integers(2)]
        widths, n_in = rng.integers(1, 9, size=rng.integers(1, 5)).tolist(), int(rng.integers(2, 7))
        ensemble = Ensemble([n_in, *widths, 1], activation, weights=Gaussian(2.0), biases=Gaussian(0.5))
        path = regions.trajectory(ensemble.draw(rng), regions.Arc(*rng.standard_normal((2, n_in))))
        limit = bounds.raghu(2, widths) if activation == "relu" else bounds.raghu_hard_tanh(2, widths, form="pairs")
        first = path.kink_transitions[path.network.kink_layers == 0]
        faults = [
            path.n_patterns > limit,
            path.n_patterns > path.pieces[-1],
            path.pieces[-1] > 1 + path.transitions.sum(),
            first.max() > 2,
            bool((np.diff(path.pieces) < 0).any()),
        ]
        found.setdefault((activation, len(widths)), []).append([path.pieces[-1], path.n_patterns, limit, sum(faults)])
    figure, (ax,) = new_figure(1)
    rows = []
    for (activation, depth), cases in sorted(found.items()):
        pieces, patterns, limits, faults = np.array(cases, dtype=float).T
        ax.plot(limits, patterns, "o" if activation == "relu" else "x", markersize=3, label=f"{activation}, {depth}")
        rows.append([activation, depth, len(cases), int(pieces.max()), (patterns / limits).max(), int(faults.sum())])
    ends = [1.0, max(max(case[2] for case in cases) for cases in found.values())]
    ax.plot(ends, ends, "k--", linewidth=1, label="Theorem 1")
    ax.set(xscale="log", yscale="log", xlabel="Theorem 1", ylabel="patterns on an arc")
    ax.legend(fontsize=6)
    head = ["activation", "layers", "arcs", "most pieces", "largest share of Theorem 1", "violations"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
