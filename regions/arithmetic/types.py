# SPDX-License-Identifier: MIT
"""What are the arrays called?

One name for each type of numbers. Shapes stand in docstrings, for types know nothing of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bits", "Exponents", "Floats", "Indices", "Integers", "Objects", "Packed"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# What indexes arrays.
Indices = NDArray[np.intp]
# Of powers of two, as numpy's `frexp` gives and `ldexp` takes them.
Exponents = NDArray[np.intc]
Bits = NDArray[np.bool_]
# Eight bits in a byte, the first one lowest.
Packed = NDArray[np.uint8]
# Python's integers, of any length, or fractions.
Objects = NDArray[np.object_]
