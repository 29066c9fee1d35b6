# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 15: do dichotomies depend only on the number of layers above the swept layer?

As Fig. 14, at width 128, with layer 1, 4, 8 or 12 swept. If the claim holds, the curves over the number of layers above
coincide. For each number of layers above, the table has the dichotomies of each swept layer, the mean number of
transitions, and the ratio of the largest number to the smallest.
"""

from __future__ import annotations

import sys

from common import keep, new_figure, read_options
from raghu_14 import swept

SMALL = {"width": 8, "layers": (1, 3), "depths": (1, 2, 3), "points": 5}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words,
        __doc__,
        SMALL,
        width=128,
        layers=(1, 4, 8, 12),
        depths=(1, 3, 5, 7, 9, 11, 13, 15),
        points=15,
        quarters=1,
        variance=8.0,
        most=1e9,
    )
    figure, (ax,) = new_figure(1)
    rows = []
    for depth in options.depths:
        each = [swept(options.width, depth, options, layer) for layer in options.layers]
        found = [dichotomies for dichotomies in each if dichotomies is not None]
        if len(found) == len(each):
            counts = [dichotomies.count for dichotomies in found]
            flips = [int(dichotomies.transitions.sum()) for dichotomies in found]
            rows.append([depth, *counts, sum(flips) / len(flips), max(flips) / max(min(flips), 1)])
    for column, layer in enumerate(options.layers, 1):
        counts = [row[column] for row in rows]
        ax.plot([row[0] for row in rows], counts, marker="o", markersize=3, label=f"layer {layer} swept")
    ax.axhline(2**options.points, linestyle="--", label="all labellings")
    ax.set(yscale="log", xlabel="layers above the one that is swept", ylabel="dichotomies")
    ax.legend(fontsize=7)
    names = [f"layer {layer}" for layer in options.layers]
    head = ["layers above", *names, "transitions", "most over least"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
