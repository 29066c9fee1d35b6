# SPDX-License-Identifier: MIT
"""Does this thread compute with doubles as IEEE 754 says?

A processor has settings for each thread: the direction of rounding, and whether numbers below the normal range become
0. A library may change them for the whole thread. Then sums of doubles break their error bounds, a comparison takes the
smallest doubles for 0, and a float32 number of that size is widened to 0. The core sets both settings itself, for
its own work. Python code cannot, so calls are refused.
Cost: four operations on doubles.
"""

from __future__ import annotations

from regions.errors import InexactArithmeticError

__all__ = ["require_exact_arithmetic"]

# Read at run time, because the compiler would compute expressions of constants.
_LEAST_NORMAL, _HALF, _ONE, _HALF_STEP = 2.0**-1022, 0.5, 1.0, 2.0**-53


def require_exact_arithmetic() -> None:
    """Refuse threads that round to another direction than to the nearest double, or lose subnormal numbers.

    Raises
    ------
    InexactArithmeticError
        The message says which setting it is, and how to change it.
    """
    if not _LEAST_NORMAL * _HALF > 0.0:
        raise InexactArithmeticError(
            "this thread replaces numbers below 2.2e-308 by 0, so results would not be exact. A library has set this, "
            "for example torch.set_flush_denormal(True), or a session of onnxruntime with "
            "session.set_denormal_as_zero. Call torch.set_flush_denormal(False), or use a process without that library"
        )
    if _ONE + _HALF_STEP != _ONE or _ONE - _HALF_STEP * _HALF != _ONE:
        raise InexactArithmeticError(
            "this thread does not round to the nearest double, so results would not be exact. A library has called "
            "fesetround. Set it back to FE_TONEAREST, or use a process without that library"
        )
