# SPDX-License-Identifier: MIT
"""How can a result be checked without trusting the code that computed it?

`certify` checks a partition independently, from its raw arrays and the network, in rational arithmetic or with proven
bounds on rounding. docs/why-certify-proves.md proves that the checks called *arrays*, *disjoint*, *vertices*, *cells*,
*inequalities* and *patterns* are enough. *Border*, *volume*, *Euler* and *reference* follow from them, and would reveal
a mistake in the proof, or in the code. *Neighbours* is about the kinks that facets name; *coordinates*, *volumes* and
*affine maps* are about rounded numbers.

The check is independent on purpose: it uses no code of the core or of `regions/passes/`, and walks through the layers
by itself. It shares with the reference the scaling to integers, `regions/reference/integers.py`, whose divisions must
leave no remainder; the check called *reference* counts with the reference.

`verdict.py` has the order of the checks, `certification_report.py` the results. `proven_regions.py` proves regions by
values at their vertices, which `cluster_values.py` computes with bounds; where these bounds are too wide,
`vertex_values.py` computes sharper ones. In exact arithmetic, `forms.py` computes the forms of kinks,
`region_inequalities.py` compares regions with them, `facets.py` checks neighbours, `totals.py` all regions together,
and `rounding.py` the rounded numbers. `resample.py` and `cddlib.py` ask independent programs. `along_curves.py`
compares curves with the reference. In three and more dimensions, the signs of all kinks at the vertices replace
positions, and closed boundaries replace the order of corners: `polytope_verdict.py`.
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
