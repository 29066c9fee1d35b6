# SPDX-License-Identifier: MIT
"""What are the regions, by a method as plain as can be?

`subdivision.py` is the method, in Python's integers, `integers.py` turns networks and domains into these. This is the
judge of the compiled core, and shares no code with it.
"""

from regions.reference.subdivision import ReferenceRegion, count, enumerate, patterns

__all__ = ["ReferenceRegion", "count", "enumerate", "patterns"]
