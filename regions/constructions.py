# SPDX-License-Identifier: MIT
"""Which networks have a known number of regions?"""

from regions.theory.constructions import *  # noqa: F403
from regions.theory.constructions import __all__ as __all__
