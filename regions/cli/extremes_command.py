# SPDX-License-Identifier: MIT
"""How are the extremes of outputs found on the command line?

`regions extremes` enumerates like the other commands, and compares the outputs at all corners. If a limit or a signal
stopped the enumeration, the regions so far are printed, and no extremes: those of a part would be no extremes of the
domain.
"""

from __future__ import annotations

import click

from regions.answers.corner_values import CornerValues
from regions.answers.extremes import Extremes, extremes_of
from regions.arithmetic.types import Floats
from regions.cells.output_maps import output_maps
from regions.cli import stops
from regions.cli.domain_words import POINT_SYNTAX, DomainCommand, domain_options, make_domain
from regions.cli.facts import announce, outcome_facts, print_outcome, say
from regions.cli.job import run_enumerate
from regions.cli.options import common_options, limit_option, load_model, workers_option
from regions.text.tables import aligned, json_text

__all__ = ["extremes_command"]

# Coordinates that a line has room for.
SHOWN = 4


@click.command("extremes", cls=DomainCommand, epilog=f"Points: {POINT_SYNTAX}.")
@common_options
@domain_options
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
    domain = make_domain(ctx, network.input_shape)
    announce(network, domain, quiet=as_json)
    with stops.held() as held:
        outcome = run_enumerate(network, domain, limit, threads, held)
    if outcome.exit_code:
        if as_json:
            say(json_text(outcome_facts(outcome)))
        else:
            print_outcome(outcome)
        click.echo("No extremes: only some of the regions had been found.", err=True)
        ctx.exit(outcome.exit_code)
    assert outcome.partition is not None
    maps = output_maps(outcome.partition, network.graph)
    found = extremes_of(CornerValues(outcome.partition, network.graph, maps))
    if as_json:
        say(json_text({"end": outcome.end, "notes": list(network.notes), **found.as_dict()}))
        return
    say()
    for line in aligned(_rows(found)):
        say(f"  {line}")


def _rows(found: Extremes) -> list[tuple[str, ...]]:
    """A header, and a row for each output."""
    short = found.argmin.shape[1] <= SHOWN
    places = (found.argmin, found.argmax) if short else (found.chart_argmin, found.chart_argmax)
    where = "at" if short else "at chart point"
    rows: list[tuple[str, ...]] = [("output", "minimum", where, "maximum", where)]
    values = zip(found.minimum, places[0], found.maximum, places[1], strict=True)
    for number, (low, argmin, high, argmax) in enumerate(values):
        rows.append((str(number), f"{low:.6g}", _point(argmin, low), f"{high:.6g}", _point(argmax, high)))
    return rows


def _point(place: Floats, value: float) -> str:
    text = " ".join(f"{x:.5g}" for x in place)
    return f"towards {text}" if value in (float("inf"), float("-inf")) else text
