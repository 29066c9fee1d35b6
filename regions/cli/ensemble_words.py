# SPDX-License-Identifier: MIT
"""How is an ensemble of random networks written on a command line?

The syntax is Python's: ``he([2, 16, 16, 1])``, ``price_tanner2020(784, 10, Gaussian(6), alpha=0.5)``. Nothing is
evaluated. The text is parsed, and only the names of `regions.ensembles`, ``range``, numbers, powers of numbers such as
``8**0.5``, words, lists and None are accepted.
"""

from __future__ import annotations

import ast
from typing import Any

import click

from regions.errors import RegionsError
from regions.theory import ensembles

__all__ = ["ENSEMBLE_SYNTAX", "EnsembleWord"]

ENSEMBLE_SYNTAX = "he([2, 16, 16, 1]), or raghu2017(784, 100, 10, sigma_w=2), or another one of regions.ensembles"
_CALLED: dict[str, Any] = {**{name: getattr(ensembles, name) for name in ensembles.__all__}, "range": range}
LONGEST, MOST_NUMBERS = 4_000, 100_000
# Below it a double holds every integer exactly.
LARGEST_POWER = 2.0**53


class EnsembleWord(click.ParamType):  # type: ignore[type-arg]
    """A word that names an ensemble."""

    name = "ensemble"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Make the ensemble, or report the error in the word."""
        try:
            if len(value) > LONGEST:
                raise ValueError(f"more than {LONGEST:,} characters")
            found = _made(ast.parse(value.strip(), mode="eval").body)
        except (SyntaxError, RecursionError, MemoryError):
            self.fail(f"{value!r} cannot be read; write {ENSEMBLE_SYNTAX}", param, ctx)
        except (TypeError, ValueError, ArithmeticError, RegionsError) as error:
            self.fail(f"{value!r}: {' '.join(str(error).split())}", param, ctx)
        if not isinstance(found, ensembles.Ensemble):
            self.fail(f"{value!r} is not an ensemble; write {ENSEMBLE_SYNTAX}", param, ctx)
        return found


def _made(node: ast.expr) -> Any:
    """Return the value of a part of the text."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLED:
        named = {word.arg: _made(word.value) for word in node.keywords if word.arg is not None}
        if len(named) < len(node.keywords):
            raise ValueError("** is not known here")
        made = _CALLED[node.func.id](*map(_made, node.args), **named)
        if isinstance(made, range) and len(made) > MOST_NUMBERS:
            raise ValueError(f"a range of more than {MOST_NUMBERS:,} numbers")
        return list(made) if isinstance(made, range) else made
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_made(each) for each in node.elts]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _made(node.operand)
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return -number
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _power(_made(node.left), _made(node.right))
    if isinstance(node, ast.Constant) and (node.value is None or type(node.value) in (int, float, str)):
        return node.value
    raise ValueError(f"{ast.unparse(node)} is not known here; known are {', '.join(_CALLED)}, numbers, words and lists")


def _power(base: Any, exponent: Any) -> float | int:
    """Return a power of numbers; an integer must be small enough to be a double."""
    if not all(type(each) in (int, float) for each in (base, exponent)):
        raise ValueError("** is for numbers")
    value = float(base) ** float(exponent)
    if not isinstance(value, float) or not abs(value) < LARGEST_POWER:
        raise ValueError(f"{base}**{exponent} is not a real number below {LARGEST_POWER:g}")
    return int(value) if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0 else value
