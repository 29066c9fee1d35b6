# SPDX-License-Identifier: MIT
"""Where do two classes meet in three dimensions, as a surface?

The facets between regions of the two classes are polygons, whose vertices and edges the core shares. On these polygons
the scores of the two classes are equal, and on one side the score of the later class is larger (`answers/classes.py`),
so the difference of the scores orients each polygon.
Invariant: the surface ends where a third class begins, or at the boundary of the domain.
Cost: another run of the core for the maps of the difference, and microseconds for each polygon.
"""

from __future__ import annotations

import numpy as np

from regions.answers.level_surface import LevelSurface
from regions.answers.surface_mesh import oriented_mesh
from regions.ground.arithmetic.types import Integers
from regions.networks.parts import ending
from regions.results.cells.output_maps import OutputMaps, output_maps
from regions.results.partition import Partition

__all__ = ["decision_surface"]


def decision_surface(partition: Partition, classes: Integers, facets: Integers, unit: int) -> LevelSurface:
    """Return facets between two classes as a surface whose normals point to the later class.

    Parameters
    ----------
    partition : Partition
        In three dimensions. Its network's last hidden node compares scores.
    classes : int64 [R]
    facets : int64 [m]
        Between regions of two classes.
    unit : int
        The unit of the last hidden node that is the score of the later class minus the other score.
    """
    graph = partition.network.graph
    pairs = partition.facet_regions[facets]
    pairs = np.where((classes[pairs[:, 0]] > classes[pairs[:, 1]])[:, np.newaxis], pairs, pairs[:, ::-1])
    maps = output_maps(partition, ending(graph, len(graph.hidden), [unit]))
    if maps is None:  # nothing is known of the maps, so each polygon is oriented in integers
        maps = OutputMaps(*(np.full((len(partition), 1, 4), value) for value in (0.0, np.inf)))
    kink = graph.hidden[-1].kinks.start + unit
    used, mesh = oriented_mesh(partition, facets, pairs[:, 0], kink, maps)
    places = partition.vertices[used], partition.vertex_errors[used]
    return LevelSurface(partition, 0.0, facets, pairs, *places, used, mesh)
