# SPDX-License-Identifier: MIT
"""Where in the core's recursion are the regions of a block?

A node of the recursion is named by its path, the numbers of the children on the way to it. A block has all regions from
the node on where it begins, up to the node where the next block begins; so blocks know who follows whom. The same path
is the same node for one network and domain, with one version of this package and one kernel.
"""

from __future__ import annotations

from typing import Any

from regions.arithmetic.arguments import integer, list_of

__all__ = ["ALL", "Place", "Section", "place_of", "section_of"]

# Of a node; () is the whole domain.
Place = tuple[int, ...]

# Where regions begin, and where those do that follow on them: None where none do.
Section = tuple[Place, Place | None]

# Of all regions.
ALL: Section = ((), None)


def place_of(given: Any, name: str) -> Place:
    """A place, given as any sequence of numbers."""
    steps = list_of(given, name, "the place of an earlier stream, a tuple of numbers")
    return tuple(integer(step, f"{name}[{index}]", least=0, most=2**31 - 1) for index, step in enumerate(steps))


def section_of(given: Any) -> Section | None:
    """A section, given as any pair, or None where it is not known.

    Examples
    --------
    >>> section_of([[0, 1], None])
    ((0, 1), None)
    """
    if given is None:
        return None
    ends = list_of(given, "section", "two places, the second one or None")
    if len(ends) != 2:
        raise ValueError(f"section must be two places, got {len(ends)}")
    begin, end = place_of(ends[0], "section[0]"), None if ends[1] is None else place_of(ends[1], "section[1]")
    if end is not None and end <= begin:
        raise ValueError("section ends before it begins")
    return begin, end
