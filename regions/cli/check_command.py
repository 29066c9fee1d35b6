# SPDX-License-Identifier: MIT
"""How is a model checked against the theory on the command line?

`regions check` enumerates like the other commands, and passes the result to `regions.check`. Where regions can only be
counted, it counts. If a limit or Ctrl-C stopped the work, the partial result is printed and not checked. The exit code
is 1 if a proven bound or identity is violated.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import NoReturn

import click

from regions import check
from regions.checking import CheckReport
from regions.checking.check_all import check_count
from regions.cli import stops
from regions.cli.domain_words import POINT_SYNTAX, DomainCommand, domain_box_or_space_options, make_any_domain
from regions.cli.facts import announce, file_to_write, outcome_facts, print_outcome, say, say_time, say_written
from regions.cli.job import Outcome, end_of, run_count, run_enumerate
from regions.cli.options import common_options, limit_option, load_model, output_option, workers_option
from regions.counting.run import require_countable, why_not_enumerable
from regions.domains import Curve
from regions.errors import TimeoutReached
from regions.ground.text.tables import json_text

__all__ = ["check_command"]


@click.command("check", cls=DomainCommand, epilog=f"Points: {POINT_SYNTAX}.")
@common_options
@domain_box_or_space_options
@limit_option
@workers_option
@click.option("--no-distances", is_flag=True, help="Leave out the distances to the boundary, which can take longest.")
@output_option(".html", on_standard_output=".html", required=False)
@click.pass_context
def check_command(
    ctx: click.Context, limit: int | None, threads: int, no_distances: bool, output: Path | None, as_json: bool
) -> None:
    """Compare the regions with the theory.

    Every bound of the literature that applies, every identity that must hold, and the orders that theory expects; a
    bound that does not apply says why. A violation means a bug in this program, or a false claim: the exit code is 1.
    In the whole of a space of three and more dimensions, and in more than six, regions are only counted after each
    layer, and compared with the bounds on their number.

    \b
    regions check model.pt --activation relu --square points.csv
    regions check model.pt --activation relu --plane 0,0 1,0 0,1 --json
    regions check model.pt --activation relu --box -1,-1,-1 1,1,1
    regions check model.pt --activation relu --space 3
    regions check model.pt --activation relu --segment points.csv:0 points.csv:1 -o report.html
    """
    network = load_model()
    domain = make_any_domain(ctx, network.input_shape)
    assert not isinstance(domain, Curve)
    announce(network, domain, quiet=as_json)
    require_countable(domain, network)
    start = perf_counter()
    came, found_only = False, "the regions had been found, but not more"
    if why_not_enumerable(domain):
        outcome = run_count(network, domain, limit, "activation", threads, None)
        found_only = "the regions had been counted, but not more"
    else:
        with stops.held() as held:
            outcome = run_enumerate(network, domain, limit, threads, held)
        came = held.came
    if outcome.exit_code:
        _not_checked(ctx, outcome, as_json, "only some of the regions had been found")
    if came:
        _not_checked(ctx, replace(outcome, end="interrupted"), as_json, found_only)
    try:
        report = _report(outcome, distances=not no_distances)
        seconds = perf_counter() - start
        if output:
            with file_to_write(output, ".html") as file:
                report.to_html(file)
    except (TimeoutReached, KeyboardInterrupt) as stopped:
        _not_checked(ctx, replace(outcome, end=end_of(stopped)), as_json, found_only)
    if as_json:
        facts = {"end": outcome.end, "notes": list(network.notes), **report.as_dict(), "seconds": seconds}
        say(json_text(facts))
    else:
        say(f"\n{report}")
        say_time(seconds)
    say_written(output, as_json)
    ctx.exit(0 if report.ok else 1)


def _report(outcome: Outcome, distances: bool) -> CheckReport:
    if outcome.partition is not None:
        return check(outcome.network, outcome.partition, distances=distances)
    return check_count(outcome.network, outcome.domain, outcome.regions, distances)


def _not_checked(ctx: click.Context, outcome: Outcome, as_json: bool, reason: str) -> NoReturn:
    """Print the result so far, and end."""
    if as_json:
        say(json_text({"ok": None, **outcome_facts(outcome)}))
    else:
        print_outcome(outcome)
    click.echo(f"Not checked: {reason}. No report is written.", err=True)
    ctx.exit(outcome.exit_code)
