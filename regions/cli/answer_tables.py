# SPDX-License-Identifier: MIT
"""How do the answers of the commands become tables?

Each function returns the rows of a table, the first row with the names of the columns. `answer_commands.py` prints
them in columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from regions import (
    Attributions,
    Comparison,
    Curve,
    Decisions,
    Extremes,
    Function1D,
    Image,
    Iteration,
    LevelSet,
    LevelSurface,
    Margin,
    Statistics,
)
from regions.domains.shape import SHAPES
from regions.ground.arithmetic.types import Floats

__all__ = [
    "attributions_rows",
    "comparison_rows",
    "decisions_rows",
    "extremes_rows",
    "function_rows",
    "image_rows",
    "iteration_rows",
    "level_set_rows",
    "margin_rows",
    "statistics_rows",
]

# A table shows at most this many knots of a function; --json has all of them.
SHOWN = 40
# A line shows at most this many coordinates.
COORDINATES = 4

Row = Sequence[str]


def extremes_rows(found: Extremes) -> list[Row]:
    short = found.argmin.shape[1] <= COORDINATES
    places = (found.argmin, found.argmax) if short else (found.chart_argmin, found.chart_argmax)
    where = "at" if short else "at t =" if isinstance(found.domain, Curve) else "at chart point"
    rows: list[Row] = [("output", "minimum", where, "maximum", where)]
    values = zip(found.words(), found.minimum, places[0], found.maximum, places[1], strict=True)
    for number, ((least, greatest), low, argmin, high, argmax) in enumerate(values):
        rows.append((str(number), least, _point(argmin, low), greatest, _point(argmax, high)))
    if not found.decided:
        rows.append(
            ("", f"not decided by bounds on {found.bounded_parts:,} parts; raise --timeout or --limit", "", "", "")
        )
    return rows


def _point(place: Floats, value: float) -> str:
    text = " ".join(f"{x:.5g}" for x in place)
    return text if isfinite(value) else f"towards {text}"


def margin_rows(found: Margin) -> list[Row]:
    rows: list[Row] = [
        (f"class {found.label} everywhere", {True: "yes, proved", False: "no", None: "not decided"}[found.holds]),
        ("least margin", found.words),
        ("over class", str(found.rival)),
    ]
    if len(found.where) <= COORDINATES:
        rows.append(("at", _point(found.where, found.value)))
    return rows


def decisions_rows(found: Decisions) -> list[Row]:
    shape = SHAPES[found.partition.dimension]
    size, of_boundary = shape.size, shape.facet_size or "points"
    sizes = [(found.names[each], *volume) for each, volume in found.class_volumes.items()]
    boundary = [("all", found.volume, found.error)]
    for (low, high), volume in found.between.items():
        boundary.append((f"between {found.names[low]} and {found.names[high]}", *volume))
    return [
        ("class", size, "error at most"),
        *_sizes(sizes),
        ("boundary", of_boundary, "error at most"),
        *_sizes(boundary),
    ]


def _sizes(rows: Sequence[tuple[str, float, float]]) -> list[Row]:
    return [(name, f"{value:.6g}", f"{error:.2g}") for name, value, error in rows]


def comparison_rows(found: Comparison) -> list[Row]:
    parts = found.extremes.bounded_parts
    if found.equal:
        what = "parts" if parts else "regions" + " of the legs" * (len(found.extremes.parts) > 1)
        return [("equal", f"yes, proved on {parts or found.extremes.regions_met:,} {what}")]
    rows: list[Row] = [("output", "largest difference", "error at most")]
    pairs = zip(found.max_difference.tolist(), found.errors.tolist(), strict=True)
    rows += [(str(number), f"{value:.6g}", f"{error:.2g}") for number, (value, error) in enumerate(pairs)]
    if parts:
        decided = "decided" if found.extremes.decided else "not decided"
        return [*rows, (f"{decided} by bounds on {parts:,} parts", "", "")]
    names = ("the first", "the second", "both")
    rows += [(f"regions of {name}", f"{count:,}", "") for name, count in zip(names, found.regions, strict=True)]
    return rows


def function_rows(found: Function1D) -> list[Row]:
    rows: list[Row] = [("t", "values", "slopes from there")]
    slopes = [*found.slopes.tolist(), []]
    for knot, values, after in list(zip(found.knots.tolist(), found.values.tolist(), slopes, strict=True))[:SHOWN]:
        # At an infinite knot there is a slope, and no value.
        rows.append((f"{knot:.6g}", _words(values) if isfinite(knot) else "", _words(after)))
    if len(slopes) > SHOWN:
        rows.append(("..", f"{len(slopes) - SHOWN:,} more knots; --json and -o have all", ""))
    return rows


def _words(numbers: Sequence[float]) -> str:
    return "  ".join(f"{number:.6g}" for number in numbers)


def statistics_rows(found: Statistics) -> list[Row]:
    names = ["mean", "variance", "total_variation"] if found.partitions[0].domain.bounded else []
    constants, _ = found.lipschitz()
    columns = [*(getattr(found, name) for name in names), constants]
    rows: list[Row] = [("output", *(name.replace("_", " ") for name in names), "Lipschitz constant")]
    for number, values in enumerate(zip(*columns, strict=True)):
        rows.append((str(number), *(f"{value:.6g}" for value in values)))
    return rows


def level_set_rows(found: LevelSet | LevelSurface) -> list[Row]:
    if isinstance(found, LevelSurface):
        return _surface_rows(found)
    size, of_curves = (("length", "points"), ("area", "length"))[found.partition.dimension - 1]
    sizes = [(f"{of_curves} of the level set", found.length, found.error)]
    if found.partition.domain.bounded:
        sizes.append((f"{size} above the threshold", found.area_above, found.area_error))
    counts = [("curves", len(found.curves)), ("parts above", int(found.above.sum()))]
    counts.append(("parts not above", int((~found.above).sum())))
    return [("", "", "error at most"), *_sizes(sizes), *((name, f"{number:,}", "") for name, number in counts)]


def _surface_rows(found: LevelSurface) -> list[Row]:
    sizes = [("area of the level set", found.area, found.error)]
    if found.closed:
        sizes.append(("enclosed volume", *found.enclosed))
    counts = [("polygons", len(found.facets)), ("components", len(found.genera))]
    counts += [("boundary edges", len(found.boundary_edges)), ("Euler characteristic", found.euler_characteristic)]
    return [("", "", "error at most"), *_sizes(sizes), *((name, f"{number:,}", "") for name, number in counts)]


def attributions_rows(found: Attributions) -> list[Row]:
    """The largest attributions first."""
    values, errors = found.values.ravel(), found.errors.ravel()
    order = np.argsort(-np.abs(values), kind="stable")
    rows: list[Row] = [("input", "attribution", "error at most")]
    rows += _sizes([(str(number), values[number], errors[number]) for number in order[:SHOWN].tolist()])
    if len(order) > SHOWN:
        rows.append(("..", f"{len(order) - SHOWN:,} smaller ones; --json has all", ""))
    return [*rows, *_sizes([("all", float(found.changes), float(found.gap_errors))])]


def image_rows(found: Image) -> list[Row]:
    size = ("length", "area")[found.partition.dimension - 1]
    rows: list[Row] = [("", "", "error at most"), *_sizes([(f"{size} of the image", found.volume, found.volume_error)])]
    rows.append(("largest factor", f"{found.distortions.max():.6g}", f"{found.distortion_errors.max():.2g}"))
    rows += [(f"images that are {kind}", f"{count:,}", "") for kind, count in found.kinds.items()]
    return rows


def iteration_rows(found: Iteration) -> list[Row]:
    size = ("length", "area")[found.domain.dimension - 1]
    columns = found.volumes.tolist(), found.minimum.tolist(), found.maximum.tolist()
    rows: list[Row] = [("step", "regions", size, "least coordinates", "greatest coordinates")]
    for step, (volume, low, high) in enumerate(zip(*columns, strict=True)):
        regions_of_step = f"{len(found.images[step].partition):,}"
        rows.append((str(step), regions_of_step, f"{volume:.6g}", _words(low), _words(high)))
    return rows
