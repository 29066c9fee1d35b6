# SPDX-License-Identifier: MIT
"""What are the regions, by the simplest possible method?"""

from regions.certification.reference import *  # noqa: F403
from regions.certification.reference import __all__ as __all__
