# SPDX-License-Identifier: MIT
"""What is a law of random networks?"""

from regions.theory.ensembles import *  # noqa: F403
from regions.theory.ensembles import __all__ as __all__
