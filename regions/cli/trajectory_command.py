# SPDX-License-Identifier: MIT
"""How is a curve followed through a network, or through many random ones, on the command line?

`regions trajectory` prints a row for each layer, and draws a picture if one is requested. If a limit or Ctrl-C stops
it, it prints the number of pieces found so far; for random networks, the results of the finished ones.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn

import click

from regions import Curve, Growth, Segment, Trajectory, growth, trajectory
from regions.cli import stops
from regions.cli.domain_words import POINT_SYNTAX, DomainCommand, curve_options, make_domain_or_curve
from regions.cli.ensemble_words import ENSEMBLE_SYNTAX, EnsembleWord
from regions.cli.facts import FOUND, announce, domain_facts, file_to_write, network_facts, say, say_time, say_written
from regions.cli.job import End, end_of, exit_code_of, progress_bar
from regions.cli.options import (
    common_options_without_model,
    limit_option,
    load_model,
    output_option,
    require_no_model,
)
from regions.cli.pictures import is_page
from regions.errors import WorkStopped
from regions.ground.text.tables import json_text
from regions.pictures.picture_files import PICTURE_SUFFIXES, save_figure
from regions.results.pages.page import PAGE_SUFFIX
from regions.results.pages.page_style import require_matplotlib
from regions.theory.ensembles import Ensemble

__all__ = ["trajectory_command"]


@click.command("trajectory", cls=DomainCommand, epilog=f"Points: {POINT_SYNTAX}.")
@common_options_without_model
@curve_options
@click.option(
    "--ensemble",
    type=EnsembleWord(),
    metavar="ENSEMBLE",
    help=f"Random networks in place of MODEL, as in Python: {ENSEMBLE_SYNTAX}.",
)
@click.option(
    "--networks",
    type=click.IntRange(2, 1_000_000),
    default=100,
    show_default=True,
    metavar="N",
    help="Number of networks of an ensemble.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Seed of the random networks."
)
@limit_option
@output_option(*PICTURE_SUFFIXES, PAGE_SUFFIX, on_standard_output=".png", required=False)
@click.pass_context
def trajectory_command(
    ctx: click.Context,
    ensemble: Ensemble | None,
    networks: int,
    seed: int,
    limit: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Follow a curve through the layers.

    For each layer, print the length of the curve's image and its growth, how often a neuron moves to another piece of
    its activation, and the number of pieces so far. The picture shows lengths, and images on their two principal
    directions; a .html file is a page to explore in a browser. For an ensemble, print means, next to the values that
    theory expects.

    \b
    regions trajectory model.pt --activation relu --arc points.csv:0 points.csv:1
    regions trajectory model.pt --activation relu --polyline points.csv:0:5 -o path.png
    regions trajectory model.pt --activation relu --polyline points.csv:0:5 -o path.html
    regions trajectory model.pt --activation relu --circle 0,0 1,0 0,1 --json
    regions trajectory --ensemble 'he([2, 64, 64, 1])' --networks 200 --circle 0,0 1,0 0,1
    """
    page = output is not None and is_page(output)
    if output and not page:
        require_matplotlib()
    if ensemble is not None:
        require_no_model(ctx, "--ensemble")
        if page:
            raise click.UsageError("a .html file is for a MODEL, not for --ensemble", ctx)
        if limit is not None:
            raise click.UsageError("--limit is for a MODEL, not for --ensemble", ctx)
        _follow_many(ctx, ensemble, networks, seed, output, as_json)
        return
    for name in ("networks", "seed"):
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(f"--{name} is for --ensemble, not for a MODEL", ctx)
    network = load_model()
    curve = _curve(ctx, network.input_shape)
    announce(network, curve, quiet=as_json)
    where = {"network": network_facts(network), "domain": domain_facts(curve)}
    start = perf_counter()
    try:
        with progress_bar() as report:
            path = trajectory(network, curve, limit=limit, progress=report)
    except (WorkStopped, KeyboardInterrupt) as stopped:
        _stopped(ctx, end_of(stopped), getattr(stopped, "partial", None), where, as_json)
    _show(path, {"end": "complete", **path.as_dict(), **where}, perf_counter() - start, output, as_json)


def _follow_many(
    ctx: click.Context, ensemble: Ensemble, networks: int, seed: int, output: Path | None, as_json: bool
) -> None:
    curve = _curve(ctx, (ensemble.n_in,))
    if not as_json:
        say(repr(curve))
    start, code, end = perf_counter(), 0, "complete"
    try:
        with progress_bar() as report:
            found = growth(ensemble, curve, networks=networks, rng=seed, progress=report)
    except KeyboardInterrupt as stopped:
        if not isinstance(getattr(stopped, "partial", None), Growth):
            raise  # fewer than two networks were finished
        found, code, end = stopped.partial, stops.exit_code(), "interrupted"  # type: ignore[attr-defined]
    facts = {"end": end, **found.as_dict(), "domain": domain_facts(curve)}
    _show(found, facts, perf_counter() - start, output, as_json)
    ctx.exit(code)


def _curve(ctx: click.Context, inputs: tuple[int, ...]) -> Curve | Segment:
    curve = make_domain_or_curve(ctx, inputs)
    assert isinstance(curve, (Curve, Segment))  # the command has no other options
    return curve


def _show(
    found: Trajectory | Growth, facts: dict[str, Any], seconds: float, output: Path | None, as_json: bool
) -> None:
    """Print the results, and draw them if requested; a line of JSON comes last, because it names the picture."""
    facts["seconds"] = seconds
    if not as_json:
        say(f"\n{found}")
        say_time(seconds)
    if output:
        with file_to_write(output, ".png") as file:
            if is_page(output) and isinstance(found, Trajectory):
                found.to_html(file)
            else:
                save_figure(found.plot()[0].figure, file)
        facts["output"] = str(output)
    if as_json:
        say(json_text(facts))
    say_written(output, as_json)


def _stopped(ctx: click.Context, end: End, pieces: int | None, where: dict[str, Any], as_json: bool) -> NoReturn:
    """Print the number of pieces so far, and end."""
    if as_json:
        say(json_text({"end": end, "pieces": pieces, **where}))
    elif pieces is not None:
        say(f"\npieces   {pieces:,}{FOUND[end]}")
    click.echo("Not measured: only a part of the curve had been followed.", err=True)
    ctx.exit(exit_code_of(end))
