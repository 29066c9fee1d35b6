# SPDX-License-Identifier: MIT
"""What do the scripts of this folder share?

They share options, images, and the writing of a figure and its table. `SMALL` in a script holds the options with which
it runs in seconds, as in the tests. Without options a script uses the numbers of the paper, unless its first lines say
otherwise. The table begins with what was run, the number of networks, and the seconds on one core.
Images are scikit-learn's digits in place of MNIST: 8 x 8 pixels, or enlarged to 28 x 28 for networks with 784 inputs.
`--data FILE.npz` takes other images, from arrays ``images`` [n, ..] and, if labels are needed, ``labels`` [n].
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from matplotlib.figure import Figure

import regions
from regions.domains.curves import Curve
from regions.measures import Estimate

DOTS_PER_INCH = 160
FOLDER = Path(__file__).resolve().parent


def read_options(words: Sequence[str] | None, about: str, small: Mapping[str, Any], **defaults: Any) -> Any:
    """Read the options of a script. Each has the type of its default; `--small` sets some of them."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="seconds instead of minutes or hours")
    parser.add_argument("--data", help="an .npz file with images and labels, instead of scikit-learn's digits")
    parser.add_argument(
        "--folder", type=Path, help="where the figure and the table go: here, or with --small the current folder"
    )
    parser.add_argument("--seed", type=int, default=0)
    for name, value in defaults.items():
        many = isinstance(value, tuple)
        kind = type(value[0] if many else value)
        parser.add_argument(f"--{name}", type=kind, nargs="+" if many else None, help=f"default: {value}")
    given = vars(parser.parse_args(words))
    chosen = {**defaults, **(small if given["small"] else {})}
    options = argparse.Namespace(
        **{**given, **{name: chosen[name] if given[name] is None else given[name] for name in chosen}}
    )
    for name, value in {"seed": 0, **defaults}.items():
        given_one = getattr(options, name)
        for one in given_one if isinstance(value, tuple) else (given_one,):
            wrong = _wrong(one, value[0] if isinstance(value, tuple) else value)
            if wrong:
                parser.error(f"argument --{name}: {one} {wrong}")
    options.folder = options.folder or (Path() if options.small else FOLDER)
    options.names, options.begun = tuple(defaults), time.process_time()
    options.images = "images of --data" if options.data else "scikit-learn's digits"
    return options


def _wrong(given: Any, default: Any) -> str:
    """Return what is wrong with an option, compared with its default; empty if nothing is."""
    if isinstance(default, str) and ":" in default:
        width, _, variance = given.partition(":")
        try:
            fits = int(width) >= 1 and 0.0 < float(variance) < float("inf")
        except ValueError:
            fits = False
        return "" if fits else f"is no width:variance, both above 0, such as {default}"
    least = 1 if isinstance(default, int) and default else 0
    if isinstance(default, (int, float)) and not least <= given < float("inf"):
        return f"is no number from {least} on"
    return ""


def load_images(options: Any, side: int = 8, *, labelled: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Load images as rows, float64 [n, pixels] from 0 to 1, and labels [n]; digits are squares of this side.

    If the file has no labels and none are needed, all labels are 0.
    """
    if options.data:
        try:
            with np.load(options.data) as file:
                images = np.asarray(file["images"], dtype=np.float64)
                labels = np.asarray(file["labels"]) if labelled or "labels" in file else np.zeros(len(images), int)
        except (OSError, BadZipFile, KeyError, ValueError, TypeError, AttributeError) as error:
            raise SystemExit(f"--data {options.data}: {error}") from None
        if images.ndim < 2 or not np.isfinite(images).all() or not images.max(initial=0.0) > 0.0:
            raise SystemExit(f"--data {options.data}: images are [n, ..] numbers, not all 0")
        images = images.reshape(len(images), -1)
        if labels.shape != (len(images),):
            raise SystemExit(f"--data {options.data}: {len(images)} images, and labels of shape {list(labels.shape)}")
        return images / images.max(), labels
    from sklearn.datasets import load_digits

    digits = load_digits()
    where = np.arange(side) * 8 // side
    return digits.images[:, where][:, :, where].reshape(-1, side * side) / 16.0, digits.target


def two_images(options: Any, side: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Return the 101st and the 1001st image, each of norm 1."""
    images, _ = load_images(options, side)
    if len(images) <= 1000:
        raise SystemExit(f"--data {options.data}: the 1001st image is asked for, and there are {len(images)}")
    norms = np.linalg.norm(images[[100, 1000]], axis=1)
    if not norms.all():
        raise SystemExit(f"--data {options.data}: of the 101st and the 1001st image one is all 0")
    return images[100] / norms[0], images[1000] / norms[1]


def new_figure(panels: int, height: float = 3.2) -> tuple[Figure, list[Any]]:
    """Make a figure with panels side by side."""
    figure = Figure(figsize=(4.2 * panels, height), layout="constrained")
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])


def half_interval(samples: np.ndarray) -> float:
    """Return half of the interval at 95 percent for the mean of samples; 0 if all are equal."""
    found = Estimate(np.asarray(samples, dtype=float)) if np.ptp(samples) else None
    if found is None:
        return 0.0
    low, high = found.interval(0.95)
    return (high - low) / 2


def draw_curves(axes: Sequence[Any], titles: Sequence[str], images: Sequence[np.ndarray]) -> None:
    """Draw images of a curve, points [k, n] in order, each in the two directions in which it is widest."""
    for ax, title, points in zip(axes, titles, images, strict=True):
        centered = points - points.mean(axis=0)
        _, _, directions = np.linalg.svd(centered, full_matrices=False)
        ax.plot(*(centered @ directions[:2].T).T, linewidth=0.7)
        ax.set_title(title)


def keep(options: Any, script: str, figure: Figure, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Write the figure and the table, print the table, and return its lines."""
    name, seconds = Path(script).stem, time.process_time() - options.begun
    asked = {option: getattr(options, option) for option in options.names}
    settings = ", ".join(f"{option} {_word(value)}" for option, value in asked.items() if value not in (0, ""))
    cells = [list(head), *([_word(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    table = ["   ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    lines = [f"{name}.py: {settings}, seed {options.seed}; {options.images}; {seconds:,.0f} s of one core", "", *table]
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    figure.savefig(options.folder / f"{name}.png", dpi=DOTS_PER_INCH)
    print("\n".join(lines))
    return lines


def _word(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return " ".join(map(_word, value))
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)


def transitions_by_layer(network: regions.Network, curve: Curve) -> np.ndarray:
    """Return the transitions of each hidden layer, float64 [layers], from exact counts after each layer.

    A point at which two neurons switch at once counts once.
    """
    layers, pieces = network.layers, [0 if curve.closed else 1]
    for depth in range(1, len(layers)):
        kept = [(layer.weights, layer.biases) for layer in layers[:depth]]
        readout = (np.ones((1, layers[depth - 1].weights.shape[0])), None)
        activations = [layer.activation for layer in layers[:depth]]
        found = regions.count(regions.Network([*kept, readout], activations), curve)
        pieces.append(0 if curve.closed and found == 1 else found)
    return np.diff(pieces)
