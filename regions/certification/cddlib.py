# SPDX-License-Identifier: MIT
"""What does cddlib say about the inequalities of a region?

This is an optional second opinion: the double description method of Fukuda's cddlib, in exact fractions, turns all
inequalities of a region into its corners, which must agree with the partition. Several packages are imported as `cdd`,
but only `pycddlib` has exact fractions, in `cdd.gmp`; without it the report says that cddlib was not asked.
Cost: about a millisecond per region and 30 inequalities, so only a few regions are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from regions.certification.certification_report import Findings
from regions.certification.exact_regions import ExactRegions

__all__ = ["ask_cddlib"]

# Most inequalities of a region: more would take many seconds.
MOST = 5_000
NOT_ASKED = "cddlib is not asked, as pycddlib is not installed (the extra cdd)"


def ask_cddlib(exact: ExactRegions, regions: Sequence[int], findings: Findings) -> str:
    """Compare the corners of some checked regions with cddlib's corners; describe in words what was done."""
    try:
        from cdd import RepType
        from cdd.gmp import copy_generators, matrix_from_array, polyhedron_from_matrix
    except ImportError:
        return NOT_ASKED
    inequalities = exact.partition.network.kinks + len(exact.forms.edges)
    if inequalities > MOST:
        return f"cddlib is not asked about {inequalities:,} inequalities"
    patterns = [exact.pattern(region) for region in regions]
    for index, forms in exact.forms.walk(patterns):
        binding = exact.forms.binding(patterns[index])
        signed = [
            form if active else tuple(-a for a in form)
            for form, active, binds in zip(forms, patterns[index], binding, strict=True)
            if binds
        ]
        rows = [[Fraction(a) for a in form] for form in (*signed, *exact.forms.edges)]
        polyhedron = polyhedron_from_matrix(matrix_from_array(rows, rep_type=RepType.INEQUALITY))
        theirs = {tuple(map(Fraction, row)) for row in copy_generators(polyhedron).array}
        mine = {tuple(Fraction(x, corner[0]) for x in corner) for corner in exact.corners(regions[index])}
        if mine != theirs:
            findings.wrong("inequalities", f"cddlib finds other corners for region {regions[index]}")
    return f"cddlib agrees on {len(regions)} of them"
