# SPDX-License-Identifier: MIT
"""Which part of input space is enumerated?

A domain is a chart, ``x = origin + p @ directions``, and a convex set of p. In R^1 or R^2 the set is given by its
generators. All of it is float64, and results are exact for these doubles: `domain.py` defines what that means.
`lines.py` and `polygons.py` make domains, `gram.py` and `corners.py` decide in integers what must not depend on
rounding, and `points.py` converts points. From three dimensions on the set is given by inequalities (`polytopes.py`).
`curves.py` makes curves of segments and arcs.
"""

from regions.domains.curves import Arc, Circle, Curve, GreatCircle, Polyline
from regions.domains.domain import Domain
from regions.domains.lines import Line, Ray, Segment
from regions.domains.polygons import Plane, Polygon, Rectangle, circumsquare
from regions.domains.polytopes import Box, Polytope, Space

__all__ = [
    "Arc",
    "Box",
    "Circle",
    "Curve",
    "Domain",
    "GreatCircle",
    "Line",
    "Plane",
    "Polygon",
    "Polyline",
    "Polytope",
    "Ray",
    "Rectangle",
    "Segment",
    "Space",
    "circumsquare",
]
