# SPDX-License-Identifier: MIT
"""What is a unit that is the largest of several rows (max-pool, maxout)?

The rows of a unit are its *branches*, numbered from 0. The value of the unit is the largest of them, and its piece is
the index of that branch, the *argmax*. If branches are equal on a whole cell, the lowest one is the argmax there. A
constant branch is a row that reads nothing; a minimum is the negative of the maximum of the negated rows.
A unit with k branches has k (k - 1) / 2 kinks, its pairs a < b of branches in the order (0, 1), (0, 2), (1, 2), (0, 3),
.., so that (a, b) is the kink b (b - 1) / 2 + a. The kink compares branch b minus branch a with 0, and its bit is 1 iff
b is the argmax; comparisons between two other branches are not kinks. The argmax w has the bits 1 at (0, w) ..
(w - 1, w), and no others.
Cost: as many bits as pairs of branches, which is why there are at most `MOST_ARMS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.errors import NetworkError
from regions.ground.arithmetic.arrays import as_numpy
from regions.ground.arithmetic.types import Bits, Floats, Indices, Integers
from regions.networks.units import UnitTables

__all__ = ["MOST_ARMS", "Maxima"]

# The core stores the number of a piece in a byte.
MOST_ARMS = 255


@dataclass(frozen=True, eq=False)
class Maxima:
    """Units whose values are each the largest of some rows.

    Parameters
    ----------
    starts : int32 [units + 1]
        The branches of unit u are the rows ``starts[u]:starts[u + 1]``, at least one.
    name : str
        Name in messages.

    Raises
    ------
    NetworkError
        A unit without branches, or with more than `MOST_ARMS`.

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
                f"{self.name}: each unit must have 1 to {MOST_ARMS} branches, the first one from row 0; if there are "
                "more, take the largest of groups first, and then the largest of these"
            )
        starts.setflags(write=False)
        object.__setattr__(self, "starts", starts)

    @classmethod
    def of_sizes(cls, sizes: ArrayLike, name: str = "max") -> Maxima:
        """Make units with these numbers of branches."""
        return cls(np.cumsum([0, *np.asarray(sizes).tolist()]), name)

    @property
    def count(self) -> int:
        """Units."""
        return len(self.starts) - 1

    @property
    def rows(self) -> int:
        """Number of branches, summed over units."""
        return int(self.starts[-1])

    @cached_property
    def sizes(self) -> Integers:
        """Number of branches of each unit, int64 [units]."""
        return np.diff(self.starts).astype(np.int64)

    @cached_property
    def kinks(self) -> int:
        """Number of pairs of branches, summed over units."""
        return int((self.sizes * (self.sizes - 1) // 2).sum())

    @cached_property
    def row_units(self) -> Integers:
        """Unit of each row, int64 [rows]."""
        return np.repeat(np.arange(self.count, dtype=np.int64), self.sizes)

    @cached_property
    def branches(self) -> Integers:
        """Index of each row among the branches of its unit, int64 [rows]."""
        return np.arange(self.rows, dtype=np.int64) - self.starts[self.row_units]

    @cached_property
    def kink_units(self) -> Integers:
        """Unit of each kink, int64 [kinks]."""
        return np.repeat(np.arange(self.count, dtype=np.int64), self.sizes * (self.sizes - 1) // 2)

    @cached_property
    def kink_rows(self) -> Integers:
        """The later branch of each kink, and the earlier one, which is subtracted: rows, int64 [kinks, 2]."""
        later = np.repeat(np.arange(self.rows, dtype=np.int64), self.branches)
        first_pairs = np.repeat(np.cumsum(self.branches) - self.branches, self.branches)
        earlier = np.arange(len(later), dtype=np.int64) - first_pairs
        return np.stack([later, self.starts[self.row_units[later]] + earlier], axis=1)

    @cached_property
    def kink_values(self) -> Floats:
        """Zeros, float64 [kinks]."""
        return np.zeros(self.kinks)

    @cached_property
    def _kink_branches(self) -> tuple[Integers, Integers]:
        """The later and the earlier branch of each kink, as indices within their unit."""
        return self.branches[self.kink_rows[:, 0]], self.branches[self.kink_rows[:, 1]]

    def at_kinks(self, values: NDArray[Any]) -> NDArray[Any]:
        """Repeat the value of each unit, [.., units], for each of its kinks, [.., kinks]."""
        return values[..., self.kink_units]

    def compared(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the later branch of each kink minus the earlier one, [.., kinks], from rows [.., rows]."""
        return np.asarray(rows[..., self.kink_rows[:, 0]] - rows[..., self.kink_rows[:, 1]])

    def either(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Add the two branches of each kink, [.., kinks]; for booleans, return whether one of them is True."""
        return np.asarray(rows[..., self.kink_rows[:, 0]] + rows[..., self.kink_rows[:, 1]])

    def bits_at(self, rows: Floats) -> Bits:
        """Return the bits [.., kinks] at rows [.., rows]; of equal branches the lowest one is the argmax."""
        return self.bits_of(self.pieces_at(rows))

    def pieces_at(self, rows: Floats) -> Indices:
        """Return the argmax of each unit at rows [.., rows]."""
        return self._lowest(rows == self.of_all_rows(self.largest(rows)))

    def _lowest(self, candidates: Bits) -> Indices:
        """Return the lowest branch of each unit [.., units] among candidate rows [.., rows], or 0."""
        branches = np.where(candidates, self.branches, MOST_ARMS)
        lowest = np.minimum.reduceat(branches, self.starts[:-1], axis=-1)
        return np.asarray(np.where(lowest == MOST_ARMS, 0, lowest))

    def bits_of(self, pieces: Indices) -> Bits:
        """Return the bits [.., kinks] of units with these argmaxes [.., units]."""
        return np.asarray(self.at_kinks(pieces) == self._kink_branches[0])

    def pieces_of(self, bits: NDArray[Any]) -> Indices:
        """Return the argmax of each unit, integers [.., units], from bits [.., kinks]: its kink with branch 0 is 1."""
        if self.kinks == 0:
            return np.zeros((*bits.shape[:-1], self.count), dtype=np.intp)
        later, earlier = self._kink_branches
        pairs = np.flatnonzero(earlier == 0)
        rows = np.zeros((*bits.shape[:-1], self.rows), dtype=np.intp)
        rows[..., self.kink_rows[pairs, 0]] = bits[..., pairs] * later[pairs]
        return np.asarray(np.maximum.reduceat(rows, self.starts[:-1], axis=-1))

    def first_pieces(self, above: Bits, below: Bits) -> Indices:
        """Return the lowest branch, [.., units], that is not below another, given the kinks as for `settled`."""
        return self._lowest(~self._losing(above, below))

    def settled(self, above: Bits, below: Bits) -> tuple[Bits, Bits]:
        """Return which bits are proven 1 and which 0, given the kinks where the later branch is above, and below, the
        earlier one.

        A branch below another one is not the argmax. If one branch is left, it is the argmax.
        """
        loses = self._losing(above, below)
        left = np.add.reduceat(~loses, self.starts[:-1], axis=-1, dtype=np.intp)
        later = self.kink_rows[:, 0]
        return ~loses[..., later] & (self.at_kinks(left) == 1), loses[..., later]

    def _losing(self, above: Bits, below: Bits) -> Bits:
        """Return which branches are below another one, [.., rows]."""
        loses = np.zeros((*above.shape[:-1], self.rows), dtype=bool)
        order, rows, begins = self._comparisons
        if rows.size:
            lost = np.concatenate([below, above], axis=-1)
            loses[..., rows] = np.logical_or.reduceat(lost[..., order], begins, axis=-1)
        return loses

    @cached_property
    def _comparisons(self) -> tuple[Indices, Integers, Indices]:
        """Return the kinks with the later and then with the earlier branch, sorted by branch; these branches; and the
        first entry of each branch.
        """
        compared = self.kink_rows.T.ravel()
        order = np.argsort(compared, kind="stable")
        rows, begins = np.unique(compared[order], return_index=True)
        return order, rows, begins

    def binding(self, pieces: Indices) -> Bits:
        """Return which kinks [.., kinks] compare the argmax [.., units] with another branch."""
        argmaxes = self.at_kinks(pieces)
        later, earlier = self._kink_branches
        return np.asarray((argmaxes == later) | (argmaxes == earlier))

    def followed(self, rows: NDArray[Any], pieces: Indices) -> NDArray[Any]:
        """Return the argmax branch of each unit, [.., units], of rows [.., rows]."""
        return np.take_along_axis(rows, self.starts[:-1] + pieces, axis=-1)

    def largest(self, rows: Floats) -> Floats:
        """Return the largest branch of each unit, [.., units], of rows [.., rows]."""
        return np.asarray(np.maximum.reduceat(rows, self.starts[:-1], axis=-1))

    def outputs_at(self, rows: Floats, out: Floats | None = None) -> Floats:
        """Return the outputs [.., units] at rows [.., rows]: the largest branches."""
        return self.largest(rows)

    def asked_of_rows(self, units: NDArray[Any], pieces: Indices) -> NDArray[Any]:
        """Pass the value of each unit, [.., units], to its argmax, and 0 to its other branches: [.., rows]."""
        is_argmax = np.asarray(pieces[..., self.row_units] == self.branches)
        return units[..., self.row_units] * is_argmax

    def rows_on(self, units: Integers, pieces: Indices) -> tuple[Integers, Floats]:
        """Return the branches [m] that some units [m] follow on some pieces [m], as rows, and their slopes, 1."""
        return self.starts[units] + pieces, np.ones(len(units))

    def of_all_rows(self, units: NDArray[Any]) -> NDArray[Any]:
        """Repeat the value of each unit, [.., units], for each of its branches, [.., rows]."""
        return units[..., self.row_units]

    def on_pieces(self, pieces: Indices) -> tuple[Floats, Floats]:
        """Return slopes and intercepts of units on their pieces: 1 and 0."""
        return np.ones(pieces.shape), np.zeros(pieces.shape)

    @property
    def scaling(self) -> bool:
        """Whether some slope is a number other than -1, 0 and 1: always False."""
        return False

    @property
    def shifting(self) -> bool:
        """Whether some intercept is a number other than 0: always False."""
        return False

    def bending(self) -> Bits:
        """The kinks at which the slope can change, bool [kinks]: all of them."""
        return np.ones(self.kinks, dtype=bool)

    def tables(self) -> UnitTables:
        """Breakpoints, slopes and intercepts of each unit as a function of its argmax branch: the identity."""
        return UnitTables(np.zeros((self.count, 0)), np.ones((self.count, 1)), np.zeros((self.count, 1)))

    def stored_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the numbers that define the units, under their names in files."""
        return {"arms": self.starts}
