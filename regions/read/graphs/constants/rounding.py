# SPDX-License-Identifier: MIT
"""By how much may constants that are computed as doubles differ from those that a runtime computes in the file's type?

`Steps` remembers how constants were computed. If a function that jumps reads such a constant, the steps to it are
computed again with noise of some roundings: on the results that the type of the file does not hold, and, if an operator
may round more than once, also on its operands. Numbers that are only moved or selected get no noise of their own,
therefore ``k > 0`` of stored numbers is decided. The noise is drawn twice, with fixed seeds.
Cost: two to four times that of computing the constants, and nothing if no function jumps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from regions.errors import RegionsError
from regions.read.graphs.call import Call, Jumps

__all__ = ["Step", "Steps", "rounded"]

Array = NDArray[Any]
DRAWS = 2
# Roundings that one operator may make in a row.
_ROUNDINGS = 8.0
# Bytes of a number with noise.
_BYTES = 8
# Digits of each type, in bits.
_BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def rounded(array: Array, name: str) -> Array:
    """Return numbers, rounded to a type of real numbers."""
    if name != "bfloat16":
        return array.astype(name)
    bits = array.astype(np.float32).view(np.uint32)
    half = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return ((bits + half) & np.uint32(0xFFFF0000)).view(np.float32)


@dataclass
class Step:
    """One operator that made constants.

    Attributes
    ----------
    call, apply
        Make the results again.
    once : bool
        Whether each result is one function of one number of each operand, rounded once.
    sums : bool
        Whether it makes only sums, products and their roots, which are exact for small whole numbers.
    noisy : list of list
        The results of each draw; empty if it failed.
    """

    call: Call
    apply: Callable[[Call], list[Any]]
    once: bool
    sums: bool
    noisy: list[list[Any]] | None = None


@dataclass
class Steps:
    """How the constants of a file were computed.

    Attributes
    ----------
    steps : list of Step
        In order.
    makers : dict
        The numbers of the step and of its result, and the result itself, by its identity.
    """

    steps: list[Step]
    makers: dict[int, tuple[int, int, Array]]

    def watched(self, call: Call, apply: Callable[[Call], list[Any]]) -> Call:
        """Return a call whose jumps are compared with those for operands with noise."""
        if not self._is_computed(call):
            return replace(call, jumps=None)
        tried: list[list[list[Array]]] = []

        def noisy() -> list[list[list[Array]]]:
            if not tried:
                self._make_noisy(call)
                tried.extend(self._jumps(call, apply, draw) for draw in range(DRAWS))
            return tried

        return replace(call, jumps=Jumps(noisy))

    def add(self, step: Step, results: list[Any]) -> None:
        """Remember how real numbers were made, unless they are exact: stored, or in a narrower type that needs no sum.

        Whole numbers are exact, because a function that makes them of real numbers jumps. A Python number is known by
        its identity, as arrays are.
        """
        follows = self._is_computed(step.call)
        given = {id(one) for one in _numbers(step.call.arguments)}  # a clone may be the operand itself
        new = [
            (i, one)
            for i, one in enumerate(results)
            if id(one) not in self.makers
            and id(one) not in given
            and (follows if type(one) is float else _is_real(one) and (follows or one.dtype == np.float64))
        ]
        self.makers.update({id(one): (len(self.steps), i, one) for i, one in new})
        if new:
            self.steps.append(step)

    def _is_computed(self, call: Call) -> bool:
        return any(id(one) in self.makers for one in _numbers(call.arguments))

    def _jumps(self, call: Call, apply: Callable[[Call], list[Any]], draw: int) -> list[list[Array]]:
        """Return the operands of all jumps of a call for operands with noise; those before a failure."""
        jumps = Jumps()
        try:
            apply(replace(self._with_noise(call, draw), jumps=jumps))
        except (RegionsError, ArithmeticError, ValueError, LookupError, TypeError):
            pass  # it fails only with noise
        return jumps.met

    def _with_noise(self, call: Call, draw: int) -> Call:
        def noisy(one: Any) -> Any:
            number, i, _ = self.makers.get(id(one), (-1, 0, one))
            if number < 0:
                return one
            made = self.steps[number].noisy
            if not made:
                raise ValueError("no result with noise")
            return made[draw][i]

        arguments = {name: _mapped(one, noisy) for name, one in call.arguments.items()}
        return replace(call, arguments=arguments, jumps=Jumps())

    def _make_noisy(self, call: Call) -> None:
        """Compute the operands of a call with noise, and all constants that they are computed from."""
        wanted: set[int] = set()
        stack = [call]
        while stack:
            for one in _numbers(stack.pop().arguments):
                number = self.makers[id(one)][0] if id(one) in self.makers else -1
                if number >= 0 and number not in wanted and self.steps[number].noisy is None:
                    wanted.add(number)
                    stack.append(self.steps[number].call)
        for number in sorted(wanted):
            step = self.steps[number]
            try:
                step.noisy = [self._noisy(step, draw) for draw in range(DRAWS)]
            except (RegionsError, ArithmeticError, ValueError, LookupError, TypeError):
                step.noisy = []

    def _noisy(self, step: Step, draw: int) -> list[Any]:
        call = self._with_noise(step.call, draw)
        operands = [one for one in _arrays(call.arguments) if one.dtype.kind == "f"]
        name = call.stored or "float64"
        size = 2.0 ** (1 - _BITS[name]) * _ROUNDINGS

        def shaken(array: Any) -> Any:
            if not _is_real(array):
                return array
            noise = chance.uniform(0.5, 1.0, array.shape) * chance.choice((-1.0, 1.0), array.shape)
            return np.asarray(array.astype(np.float64) * (1.0 + size * noise))

        made = others = step.apply(call)
        # The same results, such as two times exp(k), get the same noise.
        chance = np.random.default_rng([draw, *(crc32(one.tobytes()) for one in _arrays(made))])
        if not step.once:
            given = {key: _mapped(one, shaken) for key, one in call.arguments.items()}
            operands = [one for one in _arrays(given) if one.dtype.kind == "f"]
            others = step.apply(replace(call, arguments=given, jumps=Jumps()))
        small = step.sums and _bits_of_sums(list(_arrays(call.arguments))) <= _BITS[name]
        held = small or (step.once and name != "float64")
        sizes = np.abs(np.concatenate([np.zeros(1), *(one.ravel() for one in operands)]))

        def with_noise(exact: Any, other: Any) -> Any:
            if not isinstance(exact, np.ndarray) or exact.dtype != np.float64:
                return exact
            call.at.charge(_BYTES * exact.size)
            kept = np.isin(np.abs(other), sizes) | ~np.isfinite(other)
            if held:
                kept |= rounded(exact, name) == exact
            result = np.where(kept, exact, shaken(other))
            least = rounded(result, name)
            return np.where((least == 0.0) | np.isinf(least), least, result)  # beyond the range of the type

        return [with_noise(*pair) for pair in zip(made, others, strict=True)]


def _is_real(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _numbers(arguments: Any) -> Iterator[Any]:
    """Return the arrays and the real numbers among the arguments of a call, also in lists."""
    for one in arguments.values() if isinstance(arguments, dict) else arguments:
        if isinstance(one, (np.ndarray, float)):
            yield one
        elif isinstance(one, list):
            yield from _numbers(one)


def _arrays(arguments: Any) -> Iterator[Array]:
    return (one for one in _numbers(arguments) if isinstance(one, np.ndarray))


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(value, list):
        return [_mapped(one, function) for one in value]
    return function(value) if isinstance(value, (np.ndarray, float)) else value


def _bits_of_sums(operands: list[Array]) -> float:
    """Return a number of bits that holds all sums of products of operands, in every order."""
    count = max((one.size for one in operands), default=1)
    return sum(map(_bits, operands)) + np.log2(max(count, 1))


def _bits(array: Array) -> float:
    """Return how many bits hold all numbers of an array, as multiples of one power of two."""
    numbers = array.astype(np.float64).ravel()
    numbers = numbers[numbers != 0]
    if not numbers.size:
        return 0.0
    if not np.isfinite(numbers).all():
        return np.inf
    parts, exponents = np.frexp(np.abs(numbers))
    digits = np.ldexp(parts, 53).astype(np.int64)
    _, last = np.frexp((digits & -digits).astype(np.float64))
    return float(exponents.max() - (exponents + last - 54).min())
