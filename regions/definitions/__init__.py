# SPDX-License-Identifier: MIT
"""What is a linear region?

One of several things. `linear_regions.py` has the published definitions, all derived from a partition into activation
regions; `lower_patterns.py` and `level_sets.py` decide what takes geometry, from values at vertices
(`certified_values.py`, `differences.py`, `incidence.py`); `shapes.py` has the merged polygons.
"""

from regions.definitions.linear_regions import (
    DEFINITIONS,
    Definition,
    LinearRegions,
    checked_definition,
    linear_regions,
)

__all__ = ["DEFINITIONS", "Definition", "LinearRegions", "checked_definition", "linear_regions"]
