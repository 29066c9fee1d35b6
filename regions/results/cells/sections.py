# SPDX-License-Identifier: MIT
"""Which part of the core's recursion do the regions of a block come from?

A node of the recursion is named by its path, the indices of the children on the way to it. A block has all regions from
the node where it begins up to the node where the next block begins, so the order of blocks is known. The same path
is the same node for one network and domain, with one version of this package and one kernel.
"""

from __future__ import annotations

from typing import Any

from regions.ground.arithmetic.arguments import integer, list_of

__all__ = ["ALL", "Place", "Section", "first_node_of", "place_of", "section_of"]

# The path of a node; () is the whole domain.
Place = tuple[int, ...]

# The path where regions begin, and the path where the following regions begin: None if none follow.
Section = tuple[Place, Place | None]

# The section of all regions.
ALL: Section = ((), None)


def place_of(given: Any, name: str) -> Place:
    """Return a place, given as any sequence of integers."""
    steps = list_of(given, name, "the place of an earlier stream, a tuple of numbers")
    return tuple(integer(step, f"{name}[{index}]", least=0, most=2**31 - 1) for index, step in enumerate(steps))


def first_node_of(place: Place) -> Place:
    """Return the highest node with the same first region."""
    steps = len(place)
    while steps and place[steps - 1] == 0:
        steps -= 1
    return place[:steps]


def section_of(given: Any) -> Section | None:
    """Return a section, given as any pair, or None if it is unknown.

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
