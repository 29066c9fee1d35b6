# SPDX-License-Identifier: MIT
"""How do the commands answer questions about outputs?

`regions extremes`, `margin`, `decisions`, `compare`, `function`, `statistics`, `level-set`, `integrated-gradients`,
`image` and `iterate` call the functions of the same names and print tables. At the limit they print only that there are
more regions, because an answer about some regions does not hold for the domain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import click

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
    LevelSurface,
    LimitReached,
    Margin,
    Network,
    Segment,
    Statistics,
)
from regions.answers.answer_certificates import require_checkable
from regions.cli.answer_tables import (
    Row,
    attributions_rows,
    comparison_rows,
    decisions_rows,
    extremes_rows,
    function_rows,
    image_rows,
    iteration_rows,
    level_set_rows,
    margin_rows,
    statistics_rows,
)
from regions.cli.domain_words import (
    POINT_SYNTAX,
    DomainCommand,
    curve_options,
    domain_or_box_options,
    flat_domain_options,
    line_options,
    make_any_domain,
    make_domain,
    make_domain_or_curve,
    straight_domain_options,
)
from regions.cli.facts import announce, file_to_write, say, say_certified, say_time
from regions.cli.job import EXIT_LIMIT, progress_bar
from regions.cli.options import (
    CERTIFICATE_SUFFIX,
    certificate_option,
    common_options,
    common_options_with_models,
    limit_option,
    load_model,
    load_models,
    output_index_option,
    require_output_index,
    together,
    workers_option,
)
from regions.errors import WorkStopped
from regions.files.tabular import JsonReport
from regions.ground.text.tables import aligned, json_text
from regions.ground.threads.progress import Report
from regions.networks.closed_loop import MOST_STEPS

__all__ = ["ANSWER_COMMANDS"]

EPILOG = f"Points: {POINT_SYNTAX}."


def _finite(ctx: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not isfinite(value):
        raise click.BadParameter(f"{value!r} is not a finite number", ctx, parameter)
    return value


Found = TypeVar("Found", bound=JsonReport)

_class_options = together(
    click.option(
        "--threshold",
        type=float,
        callback=_finite,
        metavar="T",
        help="For a network with one output: the value between its two classes; 0 by default.",
    ),
    click.option("--smallest", is_flag=True, help="The class is the smallest output, as for ACAS Xu."),
)


def _answer(
    networks: Sequence[Network],
    domain: Domain | Curve,
    find: Callable[[Report | None], Found],
    table: Callable[[Found], list[Row]],
    as_json: bool,
    certificate: Path | None = None,
) -> None:
    """Find an answer, and print it as a table or as JSON; write its certificate, if one is wanted."""
    for network in networks:
        if certificate is not None:
            require_checkable(network, domain)
        announce(network, *[domain] * (network is networks[-1]), quiet=as_json)
    start = perf_counter()
    try:
        with progress_bar() as report:
            found = find(report)
    except WorkStopped as stopped:
        if isinstance(stopped, LimitReached):
            why = f"there are more than {stopped.limit:,} regions. Raise --limit"
        else:
            why = "the time was over. Raise --timeout"
        click.echo(f"No answer: {why}.", err=True)
        click.get_current_context().exit(EXIT_LIMIT)
    seconds = perf_counter() - start
    if certificate is not None:
        assert isinstance(found, (Comparison, Extremes, LevelSet))
        with file_to_write(certificate, CERTIFICATE_SUFFIX) as file:
            regions.write_certificate(found, file)
    if as_json:
        notes = [note for network in networks for note in network.notes]
        say(json_text({"notes": notes, **found.as_dict(), "seconds": seconds}))
        return
    say()
    for line in aligned(table(found)):
        say(f"  {line}")
    say_time(seconds)
    say_certified(certificate, "this answer and all regions", "check_answer")


@click.command("extremes", cls=DomainCommand, epilog=EPILOG)
@common_options
@straight_domain_options
@limit_option
@workers_option
@certificate_option("check_answer")
@click.pass_context
def extremes_command(
    ctx: click.Context, limit: int | None, threads: int, certificate: Path | None, as_json: bool
) -> None:
    """Find the least and the greatest value of each output, and where.

    Values that rounding cannot tell apart are compared exactly. In a box of more than six dimensions, values are
    intervals where bounds do not decide them: --timeout says how long to try, and nothing is enumerated.

    \b
    regions extremes model.pt --activation relu --square points.csv
    regions extremes model.onnx --segment points.csv:0 points.csv:1 --json
    regions extremes model.pt --activation relu --square points.csv --write proof.regions-certificate
    regions extremes model.onnx --box -1,-1,-1,-1,-1,-1,-1 1,1,1,1,1,1,1 --timeout 10
    """
    network = load_model()
    domain = make_any_domain(ctx, network.input_shape)

    def find(report: Report | None) -> Extremes:
        return regions.extremes(network, domain, limit=limit, progress=report, workers=threads)

    _answer([network], domain, find, extremes_rows, as_json, certificate)


@click.command("decisions", cls=DomainCommand, epilog=EPILOG)
@common_options
@domain_or_box_options
@_class_options
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
    regions decisions model.pt --activation relu --box -1,-1,-1 1,1,1
    """
    network = load_model()
    domain = make_any_domain(ctx, network.input_shape)
    assert not isinstance(domain, Curve)

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

    _answer([network], domain, find, decisions_rows, as_json)


@click.command("margin", cls=DomainCommand, epilog=EPILOG)
@common_options
@straight_domain_options
@click.option(
    "--label", type=click.IntRange(0), metavar="N", help="The class, from 0; by default that of the domain's middle."
)
@_class_options
@limit_option
@workers_option
@click.pass_context
def margin_command(
    ctx: click.Context,
    label: int | None,
    threshold: float | None,
    smallest: bool,
    limit: int | None,
    threads: int,
    as_json: bool,
) -> None:
    """Decide whether one class holds everywhere, and find the least margin.

    The margin is the score of the class minus the largest other score.

    \b
    regions margin model.pt --activation relu --square points.csv
    regions margin acasxu.onnx --smallest --box -0.3,-0.1,-0.1,0.3,0.3 -0.2,0.1,0.1,0.4,0.4
    """
    network = load_model()
    domain = make_any_domain(ctx, network.input_shape)
    classes = max(network.n_out, 2)
    if label is not None and label >= classes:
        raise click.BadParameter(f"{label} is none of the {classes} classes, from 0", ctx, param_hint="--label")

    def find(report: Report | None) -> Margin:
        return regions.margin(
            network,
            domain,
            label,
            threshold=threshold,
            largest=not smallest,
            limit=limit,
            progress=report,
            workers=threads,
        )

    _answer([network], domain, find, margin_rows, as_json)


@click.command("compare", cls=DomainCommand, epilog=EPILOG)
@common_options_with_models
@straight_domain_options
@limit_option
@workers_option
@certificate_option("check_answer")
@click.pass_context
def compare_command(
    ctx: click.Context, limit: int | None, threads: int, certificate: Path | None, as_json: bool
) -> None:
    """Find the largest difference of two networks, or prove that they are equal.

    Give two models. All options hold for both of them.

    \b
    regions compare model.onnx quantised.onnx --square points.csv
    regions compare first.pt second.pt --activation relu --segment points.csv:0 points.csv:1
    """
    networks = [network for _, network in load_models()]
    if len(networks) != 2:
        raise click.UsageError(f"give two models to compare, got {len(networks)}")
    first, second = networks
    domain = make_any_domain(ctx, first.input_shape)

    def find(report: Report | None) -> Comparison:
        return regions.compare(first, second, domain, limit=limit, progress=report, workers=threads)

    _answer(networks, domain, find, comparison_rows, as_json, certificate)


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

    _answer([network], domain, find, function_rows, as_json)


@click.command("statistics", cls=DomainCommand, epilog=EPILOG)
@common_options
@straight_domain_options
@limit_option
@workers_option
@click.pass_context
def statistics_command(ctx: click.Context, limit: int | None, threads: int, as_json: bool) -> None:
    """Print mean, variance, total variation and Lipschitz constant of each output.

    On a line, ray or plane only Lipschitz constants are defined.

    \b
    regions statistics model.pt --activation relu --square points.csv
    regions statistics model.pt --activation relu --box -1,-1,-1 1,1,1
    """
    network = load_model()
    domain = make_any_domain(ctx, network.input_shape)

    def find(report: Report | None) -> Statistics:
        return regions.statistics(network, domain, limit=limit, progress=report, workers=threads)

    _answer([network], domain, find, statistics_rows, as_json)


@click.command("level-set", cls=DomainCommand, epilog=EPILOG)
@common_options
@domain_or_box_options
@click.option(
    "--threshold",
    type=float,
    callback=_finite,
    default=0.0,
    metavar="T",
    help="The value that is crossed; 0 by default.",
)
@output_index_option
@limit_option
@workers_option
@certificate_option("check_answer")
@click.pass_context
def level_set_command(
    ctx: click.Context,
    threshold: float,
    output_index: int | None,
    limit: int | None,
    threads: int,
    certificate: Path | None,
    as_json: bool,
) -> None:
    """Find the curves on which an output crosses a threshold, or in a box of three dimensions the surface.

    \b
    regions level-set logit.pt --activation relu --square points.csv
    regions level-set model.onnx --polygon -1,-1 1,-1 1,1 -1,1 --output-index 3 --threshold 0.5 --json
    regions level-set distance.pt --activation relu --box -1,-1,-1 1,1,1
    """
    network = load_model()
    require_output_index(network, output_index)
    domain = make_any_domain(ctx, network.input_shape)
    assert not isinstance(domain, Curve)

    def find(report: Report | None) -> LevelSet | LevelSurface:
        return regions.level_set(
            network, domain, threshold, output_index, limit=limit, progress=report, workers=threads
        )

    _answer([network], domain, find, level_set_rows, as_json, certificate)


@click.command("integrated-gradients", cls=DomainCommand, epilog=EPILOG)
@common_options
@curve_options
@output_index_option
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
    require_output_index(network, output_index)
    path = make_domain_or_curve(ctx, network.input_shape)
    assert isinstance(path, (Curve, Segment))

    def find(report: Report | None) -> Attributions:
        return regions.integrated_gradients(network, path=path, output=output_index, limit=limit, progress=report)

    _answer([network], path, find, attributions_rows, as_json)


@click.command("image", cls=DomainCommand, epilog=EPILOG)
@common_options
@flat_domain_options
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

    _answer([network], domain, find, image_rows, as_json)


@click.command("iterate", cls=DomainCommand, epilog=EPILOG)
@common_options
@flat_domain_options
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

    _answer([network], domain, find, iteration_rows, as_json)


ANSWER_COMMANDS = (
    extremes_command,
    margin_command,
    decisions_command,
    compare_command,
    function_command,
    statistics_command,
    level_set_command,
    integrated_gradients_command,
    image_command,
    iterate_command,
)
