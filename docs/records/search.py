# SPDX-License-Identifier: MIT
"""Which weights give a small ReLU network the most regions? Searches, and saves an improvement beside this file.

    python docs/records/search.py 2-4-4 --seconds 600 --seed 1

Networks with two inputs and two hidden layers are searched row by row. On each cell of the first layer's lines, a unit
of the second layer is affine, so the network has one region for each cell, one more for each line that meets it, and
one more for each pair of lines that cross in it. A unit is replaced by the best of many random ones while the others
are kept, and sometimes by a worse one. Other shapes are searched by changes of single weights. Rounding may miscount
here; before anything is saved, the network is counted exactly.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import combinations, product
from pathlib import Path

import numpy as np
from prove import FOLDER, Layers, network, read_record, space

import regions


class Cells:
    """The cells of lines in general position: what a unit of the next layer does on them.

    A unit with weights w and a bias c has the values ``corners @ w + c`` at the corners, and at the ends of the lines
    it goes to infinity with the slopes ``ends @ w``. On a cell its gradient is ``w @ gradients[cell]``.
    """

    def __init__(self, normals: np.ndarray, offsets: np.ndarray) -> None:
        self.lines = np.column_stack([normals, offsets])
        pairs = list(combinations(range(len(offsets)), 2))
        corners = np.array([np.linalg.solve(normals[list(pair)], -offsets[list(pair)]) for pair in pairs])
        self.corners = np.maximum(corners @ normals.T + offsets, 0.0)
        for index, pair in enumerate(pairs):
            self.corners[index, list(pair)] = 0.0
        along = np.column_stack([-normals[:, 1], normals[:, 0]])
        far = [sign * along[line] for line in range(len(offsets)) for sign in (1.0, -1.0)]
        self.ends = np.maximum(np.array(far) @ normals.T, 0.0)
        self.ends[np.arange(len(far)), np.arange(len(far)) // 2] = 0.0
        patterns: dict[tuple[bool, ...], tuple[list[int], list[int]]] = {}
        for index, pair in enumerate(pairs):
            for signs in product((False, True), repeat=2):
                pattern = self.corners[index] > 0
                pattern[list(pair)] = signs
                patterns.setdefault(tuple(pattern), ([], []))[0].append(index)
        for index, direction in enumerate(far):
            for sign in (False, True):
                pattern = normals @ direction > 0
                pattern[index // 2] = sign
                at_infinity = patterns.setdefault(tuple(pattern), ([], []))[1]
                if self.ends[index].any():  # otherwise every unit is constant there, as at the corner
                    at_infinity.append(index)
        self.patterns = np.array(list(patterns))
        self.members = list(patterns.values())
        self.gradients = self.patterns[:, :, np.newaxis] * self.lines

    def met(self, units: np.ndarray) -> np.ndarray:
        """Return which cells the lines of units [unit, weights and bias] meet, bool [unit, cell]."""
        weights, biases = units[:, :-1], units[:, -1:]
        values, slopes = weights @ self.corners.T + biases > 0, weights @ self.ends.T > 0
        found = []
        for inside, outside in self.members:
            signs = np.concatenate([values[:, inside], slopes[:, outside]], axis=1)
            found.append(signs.any(axis=1) & ~signs.all(axis=1))
        return np.array(found).T

    def crossing(self, units: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return in which cells the lines of units cross the lines of another unit, bool [unit, cell]."""
        one = np.einsum("uw,cwk->uck", units[:, :-1], self.gradients)
        one[:, :, 2] += units[:, -1:]
        two = np.einsum("w,cwk->ck", other[:-1], self.gradients)
        two[:, 2] += other[-1]
        points = np.cross(one, two)
        with np.errstate(all="ignore"):
            where = points[:, :, :2] / points[:, :, 2:]
            active = where @ self.lines[:, :2].T + self.lines[:, 2] > 0
        sizes = np.linalg.norm(one[:, :, :2], axis=2) * np.linalg.norm(two[:, :2], axis=1)
        parallel = abs(points[:, :, 2]) <= 1e-9 * sizes
        return np.asarray((active == self.patterns).all(axis=2) & ~parallel)


def by_rows(rng: np.random.Generator, first: int, second: int, seconds: float, tries: int) -> tuple[int, Layers]:
    """Search networks of two inputs and two hidden layers."""
    best, kept, end = 0, [], time.process_time() + seconds
    while time.process_time() < end:
        lines = rng.standard_normal((first, 3)) * [1.0, 1.0, 0.5]
        cells = Cells(lines[:, :2], lines[:, 2])
        rows, idle, here = _units(rng, second, first, cells), 0, 0
        while idle < 4 * second and time.process_time() < end:
            row = rng.integers(second)
            others = np.delete(rows, row, axis=0)
            near = rows[row] * rng.normal(1.0, 0.2, (tries, first + 1))
            units = np.concatenate([rows[row : row + 1], near, _units(rng, tries, first, cells)])
            gained = cells.met(units).sum(axis=1)
            for other in others:
                gained += cells.crossing(units, other).sum(axis=1)
            most = np.flatnonzero(gained == gained.max())
            rows[row] = units[rng.choice(most)]
            meeting = cells.met(rows).sum() + len(cells.patterns)
            total = meeting + sum(cells.crossing(rows[: k + 1], rows[k + 1]).sum() for k in range(second - 1))
            idle, here = (0, total) if total > here else (idle + 1, here)
        if here > best:
            best, kept = (
                int(here),
                [(lines[:, :2].copy(), lines[:, 2].copy()), (rows[:, :-1].copy(), rows[:, -1].copy())],
            )
            print(f"{best} after {seconds - end + time.process_time():.0f} s", flush=True)
    return best, kept


def _units(rng: np.random.Generator, count: int, inputs: int, cells: Cells) -> np.ndarray:
    """Draw units whose lines are near the corners."""
    weights = rng.standard_normal((count, inputs)) * np.exp(rng.standard_normal((count, inputs)))
    values = weights @ cells.corners.T
    low, high = values.min(axis=1), values.max(axis=1)
    biases = -low - (high - low) * rng.uniform(-0.3, 1.3, count)
    biases += (high == low) * rng.standard_normal(count)
    return np.column_stack([weights, biases])


def by_weights(rng: np.random.Generator, shape: list[int], seconds: float) -> tuple[int, Layers]:
    """Search networks of any shape."""
    best, kept, end, domain = 0, [], time.process_time() + seconds, space(shape[0])

    def changed(value: np.ndarray) -> np.ndarray:
        chosen = rng.random(value.shape) < max(0.15, 1.0 / value.size)
        return np.where(chosen, value * rng.normal(1.0, 0.5, value.shape) + rng.normal(0, 0.05, value.shape), value)

    def fresh() -> Layers:
        sizes = zip(shape, shape[1:], strict=False)
        return [(rng.standard_normal((b, a)), 0.5 * rng.standard_normal(b)) for a, b in sizes]

    while time.process_time() < end:
        drawn = [fresh() for _ in range(20)]
        counts = regions.count([network(each) for each in drawn], domain)
        layers, here, idle = drawn[int(np.argmax(counts))], int(max(counts)), 0
        while idle < 150 and time.process_time() < end:
            tried = [[(changed(weights), changed(biases)) for weights, biases in layers] for _ in range(20)]
            counts = regions.count([network(each) for each in tried], domain)
            idle = 0 if max(counts) > here else idle + 1
            if max(counts) >= here:
                layers, here = tried[int(np.argmax(counts))], int(max(counts))
        if here > best:
            best, kept = here, layers
            print(f"{best} after {seconds - end + time.process_time():.0f} s", flush=True)
    return best, kept


def rounded(layers: Layers, count: int) -> list[list[list[object]]]:
    """Return integers as weights, as small as the number of regions allows; each unit has a scale of its own."""
    domain = space(layers[0][0].shape[1])
    for digits in range(1, 13):
        found, before = [], np.ones(layers[0][0].shape[1])
        for weights, biases in layers:
            rows = np.column_stack([weights / before, biases])
            scale = 10.0**digits / abs(rows[:, :-1]).max(axis=1)
            rows, before = np.round(rows * scale[:, np.newaxis]), scale
            found.append((rows[:, :-1], rows[:, -1]))
        if regions.count(network(found), domain) >= count:
            break
    return [[weights.astype(int).tolist(), biases.astype(int).tolist()] for weights, biases in found]


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("shape", help="inputs and widths, such as 2-4-4")
    parser.add_argument("--seconds", type=float, default=60.0, help="of processor time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the files are")
    options = parser.parse_args(words)
    shape, rng = [int(size) for size in options.shape.split("-")], np.random.default_rng(options.seed)
    two = len(shape) == 3 and shape[0] == 2
    found, layers = by_rows(rng, *shape[1:], options.seconds, 300) if two else by_weights(rng, shape, options.seconds)
    exact = regions.count(network(layers), space(shape[0]))
    path = options.folder / f"{options.shape}.json"
    known = read_record(path)[0] if path.exists() else 0
    print(f"{options.shape}: {exact} regions, counted exactly ({found} with rounding); known so far: {known}")
    if exact > known:
        saved = rounded(layers, exact)
        exact = regions.count(network([(np.array(w, float), np.array(b, float)) for w, b in saved]), space(shape[0]))
        path.write_text(json.dumps({"shape": options.shape, "regions": exact, "layers": saved}) + "\n", "utf-8")
    return exact


if __name__ == "__main__":
    main()
