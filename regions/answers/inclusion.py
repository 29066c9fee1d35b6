# SPDX-License-Identifier: MIT
"""Does the image of a domain lie in a polygon?

The image of a region is the convex hull of the images of its corners. The polygon is convex, so it contains the image
exactly if it contains all these corners. If error bounds do not decide, corners are computed in fractions.
Cost: a few products for each vertex; up to a millisecond for each vertex whose image is on the boundary, or outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from regions.answers.corner_values import CornerValues, value_at
from regions.answers.sides import Sides
from regions.answers.witness import Witness, witness_at
from regions.domains import Domain
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.roundoff import UP
from regions.ground.arithmetic.types import Floats
from regions.ground.text.tables import facts_table

__all__ = ["Inclusion", "inclusion"]


@dataclass(frozen=True, eq=False, repr=False)
class Inclusion(JsonReport):
    """Whether the image of a domain lies in a polygon, its boundary included.

    Attributes
    ----------
    holds : bool
        Decided exactly.
    witness : Witness or None
        A point whose image is outside, if there is one.
    margin, errors : float
        The least distance from the image to the lines of the sides, negative if the image crosses one of these lines,
        and a proven bound on its error.
    polygon : Domain

    Examples
    --------
    >>> import regions
    >>> loop = regions.Network([([[0.5, 0.25], [0.0, 0.5]], [0.0, 0.0])])
    >>> square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    >>> found = regions.image(loop, square).inside(square)
    >>> found, found.margin
    (Inclusion(holds, margin 0.25), 0.25)
    """

    holds: bool
    witness: Witness | None
    margin: float
    errors: float
    polygon: Domain

    def as_dict(self) -> dict[str, Any]:
        """The verdict and the witness, with fractions rounded."""
        facts: dict[str, Any] = {"holds": self.holds, "margin": self.margin, "errors": self.errors}
        return facts if self.witness is None else {**facts, "witness": self.witness.as_dict()}

    def _repr_html_(self) -> str:
        margin = f"{self.margin:.6g}, to within {self.errors:.2g}"
        return facts_table(repr(self), [("holds", "yes, proved" if self.holds else "no"), ("margin", margin)])

    def __repr__(self) -> str:
        return f"Inclusion({'holds' if self.holds else 'violated'}, margin {self.margin:.6g})"


def inclusion(at: CornerValues, images: Proven, polygon: Domain, sides: Sides) -> Inclusion:
    """Decide whether images of vertices, [V, m], lie in a polygon with these sides."""
    distances = sides.distances(images)
    with np.errstate(all="ignore"):
        low = distances.low.min(axis=1)
        nearest, high = float(distances.value.min()), float(distances.high.min())
        off = max(nearest - float(low.min()), high - nearest) * UP
    witness = _witness(at, distances.value.min(axis=1), np.flatnonzero(~(low >= 0.0)).tolist(), sides)
    known = np.isfinite(nearest) and np.isfinite(off)
    return Inclusion(witness is None, witness, nearest if known else 0.0, off if known else np.inf, polygon)


def _witness(at: CornerValues, distances: Floats, open_: list[int], sides: Sides) -> Witness | None:
    """A vertex whose image is outside; the one that is farthest out by rounded numbers, if it is outside."""
    part = at.partition
    first = sorted(open_, key=lambda vertex: float(distances[vertex]))[:1]
    # In the order of the regions, because consecutive regions share most of their forms.
    for vertex in [*first, *sorted(open_, key=lambda vertex: int(at.corners[vertex]))]:
        corner = int(at.corners[vertex])
        point = at.exact.point(corner)
        image = [value_at(form, point) for form in at.exact.forms(int(at.regions[corner]))]
        if sides.outside(image):
            place = tuple(Fraction(x, point[0]) for x in point[1:])
            rounded = part.domain.to_input([nearest_float(x) for x in place]).reshape(-1)
            return witness_at(at.graph, place, image, rounded, lambda y: sides.outside([Fraction(x) for x in y]))
    return None
