# SPDX-License-Identifier: MIT
"""Exact polyhedral regions of piecewise-linear neural networks.

>>> import regions
>>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.5]), ([[1.0, 1.0]], [0.0])], activation="relu")
>>> regions.count(net, regions.Segment([-1.0], [1.0]))
3

Networks: `load` and `Network`. Domains: `Segment`, `Line`, `Ray`, `Plane`, `Polygon`, `Rectangle` and `circumsquare`,
with `load_points` for points in files; `Box`, `Polytope` and `Space` of three to ten dimensions (a `Box` of up to 1024
for `extremes` and `margin`). Counting and enumerating: `count`, `certified_count` and `enumerate`, which returns a
`Partition`, or in a `Polytope` a `PolytopePartition`, with `load_partition`, its `Certificate`, its `ExactVertices`,
and its `linear_regions` in each published sense; `plot` draws it, and `view` shows it in notebooks. Curves: `Polyline`,
`Arc`, `Circle` and `GreatCircle`; `count` counts their pieces, `trajectory` follows them through the layers, and
`growth` through many random networks from `regions.ensembles`.
Submodules: sizes of boundaries and distances in `regions.measures`, bounds from theorems in `regions.bounds`, errors in
`regions.errors`, the rational reference in `regions.reference`, and networks with known counts in
`regions.constructions` and `regions.arrangements`.
"""

import sys

# `python -m regions` runs this file before any code of the command. Meanwhile argv[0] is "-m".
if sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)] in ("regions", "-mregions"):
    from _regions_command import end_quietly_on_ctrl_c

    end_quietly_on_ctrl_c()

from typing import TYPE_CHECKING, Any

from regions.domains import (
    Arc,
    Box,
    Circle,
    Curve,
    Domain,
    GreatCircle,
    Line,
    Plane,
    Polygon,
    Polyline,
    Polytope,
    Ray,
    Rectangle,
    Segment,
    Space,
    circumsquare,
)
from regions.errors import LimitReached, RegionsError, TimeoutReached
from regions.ground.text.attributes import missing
from regions.installation import explain_missing_core
from regions.networks.closed_loop import closed_loop
from regions.networks.named_activations import Activation
from regions.networks.network import Layer, Network
from regions.results.cells.exact_vertices import ExactVertices
from regions.version import __version__ as __version__

try:
    from regions.counting.count_and_enumerate import certified_count, count, enumerate
except ImportError as error:
    raise explain_missing_core(error) from error
from regions.results.partition import Partition, Region, load_partition
from regions.results.partition.certificate import Certificate
from regions.results.partition.polytopes import PolytopePartition

if TYPE_CHECKING:
    from regions import jobs, measures
    from regions.answers.answer_certificates import write_certificate
    from regions.answers.attributions import Attributions, integrated_gradients
    from regions.answers.comparison import Comparison, compare
    from regions.answers.contained_numbers import contains_numbers
    from regions.answers.decisions import Decisions, decisions
    from regions.answers.decrease import Decrease, decrease
    from regions.answers.extremes import Extremes, extremes
    from regions.answers.function1d import Function1D, function
    from regions.answers.image import Image, image
    from regions.answers.inclusion import Inclusion
    from regions.answers.iteration import Iteration, iterate
    from regions.answers.level_set import LevelSet, level_set
    from regions.answers.level_surface import LevelSurface
    from regions.answers.margins import Margin, margin
    from regions.answers.properties import Property, load_property
    from regions.answers.property_verdict import PropertyVerdict, verify_property
    from regions.answers.rounded_patterns import RoundedPatterns, rounded_patterns
    from regions.answers.statistics import Histogram, Statistics, statistics
    from regions.answers.verdict import Verdict, verify
    from regions.answers.witness import Witness
    from regions.certification import CertificationReport, CurveCertificationReport, StreamCertification, certify
    from regions.checking import CheckReport, check
    from regions.checking.random_signs import SignTwins, sign_twins
    from regions.counting.stream import Stream, stream
    from regions.pictures.page_frame import PageFrame, view
    from regions.pictures.plot import plot
    from regions.read import load
    from regions.read.points import load_points
    from regions.results.definitions import LinearRegions, linear_regions
    from regions.studies.dichotomies import Dichotomies, dichotomies
    from regions.studies.growth import Growth, GrowthLaw, growth
    from regions.studies.training import TrainingRecord, TrainingRow, watch
    from regions.studies.trajectory import Trajectory, trajectory
    from regions.theory import bounds, ensembles

__all__ = [
    "Activation",
    "Arc",
    "Attributions",
    "Box",
    "Certificate",
    "CertificationReport",
    "CurveCertificationReport",
    "CheckReport",
    "Circle",
    "Comparison",
    "Curve",
    "Decisions",
    "Decrease",
    "Dichotomies",
    "Domain",
    "ExactVertices",
    "Extremes",
    "Function1D",
    "GreatCircle",
    "Growth",
    "GrowthLaw",
    "Histogram",
    "Image",
    "Inclusion",
    "Iteration",
    "Layer",
    "LimitReached",
    "LevelSet",
    "LevelSurface",
    "Line",
    "LinearRegions",
    "Margin",
    "Network",
    "PageFrame",
    "Partition",
    "Plane",
    "Polygon",
    "Polyline",
    "Polytope",
    "PolytopePartition",
    "Property",
    "PropertyVerdict",
    "Ray",
    "Rectangle",
    "Region",
    "RegionsError",
    "Segment",
    "SignTwins",
    "Space",
    "RoundedPatterns",
    "Statistics",
    "Stream",
    "StreamCertification",
    "TimeoutReached",
    "TrainingRecord",
    "TrainingRow",
    "Trajectory",
    "Verdict",
    "Witness",
    "bounds",
    "certified_count",
    "certify",
    "check",
    "circumsquare",
    "closed_loop",
    "compare",
    "contains_numbers",
    "count",
    "decisions",
    "decrease",
    "dichotomies",
    "enumerate",
    "ensembles",
    "extremes",
    "function",
    "growth",
    "image",
    "integrated_gradients",
    "iterate",
    "jobs",
    "level_set",
    "linear_regions",
    "load",
    "load_partition",
    "load_points",
    "load_property",
    "margin",
    "measures",
    "plot",
    "sign_twins",
    "rounded_patterns",
    "statistics",
    "stream",
    "trajectory",
    "verify",
    "verify_property",
    "view",
    "watch",
    "write_certificate",
]

# Imported on first use: together they take as long as everything else.
_LATER = {
    name: f"regions.{module}"
    for module, names in {
        "answers.answer_certificates": "write_certificate",
        "answers.attributions": "Attributions integrated_gradients",
        "answers.comparison": "Comparison compare",
        "answers.contained_numbers": "contains_numbers",
        "answers.decisions": "Decisions decisions",
        "answers.decrease": "Decrease decrease",
        "answers.extremes": "Extremes extremes",
        "answers.function1d": "Function1D function",
        "answers.image": "Image image",
        "answers.inclusion": "Inclusion",
        "answers.iteration": "Iteration iterate",
        "answers.level_set": "LevelSet level_set",
        "answers.level_surface": "LevelSurface",
        "answers.margins": "Margin margin",
        "answers.properties": "Property load_property",
        "answers.property_verdict": "PropertyVerdict verify_property",
        "answers.rounded_patterns": "RoundedPatterns rounded_patterns",
        "answers.statistics": "Histogram Statistics statistics",
        "answers.verdict": "Verdict verify",
        "answers.witness": "Witness",
        "certification": "CertificationReport CurveCertificationReport StreamCertification certify",
        "checking": "CheckReport check",
        "checking.random_signs": "SignTwins sign_twins",
        "results.definitions": "LinearRegions linear_regions",
        "counting.stream": "Stream stream",
        "pictures.page_frame": "PageFrame view",
        "pictures.plot": "plot",
        "read": "load",
        "read.points": "load_points",
        "studies.dichotomies": "Dichotomies dichotomies",
        "studies.growth": "Growth GrowthLaw growth",
        "studies.training": "TrainingRecord TrainingRow watch",
        "studies.trajectory": "Trajectory trajectory",
    }.items()
    for name in names.split()
}
_LATER_MODULES = {"arrangements", "bounds", "constructions", "ensembles", "export", "jobs", "measures", "reference"}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    # `read` is for `regions.read.read_tensors`, and `torch` needs torch: neither is listed.
    if name in _LATER_MODULES or name in ("read", "torch"):
        return import_module(f"regions.{name}")
    if name not in _LATER:
        raise missing(__name__, name)
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATER_MODULES, "errors", "__doc__", "__version__"})
