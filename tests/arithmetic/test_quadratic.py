# SPDX-License-Identifier: MIT
"""Do signs of x + y sqrt(d) agree with squaring, for numbers of any length and arbitrarily close to zero?"""

from __future__ import annotations

import random
from math import isqrt

from regions.ground.arithmetic.quadratic import LEADING, sign, sign_of_sum


def test_signs_near_zero_and_far_from_it() -> None:
    draw = random.Random(1)
    for _ in range(5_000):
        y = draw.getrandbits(draw.choice([1, 60, LEADING, LEADING + 1, 400, 1000]))
        root = draw.getrandbits(draw.choice([1, LEADING - 1, LEADING, LEADING + 2, 300]))
        d = root * root + draw.choice([0, 0, 1, draw.getrandbits(40)])
        x = isqrt(y * y * d) + draw.choice([-3, -1, 0, 1, 2, draw.getrandbits(20), draw.getrandbits(900)])
        # The sign of -x + y sqrt(d) is the sign of its product with x + y sqrt(d).
        expected = sign(y * y * d - x * x) if x > 0 else sign(-x) or sign(y * y * d)
        if x >= 0:
            assert (sign_of_sum(-x, y, d), sign_of_sum(x, -y, d)) == (expected, -expected), (x, y, d)
