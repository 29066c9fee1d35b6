# SPDX-License-Identifier: MIT
"""In which ways can a result be wrong, and which items of its certification have to notice?

`IN_PLANE` and `ON_LINE` map a name to a function that makes something wrong out of a `Case` and to the items that must
be among those that fail. They are filled by the files that are imported here; their parts are in
`damage_parts.py`.
"""

from __future__ import annotations

import damages_in_arrays  # noqa: F401 - importing registers the damages
import damages_of_wholes  # noqa: F401
import damages_on_line  # noqa: F401
from damage_parts import IN_PLANE, ON_LINE

__all__ = ["IN_PLANE", "ON_LINE"]
