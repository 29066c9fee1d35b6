# SPDX-License-Identifier: MIT
"""Which functions of single outputs can be left out at the end of a network?

Strictly increasing and decreasing ones, because they do not change the regions. Factors and constants that are added
may follow. A formula in a note says what was left out, and whether it decreases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["INCREASING", "LEAST_THRESHOLD", "Formula", "increasing_formula", "left_out", "scaled_formula"]

# Strictly increasing functions, by their names in all formats without case and underscores, and their parameters, which
# must be positive.
INCREASING: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("tanh", "sigmoid", "logsigmoid", "softsign", "tanhshrink", "selu", "exp", "expm1", "erf"), ()),
    **dict.fromkeys(("atan", "arctan", "sinh", "asinh", "arcsinh"), ()),
    **dict.fromkeys(("elu", "celu"), ("alpha",)),
    "softplus": ("beta",),
}
# torch returns h above the threshold. From this one on, which is the default, the difference is that of rounding.
LEAST_THRESHOLD = 20
# Parameters that do not decide whether the function increases, and their defaults.
_OTHERS = {"scale": 1, "input_scale": 1, "threshold": LEAST_THRESHOLD, "inplace": False}
# Formulas of functions that are positive everywhere.
_POSITIVE = re.compile(r"(sigmoid|softplus|exp)\((?:[^()]|\([^()]*\))*\)")
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
# Numbers of a constant that a formula shows.
SHOWN = 8


@dataclass(frozen=True)
class Formula:
    """A strictly monotone function of a number ``h``.

    Attributes
    ----------
    text : str
    signs : set of int
        Whether it increases (1) or decreases (-1); both if numbers with this formula have different factors.
    """

    text: str = "h"
    signs: frozenset[int] = frozenset({1})

    def __str__(self) -> str:
        return self.text

    @property
    def said(self) -> str:
        """Return the formula for a note, which says that it decreases."""
        if self.signs == {1}:
            return self.text
        return f"{self.text} ({'decreasing' if self.signs == {-1} else 'decreasing where the factor is negative'})"


def left_out(nodes: str, formula: str | None) -> str:
    """Return the note on nodes or modules that were left out."""
    applied = f": for such a number h, the model returns {formula}" if formula else ""
    return f"left out at the end: {nodes}; the outputs of this network are what goes into it{applied}"


def increasing_formula(operator: str, parameters: Mapping[str, Any], before: Formula) -> Formula | None:
    """Return the formula of a function of a value with the formula ``before``; None if it may not be increasing."""
    key = operator.lower().replace("_", "")
    if key == "log":
        return Formula(f"log({before})", before.signs) if _POSITIVE.fullmatch(before.text) else None
    if key == "log1p" and before.text == "exp(h)":
        return Formula("softplus(h)")
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
    return Formula(f"{key}({before}{''.join(words)})", before.signs)


def scaled_formula(word: str, first: bool, constant: Any, before: Formula, shape: tuple[int, ...]) -> Formula | None:
    """Return the formula after a sum or product with a constant; None if it is not strictly monotone, or changes the
    shape.

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
    if word in ("mul", "div") and not numbers.all() or (word == "div" and not first):
        return None
    flat = [float(each) for each in numbers.ravel().tolist()]
    shown = repr(flat[0]) if len(set(flat)) == 1 else repr(flat[:SHOWN])[:-1] + (", ..]" if len(flat) > SHOWN else "]")
    factors = {1} if word in ("add", "sub") else set(np.sign(flat).astype(int).tolist())
    inner = before.text if word in ("add", "sub") or " " not in before.text else f"({before})"
    text = f"{inner} {_SIGNS[word]} {shown}"
    if word == "sub" and not first:
        factors, text = {-1}, f"{shown} - {f'({before})' if ' ' in before.text else before}"
    return Formula(text, frozenset(sign * factor for sign in before.signs for factor in factors))
