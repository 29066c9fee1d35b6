# SPDX-License-Identifier: MIT
"""How do the commands answer questions about outputs?

`regions extremes`, `decisions`, `compare`, `function`, `statistics`, `image` and `iterate` call the functions of these
names and print tables. At the limit they print only that there are more regions, because an answer about some regions
does not hold for the domain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TypeVar

import click
import numpy as np

import regions
from regions import (
    Attributions,
    Comparison,
    Curve,
    Decisions,
    Domain,
    Extremes,
    Function1D,
    Image,
    Iteration,
    LevelSet,
    LimitReached,
    Network,
    Segment,
    Statistics,
)
from regions.arithmetic.types import Floats
from regions.cli.domain_words import (
    POINT_SYNTAX,
    DomainCommand,
    curve_options,
    domain_options,
    domain_or_polyline_options,
    line_options,
    make_domain,
    make_domain_or_curve,
)
from regions.cli.facts import announce, say
from regions.cli.job import EXIT_LIMIT, progress_bar
from regions.cli.options import (
    common_options,
    common_options_with_models,
    limit_option,
    load_model,
    load_models,
    workers_option,
)
from regions.networks.closed_loop import MOST_STEPS
from regions.text.progress import Report
from regions.text.tables import JsonReport, aligned, json_text

__all__ = ["ANSWER_COMMANDS"]

EPILOG = f"Points: {POINT_SYNTAX}."
# Knots of a function that a table has room for; --json has all of them.
SHOWN = 40
# Coordinates that a line has room for.
COORDINATES = 4

Row = Sequence[str]


def _finite(ctx: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not isfinite(value):
        raise click.BadParameter(f"{value!r} is not a finite number", ctx, parameter)
    return value


output_option = click.option(
    "--output-index",
    type=click.IntRange(min=0),
    metavar="N",
    help="Number of the output, from 0. It may be left out if there is only one.",
)
Found = TypeVar("Found", bound=JsonReport)


def _answer(
    networks: Sequence[Network],
    domain: Domain | Curve,
    find: Callable[[Report | None], Found],
    table: Callable[[Found], list[Row]],
    as_json: bool,
) -> None:
    """Find an answer, and print it as a table or as JSON."""
    for network in networks:
        announce(network, *[domain] * (network is networks[-1]), quiet=as_json)
    try:
        with progress_bar() as report:
            found = find(report)
    except LimitReached as error:
        click.echo(f"No answer: there are more than {error.limit:,} regions. Raise --limit.", err=True)
        click.get_current_context().exit(EXIT_LIMIT)
    if as_json:
        notes = [note for network in networks for note in network.notes]
        say(json_text({"notes": notes, **found.as_dict()}))
        return
    say()
    for line in aligned(table(found)):
        say(f"  {line}")


@click.command("extremes", cls=DomainCommand, epilog=EPILOG)
@common_options
@domain_or_polyline_options
@limit_option
@workers_option
@click.pass_context
def extremes_command(ctx: click.Context, limit: int | None, threads: int, as_json: bool) -> None:
    """Find the least and the greatest value of each output, and where.

    Values that rounding cannot tell apart are compared exactly.

    \b
    regions extremes model.pt --activation relu --square points.csv
    regions extremes model.onnx --segment points.csv:0 points.csv:1 --json
    """
    network = load_model()
    domain = make_domain_or_curve(ctx, network.input_shape)

    def find(report: Report | None) -> Extremes:
        return regions.extremes(network, domain, limit=limit, progress=report, workers=threads)

    _answer([network], domain, find, _extremes, as_json)


def _extremes(found: Extremes) -> list[Row]:
    short = found.argmin.shape[1] <= COORDINATES
    places = (found.argmin, found.argmax) if short else (found.chart_argmin, found.chart_argmax)
    where = "at" if short else "at t =" if isinstance(found.domain, Curve) else "at chart point"
    rows: list[Row] = [("output", "minimum", where, "maximum", where)]
    values = zip(found.minimum, places[0], found.maximum, places[1], strict=True)
    for number, (low, argmin, high, argmax) in enumerate(values):
        rows.append((str(number), f"{low:.6g}", _point(argmin, low), f"{high:.6g}", _point(argmax, high)))
    return rows


def _point(place: Floats, value: float) -> str:
    text = " ".join(f"{x:.5g}" for x in place)
    return text if isfinite(value) else f"towards {text}"


@click.command("decisions", cls=DomainCommand, epilog=EPILOG)
@common_options
@domain_options
@click.option(
    "--threshold",
    type=float,
    callback=_finite,
    metavar="T",
    help="For a network with one output: the value between its two classes; 0 by default.",
)
@click.option("--smallest", is_flag=True, help="The class is the smallest output, as for ACAS Xu.")
@limit_option
@workers_option
@click.pass_context
def decisions_command(
    ctx: click.Context, threshold: float | None, smallest: bool, limit: int | None, threads: int, as_json: bool
) -> None:
    """Find the class of each region, and measure the boundary between classes.

    \b
    regions decisions model.pt --activation relu --square points.csv
    regions decisions logit.onnx --polygon -1,-1 1,-1 1,1 -1,1 --threshold 0.5
    """
    network = load_model()
    domain = make_domain(ctx, network.input_shape)

    def find(report: Report | None) -> Decisions:
        return regions.decisions(
            network,
            domain,
            threshold=threshold,
            largest=not smallest,
            limit=limit,
            progress=report,
            workers=threads,
        )

    _answer([network], domain, find, _decisions, as_json)


def _decisions(found: Decisions) -> list[Row]:
    size = ("length", "area")[found.partition.dimension - 1]
    of_boundary = ("points", "length")[found.partition.dimension - 1]
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


@click.command("compare", cls=DomainCommand, epilog=EPILOG)
@common_options_with_models
@domain_or_polyline_options
@limit_option
@workers_option
@click.pass_context
def compare_command(ctx: click.Context, limit: int | None, threads: int, as_json: bool) -> None:
    """Find the largest difference of two networks, or prove that they are equal.

    Give two models. All options hold for both of them.

    \b
    regions compare model.onnx quantised.onnx --square points.csv
    regions compare first.pt second.pt --activation relu --segment points.csv:0 points.csv:1
    """
    networks = list(load_models())
    if len(networks) != 2:
        raise click.UsageError(f"give two models to compare, got {len(networks)}")
    first, second = networks
    domain = make_domain_or_curve(ctx, first.input_shape)

    def find(report: Report | None) -> Comparison:
        return regions.compare(first, second, domain, limit=limit, progress=report, workers=threads)

    _answer(networks, domain, find, _comparison, as_json)


def _comparison(found: Comparison) -> list[Row]:
    if found.equal:
        return [("equal", f"yes, proved on {found.extremes.regions_met:,} regions")]
    rows: list[Row] = [("output", "largest difference", "error at most")]
    pairs = zip(found.max_difference.tolist(), found.errors.tolist(), strict=True)
    rows += [(str(number), f"{value:.6g}", f"{error:.2g}") for number, (value, error) in enumerate(pairs)]
    names = ("the first", "the second", "both")
    rows += [(f"regions of {name}", f"{count:,}", "") for name, count in zip(names, found.regions, strict=True)]
    return rows


@click.command("function", cls=DomainCommand, epilog=EPILOG)
@common_options
@line_options
@click.option("-o", "--output", "csv", type=click.Path(dir_okay=False), metavar="FILE", help="Write all knots as .csv.")
@limit_option
@click.pass_context
def function_command(ctx: click.Context, csv: str | None, limit: int | None, as_json: bool) -> None:
    """Print the network along a segment, line or polyline as knots, values and slopes.

    \b
    regions function model.pt --activation relu --segment points.csv:0 points.csv:1
    regions function model.onnx --line 0,0 1,1 -o knots.csv
    """
    network = load_model()
    domain = make_domain_or_curve(ctx, network.input_shape)

    def find(_: Report | None) -> Function1D:
        found = regions.function(network, domain, limit=limit)
        if csv is not None:
            found.to_csv(csv)
        return found

    _answer([network], domain, find, _function, as_json)


def _function(found: Function1D) -> list[Row]:
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


@click.command("statistics", cls=DomainCommand, epilog=EPILOG)
@common_options
@domain_or_polyline_options
@limit_option
@workers_option
@click.pass_context
def statistics_command(ctx: click.Context, limit: int | None, threads: int, as_json: bool) -> None:
    """Print mean, variance, total variation and Lipschitz constant of each output.

    On a line, ray or plane only Lipschitz constants are defined.

    \b
    regions statistics model.pt --activation relu --square points.csv
    """
    network = load_model()
    domain = make_domain_or_curve(ctx, network.input_shape)

    def find(report: Report | None) -> Statistics:
        return regions.statistics(network, domain, limit=limit, progress=report, workers=threads)

    _answer([network], domain, find, _statistics, as_json)


def _statistics(found: Statistics) -> list[Row]:
    names = ["mean", "variance", "total_variation"] if found.partitions[0].domain.bounded else []
    constants, _ = found.lipschitz()
    columns = [*(getattr(found, name) for name in names), constants]
    rows: list[Row] = [("output", *(name.replace("_", " ") for name in names), "Lipschitz constant")]
    for number, values in enumerate(zip(*columns, strict=True)):
        rows.append((str(number), *(f"{value:.6g}" for value in values)))
    return rows


def _require_output(network: Network, chosen: int | None) -> None:
    """Refuse a number of an output that the network does not have, and no number if it has several outputs."""
    if chosen is None and network.n_out > 1:
        raise click.UsageError(f"the network has {network.n_out} outputs: choose one with --output-index, from 0")
    if chosen is not None and chosen >= network.n_out:
        raise click.UsageError(f"--output-index {chosen}: the outputs are numbered from 0 to {network.n_out - 1}")


@click.command("level-set", cls=DomainCommand, epilog=EPILOG)
@common_options
@domain_options
@click.option(
    "--threshold",
    type=float,
    callback=_finite,
    default=0.0,
    metavar="T",
    help="The value that is crossed; 0 by default.",
)
@output_option
@limit_option
@workers_option
@click.pass_context
def level_set_command(
    ctx: click.Context, threshold: float, output_index: int | None, limit: int | None, threads: int, as_json: bool
) -> None:
    """Find the curves on which an output crosses a threshold.

    \b
    regions level-set logit.pt --activation relu --square points.csv
    regions level-set model.onnx --polygon -1,-1 1,-1 1,1 -1,1 --output-index 3 --threshold 0.5 --json
    """
    network = load_model()
    _require_output(network, output_index)
    domain = make_domain(ctx, network.input_shape)

    def find(report: Report | None) -> LevelSet:
        return regions.level_set(
            network, domain, threshold, output_index, limit=limit, progress=report, workers=threads
        )

    _answer([network], domain, find, _level_set, as_json)


def _level_set(found: LevelSet) -> list[Row]:
    size, of_curves = (("length", "points"), ("area", "length"))[found.partition.dimension - 1]
    sizes = [(f"{of_curves} of the level set", found.length, found.error)]
    if found.partition.domain.bounded:
        sizes.append((f"{size} above the threshold", found.area_above, found.area_error))
    counts = [("curves", len(found.curves)), ("parts above", int(found.above.sum()))]
    counts.append(("parts not above", int((~found.above).sum())))
    return [("", "", "error at most"), *_sizes(sizes), *((name, f"{number:,}", "") for name, number in counts)]


@click.command("integrated-gradients", cls=DomainCommand, epilog=EPILOG)
@common_options
@curve_options
@output_option
@limit_option
@click.pass_context
def integrated_gradients_command(
    ctx: click.Context, output_index: int | None, limit: int | None, as_json: bool
) -> None:
    """Attribute the change of an output along a path to the inputs.

    The path is usually a segment from a baseline to a point.

    \b
    regions integrated-gradients model.pt --activation relu --segment 0,0 points.csv:0
    regions integrated-gradients model.onnx --polyline points.csv --output-index 3 --json
    """
    network = load_model()
    _require_output(network, output_index)
    path = make_domain_or_curve(ctx, network.input_shape)
    assert isinstance(path, (Curve, Segment))

    def find(report: Report | None) -> Attributions:
        return regions.integrated_gradients(network, path=path, output=output_index, limit=limit, progress=report)

    _answer([network], path, find, _attributions, as_json)


def _attributions(found: Attributions) -> list[Row]:
    """The largest attributions first."""
    values, errors = found.values.ravel(), found.errors.ravel()
    order = np.argsort(-np.abs(values), kind="stable")
    rows: list[Row] = [("input", "attribution", "error at most")]
    rows += _sizes([(str(number), values[number], errors[number]) for number in order[:SHOWN].tolist()])
    if len(order) > SHOWN:
        rows.append(("..", f"{len(order) - SHOWN:,} smaller ones; --json has all", ""))
    return [*rows, *_sizes([("all", float(found.changes), float(found.gap_errors))])]


@click.command("image", cls=DomainCommand, epilog=EPILOG)
@common_options
@domain_options
@limit_option
@click.pass_context
def image_command(ctx: click.Context, limit: int | None, as_json: bool) -> None:
    """Print the size of the image, and how many regions collapse.

    Parts that the images of several regions cover count several times.

    \b
    regions image model.pt --activation relu --square points.csv
    regions image model.onnx --segment points.csv:0 points.csv:1 --json
    """
    network = load_model()
    domain = make_domain(ctx, network.input_shape)

    def find(report: Report | None) -> Image:
        return regions.image(network, domain, limit=limit, progress=report)

    _answer([network], domain, find, _image, as_json)


def _image(found: Image) -> list[Row]:
    size = ("length", "area")[found.partition.dimension - 1]
    rows: list[Row] = [("", "", "error at most"), *_sizes([(f"{size} of the image", found.volume, found.volume_error)])]
    rows.append(("largest factor", f"{found.distortions.max():.6g}", f"{found.distortion_errors.max():.2g}"))
    rows += [(f"images that are {kind}", f"{count:,}", "") for kind, count in found.kinds.items()]
    return rows


@click.command("iterate", cls=DomainCommand, epilog=EPILOG)
@common_options
@domain_options
@click.option("--steps", type=click.IntRange(1, MOST_STEPS), required=True, metavar="K", help="The number of steps.")
@limit_option
@click.pass_context
def iterate_command(ctx: click.Context, steps: int, limit: int | None, as_json: bool) -> None:
    """Print the sets that a loop reaches, step by step.

    The model maps states to next states. The domain is the initial set.

    \b
    regions iterate loop.onnx --steps 5 --polygon -1,-1 1,-1 1,1 -1,1
    """
    network = load_model()
    domain = make_domain(ctx, network.input_shape)

    def find(report: Report | None) -> Iteration:
        return regions.iterate(network, domain, steps, limit=limit, progress=report)

    _answer([network], domain, find, _iteration, as_json)


def _iteration(found: Iteration) -> list[Row]:
    size = ("length", "area")[found.domain.dimension - 1]
    columns = found.volumes.tolist(), found.minimum.tolist(), found.maximum.tolist()
    rows: list[Row] = [("step", "regions", size, "least coordinates", "greatest coordinates")]
    for step, (volume, low, high) in enumerate(zip(*columns, strict=True)):
        regions_of_step = f"{len(found.images[step].partition):,}"
        rows.append((str(step), regions_of_step, f"{volume:.6g}", _words(low), _words(high)))
    return rows


ANSWER_COMMANDS = (
    extremes_command,
    decisions_command,
    compare_command,
    function_command,
    statistics_command,
    level_set_command,
    integrated_gradients_command,
    image_command,
    iterate_command,
)
