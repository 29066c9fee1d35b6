# SPDX-License-Identifier: MIT
"""Which of two roots of quadratics is larger?

Roots of quadratics with integer coefficients are numbers (a + k sqrt(d)) / b; the sign of a sum of such numbers is
found by squaring, at most twice. Invariant: integers only, nothing is rounded.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Root", "compare", "sign", "sign_of_sum"]


# Number of leading binary digits that are compared first.
LEADING = 96


class Root(NamedTuple):
    """(a + k sqrt(d)) / b, with b > 0, d >= 0, k = 1 or -1."""

    a: int
    k: int
    d: int
    b: int


def compare(left: Root, right: Root) -> int:
    """Return -1, 0 or 1: the sign of left - right."""
    x = left.a * right.b - right.a * left.b
    y, z = left.k * right.b, -right.k * left.b
    first, second = sign_of_sum(x, y, left.d), sign(z) if right.d else 0
    if first * second >= 0:
        return first or second
    # (x + y sqrt(d))^2 against z^2 d'.
    return first * sign_of_sum(x * x + y * y * left.d - z * z * right.d, 2 * x * y, left.d)


def sign_of_sum(x: int, y: int, d: int) -> int:
    """Return the sign of x + y sqrt(d)."""
    first, second = sign(x), sign(y) if d else 0
    if first * second >= 0:
        return first or second
    # Leading digits first: numbers of thousands of bits are squared only if these digits are too close to call.
    down_y, down_d = max(0, y.bit_length() - LEADING), max(0, d.bit_length() - 2 * LEADING) // 2
    near_x, near_y, near_d = abs(x) >> down_y + down_d, abs(y) >> down_y, d >> 2 * down_d
    if near_x * near_x >= (near_y + 1) ** 2 * (near_d + 1):
        return first
    if near_y * near_y * near_d >= (near_x + 1) ** 2:
        return second
    return first * sign(x * x - y * y * d)


def sign(value: int) -> int:
    """Return -1, 0 or 1."""
    return (value > 0) - (value < 0)
