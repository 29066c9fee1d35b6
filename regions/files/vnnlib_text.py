# SPDX-License-Identifier: MIT
"""What does a VNN-LIB file assert of the inputs and outputs of a network?

Versions 1.0 (``(declare-const X_0 Real)``) and 2.0 (``(declare-input X real [1, 5])``) of the language, with the parts
that describe sets: ``and``, ``or``, ``<=``, ``>=``, ``<``, ``>``, ``==``, and linear sums. The result is a union of
conjunctions of linear inequalities, in which inputs come first and outputs after them. Tensors are numbered in
row-major order.
Numbers are fractions, as they are written, and so are sums and products of them: 0.1 is a tenth. An inequality is
multiplied by a positive number if only then all its numbers are doubles. If only the bound is not a double then, it is
rounded up, and kept as a fraction too. An inequality whose coefficients are not doubles is refused.
Cost: linear in the text, and in the conjunctions that it stands for, also on the way to the final ones; both have
limits. The package `vnnlib` reads version 2.0 only.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain, product
from math import gcd, inf, isfinite, lcm, nextafter, prod
from pathlib import Path
from typing import Any, NamedTuple

from regions.errors import CheckpointError, FileTooLargeError, NotACheckpointError, TruncatedFileError
from regions.files import limits
from regions.files.text_table import coordinate
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.text.printable import file_name, printable

__all__ = ["Assertions", "Inequality", "read_vnnlib"]

# Brackets have a limited length, so that a text without closing brackets takes linear time.
_TOKEN = re.compile(r";[^\n]*|[()]|\[[^\]()]{0,300}\]|[^\s();\[\]]+(?:\[[^\]()]{0,300}\])?|\S")
_CONST = re.compile(r"([XY])_(0|[1-9][0-9]{0,8})")
_ENTRY = re.compile(r"([^\[\]]+)\[([0-9,\s]{1,200})\]")
_TYPE = re.compile(r"\w+\s*(?:\[\s*([0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*|)\s*\])?")
_DIGIT = re.compile("[1-9]")
_SIDES = {"<=": (1,), ">=": (-1,), "==": (1, -1), "=": (1, -1), "<": (1,), ">": (-1,)}
_GZIP = b"\x1f\x8b"
# Formulas of benchmarks are nested four deep.
_MAX_DEPTH = 100

# A word, or a list of formulas.
_Formula = Any
# Coefficients by column, and a constant.
_Sum = tuple[dict[int, Fraction], Fraction]


class Inequality(NamedTuple):
    """Coefficients times columns is at most a bound, or less if strict. Columns are the inputs, then the outputs.

    Attributes
    ----------
    columns : tuple of int
    coefficients : tuple of float
    bound : float
        The least double that is not below the exact bound.
    strict : bool
    exact : Fraction or None
        The bound, if it is not a double.
    """

    columns: tuple[int, ...]
    coefficients: tuple[float, ...]
    bound: float
    strict: bool = False
    exact: Fraction | None = None

    @property
    def exactly(self) -> Fraction:
        """The bound as a fraction."""
        return Fraction(self.bound) if self.exact is None else self.exact


_Conjunction = tuple[Inequality, ...]


class Assertions(NamedTuple):
    """A union of conjunctions of inequalities, and the numbers of inputs and outputs that these are about."""

    inputs: int
    outputs: int
    union: list[_Conjunction]


def read_vnnlib(path: Path) -> Assertions:
    """Read a VNN-LIB file, which may be compressed by gzip.

    Raises
    ------
    NotACheckpointError
        The file is not in that language.
    CheckpointError
        It uses a part of the language that is not read, or contradicts itself. The message names the line.
    FileTooLargeError
        The text, or the number of conjunctions, is above a limit.
    OSError
        The file cannot be opened.
    """
    name = file_name(path)
    with open(path, "rb") as file:  # which can be a pipe, or a device without an end
        return _Reader(name).read(_unpacked(name, file.read(limits.MAX_PROPERTY_BYTES + 1)))


def _unpacked(name: str, raw: bytes) -> str:
    most = limits.MAX_PROPERTY_BYTES
    if len(raw) <= most and raw[:2] == _GZIP:
        raw = _gunzipped(name, raw, most)
    if len(raw) > most:
        raise FileTooLargeError(f"{name}: a property may take {most} bytes of text at most; split the file")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise NotACheckpointError(f"{name}: not a VNN-LIB file: it is not text") from None


def _gunzipped(name: str, raw: bytes, most: int) -> bytes:
    """Unpack all members of gzip data, up to the first byte above the limit."""
    parts, left = [], most + 1
    while raw and left:
        member = zlib.decompressobj(wbits=31)
        try:
            parts.append(member.decompress(raw, left))
        except zlib.error as error:
            raise NotACheckpointError(f"{name}: the gzip data are damaged: {printable(error)}") from None
        left -= len(parts[-1])
        if left and not member.eof:
            raise TruncatedFileError(f"{name}: the gzip data end too early; copy the file again")
        raw = member.unused_data.lstrip(b"\0")  # some programs pad the last member
    return b"".join(parts)


def _formulas(name: str, text: str) -> Iterator[tuple[int, _Formula]]:
    """Yield each formula of a text and the line in which it starts."""
    line, counted = 1, 0
    open_lists: list[list[_Formula]] = []
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word[0] == ";":
            continue
        if not open_lists:
            line += text.count("\n", counted, token.start())
            counted = token.start()
        if word == "(":
            open_lists.append([])
            if len(open_lists) > _MAX_DEPTH:
                raise CheckpointError(f"{name}, line {line}: formulas may be nested {_MAX_DEPTH} deep at most")
        elif not open_lists:
            raise NotACheckpointError(
                f"{name}, line {line}: not a VNN-LIB file: expected a formula in parentheses, got {printable(word)!r}"
            )
        elif word == ")":
            closed = open_lists.pop()
            if open_lists:
                open_lists[-1].append(closed)
            else:
                yield line, closed
        else:
            open_lists[-1].append(word)
    if open_lists:
        raise CheckpointError(f"{name}, line {line}: a parenthesis is not closed; the file may be cut off")


class _Refused(Exception):
    """Why a formula is not read."""


class _Reader:
    """The declarations of a file, and what its assertions say."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.shapes: dict[str, tuple[int, ...]] = {}  # of the tensors of version 2.0
        self.kinds: dict[str, str] = {}  # X for inputs, Y for outputs
        self.scalars: dict[str, set[int]] = {"X": set(), "Y": set()}
        self.asserted: list[list[_Conjunction]] = []
        self.column = lru_cache(maxsize=None)(self._column)
        self.number = lru_cache(maxsize=None)(_number)
        self.spent, self.most = 0, limits.FREE_INEQUALITIES

    def read(self, text: str) -> Assertions:
        self.most = max(self.most, 2 * len(text))
        formulas = list(_formulas(self.name, text))
        self._each([(line, one) for line, one in formulas if self._head(one) != "assert"], self._declare)
        inputs, outputs = self._sizes()
        self.offsets = {"X": 0, "Y": inputs}
        self._each([(line, one) for line, one in formulas if self._head(one) == "assert"], self._assert)
        return Assertions(inputs, outputs, self._all_of(self.asserted))

    @staticmethod
    def _head(formula: _Formula) -> Any:
        return formula[0] if formula else []

    def _each(self, formulas: list[tuple[int, _Formula]], use: Callable[[_Formula], None]) -> None:
        for line, formula in formulas:
            try:
                use(formula)
            except _Refused as error:
                raise CheckpointError(f"{self.name}, in the formula from line {line}: {error}") from None

    def _spend(self, count: int) -> None:
        """Count terms, conjunctions and inequalities, before they are made."""
        self.spent += count
        if self.spent > self.most:
            raise FileTooLargeError(
                f"{self.name}: the assertions stand for more than {self.most} conjunctions, inequalities and terms; "
                "split the property into several files"
            )

    def _all_of(self, unions: list[list[_Conjunction]]) -> list[_Conjunction]:
        """Multiply out the conjunction of some unions."""
        if not all(unions):
            return []
        common = tuple(chain.from_iterable(each[0] for each in unions if len(each) == 1))
        choices = [each for each in unions if len(each) > 1]
        count = 1
        for each in choices:
            count *= len(each)
            self._spend(0 if count <= self.most else count)
        sizes = sum(count // len(each) * sum(map(len, each)) for each in choices)
        self._spend(count * (1 + len(common)) + sizes)
        return [(*common, *chain.from_iterable(parts)) for parts in product(*choices)]

    # Declarations.

    def _declare(self, formula: _Formula) -> None:
        match formula:
            case ["vnnlib-version", _] | ["set-logic", _]:
                pass
            case ["declare-const", str(word), "Real"] if named := _CONST.fullmatch(word):
                self.scalars[named[1]].add(int(named[2]))
            case ["declare-const", word, *_]:
                raise _Refused(f"constants are named X_0, X_1, .., and Y_0, .., and are Real; got {_shown(word)}")
            case ["declare-network", _, *declarations]:
                if self.shapes:
                    raise _Refused("properties of several networks are not read")
                for each in declarations:
                    self._declare_tensor(each)
            case _:
                raise _Refused(f"{_shown(self._head(formula))} is not read; read are declarations and assertions")

    def _declare_tensor(self, formula: _Formula) -> None:
        match formula:
            case ["declare-input" | "declare-output" as what, str(word), *rest]:
                kind = "X" if what == "declare-input" else "Y"
                if kind in self.kinds.values():
                    raise _Refused("networks with several input or output tensors are not read")
                declared = _TYPE.fullmatch(" ".join(map(str, rest)))
                if declared is None:
                    raise _Refused(f"{_shown(word)} needs a type and a list of sizes, such as real [1, 5]")
                sizes = re.findall("[0-9]+", declared[1] or "")
                if len(sizes) > limits.MAX_AXES:
                    raise _Refused(f"{_shown(word)} has {len(sizes)} axes; tensors have at most {limits.MAX_AXES}")
                self.kinds[word] = kind
                self.shapes[word] = tuple(map(int, sizes))
            case _:
                raise _Refused(f"{_shown(self._head(formula))} is not read; read are declare-input and declare-output")

    def _sizes(self) -> tuple[int, int]:
        """Return the number of inputs and of outputs."""
        counts = []
        for kind, what in (("X", "inputs"), ("Y", "outputs")):
            shapes = [self.shapes[word] for word, each in self.kinds.items() if each == kind]
            scalars = self.scalars[kind]
            count = prod(shapes[0]) if shapes else len(scalars)
            problem = None
            if not shapes and not scalars:
                problem = f"no {what}, as (declare-const {kind}_0 Real) would"
            elif shapes and scalars:
                problem = f"{what} twice, as constants and as a tensor"
            elif not 0 < count <= limits.MAX_INPUTS:
                problem = f"{count} {what}; from 1 to {limits.MAX_INPUTS} are read"
            if problem is not None:
                raise NotACheckpointError(f"{self.name}: not a VNN-LIB file of one network: it declares {problem}")
            if scalars and max(scalars) >= count:
                missing = next(number for number in range(count) if number not in scalars)
                raise CheckpointError(f"{self.name}: {kind}_{missing} is not declared, but {kind}_{max(scalars)} is")
            counts.append(count)
        return counts[0], counts[1]

    # Assertions.

    def _assert(self, formula: _Formula) -> None:
        if len(formula) != 2:
            raise _Refused(f"an assertion holds one formula, got {len(formula) - 1}")
        self.asserted.append(self._union(formula[1]))

    def _union(self, formula: _Formula) -> list[_Conjunction]:
        """Return the union of conjunctions that a formula stands for."""
        match formula:
            case ["and", *parts]:
                return self._all_of([self._union(part) for part in parts])
            case ["or", *parts]:
                unions = [self._union(part) for part in parts]
                self._spend(sum(map(len, unions)))
                return [*chain.from_iterable(unions)]
            case ["<=" | ">=" | "==" | "=" | "<" | ">" as relation, left, right]:
                return self._relation(relation, left, right)
            case _:
                what = self._head(formula) if isinstance(formula, list) else formula
                raise _Refused(
                    f"{_shown(what)} is not read; read are and, or, <=, >=, <, > and ==, each with two sides"
                )

    def _relation(self, relation: str, left: _Formula, right: _Formula) -> list[_Conjunction]:
        (terms, constant), (others, other) = self._sum(left), self._sum(right)
        terms, bound = _added([(terms, -constant), _scaled((others, -other), Fraction(-1))])
        terms = {column: value for column, value in terms.items() if value}
        strict, signs = relation in ("<", ">"), _SIDES[relation]
        self._spend(len(signs) * (1 + len(terms)))
        if not terms:  # always true, or never
            holds = all(0 < sign * bound or (bound == 0 and not strict) for sign in signs)
            return [()] if holds else []
        coefficients, limit = _as_doubles([*terms.values()], bound)
        rows = [tuple(sign * value for value in coefficients) for sign in signs]
        return [tuple(_inequality(terms, row, sign * limit, strict) for sign, row in zip(signs, rows, strict=True))]

    def _sum(self, formula: _Formula) -> _Sum:
        if isinstance(formula, str):
            column = self.column(formula)
            return ({column: Fraction(1)}, Fraction(0)) if column is not None else ({}, self.number(formula))
        operator, *parts = formula or [None]
        sums = [self._sum(part) for part in parts]
        self._spend(len(sums) + sum(len(terms) for terms, _ in sums))
        if operator == "*" and sums:
            factors = [constant for terms, constant in sums if not terms]
            if len(factors) < len(sums) - 1:
                raise _Refused("a product of variables is not linear")
            linear = next((each for each in sums if each[0]), ({}, Fraction(1)))
            factor = Fraction(1)
            for each in factors:
                factor = _checked(factor * each)
            return _scaled(linear, factor)
        if operator == "-" and len(sums) == 1:
            return _scaled(sums[0], Fraction(-1))
        if operator in ("+", "-") and sums:
            sign = 1 if operator == "+" else -1
            return _added([sums[0], *(_scaled(each, Fraction(sign)) for each in sums[1:])])
        raise _Refused(f"{_shown(operator)} is not read in a sum; read are +, - and *")

    def _column(self, word: str) -> int | None:
        """Return the column of a variable, or None for a number."""
        if (named := _CONST.fullmatch(word)) and int(named[2]) in self.scalars[named[1]]:
            return self.offsets[named[1]] + int(named[2])
        if (entry := _ENTRY.fullmatch(word)) and entry[1] in self.kinds:
            shape, places = self.shapes[entry[1]], [int(each) for each in re.findall("[0-9]+", entry[2])]
            if len(places) != len(shape) or any(i >= size for i, size in zip(places, shape, strict=True)):
                raise _Refused(f"{_shown(word)} is outside the declared shape {list(shape)}")
            place = 0
            for index, size in zip(places, shape, strict=True):
                place = place * size + index
            return self.offsets[self.kinds[entry[1]]] + place
        if word in self.kinds and not self.shapes[word]:
            return self.offsets[self.kinds[word]]
        return None


def _number(word: str) -> Fraction:
    try:
        value = coordinate(word)
    except ValueError:
        raise _Refused(f"{_shown(word)} is neither a number nor a declared variable") from None
    if not isfinite(value):
        what = "is above all doubles in size" if _DIGIT.search(word) else "is not a finite number"
        raise _Refused(f"{_shown(word)} {what}")
    if value == 0 and _DIGIT.search(re.split("[eE]", word)[0]):
        raise _Refused(f"{_shown(word)} is not 0, and closer to 0 than any double; write 0 if that is meant")
    # The exponent is small, because the number is a double; only zeros have others.
    try:
        return _checked(Fraction(word)) if value else Fraction(0)
    except ValueError:  # Python's limit
        raise _Refused(f"{_shown(word)} has more digits than are read") from None


def _scaled(given: _Sum, factor: Fraction) -> _Sum:
    terms, constant = given
    return {column: _checked(factor * value) for column, value in terms.items()}, _checked(factor * constant)


def _added(sums: list[_Sum]) -> _Sum:
    result: dict[int, Fraction] = {}
    constant = Fraction(0)
    for terms, more in sums:
        constant = _checked(constant + more)
        for column, value in terms.items():
            result[column] = _checked(result[column] + value) if column in result else value
    return result, constant


def _checked(value: Fraction) -> Fraction:
    if value.numerator.bit_length() + value.denominator.bit_length() > limits.MAX_NUMBER_BITS:
        raise _Refused(f"a number that is computed has more than {limits.MAX_NUMBER_BITS} bits")
    return value


def _inequality(terms: Iterable[int], row: tuple[float, ...], limit: Fraction, strict: bool) -> Inequality:
    bound = _exactly(limit)
    if bound is not None:
        return Inequality(tuple(terms), row, bound + 0.0, strict)  # adding 0 turns -0 into 0
    above = nearest_float(limit)
    above = nextafter(above, inf) if above < limit else above
    if not (isfinite(above) and isfinite(nextafter(above, -inf))):
        raise _Refused("a bound that is computed is above all doubles in size")
    return Inequality(tuple(terms), row, above, strict, limit)


def _as_doubles(coefficients: list[Fraction], bound: Fraction) -> tuple[list[float], Fraction]:
    """Return coefficients as doubles, exactly, and the bound, all multiplied by the same positive number.

    If possible, the bound is a double too.
    """
    found = _doubles([*coefficients, bound])
    if found is not None:
        return found[:-1], Fraction(found[-1])
    alone = _doubles(coefficients)
    if alone is None:
        raise _Refused(
            "the coefficients of an inequality are not all doubles, nor multiples of doubles; write them with fewer "
            "digits"
        )
    return alone, bound * (Fraction(alone[0]) / coefficients[0])


def _doubles(values: list[Fraction]) -> list[float] | None:
    """Return numbers as doubles, exactly; all are multiplied by the same positive number if only then they are doubles.

    Returns None if no such number is found.
    """
    exact = [_exactly(value) for value in values]
    if None in exact:
        # The smallest integers with the same ratios, or these times the power of two that leads to the largest doubles.
        common = lcm(*(value.denominator for value in values))
        divisor = gcd(*(int(value * common) for value in values))
        scale, bits = Fraction(common, divisor), max(int(value * common) for value in map(abs, values)).bit_length()
        exact = [_exactly(value * scale) for value in values]
        if None in exact:
            scale *= Fraction(2) ** (1022 - bits + divisor.bit_length())
            exact = [_exactly(value * scale) for value in values]
    found = [value for value in exact if value is not None]
    return found if len(found) == len(values) else None


def _exactly(value: Fraction) -> float | None:
    """Return a number as a double, or None if it is not one."""
    try:
        rounded = float(value)
    except OverflowError:
        return None
    return rounded if Fraction(rounded) == value else None


def _shown(formula: _Formula) -> str:
    return repr(printable(formula)) if isinstance(formula, str) else "a list"
