# SPDX-License-Identifier: MIT
"""Which arguments does a call of one of torch's operators have, and which values are they?

Each is asked for by name, with what stands for it where it is left out, and as what it must be. Every argument must be
understood: one that nothing asked for is refused. Numbers among the arguments are doubles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.arrays import exact_float64
from regions.arithmetic.types import Floats
from regions.errors import NonFiniteError, UnsupportedLayerError
from regions.read.exported.graph import ExportedNode, Name, Word
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import shapes
from regions.read.graphs.site import Site

__all__ = ["Call", "Operation", "Value"]

Value = Tensor | NDArray[Any] | int | float
_MISSING: Any = object()


@dataclass
class Call:
    """An operator and its arguments; each is asked for by name, with what stands for it where it is left out."""

    at: Site
    node: ExportedNode
    values: dict[str, Value]
    asked: set[str] = field(default_factory=set)

    def given(self, name: str, default: Any = _MISSING) -> Any:
        """An argument, with names replaced by values."""
        self.asked.add(name)
        argument = self.node.arguments.get(name, default)
        if argument is _MISSING:
            raise self.at.refused(f"lacks its argument {name!r}")
        if isinstance(argument, list):
            return [self.values[one.name] if isinstance(one, Name) else one for one in argument]
        return self.values[argument.name] if isinstance(argument, Name) else argument

    def first_of(self, *names: str) -> str:
        """Which of the names of an argument, which overloads have, is there."""
        return next((name for name in names if name in self.node.arguments), names[0])

    def tensor(self, name: str = "self") -> Tensor:
        """Return an argument that depends on the input."""
        value = self.given(name)
        if isinstance(value, Tensor):
            return value
        raise self.constants_alone()

    def constants_alone(self) -> UnsupportedLayerError:
        """The error that says that constants are not computed with, or that one is where a tensor must be."""
        given = [self.values[each.name] for each in self.node.arguments.values() if isinstance(each, Name)]
        if any(isinstance(each, Tensor) for each in given):
            return UnsupportedLayerError(
                f"{self.at.label} has a constant where only what depends on the input can be; exchange its operands"
            )
        return UnsupportedLayerError(
            f"{self.at.label} computes with constants in a way that is not handled; put the result into a buffer of "
            "the module before exporting it"
        )

    def movable(self, name: str = "self") -> Tensor | NDArray[Any]:
        """A tensor or a constant array."""
        value = self.given(name)
        if not isinstance(value, (Tensor, np.ndarray)):
            raise self.at.refused(f"has an argument {name!r} that is not a tensor")
        return value

    def moved(
        self, move: Callable[[NDArray[Any]], NDArray[Any] | None], name: str = "self", most: int | None = None
    ) -> Any:
        """A tensor or constant, rearranged; see `shapes.moved`."""
        return shapes.moved(self.at, self.movable(name), move, most)  # type: ignore[type-var]

    def array(self, name: str) -> Floats | None:
        """A constant, as doubles."""
        value = self.given(name, None)
        if value is None:
            return None
        if not isinstance(value, np.ndarray):
            raise UnsupportedLayerError(
                f"{self.at.label}: its {name} depends on the input, which is not piecewise linear or not handled"
            )
        return exact_float64(value, f"{self.at.label}: {name}")

    def operand(self, name: str) -> Tensor | Floats:
        """A tensor, a constant, or a number."""
        value = self.given(name)
        if isinstance(value, Tensor):
            return value
        if isinstance(value, (list, str, bool, Word)) or value is None:
            raise self.at.refused(f"has an argument {name!r} that is not a number")
        return exact_float64(value, f"{self.at.label}: {name}")

    def operands(self) -> tuple[Tensor | Floats, Tensor | Floats]:
        """Both operands, at least one of them a tensor."""
        first, second = self.operand("self"), self.operand("other")
        if not isinstance(first, Tensor) and not isinstance(second, Tensor):
            self.tensor()
        return first, second

    def number(self, name: str, default: Any = _MISSING) -> float:
        """A real number."""
        value = self.given(name, default)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 2.0**1023:
            return float(value)
        raise NonFiniteError(f"{self.at.label}: its {name} is not a finite number")

    def bound(self, name: str, default: float | None = None) -> float | None:
        """A number, which may be infinite or left out."""
        value = self.given(name, default)
        if value is None or (isinstance(value, float) and np.isinf(value)):
            return value
        if isinstance(value, (np.ndarray, Tensor)):
            raise UnsupportedLayerError(f"{self.at.label}: its {name} is a tensor, which is not handled; give a number")
        return self.number(name, default)

    def integer(self, name: str, default: Any = _MISSING) -> int:
        """A whole number."""
        value = self.given(name, default)
        if type(value) is int and abs(value) < 2**63:
            return value
        raise self.at.refused(f"has an argument {name!r} that is not a whole number")

    def integers(self, name: str, default: Any = _MISSING, count: int | None = None) -> list[int]:
        """Whole numbers; a single one stands for ``count`` of them."""
        value = self.given(name, default)
        values = value if isinstance(value, list) else [value]
        if not all(type(one) is int and abs(one) < 2**63 for one in values):
            raise self.at.refused(f"has an argument {name!r} that is not a list of whole numbers")
        return values * count if count is not None and len(values) == 1 else values

    def flag(self, name: str, default: bool = False) -> bool:
        """A truth."""
        value = self.given(name, default)
        if type(value) is not bool:
            raise self.at.refused(f"has an argument {name!r} that is neither true nor false")
        return value

    def ignore(self, *names: str) -> None:
        """Arguments that say how something is computed, and not what."""
        self.asked.update(names)

    def require_all_asked(self) -> None:
        """Refuse arguments that nothing asked for."""
        rest = [name for name in self.node.arguments if name not in self.asked]
        if rest:
            raise self.at.refused(f"has an argument {rest[0]!r} that is not known here")


Operation = Callable[[Call], Any]
