# SPDX-License-Identifier: MIT
"""What are the arrays called?

Each type of numbers has one name. Docstrings give the shapes, because the types do not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bits", "Exponents", "Floats", "Indices", "Integers", "Objects", "Packed"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Indices into arrays.
Indices = NDArray[np.intp]
# Exponents of two, as numpy's `frexp` returns and `ldexp` takes them.
Exponents = NDArray[np.intc]
Bits = NDArray[np.bool_]
# Eight bits in a byte, the first one lowest.
Packed = NDArray[np.uint8]
# Python integers of any length, or fractions.
Objects = NDArray[np.object_]
