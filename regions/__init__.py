# SPDX-License-Identifier: MIT
"""Exact polyhedral regions of piecewise-linear neural networks.

>>> import regions
>>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.5]), ([[1.0, 1.0]], [0.0])], activation="relu")
>>> regions.count(net, regions.Segment([-1.0], [1.0]))
3

What there is: `load` and `Network` for networks; `Segment`, `Line`, `Ray`, `Plane`, `Polygon`, `Rectangle` and
`circumsquare` for domains, with `load_points` for points in files; `count` and `enumerate`; `Partition`, what
`enumerate` returns, with `load_partition`, its `Certificate` and its `ExactVertices`; `plot`. The theorems'
bounds are in `regions.bounds`, the errors in `regions.errors`, the rational reference in `regions.reference`, networks
with known counts in `regions.constructions` and `regions.arrangements`.
"""

# First, since what is imported below writes it into certificates.
__version__ = "0.1.0"

from regions import bounds
from regions.activations import Activation
from regions.certificate import Certificate
from regions.certification import certify
from regions.domains import Domain, Line, Plane, Polygon, Ray, Rectangle, Segment, circumsquare, load_points
from regions.errors import LimitReached, RegionsError
from regions.exact_vertices import ExactVertices
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

__all__ = [
    "Activation",
    "Certificate",
    "Domain",
    "ExactVertices",
    "Layer",
    "LimitReached",
    "Line",
    "Network",
    "Partition",
    "Plane",
    "Polygon",
    "Ray",
    "Rectangle",
    "RegionsError",
    "Segment",
    "bounds",
    "certify",
    "circumsquare",
    "count",
    "enumerate",
    "load",
    "load_partition",
    "load_points",
    "plot",
]
