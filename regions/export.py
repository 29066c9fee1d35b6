# SPDX-License-Identifier: MIT
"""How is a partition written to files of other programs?"""

from regions.results.export import *  # noqa: F403
from regions.results.export import __all__ as __all__
