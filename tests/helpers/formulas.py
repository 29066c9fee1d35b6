# SPDX-License-Identifier: MIT
"""What does the formula in a note say about a number?"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray


def _elu(h: Any, alpha: float = 1.0) -> Any:
    return np.where(h > 0, h, alpha * np.expm1(np.minimum(h, 0)))


_FUNCTIONS: dict[str, Any] = {
    "tanh": np.tanh,
    "sigmoid": lambda h: 1 / (1 + np.exp(-h)),
    "logsigmoid": lambda h: -np.log1p(np.exp(-h)),
    "softplus": lambda h, beta=1.0: np.log1p(np.exp(beta * h)) / beta,
    "softsign": lambda h: h / (1 + np.abs(h)),
    "tanhshrink": lambda h: h - np.tanh(h),
    "elu": _elu,
    "celu": lambda h, alpha=1.0: _elu(h / alpha) * alpha,
    "selu": lambda h: 1.0507009873554805 * _elu(h, 1.6732632423543772),
    "exp": np.exp,
    "log": np.log,
    "expm1": np.expm1,
    "erf": np.vectorize(math.erf),
    "atan": np.arctan,
    "arctan": np.arctan,
    "sinh": np.sinh,
    "asinh": np.arcsinh,
    "arcsinh": np.arcsinh,
}


def applied(note: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Apply the formula of a note on what was left out to the outputs of a network."""
    formula = note.rpartition("the model returns ")[2]
    parts = _PART.findall(formula)
    if parts:  # "tanh(h) as numbers 0 to 1 of output 'cat', and h as numbers 2 to 3"
        result = values.copy()
        for one, ranges in parts:
            for first, last in re.findall(r"(\d+)(?: to (\d+))?", ranges):
                columns = slice(int(first), int(last or first) + 1)
                result[:, columns] = _value(one, values[:, columns])
        return result
    return _value(formula.partition(" (decreasing")[0], values)


_PART = re.compile(r"(?:^|, and )(.+?) as numbers? ([\d, to]+?)(?= of output|, and |$)")


def _value(formula: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    lists = formula.replace("[", "np.array([").replace("]", "])")
    return np.asarray(eval(lists, {"np": np, **_FUNCTIONS}, {"h": values}))
