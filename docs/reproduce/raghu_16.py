# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 16: do as many random flips give as many dichotomies?

As Fig. 14 with sigma_w^2 = 16. The figure shows dichotomies over transitions, for each width and depth. They are
compared with a random walk that flips labels of random points as often, and with the maximum, 2^15.
"""

from __future__ import annotations

import sys

from common import keep, new_figure, read_options
from raghu_14 import swept

SMALL = {"widths": (2, 8), "depths": (1, 2, 3), "points": 5}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words,
        __doc__,
        SMALL,
        widths=(2, 8, 32, 128, 512),
        depths=(1, 3, 5, 7, 9, 11, 13, 15, 17),
        points=15,
        quarters=1,
        variance=16.0,
        most=1e9,
    )
    figure, (ax,) = new_figure(1)
    rows = []
    for width in options.widths:
        for depth in options.depths:
            found = swept(width, depth, options)
            if found is not None:
                flips, walk = int(found.transitions.sum()), found.random_walk(options.seed)
                rows.append([width, depth, flips, found.count, walk, found.count / walk])
        ax.plot(
            [row[2] for row in rows if row[0] == width], [row[3] for row in rows if row[0] == width], "o", markersize=3
        )
    ax.set_prop_cycle(None)
    for width in options.widths:
        ax.plot([], [], "o", markersize=3, label=f"k = {width}")
    steps = sorted(row[2] for row in rows)
    walks = sorted(row[4] for row in rows)
    ax.plot(steps, walks, "k-", linewidth=1, label="random walk")
    ax.axhline(2**options.points, linestyle="--", label="all labellings")
    ax.set(xscale="symlog", yscale="log", xlabel="transitions", ylabel="dichotomies")
    ax.set_xlim(left=0)
    ax.legend(fontsize=7)
    head = ["width", "layers above", "transitions", "dichotomies", "random walk", "over the walk"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
