# SPDX-License-Identifier: MIT
"""How were the pictures of docs/pictures.md and of the README made?

    pip install ".[plot]" && python docs/pictures.py docs

draws them into a folder, in a few seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import regions
from regions.pictures.picture_files import save_figure, trim_height

ROOT = Path(__file__).resolve().parent.parent
DPI = 90


def save(folder: Path, name: str, figure: Figure) -> None:
    save_figure(figure, folder / f"{name}.png", DPI)


def draw(folder: Path, name: str, shown: Any, width: float = 3.6, **options: Any) -> None:
    figure = Figure(figsize=(width, width + 1), layout="constrained")
    count = len(shown) if isinstance(shown, list) else 1
    axes = list(figure.subplots(1, count, squeeze=False)[0])
    regions.plot(shown, axes if isinstance(shown, list) else axes[0], **options)
    trim_height(figure)
    save(folder, name, figure)


def ternary(seed: int) -> regions.Network:
    """A network with weights -1, 0 and 1, whose regions often share their map with a neighbour."""
    rng = np.random.default_rng(seed)
    sizes = [2, 12, 12, 1]
    return regions.Network(
        [
            (rng.integers(-1, 2, (units, inputs)), rng.integers(-1, 2, units) / 2)
            for inputs, units in zip(sizes, sizes[1:], strict=False)
        ]
    )


def deep(layers: int) -> regions.Network:
    rng = np.random.default_rng(1)
    sizes = [2, *[24] * layers, 1]
    return regions.Network(
        [
            (rng.standard_normal((units, inputs)) * np.sqrt(2 / inputs), rng.standard_normal(units) / 10)
            for inputs, units in zip(sizes, sizes[1:], strict=False)
        ]
    )


def two_moons(count: int) -> tuple[Any, Any]:
    """Points near two half circles, and the number of the half circle of each."""
    rng = np.random.default_rng(0)
    angles, moon = rng.uniform(0, np.pi, count), rng.integers(2, size=count)
    upper, lower = (np.cos(angles), np.sin(angles)), (1 - np.cos(angles), 0.5 - np.sin(angles))
    return np.where(moon == 0, upper, lower).T + 0.1 * rng.standard_normal((count, 2)), moon


def main(folder: Path) -> None:
    digits = regions.load(ROOT / "examples" / "digits.pt", activation="relu")
    images = regions.load_points(ROOT / "examples" / "points.csv")
    square = regions.enumerate(digits, regions.circumsquare(*images))
    draw(folder, "digits", square, width=7.0, mark=images)
    for color_by in ("class", "value", "pattern"):
        draw(folder, f"picture-{color_by}", square, color_by=color_by, mark=images)
    draw(folder, "picture-decisions", regions.decisions(digits, square.domain), width=5.0, mark=images)
    moons = regions.load(ROOT / "examples" / "moons.pt", activation="relu")
    around = regions.Polygon([[-2, -1.5], [3, -1.5], [3, 2], [-2, 2]])
    draw(folder, "picture-moons", regions.decisions(moons, around), width=5.0)
    data, moon = two_moons(300)
    draw(
        folder,
        "picture-data",
        regions.decisions(moons, around),
        width=5.0,
        points=data,
        labels=moon,
        classes=["upper moon", "lower moon"],
        linewidth=0.2,
    )
    figure = Figure(figsize=(5.0, 2.8), layout="constrained")
    segment = regions.enumerate(digits, regions.Segment(images[0], images[1]))
    regions.plot(segment, figure.add_subplot(), color_by="class", mark={"a zero": images[0], "a one": images[1]})
    save(folder, "picture-segment", figure)
    box = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    part = regions.enumerate(ternary(4), box)
    draw(folder, "picture-linear", [part, regions.linear_regions(part, "open")], width=6.5, color_by="pattern")
    small = regions.Polygon(0.05 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    draw(folder, "picture-deep", regions.enumerate(deep(30), small))
    plane = regions.enumerate(digits, regions.Plane(images[0], images[1] - images[0], images[2] - images[0]))
    sizes = [3, 16, 16, 3]
    rng = np.random.default_rng(0)
    weights = [
        (rng.standard_normal((units, inputs)) * np.sqrt(2 / inputs), rng.standard_normal(units) / 4)
        for inputs, units in zip(sizes, sizes[1:], strict=False)
    ]
    in_box = regions.enumerate(regions.Network(weights), regions.Box([-1] * 3, [1] * 3))
    figure = Figure(figsize=(7.5, 3.6), layout="constrained")
    regions.plot(in_box, list(figure.subplots(1, 3)), color_by="class")
    trim_height(figure)
    save(folder, "picture-sections", figure)
    draw(folder, "picture-plane", plane, color_by="class", mark=images)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
