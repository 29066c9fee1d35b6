# SPDX-License-Identifier: MIT
"""Which hyperplane arrangements have region counts that textbooks know?"""

from regions.theory.arrangements import *  # noqa: F403
from regions.theory.arrangements import __all__ as __all__
