# SPDX-License-Identifier: MIT
"""Which digits of a number are proven, given a bound on its error?

A number is printed with as many digits as its bound proves: the printed value is off by at most one unit of the last
digit, half of it for the bound and half for rounding. ``~`` stands before a number without a proven digit. Bounds are
rounded upwards before they are printed.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import isfinite

__all__ = ["outwards", "proven_digits", "upper_digit"]


def proven_digits(value: float, error: float, most: int) -> str:
    """Return a number with the digits that ``error``, a bound on its error, proves, up to ``most`` digits.

    Examples
    --------
    >>> proven_digits(1234.5678, 1e-9, 6), proven_digits(1234.5678, 1.0, 6), proven_digits(1234.5678, 2000.0, 6)
    ('1234.57', '1.23e+03', '~1e+03')
    >>> proven_digits(0.0, 0.0, 6), proven_digits(0.0, 3.0, 6), proven_digits(float("inf"), float("inf"), 6)
    ('0', '~0', 'inf')
    """
    if not isfinite(value):
        return f"{value:g}"
    if value == 0.0:
        return "0" if error < 0.5 else "~0"
    # Twice the bound is below 10^place, a unit of the last digit.
    place = Decimal(2.0 * error).adjusted() + 1 if error > 0.0 else None
    proven = most if place is None else Decimal(value).adjusted() - place + 1 if isfinite(2.0 * error) else 0
    return f"{value:.{min(proven, most)}g}" if proven > 0 else f"~{value:.1g}"


def upper_digit(bound: float) -> str:
    """Return a bound, at least 0, with one digit, rounded upwards.

    Examples
    --------
    >>> upper_digit(3.1e-13), upper_digit(0.95), upper_digit(2.0), upper_digit(0.0), upper_digit(float("inf"))
    ('4e-13', '1', '2', '0', 'inf')
    """
    return f"{float(Context(prec=1, rounding=ROUND_CEILING).create_decimal(bound)):.1g}"


def outwards(low: float, high: float) -> tuple[str, str]:
    """Return the ends of an interval with six digits, the lower end rounded down and the upper end up.

    Examples
    --------
    >>> outwards(1.23456789, 1.23456789), outwards(-2.0, float("inf"))
    (('1.23456', '1.23457'), ('-2', 'inf'))
    """
    down, up = (Context(prec=6, rounding=each).create_decimal for each in (ROUND_FLOOR, ROUND_CEILING))
    return f"{float(down(low)):.6g}", f"{float(up(high)):.6g}"
