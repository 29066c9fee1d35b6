# SPDX-License-Identifier: MIT
"""In which ways can a result be wrong, and which items of its certification must notice it?

`IN_PLANE` and `ON_LINE` map a name to a function that damages a `Case`, and to the items that must fail. They are
filled by the files imported here; common parts are in `damage_parts.py`.
"""

from __future__ import annotations

import damages_in_arrays  # noqa: F401 - importing registers the damages
import damages_of_wholes  # noqa: F401
import damages_on_line  # noqa: F401
from damage_parts import IN_PLANE, ON_LINE

__all__ = ["IN_PLANE", "ON_LINE"]
