# SPDX-License-Identifier: MIT
"""What do units give that are the largest of several rows (max-pool, maxout)?

A unit's rows are its *arms*, numbered from 0; what it gives is the largest of them, and its piece is the number of the
arm that is, the *winner*. Of arms that are the same on a whole cell the lowest one wins there. A constant arm is a row
that reads nothing; a minimum is minus the maximum of what is turned in sign.
A unit with k arms has k (k - 1) / 2 kinks, its pairs a < b of arms in the order (0, 1), (0, 2), (1, 2), (0, 3), .., so
that (a, b) is the kink b (b - 1) / 2 + a. What is compared with 0 there is arm b minus arm a, and the bit is 1 iff b is
the winner: a comparison among losers is none. So the winner w has bits 1 at (0, w) .. (w - 1, w), and no others.
Cost: as many bits as pairs of arms, which is why there are at most `MOST_ARMS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.arithmetic.arrays import as_numpy
from regions.arithmetic.types import Bits, Floats, Indices, Integers
from regions.errors import NetworkError
from regions.networks.units import UnitTables

__all__ = ["MOST_ARMS", "Maxima"]

# The core numbers pieces in a byte.
MOST_ARMS = 255


@dataclass(frozen=True, eq=False)
class Maxima:
    """Units that each give the largest of some rows.

    Parameters
    ----------
    starts : int32 [units + 1]
        The arms of unit u are the rows from ``starts[u]`` to before ``starts[u + 1]``, at least one.
    name : str
        What to call them in messages.

    Raises
    ------
    NetworkError
        A unit without arms, or with more than `MOST_ARMS`.

    Examples
    --------
    >>> units = Maxima([0, 3, 4])
    >>> units.count, units.rows, units.kinks
    (2, 4, 3)
    >>> units.pieces_at(np.array([1.0, 5.0, 5.0, -1.0]))
    array([1, 0])
    >>> units.bits_of(np.array([2, 0]))
    array([False,  True,  True])
    """

    starts: NDArray[np.int32]
    name: str = "max"

    def __post_init__(self) -> None:
        starts = as_numpy(self.starts, "starts").astype(np.int32)
        sizes = np.diff(starts)
        if starts.ndim != 1 or len(starts) < 2 or starts[0] != 0 or sizes.min() < 1 or sizes.max() > MOST_ARMS:
            raise NetworkError(
                f"{self.name}: each unit must have 1 to {MOST_ARMS} arms, the first one from row 0; where there are "
                "more, take the largest of groups first, and then of these"
            )
        starts.setflags(write=False)
        object.__setattr__(self, "starts", starts)

    @classmethod
    def of_sizes(cls, sizes: ArrayLike, name: str = "max") -> Maxima:
        """Units with these numbers of arms."""
        return cls(np.cumsum([0, *np.asarray(sizes).tolist()]), name)

    @property
    def count(self) -> int:
        """Units."""
        return len(self.starts) - 1

    @property
    def rows(self) -> int:
        """Arms, summed over units."""
        return int(self.starts[-1])

    @cached_property
    def sizes(self) -> Integers:
        """Arms of each unit, int64 [units]."""
        return np.diff(self.starts).astype(np.int64)

    @cached_property
    def kinks(self) -> int:
        """Pairs of arms, summed over units."""
        return int((self.sizes * (self.sizes - 1) // 2).sum())

    @cached_property
    def row_units(self) -> Integers:
        """Unit of each row, int64 [rows]."""
        return np.repeat(np.arange(self.count, dtype=np.int64), self.sizes)

    @cached_property
    def arms(self) -> Integers:
        """Which arm of its unit each row is, int64 [rows]."""
        return np.arange(self.rows, dtype=np.int64) - self.starts[self.row_units]

    @cached_property
    def kink_units(self) -> Integers:
        """Unit of each kink, int64 [kinks]."""
        return np.repeat(np.arange(self.count, dtype=np.int64), self.sizes * (self.sizes - 1) // 2)

    @cached_property
    def kink_rows(self) -> Integers:
        """The later arm of each kink, and the earlier one, which is taken off from it: rows, int64 [kinks, 2]."""
        later = np.repeat(np.arange(self.rows, dtype=np.int64), self.arms)
        first_pairs = np.repeat(np.cumsum(self.arms) - self.arms, self.arms)
        earlier = np.arange(len(later), dtype=np.int64) - first_pairs
        return np.stack([later, self.starts[self.row_units[later]] + earlier], axis=1)

    @cached_property
    def kink_values(self) -> Floats:
        """Zeros, float64 [kinks]."""
        return np.zeros(self.kinks)

    @cached_property
    def _kink_arms(self) -> tuple[Integers, Integers]:
        """The later and the earlier arm of each kink, as numbers within their unit."""
        return self.arms[self.kink_rows[:, 0]], self.arms[self.kink_rows[:, 1]]

    def at_kinks(self, values: NDArray[Any]) -> NDArray[Any]:
        """What each unit has, [.., units], for each of its kinks, [.., kinks]."""
        return values[..., self.kink_units]

    def compared(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The later arm of each kink minus the earlier one, [.., kinks], of rows [.., rows]."""
        return np.asarray(rows[..., self.kink_rows[:, 0]] - rows[..., self.kink_rows[:, 1]])

    def either(self, rows: NDArray[Any]) -> NDArray[Any]:
        """What the arms of each kink have together, [.., kinks]: sums, or for booleans whether one of them has it."""
        return np.asarray(rows[..., self.kink_rows[:, 0]] + rows[..., self.kink_rows[:, 1]])

    def bits_at(self, rows: Floats) -> Bits:
        """Bits [.., kinks] at rows [.., rows]; of arms that are equal the lowest one wins."""
        return self.bits_of(self.pieces_at(rows))

    def pieces_at(self, rows: Floats) -> Indices:
        """Winner of each unit at rows [.., rows]."""
        return self._lowest(rows == self.of_all_rows(self.largest(rows)))

    def _lowest(self, candidates: Bits) -> Indices:
        """The lowest arm of each unit [.., units] that is one of some rows [.., rows]; 0 if none is."""
        arms = np.where(candidates, self.arms, MOST_ARMS)
        lowest = np.minimum.reduceat(arms, self.starts[:-1], axis=-1)
        return np.asarray(np.where(lowest == MOST_ARMS, 0, lowest))

    def bits_of(self, pieces: Indices) -> Bits:
        """The bits [.., kinks] of units with these winners [.., units]."""
        return np.asarray(self.at_kinks(pieces) == self._kink_arms[0])

    def pieces_of(self, bits: NDArray[Any]) -> Indices:
        """Winner of each unit, integers [.., units], by bits [.., kinks]: the arm whose pair with arm 0 has its bit."""
        if self.kinks == 0:
            return np.zeros((*bits.shape[:-1], self.count), dtype=np.intp)
        later, earlier = self._kink_arms
        pairs = np.flatnonzero(earlier == 0)
        rows = np.zeros((*bits.shape[:-1], self.rows), dtype=np.intp)
        rows[..., self.kink_rows[pairs, 0]] = bits[..., pairs] * later[pairs]
        return np.asarray(np.maximum.reduceat(rows, self.starts[:-1], axis=-1))

    def first_pieces(self, above: Bits, below: Bits) -> Indices:
        """The lowest arm, [.., units], that is not below another, by the kinks as for `settled`."""
        return self._lowest(~self._losing(above, below))

    def settled(self, above: Bits, below: Bits) -> tuple[Bits, Bits]:
        """Which bits are 1 and which are 0, by the kinks at which the later arm is above the earlier one, and below it.

        An arm that is below another does not win; and one that is the only one left does.
        """
        loses = self._losing(above, below)
        left = np.add.reduceat(~loses, self.starts[:-1], axis=-1, dtype=np.intp)
        later = self.kink_rows[:, 0]
        return ~loses[..., later] & (self.at_kinks(left) == 1), loses[..., later]

    def _losing(self, above: Bits, below: Bits) -> Bits:
        """Which arms are below another one, [.., rows]."""
        loses = np.zeros((*above.shape[:-1], self.rows), dtype=bool)
        order, rows, begins = self._comparisons
        if rows.size:
            lost = np.concatenate([below, above], axis=-1)
            loses[..., rows] = np.logical_or.reduceat(lost[..., order], begins, axis=-1)
        return loses

    @cached_property
    def _comparisons(self) -> tuple[Indices, Integers, Indices]:
        """Kinks with the later and then with the earlier arm, sorted by that; these arms; where those of each begin."""
        compared = self.kink_rows.T.ravel()
        order = np.argsort(compared, kind="stable")
        rows, begins = np.unique(compared[order], return_index=True)
        return order, rows, begins

    def binding(self, pieces: Indices) -> Bits:
        """Which kinks [.., kinks] compare the winner [.., units] with another arm."""
        winners = self.at_kinks(pieces)
        later, earlier = self._kink_arms
        return np.asarray((winners == later) | (winners == earlier))

    def followed(self, rows: NDArray[Any], pieces: Indices) -> NDArray[Any]:
        """The arm of each unit that wins: of rows [.., rows] those [.., units]."""
        return np.take_along_axis(rows, self.starts[:-1] + pieces, axis=-1)

    def largest(self, rows: Floats) -> Floats:
        """The largest that an arm of each unit has: of rows [.., rows] those [.., units]."""
        return np.asarray(np.maximum.reduceat(rows, self.starts[:-1], axis=-1))

    def asked_of_rows(self, units: NDArray[Any], pieces: Indices) -> NDArray[Any]:
        """What arms are asked for, [.., rows]: the winner what its unit is, [.., units], and others nothing."""
        wins = np.asarray(pieces[..., self.row_units] == self.arms)
        return units[..., self.row_units] * wins

    def of_all_rows(self, units: NDArray[Any]) -> NDArray[Any]:
        """What each unit has, [.., units], for each of its arms, [.., rows]."""
        return units[..., self.row_units]

    def on_pieces(self, pieces: Indices) -> tuple[Floats, Floats]:
        """Slopes and intercepts of units in their winners: 1 and 0."""
        return np.ones(pieces.shape), np.zeros(pieces.shape)

    @property
    def scaling(self) -> bool:
        """Whether some slope is another number than -1, 0 and 1: none is."""
        return False

    @property
    def shifting(self) -> bool:
        """Whether some intercept is another number than 0: none is."""
        return False

    def bending(self) -> Bits:
        """At which kinks the slope can change, bool [kinks]: at all."""
        return np.ones(self.kinks, dtype=bool)

    def tables(self) -> UnitTables:
        """What each unit makes of the arm that it follows: nothing else."""
        return UnitTables(np.zeros((self.count, 0)), np.ones((self.count, 1)), np.zeros((self.count, 1)))

    def stored_arrays(self) -> dict[str, NDArray[Any]]:
        """The numbers that make them, under the names that they have in files."""
        return {"arms": self.starts}
