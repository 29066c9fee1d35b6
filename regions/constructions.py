# SPDX-License-Identifier: MIT
"""Which networks have a known number of regions?"""

from regions.theory.constructions import *  # noqa: F403
from regions.theory.constructions import __all__ as of_constructions
from regions.theory.maximum_of_five import maximum_of_five as maximum_of_five

__all__ = [*of_constructions, "maximum_of_five"]
