# SPDX-License-Identifier: MIT
"""Across which facets does the gradient of the network jump, exactly?

This is B_N of Hanin and Rolnick: the part of the activation boundary that shows in the network's values. The other
facets belong to neurons that reach no output there (all paths to it are closed), that cancel, or whose activation does
not bend. Because the network is continuous, the gradient jumps iff the affine maps on the two sides differ, which is
known exactly (`regions/cells/equal_maps.py`).
Cost: about one forward pass over as many points as there are regions.
"""

from __future__ import annotations

from regions.arithmetic.types import Bits
from regions.partition import Partition, require_complete


def gradient_jumps(partition: Partition) -> Bits:
    """Return across which facets the gradient of the network jumps, exactly.

    These facets are the boundary B_N of linear regions; the others separate regions with one affine map. The gradient
    is taken on the domain: along a plane, it is the gradient of the network restricted to the plane.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    bool [F]
        False on the domain boundary.

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one.

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, section 2.2.

    Examples
    --------
    The two neurons at 0 cancel, the one at 1 stays:

    >>> import regions
    >>> net = regions.Network([([[1.0], [1.0], [1.0]], [0.0, 0.0, -1.0]), ([[1.0, -1.0, 1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Segment([-2.0], [2.0]))
    >>> part.vertices[part.facet_vertices[gradient_jumps(part), 0]].tolist()
    [[0.75]]
    """
    require_complete(partition)
    maps = partition.map_numbers
    first, second = partition.facet_regions.T
    return (second >= 0) & (maps[first] != maps[second])
