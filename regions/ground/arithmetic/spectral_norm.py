# SPDX-License-Identifier: MIT
"""How much longer can a matrix make a vector, at most?

The core's error bounds grow from layer to layer by this number (csrc/rows/residuals.hpp), so it must be a proven upper
bound and should be tight. The idea: |A|_2 squared is |A'A|_2, so squaring three times leaves |A|_2 as the eighth
root of a spectral norm, which the Frobenius norm bounds. The result is at most 1.3 times too large for random matrices
up to 1024 wide.
Rounding: matrices and their products are rounded to single precision, which is fast and accurate enough. The error is
bounded for any order of summation by |fl(A'A) - A'A|_F <= gamma_n |A|_F^2, with 8 times the unit roundoff, for complex
matrices too (Higham, Accuracy and Stability of Numerical Algorithms, 2002, sections 3.5 and 3.6). Rounding in the few
operations on doubles is covered by a factor 1 + 2^-20.
Cost: three products of matrices of the smaller side; 3 ms at 256 x 256, 0.1 s at 1024 x 1024. Larger matrices are
squared fewer times, for a looser bound.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["spectral_norm_bound"]

_UNIT = 2.0**-21  # eight times the unit roundoff of single precision
_UPWARDS = 1 + 2.0**-20


def spectral_norm_bound(matrices: NDArray[np.float64 | np.complex128]) -> float:
    """Return an upper bound on the spectral norms of matrices [.., m, n] of finite numbers, real or complex.

    The bound is infinite if it cannot be computed.
    """
    current: NDArray[np.inexact[Any]] = matrices if matrices.shape[-2] >= matrices.shape[-1] else _transposed(matrices)
    steps = []
    for _ in range(3 if current.shape[-1] <= 1024 else 2 if current.shape[-1] <= 2048 else 1):
        largest = float(np.abs(current).max())
        if largest == 0.0 or not np.isfinite(largest):
            return largest
        # A power of two: nothing is rounded, and anything that underflows is below the error already counted.
        scale = math.ldexp(1.0, math.frexp(largest)[1] - 1)
        single = (current / scale).astype(np.complex64 if np.iscomplexobj(current) else np.float32)
        size = _frobenius(single) * _UPWARDS
        steps.append((scale, 2.0**-23 * size, _UNIT * single.shape[-2] * size**2))
        current = _transposed(single).conj() @ single
    bound = _frobenius(current) * _UPWARDS
    for scale, lost_by_rounding, lost_by_product in reversed(steps):
        bound = (math.sqrt(bound + lost_by_product) + lost_by_rounding) * scale * _UPWARDS
        # Below the normal range either product may have lost half of the smallest double.
        bound = math.nextafter(bound, math.inf)
    return bound


def _transposed(matrices: NDArray[Any]) -> NDArray[Any]:
    return np.swapaxes(matrices, -1, -2)


def _frobenius(matrices: NDArray[np.inexact[Any]]) -> float:
    """Return the largest Frobenius norm of the matrices."""
    wide = matrices.astype(np.complex128 if np.iscomplexobj(matrices) else np.float64)
    return float(np.linalg.norm(wide, axis=(-2, -1)).max())
