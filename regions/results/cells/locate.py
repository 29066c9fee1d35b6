# SPDX-License-Identifier: MIT
"""Which region contains a point?

Points are mapped to the chart, and whether they lie in the domain is decided exactly. Nearly all are found to be
inside a region, by more than the error of its corners (`surely_inside.py`); the others are found by their patterns
(`by_pattern.py`).
Cost: half a microsecond per point; near a boundary, a pass through the network, or milliseconds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from regions.domains import Domain
from regions.domains.membership import inside
from regions.domains.shape import SHAPES
from regions.errors import DomainError, InternalError, NonFiniteError
from regions.ground.arithmetic.arguments import SPACES, one_of
from regions.ground.arithmetic.arrays import name_point, points_float64
from regions.ground.arithmetic.types import Floats, Integers
from regions.results.cells.by_pattern import ByPattern
from regions.results.cells.complex import CellComplex
from regions.results.cells.surely_inside import inside_finder

__all__ = ["Locator", "distances_off"]

# How far a point may lie off the line or plane, relative to its size: points computed from float32 data are accepted.
OFF_PLANE = 1e-6
# Numbers per temporary array.
CHUNK = 1 << 20


class Locator:
    """Everything that looking up points of a partition needs; built once, at the first look-up."""

    def __init__(self, cells: CellComplex) -> None:
        self.domain, self.complete = cells.domain, cells.complete
        self.finder, self.patterns = inside_finder(cells) if cells.dimension < 3 else None, ByPattern(cells)

    def locate(self, points: ArrayLike, space: str) -> Integers:
        """Return the region of each point; see `Partition.locate`."""
        space = one_of(space, SPACES, "space")
        if space == "input":
            given = points_float64(points, self.domain.n_in, shape=self.domain.input_shape)
        else:
            given = points_float64(points, self.domain.dimension)
        flat = given.reshape(-1, given.shape[-1])
        result = np.full(len(flat), -1, dtype=np.int64)
        step = max(1, CHUNK // given.shape[-1])
        for start in range(0, len(flat), step):
            part = flat[start : start + step]
            chart = part if space == "chart" else self._on_chart(part, start, given.shape[:-1])
            within = np.flatnonzero(inside(self.domain, chart))
            result[start + within] = self._locate_inside(chart[within])
        return result.reshape(given.shape[:-1])

    def _on_chart(self, points: Floats, start: int, shape: tuple[int, ...]) -> Floats:
        chart = self.domain.project(points)
        beyond = np.flatnonzero(~np.isfinite(chart).all(axis=1))
        if beyond.size:
            raise NonFiniteError(
                f"{name_point(start + beyond[0], shape)} has chart coordinates beyond the largest double"
            )
        if self.domain.dimension < self.domain.n_in:
            distances = distances_off(self.domain, points, chart)
            far = np.flatnonzero(distances)
            if far.size:
                raise DomainError(
                    f"{name_point(start + far[0], shape)} is {distances[far[0]]:.3g} away from the "
                    f"domain's {SHAPES[self.domain.dimension].name}; only points on it have a region "
                    "(domain.to_input(domain.to_chart(x)) is the nearest one)"
                )
        return chart

    def _locate_inside(self, chart: Floats) -> Integers:
        result = self.finder.find(chart) if self.finder else np.full(len(chart), -1, dtype=np.int64)
        left = np.flatnonzero(result < 0)
        if left.size:
            result[left] = self.patterns.find(chart[left])
        if self.complete and (result < 0).any():
            raise InternalError(
                f"the chart point {chart[np.argmin(result)].tolist()} lies in the domain but in no region: "
                "certify the partition if it was read from a file, otherwise please report this with network and domain"
            )
        return result


def distances_off(domain: Domain, points: Floats, chart: Floats) -> Floats:
    """Return how far points [m, n_in] lie off a domain's line or plane, float64 [m]; 0 where that may be rounding.

    Their projections have the chart coordinates [m, d].
    """
    origin = np.broadcast_to(domain.origin, points.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = origin + chart @ domain.directions
        # Scaled, because the squares of large numbers overflow.
        _, exponents = np.frexp(np.maximum(np.abs(points), np.abs(origin)).max(axis=1))
        x, o, y = (np.ldexp(each, -exponents[:, np.newaxis]) for each in (points, origin, nearest))
        distances, sizes = np.linalg.norm(x - y, axis=1), np.linalg.norm(x, axis=1) + np.linalg.norm(o, axis=1)
        return np.where(distances > OFF_PLANE * sizes, np.ldexp(distances, exponents), 0.0)
