# SPDX-License-Identifier: MIT
"""What do units with breakpoints give?

Each is a continuous piecewise-linear function of one variable, its *row*: what it gets of all that its node reads.
`Maxima`, in the file next to this one, are units of several rows; both answer the same questions. What differs between
these kinds is asked here and there only: which row a unit follows on its piece, and what a kink compares.
Convention: a kink is a breakpoint, and its bit is 1 where the row is strictly above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Bits, Floats, Indices, Integers
from regions.networks.activation import Activation

__all__ = ["UnitTables", "Units", "entries"]


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
        A kind of units: breakpoints, slopes and intercepts, each for all units or, with an axis more, for each of them.
    """

    count: int
    activation: Activation

    @property
    def name(self) -> str:
        """What to call their kind."""
        return self.activation.name

    @property
    def rows(self) -> int:
        """Pre-activations: one for each unit."""
        return self.count

    @cached_property
    def kinks(self) -> int:
        """Breakpoints, summed over units."""
        return self.count * self.each

    @property
    def each(self) -> int:
        """Breakpoints of each unit."""
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
        """What each unit has, [.., units], for each of its kinks, [.., kinks]."""
        return values if self.each == 1 else np.repeat(values, self.each, axis=-1)

    def compared(self, rows: NDArray[Any]) -> NDArray[Any]:
        """What is compared with its breakpoint at each kink, [.., kinks], of rows [.., rows]."""
        return self.at_kinks(rows)

    def either(self, rows: NDArray[Any]) -> NDArray[Any]:
        """What the rows of each kink have together, [.., kinks], such as bounds on errors that add up."""
        return self.at_kinks(rows)

    def bits_at(self, rows: Floats) -> Bits:
        """Bits [.., kinks] at rows [.., rows]."""
        return np.asarray(self.at_kinks(rows) > self.kink_values)

    def pieces_at(self, rows: Floats) -> Indices:
        """Piece of each unit at rows [.., rows]."""
        return self.pieces_of(self.bits_at(rows))

    def first_pieces(self, above: Bits, below: Bits) -> Indices:
        """A piece of each unit, [.., units], that has its value where what is compared is above and below kinks."""
        return self.pieces_of(above)

    def settled(self, above: Bits, below: Bits) -> tuple[Bits, Bits]:
        """Which bits are 1 and which are 0, by the kinks at which what is compared is above and below, [.., kinks]."""
        return above, below

    def binding(self, pieces: Indices) -> Bits:
        """At which kinks the pieces [.., units] say on which side what is compared is, by its bit: [.., kinks]."""
        return np.ones((*pieces.shape[:-1], self.kinks), dtype=bool)

    def followed(self, rows: NDArray[Any], pieces: Indices) -> NDArray[Any]:
        """The row that each unit follows on its piece: of rows [.., rows] those [.., units]."""
        return rows

    def largest(self, rows: Floats) -> Floats:
        """The largest that a row of each unit has: of rows [.., rows] those [.., units]."""
        return rows

    def asked_of_rows(self, units: NDArray[Any], pieces: Indices) -> NDArray[Any]:
        """What rows are asked for, [.., rows], by what is asked of the units that follow them, [.., units]."""
        return units

    def of_all_rows(self, units: NDArray[Any]) -> NDArray[Any]:
        """What each unit has, [.., units], for each of its rows, [.., rows]."""
        return units

    def bits_of(self, pieces: Indices) -> Bits:
        """The bits [.., kinks] of units on pieces [.., units]."""
        return np.asarray(self.at_kinks(pieces) > np.tile(np.arange(self.each), self.count))

    def pieces_of(self, bits: NDArray[Any]) -> Indices:
        """Piece of each unit, integers [.., units], by bits [.., kinks]: how many of its breakpoints it is above."""
        if self.each == 1:
            return bits.astype(np.uint8, copy=False)
        pieces = np.zeros((*bits.shape[:-1], self.count), dtype=np.intp)
        for breakpoint_ in range(self.each):
            pieces += bits[..., breakpoint_ :: self.each]
        return pieces

    def on_pieces(self, pieces: Indices) -> tuple[Floats, Floats]:
        """Slopes and intercepts of units on pieces [.., units]."""
        return entries(self.activation.slopes, pieces), entries(self.activation.intercepts, pieces)

    @cached_property
    def kink_rows(self) -> Integers:
        """The row of each kink, and the one that is taken off from it, -1 for none: int64 [kinks, 2]."""
        return np.stack([self.kink_units, np.full(self.kinks, -1)], axis=1)

    @cached_property
    def scaling(self) -> bool:
        """Whether some slope is another number than -1, 0 and 1, so that products with it are rounded."""
        return not np.isin(self.activation.slopes, (-1.0, 0.0, 1.0)).all()

    @cached_property
    def shifting(self) -> bool:
        """Whether some intercept is another number than 0."""
        return bool(self.activation.intercepts.any())

    def bending(self) -> Bits:
        """At which kinks the slope changes, bool [kinks]."""
        return np.asarray(np.diff(self.tables().slopes) != 0.0).ravel()

    def stored_arrays(self) -> dict[str, NDArray[Any]]:
        """The numbers that make them, under the names that they have in files."""
        return {name: getattr(self.activation, name) for name in ("breakpoints", "slopes", "intercepts")}

    def tables(self) -> UnitTables:
        """What each unit is, unit by unit."""
        shapes = ((self.count, self.each), (self.count, self.each + 1), (self.count, self.each + 1))
        given = self.activation.breakpoints, self.activation.slopes, self.activation.intercepts
        return UnitTables(*map(np.broadcast_to, given, shapes))


def entries(table: Floats, pieces: Indices) -> Floats:
    """The entry for the piece [.., units] of each unit, of a table [pieces] or [units, pieces]."""
    if table.ndim > 1:
        return table[np.arange(len(table)), pieces]
    if (table == table[0]).all():
        return np.broadcast_to(table[0], pieces.shape)
    # Slopes of 0 and 1 are the numbers of their pieces.
    return pieces.astype(np.float64) if (table == np.arange(len(table))).all() else table[pieces]
