# SPDX-License-Identifier: MIT
"""What is a unit with breakpoints?

Each unit is a continuous piecewise-linear function of one variable, its pre-activation, which is called its *row*.
`Maxima`, in `maxima.py`, are units of several rows; both kinds have the same methods. Most code therefore
need not know how the kinds differ: which row a unit follows on its piece, and which form a kink compares.
Convention: a kink is a breakpoint, and its bit is 1 where the row is strictly above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.types import Bits, Floats, Indices, Integers
from regions.networks.activation import Activation

__all__ = ["UnitTables", "Units", "entries"]

# Breakpoints, slopes and intercepts of a ReLU.
_RELU = (np.zeros(1), np.array([0.0, 1.0]), np.zeros(2))


class UnitTables(NamedTuple):
    """Breakpoints of units, float64 [units, k], and slopes and intercepts of their pieces, [units, k + 1]."""

    breakpoints: Floats
    slopes: Floats
    intercepts: Floats


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a node, each a piecewise-linear function of one variable.

    Parameters
    ----------
    count : int
    activation : Activation
        Breakpoints, slopes and intercepts, for all units or, with one more axis, for each unit.
    """

    count: int
    activation: Activation

    @property
    def name(self) -> str:
        """Name of the activation."""
        return self.activation.name

    @property
    def rows(self) -> int:
        """Number of pre-activations: one for each unit."""
        return self.count

    @cached_property
    def kinks(self) -> int:
        """Number of breakpoints, summed over units."""
        return self.count * self.each

    @property
    def each(self) -> int:
        """Number of breakpoints of each unit."""
        return int(self.activation.breakpoints.shape[-1])

    @cached_property
    def kink_units(self) -> Integers:
        """Unit of each kink, int64 [kinks]: unit by unit, breakpoint ascending."""
        return self.at_kinks(np.arange(self.count, dtype=np.int64))

    @cached_property
    def kink_values(self) -> Floats:
        """Breakpoint of each kink, float64 [kinks]."""
        return self.tables().breakpoints.ravel()

    def at_kinks(self, values: NDArray[Any]) -> NDArray[Any]:
        """Repeat the value of each unit, [.., units], for each of its kinks, [.., kinks]."""
        return values if self.each == 1 else np.repeat(values, self.each, axis=-1)

    def compared(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the row that each kink compares with its breakpoint, [.., kinks], from rows [.., rows]."""
        return self.at_kinks(rows)

    def either(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over the rows of each kink, [.., kinks], for instance of bounds on errors."""
        return self.at_kinks(rows)

    def bits_at(self, rows: Floats) -> Bits:
        """Return the bits [.., kinks] at rows [.., rows]."""
        return np.asarray(self.at_kinks(rows) > self.kink_values)

    def pieces_at(self, rows: Floats) -> Indices:
        """Return the piece of each unit at rows [.., rows]."""
        return self.pieces_of(self.bits_at(rows))

    def first_pieces(self, above: Bits, below: Bits) -> Indices:
        """Return a piece of each unit, [.., units], that is consistent with the kinks whose form is known to be above
        the breakpoint, or below it.
        """
        return self.pieces_of(above)

    def settled(self, above: Bits, below: Bits) -> tuple[Bits, Bits]:
        """Return which bits are proven 1 and which 0, given the kinks whose form is above, and those below."""
        return above, below

    def binding(self, pieces: Indices) -> Bits:
        """Return the kinks whose side is determined by the pieces [.., units]: [.., kinks]."""
        return np.ones((*pieces.shape[:-1], self.kinks), dtype=bool)

    def followed(self, rows: NDArray[Any], pieces: Indices) -> NDArray[Any]:
        """Return the row that each unit follows on its piece, [.., units], of rows [.., rows]."""
        return rows

    def largest(self, rows: Floats) -> Floats:
        """Return the largest row of each unit, [.., units], of rows [.., rows]."""
        return rows

    def asked_of_rows(self, units: NDArray[Any], pieces: Indices) -> NDArray[Any]:
        """Pass the value of each unit, [.., units], to the row that it follows: [.., rows]."""
        return units

    def rows_on(self, units: Integers, pieces: Indices) -> tuple[Integers, Floats]:
        """Return the rows [m] that some units [m] follow on some pieces [m], and the slopes of these pieces [m]."""
        return units, self.tables().slopes[units, pieces]

    def of_all_rows(self, units: NDArray[Any]) -> NDArray[Any]:
        """Repeat the value of each unit, [.., units], for each of its rows, [.., rows]."""
        return units

    def bits_of(self, pieces: Indices) -> Bits:
        """Return the bits [.., kinks] of units on pieces [.., units]."""
        return np.asarray(self.at_kinks(pieces) > np.tile(np.arange(self.each), self.count))

    def pieces_of(self, bits: NDArray[Any]) -> Indices:
        """Return the piece of each unit, integers [.., units], from bits [.., kinks]: the number of its bits that are
        1.
        """
        if self.each == 1:
            return bits.astype(np.uint8, copy=False)
        pieces = np.zeros((*bits.shape[:-1], self.count), dtype=np.intp)
        for breakpoint_ in range(self.each):
            pieces += bits[..., breakpoint_ :: self.each]
        return pieces

    def on_pieces(self, pieces: Indices) -> tuple[Floats, Floats]:
        """Return slopes and intercepts of units on pieces [.., units]."""
        return entries(self.activation.slopes, pieces), entries(self.activation.intercepts, pieces)

    def outputs_at(self, rows: Floats, out: Floats | None = None) -> Floats:
        """Return the outputs [.., units] at rows [.., rows], float64; ``out`` may receive them, and may be ``rows``."""
        if self._are_relus:
            return np.maximum(rows, 0.0, out=out)
        pieces = self.pieces_at(rows)
        slopes, intercepts = self.on_pieces(pieces)
        return rows * slopes + intercepts

    @cached_property
    def _are_relus(self) -> bool:
        given = self.activation.breakpoints, self.activation.slopes, self.activation.intercepts
        return all(np.array_equal(one, other) for one, other in zip(given, _RELU, strict=True))

    @cached_property
    def kink_rows(self) -> Integers:
        """The row of each kink, and the row subtracted from it, or -1: int64 [kinks, 2]."""
        return np.stack([self.kink_units, np.full(self.kinks, -1)], axis=1)

    @cached_property
    def scaling(self) -> bool:
        """Whether some slope is a number other than -1, 0 and 1, so that products with it are rounded."""
        return not np.isin(self.activation.slopes, (-1.0, 0.0, 1.0)).all()

    @cached_property
    def shifting(self) -> bool:
        """Whether some intercept is a number other than 0."""
        return bool(self.activation.intercepts.any())

    def bending(self) -> Bits:
        """The kinks at which the slope changes, bool [kinks]."""
        return np.asarray(np.diff(self.tables().slopes) != 0.0).ravel()

    def stored_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the numbers that define the units, under their names in files."""
        return {name: getattr(self.activation, name) for name in ("breakpoints", "slopes", "intercepts")}

    def tables(self) -> UnitTables:
        """Breakpoints, slopes and intercepts of each unit."""
        shapes = ((self.count, self.each), (self.count, self.each + 1), (self.count, self.each + 1))
        given = self.activation.breakpoints, self.activation.slopes, self.activation.intercepts
        tables = UnitTables(*map(np.empty, shapes))
        for table, values in zip(tables, given, strict=True):
            table[...] = values
        return tables


def entries(table: Floats, pieces: Indices) -> Floats:
    """Return the entry for the piece [.., units] of each unit, from a table [pieces] or [units, pieces]."""
    if table.ndim > 1:
        return table[np.arange(len(table)), pieces]
    if (table == table[0]).all():
        return np.broadcast_to(table[0], pieces.shape)
    # Slopes 0 and 1 equal the numbers of their pieces.
    return pieces.astype(np.float64) if (table == np.arange(len(table))).all() else table[pieces]
