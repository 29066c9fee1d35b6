# SPDX-License-Identifier: MIT
"""By how much does one rounding change a double, and a bound that is itself computed in doubles?"""

__all__ = ["SMALLEST", "TINY", "UP", "U"]

# Unit roundoff: half of the last place of 1. A rounded result is within this of the exact one, relative to its size.
U = 2.0**-53
# The smallest positive double. An operation that underflows is wrong by at most half of it.
SMALLEST = 2.0**-1074
# More than the underflow in a product, also after a multiplication by numbers up to 2^77.
TINY = 1e-300
# A factor for bounds computed in doubles: it covers 2^12 roundings of the bound.
UP = 1.0 + 2.0**-40
