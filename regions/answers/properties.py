# SPDX-License-Identifier: MIT
"""What is a property of a network, as in a VNN-LIB file?

It has boxes of inputs, and for each box the unsafe outputs (`unsafe_sets.py`). The file describes counterexamples, as a
union of conjunctions. In each conjunction, inequalities of one input bound a box, and the others make a polytope.
Conjunctions with the same box are one case. Inequalities that follow from others with the same coefficients are left
out, as are repeated conjunctions. A box with at most six free inputs is a domain, in the chart of these inputs; larger
boxes have slices.
Invariant: boxes and polytopes contain those of the file, which may have numbers that are not doubles, such as 0.1. A
network that is safe on them is safe on the file's. With at most six inputs, such bounds are also rows of the polytopes,
exactly. `Inside` has doubles that are within all bounds of the file; `property_verdict.py` confirms violations with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from regions.answers.unsafe_sets import Polytope, UnsafeSets, as_polytopes
from regions.domains.abilities import MOST_ENUMERATED
from regions.domains.domain import Domain, from_chart
from regions.domains.lines import Segment
from regions.domains.points import along_axes, one_point
from regions.domains.polygons import Rectangle
from regions.domains.polytopes import Box
from regions.errors import CheckpointError, DomainError, FileTooLargeError, ShapeMismatchError
from regions.files import limits
from regions.files.opened import printable_errors
from regions.files.vnnlib_text import Assertions, Inequality, read_vnnlib
from regions.ground.arithmetic.arguments import integer, list_of, path_of, tuple_of
from regions.ground.arithmetic.arrays import exact_float64, read_only
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.text.printable import file_name

__all__ = ["Inside", "Property", "free_inputs", "inside", "load_property", "too_free"]


class Inside(NamedTuple):
    """Doubles within the boxes and polytopes of a file.

    Attributes
    ----------
    lower, upper : float64 [boxes, n_in]
        Corners. Where the lower one is above the upper one, no double is inside: an input is fixed at 0.1, for example.
    bounds : tuple of tuple of float64 [rows]
        The bounds of each polytope of each box.
    """

    lower: Floats
    upper: Floats
    bounds: tuple[tuple[Floats, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Property:
    """Boxes of inputs, and the outputs that are unsafe on each.

    Parameters
    ----------
    lower, upper : array-like [boxes, n_in]
        Corners of the boxes; equal where an input is fixed.
    unsafe : sequence of sequences of pairs (A, b) or triples (A, b, C)
        For each box the polytopes that `regions.verify` takes.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Corners that do not fit together; NaN or infinity.
    DomainError
        A lower corner above the upper one.
    TypeError, ValueError
        The polytopes do not fit.

    Examples
    --------
    >>> import regions
    >>> prop = regions.Property([[0, 0, 1]], [[1, 2, 1]], [[([[1.0, -1.0]], [0.0])]])
    >>> prop
    Property(1 box of 3 inputs, 2 outputs)
    >>> prop.domain(0)
    Polygon(in R^3, 4 corners, area 2)
    """

    lower: Floats
    upper: Floats
    unsafe: tuple[tuple[Polytope, ...], ...]

    def __init__(self, lower: ArrayLike, upper: ArrayLike, unsafe: Sequence[UnsafeSets]) -> None:
        low, high = exact_float64(lower, "lower"), exact_float64(upper, "upper")
        if low.ndim != 2 or low.shape != high.shape or 0 in low.shape:
            raise ShapeMismatchError(
                f"lower and upper must both have shape [boxes, n_in], got {list(low.shape)} and {list(high.shape)}"
            )
        wrong = np.argwhere(low > high)
        if len(wrong):
            box, number = wrong[0].tolist()
            raise DomainError(
                f"box {box}, input {number}: the lower bound {float(low[box, number])!r} is above the upper bound "
                f"{float(high[box, number])!r}"
            )
        given = list_of(unsafe, "unsafe", "a list with the unsafe outputs of each box")
        sets = [list_of(each, f"unsafe[{box}]", "a list of pairs (A, b)") for box, each in enumerate(given)]
        if len(sets) != len(low):
            raise ShapeMismatchError(f"unsafe must have an item for each of the {len(low)} boxes, got {len(sets)}")
        outputs = _outputs_of(sets)
        polytopes = tuple(as_polytopes(each, low.shape[1], outputs) for each in sets)
        self._keep(low, high, polytopes)

    def _keep(
        self, lower: Floats, upper: Floats, unsafe: tuple[tuple[Polytope, ...], ...], inside: Inside | None = None
    ) -> None:
        if inside is None:
            inside = Inside(lower, upper, tuple(tuple(each.bounds for each in box) for box in unsafe))
        self.__dict__.update(lower=read_only(lower), upper=read_only(upper), unsafe=unsafe, _inside=inside)

    def __len__(self) -> int:
        """Return the number of boxes."""
        return len(self.lower)

    @property
    def n_in(self) -> int:
        """Number of inputs."""
        return self.lower.shape[1]

    @property
    def n_out(self) -> int:
        """Number of outputs."""
        return self.unsafe[0][0].outputs.shape[1]

    @property
    def middle(self) -> Floats:
        """Points in the middle of the boxes, float64 [boxes, n_in], rounded."""
        fixed = self.lower == self.upper
        return np.where(fixed, self.lower, np.clip(self.lower / 2 + self.upper / 2, self.lower, self.upper))

    def domain(self, box: int) -> Domain:
        """Return a box as a domain, whose chart coordinates are the free inputs.

        Raises
        ------
        DomainError
            No input is free, or more than six; use `slice`.
        """
        chosen = integer(box, "box", least=0, most=len(self) - 1)
        free = free_inputs(self, chosen)
        if not 1 <= len(free) <= MOST_ENUMERATED:
            why = "that is too many for a domain"
            raise DomainError(too_free(self, chosen, why) if len(free) else f"box {chosen} is a single point")
        low, high = self.lower[chosen], self.upper[chosen]
        if len(free) > 1:
            return (Box if len(free) > 2 else Rectangle.from_bounds)(low, high)
        ends = np.array([[1.0, low[free[0]]], [1.0, high[free[0]]]])
        return from_chart(Segment, *along_axes(low, free), ends)

    def slice(self, free: Iterable[int], at: ArrayLike | None = None) -> Property:
        """Return the property on planes, or lines, through its boxes.

        Parameters
        ----------
        free : iterable of int
            The one or two inputs that keep their ranges.
        at : array-like [n_in], optional
            Values of the other inputs; boxes that do not contain them are left out. By default, the middle of each
            box.

        Raises
        ------
        DomainError
            No box contains the values.
        TypeError, ValueError
            The numbers of inputs are not one or two different inputs.

        Examples
        --------
        >>> import regions
        >>> prop = regions.Property([[0, 0, 0]], [[1, 2, 4]], [[([[1.0]], [0.0])]])
        >>> part = prop.slice([0, 1])
        >>> part.lower.tolist(), part.upper.tolist()
        ([[0.0, 0.0, 2.0]], [[1.0, 2.0, 2.0]])
        """
        given = tuple_of(free, "free")
        numbers = [integer(i, f"free[{k}]", least=0, most=self.n_in - 1) for k, i in enumerate(given)]
        if not 1 <= len(set(numbers)) == len(numbers) <= 2:
            raise ValueError(f"free must name one or two different inputs, got {numbers}")
        fixed = np.setdiff1d(np.arange(self.n_in), numbers)
        values = self.middle
        kept = np.arange(len(self))
        if at is not None:
            point = one_point(at, "at")
            if point.shape != (self.n_in,):
                raise ShapeMismatchError(f"at has {len(point)} values, the boxes have {self.n_in} inputs")
            values = np.broadcast_to(point, self.lower.shape)
            contains = (self.lower <= values) & (values <= self.upper)
            kept = np.flatnonzero(contains[:, fixed].all(axis=1))
            if not len(kept):
                number = int(fixed[np.argmin(contains[:, fixed].mean(axis=0))])
                raise DomainError(
                    f"at: no box contains these values; input {number} is {float(point[number])!r}, box 0 has it from "
                    f"{float(self.lower[0, number])!r} to {float(self.upper[0, number])!r}"
                )
        lower, upper = self.lower[kept], self.upper[kept]
        lower[:, fixed] = upper[:, fixed] = values[kept][:, fixed]
        least, most, bounds = inside(self)
        least, most = least[kept], most[kept]
        least[:, fixed] = most[:, fixed] = values[kept][:, fixed]
        result = object.__new__(Property)
        chosen = Inside(least, most, tuple(bounds[box] for box in kept.tolist()))
        result._keep(lower, upper, tuple(self.unsafe[box] for box in kept.tolist()), chosen)
        return result

    def __repr__(self) -> str:
        boxes = f"{len(self)} box{'es' * (len(self) != 1)}"
        sizes = [f"{n} {what}{'s' * (n != 1)}" for n, what in ((self.n_in, "input"), (self.n_out, "output"))]
        return f"Property({boxes} of {', '.join(sizes)})"


def free_inputs(given: Property, box: int) -> Integers:
    """Return the inputs that vary in a box."""
    return np.flatnonzero(given.lower[box] < given.upper[box])


def inside(given: Property) -> Inside:
    """Return doubles that are within the boxes and polytopes of the file."""
    found: Inside = given.__dict__["_inside"]
    return found


def too_free(given: Property, box: int, why: str) -> str:
    """Say that a box has too many free inputs, why that matters, and what to do."""
    free = free_inputs(given, box)
    return (
        f"box {box} has {len(free)} free inputs, more than {MOST_ENUMERATED}: {why}; take a slice, such as "
        f"prop.slice([{free[0]}, {free[1]}])"
    )


def load_property(path: str | os.PathLike[str]) -> Property:
    """Read a property from a VNN-LIB file, version 1.0 or 2.0, which may be compressed by gzip.

    The file asserts what a counterexample is. Each input needs a lower and an upper bound. Numbers are exact, as they
    are written: 0.1 is a tenth. The boxes and polytopes of the property have doubles, and contain those of the file. A
    verdict on the property is one on the numbers of the file: see `verify_property`.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Property

    Raises
    ------
    CheckpointError
        The file is no VNN-LIB file, uses a part of the language that is not read, or leaves an input without a bound.
    OSError
        The file cannot be opened.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import regions
    >>> text = '''
    ... (declare-const X_0 Real)
    ... (declare-const Y_0 Real)
    ... (assert (and (<= X_0 1) (>= X_0 -1)))
    ... (assert (>= Y_0 2.5))
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "bound.vnnlib"
    ...     _ = path.write_text(text)
    ...     regions.load_property(path)
    Property(1 box of 1 input, 1 output)
    """
    file = path_of(path)
    with printable_errors():
        return _from_assertions(file_name(file), read_vnnlib(file))


def _from_assertions(name: str, asserted: Assertions) -> Property:
    columns = asserted.inputs + asserted.outputs
    # Conjunctions share their inequalities.
    known: dict[int, _Bound | None] = {}
    tightness: dict[int, tuple[Fraction, bool]] = {}
    for conjunction in asserted.union:
        for each in conjunction:
            if id(each) not in known:
                known[id(each)] = _Bound.of(each, asserted.inputs, asserted.inputs <= MOST_ENUMERATED)
                tightness[id(each)] = each.exactly, not each.strict
    count = sum(_is_row(known[id(each)]) for conjunction in asserted.union for each in conjunction)
    numbers = columns * (2 * len(asserted.union) + count)
    if numbers > limits.MAX_PROPERTY_NUMBERS:
        raise FileTooLargeError(
            f"{name}: the boxes and polytopes would take {numbers} numbers, above the limit of "
            f"{limits.MAX_PROPERTY_NUMBERS}; split the property into several files"
        )
    cases: dict[tuple[bytes, ...], dict[frozenset[Inequality], tuple[Polytope, Floats]]] = {}
    for conjunction in asserted.union:
        low, high = np.full((2, asserted.inputs), -np.inf), np.full((2, asserted.inputs), np.inf)
        tightest: dict[tuple[tuple[int, ...], tuple[float, ...]], Inequality] = {}
        for each in conjunction:
            bound = known[id(each)]
            if bound is not None:
                bound.narrow(low, high)
            if _is_row(bound):
                row = each.columns, each.coefficients
                other = tightest.setdefault(row, each)
                if other is not each and tightness[id(each)] < tightness[id(other)]:
                    tightest[row] = each
        if (low[0] > high[0]).any():
            continue
        fixed = _fixed(conjunction, known, np.flatnonzero(low[1] > high[1]))
        if fixed is None:
            continue
        for column, value in fixed.items():
            low[:, column] = high[:, column] = value
        missing = np.flatnonzero(~np.isfinite(low[0]) | ~np.isfinite(high[0]))
        if len(missing):
            side = "lower" if not np.isfinite(low[0, missing[0]]) else "upper"
            raise CheckpointError(
                f"{name}: input {missing[0]} has no {side} bound; add one, because a property is decided on a box"
            )
        others = [row for row in tightest.values() if len(row.columns) > 1 or row.columns[0] not in fixed]
        if all(known[id(each)] is not None for each in others):
            raise CheckpointError(
                f"{name}: the assertions allow every output for some inputs, so nothing is to be verified there; "
                "add an assertion on outputs, such as (assert (>= Y_0 0))"
            )
        polytopes = cases.setdefault(tuple(each.tobytes() for each in (*low, *high)), {})
        if (rows := frozenset(others)) not in polytopes:
            polytopes[rows] = _polytope(asserted, [*others]), _bounds_inside([*others])
    if not cases:
        raise CheckpointError(f"{name}: no input satisfies the assertions: the bounds contradict each other")
    result = object.__new__(Property)
    lower, least, upper, most = (np.array([np.frombuffer(key[side]) for key in cases]) for side in range(4))
    unsafe = tuple(tuple(polytope for polytope, _ in each.values()) for each in cases.values())
    bounds = tuple(tuple(within for _, within in each.values()) for each in cases.values())
    result._keep(lower, upper, unsafe, Inside(least, most, bounds))
    return result


def _fixed(
    conjunction: Iterable[Inequality], known: Mapping[int, _Bound | None], columns: Integers
) -> dict[int, float] | None:
    """Return the nearest double of each of these inputs, between whose bounds there is no double, if both bounds are
    the same number; None if the bounds of an input contradict each other.
    """
    sides: dict[int, list[list[tuple[Fraction, bool]]]] = {column: [[], []] for column in columns.tolist()}
    for each in conjunction:
        bound = known[id(each)]
        if bound is not None and bound.column in sides:
            exact = each.exactly / Fraction(each.coefficients[0])
            sides[bound.column][bound.upper].append((exact if bound.upper else -exact, not each.strict))
    found = {}
    for column, (lower, upper) in sides.items():
        (low, low_closed), (high, high_closed) = min(lower), min(upper)
        if -low > high or (-low == high and not (low_closed and high_closed)):
            return None
        if -low == high:
            found[column] = nearest_float(high)
    return found


def _bounds_inside(rows: Sequence[Inequality]) -> Floats:
    return np.array([row.bound if row.exact is None else np.nextafter(row.bound, -np.inf) for row in rows])


class _Bound(NamedTuple):
    """A bound on one input.

    Attributes
    ----------
    column : int
    upper : bool
        Whether it is an upper bound.
    value, inner : float
        Rounded outwards and inwards.
    whole : bool
        Whether it is only a bound of the box. Otherwise the inequality also becomes a row of the polytope: if it is
        strict, and of small boxes if it is not a double.
    """

    column: int
    upper: bool
    value: float
    inner: float
    whole: bool

    @classmethod
    def of(cls, given: Inequality, inputs: int, small: bool) -> _Bound | None:
        """Return the bound that an inequality is, or None if it is about several columns or an output."""
        if len(given.columns) != 1 or given.columns[0] >= inputs:
            return None
        exact = given.exactly / Fraction(given.coefficients[0])
        upper, value = given.coefficients[0] > 0, nearest_float(exact) + 0.0
        rounded, inner = not np.isfinite(value) or Fraction(value) != exact, value
        outwards = np.inf if upper else -np.inf
        if rounded and ((value < exact) if upper else (value > exact)):
            value = float(np.nextafter(value, outwards))
        elif rounded:
            inner = float(np.nextafter(value, -outwards))
        whole = not small if rounded else not given.strict
        return cls(given.columns[0], upper, value, inner, whole)

    def narrow(self, low: Floats, high: Floats) -> None:
        """Apply the bound to a box, [2, n_in]: its corner outside, and that inside."""
        side, better = (high, min) if self.upper else (low, max)
        side[0, self.column] = better(side[0, self.column], self.value)
        side[1, self.column] = better(side[1, self.column], self.inner)


def _is_row(bound: _Bound | None) -> bool:
    """Whether an inequality becomes a row of a polytope, and is not only a bound of the box."""
    return bound is None or not bound.whole


def _polytope(asserted: Assertions, rows: Sequence[Inequality]) -> Polytope:
    matrix = np.zeros((len(rows), asserted.inputs + asserted.outputs))
    for number, row in enumerate(rows):
        matrix[number, list(row.columns)] = row.coefficients
    bounds, strict = np.array([row.bound for row in rows]), np.array([row.strict for row in rows])
    return Polytope(matrix[:, asserted.inputs :], bounds, matrix[:, : asserted.inputs], strict)


def _outputs_of(sets: Sequence[Sequence[Any]]) -> int:
    """The number of outputs that the first polytope names; all others are compared with it."""
    try:
        return int(np.shape(sets[0][0][0])[1])
    except (TypeError, IndexError, KeyError, ValueError):
        raise ValueError("unsafe[0] must be a list of pairs (A, b), with a matrix A [k, n_out]") from None
