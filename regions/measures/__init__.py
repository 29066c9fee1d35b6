# SPDX-License-Identifier: MIT
"""How much boundary is there between regions, how far is it, and how large are regions?

These are free functions, ``regions.measures.NAME``. Functions of a `Partition` measure the enumerated regions.
Functions of a network and a ball, a box or points consider the whole input space, in any dimension. There are two
boundaries: ``"activation"``, between activation regions, and ``"gradient"``, the part of it where the gradient of the
network jumps, which is B_N of Hanin and Rolnick. Facets, neurons, vertices and neighbours are exact; lengths are
rounded, with proven bounds. A sampled number is an `Estimate`, with its samples, standard error and confidence
interval.

>>> import regions
>>> from regions import measures
>>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
>>> part = regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
>>> measures.boundary_volume(part).neurons, measures.distance_to_boundary(net, [[3.0, 4.0]]).distances
(array([2., 2.]), array([3.]))

There is one file for each question:

    boundary            size of the boundary by layer, neuron and kink; which facets are in B_N; strata; perimeters
    crofton             the boundary's density in a ball or box of many dimensions (`bodies`), from random lines
    hanin_rolnick       both sides of their Theorem 3, over random networks (`pinned_neurons`)
    distance            from points to the boundary, in the whole input space (`distance_bounds`, `exact_distance`)
    domain_distance     from points to either boundary within a line or plane (`nearest_facets`, `facet_distance`) or a
                        box (`solid_distance`)
    point_distances     statistics of these distances for a batch of points
    expansion           spectral gap and conductance of the graph of regions
    functional_dimension  in how many directions of its weights the network can change on a domain
    inscribed_discs     the largest disc in each region, or ball (`inscribed_balls`)
    local_complexity    how many kinks cut a small polytope around a point
    regions_in_discs    how many regions meet a disc
    region_graph        neighbours and diameter
    transversality      whether bent hyperplanes are in general position
    side_counts         how many sides regions have, beside the cells of random lines
    strata              the strata of a boundary in three and more dimensions
    unit_states         which units are dead, always on, or switching
    estimate            a sampled number

`StreamSummary` and `summarize`, with counts, sizes, boundary and extremes of regions that come in blocks, are in
`regions/counting/`, whose workers use them.
"""

from typing import TYPE_CHECKING, NoReturn

from regions.counting.stream_summary import ExtremeRegion, StreamSummary
from regions.counting.summarize import summarize
from regions.ground.text.attributes import missing
from regions.measures.bodies import Ball, Hyperrectangle
from regions.measures.boundary import (
    BoundaryVolume,
    boundary_facets,
    boundary_volume,
    gradient_jumps,
    perimeter_errors,
    perimeters,
    switching_kinks,
)
from regions.measures.crofton import crofton_density
from regions.measures.distance import BoundaryDistances, distance_to_boundary
from regions.measures.domain_distance import DomainDistances, distance_in_domain
from regions.measures.estimate import Estimate
from regions.measures.expansion import Expansion, expansion
from regions.measures.functional_dimension import FunctionalDimension, functional_dimension
from regions.measures.hanin_rolnick import hanin_rolnick_integral, mean_boundary_density
from regions.measures.inscribed_discs import InscribedDiscs, inscribed_discs
from regions.measures.local_complexity import LocalComplexity, local_complexity
from regions.measures.region_graph import degrees, diameter
from regions.measures.regions_in_discs import regions_in_discs
from regions.measures.side_counts import SideCounts, side_counts
from regions.measures.transversality import Transversality, transversality
from regions.measures.unit_states import UnitStates, unit_states, unit_states_in_box

__all__ = [
    "Ball",
    "BoundaryDistances",
    "BoundaryVolume",
    "DomainDistances",
    "Estimate",
    "Expansion",
    "ExtremeRegion",
    "FunctionalDimension",
    "Hyperrectangle",
    "InscribedDiscs",
    "LocalComplexity",
    "SideCounts",
    "StreamSummary",
    "Transversality",
    "UnitStates",
    "boundary_facets",
    "boundary_volume",
    "crofton_density",
    "degrees",
    "diameter",
    "distance_in_domain",
    "distance_to_boundary",
    "expansion",
    "functional_dimension",
    "gradient_jumps",
    "hanin_rolnick_integral",
    "inscribed_discs",
    "local_complexity",
    "mean_boundary_density",
    "perimeter_errors",
    "perimeters",
    "regions_in_discs",
    "side_counts",
    "summarize",
    "switching_kinks",
    "transversality",
    "unit_states",
    "unit_states_in_box",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing(__name__, name)
