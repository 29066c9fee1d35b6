# SPDX-License-Identifier: MIT
"""Which functions of single outputs can be left out at the end of a network?

Strictly increasing ones: they change neither the regions nor which of two values of an output is larger. Positive
factors and constants that are added may follow. A formula in a note says what was left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["INCREASING", "increasing_formula", "left_out", "scaled_formula"]

# Strictly increasing functions, by their names in all formats without case and underscores, and their parameters, which
# must be positive.
INCREASING: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("tanh", "sigmoid", "logsigmoid", "softsign", "tanhshrink", "selu", "exp", "expm1", "erf"), ()),
    **dict.fromkeys(("atan", "arctan", "sinh", "asinh", "arcsinh"), ()),
    **dict.fromkeys(("elu", "celu"), ("alpha",)),
    "softplus": ("beta",),
}
# Parameters that do not decide whether the function increases, and their defaults.
_OTHERS = {"scale": 1, "input_scale": 1, "threshold": 20, "inplace": False}
# Formulas of functions that are positive everywhere.
_POSITIVE = re.compile(r"(sigmoid|softplus|exp)\((?:[^()]|\([^()]*\))*\)")
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
# Numbers of a constant that a formula shows.
SHOWN = 8


def left_out(nodes: str, formula: str | None) -> str:
    """Return the note on nodes or modules that were left out."""
    applied = f": for such a number h, the model returns {formula}" if formula else ""
    return f"left out at the end: {nodes}; the outputs of this network are what goes into it{applied}"


def increasing_formula(operator: str, parameters: Mapping[str, Any], before: str) -> str | None:
    """Return the formula of a function of a value with the formula ``before``; None if it may not be increasing."""
    key = operator.lower().replace("_", "")
    if key == "log":
        return f"log({before})" if _POSITIVE.fullmatch(before) else None
    if key not in INCREASING:
        return None
    positive = INCREASING[key]
    words = []
    for name, value in parameters.items():
        if name in positive and type(value) in (int, float) and value > 0:
            words += [f", {name}={value!r}"] if value != 1 else []
        elif name == "threshold" and type(value) in (int, float) and value > _OTHERS[name]:
            continue  # torch returns h above the threshold, which differs by less than for its default
        elif name not in _OTHERS or value != _OTHERS[name]:
            return None
    return f"{key}({before}{''.join(words)})"


def scaled_formula(word: str, first: bool, constant: Any, before: str, shape: tuple[int, ...]) -> str | None:
    """Return the formula after a sum or product with a constant; None if it does not increase, or changes the shape.

    ``word`` is add, sub, mul or div, and ``first`` says whether the value comes first.
    """
    numbers = np.asarray(constant)
    if numbers.dtype.kind not in "fiu" or not np.isfinite(numbers).all():
        return None
    try:
        if np.broadcast_shapes(numbers.shape, shape) != shape:
            return None
    except ValueError:
        return None
    if (word in ("mul", "div") and not (numbers > 0).all()) or (word in ("sub", "div") and not first):
        return None
    flat = [float(each) for each in numbers.ravel().tolist()]
    shown = repr(flat[0]) if len(set(flat)) == 1 else repr(flat[:SHOWN])[:-1] + (", ..]" if len(flat) > SHOWN else "]")
    inner = before if word in ("add", "sub") or " " not in before else f"({before})"
    return f"{inner} {_SIGNS[word]} {shown}"
