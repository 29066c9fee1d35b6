# SPDX-License-Identifier: MIT
"""How can a result be checked without trusting the code that computed it?

`certify` checks a partition independently, from its raw arrays and the network, in rational arithmetic or with proven
bounds on rounding. docs/why-certify-proves.md proves that the checks called *arrays*, *disjoint*, *vertices*, *cells*,
*inequalities* and *patterns* are enough. *Border*, *volume*, *Euler* and *reference* follow from them, and would reveal
a mistake in the proof, or in the code. *Neighbours* is about the kinks that facets name; *coordinates*, *volumes* and
*affine maps* are about rounded numbers.

The check is independent on purpose: it uses no code of the core or of `regions/passes/`, and walks through the layers
by itself. It shares with the reference the scaling to integers, `regions/certification/reference/integers.py`, whose
divisions must leave no remainder; the check called *reference* counts with the reference.

Each vertex has a *sign vector*: the sign of each kink, and of each inequality of the domain, there. `layout.py` has the
arrays of a result, in the same form for each dimension. `signs.py` finds the sign vectors: by values with bounds
(`bounded_forms.py`), modulo primes (`residue_forms.py`), or in integers (`forms.py`). `conditions.py` and
`closed_cells.py` then compare bits alone. `verdict.py` has the order, and `seams.py` joins the blocks of streams.
`exact_regions.py`, `totals.py`, `rounding.py`, `resample.py` and `cddlib.py` are second opinions, and
`along_curves.py` compares curves with the reference. `certification_report.py` has the results.
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
