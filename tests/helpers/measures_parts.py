# SPDX-License-Identifier: MIT
"""What do the tests of sampled measures share?"""

from __future__ import annotations

from regions.measures import Estimate, Hyperrectangle

__all__ = ["PLANE_BOX", "close"]

PLANE_BOX = Hyperrectangle([-1, -1], [1, 1])


def close(estimate: Estimate, expected: float, relative_error: float) -> bool:
    """Check that an estimate is within three standard errors, and that these are not too large."""
    assert estimate.standard_error < relative_error * abs(expected)
    return abs(estimate.deviation(expected)) < 3.0
