# SPDX-License-Identifier: MIT
"""What depends on the dimension of a domain, and on nothing else?

Mostly words for messages. How sizes are computed is in `cells/line_sizes.py` and `cells/plane_sizes.py`, and what is
drawn in `pictures/`: there too, each dimension has one object.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SHAPES", "Shape"]


@dataclass(frozen=True)
class Shape:
    """What messages and code need to know about all domains of one dimension.

    Attributes
    ----------
    name : str
        The space that a domain is a part of.
    size : str
        The size of a region.
    facets : str
        The facets between regions.
    facet_size : str or None
        The size of facets; None for points, which are counted.
    corner : str
        A corner of a domain.
    closed : bool
        Whether the facets of a region are a closed path, each from one corner to the next one. On a line, each facet is
        a point at one corner.
    geometry : str
        The shape of a region in GeoJSON, shapely and GeoArrow; empty from three dimensions on.
    """

    name: str
    size: str
    facets: str
    facet_size: str | None
    corner: str
    closed: bool
    geometry: str


SHAPES = {
    1: Shape("line", "length", "breakpoints", None, "end", closed=False, geometry="LineString"),
    2: Shape("plane", "area", "edges", "length", "corner", closed=True, geometry="Polygon"),
    3: Shape("space", "volume", "faces", "area", "corner", closed=False, geometry=""),
    **{d: Shape(f"{d}-dimensional space", "volume", "facets", "volume", "corner", False, "") for d in range(4, 11)},
}
