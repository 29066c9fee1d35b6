# SPDX-License-Identifier: MIT
"""What is a linear region?

There are several definitions. `linear_regions.py` has the published ones, all derived from a partition into activation
regions. Two of them need geometry: `lower_patterns.py` decides from the signs of units at vertices
(`bounded_values.py`), and `level_sets.py` from differences of affine maps there (`differences.py`; in floating point
`bounded_maps.py`, exactly `exact_differences.py` and `shared_forms.py`). `incidence.py` lists which corners meet, and
`shapes.py` makes the merged polygons.
"""

from regions.results.definitions.linear_regions import (
    DEFINITIONS,
    Definition,
    LinearRegions,
    linear_regions,
)

__all__ = ["DEFINITIONS", "Definition", "LinearRegions", "linear_regions"]
