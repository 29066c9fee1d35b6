# SPDX-License-Identifier: MIT
"""Which scaling is a batch norm?

In evaluation mode a batch norm is ``y = scale * x + shift`` with ``scale = weight / sqrt(variance + eps)``
and ``shift = bias - mean * scale``. The square root and the products round, in float64, so every fold of one
leaves a note that says so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from regions.arithmetic.arrays import exact_float64
from regions.errors import NetworkError, ShapeMismatchError
from regions.read.scaling import Scaling


def scaling_of_batch_norm(
    name: str,
    mean: ArrayLike,
    variance: ArrayLike,
    weight: ArrayLike | None,
    bias: ArrayLike | None,
    eps: float,
) -> Scaling:
    """Make a scaling of running statistics [n] and, where the norm has them, learnt weight and bias [n].

    Raises
    ------
    ShapeMismatchError, NonFiniteError, NetworkError
        Lengths that differ; numbers that are not finite; a variance that, with ``eps``, is not positive.
    """
    m = exact_float64(mean, f"batch norm {name!r}: running_mean")
    v = exact_float64(variance, f"batch norm {name!r}: running_var")
    w = np.ones_like(m) if weight is None else exact_float64(weight, f"batch norm {name!r}: weight")
    b = np.zeros_like(m) if bias is None else exact_float64(bias, f"batch norm {name!r}: bias")
    if m.ndim != 1 or not m.shape == v.shape == w.shape == b.shape:
        shapes = [list(part.shape) for part in (m, v, w, b)]
        raise ShapeMismatchError(
            f"batch norm {name!r}: mean, variance, weight and bias must have one and the same length, got {shapes}"
        )
    if (v + eps <= 0).any():
        index = int(np.argmax(v + eps <= 0))
        raise NetworkError(f"batch norm {name!r}: running_var[{index}] + eps is {v[index] + eps}, not positive")
    with np.errstate(over="ignore", invalid="ignore"):
        scale = w / np.sqrt(v + eps)
        return Scaling("batch norm", name, scale, b - m * scale, exact=False).checked()
