# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 15: do dichotomies depend only on the number of layers above the swept layer?

As Fig. 14, at width 128, with layer 1, 4, 8 or 12 swept. If the claim holds, the curves over the number of layers above
coincide. For each number of layers above, the table has the dichotomies of each swept layer, the mean number of
transitions, the ratio of the largest number to the smallest, and the seconds.
"""

from __future__ import annotations

import sys

from common import keep, new_figure, read_options
from raghu_14 import counted

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
        cases="",
    )
    figure, (ax,) = new_figure(1)
    rows = []
    for depth in options.depths:
        cases = [counted(options.width, depth, options, layer) for layer in options.layers]
        found = [case for case in cases if case is not None]
        if len(found) == len(cases):
            flips = [case.transitions for case in found]
            summary = [sum(flips) / len(flips), max(flips) / max(min(flips), 1), sum(case.seconds for case in found)]
            rows.append([depth, *(case.dichotomies for case in found), *summary])
    for column, layer in enumerate(options.layers, 1):
        counts = [row[column] for row in rows]
        ax.plot([row[0] for row in rows], counts, marker="o", markersize=3, label=f"layer {layer} swept")
    ax.axhline(2**options.points, linestyle="--", label="all labellings")
    ax.set(yscale="log", xlabel="layers above the one that is swept", ylabel="dichotomies")
    ax.legend(fontsize=7)
    names = [f"layer {layer}" for layer in options.layers]
    head = ["layers above", *names, "transitions", "most over least", "seconds"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
