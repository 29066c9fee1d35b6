# SPDX-License-Identifier: MIT
"""What is a continuous piecewise-linear function of one variable, exactly?

An `Activation` is given by its T breakpoints and the slope and intercept of each of its T + 1 pieces. All units of a
layer share them, or each unit has its own (PReLU).
Convention: piece k is ``breakpoints[k - 1] < h <= breakpoints[k]``; active at t means h > t, strictly.
Invariant: all numbers are finite doubles, stored unchanged, and neighbouring pieces meet *exactly* at their
breakpoint (checked in rational arithmetic), so the enumerated network is the given one.
A breakpoint with equal slopes on both sides (``leaky_relu(1.0)``) still counts, because patterns record signs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.errors import NetworkError, NonFiniteError, ShapeMismatchError
from regions.ground.arithmetic.arguments import shown, word
from regions.ground.arithmetic.arrays import as_numpy, exact_float64, real_numbers
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.types import Floats, Indices
from regions.ground.text.printable import printable

__all__ = ["Activation"]

# The core stores the number of a piece in a byte.
MAX_PIECES = 255
# Saved partitions store the name in their header, and loading requires one printable line.
LONGEST_NAME = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Activation:
    """A continuous piecewise-linear function of one variable.

    Parameters
    ----------
    name : str
        The name in messages, for instance ``"leaky_relu(0.2)"``. Printable, at most 1000 characters.
    breakpoints : array_like, float64 [T]
        Strictly increasing; empty for a function without a kink.
    slopes, intercepts : array_like, float64 [T + 1] or [n, T + 1]
        Piece k has the value ``slopes[k] * h + intercepts[k]``. With two axes, row i belongs to unit i of the
        layer.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Wrong number of pieces; NaN or infinity.
    NetworkError
        Breakpoints out of order, or pieces that do not meet exactly. A name with control characters or lone
        surrogates, or one that is too long.

    Examples
    --------
    >>> hat = Activation("hat", [0.0, 1.0, 2.0], [0.0, 1.0, -1.0, 0.0], [0.0, 0.0, 2.0, 0.0])
    >>> hat
    Activation('hat', 3 breakpoints)
    >>> hat([-1.0, 0.5, 1.25, 3.0])
    array([0.  , 0.5 , 0.75, 0.  ])
    """

    name: str
    breakpoints: Floats
    slopes: Floats
    intercepts: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", word(self.name, "name"))
        if len(self.name) > LONGEST_NAME or not self.name.isprintable():
            raise NetworkError(
                f"an activation's name must be printable and at most {LONGEST_NAME} characters long, got "
                f"{shown(self.name)}"
            )
        for field in ("breakpoints", "slopes", "intercepts"):
            values = exact_float64(getattr(self, field), f"{self._label}: {field}")
            values += 0.0  # turns negative zeros into zeros
            values.setflags(write=False)
            object.__setattr__(self, field, values)
        self._require_shapes()
        if (self.breakpoints[1:] <= self.breakpoints[:-1]).any():
            raise NetworkError(
                f"{self._label}: breakpoints must be strictly increasing, got {shown(self.breakpoints.tolist())}"
            )
        self._require_continuity()

    @property
    def _label(self) -> str:
        return f"activation {printable(self.name)!r}"

    def _require_shapes(self) -> None:
        if self.breakpoints.ndim != 1:
            raise ShapeMismatchError(
                f"{self._label}: breakpoints must have one axis, got shape {self.breakpoints.shape}"
            )
        pieces = self.breakpoints.size + 1
        if pieces > MAX_PIECES:
            raise NetworkError(
                f"{self._label} has {pieces - 1} breakpoints, at most {MAX_PIECES - 1} are handled; "
                "use fewer, or split the function over several layers"
            )
        shape = self.slopes.shape
        if shape != self.intercepts.shape or self.slopes.ndim not in (1, 2) or shape[-1] != pieces or 0 in shape:
            raise ShapeMismatchError(
                f"{self._label}: with {pieces - 1} breakpoints, slopes and intercepts must both "
                f"have shape [{pieces}] or [n, {pieces}], got {list(shape)} and {list(self.intercepts.shape)}"
            )

    def _require_continuity(self) -> None:
        slopes, intercepts = np.atleast_2d(self.slopes), np.atleast_2d(self.intercepts)
        for k, breakpoint_ in enumerate(self.breakpoints):
            # If slope and intercept agree on both sides, or the intercepts agree at breakpoint 0, the pieces
            # meet.
            open_question = intercepts[:, k] != intercepts[:, k + 1]
            if breakpoint_ != 0.0:
                open_question |= slopes[:, k] != slopes[:, k + 1]
            for unit in np.flatnonzero(open_question):
                t = Fraction(float(breakpoint_))
                left = Fraction(float(slopes[unit, k])) * t + Fraction(float(intercepts[unit, k]))
                right = Fraction(float(slopes[unit, k + 1])) * t + Fraction(float(intercepts[unit, k + 1]))
                if left != right:
                    fitting = Fraction(float(intercepts[unit, k + 1])) + left - right
                    value = nearest_float(fitting)
                    raise NetworkError(
                        f"{self._label} is not continuous at breakpoint {float(breakpoint_)!r}"
                        + (f" (unit {unit})" if self.slopes.ndim == 2 else "")
                        + f": {nearest_float(left)!r} on the left, {nearest_float(right)!r} on the right. Compared "
                        f"exactly, they differ by {nearest_float(left - right):.3g}. "
                        + (
                            f"With intercepts[{k + 1}] = {value!r} it is continuous"
                            if np.isfinite(value) and Fraction(value) == fitting
                            else f"No double as intercepts[{k + 1}] makes it continuous: round slopes and intercepts "
                            "to float32 first, so that intercepts[k] + (slopes[k] - slopes[k + 1]) * breakpoint is "
                            "exact"
                        )
                    )

    def __call__(self, values: ArrayLike) -> Floats:
        """Apply the function to finite numbers ``values`` [.., n]; return float64 [.., n].

        Each operation is correctly rounded in floating point; results beyond the largest double are infinite.
        """
        h = exact_float64(values, f"{self._label}: values")
        pieces = self.pieces(h)
        with np.errstate(over="ignore"):
            result: Floats = self._of_piece(self.slopes, pieces) * h + self._of_piece(self.intercepts, pieces)
        return result

    def pieces(self, values: Floats) -> Indices:
        """Return the index of the piece of each value [.., n]: the number of breakpoints strictly below it."""
        if type(values) is not np.ndarray or values.dtype != np.float64:
            values = real_numbers(values, "values")
        if np.isnan(values).any():
            raise NonFiniteError("values: nan lies in no piece")
        return np.searchsorted(self.breakpoints, values, side="left")

    def slopes_of(self, pieces: Indices) -> Floats:
        """Return the slope of the given piece [.., n] of each unit."""
        return self._of_piece(self.slopes, self._checked(pieces))

    def intercepts_of(self, pieces: Indices) -> Floats:
        """Return the intercept of the given piece [.., n] of each unit."""
        return self._of_piece(self.intercepts, self._checked(pieces))

    def _checked(self, pieces: Any) -> Indices:
        """Check numbers of pieces; there must be one for each unit if units differ."""
        given = as_numpy(pieces, "pieces")
        if given.dtype.kind not in "iu":
            raise TypeError(f"pieces must be integers, got {printable(given.dtype)}")
        if self.slopes.ndim == 2 and given.shape[-1:] != self.slopes.shape[:1]:
            raise ShapeMismatchError(f"pieces must have shape [.., {len(self.slopes)}], got {list(given.shape)}")
        if given.size and not 0 <= given.min() <= given.max() <= self.breakpoints.size:
            raise ValueError(f"pieces must be numbers from 0 to {self.breakpoints.size}")
        return given

    @staticmethod
    def _of_piece(table: Floats, pieces: Indices) -> Floats:
        return table[pieces] if table.ndim == 1 else table[np.arange(len(table)), pieces]

    def _content(self) -> tuple[Any, ...]:
        arrays = (self.breakpoints, self.slopes, self.intercepts)
        return tuple(part for array in arrays for part in (array.shape, array.tobytes()))

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same function, given by the same pieces; names do not matter."""
        if not isinstance(other, Activation):
            return NotImplemented
        return self is other or self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def __repr__(self) -> str:
        count = self.breakpoints.size
        return f"Activation({printable(self.name)!r}, {count} breakpoint{'' if count == 1 else 's'})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, because unpickled arrays are writeable.
        return Activation, (self.name, self.breakpoints, self.slopes, self.intercepts)
