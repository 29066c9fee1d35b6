# SPDX-License-Identifier: MIT
"""Exact polyhedral regions of piecewise-linear neural networks.

>>> import regions
>>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.5]), ([[1.0, 1.0]], [0.0])], activation="relu")
>>> regions.count(net, regions.Segment([-1.0], [1.0]))
3

What there is: `load` and `Network` for networks; `Segment`, `Line`, `Ray`, `Polygon`, `Rectangle` and `circumsquare`
for domains, with `load_points` for points in files; `count` and `enumerate`; `Partition`, what `enumerate` returns,
with `load_partition`; `plot`. The errors are in `regions.errors`, the rational reference in `regions.reference`,
networks with known counts in `regions.constructions`.
"""

from regions.activations import Activation
from regions.domains import Domain, Line, Polygon, Ray, Rectangle, Segment, circumsquare, load_points
from regions.errors import LimitReached, RegionsError
from regions.installation import explain_missing_core
from regions.network import Layer, Network

try:
    from regions.enumeration import count, enumerate
except ImportError as error:
    raise explain_missing_core(error) from error
from regions.partition import Partition
from regions.plot import plot
from regions.read import load
from regions.saved import load_partition

__version__ = "0.1.0"

__all__ = [
    "Activation",
    "Domain",
    "Layer",
    "LimitReached",
    "Line",
    "Network",
    "Partition",
    "Polygon",
    "Ray",
    "Rectangle",
    "RegionsError",
    "Segment",
    "circumsquare",
    "count",
    "enumerate",
    "load",
    "load_partition",
    "load_points",
    "plot",
]
