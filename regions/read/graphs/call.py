# SPDX-License-Identifier: MIT
"""Which arguments does an operator of a graph have, and which values are they?

Each operator is one function of a `Call`, for all formats. The function asks for an argument by its name in torch, with
its default and its type. Each format finds the arguments of a node and translates their names. Numbers are doubles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import NonFiniteError, UnsupportedLayerError
from regions.ground.arithmetic.arrays import exact_float64
from regions.ground.arithmetic.types import Floats
from regions.ground.text.printable import printable
from regions.read.graphs import moving
from regions.read.graphs.operations import Tensor
from regions.read.graphs.piecewise import Piecewise, settled
from regions.read.graphs.site import Site

__all__ = ["Call", "DecidedByRounding", "Jumps", "Operand", "Operation", "Unread"]

Operand = Tensor | Floats
_MISSING: Any = object()


class DecidedByRounding(UnsupportedLayerError):
    """A constant that depends on the rounding of others, or on an order that is not defined."""


@dataclass(frozen=True)
class Unread:
    """A further result of a node, such as the positions of maxima, from which nothing can be computed.

    Attributes
    ----------
    node : str
        Names the node in messages.
    why : str
        Why it cannot be read, and what to do.
    error : type
        Type of the exception that says so.
    what : str
        Words for the value, if it is not a further result.
    """

    node: str
    why: str = "which is not handled; export the part before it"
    error: type[UnsupportedLayerError] = UnsupportedLayerError
    what: str = ""

    def refused(self, reader: str, name: str) -> UnsupportedLayerError:
        """Return the error for a node or graph that reads it."""
        what = self.what or f"a further result of {self.node}, such as positions"
        return self.error(f"{reader} reads {printable(name)!r}, {what}, {self.why}")


@dataclass
class Jumps:
    """The functions that jump in one evaluation of a call.

    Attributes
    ----------
    noisy : callable or None
        Returns their operands in each evaluation with noise, in order; None in such an evaluation.
    met : list of list of array
        The operands of those that have been met, in order.
    """

    noisy: Callable[[], list[list[list[NDArray[Any]]]]] | None = None
    met: list[list[NDArray[Any]]] = field(default_factory=list)


@dataclass
class Call:
    """An operator and its arguments.

    Attributes
    ----------
    at : Site
    arguments : dict of str to Tensor, Piecewise, array, number, bool, str, None, or list of these
        Tensors depend on the input, and so do values that may jump; arrays are constants.
    names : dict of str to str
        The names that messages use for arguments whose names in the file are not torch's.
    widest : float
        The largest finite number of the element type; a bound of this size or more has no effect.
    stored : str
        The type that the real constants of the call have in the file, by its name; empty if there are none.
    jumps : Jumps, optional
        The jumps of constants that the call meets; None if no rounding reaches it.
    asked : set of str
        The arguments that have been used.
    """

    at: Site
    arguments: Mapping[str, Any]
    names: Mapping[str, str] = field(default_factory=dict)
    widest: float = math.inf
    stored: str = ""
    jumps: Jumps | None = None
    asked: set[str] = field(default_factory=set)

    def with_arguments(self, /, **arguments: Any) -> Call:
        """Return the same call with other arguments."""
        return replace(self, arguments={**self.arguments, **arguments})

    def given(self, name: str, default: Any = _MISSING) -> Any:
        """Return an argument of any type. A value that may jump becomes a tensor; it is an error if it does jump."""
        return settled(self.at.reading, self.unsettled(name, default))

    def unsettled(self, name: str, default: Any = _MISSING) -> Any:
        """Return an argument of any type, which may be a value that jumps."""
        self.asked.add(name)
        argument = self.arguments.get(name, default)
        if argument is _MISSING:
            raise self.at.refused(f"lacks its argument {self.said(name)!r}")
        return argument

    def said(self, name: str) -> str:
        """Return the name of an argument in messages."""
        return self.names.get(name) or name

    def first_of(self, *names: str) -> str:
        """Return the name of an argument that has several names; the first one if it is left out."""
        return next((name for name in names if name in self.arguments), names[0])

    def tensor(self, name: str = "self") -> Tensor:
        """Return an argument that depends on the input."""
        value = self.given(name)
        if isinstance(value, Tensor):
            return value
        raise UnsupportedLayerError(
            f"{self.at.label} has a constant where only what depends on the input can be; exchange its operands"
        )

    def two_factors(self) -> UnsupportedLayerError:
        """Return the error for a product of two tensors."""
        return UnsupportedLayerError(
            f"{self.at.label} multiplies two values that depend on the input, which is not piecewise linear; export "
            "the part before it, or name what goes into it with outputs="
        )

    def movable(self, name: str = "self") -> Tensor | Piecewise | NDArray[Any]:
        """Return a tensor, a value that may jump, or a constant array."""
        value = self.unsettled(name)
        if not isinstance(value, (Tensor, Piecewise, np.ndarray)):
            raise self.at.refused(f"has an argument {self.said(name)!r} that is not a tensor")
        return value

    def moved(self, move: Callable[[NDArray[Any]], NDArray[Any] | None], most: int | None = None) -> Any:
        """Return the first argument rearranged; see `moving.moved`."""
        return moving.moved(self.at, self.movable(), move, most)  # type: ignore[type-var]

    def array(self, name: str) -> Floats | None:
        """Return a constant as doubles; None if it is left out."""
        value = self.given(name, None)
        if value is None:
            return None
        if not isinstance(value, np.ndarray):
            what = f"its {self.said(name)} depends on the input"
            raise UnsupportedLayerError(f"{self.at.label}: {what}, which is not piecewise linear or not handled")
        return exact_float64(value, f"{self.at.label}: {self.said(name)}")

    def constant(self, name: str) -> Floats:
        """Return a constant that cannot be left out, as doubles."""
        array = self.array(name)
        if array is None:
            raise self.at.refused(f"lacks its argument {self.said(name)!r}")
        return array

    def operands(
        self, first: str = "self", second: str = "other", *, infinite: bool = False, settle: bool = True
    ) -> list[Any]:
        """Return the operands: ``tensors`` if there are any number of them, else the two that are named.

        Constants may have infinite numbers only if ``infinite``; values may jump only if not ``settle``.
        """
        given = self.given if settle else self.unsettled
        if "tensors" in self.arguments:
            values = [("tensors", value) for value in _listed(given("tensors"))]
        else:
            values = [(name, given(name)) for name in (first, second)]
        return [self._operand(*each, infinite) for each in values]

    def _operand(self, name: str, value: Any, infinite: bool) -> Operand | Piecewise:
        if isinstance(value, (Tensor, Piecewise)):
            return value
        if type(value) not in (int, float) and not isinstance(value, np.ndarray):
            raise self.at.refused(f"has an argument {self.said(name)!r} that is not a number")
        if infinite and not isinstance(value, np.ndarray):
            value = np.asarray(value)
        if isinstance(value, np.ndarray) and value.dtype == bool:  # a mask
            value = value.astype(np.float64)
        if infinite and value.dtype.kind == "f" and not np.isnan(value).any():
            return value.astype(np.float64)
        return exact_float64(value, f"{self.at.label}: {self.said(name)}")

    def number(self, name: str, default: Any = _MISSING) -> float:
        """Return a real number."""
        value = self.given(name, default)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 2.0**1023:
            return float(value)
        raise NonFiniteError(f"{self.at.label}: its {self.said(name)} is not a finite number")

    def bound(self, name: str, default: float | None = None) -> float | None:
        """Return a number that may be infinite; None if it is left out."""
        value = self.given(name, default)
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.item()
        if value is None or (isinstance(value, float) and not math.isnan(value)):
            return value
        if isinstance(value, (np.ndarray, Tensor)):
            what = f"its {self.said(name)} is a tensor of shape {list(value.shape)}"
            raise UnsupportedLayerError(f"{self.at.label}: {what}, which is not handled; give a number")
        return self.with_arguments(**{name: value}).number(name)

    def integer(self, name: str, default: Any = _MISSING) -> int:
        """Return a whole number."""
        value = self.given(name, default)
        if type(value) is int and abs(value) < 2**63:
            return value
        raise self.at.refused(f"has an argument {self.said(name)!r} that is not a whole number")

    def integers(self, name: str, default: Any = _MISSING, count: int | None = None) -> list[int]:
        """Return whole numbers; a single one stands for ``count`` of them."""
        value = self.given(name, default)
        if isinstance(value, np.ndarray) and value.dtype.kind == "i" and value.ndim < 2:
            value = value.ravel().tolist()
        if isinstance(value, (np.ndarray, Tensor)):
            what = f"its argument {self.said(name)!r} is not a constant list of integers"
            raise UnsupportedLayerError(f"{self.at.label}: {what}")
        values = _listed(value)
        if not all(type(one) is int and -(2**63) <= one < 2**63 for one in values):
            raise self.at.refused(f"has an argument {self.said(name)!r} that is not a list of whole numbers")
        return values * count if count is not None and len(values) == 1 else values

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a truth value."""
        value = self.given(name, default)
        if type(value) is not bool:
            raise self.at.refused(f"has an argument {self.said(name)!r} that is neither true nor false")
        return value

    def ignore(self, *names: str) -> None:
        """Accept arguments that change how something is computed, but not the result."""
        self.asked.update(names)

    def require_all_asked(self) -> None:
        """Refuse arguments that have not been used."""
        rest = [name for name in self.arguments if name not in self.asked]
        if rest:
            raise self.at.refused(f"has an argument {self.said(rest[0])!r} that is not known here")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


Operation = Callable[[Call], Any]
