# SPDX-License-Identifier: MIT
"""What does a module say to a name that it does not have?

The message has a similar name of `regions` or `regions.measures`, which share no names.
Cost: none, unless a name is missing.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

__all__ = ["missing"]


def missing(module: str, name: str) -> AttributeError:
    """Return the error for a name that a module does not have, with the name that was probably meant.

    Examples
    --------
    >>> missing("regions.measures", "Box")
    AttributeError("module 'regions.measures' has no attribute 'Box'. Did you mean regions.Box?")
    """
    advice = ""
    if not name.startswith("_"):  # programs look for such names, such as __path__
        places = {each: home for home in ("regions.measures", "regions") for each in import_module(home).__all__}
        near = get_close_matches(name, places, 1)
        advice = f". Did you mean {places[near[0]]}.{near[0]}?" if near else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{advice}")
