# SPDX-License-Identifier: MIT
"""Is a point of the chart in a domain, exactly?

The corners of a domain and the forms of a polytope are doubles, so that fractions decide without rounding. The boundary
belongs to the domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from regions.domains.domain import Domain
from regions.domains.polytopes import Polytope

__all__ = ["contains"]


def contains(domain: Domain | Polytope, place: Sequence[Fraction]) -> bool:
    """Return whether a point of the chart, Fraction [d], is in a domain, its boundary included."""
    if isinstance(domain, Polytope):
        return all(_value(form, place) >= 0 for form in domain.forms.tolist())
    rows = domain.generators.tolist()
    if domain.dimension == 1:
        (low_weight, low), (high_weight, high) = rows
        return not (low_weight and place[0] < low) and not (high_weight and place[0] > high)
    if not domain.bounded:
        return True
    corners = [(Fraction(x), Fraction(y)) for _, x, y in rows]
    return all(
        (b[0] - a[0]) * (place[1] - a[1]) >= (b[1] - a[1]) * (place[0] - a[0])
        for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)
    )


def _value(form: Sequence[float], place: Sequence[Fraction]) -> Fraction:
    constant, *slopes = map(Fraction, form)
    return constant + sum((a * x for a, x in zip(slopes, place, strict=True)), Fraction(0))
