# SPDX-License-Identifier: MIT
"""Which operators compare values, or choose between them by comparisons?

Their results are `Piecewise`, as they may jump: whether the branches of a selection meet is decided when another
operator reads it. If the condition compares two different numbers, the branches must differ by a multiple of the
difference of these; the result is then the larger or the smaller branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.ground.arithmetic.dyadic import nearest_float
from regions.networks.patches import Patches
from regions.read.graphs.call import Call, Operand
from regions.read.graphs.moving import moved, repeated
from regions.read.graphs.operations import Affine, Operation, Tensor
from regions.read.graphs.operators import elementwise
from regions.read.graphs.operators.maxima import largest_of
from regions.read.graphs.pieces import COMPARISONS, NotLinearError, Pieces
from regions.read.graphs.piecewise import (
    PRODUCTS_OF_FUNCTION,
    Piecewise,
    of_constant,
    of_tensor,
    over_one_tensor,
    settled,
)
from regions.read.graphs.site import Site

__all__ = ["add", "both", "choose", "compare", "divide", "invert", "multiply", "negate", "sign", "step", "where_masked"]

# Products that take as long as comparing the coefficients of one number.
PRODUCTS_OF_FORM = 2**16
Combine = Callable[..., Pieces]


def compare(call: Call, word: str) -> Piecewise:
    """Return 1 where a comparison of both operands is true, and 0 elsewhere; ``word`` is its name in `COMPARISONS`."""
    at, signs = call.at, COMPARISONS[word]
    first, second = call.operands(settle=False)
    made = _combined(at, [first, second], lambda a, b: a.plus(b.times(Pieces.line(0, -1))).signs(signs))
    if made is not None:
        return made
    x, y = (_whole(at, each, _shape(at, [first, second])) for each in (first, second))
    difference = of_tensor(at.node, at.summed([(x, 1.0), (y, -1.0)]))
    return difference.mapped(at.node, lambda function: function.signs(signs))


def sign(call: Call) -> Piecewise:
    """Return -1, 0 or 1."""
    return _one(call, Pieces.sign)


def invert(call: Call) -> Any:
    """Return 1 where a comparison is false."""
    value = call.unsettled("self")
    return ~value if isinstance(value, np.ndarray) and value.dtype == bool else _one(call, lambda f: f.signs((0,)))


def step(call: Call) -> Piecewise:
    """Return 0 below 0, 1 above, and the given values at 0."""
    given = [call.unsettled("self"), call.constant("values")]
    made = _combined(call.at, given, lambda a, b: a.signs((1,)).plus(a.signs((0,)).times(b)))
    assert made is not None
    return made


def both(call: Call, word: str) -> Piecewise:
    """Return a logical function of comparisons: ``and``, ``or`` or ``xor``."""
    minus = Pieces.line(0, {"and": 0, "or": -1, "xor": -2}[word])
    product = (lambda a, b: a.times(b)) if word == "and" else (lambda a, b: a.plus(b).plus(a.times(b).times(minus)))
    made = _combined(call.at, [_truth(call, name) for name in ("self", "other")], product)
    if made is None:
        raise UnsupportedLayerError(
            f"{call.at.label} joins comparisons of different numbers, which is not handled; write the selection with "
            "maxima and minima, or export the part before it"
        )
    return made


def choose(call: Call) -> Any:
    """Return ``self`` where ``condition`` is true, and ``other`` elsewhere."""
    return _chosen(call.at, _truth(call, "condition"), *call.operands(settle=False))


def where_masked(call: Call) -> Any:
    """Return ``value`` where ``mask`` is true, and ``self`` elsewhere."""
    x, value = call.operands("self", "value", settle=False, infinite=True)
    return _chosen(call.at, _truth(call, "mask"), value, x)


def add(call: Call, sign: float = 1.0, turned: bool = False) -> Any:
    """Return `elementwise.add`, also of values that may jump."""
    factor = sign * call.number("alpha", 1.0)
    lines = [Pieces.line(0, each) for each in ((factor, 1.0) if turned else (1.0, factor))]
    made = _of_jumping(call, lambda a, b: a.times(lines[0]).plus(b.times(lines[1])))
    return elementwise.add(call, sign, turned) if made is None else made


def divide(call: Call) -> Any:
    """Return `elementwise.divide`, also of a value that may jump."""
    divisor = call.unsettled("other")
    plain = isinstance(divisor, (Tensor, Piecewise)) or call.given("rounding_mode", None) is not None
    if plain or not np.all(divisor):
        return elementwise.divide(call)
    made = _of_jumping(call, lambda a, b: a.times(Pieces.line(0, 1 / b.lines[0][1])))
    return elementwise.divide(call) if made is None else made


def negate(call: Call) -> Any:
    """Return minus a value."""
    if isinstance(call.unsettled("self"), Piecewise):
        return _one(call, lambda function: function.times(Pieces.line(0, -1)))
    return elementwise.negate(call)


def multiply(call: Call) -> Any:
    """Return `elementwise.multiply`, also of values that may jump."""
    made = _of_jumping(call, Pieces.times)
    if made is not None:
        return made
    gates = [call.unsettled(name) for name in ("self", "other")]
    for gate, x in (gates, gates[::-1]):
        if isinstance(gate, Piecewise) and all(each.is_step and len(each.ends) == 1 for each in gate.functions):
            return _gated(call.at, gate, x)
    return elementwise.multiply(call)


def _gated(at: Site, gate: Piecewise, x: Operand | Piecewise) -> Tensor:
    """Return the product of a tensor and a value that jumps once."""
    shape = _shape(at, [gate, x])
    whole, wide = _whole(at, x, shape), repeated(at, gate, shape)
    sides = []
    for side in (1, 0):
        factors = np.array([float(each.lines[side][1]) for each in wide.functions])[wide.function]
        sides.append(at.scaled(whole, factors.reshape(shape)))
    above = wide.mapped(at.node, lambda each: Pieces(each.ends, (_CONSTANT[0], _CONSTANT[1]), (Fraction(0),)))
    return _either(at, above, *sides)


def _of_jumping(call: Call, combine: Combine) -> Piecewise | None:
    """Return a function of both operands, if one of them may jump and both are functions of the same numbers."""
    if not any(isinstance(call.unsettled(name), Piecewise) for name in ("self", "other")):
        return None
    return _combined(call.at, call.operands(settle=False), combine)


_CONSTANT = ((Fraction(0), Fraction(0)), (Fraction(0), Fraction(1)))


def _one(call: Call, change: Callable[[Pieces], Pieces]) -> Piecewise:
    value = call.unsettled("self")
    if not isinstance(value, Piecewise):
        value = of_tensor(call.at.node, call.tensor())
    return value.mapped(call.at.node, change)


def _truth(call: Call, name: str) -> Any:
    """Return a comparison, or a constant of truth values."""
    value = call.unsettled(name)
    if isinstance(value, Piecewise) or (isinstance(value, np.ndarray) and value.dtype == bool):
        return value
    if isinstance(value, Tensor):
        raise UnsupportedLayerError(
            f"{call.at.label}: its {call.said(name)} is not a comparison, so which branch it takes is not known"
        )
    raise call.at.refused(f"has an argument {call.said(name)!r} that is neither true nor false")


def _chosen(at: Site, condition: Any, first: Operand | Piecewise, second: Operand | Piecewise) -> Any:
    shape = _shape(at, [condition, first, second])
    if isinstance(condition, np.ndarray):
        return _picked(at, np.broadcast_to(condition, shape), first, second)
    made = _combined(at, [condition, first, second], Pieces.chosen)
    if made is not None:
        return made
    _require_finite(at, [first, second])
    return _either(at, repeated(at, condition, shape), *(_whole(at, each, shape) for each in (first, second)))


def _require_finite(at: Site, values: Sequence[Any]) -> None:
    if any(isinstance(value, np.ndarray) and not np.isfinite(value).all() for value in values):
        raise UnsupportedLayerError(
            f"{at.label} gives an infinite number to some inputs, so it is not continuous; export the part before it"
        )


def _picked(at: Site, condition: NDArray[np.bool_], first: Operand | Piecewise, second: Operand | Piecewise) -> Any:
    """Return elements of two values by a constant."""
    both_values = [settled(at.reading, each) for each in (first, second)]
    shape = condition.shape
    if not any(isinstance(each, Tensor) for each in both_values):
        return np.where(condition, *both_values)
    unused = [not condition.any(), condition.all()]
    _require_finite(at, [value for value, left_out in zip(both_values, unused, strict=True) if not left_out])
    flat = [_whole(at, np.zeros(()) if isinstance(each, np.ndarray) else each, shape) for each in both_values]
    together = at.joined([moved(at, each, lambda array: array.reshape(-1)) for each in flat], 0)
    places = np.arange(condition.size).reshape(shape)
    result = at.rearranged(together, np.where(condition, places, places + condition.size))
    shifts = [np.zeros(()) if isinstance(each, Tensor) else each for each in both_values]
    shift = np.where(condition, *shifts)
    return at.scaled(result, 1.0, shift) if shift.any() else result


def _shape(at: Site, values: Sequence[Any]) -> tuple[int, ...]:
    try:
        shape = np.broadcast_shapes(*(each.shape for each in values))
    except ValueError:
        raise at.refused(f"compares shapes {[list(each.shape) for each in values]}") from None
    at.require_axes(shape)
    return shape


def _whole(at: Site, value: Operand | Piecewise, shape: tuple[int, ...]) -> Tensor:
    """Return a value as a tensor of this shape."""
    if isinstance(value, np.ndarray):
        zeros = at.rearranged(at.reading.builder.first(), np.full(shape, -1))
        return at.scaled(zeros, 1.0, value) if value.any() else zeros
    return repeated(at, settled(at.reading, value), shape)


def _combined(at: Site, given: Sequence[Any], combine: Combine) -> Piecewise | None:
    """Return a function of several values, number by number; None if these are not functions of the same numbers."""
    shape = _shape(at, given)
    if all(isinstance(each, np.ndarray) for each in given):
        raise UnsupportedLayerError(f"{at.label} compares constants in a way that is not handled")
    _require_finite(at, given)
    values = []
    for each in given:
        if isinstance(each, np.ndarray):
            each = of_constant(at, each.astype(np.float64), at.reading.builder.first())
        elif isinstance(each, Tensor):
            each = of_tensor(at.node, each)
        values.append(repeated(at, each, shape))
    try:
        same = over_one_tensor(at, values)
        if same is None:
            return None
        keys = np.stack([each.function for each in same], axis=1)
        unique, which = np.unique(keys, axis=0, return_inverse=True)
        at.reading.charge_products(PRODUCTS_OF_FUNCTION * len(unique))
        made = [combine(*(each.functions[i] for each, i in zip(same, key, strict=True))) for key in unique.tolist()]
    except NotLinearError as error:
        raise UnsupportedLayerError(f"{at.label} {error}; export the part before it") from None
    return Piecewise(at.node, same[0].base, made, which.ravel(), any(each.rounded for each in same))


def _either(at: Site, condition: Piecewise, first: Tensor, second: Tensor) -> Tensor:
    """Return one of two tensors of one shape, by a comparison of a number that they are not functions of alone."""
    at.reading.charge_products(PRODUCTS_OF_FORM * first.size)
    forms = _Forms(at.reading.builder.first_equal)
    turns = np.empty(first.size)
    for number in range(first.size):
        function = condition.functions[condition.function[number]]
        if not len(function.ends) == 1 or not function.is_step:
            raise UnsupportedLayerError(f"{at.label} compares numbers in a way that is not handled; use a maximum")
        (end,) = function.ends
        difference = _minus(forms.of(first, number), forms.of(second, number))
        ratio = _ratio(difference, _minus(forms.of(condition.base, number), {None: end}))
        if ratio is None:
            raise UnsupportedLayerError(
                f"{at.label} chooses by whether {condition.element(number)} is above {nearest_float(end)!r}, and its "
                "two branches are not seen to differ by a multiple of what is compared, so it may jump there; export "
                "the part before it"
            )
        turns[number] = 1.0 if ratio * (1 if function.lines[1][1] else -1) >= 0 else -1.0
    signs = turns.reshape(first.shape)
    if (signs == 1.0).all():
        return largest_of(at, [first, second])
    made = largest_of(at, [at.scaled(each, signs) for each in (first, second)])
    return at.scaled(made, signs)


Form = dict[Any, Fraction]


class _Forms:
    """Numbers as sums of multiples of others that no scaling or sum makes; ``None`` stands for the number 1.

    ``first`` returns the first operation that computes the same as another one.
    """

    def __init__(self, first: Callable[[Operation], Operation]) -> None:
        self.first = first
        self.known: dict[tuple[Operation, int], Form] = {}

    def of(self, x: Tensor, number: int) -> Form:
        owner = int(x.operation[number])
        return {} if owner < 0 else self._of(self.first(x.operations[owner]), int(x.place[number]))

    def _of(self, operation: Operation, place: int) -> Form:
        wanted = [(operation, place)]
        while wanted:
            key = wanted[-1]
            if key in self.known:
                wanted.pop()
                continue
            terms = self._terms(*key)
            missing = [inner for inner, _ in terms or [] if inner is not None and inner not in self.known]
            if missing:
                wanted += missing
                continue
            form: Form = {key: Fraction(1)} if terms is None else {}
            for inner, factor in terms or []:
                for name, value in ({None: Fraction(1)} if inner is None else self.known[inner]).items():
                    form[name] = form.get(name, Fraction(0)) + factor * value
            self.known[key] = {name: value for name, value in form.items() if value}
        return self.known[operation, place]

    def _terms(self, operation: Operation, place: int) -> list[tuple[tuple[Operation, int] | None, Fraction]] | None:
        """Return the terms of a number that is a scaling or a sum; None for other operations."""
        if not isinstance(operation, Affine):
            return None
        terms: list[tuple[tuple[Operation, int] | None, Fraction]] = [(None, Fraction(float(operation.biases[place])))]
        for operator, x in operation.terms:
            if not isinstance(operator, Patches) or operator.kernels.shape[1:] != (1, 1):
                return None
            sources, weights = operator.terms(place)
            if sources.tolist() != [place]:
                return None
            factor, owner = Fraction(float(weights[0])), int(x.operation[place])
            if operation.scaling is not None and operation.scaling.divisors is not None:
                factor = 1 / Fraction(float(operation.scaling.divisors[place]))
            if owner >= 0:
                terms.append(((self.first(x.operations[owner]), int(x.place[place])), factor))
        return terms


def _minus(first: Form, second: Form) -> Form:
    result = {name: first.get(name, Fraction(0)) - second.get(name, Fraction(0)) for name in {**first, **second}}
    return {name: value for name, value in result.items() if value}


def _ratio(first: Form, second: Form) -> Fraction | None:
    """Return the factor by which two forms differ; None if no factor fits."""
    if not first:
        return Fraction(0)
    if first.keys() != second.keys():
        return None
    ratios = {first[name] / second[name] for name in first}
    return ratios.pop() if len(ratios) == 1 else None
