# SPDX-License-Identifier: MIT
"""Which coordinates do the axes of a picture show?

Input coordinates, if the chart allows it: if the chart fills the input space (one or two inputs), or if each of
its directions is along one input axis, as for a rectangle between two pixels. Otherwise the axes show chart
coordinates. Drawing is affine, so only vertices are mapped. Very far from the origin the sums would lose the digits
that a picture needs, and the axes show chart coordinates as well. Both are numbered from 0, as in arrays, tables of
regions, messages and VNN-LIB.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regions.domains import Domain
from regions.ground.arithmetic.types import Exponents, Floats

__all__ = ["PictureAxes", "picture_axes"]

# Largest ratio of input coordinates to the width of the picture.
FARTHEST = 1e6


@dataclass(frozen=True)
class PictureAxes:
    """An affine map from the chart to the axes of a picture.

    Attributes
    ----------
    names : tuple of str
        One name for each axis.
    matrix, offset : float64 [d, d] and [d]
        A chart point p is drawn at ``p @ matrix + offset``.
    lengths, exponents : float64 [d] and intc [d]
        ``lengths * 2**exponents`` are the lengths in input space of a unit on each axis.
    """

    names: tuple[str, ...]
    matrix: Floats
    offset: Floats
    lengths: Floats
    exponents: Exponents

    def place(self, points: Floats) -> Floats:
        """Map chart points [.., d] to the axes."""
        return points @ self.matrix + self.offset


def picture_axes(domain: Domain, corners: Floats) -> PictureAxes:
    """Choose the axes of a picture that shows the chart between these corners, float64 [k, d]."""
    dimension, (inputs, moved) = domain.dimension, np.nonzero(domain.directions.T)
    columns: list[int] | None = None
    if dimension == domain.n_in:
        columns = list(range(dimension))
    elif moved.tolist() in ([0], [0, 1], [1, 0]):
        columns = inputs[np.argsort(moved)].tolist()
    if columns is not None:
        numbers = [""] if domain.n_in == 1 else [f"_{{{column}}}" for column in columns]
        matrix, offset = domain.directions[:, columns], domain.origin[columns]
        with np.errstate(over="ignore", invalid="ignore"):
            shown = corners @ matrix + offset
            wide = np.ptp(shown, axis=0)
            visible = np.abs(shown).max(axis=0) <= FARTHEST * wide
        if visible.all() and (wide > 0).all():
            names = tuple(f"$x{number}$" for number in numbers)
            return PictureAxes(names, matrix, offset, np.ones(dimension), np.zeros(dimension, dtype=np.intc))
    directions, exponents = domain.split_directions
    names = ("$p$",) if dimension == 1 else ("$p_0$", "$p_1$")
    lengths = np.linalg.norm(directions, axis=1)
    return PictureAxes(names, np.eye(dimension), np.zeros(dimension), lengths, exponents)
