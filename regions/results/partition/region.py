# SPDX-License-Identifier: MIT
"""What is one region of a partition?

A `Region` is a partition and a number. It stores nothing: its attributes are rows of the partition's arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from regions.domains.shape import SHAPES
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.ground.text.printable import listed
from regions.ground.text.tables import facts_table

__all__ = ["Region"]


@dataclass(frozen=True, slots=True, repr=False)
class Region:
    """Light view of one region of a partition; on lines and in planes, all its arrays list the corners in one order.

    Attributes
    ----------
    partition : Partition
    index : int
        Number of the region in the partition.
    """

    partition: Any
    index: int

    @property
    def _facets(self) -> slice:
        return slice(*self.partition.cell_facet_offsets[self.index : self.index + 2].tolist())

    @property
    def pattern(self) -> Bits:
        """Activation pattern, bool [kinks]."""
        packed = self.partition.packed_patterns[self.index]
        return np.unpackbits(packed, count=self.partition.network.kinks, bitorder="little").view(np.bool_)

    @property
    def vertices(self) -> Floats:
        """Corners in chart coordinates, float64 [corners, d]: left and right, counter-clockwise, or in no order."""
        corners = slice(*self.partition.cell_offsets[self.index : self.index + 2].tolist())
        return self.partition.vertices[self.partition.cell_vertices[corners]]

    @property
    def volume(self) -> float:
        """Length, area or volume in input space."""
        return float(self.partition.volumes[self.index])

    @property
    def volume_error(self) -> float:
        """Proven bound on the error of the volume."""
        return float(self.partition.volume_errors[self.index])

    @property
    def facets(self) -> Integers:
        """Facets, int64 [facets]: from each corner to the next (d = 2), at each corner (d = 1), or in no order."""
        return self.partition.cell_facets[self._facets]

    @property
    def kinks(self) -> Integers:
        """Kink that makes each facet, int64 [facets]; negative on the domain boundary."""
        return self.partition.facet_kinks[self.facets]

    @property
    def neighbors(self) -> Integers:
        """Region across each facet, int64 [facets]; -1 where the domain ends."""
        return self.partition.neighbors[self._facets]

    @property
    def interior_point(self) -> Floats:
        """A point inside, in chart coordinates, float64 [d]; ``domain.to_input`` maps it to input space."""
        return self.partition.interior_points[self.index]

    def affine_map(self, *, space: Literal["chart", "input"] = "chart") -> tuple[Floats, Floats]:
        """Return the affine map of the network on this region: ``A @ p + c``.

        Parameters
        ----------
        space : "chart" or "input"
            Whether ``p`` are chart coordinates or points of input space.

        Returns
        -------
        A : float64 [n_out, d] or [n_out, n_in]
        c : float64 [n_out]
        """
        matrices, constants = self.partition.affine_maps([self.index], space=space)
        return matrices[0], constants[0]

    def _repr_html_(self) -> str:
        layers = self.partition.facet_layers[self.facets]
        sides = [f"layer {layer + 1}" if layer >= 0 else "the domain ends" for layer in layers.tolist()]
        center = self.partition.domain.to_input(self.interior_point)
        facts = [
            (SHAPES[self.partition.dimension].size, f"{self.volume:.6g}, to within {self.volume_error:.2g}"),
            ("active", f"{int(self.pattern.sum()):,} of {self.partition.network.kinks:,}"),
            ("made by", listed(list(dict.fromkeys(sides)))),
            ("neighbours", listed(self.neighbors[self.neighbors >= 0].tolist()) or "none"),
            ("a point inside", listed(center.tolist(), "{:.6g}".format)),
        ]
        return facts_table(repr(self), facts)

    def __repr__(self) -> str:
        corners, volume = self.partition.corner_counts[self.index], self.volume
        return f"Region({self.index} of {len(self.partition)}, {corners} corners, volume {volume:.6g})"
