# SPDX-License-Identifier: MIT
"""Which numbers, shapes and constants does a random graph have?

`Drawing` is the common part of the generators of both formats: a pool of values with their shapes, constants, and
numbers that are wrong with some probability. The mistakes are of kinds that mutation of sound files does not find: axes
that do not exist, lengths beyond memory, empty lists, constants of another shape or type.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

# fmt: off
WILD = [-1, 0, 1, 2, 7, 31, 33, 64, 300, 1000, 65536, 1_000_000, 1_000_001, 2**20, 2**24, 2**31 - 1, 2**31, 2**32,
        2**40, 2**62, 2**63 - 1, -2, -3, -33, -(2**31), -(2**63)]
# fmt: on
WILD_REALS = [0.0, -0.0, 1e-45, 1e38, -1e38, 1e300, float("inf"), float("-inf"), float("nan"), 0.1, 2.1, -1.0]


class Drawing:
    """A graph that grows; ``mistakes`` is the probability of each mistake."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.mistakes = chance.choice((0.0, 0.0, 0.0, 0.01, 0.03, 0.1, 0.3))
        self.tensors: dict[str, NDArray[Any]] = {}
        self.values: list[tuple[str, tuple[int, ...]]] = []  # with their correct shapes
        self.count = 0

    def wrong(self) -> bool:
        return self.chance.random() < self.mistakes

    def keep(self, name: str, shape: Sequence[int]) -> None:
        """Add a value, which later nodes may read."""
        self.values.append((name, tuple(max(int(length), 1) for length in shape)))

    def name(self, stem: str = "v") -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def whole(self, number: int) -> int:
        """Return an integer, or something else."""
        return self.chance.choice(WILD) if self.wrong() else number

    def real(self, number: float) -> float:
        return self.chance.choice(WILD_REALS) if self.wrong() else number

    def between(self, least: int, most: int) -> int:
        return self.whole(self.chance.randint(least, max(least, most)))

    def wholes(self, numbers: Sequence[int]) -> list[int]:
        """Return a list of integers, perhaps of another length."""
        result = [self.whole(number) for number in numbers]
        if self.wrong():
            result = result[: self.chance.randrange(len(result) + 1)] * self.chance.choice((0, 1, 2, 40))
        return result

    def axis(self, rank: int) -> int:
        return self.whole(self.chance.randrange(-rank, rank) if rank else 0)

    def axes(self, rank: int) -> list[int]:
        count = self.chance.randint(1, max(rank, 1))
        chosen = self.chance.sample(range(max(rank, 1)), count)
        return self.wholes([axis - rank if self.chance.randrange(3) == 0 else axis for axis in chosen])

    def shape(self) -> tuple[int, ...]:
        """Return the shape of the input."""
        rank = self.chance.choice((1, 2, 2, 2, 3, 4, 4, 4, 5))
        lengths = [self.chance.randint(1, 6) for _ in range(rank)]
        if rank > 1:
            lengths[0] = 1
        return tuple(
            abs(self.whole(length)) % 2**62 for length in lengths[: self.chance.randrange(rank + 1)] or lengths
        )

    def array(self, shape: Sequence[int], kind: str = "float32") -> NDArray[Any]:
        """Return a constant of few digits, of this shape if it is small."""
        shape = [length for length in shape if length > 0] if self.wrong() else list(shape)
        if prod(shape) > 4096 or not 0 <= min(shape, default=1) <= max(shape, default=1) <= 4096 or len(shape) > 40:
            shape = [1]
        draw = np.random.default_rng(self.chance.randrange(2**32)).integers
        array = draw(-16, 17, shape) / 8
        if self.wrong() and array.size:
            array.flat[0] = self.chance.choice(WILD_REALS)
        kind = self.chance.choice(("float64", "int64", "float16", "bool", "int32", "uint8")) if self.wrong() else kind
        with np.errstate(all="ignore"):
            return np.asarray(array.astype(kind))

    def constant(self, array: NDArray[Any]) -> str:
        name = self.name("c")
        self.tensors[name] = np.asarray(array)
        return name

    def numbers(self, numbers: Sequence[int]) -> str:
        """Add a constant list of integers, and return its name."""
        kind = self.chance.choice((np.float32, np.int32)) if self.wrong() else np.int64
        array = np.array([number % 2**63 if abs(number) >= 2**63 else number for number in numbers], dtype=np.int64)
        return self.constant(array.astype(kind).reshape(-1, 1) if self.wrong() else array.astype(kind))

    def beside(self, shape: Sequence[int]) -> NDArray[Any]:
        """Return a constant that is repeated to a shape."""
        cut = [1 if self.chance.randrange(3) == 0 else length for length in shape]
        return self.array(cut[self.chance.randrange(len(cut) + 1) :])

    def grow(self, steps: Sequence[Callable[..., None]]) -> tuple[int, ...]:
        """Draw the input, whose shape is returned, and some steps from there."""
        shape = self.shape()
        self.keep("x", shape)
        for _ in range(self.chance.randint(1, 9)):
            self.chance.choice(steps)(self, *self.value())
        return shape

    def ends_densely(self) -> bool:
        """Return whether two dense layers follow the last value."""
        _, left = self.values[-1]
        return bool(self.chance.randrange(4) and left and 0 < left[-1] < 4096)

    def value(self) -> tuple[str, tuple[int, ...]]:
        """Return one of the last values."""
        return self.values[max(0, len(self.values) - 1 - int(self.chance.expovariate(2)))]

    def alike(self, shape: tuple[int, ...]) -> str:
        """Return a value of this shape."""
        return self.chance.choice([name for name, other in self.values if other == shape or self.wrong()] or ["x"])


def windowed(lengths: Sequence[int], sizes: Sequence[int], step: int, pad: int, spread: int) -> list[int]:
    """Return how many windows there are along each axis; at least one."""
    each = zip(lengths, sizes, strict=False)
    return [max((length + 2 * pad - spread * (size - 1) - 1) // max(step, 1) + 1, 1) for length, size in each]
