# SPDX-License-Identifier: MIT
"""Which values of a graph may jump, and which tensors are they if they do not?

A `Piecewise` has numbers that are each a function (`pieces.py`) of an element of a tensor, such as comparisons and
selections by them. It becomes a tensor when another operator reads it; if it jumps, that is an error. To combine two of
them, both are written as functions of the same elements: activations and scalings are undone until they are.
Invariant: results are exact; a note names numbers that doubles cannot hold.
Cost: some fractions for each different function, and numpy for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import NonFiniteError, UnsupportedLayerError
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.types import Floats, Integers
from regions.networks import named_activations as activations
from regions.networks.activation import Activation
from regions.read.graphs.builder import GraphBuilder
from regions.read.graphs.nodes import GraphNode
from regions.read.graphs.operations import Activated, Affine, Inputs, Operation, Tensor
from regions.read.graphs.pieces import IDENTITY, Pieces
from regions.read.graphs.site import Reading, Site
from regions.read.scaling import Scaling

__all__ = ["Piecewise", "of_constant", "of_tensor", "over_one_tensor", "settled"]

# Bytes while elements are compared and grouped: numbers of operations, places and functions, and copies of them.
ELEMENT_BYTES = 96
# Products that take as long as making one function.
PRODUCTS_OF_FUNCTION = 2**15
# Products that take as long as undoing one operation of one element.
PRODUCTS_OF_STEP = 2**8


@dataclass(eq=False)
class Piecewise:
    """Numbers that are functions of elements of a tensor.

    Attributes
    ----------
    node : GraphNode
        The node that makes them.
    base : Tensor
        Its element i is the argument of number i. It may be anything if the function is constant.
    functions : list of Pieces
    function : int64 [size]
        The function of each number.
    rounded : bool
        Whether some numbers in the functions were rounded when the file was read, such as the scale of a batch norm.
    """

    node: GraphNode
    base: Tensor
    functions: list[Pieces]
    function: Integers
    rounded: bool = False
    made: dict[int, Tensor] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.base.shape

    @property
    def size(self) -> int:
        return self.base.size

    def moved(self, at: Site, move: Callable[[NDArray[Any]], NDArray[Any]]) -> Piecewise:
        """Return the numbers, rearranged by a function of arrays that only moves, repeats or leaves out numbers."""
        function = move(self.function.reshape(self.shape)).ravel()
        return Piecewise(at.node, at.moved(self.base, move), self.functions, function, self.rounded)

    def mapped(self, node: GraphNode, change: Callable[[Pieces], Pieces]) -> Piecewise:
        """Return the numbers with changed functions."""
        return Piecewise(node, self.base, [change(each) for each in self.functions], self.function, self.rounded)

    def element(self, number: int) -> str:
        """Return a description of an argument for messages."""
        operation = self.base.operation[number]
        if operation < 0:
            return "a constant"
        owner = self.base.operations[operation]
        what = "the input" if isinstance(owner, Inputs) else f"{owner.name!r}"
        return f"number {self.base.place[number]} of {what}"


def of_tensor(node: GraphNode, x: Tensor) -> Piecewise:
    """Return a tensor as identities of its elements; constants 0 among them have a constant function."""
    constant = (x.operation < 0).astype(np.int64)
    return Piecewise(node, x, [IDENTITY, *([Pieces.line(0, 0)] if constant.any() else [])], constant)


def of_constant(at: Site, constant: Floats, like: Tensor) -> Piecewise:
    """Return a constant; ``like`` is any tensor of the graph."""
    numbers, function = np.unique(constant, return_inverse=True)
    at.reading.charge_products(PRODUCTS_OF_FUNCTION * len(numbers))
    base = at.rearranged(like, np.full(constant.shape, -1))
    return Piecewise(at.node, base, [Pieces.line(0, each) for each in numbers.tolist()], function.ravel())


def over_one_tensor(at: Site, values: Sequence[Piecewise]) -> list[Piecewise] | None:
    """Return values of one shape as functions of the same elements; None if there are several elements for one number.

    The argument that is computed last cannot be an argument of the others, so it is the one that is undone.
    """
    builder = at.reading.builder
    at.charge(0, ELEMENT_BYTES * sum(value.size for value in values))
    values = list(values)
    while True:
        at.reading.charge_products(PRODUCTS_OF_STEP * sum(value.size for value in values))
        owners = np.stack([_owners(value, builder) for value in values])
        places = np.stack([value.base.place for value in values])
        latest = owners.max(axis=0)
        first = np.argmax(owners, axis=0)
        place = np.take_along_axis(places, first[np.newaxis], 0)[0]
        same = (owners < 0) | ((owners == latest) & (places == place))
        differing = ~same.all(axis=0)
        if not differing.any():
            base = _joined(values, first)
            return [Piecewise(at.node, base, each.functions, each.function, each.rounded) for each in values]
        for i, value in enumerate(values):
            chosen = differing & (owners[i] == latest)
            if chosen.any():
                lowered = _lowered(at, value, chosen)
                if lowered is None:
                    return None
                values[i] = lowered


def _owners(value: Piecewise, builder: GraphBuilder) -> Integers:
    """Return the number of the first operation that makes each argument; -1 for constants."""
    numbers = [builder.numbers[builder.first_equal(each)] for each in value.base.operations]
    owners = np.array([*numbers, -1])[value.base.operation]
    constant = np.array([each.is_constant for each in value.functions])
    return np.where(constant[value.function], -1, owners)


def _joined(values: Sequence[Piecewise], chosen: Integers) -> Tensor:
    """Return the tensor whose element i is element i of value ``chosen[i]``."""
    operations = list(dict.fromkeys(operation for value in values for operation in value.base.operations))
    number_of = {operation: number for number, operation in enumerate(operations)}
    owners = [np.array([*(number_of[each] for each in x.base.operations), -1])[x.base.operation] for x in values]
    operation = np.take_along_axis(np.stack(owners), chosen[np.newaxis], 0)[0]
    place = np.take_along_axis(np.stack([x.base.place for x in values]), chosen[np.newaxis], 0)[0]
    return Tensor(values[0].shape, tuple(operations), operation, place).pruned()


def _lowered(at: Site, value: Piecewise, chosen: NDArray[np.bool_]) -> Piecewise | None:
    """Return a value with the chosen elements as functions of what their operations read; None if these read several
    numbers.
    """
    operations = list(value.base.operations)
    operation, place, function = value.base.operation.copy(), value.base.place.copy(), value.function.copy()
    functions, rounded = list(value.functions), value.rounded
    for number, owner in enumerate(value.base.operations):
        here = np.flatnonzero(chosen & (value.base.operation == number))
        if not len(here):
            continue
        places = value.base.place[here]
        if isinstance(owner, Affine) and owner.scaling is not None:
            inner, scaling = owner.terms[0][1], owner.scaling
            line = [scaling.scale, scaling.shift, np.ones_like(scaling.scale)]
            if scaling.divisors is not None:
                line[::2] = line[2], scaling.divisors
            keys = np.column_stack([function[here], *(each[places] for each in line)])
            rounded = rounded or not (scaling.exact or scaling.divisors is not None)
        elif isinstance(owner, Activated):
            inner, units = owner.tensor, len(np.atleast_2d(owner.activation.slopes))
            keys = np.column_stack([function[here], places if units > 1 else np.zeros(len(here))])
        else:
            return None
        unique, which = np.unique(keys, axis=0, return_inverse=True)
        at.reading.charge_products(PRODUCTS_OF_FUNCTION * len(unique))
        made = [functions[int(key[0])].after(_inner(owner, key[1:].tolist())) for key in unique]
        numbers = []
        for each in inner.operations:
            if each not in operations:
                operations.append(each)
            numbers.append(operations.index(each))
        operation[here] = np.array([*numbers, -1])[inner.operation[places]]
        place[here] = inner.place[places]
        # An element that is a constant 0 makes the function constant.
        at_zero = [Pieces.line(0, each(Fraction(0))) for each in made]
        function[here] = len(functions) + which.ravel() + np.where(operation[here] < 0, len(made), 0)
        functions += made + at_zero
    return _compact(
        Piecewise(value.node, Tensor(value.shape, tuple(operations), operation, place), functions, function, rounded)
    )


def _inner(owner: Operation, key: list[float]) -> Pieces:
    """Return an operation as a function of the number that it reads."""
    if isinstance(owner, Affine):
        scale, shift, divisor = map(Fraction, key)
        return Pieces.line(scale / divisor, shift)
    assert isinstance(owner, Activated)
    return _of_activation(owner.activation, int(key[0]))


def _of_activation(activation: Activation, unit: int) -> Pieces:
    slopes, intercepts = (np.atleast_2d(each)[unit].tolist() for each in (activation.slopes, activation.intercepts))
    lines = tuple((Fraction(slope), Fraction(intercept)) for slope, intercept in zip(slopes, intercepts, strict=True))
    ends = tuple(map(Fraction, activation.breakpoints.tolist()))
    values = tuple(slope * end + intercept for end, (slope, intercept) in zip(ends, lines, strict=False))
    return Pieces(ends, lines, values)


def _compact(value: Piecewise) -> Piecewise:
    """Return a value with each function once, without unused ones."""
    index: dict[Pieces, int] = {}
    new = np.zeros(len(value.functions), dtype=np.int64)
    for number in np.unique(value.function).tolist():
        new[number] = index.setdefault(value.functions[number], len(index))
    return Piecewise(value.node, value.base.pruned(), list(index), new[value.function], value.rounded)


def settled(reading: Reading, value: Any) -> Any:
    """Return a value that other operators can read: a `Piecewise` as a tensor, and other values as they are.

    Raises
    ------
    UnsupportedLayerError
        It jumps.
    """
    if isinstance(value, list):
        return [settled(reading, each) for each in value]
    if not isinstance(value, Piecewise):
        return value
    if not value.made:
        value.made[0] = _settled(Site(reading, value.node), _compact(value))
    return value.made[0]


def _settled(at: Site, value: Piecewise) -> Tensor:
    for number, function in enumerate(value.functions):
        jump = function.jump()
        if jump is not None:
            place, before, after = (_shown(each) for each in jump)
            element = value.element(int(np.argmax(value.function == number)))
            raise UnsupportedLayerError(
                f"{at.label} jumps from {before} to {after} where {element} is {place}, compared exactly, so it is not "
                "continuous; export the part before it"
            )
    bent = [each for each in value.functions if each.ends]
    if value.rounded:
        at.note("is computed from rounded numbers, in float64; results are for these")
    if not bent:
        return _affine(at, value)
    ends, lines = bent[0].ends, [_lines_over(each, bent[0].ends) for each in value.functions]
    numbers = [*ends, *(number for each in lines for line in each for number in line)]
    if all(each.ends == ends for each in bent) and _are_doubles(numbers):
        slopes, intercepts = (np.array([[float(line[i]) for line in each] for each in lines]) for i in (0, 1))
        if len(lines) > 1:
            slopes, intercepts = slopes[value.function], intercepts[value.function]
        else:
            slopes, intercepts = slopes[0], intercepts[0]
        breakpoints = np.array([float(each) for each in ends])
        return at.activated(value.base, _recognised(at.node.said, breakpoints, slopes, intercepts))
    return _sum_of_relus(at, value)


def _recognised(name: str, breakpoints: Floats, slopes: Floats, intercepts: Floats) -> Activation:
    """Return the function with these pieces; ``name`` is the name of any other function than the named activations."""
    given = Activation(name, breakpoints, slopes, intercepts)
    count = len(breakpoints)
    first, last = float(np.min(breakpoints)), float(np.max(breakpoints))
    if count == 1 and first == 0.0 and (slopes[..., 1] == 1.0).all() and not intercepts.any():
        negative = slopes[..., 0]
        if not negative.any():
            return activations.relu()
        if (negative == -1.0).all():
            return activations.absolute()
        return activations.prelu(negative) if negative.ndim else activations.leaky_relu(float(negative))
    if count == 1:
        candidates = [activations.clamp_min(first), activations.clamp_max(first)]
    else:
        candidates = [
            activations.relu6(),
            activations.hard_tanh(first, last),
            *([activations.soft_shrink(last)] if last > 0 else []),
        ]
    return next((each for each in candidates if each == given), given)


def _lines_over(function: Pieces, ends: tuple[Fraction, ...]) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return the lines of a function with these ends or none."""
    return function.lines if function.ends else function.lines * (len(ends) + 1)


def _affine(at: Site, value: Piecewise) -> Tensor:
    """Return functions without ends."""
    return _scaled(at, value.base, value.function, [each.lines[0] for each in value.functions])


def _scaled(at: Site, x: Tensor, function: Integers, lines: list[tuple[Fraction, Fraction]]) -> Tensor:
    exact = _are_doubles([number for line in lines for number in line])
    scale, shift = (np.array([_double(at, line[i]) for line in lines])[function] for i in (0, 1))
    return at.by(x, Scaling(at.node.said, at.node.name, scale, shift, exact).checked())


def _sum_of_relus(at: Site, value: Piecewise) -> Tensor:
    """Return functions as the line of their first piece, plus a multiple of a ReLU for each end."""
    result = _scaled(at, value.base, value.function, [each.lines[0] for each in value.functions])
    for number in range(max(len(each.ends) for each in value.functions)):
        has = np.array([len(each.ends) > number for each in value.functions])[value.function]
        places = np.flatnonzero(has)
        shifts = [
            (Fraction(1), -each.ends[number] if len(each.ends) > number else Fraction(0)) for each in value.functions
        ]
        turns = [
            (each.lines[number + 1][0] - each.lines[number][0] if len(each.ends) > number else Fraction(0), Fraction(0))
            for each in value.functions
        ]
        x = at.rearranged(value.base, places)
        above = at.activated(_scaled(at, x, value.function[places], shifts), activations.relu())
        part = _scaled(at, above, value.function[places], turns)
        spread = np.full(value.size, -1)
        spread[places] = np.arange(len(places))
        result = at.summed([(result, 1.0), (at.rearranged(part, spread.reshape(value.shape)), 1.0)])
    return result


def _are_doubles(numbers: Sequence[Fraction]) -> bool:
    return all(nearest_float(each) == each for each in numbers)


def _double(at: Site, number: Fraction) -> float:
    nearest = nearest_float(number)
    if not np.isfinite(nearest):
        raise NonFiniteError(f"{at.label}: a number in it is beyond the largest double")
    return nearest


def _shown(number: Fraction) -> str:
    nearest = nearest_float(number)
    return repr(nearest) if nearest == number else f"about {nearest!r}"
