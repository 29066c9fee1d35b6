# SPDX-License-Identifier: MIT
"""Can a result be believed without believing what made it?

`certify` checks a partition anew, from its raw arrays and the network, in rational arithmetic and without any code of
the core. What it looks at, and why that is enough:

Let D be the domain and, for a pattern p, let R(p) be the set of points of D that have it. A *region* is an R(p) that
has an interior.

1. Where the network has pattern p every pre-activation is an affine form, layer by layer. So R(p) is described by one
   inequality for each kink: its form is above zero where p has a 1, zero or below where it has a 0. R(p) is convex.
2. *Vertices, cells, inequalities*: the polygon that is listed with pattern p is strictly convex, all those inequalities
   hold at its corners, and each of its edges lies on the line of one of them. So it is exactly the set where all of
   them hold, with "or zero" added. No form that is to be above zero is zero on all of it, hence none is zero at a point
   in its interior: the interior lies in R(p). The listed region is real, and the polygon is the closure of R(p).
   *Patterns* comes to the same result on another way, by a forward pass at a point inside.
3. *Disjoint*: different patterns, so different sets R(p), and the interiors of the polygons are disjoint.
4. *Arrays*: each facet that is not on the border is an edge of two polygons, which go along it in opposite directions
   and so lie on opposite sides of it. Then the polygons cover D. For let U be their union, and take the vertices away
   from the interior of D: what remains is connected, and U is closed in it, and open too, since around a point on a
   facet there is one polygon on each side. It is not empty, so it is everything. (On a line facets are points, and
   nothing has to be taken away.)
5. Every region R(q) then meets the interior of a polygon, whose points have only one pattern. So q is in the list: the
   listed regions are all there are, each once, and their number is right.

On a line the same is true, with intervals for polygons and points for facets. A domain without end is replaced by an
interval, or a square, so large that it has the same regions (`regions.reference.integers`).

*Border*, *volume*, *Euler* and *reference* do not carry the proof. They follow from it, and would notice a mistake in
it, or in what checks it. *Neighbours* is about the names of facets, and *coordinates*, *volumes* and *affine maps*
about what is rounded. In a partial result steps 1 to 3 are left: what is listed is real.

Independent on purpose: no code of the core and none of `regions/passes/`; it walks through the layers by itself. With
the reference it shares the scaling to integers, `regions/reference/integers.py`, whose divisions must leave no
remainder; the check called *reference* counts with it.

Of a curve the reference is asked, for arcs have quadratic numbers for ends: the same patterns in the same order, on all
of each leg, are the strands that are there, and the numbers follow.

`forms.py` writes down kinks, `region_inequalities.py` holds regions against them, `facets.py` looks at what lies
between regions, `totals.py` at all of them together, `rounding.py` at what is stored rounded; `along_curves.py` at
curves; `resample.py` and `cddlib.py` ask others; `verdict.py` has the order of the checks, `certification_report.py`
what came out.
"""

from regions.certification.certification_report import (
    CertificationItem,
    CertificationReport,
    CurveCertificationReport,
    refused,
)
from regions.certification.verdict import certify

__all__ = ["CertificationItem", "CertificationReport", "CurveCertificationReport", "certify", "refused"]
