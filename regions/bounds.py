# SPDX-License-Identifier: MIT
"""What does theory say about the number of regions, their boundary, their graph and the length of curves?"""

from regions.theory.bounds import *  # noqa: F403
from regions.theory.bounds import __all__ as __all__
