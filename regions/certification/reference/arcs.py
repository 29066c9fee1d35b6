# SPDX-License-Identifier: MIT
"""Which pieces does a network make of an arc, computed as simply as possible?

This is exact arithmetic, layer by layer, in pure Python; it shares nothing with the compiled core. The core represents
a point by the line that meets the circle there. Here an arc is parametrised along its chord: the directions of its
points are d(s) = (1 - s) p + s q with s from 0 to 1. A form a + b X + c Y has at d(s) / |d(s)| the sign of
a |d(s)| + b dx(s) + c dy(s). Its zeros are roots of a quadratic with integer coefficients, numbers (A + k sqrt(D)) / B
with k = 1 or -1. They are compared by squaring, and signs are decided at a fraction between each two of them.
Consecutive parts with the same bits are one piece.
Cost: milliseconds for small networks.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from math import comb, isqrt
from typing import NamedTuple

from regions.certification.reference.integers import Form, IntegerLayer, to_integers
from regions.certification.reference.subdivision import activations, argmax_bits, preactivations
from regions.domains.curves import ArcLeg
from regions.domains.domain import WHOLE_PLANE, Domain
from regions.ground.arithmetic.quadratic import Root, compare, sign, sign_of_sum
from regions.networks.network import Network

__all__ = ["ArcPiece", "arc_pieces", "chart_point"]


class ArcPiece(NamedTuple):
    """A part of an arc with one activation pattern: its ends along the chord, and the bits of all kinks."""

    start: Root
    end: Root
    pattern: tuple[bool, ...]


class _Arc(NamedTuple):
    start: tuple[int, int]
    end: tuple[int, int]


def arc_pieces(net: Network, leg: ArcLeg) -> list[ArcPiece]:
    """Return the pieces of the network on an arc, from its start to its end."""
    task = to_integers(net, Domain(leg.origin, leg.directions, WHOLE_PLANE))
    arc = _Arc(*(_integers(*end) for end in leg.ends.tolist()))
    pieces = [(ArcPiece(Root(0, 1, 0, 1), Root(1, 1, 0, 1), ()), task.inputs)]
    for layer in task.layers[:-1]:
        pieces = [part for piece, values in pieces for part in _through_layer(layer, arc, piece, values)]
    return [piece for piece, _ in pieces]


def chart_point(leg: ArcLeg, place: Root, bits: int) -> tuple[Fraction, ...]:
    """Return the point of the unit circle at a place along the chord, each coordinate to within 2^(8 - bits)."""
    share = _near(place, bits + 64)
    start, end = (_integers(*end) for end in leg.ends.tolist())
    along = [(1 - share) * p + share * q for p, q in zip(start, end, strict=True)]
    square = sum((a * a for a in along), Fraction(0))
    shift = bits + max(0, square.denominator.bit_length())
    size = Fraction(isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)
    return tuple(a / size for a in along)


def _through_layer(
    layer: IntegerLayer, arc: _Arc, piece: ArcPiece, values: list[Form]
) -> list[tuple[ArcPiece, list[Form]]]:
    forms = preactivations(layer, values)
    if layer.starts is None:
        each = zip(forms, layer.breakpoints, strict=True)
        kinks = [(form[0] - value, *form[1:]) for form, breakpoints in each for value in breakpoints]
    else:
        branches = [forms[start:end] for start, end in pairwise(layer.starts)]
        kinks = [_minus(form, other) for own in branches for i, form in enumerate(own) for other in own[:i]]
    cuts = [root for kink in kinks for root in _zeros(kink, arc) if _is_between(piece.start, root, piece.end)]
    cuts.sort(key=cmp_to_key(compare))
    ends = [piece.start, *cuts, piece.end]
    found: list[ArcPiece] = []
    for start, end in zip(ends, ends[1:], strict=False):
        if compare(start, end) == 0:
            continue
        inside = _fraction_between(start, end)
        above = [_sign_at(kink, arc, inside) > 0 for kink in kinks]
        pattern = piece.pattern + tuple(above if layer.starts is None else _maxima_bits(layer, above))
        if found and found[-1].pattern == pattern:  # a line only touches the circle here
            start = found.pop().start
        found.append(ArcPiece(start, end, pattern))
    return [(part, activations(layer, forms, part.pattern[len(piece.pattern) :])) for part in found]


def _minus(form: Form, other: Form) -> Form:
    return tuple(a - b for a, b in zip(form, other, strict=True))


def _maxima_bits(layer: IntegerLayer, above: list[bool]) -> Iterator[bool]:
    """Yield the bits of maxima, given for each pair of branches whether the later one is larger."""
    assert layer.starts is not None
    first = 0
    for (start, end), kinks in zip(pairwise(layer.starts), layer.kinks, strict=True):
        branches, own = end - start, above[first : first + kinks]
        first += kinks
        argmax = 0
        for later in range(1, branches):
            if own[comb(later, 2) + argmax]:
                argmax = later
        yield from argmax_bits(argmax, branches)


def _zeros(kink: Form, arc: _Arc) -> list[Root]:
    """Return where a form is zero along the chord, and along the line through the chord's ends."""
    a, b, c = kink
    (px, py), (qx, qy) = arc
    # The linear part l0 + l1 s, and |d(s)|^2 = m0 + m1 s + m2 s^2.
    l0, l1 = b * px + c * py, b * (qx - px) + c * (qy - py)
    m0, m1, m2 = px * px + py * py, 2 * (px * (qx - px) + py * (qy - py)), (qx - px) ** 2 + (qy - py) ** 2
    p0, p1, p2 = l0 * l0 - a * a * m0, 2 * l0 * l1 - a * a * m1, l1 * l1 - a * a * m2
    if p2 == 0:
        roots = [Root(-p0 if p1 > 0 else p0, 1, 0, abs(p1))] if p1 else []
    else:
        discriminant = p1 * p1 - 4 * p0 * p2
        orientation = 1 if p2 > 0 else -1
        signs = (1, -1) if discriminant > 0 else (1,) if discriminant == 0 else ()
        roots = [Root(-p1 * orientation, k, discriminant, 2 * p2 * orientation) for k in signs]
    # Squaring adds the zeros of the form with -a.
    return [root for root in roots if sign(a) == -sign_of_sum(l0 * root.b + l1 * root.a, l1 * root.k, root.d)]


def _sign_at(kink: Form, arc: _Arc, share: Fraction) -> int:
    a, b, c = kink
    n, m = share.numerator, share.denominator
    x, y = ((m - n) * p + n * q for p, q in zip(arc.start, arc.end, strict=True))
    return sign_of_sum(b * x + c * y, a, x * x + y * y)


def _is_between(start: Root, root: Root, end: Root) -> bool:
    return compare(start, root) < 0 < compare(end, root)


def _fraction_between(start: Root, end: Root) -> Fraction:
    """Return a fraction above one number and below another."""
    bits = 64
    while True:
        middle = (_near(start, bits) + _near(end, bits)) / 2
        root = Root(middle.numerator, 1, 0, middle.denominator)
        if _is_between(start, root, end):
            return middle
        bits *= 2


def _near(root: Root, bits: int) -> Fraction:
    scaled = isqrt(root.d << (2 * bits))
    return Fraction((root.a << bits) + root.k * scaled, root.b << bits)


def _integers(x: float, y: float) -> tuple[int, int]:
    """Return a direction as integers."""
    (a, b), (c, d) = x.as_integer_ratio(), y.as_integer_ratio()
    together = max(b, d)  # powers of two
    return a * (together // b), c * (together // d)
