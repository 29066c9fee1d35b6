# SPDX-License-Identifier: MIT
"""Does training change the number of regions more than the sizes of the weights explain?

Networks with two hidden layers of 32 ReLU units learn two moons. At some steps their regions in a rectangle around the
data are counted, and so are the regions of sign-twins: the same weights and biases with random signs of the neurons.
The table has means over the runs, the mean rank of a network among its twins (0.5 if its signs are as good as random),
and half of the interval at 95 percent of the ratio.
"""

from __future__ import annotations

import sys

import numpy as np
import torch
from common import half_interval, keep, new_figure, read_options
from common_torch import adam
from sklearn.datasets import make_moons
from torch import nn

import regions

SMALL = {"runs": 2, "steps": (0, 20), "twins": 5}
RECTANGLE = regions.Polygon([[-2.0, -1.5], [3.0, -1.5], [3.0, 2.0], [-2.0, 2.0]])


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, runs=40, steps=(0, 100, 500, 1500), twins=50)
    torch.set_num_threads(1)
    found: dict[int, list[tuple[float, ...]]] = {step: [] for step in options.steps}
    for run in range(options.runs):
        torch.manual_seed(options.seed + run)
        points, labels = make_moons(500, noise=0.1, random_state=options.seed + run)
        inputs, targets = torch.tensor(points).float(), torch.tensor(labels).float()
        model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
        optimizer = adam(model.parameters(), 0.01)
        for step in range(max(options.steps) + 1):
            if step in found:
                twins = regions.sign_twins(regions.load(model), RECTANGLE, options.twins, rng=run)
                right = float(((model(inputs)[:, 0] > 0) == (targets > 0.5)).float().mean())
                found[step].append((right, twins.regions, twins.mean, twins.spread, twins.rank))
            optimizer.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(model(inputs)[:, 0], targets).backward()
            optimizer.step()
    figure, (ax,) = new_figure(1)
    rows: list[list[object]] = []
    for step, values in found.items():
        right, counts, means, spreads, ranks = (np.array(column) for column in zip(*values, strict=True))
        ratios = counts / means
        ax.plot([step] * len(ratios), ratios, "o", markersize=3, color="C0")
        row = [step, right.mean(), counts.mean(), means.mean(), spreads.mean(), ranks.mean(), ratios.mean()]
        rows.append([*row, half_interval(ratios)])
    ax.axhline(1.0, color="k", linestyle="--", linewidth=1)
    ax.set(xlabel="step", ylabel="regions over the mean of twins")
    head = ["step", "accuracy", "regions", "mean of twins", "spread of twins", "rank", "ratio", "+- 95%"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
