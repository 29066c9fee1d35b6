# SPDX-License-Identifier: MIT
"""Are pools, convolutions, and operators that only move numbers read with their meaning in torch and ONNX?

``python tests/fuzz_operators.py torch --cases 10000`` draws cases of `operators_of_torch.py`, exports them with
torch.export, several to a program, and compares the networks with torch. ``onnx`` does the same with the files of
`operators_of_onnx.py`, one operator each, and onnxruntime.
``torch-constants`` and ``onnx-constants`` draw constants that are computed from constants, by the helpers
`constants_of_torch.py` and `constants_of_onnx.py`; torch's are read from modules and from files.
A finding is another value, beyond rounding, or an error of another type than the package's own. Refusals are counted by
their reason. A case depends only on its number and the seed: ``--case 123`` shows one.
Cost: 10 ms a case.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

from regions.errors import InternalError, NotACheckpointError, RegionsError  # noqa: E402
from regions.read import load  # noqa: E402

IN_ONE_PROGRAM = 40
# Weights and inputs are small integers: only means round.
ROUNDING = 1e-3
CONSTANTS_IN_ONE_PROGRAM = 25
# Constants are computed in double precision by both sides, up to ten functions after each other.
ROUNDING_OF_DOUBLES = 1e-7


def torch_cases(numbers: Sequence[int], seed: int) -> tuple[Counter[str], list[str]]:
    """Results of cases, and errors."""
    import operators_of_torch as drawing

    kinds = list(drawing.KINDS)
    cases = []
    for number in numbers:
        chance = random.Random(f"torch {seed} {number}")
        kind = kinds[number % len(kinds)]
        name, shape, function = drawing.drawn(kind, chance)
        cases.append((f"case {number}: {name}", shape, function))
    counts: Counter[str] = Counter()
    found: list[str] = []
    for start in range(0, len(cases), IN_ONE_PROGRAM):
        _try_program(cases[start : start + IN_ONE_PROGRAM], start + seed, counts, found)
    return counts, found


def _try_program(cases: Sequence[Any], seed: int, counts: Counter[str], found: list[str]) -> None:
    """Export cases as one program; if it is refused, each half separately."""
    import torch

    from exported_parts import Applied, exported
    from operators_of_torch import MOST_NUMBERS

    def run(_: Any, x: torch.Tensor) -> torch.Tensor:
        parts = []
        for _, shape, function in cases:
            own = x[:, : torch.Size(shape).numel()].reshape(1, *shape)
            parts.append(function(own).reshape(1, -1))
        return torch.cat(parts, 1)

    kind = (torch.float32, torch.float64)[seed % 2]
    try:
        before = torch.get_default_dtype()
        torch.set_default_dtype(kind)
        try:
            content = exported(Applied(run), MOST_NUMBERS, batch=1)
        finally:
            torch.set_default_dtype(before)
        network = load(io.BytesIO(content))
    except RegionsError as error:
        if _is_unforeseen(error):
            found.append(f"{cases[0][0]}: {error}")
            return
        if len(cases) == 1:
            counts[f"refused: {_reason(error)}"] += 1
            return
        middle = len(cases) // 2
        _try_program(cases[:middle], seed, counts, found)
        _try_program(cases[middle:], seed, counts, found)
        return
    points = integer_points(MOST_NUMBERS, seed)
    with torch.no_grad():
        expected = np.stack([run(None, torch.tensor(point[None], dtype=kind)).numpy()[0] for point in points])
    _compare(network(points), expected.astype(float), cases, counts, found)


def _compare(values: Any, expected: Any, cases: Sequence[Any], counts: Counter[str], found: list[str]) -> None:
    import torch

    start = 0
    for name, shape, function in cases:
        end = start + function(torch.zeros(1, *shape)).numel()
        wrong = np.abs(values[:, start:end] - expected[:, start:end]).max()
        counts["the same" if wrong < ROUNDING else "different"] += 1
        if not wrong < ROUNDING:
            found.append(f"{name}: differs by {wrong}")
        start = end
    if values.shape != expected.shape or start != values.shape[1]:
        found.append(f"{cases[0][0]} and others: shapes {values.shape} and {expected.shape}")


def _is_unforeseen(error: RegionsError) -> bool:
    """Return whether a reader failed in an unexpected way, so that its caller had to name the error."""
    return isinstance(error, InternalError) or "no check foresaw" in str(error)


def _reason(error: RegionsError) -> str:
    """Return a message without the parts that differ from case to case."""
    return f"{type(error).__name__}: " + re.sub(r"'[^']*'|\d+|\[[^]]*\]", "_", str(error))[:160]


def integer_points(count: int, seed: int) -> Any:
    """Small integers: different ones at two points, and many equal ones at the third."""
    generator = np.random.default_rng(seed)
    different = [generator.permutation(count) - count // 2 for _ in range(2)]
    return np.stack([*different, generator.integers(-3, 4, count)]).astype(float)


def onnx_cases(numbers: Sequence[int], seed: int) -> tuple[Counter[str], list[str]]:
    """Results of files, and errors."""
    import operators_of_onnx as drawing

    kinds = list(drawing.KINDS)
    counts: Counter[str] = Counter()
    found: list[str] = []
    for number in numbers:
        name, content, shape = drawing.drawn(kinds[number % len(kinds)], random.Random(f"onnx {seed} {number}"))
        name = f"case {number}: {name}"
        points = integer_points(int(np.prod(shape)), number)
        expected = drawing.evaluated(content, points.reshape(len(points), *shape).astype(np.float32))
        if expected is None:
            counts["not run by the oracle"] += 1
            continue
        try:
            values = load(io.BytesIO(content))(points)
        except RegionsError as error:
            counts[f"refused: {_reason(error)}"] += 1
            if _is_unforeseen(error):
                found.append(f"{name}: {error}")
        else:
            same = values.shape == expected.shape and np.abs(values - expected).max() < ROUNDING
            counts["the same" if same else "different"] += 1
            if not same:
                found.append(f"{name}: {values.shape} and {expected.shape}, or other values")
    return counts, found


def torch_constants(numbers: Sequence[int], seed: int) -> tuple[Counter[str], list[str]]:
    """Results of modules, and of their exported programs, with constants that are computed from constants."""
    import constants_of_torch as drawing

    cases = [(number, *drawing.drawn(random.Random(f"constants {seed} {number}"))) for number in numbers]
    counts: Counter[str] = Counter()
    found: list[str] = []
    for start in range(0, len(cases), CONSTANTS_IN_ONE_PROGRAM):
        for as_file in (False, True):
            _try_constants(cases[start : start + CONSTANTS_IN_ONE_PROGRAM], as_file, counts, found)
    return counts, found


def _try_constants(cases: Sequence[Any], as_file: bool, counts: Counter[str], found: list[str]) -> None:
    """Multiply a ReLU with the constants of all cases; if the module is refused, try each half separately."""
    import torch

    from exported_parts import Applied, exported

    stored = {f"c{i}_{j}": one for i, case in enumerate(cases) for j, one in enumerate(case[2])}

    def run(module: Any, x: torch.Tensor) -> torch.Tensor:
        parts = []
        for i, (_, _, tensors, function) in enumerate(cases):
            parts.append(function([getattr(module, f"c{i}_{j}") for j in range(len(tensors))]))
        return torch.relu(x) * torch.cat(parts, 1)

    module = Applied(run, **stored).eval()
    way = "file" if as_file else "module"
    try:
        network = load(io.BytesIO(exported(module, 1, batch=1))) if as_file else load(module, input_shape=1)
    except Exception as error:
        if not isinstance(error, RegionsError) or isinstance(error, NotACheckpointError) or _is_unforeseen(error):
            if len(cases) == 1:  # torch runs it, so nothing is wrong with it
                found.append(f"case {cases[0][0]}: {cases[0][1]}, {way}: {type(error).__name__}: {error}")
                return
        elif len(cases) == 1:
            counts[f"{way} refused: {_reason(error)}"] += 1
            return
        middle = len(cases) // 2
        _try_constants(cases[:middle], as_file, counts, found)
        _try_constants(cases[middle:], as_file, counts, found)
        return
    values, start = network(np.ones((1, 1)))[0], 0
    for number, name, tensors, function in cases:
        expected = function([one.double() for one in tensors]).numpy().ravel()
        wrong = _relative_error(values[start : start + expected.size], expected)
        start += expected.size
        counts[f"{way}: {'the same' if wrong < ROUNDING_OF_DOUBLES else 'different'}"] += 1
        if not wrong < ROUNDING_OF_DOUBLES:
            found.append(f"case {number}: {name}, {way}: differs by {wrong}")


def _relative_error(values: Any, expected: Any) -> float:
    if values.shape != expected.shape:
        return np.inf
    return float(np.max(np.abs(values - expected) / np.maximum(1.0, np.abs(expected)), initial=0.0))


def onnx_constants(numbers: Sequence[int], seed: int) -> tuple[Counter[str], list[str]]:
    """Results of files with constants that are computed from constants, and errors."""
    import onnx

    import constants_of_onnx as drawing
    from operators_of_onnx import evaluated

    counts: Counter[str] = Counter()
    found: list[str] = []
    for number in numbers:
        name, content, _ = drawing.drawn(random.Random(f"onnx constants {seed} {number}"))
        name = f"case {number}: {name}"
        single = onnx.ModelProto.FromString(content).graph.input[0].type.tensor_type.elem_type == 1
        expected = evaluated(content, np.ones((1, 1, 1), np.float32 if single else np.float64))
        if expected is None or not np.isfinite(expected).all() or np.abs(expected).max() > drawing.MOST_NUMBERS**3:
            counts["not run by the oracle"] += 1
            continue
        try:
            values = load(io.BytesIO(content))(np.ones((1, 1)))
        except RegionsError as error:
            counts[f"refused: {_reason(error)}"] += 1
            if _is_unforeseen(error):
                found.append(f"{name}: {error}")
        else:
            wrong = _relative_error(values, expected)
            same = wrong < (ROUNDING if single else ROUNDING_OF_DOUBLES)
            counts["the same" if same else "different"] += 1
            if not same:
                found.append(f"{name}: differs by {wrong}")
    return counts, found


TRIED: dict[str, Callable[[Sequence[int], int], tuple[Counter[str], list[str]]]] = {
    "torch": torch_cases,
    "onnx": onnx_cases,
    "torch-constants": torch_constants,
    "onnx-constants": onnx_constants,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(TRIED))
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="one case alone")
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.cases) if given.case is None else [given.case]
    counts, found = TRIED[given.what](numbers, given.seed)
    for word, count in counts.most_common():
        print(f"{count:8,}  {word}")
    print(*found[:100], sep="\n")
    print(f"{len(found)} findings")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
