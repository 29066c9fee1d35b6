# SPDX-License-Identifier: MIT
"""Across which facets does the gradient of the network jump, exactly?

B_N of Hanin and Rolnick: the part of the activation boundary that the network's values show. The rest are facets of
neurons that reach no output there (all paths to it are closed), that cancel, or whose activation does not bend. Since
the network is continuous, the gradient jumps iff the affine maps on the two sides differ, and that is known exactly
(`regions/cells/equal_maps.py`).
Cost: about one forward pass over as many points as there are regions.
"""

from __future__ import annotations

from regions.arithmetic.types import Bits
from regions.partition import Partition, require_complete


def gradient_jumps(partition: Partition) -> Bits:
    """Tell across which facets the gradient of the network jumps, exactly.

    These facets are the boundary B_N of linear regions; the others separate regions with one affine map. It is the
    gradient of the network on the domain: along a plane, that of the network restricted to it.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    bool [F]
        False on the border of the domain.

    Raises
    ------
    TypeError, ValueError
        No partition, or a partial one.

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
