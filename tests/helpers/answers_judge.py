# SPDX-License-Identifier: MIT
"""Which answers about a network (`regions/answers/`) are wrong, according to rational arithmetic?

Each judge takes a network and a domain and yields the errors that it finds. Corners and maps come from
`regions.reference`, gradients from the chain rule in fractions (`chain_rule.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import regions
from chain_rule import exact_gradient, fractions
from image_judge import image_findings
from level_set_judge import level_set_findings
from loop_judge import loop_findings
from polyline_judge import polyline_findings
from regions import Domain, Network, Polyline, Segment
from regions.errors import NonFiniteError
from statistics_judge import statistics_findings

__all__ = ["JUDGES", "attribution_findings", "exact_attributions"]


def exact_attributions(network: Network, legs: list[Segment], output: int) -> list[Fraction]:
    """The integrals of the derivatives of an output along segments, input by input."""
    totals = [Fraction(0)] * network.n_in
    for leg in legs:
        part = regions.enumerate(network, leg)
        ends = [vertex[0] for vertex in part.exact_vertices()]
        direction = fractions(leg.directions[0])
        for bits, (start, stop) in zip(part.patterns, part.cell_vertices.reshape(-1, 2), strict=True):
            gradient = exact_gradient(network, bits, output)
            way = ends[stop] - ends[start]
            totals = [total + way * d * g for total, d, g in zip(totals, direction, gradient, strict=True)]
    return totals


def attribution_findings(network: Network, domain: Domain) -> Iterator[str]:
    """Yield errors of integrated gradients on a path along each direction of a domain's chart in turn."""
    with np.errstate(over="ignore"):
        corners = np.cumsum(np.vstack([domain.origin, domain.directions]), axis=0)
    if not np.isfinite(corners).all() or (np.diff(corners, axis=0) == 0).all(axis=1).any():
        return
    output = network.n_out - 1
    straight = len(corners) == 2
    try:
        if straight:
            legs = [Segment(*corners)]
            found = regions.integrated_gradients(network, corners[1], corners[0], output=output)
        else:
            curve = Polyline(corners)
            legs = [leg for leg in curve.legs if isinstance(leg, Segment)]
            found = regions.integrated_gradients(network, path=curve, output=output)
    except NonFiniteError:
        return
    exact = exact_attributions(network, legs, output)
    for number, (value, error, wanted) in enumerate(zip(found.values, found.errors, exact, strict=True)):
        if error != np.inf and abs(Fraction(value) - wanted) > Fraction(error):
            yield f"the attribution of input {number} is {value}, {float(wanted)} in fractions, and its error {error}"
    if not abs(found.gap) <= found.gap_errors:
        yield f"the gap is {found.gap}, above its bound {found.gap_errors}"
    gap = Fraction(float(found.changes)) - sum(map(Fraction, found.values.tolist()))
    if found.gap_errors != np.inf and abs(gap) > 2 * Fraction(float(found.gap_errors)):
        yield f"the gap is {float(gap)} in fractions, and its bound {found.gap_errors}"


JUDGES = {
    "attributions": attribution_findings,
    "image": image_findings,
    "level_set": level_set_findings,
    "loops": loop_findings,
    "polylines": polyline_findings,
    "statistics": statistics_findings,
}
