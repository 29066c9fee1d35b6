# SPDX-License-Identifier: MIT
"""Which increasing functions do exporters write with several operators?

Softsign is h / (1 + |h|), tanhshrink is h - tanh(h), and torch's softplus is h above a threshold. The last operator
joins values that are all functions of the same numbers h. Whether they are is decided in fractions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from regions.read.graphs.operations import Tensor
from regions.read.graphs.pieces import IDENTITY, NotLinearError, Pieces
from regions.read.graphs.piecewise import Piecewise, of_tensor, over_one_tensor
from regions.read.graphs.site import Site
from regions.read.graphs.stand_ins import Tail
from regions.read.graphs.tails import LEAST_THRESHOLD, Formula

__all__ = ["written_out"]

_SOFTPLUS = re.compile(r"softplus\(h\)(?: / ([0-9.e+-]+))?")
_ONE_AND_SIZE = Pieces((Fraction(0),), ((Fraction(-1), Fraction(1)), (Fraction(1), Fraction(1))), (Fraction(1),))


def written_out(at: Site, word: str, operands: Sequence[Tail | Tensor | Piecewise | None]) -> Tail | None:
    """Return the tail of a node that completes such a function; None for all other nodes.

    Parameters
    ----------
    at : Site
    word : str
        What the node does: ``sub``, ``div`` or ``where``.
    operands : sequence of Tail, Tensor, Piecewise or None
        In torch's order; None for a constant.
    """
    if word == "div":
        first, second = operands
        if isinstance(first, Tensor) and isinstance(second, Tensor):
            found = _over_one(at, [first, second])
            if found is not None and all(pair == (IDENTITY, _ONE_AND_SIZE) for pair in found):
                return Tail(first, (at.node,), Formula("softsign(h)"))
    elif word == "sub":
        first, second = operands
        if isinstance(first, Tensor) and isinstance(second, Tail) and str(second.formula) == "tanh(h)":
            found = _over_one(at, [first, second.tensor])
            if found is not None and all(one == other for one, other in found):
                return Tail(second.tensor, (*second.steps, at.node), Formula("tanhshrink(h)"))
    elif word == "where":
        condition, first, second = operands
        if isinstance(condition, Piecewise) and isinstance(first, Tensor) and isinstance(second, Tail):
            match = _SOFTPLUS.fullmatch(str(second.formula))
            found = _over_one(at, [condition, first, second.tensor]) if match else None
            beta = Fraction(float(match[1] or 1)) if match else Fraction(0)
            if found is not None and all(_is_above(one, line, scaled, beta) for one, line, scaled in found):
                return Tail(second.tensor, (*second.steps, at.node), second.formula)
    return None


def _over_one(at: Site, values: Sequence[Tensor | Piecewise]) -> list[tuple[Pieces, ...]] | None:
    """Return the functions of the same number that values of one shape are, each combination once; None if there are
    several such numbers.
    """
    if len({each.shape for each in values}) > 1:
        return None
    given = [each if isinstance(each, Piecewise) else of_tensor(at.node, each) for each in values]
    try:
        same = over_one_tensor(at, given)
    except NotLinearError:
        return None
    if same is None:
        return None
    keys = set(zip(*(each.function.tolist() for each in same), strict=True))
    return [tuple(each.functions[i] for each, i in zip(same, key, strict=True)) for key in keys]


def _is_above(condition: Pieces, line: Pieces, scaled: Pieces, beta: Fraction) -> bool:
    """Return whether a condition is ``scaled > threshold``, with a threshold as large as torch's, and ``scaled`` is
    ``beta`` times the line.
    """
    if beta <= 0 or len(condition.ends) != 1 or scaled != line.times(Pieces.line(0, beta)):
        return False
    threshold = scaled(condition.ends[0])
    above = scaled.plus(Pieces.line(0, -threshold))
    return threshold >= LEAST_THRESHOLD and condition in (above.signs((1,)), above.signs((0, 1)))
