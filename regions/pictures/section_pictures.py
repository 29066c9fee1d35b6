# SPDX-License-Identifier: MIT
"""How is a partition of three dimensions drawn?

As the regions in three planes through a point, each along two directions of the chart. They are enumerated in these
planes, so each picture is exact.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from regions.counting.count_and_enumerate import enumerate as enumerate_regions
from regions.domains import Domain
from regions.domains.abilities import PICTURES, require
from regions.domains.plane_sections import plane_section
from regions.results.cells.complex import CellComplex
from regions.results.partition import Partition

__all__ = ["sections_of"]


def sections_of(cells: CellComplex, at: Any) -> tuple[list[Partition], list[str]]:
    """Return the regions in three planes through a point of the input space, and a title for each.

    ``at`` is None for the middle of the domain.

    Raises
    ------
    DomainError
        The partition has more than three dimensions.
    DegenerateDomainError, ShapeMismatchError, NonFiniteError
        As for `Polytope.section`.
    """
    domain = cells.domain
    require(PICTURES, domain)
    planes = [plane_section(domain, at, axes) for axes in combinations(range(3), 2)]
    parts = [enumerate_regions(cells.network, plane) for plane in planes]
    titles = [
        f"{_height(domain, plane.origin, axis)}: {len(part):,} region{'s' * (len(part) != 1)}"
        for axis, plane, part in zip((2, 1, 0), planes, parts, strict=True)
    ]
    return parts, titles


def _height(domain: Domain, origin: Any, axis: int) -> str:
    """Say which coordinate is constant in a plane, and its value."""
    inputs = np.flatnonzero(domain.directions[axis])
    others = np.delete(domain.directions, axis, axis=0)
    if len(inputs) == 1 and not others[:, inputs[0]].any():
        return f"$x_{{{inputs[0]}}}$ = {origin[inputs[0]]:.4g}"
    return f"$p_{axis}$ = {domain.to_chart(origin)[axis]:.4g}"
