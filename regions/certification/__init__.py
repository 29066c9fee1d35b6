# SPDX-License-Identifier: MIT
"""How can a result be checked without trusting the code that computed it?

`certify` checks a partition independently, from its raw arrays and the network, without any code of the core, in
rational arithmetic or with proven bounds on rounding. It checks the following, which is enough:

Let D be the domain and, for a pattern p, let R(p) be the set of points of D that have it. A *region* is an R(p) that
has an interior.

1. Where the network has pattern p every pre-activation is an affine form, layer by layer. So R(p) is described by one
   inequality for each kink: its form is above zero where p has a 1, zero or below where it has a 0. R(p) is convex.
2. *Vertices, cells, inequalities*: the polygon listed with pattern p is strictly convex, all those inequalities
   hold at its corners, and each of its edges lies on the line of one of them. So it is exactly the set where all of
   them hold, with "or zero" added. If a form has to be above zero, it is not zero on all of the polygon, and therefore
   not at any interior point: the interior lies in R(p). The listed region is real, and the polygon is the closure of
   R(p). *Patterns* comes to the same result by another way, a forward pass at a point inside. In large results, values
   at vertices show all of this for most regions (`proven_regions.py`).
3. *Disjoint*: different patterns, so different sets R(p), and the interiors of the polygons are disjoint.
4. *Arrays*: each facet inside D is an edge of two polygons, which run along it in opposite directions and therefore lie
   on opposite sides of it. Then the polygons cover D: let U be their union, and remove the vertices from the interior
   of D. The rest is connected, and U is closed in it, and also open, because a point on a facet has one polygon on each
   side. U is not empty, so it is everything. (On a line facets are points, and nothing has to be removed.)
5. Every region R(q) then meets the interior of a polygon, whose points have only one pattern. So q is in the list: the
   listed regions are all there are, each once, and their number is right.

On a line the same is true, with intervals for polygons and points for facets. An unbounded domain is replaced by an
interval, or a square, so large that it has the same regions (`regions.reference.integers`).

*Border*, *volume*, *Euler* and *reference* are not part of the proof. They follow from it, and would reveal a mistake
in it, or in the code that checks it. *Neighbours* is about the kinks that facets name, and *coordinates*, *volumes* and
*affine maps* are about rounded numbers. For a partial result steps 1 to 3 remain: the listed regions are real.

The check is independent on purpose: it uses no code of the core or of `regions/passes/`, and walks through the layers
by itself. It shares with the reference the scaling to integers, `regions/reference/integers.py`, whose divisions must
leave no remainder; the check called *reference* counts with the reference.

Curves are compared with the reference, because the ends of arcs are quadratic numbers. If the reference finds the same
patterns in the same order, on all of each leg, the strands are right, and the numbers follow.

In three and more dimensions, the signs of all kinks at the vertices take the place of positions, and closed boundaries
that of the order of corners: `polytope_verdict.py` and docs/why-certify-proves.md.

`proven_regions.py` proves regions by values at their vertices, which `cluster_values.py` computes with bounds, and
`vertex_values.py` where these do not tell.
`forms.py` writes down kinks, `region_inequalities.py` compares regions with them, `facets.py` checks neighbours,
`totals.py` all regions together, and `rounding.py` the rounded numbers; `along_curves.py` checks curves. `resample.py`
and `cddlib.py` ask independent programs. `verdict.py` has the order of the checks, `certification_report.py` the
results.
"""

from regions.certification.certification_report import (
    CertificationItem,
    CertificationReport,
    CurveCertificationReport,
    refused,
)
from regions.certification.stream_certification import StreamCertification
from regions.certification.verdict import certify

__all__ = [
    "CertificationItem",
    "CertificationReport",
    "CurveCertificationReport",
    "StreamCertification",
    "certify",
    "refused",
]
