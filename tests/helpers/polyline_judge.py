# SPDX-License-Identifier: MIT
"""Which answers on a polyline are wrong, according to rational arithmetic?

The legs of the polyline are along axes of input space, so that their lengths are rational. Regions of each leg come
from `regions.reference`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import regions
from regions import Domain, Network, Polyline, Segment
from regions.errors import DegenerateDomainError, NonFiniteError
from regions.ground.arithmetic.dyadic import nearest_float
from statistics_judge import moment_findings, off, simplices_of

__all__ = ["polyline_findings"]


def along_axes(domain: Domain) -> Polyline | None:
    """Return a polyline from the origin of a domain; None if the origin is too large for steps of size one."""
    steps = np.zeros((4, domain.n_in))
    for number, step in enumerate((1.0, -2.0, 0.75, 3.0)):
        steps[number, (number * (domain.n_in - 1)) // 3] = step
    with np.errstate(over="ignore"):
        corners = np.cumsum(np.vstack([domain.origin, steps]), axis=0)
    try:
        return Polyline(corners)
    except DegenerateDomainError:
        return None


def value_at(form: Any, corner: tuple[Fraction, ...]) -> Fraction:
    return form[0] + form[1] * corner[0]


def polyline_findings(network: Network, domain: Domain) -> Iterator[str]:
    """Yield errors in answers on a polyline near a domain."""
    curve = along_axes(domain)
    if curve is None:
        return
    legs = [leg for leg in curve.legs if isinstance(leg, Segment)]
    lengths = [sum(abs(Fraction(x)) for x in leg.directions[0].tolist()) for leg in legs]
    of_legs = [simplices_of(network, leg) for leg in legs]
    simplices = [
        (size * length, corners, forms)
        for part, length in zip(of_legs, lengths, strict=True)
        for size, corners, forms in part
    ]
    try:
        yield from _extreme_findings(network, curve, simplices)
        yield from _statistics_findings(network, curve, simplices, of_legs, lengths)
        yield from _function_findings(network, curve, of_legs)
    except NonFiniteError:
        return


def _extreme_findings(network: Network, curve: Polyline, simplices: list[Any]) -> Iterator[str]:
    found, last = regions.extremes(network, curve), network.n_out - 1
    for output in range(network.n_out):
        values = [value_at(forms[output], corner) for _, corners, forms in simplices for corner in corners]
        if (found.exact_minimum[output], found.exact_maximum[output]) != (min(values), max(values)):
            yield f"extremes of output {output}: {found.minimum[output]}, {found.maximum[output]}"
    reversed_ = network.outputs(list(range(network.n_out))[::-1])
    differences = [
        abs(value_at(forms[0], corner) - value_at(forms[last], corner))
        for _, corners, forms in simplices
        for corner in corners
    ]
    compared = regions.compare(network, reversed_, curve)
    if compared.equal and any(differences):
        yield "networks that differ are found to be equal"
    largest, error = float(compared.max_difference[0]), float(compared.errors[0])
    if max(differences) < 2**1023 and off(largest, error, max(differences)):
        yield f"the largest difference is {largest}, {nearest_float(max(differences))} in fractions"
    yield from _verdict_findings(network, curve, simplices, found.exact_maximum[last])


def _verdict_findings(
    network: Network, curve: Polyline, simplices: list[Any], largest: Fraction | None
) -> Iterator[str]:
    """Yield errors in verdicts; values at or above a threshold are unsafe."""
    assert largest is not None
    form = -np.eye(1, network.n_out, network.n_out - 1)
    for threshold in (0.0, float(np.clip(nearest_float(largest), -1e300, 1e300))):
        found = regions.verify(network, curve, [(form, [-threshold])])
        if found.holds != (largest < Fraction(threshold)):
            yield f"at least {threshold}: holds is {found.holds}, the maximum {nearest_float(largest)}"
        if found.witness is not None and found.witness.outputs[-1] < Fraction(threshold):
            yield f"at least {threshold}: the witness is safe"


def _statistics_findings(
    network: Network, curve: Polyline, simplices: list[Any], of_legs: list[Any], lengths: list[Fraction]
) -> Iterator[str]:
    found = regions.statistics(network, curve)
    yield from moment_findings(found, simplices, sum(lengths, Fraction(0)))
    constants, errors = found.lipschitz()
    for output in range(network.n_out):
        slopes = [
            (abs(forms[output][1]) / length, size * length)
            for part, length in zip(of_legs, lengths, strict=True)
            for size, _, forms in part
        ]
        steepest, total = max(slope for slope, _ in slopes), sum(slope * size for slope, size in slopes)
        if off(constants[output], errors[output], steepest):
            yield f"the Lipschitz constant of output {output} is {constants[output]}, not {nearest_float(steepest)}"
        if off(found.total_variation[output], found.total_variation_errors[output], Fraction(total)):
            yield f"the total variation of output {output} is {found.total_variation[output]}"


def _function_findings(network: Network, curve: Polyline, of_legs: list[Any]) -> Iterator[str]:
    found, count = regions.function(network, curve), len(curve.legs)
    legs = [*found.legs.tolist(), count - 1]
    for place, (leg, vertex) in enumerate(zip(legs, found.vertices.tolist(), strict=True)):
        part = found.partitions[leg]
        (at,) = part.exact_vertices([vertex])[0]
        if off(found.knots[place], found.knot_errors[place], (leg + at) / count):
            yield f"knot {place} is {found.knots[place]} +- {found.knot_errors[place]}"
    for piece, leg in enumerate(found.legs.tolist()):
        ends = [found.partitions[leg].exact_vertices([found.vertices[piece]])[0][0]]
        following = piece + 1
        inside = following < len(found) and found.legs[following] == leg
        ends.append(found.partitions[leg].exact_vertices([found.vertices[following]])[0][0] if inside else Fraction(1))
        forms = _forms(of_legs[leg], sum(ends, Fraction(0)) / 2)
        for place, end in zip((piece, following), ends, strict=True):
            for output, form in enumerate(forms):
                if off(found.values[place, output], found.errors[place, output], form[0] + form[1] * end):
                    yield f"output {output} at knot {place} is {found.values[place, output]}"
        for output, form in enumerate(forms):
            if off(found.slopes[piece, output], found.slope_errors[piece, output], form[1] * count):
                yield f"slope {piece} of output {output} is {found.slopes[piece, output]}"


def _forms(simplices: list[Any], place: Fraction) -> Any:
    """Return the outputs on the piece of a leg that contains a chart point, as forms of the reference."""
    for _, corners, forms in simplices:
        ends = [corner[0] for corner in corners]
        if min(ends) <= place <= max(ends):
            return forms
    raise AssertionError("no piece has this point")
