# SPDX-License-Identifier: MIT
"""On how many random VNN-LIB files does a verdict agree with the formula, evaluated in fractions?

``python tests/fuzz_properties.py --cases 50000 --seed 0`` writes files with nested unions, products, long numbers and
strict inequalities, as text, compressed, and through pipes. A verdict "holds" must be right at the corners of the box
and at sampled points, and the witness of a violation must satisfy the formula. A file may be refused, with one of the
package's errors. Anything else is a finding: another exception, more than 3 seconds, more than 300 MB.
Cost: about 20 ms a case.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import os
import re
import resource
import sys
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import regions  # noqa: E402
from property_texts import Tree, drawn_formula, holds, hostile_text, text_of  # noqa: E402
from regions.errors import CheckpointError, LimitReached, RegionsError, VerdictNotDecided  # noqa: E402

SECONDS, MEGABYTES = 3.0, 300


def drawn_network(rng: np.random.Generator, n_in: int, n_out: int) -> regions.Network:
    """Draw a network whose outputs at corners are often doubles."""
    sizes = [n_in, *rng.integers(1, 5, int(rng.integers(1, 3))).tolist(), n_out]
    layers = []
    for a, b in itertools.pairwise(sizes):
        scale = 4 if rng.random() < 0.8 else 3
        layers.append((rng.integers(-4, 5, (b, a)) / scale, rng.integers(-4, 5, b) / scale))
    return regions.Network(layers)


def exact(net: regions.Network, x: list[Fraction]) -> list[Fraction]:
    """Evaluate a network of dense layers with ReLUs in fractions."""
    layers = net.layers
    for number, layer in enumerate(layers):
        rows = zip(layer.weights.tolist(), layer.biases.tolist(), strict=True)
        x = [sum((Fraction(w) * v for w, v in zip(row, x, strict=True)), Fraction(bias)) for row, bias in rows]
        if number + 1 < len(layers):
            x = [max(v, Fraction(0)) for v in x]
    return x


class Case:
    """A network, a box, a formula, and a file that asserts both."""

    def __init__(self, seed: int, file: Path) -> None:
        self.rng = rng = np.random.default_rng([7, seed])
        self.n_in = int(rng.choice([1, 2, 3, 7], p=[0.3, 0.4, 0.2, 0.1]))
        self.net, n_out = drawn_network(rng, self.n_in, 2), 2
        unit = int(rng.choice([4, 10]))  # tenths are not doubles
        self.tenths = unit == 10
        least = rng.integers(-4, 4, self.n_in)
        # An input that is fixed at a tenth would have the nearest double, also in the formula.
        most = least + rng.integers(int(unit == 10), 4, self.n_in)
        lower, upper = ([Fraction(number, unit) for number in side.tolist()] for side in (least, most))
        self.points = self._points(lower, upper)
        values = [float(y) for x in self.points[:8] for y in exact(self.net, x)]
        self.formula: Tree = None
        text = hostile_text(rng) if rng.random() < 0.1 else None
        if text is None:
            self.formula = drawn_formula(rng, (self.n_in, n_out), values, 3)
            text = text_of(self.formula, rng)
        declared = [f"(declare-const X_{i} Real)" for i in range(self.n_in)]
        declared += [f"(declare-const Y_{i} Real)" for i in range(n_out)]
        sides = enumerate(zip(map(float, lower), map(float, upper), strict=True))
        bounds = [f"(assert (and (>= X_{i} {low!r}) (<= X_{i} {high!r})))" for i, (low, high) in sides]
        content = "\n".join([*declared, *bounds, f"(assert {text})"])
        self.content, self.file, self.lower, self.upper = content.encode(), file, lower, upper

    def _points(self, lower: list[Fraction], upper: list[Fraction]) -> list[list[Fraction]]:
        corners = itertools.islice(itertools.product(*zip(lower, upper, strict=True)), 16)
        shares = self.rng.integers(0, 13, (12, self.n_in)).tolist()
        samples = [
            [low + Fraction(share, 12) * (high - low) for share, low, high in zip(row, lower, upper, strict=True)]
            for row in shares
        ]
        return [list(point) for point in [*corners, *samples]]

    def read(self) -> regions.Property:
        """Read the file: as text, compressed, or through a pipe."""
        kind = self.rng.random()
        content = gzip.compress(self.content, 1) if kind < 0.2 else self.content
        if kind > 0.1:
            self.file.write_bytes(content)
            return regions.load_property(self.file)
        pipe = self.file.with_suffix(".pipe")
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=[content])
        writer.start()
        try:
            return regions.load_property(pipe)
        finally:
            writer.join()
            pipe.unlink()

    def findings(self) -> Iterator[str]:
        """Yield what is wrong."""
        try:
            given = self.read()
        except CheckpointError as error:
            refused = "no input satisfies" in str(error)
            yield from self._allowed(self.points if refused and self.formula else [], "refused as empty")
            return
        except OSError:
            return
        try:
            limit = 500 if self.n_in > 6 else None
            workers = 1 + (self.rng.random() < 0.1)
            found = regions.verify_property(self.net, given, workers=workers, limit=limit, timeout=20 * SECONDS)
        except (VerdictNotDecided, LimitReached) as error:
            # Thresholds are values at points of the box, which may be its only unsafe points, and no doubles.
            at_digits = "within a rounding of numbers" in str(error) and (self.tenths or self.n_in > 6)
            at_digits |= bool(re.search(rb"[0-9]{16}|e-", self.content))
            if (given.lower < given.upper).sum(axis=1).max() <= 6 and not at_digits:
                yield f"not decided: {error}"
            return
        if self.formula is None:
            return
        if found.holds:
            yield from self._allowed(self.points, "holds")
            return
        assert found.box is not None and found.witness is not None
        # A fixed input has the nearest double of the number in the file.
        x = [Fraction(repr(value)) for value in found.witness.input.tolist()]
        free = np.flatnonzero(given.lower[found.box] < given.upper[found.box]).tolist()
        point = found.witness.point or map(Fraction, found.witness.input[free].tolist())
        for place, coordinate in zip(free, point, strict=True):
            x[place] = coordinate
        if not all(low <= value <= high for low, value, high in zip(self.lower, x, self.upper, strict=True)):
            yield f"the witness {x} is outside of the box"
        if not holds(self.formula, x, exact(self.net, x)):
            yield f"the witness {x} does not satisfy the formula"

    def _allowed(self, points: list[list[Fraction]], verdict: str) -> Iterator[str]:
        for x in points:
            if holds(self.formula, x, exact(self.net, x)):
                yield f"{verdict}, and {x} satisfies the formula"
                return


def finding(seed: int, folder: Path) -> str | None:
    """Return the first thing that is wrong in a case, or None."""
    start, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        what = next(Case(seed, folder / "case.vnnlib").findings(), None)
    except RegionsError as error:
        what = f"raised {type(error).__name__}: {str(error)[:300]}"
    except Exception as error:
        what = f"raised {type(error).__name__}: {str(error)[:300]}"
    seconds = time.process_time() - start
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return what or (f"{seconds:.1f} s" if seconds > SECONDS else f"{more:.0f} MB" if more > MEGABYTES else None)


def main() -> int:
    """Run and report; 1 if there was a finding."""
    parser = argparse.ArgumentParser(description="hold verdicts on VNN-LIB files against fractions")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    arguments = parser.parse_args()
    start, found = time.perf_counter(), 0
    with TemporaryDirectory() as folder:
        for seed in range(arguments.seed, arguments.seed + arguments.cases):
            what = finding(seed, Path(folder))
            if what is not None:
                found += 1
                print(f"case {seed}: {what}", flush=True)
            if seed % 1000 == 999:
                print(f"up to case {seed}: {found} findings", file=sys.stderr, flush=True)
    print(f"{arguments.cases} cases, {found} findings, {time.perf_counter() - start:.0f} s")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
