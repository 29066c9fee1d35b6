# SPDX-License-Identifier: MIT
"""How do the regions of a digits classifier change in training?

The experiments of Hanin and Rolnick (*Complexity of linear regions in deep networks*, 2019, Figs. 5 to 8), on the 1,797
images of 8 x 8 pixels from scikit-learn in place of MNIST: networks of three shapes, three runs each, weights from He's
normal distribution, biases with variance 1e-6, Adam with learning rate 1e-3. At 12 checkpoints per run:

    lines      regions on 100 lines through the origin and a random training image, over neurons        (Fig. 5)
    distance   from 400 Gaussian points, mean and variance of each pixel, to the nearest boundary       (Figs. 6, 7)
    plane      regions in the square through three training images of the digits 0, 1, 2, over N^2 / 2  (Fig. 8)

    pip install ".[test]" && python docs/training.py docs/training.png

draws the figures and prints the table docs/training.txt, in a few minutes.
"""

from __future__ import annotations

import sys
from math import sqrt

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import regions
from regions.measures import distance_to_boundary

EPOCHS = (0, 1, 2, 3, 5, 8, 12, 18, 25, 35, 45, 60)
SHAPES = ((64, 32), (32, 32, 32), (16, 16, 16, 16))
RUNS = 3
LINES, POINTS = 100, 400

digits = load_digits()
images = (digits.data / 16).astype(np.float32)
train_images, test_images, train_labels, test_labels = train_test_split(
    images, digits.target, test_size=0.25, random_state=0, stratify=digits.target
)


def build(widths: tuple[int, ...]) -> torch.nn.Sequential:
    sizes, modules = [64, *widths, 10], []
    for fan_in, units in zip(sizes, sizes[1:], strict=False):
        layer = torch.nn.Linear(fan_in, units)
        torch.nn.init.normal_(layer.weight, std=sqrt(2 / fan_in))
        torch.nn.init.normal_(layer.bias, std=1e-3)
        modules += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*modules[:-1])


def checkpoints(widths: tuple[int, ...], seed: int) -> tuple[list[regions.Network], float]:
    """Train, and return the network at each of the epochs and the final held-out accuracy."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # networks of this size gain nothing from more
    model, kept = build(widths), []
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    inputs, labels = torch.from_numpy(train_images), torch.from_numpy(train_labels)
    for epoch in range(EPOCHS[-1] + 1):
        if epoch in EPOCHS:
            kept.append(regions.load(model))
        for batch in torch.randperm(len(inputs)).split(64):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs[batch]), labels[batch]).backward()
            optimizer.step()
    right = kept[-1](test_images).argmax(axis=1) == test_labels
    return kept, float(right.mean())


def gaussian_points(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(train_images.mean(axis=0), train_images.std(axis=0), (POINTS, 64))


def measured(nets: list[regions.Network], seed: int) -> dict[str, list[float]]:
    """Measure the numbers of Figs. 5, 6 and 8 at each checkpoint."""
    rng = np.random.default_rng(seed)
    points = gaussian_points(rng)
    chosen = rng.choice(len(train_images), LINES, replace=False)
    lines = [regions.Line(np.zeros(64), train_images[index]) for index in chosen]
    corners = [train_images[rng.choice(np.flatnonzero(train_labels == label))] for label in (0, 1, 2)]
    on_lines = regions.watch(nets, lines, points=points, steps=EPOCHS).columns()
    plane = regions.watch(nets, regions.circumsquare(*corners), points=points[:2], steps=EPOCHS).columns()
    return {
        "lines": on_lines["regions_per_kink"],
        "distance": on_lines["distance_times_kinks"],
        "regions": plane["regions"],
        "plane": 2 * plane["regions"] / nets[0].hidden ** 2,
    }


def draw(path: str, results: dict[tuple[int, ...], list[dict]], before: np.ndarray, after: np.ndarray) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 6.0), layout="constrained")
    (lines, distance), (histogram, plane) = figure.subplots(2, 2)
    titles = {"lines": "regions on a line / N", "distance": "mean distance x N", "plane": "regions in a plane / (N²/2)"}
    for ax, (name, title) in zip((lines, distance, plane), titles.items(), strict=True):
        for index, (widths, runs) in enumerate(results.items()):
            for run in runs:
                label = "-".join(map(str, widths)) if run is runs[0] else None
                ax.plot(EPOCHS, run[name], color=f"C{index}", linewidth=1, marker=".", label=label)
        ax.set(title=title, xlabel="epoch")
        ax.set_ylim(bottom=0.0)
    bins = np.linspace(-6, 1, 50)
    for distances, label in ((before, "before training"), (after, "after")):
        histogram.hist(np.log10(distances), bins=bins, histtype="step", density=True, label=label)
    histogram.set(title="distance, 16-16-16-16", xlabel="log10 of distance")
    histogram.legend(frameon=False, loc="upper left")
    lines.legend(frameon=False)
    figure.savefig(path, dpi=90)


def main() -> None:
    results: dict[tuple[int, ...], list[dict]] = {}
    print("| hidden layers | N | accuracy | | " + " | ".join(f"epoch {epoch}" for epoch in EPOCHS) + " |")
    print("|---" * (4 + len(EPOCHS)) + "|")
    for widths in SHAPES:
        accuracies, results[widths] = [], []
        for seed in range(RUNS):
            nets, accuracy = checkpoints(widths, seed)
            accuracies.append(accuracy)
            results[widths].append(measured(nets, seed))
        for name, digits_shown in (("lines", 2), ("distance", 2), ("plane", 3), ("regions", 0)):
            means = np.mean([run[name] for run in results[widths]], axis=0)
            shape, accuracy_shown = "-".join(map(str, widths)), f"{np.mean(accuracies):.1%}"
            cells = [shape, str(sum(widths)), accuracy_shown, name, *(f"{mean:.{digits_shown}f}" for mean in means)]
            print("| " + " | ".join(cells) + " |", flush=True)
    points = gaussian_points(np.random.default_rng(RUNS))
    before, after = (distance_to_boundary(net, points).distances for net in (nets[0], nets[-1]))
    draw(sys.argv[1], results, before, after)


if __name__ == "__main__":
    main()
