# SPDX-License-Identifier: MIT
"""What are the regions, by a method as plain as can be?

`subdivision.py` is the method, in Python's integers, `integers.py` turns networks and domains into these. This is the
judge of the compiled core, and shares no code with it, nor with `regions/passes/`, which it judges too: it walks
through the layers by itself. `regions/certification/` uses `integers.py`, and asks for counts as one of its checks;
that is all that these two have in common.
"""

from regions.reference import arcs as arcs
from regions.reference.subdivision import ReferenceRegion, count, enumerate, patterns

__all__ = ["ReferenceRegion", "count", "enumerate", "patterns"]
