# SPDX-License-Identifier: MIT
"""What are the regions, by the simplest possible method?

`subdivision.py` is the method, in Python's integers; `integers.py` converts networks and domains to integers. The
reference checks the compiled core and `regions/passes/`, so it shares no code with either and walks through the
layers by itself. `regions/certification/` uses `integers.py` and, in one of its checks, asks the reference for counts.
They have nothing else in common.
"""

from regions.certification.reference import arcs as arcs
from regions.certification.reference.subdivision import ReferenceRegion, count, enumerate, patterns

__all__ = ["ReferenceRegion", "count", "enumerate", "patterns"]
